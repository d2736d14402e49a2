/* theme.h: colors by their meaning, and the four themes that say what each looks like.
 *
 * A drawing names a meaning; canvas_theme puts the theme's color in its place when all is drawn.
 * Red and its like mean trouble alone, so a busy device is never red. Blue and orange, and light
 * and dark, tell the series apart, also for eyes that do not tell red from green. */
#pragma once

#include "view/canvas.h"

enum theme { THEME_DARK, THEME_LIGHT, THEME_CONTRAST, THEME_MONO, THEME_COUNT };
extern const char *const theme_names[]; /* ends with NULL */

/* Inks above those of the terminal. A ramp goes from little to much; on a terminal of 256 colors
 * four of its steps have the same. */
// clang-format off
enum {
    INK_STEPS = 16,
    INK_LOAD = 257,                 /* work: CPUs, utilization */
    INK_HELD = INK_LOAD + INK_STEPS, /* what is occupied: memory */
    INK_IN = INK_HELD + INK_STEPS,   /* read, received */
    INK_OUT = INK_IN + INK_STEPS,    /* written, sent */
    INK_FRAME = INK_OUT + INK_STEPS, /* rules; here the ramps end */
    INK_TRACK, /* of a bar, to its end */
    INK_SOFT,  /* words beside the figure that counts */
    INK_TITLE, INK_KEY,
    INK_WELL,    /* nothing is wrong */
    INK_NOTICE,  /* deserves a look */
    INK_TROUBLE, /* is wrong */
    INK_END
};
// clang-format on

/* By its name, which may be NULL; an unknown one is dark. */
enum theme theme_find(const char *name);

/* The step of a ramp for a ratio. */
ink theme_step(ink ramp, double ratio);

/* Whether a background is light: 1 or 0; -1 if the text is not of its form. theme_reply reads what
 * a terminal replies to OSC 11, "11;rgb:ffff/ffff/dddd"; theme_variable reads COLORFGBG, "0;15":
 * the last number is the background. */
int theme_reply(const char *text);
int theme_variable(const char *text);

/* Replaces every meaning by the color of a theme. `direct`: but those of ramps, for a terminal that
 * takes any color, and has them from theme_direct. */
void canvas_theme(struct canvas *canvas, enum theme theme, bool direct);

/* The colors of the ramps, 0xRRGGBB, from INK_LOAD on; NULL: the theme has none but those of 256.
 */
const uint32_t *theme_direct(enum theme theme);

/* The n-th of 256 colors as most terminals have it. */
uint32_t theme_palette(unsigned number);
