/* machine.h: parts of os_read_machine, one file each. Each appends what `out` wants, and opens only
 * the files that are needed for it. Thread rule: workers, and callers of vitals_table_read. */
#pragma once

#include "os/linux/lines.h"

/* Writes the path of a file below the device's folder, or of the folder itself (""). Returns false
 * if the name cannot be that of a file. */
enum { DEVICE_PATH = 192 };
bool machine_device_path(char out[static DEVICE_PATH], const char *class, const char *name,
                         const char *file);

/* Returns the number of CPUs on which the calling thread may run. */
struct value linux_count_usable(const struct os *os);

/* Adds the machine's names to the row of host. */
void machine_read_names(const struct os *os, struct row_batch *out);

/* Adds processors: the counts and the mean clock to `host`, for the row of host; and rows of
 * cpu. */
void machine_read_cpus(const struct os *os, struct row_batch *out, struct values *host);

/* Add rows of disk and of network. */
void machine_read_disks(const struct os *os, struct row_batch *out);
void machine_read_networks(const struct os *os, struct row_batch *out);

/* Adds rows of energy_zone with the current counters. */
void machine_read_energy(const struct os *os, struct row_batch *out);

/* Writes the unquoted value of PRETTY_NAME in an os-release(5) into out; returns its size. */
size_t machine_parse_release(const char *bytes, size_t size, char *out, size_t capacity);

/* Parses a line "key : value" of /proc/cpuinfo. */
bool machine_parse_cpuinfo(struct span line, struct span *key, struct span *value);
