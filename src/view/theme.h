/* theme.h: colors by their meaning, and the four themes that say what each looks like.
 *
 * A drawing names a meaning; canvas_theme puts the theme's color in its place when all is drawn.
 * Red and its like mean trouble alone, so a busy device is never red. Blue and orange, and light
 * and dark, tell the series apart, also for eyes that do not tell red from green. */
#ifndef VITALS_VIEW_THEME_H
#define VITALS_VIEW_THEME_H

#include "view/canvas.h"

enum theme { THEME_DARK, THEME_LIGHT, THEME_CONTRAST, THEME_MONO, THEME_COUNT };
extern const char *const theme_names[]; /* ends with NULL */

/* Inks above those of the terminal. A ramp has four steps, from little to much. */
// clang-format off
enum {
    INK_STEPS = 4,
    INK_LOAD = 257,                 /* work: CPUs, utilization */
    INK_HELD = INK_LOAD + INK_STEPS, /* what is occupied: memory */
    INK_IN = INK_HELD + INK_STEPS,   /* read, received */
    INK_OUT = INK_IN + INK_STEPS,    /* written, sent */
    INK_FRAME = INK_OUT + INK_STEPS, /* rules */
    INK_TRACK, /* of a bar, to its end */
    INK_SOFT,  /* words beside the figure that counts */
    INK_TITLE, INK_KEY,
    INK_WELL,    /* nothing is wrong */
    INK_NOTICE,  /* deserves a look */
    INK_TROUBLE, /* is wrong */
    INK_END
};
// clang-format on

/* By its name; an unknown one is dark. */
enum theme theme_find(const char *name);

/* The step of a ramp for a ratio. */
ink theme_step(ink ramp, double ratio);

/* Replaces every meaning by the color of a theme. */
void canvas_theme(struct canvas *canvas, enum theme theme);

#endif
