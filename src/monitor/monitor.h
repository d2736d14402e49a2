/* monitor.h: the interactive screens, from outside.
 *
 * `monitor_run` opens them on the terminal; `monitor_print` draws one as text from given snapshots.
 * Nothing here knows flags or the environment. One thread, except for the sampler and queries to a
 * process. */
#pragma once

#include "feed/feed.h"
#include "monitor/list/arrange.h"
#include "record/replay/timeline.h"
#include "view/draw.h"
#include "view/paint.h"
#include "view/selection.h"

enum monitor_mode { MONITOR_AUTO, MONITOR_FULL, MONITOR_COMPACT };

/* The pages of a process, in the order of their tabs. */
enum process_part {
    PROCESS_OVERVIEW,
    PROCESS_THREADS,
    PROCESS_FILES,
    PROCESS_SOCKETS,
    PROCESS_LIMITS,
    PROCESS_ENVIRONMENT,
    PROCESS_CGROUP,
    PROCESS_PARTS
};

/* The parts of a process in words. */
struct process_part_ops {
    /* What to ask it for a part; yours to free. Errors: EMEMORY. */
    int (*request)(enum process_part part, vitals_request **out, vitals_error *error);

    /* Paints an answer in at most `width` columns; `older`: an earlier one, which rates are made
     * against; NULL. Returns 0, or -1 if memory ran out. */
    int (*paint)(const vitals_snapshot *answer, const vitals_snapshot *older,
                 enum process_part part, bool ascii, size_t width, struct paint *paint);
};

struct monitor_options {
    struct look look;
    enum monitor_mode mode;
    bool mode_given;      /* by name, so that a layout says nothing of it */
    uint64_t interval_ns; /* between two readings of the processes; 0: 2 s */

    uint64_t held_after_ns; /* a device unused for so long is reported as held; 0: 15 min */

    /* The world; NULL where screens are only printed. */
    vitals_context *context;

    const vitals_clock *clock; /* NULL: that of the context */

    /* A recording to be shown instead of the machine, which is then not read; taken over. NULL: the
     * machine. `at`: from which moment on, as people write it; NULL: the begin. */
    const struct timeline *replay;
    const char *at;
    bool stands; /* it is not played at once */

    const char *temporary; /* a folder for what is kept for looking back; NULL: in memory alone */

    struct selection selection;
    const char *visible, *order; /* CUDA_VISIBLE_DEVICES and, may be NULL, CUDA_DEVICE_ORDER */

    const char *user;     /* the user that runs vitals; NULL: not known */
    bool root;            /* that user is the superuser */
    const char *readonly; /* why no signal is sent; NULL: signals are sent */

    /* The layout to begin with; NULL: the usual one. The message about it at the start; NULL:
     * none. */
    const struct arrangement *arrangement;
    const char *notice;

    const char *term; /* the name of the terminal, as TERM has it; NULL: none */

    const struct process_part_ops *part_ops; /* NULL: no process is asked */

    /* Writes a layout to its file and says so, or why not, in one line. NULL: there is no place. */
    void (*save)(void *data, const struct arrangement *arrangement, char *out, size_t capacity);
    void *save_data;
};

/* How it ended. */
struct monitor_end {
    vitals_snapshot *now, *older; /* the last ones, yours to unref; NULL: none came */
    int signal;                   /* that ended it; 0: a person did */
    bool busy; /* a thread that asks a process has not come back: the context must live on */
};

/* Opens the screens on the terminal and returns when a person has left them, or a signal asked for
 * it; the terminal is then as it was. Errors: EUNSUPPORTED (built without ncurses; a terminal that
 * cannot do it), ESYSTEM, EMEMORY. */
int monitor_run(const struct monitor_options *options, struct monitor_end *end,
                vitals_error *error);

/* A request for what screens show; yours to free: the machine, its devices and the processes on
 * them; every process; both in one; everything of the devices; that and both. */
enum monitor_part {
    MONITOR_MACHINE,
    MONITOR_ALL,
    MONITOR_BOTH,
    MONITOR_DETAILS,
    MONITOR_EVERYTHING
};
int monitor_request(const struct monitor_options *options, enum monitor_part part,
                    vitals_request **out, vitals_error *error);

/* The request that a printed screen needs; NULL: "main". */
enum monitor_part monitor_part_of(const char *screen);

/* True if the screen asks processes themselves: it then needs a context in the options. */
bool monitor_asks(const char *screen);

struct monitor_picture {
    int width, height;
    const char *screen; /* NULL: "main" */
    bool styles;        /* ANSI styles */
};

/* Reads snapshots until the feed ends, `most` at most (0: all), and writes a screen; of a recording
 * (`replay`, where the feed may be NULL) that of a moment, which is its end unless `at` says
 * another. Errors: EARGUMENT (there is no such screen; the message lists them), EGONE (no
 * snapshot), those of the feed, EMEMORY, ESYSTEM (the writer stopped). */
int monitor_print(const struct monitor_options *options, struct feed *feed, size_t most,
                  const struct monitor_picture *picture, vitals_write_fn *write, void *data,
                  vitals_error *error);

/* True while a thread that reads the environment of a process has not returned: the context must
 * live on. */
bool monitor_is_busy(void);
