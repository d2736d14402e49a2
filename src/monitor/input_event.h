/* input_event.h: what a person did at the terminal, whatever terminal it is. */
#ifndef VITALS_MONITOR_INPUT_EVENT_H
#define VITALS_MONITOR_INPUT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* A character (control characters too), or one of these. */
enum {
    PRESS_NONE = 0,
    PRESS_TAB = 9,
    PRESS_ENTER = 10,
    PRESS_ESCAPE = 27,
    PRESS_SPACE = 32,
    PRESS_BACKSPACE = 127,
    PRESS_UP = 0x110000,
    PRESS_DOWN,
    PRESS_LEFT,
    PRESS_RIGHT,
    PRESS_PAGE_UP,
    PRESS_PAGE_DOWN,
    PRESS_HOME,
    PRESS_END,
    PRESS_BACK_TAB,
    PRESS_F5,
    PRESS_SHIFT_LEFT,
    PRESS_SHIFT_RIGHT,
    PRESS_CLICK, /* with a place, as the next ones */
    PRESS_WHEEL_UP,
    PRESS_WHEEL_DOWN,
    PRESS_WHEEL_LEFT,
    PRESS_WHEEL_RIGHT,
    PRESS_PASTE_BEGIN, /* what follows was not typed, up to PRESS_PASTE_END */
    PRESS_PASTE_END,
    PRESS_SIZE,         /* the terminal has another size */
    PRESS_ALT = 1 << 24 /* added to a character */
};
#define PRESS_CONTROL(letter) ((letter)&0x1f)

struct press {
    uint32_t code;
    int x, y;
    bool fast; /* of a wheel: with Ctrl */
};

/* How often a turn of the wheel counts. */
static inline int press_times(const struct press *press)
{
    enum { FAST = 5 };
    return press->fast ? FAST : 1;
}

#endif
