/* os.h: what vitals asks of an operating system. src/os/linux/ and src/os/null/ implement it.
 *
 * Roots are opened once as directory descriptors and everything is read below them, so that a test
 * hands in a tree of files. Functions return 0 or a negative errno. What cannot be read is said by
 * the availability of each value. Nothing here keeps state but the records that the caller owns.
 * Thread rule: struct os is immutable after os_open and any thread may read through it. */
#ifndef VITALS_OS_OS_H
#define VITALS_OS_OS_H

#include "core/buffer.h"
#include "core/cursor.h"
#include "metric/values.h"
#include <vitals/context.h>

struct os {
    int proc, sys, dev; /* directory descriptors; sys and dev may be -1 */
    bool live;          /* proc shows our own pid namespace: pids may be used in system calls */
    double ticks_per_second; /* clock ticks of /proc; divided by, a hundredth prints as short as it
                                is */
    uint64_t page_bytes;
    vitals_clock clock;
    vitals_trace *trace; /* may be NULL */
    void *trace_data;
};

int os_open(struct os *os, const vitals_options *options, vitals_error *error);
void os_close(struct os *os);

/* The machine's clock, for vitals_clock_system. */
const vitals_clock *os_clock(void);

/* A number that nobody else has: random where the system has randomness, else from the clock. */
uint64_t os_random(const struct os *os);

/* The soft limit of descriptors. */
uint64_t os_descriptor_limit(void);

