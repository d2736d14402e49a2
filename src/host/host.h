/* host.h: the machine's rows: host and cpu.
 *
 * Owns the kept descriptors of the machine's files. What is slow (cgroup files) is read by
 * host_slow_read on a lane into plain values, and handed back with host_slow_take.
 * Thread rule: the tick thread, but for host_slow_read. */
#ifndef VITALS_HOST_HOST_H
#define VITALS_HOST_HOST_H

#include "os/world.h"
#include "snapshot/builder.h"

struct host {
    struct os_host files;
    struct os_cpus cpus;
    struct values machine; /* newest from the files and from the lane */
    struct moments moments;
    struct shared_text *name; /* read once */
    struct shared_text *kernel;
};

void host_init(struct host *host);
void host_done(struct host *host);

/* Reads what is due; the rest stays as it was, but for the table cpu, which is read as a whole.
 * Returns 0 or VITALS_EMEMORY. */
int host_read(struct host *host, const vitals_context *context, const struct metric_set *due,
              uint64_t now_ns);

/* On a lane. */
void host_slow_read(const vitals_context *context, const struct metric_set *wanted,
                    struct values *out);
void host_slow_take(struct host *host, const struct values *slow, uint64_t read_ns);

/* Opens the tables that are wanted and writes the rows, stamped `stamp_ns`. `processes` is the
 * number of entries in /proc of this tick, or a reason. */
void host_write(const struct host *host, vitals_builder *builder, const struct metric_set *wanted,
                struct value processes, uint64_t stamp_ns);

#endif
