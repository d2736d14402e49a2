/* The machine's files: what each kernel, container and hostile text in tests/fixtures/host/ has to
 * become, through the same call that a sampler makes; then texts that no fixture can hold. */
#include "check.h"

#include "os/linux/machine/host_files.h"
#include "util/memory.h"
#include "util/number.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static struct metric_set everything(void)
{
    struct metric_set set = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        metric_set_add(&set, metric);
    return set;
}

static struct os open_roots(const char *proc, const char *sys)
{
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.proc_root = proc;
    options.sys_root = sys;
    struct os os;
    vitals_error error;
    CHECK_OK(os_open(&os, &options, &error), error);
    os.page_bytes = 4096;
    os.ticks_per_second = 100;
    return os;
}

static struct os open_fixture(const char *name)
{
    char path[256], proc[PATH_MAX], sys[PATH_MAX];
    snprintf(path, sizeof path, "host/%s/proc", name);
    snprintf(proc, sizeof proc, "%s", check_fixture(path));
    snprintf(path, sizeof path, "host/%s/sys", name);
    snprintf(sys, sizeof sys, "%s", check_fixture(path));
    return open_roots(proc, sys);
}

/* What one reading of a tree gives. */
static struct os_machine reading;
#define machine reading.values
#define cpus    reading.cpus

static void read_tree(struct os *os, const struct metric_set *wanted)
{
    struct os_host host;
    os_host_init(&host);
    os_host_read(&host, os, wanted, &reading);
    os_host_done(&host);
    os_close(os);
}

static void read_fixture(const char *name)
{
    struct metric_set wanted = everything();
    struct os os = open_fixture(name);
    read_tree(&os, &wanted);
}

static void forget(void)
{
    os_machine_done(&reading);
}

struct expectation {
    const char *fixture;
    vitals_metric metric;
    int state;
    uint64_t count; /* of metrics that are counts */
    double amount;  /* of metrics that are not */
};

#define KIB(number) (UINT64_C(number) * 1024)

static void check_value(const struct values *values, vitals_metric metric, int state,
                        uint64_t count, double amount)
{
    const struct value *value = &values->at[metric_number(metric)];
    if (value->state != state)
        CHECK_FAIL("%s is %s, expected %s", vitals_metric_name(metric),
                   vitals_availability_name(value->state), vitals_availability_name(state));
    if (state <= 0)
        return;
    if (vitals_metric_type(metric) == VITALS_F64 && value->as.f64 != amount)
        CHECK_FAIL("%s is %.17g, expected %.17g", vitals_metric_name(metric), value->as.f64,
                   amount);
    if (vitals_metric_type(metric) != VITALS_F64 && value->as.u64 != count)
        CHECK_FAIL("%s is %llu, expected %llu", vitals_metric_name(metric),
                   (unsigned long long)value->as.u64, (unsigned long long)count);
}

static void check_table(const struct expectation *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_CASE(table[i].fixture);
        if (i == 0 || strcmp(table[i].fixture, table[i - 1].fixture) != 0)
            read_fixture(table[i].fixture);
        check_value(&machine, table[i].metric, table[i].state, table[i].count, table[i].amount);
    }
    CHECK_CASE(NULL);
    forget();
}

#define COUNT(fixture, metric, number)                        \
    {                                                         \
        fixture, VITALS_HOST_##metric, VITALS_HAVE, number, 0 \
    }
#define AMOUNT(fixture, metric, number)                       \
    {                                                         \
        fixture, VITALS_HOST_##metric, VITALS_HAVE, 0, number \
    }
#define STATE(fixture, metric, state)                       \
    {                                                       \
        fixture, VITALS_HOST_##metric, VITALS_##state, 0, 0 \
    }
#define QUALIFIED(fixture, metric, state, number)                \
    {                                                            \
        fixture, VITALS_HOST_##metric, VITALS_##state, number, 0 \
    }

/* ---- /proc/stat and /proc/loadavg ---- */

