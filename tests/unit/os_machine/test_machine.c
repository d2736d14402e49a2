/* What workers read of the machine: processors, names, our cgroup's accounting, pressure, sensors.
 */
#include "host_world.h"

#include "os/linux/cgroup/cgroup.h"
#include "os/linux/lines.h"
#include "os/linux/machine/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static void processors_by_sys(void)
{
    vitals_snapshot *snapshot = host_take_fixture("processors");
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    host_check(host, VITALS_HOST_CPUS, 7);
    host_check(host, VITALS_HOST_CPUS_PHYSICAL, 4); // one of them with a thread that is offline
    host_check(host, VITALS_HOST_CPU_PACKAGES, 2);
    host_check(host, VITALS_HOST_CPU_FREQUENCY_HERTZ, (7 * 1e9 + 23 * 1e8) / 7);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_CPU), 7);
    const vitals_row *cpu = host_row(snapshot, VITALS_TABLE_CPU, "cpu6");
    host_check(cpu, VITALS_CPU_CORE, 1);
    host_check(cpu, VITALS_CPU_PACKAGE, 1);
    host_check(cpu, VITALS_CPU_FREQUENCY_HERTZ, 1.6e9);
    host_check(cpu, VITALS_CPU_FREQUENCY_MIN_HERTZ, 8e8);
    host_check(cpu, VITALS_CPU_FREQUENCY_MAX_HERTZ, 3.9e9);
    CHECK_NULL(host_row(snapshot, VITALS_TABLE_CPU, "cpu5"));
    vitals_snapshot_unref(snapshot);
}

static void processors_by_cpuinfo(void)
{
    vitals_snapshot *snapshot = host_take_fixture("processors_cpuinfo");
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    host_check(host, VITALS_HOST_CPUS_PHYSICAL, 2);
    host_check(host, VITALS_HOST_CPU_PACKAGES, 1);
    host_check(host, VITALS_HOST_CPU_FREQUENCY_HERTZ, 2750.5e6);
    const vitals_row *cpu = host_row(snapshot, VITALS_TABLE_CPU, "cpu3");
    host_check(cpu, VITALS_CPU_CORE, 1);
    host_check(cpu, VITALS_CPU_FREQUENCY_HERTZ, 3500.5e6);
    host_check_state(cpu, VITALS_CPU_FREQUENCY_MAX_HERTZ, VITALS_UNSUPPORTED);
    host_check_text(host, VITALS_HOST_CPU_MODEL, "AMD EPYC");
    host_check_state(host, VITALS_HOST_PRODUCT, VITALS_UNSUPPORTED);
    host_check_state(host, VITALS_HOST_OPERATING_SYSTEM, VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);
}

static void names(void)
{
    vitals_snapshot *snapshot = host_take_fixture("processors");
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    host_check_text(host, VITALS_HOST_CPU_MODEL, "Intel(R) Xeon(R) CPU E5-2630 v3 @ 2.40GHz");
    host_check_text(host, VITALS_HOST_ARCHITECTURE, "x86_64");
    host_check_text(host, VITALS_HOST_PRODUCT, "Dell Inc. Precision Tower 7810");
    host_check_text(host, VITALS_HOST_OPERATING_SYSTEM,
                    "Fedora Linux 39 (\"Workstation\" Edition)");
    vitals_snapshot_unref(snapshot);
}

static void releases(void)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"PRETTY_NAME=Plain\n", "Plain"},
        {"PRETTY_NAME='Single \\x'\n", "Single \\x"},
        {"PRETTY_NAME=\"Cut", "Cut"},
        {"PRETTY_NAME=\"\"\n", ""},
        {"PRETTY_NAME=", ""},
        {"XPRETTY_NAME=no\n", ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char name[64];
        CHECK_CASE(cases[i].text);
        size_t size = machine_parse_release(cases[i].text, strlen(cases[i].text), name,
                                            sizeof name);
        CHECK_BYTES(name, size, cases[i].name, strlen(cases[i].name));
    }
}

struct figure {
    vitals_metric metric;
    int state;
    double number;
};

