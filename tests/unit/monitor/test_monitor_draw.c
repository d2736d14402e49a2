/* The canvas, histories, bars and graphs of the monitor: cells in, text out. */
#include "check.h"

#include <math.h>

#include "view/draw.h"

static struct look look = {.gpu_thresholds = {10, 75}, .memory_thresholds = {10, 80}};

struct buffer {
    char bytes[4096];
    size_t size;
};

static int append(void *data, const char *bytes, size_t size)
{
    struct buffer *text = data;
    if (text->size + size >= sizeof text->bytes)
        return -1;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
    return 0;
}

static const char *printed(const struct canvas *canvas, bool styles)
{
    static struct buffer text;
    text.size = 0;
    text.bytes[0] = '\0';
    CHECK_INT(canvas_print(canvas, styles, append, &text), 0);
    return text.bytes;
}

static void draws_inside_only(void)
{
    struct canvas canvas = {0};
    CHECK_INT(canvas_resize(&canvas, 6, 2), 0);
    CHECK_INT(canvas_text(&canvas, -2, 0, STYLE_PLAIN, "abcdefgh"), 8);
    CHECK_INT(canvas_text(&canvas, 4, 1, STYLE_PLAIN, "xyz"), 3);
    (void)canvas_text(&canvas, 0, -1, STYLE_PLAIN, "above");
    (void)canvas_text(&canvas, 0, 2, STYLE_PLAIN, "below");
    (void)canvas_text(&canvas, 6, 0, STYLE_PLAIN, "right");
    CHECK_STR(printed(&canvas, false), "cdefgh\n    xy\n");
    CHECK_NULL(canvas_at(&canvas, 6, 0));
    CHECK_NULL(canvas_at(&canvas, 0, -1));
    canvas_done(&canvas);
}

static void keeps_wide_characters_whole(void)
{
    static const struct {
        const char *name;
        int x;
        const char *text, *then;
        int then_x;
        const char *expected;
    } CASES[] = {
        {"two columns", 0, "日本", "", 0, "日本\n"},
        {"cut by the edge", 3, "日本", "", 0, "   日\n"},
        {"half of it outside", 4, "日", "", 0, "    \xe6\x97\xa5\n"},
        {"its right half overwritten", 0, "日本", "x", 1, " x本\n"},
        {"its left half overwritten", 0, "日本", "x", 0, "x 本\n"},
        {"a mark joins what it stands on", 0, "e\xcc\x81x", "", 0, "e\xcc\x81x\n"},
        {"a control is shown as one", 0, "a\x1b[b", "", 0, "a?[b\n"},
    };
    struct canvas canvas = {0};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].name);
        CHECK_INT(canvas_resize(&canvas, CASES[i].x == 4 ? 6 : 5, 1), 0);
        (void)canvas_text(&canvas, CASES[i].x, 0, STYLE_PLAIN, CASES[i].text);
        (void)canvas_text(&canvas, CASES[i].then_x, 0, STYLE_PLAIN, CASES[i].then);
        CHECK_STR(printed(&canvas, false), CASES[i].expected);
    }
    CHECK_CASE(NULL);
    CHECK_INT(canvas_resize(&canvas, 5, 1), 0);
    (void)canvas_text(&canvas, 4, 0, STYLE_PLAIN, "日");
    CHECK_STR(printed(&canvas, false), "\n");
    canvas_done(&canvas);
}

