/* keys.h: the key table: what each key does, on which screens, and what the help says of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

// clang-format off
/* The action of a key; behind it the meaning of its argument, or that the next key names something.
 */
enum action {
    ACTION_NONE, ACTION_QUIT, ACTION_BACK, ACTION_HELP,
    ACTION_UP, ACTION_DOWN, ACTION_PAGE_UP, ACTION_PAGE_DOWN, ACTION_FIRST, ACTION_LAST,
    ACTION_SCROLL,   /* lines */
    ACTION_SIDEWAYS, /* steps */
    ACTION_LINE_BEGIN, ACTION_LINE_END, ACTION_TAG, ACTION_CLEAR,
    ACTION_SIGNAL, /* which */
    ACTION_TREE, ACTION_ENVIRONMENT, ACTION_PROCESS,
    ACTION_ALERTS, /* opens them; there: the time of the chosen one */
    ACTION_DEVICE, /* its number; below 0: chosen by keys */
    ACTION_MODE,   /* enum monitor_mode */
    ACTION_VIEW, ACTION_INVERT, ACTION_RESET, ACTION_SEARCH, ACTION_FILTER,
    ACTION_SORT_STEP, ACTION_SEARCH_STEP,         /* steps */
    ACTION_SORT, ACTION_SORT_BEHIND, ACTION_GROUP, ACTION_HIDE, /* the next key names it */
    ACTION_UNFOLD, /* 1 opens a group, -1 closes it, 0 all of them */
    ACTION_SECOND, ACTION_SPAN,
    ACTION_TAB,      /* steps */
    ACTION_PART,     /* enum process_part */
    ACTION_NICE, ACTION_IO_PRIORITY, ACTION_AFFINITY, ACTION_COPY, ACTION_TRACE,
    ACTION_COLUMNS, ACTION_SETTINGS, ACTION_PERCENT, ACTION_PLAIN, ACTION_SAVE, ACTION_PAUSE,
    ACTION_TIME_SAMPLE,  /* 1 on, -1 back; so the next ones move through what was kept */
    ACTION_TIME_SECONDS, /* how many */
    ACTION_TIME_END,     /* -1 the begin, 1 the end */
    ACTION_TIME_SPEED,   /* 1 twice as fast, -1 half */
    ACTION_TIME_MARK,    /* -1 the one before, 1 the next */
    ACTION_TIME_GO       /* words say where to */
};

/* Bits of screens. */
enum {
    ON_MAIN = 1 << 0, ON_TREE = 1 << 1, ON_ENVIRONMENT = 1 << 2, ON_PROCESS = 1 << 3,
    ON_HELP = 1 << 4, ON_DEVICE = 1 << 8, ON_COLUMNS = 1 << 9,
    ON_ALERTS = 1 << 10, ON_SETTINGS = 1 << 11,
    ON_LISTS = ON_MAIN | ON_TREE,
    ON_LINES = ON_LISTS | ON_ENVIRONMENT | ON_DEVICE | ON_ALERTS,
    ON_TIMES = ON_MAIN | ON_TREE | ON_PROCESS | ON_DEVICE,
    ON_ALL = ON_MAIN | ON_TREE | ON_ENVIRONMENT | ON_PROCESS | ON_DEVICE | ON_ALERTS
};
// clang-format on

enum key_group {
    KEYS_LOOK = 1,
    KEYS_MOVE,
    KEYS_SORT,
    KEYS_ACT,
    KEYS_PART,
    KEYS_TIME,
    KEYS_OTHER,
    KEYS_END
};

enum { KEY_CODES = 6 };

/* Arguments of keys that do something else on the main screen than in nvitop's arrangement. */
enum { KEYS_PAGE = 100, KEYS_TREE = 1 };

struct binding {
    const char *keys; /* as the help writes them */
    uint32_t codes[KEY_CODES];
    unsigned screens;
    enum action action;
    int argument;
    enum key_group group;
    const char *help; /* NULL: said by the row above */
};

/* Ends with a row without keys. */
extern const struct binding bindings[];

extern const char *const key_group_names[KEYS_END];

/* What does on the main screen what a key without a row does in another monitor, or how to find
 * out. */
const char *key_elsewhere(uint32_t code);

/* True if it changes a process: refused with --readonly. */
bool action_changes(enum action action);

/* The row of a key on a screen, or NULL. */
const struct binding *binding_find(unsigned screen, uint32_t code);
