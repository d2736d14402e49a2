/* The key table, the help that is made of it, and what keys never do. */
#include "monitor_world.h"

static const struct monitor_process PROCESSES[] = {
    {10, 1, "ana", "one", 10, 0.1, 5, 1, 100, false},
    {20, 1, "ben", "two", 20, 0.2, 5, 1, 200, false},
};
static const struct monitor_world WORLD = {PROCESSES, CHECK_COUNT(PROCESSES), 1};

static struct monitor monitor;
static struct monitor_options options;
static vitals_builder *builder;

static void begin(void)
{
    options = world_options();
    world_open(&monitor, &options, &WORLD, &builder);
}

static void a_key_means_one_thing_on_a_screen(void)
{
    for (const struct binding *a = bindings; a->keys != NULL; a++) {
        CHECK_CASE(a->keys);
        CHECK(a->screens != 0 && a->codes[0] != 0 && a->action != ACTION_NONE);
        for (size_t i = 0; i < KEY_CODES && a->codes[i] != 0; i++) {
            for (unsigned bit = 1; bit <= ON_HELP; bit <<= 1) {
                if (a->screens & bit)
                    CHECK(binding_find(bit, a->codes[i]) == a);
            }
        }
    }
}

static void a_letter_sorts_by_one_column(void)
{
    for (size_t i = 0; i < list_column_count; i++) {
        CHECK_CASE(list_columns[i].title);
        CHECK(list_columns[i].words != NULL || list_columns[i].value != NULL ||
              list_columns[i].metric != 0 || list_columns[i].user_metric != 0 ||
              list_columns[i].by != GROUP_NONE);
        if (list_columns[i].letter == 0)
            continue;
        CHECK(column_sorts(&list_columns[i]));
        CHECK_NOT_NULL(list_columns[i].name);
        for (size_t j = 0; j < i; j++)
            CHECK(list_columns[j].letter != list_columns[i].letter);
    }
}

static void the_help_has_every_key(void)
{
    begin();
    monitor_resize(&monitor, 120, 120);
    monitor.model.arranged.nvitop = false; /* which has no pages of a process */
    press_keys(&monitor, "h");
    const char *screen = world_screen(&monitor);
    for (const struct binding *binding = bindings; binding->keys != NULL; binding++) {
        if (binding->help != NULL) {
            CHECK_CONTAINS(screen, binding->keys);
            CHECK_CONTAINS(screen, binding->help);
        }
    }
    press_keys(&monitor, "x");
    CHECK_INT(monitor.depth, 1);
    monitor_resize(&monitor, 40, 10);
    press_keys(&monitor, "h");
    press_code(&monitor, INPUT_END);
    CHECK_CONTAINS(world_screen(&monitor), "Mouse");
    press_code(&monitor, INPUT_HOME);
    CHECK_CONTAINS(world_screen(&monitor), "vitals");
    press_keys(&monitor, "q");
    CHECK_FALSE(monitor.quit); /* one screen at a time */
    press_keys(&monitor, "q");
    CHECK(monitor.quit);
    world_close(&monitor, builder);
}

static void type_ahead_is_understood(void)
{
    begin();
    press_code(&monitor, INPUT_DOWN);
    press_keys(&monitor, "og");
    CHECK_STR(world_pids(&monitor), "20 10");
    press_keys(&monitor, "oc/");
    CHECK_STR(world_pids(&monitor), "10 20");
    press_keys(&monitor, "ox"); /* names no column, and nothing else is done */
    CHECK_CONTAINS(monitor.model.message, "no column");
    CHECK_INT(monitor.depth, 1);
    world_close(&monitor, builder);
}

static void what_is_pasted_presses_no_key(void)
{
    begin();
    press_code(&monitor, INPUT_PASTE_BEGIN);
    press_keys(&monitor, "qQgtK\r k");
    press_code(&monitor, INPUT_PASTE_END);
    CHECK_FALSE(monitor.quit);
    CHECK_INT(monitor.depth, 1);
    CHECK_INT(monitor.model.view, VIEW_DEVICES);
    press_keys(&monitor, "\\");
    press_code(&monitor, INPUT_PASTE_BEGIN);
    press_keys(&monitor, "tw\x1b\no");
    press_code(&monitor, INPUT_PASTE_END);
    CHECK_STR(monitor.model.search, "two");
    CHECK_UINT(monitor.model.selected.pid, 20);
    world_close(&monitor, builder);
}

static void a_list_at_its_start_stays_there(void)
{
    begin();
    monitor.model.arranged.nvitop = false; /* which moves its panels first */
    press_keys(&monitor, "[");
    CHECK_INT(monitor.model.top, 0);
    CHECK_CONTAINS(world_screen(&monitor), "one");
    world_close(&monitor, builder);
}

