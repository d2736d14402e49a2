/* What stands at the edge of a screen: names that are wider than their bytes tell, a family deeper
 * than the screen, processes that only a device knows, a terminal without colors. */
#include "monitor_world.h"

#include "view/cell_text.h"

static struct monitor monitor;
static vitals_builder *builder;

/* Columns before a word in the line of the screen that holds `of`; -1: one of them is not there. */
static int columns_before(const char *of, const char *word, bool end)
{
    char line[2048];
    const char *at = strstr(world_screen(&monitor), of);
    while (at != NULL && at > world_screen(&monitor) && at[-1] != '\n')
        at--;
    if (at == NULL)
        return -1;
    size_t size = strcspn(at, "\n");
    CHECK(size < sizeof line);
    memcpy(line, at, size);
    line[size] = '\0';
    char *found = strstr(line, word);
    if (found == NULL)
        return -1;
    found[end ? strlen(word) : 0] = '\0';
    return canvas_columns(line);
}

static const struct monitor_process NAMED[] = {
    {.pid = 4001,
     .parent = 1,
     .user = "ana",
     .command = "one",
     .start = 5,
     .gpu = 1,
     .gpu_mib = 1024},
    {.pid = 4002,
     .parent = 1,
     .user = "ゆうざあ",
     .command = "two",
     .start = 6,
     .gpu = 1,
     .gpu_mib = 1024},
    {.pid = 4003,
     .parent = 1,
     .user = "e\u0301te\u0301",
     .command = "three",
     .start = 7,
     .gpu = 1,
     .gpu_mib = 1024},
};

static void columns_of_the_tree_stand_below_one_another(void)
{
    const struct monitor_world world = {NAMED, CHECK_COUNT(NAMED), 1};
    struct monitor_options options = world_options();
    world_open(&monitor, &options, &world, &builder);
    press_keys(&monitor, "t");
    CHECK_STR(monitor.stack[monitor.depth - 1].screen->name, "tree");
    int place = columns_before(" 4001 ", "GPU 0", false);
    CHECK(place > 0);
    CHECK_INT(columns_before(" 4002 ", "GPU 0", false), place);
    CHECK_INT(columns_before(" 4003 ", "GPU 0", false), place);
    world_close(&monitor, builder);
}

static void columns_of_a_process_stand_below_their_titles(void)
{
    const struct monitor_world world = {NAMED, CHECK_COUNT(NAMED), 1};
    struct monitor_options options = world_options();
    uint64_t seen = 0;
    for (size_t i = 0; i < CHECK_COUNT(NAMED); i++) {
        world_open(&monitor, &options, &world, &builder);
        press_code(&monitor, INPUT_DOWN);
        for (size_t j = 0; j < i; j++)
            press_code(&monitor, INPUT_DOWN);
        press_code(&monitor, INPUT_ENTER);
        CHECK_STR(monitor.stack[monitor.depth - 1].screen->name, "process");
        char pid[16];
        seen |= 1u << (monitor.model.selected.pid - NAMED[0].pid);
        snprintf(pid, sizeof pid, " %u ", (unsigned)monitor.model.selected.pid);
        CHECK(columns_before(pid, "1024MiB", true) > 0);
        CHECK_INT(columns_before(pid, "1024MiB", true),
                  columns_before("GPU-MEM %SM", "GPU-MEM", true));
        world_close(&monitor, builder);
    }
    CHECK_UINT(seen, 7); /* each of them once */
}

enum { CHAIN = 120, FIRST = 5001 };

static void a_family_of_120_generations_is_whole(void)
{
    static struct monitor_process processes[CHAIN];
    for (unsigned i = 0; i < CHAIN; i++)
        processes[i] = (struct monitor_process){.pid = FIRST + i,
                                                .parent = i == 0 ? 1 : FIRST + i - 1,
                                                .user = "ana",
                                                .command = "link",
                                                .start = 10 + i,
                                                .gpu = i + 1 == CHAIN,
                                                .gpu_mib = 10};
    const struct monitor_world world = {processes, CHAIN, 1};
    struct monitor_options options = world_options();
    world_open(&monitor, &options, &world, &builder);
    monitor_resize(&monitor, 100, CHAIN + 10);
    monitor_settle(&monitor);
    press_keys(&monitor, "t");
    const char *screen = world_screen(&monitor);
    for (unsigned i = 0; i < CHAIN; i++) {
        char pid[16];
        snprintf(pid, sizeof pid, " %u ", FIRST + i);
        CHECK_CASE(pid);
        const char *line = strstr(screen, pid);
        CHECK_NOT_NULL(line);
        const char *end = strchr(line, '\n'), *command = strstr(line, "link");
        CHECK(command != NULL && command < end); /* the branch leaves the command its room */
    }
    world_close(&monitor, builder);
}

