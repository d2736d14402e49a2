/* screen.h: what a screen is, and what all of them share.
 *
 * A new screen is a file with a record of functions, a line here, a row in screens.c and its keys
 * in keys.c. Screens stand on a stack; the top one gets the keys. One thread. */
#pragma once

#include "monitor/history/player.h"
#include "monitor/input_event.h"
#include "monitor/keys.h"
#include "monitor/screens/pane.h"

struct monitor;
struct monitor_source;

/* From PROMPT_LINES on they are questions of a screen. */
enum prompt {
    PROMPT_NONE,
    PROMPT_SEARCH,
    PROMPT_FILTER,
    PROMPT_TIME,
    PROMPT_LINES,
    PROMPT_NICE,
    PROMPT_IO,
    PROMPT_CPUS
};

struct screen {
    const char *name;
    unsigned bit;   /* for the key table */
    bool needs_all; /* it shows every process */
    bool asks;      /* a process itself, if there is a context */

    size_t size; /* of its state, which begins as zeros; 0: it has none */

    /* -1 refuses, and model.message says why; `close` follows. NULL: there is nothing to do. */
    int (*open)(struct monitor *monitor, void *state);
    void (*draw)(const struct monitor *monitor, const void *state, struct pen *pen);

    /* Does what a key asks for; false: not here. */
    bool (*act)(struct monitor *monitor, void *state, enum action action, int argument);

    /* A click or a wheel; false: nothing. NULL: the mouse does nothing. */
    bool (*click)(struct monitor *monitor, void *state, const struct input_event *event);

    /* Any other key, where the screen reads keys itself. NULL: it does not. */
    bool (*input)(struct monitor *monitor, void *state, const struct input_event *event);

    /* After a snapshot, a key or another size: what must follow from it. */
    void (*settle)(struct monitor *monitor, void *state);

    /* Returns the process that keys act on, or false if none is selected. */
    bool (*target)(const struct monitor *monitor, const void *state, struct identity *out);

    /* A descriptor that is waited for; -1: none. And for how long at most; 0: for ever. */
    int (*descriptor)(const void *state);
    uint64_t (*patience_ns)(const void *state);

    /* What a person has entered at a question that the screen asked. NULL: it asks none. */
    void (*answer)(struct monitor *monitor, void *state, enum prompt prompt, const char *text);

    /* Adds the values of an older snapshot to graphs of its own, newest first; NULL: it has
     * none. */
    void (*recall)(void *state, const struct model *then);

    /* Frees what the state has, but not the state. NULL: it has nothing. */
    void (*close)(void *state);
};

extern const struct screen screen_main;
extern const struct screen screen_tree;
extern const struct screen screen_environment;
extern const struct screen screen_process;
extern const struct screen screen_device;
extern const struct screen screen_columns;
extern const struct screen screen_help;
extern const struct screen screen_settings;
extern const struct screen screen_signal;
extern const struct screen screen_alerts;

/* Ends with NULL. */
extern const struct screen *const screens[];

enum { SCREENS_DEEP = 8 };

struct monitor {
    const struct monitor_options *options;
    struct model model;
    struct player *player;   /* through the past, borrowed; NULL: there is none */
    char typed[PROMPT_TEXT]; /* a moment, or what a screen has asked for */
    char lines[PROMPT_TEXT]; /* the filter of the lines of a process's page */
    char question[256];      /* of a screen */
    char *copied;            /* to be sent to the terminal; NULL: nothing */
    uint64_t traced;         /* the process that strace is to show; 0: none */
    enum process_part part;  /* that the page of a process begins with */
    int height;              /* of the terminal; the model's is less where a row says the moment */
    struct {
        const struct screen *screen;
        void *state;
    } stack[SCREENS_DEEP];
    int depth;
    bool quit;
    bool reads_on; /* a picture: more readings come, and nothing is asked yet */
    bool pasting;
    const struct prefix *prefix; /* whose next key is awaited; NULL: none */
    enum prompt prompt;
    char *entered;            /* its text, in one of the others */
    char before[PROMPT_TEXT]; /* what the prompt's text was, for Escape */
    bool had_selected;        /* the selection then, for a search that finds nothing */
    struct identity selected_before;
    int signal; /* that the dialog begins with */
};

