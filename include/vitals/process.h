/* process.h: a live handle on one process, for what is asked once and not watched.
 *
 * A row of a sampler's snapshot says what was; a handle asks the process itself, and proves at each
 * call that it still is the same one: it keeps two descriptors of it, its stat and a pidfd, so that
 * a pid that the kernel has given to another process returns VITALS_EGONE: that process is never
 * read, signalled or waited for. Signals and waits go by the pidfd; what can only be set by pid is
 * proven before and after.
 *
 * Answers are snapshots: a row of the table process, and the tables whose parent it is: thread,
 * descriptor, mapping, mapped_file, environment, limit, and its sockets. So every value of an
 * answer has its availability, and an answer becomes JSON as any snapshot does.
 * One thread at a time per handle; answers may be read from any. */
#ifndef VITALS_PROCESS_H
#define VITALS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/clock.h>
#include <vitals/request.h>
#include <vitals/snapshot.h>
#include <vitals/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_process vitals_process;

/* ---- having one ---- */

/* Opens a handle by pid, on the process that has it now; *out is yours to free. Errors: EARGUMENT
 * (below 1), EGONE (no process has it, or only a thread, and the message says which), EDENIED
 * (also: /proc hides it), EMEMORY, ESYSTEM. Cost: 3 system calls (stat opened, pidfd_open, stat
 * read; without a pidfd three more), and two descriptors until it is freed; a third one, if its
 * number is below 128, from the first question of memory on. */
VITALS_API VITALS_CHECKED int vitals_process_open(vitals_context *context, int64_t pid,
                                                  vitals_process **out, vitals_error *error)
    VITALS_NONNULL(1, 3);

/* Opens a handle by a row of the table process; *out is yours to free. The start in a row is a
 * clock tick: of two processes that had the pid within the same tick, only an open handle says
 * which is which. Errors: EGONE (no process has the same boot, pid namespace, pid and start),
 * EARGUMENT (no row, one of another table, or one whose request did not ask for pid and
 * start_seconds); others, and the cost, as for vitals_process_open. */
VITALS_API VITALS_CHECKED int vitals_process_of(vitals_context *context, const vitals_row *row,
                                                vitals_process **out, vitals_error *error)
    VITALS_NONNULL(1, 3);

/* Opens a handle on one thread of the process, by its tid in the table thread; *out is yours to
 * free. It is there to change one thread: vitals_process_set_nice, set_io_priority and set_affinity
 * go to it, and return EGONE once it has ended; vitals_process_pid is its tid. Signals and waits
 * are EUNSUPPORTED. Errors: EARGUMENT (below 1), EGONE (the process has ended, or has no such
 * thread), EDENIED, EMEMORY, ESYSTEM. Cost: 3 system calls, and a descriptor until it is freed. */
VITALS_API VITALS_CHECKED int vitals_process_thread(vitals_process *process, int64_t tid,
                                                    vitals_process **out, vitals_error *error)
    VITALS_NONNULL(1, 3);

/* Frees the handle and closes its descriptors. Accepts NULL. The process itself is left alone. */
VITALS_API void vitals_process_close(vitals_process *process);

/* Return the pid, and the start in seconds since boot; together they name the process. */
VITALS_API int64_t vitals_process_pid(const vitals_process *process) VITALS_NONNULL(1);
VITALS_API double vitals_process_start_seconds(const vitals_process *process) VITALS_NONNULL(1);

/* Returns 1 while the process exists (also as a zombie), 0 once it is reaped. Cost: one system
 * call, two once it has ended. */
VITALS_API int vitals_process_is_running(vitals_process *process) VITALS_NONNULL(1);

/* ---- asking ---- */

/* Reads all that the request names of this process, now and in the caller's thread, each file once:
 * one row of the table process, with pid and start_seconds asked for or not, and the rows of
 * the tables that are its own (process.h). Of the table host: memory_total_bytes and
 * boot_time_seconds, for shares and dates. Cadence and choice of rows are not looked at; tables of
 * the machine are passed over. The process has lived from before the first reading until after the
 * last. Two answers of one handle are of one stream: rates are made of them as of a sampler's. A
 * table that cannot be read, or not wholly, says so: vitals_snapshot_state. *out is yours to unref.
 * May block: command_line, what comes from smaps, the namespaces and the tables environment,
 * mapping and mapped_file wait for locks of the process, its memory's above all, which it may hold
 * for long; names of users and groups ask the name service, which may be a network. Nothing limits
 * that time: the caller chooses by its request. (A sampler reads such columns beside its ticks.)
 * Errors: EGONE, EARGUMENT (nothing that a process could answer), EMEMORY.
 * Cost: one system call for all that stands in stat, the proof included; one for the CPU clock, for
 * each link, and for memory (resident_bytes and its like: statm, which stays open); three for each
 * other file of a scalar, more where it is long; six where taskstats are asked; of the tables one
 * to three per row. */
