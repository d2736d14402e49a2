/* keys.c: see keys.h. */
#include "monitor/keys.h"

#include <signal.h>

#include "monitor/input_event.h"
#include "monitor/monitor.h"

#define CODES(...)   .codes = {__VA_ARGS__}
#define CTRL(letter) INPUT_CONTROL(letter)
#define ALT(letter)  (INPUT_ALT | (letter))
#define DIGIT(digit, number)                                                                     \
    {                                                                                            \
        "0 to 9", CODES(digit), .screens = ON_MAIN, .action = ACTION_DEVICE, .argument = number, \
                                .group = KEYS_LOOK                                               \
    }

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
    {"C", CODES('C'), .screens = ON_MAIN, .action = ACTION_COLUMNS, .group = KEYS_LOOK,
     .help = "choose, move and widen the columns"},
    {"v", CODES('v'), .screens = ON_MAIN, .action = ACTION_HIDE, .group = KEYS_LOOK,
     .help = "hide or show, by a second key:"},
    {"M", CODES('M'), .screens = ON_MAIN, .action = ACTION_PERCENT, .group = KEYS_LOOK,
     .help = "memory of processes in bytes, or as a share"},
    {"P", CODES('P'), .screens = ON_MAIN, .action = ACTION_PLAIN, .group = KEYS_LOOK,
     .help = "plain text to be marked and copied, and back"},
    {"W", CODES('W'), .screens = ON_MAIN, .action = ACTION_SAVE, .group = KEYS_LOOK,
     .help = "write the layout to its file"},
    {"d", CODES('d'), .screens = ON_MAIN | ON_PROCESS, .action = ACTION_DEVICE, .argument = -1,
     .group = KEYS_LOOK, .help = "to the devices and back: Enter shows one, as 0 to 9 do"},
    DIGIT('0', 0), DIGIT('1', 1), DIGIT('2', 2), DIGIT('3', 3), DIGIT('4', 4),
    DIGIT('5', 5), DIGIT('6', 6), DIGIT('7', 7), DIGIT('8', 8), DIGIT('9', 9),
    {"p", CODES('p'), .screens = ON_MAIN, .action = ACTION_PAUSE, .group = KEYS_LOOK,
     .help = "hold still, and go on"},
    {"r R C-r F5", CODES('r', 'R', CTRL('r'), INPUT_F5), .screens = ON_MAIN, .action = ACTION_RESET,
     .group = KEYS_LOOK, .help = "everything as at the start"},

    {"Up  A-k S-Tab", CODES(INPUT_UP, ALT('k'), INPUT_BACK_TAB), .screens = ON_LISTS | ON_ENVIRONMENT | ON_DEVICE,
     .action = ACTION_UP, .group = KEYS_MOVE, .help = "the line above"},
    {"Down A-j Tab", CODES(INPUT_DOWN, ALT('j'), INPUT_TAB), .screens = ON_LISTS | ON_ENVIRONMENT | ON_DEVICE,
     .action = ACTION_DOWN, .group = KEYS_MOVE, .help = "the line below"},
    {"C-u C-d", CODES(CTRL('u')), .screens = ON_LISTS | ON_ENVIRONMENT | ON_DEVICE,
     .action = ACTION_PAGE_UP, .group = KEYS_MOVE, .help = "a page"},
    {"C-d", CODES(CTRL('d')), .screens = ON_LISTS | ON_ENVIRONMENT | ON_DEVICE,
     .action = ACTION_PAGE_DOWN, .group = KEYS_MOVE},
    {"PgUp PgDn", CODES(INPUT_PAGE_UP), .screens = ON_MAIN, .action = ACTION_SCROLL, .argument = -1,
     .group = KEYS_MOVE, .help = "the whole screen, by a line"},
    {"[ ] A-K A-J", CODES('[', ALT('K')), .screens = ON_MAIN, .action = ACTION_SCROLL,
     .argument = -1, .group = KEYS_MOVE, .help = "likewise; elsewhere up and down"},
    {"PgDn", CODES(INPUT_PAGE_DOWN, ']', ALT('J')), .screens = ON_MAIN, .action = ACTION_SCROLL,
     .argument = 1, .group = KEYS_MOVE},
    {"PgUp", CODES(INPUT_PAGE_UP, '['), .screens = ON_TREE | ON_ENVIRONMENT, .action = ACTION_UP,
     .group = KEYS_MOVE},
    {"PgDn", CODES(INPUT_PAGE_DOWN, ']'), .screens = ON_TREE | ON_ENVIRONMENT,
     .action = ACTION_DOWN, .group = KEYS_MOVE},
    {"PgUp", CODES(INPUT_PAGE_UP), .screens = ON_DEVICE | ON_HELP, .action = ACTION_PAGE_UP,
     .group = KEYS_MOVE},
    {"PgDn", CODES(INPUT_PAGE_DOWN), .screens = ON_DEVICE | ON_HELP, .action = ACTION_PAGE_DOWN,
     .group = KEYS_MOVE},
    {"Home End", CODES(INPUT_HOME), .screens = ON_LISTS | ON_ENVIRONMENT | ON_DEVICE | ON_HELP,
     .action = ACTION_FIRST, .group = KEYS_MOVE, .help = "the first line, the last line"},
    {"End", CODES(INPUT_END), .screens = ON_LISTS | ON_ENVIRONMENT | ON_DEVICE | ON_HELP,
     .action = ACTION_LAST, .group = KEYS_MOVE},
    {"Left Right n N", CODES(INPUT_LEFT, ALT('h'), 'N'), .screens = ON_DEVICE,
     .action = ACTION_SIDEWAYS, .argument = -1, .group = KEYS_MOVE},
    {"Right", CODES(INPUT_RIGHT, ALT('l'), 'n'), .screens = ON_DEVICE,
     .action = ACTION_SIDEWAYS, .argument = 1, .group = KEYS_MOVE},
    {"Left Right A-h A-l", CODES(INPUT_LEFT, ALT('h')), .screens = ON_LISTS | ON_ENVIRONMENT,
     .action = ACTION_SIDEWAYS, .argument = -1, .group = KEYS_MOVE, .help = "sideways"},
    {"Right", CODES(INPUT_RIGHT, ALT('l')), .screens = ON_LISTS | ON_ENVIRONMENT,
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
     .help = "show only what holds the words; user:ana gpu:0 too"},
    {", < . >", CODES(',', '<'), .screens = ON_MAIN, .action = ACTION_SORT_STEP, .argument = -1,
     .group = KEYS_SORT, .help = "sort by the column before, the next one"},
    {".", CODES('.', '>'), .screens = ON_MAIN, .action = ACTION_SORT_STEP, .argument = 1,
     .group = KEYS_SORT},
    {"/", CODES('/'), .screens = ON_MAIN, .action = ACTION_INVERT, .group = KEYS_SORT,
     .help = "the other way round"},
    {"o", CODES('o'), .screens = ON_MAIN, .action = ACTION_SORT, .group = KEYS_SORT,
     .help = "then: n as it comes; a capital turns it round"},
    {"O", CODES('O'), .screens = ON_MAIN, .action = ACTION_SORT_BEHIND, .group = KEYS_SORT,
     .help = "the same letters: behind the sorts that there are"},
    {"G", CODES('G'), .screens = ON_MAIN, .action = ACTION_GROUP, .group = KEYS_SORT,
     .help = "then: groups with sums"},
    {"+ - *", CODES('+'), .screens = ON_MAIN, .action = ACTION_UNFOLD, .argument = 1,
     .group = KEYS_SORT, .help = "open a group, close it (Enter too); all of them"},
    {"-", CODES('-'), .screens = ON_MAIN, .action = ACTION_UNFOLD, .argument = -1,
     .group = KEYS_SORT},
    {"*", CODES('*'), .screens = ON_MAIN, .action = ACTION_UNFOLD, .group = KEYS_SORT},

    {"Space", CODES(INPUT_SPACE), .screens = ON_LISTS, .action = ACTION_TAG, .group = KEYS_ACT,
     .help = "tag, and go on"},
    {"Enter", CODES(INPUT_ENTER, '\r'), .screens = ON_LISTS, .action = ACTION_PROCESS,
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
    {"Esc", CODES(INPUT_ESCAPE), .screens = ON_LISTS, .action = ACTION_CLEAR, .group = KEYS_ACT,
     .help = "nobody selected or tagged"},

    {"p", CODES('p'), .screens = ON_TIMES & ~(unsigned)ON_MAIN, .action = ACTION_PAUSE,
     .group = KEYS_TIME},
    {"{ }  S-Left S-Right", CODES('{', INPUT_SHIFT_LEFT), .screens = ON_TIMES,
     .action = ACTION_TIME_SAMPLE, .argument = -1, .group = KEYS_TIME,
     .help = "a reading back, a reading on"},
    {"}", CODES('}', INPUT_SHIFT_RIGHT), .screens = ON_TIMES, .action = ACTION_TIME_SAMPLE,
     .argument = 1, .group = KEYS_TIME},
    {"( )", CODES('('), .screens = ON_TIMES, .action = ACTION_TIME_SECONDS, .argument = -10,
     .group = KEYS_TIME, .help = "10 seconds back, on"},
    {")", CODES(')'), .screens = ON_TIMES, .action = ACTION_TIME_SECONDS, .argument = 10,
     .group = KEYS_TIME},
    {"b w", CODES('b'), .screens = ON_TIMES, .action = ACTION_TIME_SECONDS, .argument = -60,
     .group = KEYS_TIME, .help = "a minute back, on"},
    {"w", CODES('w'), .screens = ON_TIMES, .action = ACTION_TIME_SECONDS, .argument = 60,
     .group = KEYS_TIME},
    {"C-b C-f", CODES(CTRL('b')), .screens = ON_TIMES, .action = ACTION_TIME_SECONDS,
     .argument = -600, .group = KEYS_TIME, .help = "10 minutes back, on"},
    {"C-f", CODES(CTRL('f')), .screens = ON_TIMES, .action = ACTION_TIME_SECONDS, .argument = 600,
     .group = KEYS_TIME},
    {"| E", CODES('|'), .screens = ON_TIMES, .action = ACTION_TIME_END, .argument = -1,
     .group = KEYS_TIME, .help = "the begin; the end, or now"},
    {"E", CODES('E'), .screens = ON_TIMES, .action = ACTION_TIME_END, .argument = 1,
     .group = KEYS_TIME},
    {"x X", CODES('x'), .screens = ON_TIMES, .action = ACTION_TIME_SPEED, .argument = 1,
     .group = KEYS_TIME, .help = "play twice as fast, half as fast"},
    {"X", CODES('X'), .screens = ON_TIMES, .action = ACTION_TIME_SPEED, .argument = -1,
     .group = KEYS_TIME},
    {"@", CODES('@'), .screens = ON_TIMES, .action = ACTION_TIME_GO, .group = KEYS_TIME,
     .help = "go to 12:03, -5min, 34%"},
    {"m '", CODES('m'), .screens = ON_TIMES, .action = ACTION_TIME_MARK, .argument = 1,
     .group = KEYS_TIME, .help = "the next mark, the one before"},
    {"'", CODES('\''), .screens = ON_TIMES, .action = ACTION_TIME_MARK, .argument = -1,
     .group = KEYS_TIME},

    {"h ?", CODES('h', '?'), .screens = ON_ALL, .action = ACTION_HELP, .group = KEYS_OTHER,
     .help = "this help"},
    {"q Q", CODES('q', 'Q'), .screens = ON_MAIN, .action = ACTION_QUIT, .group = KEYS_OTHER,
     .help = "quit; elsewhere: back"},
    {"t", CODES('t', 'q', 'Q'), .screens = ON_TREE, .action = ACTION_BACK, .group = KEYS_OTHER},
    {"e", CODES('e', 'q', 'Q', INPUT_ESCAPE), .screens = ON_ENVIRONMENT, .action = ACTION_BACK,
     .group = KEYS_OTHER},
    {"Enter", CODES(INPUT_ENTER, '\r', 'q', 'Q', INPUT_ESCAPE), .screens = ON_PROCESS,
     .action = ACTION_BACK, .group = KEYS_OTHER},
    {"Enter", CODES(INPUT_ENTER, '\r', 'q', 'Q', 'd', INPUT_ESCAPE), .screens = ON_DEVICE,
     .action = ACTION_BACK, .group = KEYS_OTHER},
    {"r", CODES('r', 'R', CTRL('r'), INPUT_F5), .screens = ON_ENVIRONMENT, .action = ACTION_RESET,
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
                                                [KEYS_TIME] = "The past",
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
