/* The accounting over ways of counting that are invented: which are tried, which speaks for what,
 * and what two that disagree make of each other. */
#include "check.h"

#include "run/methods.h"
#include "util/memory.h"

#include <errno.h>

/* One invented way: what it is told to tell. */
struct invented {
    os_quantities wanted; /* as it was asked */
    int opened, closed, children, ended, reaped;
    int open_code, child_code;
    os_quantities counts;
    double cpu, faults, peak;
    signed char state;
};

static struct invented first, second, third;

static int open_invented(struct invented *self, void *state, const struct os_count_options *options,
                         os_quantities *counts)
{
    *(struct invented **)state = self;
    self->opened++;
    self->wanted = options->wanted;
    *counts = self->counts;
    return self->open_code;
}

static int open_first(void *state, const struct os_count_options *options, os_quantities *counts)
{
    return open_invented(&first, state, options, counts);
}

static int open_second(void *state, const struct os_count_options *options, os_quantities *counts)
{
    return open_invented(&second, state, options, counts);
}

static int open_third(void *state, const struct os_count_options *options, os_quantities *counts)
{
    return open_invented(&third, state, options, counts);
}

static int child_of(void *state, int64_t pid, os_quantities *counts)
{
    struct invented *self = *(struct invented **)state;
    (void)pid, (void)counts;
    self->children++;
    return self->child_code;
}

static void ended(void *state, int64_t pid)
{
    (void)pid;
    (*(struct invented **)state)->ended++;
}

static void reaped(void *state, const struct os_reaped *child)
{
    (void)child;
    (*(struct invented **)state)->reaped++;
}

static void tell(void *state, struct counted *out)
{
    const struct invented *self = *(struct invented **)state;
    const char *source = self == &first ? "first" : "second";
    if ((self->counts & os_quantity(COUNTED_CPU_SECONDS)) != 0)
        os_count(out, COUNTED_CPU_SECONDS, self->cpu, self->state, source);
    if ((self->counts & os_quantity(COUNTED_MINOR_FAULTS)) != 0)
        os_count(out, COUNTED_MINOR_FAULTS, self->faults, self->state, source);
    if ((self->counts & os_quantity(COUNTED_PROCESSES)) != 0)
        os_count(out, COUNTED_PROCESSES, 1, VITALS_HAVE, source);
    if ((self->counts & os_quantity(COUNTED_MEMORY_PEAK_BYTES)) != 0)
        os_count(out, COUNTED_MEMORY_PEAK_BYTES, self->peak, self->state, source);
}

static void close_invented(void *state)
{
    (*(struct invented **)state)->closed++;
}

static const os_quantities CPU = 1u << COUNTED_CPU_SECONDS, FAULTS = 1u << COUNTED_MINOR_FAULTS,
                           PEAK = 1u << COUNTED_MEMORY_PEAK_BYTES;

static const struct os_counter FIRST = {.name = "first",
                                        .size = sizeof(void *),
                                        .worth = 1u << COUNTED_CPU_SECONDS,
                                        .open = open_first,
                                        .child = child_of,
                                        .ended = ended,
                                        .reaped = reaped,
                                        .read = tell,
                                        .close = close_invented};
static const struct os_counter SECOND = {.name = "second",
                                         .size = sizeof(void *),
                                         .worth = 1u << COUNTED_CPU_SECONDS |
                                                  1u << COUNTED_MEMORY_PEAK_BYTES,
                                         .ended_only = true,
                                         .open = open_second,
                                         .child = child_of,
                                         .read = tell,
                                         .close = close_invented};
/* As wait4: it cannot know of all that it has lost. */
static bool whole;

static bool is_whole(const void *state)
{
    (void)state;
    return whole;
}

static const struct os_counter *const BOTH[] = {&FIRST, &SECOND, NULL};

static const struct accounting_left NOTHING = {0};

static struct accounting *climb(const char *methods)
{
    const struct accounting_options options = {.methods = methods, .counters = BOTH};
    struct accounting *accounting = accounting_open(&options);
    CHECK_NOT_NULL(accounting);
    return accounting;
}

static void begin(os_quantities of_first, os_quantities of_second)
{
    first = (struct invented){.counts = of_first, .cpu = 2, .faults = 100, .state = VITALS_HAVE};
    second = (struct invented){.counts = of_second, .cpu = 2, .faults = 100, .state = VITALS_HAVE};
}

