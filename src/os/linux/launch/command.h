/* command.h: the process of a command, from its fork to its exec.
 *
 * It may share our memory until then, as after vfork, but we run on beside it: a copy of our tables
 * of pages, and of each page that we write to afterwards, costs more than all else of a short run.
 * So nothing that it executes may touch what a thread of ours owns, errno included: it calls the
 * kernel itself, and what it reads is in a block of its own. None of our handlers runs in it: its
 * signals are blocked until the exec, and do what is usual. Thread rule: that of os/launch.h. */
#pragma once

#include "os/launch.h"

#include <signal.h>
#include <sys/types.h>

/* The ends of both channels that the child needs, and the one that it must not keep. */
struct command_ends {
    int go, go_other, failure;
};

/* The state that the child restores before its exec. */
struct command_signals {
    bool children_ignored; /* SIGCHLD was */
    sigset_t mask;
};

/* Forks; the pid, or negative errno. *memory is what they share, NULL where they share none: it
 * stays until command_begun. *pidfd is -1 where the kernel gave none. */
int64_t command_fork(const struct os_command *command, const struct command_signals *signals,
                     const struct command_ends *ends, int *pidfd, void **memory);

/* After its exec, or where there never will be one. Accepts NULL. */
void command_begun(void *memory);