VITALS_API VITALS_CHECKED int vitals_process_ask(vitals_process *process,
                                                 const vitals_request *request,
                                                 vitals_snapshot **out, vitals_error *error)
    VITALS_NONNULL(1, 2, 3);

/* Reads metrics of the table process directly, at the least cost: no snapshot is made. For those
 * that are read again and again: what stands in stat (name, state, parent_pid, threads, times and
 * more), sizes of memory (virtual_bytes, resident_bytes, shared_bytes, text_bytes, data_bytes),
 * cpu_seconds, what io, status, cmdline and other files of a process hold, and links such as
 * working_directory. Returns 1, and writes `count` values to `out` and their texts to `text`; or 0,
 * after which both mean nothing: a metric is not one of these, a value is missing and not for the
 * reason VITALS_UNSUPPORTED, the texts are longer than `capacity` bytes, or the process may have
 * ended. vitals_process_ask then gives the values, or says why there are none. The process has
 * lived from before the first reading until after the last, or is a zombie of which all that was
 * asked for stands in stat; may block as vitals_process_ask. Cost: one system call for all that
 * stands in stat, the proof included, else one for the proof; one for all sizes of memory (statm,
 * which stays open), one for cpu_seconds and for each link, and three
 * for each other file. */
VITALS_API VITALS_CHECKED int vitals_process_read(vitals_process *process,
                                                  const vitals_metric *metrics, size_t count,
                                                  vitals_value *out, char *text, size_t capacity)
    VITALS_NONNULL(1, 2, 4, 5);

/* Reads metrics of a table of the process directly, and calls `row` for each of its rows, as
 * vitals_table_read does of the machine: thread, descriptor, mapping, mapped_file, environment,
 * limit or socket. The process has lived from before the first reading until after the last, which
 * is proven before the first row is handed over. Returns 0; or 1 where some rows may be missing or
 * be cut (LOWER_BOUND). Errors: EARGUMENT (no metric, metrics of two tables or of another one),
 * EGONE (it has ended; of a zombie also what it no longer has), EDENIED, EUNSUPPORTED, ESYSTEM,
 * EMEMORY; `row` is then not called. May block as vitals_process_ask. Cost: the system calls of the
 * table, and one for the proof. */
VITALS_API VITALS_CHECKED int vitals_process_read_table(vitals_process *process,
                                                        const vitals_metric *metrics, size_t count,
                                                        vitals_row_fn *row, void *data,
                                                        vitals_error *error)
    VITALS_NONNULL(1, 2, 4);

/* Read one value of the process that has the pid now, in one call; for a second value of it a
 * handle costs less. The metric is of the table process and of the type. A missing value is an
 * error, whose message says why. Errors: EDENIED, EGONE, ETIMEOUT, EUNSUPPORTED (also: it needs two
 * readings), ESYSTEM, EARGUMENT (the metric, a pid below 1), EMEMORY, and those of
 * vitals_process_open. Thread: any. Cost: that of opening a handle and of vitals_process_ask, which
 * also says what may block. */
VITALS_API VITALS_CHECKED int vitals_process_u64(vitals_context *context, int64_t pid,
                                                 vitals_metric metric, uint64_t *out,
                                                 vitals_error *error) VITALS_NONNULL(1, 4);
VITALS_API VITALS_CHECKED int vitals_process_i64(vitals_context *context, int64_t pid,
                                                 vitals_metric metric, int64_t *out,
                                                 vitals_error *error) VITALS_NONNULL(1, 4);
VITALS_API VITALS_CHECKED int vitals_process_f64(vitals_context *context, int64_t pid,
                                                 vitals_metric metric, double *out,
                                                 vitals_error *error) VITALS_NONNULL(1, 4);

/* Writes one value of any type of the process that has the pid now, as vitals_row_string does for a
 * terminal: escaped, and cut where `out` (capacity bytes, NUL-terminated) is too small. Errors: as
 * of vitals_process_u64. Thread: any. Cost: that of vitals_process_u64. */
VITALS_API VITALS_CHECKED int vitals_process_string(vitals_context *context, int64_t pid,
                                                    vitals_metric metric, char *out,
                                                    size_t capacity, vitals_error *error)
    VITALS_NONNULL(1);

/* Other processes that an answer can be about. A child is never older than its parent: a process
 * that started before it only has the same number. */
typedef enum vitals_relation {
    VITALS_PARENT = 1,     /* at most one */
    VITALS_ANCESTORS = 2,  /* the parent, its parent, to the top */
    VITALS_CHILDREN = 3,   /* that it started or adopted */
    VITALS_DESCENDANTS = 4 /* children, and theirs */
} vitals_relation;

