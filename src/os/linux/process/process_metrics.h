/* process_metrics.h: how the columns of one process that are read beside the ticks divide the work.
 *
 * process_metrics.c has the table of readers and the small files; _status the identities and sizes,
 * _memory what its pages are shared with, _links where it is and what it has open, _network
 * what went through its network namespace, _waits how long it waited. Each reader is called where
 * one of its metrics is wanted, opens nothing for the others, and gives every one of them a value
 * or a reason. Thread rule: any thread. */
#pragma once

#include "os/linux/process/process_tables.h"

struct metrics_reading {
    const struct os *os;
    int64_t pid;
    struct row_batch *out;
    struct buffer text; /* of the file that is being read */

    bool stat_read; /* its stat, once and on demand */
    int stat_error;
    struct os_stat stat; /* without the name */
};

/* `metrics`: those of its row in the table, ended by 0. */
typedef void metrics_reader(struct metrics_reading *reading, const vitals_metric *metrics);

metrics_reader metrics_read_status, metrics_read_memory, metrics_read_waits,
    metrics_read_executable, metrics_read_directory, metrics_read_namespaces, metrics_read_network,
    metrics_read_descriptors;

/* ---- what readers share ---- */

/* A file of the process into reading->text. Returns 0 or negative errno. */
int metrics_file(struct metrics_reading *reading, const char *name, size_t limit, bool *cut);

/* The stat of the process; NULL where it cannot be read. */
const struct os_stat *metrics_stat(struct metrics_reading *reading);

enum process_kind metrics_kind_of(struct metrics_reading *reading);

/* Why a file of a process could not be read. A file that is not there while the process lives is
 * one that the kernel does not have. */
vitals_availability batch_reason(struct metrics_reading *reading, int error);

/* Sets numbers, each of which is there if `has` has all of its bits. */
struct metrics_number {
    vitals_metric metric;
    unsigned bits;
    uint64_t number;
};
void batch_set_numbers(struct row_batch *out, const struct metrics_number *numbers, size_t count,
                       unsigned has, vitals_availability state, vitals_availability missing);

/* The list ends by 0. */
void batch_missing_all(struct row_batch *out, const vitals_metric *metrics,
                       vitals_availability reason);

/* ---- parsers: pure, total, fuzzed ---- */

/* Names of capabilities, joined by commas; "all" for every one up to `last`, nothing for none. */
void linux_format_capabilities(uint64_t mask, unsigned last, struct buffer *out);

/* How many CPUs a list such as "0-3,8" names; false where it is none. */
bool linux_count_cpus(struct span list, uint64_t *out);

/* smaps_rollup, or smaps piece by piece: whole lines are added, and the size of what was taken is
 * returned. */
enum {
    SMAPS_PSS = 1u << 0,
    SMAPS_CLEAN = 1u << 1,
    SMAPS_DIRTY = 1u << 2,
    SMAPS_HUGETLB = 1u << 3,
    SMAPS_SWAP_PSS = 1u << 4,
    SMAPS_THP = 1u << 5,
    SMAPS_PSS_ANON = 1u << 6,
    SMAPS_PSS_FILE = 1u << 7,
    SMAPS_PSS_SHMEM = 1u << 8
};
struct linux_smaps {
    unsigned has;
    uint64_t pss_bytes, pss_anon_bytes, pss_file_bytes, pss_shmem_bytes;
    uint64_t private_clean_bytes, private_dirty_bytes, private_hugetlb_bytes;
    uint64_t swap_pss_bytes, thp_bytes;
};
size_t linux_add_smaps(const char *bytes, size_t size, struct linux_smaps *sum);

/* ---- taskstats.c ---- */

/* Sums over the threads of a process that live and, as far as the kernel keeps them, that ended. */
struct linux_taskstats {
    uint64_t voluntary, involuntary; /* context switches: of the ended on new kernels only */
    uint64_t runs;                   /* times that one was put on a CPU */
    uint64_t run_delay_ns, block_delay_ns, swap_delay_ns, reclaim_delay_ns;
};

/* Asks the kernel; -EPERM without CAP_NET_ADMIN, -ENOTSUP where os is not live. Six system calls.
 */
int linux_taskstats(const struct os *os, int64_t pid, struct linux_taskstats *out);

/* Answers of generic netlink. They return 0, the errno that the answer is, or -EBADMSG. */
int linux_parse_family(const char *bytes, size_t size, uint16_t *id);
int linux_parse_taskstats(const char *bytes, size_t size, struct linux_taskstats *out);
