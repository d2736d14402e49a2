/* keys.c: see keys.h. */
#include "monitor/keys.h"

#include <signal.h>

#include "monitor/input_event.h"
#include "monitor/monitor.h"

// clang-format off
#define CTRL(letter) INPUT_CONTROL(letter)
#define ALT(letter)  (INPUT_ALT | (letter))
#define PART(digit, number) {"1 to 7", {digit}, ON_PROCESS, ACTION_PART, number, KEYS_PART, NULL}
#define DIGIT(digit, number) {"0 to 9", {digit}, ON_MAIN, ACTION_DEVICE, number, KEYS_LOOK, NULL}

const struct binding bindings[] = {
    {"a f c", {'a'}, ON_MAIN, ACTION_MODE, MONITOR_AUTO, KEYS_LOOK, "panels: as high as fits, full, compact"},
    {"f", {'f'}, ON_MAIN, ACTION_MODE, MONITOR_FULL, KEYS_LOOK, NULL},
    {"c", {'c'}, ON_MAIN, ACTION_MODE, MONITOR_COMPACT, KEYS_LOOK, NULL},
    {"g", {'g'}, ON_LISTS, ACTION_VIEW, 0, KEYS_LOOK, "processes on devices, or all processes"},
    {"S F2", {'S', INPUT_F2}, ON_MAIN, ACTION_SETTINGS, 0, KEYS_LOOK,
     "settings: all of these on one screen"},
    {"C", {'C'}, ON_MAIN, ACTION_COLUMNS, 0, KEYS_LOOK, "choose, move and widen the columns"},
    {"v", {'v'}, ON_MAIN, ACTION_HIDE, 0, KEYS_LOOK, "hide or show: d devices, h host,"},
    {"M", {'M'}, ON_MAIN, ACTION_PERCENT, 0, KEYS_LOOK,
     "memory in bytes, or as a share"},
    {"P", {'P'}, ON_MAIN, ACTION_PLAIN, 0, KEYS_LOOK,
     "plain text to be copied, and back"},
    {"W", {'W'}, ON_MAIN, ACTION_SAVE, 0, KEYS_LOOK, "write the layout to its file"},
    {"d  0-9", {'d'}, ON_MAIN | ON_PROCESS, ACTION_DEVICE, -1, KEYS_LOOK,
     "choose a device; open one"},
    DIGIT('0', 0), DIGIT('1', 1), DIGIT('2', 2), DIGIT('3', 3), DIGIT('4', 4),
    DIGIT('5', 5), DIGIT('6', 6), DIGIT('7', 7), DIGIT('8', 8), DIGIT('9', 9),
    {"y", {'y'}, ON_MAIN, ACTION_SECOND, 0, KEYS_LOOK,
     "2nd chart: memory, power, temperature"},
    {"z", {'z'}, ON_MAIN, ACTION_SPAN, 0, KEYS_LOOK, "time base of charts: 2 s to 60 s"},
    {"A", {'A'}, ON_MAIN, ACTION_ALERTS, 0, KEYS_LOOK,
     "alerts of the last hour, with times"},
    {"p", {'p'}, ON_MAIN, ACTION_PAUSE, 0, KEYS_LOOK, "hold still, and go on"},
    {"r R C-r", {'r', 'R', CTRL('r')}, ON_MAIN, ACTION_RESET, 0, KEYS_LOOK,
     "as at the start (nvitop layout: F5)"},
    {"F5", {INPUT_F5}, ON_MAIN, ACTION_RESET, KEYS_TREE, KEYS_LOOK, NULL},

    {"Up Down Tab S-Tab", {INPUT_UP, ALT('k'), INPUT_BACK_TAB}, ON_LINES, ACTION_UP, 0, KEYS_MOVE,
     "the line above, below (A-k, A-j)"},
    {"Down", {INPUT_DOWN, ALT('j'), INPUT_TAB}, ON_LINES, ACTION_DOWN, 0, KEYS_MOVE, NULL},
    {"C-u C-d PgUp PgDn", {CTRL('u')}, ON_LINES, ACTION_PAGE_UP, 0, KEYS_MOVE,
     "a page (nvitop layout: PgDn by a line)"},
    {"C-d", {CTRL('d')}, ON_LINES, ACTION_PAGE_DOWN, 0, KEYS_MOVE, NULL},
    {"PgUp", {INPUT_PAGE_UP}, ON_MAIN, ACTION_SCROLL, -KEYS_PAGE, KEYS_MOVE,
     NULL},
    {"PgDn", {INPUT_PAGE_DOWN}, ON_MAIN, ACTION_SCROLL, KEYS_PAGE, KEYS_MOVE, NULL},
    {"[ ] A-K A-J", {'[', ALT('K')}, ON_MAIN, ACTION_SCROLL, -1, KEYS_MOVE,
     "the list by a line; elsewhere up, down"},
    {"]", {']', ALT('J')}, ON_MAIN, ACTION_SCROLL, 1, KEYS_MOVE, NULL},
    {"PgUp", {INPUT_PAGE_UP, '['}, ON_TREE | ON_ENVIRONMENT, ACTION_UP, 0, KEYS_MOVE, NULL},
    {"PgDn", {INPUT_PAGE_DOWN, ']'}, ON_TREE | ON_ENVIRONMENT, ACTION_DOWN, 0, KEYS_MOVE, NULL},
    {"PgUp", {INPUT_PAGE_UP}, ON_DEVICE | ON_HELP | ON_PROCESS | ON_ALERTS, ACTION_PAGE_UP, 0, KEYS_MOVE, NULL},
    {"PgDn", {INPUT_PAGE_DOWN}, ON_DEVICE | ON_HELP | ON_PROCESS | ON_ALERTS, ACTION_PAGE_DOWN, 0, KEYS_MOVE, NULL},
    {"Home End", {INPUT_HOME}, ON_LINES | ON_HELP | ON_PROCESS, ACTION_FIRST, 0, KEYS_MOVE,
     "the first line, the last line"},
    {"End", {INPUT_END}, ON_LINES | ON_HELP | ON_PROCESS, ACTION_LAST, 0, KEYS_MOVE, NULL},
    {"Left Right n N", {INPUT_LEFT, ALT('h'), 'N'}, ON_DEVICE, ACTION_SIDEWAYS, -1, KEYS_MOVE,
     NULL},
    {"Right", {INPUT_RIGHT, ALT('l'), 'n'}, ON_DEVICE, ACTION_SIDEWAYS, 1, KEYS_MOVE, NULL},
    {"Left Right A-h A-l", {INPUT_LEFT, ALT('h')}, ON_LISTS | ON_ENVIRONMENT, ACTION_SIDEWAYS, -1,
     KEYS_MOVE, "sideways"},
    {"Right", {INPUT_RIGHT, ALT('l')}, ON_LISTS | ON_ENVIRONMENT, ACTION_SIDEWAYS, 1, KEYS_MOVE,
     NULL},
    {"^ C-a  $ C-e", {'^', CTRL('a')}, ON_LISTS | ON_ENVIRONMENT, ACTION_LINE_BEGIN, 0, KEYS_MOVE,
     "begin and end of the commands"},
    {"$", {'$', CTRL('e')}, ON_LISTS | ON_ENVIRONMENT, ACTION_LINE_END, 0, KEYS_MOVE, NULL},

    {"\\ F3  n N", {'\\', INPUT_F3}, ON_MAIN, ACTION_SEARCH, 0, KEYS_SORT, "search; the next one, the one before"},
    {"n", {'n'}, ON_MAIN, ACTION_SEARCH_STEP, 1, KEYS_SORT, NULL},
    {"N", {'N'}, ON_MAIN, ACTION_SEARCH_STEP, -1, KEYS_SORT, NULL},
    {"/ & F4", {'&', INPUT_F4}, ON_MAIN, ACTION_FILTER, 0, KEYS_SORT,
     "only rows with the words; user:ana too"},
    {", < . >", {',', '<'}, ON_MAIN, ACTION_SORT_STEP, -1, KEYS_SORT,
     "sort by the column before, the next"},
    {".", {'.', '>'}, ON_MAIN, ACTION_SORT_STEP, 1, KEYS_SORT, NULL},
    {"o/", {'/'}, ON_MAIN, ACTION_INVERT, 0, KEYS_SORT,
     "the other way round (nvitop layout: /)"},
    {"o F6", {'o', INPUT_F6}, ON_MAIN, ACTION_SORT, 0, KEYS_SORT,
     "by a column; a capital turns it round"},
    {"O", {'O'}, ON_MAIN, ACTION_SORT_BEHIND, 0, KEYS_SORT,
     "the same, behind the sorts there are"},
    {"G", {'G'}, ON_MAIN, ACTION_GROUP, 0, KEYS_SORT, "groups with sums"},
    {"+ - *", {'+'}, ON_LISTS, ACTION_UNFOLD, 1, KEYS_SORT,
     "open, close a group or branch; all"},
    {"-", {'-'}, ON_LISTS, ACTION_UNFOLD, -1, KEYS_SORT, NULL},
    {"*", {'*'}, ON_LISTS, ACTION_UNFOLD, 0, KEYS_SORT, NULL},

    {"Space", {INPUT_SPACE}, ON_LISTS, ACTION_TAG, 0, KEYS_ACT, "tag, and go on"},
    {"Enter  e", {INPUT_ENTER, '\r'}, ON_LISTS, ACTION_PROCESS, 0, KEYS_ACT, "the process over time; its environment"},
    {"e", {'e'}, ON_LISTS | ON_PROCESS, ACTION_ENVIRONMENT, 0, KEYS_ACT, NULL},
    {"t F5", {'t'}, ON_MAIN, ACTION_TREE, 0, KEYS_ACT, "the tree of processes"},
    {"T F9  K k  I C-c", {'T', INPUT_F9}, ON_LISTS | ON_PROCESS, ACTION_SIGNAL, SIGTERM, KEYS_ACT, "ask, then SIGTERM, SIGKILL, SIGINT"},
    {"K k", {'K', 'k'}, ON_LISTS | ON_PROCESS, ACTION_SIGNAL, SIGKILL, KEYS_ACT, NULL},
    {"I C-c", {'I', CTRL('c')}, ON_LISTS | ON_PROCESS, ACTION_SIGNAL, SIGINT, KEYS_ACT, NULL},
    {"Esc", {INPUT_ESCAPE}, ON_LISTS, ACTION_CLEAR, 0, KEYS_ACT, "no selection, no tags"},

    {"Tab S-Tab  1-7", {INPUT_TAB, INPUT_RIGHT, ALT('l')}, ON_PROCESS, ACTION_TAB, 1, KEYS_PART,
     "next page, the one before; by number"},
    {"S-Tab", {INPUT_BACK_TAB, INPUT_LEFT, ALT('h')}, ON_PROCESS, ACTION_TAB, -1, KEYS_PART, NULL},
    PART('1', PROCESS_OVERVIEW), PART('2', PROCESS_THREADS), PART('3', PROCESS_FILES),
    PART('4', PROCESS_SOCKETS), PART('5', PROCESS_LIMITS), PART('6', PROCESS_ENVIRONMENT),
    PART('7', PROCESS_CGROUP),
    {"Up", {INPUT_UP, ALT('k'), '['}, ON_PROCESS, ACTION_UP, 0, KEYS_PART, NULL},
    {"Down", {INPUT_DOWN, ALT('j'), ']'}, ON_PROCESS, ACTION_DOWN, 0, KEYS_PART, NULL},
    {"/ \\ &", {'/', '\\', '&', INPUT_F3, INPUT_F4}, ON_PROCESS, ACTION_FILTER, 0, KEYS_PART,
     "only lines that hold the words"},
    {"n i a  F7 F8", {'n', INPUT_F7, INPUT_F8}, ON_PROCESS, ACTION_NICE, 0, KEYS_PART, "its nice value, I/O priority, CPUs"},
    {"i", {'i'}, ON_PROCESS, ACTION_IO_PRIORITY, 0, KEYS_PART, NULL},
    {"a", {'a'}, ON_PROCESS, ACTION_AFFINITY, 0, KEYS_PART, NULL},
    {"y  s", {'y'}, ON_PROCESS, ACTION_COPY, 0, KEYS_PART, "copy its command line; run strace"},
    {"s", {'s'}, ON_PROCESS, ACTION_TRACE, 0, KEYS_PART, NULL},
    {"z", {'z'}, ON_PROCESS | ON_DEVICE, ACTION_SPAN, 0, KEYS_PART, "time base of the charts"},
    {"r", {'r', 'R', CTRL('r')}, ON_PROCESS, ACTION_RESET, 0, KEYS_PART, "read the page again"},

    {"p", {'p'}, ON_TIMES & ~(unsigned)ON_MAIN, ACTION_PAUSE, 0, KEYS_TIME, NULL},
    {"{ } S-Left S-Right", {'{', INPUT_SHIFT_LEFT}, ON_TIMES, ACTION_TIME_SAMPLE, -1, KEYS_TIME,
     "a reading back, a reading on"},
    {"}", {'}', INPUT_SHIFT_RIGHT}, ON_TIMES, ACTION_TIME_SAMPLE, 1, KEYS_TIME, NULL},
    {"( ) b w C-b C-f", {'('}, ON_TIMES, ACTION_TIME_SECONDS, -10, KEYS_TIME, "10 s, a minute, 10 minutes back, on"},
    {")", {')'}, ON_TIMES, ACTION_TIME_SECONDS, 10, KEYS_TIME, NULL},
    {"b w", {'b'}, ON_TIMES, ACTION_TIME_SECONDS, -60, KEYS_TIME, NULL},
    {"w", {'w'}, ON_TIMES, ACTION_TIME_SECONDS, 60, KEYS_TIME, NULL},
    {"C-b C-f", {CTRL('b')}, ON_TIMES, ACTION_TIME_SECONDS, -600, KEYS_TIME, NULL},
    {"C-f", {CTRL('f')}, ON_TIMES, ACTION_TIME_SECONDS, 600, KEYS_TIME, NULL},
    {"| E", {'|'}, ON_TIMES, ACTION_TIME_END, -1, KEYS_TIME, "the begin; the end, or now (Esc)"},
    {"E", {'E'}, ON_TIMES, ACTION_TIME_END, 1, KEYS_TIME, NULL},
    {"x X", {'x'}, ON_TIMES, ACTION_TIME_SPEED, 1, KEYS_TIME, "play twice as fast, half as fast"},
    {"X", {'X'}, ON_TIMES, ACTION_TIME_SPEED, -1, KEYS_TIME, NULL},
    {"@", {'@'}, ON_TIMES, ACTION_TIME_GO, 0, KEYS_TIME, "go to 12:03, -5min, 34%"},
    {"m '", {'m'}, ON_TIMES, ACTION_TIME_MARK, 1, KEYS_TIME, "the next mark, the one before"},
    {"'", {'\''}, ON_TIMES, ACTION_TIME_MARK, -1, KEYS_TIME, NULL},

    {"h ? F1", {'h', '?', INPUT_F1}, ON_ALL, ACTION_HELP, 0, KEYS_OTHER, "this help"},
    {"q Q F10", {'q', 'Q', INPUT_F10}, ON_MAIN, ACTION_QUIT, 0, KEYS_OTHER, "quit; elsewhere: back"},
    {"t", {'t', 'q', 'Q', INPUT_F5, INPUT_F10}, ON_TREE, ACTION_BACK, 0, KEYS_OTHER, NULL},
    {"e", {'e', 'q', 'Q', INPUT_ESCAPE}, ON_ENVIRONMENT, ACTION_BACK, 0, KEYS_OTHER, NULL},
    {"Enter", {INPUT_ENTER, '\r', 'q', 'Q', INPUT_ESCAPE}, ON_PROCESS, ACTION_BACK, 0, KEYS_OTHER,
     NULL},
    {"Enter", {INPUT_ENTER, '\r', 'q', 'Q', 'd', INPUT_ESCAPE}, ON_DEVICE, ACTION_BACK, 0,
     KEYS_OTHER, NULL},
    {"Enter", {INPUT_ENTER, '\r'}, ON_ALERTS, ACTION_ALERTS, 0, KEYS_OTHER, NULL},
    {"A", {'A', 'q', 'Q', INPUT_F10, INPUT_ESCAPE}, ON_ALERTS, ACTION_BACK, 0, KEYS_OTHER, NULL},
    {"r", {'r', 'R', CTRL('r'), INPUT_F5}, ON_ENVIRONMENT, ACTION_RESET, 0, KEYS_OTHER, NULL},
    {.keys = NULL},
};
// clang-format on

