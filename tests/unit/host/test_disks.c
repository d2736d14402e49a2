/* The table disk and its sums: what each device is, which of them are counted, every column. */
#include "host_world.h"

#include <sys/stat.h>
#include <unistd.h>

static void every_device_is_what_it_is(void)
{
    static const struct {
        const char *name, *type;
        int counted;
        const char *parent;
    } expected[] = {
        {"nvme0c0n1", "stacked", 0, NULL},
        {"nvme0n1", "disk", 1, NULL},
        {"nvme0n1p1", "partition", 0, "nvme0n1"},
        {"nvme0n1p2", "partition", 0, "nvme0n1"},
        {"sda", "disk", 1, NULL},
        {"sda1", "partition", 0, "sda"},
        {"sda15", "partition", 0, "sda"},
        {"sdb", "disk", 1, NULL},
        {"sdc1", "partition", 0, "sdc"},
        {"sdd", "disk", 1, NULL},
        {"mmcblk0", "disk", 1, NULL},
        {"mmcblk0p1", "partition", 0, "mmcblk0"},
        {"mmcblk0boot0", "disk", 1, NULL},
        {"dm-0", "device_mapper", 0, NULL},
        {"md0", "raid", 0, NULL},
        {"nbd0", "network", 1, NULL},
        {"bcache0", "stacked", 0, NULL},
        {"cciss/c0d0", "disk", 1, NULL},
        {"cciss/c0d0p1", "partition", 0, "cciss/c0d0"},
        {"loop0", "loop", 0, NULL},
        {"zram0", "zram", 0, NULL},
        {"ram0", "ram", 0, NULL},
        {"sr0", "optical", 0, NULL},
        {"zd0", "stacked", 0, NULL},
        {"stack0", "stacked", 0, NULL},
    };
    vitals_snapshot *snapshot = host_take_fixture("many_disks");
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_DISK), 28);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_DISK), VITALS_HAVE);
    for (size_t i = 0; i < CHECK_COUNT(expected); i++) {
        CHECK_CASE(expected[i].name);
        const vitals_row *row = host_row(snapshot, VITALS_TABLE_DISK, expected[i].name);
        host_check_text(row, VITALS_DISK_NAME, expected[i].name);
        host_check_text(row, VITALS_DISK_TYPE, expected[i].type);
        host_check(row, VITALS_DISK_COUNTED, expected[i].counted);
        uint64_t parent = vitals_row_parent(row);
        if (expected[i].parent == NULL)
            CHECK_UINT(parent, 0);
        else
            CHECK_STR(vitals_row_label(vitals_snapshot_find(snapshot, VITALS_TABLE_DISK, parent)),
                      expected[i].parent);
    }
    vitals_snapshot_unref(snapshot);
}

