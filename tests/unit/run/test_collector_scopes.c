/* Values of a collector beside the measures of a usage: shares of the machine, each process by
 * itself and on each device, callbacks at begin and end. And figures as text. The samples are a
 * live machine's and the demo's devices': the checks hold at any load. */
#include "check.h"

#include "util/base.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vitals/vitals.h>

static vitals_error error;

/* Of ourselves, with a device of the demo's on which we are. */
static vitals_collector *collector_every(uint64_t interval_ns)
{
    vitals_options world;
    vitals_run_options options;
    vitals_collector *collector = NULL;
    vitals_options_init(&world, sizeof world);
    world.backends = "demo";
    world.demo = "self";
    vitals_run_options_init(&options, sizeof options);
    options.interval_ns = interval_ns;
    options.world = &world;
    CHECK_OK(vitals_collector_new(&options, &collector, &error), error);
    return collector;
}

static vitals_collector *new_collector(void)
{
    return collector_every(20000000);
}

/* That which is known, where several have the name. */
static const vitals_collected *item_of(const vitals_collection *collection, const char *measure,
                                       vitals_scope scope, const char *subject)
{
    const vitals_collected *found = NULL;
    for (const vitals_collected *item = NULL;
         (item = vitals_collection_next(collection, item)) != NULL;) {
        if ((found == NULL || found->state <= 0) && item->measure == vitals_measure_find(measure) &&
            item->scope == scope && strncmp(item->subject, subject, strlen(subject)) == 0)
            found = item;
    }
    return found;
}

/* Until the window has it; the collection is the caller's. */
static const vitals_collected *wait_for(vitals_collector *collector, const char *measure,
                                        vitals_scope scope, const char *subject,
                                        vitals_collection **out)
{
    for (int i = 0; i < 500; i++) {
        CHECK_OK(vitals_collector_collect(collector, out, &error), error);
        const vitals_collected *found = item_of(*out, measure, scope, subject);
        if (found != NULL && found->state > 0)
            return found;
        vitals_collection_free(*out);
        *out = NULL;
        usleep(20000);
    }
    CHECK_FAIL("no sample of %s of %s in 10 s", measure, subject);
}

static void the_machine_is_told_in_shares(void)
{
    static const char *const SHARES[] = {"memory_ratio", "load_5m", "load_15m"};
    vitals_collector *collector = new_collector();
    vitals_collection *all = NULL;
    CHECK_OK(vitals_collector_begin(collector, "all", &error), error);
    for (size_t i = 0; i < CHECK_COUNT(SHARES); i++) {
        const vitals_collected *found = wait_for(collector, SHARES[i], VITALS_SCOPE_SYSTEM,
                                                 "system", &all);
        CHECK_CASE(SHARES[i]);
        CHECK(found->least <= found->mean && found->mean <= found->most && found->least >= 0);
        vitals_collection_free(all);
    }
    const vitals_collected *ratio = wait_for(collector, "memory_ratio", VITALS_SCOPE_SYSTEM,
                                             "system", &all);
    const vitals_collected *used = item_of(all, "memory_used_bytes", VITALS_SCOPE_SYSTEM, "system");
    const vitals_collected *total = item_of(all, "memory_total_bytes", VITALS_SCOPE_SYSTEM,
                                            "system");
    CHECK_NEAR(ratio->last, used->last / total->last, 1e-9); /* of one sample */
    /* A machine without swap has no share of it in use; it is told of all the same. */
    const vitals_collected *swap = item_of(all, "swap_ratio", VITALS_SCOPE_SYSTEM, "system");
    const vitals_collected *room = item_of(all, "swap_total_bytes", VITALS_SCOPE_SYSTEM, "system");
    CHECK(swap != NULL && room != NULL);
    if (room->last > 0)
        CHECK(swap->last >= 0 && swap->last <= 1);
    else
        CHECK(swap->state <= 0);
    vitals_collection_free(all);
    vitals_collector_free(collector);
}

static void devices_are_told_in_shares(void)
{
    static const char *const MEASURES[] = {"device_memory_free_bytes", "device_memory_ratio",
                                           "device_memory_busy_ratio"};
    vitals_collector *collector = new_collector();
    vitals_collection *all = NULL;
    CHECK_OK(vitals_collector_begin(collector, "all", &error), error);
    for (size_t i = 0; i < CHECK_COUNT(MEASURES); i++) {
        const vitals_collected *found = wait_for(collector, MEASURES[i], VITALS_SCOPE_GPU, "",
                                                 &all);
        CHECK_CASE(MEASURES[i]);
        CHECK(found->last >= 0);
        CHECK(strstr(MEASURES[i], "ratio") == NULL || found->most <= 1);
        CHECK_CONTAINS(found->label, "GPU ");
        /* The demo's devices have no fan, and that is told. */
        CHECK_NOT_NULL(item_of(all, "device_fan_ratio", VITALS_SCOPE_GPU, found->subject));
        vitals_collection_free(all);
    }
    vitals_collector_free(collector);
}

