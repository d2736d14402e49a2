/* os.h: the interface to the operating system. src/os/linux/ and src/os/null/ implement it.
 *
 * Roots are opened once as directory descriptors and everything is read below them, so that a test
 * hands in a tree of files. Functions return 0 or a negative errno. The availability of each value
 * says why it cannot be read. Nothing here keeps state but the records that the caller owns. Thread
 * rule: struct os is immutable after os_open and any thread may read through it. */
#pragma once

#include "model/row_batch.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include <vitals/context.h>

struct os {
    int proc, sys, dev; /* directory descriptors; all but proc may be -1 */
    int etc, run;       /* likewise */
    int share;          /* likewise, /usr/share */
    int var;            /* likewise */
    bool bpf;           /* a program may be loaded into the kernel */
    bool live;          /* proc shows our own pid namespace: pids may be used in system calls */
    double ticks_per_second; /* clock ticks of /proc; divided by, a hundredth prints as short as it
                                is */
    uint64_t page_bytes;
    vitals_clock clock;
    vitals_trace_fn *trace; /* may be NULL */
    void *trace_data;
    bool *lacking; /* set if a descriptor was refused; may be NULL */
};

static inline uint64_t os_now_ns(const struct os *os)
{
    return os->clock.monotonic_ns(os->clock.data);
}

int os_open(struct os *os, const vitals_options *options, vitals_error *error);
void os_close(struct os *os);

/* The machine's clock, for vitals_clock_system. */
const vitals_clock *os_clock(void);

/* A unique number: random if the system has randomness, else from the clock. */
uint64_t os_random(const struct os *os);

/* The soft limit of descriptors. */
uint64_t os_descriptor_limit(void);

/* How many CPUs the calling thread may run on; 1 where that is not known. */
size_t os_cpus_usable(const struct os *os);

