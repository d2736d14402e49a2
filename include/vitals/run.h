/* run.h: runs a command and accounts for what it and all its descendants used.
 *
 * The caller's process becomes the launcher: the job's parent and the subreaper of everything
 * that the job leaves behind. It runs no thread and loads no vendor library; what must be sampled
 * is sampled by a second process, which gets 400 ms at the end and is then left behind, so that
 * all is over within 500 ms. The job is never delayed, its standard streams are never touched, its
 * exit status is never changed.
 *
 * Because of that these functions change the process that calls them, as their names say: they
 * set PR_SET_CHILD_SUBREAPER, take over signals while the job runs and pass them on (those that
 * end, stop or wake a program, and all others that the caller has no handler for), and reap every
 * child. The subreaper and the signals are restored at the end. They are for programs that exist to
 * run a command; a process with several threads is refused (EARGUMENT).
 *
 * A run that samples beside the program (vitals_run_open) changes nothing of it. It is used by one
 * thread at a time, but for functions that say "any thread". */
#ifndef VITALS_RUN_H
#define VITALS_RUN_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/account.h>
#include <vitals/clock.h>
#include <vitals/request.h>
#include <vitals/usage.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, as the attribute VITALS_ATTRIBUTE_LIMIT says which was passed. */
#define VITALS_RUN_LIMIT_TIME       "time"
#define VITALS_RUN_LIMIT_MEMORY     "memory"
#define VITALS_RUN_LIMIT_GPU_MEMORY "gpu_memory"
#define VITALS_RUN_LIMIT_PROCESSES  "processes"

/* Accounting methods, best first: words of vitals_run_options.methods, and of
 * VITALS_ATTRIBUTE_METHODS, which also has VITALS_METHOD_SAMPLING. */
#define VITALS_METHOD_CGROUP2   "cgroup2"
#define VITALS_METHOD_SYSTEMD   "systemd" /* a cgroup of the service manager: make_scope */
#define VITALS_METHOD_PERF      "perf"
#define VITALS_METHOD_TASKSTATS "taskstats"
#define VITALS_METHOD_CGROUP1   "cgroup1"
#define VITALS_METHOD_CONNECTOR "connector"
#define VITALS_METHOD_WAIT4     "wait4"    /* always there */
#define VITALS_METHOD_SAMPLING  "sampling" /* likewise */

/* A mark that a process of the run wrote (mark.h). It grows at its end only and is handed out by
 * pointer alone; it lives until the callback returns. */
typedef struct vitals_mark {
    int begins; /* not 0: a phase begins; 0: it ends */
    const char *name;
    uint64_t monotonic_ns;
    int64_t pid, tid; /* 0: not told */
    int told;         /* not 0: the writer gave the time itself */
} vitals_mark;

/* Receives each sample of a run. The functions are called in the sampler's process: descriptors
 * that they open and memory that they write belong to that process alone. A function may be NULL.
 * Once one returns less than zero none is called any more, and the account says why. Grows at its
 * end only, by the rule of vitals_options. */
typedef struct vitals_run_observer {
    size_t size;                   /* sizeof(vitals_run_observer), set by init */
    void *data;                    /* handed to each function */
    const vitals_request *request; /* read beside what the account needs; NULL: nothing */
    int (*begin)(void *data, vitals_error *error);
    int (*sample)(void *data, const vitals_snapshot *snapshot, const vitals_usage *usage,
                  vitals_error *error);
    int (*mark)(void *data, const vitals_mark *mark, vitals_error *error);
    int (*end)(void *data, vitals_error *error);
    int descriptor;       /* of the caller's, that stays open in the sampler's process; 0: none */
    int other_descriptor; /* another one */
} vitals_run_observer;

/* Fills in the defaults: no function. `size` is sizeof(vitals_run_observer) as the caller was
 * compiled; not a byte beyond it is written. */
VITALS_API void vitals_run_observer_init(vitals_run_observer *observer, size_t size)
    VITALS_NONNULL(1);

