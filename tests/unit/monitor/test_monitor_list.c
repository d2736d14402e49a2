/* The monitor's list of processes: its lines, columns and order, and which processes keys act on.
 */
#include "monitor_world.h"

static const struct monitor_process PROCESSES[] = {
    {1, 0, "root", "init", 1, 0, 8, 0, 0, false},
    {10, 1, "ana", "shell", 10, 0.01, 5, 0, 0, false},
    {20, 10, "ana", "train", 20, 0.9, 2000, 1, 4000, false},
    {21, 20, "ana", "loader", 21, 0.5, 300, 0, 0, false},
    {30, 1, "ben", "vllm", 30, -1, 100, 1, -1, false},
    {40, 1, "cho", "gmx", 40, 0.3, 700, 2, 9000, false},
    {50, 0, "", "", 0, 0, 0, 2, 100, true},
    {60, 1, "dee", "cron", 5, 0.001, 3, 0, 0, false},
};
static const struct monitor_world WORLD = {PROCESSES, CHECK_COUNT(PROCESSES), 2};
static const struct monitor_world HOST_ONLY = {PROCESSES, 4, 0};

static struct monitor monitor;
static struct monitor_options options;
static vitals_builder *builder;

static void begin(const struct monitor_world *world)
{
    options = world_options();
    world_open(&monitor, &options, world, &builder);
}

