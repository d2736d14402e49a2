/* The list of processes as a person has arranged it: groups and their sums, several sorts, words of
 * a filter, columns, and what a layout needs. */
#include "monitor_world.h"

#include "monitor/list/group.h"
#include "monitor/list/match.h"
#include "monitor/screens/screen.h"

static const struct monitor_process PROCESSES[] = {
    {1, 0, "root", "init", 1, 0, 8, 0, 0, false},
    {10, 1, "ana", "shell", 10, 0.01, 5, 0, 0, false},
    {20, 10, "ana", "train", 20, 0.9, 2000, 1, 4000, false},
    {20, 10, "ana", "train", 20, 0.9, 2000, 2, 1000, false},
    {21, 20, "ana", "loader", 21, 0.5, 300, 1, 0, false},
    {30, 1, "ben", "vllm", 30, -1, 100, 1, -1, false},
    {31, 1, "ben", "vllm two", 31, 0.2, 50, 2, 500, false},
    {40, 1, "cho", "gmx", 40, 0.3, 700, 2, 9000, false},
    {50, 0, "", "", 0, 0, 0, 2, 100, true},
};
static const struct monitor_world WORLD = {PROCESSES, CHECK_COUNT(PROCESSES), 2};

static struct monitor monitor;
static struct monitor_options options;
static vitals_builder *builder;

static void begin(void)
{
    options = world_options();
    world_open(&monitor, &options, &WORLD, &builder);
}

static void end(void)
{
    world_more = NULL;
    world_close(&monitor, builder);
}

/* "ana:20 20 21|ben:31 30": groups by name, with the pids below them. */
static const char *groups(void)
{
    static char out[1024];
    size_t used = 0;
    const struct list *list = &monitor.model.list;
    out[0] = '\0';
    for (size_t i = 0; i < list->count && used < sizeof out; i++) {
        const struct item *item = &list->items[i];
        if (item->head)
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%s:", i > 0 ? "|" : "",
                                     item->group->known ? item->group->name : "?");
        else
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%u",
                                     list->items[i - 1].head ? "" : " ",
                                     (unsigned)item_identity(item).pid);
    }
    return out;
}

/* What the line of a group says in a column. */
static const char *cell(const char *group, const char *column)
{
    static char out[WORDS];
    const struct list *list = &monitor.model.list;
    (void)snprintf(out, sizeof out, "no such group");
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].head && strcmp(list->items[i].group->name, group) == 0)
            column_words(&list_columns[column_find(column, strlen(column))], &monitor.model,
                         &list->items[i], out);
    }
    return out;
}

static void groups_by_user_with_sums(void)
{
    begin();
    press_keys(&monitor, "Gu");
    CHECK_STR(groups(), "ana:20 21 20|ben:30 31|cho:40|?:50");
    CHECK_STR(cell("ana", "gpumem"), "5000MiB");
    CHECK_STR(cell("cho", "gpumem"), "9000MiB");
    CHECK_STR(cell("ben", "gpumem"), "≥500MiB"); /* one of the two is unknown */
    CHECK_STR(cell("ana", "%cpu"), "140.0");     /* one that is on two devices is one */
    CHECK_STR(cell("ben", "%cpu"), "≥20.0");
    CHECK_STR(cell("", "%cpu"), "N/A");
    CHECK_STR(cell("ana", "pid"), ""); /* no sum */
    const char *screen = world_screen(&monitor);
    CHECK_CONTAINS(screen, "▼ user ana: 2 processes");
    CHECK_CONTAINS(screen, "▼ user cho: 1 process");
    CHECK_CONTAINS(screen, "▼ not known: 1 process");
    CHECK_CONTAINS(screen, "by user");
    monitor_resize(&monitor, 80, 40);
    CHECK_CONTAINS(world_screen(&monitor), "▼ user ana (2) ");
    monitor_resize(&monitor, 100, 40);
    press_keys(&monitor, "Gn");
    CHECK_UINT(monitor.model.list.count, 7);
    end();
}

#define LONG_POD "a-training-job-with-a-rather-long-name-of-more-than-sixty-four-bytes-worker-"

static const struct monitor_process PODS[] = {
    {21, 1, "ana", "one", 20, 0.9, 2000, 1, 4000, false},
    {22, 1, "ana", "two", 20, 0.9, 100, 1, 1000, false},
    {23, 1, "ana", "three", 20, 0.9, 200, 1, 500, false},
    {24, 1, "ana", "four", 20, 0.9, 300, 1, 100, false},
};
static const struct monitor_more MORE[] = {{LONG_POD "1", VITALS_HAVE},
                                           {LONG_POD "2", VITALS_STALE},
                                           {LONG_POD "2", VITALS_HAVE},
                                           {LONG_POD "0", VITALS_LOWER_BOUND}};
