/* What a run may use: which limit is named, when its processes are asked to end and when killed. */
#include "check.h"

#include "run/limits.h"

#include <string.h>

static struct limits limits_of(const vitals_run_options *options)
{
    struct limits limits;
    limits_init(&limits, options);
    return limits;
}

static enum limits_order step(struct limits *limits, uint64_t seconds, struct value memory)
{
    const struct limits_seen seen = {.run_ns = seconds * NS_PER_SECOND, .memory_bytes = memory};
    return limits_step(limits, &seen);
}

static void without_limits_nothing_is_ever_done(void)
{
    struct limits limits = limits_of(&(vitals_run_options){.limit_grace_ns = NS_PER_SECOND});
    CHECK_FALSE(limits_are_sampled(&limits));
    CHECK(limits_next_ns(&limits) == UINT64_MAX);
    CHECK_INT(step(&limits, 1000000, value_u64(UINT64_MAX)), LIMITS_NOTHING);
    CHECK_INT(limits.passed, LIMIT_NONE);
    char words[64] = "x";
    limits_words(&limits, words, sizeof words);
    CHECK_STR(words, "");
}

static void time_is_asked_for_then_taken(void)
{
    char words[160];
    struct limits limits = limits_of(
        &(vitals_run_options){.limit_ns = 10 * NS_PER_SECOND, .limit_grace_ns = 5 * NS_PER_SECOND});
    CHECK(limits_next_ns(&limits) == 10 * NS_PER_SECOND + 1);
    CHECK_INT(step(&limits, 10, value_u64(0)), LIMITS_NOTHING);
    CHECK_INT(step(&limits, 11, value_u64(0)), LIMITS_ASK);
    CHECK_INT(limits.passed, LIMIT_TIME);
    CHECK(limits_next_ns(&limits) == 16 * NS_PER_SECOND);
    CHECK_INT(step(&limits, 15, value_u64(0)), LIMITS_NOTHING);
    CHECK_INT(step(&limits, 16, value_u64(0)), LIMITS_KILL);
    CHECK_INT(step(&limits, 17, value_u64(0)), LIMITS_KILL);
    limits_words(&limits, words, sizeof words);
    CHECK_STR(words, "it took longer than 10 s");
}

static void the_first_that_is_passed_is_named(void)
{
    char words[160];
    struct limits limits = limits_of(&(vitals_run_options){
        .limit_ns = 5 * NS_PER_SECOND, .limit_memory_bytes = 1 << 20, .limit_processes = 3});
    CHECK(limits_are_sampled(&limits));
    CHECK_INT(step(&limits, 1, value_u64(1 << 20)), LIMITS_NOTHING); /* not more than it */
    CHECK_INT(step(&limits, 2, value_u64((1 << 20) + 1)), LIMITS_ASK);
    CHECK_INT(step(&limits, 9, value_u64(0)), LIMITS_KILL); /* no grace was given */
    CHECK_STR(limits_name(limits.passed), "memory");
    limits_words(&limits, words, sizeof words);
    CHECK_CONTAINS(words, "more than 1MiB of memory: 1.00MiB");
}

static void what_is_not_known_is_no_reason(void)
{
    struct limits limits = limits_of(&(vitals_run_options){.limit_memory_bytes = 1});
    struct value missing = value_missing(VITALS_NOT_YET);
    missing.as.u64 = UINT64_MAX;
    CHECK_INT(step(&limits, 1, missing), LIMITS_NOTHING);
    CHECK_INT(limits.passed, LIMIT_NONE);
}

/* A cgroup that the command never joined, or has left, is empty. */
static void an_empty_cgroup_hides_nothing(void)
{
    const vitals_run_options options = {.limit_memory_bytes = 100};
    struct limits limits = limits_of(&options);
    struct limits_seen seen = {.held_bytes = value_u64(0), .memory_bytes = value_u64(100)};
    CHECK_INT(limits_step(&limits, &seen), LIMITS_NOTHING);
    seen.memory_bytes = value_u64(101);
    CHECK_INT(limits_step(&limits, &seen), LIMITS_ASK);
    CHECK_UINT(limits.reached, 101);
    limits = limits_of(&options);
    seen = (struct limits_seen){.held_bytes = value_u64(101), .memory_bytes = value_u64(7)};
    CHECK_INT(limits_step(&limits, &seen), LIMITS_ASK);
}

static void processes_and_gpu_memory_are_limits_too(void)
{
    char words[160];
    struct limits limits = limits_of(&(vitals_run_options){.limit_processes = 3});
    struct limits_seen seen = {.processes = value_u64(4)};
    CHECK_INT(limits_step(&limits, &seen), LIMITS_ASK);
    CHECK_STR(limits_name(limits.passed), "processes");
    limits_words(&limits, words, sizeof words);
    CHECK_STR(words, "it had more than 3 processes: 4");

    limits = limits_of(&(vitals_run_options){.limit_gpu_memory_bytes = UINT64_C(1) << 30});
    seen = (struct limits_seen){.gpu_memory_bytes = value_u64(UINT64_C(3) << 30)};
    CHECK_INT(limits_step(&limits, &seen), LIMITS_ASK);
    CHECK_STR(limits_name(limits.passed), "gpu_memory");
    limits_words(&limits, words, sizeof words);
    CHECK_CONTAINS(words, "of GPU memory");
}

