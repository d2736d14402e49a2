/* machine_devices.c: properties of disks and network interfaces in /sys, besides their counters.
 * One small file for each value, and only if it is wanted: some drivers query their hardware for
 * the speed of a link. The lists are the kernel's own, so that rows are in the same order as those
 * of the ticks. Thread rule: workers, and callers of vitals_table_read. */
#include "os/linux/machine/machine.h"

#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 256 };

struct devices_reading {
    const struct os *os;
    struct row_batch *out;
    const char *class;         /* "block", "net" */
    char name[OS_DEVICE_NAME]; /* the current device */
};

/* A missing file means that the device has no such property. */
static vitals_availability reason(int error)
{
    return error == 0 || error == -ENOENT || error == -EINVAL ? VITALS_UNSUPPORTED
                                                              : os_availability(error);
}

static void read_u64(const struct devices_reading *reading, vitals_metric metric, const char *file,
                     uint64_t scale)
{
    char path[DEVICE_PATH];
    uint64_t number;
    int error;
    if (!batch_wants(reading->out, metric))
        return;
    (void)machine_device_path(path, reading->class, reading->name, file);
    if (lines_u64(reading->os, reading->os->sys, path, &number, &error))
        batch_set_u64(reading->out, metric, saturating_mul(number, scale));
    else
        batch_set_missing(reading->out, metric, reason(error));
}

static struct span read_line(const struct devices_reading *reading, const char *file,
                             char text[static TEXT_BYTES], int *error)
{
    char path[DEVICE_PATH];
    (void)machine_device_path(path, reading->class, reading->name, file);
    return lines_trim(lines_read(reading->os, reading->os->sys, path, text, TEXT_BYTES, error));
}

static void read_text(const struct devices_reading *reading, vitals_metric metric, const char *file)
{
    char text[TEXT_BYTES];
    int error;
    if (!batch_wants(reading->out, metric))
        return;
    struct span line = read_line(reading, file, text, &error);
    if (line.size > 0)
        batch_set_text(reading->out, metric, line);
    else
        batch_set_missing(reading->out, metric, reason(error));
}

/* Returns false if the name cannot be that of a file in /sys. */
static bool begin(struct devices_reading *reading, vitals_table entity, struct span name)
{
    if (name.size == 0 || name.size >= sizeof reading->name || *name.bytes == '.' ||
        memchr(name.bytes, '\0', name.size) != NULL)
        return false;
    memcpy(reading->name, name.bytes, name.size);
    reading->name[name.size] = '\0';
    if (batch_add_row(reading->out, entity, 0, name) == NULL)
        return false;
    batch_set_text(reading->out,
                   entity == VITALS_TABLE_DISK ? VITALS_DISK_NAME : VITALS_NETWORK_NAME, name);
    return true;
}

static void take_disk(struct span line, void *data)
{
    struct devices_reading *reading = data;
    struct cursor at = cursor_over(line.bytes, line.size);
    struct span word;
    if (!cursor_word(&at, &word) || !cursor_word(&at, &word) || !cursor_word(&at, &word) ||
        !begin(reading, VITALS_TABLE_DISK, word))
        return;
    read_u64(reading, VITALS_DISK_SIZE_BYTES, "size", 512);
    if (batch_wants(reading->out, VITALS_DISK_MODEL)) {
        char vendor[TEXT_BYTES], model[TEXT_BYTES], both[2 * TEXT_BYTES + 1];
        int error;
        struct span first = read_line(reading, "device/vendor", vendor, NULL);
        struct span second = read_line(reading, "device/model", model, &error);
        if (second.size == 0)
            second = read_line(reading, "device/name", model, NULL); // of a memory card
        // Except for SCSI disks, the vendor is a PCI number, or the word ATA.
        if (span_starts(first, "0x") || span_equal(first, "ATA"))
            first.size = 0;
        int size = snprintf(both, sizeof both, "%.*s%s%.*s", (int)first.size, first.bytes,
                            first.size > 0 ? " " : "", (int)second.size, second.bytes);
        if (second.size > 0)
            batch_set_text(reading->out, VITALS_DISK_MODEL, (struct span){both, (size_t)size});
        else
            batch_set_missing(reading->out, VITALS_DISK_MODEL, reason(error));
    }
    read_u64(reading, VITALS_DISK_ROTATIONAL, "queue/rotational", 1);
}

