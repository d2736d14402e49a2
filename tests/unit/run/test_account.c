/* Accounts: what they hold, their JSON, the way from the watcher to the launcher, and the figures
 * of a run. */
#include "account_world.h"

#include "run/watcher.h"
#include "util/base.h"
#include "util/memory.h"

#include <math.h>
#include <vitals/vitals.h>

static vitals_error error;

static void add(vitals_account *account, const char *name, const char *subject, double value,
                vitals_availability state)
{
    const vitals_figure_form form = {.size = sizeof(vitals_figure_form),
                                     .name = name,
                                     .unit = "seconds",
                                     .subject = subject,
                                     .source = "a test",
                                     .state = state,
                                     .value = value};
    CHECK_OK(vitals_account_add(account, &form, &error), error);
}

/* ---- figures and attributes ---- */

static void figures_that_are_none_are_refused(void)
{
    static const struct {
        const char *what;
        vitals_figure_form form;
    } ROWS[] = {
        {"no name", {.size = sizeof(vitals_figure_form), .state = VITALS_HAVE}},
        {"an empty name", {.size = sizeof(vitals_figure_form), .name = "", .state = VITALS_HAVE}},
        {"not a number",
         {.size = sizeof(vitals_figure_form),
          .name = "a",
          .state = VITALS_HAVE,
          .value = (double)NAN}},
        {"without end",
         {.size = sizeof(vitals_figure_form),
          .name = "a",
          .state = VITALS_HAVE,
          .value = (double)INFINITY}},
        {"nobody wrote it",
         {.size = sizeof(vitals_figure_form), .name = "a", .state = VITALS_UNSET}},
        {"no availability",
         {.size = sizeof(vitals_figure_form), .name = "a", .state = (vitals_availability)77}},
        {"another size",
         {.size = sizeof(vitals_figure_form) - 1, .name = "a", .state = VITALS_HAVE}},
        {"no size", {.name = "a", .state = VITALS_HAVE}},
    };
    vitals_account *account = new_account();
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].what);
        CHECK_INT(vitals_account_add(account, &ROWS[i].form, &error), VITALS_EARGUMENT);
        CHECK_INT(vitals_account_put(account, &ROWS[i].form, &error), VITALS_EARGUMENT);
    }
    CHECK_CASE(NULL);
    CHECK_NULL(vitals_account_next(account, NULL));
    vitals_account_free(account);
}

static void put_takes_the_place_of_the_same(void)
{
    vitals_availability state;
    vitals_account *account = new_account();
    add(account, "cpu_seconds", "", 1, VITALS_HAVE);
    add(account, "cpu_seconds", "root", 2, VITALS_HAVE);
    const vitals_figure_form form = {.size = sizeof(vitals_figure_form),
                                     .name = "cpu_seconds",
                                     .subject = "root",
                                     .state = VITALS_SAMPLED,
                                     .value = 3};
    CHECK_OK(vitals_account_put(account, &form, &error), error);
    CHECK_NEAR(value_of(account, "cpu_seconds", "root", &state), 3, 0);
    CHECK_INT(state, VITALS_SAMPLED);
    CHECK_NEAR(value_of(account, "cpu_seconds", "", &state), 1, 0);
    const vitals_figure *first = vitals_account_next(account, NULL);
    const vitals_figure *second = vitals_account_next(account, first);
    CHECK_NULL(vitals_account_next(account, second));

    /* A name that is cut is found again. */
    char name[100] = "";
    memset(name, 'n', sizeof name - 1);
    const vitals_figure_form longer = {
        .size = sizeof(vitals_figure_form), .name = name, .state = VITALS_HAVE, .value = 1};
    CHECK_OK(vitals_account_put(account, &longer, &error), error);
    CHECK_OK(vitals_account_put(account, &longer, &error), error);
    const vitals_figure *third = vitals_account_next(account, second);
    CHECK_UINT(strlen(vitals_figure_name(third)), 47);
    CHECK_NULL(vitals_account_next(account, third));
    vitals_account_free(account);
}