/* Keys of other monitors, and what does the same here. */
static const struct {
    uint32_t code;
    const char *help;
} ELSEWHERE[] = {
    {'u', "& and user:NAME shows one user's processes"},
    {'i', "Enter, then i sets the I/O priority of a process"},
    {INPUT_F7, "Enter, then n sets the nice value of a process"},
    {INPUT_F8, "Enter, then n sets the nice value of a process"},
    {'l', "Enter, then 3 lists the open files of a process"},
    {'F', "the selection follows its process by itself"},
    {'s', "Enter, then s shows the system calls of a process"},
    {'j', "A-j moves down"},
    {'H', "Enter, then 2 lists the threads of a process"},
    {'D', "d chooses a device"},
};

const char *key_elsewhere(uint32_t code)
{
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof ELSEWHERE[0]; i++) {
        if (ELSEWHERE[i].code == code)
            return ELSEWHERE[i].help;
    }
    return "h lists every key";
}

const char *const key_group_names[KEYS_END] = {
    "",          "What is shown",          "Moving",   "Finding and sorting",
    "Processes", "The pages of a process", "The past", "Help and end"};

bool action_changes(enum action action)
{
    return action == ACTION_SIGNAL || action == ACTION_NICE || action == ACTION_IO_PRIORITY ||
           action == ACTION_AFFINITY;
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
