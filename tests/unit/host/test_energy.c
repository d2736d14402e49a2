/* Energy of the processor: zones of /sys/class/powercap, counters that begin anew, and values that
 * no kernel would give. */
#include "gpu_tree.h"
#include "host_world.h"

#include "util/memory.h"

#include <sys/wait.h>

struct machine {
    struct gpu_tree tree;
    vitals_context world;
    struct host host;
    struct row_batch batch;
    struct metric_set wanted;
    uint64_t now_ns; /* each reading is a second later */
};

static void put(const struct machine *machine, const char *zone, const char *file, const char *text)
{
    char path[GPU_TREE_PATH];
    snprintf(path, sizeof path, "sys/class/powercap/%s/%s", zone, file);
    gpu_tree_text(&machine->tree, path, text);
}

static void zone(const struct machine *machine, const char *zone, const char *name,
                 const char *energy, const char *range)
{
    put(machine, zone, "name", name);
    put(machine, zone, "energy_uj", energy);
    put(machine, zone, "max_energy_range_uj", range);
}

static void begin(struct machine *machine)
{
    *machine = (struct machine){.tree = gpu_tree_empty(), .now_ns = 1};
    machine->wanted = host_table(VITALS_TABLE_ENERGY_ZONE);
    metric_set_add(&machine->wanted, VITALS_HOST_PACKAGE_ENERGY_JOULES);
    metric_set_add(&machine->wanted, VITALS_HOST_DRAM_ENERGY_JOULES);
    gpu_tree_text(&machine->tree, "proc/stat", "");
    gpu_tree_text(&machine->tree, "sys/kernel/x", "");
    host_world_open(&machine->world, machine->tree.path);
    host_init(&machine->host);
}

static vitals_snapshot *take_of(struct machine *machine, const struct metric_set *wanted)
{
    struct metric_set part;
    CHECK(host_cache_part(HOST_CACHE_MACHINE, wanted, &part));
    host_cache_read(&machine->world, HOST_CACHE_MACHINE, &part, NULL, &machine->batch);
    machine->now_ns += NS_PER_SECOND;
    CHECK_INT(host_cache_take(&machine->host, HOST_CACHE_MACHINE, &machine->batch, machine->now_ns),
              0);
    return host_snapshot(&machine->host, wanted, machine->now_ns);
}

static vitals_snapshot *take(struct machine *machine)
{
    return take_of(machine, &machine->wanted);
}

static void end(struct machine *machine)
{
    batch_done(&machine->batch);
    host_done(&machine->host);
    os_close(&machine->world.os);
    gpu_tree_free(&machine->tree);
}

static void check_sums(struct machine *machine, double package, double dram)
{
    vitals_snapshot *snapshot = take(machine);
    const vitals_row *host = host_row(snapshot, VITALS_TABLE_HOST, "host");
    host_check(host, VITALS_HOST_PACKAGE_ENERGY_JOULES, package);
    host_check(host, VITALS_HOST_DRAM_ENERGY_JOULES, dram);
    vitals_snapshot_unref(snapshot);
}

static void two_packages(struct machine *machine)
{
    zone(machine, "intel-rapl:0", "package-0\n", "900000000\n", "262143328850\n");
    zone(machine, "intel-rapl:0:0", "core\n", "500000000\n", "262143328850\n");
    zone(machine, "intel-rapl:0:1", "dram\n", "30000000\n", "65712999613\n");
    zone(machine, "intel-rapl:1", "package-1\n", "100000000\n", "262143328850\n");
    zone(machine, "intel-rapl:1:0", "dram\n", "20000000\n", "65712999613\n");
    zone(machine, "intel-rapl:2", "psys\n", "7000000000\n", "262143328850\n");
    zone(machine, "intel-rapl-mmio:0", "package-0\n", "900000000\n", "262143328850\n");
    put(machine, "intel-rapl", "enabled", "1\n"); /* the driver's own folder */
}

static void packages_are_summed_and_their_parts_are_not(void)
{
    struct machine machine;
    begin(&machine);
    two_packages(&machine);
    vitals_snapshot *snapshot = take(&machine);
    const vitals_row *host = host_row(snapshot, VITALS_TABLE_HOST, "host");
    host_check(host, VITALS_HOST_PACKAGE_ENERGY_JOULES, 1000);
    host_check(host, VITALS_HOST_DRAM_ENERGY_JOULES, 50);
    const vitals_row *part = host_row(snapshot, VITALS_TABLE_ENERGY_ZONE, "package-1 dram");
    host_check(part, VITALS_ENERGY_ZONE_ENERGY_JOULES, 20);
    host_check_text(part, VITALS_ENERGY_ZONE_NAME, "dram");
    host_check_text(part, VITALS_ENERGY_ZONE_PACKAGE, "package-1");
    host_check(host_row(snapshot, VITALS_TABLE_ENERGY_ZONE, "psys"),
               VITALS_ENERGY_ZONE_ENERGY_JOULES, 7000);
    size_t rows = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_ENERGY_ZONE, row)) != NULL;)
        rows++;
    CHECK_INT((long long)rows, 6);
    vitals_snapshot_unref(snapshot);
    end(&machine);
}