static void a_figure_reads_as_a_person_expects(void)
{
    static const struct {
        const char *name, *unit;
        double value;
        vitals_availability state;
        const char *words;
    } CASES[] = {
        {"memory_peak_bytes", "bytes", 3 << 20, VITALS_HAVE, "3.00MiB"},
        {"wall_seconds", "seconds", 4256, VITALS_HAVE, "1:10:56"},
        {"gpu_busy_ratio", "ratio", 0.034, VITALS_SAMPLED, "3.4 %"},
        {"cpu_cores", "cores", 2, VITALS_HAVE, "2.00"},
        {"processes", "", 12, VITALS_LOWER_BOUND, "12"},
        {"oom_kills", "", 0, VITALS_DENIED, "denied"},
    };
    vitals_account *account = new_account();
    char out[16];
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        const vitals_figure_form form = {.size = sizeof(vitals_figure_form),
                                         .name = CASES[i].name,
                                         .unit = CASES[i].unit,
                                         .state = CASES[i].state,
                                         .value = CASES[i].value};
        CHECK_OK(vitals_account_add(account, &form, &error), error);
        const vitals_figure *figure = vitals_account_find(account, CASES[i].name, "");
        CHECK_STR(vitals_figure_string(figure, VITALS_TEXT_ASCII, out, sizeof out), CASES[i].words);
        CHECK_STR(vitals_figure_string(figure, VITALS_TEXT_ASCII, NULL, 0), "");
    }
    vitals_account_free(account);
}

static void many_figures_grow_and_hold(void)
{
    vitals_account *account = new_account();
    for (int i = 0; i < 3000; i++) {
        char name[32];
        snprintf(name, sizeof name, "figure_%d", i);
        add(account, name, "", i, VITALS_HAVE);
    }
    vitals_availability state;
    CHECK_NEAR(value_of(account, "figure_2999", "", &state), 2999, 0);
    vitals_account_free(account);
}

static void texts_are_safe_and_cut(void)
{
    char large[400];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    vitals_account *account = new_account();
    const vitals_figure_form form = {.size = sizeof(vitals_figure_form),
                                     .name = "a\nb",
                                     .subject = "\x1b[31m",
                                     .label = large,
                                     .source = large,
                                     .state = VITALS_HAVE,
                                     .value = 1};
    CHECK_OK(vitals_account_add(account, &form, &error), error);
    const vitals_figure *figure = vitals_account_next(account, NULL);
    CHECK_STR(vitals_figure_name(figure), "a\\nb");
    CHECK_STR(vitals_figure_subject(figure), "\\e[31m");
    CHECK(strlen(vitals_figure_label(figure)) < sizeof large / 2);
    /* What was made safe once is not made safe again. */
    const vitals_figure_form again = {
        .size = sizeof(vitals_figure_form), .name = "a\\nb", .state = VITALS_HAVE, .value = 2};
    CHECK_OK(vitals_account_add(account, &again, &error), error);
    CHECK_STR(vitals_figure_name(vitals_account_next(account, figure)), "a\\nb");
    vitals_account_free(account);
}

static void attributes_come_in_their_order(void)
{
    static const char *const ORDER[] = {"state", "command", "missing", "zeal", "alpha"};
    static const vitals_text TEXT = {"x", 1};
    vitals_account *account = new_account();
    const char *name = NULL;
    for (size_t i = CHECK_COUNT(ORDER); i-- > 0;) {
        const char *set = ORDER[i < 3 ? i : i == 3 ? 4 : 3]; /* the unknown as they come */
        CHECK_OK(vitals_account_set(account, set, TEXT, &error), error);
    }
    for (size_t i = 0; i < CHECK_COUNT(ORDER); i++) {
        name = vitals_account_next_attribute(account, name);
        CHECK_STR(name, ORDER[i]);
    }
    CHECK_NULL(vitals_account_next_attribute(account, name));
    CHECK_UINT(vitals_account_attribute(account, "user").size, 0);
    CHECK_INT(vitals_account_set(account, "no name", TEXT, &error), VITALS_EARGUMENT);
    CHECK_INT(vitals_account_set(account, "", TEXT, &error), VITALS_EARGUMENT);
    vitals_account_free(account);
}