/* Writes to the trace, if there is one. The line is made safe. */
void os_trace(const struct os *os, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* errno (positive or negative) → why a value is missing: EACCES and EPERM denied, ENOENT and ESRCH
 * gone, ENODEV, ENOTSUP and their like unsupported, the rest failed. */
vitals_availability os_availability(int error);

/* ---- waking a thread that waits with clock.wait_until ---- */

int os_event_new(void); /* a descriptor, or negative errno */
void os_event_set(int event);
void os_event_clear(int event);
void os_close_descriptor(int descriptor); /* -1 is harmless */

/* A small file that is kept open, from its beginning. Its bytes, or negative errno. */
int64_t os_read_kept(int descriptor, char *out, size_t capacity);

/* ---- whose pids these are ---- */

/* The inode of the first pid namespace, in every kernel that has such inodes. */
#define OS_FIRST_PID_NAMESPACE UINT64_C(0xeffffffc)

struct os_origin {
    char host[256];
    char boot_id[48];
    uint64_t pid_namespace;
};

void os_read_origin(const struct os *os, struct os_origin *out);

/* ---- the machine (kept descriptors; one thread) ---- */

/* The resources of pressure stall information: cpu, memory, io, irq. */
enum { OS_PRESSURES = 4 };

struct os_host {
    int stat, meminfo, loadavg, vmstat, diskstats, netdev; /* -1: not open yet */
    int pressure[OS_PRESSURES];                            /* -2: this kernel has none */
    struct buffer text;                                    /* of the file being read */
};

struct os_cpu {
    uint64_t index;
    struct values values; /* of VITALS_TABLE_CPU */
};

struct os_cpus {
    struct os_cpu *items;
    size_t count, capacity;
};

/* A line of a list of devices: a name and what the kernel counts of it, in the order of the line's
 * numbers. */
enum { OS_DEVICE_NAME = 64, OS_DEVICE_NUMBERS = 17 };

struct os_device {
    char name[OS_DEVICE_NAME];
    unsigned has; /* a bit for each number that the line tells */
    uint64_t numbers[OS_DEVICE_NUMBERS];
};

struct os_devices {
    struct os_device *items;
    size_t count, capacity;
    signed char state; /* UNSET: not read; LOWER_BOUND: a line could not be read; or why none */
};

/* The numbers of a disk. Old kernels tell fewer, and four only of a partition. */
enum {
    OS_DISK_READS,
    OS_DISK_READS_MERGED,
    OS_DISK_SECTORS_READ, /* of 512 bytes, whatever the device says */
    OS_DISK_READ_MS,
    OS_DISK_WRITES,
    OS_DISK_WRITES_MERGED,
    OS_DISK_SECTORS_WRITTEN,
    OS_DISK_WRITE_MS,
    OS_DISK_IN_FLIGHT, /* a gauge */
    OS_DISK_BUSY_MS,
    OS_DISK_QUEUE_MS,
    OS_DISK_DISCARDS,
    OS_DISK_DISCARDS_MERGED,
    OS_DISK_SECTORS_DISCARDED,
    OS_DISK_DISCARD_MS,
    OS_DISK_FLUSHES,
    OS_DISK_FLUSH_MS
};

/* The numbers of a network interface. */
enum {
    OS_NETWORK_RECEIVED_BYTES,
    OS_NETWORK_RECEIVED_PACKETS,
    OS_NETWORK_RECEIVE_ERRORS,
    OS_NETWORK_RECEIVE_DROPS,
    OS_NETWORK_TRANSMITTED_BYTES = 8,
    OS_NETWORK_TRANSMITTED_PACKETS,
    OS_NETWORK_TRANSMIT_ERRORS,
    OS_NETWORK_TRANSMIT_DROPS,
    OS_NETWORK_NUMBERS = 16
};

/* The result of one reading. Memory is kept from reading to reading. */
struct os_machine {
    struct values values; /* of VITALS_TABLE_HOST */
    struct os_cpus cpus;
    struct os_devices disks, networks;
    struct values pressures[OS_PRESSURES]; /* of VITALS_TABLE_PRESSURE; nothing HAVE: no row */
};

void os_host_init(struct os_host *host);
void os_host_done(struct os_host *host);
void os_machine_done(struct os_machine *machine);

/* Reads those files that the wanted metrics need; every wanted TICK metric of host and cpu gets a
 * value or a reason, but for HOST_PROCESSES, texts and what is summed up over devices. */
void os_host_read(struct os_host *host, const struct os *os, const struct metric_set *wanted,
                  struct os_machine *out);

/* The type of a device. Asked once for each. */
struct os_device_kind {
    const char *type;   /* a word that lives for ever */
    unsigned char rank; /* those of the least rank above 0 that there is are counted */
};

/* `disk`: the whole disk that stands before it in the list, or NULL. *partition: it is one of that
 * disk. */
void os_disk_kind(const struct os *os, const char *name, const char *disk, bool *partition,
                  struct os_device_kind *out);
void os_network_kind(const struct os *os, const char *name, struct os_device_kind *out);

/* The kernel's release; size 0 where it cannot be read. */
void os_read_kernel(const struct os *os, char *out, size_t capacity);

/* Reads the limits of our own cgroup and its ancestors, and its usage (v1, v2, hybrid): the metrics
 * of host whose name begins with cgroup_, but for the path. May block. */
void os_read_own_cgroup(const struct os *os, const struct metric_set *wanted,
                        struct values *machine);

/* The metrics of host, cpu, disk and network with the price WORKER, and the pressure of our own
 * cgroup, as rows of those tables: host and cpu with the keys that they have in a snapshot, disk
 * and network with their name as label. Space on disks is not among them. May block. */
void os_read_machine(const struct os *os, struct row_batch *out);

/* ---- cgroups of others ---- */

/* Where cgroups are mounted. One thread's own. */
struct os_groups;
struct os_groups *os_groups_new(void); /* NULL when memory is out */
void os_groups_free(struct os_groups *groups);

/* Looks again. One file is read. */
void os_groups_find(struct os_groups *groups, const struct os *os);

/* Sets the figures of the newest row, of workload, that a cgroup counts for itself and those below
 * it (v1, v2, hybrid); `path` is as /proc/PID/cgroup has it. UNSUPPORTED where we do not see it,
 * GONE where it has vanished. May block; three system calls for a figure. */
void os_groups_metrics(const struct os_groups *groups, const struct os *os, struct span path,
                       struct row_batch *out);

/* Rows of a table of the machine that stands beside the ticks: filesystem, sensor, network_address,
 * login, socket, diagnosis, mount, with the metrics that `out` wants. Returns 0, or a negative
 * errno that says why there are none. May block: workers and callers' own threads only. */
int os_read_table(const struct os *os, vitals_table entity, struct row_batch *out);

/* Told before and after each call of a reading that may hang. The item is a number, never 0, that
 * names what is asked: a mount, a device, a process. */
struct os_gate {
    bool (*enter)(void *data, uint64_t item); /* false: pass over it, as if it had timed out */
    void (*leave)(void *data, uint64_t item);
    void *data;
};

/* os_read_table of filesystem. The items of the gate are mounts; it may be NULL. */
int os_read_filesystems(const struct os *os, const struct os_gate *gate, struct row_batch *out);

/* A row of filesystem for that on which a path of ours lies, with its space at that path. Where no
 * mount of our /proc is known for it, the row has the space alone. Returns 0 or a negative errno.
 * May block. */
int os_read_filesystem_of(const struct os *os, const char *path, struct row_batch *out);

/* ---- folders below /var ---- */

/* When an entry of the folder last came or went, by the folder's own clock. 0 or negative errno.
 * One system call. */
int os_var_changed(const struct os *os, const char *path, uint64_t *changed_ns);

/* The names in a folder, in no order, until `visit` says false. 0 or negative errno. */
typedef bool os_var_visit(struct span name, void *data);
int os_var_list(const struct os *os, const char *path, os_var_visit *visit, void *data);

/* ---- notes: small files that services leave below /run and /var for others ---- */

/* Opens a folder, to be closed with os_close_descriptor; or negative errno. */
enum os_job_files { OS_JOB_FILES_RUN, OS_JOB_FILES_VAR };
int os_job_files_open(const struct os *os, enum os_job_files where, const char *path);

/* The bytes of a file in it. 0 or negative errno: -EINVAL where it is no regular file (a link is
 * not followed, a FIFO not waited for), -EFBIG where there is more than fits, and out holds the
 * beginning. *size is set in any case. Four system calls; a disk may answer: workers only. */
int os_note_read(int folder, const char *name, char *out, size_t capacity, size_t *size);

/* ---- lists below /usr/share ---- */

/* Hands each whole line of a file over; one that is longer than 32 KiB is passed over. 0 or
 * negative errno. 64 KiB of stack; no memory is asked for. */
int os_share_lines(const struct os *os, const char *path,
                   void (*take)(struct span line, void *data), void *data);

/* ---- files of /sys ---- */

/* Paths are below the root of /sys, as "class/drm/card0/device/vendor"; where there is no such
 * root, -ENOENT. A driver answers some of these files and may block, or wake a sleeping device:
 * workers only, and what can sleep is asked for its runtime_status first. No memory is asked for.
 */
enum { OS_SYS_PATH = 512, OS_SYS_NAME = 96 };

/* The file's text, without newlines, blanks and NULs at its end; out is a string in any case.
 * 0 or negative errno; -EFBIG: there is more than fits, and out holds the beginning. Three
 * system calls. */
int os_sys_text(const struct os *os, const char *path, char *out, size_t capacity);

/* The file's bytes as they are. 0 or negative errno; -EFBIG as above. *size is set in any case. */
int os_sys_bytes(const struct os *os, const char *path, void *out, size_t capacity, size_t *size);

/* The number that the file begins with, which ends there or at a blank: decimal, or hexadecimal
 * behind "0x". 0 or negative errno, and *out is untouched then; -EBADMSG: it is none. A number that
 * is too large saturates. */
int os_sys_u64(const struct os *os, const char *path, uint64_t *out);
int os_sys_i64(const struct os *os, const char *path, int64_t *out); /* decimal, with its sign */

bool os_sys_exists(const struct os *os, const char *path);

/* Whether only the owner of the folder `root` may make entries in `path` (1), or others too (0), by
 * its owner and mode. Negative errno. Two system calls. */
int os_sys_is_kept(const struct os *os, const char *root, const char *path);

/* The names in a folder but for those that begin with a dot, in natural order (card2 before
 * card10): os_sys_names says which folder, os_sys_next gives the next name, valid until the one
 * after it, or NULL at the end. Then `result` is 0 or a negative errno; -EFBIG: some were passed
 * over, for they are longer than OS_SYS_NAME or too many. It may be left at any name: nothing stays
 * open. 8 KiB of stack beside the struct. */
enum { OS_SYS_PASS = 128 };
struct os_sys_names {
    int result;
    const struct os *os;
    bool more, skipped; /* there are others behind them; some are too long */
    size_t at, count, seen;
    char path[OS_SYS_PATH], last[OS_SYS_NAME];
    char names[OS_SYS_PASS][OS_SYS_NAME]; /* the first of those that come behind `last` */
};
void os_sys_names(struct os_sys_names *names, const struct os *os, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *os_sys_next(struct os_sys_names *names);

/* Whether an error of a reading below /sys leaves open what is there: not, if the path is missing
 * in a /sys that is mounted. */
bool os_sys_hides(const struct os *os, int error);

/* The target of a symbolic link; -EINVAL: it is none. 0 or negative errno. */
int os_sys_link(const struct os *os, const char *path, char *out, size_t capacity);

/* The same place without a symbolic link in its path, as "devices/pci0000:00/0000:00:01.0". 0 or
 * negative errno; -EXDEV: it leads out of /sys. A system call for each part of the path. */
int os_sys_real(const struct os *os, const char *path, char *out, size_t capacity);

/* ---- lists of numbers: pids, descriptors ---- */

/* A struct of zeros is empty; its memory is kept when it is filled again. */
struct os_pids {
    int64_t *items;
    size_t count, capacity;
    void *stream; /* the OS's own */
};
void os_pids_done(struct os_pids *pids);

/* Adds one; -ENOMEM. And puts them in order, each once. */
int os_pids_append(struct os_pids *pids, int64_t pid);
void os_pids_settle(struct os_pids *pids);

/* ---- processes that have a DRM or accel device open ---- */

enum { OS_DRM_MAJOR = 226, OS_ACCEL_MAJOR = 261 };

struct os_gpu_open {
    uint64_t descriptor;
    uint32_t major, minor;
};

/* One of zeros is empty; its memory is kept from process to process. */
struct os_gpu_opens {
    struct os_gpu_open *items; /* in the order of descriptors */
    size_t count, capacity;
    struct os_pids numbers;   /* of all descriptors */
    bool is_asked, is_procfs; /* is_asked: whether the root is a real /proc is known */
};

/* How many descriptors a process has, which since Linux 6.2 one look at /proc/PID/fd tells; 0: not
 * told. One system call. */
uint64_t os_descriptor_count(const struct os *os, int64_t pid, struct os_gpu_opens *opens);

/* The descriptors of such devices that a process has. 0 or negative errno: -EACCES where we may not
 * see them, -ESRCH or -ENOENT where it is gone. By pid, so the caller proves whose it is. A system
 * call for each descriptor that it has, and one more for each that may be a device. */
int os_gpu_opens_read(const struct os *os, int64_t pid, struct os_gpu_opens *out);
void os_gpu_opens_done(struct os_gpu_opens *opens);

/* /proc/PID/fdinfo/N: whole lines of it, as many as there is room for. 0 or negative errno. Three
 * system calls. */
int os_gpu_fdinfo(const struct os *os, int64_t pid, uint64_t descriptor, char *out, size_t capacity,
                  size_t *size);

/* ---- counters of a device's performance monitoring unit ---- */

/* The event to count, as the unit's folder in /sys/bus/event_source/devices says. */
struct os_perf_event {
    uint64_t config[3]; /* config, config1, config2 */
};

/* Counters of one unit that are read together. One of zeros is empty. */
enum { OS_PERF_EVENTS = 128 };
struct os_perf {
    uint32_t count;
    int descriptors[OS_PERF_EVENTS];
};

/* One more, counting from now on. 0 or negative errno, and nothing has changed: -EACCES and -EPERM
 * where that needs CAP_PERFMON, -ENOENT and -EINVAL where the unit has no such counter, -ENOTSUP
 * where os is not live, or its /sys is not the kernel's. */
int os_perf_add(const struct os *os, struct os_perf *perf, uint32_t type, unsigned cpu,
                const struct os_perf_event *event);

/* All of them, in the order in which they were added. 0 or negative errno. One system call. */
int os_perf_read(const struct os_perf *perf, uint64_t *values);
void os_perf_close(struct os_perf *perf);

/* ---- what a DRM driver reports to a client of its device ---- */

/* Opens a node below /dev/dri ("renderD128") that has these numbers. A descriptor, for
 * os_drm_close, or negative errno: -ENOTSUP if os is not live, -ENODEV if the node is another
 * device's. May block in the driver; an open descriptor is a client of the device. */
int os_drm_open(const struct os *os, const char *name, uint32_t major, uint32_t minor);
void os_drm_close(int descriptor);

/* Whether that descriptor of this process is one that os_drm_open has open now: then the client is
 * vitals itself, not a workload. Any thread. */
bool os_drm_is_ours(int64_t pid, uint64_t descriptor);

/* One of the driver's own commands, whose argument it reads and writes. 0 or negative errno. May
 * block, and may wake the device. */
int os_drm_ask(int descriptor, unsigned command, void *argument, size_t size);

/* ---- what a driver leaves beside /sys ---- */

/* A small text file below /proc that is no process's, as "driver/nvidia/version", without a last
 * newline; what does not fit is cut. 0 or negative errno; out is a string in any case. */
int os_proc_text(const struct os *os, const char *path, char *out, size_t capacity);

/* Whether we may read and write the file below /dev: 0, or -ENOENT, -EACCES. It is not opened. */
int os_dev_access(const struct os *os, const char *path);

/* ---- processes ---- */

/* All pids in ascending order. The list is reused from tick to tick. */
int os_list_processes(const struct os *os, struct os_pids *pids);

/* How many processes there are, by the links of /proc: one for each, and one for each folder of its
 * own. How many folders that are a listing says, and it is believed once three listings, each of
 * another number than the one before, agree: a process may begin and another end during one. A
 * kernel module, which may add a folder, begins this anew. Zeroed at first. */
struct os_process_count {
    uint64_t folders, listed, modules;
    unsigned agreed; /* listings */
    bool known;
};

/* os_list_processes, and learns from it. */
int os_list_and_learn(const struct os *os, struct os_pids *pids, struct os_process_count *count);

/* The number, by two system calls; false where it is not known. */
bool os_count_processes(const struct os *os, struct os_process_count *count, size_t *out);

/* Whether /proc is mounted so that processes exist which it does not list for us (hidepid=invisible
 * or ptraceable, and neither a right nor a group that sees all). A few system calls; reads the list
 * of mounts only where the first process belongs to us and we may not trace. */
bool os_hides_processes(const struct os *os);

/* Adds the children of a process of so many threads: three system calls for each thread, and three
 * for the list of threads where there are several. Negative errno; -ENOENT also where the kernel
 * has no such files. Some may be missing where others end meanwhile. */
int os_list_children(const struct os *os, int64_t pid, uint64_t threads, struct os_pids *pids);

/* Adds the processes of a cgroup, the folder of which is open: by the order of pids, without
 * zombies and those of groups below it. Opened anew each time: in version 1 one that is kept open
 * returns the old members. Negative errno; -ERANGE if one has no pid in our namespace or there are
 * very many. */
int os_list_group(int folder, struct os_pids *pids);

/* The last pid given in our namespace: while it is the same, no process was started. -1 if it
 * cannot be read. Its file is kept in *kept, -1 at first, to be closed in the end. */
int64_t os_last_pid(const struct os *os, int *kept);

/* One number (a digest) of each process in our pid namespace: while it is the same, os_process_stat
 * of the process would say nothing new, and it is the same process. This does not hold for a
 * process that runs or is runnable. Memory that the kernel reclaimed from it may be missing. */
struct os_task_digest {
    int64_t pid;
    uint64_t digest;
    bool runs;
};
struct os_task_iterator;

/* *out is yours to close. Negative errno: -ENOTSUP where the kernel or our pid namespace is
 * another, -EPERM without CAP_BPF. Some 10 ms, and 6 MB of memory meanwhile. */
int os_task_iterator_open(const struct os *os, struct os_task_iterator **out);
void os_task_iterator_close(struct os_task_iterator *iterator); /* accepts NULL */

/* All processes in the order of pids, until the next call. 0 or negative errno; -EFBIG where there
 * are so many threads that reading files is as cheap. Three system calls, and one more for each 600
 * threads; 0.3 us for each. */
int os_task_iterator_read(struct os_task_iterator *iterator, const struct os_task_digest **items,
                          size_t *count);

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
    OS_STAT_CPU = 1u << 10,
    OS_STAT_GROUP = 1u << 11,
    OS_STAT_SESSION = 1u << 12,
    OS_STAT_TERMINAL = 1u << 13,
    OS_STAT_CHILDREN = 1u << 14,
    OS_STAT_PRIORITY = 1u << 15,
    OS_STAT_POLICY = 1u << 16, /* with the realtime priority */
    OS_STAT_BLOCKED = 1u << 17,
    OS_STAT_FLAGS = 1u << 18,
    OS_STAT_FOREGROUND = 1u << 19,
    OS_STAT_ALL = (1u << 20) - 1
};

enum { OS_KERNEL_THREAD = 0x200000 }; /* in flags */

struct os_stat {
    unsigned has;
    struct span name; /* borrowed from the text that was parsed */
    char state;       /* the kernel's letter */
    int64_t parent_pid;
    uint64_t process_group, session;
    int64_t terminal;         /* the device, as stat(5) packs it in 32 bits; 0: none */
    int64_t foreground_group; /* of that terminal; -1: none */
    uint64_t flags;           /* the kernel's */
    uint64_t minor_faults, major_faults;
    uint64_t user_ticks, system_ticks;
    uint64_t children_user_ticks, children_system_ticks;
    int64_t priority;
    int64_t nice;
    uint64_t threads;
    uint64_t start_ticks;
    uint64_t virtual_bytes;
    uint64_t resident_pages;
    uint64_t cpu;
    uint64_t realtime_priority, policy; /* the kernel's number: SCHED_OTHER is 0 */
    uint64_t blocked_ticks;             /* that it waited for block devices; 0 where none counts */
};

/* The fields of /proc/PID/statm, in pages; fields in `has` only. */
enum {
    OS_STATM_RESIDENT = 1u << 0,
    OS_STATM_SHARED = 1u << 1,
    OS_STATM_TEXT = 1u << 2,
    OS_STATM_DATA = 1u << 3,
    OS_STATM_ALL = (1u << 4) - 1
};
struct os_statm {
    unsigned has;
    uint64_t size, resident, shared, text, data; /* size: whenever it has one of the others */
};

/* Text of a stat file that is too long is cut there. */
enum { OS_STAT_TEXT = 2048 };

/* Opens stat, and statm where wanted (which may fail: it is -1 then). `process` is untouched on
 * failure. */
int os_process_open(const struct os *os, int64_t pid, bool statm, struct os_process *process);

/* Opens the stat of one thread of a process. `thread` is untouched on failure. */
int os_thread_open(const struct os *os, int64_t pid, int64_t tid, struct os_process *thread);

/* Opens statm by pid: a kept stat that is read afterwards proves whose it is. */
int os_process_open_statm(const struct os *os, struct os_process *process);
void os_process_close(struct os_process *process);

/* Reads and parses; `text` holds what out->name points into. -ESRCH: it is gone, even if the pid
 * was reused. One system call. */
int os_process_stat(const struct os_process *process, char text[static OS_STAT_TEXT],
                    struct os_stat *out);

/* The same of a process whose files are not kept open. Three system calls. */
int os_stat_of(const struct os *os, int64_t pid, char text[static OS_STAT_TEXT],
               struct os_stat *out);

/* The name below /dev of a terminal as os_stat numbers it, "pts/3"; "204:65" where the device has
 * none, and "" for 0. Returns its length. Three system calls for what is neither a pseudoterminal
 * nor a console, else none. */
enum { OS_TERMINAL_TEXT = 64 };
size_t os_terminal_name(const struct os *os, int64_t device, char out[static OS_TERMINAL_TEXT]);

/* One system call. 0 means that OS_STATM_RESIDENT is there. */
int os_process_statm(const struct os_process *process, struct os_statm *out);

/* The memory of a process whose first thread has ended, which tells of none any more, through
 * another that lives. By pid, so the caller proves whose it was. -ESRCH where none lives. Three
 * system calls, and six for each thread up to the first that lives. */
int os_process_memory(const struct os *os, int64_t pid, uint64_t *virtual_bytes,
                      struct os_statm *statm);

/* CPU time of the whole process in nanoseconds; -ENOTSUP where os is not live. The caller proves
 * by reading a kept stat afterwards that the pid was its own. One system call. */
int os_process_cpu_ns(const struct os *os, int64_t pid, uint64_t *ns);

/* A file of a process, at most `limit` bytes; *cut says whether there was more. */
int os_process_file(const struct os *os, int64_t pid, const char *name, size_t limit,
                    struct buffer *out, bool *cut);

/* Whether the process has that character device open; false also where we may not see what it has
 * open. By pid, so the caller proves whose it is. Two system calls, and one per descriptor. */
bool os_process_has_device(const struct os *os, int64_t pid, uint32_t major, uint32_t minor);

/* The numbers of /proc/PID/status: a bit of `has`, a member of struct os_status, the label of the
 * line and how it is read (parse_status.c); for the first ones the metric of a process. */
// clang-format off
#define OS_STATUS_METRICS(X)                                                              \
    X(UID, uid, "Uid:", FIRST, UID) /* the real one */                                    \
    X(EFFECTIVE_UID, effective_uid, "Uid:", SECOND, EFFECTIVE_UID)                        \
    X(SAVED_UID, saved_uid, "Uid:", THIRD, SAVED_UID)                                     \
    X(FILESYSTEM_UID, filesystem_uid, "Uid:", FOURTH, FILESYSTEM_UID)                     \
    X(GID, gid, "Gid:", FIRST, GID)                                                       \
    X(EFFECTIVE_GID, effective_gid, "Gid:", SECOND, EFFECTIVE_GID)                        \
    X(SAVED_GID, saved_gid, "Gid:", THIRD, SAVED_GID)                                     \
    X(FILESYSTEM_GID, filesystem_gid, "Gid:", FOURTH, FILESYSTEM_GID)                     \
    X(NAMESPACE_PID, namespace_pid, "NSpid:", LAST, NAMESPACE_PID) /* in the innermost */ \
    X(TRACER, tracer_pid, "TracerPid:", FIRST, TRACER_PID)                                \
    X(UMASK, umask, "Umask:", OCTAL, UMASK)                                               \
    X(NO_NEW_PRIVILEGES, no_new_privileges, "NoNewPrivs:", FIRST, NO_NEW_PRIVILEGES)      \
    X(VIRTUAL_PEAK, virtual_peak_bytes, "VmPeak:", KIBIBYTES, VIRTUAL_PEAK_BYTES)         \
    X(LOCKED, locked_bytes, "VmLck:", KIBIBYTES, LOCKED_BYTES)                            \
    X(ANON, anon_bytes, "RssAnon:", KIBIBYTES, RESIDENT_ANON_BYTES)                       \
    X(FILE, file_bytes, "RssFile:", KIBIBYTES, RESIDENT_FILE_BYTES)                       \
    X(SHMEM, shmem_bytes, "RssShmem:", KIBIBYTES, RESIDENT_SHMEM_BYTES)                   \
    X(SWAPPED, swapped_bytes, "VmSwap:", KIBIBYTES, SWAPPED_BYTES)                        \
    X(HUGETLB, hugetlb_bytes, "HugetlbPages:", KIBIBYTES, HUGETLB_BYTES)

#define OS_STATUS_OTHERS(X)                                                        \
    X(PEAK, peak_bytes, "VmHWM:", KIBIBYTES, NONE)                                 \
    X(GROUP, group, "Tgid:", PID, NONE)                                            \
    X(PERMITTED, permitted, "CapPrm:", HEX, NONE) /* capabilities, by bit */       \
    X(EFFECTIVE, effective, "CapEff:", HEX, NONE)                                  \
    X(SECCOMP, seccomp, "Seccomp:", FIRST, NONE) /* 0 disabled, 1 strict, 2 filter */ \
    X(BLOCKED, blocked, "SigBlk:", HEX, NONE) /* signals; bit 0 is signal 1 */     \
    X(IGNORED, ignored, "SigIgn:", HEX, NONE)                                      \
    X(CAUGHT, caught, "SigCgt:", HEX, NONE)                                        \
    X(PENDING, pending, "ShdPnd:", HEX, NONE) /* sent to the process */            \
    X(THREAD_PENDING, thread_pending, "SigPnd:", HEX, NONE) /* to its first thread */
// clang-format on

#define OS_STATUS_NUMBERS(X)                OS_STATUS_METRICS(X) OS_STATUS_OTHERS(X)
#define OS_STATUS_PLACE(name, ...)          OS_STATUS_AT_##name,
#define OS_STATUS_BIT(name, ...)            OS_STATUS_##name = 1u << OS_STATUS_AT_##name,
#define OS_STATUS_MEMBER(name, member, ...) uint64_t member;

enum { OS_STATUS_NUMBERS(OS_STATUS_PLACE) OS_STATUS_AT_CPUS };
enum {
    OS_STATUS_NUMBERS(OS_STATUS_BIT) /* one for each number */
    OS_STATUS_CPUS = 1u << OS_STATUS_AT_CPUS,
    OS_STATUS_GROUPS = 2u << OS_STATUS_AT_CPUS,
    OS_STATUS_ALL = OS_STATUS_GROUPS | (OS_STATUS_GROUPS - 1)
};
_Static_assert(OS_STATUS_AT_CPUS < 31, "has of struct os_status has a bit for each");
struct os_status {
    unsigned has; /* the others are 0 */
    char state;   /* the kernel's letter; NUL: not known */
    OS_STATUS_NUMBERS(OS_STATUS_MEMBER)
    struct span cpus;   /* that it may run on, as "0-3,8"; borrowed from the text */
    struct span groups; /* supplementary, numbers with blanks between them; borrowed too */
};

/* The numbers of /proc/PID/io, in the same way: those that are metrics, and those of disks. */
#define OS_IO_METRICS(X)                                              \
    X(READ_CALLS, read_calls, "syscr:", READ_CALLS)                   \
    X(WRITE_CALLS, write_calls, "syscw:", WRITE_CALLS)                \
    X(CALL_READ, call_read_bytes, "rchar:", CALL_READ_BYTES)          \
    X(CALL_WRITTEN, call_written_bytes, "wchar:", CALL_WRITTEN_BYTES) \
    X(CANCELLED, cancelled_write_bytes, "cancelled_write_bytes:", CANCELLED_WRITE_BYTES)
#define OS_IO_NUMBERS(X)                     \
    OS_IO_METRICS(X)                         \
    X(READ, read_bytes, "read_bytes:", NONE) \
    X(WRITTEN, written_bytes, "write_bytes:", NONE)
#define OS_IO_PLACE(name, ...) OS_IO_AT_##name,
#define OS_IO_BIT(name, ...)   OS_IO_##name = 1u << OS_IO_AT_##name,

enum { OS_IO_NUMBERS(OS_IO_PLACE) OS_IO_COUNT };
enum { OS_IO_NUMBERS(OS_IO_BIT) OS_IO_ALL = (1u << OS_IO_COUNT) - 1 };
_Static_assert(OS_IO_COUNT < 31, "has of struct os_io has a bit for each");
struct os_io {
    unsigned has;
    OS_IO_NUMBERS(OS_STATUS_MEMBER)
};

/* Parsers of (bytes, size): pure, total, fuzzed. They return false where the text is not such a
 * file at all. Of status the state and what is wanted, as bits of `has`; it has 60 lines. */
bool os_parse_stat(const char *bytes, size_t size, struct os_stat *out);
bool os_parse_status(const char *bytes, size_t size, unsigned wanted, struct os_status *out);
bool os_parse_io(const char *bytes, size_t size, struct os_io *out);
/* The word of wait(2) in a zombie's stat, field 52; false where the process is none, or the text
 * ends before it. */
bool os_parse_stat_exit(const char *bytes, size_t size, int *status);
bool os_parse_statm(const char *bytes, size_t size, struct os_statm *out);

/* The path of the process's cgroup: of version 2 where it is not the root or the only one, else
 * that of the memory, cpuacct or first controller. Borrowed from bytes; size 0: none. */
struct span os_parse_cgroup(const char *bytes, size_t size);

/* The newest row of `out` is the process's: every metric of the table process with the price WORKER
 * that `out` wants gets a value or a reason, but for names of users and groups and for what the
 * path of the cgroup tells (container, unit, job, pod). By pid: the caller proves that it is still
 * the same process. False if a descriptor was refused, and some of them may be wrong. May block. */
bool os_process_metrics(const struct os *os, int64_t pid, struct row_batch *out);

/* Rows of a table of one process: thread, descriptor, mapping, mapped_file, environment, limit,
 * socket. As os_read_table and os_process_metrics. */
int os_process_table(const struct os *os, int64_t pid, vitals_table entity, struct row_batch *out);

/* The user's name into out; -ENOENT where there is none, -EMFILE or -ENFILE where a descriptor was
 * refused. May block (LDAP): workers only. */
int os_user_name(uint64_t uid, char *out, size_t capacity);
int os_group_name(uint64_t gid, char *out, size_t capacity); /* likewise */

/* Whether two processes share one memory map, or which comes first in an order of no meaning:
 * 0: they share it, 1: the first, 2: the second; negative errno where that is not told. */
int os_compare_maps(const struct os *os, int64_t first, int64_t second);

/* ---- ourselves ---- */

enum { OS_SELF_TEXT = 4096 };

/* The folder that we work in; negative errno where it has no name. */
int os_self_folder(char *out, size_t capacity);

/* The effective user's name as /etc/passwd has it, else the number. Asks no name service. */
int os_self_user(const struct os *os, char *out, size_t capacity);

/* ---- handles that act ---- */

int os_pidfd_open(const struct os *os, int64_t pid); /* a descriptor, or negative errno */
int os_pidfd_signal(int pidfd, int signal);

/* 1 once its process has ended, as a zombie too; 0 while it lives; or negative errno. */
int os_pidfd_ended(int pidfd);

/* How a process ended. */
struct os_exit {
    vitals_availability state; /* HAVE, or why it is not available: then both are 0 */
    int code, signal;
};

/* For a process that has ended: of a child of the caller, which `reap` reaps and which else stays a
 * zombie, and as the kernel tells it of others. DENIED: we may not see a zombie's status.
 * UNSUPPORTED: this kernel keeps no status of reaped processes. */
void os_pidfd_exit(const struct os *os, int pidfd, const struct os_process *process, bool reap,
                   struct os_exit *out);

/* Several descriptors as one, for clock.wait_until. 0 or negative errno; -EEXIST where the
 * descriptor is in it. */
int os_watch_new(void); /* a descriptor, or negative errno */
int os_watch_add(int watch, int descriptor, uint64_t tag);
void os_watch_remove(int watch, int descriptor);

/* The tags of at most `capacity` that can be read now, in the order in which they came to be.
 * Returns how many, or negative errno. */
int os_watch_ready(int watch, uint64_t *tags, size_t capacity);

/* Settings by pid: the caller proves, before and after, that it is still the same process. -ENOTSUP
 * if os is not live. */
int os_process_set_nice(const struct os *os, int64_t pid, int nice);
int os_process_set_io_priority(const struct os *os, int64_t pid, unsigned io_class, unsigned level);

/* Why CPUs were refused. */
struct os_affinity {
    unsigned missing;  /* the first that it may not have */
    char eligible[96]; /* those that it may have, as 0-3,8; "": it cannot be moved */
    int not_restored;  /* 0: what it had before holds; negative errno: it could not be given back,
                        * and it has others now. Of any error but this one */
};

/* No CPUs: all that it may have. -EINVAL: it may not have one of them, and `why` says which. `why`
 * is filled in wherever it fails. */
int os_process_set_affinity(const struct os *os, int64_t pid, const unsigned *cpus, size_t count,
                            struct os_affinity *why);

/* UINT64_MAX: no limit. -ENOENT: there is no limit of that name. */
int os_process_set_limit(const struct os *os, int64_t pid, const char *name, uint64_t soft,
                         uint64_t hard);

/* The names of limits, one after the other; NULL behind the last. */
const char *os_limit_name(size_t index);
