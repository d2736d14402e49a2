/* theme.c: see theme.h. */
#include "view/theme.h"

#include "util/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const theme_names[] = {"dark", "light", "contrast", "mono", NULL};

/* The n-th of the terminal's 256 colors. */
#define C(number) ((number) + 1)

// clang-format off
enum { ANCHORS = 4, RAMPS = (INK_FRAME - INK_LOAD) / INK_STEPS };

/* Four of each ramp, and the others. */
static const uint16_t COLORS[THEME_COUNT][RAMPS * ANCHORS + INK_END - INK_FRAME] = {
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
    for (int i = 0; name != NULL && theme_names[i] != NULL; i++) {
        if (strcmp(theme_names[i], name) == 0)
            return (enum theme)i;
    }
    return THEME_DARK;
}

int theme_reply(const char *text)
{
#define PART "%4[0-9A-Fa-f]"
    static const double BRIGHTNESS[] = {0.3, 0.59, 0.11}; /* of red, green, blue, as eyes see it */
    char parts[4][5];
    int end = 0;
    double bright = 0;
    if (sscanf(text, "11;rgb:" PART "/" PART "/" PART "%n", parts[0], parts[1], parts[2], &end) < 3)
        (void)sscanf(text, "11;rgba:" PART "/" PART "/" PART "/" PART "%n", parts[0], parts[1],
                     parts[2], parts[3], &end);
    if (end == 0 || text[end] != '\0')
        return -1;
    for (size_t i = 0; i < ARRAY_COUNT(BRIGHTNESS); i++) {
        double most = (double)((1u << 4 * strlen(parts[i])) - 1);
        bright += BRIGHTNESS[i] * ((double)strtoul(parts[i], NULL, 16) / most);
    }
    return bright > 0.5;
#undef PART
}

int theme_variable(const char *text)
{
    const char *last = strrchr(text, ';');
    size_t digits = last != NULL ? strspn(last + 1, "0123456789") : 0;
    if (digits < 1 || digits > 2 || last[1 + digits] != '\0')
        return -1;
    long color = strtol(last + 1, NULL, 10);
    return color == 7 || (color > 8 && color < 16);
}

ink theme_step(ink ramp, double ratio)
{
    int step = (int)(ratio * INK_STEPS);
    return ramp + (ink)(step < 0 ? 0 : step >= INK_STEPS ? INK_STEPS - 1 : step);
}

uint32_t theme_palette(unsigned number)
{
    static const uint32_t BASIC[] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                     0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                     0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    enum { CUBE = 16, GRAY = 232, SIDE = 6 };
    if (number < CUBE)
        return BASIC[number];
    if (number >= GRAY)
        return (8 + 10 * (number - GRAY)) * 0x010101u;
    uint32_t rgb = 0;
    for (unsigned part = SIDE * SIDE; part > 0; part /= SIDE) {
        unsigned level = (number - CUBE) / part % SIDE;
        rgb = rgb << 8 | (level > 0 ? 55 + 40 * level : 0);
    }
    return rgb;
}

/* Between two colors, `part` of `whole` from the first to the second. */
static uint32_t blend(uint32_t from, uint32_t to, unsigned part, unsigned whole)
{
    uint32_t rgb = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        uint32_t a = from >> shift & 0xff, b = to >> shift & 0xff;
        rgb = rgb << 8 | (a * (whole - part) + b * part + whole / 2) / whole;
    }
    return rgb;
}

const uint32_t *theme_direct(enum theme theme)
{
    static uint32_t ramps[THEME_COUNT][INK_FRAME - INK_LOAD];
    uint32_t *direct = ramps[theme];
    if (theme != THEME_DARK && theme != THEME_LIGHT)
        return NULL;
    for (unsigned i = 0; i < INK_FRAME - INK_LOAD; i++) {
        unsigned at = i % INK_STEPS * (ANCHORS - 1), part = at % (INK_STEPS - 1);
        const uint16_t *from = &COLORS[theme][i / INK_STEPS * ANCHORS + at / (INK_STEPS - 1)];
        direct[i] = blend(theme_palette(from[0] - 1u), theme_palette(from[part > 0] - 1u), part,
                          INK_STEPS - 1);
    }
    return direct;
}

void canvas_theme(struct canvas *canvas, enum theme theme, bool direct)
{
    size_t count = (size_t)canvas->width * (size_t)canvas->height;
    for (size_t i = 0; i < count; i++) {
        uint16_t *style = &canvas->cells[i].style;
        unsigned color = *style & STYLE_COLORS;
        if (color < (direct ? INK_FRAME : INK_LOAD) || color >= INK_END)
            continue;
        unsigned place = color < INK_FRAME ? (color - INK_LOAD) * ANCHORS / INK_STEPS
                                           : RAMPS * ANCHORS + color - INK_FRAME;
        *style = (uint16_t)((*style & ~STYLE_COLORS) | COLORS[theme][place]);
    }
}