static void the_end_is_told(void)
{
    vitals_account *account = new_account();
    CHECK_INT(vitals_account_exit_code(account), -1);
    vitals_account_ended(account, 137, 9);
    CHECK_INT(vitals_account_exit_code(account), 137);
    CHECK_INT(vitals_account_signal(account), 9);
    vitals_text code = vitals_account_attribute(account, "exit");
    CHECK_BYTES(code.bytes, code.size, "137", 3);
    vitals_account_free(account);
}

/* ---- JSON ---- */

struct sink {
    char bytes[8192];
    size_t size;
    size_t stop_at; /* 0: never */
};

static int take(void *data, const char *bytes, size_t size)
{
    struct sink *sink = data;
    if (sink->stop_at != 0 && sink->size + size > sink->stop_at)
        return 5;
    CHECK(sink->size + size < sizeof sink->bytes);
    memcpy(sink->bytes + sink->size, bytes, size);
    sink->size += size;
    sink->bytes[sink->size] = '\0';
    return 0;
}

static void json_tells_all_of_it(void)
{
    static struct sink sink;
    vitals_account *account = new_account();
    add(account, "cpu_seconds", "GPU-\"a\"", 0.25, VITALS_HAVE);
    add(account, "wall_seconds", "", 0, VITALS_TIMED_OUT);
    CHECK_OK(vitals_account_set(account, "command", (vitals_text){"a\nb\0c", 5}, &error), error);
    CHECK_OK(vitals_account_json(account, take, &sink, &error), error);
    CHECK_CONTAINS(sink.bytes, "\"exit_code\":null,\"signal\":0");
    sink = (struct sink){0};
    vitals_account_ended(account, 3, 0);
    CHECK_OK(vitals_account_json(account, take, &sink, &error), error);
    CHECK_CONTAINS(sink.bytes, "\"exit_code\":3,\"signal\":0");
    CHECK_CONTAINS(sink.bytes, "\"command\":\"a\\nb\\u0000c\"");
    CHECK_CONTAINS(sink.bytes, "{\"name\":\"cpu_seconds\",\"subject\":\"GPU-\\\"a\\\"\","
                               "\"value\":0.25,\"unit\":\"seconds\",\"availability\":\"have\","
                               "\"source\":\"a test\"}");
    CHECK_CONTAINS(sink.bytes, "\"value\":null");
    CHECK_CONTAINS(sink.bytes, "\"availability\":\"timed_out\"");
    sink = (struct sink){.stop_at = 10};
    CHECK_INT(vitals_account_json(account, take, &sink, &error), VITALS_ESYSTEM);
    CHECK_INT(error.detail, 5);
    CHECK_INT(vitals_account_json(account, take, &sink, NULL), VITALS_ESYSTEM);
    vitals_account_free(account);
}

/* ---- from the watcher to the launcher ---- */

static void the_area_holds_the_newest_report(void)
{
    vitals_availability state;
    struct watch_area *area = watch_area_new();
    CHECK_NOT_NULL(area);
    CHECK_NULL(watch_area_read(area));
    for (int i = 1; i <= 3; i++) {
        vitals_account *account = new_account();
        add(account, "cpu_seconds", "", i, VITALS_SAMPLED);
        CHECK_OK(vitals_account_set(account, "missing", (vitals_text){"disk", 4}, &error), error);
        watch_area_write(area, account);
        vitals_account_free(account);
        vitals_account *told = watch_area_read(area);
        CHECK_NOT_NULL(told);
        CHECK_NEAR(value_of(told, "cpu_seconds", "", &state), i, 0);
        CHECK_UINT(vitals_account_attribute(told, "missing").size, 4);
        vitals_account_free(told);
    }
    watch_area_free(area);
    watch_area_free(NULL);
    CHECK_NULL(watch_area_read(NULL));
}