static void a_process_is_told_by_itself(void)
{
    vitals_collector *collector = new_collector();
    vitals_collection *all = NULL;
    char ours[32];
    (void)snprintf(ours, sizeof ours, "pid:%ld", (long)getpid());
    CHECK_OK(vitals_collector_begin(collector, "all", &error), error);
    const vitals_collected *cores = wait_for(collector, "cpu_cores", VITALS_SCOPE_PROCESS, ours,
                                             &all);
    CHECK(cores->least >= 0 && cores->least <= cores->most);
    CHECK_STR(cores->subject, ours);
    CHECK(cores->label[0] != '\0');
    CHECK(cores->end_ns >= cores->begin_ns && cores->sampled_ns > 0);
    const vitals_collected *resident = item_of(all, "memory_resident_bytes", VITALS_SCOPE_PROCESS,
                                               ours);
    const vitals_collected *share = item_of(all, "memory_ratio", VITALS_SCOPE_PROCESS, ours);
    const vitals_collected *age = item_of(all, "running_seconds", VITALS_SCOPE_PROCESS, ours);
    CHECK(resident->last > 100000);
    CHECK(share->last > 0 && share->last < 1);
    CHECK(age->last >= 0 && age->last < 3600);
    vitals_collection_free(all);
    vitals_collector_free(collector);
}

/* A child that spends some CPU time, gives itself a name, and waits. */
static pid_t child_that_spent(double seconds)
{
    int ends[2];
    char byte;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        while ((double)clock() / CLOCKS_PER_SEC < seconds) {}
        (void)prctl(PR_SET_NAME, "renamed");
        (void)!write(ends[1], "", 1);
        for (;;)
            pause();
    }
    CHECK(child > 0 && read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

/* What it spent before the first sample saw it, where samples are far apart; and a name that it
 * took after that, where they are not. */
static void begin_in_a_window(uint64_t interval_ns)
{
    vitals_collector *collector = collector_every(interval_ns);
    vitals_collection *all = NULL;
    char named[32];
    const vitals_collected *cpu;
    double spent = 0;
    CHECK_OK(vitals_collector_begin(collector, "all", &error), error);
    vitals_collection_free((wait_for(collector, "cpu_seconds", VITALS_SCOPE_TREE, "", &all), all));
    usleep(50000); /* its beginning is told in steps of 10 ms */
    pid_t child = child_that_spent(0.5);
    (void)snprintf(named, sizeof named, "pid:%ld", (long)child);
    for (int i = 0; i < 500; i++) {
        cpu = wait_for(collector, "cpu_seconds", VITALS_SCOPE_PROCESS, named, &all);
        spent = cpu->last;
        bool renamed = strcmp(cpu->label, "renamed") == 0;
        vitals_collection_free(all);
        if (renamed)
            break;
        CHECK(i < 499);
        usleep(20000);
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    CHECK(spent >= 0.45);
    vitals_collector_free(collector);
}

static void a_process_that_begins_in_a_window_is_told_whole(void)
{
    begin_in_a_window(20000000);
    begin_in_a_window(2000000000);
}

static void a_process_is_told_on_its_device(void)
{
    vitals_collector *collector = new_collector();
    vitals_collection *all = NULL;
    char ours[32];
    (void)snprintf(ours, sizeof ours, "pid:%ld/", (long)getpid());
    CHECK_OK(vitals_collector_begin(collector, "all", &error), error);
    const vitals_collected *used = wait_for(collector, "gpu_memory_bytes", VITALS_SCOPE_PROCESS_GPU,
                                            ours, &all);
    const vitals_collected *share = item_of(all, "gpu_memory_share_ratio", VITALS_SCOPE_PROCESS_GPU,
                                            ours);
    CHECK(used->last > 0);
    CHECK(share->last > 0 && share->last <= 1);
    CHECK_CONTAINS(used->label, "GPU ");
    CHECK_NOT_NULL(item_of(all, "gpu_utilization_ratio", VITALS_SCOPE_PROCESS_GPU, ours));
    CHECK_NOT_NULL(item_of(all, "gpu_memory_busy_ratio", VITALS_SCOPE_PROCESS_GPU, ours));
    vitals_collection_free(all);
    vitals_collector_free(collector);
}

/* It keeps its place in the window in which it lived; a window that begins later has none. */
static void a_process_that_has_ended_stays_in_its_window(void)
{
    vitals_collector *collector = new_collector();
    vitals_collection *all = NULL;
    char child[32];
    CHECK_OK(vitals_collector_begin(collector, "all", &error), error);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)pause();
        _exit(0);
    }
    (void)snprintf(child, sizeof child, "pid:%ld", (long)pid);
    (void)wait_for(collector, "memory_resident_bytes", VITALS_SCOPE_PROCESS, child, &all);
    vitals_collection_free(all);
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK_OK(vitals_collector_begin(collector, "later", &error), error);
    bool later = true, kept = false;
    for (int i = 0; i < 500 && later; i++) { /* a sample without it comes */
        usleep(20000);
        CHECK_OK(vitals_collector_reset(collector, "later", &error), error);
        CHECK_OK(vitals_collector_collect(collector, &all, &error), error);
        later = vitals_collection_find(all, "all/later", VITALS_MEASURE_MEMORY_RESIDENT_BYTES,
                                       VITALS_SCOPE_PROCESS, child) != NULL;
        const vitals_collected *found = vitals_collection_find(
            all, "all", VITALS_MEASURE_MEMORY_RESIDENT_BYTES, VITALS_SCOPE_PROCESS, child);
        kept = found != NULL && found->state > 0 && found->mean > 0;
        vitals_collection_free(all);
    }
    CHECK(!later);
    CHECK(kept);
    vitals_collector_free(collector);
}

