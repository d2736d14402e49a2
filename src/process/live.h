/* live.h: a live handle from inside, for the files of query/. One thread at a time per handle. */
#ifndef VITALS_PROCESS_LIVE_H
#define VITALS_PROCESS_LIVE_H

#include "os/world.h"
#include <vitals/process.h>

struct vitals_process {
    const vitals_context *context;
    struct os_process files; /* stat is kept: while it reads, the pid is this process's own */
    uint64_t start_ticks;
};

/* A file of the process, at most `limit` bytes, and the proof that it was its own. The error says
 * what could not be read. Returns 0 (and nothing in `out` for a kernel thread, which has no such
 * things) or a VITALS_E… */
int live_file(const vitals_process *process, const char *name, size_t limit, struct buffer *out,
              bool *cut, vitals_error *error);

/* A string of an environment; without "=" it is all name. Both lie within the bytes. */
struct environment_entry {
    vitals_text name, value;
};

/* Pure: the strings that are not empty, each ended by NUL or by the end, in their order; *out is
 * yours to memory_free. 0, or -1 when memory is out. */
int environment_split(const char *bytes, size_t size, struct environment_entry **out,
                      size_t *count);

/* 0 while the process lives, else VITALS_EGONE with its message. */
int live_prove(const vitals_process *process, vitals_error *error);

#endif
