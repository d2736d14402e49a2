/* demo_procfs.h: an invented machine for `--demo --screen`, so that the same options print the same
 * bytes on every machine and at any time.
 *
 * It is a temporary folder with a few files as a kernel writes them, and a clock that advances only
 * while the caller waits. The demo's devices compute their values from that clock and the seed
 * (src/gpu/demo). One thread opens, uses and closes it. */
#pragma once

#include "command/settings.h"
#include "feed/feed.h"
#include <vitals/context.h>

struct demo_procfs;

#define DEMO_PROCFS_USER "root" /* the user of the screen */

#define DEMO_STORY "story" /* the demo whose machine is invented on a terminal too */

/* True if the settings ask for a screen of the demo alone, or for its story. */
bool demo_procfs_wanted(const struct machine_settings *machine, const struct view_settings *view);

/* `live`: the clock is a real one, the counters grow by themselves, and no signal is blocked.
 * Writes the files below `temporary` and sets the roots and the clock of the options, which borrow
 * them. Only one can be open at a time. Signals that would end the process are blocked until
 * demo_procfs_close, so the caller must not write to a pipe in between. Errors: ESYSTEM (the folder
 * cannot be written). */
int demo_procfs_open(const char *temporary, bool live, vitals_options *options,
                     struct demo_procfs **out, vitals_error *error);

/* Removes the files and unblocks the signals; accepts NULL. Everything that was made with the
 * options must be freed before. The clock stays valid for threads that still hang in a driver. */
void demo_procfs_close(struct demo_procfs *demo);

/* The readings from which a screen or a report is drawn: of the demo as many as a graph shows, in
 * the time of its own clock; of this machine (`demo` is NULL) two that are --delay apart. */
struct demo_feed {
    struct feed feed;
    size_t most; /* how many there are; 0: all */
    vitals_context *context;
    struct demo_procfs *demo;
};

/* Returns 0, or an exit code after a message. */
int demo_feed_open(const struct settings *settings, const vitals_request *request,
                   struct demo_feed *out);
void demo_feed_close(struct demo_feed *demo);