static void times_and_counters(void)
{
    static const struct expectation table[] = {
        AMOUNT("modern", CPU_USER_SECONDS, 10.0),
        AMOUNT("modern", CPU_NICE_SECONDS, 0.2),
        AMOUNT("modern", CPU_SYSTEM_SECONDS, 3.0),
        AMOUNT("modern", CPU_IDLE_SECONDS, 400.0),
        AMOUNT("modern", CPU_IOWAIT_SECONDS, 0.5),
        AMOUNT("modern", CPU_IRQ_SECONDS, 0.06),
        AMOUNT("modern", CPU_SOFTIRQ_SECONDS, 0.07),
        AMOUNT("modern", CPU_STEAL_SECONDS, 0.08),
        AMOUNT("modern", CPU_GUEST_SECONDS, 0.9),
        AMOUNT("modern", CPU_GUEST_NICE_SECONDS, 0.1),
        AMOUNT("modern", CPU_BUSY_SECONDS, 13.41), // guests are within user and nice
        AMOUNT("modern", CPU_TOTAL_SECONDS, 413.91),
        COUNT("modern", CPUS, 3),
        STATE("modern", CPUS_USABLE, UNSUPPORTED), // the tree is not the machine that we run on
        COUNT("modern", FORKS, 4321),
        COUNT("modern", CONTEXT_SWITCHES, 987654),
        COUNT("modern", INTERRUPTS, 123456),
        COUNT("modern", TASKS_BLOCKED, 1),
        AMOUNT("modern", LOAD_1M, 0.78),
        AMOUNT("modern", LOAD_5M, 0.75),
        AMOUNT("modern", LOAD_15M, 0.44),
        COUNT("modern", TASKS_RUNNING, 2),
        COUNT("modern", TASKS, 1234),
        AMOUNT("old_kernel", CPU_GUEST_SECONDS, 0.04),
        STATE("old_kernel", CPU_GUEST_NICE_SECONDS, UNSUPPORTED),
        AMOUNT("old_kernel", CPU_BUSY_SECONDS, 1.56),
        AMOUNT("four_times", CPU_IDLE_SECONDS, 10.0),
        STATE("four_times", CPU_IOWAIT_SECONDS, UNSUPPORTED),
        STATE("four_times", CPU_STEAL_SECONDS, UNSUPPORTED),
        AMOUNT("four_times", CPU_BUSY_SECONDS, 1.6),
        AMOUNT("four_times", CPU_TOTAL_SECONDS, 11.6),
        STATE("four_times", INTERRUPTS, UNSUPPORTED),
        STATE("four_times", LOAD_1M, UNSUPPORTED),
        AMOUNT("huge", CPU_USER_SECONDS, 184467440737095516.15),
        AMOUNT("huge", CPU_BUSY_SECONDS, 184467440737095516.15),
        AMOUNT("huge", CPU_TOTAL_SECONDS, 184467440737095516.15),
        COUNT("huge", CPUS, 2),
        COUNT("huge", CONTEXT_SWITCHES, UINT64_MAX),
        AMOUNT("huge", LOAD_5M, 1e300),
        COUNT("huge", TASKS, UINT64_MAX),
        AMOUNT("cut", CPU_GUEST_NICE_SECONDS, 0.05),
        QUALIFIED("cut", CPUS, LOWER_BOUND, 1),
        STATE("cut", LOAD_1M, UNSUPPORTED),
        STATE("hostile", LOAD_1M, UNSUPPORTED),
        STATE("hostile", TASKS, UNSUPPORTED),
        COUNT("hostile", CPUS, 2),
        AMOUNT("hostile", CPU_IDLE_SECONDS, 0.4), // the last line that is called "cpu"
        STATE("hostile", CPU_IOWAIT_SECONDS, UNSUPPORTED),
        STATE("hostile", CONTEXT_SWITCHES, UNSUPPORTED),
        STATE("hostile", FORKS, UNSUPPORTED),
        COUNT("hostile", TASKS_BLOCKED, 3),
    };
    check_table(table, CHECK_COUNT(table));
}

