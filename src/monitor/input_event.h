/* input_event.h: what a person did at the terminal, whatever terminal it is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A character (control characters too), or one of these. */
// clang-format off
enum {
    INPUT_NONE = 0, INPUT_TAB = 9, INPUT_ENTER = 10, INPUT_ESCAPE = 27, INPUT_SPACE = 32,
    INPUT_BACKSPACE = 127,
    INPUT_UP = 0x110000, INPUT_DOWN, INPUT_LEFT, INPUT_RIGHT, INPUT_PAGE_UP, INPUT_PAGE_DOWN,
    INPUT_HOME, INPUT_END, INPUT_BACK_TAB, INPUT_F5, INPUT_SHIFT_LEFT, INPUT_SHIFT_RIGHT,
    /* With a place. */
    INPUT_CLICK, INPUT_WHEEL_UP, INPUT_WHEEL_DOWN, INPUT_WHEEL_LEFT, INPUT_WHEEL_RIGHT,
    INPUT_PASTE_BEGIN, INPUT_PASTE_END, /* what stands between them was not typed */
    INPUT_SIZE,                         /* the terminal has another size */
    INPUT_F1, INPUT_F2, INPUT_F3, INPUT_F4, INPUT_F6, INPUT_F7, INPUT_F8, INPUT_F9, INPUT_F10,
    INPUT_ALT = 1 << 24                 /* added to a character */
};
// clang-format on
#define INPUT_CONTROL(letter) ((letter)&0x1f)

struct input_event {
    uint32_t code;
    int x, y;
    bool fast; /* of a wheel: with Ctrl */
};

/* How often a turn of the wheel counts. */
static inline int input_times(const struct input_event *event)
{
    enum { FAST = 5 };
    return event->fast ? FAST : 1;
}
