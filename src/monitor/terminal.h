/* terminal.h: the terminal: the only place that knows ncurses.
 *
 * Whatever happens, it is left as it was found: at the end, on ^Z, on a crash. One terminal per
 * process; one thread. */
#pragma once

#include "monitor/input_event.h"
#include "view/canvas.h"

/* Takes over standard input and output. Signal handlers must be set before. `term` is the
 * terminal's name, or NULL; where terminfo has no entry for it, that of a common terminal is used.
 * `ramps` (may be NULL) are the colors of theme_direct, for a terminal that takes any.
 * Errors: EUNSUPPORTED (no name; no entry at all; it cannot place a cursor). */
int terminal_open(const char *term, const uint32_t *ramps, vitals_error *error);

/* The colors of theme_direct for another theme, for a terminal that shows the ramps. */
void terminal_set_ramps(const uint32_t *ramps);

/* True if it shows the ramps: terminfo has an entry for it with any color ("vte-direct"). */
bool terminal_is_direct(void);

/* Which entry is used in place of the terminal's own, in one safe line; NULL: its own. */
const char *terminal_notice(void);
void terminal_close(void);

/* The descriptor that can be read when there are keys. */
int terminal_descriptor(void);

/* The next key: 1; 0: none now. Never waits, but 25 ms for what may follow an escape, and in the
 * two seconds after terminal_query_background 100 ms for each part of its reply. */
int terminal_read(struct input_event *out);

/* Its size now. */
void terminal_size(int *width, int *height);

/* Colors that it has. */
int terminal_colors(void);

/* Queries the color of its background, if it has 256 colors; terminal_read takes the reply, which
 * some terminals never send. */
void terminal_query_background(void);

/* 1: it has replied that its background is light; 0: dark; -1: unknown. */
int terminal_background(void);

/* Sends what is not there yet. Blanks of the canvas may get another color. */
void terminal_show(struct canvas *canvas);

/* Sends a sequence that moves nothing, as one for the clipboard. */
void terminal_send(const char *sequence);

/* Takes or releases the mouse; without it the terminal marks text. It is taken at the start. */
void terminal_mouse(bool wanted);

/* Everything anew with the next canvas. */
void terminal_forget(void);

/* Back to how it was found, and again to how we use it. */
void terminal_suspend(void);
void terminal_resume(void);
