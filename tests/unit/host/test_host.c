/* The rows of host and cpu: against the machine itself, read in other ways, and through a builder.
 */
#include "check.h"

#include "host/host.h"
#include "util/memory.h"

#include <dirent.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static struct metric_set everything(void)
{
    struct metric_set set = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        metric_set_add(&set, metric);
    return set;
}

static void world_open(vitals_context *world, const char *proc, const char *sys)
{
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.proc_root = proc;
    options.sys_root = sys;
    vitals_error error;
    *world = (vitals_context){0};
    CHECK_OK(os_open(&world->os, &options, &error), error);
    os_read_origin(&world->os, &world->origin);
}

/* One tick: host and cpu of this moment as a snapshot. */
static vitals_snapshot *take(struct host *host, vitals_builder *builder, vitals_context *world,
                             const struct metric_set *wanted, struct value processes)
{
    vitals_error error;
    vitals_snapshot *snapshot;
    CHECK_INT(host_read(host, world, wanted, 1), 0);
    vitals_builder_begin(builder);
    host_write(host, builder, wanted, processes, 77);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return snapshot;
}

static vitals_snapshot *take_once(const char *proc, const char *sys,
                                  const struct metric_set *wanted)
{
    vitals_context world;
    struct host host;
    vitals_builder *builder;
    vitals_error error;
    world_open(&world, proc, sys);
    host_init(&host);
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_snapshot *snapshot = take(&host, builder, &world, wanted, value_u64(123));
    vitals_builder_free(builder);
    host_done(&host);
    os_close(&world.os);
    return snapshot;
}

static double number(const vitals_row *row, vitals_metric metric)
{
    double value = 0;
    int state = vitals_row_number(row, metric, &value);
    if (state <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric), vitals_availability_name(state));
    return value;
}

/* ---- other ways to the same numbers ---- */

/* A line of /proc/meminfo in bytes, by stdio; -1 where there is none. */
static double meminfo(const char *key)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[256], name[128];
    unsigned long long kilo;
    double bytes = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%127[^:]: %llu", name, &kilo) == 2 && strcmp(name, key) == 0)
            bytes = (double)kilo * 1024;
    if (file != NULL)
        fclose(file);
    return bytes;
}

/* The sum of a field of /sys/block/<disk>/stat over disks that stand on hardware: they have a
 * device. */
static double sys_block(unsigned field, double scale)
{
    double sum = 0;
    DIR *folder = opendir("/sys/block");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[512];
        double value = 0;
        snprintf(path, sizeof path, "/sys/block/%s/device", entry->d_name);
        if (strncmp(entry->d_name, "sr", 2) == 0 || access(path, F_OK) != 0)
            continue;
        snprintf(path, sizeof path, "/sys/block/%s/stat", entry->d_name);
        FILE *file = fopen(path, "r");
        for (unsigned i = 0; file != NULL && i < field; i++)
            if (fscanf(file, "%lf", &value) != 1)
                value = 0;
        if (file != NULL)
            fclose(file);
        sum += value * scale;
    }
    if (folder != NULL)
        closedir(folder);
    return sum;
}

/* The sum of a counter of all interfaces that are hardware; where there is none, as in a container,
 * of all but lo. */
static double sys_net(const char *counter)
{
    double sum = 0, other = 0;
    bool hardware = false;
    DIR *folder = opendir("/sys/class/net");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[512];
        double value = 0;
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "lo") == 0)
            continue;
        snprintf(path, sizeof path, "/sys/class/net/%s/statistics/%s", entry->d_name, counter);
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%lf", &value) != 1)
            value = 0;
        if (file != NULL)
            fclose(file);
        snprintf(path, sizeof path, "/sys/class/net/%s/device", entry->d_name);
        bool own = access(path, F_OK) == 0;
        hardware |= own;
        *(own ? &sum : &other) += value;
    }
    if (folder != NULL)
        closedir(folder);
    return hardware ? sum : other;
}

/* ---- the machine ---- */

