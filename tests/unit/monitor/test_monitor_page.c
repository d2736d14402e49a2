/* The pages of a process, of a child of the test: what is said of one that leaves its device, that
 * ends, and that is changed; and questions to it, whose answers are told by a descriptor. */
#include "fake_clock.h"
#include "monitor_world.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/command.h"
#include "monitor/process_query.h"

enum { PATIENCE_MS = 20000, WORDS_COUNT = 400 };

/* In the place of the C library's: the thread that answers waits before it tells. */
static atomic_bool holds, held;

int eventfd_write(int descriptor, eventfd_t value)
{
    while (atomic_load(&holds)) {
        atomic_store(&held, true);
        real_sleep_ns(100000);
    }
    return write(descriptor, &value, sizeof value) == (ssize_t)sizeof value ? 0 : -1;
}

static struct monitor monitor;
static struct monitor_options options;
static struct monitor_process processes[2];
static struct monitor_world world = {processes, CHECK_COUNT(processes), 1};
static vitals_context *context;
static vitals_builder *builder;
static vitals_snapshot *facts; /* of the child; keeps the name of the boot */
static pid_t child;
static double seconds;
static uint64_t sequence;

/* With a long command line; it has begun to sleep. */
static pid_t sleeper(void)
{
    static const char *arguments[WORDS_COUNT + 2] = {"sleep"};
    int ends[2];
    char byte;
    for (size_t i = 1; i <= WORDS_COUNT; i++)
        arguments[i] = "1.25";
    CHECK_INT(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
        (void)execvp("sleep", (char *const *)(uintptr_t)arguments);
        _exit(1);
    }
    (void)close(ends[1]);
    (void)!read(ends[0], &byte, 1); /* its end: it is another program */
    (void)close(ends[0]);
    return pid;
}

static void add(bool with_processes)
{
    struct monitor_world now = world;
    now.count = with_processes ? world.count : 0;
    model_add_machine(&monitor.model, world_at(builder, &now, seconds += 2, ++sequence));
    monitor_settle(&monitor);
}

/* A machine whose device is used by the child, and by this program. */
static void begin(void)
{
    vitals_error error;
    vitals_request *request = NULL;
    const pid_t pids[] = {child = sleeper(), getpid()};
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_request_add(request, VITALS_PROCESS_PID, &error), error);
    for (size_t i = 0; i < CHECK_COUNT(pids); i++) {
        vitals_process *process = NULL;
        CHECK_OK(vitals_process_open(context, pids[i], &process, &error), error);
        processes[i] = (struct monitor_process){(uint64_t)pids[i],
                                                1,
                                                "ana",
                                                i == 0 ? "sleep" : "test",
                                                vitals_process_start_seconds(process),
                                                0.5,
                                                5,
                                                1,
                                                100,
                                                false};
        if (i == 0)
            CHECK_OK(vitals_process_ask(process, request, &facts, &error), error);
        vitals_process_close(process);
    }
    vitals_request_free(request);
    world_boot = vitals_snapshot_boot_id(facts);
    world_namespace = vitals_snapshot_pid_namespace(facts);
    options = world_options();
    options.arrangement = NULL;
    options.context = context;
    options.part_ops = &command_part_ops;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    CHECK_INT(monitor_init(&monitor, &options), 0);
    monitor_resize(&monitor, 80, 40);
    seconds = 1e6;
    sequence = 0;
    add(true);
    add(true);
}

static void reap(void)
{
    if (child > 0) {
        (void)kill(child, SIGKILL);
        CHECK_INT(waitpid(child, NULL, 0), child);
    }
    child = 0;
}

static void end(void)
{
    world_close(&monitor, builder);
    while (monitor_is_busy())
        real_sleep_ns(100000);
    vitals_snapshot_unref(facts);
    vitals_context_free(context);
    world_boot = (vitals_text){NULL, 0};
    reap();
}

/* Until what was asked has been answered. */
static void hear(void)
{
    struct pollfd place = {.fd = monitor_descriptor(&monitor), .events = POLLIN};
    CHECK(place.fd >= 0);
    CHECK_INT(poll(&place, 1, PATIENCE_MS), 1);
    monitor_settle(&monitor);
}