static void the_environment_of_a_stranger_is_refused_with_words(void)
{
    static const struct monitor_process ALONE[] = {
        {.pid = 77, .gone = true, .gpu = 1, .gpu_mib = 10}};
    const struct monitor_world world = {ALONE, 1, 1};
    struct monitor_options options = world_options();
    world_open(&monitor, &options, &world, &builder);
    press_code(&monitor, INPUT_DOWN);
    press_keys(&monitor, "e");
    CHECK_INT(monitor.depth, 1);
    CHECK_NOT_NULL(strstr(world_screen(&monitor), "nothing is known of process 77"));
    CHECK_NOT_NULL(strstr(world_screen(&monitor), "(not in this pid namespace, or "));
    world_close(&monitor, builder);
}

static void each_reason_has_words_of_its_own(void)
{
    static const vitals_availability REASONS[] = {VITALS_OUTSIDE, VITALS_GONE, VITALS_DENIED,
                                                  VITALS_FAILED};
    for (size_t i = 0; i < CHECK_COUNT(REASONS); i++) {
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(cell_stranger(REASONS[i]), cell_stranger(REASONS[j])) != 0);
    }
}

/* A process as /proc tells of it: a word of its state, and its name or why there is none. */
static const char *command_of(const char *state, const char *name, vitals_availability reason)
{
    static const vitals_metric PROCESS[] = {VITALS_PROCESS_STATE, VITALS_PROCESS_NAME,
                                            VITALS_PROCESS_COMMAND_LINE};
    static char out[WORDS_COMMAND];
    vitals_error error;
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text_of("n01"), text_of("boot"), 1);
    vitals_builder_stream(builder, 7);
    vitals_builder_moment(builder, 1, 1, 1, 1);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, PROCESS, CHECK_COUNT(PROCESS));
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 1, 0, text_of("process"), 1);
    put_text(builder, VITALS_PROCESS_STATE, state);
    if (name != NULL)
        put_text(builder, VITALS_PROCESS_NAME, name);
    else
        vitals_builder_missing(builder, VITALS_PROCESS_NAME, reason);
    vitals_builder_missing(builder, VITALS_PROCESS_COMMAND_LINE, VITALS_UNSUPPORTED);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    (void)cell_command(vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, NULL), true, out);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
    return out;
}

static void a_zombie_and_a_hidden_process_are_told_apart(void)
{
    CHECK_STR(command_of("sleeping", "kthread", VITALS_HAVE), "[kthread]");
    CHECK_STR(command_of("zombie", "job", VITALS_HAVE), "[job] (zombie)");
    CHECK_STR(command_of("sleeping", NULL, VITALS_DENIED), "(no permission)");
    CHECK_STR(command_of("sleeping", NULL, VITALS_GONE), "(has ended)");
    CHECK_STR(command_of("sleeping", NULL, VITALS_FAILED), "N/A");
}

static void without_colors_flags_stay(void)
{
    const struct monitor_world world = {NAMED, CHECK_COUNT(NAMED), 1};
    struct canvas canvas = {0};
    for (int colorless = 0; colorless < 2; colorless++) {
        struct monitor_options options = world_options();
        unsigned colors = 0, flags = 0;
        options.look.colorless = colorless;
        options.look.light = options.look.colorful = true;
        world_open(&monitor, &options, &world, &builder);
        press_code(&monitor, INPUT_DOWN);
        CHECK_INT(canvas_resize(&canvas, 100, 40), 0);
        monitor_draw(&monitor, &canvas);
        for (int i = 0; i < 100 * 40; i++) {
            colors += (canvas.cells[i].style & STYLE_COLORS) != 0;
            flags += (canvas.cells[i].style & STYLE_REVERSE) != 0;
        }
        CHECK_INT(colors == 0, colorless);
        CHECK(flags > 0);
        world_close(&monitor, builder);
    }
    canvas_done(&canvas);
}

static const check_test tests[] = {
    {"columns of the tree stand below one another", columns_of_the_tree_stand_below_one_another},
    {"columns of a process stand below their titles",
     columns_of_a_process_stand_below_their_titles},
    {"a family of 120 generations is whole", a_family_of_120_generations_is_whole},
    {"the environment of a stranger is refused with words",
     the_environment_of_a_stranger_is_refused_with_words},
    {"each reason has words of its own", each_reason_has_words_of_its_own},
    {"a zombie and a hidden process are told apart", a_zombie_and_a_hidden_process_are_told_apart},
    {"without colors flags stay", without_colors_flags_stay},
};
CHECK_TESTS(tests)