/* Package 0 passes its end, package 1 does not; then again. */
static void a_counter_that_begins_anew_goes_on(void)
{
    struct machine machine;
    begin(&machine);
    two_packages(&machine);
    check_sums(&machine, 1000, 50);
    put(&machine, "intel-rapl:0", "energy_uj", "262143000000\n");
    check_sums(&machine, 262143 + 100, 50);
    put(&machine, "intel-rapl:0", "energy_uj", "671150\n");
    put(&machine, "intel-rapl:0:1", "energy_uj", "65712000000\n");
    check_sums(&machine, 262143.328850 + 0.67115 + 100, 65712 + 20);
    put(&machine, "intel-rapl:0", "energy_uj", "262142000000\n");
    put(&machine, "intel-rapl:0:1", "energy_uj", "1000000\n");
    check_sums(&machine, 262143.328850 + 262142 + 100, 65712.999613 + 1 + 20);
    put(&machine, "intel-rapl:0", "energy_uj", "0\n");
    check_sums(&machine, 2 * 262143.328850 + 100, 65712.999613 + 1 + 20);
    end(&machine);
}

static void check_states(struct machine *machine, int package, int dram)
{
    vitals_snapshot *snapshot = take(machine);
    const vitals_row *host = host_row(snapshot, VITALS_TABLE_HOST, "host");
    host_check_state(host, VITALS_HOST_PACKAGE_ENERGY_JOULES, package);
    host_check_state(host, VITALS_HOST_DRAM_ENERGY_JOULES, dram);
    vitals_snapshot_unref(snapshot);
}

/* As by a driver that was loaded again: for a round it had to use minutes of power in a moment. */
static void a_counter_that_was_set_to_nothing_is_no_round(void)
{
    struct machine machine;
    begin(&machine);
    two_packages(&machine);
    check_sums(&machine, 1000, 50);
    put(&machine, "intel-rapl:0", "energy_uj", "2000000\n");
    check_sums(&machine, 1002, 50);
    check_states(&machine, VITALS_LOWER_BOUND, VITALS_HAVE); /* of what it saw before, a part */
    put(&machine, "intel-rapl:0", "energy_uj", "3000000\n");
    check_sums(&machine, 1003, 50);
    end(&machine);
}

/* 400 W for a hundred seconds, of a counter that goes round in 164: no reset, but none would look
 * otherwise. */
static void a_round_is_a_round_however_much_of_it_was_not_seen(void)
{
    struct machine machine;
    begin(&machine);
    zone(&machine, "intel-rapl:0", "package-0\n", "30000000000\n", "65532610987\n");
    zone(&machine, "intel-rapl:0:0", "dram\n", "65532000000\n", "65532610987\n");
    check_sums(&machine, 30000, 65532);
    put(&machine, "intel-rapl:0", "energy_uj", "4467389013\n");
    put(&machine, "intel-rapl:0:0", "energy_uj", "9389013\n");
    machine.now_ns += 99 * NS_PER_SECOND;
    check_sums(&machine, 70000, 65542);
    check_states(&machine, VITALS_ESTIMATE, VITALS_ESTIMATE);
    end(&machine);
}

/* A round of a moment is none else. */
static void what_is_sure_of_a_round(void)
{
    struct machine machine;
    begin(&machine);
    two_packages(&machine);
    put(&machine, "intel-rapl:0", "energy_uj", "262143000000\n");
    check_states(&machine, VITALS_HAVE, VITALS_HAVE);
    put(&machine, "intel-rapl:0", "energy_uj", "671150\n");
    check_sums(&machine, 262144 + 100, 50);
    check_states(&machine, VITALS_HAVE, VITALS_HAVE);
    put(&machine, "intel-rapl:1", "energy_uj", "1000000\n"); /* set to 0 */
    check_states(&machine, VITALS_LOWER_BOUND, VITALS_HAVE);
    put(&machine, "intel-rapl:0", "energy_uj", "1000\n");
    machine.now_ns += 200 * NS_PER_SECOND;
    check_states(&machine, VITALS_ESTIMATE, VITALS_HAVE);
    end(&machine);
}

static void a_range_that_lies_is_not_believed(void)
{
    struct machine machine;
    begin(&machine);
    zone(&machine, "intel-rapl:0", "package-0\n", "900000000\n", "5\n");
    zone(&machine, "intel-rapl:1", "dram\n", "900000000\n", "no number\n");
    check_sums(&machine, 900, 900);
    put(&machine, "intel-rapl:0", "energy_uj", "1000000\n"); /* it began again */
    put(&machine, "intel-rapl:1", "energy_uj", "1000000\n");
    check_sums(&machine, 901, 901);
    end(&machine);
}