static void memory_is_what_free_says(void)
{
    static const struct {
        vitals_metric metric;
        const char *key;
    } same[] = {
        {VITALS_HOST_MEMORY_TOTAL_BYTES, "MemTotal"},
        {VITALS_HOST_SWAP_TOTAL_BYTES, "SwapTotal"},
        {VITALS_HOST_MEMORY_FREE_BYTES, "MemFree"},
        {VITALS_HOST_MEMORY_AVAILABLE_BYTES, "MemAvailable"},
        {VITALS_HOST_MEMORY_BUFFERS_BYTES, "Buffers"},
        {VITALS_HOST_MEMORY_PAGE_CACHE_BYTES, "Cached"},
        {VITALS_HOST_MEMORY_SHARED_BYTES, "Shmem"},
    };
    struct metric_set wanted = everything();
    vitals_snapshot *snapshot = take_once(NULL, NULL, &wanted);
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    double total = number(host, VITALS_HOST_MEMORY_TOTAL_BYTES);
    for (size_t i = 0; i < CHECK_COUNT(same); i++) {
        CHECK_CASE(same[i].key);
        // The machine goes on: equal where nothing moves, else within a twentieth of all memory.
        double slack = i < 2 ? 0 : total / 20;
        CHECK_NEAR(number(host, same[i].metric), meminfo(same[i].key), slack);
    }
    CHECK_CASE(NULL);
    CHECK_NEAR(total - number(host, VITALS_HOST_MEMORY_AVAILABLE_BYTES),
               number(host, VITALS_HOST_MEMORY_USED_BYTES), 0);
    CHECK_NEAR(number(host, VITALS_HOST_MEMORY_PAGE_CACHE_BYTES) +
                   number(host, VITALS_HOST_MEMORY_SLAB_RECLAIMABLE_BYTES),
               number(host, VITALS_HOST_MEMORY_CACHED_BYTES), 0);
    vitals_snapshot_unref(snapshot);
}

static void counts_are_what_the_system_says(void)
{
    struct metric_set wanted = everything();
    struct sysinfo before, after;
    double read = sys_block(3, 512), reads = sys_block(1, 1), received = sys_net("rx_bytes");
    CHECK_INT(sysinfo(&before), 0);
    vitals_snapshot *snapshot = take_once(NULL, NULL, &wanted);
    CHECK_INT(sysinfo(&after), 0);
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);

    CHECK_NEAR(number(host, VITALS_HOST_CPUS), (double)sysconf(_SC_NPROCESSORS_ONLN), 0);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_CPU),
               (size_t)number(host, VITALS_HOST_CPUS));
    CHECK(number(host, VITALS_HOST_CPUS_USABLE) >= 1);
    CHECK(number(host, VITALS_HOST_CPUS_USABLE) <= number(host, VITALS_HOST_CPUS));
    CHECK(number(host, VITALS_HOST_UPTIME_SECONDS) >= (double)before.uptime - 1);
    CHECK(number(host, VITALS_HOST_UPTIME_SECONDS) <= (double)after.uptime + 1);
    CHECK_NEAR(number(host, VITALS_HOST_LOAD_1M), (double)before.loads[0] / 65536, 1);
    CHECK_NEAR(number(host, VITALS_HOST_TASKS), before.procs, 0.2 * before.procs + 50);

    CHECK(number(host, VITALS_HOST_DISK_READ_BYTES) >= read);
    CHECK(number(host, VITALS_HOST_DISK_READ_BYTES) <= sys_block(3, 512));
    CHECK(number(host, VITALS_HOST_DISK_READS) >= reads);
    CHECK(number(host, VITALS_HOST_DISK_READS) <= sys_block(1, 1));
    CHECK(number(host, VITALS_HOST_NETWORK_RECEIVED_BYTES) >= received);
    CHECK(number(host, VITALS_HOST_NETWORK_RECEIVED_BYTES) <= sys_net("rx_bytes"));
    vitals_snapshot_unref(snapshot);
}