/* Grows at its end only, by the rule of vitals_options; so does what `world` points to. */
typedef struct vitals_run_options {
    size_t size;                 /* sizeof(vitals_run_options), set by init */
    char *const *argv;           /* as of execvp: NULL-terminated; argv[0] is looked up in PATH */
    const vitals_options *world; /* for the sampler's context; NULL: defaults */
    uint64_t interval_ns;        /* of sampling: 10 ms to 1 day; the default is 1 s */
    int wait_for_descendants;    /* not 0: also wait for what the command leaves behind */
    uint64_t child_descriptors;  /* soft RLIMIT_NOFILE that the command gets back; 0: as it is */

    const vitals_usage_options *usage;   /* what is measured; NULL: defaults */
    const vitals_run_observer *observer; /* receives each sample; NULL: none */

    /* What may be counted with: words of VITALS_METHOD_…, by spaces; NULL: all permitted. */
    const char *methods;

    /* Limits; 0: none. What passes one gets SIGTERM as a whole, and SIGKILL after the grace. Memory
     * and processes are held by a cgroup where one can be had too, a little above; the account's
     * attribute VITALS_ATTRIBUTE_LIMIT says which was passed: VITALS_RUN_LIMIT_…. */
    uint64_t limit_memory_bytes, limit_gpu_memory_bytes, limit_processes, limit_ns;
    uint64_t limit_grace_ns;  /* the default is 10 s */
    int kill_tree;            /* not 0: what the command leaves behind is ended too */
    const char *totals_path;  /* running totals stand there, as JSON; NULL: nowhere */
    char *const *environment; /* of the command, NULL at the end; NULL: ours. VITALS_MARKS
                               * is put into it where marks are read (mark.h): a run within
                               * a run has a file of its own, and what is marked there is of
                               * that run */

    /* The user's runtime folder (XDG_RUNTIME_DIR). The file of marks is made in a folder `vitals`
     * in it if it belongs to the user, else in /tmp/vitals-UID. NULL: always /tmp/vitals-UID. */
    const char *runtime_folder;

    /* Asks a service manager, such as systemd, for a cgroup of version 2 with the name `name`, and
     * to move the processes `pids` into it; 0 as a limit means none. Called at most once, in the
     * launcher, if it cannot make a cgroup below its own; the command's process is held before its
     * first instruction meanwhile, so the function must return within 50 ms. Returns 0 once the
     * manager has accepted, or a negative number if not: other methods count the run then. NULL:
     * no manager is asked. The library starts no program and opens no connection for this. */
    int (*make_scope)(void *data, const char *name, const int64_t *pids, size_t pid_count,
                      uint64_t memory_max_bytes, uint64_t processes_max);
    void *scope_data; /* the first argument of make_scope */

    /* Of vitals_run_open: the file from which observer->mark is told (mark.h); the command has it
     * in its environment. "": the run makes one, see vitals_run_marks_path, and removes it. A path:
     * a plain file, made where it is missing, to which processes write that were started with
     * VITALS_MARKS set to it; what stands in it when the run is opened is not told, and it stays.
     * NULL: no marks are read. vitals_run_command always makes one. */
    const char *marks_path;

    /* Of a run with argv: receives a sentence for the user before the command runs, if a limit
     * cannot be enforced for all that the command does. In the launcher; NULL: nothing is said. */
    void (*notice)(void *data, const char *words);
    void *notice_data; /* the first argument of notice */
} vitals_run_options;

/* Fills in the defaults. `size` is sizeof(vitals_run_options) as the caller was compiled; not a
 * byte beyond it is written. */
VITALS_API void vitals_run_options_init(vitals_run_options *options, size_t size) VITALS_NONNULL(1);

/* Runs the command to its end. Returns 0 once the command has run, whatever its own exit status,
 * and *out is yours to free; it says also that the command could not be started (126, 127).
 * `options` and what it points to must live until this returns. If an error is returned the command
 * has not run; once it runs nothing can fail, only figures be missing. Errors: EARGUMENT (an
 * option, a process with several threads), EMEMORY, ESYSTEM, and those of vitals_context_new for
 * `world`. */