static void fields_are_exactly_as_wide(void)
{
    static const struct {
        const char *text;
        bool right;
        int columns, skip;
        const char *expected;
    } CASES[] = {
        {"abc", false, 5, 0, "[abc  ]\n"},    {"abc", true, 5, 0, "[  abc]\n"},
        {"abcdef", true, 5, 0, "[abc..]\n"},  {"abcdef", false, 5, 2, "[cdef ]\n"},
        {"abcdef", false, 1, 0, "[.]\n"},     {"日本語", false, 5, 0, "[日.. ]\n"},
        {"日本語", false, 5, 1, "[ 本語]\n"}, {"ab", false, 3, 9, "[   ]\n"},
        {"", true, 2, 0, "[  ]\n"},
    };
    struct canvas canvas = {0};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].expected);
        CHECK_INT(canvas_resize(&canvas, CASES[i].columns + 2, 1), 0);
        canvas_repeat(&canvas, 0, 0, CASES[i].columns + 2, STYLE_PLAIN, "#");
        (void)canvas_text(&canvas, 0, 0, STYLE_PLAIN, "[");
        (void)canvas_text(&canvas, CASES[i].columns + 1, 0, STYLE_PLAIN, "]");
        struct canvas_field field = {
            .x = 1, .columns = CASES[i].columns, .right = CASES[i].right, .skip = CASES[i].skip};
        canvas_field(&canvas, &field, CASES[i].text);
        CHECK_STR(printed(&canvas, false), CASES[i].expected);
    }
    canvas_done(&canvas);
}

static void styles_are_printed_where_they_change(void)
{
    struct canvas canvas = {0};
    CHECK_INT(canvas_resize(&canvas, 6, 1), 0);
    (void)canvas_text(&canvas, 0, 0, STYLE_RED | STYLE_BOLD, "ab");
    (void)canvas_text(&canvas, 2, 0, STYLE_PLAIN, "c");
    (void)canvas_text(&canvas, 3, 0, 179, "d");
    CHECK_STR(printed(&canvas, true), "\033[0;1;31mab\033[0mc\033[0;38;5;178md\033[0m\n");
    canvas_restyle(&canvas, 0, 0, 1, STYLE_DIM | STYLE_GREEN);
    CHECK_UINT(canvas_at(&canvas, 0, 0)->style, STYLE_BOLD | STYLE_DIM | STYLE_GREEN);
    canvas_done(&canvas);
}

static void a_light_background_gets_dark_colors(void)
{
    struct canvas canvas = {0};
    CHECK_INT(canvas_resize(&canvas, 3, 1), 0);
    (void)canvas_text(&canvas, 0, 0, STYLE_YELLOW | STYLE_BOLD, "a");
    (void)canvas_text(&canvas, 1, 0, STYLE_RED, "b");
    canvas_darken(&canvas);
    CHECK_UINT(canvas_at(&canvas, 0, 0)->style, 95 | STYLE_BOLD);
    CHECK_UINT(canvas_at(&canvas, 1, 0)->style, STYLE_RED);
    CHECK_UINT(canvas_at(&canvas, 2, 0)->style, STYLE_PLAIN);
    canvas_done(&canvas);
}

static void any_size_is_a_canvas(void)
{
    struct canvas canvas = {0};
    CHECK_INT(canvas_resize(&canvas, 0, -3), 0);
    CHECK_INT(canvas.width, 1);
    CHECK_INT(canvas.height, 1);
    CHECK_STR(printed(&canvas, false), "\n");
    canvas_done(&canvas);
}

/* ---- histories ---- */

enum { SECOND = 1000000000 };

static void add(struct history *history, double seconds, double value)
{
    history_add(history, (uint64_t)(seconds * SECOND), value);
}

static void a_second_has_one_value(void)
{
    static struct history history;
    double mean = 0;
    CHECK(isnan(history_get(&history, 0)));
    add(&history, 10.1, 0.2);
    add(&history, 10.4, 0.4);
    add(&history, 10.9, (double)NAN);
    CHECK_NEAR(history_get(&history, 0), 0.3, 1e-6);
    add(&history, 11.5, 0.5);
    CHECK_NEAR(history_get(&history, 0), 0.5, 1e-6);
    CHECK_NEAR(history_get(&history, 1), 0.3, 1e-6);
    CHECK(isnan(history_get(&history, 2)));
    add(&history, 9, 1); /* from the past */
    CHECK_NEAR(history_get(&history, 0), 0.5, 1e-6);
    CHECK(history_mean(&history, 0, 60, &mean));
    CHECK_NEAR(mean, 0.4, 1e-6);
}