/* What a watcher that went mad leaves there. */
static void the_reader_believes_nothing_of_the_area(void)
{
    struct watch_area *area = watch_area_new();
    vitals_account *account = new_account();
    CHECK_NOT_NULL(area);
    add(account, "cpu_seconds", "", 1, VITALS_SAMPLED);
    watch_area_write(area, account);
    unsigned char *bytes = (unsigned char *)area;
    for (int fill = 0; fill < 256; fill += 51) {
        memset(bytes + 8, fill, 100000); /* behind the number of the newest */
        memset(bytes, 0, 8);
        bytes[0] = 2;
        vitals_account *told = watch_area_read(area);
        CHECK_NOT_NULL(told);
        for (const vitals_figure *figure = NULL;
             (figure = vitals_account_next(told, figure)) != NULL;) {
            CHECK(strlen(vitals_figure_name(figure)) < FIGURE_NAME);
            CHECK(strlen(vitals_figure_source(figure)) < FIGURE_SOURCE);
        }
        vitals_account_free(told);
    }
    vitals_account_free(account);
    watch_area_free(area);
}

static void more_figures_than_there_is_room_for_are_said(void)
{
    vitals_availability state;
    struct watch_area *area = watch_area_new();
    vitals_account *account = new_account();
    for (int i = 0; i < 5000; i++) {
        char name[32];
        snprintf(name, sizeof name, "figure_%d", i);
        add(account, name, "", i, VITALS_HAVE);
    }
    watch_area_write(area, account);
    vitals_account *told = watch_area_read(area);
    CHECK_NOT_NULL(told);
    CHECK_NEAR(value_of(told, "figures_left_out", "", &state), 5000 - 4095, 0);
    vitals_account_free(told);
    vitals_account_free(account);
    watch_area_free(area);
}

/* ---- the figures of a run ---- */

static struct counted counts[COUNTED_COUNT];

static void count(enum quantity quantity, double value, const char *source)
{
    counts[quantity].value = value_f64(value);
    snprintf(counts[quantity].source, sizeof counts[quantity].source, "%s", source);
}

static void begin_counts(void)
{
    for (size_t i = 0; i < COUNTED_COUNT; i++)
        counts[i] = (struct counted){.value = value_missing(VITALS_UNSUPPORTED)};
}

static void what_was_counted_speaks_before_what_was_sampled(void)
{
    vitals_availability state;
    vitals_account *account = account_new(), *watched = new_account();
    begin_counts();
    count(COUNTED_CPU_SECONDS, 10, "cgroup v2 cpu.stat");
    count(COUNTED_MEMORY_PEAK_BYTES, 5e9, "cgroup v2 memory.peak");
    count(COUNTED_PROCESSES, 214, "taskstats");
    add(watched, "cpu_seconds", "", 9, VITALS_SAMPLED);
    add(watched, "memory_peak_low_bytes", "", 4e9, VITALS_LOWER_BOUND);
    add(watched, "processes_seen", "", 30, VITALS_LOWER_BOUND);
    add(watched, "cpu_seconds", "root", 2, VITALS_SAMPLED);
    const struct run_outcome outcome = {.wall_seconds = 5,
                                        .counted_seconds = 5,
                                        .interval_ns = NS_PER_SECOND,
                                        .counted = counts,
                                        .methods = "cgroup2 wait4",
                                        .watched = watched};
    account_fill(account, &outcome);
    CHECK_NEAR(value_of(account, "cpu_seconds", "", &state), 10, 0);
    CHECK_INT(state, VITALS_HAVE);
    CHECK_NEAR(value_of(account, "cpu_cores", "", &state), 2, 1e-9);
    CHECK_NEAR(value_of(account, "cpu_coverage_ratio", "", &state), 0.9, 1e-9);
    CHECK_NEAR(value_of(account, "memory_peak_bytes", "", &state), 5e9, 0);
    CHECK_NULL(vitals_account_find(account, "memory_peak_low_bytes", ""));
    CHECK_NEAR(value_of(account, "processes", "", &state), 214, 0);
    CHECK_NEAR(value_of(account, "cpu_seconds", "root", &state), 2, 0);
    CHECK_BYTES(vitals_account_attribute(account, "rungs").bytes,
                vitals_account_attribute(account, "rungs").size, "cgroup2 wait4", 13);
    vitals_account_free(account);
    vitals_account_free(watched);
}

