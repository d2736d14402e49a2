/* Cgroups of a process that lives already: a machine as a tree of files, a tree of processes as a
 * usage knows it. */
#include "gpu_tree.h"
#include "usage_world.h"

#include "os/attach.h"
#include "run/track_cgroup.h"
#include "util/memory.h"

static struct world world;

struct machine {
    struct gpu_tree tree;
    struct os os;
    vitals_usage *usage;
};

static void put(const struct machine *machine, const char *name, const char *text)
{
    gpu_tree_text(&machine->tree, name, text);
}

#define APP "sys/fs/cgroup/app/"

static void put_process_in(const struct machine *machine, int pid, int parent, char state,
                           const char *cgroup)
{
    char name[64], text[256];
    snprintf(name, sizeof name, "proc/%d/cgroup", pid);
    put(machine, name, cgroup);
    snprintf(name, sizeof name, "proc/%d/stat", pid);
    snprintf(text, sizeof text,
             "%d (p) %c %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 1000 1 "
             "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n",
             pid, state, parent);
    put(machine, name, text);
}

static void put_process(const struct machine *machine, int pid, int parent, const char *cgroup)
{
    put_process_in(machine, pid, parent, 'S', cgroup);
}

/* What /app has used, and its process 10 as samples tell it, which was at 5 s when we came. */
static void put_counts_of(const struct machine *machine, const char *cpu, const char *peak,
                          double sampled)
{
    char text[128];
    world_find(&world, 1)->cpu = sampled;
    snprintf(text, sizeof text, "usage_usec %s\nuser_usec 1\nsystem_usec 2\n", cpu);
    put(machine, APP "cpu.stat", text);
    put(machine, APP "memory.peak", peak);
}

static void put_counts(const struct machine *machine, const char *cpu, const char *peak)
{
    put_counts_of(machine, cpu, peak, strtod(cpu, NULL) / 1e6);
}