static void a_short_gap_is_bridged_and_a_long_one_stays(void)
{
    static struct history history;
    double most = 0;
    add(&history, 1, 0);
    add(&history, 5, 0.4);
    CHECK_NEAR(history_get(&history, 1), 0.3, 1e-6);
    CHECK_NEAR(history_get(&history, 3), 0.1, 1e-6);
    add(&history, 105, 1);
    CHECK(isnan(history_get(&history, 50)));
    CHECK_NEAR(history_get(&history, 100), 0.4, 1e-6);
    CHECK(history_most(&history, 0, 200, &most));
    CHECK_NEAR(most, 1, 1e-6);
    CHECK(history_most(&history, 1, 200, &most));
    CHECK_NEAR(most, 0.4, 1e-6);
    add(&history, 1e6, 0.7); /* beyond the room */
    CHECK(isnan(history_get(&history, 1)));
    CHECK_UINT(history.count, 1);
}

static void the_room_is_a_ring(void)
{
    static struct history history;
    for (unsigned i = 0; i < 3 * HISTORY_ROOM; i++)
        add(&history, i, i);
    CHECK_UINT(history.count, HISTORY_ROOM);
    CHECK_NEAR(history_get(&history, HISTORY_ROOM - 1), 2 * HISTORY_ROOM, 0);
    CHECK(isnan(history_get(&history, HISTORY_ROOM)));
}

/* ---- bars and graphs ---- */

static void bars_say_what_they_show(void)
{
    static const struct {
        double ratio;
        bool known;
        bool ascii;
        int columns;
        const char *note;
        const char *expected;
    } CASES[] = {
        {0.5, true, false, 21, NULL, "MEM: █████ 50.0%\n"},
        {0.5, true, true, 21, NULL, "MEM: ||||| 50.0%\n"},
        {0, true, false, 21, NULL, "MEM: ▏ 0.0%\n"},
        {1, true, false, 21, NULL, "MEM: ██████████ MAX\n"},
        {7, true, false, 21, NULL, "MEM: ██████████ MAX\n"},
        {0, false, false, 21, NULL, "MEM: ░░░░░░░░░░ N/A\n"},
        {0, false, true, 21, NULL, "MEM: .......... N/A\n"},
        {0.5, true, false, 31, "12GiB", "MEM: █████▌ 50.0%         12GiB\n"},
        {0.5, true, false, 21, "12GiB", "MEM: █████ 50.0%\n"},
    };
    struct canvas canvas = {0};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].expected);
        look.ascii = CASES[i].ascii;
        struct pen pen = {&canvas, &look};
        struct bar bar = {.label = "MEM",
                          .known = CASES[i].known,
                          .ratio = CASES[i].ratio,
                          .fraction = true,
                          .note = CASES[i].note,
                          .note_columns = CASES[i].note != NULL ? 9 : 0};
        CHECK_INT(canvas_resize(&canvas, CASES[i].columns, 1), 0);
        draw_bar(&pen, 0, 0, CASES[i].columns, &bar);
        CHECK_STR(printed(&canvas, false), CASES[i].expected);
    }
    canvas_done(&canvas);
}