static void cpus_are_known_by_their_number(void)
{
    read_fixture("modern");
    CHECK_UINT(cpus.count, 3);
    CHECK_UINT(cpus.items[2].index, 3);
    check_value(&cpus.items[2].values, VITALS_CPU_INDEX, VITALS_HAVE, 3, 0);
    check_value(&cpus.items[0].values, VITALS_CPU_USER_SECONDS, VITALS_HAVE, 0, 5.0);
    check_value(&cpus.items[2].values, VITALS_CPU_BUSY_SECONDS, VITALS_HAVE, 0, 3.07);
    check_value(&cpus.items[2].values, VITALS_CPU_TOTAL_SECONDS, VITALS_HAVE, 0, 153.17);

    read_fixture("hostile");
    CHECK_UINT(cpus.count, 2);
    CHECK_UINT(cpus.items[0].index, 1);
    check_value(&cpus.items[0].values, VITALS_CPU_USER_SECONDS, VITALS_HAVE, 0, 0.01);
    check_value(&cpus.items[0].values, VITALS_CPU_IOWAIT_SECONDS, VITALS_UNSUPPORTED, 0, 0);
    CHECK_UINT(cpus.items[1].index, 4);
    check_value(&cpus.items[1].values, VITALS_CPU_NICE_SECONDS, VITALS_HAVE, 0, 0.02);
    check_value(&cpus.items[1].values, VITALS_CPU_SYSTEM_SECONDS, VITALS_UNSUPPORTED, 0, 0);
    check_value(&cpus.items[1].values, VITALS_CPU_BUSY_SECONDS, VITALS_UNSUPPORTED, 0, 0);

    read_fixture("huge");
    CHECK_UINT(cpus.count, 2);
    CHECK_UINT(cpus.items[1].index, 16383);
    forget();
}

/* ---- /proc/meminfo and /proc/zoneinfo ---- */