static void what_is_left_is_ended_without_a_limit(void)
{
    struct limits limits = limits_of(&(vitals_run_options){.limit_grace_ns = 5 * NS_PER_SECOND});
    limits_end(&limits, 2 * NS_PER_SECOND);
    limits_end(&limits, 4 * NS_PER_SECOND); /* the first holds */
    CHECK_INT(limits.passed, LIMIT_NONE);
    CHECK_INT(step(&limits, 6, value_u64(0)), LIMITS_NOTHING);
    limits_hurry(&limits, 6 * NS_PER_SECOND);
    CHECK_INT(step(&limits, 6, value_u64(0)), LIMITS_KILL);
}

static void what_the_kernel_ended_was_over_its_memory(void)
{
    char words[160];
    struct limits limits = limits_of(&(vitals_run_options){0});
    limits_held(&limits, 5, false); /* without a limit of ours it is the machine's affair */
    CHECK_INT(limits.passed, LIMIT_NONE);
    limits = limits_of(&(vitals_run_options){.limit_memory_bytes = 100 << 20});
    limits_held(&limits, 116 << 20, false);
    CHECK_INT(limits.passed, LIMIT_MEMORY);
    limits_words(&limits, words, sizeof words);
    CHECK_STR(words, "it grew past 100MiB of memory, too fast to be asked to end; the kernel ended "
                     "it at 116.0MiB");
    limits = limits_of(&(vitals_run_options){.limit_memory_bytes = 100 << 20});
    limits_held(&limits, 0, false);
    limits_words(&limits, words, sizeof words);
    CHECK_STR(words,
              "it grew past 100MiB of memory, too fast to be asked to end; the kernel ended it");
}

/* As where a container holds less than what we were asked for. */
static void what_ended_below_the_limit_ended_by_another(void)
{
    static const struct {
        uint64_t peak;
        enum limit passed;
    } ROWS[] = {{57 << 20, LIMIT_NONE}, {100 << 20, LIMIT_MEMORY}, {0, LIMIT_MEMORY}};
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        struct limits limits = limits_of(&(vitals_run_options){.limit_memory_bytes = 100 << 20});
        limits_held(&limits, ROWS[i].peak, false);
        CHECK_INT(limits.passed, ROWS[i].passed);
    }
}

static void a_command_that_survived_is_not_called_ended(void)
{
    char words[160];
    struct limits limits = limits_of(&(vitals_run_options){.limit_memory_bytes = 100 << 20});
    limits_held(&limits, 116 << 20, true);
    limits_words(&limits, words, sizeof words);
    CHECK_STR(words, "it grew past 100MiB of memory, too fast to be asked to end; the kernel ended "
                     "one of its processes at 116.0MiB");
}

static void a_sampler_is_replaced_ever_more_rarely(void)
{
    struct limits limits = limits_of(&(vitals_run_options){.limit_ns = 1});
    CHECK_FALSE(limits_replace(&limits, 5)); /* time needs no sampler */
    limits = limits_of(&(vitals_run_options){.limit_processes = 3});
    unsigned replaced = 0;
    for (uint64_t second = 0; second < 600; second++) /* it dies each time at once */
        replaced += limits_replace(&limits, second * NS_PER_SECOND);
    CHECK_UINT(replaced, 15); /* 0 1 3 7 15 31 63 127 191 … 575 */
    CHECK(limits_replace(&limits, 86400 * NS_PER_SECOND));
    limits_end(&limits, 86400 * NS_PER_SECOND);
    CHECK_FALSE(limits_replace(&limits, UINT64_MAX)); /* it ends anyhow */
}

static void the_end_of_time_does_not_overflow(void)
{
    struct limits limits = limits_of(
        &(vitals_run_options){.limit_ns = UINT64_MAX, .limit_grace_ns = UINT64_MAX});
    CHECK(limits_next_ns(&limits) == UINT64_MAX);
    CHECK_INT(step(&limits, 1, value_u64(0)), LIMITS_NOTHING);
    limits_end(&limits, 7);
    CHECK(limits_next_ns(&limits) == UINT64_MAX);
}

static const check_test tests[] = {
    {"without limits nothing is ever done", without_limits_nothing_is_ever_done},
    {"time is asked for, then taken", time_is_asked_for_then_taken},
    {"the first that is passed is named", the_first_that_is_passed_is_named},
    {"what is not known is no reason", what_is_not_known_is_no_reason},
    {"an empty cgroup hides nothing", an_empty_cgroup_hides_nothing},
    {"processes and GPU memory are limits too", processes_and_gpu_memory_are_limits_too},
    {"what is left is ended without a limit", what_is_left_is_ended_without_a_limit},
    {"what the kernel ended was over its memory", what_the_kernel_ended_was_over_its_memory},
    {"what ended below the limit ended by another", what_ended_below_the_limit_ended_by_another},
    {"a command that survived is not called ended", a_command_that_survived_is_not_called_ended},
    {"a sampler is replaced ever more rarely", a_sampler_is_replaced_ever_more_rarely},
    {"the end of time does not overflow", the_end_of_time_does_not_overflow},
};
CHECK_TESTS(tests)