static const struct monitor_world POD_WORLD = {PODS, CHECK_COUNT(PODS), 1};

static void begin_pods(void)
{
    options = world_options();
    world_more = MORE;
    world_open(&monitor, &options, &POD_WORLD, &builder);
}

/* Names that are alike for long are other groups, other words of a filter, and have an order. */
static void long_names_are_whole(void)
{
    begin_pods();
    press_keys(&monitor, "Gj");
    CHECK_STR(groups(), LONG_POD "0:24|" LONG_POD "1:21|" LONG_POD "2:22 23");
    press_keys(&monitor, "Gn&job:worker-1\r");
    CHECK_STR(world_pids(&monitor), "21");
    press_keys(&monitor, "&");
    press_code(&monitor, INPUT_CONTROL('u'));
    press_code(&monitor, INPUT_ENTER);
    monitor_sort(&monitor, (unsigned)column_find("job", 3) + 1, false, false);
    CHECK_STR(world_pids(&monitor), "24 21 22 23");
    monitor_sort(&monitor, (unsigned)column_find("job", 3) + 1, true, false);
    CHECK_STR(world_pids(&monitor), "22 23 21 24");
    end();
}

/* What is at least so much, or older, makes a sum that is at least so much. */
static void a_sum_says_what_it_is_made_of(void)
{
    begin_pods();
    press_keys(&monitor, "Gjor"); /* resident memory is asked for by the sort */
    CHECK_STR(cell(LONG_POD "1", "gpumem"), "4000MiB");
    CHECK_STR(cell(LONG_POD "2", "gpumem"), "≥1500MiB");
    CHECK_STR(cell(LONG_POD "0", "gpumem"), "≥100MiB");
    CHECK_STR(cell(LONG_POD "1", "res"), "2000MiB");
    CHECK_STR(cell(LONG_POD "2", "res"), "≥300MiB");
    CHECK_STR(cell(LONG_POD "1", "%mem"), "3.1");
    CHECK_STR(cell(LONG_POD "2", "%mem"), "≥0.5");
    press_keys(&monitor, "g");
    CHECK_STR(cell(LONG_POD "2", "gpumem"), "≥1500MiB"); /* of all processes likewise */
    end();
}

static void groups_follow_the_sort(void)
{
    begin();
    press_keys(&monitor, "Guog");
    CHECK_STR(groups(), "cho:40|ana:20 20 21|ben:31 30|?:50");
    press_keys(&monitor, "/");
    CHECK_STR(groups(), "ben:31 30|ana:21 20 20|cho:40|?:50");
    press_keys(&monitor, "oc");
    CHECK_STR(groups(), "ana:20 20 21|cho:40|ben:31 30|?:50");
    press_keys(&monitor, "Gp");
    CHECK_CONTAINS(groups(), "10 shell:20 20");
    CHECK_CONTAINS(groups(), "1 init:40 31 30");
    CHECK_CONTAINS(groups(), "20 train:21");
    end();
}

static void groups_close_and_open(void)
{
    begin();
    press_keys(&monitor, "Gu");
    press_code(&monitor, INPUT_HOME);
    CHECK_UINT(monitor.model.selected.pid, 0);
    press_code(&monitor, INPUT_ENTER); /* closes it */
    CHECK_STR(groups(), "ana:|ben:30 31|cho:40|?:50");
    CHECK_INT(monitor.depth, 1);
    CHECK_STR(cell("ana", "gpumem"), "5000MiB");
    CHECK_CONTAINS(world_screen(&monitor), "▶ user ana: 2 processes");
    press_keys(&monitor, "+");
    CHECK_STR(groups(), "ana:20 21 20|ben:30 31|cho:40|?:50");
    press_code(&monitor, INPUT_DOWN);
    CHECK_UINT(monitor.model.selected.pid, 20);
    press_keys(&monitor, "-"); /* of a process: its group, which is selected then */
    CHECK_STR(groups(), "ana:|ben:30 31|cho:40|?:50");
    CHECK_INT(model_selected(&monitor.model), 0);
    press_keys(&monitor, "*");
    CHECK_STR(groups(), "ana:|ben:|cho:|?:");
    press_keys(&monitor, "+");
    CHECK_STR(groups(), "ana:20 21 20|ben:|cho:|?:");
    model_add_machine(&monitor.model, world_at(builder, &WORLD, 104, 3));
    CHECK_STR(groups(), "ana:20 21 20|ben:|cho:|?:");
    end();
}