static void who_adds_nothing_is_not_tried(void)
{
    char text[64];
    begin(CPU | PEAK, CPU);
    struct accounting *accounting = climb(NULL);
    CHECK_INT(first.opened, 1);
    CHECK_INT(second.opened, 0);
    accounting_names(accounting, text, sizeof text);
    CHECK_STR(text, "first");
    accounting_close(accounting);
    CHECK_INT(first.closed, 1);
    CHECK_INT(second.closed, 0);
}

static void the_second_is_asked_for_the_rest(void)
{
    char text[64];
    struct counted out[COUNTED_COUNT];
    begin(CPU, CPU | PEAK);
    struct accounting *accounting = climb(NULL);
    CHECK((second.wanted & CPU) == 0);
    CHECK((second.wanted & PEAK) != 0);
    accounting_names(accounting, text, sizeof text);
    CHECK_STR(text, "first second");
    second.peak = 77;
    accounting_read(accounting, &NOTHING, out);
    CHECK_STR(out[COUNTED_CPU_SECONDS].source, "first");
    CHECK_STR(out[COUNTED_MEMORY_PEAK_BYTES].source, "second");
    CHECK_NEAR(out[COUNTED_MEMORY_PEAK_BYTES].value.as.f64, 77, 0);
    CHECK_INT(out[COUNTED_SWAP_PEAK_BYTES].value.state, VITALS_UNSUPPORTED);
    accounting_close(accounting);
}

static void one_that_fails_leaves_its_place_to_the_next(void)
{
    char text[64];
    struct counted out[COUNTED_COUNT];
    begin(CPU, CPU);
    first.open_code = -EACCES;
    struct accounting *accounting = climb(NULL);
    accounting_child(accounting, 5);
    CHECK_INT(first.children, 0);
    CHECK_INT(second.children, 1);
    accounting_names(accounting, text, sizeof text);
    CHECK_STR(text, "second");
    accounting_read(accounting, &NOTHING, out);
    CHECK_STR(out[COUNTED_CPU_SECONDS].source, "second");
    accounting_close(accounting);
    CHECK_INT(first.closed, 0); /* open left nothing */
}

static void one_that_fails_with_the_child_is_closed_and_says_nothing(void)
{
    char text[64];
    struct counted out[COUNTED_COUNT];
    begin(CPU, PEAK);
    first.child_code = -EPERM;
    struct accounting *accounting = climb(NULL);
    accounting_child(accounting, 5);
    accounting_reaping(accounting, 5);
    accounting_reaped(accounting, &(struct os_reaped){.pid = 5});
    CHECK_INT(first.ended + first.reaped, 0);
    accounting_names(accounting, text, sizeof text);
    CHECK_STR(text, "second");
    accounting_read(accounting, &NOTHING, out);
    CHECK_INT(out[COUNTED_CPU_SECONDS].value.state, VITALS_UNSUPPORTED);
    accounting_close(accounting);
    CHECK_INT(first.closed, 1);
}

/* As systemd, which promises to count before it is asked, and perf, which then seemed needless. */
static void who_was_not_needed_is_tried_when_a_promise_is_not_kept(void)
{
    char text[64];
    struct counted out[COUNTED_COUNT];
    begin(CPU | PEAK, CPU);
    first.child_code = -ETIMEDOUT;
    struct accounting *accounting = climb(NULL);
    CHECK_INT(second.opened, 0);
    accounting_child(accounting, 5);
    CHECK_INT(second.opened, 1);
    CHECK_INT(second.children, 1);
    CHECK((second.wanted & CPU) != 0);
    accounting_names(accounting, text, sizeof text);
    CHECK_STR(text, "second");
    accounting_read(accounting, &NOTHING, out);
    CHECK_STR(out[COUNTED_CPU_SECONDS].source, "second");
    accounting_close(accounting);
    CHECK_INT(first.closed, 1);
    CHECK_INT(second.closed, 1);

    begin(CPU | PEAK, CPU);
    first.child_code = -ETIMEDOUT;
    accounting = climb("first"); /* a method that was not chosen is not tried then either */
    accounting_child(accounting, 5);
    CHECK_INT(second.opened, 0);
    accounting_close(accounting);
}

static void a_user_chooses_methods(void)
{
    char text[64];
    begin(CPU, CPU | PEAK);
    struct accounting *accounting = climb("other second");
    accounting_names(accounting, text, sizeof text);
    CHECK_STR(text, "second");
    CHECK_INT(first.opened, 0);
    accounting_close(accounting);
}

