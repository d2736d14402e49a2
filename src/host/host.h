/* host.h: the machine's rows: host, cpu, disk, network, pressure, file systems, sensors and what
 * else of it is asked for.
 *
 * Owns the kept descriptors of the machine's files. Values whose reading may block are read by
 * host_cache_read on workers, one for each kind, and handed back with host_cache_take. Thread rule:
 * the tick thread, but for host_cache_read. */
#pragma once

#include "host/devices.h"
#include "host/identities.h"
#include "model/answer_cache.h"
#include "os/world.h"

/* Counters of energy that begin anew (energy.c). One of zeros knows no zone. */
struct energy_zone;
struct energy {
    struct energy_zone *zones;
    size_t count, capacity;
};

/* The values that are read beside the ticks, each kind on a worker of its own, so that none waits
 * for another. */
enum host_cache {
    HOST_CACHE_MACHINE, /* columns of host, cpu, disk, network; pressure of our cgroup; energy_zone
                         */
    HOST_CACHE_FILESYSTEMS, /* and the space on disks, of host */
    HOST_CACHE_SENSORS,
    HOST_CACHE_TABLES, /* network_address, login, socket */
    HOST_LATES
};

struct host {
    struct os_host files;
    struct os_machine reading; /* the newest of the files */
    struct values machine;     /* of host: the newest of each */
    struct moments moments;
    struct values pressures[OS_PRESSURES]; /* the newest */
    uint64_t pressures_ns;
    struct devices disks, networks;
    struct energy energy;
    struct answer_cache cache[HOST_LATES];
    struct identities identities[ENTITY_MAX + 1];
    struct shared_text *name; /* read once */
    struct shared_text *kernel;
};

void host_init(struct host *host);
void host_done(struct host *host);

/* Reads what is due; the rest stays as it was, but for the tables cpu and disk, which are read as a
 * whole. Returns 0 or VITALS_EMEMORY. */
int host_read(struct host *host, const vitals_context *context, const struct metric_set *due,
              uint64_t now_ns);

/* Which of these metrics a kind answers for; whether there are any. */
bool host_cache_part(enum host_cache kind, const struct metric_set *wanted,
                     struct metric_set *part);

/* Whether a kind is asked for all of its part as soon as any of it is due: its tables are. */
bool host_cache_whole(enum host_cache kind);

/* Whether the newest answer of a kind has the metric, in any row, or may yet have it. */
bool host_cache_has(const struct host *host, enum host_cache kind, vitals_metric metric);

/* On a worker. `gate` stands beside the file systems, and may be NULL. */
void host_cache_read(const vitals_context *context, enum host_cache kind,
                     const struct metric_set *wanted, const struct os_gate *gate,
                     struct row_batch *out);

/* Takes an answer, and may exchange its memory for other. Returns 0 or VITALS_EMEMORY. */
int host_cache_take(struct host *host, enum host_cache kind, struct row_batch *answer,
                    uint64_t read_ns);

/* Opens the tables that are wanted and writes the rows, stamped `stamp_ns`. `processes` is the
 * number of entries in /proc of this tick, or a reason. */
void host_write(const struct host *host, vitals_builder *builder, const struct metric_set *wanted,
                struct value processes, uint64_t stamp_ns);

/* ---- energy.c ---- */

void energy_done(struct energy *energy);

/* Adds what the sums are made of, where one is wanted. */
void energy_want(struct metric_set *wanted);

/* Puts what was counted before into the rows of energy_zone, and the sums into the row of host,
 * where it has a place for them; the table was read at read_ns. Returns 0 or VITALS_EMEMORY. */
int energy_take(struct energy *energy, struct row_batch *batch, uint64_t read_ns);