static void check_figures(const char *fixture, const struct figure *figures, size_t count)
{
    vitals_snapshot *snapshot = host_take_fixture(fixture);
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    for (size_t i = 0; i < count; i++) {
        CHECK_CASE(vitals_metric_name(figures[i].metric));
        host_check_state(host, figures[i].metric, figures[i].state);
        if (figures[i].state > 0)
            host_check(host, figures[i].metric, figures[i].number);
    }
    vitals_snapshot_unref(snapshot);
}

static void accounting_of_version_2(void)
{
    static const struct figure figures[] = {
        {VITALS_HOST_CGROUP_VERSION, VITALS_HAVE, 2},
        {VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, VITALS_HAVE, 1073741824},
        {VITALS_HOST_CGROUP_MEMORY_HIGH_BYTES, VITALS_HAVE, 700000000}, // its parent's
        {VITALS_HOST_CGROUP_MEMORY_PEAK_BYTES, VITALS_HAVE, 900000000},
        {VITALS_HOST_CGROUP_MEMORY_WORKING_BYTES, VITALS_HAVE, 400000000},
        {VITALS_HOST_CGROUP_SWAP_LIMIT_BYTES, VITALS_HAVE, 4096},
        {VITALS_HOST_CGROUP_OOM_KILLS, VITALS_HAVE, 4},
        {VITALS_HOST_CGROUP_CPU_SECONDS, VITALS_HAVE, 12.5},
        {VITALS_HOST_CGROUP_CPU_THROTTLED_SECONDS, VITALS_HAVE, 0.25},
        {VITALS_HOST_CGROUP_CPU_THROTTLED_PERIODS, VITALS_HAVE, 5},
        {VITALS_HOST_CGROUP_CPU_LIMIT_CORES, VITALS_HAVE, 1.5},
        {VITALS_HOST_CGROUP_CPUS, VITALS_HAVE, 5},
        {VITALS_HOST_CGROUP_PROCESSES, VITALS_HAVE, 17},
        {VITALS_HOST_CGROUP_PROCESSES_LIMIT, VITALS_HAVE, 4194304},
        {VITALS_HOST_CGROUP_READ_BYTES, VITALS_HAVE, 1010}, // the mapped device's is in the disk's
        {VITALS_HOST_CGROUP_WRITTEN_BYTES, VITALS_HAVE, 2020},
        {VITALS_HOST_CPUS_ELIGIBLE, VITALS_HAVE, 2}, // one and a half keep two busy
        {VITALS_HOST_MEMORY_EFFECTIVE_BYTES, VITALS_HAVE, 1073741824},
    };
    check_figures("processors", figures, CHECK_COUNT(figures));
    vitals_snapshot *snapshot = host_take_fixture("processors");
    host_check_text(vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL),
                    VITALS_HOST_CGROUP_PATH, "/box");
    vitals_snapshot_unref(snapshot);
}

static void accounting_of_version_1(void)
{
    static const struct figure figures[] = {
        {VITALS_HOST_CGROUP_VERSION, VITALS_HAVE, 12},
        {VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, VITALS_HAVE, 2000000},
        {VITALS_HOST_CGROUP_MEMORY_HIGH_BYTES, VITALS_UNSUPPORTED, 0},
        {VITALS_HOST_CGROUP_MEMORY_PEAK_BYTES, VITALS_HAVE, 1900000},
        {VITALS_HOST_CGROUP_MEMORY_WORKING_BYTES, VITALS_HAVE, 1100000},
        {VITALS_HOST_CGROUP_SWAP_LIMIT_BYTES, VITALS_HAVE, 1000000},
        {VITALS_HOST_CGROUP_OOM_KILLS, VITALS_LOWER_BOUND, 6},
        {VITALS_HOST_CGROUP_CPU_SECONDS, VITALS_HAVE, 7.25},
        {VITALS_HOST_CGROUP_CPU_THROTTLED_SECONDS, VITALS_HAVE, 1.5},
        {VITALS_HOST_CGROUP_CPU_THROTTLED_PERIODS, VITALS_HAVE, 3},
        {VITALS_HOST_CGROUP_CPU_LIMIT_CORES, VITALS_UNSUPPORTED, 0},
        {VITALS_HOST_CGROUP_CPUS, VITALS_HAVE, 3},
        {VITALS_HOST_CGROUP_PROCESSES, VITALS_HAVE, 5},
        {VITALS_HOST_CGROUP_PROCESSES_LIMIT, VITALS_HAVE, 100},
        {VITALS_HOST_CGROUP_READ_BYTES, VITALS_HAVE, 4100},
        {VITALS_HOST_CGROUP_WRITTEN_BYTES, VITALS_HAVE, 8197},
    };
    check_figures("cgroup_v1_usage", figures, CHECK_COUNT(figures));
}