static void open_page(void)
{
    press_code(&monitor, INPUT_DOWN);
    while (monitor.model.selected.pid != (uint64_t)child)
        press_code(&monitor, INPUT_DOWN);
    press_code(&monitor, INPUT_ENTER);
    CHECK_INT(monitor.depth, 2);
    hear();
}

static const char *last_row(void)
{
    static char row[1024];
    const char *screen = world_screen(&monitor);
    size_t size = strlen(screen) - 1;
    while (size > 0 && screen[size - 1] != '\n')
        size--;
    snprintf(row, sizeof row, "%.1000s", screen + size);
    return row;
}

static size_t ended_lines(void)
{
    size_t count = 0;
    for (size_t i = 0; i < monitor.model.list.count; i++)
        count += monitor.model.list.items[i].ended;
    return count;
}

static void one_that_leaves_its_device_has_not_ended(void)
{
    begin();
    add(false);
    CHECK_UINT(ended_lines(), 0);
    CHECK_UINT(monitor.model.list.count, 0);
    add(true);
    reap();
    add(false);
    CHECK_UINT(ended_lines(), 1);
    end();
}

static void a_list_of_all_knows_what_has_ended(void)
{
    begin();
    options.context = NULL;
    struct monitor_process other = processes[1]; /* on no device, and read: so all are */
    other.gpu = 0;
    processes[1] = processes[0];
    processes[0] = other;
    add(true);
    add(true);
    world.count = 1;
    add(true);
    CHECK_UINT(ended_lines(), 1);
    world.count = 2;
    end();
}

static void a_page_says_whether_it_has_ended(void)
{
    begin();
    open_page();
    CHECK_FALSE(strstr(world_screen(&monitor), "on no device") != NULL);
    add(false);
    hear();
    const char *screen = world_screen(&monitor);
    CHECK_CONTAINS(screen, " on no device ");
    CHECK_CONTAINS(screen, "sleep 1.25");
    CHECK_CONTAINS(screen, "sleeping");
    CHECK_FALSE(strstr(screen, "ended") != NULL);
    reap();
    press_keys(&monitor, "r");
    hear();
    CHECK_CONTAINS(world_screen(&monitor), "this process has ended");
    CHECK_CONTAINS(world_screen(&monitor), " ended ");
    CHECK_FALSE(strstr(world_screen(&monitor), "sleeping") != NULL);
    const char *state = strstr(world_screen(&monitor), "  state ");
    CHECK_NOT_NULL(state);
    state += strlen("  state ");
    CHECK_INT(strncmp(state + strspn(state, " "), "ended", 5), 0);
    end();
}

static void the_overview_begins_with_what_counts(void)
{
    static const char *const ORDER[] = {"  user  ",  "  GPU 0  ",       "% of its memory",
                                        "  state  ", "  command line ", "  CPU time ",
                                        "  umask  "};
    begin();
    open_page();
    monitor_resize(&monitor, 80, 200);
    const char *screen = world_screen(&monitor), *before = screen;
    for (size_t i = 0; i < CHECK_COUNT(ORDER); i++) {
        CHECK_CASE(ORDER[i]);
        const char *at = strstr(screen, ORDER[i]);
        CHECK_NOT_NULL(at);
        CHECK(at > before);
        before = at;
    }
    CHECK_FALSE(strstr(screen, "wait channel") != NULL); /* it is a part of the state */
    end();
}

static void enter_opens_the_first_where_none_is_selected(void)
{
    begin();
    CHECK_FALSE(monitor.model.has_selected);
    press_code(&monitor, INPUT_ENTER);
    CHECK_INT(monitor.depth, 2);
    CHECK_UINT(monitor.model.selected.pid, item_identity(monitor.model.list.items).pid);
    end();
}