static void graphs_grow_from_their_edge(void)
{
    static const struct {
        bool down, ascii;
        const char *expected;
    } CASES[] = {
        {false, false, "  ⢀⣾\n ⢀⣿⣿\n"},
        {true, false, " ⠈⣿⣿\n  ⠈⢿\n"},
        {false, true, "   |\n .||\n"},
        {true, true, " '||\n   |\n"},
    };
    static struct history history;
    struct canvas canvas = {0};
    memset(&history, 0, sizeof history);
    static const double VALUES[] = {0, 0.125, 0.5, 0.625, 0.875, 1};
    for (size_t i = 0; i < CHECK_COUNT(VALUES); i++)
        add(&history, (double)(i + 10), VALUES[i]);
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        look.ascii = CASES[i].ascii;
        struct pen pen = {&canvas, &look};
        struct box box = {0, 0, 4, 2};
        struct graph graph = {.history = &history, .most = 1, .down = CASES[i].down};
        CHECK_INT(canvas_resize(&canvas, 4, 2), 0);
        draw_graph(&pen, &box, &graph);
        CHECK_CASE(CASES[i].expected);
        CHECK_STR(printed(&canvas, false), CASES[i].expected);
    }
    canvas_done(&canvas);
}

static void load_has_three_colors(void)
{
    CHECK_UINT(draw_load(true, 0.09, look.gpu_thresholds), STYLE_GREEN);
    CHECK_UINT(draw_load(true, 0.10, look.gpu_thresholds), STYLE_YELLOW);
    CHECK_UINT(draw_load(true, 0.75, look.gpu_thresholds), STYLE_RED);
    CHECK_UINT(draw_load(false, 0, look.gpu_thresholds), STYLE_YELLOW);
    for (int i = -1; i <= 11; i++) {
        ink style = draw_gradient(i / 10.0);
        CHECK(style > 16 && style <= 256);
    }
}

static void ramps_are_those_of_the_palette_without_steps(void)
{
    static const enum theme THEMES[] = {THEME_DARK, THEME_LIGHT};
    for (size_t i = 0; i < CHECK_COUNT(THEMES); i++) {
        const uint32_t *ramps = theme_direct(THEMES[i]);
        struct canvas canvas = {0};
        for (unsigned ramp = INK_LOAD; ramp < INK_FRAME; ramp += INK_STEPS) {
            CHECK_INT(canvas_resize(&canvas, INK_STEPS, 1), 0);
            for (int x = 0; x < INK_STEPS; x++)
                canvas_repeat(&canvas, x, 0, 1, ramp + (unsigned)x, "x");
            canvas_theme(&canvas, THEMES[i], true);
            CHECK_UINT(canvas_at(&canvas, 5, 0)->style, ramp + 5);
            canvas_theme(&canvas, THEMES[i], false);
            unsigned first = canvas_at(&canvas, 0, 0)->style - 1u;
            unsigned last = canvas_at(&canvas, INK_STEPS - 1, 0)->style - 1u;
            CHECK_UINT(ramps[ramp - INK_LOAD], theme_palette(first));
            CHECK_UINT(ramps[ramp - INK_LOAD + INK_STEPS - 1], theme_palette(last));
            for (unsigned x = 1; x < INK_STEPS; x++)
                CHECK(ramps[ramp - INK_LOAD + x] != ramps[ramp - INK_LOAD + x - 1]);
        }
        canvas_done(&canvas);
    }
    CHECK(theme_direct(THEME_MONO) == NULL && theme_direct(THEME_CONTRAST) == NULL);
    CHECK_UINT(theme_palette(16), 0x000000);
    CHECK_UINT(theme_palette(117), 0x87d7ff);
    CHECK_UINT(theme_palette(255), 0xeeeeee);
}