static void a_group_is_no_process(void)
{
    static const char KEYS[] = "e ";
    begin();
    press_keys(&monitor, "Gu");
    press_code(&monitor, INPUT_HOME);
    for (size_t i = 0; KEYS[i] != '\0'; i++) {
        char key[2] = {KEYS[i], '\0'};
        CHECK_CASE(key);
        press_keys(&monitor, key);
        CHECK_INT(monitor.depth, 1);
        CHECK_CONTAINS(monitor.model.message, "group");
        CHECK_UINT(monitor.model.tag_count, 0);
    }
    struct identity nobody;
    CHECK_FALSE(monitor_target(&monitor, &nobody));
    end();
}

/* "20 21": the processes in the dialog, by "20 ana, running …" on the screen. */
static const char *asked(void)
{
    static char out[256];
    size_t used = 0;
    out[0] = '\0';
    const char *screen = world_screen(&monitor);
    for (const char *at = screen; (at = strstr(at, ", running ")) != NULL; at++) {
        const char *begin = at;
        while (begin > screen && (unsigned char)begin[-1] < 0x80)
            begin--; /* up to the frame */
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%u", used > 0 ? " " : "",
                                 (unsigned)strtoul(begin, NULL, 10));
    }
    return out;
}

/* Each once, whether the group is open or closed. */
static void a_signal_is_for_all_of_a_group(void)
{
    static const struct {
        const char *by, *keys, *asked;
    } CASES[] = {
        {"Gu", "T", "20 21"},
        {"Gu", "-K", "20 21"},
        {"Gu", "*T", "20 21"},
        {"Gp", "T", "30 31 40"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].keys);
        begin();
        press_keys(&monitor, CASES[i].by);
        press_code(&monitor, INPUT_HOME);
        press_keys(&monitor, CASES[i].keys);
        CHECK_INT(monitor.depth, 2);
        CHECK_STR(asked(), CASES[i].asked);
        /* Without a context no process has a handle. */
        CHECK_CONTAINS(world_screen(&monitor), "None of these can be sent a signal");
        press_code(&monitor, INPUT_ENTER);
        CHECK_INT(monitor.depth, 1);
        end();
    }
}

/* A number that only a device reports may belong to another process here. */
static void who_is_only_a_number_is_left_alone(void)
{
    static const struct monitor_process TWO[] = {
        {50, 1, "ana", "innocent", 50, 0.1, 5, 0, 0, false},
        {50, 0, "", "", 0, 0, 0, 1, 100, true},
    };
    static const struct monitor_world BOTH = {TWO, CHECK_COUNT(TWO), 1};
    options = world_options();
    world_open(&monitor, &options, &BOTH, &builder);
    press_code(&monitor, INPUT_HOME);
    press_keys(&monitor, "T");
    CHECK_INT(monitor.depth, 2);
    CHECK_CONTAINS(world_screen(&monitor), "which process has that pid here is not known");
    CHECK(strstr(world_screen(&monitor), "innocent") == NULL);
    end();
}

static void sorts_stand_behind_each_other(void)
{
    static const struct {
        const char *keys, *pids;
    } CASES[] = {
        {"ou", "20 20 21 30 31 40 50"},     {"ouOg", "20 20 21 31 30 40 50"},
        {"ouOG", "21 20 20 31 30 40 50"},   {"ouOgOg", "20 20 21 31 30 40 50"},
        {"oUOp", "40 30 31 20 20 21 50"},   {"ouOPou", "20 20 21 30 31 40 50"},
        {"ouOPOn", "20 20 21 30 31 40 50"}, /* the first one stays */
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        begin();
        CHECK_CASE(CASES[i].keys);
        press_keys(&monitor, CASES[i].keys);
        CHECK_STR(world_pids(&monitor), CASES[i].pids);
        end();
    }
    begin();
    press_keys(&monitor, "ouOgOcOp");
    CHECK_UINT(monitor.model.arranged.sort_count, 4);
    CHECK_CONTAINS(world_screen(&monitor), "sorted by user, GPU memory, %CPU, PID");
    press_keys(&monitor, "og");
    CHECK_UINT(monitor.model.arranged.sort_count, 0);
    end();
}

