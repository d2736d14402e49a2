/* theme.c: see theme.h. */
#include "view/theme.h"

#include <string.h>

const char *const theme_names[] = {"dark", "light", "contrast", "mono", NULL};

/* The n-th of the terminal's 256 colors. */
#define C(number) ((number) + 1)

// clang-format off
static const uint16_t COLORS[THEME_COUNT][INK_END - INK_LOAD] = {
    [THEME_DARK] = {
        C(25), C(32), C(74), C(117),  C(23), C(29), C(36), C(79),
        C(94), C(136), C(178), C(221),  C(60), C(97), C(139), C(182),
        C(239), C(236), C(246), STYLE_BOLD, C(117), C(71), C(221),
        STYLE_BOLD | C(203)},
    [THEME_LIGHT] = {
        C(110), C(68), C(26), C(18),  C(115), C(72), C(29), C(22),
        C(180), C(136), C(130), C(94),  C(182), C(139), C(97), C(54),
        C(250), C(253), C(242), STYLE_BOLD, C(26), C(28), C(130),
        STYLE_BOLD | C(160)},
    [THEME_CONTRAST] = {
        C(14), C(14), C(14), C(14),  C(10), C(10), C(10), C(10),
        C(11), C(11), C(11), C(11),  C(13), C(13), C(13), C(13),
        C(7), C(7), STYLE_PLAIN, STYLE_BOLD, STYLE_BOLD, C(10), STYLE_BOLD | C(11),
        STYLE_BOLD | STYLE_REVERSE | C(9)},
    [THEME_MONO] = {
        STYLE_PLAIN, STYLE_PLAIN, STYLE_BOLD, STYLE_BOLD,
        STYLE_PLAIN, STYLE_PLAIN, STYLE_BOLD, STYLE_BOLD,
        STYLE_PLAIN, STYLE_PLAIN, STYLE_PLAIN, STYLE_PLAIN,
        STYLE_DIM, STYLE_DIM, STYLE_DIM, STYLE_DIM,
        STYLE_DIM, STYLE_DIM, STYLE_DIM, STYLE_BOLD, STYLE_BOLD, STYLE_PLAIN,
        STYLE_BOLD | STYLE_UNDERLINE, STYLE_BOLD | STYLE_REVERSE},
};
// clang-format on

enum theme theme_find(const char *name)
{
    for (int i = 0; theme_names[i] != NULL; i++) {
        if (strcmp(theme_names[i], name) == 0)
            return (enum theme)i;
    }
    return THEME_DARK;
}

ink theme_step(ink ramp, double ratio)
{
    int step = (int)(ratio * INK_STEPS);
    return ramp + (ink)(step < 0 ? 0 : step >= INK_STEPS ? INK_STEPS - 1 : step);
}

void canvas_theme(struct canvas *canvas, enum theme theme)
{
    size_t count = (size_t)canvas->width * (size_t)canvas->height;
    for (size_t i = 0; i < count; i++) {
        uint16_t *style = &canvas->cells[i].style;
        unsigned color = *style & STYLE_COLORS;
        if (color >= INK_LOAD && color < INK_END)
            *style = (uint16_t)((*style & ~STYLE_COLORS) | COLORS[theme][color - INK_LOAD]);
    }
}
