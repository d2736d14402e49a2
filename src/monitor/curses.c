/* curses.c: see curses.h. */
#if VITALS_WITH_NCURSES
#include "monitor/curses.h"

#include <stddef.h>

#include "feed/library.h"

#if NCURSES_REENTRANT
#error \
    "its variables are functions in this ncurses: build vitals with another, or -Dmonitor=disabled"
#endif

#define TEXT_OF(number) #number
#define FILE_OF(major)  "libncursesw.so." TEXT_OF(major)

struct curses_names curses;

const char *curses_missing(void)
{
    static const struct library_symbol SYMBOLS[] = {
#define FUNCTION(name) {#name, offsetof(struct curses_names, name##_function)},
#define VARIABLE(name) {#name, offsetof(struct curses_names, name##_variable)},
        CURSES_FUNCTIONS(FUNCTION) CURSES_VARIABLES(VARIABLE)
#undef FUNCTION
#undef VARIABLE
    };
    static struct library library = {.file = FILE_OF(NCURSES_VERSION_MAJOR),
                                     .table = &curses,
                                     .symbols = SYMBOLS,
                                     .count = sizeof(SYMBOLS) / sizeof(SYMBOLS[0])};
    return library_missing(&library);
}
#else
typedef int curses_is_left_out;
#endif