static void memory(void)
{
    static const struct expectation table[] = {
        COUNT("modern", MEMORY_TOTAL_BYTES, KIB(16000000)),
        COUNT("modern", MEMORY_FREE_BYTES, KIB(2000000)),
        COUNT("modern", MEMORY_AVAILABLE_BYTES, KIB(9000000)),
        COUNT("modern", MEMORY_USED_BYTES, KIB(7000000)),
        COUNT("modern", MEMORY_BUFFERS_BYTES, KIB(300000)),
        COUNT("modern", MEMORY_CACHED_BYTES, KIB(5600000)),
        COUNT("modern", MEMORY_PAGE_CACHE_BYTES, KIB(5000000)),
        COUNT("modern", MEMORY_SHARED_BYTES, KIB(150000)),
        COUNT("modern", MEMORY_ACTIVE_BYTES, KIB(4000000)),
        COUNT("modern", MEMORY_INACTIVE_BYTES, KIB(6000000)),
        COUNT("modern", MEMORY_ACTIVE_ANON_BYTES, KIB(1500000)),
        COUNT("modern", MEMORY_INACTIVE_ANON_BYTES, KIB(2500000)),
        COUNT("modern", MEMORY_ACTIVE_FILE_BYTES, KIB(2500000)),
        COUNT("modern", MEMORY_INACTIVE_FILE_BYTES, KIB(3500000)),
        COUNT("modern", MEMORY_SLAB_BYTES, KIB(900000)),
        COUNT("modern", MEMORY_SLAB_RECLAIMABLE_BYTES, KIB(600000)),
        COUNT("modern", MEMORY_DIRTY_BYTES, KIB(120)),
        COUNT("modern", MEMORY_COMMITTED_BYTES, KIB(11000000)),
        COUNT("modern", SWAP_TOTAL_BYTES, KIB(8000000)),
        COUNT("modern", SWAP_FREE_BYTES, KIB(7500000)),
        COUNT("modern", SWAP_USED_BYTES, KIB(500000)),
        // 2500 pages of watermarks are 10000 kB: free less those, 330000 of 340000 kB of page
        // cache, 5000 of 10000 kB of slab.
        QUALIFIED("old_kernel", MEMORY_AVAILABLE_BYTES, ESTIMATE, KIB(425000)),
        QUALIFIED("old_kernel", MEMORY_USED_BYTES, ESTIMATE, KIB(575000)),
        COUNT("old_kernel", SWAP_USED_BYTES, 0),
        QUALIFIED("four_times", MEMORY_AVAILABLE_BYTES, ESTIMATE, KIB(55656)),
        QUALIFIED("four_times", MEMORY_USED_BYTES, ESTIMATE, KIB(199920)),
        QUALIFIED("four_times", MEMORY_CACHED_BYTES, LOWER_BOUND, KIB(47548)),
        COUNT("four_times", MEMORY_PAGE_CACHE_BYTES, KIB(47548)),
        STATE("four_times", MEMORY_SLAB_RECLAIMABLE_BYTES, UNSUPPORTED),
        STATE("four_times", MEMORY_ACTIVE_FILE_BYTES, UNSUPPORTED),
        STATE("four_times", MEMORY_DIRTY_BYTES, UNSUPPORTED),
        COUNT("four_times", SWAP_USED_BYTES, KIB(8)),
        COUNT("tight_lines", MEMORY_AVAILABLE_BYTES, KIB(3000)),
        COUNT("tight_lines", MEMORY_USED_BYTES, KIB(1000)),
        COUNT("tight_lines", MEMORY_CACHED_BYTES, KIB(25)),
        STATE("tight_lines", SWAP_TOTAL_BYTES, UNSUPPORTED),
        STATE("tight_lines", SWAP_FREE_BYTES, UNSUPPORTED),
        STATE("tight_lines", SWAP_USED_BYTES, UNSUPPORTED),
        QUALIFIED("no_zoneinfo", MEMORY_AVAILABLE_BYTES, ESTIMATE, KIB(400000)),
        QUALIFIED("no_zoneinfo", MEMORY_USED_BYTES, ESTIMATE, KIB(600000)),
        QUALIFIED("low_memory", MEMORY_AVAILABLE_BYTES, ESTIMATE, 0),
        QUALIFIED("low_memory", MEMORY_USED_BYTES, ESTIMATE, KIB(1000000)),
        QUALIFIED("lxc", MEMORY_AVAILABLE_BYTES, ESTIMATE, KIB(400000)),
        QUALIFIED("lxc", MEMORY_USED_BYTES, ESTIMATE, KIB(100000)),
        COUNT("lxc", SWAP_FREE_BYTES, KIB(200)),
        STATE("lxc", SWAP_USED_BYTES, FAILED),
        COUNT("huge", MEMORY_TOTAL_BYTES, UINT64_MAX),
        COUNT("huge", MEMORY_USED_BYTES, 0),
        COUNT("huge", MEMORY_CACHED_BYTES, UINT64_MAX),
        COUNT("cut", MEMORY_FREE_BYTES, KIB(100)),
        STATE("cut", MEMORY_AVAILABLE_BYTES, UNSUPPORTED),
        STATE("cut", MEMORY_USED_BYTES, UNSUPPORTED),
        COUNT("hostile", MEMORY_TOTAL_BYTES, 0), // "0x10" is 0 and something
        STATE("hostile", MEMORY_FREE_BYTES, UNSUPPORTED),
        STATE("hostile", MEMORY_AVAILABLE_BYTES, UNSUPPORTED),
    };
    check_table(table, CHECK_COUNT(table));
}

/* ---- /proc/diskstats and /proc/net/dev ---- */

/* ---- lists of devices ---- */

static struct os_devices devices;

static const struct os_device *parse_disks(const char *text)
{
    CHECK_INT(host_parse_diskstats(text, strlen(text), &devices), 0);
    return devices.items;
}