/* Hands over each line of a file of /proc, or says that it cannot be read. */
static void read_lines(struct devices_reading *reading, const char *file, vitals_table entity,
                       line_function *take)
{
    int result = lines_each(reading->os, reading->os->proc, file, take, reading);
    if (result < 0)
        batch_state(reading->out, entity, os_availability(result));
}

void machine_read_disks(const struct os *os, struct row_batch *out)
{
    struct devices_reading reading = {.os = os, .out = out, .class = "block"};
    read_lines(&reading, "diskstats", VITALS_TABLE_DISK, take_disk);
}

/* The file "flags" lacks "running", which the kernel computes when a program asks: the interface is
 * up, and its link is up or has no state. */
static void read_flags(const struct devices_reading *reading)
{
    // In the order of the kernel's bits (netdevice(7)).
    static const char *const FLAGS[] = {
        "up",        "broadcast", "debug",     "loopback", "pointopoint", "notrailers",
        "running",   "noarp",     "promisc",   "allmulti", "master",      "slave",
        "multicast", "portsel",   "automedia", "dynamic",
    };
    enum { UP = 1 << 0, RUNNING = 1 << 6 };
    char text[TEXT_BYTES], state[TEXT_BYTES];
    int error;
    uint64_t flags;
    struct row_batch *out = reading->out;
    if (!batch_wants(out, VITALS_NETWORK_UP) && !batch_wants(out, VITALS_NETWORK_FLAGS))
        return;
    struct span line = read_line(reading, "flags", text, &error);
    struct span word = read_line(reading, "operstate", state, NULL);
    const char *at = line.bytes;
    if (!number_hex(&at, line.bytes + line.size, &flags)) {
        batch_set_missing(out, VITALS_NETWORK_UP, reason(error));
        batch_set_missing(out, VITALS_NETWORK_FLAGS, reason(error));
        return;
    }
    if ((flags & UP) != 0 && (span_equal(word, "up") || span_equal(word, "unknown")))
        flags |= RUNNING;
    batch_set_u64(out, VITALS_NETWORK_UP, (flags & UP) != 0 && (flags & RUNNING) != 0);
    size_t size = 0;
    for (size_t i = 0; i < ARRAY_COUNT(FLAGS); i++)
        if ((flags >> i & 1) != 0)
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", size > 0 ? "," : "",
                                     FLAGS[i]);
    batch_set_text(out, VITALS_NETWORK_FLAGS, (struct span){text, size});
}

static void take_network(struct span line, void *data)
{
    enum { BYTES_PER_MEGABIT = 125000 };
    struct devices_reading *reading = data;
    size_t size = line.size;
    while (size > 0 && line.bytes[size - 1] != ':')
        size--;
    if (size == 0 ||
        !begin(reading, VITALS_TABLE_NETWORK, lines_trim((struct span){line.bytes, size - 1})))
        return;
    read_flags(reading);
    read_text(reading, VITALS_NETWORK_STATE, "operstate");
    read_u64(reading, VITALS_NETWORK_MTU_BYTES, "mtu", 1);
    if (batch_wants(reading->out, VITALS_NETWORK_SPEED_BYTES_PER_SECOND)) {
        /* Megabits; -1, 4294967295 or an error without a link. */
        char text[TEXT_BYTES];
        int error;
        uint64_t megabits;
        struct span speed = read_line(reading, "speed", text, &error);
        struct cursor at = cursor_over(speed.bytes, speed.size);
        if (cursor_u64(&at, &megabits) && megabits > 0 && megabits < INT32_MAX)
            batch_set_u64(reading->out, VITALS_NETWORK_SPEED_BYTES_PER_SECOND,
                          megabits * BYTES_PER_MEGABIT);
        else
            batch_set_missing(reading->out, VITALS_NETWORK_SPEED_BYTES_PER_SECOND, reason(error));
    }
    read_text(reading, VITALS_NETWORK_DUPLEX, "duplex");
    read_text(reading, VITALS_NETWORK_HARDWARE_ADDRESS, "address");
}

void machine_read_networks(const struct os *os, struct row_batch *out)
{
    struct devices_reading reading = {.os = os, .out = out, .class = "net"};
    read_lines(&reading, "net/dev", VITALS_TABLE_NETWORK, take_network);
}
