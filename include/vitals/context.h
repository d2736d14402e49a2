/* context.h: what all other objects share.
 *
 * A context holds what comes from outside: where /proc, /sys and /dev are, the clock, the limits,
 * which device back ends there are. A context is immutable once made and may be used from any
 * thread; a sampler or a live handle made of it is used by one thread at a time. They may outlive
 * it: each keeps what it needs. The library reads no environment variable and changes nothing of
 * its process: it sets no locale, umask or signal handler (but vitals_run_command, run.h).
 *
 * fork(2): an object that has threads (a sampler, a subscription, a run, a collector) works in the
 * process that made it alone. A child of that process can only free it, which touches neither the
 * parent's threads nor its descriptors; if a thread was reading at the fork, memory and descriptors
 * stay until the child ends. Any other call on it fails with EARGUMENT, or returns NULL if it
 * cannot fail. All else may be used in the child: contexts, requests, snapshots, histories,
 * accounts, live handles (process.h), and new objects with threads. A vendor's driver need not work
 * in the child of a process that has used it.
 *
 * Signals: no function may be called from a signal handler. The library's threads block every
 * signal, so that handlers run in the program's threads alone. A call that a signal interrupts goes
 * on, with the deadline that it had.
 *
 * One thread may outlive all objects: one that hangs in a driver cannot be ended, and uses clock
 * and trace once more when it comes back. Where a context asks for real devices, the clock's and
 * the trace's functions and data must live until the process ends; strings and the records are
 * copied. For the same reason dlclose(3) leaves libvitals.so loaded (-z nodelete): such a thread
 * returns into its code. */
#ifndef VITALS_CONTEXT_H
#define VITALS_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/clock.h>
#include <vitals/error.h>
#include <vitals/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_context vitals_context;

/* Receives one line about each thing that did not go as wished: a failed open with its errno, a
 * missing symbol, an overrun. Called from any thread, also several at once; must not call back. */
typedef void vitals_trace_fn(void *data, const char *line);

/* max_descriptors: a process whose files stay open costs three system calls a tick, one beyond them
 * seven: its files are opened and closed each time. Two are kept for a process. 0 is 256 or an
 * eighth of RLIMIT_NOFILE, whichever is less, so that the program keeps most of them; with it a
 * tick over 300 processes makes 1.8 times the system calls that it makes with enough, over 1000
 * processes 2.2 times. A program of its own sets UINT32_MAX: three quarters of the limit, which is
 * the most.
 *
 * bpf: as root in the first pid namespace, a sampler of many processes may load a program into the
 * kernel that lists the tasks that have run, which makes its ticks several times cheaper. It is
 * gone with the sampler.
 *
 * driver_share: 0 to 1; 0 is 0.1. The calls that read devices, added up over a vendor's devices,
 * take at most this share of the wall time, so that a slow driver is not kept from other work. If
 * it is too little, utilization, memory and processes of a device are read first, and a value that
 * was not read for more than an interval (or its cadence, if that is longer) is stale. The row of
 * the table source tells how long the calls took (call_seconds).
 *
 * backends: "nvidia", "amd", "intel", "drm" (devices of any other vendor) and "demo".
 *
 * demo: "default", "self", "many", "strangers", "idle", "broken", "hang", "ailing", "hotplug",
 * "story" or "empty": simulated devices (vitals_demo_name, vitals_demo_help). They are the only
 * devices unless `backends` is set, which must then name demo. Without `demo`, the back end demo
 * shows "default".
 *
 * Strings are copied; NULL means the default. Grows at its end only: what a caller does not know of
 * is the default, and what it sets beyond what the library knows is refused, never ignored. */
typedef struct vitals_options {
    size_t size;               /* sizeof(vitals_options), set by init */
    const char *proc_root;     /* "/proc" */
    const char *sys_root;      /* "/sys" */
    const char *dev_root;      /* "/dev" */
    const char *nvml_path;     /* libnvidia-ml.so.1, then libnvidia-ml.so, by the loader's rules */
    const char *backends;      /* comma list of device back ends: all but demo; "" is none */
    const char *demo;          /* scenario of simulated devices: NULL is none; see above */
    uint64_t seed;             /* of the demo back end: same seed and clock, same values */
    uint32_t max_descriptors;  /* kept open for processes, by each sampler; see above */
    const vitals_clock *clock; /* vitals_clock_system(); see above how long it must live */
    vitals_trace_fn *trace;    /* NULL: no trace; likewise */
    void *trace_data;          /* likewise */
    const char *etc_root;      /* "/etc": os-release */
    const char *run_root;      /* "/run": users that are logged in */
    const char *share_root;    /* "/usr/share": the lists of what devices are called */
    const char *var_root;      /* "/var": what Kubernetes calls containers */
    int bpf;                   /* not 0: a BPF program may be loaded; see above */
    double driver_share;       /* of the wall time, for a driver of devices; see above */
} vitals_options;

/* Fills in the defaults. `size` is sizeof(vitals_options) as the caller was compiled; not a byte
 * beyond it is written. */
VITALS_API void vitals_options_init(vitals_options *options, size_t size) VITALS_NONNULL(1);

/* Makes a context; *out is yours to free. `options` may be NULL (all defaults) and need not live
 * on. Loads no vendor library: that happens with the first sampler that asks for devices. Errors:
 * EARGUMENT (a size that is none, an option of a newer vitals, a clock without a function, an
 * unknown back end or scenario, a scenario whose back end `backends` leaves out), EGONE, EDENIED,
 * ESYSTEM (proc_root cannot be opened), EMEMORY. Cost: it opens the root directories, one system
 * call each, and keeps them open. */
VITALS_API VITALS_CHECKED int vitals_context_new(const vitals_options *options,
                                                 vitals_context **out, vitals_error *error)
    VITALS_NONNULL(2);

/* Frees a context. Accepts NULL. What was made of it may live on, and is freed as ever. */
VITALS_API void vitals_context_free(vitals_context *context);

/* Returns the clock that the context was given. */
VITALS_API const vitals_clock *vitals_context_clock(const vitals_context *context)
    VITALS_NONNULL(1);

/* Return the name of a scenario of the option `demo`, and what it shows, by an index from 0; NULL
 * behind the last. Borrowed; any thread. */
VITALS_API const char *vitals_demo_name(size_t index);
VITALS_API const char *vitals_demo_help(size_t index);

#ifdef __cplusplus
}
#endif

#endif