static void the_background_is_light_or_dark(void)
{
    static const struct {
        const char *text;
        int (*read)(const char *text);
        int expected;
    } CASES[] = {{"11;rgb:ffff/ffff/ffff", theme_reply, 1},
                 {"11;rgb:fd/f6/e3", theme_reply, 1},
                 {"11;rgb:f/f/f", theme_reply, 1},
                 {"11;rgba:ff/ff/ff/80", theme_reply, 1},
                 {"11;rgb:0/0/0", theme_reply, 0},
                 {"11;rgb:1e1e/1e1e/2e2e", theme_reply, 0},
                 {"11;rgb:0000/0000/ffff", theme_reply, 0},
                 {"11;rgb:0000/ffff/0", theme_reply, 1},
                 {"11;rgb:fffff/0/0", theme_reply, -1},
                 {"11;rgb:ff/ff", theme_reply, -1},
                 {"11;rgb:ff/ff/ff/ff", theme_reply, -1},
                 {"11;rgb:ff/ff/ffz", theme_reply, -1},
                 {"11;rgb:ff/ff/ff/", theme_reply, -1},
                 {"11;rgb:ffff", theme_reply, -1},
                 {"11;rgba:ff/ff/ff", theme_reply, -1},
                 {"11;rgb:-1/0/0", theme_reply, -1},
                 {"11;rgb:white", theme_reply, -1},
                 {"11;rgb:", theme_reply, -1},
                 {"11;15", theme_reply, -1},
                 {"10;rgb:ff/ff/ff", theme_reply, -1},
                 {"", theme_reply, -1},
                 {"0;15", theme_variable, 1},
                 {"15;0", theme_variable, 0},
                 {"0;default;7", theme_variable, 1},
                 {"12;8", theme_variable, 0},
                 {"0;default", theme_variable, -1},
                 {"15", theme_variable, -1},
                 {"0;015", theme_variable, -1},
                 {"0;-1", theme_variable, -1},
                 {"0;15x", theme_variable, -1},
                 {"11;rgb:ff/ff/ff", theme_variable, -1},
                 {"", theme_variable, -1}};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].text);
        CHECK_INT(CASES[i].read(CASES[i].text), CASES[i].expected);
    }
}

static void a_title_loses_whole_parts(void)
{
    static const struct {
        int columns;
        const char *expected;
    } CASES[] = {{41, "┌─ MEM: 12.00MiB  MAX: 5.0%  (of 9MiB) ─┐"},
                 {40, "┌─ MEM: 12.00MiB  MAX: 5.0% ───────────┐"},
                 {30, "┌─ MEM: 12.00MiB  MAX: 5.0% ─┐"},
                 {29, "┌─ MEM: 12.00MiB ───────────┐"},
                 {14, "┌─ MEM: ─────┐"},
                 {9, "┌─ ME..─┐"},
                 {7, "┌─ ..─┐"},
                 {6, "┌────┐"}};
    struct canvas canvas = {0};
    struct look lines = {.ascii = false};
    struct pen pen = {&canvas, &lines};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        char line[256];
        struct box box = {0, 0, CASES[i].columns, 3};
        CHECK_INT(canvas_resize(&canvas, 41, 3), 0);
        draw_box(&pen, &box, "MEM: 12.00MiB  MAX: 5.0%  (of 9MiB)");
        (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(printed(&canvas, false), "\n"),
                       printed(&canvas, false));
        CHECK_STR(line, CASES[i].expected);
    }
    canvas_done(&canvas);
}

static const check_test tests[] = {
    {"what lies outside is not drawn", draws_inside_only},
    {"the background is light or dark", the_background_is_light_or_dark},
    {"wide characters stay whole or go", keeps_wide_characters_whole},
    {"a field is exactly as wide as it says", fields_are_exactly_as_wide},
    {"styles are printed where they change", styles_are_printed_where_they_change},
    {"a light background gets dark colors", a_light_background_gets_dark_colors},
    {"any size is a canvas", any_size_is_a_canvas},
    {"a second has one value", a_second_has_one_value},
    {"a short gap is bridged, a long one stays", a_short_gap_is_bridged_and_a_long_one_stays},
    {"the room of a history is a ring", the_room_is_a_ring},
    {"bars say what they show", bars_say_what_they_show},
    {"graphs grow from their edge", graphs_grow_from_their_edge},
    {"load has three colors", load_has_three_colors},
    {"ramps are those of the palette, without steps", ramps_are_those_of_the_palette_without_steps},
    {"a title loses whole parts", a_title_loses_whole_parts},
};
CHECK_TESTS(tests)
