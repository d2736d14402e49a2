/* file_signals.h: the signals of a failed write, held back in the thread that writes: SIGXFSZ (a
 * limit on the size of files) and SIGPIPE. The write reports the failure itself.
 *
 * Changes no handler of the process. Between the two calls: one thread, and nothing of a caller. */
#pragma once

#include <signal.h>

struct file_signals {
    sigset_t before; /* mask of the thread */
    sigset_t ours;   /* that were not pending before */
};

void file_signals_hold(struct file_signals *signals);
void file_signals_release(struct file_signals *signals);
