/* process_tables.h: what the readers of one process's tables share, and their parsers.
 *
 * Parsers are pure, take bytes that a process may have chosen, never read past them, and are
 * fuzzed. Thread rule: any thread. */
#pragma once

#include "os/linux/tables.h"

/* Whether a metric of the list, which ends by 0, is wanted. */
bool batch_wants_any(const struct row_batch *out, const vitals_metric *metrics);

static inline void batch_set_u64_as(struct row_batch *out, vitals_metric metric, uint64_t number,
                                    vitals_availability state)
{
    batch_set_value(out, metric, (struct value){.as.u64 = number, .state = (signed char)state});
}

/* Opens "PID/name" below /proc. A descriptor, or negative errno. */
int linux_process_open(const struct os *os, int64_t pid, const char *name, int flags);

/* ---- memory and files, which not every process has ---- */

enum process_kind { PROCESS_ORDINARY, PROCESS_KERNEL_THREAD, PROCESS_ZOMBIE, PROCESS_UNKNOWN };
enum process_kind linux_kind_of(const struct os_stat *stat);

/* Rows of one table of the process with that pid, from files below os->proc alone. */
typedef int linux_table_reader(const struct os *os, int64_t pid, struct row_batch *out);

/* Reads a table that tells of memory or of files. Where that gave no row, as the files of /proc
 * then say ESRCH, EACCES or nothing by kernel and by user, stat says why: a kernel thread has none
 * (0); a zombie has none any more (`of_zombie`); and where only the first thread has ended, another
 * one is asked in its place. */
int linux_read_owned(const struct os *os, int64_t pid, linux_table_reader *reader, int of_zombie,
                     struct row_batch *out);

/* A thread of the process that goes on, where the first one has ended: its number, and in *threads
 * a world whose /proc is the folder of threads, so that a number that is given away meanwhile is
 * not below it (close threads->proc). 0 where none does. */
int64_t linux_living_thread(const struct os *os, int64_t pid, struct os *threads);

/* Where a process keeps what it was given, by stat. */
struct linux_area {
    uint64_t start, size;
};
struct linux_stat_memory {
    struct linux_area arguments, environment;
};
/* False if there are no such fields. They are 0 for a reader without permission, of a zombie and of
 * a kernel thread, and until a new program's memory is complete. */
bool linux_parse_stat_memory(const char *bytes, size_t size, struct linux_stat_memory *out);
bool linux_stat_memory(const struct os *os, int64_t pid, struct linux_stat_memory *out);

/* Whether the process, of which one may read everything, has memory that the kernel has not
 * finished yet, or has none. False of a tree of files. */
bool linux_lacks_memory(const struct os *os, int64_t pid);

/* ---- folders whose names are numbers: fd, task ---- */

/* Adds the names of the open directory that are numbers, as an int holds them, until there are
 * `limit`, in ascending order, each once; *cut says whether there were more. Returns 0 or negative
 * errno, and those that were read before it. */
int linux_numbers_read(int directory, size_t limit, struct os_pids *out, bool *cut);

/* ---- names ending in " (deleted)", which the kernel appends and a file may be called ---- */

/* Whether the text ends so; then *cut is what stands before. */
bool linux_ends_deleted(struct span text, struct span *cut);

/* Takes in what a listing of /proc told: so many processes and links. Pure. */
void linux_learn_count(struct os_process_count *count, uint64_t links, uint64_t listed,
                       uint64_t modules);

/* A file by its inode, and by the device that statx tells, where that is known: the one in maps may
 * be another (btrfs, overlayfs). */
struct linux_file {
    uint64_t inode;
    bool has_device;
    uint32_t major, minor;
};

/* Whether the path, as the process sees it, names that file: 1, 0, or -1 where that cannot be told
 * (a kernel before 5.12, another /proc, a file system that asks a server whether names still
 * stand). Looks only at what the kernel has in memory, where the name of an open or mapped file is,
 * and waits for no file system. Three system calls; one or two more where it is not told. */
int linux_process_names(const struct os *os, int64_t pid, struct span path,
                        const struct linux_file *file);

/* The same of one process many times: its root, a descriptor or negative errno, is held open. */
int linux_process_root(const struct os *os, int64_t pid);
int linux_root_names(int root, struct span path, const struct linux_file *file);

/* ---- threads ---- */

/* /proc/PID/task/TID/schedstat. All 0: the kernel does not count, or it has not run yet. */
struct linux_schedstat {
    uint64_t run_ns, delay_ns;
    uint64_t runs; /* how often it got a CPU */
};
bool linux_parse_schedstat(const char *bytes, size_t size, struct linux_schedstat *out);