static void memory_that_nothing_counted_is_bounded_and_estimated(void)
{
    vitals_availability state;
    vitals_account *account = account_new(), *watched = new_account();
    begin_counts();
    count(COUNTED_MEMORY_LARGEST_BYTES, 433e6, "taskstats");
    count(COUNTED_MEMORY_SUM_BYTES, 500e6, "taskstats");
    add(watched, "memory_peak_low_bytes", "", 13e6, VITALS_LOWER_BOUND);
    add(watched, "memory_peak_high_bytes", "", 20e6, VITALS_ESTIMATE);
    const struct run_outcome outcome = {.wall_seconds = 1, .counted = counts, .watched = watched};
    account_fill(account, &outcome);
    CHECK_NEAR(value_of(account, "memory_peak_low_bytes", "", &state), 433e6, 0);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    CHECK_NEAR(value_of(account, "memory_peak_high_bytes", "", &state), 453e6, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    CHECK_NEAR(value_of(account, "memory_peak_sum_bytes", "", &state), 500e6, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    vitals_account_free(account);
    vitals_account_free(watched);
}

/* As of a process that touches much memory, then becomes another program by exec. */
static void an_image_before_an_exec_is_in_the_bracket(void)
{
    vitals_availability state;
    vitals_account *account = account_new();
    begin_counts();
    count(COUNTED_MEMORY_LARGEST_BYTES, 300e6, "wait4");
    count(COUNTED_MEMORY_SUM_BYTES, 1e6, "taskstats");
    const struct run_outcome outcome = {.wall_seconds = 1, .counted = counts};
    account_fill(account, &outcome);
    CHECK_NEAR(value_of(account, "memory_peak_low_bytes", "", &state), 300e6, 0);
    CHECK(value_of(account, "memory_peak_high_bytes", "", &state) >= 300e6);
    CHECK_INT(state, VITALS_ESTIMATE);
    vitals_account_free(account);
}

/* As of a process that leaves its cgroup and is not reaped by us. */
static void a_peak_below_what_was_seen_is_no_peak(void)
{
    static const struct {
        double anonymous, largest, told;
        vitals_availability state;
    } ROWS[] = {{298e6, 1e6, 298e6, VITALS_LOWER_BOUND},
                {1e6, 298e6, 298e6, VITALS_LOWER_BOUND}, // libraries that others were charged for
                {1e6, 30e6, 30e6, VITALS_LOWER_BOUND},
                {1e6, 1.8e6, 764e3, VITALS_HAVE}}; // within a MiB
    for (size_t i = 0; i < ARRAY_COUNT(ROWS); i++) {
        vitals_availability state;
        vitals_account *account = account_new(), *watched = new_account();
        begin_counts();
        count(COUNTED_MEMORY_PEAK_BYTES, 764e3, "cgroup v1");
        count(COUNTED_MEMORY_LARGEST_BYTES, ROWS[i].largest, "wait4");
        add(watched, ANONYMOUS_LARGEST, "", ROWS[i].anonymous, VITALS_SAMPLED);
        const struct run_outcome outcome = {
            .wall_seconds = 1, .counted = counts, .watched = watched};
        account_fill(account, &outcome);
        CHECK_NEAR(value_of(account, "memory_peak_bytes", "", &state), ROWS[i].told, 0);
        CHECK_INT(state, ROWS[i].state);
        CHECK_NULL(vitals_account_find(account, ANONYMOUS_LARGEST, ""));
        vitals_account_free(account);
        vitals_account_free(watched);
    }
}

static void children_that_nobody_waited_for_are_said(void)
{
    vitals_availability state;
    vitals_account *account = account_new(), *watched = new_account();
    begin_counts();
    count(COUNTED_CPU_SECONDS, 0.001, "wait4");
    count(COUNTED_CPU_USER_SECONDS, 0.001, "wait4");
    count(COUNTED_READ_BYTES, 4096, "wait4");
    count(COUNTED_MINOR_FAULTS, 7, "wait4");
    add(watched, "cpu_seconds", "", 0.5, VITALS_SAMPLED);
    const struct run_outcome outcome = {.wall_seconds = 1, .counted = counts, .watched = watched};
    account_fill(account, &outcome);
    CHECK_NEAR(value_of(account, "cpu_seconds", "", &state), 0.5, 0);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    static const char *const REST[] = {"cpu_user_seconds", "disk_read_bytes", "minor_faults"};
    for (size_t i = 0; i < ARRAY_COUNT(REST); i++) {
        (void)value_of(account, REST[i], "", &state);
        CHECK_CASE(REST[i]);
        CHECK_INT(state, VITALS_LOWER_BOUND);
    }
    vitals_account_free(account);
    vitals_account_free(watched);
}

static void a_sampler_that_did_not_answer_is_said(void)
{
    vitals_availability state;
    vitals_account *account = account_new();
    begin_counts();
    const struct run_outcome outcome = {.wall_seconds = 1, .counted = counts, .watched = NULL};
    account_fill(account, &outcome);
    (void)value_of(account, "memory_peak_low_bytes", "", &state);
    CHECK_INT(state, VITALS_TIMED_OUT);
    CHECK_CONTAINS(vitals_account_attribute(account, "missing").bytes, "did not answer");
    vitals_account_free(account);
}

static void a_device_is_busy_over_the_whole_run(void)
{
    vitals_availability state;
    vitals_account *account = account_new(), *watched = new_account();
    begin_counts();
    add(watched, "gpu_busy_seconds", "GPU-a", 5, VITALS_SAMPLED);
    add(watched, "gpu_busy_ratio", "GPU-a", 0.9, VITALS_SAMPLED); /* of the time of sampling */
    const vitals_figure_form memory = {.size = sizeof(vitals_figure_form),
                                       .name = "gpu_memory_peak_bytes",
                                       .subject = "GPU-a",
                                       .source = "driver, every 1 s",
                                       .state = VITALS_SAMPLED,
                                       .value = 1};
    CHECK_OK(vitals_account_add(watched, &memory, &error), error);
    const struct run_outcome outcome = {
        .wall_seconds = 10, .counted = counts, .watched = watched, .invented = true};
    account_fill(account, &outcome);
    CHECK_NEAR(value_of(account, "gpu_busy_ratio", "GPU-a", &state), 0.5, 1e-9);
    CHECK_STR(vitals_figure_source(vitals_account_find(account, "gpu_memory_peak_bytes", "GPU-a")),
              "invented by the demo, every 1 s");
    vitals_account_free(account);
    vitals_account_free(watched);
}

static const check_test tests[] = {
    {"figures that are none are refused", figures_that_are_none_are_refused},
    {"put takes the place of the same", put_takes_the_place_of_the_same},
    {"a figure reads as a person expects", a_figure_reads_as_a_person_expects},
    {"many figures grow and hold", many_figures_grow_and_hold},
    {"texts are safe and cut", texts_are_safe_and_cut},
    {"attributes come in their order", attributes_come_in_their_order},
    {"the end is told", the_end_is_told},
    {"JSON tells all of it", json_tells_all_of_it},
    {"the area holds the newest report", the_area_holds_the_newest_report},
    {"the reader believes nothing of the area", the_reader_believes_nothing_of_the_area},
    {"more figures than there is room for are said", more_figures_than_there_is_room_for_are_said},
    {"what was counted speaks before what was sampled",
     what_was_counted_speaks_before_what_was_sampled},
    {"memory that nothing counted is bounded and estimated",
     memory_that_nothing_counted_is_bounded_and_estimated},
    {"an image before an exec is in the bracket", an_image_before_an_exec_is_in_the_bracket},
    {"a peak below what was seen is no peak", a_peak_below_what_was_seen_is_no_peak},
    {"children that nobody waited for are said", children_that_nobody_waited_for_are_said},
    {"a sampler that did not answer is said", a_sampler_that_did_not_answer_is_said},
    {"a device is busy over the whole run", a_device_is_busy_over_the_whole_run},
};
CHECK_TESTS(tests)