static void pressure(void)
{
    vitals_snapshot *snapshot = host_take_fixture("pressure");
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_PRESSURE), 6);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_PRESSURE), VITALS_HAVE);
    const vitals_row *row = host_row(snapshot, VITALS_TABLE_PRESSURE, "memory");
    host_check_text(row, VITALS_PRESSURE_RESOURCE, "memory");
    host_check_text(row, VITALS_PRESSURE_SCOPE, "machine");
    double share = 0;
    CHECK_INT(vitals_row_f64(row, VITALS_PRESSURE_SOME_10S_RATIO, &share), VITALS_HAVE);
    CHECK(share == 0.2226); // to the last bit: it prints as short as it is
    host_check(row, VITALS_PRESSURE_SOME_60S_RATIO, 0.05);
    host_check(row, VITALS_PRESSURE_SOME_300S_RATIO, 0.0001);
    host_check(row, VITALS_PRESSURE_SOME_SECONDS, 123.456789);
    host_check(row, VITALS_PRESSURE_FULL_60S_RATIO, 0.005);
    host_check(row, VITALS_PRESSURE_FULL_SECONDS, 2);
    row = host_row(snapshot, VITALS_TABLE_PRESSURE, "irq");
    host_check(row, VITALS_PRESSURE_FULL_SECONDS, 1.5);
    host_check_state(row, VITALS_PRESSURE_SOME_SECONDS, VITALS_UNSUPPORTED);
    row = host_row(snapshot, VITALS_TABLE_PRESSURE, "cgroup cpu");
    host_check_text(row, VITALS_PRESSURE_SCOPE, "cgroup");
    host_check(row, VITALS_PRESSURE_SOME_10S_RATIO, 0.5);
    host_check_state(row, VITALS_PRESSURE_FULL_SECONDS, VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);

    snapshot = host_take_fixture("pressure_old");
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_PRESSURE), 1);
    row = host_row(snapshot, VITALS_TABLE_PRESSURE, "cpu");
    host_check(row, VITALS_PRESSURE_SOME_SECONDS, 4);
    host_check_state(row, VITALS_PRESSURE_FULL_10S_RATIO, VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);

    snapshot = host_take_fixture("modern");
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_PRESSURE), 0);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_PRESSURE), VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);
}