static void escape_clears_the_filter(void)
{
    begin();
    press_keys(&monitor, "&sleep\r");
    CHECK_UINT(monitor.model.list.count, 1);
    CHECK_CONTAINS(world_screen(&monitor), "filter \"sleep\" (Esc clears)");
    press_code(&monitor, INPUT_HOME);
    press_code(&monitor, INPUT_ESCAPE);
    CHECK_UINT(monitor.model.list.count, 2);
    CHECK_FALSE(strstr(world_screen(&monitor), "filter \"") != NULL);
    CHECK(monitor.model.has_selected);
    press_code(&monitor, INPUT_ESCAPE);
    CHECK_FALSE(monitor.model.has_selected);
    end();
}

static void what_is_typed_is_seen(void)
{
    static const int WIDTHS[] = {200, 80, 40, 20, 12};
    begin();
    open_page();
    for (size_t i = 0; i < CHECK_COUNT(WIDTHS); i++) {
        monitor_resize(&monitor, WIDTHS[i], 24);
        press_keys(&monitor, "i");
        press_keys(&monitor, "best-effort 7");
        CHECK_CONTAINS(last_row(), WIDTHS[i] > 14 ? "best-effort 7_" : "effort 7_");
        press_code(&monitor, INPUT_ESCAPE);
        press_keys(&monitor, "a");
        press_keys(&monitor, "0-3,8,64-127");
        CHECK_CONTAINS(last_row(), WIDTHS[i] > 14 ? "0-3,8,64-127_" : "64-127_");
        press_code(&monitor, INPUT_ESCAPE);
    }
    end();
}

static void no_heading_is_the_last_line_of_a_column(void)
{
    static struct canvas canvas;
    begin();
    open_page();
    for (int height = 24; height < 70; height++) {
        monitor_resize(&monitor, 200, height);
        monitor_settle(&monitor);
        CHECK_INT(canvas_resize(&canvas, 200, height), 0);
        monitor_draw(&monitor, &canvas);
        CHECK_STR(canvas_at(&canvas, 1, height - 2)->text, " ");
    }
    canvas_done(&canvas);
    end();
}

static void the_question_is_about(int nice)
{
    char text[16];
    (void)snprintf(text, sizeof text, "now %d ", nice);
    press_keys(&monitor, "n");
    CHECK_CONTAINS(last_row(), text);
    press_code(&monitor, INPUT_ESCAPE);
}

static void what_it_has_is_asked_for_the_question(void)
{
    int own = getpriority(PRIO_PROCESS, 0), more = own < 14 ? own + 6 : 19;
    begin();
    open_page();
    the_question_is_about(own);
    CHECK_INT(setpriority(PRIO_PROCESS, (id_t)child, more), 0);
    the_question_is_about(more);
    end();
}

static void a_class_without_a_level_has_the_middle(void)
{
    enum { CLASS_SHIFT = 13, OF_PROCESS = 1, BEST_EFFORT = 2 };
    begin();
    open_page();
    press_keys(&monitor, "i");
    press_keys(&monitor, "best-effort\r");
    CHECK_CONTAINS(monitor.model.message, "I/O priority: best-effort");
    CHECK_INT(syscall(SYS_ioprio_get, OF_PROCESS, child), BEST_EFFORT << CLASS_SHIFT | 4);
    end();
}

static void nothing_is_changed_where_one_only_looks(void)
{
    static const struct {
        const char *readonly, *says;
        bool past, recording;
    } CASES[] = {{"read-only", "read-only: nothing is changed", false, false},
                 {NULL, "this is the past (E goes to now): nothing is changed", true, false},
                 {NULL, "this is a recording: nothing is changed", false, true}};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].says);
        begin();
        options.readonly = CASES[i].readonly;
        if (CASES[i].recording)
            options.context = NULL;
        press_code(&monitor, INPUT_DOWN);
        press_code(&monitor, INPUT_ENTER);
        monitor.model.away = CASES[i].past;
        for (const char *key = "nia"; *key != '\0'; key++) {
            press_code(&monitor, (unsigned char)*key);
            CHECK_INT(monitor.prompt, PROMPT_NONE);
            CHECK_STR(monitor.model.message, CASES[i].says);
        }
        monitor.model.away = false;
        end();
    }
}