static void read_only_opens_no_dialog(void)
{
    begin();
    options.readonly = "read-only";
    press_code(&monitor, INPUT_DOWN);
    static const uint32_t KEYS[] = {'T', 'K', 'k', 'I', INPUT_CONTROL('c')};
    for (size_t i = 0; i < CHECK_COUNT(KEYS); i++) {
        press_code(&monitor, KEYS[i]);
        CHECK_INT(monitor.depth, 1);
        CHECK_CONTAINS(monitor.model.message, "no signal");
    }
    world_close(&monitor, builder);
}

static void the_mouse_selects_and_sorts(void)
{
    begin();
    struct layout layout;
    layout_of(&monitor.model, &layout);
    struct input_event event = {.code = INPUT_CLICK, .x = 5, .y = layout.lines_y + 1};
    monitor_input(&monitor, &event);
    CHECK_UINT(monitor.model.selected.pid, 20);
    event.y = layout.lines_y + 5; /* below the list */
    monitor_input(&monitor, &event);
    CHECK_FALSE(monitor.model.has_selected);
    event = (struct input_event){.code = INPUT_CLICK, .x = 10, .y = layout.list_y + 1}; /* on PID */
    monitor_input(&monitor, &event);
    CHECK_UINT(monitor.model.sort, columns_sort(VIEW_DEVICES, 'p'));
    CHECK_FALSE(monitor.model.reversed);
    monitor_input(&monitor, &event);
    CHECK(monitor.model.reversed);
    CHECK_STR(world_pids(&monitor), "20 10");
    event.code = INPUT_WHEEL_DOWN;
    monitor_input(&monitor, &event);
    monitor_input(&monitor, &event);
    CHECK_UINT(monitor.model.selected.pid, 10);
    world_close(&monitor, builder);
}

static void control_turns_the_wheel_five_times_as_far(void)
{
    struct monitor_process many[20];
    for (size_t i = 0; i < CHECK_COUNT(many); i++)
        many[i] = (struct monitor_process){10 + i, 1, "ana", "one", 10, 0.1, 5, 1, 100, false};
    const struct monitor_world world = {many, CHECK_COUNT(many), 1};
    options = world_options();
    world_open(&monitor, &options, &world, &builder);
    static const struct {
        uint32_t code;
        bool fast;
        int place;
    } CASES[] = {{INPUT_WHEEL_DOWN, false, 1},
                 {INPUT_WHEEL_DOWN, true, 6},
                 {INPUT_WHEEL_DOWN, true, 11},
                 {INPUT_WHEEL_UP, true, 6},
                 {INPUT_WHEEL_UP, false, 5}};
    press_code(&monitor, INPUT_HOME);
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct input_event event = {.code = CASES[i].code, .fast = CASES[i].fast};
        monitor_input(&monitor, &event);
        CHECK_INT(model_selected(&monitor.model), CASES[i].place);
    }
    world_close(&monitor, builder);
}

/* Whatever is pressed, on whatever size, with whatever there is to show. */
static void any_key_on_any_size(void)
{
    static const struct monitor_world WORLDS[] = {
        {PROCESSES, 0, 0}, {PROCESSES, 2, 0}, {PROCESSES, 0, 3}, {PROCESSES, 2, 1}};
    static const int SIZES[][2] = {{1, 1}, {3, 2}, {40, 10}, {79, 24}, {100, 24}, {123, 50}};
    for (size_t i = 0; i < CHECK_COUNT(WORLDS); i++) {
        options = world_options();
        world_open(&monitor, &options, &WORLDS[i], &builder);
        for (size_t j = 0; j < CHECK_COUNT(SIZES); j++) {
            monitor_resize(&monitor, SIZES[j][0], SIZES[j][1]);
            for (const struct binding *binding = bindings; binding->keys != NULL; binding++) {
                for (size_t k = 0; k < KEY_CODES && binding->codes[k] != 0; k++) {
                    press_code(&monitor, binding->codes[k]);
                    CHECK_NOT_NULL(world_screen(&monitor));
                }
            }
            CHECK(monitor.depth >= 1);
        }
        world_close(&monitor, builder);
    }
}

static const check_test tests[] = {
    {"a key means one thing on a screen", a_key_means_one_thing_on_a_screen},
    {"a letter sorts by one column", a_letter_sorts_by_one_column},
    {"the help has every key", the_help_has_every_key},
    {"type-ahead is understood", type_ahead_is_understood},
    {"what is pasted presses no key", what_is_pasted_presses_no_key},
    {"a list at its start stays there", a_list_at_its_start_stays_there},
    {"read-only opens no dialog", read_only_opens_no_dialog},
    {"the mouse selects and sorts", the_mouse_selects_and_sorts},
    {"control turns the wheel five times as far", control_turns_the_wheel_five_times_as_far},
    {"any key on any size", any_key_on_any_size},
};
CHECK_TESTS(tests)