/* As cgroup and wait4, with a process that left the cgroup. */
static void the_larger_of_two_counts_has_missed_less(void)
{
    struct counted out[COUNTED_COUNT];
    begin(CPU | FAULTS, CPU | PEAK);
    first.cpu = 2;
    second.cpu = 2.5;
    struct accounting *accounting = climb(NULL);
    accounting_read(accounting, &NOTHING, out);
    CHECK_STR(out[COUNTED_CPU_SECONDS].source, "second");
    CHECK_NEAR(out[COUNTED_CPU_SECONDS].value.as.f64, 2.5, 0);
    CHECK_INT(out[COUNTED_CPU_SECONDS].value.state, VITALS_LOWER_BOUND);
    CHECK_INT(out[COUNTED_MINOR_FAULTS].value.state,
              VITALS_LOWER_BOUND); /* it lost sight of some */
    accounting_close(accounting);
}

/* As perf and wait4, if SIGCHLD was ignored. */
static void who_counted_less_is_not_believed_in_the_rest(void)
{
    struct counted out[COUNTED_COUNT];
    begin(CPU, CPU | FAULTS | PEAK);
    second.cpu = 0.1;
    struct accounting *accounting = climb(NULL);
    accounting_read(accounting, &NOTHING, out);
    CHECK_STR(out[COUNTED_CPU_SECONDS].source, "first");
    CHECK_INT(out[COUNTED_CPU_SECONDS].value.state, VITALS_HAVE);
    CHECK_STR(out[COUNTED_MINOR_FAULTS].source, "second");
    CHECK_INT(out[COUNTED_MINOR_FAULTS].value.state, VITALS_LOWER_BOUND);
    accounting_close(accounting);
}