/* Processes 10 and 11, its child, alone in /app of version 2. */
static void begin(struct machine *machine)
{
    *machine = (struct machine){.tree = gpu_tree_empty()};
    put(machine, "proc/self/mountinfo",
        "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
    put(machine, APP "cgroup.controllers", "cpu memory pids\n");
    put(machine, APP "cgroup.procs", "10\n11\n");
    put_process(machine, 1, 0, "0::/\n");
    put_process(machine, 10, 1, "0::/app\n");
    put_process(machine, 11, 10, "0::/app/worker\n");
    gpu_tree_open(&machine->tree, &machine->os);
    world_init(&world);
    world_add(&world, 1, 0, 10, 1);
    world_add(&world, 2, 1, 11, 10);
    put_counts(machine, "5000000", "1000000\n");
    machine->usage = usage_of_pid(10);
}

static void end(struct machine *machine, struct track_cgroup *attached)
{
    track_cgroup_free(attached);
    vitals_usage_free(machine->usage);
    vitals_builder_free(world.builder);
    gpu_tree_close(&machine->os);
    gpu_tree_free(&machine->tree);
}

static void look(struct machine *machine, struct track_cgroup *attached, double seconds)
{
    vitals_error error;
    vitals_snapshot *snapshot = world_snapshot(&world);
    CHECK_OK(vitals_usage_add(machine->usage, snapshot, &error), error);
    track_cgroup_look(attached, machine->usage, snapshot);
    vitals_snapshot_unref(snapshot);
    world.seconds += seconds;
}

static void check_counted(const struct track_cgroup *attached, enum quantity quantity, double value,
                          vitals_availability state)
{
    struct counted counted[COUNTED_COUNT];
    CHECK(track_cgroup_read(attached, counted));
    CHECK_INT(counted[quantity].value.state, state);
    if (state > 0)
        CHECK_NEAR(counted[quantity].value.as.f64, value, 1e-9);
}

static void what_it_counts_since_then_is_exact(void)
{
    struct machine machine;
    char methods[32];
    begin(&machine);
    struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
    CHECK_NOT_NULL(attached);
    look(&machine, attached, 1);
    put_counts(&machine, "7500000", "1000000\n");
    look(&machine, attached, 1);
    check_counted(attached, COUNTED_CPU_SECONDS, 2.5, VITALS_HAVE);
    check_counted(attached, COUNTED_MEMORY_PEAK_BYTES, 1e6, VITALS_UPPER_BOUND); /* from before? */
    check_counted(attached, COUNTED_READ_BYTES, 0, VITALS_UNSUPPORTED);
    put_counts(&machine, "7500000", "3000000\n");
    look(&machine, attached, 1);
    check_counted(attached, COUNTED_MEMORY_PEAK_BYTES, 3e6, VITALS_HAVE);
    track_cgroup_names(attached, methods, sizeof methods);
    CHECK_STR(methods, "cgroup2 ");
    end(&machine, attached);
}

/* What a container's cgroup told last is not lost with it. */
static void a_cgroup_that_is_removed_has_told_at_least_that(void)
{
    struct machine machine;
    begin(&machine);
    struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
    look(&machine, attached, 1);
    put_counts(&machine, "6000000", "1000000\n");
    look(&machine, attached, 1);
    gpu_tree_remove(&machine.tree, "sys/fs/cgroup/app");
    look(&machine, attached, 1);
    check_counted(attached, COUNTED_CPU_SECONDS, 1, VITALS_LOWER_BOUND);
    end(&machine, attached);
}

static void a_cgroup_that_others_are_in_does_not_count(void)
{
    struct machine machine;
    struct counted counted[COUNTED_COUNT];
    begin(&machine);
    put_process(&machine, 50, 1, "0::/app\n");
    put(&machine, APP "cgroup.procs", "10\n11\n50\n");
    struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
    look(&machine, attached, 1);
    look(&machine, attached, 1);
    CHECK(!track_cgroup_read(attached, counted));
    end(&machine, attached);
}

/* A process in a group below is in it; and a number of another pid namespace is unknown. */
static void others_below_it_and_unknown_ones_count_too(void)
{
    static const char *const PLACES[] = {APP "below/deep/cgroup.procs", APP "cgroup.procs"};
    for (size_t i = 0; i < CHECK_COUNT(PLACES); i++) {
        struct machine machine;
        struct counted counted[COUNTED_COUNT];
        begin(&machine);
        put_process(&machine, 50, 1, "0::/app/below/deep\n");
        put(&machine, APP "below/cgroup.procs", "");
        put(&machine, PLACES[i], i == 0 ? "50\n" : "10\n0\n");
        struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
        look(&machine, attached, 1);
        CHECK(!track_cgroup_read(attached, counted));
        end(&machine, attached);
    }
}

static void who_is_born_between_two_looks_is_no_stranger(void)
{
    struct machine machine;
    begin(&machine);
    put_process(&machine, 12, 11, "0::/app\n");
    put(&machine, APP "cgroup.procs", "10\n11\n12\n99\n"); /* 99 has ended by now */
    struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
    look(&machine, attached, 1);
    put_counts(&machine, "5500000", "1000000\n");
    look(&machine, attached, 1);
    check_counted(attached, COUNTED_CPU_SECONDS, 0.5, VITALS_HAVE);
    end(&machine, attached);
}

static void others_that_come_make_it_an_upper_bound(void)
{
    struct machine machine;
    begin(&machine);
    struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
    look(&machine, attached, 6);
    put_process(&machine, 50, 1, "0::/app\n");
    put(&machine, APP "cgroup.procs", "10\n11\n50\n");
    put_counts(&machine, "6000000", "1000000\n");
    look(&machine, attached, 6);
    check_counted(attached, COUNTED_CPU_SECONDS, 1, VITALS_UPPER_BOUND);
    end(&machine, attached);
}

/* Between two samples: they were not seen, but more was used than by the tree. */
static void others_that_come_and_go_make_it_an_upper_bound(void)
{
    struct machine machine;
    begin(&machine);
    struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
    look(&machine, attached, 6);
    put_counts_of(&machine, "6000000", "2000000\n", 5.5);
    look(&machine, attached, 6);
    check_counted(attached, COUNTED_CPU_SECONDS, 1, VITALS_UPPER_BOUND);
    check_counted(attached, COUNTED_MEMORY_PEAK_BYTES, 2e6, VITALS_UPPER_BOUND);
    end(&machine, attached);
}

static void one_that_leaves_makes_it_a_lower_bound(void)
{
    struct machine machine;
    begin(&machine);
    struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
    look(&machine, attached, 6);
    put_process(&machine, 11, 10, "0::/application\n"); /* a name that only begins alike */
    put_counts(&machine, "6000000", "1000000\n");
    look(&machine, attached, 6);
    check_counted(attached, COUNTED_CPU_SECONDS, 1, VITALS_LOWER_BOUND);
    end(&machine, attached);
}

/* A zombie is shown at the top (version 1), or in what was removed. */
static void one_that_has_ended_has_not_left(void)
{
    static const char *const PLACES[] = {"0::/\n", "0::/app (deleted)\n"};
    for (size_t i = 0; i < CHECK_COUNT(PLACES); i++) {
        struct machine machine;
        begin(&machine);
        struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
        look(&machine, attached, 6);
        put_process_in(&machine, 10, 1, 'Z', PLACES[i]);
        put_counts(&machine, "6000000", "1000000\n");
        look(&machine, attached, 6);
        check_counted(attached, COUNTED_CPU_SECONDS, 1, VITALS_HAVE);
        end(&machine, attached);
    }
}

/* The top holds everything; a path that leads out of what we see leads nowhere. */
static void no_cgroup_that_could_be(void)
{
    static const char *const CGROUPS[] = {
        "0::/\n", "", "0::/none\n", "0::/../other\n", "7:cpuacct:/app\n", "0:/app\n"};
    struct machine machine;
    begin(&machine);
    for (size_t i = 0; i < CHECK_COUNT(CGROUPS); i++) {
        put(&machine, "proc/10/cgroup", CGROUPS[i]);
        CHECK(track_cgroup_new(&machine.os, 10) == NULL);
    }
    CHECK(track_cgroup_new(&machine.os, 4711) == NULL);
    CHECK(!track_cgroup_read(NULL, (struct counted[COUNTED_COUNT]){{.source = ""}}));
    end(&machine, NULL);
}

static void controllers_of_version_1_count_each_for_itself(void)
{
    struct machine machine;
    char methods[32];
    begin(&machine);
    put(&machine, "proc/self/mountinfo",
        "31 25 0:27 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"
        "32 25 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put(&machine, "proc/10/cgroup", "2:memory:/shared\n1:cpuacct:/app\n");
    put(&machine, "proc/11/cgroup", "2:memory:/shared\n1:cpuacct:/app\n");
    put(&machine, "sys/fs/cgroup/cpuacct/app/cgroup.procs", "10\n11\n");
    put(&machine, "sys/fs/cgroup/cpuacct/app/cpuacct.usage", "1000000000\n");
    put(&machine, "sys/fs/cgroup/memory/shared/cgroup.procs", "1\n10\n11\n");
    put(&machine, "sys/fs/cgroup/memory/shared/memory.max_usage_in_bytes", "4096\n");
    struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
    look(&machine, attached, 1);
    put(&machine, "sys/fs/cgroup/cpuacct/app/cpuacct.usage", "1250000000\n");
    world_find(&world, 1)->cpu += 0.25;
    look(&machine, attached, 1);
    check_counted(attached, COUNTED_CPU_SECONDS, 0.25, VITALS_HAVE);
    check_counted(attached, COUNTED_MEMORY_PEAK_BYTES, 0, VITALS_UNSUPPORTED);
    track_cgroup_names(attached, methods, sizeof methods);
    CHECK_STR(methods, "cgroup1 ");
    end(&machine, attached);
}

static void nothing_is_left_behind(void)
{
    struct machine machine;
    int64_t before = memory_live();
    begin(&machine);
    struct track_cgroup *attached = track_cgroup_new(&machine.os, 10);
    look(&machine, attached, 1);
    end(&machine, attached);
    CHECK_INT(memory_live(), before);
}

static const struct check_test tests[] = {
    {"what it counts since then is exact", what_it_counts_since_then_is_exact},
    {"a cgroup that is removed has told at least that",
     a_cgroup_that_is_removed_has_told_at_least_that},
    {"a cgroup that others are in does not count", a_cgroup_that_others_are_in_does_not_count},
    {"others below it and unknown ones count too", others_below_it_and_unknown_ones_count_too},
    {"who is born between two looks is no stranger", who_is_born_between_two_looks_is_no_stranger},
    {"others that come make it an upper bound", others_that_come_make_it_an_upper_bound},
    {"others that come and go make it an upper bound",
     others_that_come_and_go_make_it_an_upper_bound},
    {"one that leaves makes it a lower bound", one_that_leaves_makes_it_a_lower_bound},
    {"one that has ended has not left", one_that_has_ended_has_not_left},
    {"no cgroup that could be", no_cgroup_that_could_be},
    {"controllers of version 1 count each for itself",
     controllers_of_version_1_count_each_for_itself},
    {"nothing is left behind", nothing_is_left_behind},
};
CHECK_TESTS(tests)