/* Tells the trace, if somebody listens. The line is made safe. */
void os_trace(const struct os *os, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* errno (positive or negative) → why a value is missing: EACCES and EPERM denied, ENOENT and ESRCH
 * gone, ENODEV, ENOTSUP and their like unsupported, the rest failed. */
vitals_availability os_availability(int error);

/* ---- waking somebody who waits with clock.wait_until ---- */

int os_event_new(void); /* a descriptor, or negative errno */
void os_event_set(int event);
void os_event_clear(int event);
void os_close_descriptor(int descriptor); /* -1 is harmless */

/* ---- whose pids these are ---- */

struct os_origin {
    char host[256];
    char boot_id[48];
    uint64_t pid_namespace;
};

void os_read_origin(const struct os *os, struct os_origin *out);

/* ---- the machine (kept descriptors; one thread) ---- */

struct os_host {
    int stat, meminfo, loadavg, diskstats, netdev; /* -1: not open yet */
    struct buffer text;                            /* of the file being read */
};

struct os_cpu {
    uint64_t index;
    struct values values; /* of VITALS_CPU */
};

struct os_cpus {
    struct os_cpu *items;
    size_t count, capacity;
};

void os_host_init(struct os_host *host);
void os_host_done(struct os_host *host);

/* Reads those files that the wanted metrics need; every wanted TICK metric of host and cpu gets a
 * value or a reason, but for HOST_PROCESSES and texts. */
void os_host_read(struct os_host *host, const struct os *os, const struct metric_set *wanted,
                  struct values *machine, struct os_cpus *cpus);

/* The kernel's release; size 0 where it cannot be read. */
void os_read_kernel(const struct os *os, char *out, size_t capacity);

/* The LANE metrics of host: what our own cgroup and its ancestors allow (v1, v2, hybrid). */
void os_read_own_cgroup(const struct os *os, const struct metric_set *wanted,
                        struct values *machine);

/* ---- processes ---- */

/* All pids in ascending order. The list is reused from tick to tick. */
struct os_pids {
    int64_t *items;
    size_t count, capacity;
    void *stream; /* the OS's own */
};

int os_list_processes(const struct os *os, struct os_pids *pids);
void os_pids_done(struct os_pids *pids);

/* One process: what is kept open. -1: not. */
struct os_process {
    int64_t pid;
    int stat;
    int statm;
};

/* Which fields of os_stat hold something. */
enum {
    OS_STAT_NAME = 1u << 0,
    OS_STAT_STATE = 1u << 1,
    OS_STAT_PARENT = 1u << 2,
    OS_STAT_FAULTS = 1u << 3,
    OS_STAT_TIMES = 1u << 4,
    OS_STAT_NICE = 1u << 5,
    OS_STAT_THREADS = 1u << 6,
    OS_STAT_START = 1u << 7,
    OS_STAT_VIRTUAL = 1u << 8,
    OS_STAT_RESIDENT = 1u << 9, /* of stat: not exact on newer kernels, a fallback only */
    OS_STAT_CPU = 1u << 10
};

struct os_stat {
    unsigned has;
    struct span name; /* borrowed from the text that was parsed */
    char state;       /* the kernel's letter */
    int64_t parent_pid;
    uint64_t minor_faults, major_faults;
    uint64_t user_ticks, system_ticks;
    int64_t nice;
    uint64_t threads;
    uint64_t start_ticks;
    uint64_t virtual_bytes;
    uint64_t resident_pages;
    uint64_t cpu;
};

/* Text of a stat file that is too long is cut there. */
enum { OS_STAT_TEXT = 2048 };

/* Opens stat, and statm where wanted (which may fail: it is -1 then). `process` is untouched on
 * failure. */
int os_process_open(const struct os *os, int64_t pid, bool statm, struct os_process *process);

/* Opens statm by pid: a kept stat that is read afterwards proves whose it is. */
int os_process_open_statm(const struct os *os, struct os_process *process);
void os_process_close(struct os_process *process);

/* Reads and parses; `text` holds what out->name points into. -ESRCH: it is gone, whoever has the
 * pid now. One system call. */
int os_process_stat(const struct os_process *process, char text[static OS_STAT_TEXT],
                    struct os_stat *out);

/* Resident pages. One system call. */
int os_process_resident_pages(const struct os_process *process, uint64_t *pages);

/* CPU time of the whole process in nanoseconds; -ENOTSUP where os is not live. The caller proves
 * by reading a kept stat afterwards that the pid was its own. One system call. */
int os_process_cpu_ns(const struct os *os, int64_t pid, uint64_t *ns);

/* A file of a process, at most `limit` bytes; *cut says whether there was more. */
int os_process_file(const struct os *os, int64_t pid, const char *name, size_t limit,
                    struct buffer *out, bool *cut);

/* What /proc/PID/status tells; fields in `has` only. */
enum { OS_STATUS_UID = 1u << 0, OS_STATUS_PEAK = 1u << 1, OS_STATUS_GROUP = 1u << 2 };
struct os_status {
    unsigned has;
    uint64_t uid;        /* real */
    uint64_t peak_bytes; /* VmHWM */
    int64_t group;       /* Tgid */
};

/* What /proc/PID/io tells. */
enum { OS_IO_READ = 1u << 0, OS_IO_WRITTEN = 1u << 1 };
struct os_io {
    unsigned has;
    uint64_t read_bytes, written_bytes;
};

/* Parsers of (bytes, size): pure, total, fuzzed. They return false where the text is not such a
 * file at all. */
bool os_parse_stat(const char *bytes, size_t size, struct os_stat *out);
bool os_parse_status(const char *bytes, size_t size, struct os_status *out);
bool os_parse_io(const char *bytes, size_t size, struct os_io *out);
bool os_parse_statm(const char *bytes, size_t size, uint64_t *resident_pages);

/* The path of the process's cgroup: of version 2 where it is not the root or the only one, else
 * that of the memory, cpuacct or first controller. Borrowed from bytes; size 0: none. */
struct span os_parse_cgroup(const char *bytes, size_t size);

/* The user's name into out; false where there is none. May block (LDAP): lanes only. */
bool os_user_name(uint64_t uid, char *out, size_t capacity);

/* ---- handles that act ---- */

int os_pidfd_open(const struct os *os, int64_t pid); /* a descriptor, or negative errno */
int os_pidfd_signal(int pidfd, int signal);

#endif