/* ---- callbacks ---- */

static int began, told, ended;

static void on_begin(void *data)
{
    began += data == &told && told == 0;
}

static void on_end(void *data)
{
    ended += data == &told && told > 0;
}

static int on_collect(void *data, const vitals_collection *collection)
{
    (void)collection;
    return ++*(int *)data >= 2;
}

static void begin_and_end_are_told_once(void)
{
    vitals_collector *collector = new_collector();
    began = told = ended = 0;
    vitals_collector_set_around(collector, on_begin, on_end);
    CHECK_OK(
        vitals_collector_set_every(collector, "daemon", 50 * NS_PER_MS, on_collect, &told, &error),
        error);
    usleep(1500000);
    vitals_collector_free(collector); /* waits for the thread */
    CHECK_INT(began, 1);
    CHECK(told >= 1);
    CHECK_INT(ended, 1);
}

/* ---- figures as text ---- */

static void a_figure_is_text_in_the_callers_unit(void)
{
    static const struct {
        double value;
        const char *from, *to, *text;
    } ROWS[] = {
        {5400, "seconds", "hours", "1.5 hours"},
        {41.2e9, "bytes", "gigabytes", "41.2 gigabytes"},
        {0x1p30, "bytes", "mebibytes", "1024 mebibytes"},
        {1.0 / 3, "ratio", "", "0.333333 ratio"},
        {-90, "seconds", "minutes", "-1.5 minutes"},
        {0, "bytes", "gibibytes", "0 gibibytes"},
        {1234567.8, "seconds", "seconds", "1234568 seconds"},
        {214, "", "", "214"},
    };
    char text[64], cut[4];
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].text);
        int size = vitals_usage_format(ROWS[i].value, ROWS[i].from, ROWS[i].to, text, sizeof text);
        CHECK_STR(text, ROWS[i].text);
        CHECK_INT(size, (int)strlen(ROWS[i].text));
    }
    CHECK_INT(vitals_usage_format(5400, "seconds", "hours", cut, sizeof cut), 9);
    CHECK_STR(cut, "1.5");
    CHECK_INT(vitals_usage_format(5400, "seconds", "hours", NULL, 0), 9);
    CHECK_INT(vitals_usage_format(1, "bytes", "hours", text, sizeof text), VITALS_EARGUMENT);
    CHECK_INT(vitals_usage_format(1, "bytes", "gigs", text, sizeof text), VITALS_EARGUMENT);
    CHECK_INT(vitals_usage_format((double)NAN, "bytes", "", text, sizeof text), VITALS_EARGUMENT);
}

static const check_test tests[] = {
    {"the machine is told in shares", the_machine_is_told_in_shares},
    {"devices are told in shares", devices_are_told_in_shares},
    {"a process is told by itself", a_process_is_told_by_itself},
    {"a process that begins in a window is told whole",
     a_process_that_begins_in_a_window_is_told_whole},
    {"a process is told on its device", a_process_is_told_on_its_device},
    {"a process that has ended stays in its window", a_process_that_has_ended_stays_in_its_window},
    {"begin and end are told once", begin_and_end_are_told_once},
    {"a figure is text in the caller's unit", a_figure_is_text_in_the_callers_unit},
};
CHECK_TESTS(tests)
