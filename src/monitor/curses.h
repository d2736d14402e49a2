/* curses.h: <ncurses.h>, whose library is opened when a screen first is (feed/library.h).
 *
 * A function or a variable that is used stands in its list and below. Call curses_missing before
 * any; only terminal.c does. */
#ifndef VITALS_MONITOR_CURSES_H
#define VITALS_MONITOR_CURSES_H

#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <stdbool.h>

#define CURSES_FUNCTIONS(ENTRY) \
    ENTRY(clearok)              \
    ENTRY(curs_set)             \
    ENTRY(define_key)           \
    ENTRY(delscreen)            \
    ENTRY(doupdate)             \
    ENTRY(endwin)               \
    ENTRY(getmouse)             \
    ENTRY(has_colors)           \
    ENTRY(init_pair)            \
    ENTRY(keypad)               \
    ENTRY(meta)                 \
    ENTRY(mouseinterval)        \
    ENTRY(mousemask)            \
    ENTRY(newterm)              \
    ENTRY(nodelay)              \
    ENTRY(noecho)               \
    ENTRY(nonl)                 \
    ENTRY(raw)                  \
    ENTRY(resizeterm)           \
    ENTRY(set_escdelay)         \
    ENTRY(setcchar)             \
    ENTRY(start_color)          \
    ENTRY(tigetstr)             \
    ENTRY(typeahead)            \
    ENTRY(unget_wch)            \
    ENTRY(ungetch)              \
    ENTRY(use_default_colors)   \
    ENTRY(wadd_wch)             \
    ENTRY(waddch)               \
    ENTRY(werase)               \
    ENTRY(wget_wch)             \
    ENTRY(wmove)                \
    ENTRY(wrefresh)             \
    ENTRY(wresize)

#define CURSES_VARIABLES(ENTRY) \
    ENTRY(COLORS)               \
    ENTRY(COLOR_PAIRS)          \
    ENTRY(COLS)                 \
    ENTRY(LINES)                \
    ENTRY(curscr)               \
    ENTRY(newscr)               \
    ENTRY(stdscr)

struct curses_names {
#define CURSES_FUNCTION(name) __typeof__(name) *name##_function;
#define CURSES_VARIABLE(name) __typeof__(name) *name##_variable;
    CURSES_FUNCTIONS(CURSES_FUNCTION)
    CURSES_VARIABLES(CURSES_VARIABLE)
#undef CURSES_FUNCTION
#undef CURSES_VARIABLE
};

extern struct curses_names curses; /* set by curses_missing, and never after */

/* Opens it, once. NULL: it is open; else why it is not. */
const char *curses_missing(void);

#define clearok            (*curses.clearok_function)
#define curs_set           (*curses.curs_set_function)
#define define_key         (*curses.define_key_function)
#define delscreen          (*curses.delscreen_function)
#define doupdate           (*curses.doupdate_function)
#define endwin             (*curses.endwin_function)
#define getmouse           (*curses.getmouse_function)
#define has_colors         (*curses.has_colors_function)
#define init_pair          (*curses.init_pair_function)
#define keypad             (*curses.keypad_function)
#define meta               (*curses.meta_function)
#define mouseinterval      (*curses.mouseinterval_function)
#define mousemask          (*curses.mousemask_function)
#define newterm            (*curses.newterm_function)
#define nodelay            (*curses.nodelay_function)
#define noecho             (*curses.noecho_function)
#define nonl               (*curses.nonl_function)
#define raw                (*curses.raw_function)
#define resizeterm         (*curses.resizeterm_function)
#define set_escdelay       (*curses.set_escdelay_function)
#define setcchar           (*curses.setcchar_function)
#define start_color        (*curses.start_color_function)
#define tigetstr           (*curses.tigetstr_function)
#define typeahead          (*curses.typeahead_function)
#define unget_wch          (*curses.unget_wch_function)
#define ungetch            (*curses.ungetch_function)
#define use_default_colors (*curses.use_default_colors_function)
#define wadd_wch           (*curses.wadd_wch_function)
#define waddch             (*curses.waddch_function)
#define werase             (*curses.werase_function)
#define wget_wch           (*curses.wget_wch_function)
#define wmove              (*curses.wmove_function)
#define wrefresh           (*curses.wrefresh_function)
#define wresize            (*curses.wresize_function)
#define COLORS             (*curses.COLORS_variable)
#define COLOR_PAIRS        (*curses.COLOR_PAIRS_variable)
#define COLS               (*curses.COLS_variable)
#define LINES              (*curses.LINES_variable)
#define curscr             (*curses.curscr_variable)
#define newscr             (*curses.newscr_variable)
#define stdscr             (*curses.stdscr_variable)

#endif