/* Reads metrics of relatives of the process: one row of the table process for each. A row has pid,
 * start_seconds and parent_pid, so that vitals_process_of takes it, and what the request names
 * (NULL: nothing more); metrics of other tables are not read. Ancestors come with the nearest
 * first, others in the order of pids. The keys of PARENT and ANCESTORS hold in that answer alone:
 * it is a stream of its own (vitals_snapshot_stream). A relative that the caller may not look at
 * has no row, and the state of the table (vitals_snapshot_state) is then LOWER_BOUND. *out is yours
 * to unref. Errors: EGONE, EARGUMENT, EMEMORY, EDENIED (/proc cannot be listed), ESYSTEM (no
 * descriptor). Cost: of ancestors two system calls and three for each; of children and descendants
 * a listing of /proc and three system calls for each process of the machine. Metrics that are not
 * in stat cost as in vitals_process_ask. */
VITALS_API VITALS_CHECKED int vitals_process_relatives(vitals_process *process,
                                                       vitals_relation relation,
                                                       const vitals_request *request,
                                                       vitals_snapshot **out, vitals_error *error)
    VITALS_NONNULL(1, 4);

/* ---- signalling and waiting ---- */

/* Sends a signal through its pidfd: to this process, or to none. SIGSTOP suspends, SIGCONT resumes,
 * SIGTERM asks it to end, SIGKILL ends it; 0 only asks whether it may be signalled. Errors: EGONE,
 * EDENIED, EARGUMENT (no such signal), EUNSUPPORTED (a kernel without pidfd, or a process of
 * another /proc), ESYSTEM. Cost: one system call. */
VITALS_API int vitals_process_signal(vitals_process *process, int signal, vitals_error *error)
    VITALS_NONNULL(1);

/* Waits until it has ended, at most timeout_ns by the context's clock (0: only looks). A child of
 * the caller is reaped, as by waitpid. A zombie of another parent has ended. Once it has, it has
 * for ever. Errors: ETIMEOUT, EUNSUPPORTED (a kernel without pidfd, or a process of another /proc),
 * ESYSTEM. Cost: one system call for each look, one for each sleep, at most five at its end; none
 * once it is known how it ended. */
VITALS_API VITALS_CHECKED int vitals_process_wait(vitals_process *process, uint64_t timeout_ns,
                                                  vitals_error *error) VITALS_NONNULL(1);

/* Waits as vitals_process_wait, but a child of the caller is not reaped (WNOWAIT): it stays a
 * zombie until other code, such as the library that started it, waits for it and gets its status.
 * That status is known here too: vitals_process_exit_status does not reap it either. A later
 * vitals_process_wait does. Errors: as of vitals_process_wait. Cost: as of it. */
VITALS_API VITALS_CHECKED int vitals_process_wait_unreaped(vitals_process *process,
                                                           uint64_t timeout_ns, vitals_error *error)
    VITALS_NONNULL(1);

/* Tells how it ended, once a wait has seen its end. HAVE: *code is what it gave to exit(3), and
 * *signal what ended it; one of both is 0. Either may be NULL; both are untouched where nothing is
 * told. NOT_YET: no wait has seen its end; this does not look. DENIED: a zombie of another parent,
 * which the caller may not trace. UNSUPPORTED: another process reaped it and the kernel is older
 * than Linux 6.15, which keeps the status of processes reaped since the handle was opened; or there
 * is no pidfd. DENIED can turn into HAVE when asked again, once the process was reaped. Cost: at
 * most five system calls; none once it is known. */
VITALS_API VITALS_CHECKED vitals_availability vitals_process_exit_status(vitals_process *process,
                                                                         int *code, int *signal)
    VITALS_NONNULL(1);

/* Returns a descriptor that poll(2) finds readable once the process has ended, for loops that watch
 * other things too; then vitals_process_wait with 0 sees the end. Borrowed: the handle's, to
 * be neither closed nor read. -1 where vitals_process_wait is EUNSUPPORTED. */
VITALS_API int vitals_process_descriptor(const vitals_process *process) VITALS_NONNULL(1);

/* Called for each process that ended, in the caller's thread; vitals_process_exit_status says how.
 * Returns 0 to go on, anything else to stop waiting. Must not free one of the processes. */
typedef int vitals_ended_fn(void *data, vitals_process *process);

enum vitals_wait_flag {
    VITALS_WAIT_UNREAPED = 1 /* no child is reaped: vitals_process_wait_unreaped */
};