/* Each number at its place, whatever the kernel tells. */
static void every_kernels_diskstats(void)
{
    const struct os_device *disk = parse_disks("8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
    CHECK_STR(disk->name, "sda");
    CHECK_UINT(disk->has, 0x7ff);
    CHECK_UINT(disk->numbers[OS_DISK_READS], 1);
    CHECK_UINT(disk->numbers[OS_DISK_SECTORS_READ], 3);
    CHECK_UINT(disk->numbers[OS_DISK_QUEUE_MS], 11);
    disk = parse_disks("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n");
    CHECK_UINT(disk->has, 0x7fff);
    CHECK_UINT(disk->numbers[OS_DISK_SECTORS_DISCARDED], 14);
    disk = parse_disks("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n");
    CHECK_UINT(disk->has, 0x1ffff);
    CHECK_UINT(disk->numbers[OS_DISK_FLUSHES], 16);
    disk = parse_disks("8 1 sda1 1 2 3 4\n"); // a partition before Linux 2.6.25
    CHECK_UINT(disk->has, 1u << OS_DISK_READS | 1u << OS_DISK_SECTORS_READ | 1u << OS_DISK_WRITES |
                              1u << OS_DISK_SECTORS_WRITTEN);
    CHECK_UINT(disk->numbers[OS_DISK_SECTORS_READ], 2);
    CHECK_UINT(disk->numbers[OS_DISK_WRITES], 3);
    CHECK_UINT(disk->numbers[OS_DISK_SECTORS_WRITTEN], 4);
    disk = parse_disks("3 0 39082680 hda 2 3 4 5 6 7 8 9 10 11\n"); // Linux 2.4
    CHECK_STR(disk->name, "hda");
    CHECK_UINT(disk->numbers[OS_DISK_READS], 39082680);
    CHECK_UINT(disk->numbers[OS_DISK_WRITES], 5);
}

static void a_broken_line_is_told_and_left_out(void)
{
    (void)parse_disks("8 0 sda 1 2 3\n8 16 sdb 1 2 3 4 5 6 7 8 9 10 11\n");
    CHECK_INT(devices.state, VITALS_LOWER_BOUND);
    CHECK_UINT(devices.count, 1);
    (void)parse_disks("8 0 sda 1 2 3\n");
    CHECK_INT(devices.state, VITALS_FAILED);
    (void)parse_disks("8 0 sda 1 2 3 4 5 6 7 8 9 10 11"); // cut: no newline
    CHECK_INT(devices.state, VITALS_UNSUPPORTED);
    CHECK_UINT(devices.count, 0);
    char longest[512];
    snprintf(longest, sizeof longest, "8 0 %0100d 1 2 3 4 5 6 7 8 9 10 11\n", 7);
    (void)parse_disks(longest);
    CHECK_UINT(devices.count, 0);
    CHECK_INT(devices.state, VITALS_FAILED);
}

static void a_name_ends_at_the_last_colon(void)
{
    static const char text[] = "x|y\n eth0:1:5 6 7 8 0 0 0 0 9 10 11 12 0 0 0 0\n";
    CHECK_INT(host_parse_netdev(text, sizeof text - 1, &devices), 0);
    CHECK_UINT(devices.count, 1);
    CHECK_STR(devices.items[0].name, "eth0:1");
    CHECK_UINT(devices.items[0].numbers[OS_NETWORK_RECEIVED_BYTES], 5);
    CHECK_UINT(devices.items[0].numbers[OS_NETWORK_RECEIVE_DROPS], 8);
    CHECK_UINT(devices.items[0].numbers[OS_NETWORK_TRANSMITTED_BYTES], 9);
    CHECK_UINT(devices.items[0].numbers[OS_NETWORK_TRANSMIT_ERRORS], 11);
    memory_free(devices.items);
    devices = (struct os_devices){0};
}

static void swap_is_counted_in_pages_of_this_kernel(void)
{
    static const char text[] = "pswpin 3\npswpout 5\noom_kill 7\n";
    struct values values = {0};
    host_parse_vmstat(text, sizeof text - 1, 65536, &values);
    check_value(&values, VITALS_HOST_SWAP_IN_BYTES, VITALS_HAVE, 3 * 65536, 0);
    check_value(&values, VITALS_HOST_SWAP_OUT_BYTES, VITALS_HAVE, 5 * 65536, 0);
    check_value(&values, VITALS_HOST_OOM_KILLS, VITALS_HAVE, 7, 0);
}

static void huge_pages_have_the_size_that_comes_later(void)
{
    static const char text[] = "HugePages_Total: 4\nHugePages_Free: 1\nHugepagesize: 2048 kB\n";
    struct values values = {0};
    host_parse_meminfo(text, sizeof text - 1, &values);
    check_value(&values, VITALS_HOST_MEMORY_HUGE_TOTAL_BYTES, VITALS_HAVE, KIB(8192), 0);
    check_value(&values, VITALS_HOST_MEMORY_HUGE_FREE_BYTES, VITALS_HAVE, KIB(2048), 0);
    values = (struct values){0};
    host_parse_meminfo(text, 20, &values); // the size is not told
    check_value(&values, VITALS_HOST_MEMORY_HUGE_TOTAL_BYTES, VITALS_UNSET, 0, 0);
}

/* ---- every file ---- */

/* What src/host/ sums up over devices. */
static bool is_sum(vitals_metric metric)
{
    return metric >= VITALS_HOST_DISK_READ_BYTES &&
           metric <= VITALS_HOST_NETWORK_TRANSMITTED_PACKETS;
}

/* Every tick metric of the host that has a source in these files. */
static bool is_ours(vitals_metric metric)
{
    return vitals_metric_table(metric) == VITALS_TABLE_HOST &&
           vitals_metric_price(metric) == VITALS_PRICE_TICK &&
           vitals_metric_type(metric) != VITALS_TEXT && metric != VITALS_HOST_PROCESSES &&
           !is_sum(metric);
}

static void what_is_wanted_has_a_value_or_a_reason(void)
{
    static const char *const fixtures[] = {"modern", "old_kernel", "four_times",
                                           "cut",    "empty",      "nothing"};
    for (size_t i = 0; i < CHECK_COUNT(fixtures); i++) {
        CHECK_CASE(fixtures[i]);
        read_fixture(fixtures[i]);
        bool bare = i >= 4;
        for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
            if (!is_ours(metric))
                continue;
            int state = machine.at[metric_number(metric)].state;
            if (state == VITALS_UNSET)
                CHECK_FAIL("%s is unset", vitals_metric_name(metric));
            if (bare && metric != VITALS_HOST_UPTIME_SECONDS &&
                metric != VITALS_HOST_BOOT_TIME_SECONDS && state != VITALS_UNSUPPORTED)
                CHECK_FAIL("%s is %s", vitals_metric_name(metric), vitals_availability_name(state));
        }
        CHECK(!bare || cpus.count == 0);
    }
    forget();
}