static void the_cpus_together_are_the_host(void)
{
    struct metric_set wanted = everything();
    vitals_snapshot *snapshot = take_once(NULL, NULL, &wanted);
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    double busy = 0, total = 0;
    size_t count = 0;
    for (const vitals_row *cpu = NULL;
         (cpu = vitals_snapshot_next(snapshot, VITALS_TABLE_CPU, cpu)) != NULL; count++) {
        busy += number(cpu, VITALS_CPU_BUSY_SECONDS);
        total += number(cpu, VITALS_CPU_TOTAL_SECONDS);
    }
    // The kernel sums nanoseconds and cuts each number to ticks on its own.
    double cuts = 0.01 * 10 * (double)(count + 1);
    CHECK_NEAR(number(host, VITALS_HOST_CPU_BUSY_SECONDS), busy, cuts);
    CHECK_NEAR(number(host, VITALS_HOST_CPU_TOTAL_SECONDS), total, cuts);
    double all = number(host, VITALS_HOST_UPTIME_SECONDS) * (double)count;
    CHECK_NEAR(total, all, 0.05 * all + 5);
    vitals_snapshot_unref(snapshot);
}

/* ---- rows ---- */

static const char *fixture_proc(void)
{
    return check_fixture("host/modern/proc");
}

static void rows_have_keys_labels_and_texts(void)
{
    struct metric_set wanted = everything();
    vitals_snapshot *snapshot = take_once(fixture_proc(), "/nonexistent", &wanted);
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_HOST), 1);
    CHECK_UINT(vitals_row_key(host), 1);
    CHECK_STR(vitals_row_label(host), "host");
    CHECK_UINT(vitals_row_stamp_ns(host), 77);
    vitals_text text;
    CHECK_INT(vitals_row_text(host, VITALS_HOST_NAME, &text), VITALS_HAVE);
    CHECK_BYTES(text.bytes, text.size, "fixture", 7);
    CHECK_INT(vitals_row_text(host, VITALS_HOST_KERNEL, &text), VITALS_HAVE);
    CHECK_BYTES(text.bytes, text.size, "6.8.0-41-generic", 16);
    CHECK_NEAR(number(host, VITALS_HOST_PROCESSES), 123, 0);

    static const struct {
        uint64_t key;
        const char *label;
    } cpus[] = {{1, "cpu0"}, {2, "cpu1"}, {4, "cpu3"}};
    const vitals_row *cpu = NULL;
    for (size_t i = 0; i < CHECK_COUNT(cpus); i++) {
        cpu = vitals_snapshot_next(snapshot, VITALS_TABLE_CPU, cpu);
        CHECK_NOT_NULL(cpu);
        CHECK_UINT(vitals_row_key(cpu), cpus[i].key);
        CHECK_STR(vitals_row_label(cpu), cpus[i].label);
        CHECK_NEAR(number(cpu, VITALS_CPU_INDEX), (double)(cpus[i].key - 1), 0);
    }
    CHECK_NULL(vitals_snapshot_next(snapshot, VITALS_TABLE_CPU, cpu));
    vitals_snapshot_unref(snapshot);
}

static void nothing_that_was_wanted_is_unset(void)
{
    static const char *const roots[] = {"host/modern/proc", "host/nothing/proc"};
    struct metric_set wanted = everything();
    for (size_t i = 0; i < CHECK_COUNT(roots); i++) {
        CHECK_CASE(roots[i]);
        vitals_snapshot *snapshot = take_once(check_fixture(roots[i]), "/nonexistent", &wanted);
        for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
            const vitals_row *row = vitals_snapshot_next(snapshot, vitals_metric_table(metric),
                                                         NULL);
            if (row == NULL)
                continue;
            int state = vitals_row_availability(row, metric);
            bool worker = vitals_metric_price(metric) == VITALS_PRICE_WORKER;
            if (state == VITALS_UNSET || state == VITALS_NOT_REQUESTED ||
                (state == VITALS_NOT_YET) != worker)
                CHECK_FAIL("%s is %s", vitals_metric_name(metric), vitals_availability_name(state));
        }
        vitals_snapshot_unref(snapshot);
    }
}