/* Grows at its end only, by the rule of vitals_options. */
typedef struct vitals_wait {
    size_t size;            /* sizeof(vitals_wait), set by init */
    uint64_t timeout_ns;    /* by the first one's clock; 0: only looks. VITALS_FOREVER */
    vitals_ended_fn *ended; /* NULL: no callback */
    void *data;             /* handed to it */
    unsigned flags;         /* of enum vitals_wait_flag; others are EARGUMENT */
} vitals_wait;

/* Fills in the defaults. `size` is sizeof(vitals_wait) as the caller was compiled; not a byte
 * beyond it is written. */
VITALS_API void vitals_wait_init(vitals_wait *how, size_t size) VITALS_NONNULL(1);

/* Waits for several at once until all have ended, the time is over or `ended` stops it. `ended` is
 * called once for each place in the list, in the order of their ends; those that had ended before
 * come first. `how` may be NULL (all defaults), and so may `processes` where there are 0.
 * *remaining (may be NULL) receives the number that was not reported: these still live, unless the
 * callback stopped the wait. Not an error: that some still live. Errors: EARGUMENT (one of them is
 * NULL, options that are none), EMEMORY, EUNSUPPORTED, ESYSTEM; none is told of then unless it was
 * while waiting. Cost: five system calls and one for each process; two more for each sleep; for
 * each end two more than those of vitals_process_wait. */
VITALS_API VITALS_CHECKED int vitals_process_wait_several(vitals_process *const *processes,
                                                          size_t count, const vitals_wait *how,
                                                          size_t *remaining, vitals_error *error);

/* ---- words of two columns ---- */

typedef enum vitals_io_class {
    VITALS_IO_NONE = 0, /* as nice says */
    VITALS_IO_REALTIME = 1,
    VITALS_IO_BEST_EFFORT = 2,
    VITALS_IO_IDLE = 3
} vitals_io_class;

/* Returns the word that the column io_class has: "best_effort". NULL if there is no such class. Any
 * thread. */
VITALS_API const char *vitals_io_class_name(vitals_io_class io_class);

/* Returns the class that a word of the column io_class names, or -1. Any thread. */
VITALS_API int vitals_io_class_find(vitals_text name);

/* Reads a list of CPUs as the column cpus_allowed_list has it: "0-3,8", in any order. Writes the
 * first `capacity` of them into `cpus` and returns how many there are, as snprintf does; at least
 * 1. Returns VITALS_EARGUMENT, and writes nothing, if it is no such list or names a CPU above
 * 4194303. Any thread. */
VITALS_API VITALS_CHECKED int vitals_cpus_parse(vitals_text list, unsigned *cpus, size_t capacity);

/* ---- changing ---- */

/* Errors of all these: EGONE, EDENIED, EARGUMENT (a value that is none; the message says what is
 * accepted), EUNSUPPORTED (a process of another /proc). They go by pid, as the kernel has it, with
 * the proof before; a pid that is given away between proof and call is caught by the proof after,
 * and returns EGONE. What they set is read with process.nice, io_class, io_level, cpus_allowed_list
 * and the table limit. The first three change the first thread, or that of a handle from
 * vitals_process_thread. Cost: three system calls; five for affinity, at most ten where it is
 * refused. */

/* Sets the nice value of its first thread, -20 (most favored) to 19. */
VITALS_API VITALS_CHECKED int vitals_process_set_nice(vitals_process *process, int nice,
                                                      vitals_error *error) VITALS_NONNULL(1);

/* Sets the I/O class and level of its first thread. level: 0 (first) to 7 for REALTIME and
 * BEST_EFFORT, else 0. */
VITALS_API VITALS_CHECKED int vitals_process_set_io_priority(vitals_process *process,
                                                             vitals_io_class io_class, int level,
                                                             vitals_error *error) VITALS_NONNULL(1);

/* Sets the CPUs that its first thread may run on, by the kernel's numbers; count 0: all that it may
 * have at all. EARGUMENT names the CPU that it cannot have, and those that it can; EDENIED also for
 * a thread of the kernel that is bound to its CPU. Where it fails the process has what it had
 * before; should the kernel not give that back, the message says so. */
VITALS_API VITALS_CHECKED int vitals_process_set_affinity(vitals_process *process,
                                                          const unsigned *cpus, size_t count,
                                                          vitals_error *error) VITALS_NONNULL(1);

/* No limit. */
#define VITALS_UNLIMITED UINT64_MAX

/* Sets a resource limit by its name in the table limit: "nofile". No limit is VITALS_UNLIMITED
 * here, and soft_unlimited and hard_unlimited there. */
VITALS_API VITALS_CHECKED int vitals_process_set_limit(vitals_process *process, const char *name,
                                                       uint64_t soft, uint64_t hard,
                                                       vitals_error *error) VITALS_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif

#endif