static void what_is_not_wanted_is_not_read(void)
{
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_HOST_LOAD_1M);
    struct os os = open_fixture("modern");
    struct os_host host;
    os_host_init(&host);
    os_host_read(&host, &os, &wanted, &reading);
    CHECK(host.loadavg >= 0);
    CHECK_INT(host.stat, -1);
    CHECK_INT(host.meminfo, -1);
    CHECK_INT(host.diskstats, -1);
    CHECK_INT(host.netdev, -1);
    CHECK_INT(machine.at[metric_number(VITALS_HOST_CPUS)].state, VITALS_UNSET);
    metric_set_add(&wanted, VITALS_CPU_USER_SECONDS);
    os_host_read(&host, &os, &wanted, &reading);
    CHECK_UINT(cpus.count, 3);
    metric_set_remove(&wanted, VITALS_CPU_USER_SECONDS);
    os_host_read(&host, &os, &wanted, &reading);
    CHECK_UINT(cpus.count, 0);
    os_host_done(&host);
    os_close(&os);
    forget();
}

static char folder[] = "/tmp/vitals-host-XXXXXX";

static void write_file(const char *name, const char *bytes, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    CHECK_NOT_NULL(file);
    CHECK_UINT(fwrite(bytes, 1, size, file), size);
    CHECK_INT(fclose(file), 0);
}

static void remove_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_INT(unlink(path), 0);
}

/* A machine of many interrupts has a line of /proc/stat that is longer than any first buffer. */
static void long_files_are_read_whole_and_huge_ones_up_to_a_cap(void)
{
    CHECK_NOT_NULL(mkdtemp(folder));
    struct buffer text = {0};
    buffer_string(&text, "cpu 1 2 3 4\ncpu0 1 2 3 4\nintr 123456");
    for (int i = 0; i < 100000; i++)
        buffer_string(&text, " 0");
    buffer_string(&text, "\nctxt 42\n");
    write_file("stat", text.bytes, text.size);

    struct metric_set wanted = everything();
    struct os os = open_roots(folder, "/nonexistent");
    read_tree(&os, &wanted);
    check_value(&machine, VITALS_HOST_INTERRUPTS, VITALS_HAVE, 123456, 0);
    check_value(&machine, VITALS_HOST_CONTEXT_SWITCHES, VITALS_HAVE, 42, 0);

    // Five million bytes of one line, and a line that is beyond the cap.
    buffer_reset(&text);
    buffer_string(&text, "ctxt 43\nintr 77");
    buffer_format(&text, "%5000000s", "");
    buffer_string(&text, "\nprocesses 5\n");
    write_file("stat", text.bytes, text.size);
    os = open_roots(folder, "/nonexistent");
    read_tree(&os, &wanted);
    check_value(&machine, VITALS_HOST_CONTEXT_SWITCHES, VITALS_HAVE, 43, 0);
    check_value(&machine, VITALS_HOST_INTERRUPTS, VITALS_UNSUPPORTED, 0, 0);
    check_value(&machine, VITALS_HOST_FORKS, VITALS_UNSUPPORTED, 0, 0);

    remove_file("stat");
    CHECK_INT(rmdir(folder), 0);
    buffer_done(&text);
    forget();
}

