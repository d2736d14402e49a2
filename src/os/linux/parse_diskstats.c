/* parse_diskstats.c: /proc/diskstats, summed over whole disks.
 *
 * "major minor name" and 11, 15 or 17 numbers (kernel documentation, admin-guide/iostats), or 4
 * for the partitions of kernels before 2.6.25. A sector is 512 bytes whatever the device says.
 * What lies on other disks (dm, md and their like) and what is no disk is not counted: its bytes
 * are counted below it, or are none. Partitions stand right behind their disk and carry its name
 * with their number, so they are told by the list itself and /sys need not be asked.
 * Thread rule: pure. */
#include "os/linux/host_files.h"

#include <string.h>

enum { SECTOR_BYTES = 512, COLUMNS_OLD = 4, COLUMNS_MIN = 11 };

/* In the order of the numbers of a line. */
enum { READS, SECTORS_READ, WRITES, SECTORS_WRITTEN, SUMS };

static const struct {
    vitals_metric metric;
    uint64_t scale;
    unsigned char column, column_old;
} TABLE[SUMS] = {
    [READS] = {VITALS_HOST_DISK_READS, 1, 0, 0},
    [SECTORS_READ] = {VITALS_HOST_DISK_READ_BYTES, SECTOR_BYTES, 2, 1},
    [WRITES] = {VITALS_HOST_DISK_WRITES, 1, 4, 2},
    [SECTORS_WRITTEN] = {VITALS_HOST_DISK_WRITTEN_BYTES, SECTOR_BYTES, 6, 3},
};

/* Names of these and a number are no disks of their own. */
static const char *const NOT_COUNTED[] = {
    "loop", "ram", "zram", "dm-", "md", "md_", "sr", "scd", "fd", "drbd", "bcache", "zd",
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_counted(struct span name)
{
    for (size_t i = 0; i < ARRAY_COUNT(NOT_COUNTED); i++) {
        size_t size = strlen(NOT_COUNTED[i]);
        if (name.size > size && span_starts(name, NOT_COUNTED[i]) &&
            (is_digit(name.bytes[size]) || name.bytes[size - 1] == '_'))
            return false;
    }
    return true;
}

/* sda → sda1; nvme0n1 → nvme0n1p1, for a name that ends in a digit takes a p. */
static bool is_partition(struct span name, struct span disk)
{
    if (disk.size == 0 || name.size <= disk.size || memcmp(name.bytes, disk.bytes, disk.size) != 0)
        return false;
    size_t at = disk.size;
    if (is_digit(disk.bytes[disk.size - 1]) && name.bytes[at++] != 'p')
        return false;
    if (at == name.size)
        return false;
    while (at < name.size && is_digit(name.bytes[at]))
        at++;
    return at == name.size;
}

/* Adds the line's numbers; false where there are too few. */
static bool add_line(struct cursor *at, uint64_t sums[static SUMS])
{
    uint64_t numbers[COLUMNS_MIN];
    unsigned count = 0;
    while (count < COLUMNS_MIN && cursor_u64(at, &numbers[count]))
        count++;
    if (count != COLUMNS_MIN && count != COLUMNS_OLD)
        return false;
    for (unsigned i = 0; i < SUMS; i++) {
        unsigned column = count == COLUMNS_OLD ? TABLE[i].column_old : TABLE[i].column;
        sums[i] = saturating_add(sums[i], saturating_mul(numbers[column], TABLE[i].scale));
    }
    return true;
}

void host_parse_diskstats(const char *bytes, size_t size, struct values *machine)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line, name, disk = {NULL, 0};
    uint64_t sums[SUMS] = {0}, number;
    bool any = false, whole = false;
    bool partial = size > 0 && bytes[size - 1] != '\n';
    while (host_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (!cursor_u64(&at, &number) || !cursor_u64(&at, &number) || !cursor_word(&at, &name))
            continue;
        any = true;
        if (is_partition(name, disk))
            continue;
        disk = name;
        if (!is_counted(name) || add_line(&at, sums))
            whole = true;
        else
            partial = true;
    }
    for (unsigned i = 0; any && i < SUMS; i++) {
        struct value value = value_u64(sums[i]);
        // Where no line could be read, nothing is known: not even that it is at least 0.
        value.state = !partial ? VITALS_HAVE : whole ? VITALS_LOWER_BOUND : VITALS_FAILED;
        values_set(machine, TABLE[i].metric, value);
    }
}