static void columns_and_sums(void)
{
    vitals_snapshot *snapshot = host_take_fixture("many_disks");
    const vitals_row *nvme = host_row(snapshot, VITALS_TABLE_DISK, "nvme0n1");
    host_check(nvme, VITALS_DISK_READS, 1000);
    host_check(nvme, VITALS_DISK_READS_MERGED, 1001);
    host_check(nvme, VITALS_DISK_READ_BYTES, 1002 * 512);
    host_check(nvme, VITALS_DISK_READ_SECONDS, 1.003);
    host_check(nvme, VITALS_DISK_WRITES, 1004);
    host_check(nvme, VITALS_DISK_WRITES_MERGED, 1005);
    host_check(nvme, VITALS_DISK_WRITTEN_BYTES, 1006 * 512);
    host_check(nvme, VITALS_DISK_WRITE_SECONDS, 1.007);
    host_check(nvme, VITALS_DISK_IN_FLIGHT, 1008);
    host_check(nvme, VITALS_DISK_BUSY_SECONDS, 1.009);
    host_check(nvme, VITALS_DISK_QUEUE_SECONDS, 1.010);
    host_check(nvme, VITALS_DISK_DISCARDS, 1011);
    host_check(nvme, VITALS_DISK_DISCARDED_BYTES, 1013 * 512);
    host_check(nvme, VITALS_DISK_FLUSHES, 1015);
    host_check(nvme, VITALS_DISK_SIZE_BYTES, 512110190592);
    host_check_text(nvme, VITALS_DISK_MODEL, "SAMSUNG MZVL2512HCJQ-00B00");
    host_check(nvme, VITALS_DISK_ROTATIONAL, 0);
    host_check_text(host_row(snapshot, VITALS_TABLE_DISK, "sda"), VITALS_DISK_MODEL,
                    "ST4000NM0035-1V4");
    host_check_text(host_row(snapshot, VITALS_TABLE_DISK, "sdb"), VITALS_DISK_MODEL,
                    "HGST HUS726T4TAL");
    host_check_text(host_row(snapshot, VITALS_TABLE_DISK, "mmcblk0"), VITALS_DISK_MODEL, "SD32G");
    host_check(host_row(snapshot, VITALS_TABLE_DISK, "cciss/c0d0"), VITALS_DISK_SIZE_BYTES, 8192);

    const vitals_row *sdc = host_row(snapshot, VITALS_TABLE_DISK, "sdc"); // 15 numbers: Linux 4.18
    host_check(sdc, VITALS_DISK_DISCARDS, 4011);
    host_check_state(sdc, VITALS_DISK_FLUSHES, VITALS_UNSUPPORTED);
    const vitals_row *sdd = host_row(snapshot, VITALS_TABLE_DISK, "sdd"); // 11
    host_check(sdd, VITALS_DISK_QUEUE_SECONDS, 5.010);
    host_check_state(sdd, VITALS_DISK_DISCARDS, VITALS_UNSUPPORTED);
    host_check_state(sdd, VITALS_DISK_SIZE_BYTES, VITALS_UNSUPPORTED);

    // nvme0n1, sda … sdd, mmcblk0, its boot partition which is a device of its own, nbd0,
    // cciss/c0d0
    const double reads = 1000 + 2000 + 3000 + 4000 + 5000 + 6000 + 610 + 9000 + 10000;
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    host_check(host, VITALS_HOST_DISK_READS, reads);
    host_check(host, VITALS_HOST_DISK_READ_BYTES, (reads + 9 * 2) * 512);
    host_check(host, VITALS_HOST_DISK_WRITES, reads + 9 * 4);
    host_check(host, VITALS_HOST_DISK_WRITTEN_BYTES, (reads + 9 * 6) * 512);
    host_check(host, VITALS_HOST_DISK_BUSY_SECONDS, (reads + 9 * 9) / 1000);
    vitals_snapshot_unref(snapshot);
}