static void a_file_that_cannot_be_read_says_why(void)
{
    strcpy(folder, "/tmp/vitals-host-XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
    char path[256];
    snprintf(path, sizeof path, "%s/loadavg", folder);
    CHECK_INT(mkdir(path, 0700), 0);
    struct metric_set wanted = everything();
    struct os os = open_roots(folder, "/nonexistent");
    struct os_host host;
    os_host_init(&host);
    os_host_read(&host, &os, &wanted, &reading);
    check_value(&machine, VITALS_HOST_LOAD_1M, VITALS_FAILED, 0, 0);
    CHECK_INT(host.loadavg, -1); // and is tried again

    CHECK_INT(rmdir(path), 0);
    write_file("loadavg", "1 2 3 4/5 6\n", 12);
    os_host_read(&host, &os, &wanted, &reading);
    check_value(&machine, VITALS_HOST_TASKS, VITALS_HAVE, 5, 0);
    os_host_done(&host);
    os_close(&os);
    remove_file("loadavg");
    CHECK_INT(rmdir(folder), 0);
    forget();
}

/* Every text that a file may be cut to: no wrong number, ever. */
static void no_cut_makes_another_number(void)
{
    static const char meminfo[] = "MemTotal: 123456 kB\nMemFree: 1234 kB\n";
    for (size_t size = 0; size < sizeof meminfo; size++) {
        struct values values = {0};
        host_parse_meminfo(meminfo, size, &values);
        const struct value *total = &values.at[metric_number(VITALS_HOST_MEMORY_TOTAL_BYTES)];
        const struct value *rest = &values.at[metric_number(VITALS_HOST_MEMORY_FREE_BYTES)];
        CHECK(total->state == VITALS_UNSET || total->as.u64 == KIB(123456));
        CHECK(rest->state == VITALS_UNSET || rest->as.u64 == KIB(1234));
    }
}

static void kernel_release(void)
{
    char release[64];
    struct os os = open_fixture("modern");
    os_read_kernel(&os, release, sizeof release);
    CHECK_STR(release, "6.8.0-41-generic");
    os_close(&os);
    os = open_fixture("empty");
    os_read_kernel(&os, release, sizeof release);
    CHECK_STR(release, "");
    os_close(&os);
}

static const check_test tests[] = {
    {"times, counters and loads of each kernel", times_and_counters},
    {"CPUs are known by their number", cpus_are_known_by_their_number},
    {"memory of each kernel", memory},
    {"every kernel's diskstats", every_kernels_diskstats},
    {"a broken line is told and left out", a_broken_line_is_told_and_left_out},
    {"a name ends at the last colon", a_name_ends_at_the_last_colon},
    {"swap is counted in pages of this kernel", swap_is_counted_in_pages_of_this_kernel},
    {"huge pages have the size that comes later", huge_pages_have_the_size_that_comes_later},
    {"what is wanted has a value or a reason", what_is_wanted_has_a_value_or_a_reason},
    {"what is not wanted is not read", what_is_not_wanted_is_not_read},
    {"long files are read whole, and huge ones up to a cap",
     long_files_are_read_whole_and_huge_ones_up_to_a_cap},
    {"a file that cannot be read says why, and is tried again",
     a_file_that_cannot_be_read_says_why},
    {"no cut makes another number", no_cut_makes_another_number},
    {"the kernel's release", kernel_release},
};
CHECK_TESTS(tests)