static void orders(void)
{
    static const struct {
        const char *keys, *pids;
    } CASES[] = {
        {"", "20 30 40 50"},   {"op", "20 30 40 50"}, {"oP", "40 30 20 50"}, {"og", "40 20 30 50"},
        {"oG", "20 40 30 50"}, /* missing values are last either way, then processes that have ended
                                */
        {"oc", "20 40 30 50"}, {"oC", "40 20 30 50"}, {"ou", "20 30 40 50"}, {"om", "20 40 30 50"},
        {"ot", "20 30 40 50"}, {"oT", "40 30 20 50"}, {"/", "40 50 20 30"},  {".", "20 30 40 50"},
        {",", "20 30 40 50"},  {"on", "20 30 40 50"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        begin(&WORLD);
        CHECK_CASE(CASES[i].keys);
        press_keys(&monitor, CASES[i].keys);
        if (strcmp(CASES[i].keys, "/") != 0)
            CHECK_STR(world_pids(&monitor), CASES[i].pids);
        world_close(&monitor, builder);
    }
}

static void steps_go_round_all_sorts(void)
{
    begin(&WORLD);
    unsigned seen = 0;
    do {
        press_keys(&monitor, ".");
        seen++;
        CHECK(seen < 20);
    } while (monitor.model.sort != 0);
    CHECK_UINT(seen, 9); /* nvitop's eight, and back */
    press_keys(&monitor, ",.");
    CHECK_UINT(monitor.model.sort, 0);
    world_close(&monitor, builder);
}

static void every_process_or_those_on_devices(void)
{
    begin(&WORLD);
    CHECK_STR(world_pids(&monitor), "20 30 40 50");
    press_keys(&monitor, "g");
    CHECK_STR(world_pids(&monitor), "20 21 40 10 60 1 30"); /* by CPU */
    press_keys(&monitor, "og");
    CHECK_STR(world_pids(&monitor), "40 20 1 10 21 30 60");
    press_keys(&monitor, "g");
    CHECK_STR(world_pids(&monitor), "40 20 30 50");
    world_close(&monitor, builder);
    begin(&HOST_ONLY);
    CHECK_STR(world_pids(&monitor), "20 21 10 1");
    world_close(&monitor, builder);
}

static void the_selection_follows_its_process(void)
{
    begin(&WORLD);
    press_code(&monitor, INPUT_DOWN);
    press_code(&monitor, INPUT_DOWN);
    CHECK_UINT(monitor.model.selected.pid, 30);
    press_keys(&monitor, "og");
    CHECK_INT(model_selected(&monitor.model), 2);
    model_add_machine(&monitor.model, world_at(builder, &WORLD, 104, 3));
    CHECK_UINT(monitor.model.selected.pid, 30);
    /* Another process with the same pid is not the one that was selected. */
    struct monitor_process others[CHECK_COUNT(PROCESSES)];
    memcpy(others, PROCESSES, sizeof others);
    others[4].start = 90;
    struct monitor_world later = {others, CHECK_COUNT(PROCESSES), 2};
    model_add_machine(&monitor.model, world_at(builder, &later, 106, 4));
    CHECK_INT(model_selected(&monitor.model), -1);
    world_close(&monitor, builder);
}

static void tags_are_kept_and_dropped(void)
{
    begin(&WORLD);
    press_code(&monitor, INPUT_HOME);
    press_keys(&monitor, "  ");
    CHECK_UINT(monitor.model.tag_count, 2);
    CHECK_INT(model_selected(&monitor.model), 2);
    press_code(&monitor, INPUT_HOME);
    press_keys(&monitor, " ");
    CHECK_UINT(monitor.model.tag_count, 1);
    CHECK_UINT(monitor.model.tags[0].pid, 30);
    press_code(&monitor, INPUT_ESCAPE);
    CHECK_UINT(monitor.model.tag_count, 0);
    CHECK_FALSE(monitor.model.has_selected);
    world_close(&monitor, builder);
}

static void search_and_filter(void)
{
    begin(&WORLD);
    press_keys(&monitor, "g\\vl");
    CHECK_UINT(monitor.model.selected.pid, 30);
    press_keys(&monitor, "\r");
    press_keys(&monitor, "\\ANA\r");
    CHECK_UINT(monitor.model.selected.pid, 20);
    press_keys(&monitor, "n");
    CHECK_UINT(monitor.model.selected.pid, 21);
    press_keys(&monitor, "nn");
    CHECK_UINT(monitor.model.selected.pid, 20);
    press_keys(&monitor, "N");
    CHECK_UINT(monitor.model.selected.pid, 10);
    press_keys(&monitor, "\\vlx\r"); /* no match: as before, not the first part's */
    CHECK_UINT(monitor.model.selected.pid, 10);
    CHECK_CONTAINS(monitor.model.message, "nothing holds \"vlx\"");
    press_keys(&monitor, "\\vl");
    CHECK_UINT(monitor.model.selected.pid, 30);
    press_code(&monitor, INPUT_ESCAPE);
    CHECK_UINT(monitor.model.selected.pid, 10);
    press_keys(&monitor, "&cho\r");
    CHECK_STR(world_pids(&monitor), "40");
    press_keys(&monitor, "&x"); /* on top of what was there */
    CHECK_STR(world_pids(&monitor), "");
    CHECK_CONTAINS(world_screen(&monitor), "Filter: chox_");
    press_code(&monitor, INPUT_ESCAPE); /* as it was */
    CHECK_STR(world_pids(&monitor), "40");
    press_keys(&monitor, "&");
    press_code(&monitor, INPUT_CONTROL('u'));
    press_code(&monitor, INPUT_ENTER);
    CHECK_UINT(monitor.model.list.count, 7);
    CHECK_FALSE(monitor.quit);
    world_close(&monitor, builder);
}

static void sideways_the_command_moves_alone(void)
{
    static const struct monitor_process ONE[] = {
        {20, 1, "ana", "train --with a-command-line-that-is-longer-than-the-room-which-it-has", 20,
         3.1, 2000, 1, 4000, false}};
    static const struct monitor_more MORE[] = {{"trainer-0", VITALS_HAVE}};
    const struct monitor_world world = {ONE, CHECK_COUNT(ONE), 1};
    world_more = MORE;
    options = world_options();
    options.arrangement = NULL;
    world_open(&monitor, &options, &world, &builder);
    press_code(&monitor, INPUT_RIGHT);
    const char *screen = world_screen(&monitor);
    CHECK_CONTAINS(screen, " %SM %GMBW  %CPU  %MEM     TIME  COMMAND ");
    CHECK_CONTAINS(screen, " N/A   N/A 310.0 ");
    CHECK_CONTAINS(screen, "  pod trainer-0  ain --with ");
    world_more = NULL;
    world_close(&monitor, builder);
}

/* All that a line shows can be looked for. */
static void the_work_of_a_process_is_found(void)
{
    static const struct monitor_process TWO[] = {
        {20, 1, "ana", "train", 20, 0.9, 2000, 1, 4000, false},
        {30, 1, "ben", "vllm", 30, 0.5, 100, 1, 500, false}};
    static const struct monitor_more MORE[] = {{"", VITALS_HAVE}, {"chat-6f7c9d5b8", VITALS_HAVE}};
    const struct monitor_world world = {TWO, CHECK_COUNT(TWO), 1};
    static const char *const WORDS_OF_IT[] = {"chat-6f", "pod", "POD chat"};
    world_more = MORE;
    options = world_options();
    options.arrangement = NULL;
    world_open(&monitor, &options, &world, &builder);
    for (size_t i = 0; i < CHECK_COUNT(WORDS_OF_IT); i++) {
        CHECK_CASE(WORDS_OF_IT[i]);
        press_code(&monitor, '/');
        press_keys(&monitor, WORDS_OF_IT[i]);
        CHECK_STR(world_pids(&monitor), "30");
        press_code(&monitor, INPUT_ESCAPE);
    }
    press_keys(&monitor, "\\chat-6f\r");
    CHECK_UINT(monitor.model.selected.pid, 30);
    press_keys(&monitor, "/4711\r");
    CHECK_CONTAINS(world_screen(&monitor), "No process on a device has \"4711\"");
    world_more = NULL;
    world_close(&monitor, builder);
}

static void columns_fit_whatever_the_width(void)
{
    struct column_choice choice;
    begin(&WORLD);
    for (int width = 1; width < 300; width++) {
        for (int view = VIEW_DEVICES; view <= VIEW_ALL; view++) {
            monitor.model.view = (enum view)view;
            columns_choose(&monitor.model, width, &choice);
            CHECK(choice.count >= 2);
            CHECK_STR(choice.shown[choice.count - 1]->title, "COMMAND");
            if (width >= 21)
                CHECK(choice.x[choice.count - 1] + choice.command <= width);
            if (width >= 37)
                CHECK(choice.command >= 9);
        }
    }
    monitor.model.view = VIEW_DEVICES;
    columns_choose(&monitor.model, 77, &choice);
    CHECK_UINT(choice.count, 11); /* all that nvitop has */
    world_close(&monitor, builder);
}

static void what_came_while_held_is_shown_later(void)
{
    begin(&WORLD);
    press_keys(&monitor, "p");
    CHECK_CONTAINS(world_screen(&monitor), "held");
    struct monitor_world fewer = {PROCESSES, 3, 2};
    model_add_machine(&monitor.model, world_at(builder, &fewer, 104, 3));
    CHECK_STR(world_pids(&monitor), "20 30 40 50");
    CHECK_UINT(model_ago(&monitor.model), 2);
    press_keys(&monitor, "p");
    CHECK_STR(world_pids(&monitor), "20");
    CHECK_UINT(model_ago(&monitor.model), 0);
    world_close(&monitor, builder);
}

static void filters_of_the_command_line_hold(void)
{
    static const char *const USERS[] = {"ben", "cho"};
    static const uint64_t PIDS[] = {40, 50}, DEVICES[] = {0};
    begin(&WORLD);
    options.selection.users = USERS;
    options.selection.user_count = 2;
    options.selection.users_given = true;
    (void)model_list(&monitor.model);
    CHECK_STR(world_pids(&monitor), "30 40");
    options.selection.pids = PIDS;
    options.selection.pid_count = 2;
    (void)model_list(&monitor.model);
    CHECK_STR(world_pids(&monitor), "40");
    options.selection.users_given = false;
    options.selection.devices = DEVICES;
    options.selection.device_count = 1;
    options.selection.pid_count = 0;
    (void)model_list(&monitor.model);
    CHECK_STR(world_pids(&monitor), "20 30");
    CHECK_UINT(model_device_count(&monitor.model), 1);
    world_close(&monitor, builder);
}

static void the_tree_has_ancestors_and_descendants(void)
{
    begin(&WORLD);
    press_keys(&monitor, "t");
    const char *screen = world_screen(&monitor);
    CHECK_CONTAINS(screen, "  init ");
    CHECK_CONTAINS(screen, "├─ shell");
    CHECK_CONTAINS(screen, "│  └─ GPU 0  train");
    CHECK_CONTAINS(screen, "│     └─ loader");
    CHECK_CONTAINS(screen, "├─ GPU 0  vllm");
    CHECK_CONTAINS(screen, "└─ GPU 1  gmx");
    CHECK_NULL(strstr(screen, "cron"));
    press_keys(&monitor, "q");
    CHECK_INT(monitor.depth, 1);
    world_close(&monitor, builder);
}

/* Clicks where a text that begins a command stands on the screen: what is before it is ASCII. */
static void click_at(const char *text)
{
    const char *screen = world_screen(&monitor), *found = strstr(screen, text), *line = screen;
    struct input_event event = {.code = INPUT_CLICK};
    CHECK(found != NULL);
    for (const char *at = screen; found != NULL && at < found; at++) {
        event.y += *at == '\n';
        line = *at == '\n' ? at + 1 : line;
    }
    event.x = found != NULL ? (int)(found - line) : 0;
    monitor_input(&monitor, &event);
    monitor_settle(&monitor);
}

static void branches_are_folded(void)
{
    begin(&WORLD);
    press_keys(&monitor, "t-");
    CHECK_CONTAINS(world_screen(&monitor), "├─ shell"); /* no line is selected */
    press_code(&monitor, INPUT_DOWN);
    press_code(&monitor, INPUT_DOWN);
    press_keys(&monitor, "-");
    CHECK_CONTAINS(world_screen(&monitor), "├▶ 2 more  shell");
    CHECK_CONTAINS(world_screen(&monitor), "├─ GPU 0  vllm");
    CHECK_NULL(strstr(world_screen(&monitor), "train"));

    /* A line that has nothing to close, closes the branch that it stands in. */
    press_keys(&monitor, "-");
    CHECK_CONTAINS(world_screen(&monitor), "▶ 5 more  init");
    CHECK_NULL(strstr(world_screen(&monitor), "shell"));
    press_keys(&monitor, "--");
    CHECK_CONTAINS(world_screen(&monitor), "▶ 5 more  init");
    press_keys(&monitor, "+");
    CHECK_CONTAINS(world_screen(&monitor), "├▶ 2 more  shell");
    press_code(&monitor, INPUT_END);
    press_keys(&monitor, "-");
    CHECK_CONTAINS(world_screen(&monitor), "▶ 5 more  init");

    /* All of them, and back. */
    press_keys(&monitor, "+*");
    CHECK_CONTAINS(world_screen(&monitor), "▶ 5 more  init");
    press_keys(&monitor, "+");
    CHECK_CONTAINS(world_screen(&monitor), "├▶ 2 more  shell");
    CHECK_CONTAINS(world_screen(&monitor), "├─ GPU 0  vllm");
    press_keys(&monitor, "*");
    CHECK_CONTAINS(world_screen(&monitor), "│     └─ loader");

    /* The mouse. A filter counts the lines that pass it. */
    click_at("├─ shell");
    CHECK_CONTAINS(world_screen(&monitor), "├▶ 2 more  shell");
    snprintf(monitor.model.filter, sizeof monitor.model.filter, "train");
    monitor_settle(&monitor);
    CHECK_CONTAINS(world_screen(&monitor), "└▶ 1 more  shell");
    click_at("└▶ 1 more");
    CHECK_CONTAINS(world_screen(&monitor), "   └─ GPU 0  train");
    click_at("GPU 0  train");
    press_keys(&monitor, "q");
    world_close(&monitor, builder);
}

static void branches_are_folded_in_ascii(void)
{
    begin(&WORLD);
    options.look.ascii = true;
    press_keys(&monitor, "t*");
    CHECK_CONTAINS(world_screen(&monitor), "  + 5 more  init");
    press_code(&monitor, INPUT_DOWN);
    press_keys(&monitor, "+");
    CHECK_CONTAINS(world_screen(&monitor), "|+ 2 more  shell");
    world_close(&monitor, builder);
}

static const check_test tests[] = {
    {"every order, what is missing last", orders},
    {"steps go round all sorts", steps_go_round_all_sorts},
    {"every process, or those on devices", every_process_or_those_on_devices},
    {"the selection follows its process, and no other", the_selection_follows_its_process},
    {"tags are kept and dropped", tags_are_kept_and_dropped},
    {"search and filter", search_and_filter},
    {"sideways the command moves alone", sideways_the_command_moves_alone},
    {"the work of a process is found", the_work_of_a_process_is_found},
    {"columns fit whatever the width", columns_fit_whatever_the_width},
    {"what came while held is shown later", what_came_while_held_is_shown_later},
    {"filters of the command line hold", filters_of_the_command_line_hold},
    {"the tree has ancestors and descendants", the_tree_has_ancestors_and_descendants},
    {"branches are folded", branches_are_folded},
    {"branches are folded in ASCII", branches_are_folded_in_ascii},
};
CHECK_TESTS(tests)
