/* machine.h: parts of os_read_machine, one file each. Each appends what `out` wants and opens
 * nothing for what it does not.
 *
 * Thread rule: workers only. */
#ifndef VITALS_OS_LINUX_MACHINE_MACHINE_H
#define VITALS_OS_LINUX_MACHINE_MACHINE_H

#include "os/linux/lines.h"

/* How many CPUs the calling thread may run on. */
struct value linux_count_usable(const struct os *os);

/* Names of the machine, into the row of host. */
void machine_read_names(const struct os *os, struct row_batch *out);

/* Processors: the counts and the mean clock, which belong to the row of host, into `host`; rows of
 * cpu. */
void machine_read_cpus(const struct os *os, struct row_batch *out, struct values *host);

/* Rows of disk and of network. */
void machine_read_disks(const struct os *os, struct row_batch *out);
void machine_read_networks(const struct os *os, struct row_batch *out);

/* Rows of energy_zone, as its counters stand. */
void machine_read_energy(const struct os *os, struct row_batch *out);

/* The value of PRETTY_NAME in an os-release(5), unquoted, into out; its size. */
size_t machine_parse_release(const char *bytes, size_t size, char *out, size_t capacity);

/* A line "key : value" of /proc/cpuinfo. */
bool machine_parse_cpuinfo(struct span line, struct span *key, struct span *value);

#endif
