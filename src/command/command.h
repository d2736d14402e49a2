/* command.h: what a subcommand is, and what all of them share.
 *
 * A new subcommand is a file with its function, a line here, a row in main.c's table, and the rows
 * of its options in option_table.c. */
#ifndef VITALS_COMMAND_COMMAND_H
#define VITALS_COMMAND_COMMAND_H

#include "command/settings.h"
#include "feed/feed.h"
#include <vitals/vitals.h>

/* One bit for each, so that an option says with a mask where it belongs. */
enum {
    COMMAND_VIEW = 1 << 0, /* no subcommand: the monitor, the report, JSON */
    COMMAND_RUN = 1 << 1,
    COMMAND_METRICS = 1 << 2,
    COMMAND_OPTIONS = 1 << 3
};
#define COMMAND_ANY (~0u)

/* What is true of a command. */
enum {
    COMMAND_HIDDEN = 1 << 0, /* not in the list that --help gives */
    COMMAND_RUNS = 1 << 1, /* takes a command line, and writes on stderr; SIGPIPE stays as it was */
    COMMAND_PLAIN = 1 << 2 /* reads no machine: its help leaves out what goes with every command */
};

struct command {
    const char *name; /* NULL in the first row, the view, and in a last row that ends the table */
    int (*run)(const struct settings *settings); /* gives the exit code */
    unsigned bit;
    unsigned flags;
    const char *usage;    /* what follows "usage: vitals " */
    const char *summary;  /* one line for the list of commands */
    const char *purpose;  /* a sentence or two on top of its own help */
    const char *examples; /* lines */
    const char *exits;    /* lines; NULL: those that all share */
};

int command_view(const struct settings *settings);     /* view.c: which of the three views */
int command_one_shot(const struct settings *settings); /* one_shot.c */
int command_json(const struct settings *settings);     /* json.c */
int command_run(const struct settings *settings);      /* run.c */
int command_metrics(const struct settings *settings);  /* metrics.c */
int command_options(const struct settings *settings);  /* options.c */
int command_version(const struct settings *settings);  /* version.c */

/* Exit codes. */
enum { EXIT_DONE = 0, EXIT_CANNOT = 1, EXIT_USAGE = 2 };

/* One line on stderr, "vitals: …"; gives the exit code back. What is printed must be safe. */
int command_fail(int code, const char *format, ...) VITALS_FORMAT(2, 3);

/* A string from outside, made safe for a message; cut at about 200 bytes. Two buffers in turn, so
 * that one message can hold two. */
const char *command_safe(const char *string);

/* The options of a context, as the settings say. They point into the settings. */
void command_world(const struct settings *settings, vitals_options *options);

/* Snapshots as the settings say: those of --from, or of a sampler in a context that is made for it
 * and ends with the feed. `request`, `interval_ns` and `cancel` are a sampler's, as feed.h says.
 * Gives 0, or an exit code after a message. */
int command_feed(const struct settings *settings, const vitals_request *request,
                 uint64_t interval_ns, int cancel, struct feed *out);

#endif