/* Sums of every kernel's list, and of broken ones. */
static void sums_of_all_kernels(void)
{
    static const struct {
        const char *fixture;
        vitals_metric metric;
        int state;
        double sum;
    } expected[] = {
        {"modern", VITALS_HOST_DISK_READS, VITALS_HAVE, 1030}, // nvme0n1 and sda
        {"modern", VITALS_HOST_DISK_WRITES, VITALS_HAVE, 2050},
        {"modern", VITALS_HOST_DISK_READ_BYTES, VITALS_HAVE, 8240 * 512},
        {"modern", VITALS_HOST_DISK_WRITTEN_BYTES, VITALS_HAVE, 16400 * 512},
        {"old_kernel", VITALS_HOST_DISK_READS, VITALS_HAVE, 13},
        {"old_kernel", VITALS_HOST_DISK_READ_BYTES, VITALS_HAVE, 104 * 512},
        {"four_times", VITALS_HOST_DISK_READS, VITALS_HAVE, 15}, // hda, and xvda1 without xvda
        {"four_times", VITALS_HOST_DISK_READ_BYTES, VITALS_HAVE, 120 * 512},
        {"four_times", VITALS_HOST_DISK_WRITTEN_BYTES, VITALS_HAVE, 208 * 512},
        {"cut", VITALS_HOST_DISK_READS, VITALS_LOWER_BOUND, 10},
        {"hostile", VITALS_HOST_DISK_READS, VITALS_LOWER_BOUND, 12},            // sda is broken
        {"huge", VITALS_HOST_DISK_READS, VITALS_LOWER_BOUND, 9007199254740992}, // what JSON holds
        {"network_disks", VITALS_HOST_DISK_READS, VITALS_HAVE, 1000 + 2000},    // all there are
        {"network_disks", VITALS_HOST_DISK_WRITTEN_BYTES, VITALS_HAVE, (1006 + 2006) * 512},
        {"no_disk_counts", VITALS_HOST_DISK_READS, VITALS_UNSUPPORTED, 0}, // not 0
        {"no_disk_counts", VITALS_HOST_DISK_READ_BYTES, VITALS_UNSUPPORTED, 0},
        {"no_disk_counts", VITALS_HOST_DISK_BUSY_SECONDS, VITALS_UNSUPPORTED, 0},
        {"empty", VITALS_HOST_DISK_READS, VITALS_UNSUPPORTED, 0},
        {"nothing", VITALS_HOST_DISK_BUSY_SECONDS, VITALS_UNSUPPORTED, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(expected); i++) {
        CHECK_CASE(expected[i].fixture);
        vitals_snapshot *snapshot = host_take_fixture(expected[i].fixture);
        const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
        host_check_state(host, expected[i].metric, expected[i].state);
        if (expected[i].state > 0)
            host_check(host, expected[i].metric, expected[i].sum);
        vitals_snapshot_unref(snapshot);
    }
}

/* A list of the kernel as the files of a world that is read twice. */
static void read_line(struct host *host, vitals_context *world, const char *folder,
                      const char *line)
{
    struct metric_set wanted = host_everything();
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/diskstats", folder);
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fprintf(file, "   8       0 sda %s\n", line);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(host_read(host, world, &wanted, 1), 0);
}

/* Of the numbers only times have 32 bits where a long has 64: the busy time wraps after 49.7 days,
 * and a disk that another has taken the name of begins again with all it has. */
static void times_wrap_and_disks_begin_again(void)
{
    static const char *const LINES[] = {
        "4000000000 1 4000000000 4 5 6 7 8 0 4294967290 11 0 0 0 0 0 0",
        "4000000001 1 4000000002 4 5 6 7 8 0 3 11 0 0 0 0 0 0", // 9 ms later
        "2 1 16 1 5 6 7 8 0 1 2 0 0 0 0 0 0",                   // another
    };
    static const struct {
        double reads, bytes, busy;
    } expected[] = {
        {4000000000, 4000000000.0 * 512, 4294967.290},
        {4000000001, 4000000002.0 * 512, 4294967.299},
        {4000000003, 4000000018.0 * 512, 4294967.300},
    };
    if (sizeof(long) * CHAR_BIT < 64)
        CHECK_SKIP("all numbers of such a kernel have 32 bits");
    char folder[] = "/tmp/vitals-disks-XXXXXX", path[PATH_MAX];
    CHECK_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/proc", folder);
    CHECK_INT(mkdir(path, 0700), 0);
    vitals_context world;
    struct host host;
    host_world_open(&world, folder);
    host_init(&host);
    for (size_t i = 0; i < CHECK_COUNT(LINES); i++) {
        CHECK_CASE(LINES[i]);
        struct metric_set wanted = host_everything();
        read_line(&host, &world, folder, LINES[i]);
        vitals_snapshot *snapshot = host_snapshot(&host, &wanted, 1);
        const vitals_row *sda = host_row(snapshot, VITALS_TABLE_DISK, "sda");
        const vitals_row *machine = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
        host_check(sda, VITALS_DISK_READS, expected[i].reads);
        host_check(sda, VITALS_DISK_READ_BYTES, expected[i].bytes);
        host_check(sda, VITALS_DISK_BUSY_SECONDS, expected[i].busy);
        host_check(machine, VITALS_HOST_DISK_READS, expected[i].reads);
        host_check(machine, VITALS_HOST_DISK_READ_BYTES, expected[i].bytes);
        host_check(machine, VITALS_HOST_DISK_BUSY_SECONDS, expected[i].busy);
        vitals_snapshot_unref(snapshot);
    }
    host_done(&host);
    os_close(&world.os);
    snprintf(path, sizeof path, "%s/proc/diskstats", folder);
    CHECK_INT(unlink(path), 0);
    snprintf(path, sizeof path, "%s/proc", folder);
    CHECK_INT(rmdir(path), 0);
    CHECK_INT(rmdir(folder), 0);
}

static const check_test tests[] = {
    {"every device is what it is", every_device_is_what_it_is},
    {"columns and sums", columns_and_sums},
    {"sums of all kernels", sums_of_all_kernels},
    {"times wrap, and disks begin again", times_wrap_and_disks_begin_again},
};
CHECK_TESTS(tests)