static void only_wanted_tables_are_opened(void)
{
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_CPU_USER_SECONDS);
    vitals_snapshot *snapshot = take_once(fixture_proc(), "/nonexistent", &wanted);
    CHECK_FALSE(vitals_snapshot_has_table(snapshot, VITALS_TABLE_HOST));
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_CPU), 3);
    CHECK_FALSE(vitals_snapshot_has_metric(snapshot, VITALS_CPU_IDLE_SECONDS));
    vitals_snapshot_unref(snapshot);

    wanted = (struct metric_set){0};
    metric_set_add(&wanted, VITALS_HOST_CPUS);
    snapshot = take_once(fixture_proc(), "/nonexistent", &wanted);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_HOST), 1);
    CHECK_FALSE(vitals_snapshot_has_table(snapshot, VITALS_TABLE_CPU));
    vitals_snapshot_unref(snapshot);
}

/* One question to a worker, answered at once. */
static void ask(struct host *host, vitals_context *world, const struct metric_set *wanted,
                uint64_t now_ns)
{
    struct row_batch batch = {0};
    struct metric_set part;
    CHECK(host_cache_part(HOST_CACHE_MACHINE, wanted, &part));
    host_cache_read(world, HOST_CACHE_MACHINE, &part, NULL, &batch);
    CHECK_INT(host_cache_take(host, HOST_CACHE_MACHINE, &batch, now_ns), 0);
    batch_done(&batch);
}

static vitals_snapshot *write_out(struct host *host, const struct metric_set *wanted)
{
    vitals_builder *builder;
    vitals_snapshot *snapshot;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    host_write(host, builder, wanted, value_u64(1), 77);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    vitals_builder_free(builder);
    return snapshot;
}

/* What the worker did not read this time stays as it was, with the moment when it was read; what it
 * was asked for and did not read in time is stale. */
static void slow_values_come_when_they_come(void)
{
    const vitals_metric limit = VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES;
    const vitals_metric used = VITALS_HOST_CGROUP_MEMORY_USED_BYTES;
    struct metric_set both = {0}, one = {0};
    metric_set_add(&one, used);
    metric_set_add(&both, used);
    metric_set_add(&both, limit);
    char sys[4096];
    snprintf(sys, sizeof sys, "%s", check_fixture("host/cgroup_v2/sys"));
    vitals_context world;
    world_open(&world, check_fixture("host/cgroup_v2/proc"), sys);
    struct host host;
    host_init(&host);
    static const struct {
        const char *name;
        bool ask_one, ask_both, late;
        int limit, used;
        uint64_t limit_ns, used_ns;
    } steps[] = {
        {"nothing yet", false, false, false, VITALS_NOT_YET, VITALS_NOT_YET, 77, 77},
        {"late from the first", false, false, true, VITALS_TIMED_OUT, VITALS_TIMED_OUT, 77, 77},
        {"all", false, true, false, VITALS_HAVE, VITALS_HAVE, 3, 3},
        {"one of them", true, false, false, VITALS_HAVE, VITALS_HAVE, 3, 4},
        {"that one late", false, false, true, VITALS_HAVE, VITALS_STALE, 3, 4},
        {"and there again", true, false, false, VITALS_HAVE, VITALS_HAVE, 3, 6},
    };
    for (size_t i = 0; i < CHECK_COUNT(steps); i++) {
        CHECK_CASE(steps[i].name);
        if (steps[i].ask_one || steps[i].ask_both)
            ask(&host, &world, steps[i].ask_both ? &both : &one, i + 1);
        if (steps[i].late)
            cache_overdue(&host.cache[HOST_CACHE_MACHINE], &one);
        vitals_snapshot *snapshot = write_out(&host, &both);
        const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
        CHECK_INT(vitals_row_availability(row, limit), steps[i].limit);
        CHECK_INT(vitals_row_availability(row, used), steps[i].used);
        if (steps[i].limit > 0)
            CHECK_UINT(vitals_row_read_ns(row, limit), steps[i].limit_ns);
        if (steps[i].used > 0)
            CHECK_UINT(vitals_row_read_ns(row, used), steps[i].used_ns);
        if (steps[i].limit > 0)
            CHECK_NEAR(number(row, limit), 536870912, 0);
        vitals_snapshot_unref(snapshot);
    }
    host_done(&host);
    os_close(&world.os);
}