static void what_no_kernel_would_give(void)
{
    static const char *const NAMES[] = {"intel-rapl:",
                                        "intel-rapl:x",
                                        "intel-rapl:0:",
                                        "intel-rapl:0:0:0",
                                        "intel-rapl:-1",
                                        "intel-rapl:0x1",
                                        "intel-rapl:99999999999999999999",
                                        "intel-rapl:1:99999999",
                                        "dtpm:0"};
    struct machine machine;
    begin(&machine);
    check_states(&machine, VITALS_UNSUPPORTED, VITALS_UNSUPPORTED); /* no folder */
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        zone(&machine, NAMES[i], "package-0\n", "1000000\n", "1000000000\n");
    check_states(&machine, VITALS_UNSUPPORTED, VITALS_UNSUPPORTED);
    zone(&machine, "intel-rapl:0", "\n", "1000000\n", "1000000000\n"); /* no name */
    check_states(&machine, VITALS_UNSUPPORTED, VITALS_UNSUPPORTED);
    zone(&machine, "intel-rapl:0", "package-0\n", "-5\n", "1000000000\n");
    check_states(&machine, VITALS_FAILED, VITALS_UNSUPPORTED);
    zone(&machine, "intel-rapl:1", "package-1\n", "5000000\n", "1000000000\n");
    check_states(&machine, VITALS_LOWER_BOUND, VITALS_UNSUPPORTED); /* one of two */
    end(&machine);
}

/* What the doctor says of it. */
static void check_found(struct machine *machine, const char *words)
{
    struct metric_set wanted = host_table(VITALS_TABLE_DIAGNOSIS);
    batch_reset(&machine->batch, &wanted);
    CHECK_INT(os_read_table(&machine->world.os, VITALS_TABLE_DIAGNOSIS, &machine->batch), 0);
    const struct buffer *text = &machine->batch.text;
    if (memmem(text->bytes, text->size, words, strlen(words)) == NULL)
        CHECK_FAIL("no diagnosis says \"%s\"", words);
}

/* As another user, where we are root. */
static void energy_is_for_root_alone(void)
{
    struct machine machine;
    char path[GPU_TREE_PATH];
    begin(&machine);
    zone(&machine, "intel-rapl:0", "package-0\n", "1000000\n", "1000000000\n");
    gpu_tree_path(&machine.tree, "sys/class/powercap/intel-rapl:0/energy_uj", path);
    CHECK_INT(chmod(path, 0), 0);
    CHECK_INT(chmod(machine.tree.path, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
            _exit(2);
        check_states(&machine, VITALS_DENIED, VITALS_UNSUPPORTED);
        check_found(&machine, "sudo chmod a+r /sys/class/powercap");
        _exit(0);
    }
    int status;
    if (geteuid() == 0)
        check_found(&machine, "(RAPL) can be read");
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    end(&machine);
}

/* The sums are told without the table, and the table without the sums. */
static void nothing_is_told_that_was_not_asked(void)
{
    struct machine machine;
    struct metric_set sums = {0}, table = host_table(VITALS_TABLE_ENERGY_ZONE);
    metric_set_add(&sums, VITALS_HOST_PACKAGE_ENERGY_JOULES);
    begin(&machine);
    two_packages(&machine);
    vitals_snapshot *snapshot = take_of(&machine, &sums);
    host_check(host_row(snapshot, VITALS_TABLE_HOST, "host"), VITALS_HOST_PACKAGE_ENERGY_JOULES,
               1000);
    CHECK(vitals_snapshot_has_table(snapshot, VITALS_TABLE_ENERGY_ZONE) == 0);
    vitals_snapshot_unref(snapshot);
    snapshot = take_of(&machine, &table);
    CHECK_NOT_NULL(host_row(snapshot, VITALS_TABLE_ENERGY_ZONE, "package-0"));
    vitals_snapshot_unref(snapshot);
    end(&machine);
}

static const struct check_test tests[] = {
    {"packages are summed and their parts are not", packages_are_summed_and_their_parts_are_not},
    {"a counter that begins anew goes on", a_counter_that_begins_anew_goes_on},
    {"a counter that was set to nothing is no round",
     a_counter_that_was_set_to_nothing_is_no_round},
    {"a round is a round however much of it was not seen",
     a_round_is_a_round_however_much_of_it_was_not_seen},
    {"what is sure of a round", what_is_sure_of_a_round},
    {"a range that lies is not believed", a_range_that_lies_is_not_believed},
    {"what no kernel would give", what_no_kernel_would_give},
    {"energy is for root alone", energy_is_for_root_alone},
    {"nothing is told that was not asked", nothing_is_told_that_was_not_asked},
};
CHECK_TESTS(tests)
