/* catalogue.h: the list of all tables and metrics, and what each means.
 *
 * An entity is a table of a snapshot; a metric is a column of one. Constants are in metrics.h.
 * Everything here is constant data: any thread, no cost.
 *
 * Entities, metrics, types and kinds may become more in a later version, and never fewer: leave out
 * what you do not know. Prices are a closed list. */
#ifndef VITALS_CATALOGUE_H
#define VITALS_CATALOGUE_H

#include <stdint.h>

#include <vitals/export.h>
#include <vitals/metrics.h>
#include <vitals/text.h>
#include <vitals/units.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets of tables to read; may be added together. A request (request.h) chooses single metrics, also
 * of tables that are in no set: socket, login, network_address, gpu_link, gpu_error, gpu_peer,
 * diagnosis, and those of a live handle (process.h). */
enum vitals_set {
    VITALS_SET_MACHINE = 1 << 16, /* host, cpu, disk, network, pressure */
    VITALS_SET_GPUS = 1 << 17,    /* gpu, its engines, sensors, clocks, pools, and gpu_process */
    VITALS_SET_PROCESSES =
        1 << 18,                  /* process: the plain set, with names, command lines and users */
    VITALS_SET_SOURCES = 1 << 19, /* source */
    VITALS_SET_FILESYSTEMS = 1 << 20,  /* filesystem */
    VITALS_SET_SENSORS = 1 << 21,      /* sensor */
    VITALS_SET_EVERYTHING = 0x7fff0000 /* these, and sets that a later version adds */
};

/* May grow. */
typedef enum vitals_type {
    VITALS_U64 = 1, /* at most 2^53: larger counts saturate there, as a lower bound */
    VITALS_I64 = 2,
    VITALS_F64 = 3, /* always finite */
    VITALS_TEXT = 4
} vitals_type;

/* May grow. */
typedef enum vitals_kind {
    VITALS_GAUGE = 1,   /* goes up and down */
    VITALS_COUNTER = 2, /* only grows while its row lives; rates are made of it */
    VITALS_IDENTITY = 3 /* does not move while its row lives */
} vitals_kind;

typedef enum vitals_price {
    VITALS_PRICE_TICK = 1,   /* read on the sampler's own thread at each tick */
    VITALS_PRICE_WORKER = 2, /* read beside it, and late if the source is late */
    VITALS_PRICE_SLOW = 3    /* read beside it and alone: takes from 20 ms to a second */
} vitals_price;

/* Return the next table or metric in the order of numbers: the first for VITALS_TABLE_NONE or
 * VITALS_METRIC_NONE, which also comes after the last:
 *
 *     for (vitals_metric one = VITALS_METRIC_NONE;
 *          (one = vitals_metric_next(one)) != VITALS_METRIC_NONE;) */
VITALS_API vitals_table vitals_table_next(vitals_table previous);
VITALS_API vitals_metric vitals_metric_next(vitals_metric previous);

/* Returns the metric of a table after `previous` in the order of numbers: the first of the table
 * for VITALS_METRIC_NONE, which also comes after its last. */
VITALS_API vitals_metric vitals_metric_next_of(vitals_table entity, vitals_metric previous);

/* Return what the catalogue says of a table or a metric; NULL for a number that is none. */
VITALS_API const char *vitals_table_name(vitals_table entity); /* "gpu_process" */
VITALS_API const char *vitals_table_help(vitals_table entity);
VITALS_API const char *vitals_metric_name(vitals_metric metric); /* "memory_used_bytes" */
VITALS_API const char *vitals_metric_unit(vitals_metric metric); /* "bytes"; "" for a count */
VITALS_API const char *vitals_metric_source(vitals_metric metric);
VITALS_API const char *vitals_metric_help(vitals_metric metric);

/* Writes a number of a metric in words, by its unit: "28.45MiB", "3 %", "61 °C" (as ASCII or CSV
 * "61 C"), "212 W", "1410 MHz", "1:10:56", "0.250 s", "0.42"; "N/A" for one that is not finite.
 * process.umask and descriptor.flags are octal ("0022", "0100001"), process.kernel_flags is
 * hexadecimal ("0x400000"), network.mtu_bytes a whole number ("1500B"). A moment, such as
 * host.boot_time_seconds, is a duration here; vitals_row_string writes its date. Also for a number
 * made of several values of the metric, as an average. Writes into `out` (at least VITALS_HUMAN
 * bytes), NUL-terminated, and returns it. The words may change: a program that reads them again
 * writes the number itself. */
VITALS_API char *vitals_metric_format(vitals_metric metric, double value, vitals_text_form form,
                                      char *out) VITALS_NONNULL(4);

/* Return the table of a table's parents, and the table of a metric; 0 for a number that is none,
 * and for a table without parent. A table may be its own parent: a partition's parent is a gpu, a
 * process's a process. */
VITALS_API vitals_table vitals_table_parent(vitals_table entity);
VITALS_API vitals_table vitals_metric_table(vitals_metric metric);

/* Return what kind of column a metric is. Target: the table whose keys the column holds, as
 * gpu_process.process holds those of process; 0 if its values are no keys. */
VITALS_API vitals_table vitals_metric_target(vitals_metric metric);
VITALS_API vitals_type vitals_metric_type(vitals_metric metric);
VITALS_API vitals_kind vitals_metric_kind(vitals_metric metric);
VITALS_API vitals_price vitals_metric_price(vitals_metric metric);

/* Returns how often a metric is read unless a request says otherwise; 0: at every tick. */
VITALS_API uint64_t vitals_metric_every_ns(vitals_metric metric);

/* Returns the step by which a counter grows; 0 for one that counts by ones. `estimate`: the step
 * where the value's availability is VITALS_ESTIMATE. */
VITALS_API uint64_t vitals_metric_resolution_ns(vitals_metric metric, int estimate);

/* Find a table, or a metric of a table, by its name; 0 if there is none. */
VITALS_API vitals_table vitals_table_find(const char *name);
VITALS_API vitals_metric vitals_metric_find(vitals_table entity, const char *name);

#ifdef __cplusplus
}
#endif

#endif