/* ---- memory ---- */

static void a_steady_tick_allocates_nothing(void)
{
    struct metric_set wanted = everything();
    vitals_context world;
    struct host host;
    vitals_builder *builder;
    vitals_error error;
    world_open(&world, NULL, NULL);
    host_init(&host);
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    uint64_t asked = 0;
    struct row_batch batch[HOST_LATES] = {0};
    struct metric_set part, few = {0};
    metric_set_add(&few, VITALS_HOST_CGROUP_CPU_SECONDS);
    for (int tick = 0; tick < 20; tick++) {
        if (tick == 10)
            asked = memory_asked();
        // Sockets come and go with the machine, and their rows with them.
        for (int i = 0; i < HOST_CACHE_TABLES; i++) {
            bool some = i == HOST_CACHE_MACHINE && tick % 2 == 1;
            CHECK(host_cache_part((enum host_cache)i, some ? &few : &wanted, &part));
            host_cache_read(&world, (enum host_cache)i, &part, NULL, &batch[i]);
            CHECK_INT(host_cache_take(&host, (enum host_cache)i, &batch[i], 1), 0);
        }
        vitals_snapshot_unref(take(&host, builder, &world, &wanted, value_u64(1)));
    }
    CHECK_UINT(memory_asked(), asked);
    for (int i = 0; i < HOST_LATES; i++)
        batch_done(&batch[i]);
    vitals_builder_free(builder);
    host_done(&host);
    os_close(&world.os);
}

/* Each allocation fails once: the tick says so, nothing leaks, and the next one is whole. */
static void every_failed_allocation_is_told(const char *proc)
{
    struct metric_set wanted = everything();
    int64_t live = memory_live();
    for (uint64_t nth = 1;; nth++) {
        vitals_context world;
        struct host host;
        world_open(&world, proc, "/nonexistent");
        host_init(&host);
        memory_fail_at(nth);
        uint64_t asked = memory_asked();
        int result = host_read(&host, &world, &wanted, 1);
        bool reached = memory_asked() - asked >= nth;
        memory_fail_at(0);
        CHECK_INT(result, reached ? VITALS_EMEMORY : 0);
        CHECK_INT(host_read(&host, &world, &wanted, 1), 0);
        CHECK_UINT(host.reading.cpus.count,
                   host.machine.at[metric_number(VITALS_HOST_CPUS)].as.u64);
        host_done(&host);
        os_close(&world.os);
        CHECK_INT(memory_live(), live);
        if (!reached) {
            CHECK(nth > 1);
            return;
        }
    }
}

static void no_failed_allocation_is_lost(void)
{
    every_failed_allocation_is_told(NULL);
    every_failed_allocation_is_told(check_fixture("host/old_kernel/proc"));
}

static void done_may_come_twice(void)
{
    struct host host;
    host_init(&host);
    host_done(&host);
    host_done(&host);
    CHECK_INT(host.files.stat, -1);
}

static const check_test tests[] = {
    {"memory is what free says", memory_is_what_free_says},
    {"counts are what the system says", counts_are_what_the_system_says},
    {"the CPUs together are the host", the_cpus_together_are_the_host},
    {"rows have keys, labels and texts", rows_have_keys_labels_and_texts},
    {"nothing that was wanted is unset", nothing_that_was_wanted_is_unset},
    {"only wanted tables are opened", only_wanted_tables_are_opened},
    {"slow values come when they come", slow_values_come_when_they_come},
    {"a steady tick allocates nothing", a_steady_tick_allocates_nothing},
    {"no failed allocation is lost", no_failed_allocation_is_lost},
    {"done may come twice", done_may_come_twice},
};
CHECK_TESTS(tests)