/* On a first screen; -1: out of memory. */
int monitor_init(struct monitor *monitor, const struct monitor_options *options);
void monitor_done(struct monitor *monitor);

void monitor_input(struct monitor *monitor, const struct input_event *event);
void monitor_resize(struct monitor *monitor, int width, int height);
void monitor_settle(struct monitor *monitor);
void monitor_draw(const struct monitor *monitor, struct canvas *canvas);

/* The theme that a key or the layout has chosen, or that of the look. */
enum theme monitor_theme(const struct monitor *monitor);

/* True if a screen on the stack shows every process. */
bool monitor_needs_all(const struct monitor *monitor);

/* The metrics of every process beside those that are always read. */
void monitor_wants(const struct monitor *monitor, struct wants *out);

int monitor_open(struct monitor *monitor, const struct screen *screen);
void monitor_close(struct monitor *monitor);

/* Why no process is changed, or NULL. */
const char *monitor_readonly(const struct monitor *monitor);

/* True for a demo, which asks before a signal all the same, and sends none. */
bool monitor_pretends(const struct monitor *monitor);

/* Asks for words in the last row, for the screen's `answer`. */
void monitor_ask(struct monitor *monitor, enum prompt prompt, const char *question);

/* The next time base of the charts. */
void monitor_span(struct monitor *monitor);

/* The descriptor that the top screen waits for (-1: none), and for how long at most (0: for
 * ever). */
int monitor_descriptor(const struct monitor *monitor);
uint64_t monitor_patience_ns(const struct monitor *monitor);

/* The process of the top screen's selection; for an overlay, of the screen below. */
bool monitor_target(const struct monitor *monitor, struct identity *out);

/* Fills graphs with what was before; true: there is more to do. */
bool monitor_recall(struct monitor *monitor, int most);

/* The monotonic clock; 0 if there is none. */
uint64_t monitor_now_ns(const struct monitor *monitor);

/* Draws the screen below an overlay, dimmed. */
void monitor_draw_below(const struct monitor *monitor, struct pen *pen);

/* The last row of a screen: keys and what they do, as many as fit. A click on one presses it. */
struct hint {
    uint32_t code;
    const char *key, *does;
};
void hints_draw(struct pen *pen, const struct model *model, const struct hint *hints, size_t count);

/* Returns true for a click in the last row. */
bool hints_click(struct monitor *monitor, const struct input_event *event, const struct hint *hints,
                 size_t count);

/* ---- process_page.c ---- */

/* The page of a name, as in `--screen 120x40:process-threads`; below 0: none. */
int process_part_find(const char *key);

/* Lines that a key or the wheel, or an action, moves by in a list; 0: it is another one. */
int input_lines(const struct input_event *event, int page, int count);
int action_lines(enum action action, int page, int count);
int input_columns(const struct input_event *event); /* the wheel, sideways */

/* Scrolls a list: the first line that is seen, so that a place is. */
int scroll_to(int top, int place, int lines, int count);

/* The nearest place from 0 to `most`; 0 where that is below it. */
int place_within(int place, int most);

/* Lines that a screen has between two rows of titles and its last row. */
int screen_lines(const struct monitor *monitor);

/* ---- list/arranging.c: the keys that arrange the list and the panels ---- */

/* Keys behind the one that hides and shows, as the help and the last row name them. */
#define ARRANGING_PANELS "d devices, h host, g graphs, t disks and networks"

/* Acts on such a key; returns false if it is none of them. Some only give the next key its
 * meaning. */
bool arranging_act(struct monitor *monitor, enum action action, int argument);
void arranging_press(struct monitor *monitor, uint32_t code);

/* Actions about a process while the line of a group is selected; returns true if done. */
bool arranging_on_group(struct monitor *monitor, enum action action);

/* Sorts by a column alone, or also by it behind the sorts that there are. */
void monitor_sort(struct monitor *monitor, unsigned sort, bool reversed, bool behind);

/* A key whose meaning the next one completes, and the text of the last row meanwhile. */
struct prefix {
    enum action action;
    void (*input)(struct monitor *monitor, uint32_t code);
    const char *words;
};

/* Says where words mean a field that there is none of. */
void arranging_check(struct monitor *monitor, const char *words);
