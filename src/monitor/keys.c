/* keys.c: see keys.h. */
#include "monitor/keys.h"

#include <signal.h>

#include "monitor/monitor.h"
#include "monitor/press.h"

#define CODES(...)   .codes = {__VA_ARGS__}
#define CTRL(letter) PRESS_CONTROL(letter)
#define ALT(letter)  (PRESS_ALT | (letter))

// One key, one paragraph.
// clang-format off
const struct binding bindings[] = {
    {"a", CODES('a'), .screens = ON_MAIN, .action = ACTION_MODE, .argument = MONITOR_AUTO,
     .group = KEYS_LOOK, .help = "panels as high as fits"},
    {"f", CODES('f'), .screens = ON_MAIN, .action = ACTION_MODE, .argument = MONITOR_FULL,
     .group = KEYS_LOOK, .help = "full panels"},
    {"c", CODES('c'), .screens = ON_MAIN, .action = ACTION_MODE, .argument = MONITOR_COMPACT,
     .group = KEYS_LOOK, .help = "compact panels"},
    {"g", CODES('g'), .screens = ON_MAIN, .action = ACTION_VIEW, .group = KEYS_LOOK,
     .help = "processes on devices, or all processes"},
    {"p", CODES('p'), .screens = ON_MAIN, .action = ACTION_PAUSE, .group = KEYS_LOOK,
     .help = "hold still, and go on"},
    {"r R C-r F5", CODES('r', 'R', CTRL('r'), PRESS_F5), .screens = ON_MAIN, .action = ACTION_RESET,
     .group = KEYS_LOOK, .help = "everything as at the start"},

    {"Up  A-k S-Tab", CODES(PRESS_UP, ALT('k'), PRESS_BACK_TAB), .screens = ON_LISTS | ON_ENVIRONMENT,
     .action = ACTION_UP, .group = KEYS_MOVE, .help = "the line above"},
    {"Down A-j Tab", CODES(PRESS_DOWN, ALT('j'), PRESS_TAB), .screens = ON_LISTS | ON_ENVIRONMENT,
     .action = ACTION_DOWN, .group = KEYS_MOVE, .help = "the line below"},
    {"PgUp PgDn", CODES(PRESS_PAGE_UP), .screens = ON_LISTS | ON_ENVIRONMENT | ON_HELP,
     .action = ACTION_PAGE_UP, .group = KEYS_MOVE, .help = "a page"},
    {"PgDn", CODES(PRESS_PAGE_DOWN), .screens = ON_LISTS | ON_ENVIRONMENT | ON_HELP,
     .action = ACTION_PAGE_DOWN, .group = KEYS_MOVE},
    {"[ ]  A-K A-J", CODES('[', ALT('K')), .screens = ON_MAIN, .action = ACTION_SCROLL,
     .argument = -1, .group = KEYS_MOVE, .help = "the whole screen, by a line"},
    {"]", CODES(']', ALT('J')), .screens = ON_MAIN, .action = ACTION_SCROLL, .argument = 1,
     .group = KEYS_MOVE},
    {"Home End", CODES(PRESS_HOME), .screens = ON_LISTS | ON_ENVIRONMENT | ON_HELP,
     .action = ACTION_FIRST, .group = KEYS_MOVE, .help = "the first line, the last line"},
    {"End", CODES(PRESS_END), .screens = ON_LISTS | ON_ENVIRONMENT | ON_HELP,
     .action = ACTION_LAST, .group = KEYS_MOVE},
    {"Left Right A-h A-l", CODES(PRESS_LEFT, ALT('h')), .screens = ON_LISTS | ON_ENVIRONMENT,
     .action = ACTION_SIDEWAYS, .argument = -1, .group = KEYS_MOVE, .help = "sideways"},
    {"Right", CODES(PRESS_RIGHT, ALT('l')), .screens = ON_LISTS | ON_ENVIRONMENT,
     .action = ACTION_SIDEWAYS, .argument = 1, .group = KEYS_MOVE},
    {"^ C-a  $ C-e", CODES('^', CTRL('a')), .screens = ON_LISTS | ON_ENVIRONMENT,
     .action = ACTION_LINE_BEGIN, .group = KEYS_MOVE, .help = "begin and end of the commands"},
    {"$", CODES('$', CTRL('e')), .screens = ON_LISTS | ON_ENVIRONMENT, .action = ACTION_LINE_END,
     .group = KEYS_MOVE},

    {"\\", CODES('\\'), .screens = ON_MAIN, .action = ACTION_SEARCH, .group = KEYS_SORT,
     .help = "search for user, command, pid or device"},
    {"n N", CODES('n'), .screens = ON_MAIN, .action = ACTION_SEARCH_STEP, .argument = 1,
     .group = KEYS_SORT, .help = "the next one, the one before"},
    {"N", CODES('N'), .screens = ON_MAIN, .action = ACTION_SEARCH_STEP, .argument = -1,
     .group = KEYS_SORT},
    {"&", CODES('&'), .screens = ON_MAIN, .action = ACTION_FILTER, .group = KEYS_SORT,
     .help = "show only what holds the words"},
    {", < . >", CODES(',', '<'), .screens = ON_MAIN, .action = ACTION_SORT_STEP, .argument = -1,
     .group = KEYS_SORT, .help = "sort by the column before, the next one"},
    {".", CODES('.', '>'), .screens = ON_MAIN, .action = ACTION_SORT_STEP, .argument = 1,
     .group = KEYS_SORT},
    {"/", CODES('/'), .screens = ON_MAIN, .action = ACTION_INVERT, .group = KEYS_SORT,
     .help = "the other way round"},
    {"o", CODES('o'), .screens = ON_MAIN, .action = ACTION_SORT, .group = KEYS_SORT,
     .help = "then: n as it comes; a capital turns it round"},

    {"Space", CODES(PRESS_SPACE), .screens = ON_LISTS, .action = ACTION_TAG, .group = KEYS_ACT,
     .help = "tag, and go on"},
    {"Enter", CODES(PRESS_ENTER, '\r'), .screens = ON_LISTS, .action = ACTION_PROCESS,
     .group = KEYS_ACT, .help = "the process over time"},
    {"e", CODES('e'), .screens = ON_LISTS | ON_PROCESS, .action = ACTION_ENVIRONMENT,
     .group = KEYS_ACT, .help = "its environment"},
    {"t", CODES('t'), .screens = ON_MAIN, .action = ACTION_TREE, .group = KEYS_ACT,
     .help = "the tree of processes"},
    {"T", CODES('T'), .screens = ON_LISTS, .action = ACTION_SIGNAL, .argument = SIGTERM,
     .group = KEYS_ACT, .help = "ask before sending SIGTERM", .signals = true},
    {"K k", CODES('K', 'k'), .screens = ON_LISTS, .action = ACTION_SIGNAL, .argument = SIGKILL,
     .group = KEYS_ACT, .help = "ask before sending SIGKILL", .signals = true},
    {"I C-c", CODES('I', CTRL('c')), .screens = ON_LISTS, .action = ACTION_SIGNAL,
     .argument = SIGINT, .group = KEYS_ACT, .help = "ask before sending SIGINT", .signals = true},
    {"Esc", CODES(PRESS_ESCAPE), .screens = ON_LISTS, .action = ACTION_CLEAR, .group = KEYS_ACT,
     .help = "nobody selected or tagged"},

    {"h ?", CODES('h', '?'), .screens = ON_ALL, .action = ACTION_HELP, .group = KEYS_OTHER,
     .help = "this help"},
    {"q Q", CODES('q', 'Q'), .screens = ON_MAIN, .action = ACTION_QUIT, .group = KEYS_OTHER,
     .help = "quit; elsewhere: back"},
    {"t", CODES('t', 'q', 'Q'), .screens = ON_TREE, .action = ACTION_BACK, .group = KEYS_OTHER},
    {"e", CODES('e', 'q', 'Q', PRESS_ESCAPE), .screens = ON_ENVIRONMENT, .action = ACTION_BACK,
     .group = KEYS_OTHER},
    {"Enter", CODES(PRESS_ENTER, '\r', 'q', 'Q', PRESS_ESCAPE), .screens = ON_PROCESS,
     .action = ACTION_BACK, .group = KEYS_OTHER},
    {"r", CODES('r', 'R', CTRL('r'), PRESS_F5), .screens = ON_ENVIRONMENT, .action = ACTION_RESET,
     .group = KEYS_OTHER},
    {.keys = NULL},
};
// clang-format on

const char *key_group_name(enum key_group group)
{
    static const char *const NAMES[KEYS_END] = {[KEYS_LOOK] = "What is shown",
                                                [KEYS_MOVE] = "Moving",
                                                [KEYS_SORT] = "Finding and sorting",
                                                [KEYS_ACT] = "Processes",
                                                [KEYS_OTHER] = "Help and end"};
    return NAMES[group];
}

const struct binding *binding_find(unsigned screen, uint32_t code)
{
    for (const struct binding *binding = bindings; binding->keys != NULL; binding++) {
        if (!(binding->screens & screen))
            continue;
        for (size_t i = 0; i < KEY_CODES && binding->codes[i] != 0; i++) {
            if (binding->codes[i] == code)
                return binding;
        }
    }
    return NULL;
}