static void sensors_of_a_laptop(void)
{
    static const struct {
        const char *label, *kind;
        vitals_metric metric;
        double number;
    } expected[] = {
        {"coretemp Package id 0", "temperature", VITALS_SENSOR_TEMPERATURE_CELSIUS, 45},
        {"coretemp Package id 0", "temperature", VITALS_SENSOR_HIGH_CELSIUS, 100},
        {"coretemp Package id 0", "temperature", VITALS_SENSOR_CRITICAL_CELSIUS, 105},
        {"coretemp Core 8", "temperature", VITALS_SENSOR_TEMPERATURE_CELSIUS, 47},
        {"nvme Composite", "temperature", VITALS_SENSOR_TEMPERATURE_CELSIUS, 38.85},
        {"nvme Sensor 1", "temperature", VITALS_SENSOR_TEMPERATURE_CELSIUS, -5},
        {"it87", "temperature", VITALS_SENSOR_TEMPERATURE_CELSIUS, 31},
        {"it87", "temperature", VITALS_SENSOR_TEMPERATURE_CELSIUS, 31},
        {"dell_smm Processor Fan", "fan", VITALS_SENSOR_FAN_RPM, 2400},
        {"BAT0", "battery", VITALS_SENSOR_CHARGE_RATIO, 0.5},
        {"BAT0", "battery", VITALS_SENSOR_REMAINING_SECONDS, 7200},
        {"BAT1", "battery", VITALS_SENSOR_CHARGE_RATIO, 1},
    };
    vitals_snapshot *snapshot = host_take_fixture("sensors");
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_SENSOR), 12);
    for (size_t i = 0; i < CHECK_COUNT(expected); i++) {
        CHECK_CASE(expected[i].label);
        const vitals_row *row = host_row(snapshot, VITALS_TABLE_SENSOR, expected[i].label);
        host_check_text(row, VITALS_SENSOR_KIND, expected[i].kind);
        host_check(row, expected[i].metric, expected[i].number);
    }
    CHECK_CASE("no threshold is no temperature");
    host_check_state(host_row(snapshot, VITALS_TABLE_SENSOR, "nvme Sensor 1"),
                     VITALS_SENSOR_HIGH_CELSIUS, VITALS_UNSUPPORTED);
    CHECK_CASE("states");
    host_check_text(host_row(snapshot, VITALS_TABLE_SENSOR, "BAT0"), VITALS_SENSOR_STATE,
                    "discharging");
    host_check_text(host_row(snapshot, VITALS_TABLE_SENSOR, "BAT1"), VITALS_SENSOR_STATE,
                    "not_charging");
    host_check_state(host_row(snapshot, VITALS_TABLE_SENSOR, "BAT1"),
                     VITALS_SENSOR_REMAINING_SECONDS, VITALS_UNSUPPORTED);
    host_check_text(host_row(snapshot, VITALS_TABLE_SENSOR, "AC"), VITALS_SENSOR_STATE, "online");
    CHECK_CASE("not connected, on a slow bus, asleep, of a zone");
    CHECK_NULL(host_row(snapshot, VITALS_TABLE_SENSOR, "amdgpu"));
    CHECK_NULL(host_row(snapshot, VITALS_TABLE_SENSOR, "coretemp Core 1"));
    CHECK_NULL(host_row(snapshot, VITALS_TABLE_SENSOR, "w1_slave_temp"));
    CHECK_NULL(host_row(snapshot, VITALS_TABLE_SENSOR, "x86_pkg_temp"));
    vitals_snapshot_unref(snapshot);
}

static void zones_where_no_chip_tells(void)
{
    vitals_snapshot *snapshot = host_take_fixture("thermal_only");
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_SENSOR), 1);
    const vitals_row *row = host_row(snapshot, VITALS_TABLE_SENSOR, "cpu-thermal");
    host_check(row, VITALS_SENSOR_TEMPERATURE_CELSIUS, 52.095);
    host_check(row, VITALS_SENSOR_CRITICAL_CELSIUS, 110);
    host_check(row, VITALS_SENSOR_HIGH_CELSIUS, 85);
    vitals_snapshot_unref(snapshot);
    snapshot = host_take_fixture("modern");
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_SENSOR), 0);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_SENSOR), VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);
}

static void put(const char *folder, const char *file, const char *text)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *stream = fopen(path, "w");
    CHECK_NOT_NULL(stream);
    CHECK(fputs(text, stream) >= 0);
    fclose(stream);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