VITALS_API VITALS_CHECKED int vitals_run_command(const vitals_run_options *options,
                                                 vitals_account **out, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* ---- a run without a launcher: of running processes, of the caller, of a command ---- */

typedef struct vitals_run vitals_run;

enum vitals_run_state { VITALS_RUN_NEW, VITALS_RUN_STARTED, VITALS_RUN_STOPPED };

/* Opens a run that measures `options->usage` (no pids: the caller and what it starts), sampling in
 * a thread of its own, at options->interval_ns. Where the one process that is named has a cgroup
 * that holds its tree and nothing else, as in a container, what that counts is told: as exact while
 * samples of the tree explain its CPU time, else as an upper bound, since others may have come and
 * gone.
 *
 * A run that measures the calling process measures vitals' own threads too, those of every sampler
 * in it: they read files for it and are counted by the kernel with the rest. They are told apart by
 * their ids, not by their names. What they used since the start is told by two more figures of the
 * account: VITALS_FIGURE_OWN_CPU_SECONDS, by the kernel's clock of each thread, exact while none of
 * them has ended (else a lower bound), and VITALS_FIGURE_OWN_THREADS, how many there are. They are
 * not subtracted, since the CPU time of the process is read at another moment, in steps of 10 ms:
 * cpu_seconds less own_cpu_seconds is the program's own time to within such a step.
 *
 * With argv it measures that command, which is forked here and held back until the start: our
 * child, with our streams, signals and directory. Nothing of the calling process is changed, and
 * any thread may call; so we are no subreaper: what the command leaves behind is counted where a
 * cgroup or perf can be had, and its CPU time is a lower bound elsewhere. The command is reaped by
 * the run, and its end stands in the account, unless another thread of the process waits for every
 * child. A run that is freed before leaves it running. Limits, kill_tree, marks and taskstats are
 * those of vitals_run_command.
 *
 * Its threads are vitals-run, which samples, and those of its sampler (sampler.h). After fork(2)
 * the child can only close it, which ends nothing: context.h.
 *
 * Other children of the caller are never reaped here: they stay zombies until the caller waits for
 * them. `options` and what it points to must live as long as the run. Errors: EARGUMENT,
 * EUNSUPPORTED (a limit with argv), EGONE (no such process), EDENIED, EMEMORY, ESYSTEM. Cost: a
 * sampler's, and with argv a fork. */
VITALS_API VITALS_CHECKED int vitals_run_open(const vitals_run_options *options, vitals_run **out,
                                              vitals_error *error) VITALS_NONNULL(1, 2);

/* Returns the file to which marks of this run are to be written, or "" where none are read. A
 * program puts it into its own environment as VITALS_MARKS, before it starts threads, or into that
 * of its children: the library changes no environment. Marks are read at each sample and at the
 * stop. Borrowed; lives as long as the run. Any thread. */
VITALS_API const char *vitals_run_marks_path(const vitals_run *run) VITALS_NONNULL(1);

/* Returns the pid of the command (argv), to signal it: vitals_process_open proves that it is still
 * the same process. It is held back until the start. 0 without a command. Any thread. */
VITALS_API int64_t vitals_run_pid(const vitals_run *run) VITALS_NONNULL(1);

/* Excludes one more pid, as in vitals_usage_options: that process, which runs already, and all
 * below it are no part of the run, for a helper that was started after the run was opened. Before
 * the start. Errors: EARGUMENT (no pid, or the run was started), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_run_exclude(vitals_run *run, int64_t pid, vitals_error *error)
    VITALS_NONNULL(1);

/* Starts the run, stops it, and says which of both has been done. A command that cannot be executed
 * is no error: the account says so (126, 127), as a shell would. Errors: EARGUMENT (a second start,
 * a second stop, a stop before the start, a child of fork), ESYSTEM (no thread). Cost: the
 * start starts a thread; the stop waits for the last sample. */
VITALS_API VITALS_CHECKED int vitals_run_start(vitals_run *run, vitals_error *error)
    VITALS_NONNULL(1);
VITALS_API int vitals_run_stop(vitals_run *run, vitals_error *error) VITALS_NONNULL(1);
VITALS_API enum vitals_run_state vitals_run_state(const vitals_run *run) VITALS_NONNULL(1);

/* Waits until every root has ended, at most timeout_ns by the run's clock (0: only looks;
 * VITALS_FOREVER: no longest time). Returns 1 once they have, 0 where the time was over before. The
 * exit status stands in the account where the kernel tells it. Any thread. Errors: EARGUMENT (the
 * run was not started, a child of fork), ESYSTEM. Cost: one system call, and one sleep. */
VITALS_API VITALS_CHECKED int vitals_run_wait(vitals_run *run, uint64_t timeout_ns,
                                              vitals_error *error) VITALS_NONNULL(1);

/* Makes an account of everything so far; *out is yours to free. At any moment, from any thread.
 * Errors: EMEMORY, EARGUMENT (a child of fork). */
VITALS_API VITALS_CHECKED int vitals_run_account(vitals_run *run, vitals_account **out,
                                                 vitals_error *error) VITALS_NONNULL(1, 2);

/* Frees the run, and stops it first if that was not done. Accepts NULL. */
VITALS_API void vitals_run_close(vitals_run *run);

#ifdef __cplusplus
}
#endif

#endif