/* /proc/PID/task/TID/status; fields in `has` only. */
enum {
    TASK_VOLUNTARY = 1u << 0,
    TASK_INVOLUNTARY = 1u << 1,
    TASK_CPUS = 1u << 2,
};
struct linux_task_status {
    unsigned has;
    uint64_t voluntary, involuntary; /* context switches */
    struct span cpus;                /* as "0-3,8"; borrowed */
};
void linux_parse_task_status(const char *bytes, size_t size, struct linux_task_status *out);

/* ---- descriptors ---- */

/* /proc/PID/fdinfo/N; fields in `has` only. */
enum {
    FDINFO_POSITION = 1u << 0,
    FDINFO_FLAGS = 1u << 1,
    FDINFO_SIZE = 1u << 2,
    FDINFO_INODE = 1u << 3, /* since 5.14 */
};
struct linux_fdinfo {
    unsigned has;
    uint64_t position;
    uint64_t flags; /* of open(2) */
    uint64_t size;  /* of a dmabuf */
    uint64_t inode;
};
void linux_parse_fdinfo(const char *bytes, size_t size, struct linux_fdinfo *out);

/* r, w, r+, a, a+; "-" where it can do neither. */
const char *linux_descriptor_mode(uint64_t flags);

/* The inode that the link's text tells, of a socket or a pipe; false for any other. */
bool linux_descriptor_inode(struct span text, uint64_t *inode);

/* The type that the link's text alone tells, as VITALS_DESCRIPTOR_TYPE; NULL for a path, whose
 * file's mode says it. */
const char *linux_descriptor_type(struct span text);

/* ---- mappings ---- */

/* The line that begins a mapping in maps and smaps. */
struct linux_mapping {
    struct span addresses, permissions;
    uint64_t start, end, offset, inode;
    uint64_t major, minor;
    struct span path; /* as it stands there; size 0: none */
};
bool linux_parse_mapping(struct span line, struct linux_mapping *out);

/* A line below it, "Rss:   12 kB": which of these, and how many bytes. False for any other, and
 * where no number stands. */
enum linux_mapping_size {
    MAPPING_RESIDENT,
    MAPPING_PSS,
    MAPPING_SHARED_CLEAN,
    MAPPING_SHARED_DIRTY,
    MAPPING_PRIVATE_CLEAN,
    MAPPING_PRIVATE_DIRTY,
    MAPPING_REFERENCED,
    MAPPING_ANONYMOUS,
    MAPPING_SWAP,
    MAPPING_THP,
    MAPPING_LOCKED,
    MAPPING_SHARED_HUGETLB,
    MAPPING_PRIVATE_HUGETLB,
    MAPPING_SIZES
};
bool linux_parse_mapping_size(struct span line, enum linux_mapping_size *which, uint64_t *bytes);

/* A path of maps with its newlines, which stand there as "\012": copied to `out` where it has any,
 * else as it is. False where memory is out. */
bool linux_mapping_path(struct span text, struct buffer *out, struct span *path);

/* ---- environment ---- */

struct linux_variable {
    struct span name, value; /* of an entry without "=" the name is the whole, and value.bytes NULL
                              */
};

/* The next one of /proc/PID/environ; false at the end. Empty strings are passed over, and one that
 * lacks its NUL counts. */
bool linux_parse_variable(struct cursor *cursor, struct linux_variable *out);

/* ---- limits ---- */

enum { LINUX_LIMITS = 16 };

struct linux_limit {
    const char *name;  /* as getrlimit(2) calls it: nofile */
    int resource;      /* for prlimit(2) */
    const char *unit;  /* bytes, seconds, microseconds, or "" for a count */
    const char *title; /* how its line in /proc/PID/limits begins: "Max open files" */
};

/* In the order of /proc/PID/limits: the table limit and vitals_process_set_limit use the same. */
extern const struct linux_limit LINUX_LIMIT[LINUX_LIMITS];

/* By name; NULL where there is none. */
const struct linux_limit *linux_limit_find(struct span name);

#define LINUX_UNLIMITED UINT64_MAX /* as RLIM_INFINITY */

struct linux_limit_values {
    bool known;
    uint64_t soft, hard;
};

/* /proc/PID/limits, in the order of LINUX_LIMIT. Returns how many were found. */
size_t linux_parse_limits(const char *bytes, size_t size,
                          struct linux_limit_values out[static LINUX_LIMITS]);