static void fields_of_a_filter(void)
{
    static const struct {
        const char *words, *pids;
    } CASES[] = {
        {"user:ana", "20 21 20"},
        {"user:ana gpu:0", "20 21"},
        {"gpu:1 !user:ana", "31 40"}, /* the owner of 50 is unknown */
        {"pid:2", ""},
        {"pid:20", "20 20"},
        {"ppid:1 name:vll", "30 31"},
        {"command:\"vllm two\"", "31"},
        {"\"m t\"", "31"},
        {"two vllm", "31"},
        {"h100", "20 21 30 20 31 40 50"},
        {"gpu:h100 train", "20 20"},
        {"user: train", "20 20"}, /* still being typed */
        {"http:train", ""},       /* no field: as it stands */
        {"container:x", ""},
    };
    begin();
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].words);
        press_keys(&monitor, "&");
        press_code(&monitor, INPUT_CONTROL('u'));
        press_keys(&monitor, CASES[i].words);
        press_code(&monitor, INPUT_ENTER);
        CHECK_STR(world_pids(&monitor), CASES[i].pids);
    }
    press_keys(&monitor, "&");
    press_code(&monitor, INPUT_CONTROL('u'));
    press_keys(&monitor, "usr:ana");
    CHECK_CONTAINS(world_screen(&monitor), "no field \"usr\": there are user, name");
    press_code(&monitor, INPUT_ENTER);
    CHECK_CONTAINS(monitor.model.message, "no field \"usr\": there are user, name");
    press_keys(&monitor, "&");
    press_code(&monitor, INPUT_CONTROL('u'));
    press_keys(&monitor, "\r\\gpu:1 user:ana\r");
    CHECK_UINT(monitor.model.selected.pid, 20);
    CHECK_STR(monitor.model.message, "");
    struct wants wants;
    monitor_wants(&monitor, &wants);
    CHECK_UINT(wants.count, 0);
    press_keys(&monitor, "\\service:ssh");
    monitor_wants(&monitor, &wants);
    CHECK_UINT(wants.count, 1);
    end();
}

static void a_layout_says_what_it_needs(void)
{
    struct arrangement arrangement = {.group = GROUP_CONTAINER};
    struct wants none, wants;
    wants_of(&(struct arrangement){.group = GROUP_USER}, VIEW_DEVICES | VIEW_ALL, &none);
    CHECK_UINT(none.count, 0);
    wants_of(&arrangement, VIEW_DEVICES, &wants);
    CHECK_UINT(wants.count, 2);
    (void)snprintf(arrangement.filter, sizeof arrangement.filter, "job:1 container:x");
    wants_of(&arrangement, VIEW_DEVICES, &wants);
    CHECK_UINT(wants.count, 6);
    columns_usual(VIEW_ALL, false, &arrangement.views[1]);
    arrangement.views[1].items[0].column = (unsigned)column_find("swap", 4);
    wants_of(&arrangement, VIEW_DEVICES, &none);
    CHECK(wants_equal(&none, &wants));
    wants_of(&arrangement, VIEW_ALL, &none);
    CHECK_FALSE(wants_equal(&none, &wants));
    CHECK_UINT(none.count, 7);
}

static void columns_are_chosen_moved_and_widened(void)
{
    begin();
    press_keys(&monitor, "C");
    CHECK_CONTAINS(world_screen(&monitor), "[x]      pid       PID          8");
    press_code(&monitor, INPUT_HOME);
    press_keys(&monitor, "dd++"); /* the device two to the right, two wider */
    press_code(&monitor, INPUT_HOME);
    press_keys(&monitor, " "); /* no PID */
    press_code(&monitor, INPUT_ESCAPE);
    CHECK_INT(monitor.depth, 1);
    struct arranged_columns *own = &monitor.model.arranged.views[0];
    CHECK_STR(list_columns[own->items[0].column].key, "type");
    CHECK_STR(list_columns[own->items[1].column].key, "gpu");
    CHECK_INT(own->items[1].wider, 2);
    CHECK_STR(list_columns[own->items[own->count - 1].column].key, "command");
    CHECK_NULL(strstr(world_screen(&monitor), " PID "));
    press_keys(&monitor, "Cr");
    press_keys(&monitor, "q");
    CHECK_UINT(own->count, 0); /* as usual is nothing in particular */
    CHECK_CONTAINS(world_screen(&monitor), " PID ");
    end();
}