static void the_help_dims_what_is_not_done(void)
{
    static struct canvas canvas;
    begin();
    options.readonly = "read-only";
    monitor_resize(&monitor, 100, 140); /* one column */
    press_keys(&monitor, "h");
    CHECK_CONTAINS(world_screen(&monitor), "read-only: nothing is changed");
    CHECK_INT(canvas_resize(&canvas, 100, 140), 0);
    monitor_draw(&monitor, &canvas);
    size_t dim = 0;
    for (int y = 0; y < canvas.height; y++)
        dim += (canvas_at(&canvas, 1, y)->style & STYLE_DIM) != 0;
    CHECK_UINT(dim, 3); /* T above; signals; n, i and a */
    canvas_done(&canvas);
    end();
}

static void a_signal_from_the_page_leaves_tags_alone(void)
{
    begin();
    press_code(&monitor, INPUT_HOME);
    press_code(&monitor, INPUT_SPACE);
    CHECK_UINT(monitor.model.tag_count, 1);
    open_page();
    press_keys(&monitor, "T\r");
    (void)waitpid(child, NULL, 0); /* the dialog may have been first */
    child = 0;
    CHECK_UINT(monitor.model.tag_count, 1);
    end();
}

static void a_long_command_line_is_copied_whole(void)
{
    begin();
    open_page();
    press_keys(&monitor, "y");
    CHECK_NOT_NULL(monitor.copied);
    const size_t size = strlen("sleep") + WORDS_COUNT * strlen(" 1.25");
    CHECK_UINT(strlen(monitor.copied), strlen("\033]52;c;\a") + (size + 2) / 3 * 4);
    CHECK_CONTAINS(monitor.model.message, "2005 bytes");
    end();
}

/* A question is answered where its descriptor says so, not before: else the descriptor says it of
 * the next one. */
static void an_answer_is_told_once(void)
{
    vitals_context *own = NULL;
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    vitals_error error;
    CHECK_OK(vitals_context_new(NULL, &own, &error), error);
    CHECK_OK(vitals_process_open(own, getpid(), &process, &error), error);
    struct process_query *query = process_query_new(process);
    CHECK_NOT_NULL(query);
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_request_add(request, VITALS_PROCESS_NICE, &error), error);
    atomic_store(&held, false);
    atomic_store(&holds, true);
    CHECK(process_query_ask(query, request));
    struct pollfd place = {.fd = process_query_descriptor(query), .events = POLLIN};
    while (!atomic_load(&held))
        real_sleep_ns(100000);
    bool early = process_query_take(query, &answer, &error);
    atomic_store(&holds, false);
    CHECK_FALSE(early);
    CHECK_INT(poll(&place, 1, PATIENCE_MS), 1);
    CHECK(process_query_take(query, &answer, &error));
    CHECK_NOT_NULL(answer);
    CHECK_INT(poll(&place, 1, 0), 0);
    vitals_snapshot_unref(answer);
    process_query_free(query);
    while (monitor_is_busy())
        real_sleep_ns(100000);
    vitals_context_free(own);
}

static const check_test tests[] = {
    {"one that leaves its device has not ended", one_that_leaves_its_device_has_not_ended},
    {"a list of all knows what has ended", a_list_of_all_knows_what_has_ended},
    {"a page says whether it has ended", a_page_says_whether_it_has_ended},
    {"the overview begins with what counts", the_overview_begins_with_what_counts},
    {"enter opens the first where none is selected", enter_opens_the_first_where_none_is_selected},
    {"escape clears the filter", escape_clears_the_filter},
    {"what is typed is seen", what_is_typed_is_seen},
    {"no heading is the last line of a column", no_heading_is_the_last_line_of_a_column},
    {"what it has is asked for the question", what_it_has_is_asked_for_the_question},
    {"a class without a level has the middle", a_class_without_a_level_has_the_middle},
    {"nothing is changed where one only looks", nothing_is_changed_where_one_only_looks},
    {"the help dims what is not done", the_help_dims_what_is_not_done},
    {"a signal from the page leaves tags alone", a_signal_from_the_page_leaves_tags_alone},
    {"a long command line is copied whole", a_long_command_line_is_copied_whole},
    {"an answer is told once", an_answer_is_told_once},
};
CHECK_TESTS(tests)
