/* demo_procfs.h: a machine that is not there, for `--demo --screen`: the same options print the
 * same bytes on every machine and at any time.
 *
 * A few files as a kernel writes them, in a folder of their own that goes with the scene, and a
 * clock that stands unless the caller waits. What the demo's devices say follows from that clock
 * and the seed (src/gpu/demo). One thread makes, uses and closes it. */
#ifndef VITALS_COMMAND_LOOK_DEMO_PROCFS_H
#define VITALS_COMMAND_LOOK_DEMO_PROCFS_H

#include "command/settings.h"
#include <vitals/context.h>

struct demo_procfs;

#define DEMO_PROCFS_USER "root" /* who looks at it */

/* Whether the settings ask for a screen of the demo and nothing else, so that there is one. */
bool demo_procfs_wanted(const struct machine_settings *machine, const struct view_settings *view);

/* Writes the files below `temporary` and sets roots and clock of the options, which borrow them.
 * There is one at a time. Signals that would end us wait from here to scene_close; so nothing that
 * may wait for others, as a pipe, is written between. Errors: ESYSTEM (the folder cannot be
 * written). */
int demo_procfs_open(const char *temporary, vitals_options *options, struct demo_procfs **out,
                     vitals_error *error);

/* Removes the files and lets signals come; accepts NULL. Everything made of the options must be
 * freed before. The clock lives on for threads that were left behind in a driver. */
void demo_procfs_close(struct demo_procfs *demo);

#endif