static void memory_is_bytes_or_a_share(void)
{
    begin();
    CHECK_CONTAINS(world_screen(&monitor), "9000MiB");
    press_keys(&monitor, "M");
    const char *screen = world_screen(&monitor);
    CHECK_CONTAINS(screen, "%GPU-MEM");
    CHECK_CONTAINS(screen, " 11.0 "); /* of 80 GiB */
    CHECK_NULL(strstr(screen, "9000MiB"));
    press_keys(&monitor, "Gu");
    CHECK_STR(cell("ana", "gpumem"), "3.1"); /* of both devices that they are on */
    CHECK_STR(cell("cho", "gpumem"), "11.0");
    end();
}

static void panels_are_hidden(void)
{
    begin();
    CHECK_CONTAINS(world_screen(&monitor), "Bus-Id");
    press_keys(&monitor, "vd");
    CHECK_NULL(strstr(world_screen(&monitor), "Bus-Id"));
    CHECK_CONTAINS(world_screen(&monitor), "CPU:");
    press_keys(&monitor, "vh");
    CHECK_NULL(strstr(world_screen(&monitor), "CPU:"));
    press_keys(&monitor, "vdvh");
    CHECK_CONTAINS(world_screen(&monitor), "Bus-Id");
    press_keys(&monitor, "vx");
    CHECK_CONTAINS(monitor.model.message, "nothing is hidden by that key");
    press_keys(&monitor, "vdd"); /* the chosen one stays visible */
    CHECK_CONTAINS(world_screen(&monitor), "Bus-Id");
    CHECK(monitor.model.has_device);
    press_keys(&monitor, "vd");
    CHECK_FALSE(monitor.model.has_device);
    end();
}

static void plain_is_text_alone(void)
{
    begin();
    press_keys(&monitor, "P");
    const char *screen = world_screen(&monitor);
    static const char *const LINES[] = {"│", "═", "─", "╒", "█", "⣿"};
    for (size_t i = 0; i < CHECK_COUNT(LINES); i++)
        CHECK_NULL(strstr(screen, LINES[i]));
    CHECK_CONTAINS(screen, "train");
    struct canvas canvas = {0};
    CHECK_INT(canvas_resize(&canvas, 100, 40), 0);
    monitor_draw(&monitor, &canvas);
    for (int i = 0; i < 100 * 40; i++)
        CHECK_UINT(canvas.cells[i].style & ~(unsigned)STYLE_REVERSE, 0);
    canvas_done(&canvas);
    press_keys(&monitor, "P");
    CHECK_CONTAINS(world_screen(&monitor), "│");
    end();
}

static struct arrangement saved;

static void save(void *data, const struct arrangement *arrangement, char *out, size_t capacity)
{
    (void)data;
    saved = *arrangement;
    (void)snprintf(out, capacity, "kept");
}

static void a_layout_is_kept_and_comes_back(void)
{
    begin();
    press_keys(&monitor, "W");
    CHECK_CONTAINS(monitor.model.message, "no folder");
    options.save = save;
    press_keys(&monitor, "GuogOPMvh&ana\r");
    press_keys(&monitor, "W");
    CHECK_STR(monitor.model.message, "kept");
    const char *before = groups();
    char kept[256];
    (void)snprintf(kept, sizeof kept, "%s", before);
    end();
    begin();
    options.arrangement = &saved;
    press_keys(&monitor, "r"); /* as at the start */
    CHECK_STR(groups(), kept);
    CHECK_UINT(monitor.model.arranged.sort_count, 2);
    CHECK_UINT(monitor.model.arranged.hidden, PANEL_HOST);
    CHECK(monitor.model.arranged.percent);
    CHECK_STR(monitor.model.filter, "ana");
    end();
}

static const check_test tests[] = {
    {"groups by user, with sums that say what is missing", groups_by_user_with_sums},
    {"long names are whole", long_names_are_whole},
    {"a sum says what it is made of", a_sum_says_what_it_is_made_of},
    {"groups follow the sort", groups_follow_the_sort},
    {"groups close and open", groups_close_and_open},
    {"the line of a group is no process", a_group_is_no_process},
    {"a signal is for all of a group", a_signal_is_for_all_of_a_group},
    {"who is only a number is left alone", who_is_only_a_number_is_left_alone},
    {"sorts stand behind each other", sorts_stand_behind_each_other},
    {"fields of a filter", fields_of_a_filter},
    {"a layout says what it needs", a_layout_says_what_it_needs},
    {"columns are chosen, moved and widened", columns_are_chosen_moved_and_widened},
    {"memory is bytes or a share", memory_is_bytes_or_a_share},
    {"panels are hidden", panels_are_hidden},
    {"plain is text alone", plain_is_text_alone},
    {"a layout is kept and comes back", a_layout_is_kept_and_comes_back},
};
CHECK_TESTS(tests)