/* Of too many chips the first ones have rows, whatever the order of the folder; and it is said. */
static void many_chips_are_listed_and_a_cut_is_said(void)
{
    enum { CHIPS = 700, LONG = 120 };
    char root[] = "/tmp/vitals-sensors-XXXXXX", path[PATH_MAX], chip[32];
    static const char *const FOLDERS[] = {"proc", "sys", "etc", "sys/class", "sys/class/hwmon"};
    struct metric_set wanted = host_table(VITALS_TABLE_SENSOR);
    vitals_context world;
    struct row_batch batch = {0};
    CHECK_NOT_NULL(mkdtemp(root));
    for (size_t i = 0; i < CHECK_COUNT(FOLDERS); i++) {
        snprintf(path, sizeof path, "%s/%s", root, FOLDERS[i]);
        CHECK_INT(mkdir(path, 0755), 0);
    }
    for (int i = CHIPS; i-- > 0;) {
        snprintf(path, sizeof path, "%s/sys/class/hwmon/hwmon%d", root, i);
        CHECK_INT(mkdir(path, 0755), 0);
        snprintf(chip, sizeof chip, "chip%d", i);
        put(path, "name", chip);
        put(path, "temp1_input", "41000");
    }
    /* A name that is longer than any of the kernel's. */
    snprintf(path, sizeof path, "%s/sys/class/hwmon/%0*d", root, LONG, 0);
    CHECK_INT(mkdir(path, 0755), 0);
    host_world_open(&world, root);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_table(&world.os, VITALS_TABLE_SENSOR, &batch), 0);
    CHECK_UINT(batch.row_count, CHIPS);
    for (size_t i = 0; i < CHIPS; i++) {
        snprintf(chip, sizeof chip, "chip%zu", i);
        struct span label = batch_label(&batch, &batch.rows[i]);
        CHECK_BYTES(label.bytes, label.size, chip, strlen(chip));
    }
    CHECK_INT(batch.states[VITALS_TABLE_SENSOR], VITALS_LOWER_BOUND);
    batch_done(&batch);
    os_close(&world.os);
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Each allocation of each kind fails once. */
static void no_failed_allocation_is_lost(void)
{
    static const char *const fixtures[] = {"filesystems", "sensors", "processors", "many_disks",
                                           "docker_host"};
    struct metric_set wanted = host_everything(), part;
    int64_t live = memory_live();
    for (size_t i = 0; i < CHECK_COUNT(fixtures); i++)
        for (int kind = 0; kind < HOST_CACHE_TABLES; kind++) {
            bool reached = true;
            for (uint64_t nth = 1; reached; nth++) {
                CHECK_CASE(fixtures[i]);
                vitals_context world;
                struct host host;
                struct row_batch batch = {0};
                host_world_fixture(&world, fixtures[i]);
                host_init(&host);
                CHECK(host_cache_part((enum host_cache)kind, &wanted, &part));
                memory_fail_at(nth);
                uint64_t asked = memory_asked();
                host_cache_read(&world, (enum host_cache)kind, &part, NULL, &batch);
                int code = host_cache_take(&host, (enum host_cache)kind, &batch, 1);
                reached = memory_asked() - asked >= nth;
                memory_fail_at(0);
                CHECK_INT(code, reached ? VITALS_EMEMORY : 0);
                batch_done(&batch);
                host_done(&host);
                os_close(&world.os);
                CHECK_INT(memory_live(), live);
            }
        }
}

static void count_line(struct span line, void *data)
{
    (void)line;
    ++*(size_t *)data;
}

static void a_file_that_never_ends(void)
{
    static const struct os os = {.proc = -1, .sys = -1, .dev = -1};
    int dev = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
    size_t count = 0;
    CHECK_INT(lines_each(&os, dev, "zero", count_line, &count), -EFBIG);
    CHECK_UINT(count, 0);
    CHECK_INT(lines_each(&os, dev, "null", count_line, &count), 0);
    close(dev);
}

/* One of just as many bytes as are read, and one of a byte more. */
static void a_file_as_long_as_is_read(void)
{
    enum { MOST = 64 << 20 };
    static const struct os os = {.proc = -1, .sys = -1, .dev = -1};
    static const char END[] = "\nlast\n";
    char folder[] = "/tmp/vitals-lines-XXXXXX", path[64];
    CHECK_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    int root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (off_t more = 0; more < 2; more++) {
        size_t count = 0;
        CHECK_INT(ftruncate(file, 0), 0);
        CHECK_INT(ftruncate(file, MOST + more), 0); // a hole, which is one line that is too long
        CHECK_INT(pwrite(file, END, sizeof END - 1, MOST + more - (off_t)sizeof END + 1),
                  sizeof END - 1);
        CHECK_INT(lines_each(&os, root, "file", count_line, &count), more == 0 ? 0 : -EFBIG);
        CHECK_UINT(count, more == 0 ? 1 : 0);
    }
    close(file);
    close(root);
    CHECK_INT(remove(path), 0);
    CHECK_INT(remove(folder), 0);
}

static const check_test tests[] = {
    {"a file that never ends", a_file_that_never_ends},
    {"a file as long as is read", a_file_as_long_as_is_read},
    {"processors by /sys", processors_by_sys},
    {"processors by cpuinfo", processors_by_cpuinfo},
    {"names", names},
    {"releases", releases},
    {"accounting of version 2", accounting_of_version_2},
    {"accounting of version 1", accounting_of_version_1},
    {"pressure", pressure},
    {"sensors of a laptop", sensors_of_a_laptop},
    {"zones where no chip tells", zones_where_no_chip_tells},
    {"many chips are listed, and a cut is said", many_chips_are_listed_and_a_cut_is_said},
    {"no failed allocation is lost", no_failed_allocation_is_lost},
};
CHECK_TESTS(tests)
