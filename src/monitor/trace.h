/* trace.h: strace(1) in the place of the screens. */
#pragma once

#include <stdint.h>

/* Shows the system calls of a process until ^C, which slows it meanwhile; then waits for Enter. The
 * terminal must be as it was found. A signal that comes through the descriptor `signals` ends both,
 * and stays to be read. Returns 0, or an errno: it cannot be started. */
int trace_run(uint64_t pid, int signals);
