/* words.h: the words of states, scheduling policies and classes of I/O: the same everywhere.
 *
 * Constant data, any thread. */
#pragma once

#include "util/base.h"

/* By the kernel's letter; "unknown" for one that is new. */
const char *words_state(char letter);

/* By the kernel's number, as sched(7) lists them; "unknown" likewise. */
const char *words_policy(uint64_t policy);

/* Classes of I/O by the kernel's number, as ioprio_set(2) lists them; NULL for one that is new. */
const char *words_io_class(uint64_t io_class);