/* As wait4 alone, and with perf. */
static void who_cannot_know_is_believed_with_a_witness_only(void)
{
    static const struct {
        bool whole, witness;
        double witness_cpu; /* of 2 s */
        vitals_availability cpu, faults;
    } ROWS[] = {{false, false, 2, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
                {true, false, 2, VITALS_HAVE, VITALS_HAVE},
                /* a clock is a witness of CPU time, not of what a short process has written */
                {false, true, 2, VITALS_HAVE, VITALS_LOWER_BOUND},
                /* a child of 15 ms is missing */
                {false, true, 2.015, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND}};
    struct os_counter unsure = SECOND;
    unsure.whole = is_whole;
    const struct os_counter *const counters[] = {&FIRST, &unsure, NULL};
    for (size_t i = 0; i < ARRAY_COUNT(ROWS); i++) {
        struct counted told[COUNTED_COUNT];
        begin(ROWS[i].witness ? CPU : PEAK, CPU | FAULTS);
        second.cpu = 2;
        first.cpu = ROWS[i].witness_cpu;
        first.state = VITALS_LOWER_BOUND; /* as perf */
        whole = ROWS[i].whole;
        const struct accounting_options options = {.counters = counters};
        struct accounting *accounting = accounting_open(&options);
        accounting_read(accounting, &NOTHING, told);
        CHECK_INT(told[COUNTED_MINOR_FAULTS].value.state, ROWS[i].faults);
        CHECK_INT(told[COUNTED_CPU_SECONDS].value.state, ROWS[i].cpu);
        accounting_close(accounting);
    }
}

static double clock_of_first;

static double most_of_first(const void *state)
{
    (void)state;
    return clock_of_first;
}

/* As perf in a guest: the hypervisor stole 2 % of 2 s, which its clock counts. Its figure leaves
 * out what was stolen from the whole machine. */
static void what_was_stolen_hides_no_exact_figure(void)
{
    static const struct {
        const char *name;
        bool whole;
        double clock, figure;
        const char *source;
        double told;
        vitals_availability state;
    } ROWS[] = {
        {"nothing was stolen", false, 2, 2, "second", 2, VITALS_HAVE},
        {"a little", false, 2.005, 1.99, "second", 2, VITALS_HAVE},
        {"it may be a process that is missing", false, 2.04, 1.99, "second", 2, VITALS_LOWER_BOUND},
        {"none can be missing", true, 2.04, 1.99, "second", 2, VITALS_HAVE},
        {"more than what was stolen: one is missing", true, 2.2, 2.16, "first", 2.16,
         VITALS_LOWER_BOUND},
    };
    struct os_counter perf = FIRST, unsure = SECOND;
    perf.most_cpu_seconds = most_of_first;
    unsure.whole = is_whole;
    const struct os_counter *const counters[] = {&perf, &unsure, NULL};
    for (size_t i = 0; i < ARRAY_COUNT(ROWS); i++) {
        struct counted told[COUNTED_COUNT];
        CHECK_CASE(ROWS[i].name);
        begin(CPU, CPU | FAULTS);
        first.state = VITALS_LOWER_BOUND;
        first.cpu = ROWS[i].figure;
        clock_of_first = ROWS[i].clock;
        whole = ROWS[i].whole;
        const struct accounting_options options = {.counters = counters};
        struct accounting *accounting = accounting_open(&options);
        accounting_read(accounting, &NOTHING, told);
        CHECK_STR(told[COUNTED_CPU_SECONDS].source, ROWS[i].source);
        CHECK_NEAR(told[COUNTED_CPU_SECONDS].value.as.f64, ROWS[i].told, 0);
        CHECK_INT(told[COUNTED_CPU_SECONDS].value.state, ROWS[i].state);
        accounting_close(accounting);
    }
}

/* As taskstats beside wait4: a record lacks its process's end, which hides what a short one used.
 */
static void records_of_ends_are_no_witness(void)
{
    struct os_counter records = FIRST, unsure = SECOND;
    records.ended_only = true;
    unsure.whole = is_whole;
    const struct os_counter *const counters[] = {&records, &unsure, NULL};
    struct counted told[COUNTED_COUNT];
    begin(CPU | FAULTS, CPU | FAULTS);
    first.state = VITALS_LOWER_BOUND;
    whole = false;
    const struct accounting_options options = {.counters = counters};
    struct accounting *accounting = accounting_open(&options);
    accounting_read(accounting, &NOTHING, told);
    CHECK_INT(told[COUNTED_CPU_SECONDS].value.state, VITALS_LOWER_BOUND);
    accounting_close(accounting);
}

/* A process that took 2 ms shows in no clock of a tree, but none runs without a page fault. */
static void who_has_fewer_faults_than_records_tell_of_has_lost_some(void)
{
    static const struct {
        double faults;
        vitals_availability state;
    } ROWS[] = {{100, VITALS_HAVE}, {140, VITALS_LOWER_BOUND}};
    struct os_counter records = FIRST, unsure = SECOND, sees_all = FIRST;
    records.ended_only = true;
    records.name = "records";
    unsure.whole = is_whole;
    sees_all.open = open_third;
    const struct os_counter *const counters[] = {&sees_all, &records, &unsure, NULL};
    for (size_t i = 0; i < ARRAY_COUNT(ROWS); i++) {
        struct counted told[COUNTED_COUNT];
        begin(CPU | FAULTS | 1u << COUNTED_PROCESSES, CPU | FAULTS | PEAK);
        third = (struct invented){.counts = CPU, .cpu = 2, .state = VITALS_HAVE};
        first.state = VITALS_LOWER_BOUND;
        first.faults = ROWS[i].faults;
        records.worth = FAULTS;
        whole = false;
        const struct accounting_options options = {.counters = counters};
        struct accounting *accounting = accounting_open(&options);
        accounting_read(accounting, &NOTHING, told);
        CHECK_INT(told[COUNTED_CPU_SECONDS].value.state, VITALS_HAVE);
        CHECK_INT(told[COUNTED_MEMORY_PEAK_BYTES].value.state, ROWS[i].state);
        accounting_close(accounting);
    }
}

/* As in a library: a witness of CPU time says nothing of what orphans read or wrote. */
static void orphans_that_others_reap_make_bounds(void)
{
    static const vitals_availability STATES[] = {VITALS_LOWER_BOUND, VITALS_HAVE};
    struct os_counter unsure = SECOND;
    unsure.whole = is_whole;
    const struct os_counter *const counters[] = {&FIRST, &unsure, NULL};
    for (size_t i = 0; i < ARRAY_COUNT(STATES); i++) {
        struct counted told[COUNTED_COUNT];
        begin(CPU, CPU | FAULTS);
        whole = i > 0;
        const struct accounting_options options = {.counters = counters, .orphans_lost = true};
        struct accounting *accounting = accounting_open(&options);
        accounting_read(accounting, &NOTHING, told);
        CHECK_STR(told[COUNTED_CPU_SECONDS].source, "first");
        CHECK_INT(told[COUNTED_CPU_SECONDS].value.state, VITALS_HAVE);
        CHECK_STR(told[COUNTED_MINOR_FAULTS].source, "second");
        CHECK_INT(told[COUNTED_MINOR_FAULTS].value.state, STATES[i]);
        accounting_close(accounting);
    }
}

static void clocks_may_differ_a_little(void)
{
    struct counted out[COUNTED_COUNT];
    begin(CPU, CPU | PEAK);
    second.cpu = first.cpu * 1.004;
    struct accounting *accounting = climb(NULL);
    accounting_read(accounting, &NOTHING, out);
    CHECK_STR(out[COUNTED_CPU_SECONDS].source, "first");
    CHECK_INT(out[COUNTED_CPU_SECONDS].value.state, VITALS_HAVE);
    accounting_close(accounting);
}

static void a_bound_gives_way_to_what_is_exact(void)
{
    struct counted out[COUNTED_COUNT];
    begin(CPU | FAULTS, CPU | FAULTS | PEAK);
    first.state = VITALS_LOWER_BOUND;
    second.faults = 103;
    struct accounting *accounting = climb(NULL);
    accounting_read(accounting, &NOTHING, out);
    CHECK_STR(out[COUNTED_MINOR_FAULTS].source, "second");
    CHECK_INT(out[COUNTED_MINOR_FAULTS].value.state, VITALS_HAVE);
    second.faults = 97; /* less than what there is at least: that cannot be exact */
    accounting_read(accounting, &NOTHING, out);
    CHECK_STR(out[COUNTED_MINOR_FAULTS].source, "first");
    CHECK_INT(out[COUNTED_MINOR_FAULTS].value.state, VITALS_LOWER_BOUND);
    accounting_close(accounting);
}

static void what_still_runs_makes_bounds_of_everything(void)
{
    struct counted out[COUNTED_COUNT];
    begin(0, CPU);
    first.open_code = -ENOENT;
    struct accounting *accounting = climb(NULL);
    const struct accounting_left left = {.any = true, .cpu_seconds = 0.25};
    accounting_read(accounting, &left, out);
    CHECK_NEAR(out[COUNTED_CPU_SECONDS].value.as.f64, 2.25, 1e-9); /* ended processes only */
    CHECK_INT(out[COUNTED_CPU_SECONDS].value.state, VITALS_LOWER_BOUND);
    CHECK_CONTAINS(out[COUNTED_CPU_SECONDS].source, "still runs");
    accounting_close(accounting);
}

static void without_memory_nothing_is_counted_and_nothing_breaks(void)
{
    struct counted out[COUNTED_COUNT];
    char text[8];
    for (uint64_t nth = 1; nth <= 4; nth++) {
        int64_t live = memory_live();
        begin(CPU, PEAK);
        const struct accounting_options options = {.counters = BOTH};
        memory_fail_at(nth);
        struct accounting *accounting = accounting_open(&options);
        memory_fail_at(0);
        struct os_places places;
        accounting_places(accounting, &places);
        CHECK_FALSE(places.group_is);
        accounting_child(accounting, 5);
        accounting_reaping(accounting, 5);
        accounting_reaped(accounting, &(struct os_reaped){.pid = 5});
        accounting_tick(accounting);
        accounting_read(accounting, &NOTHING, out);
        accounting_names(accounting, text, sizeof text);
        CHECK_INT(strlen(text) == 0, nth <= 2);
        CHECK_FALSE(accounting_kill(accounting));
        accounting_close(accounting);
        CHECK_INT(memory_live(), live);
    }
}

static const check_test tests[] = {
    {"who adds nothing is not tried", who_adds_nothing_is_not_tried},
    {"the second is asked for the rest", the_second_is_asked_for_the_rest},
    {"one that fails leaves its place to the next", one_that_fails_leaves_its_place_to_the_next},
    {"one that fails with the child is closed and says nothing",
     one_that_fails_with_the_child_is_closed_and_says_nothing},
    {"who was not needed is tried when a promise is not kept",
     who_was_not_needed_is_tried_when_a_promise_is_not_kept},
    {"a user chooses methods", a_user_chooses_methods},
    {"the larger of two counts has missed less", the_larger_of_two_counts_has_missed_less},
    {"who counted less is not believed in the rest", who_counted_less_is_not_believed_in_the_rest},
    {"who cannot know is believed with a witness only",
     who_cannot_know_is_believed_with_a_witness_only},
    {"what was stolen hides no exact figure", what_was_stolen_hides_no_exact_figure},
    {"records of ends are no witness", records_of_ends_are_no_witness},
    {"who has fewer faults than records tell of has lost some",
     who_has_fewer_faults_than_records_tell_of_has_lost_some},
    {"orphans that others reap make bounds", orphans_that_others_reap_make_bounds},
    {"clocks may differ a little", clocks_may_differ_a_little},
    {"a bound gives way to what is exact", a_bound_gives_way_to_what_is_exact},
    {"what still runs makes bounds of everything", what_still_runs_makes_bounds_of_everything},
    {"without memory nothing is counted and nothing breaks",
     without_memory_nothing_is_counted_and_nothing_breaks},
};
CHECK_TESTS(tests)
