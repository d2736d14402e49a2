/* live.h: a live handle from inside. One thread at a time per handle. */
#ifndef VITALS_PROCESS_LIVE_H
#define VITALS_PROCESS_LIVE_H

#include "process/reader.h"
#include <vitals/process.h>

struct vitals_process {
    const vitals_context *context;
    struct os_process files; /* stat is kept: while it reads, the pid is this process's own */
    int pidfd;               /* its own for certain; negative: the pids of another /proc, or a
                                kernel that has none */
    uint64_t start_ticks;
    uint64_t stream, asked;   /* whose keys its answers have, and how many there were */
    struct user_cache *users; /* NULL: no name was asked for yet */
    bool ended;               /* it was waited for, */
    struct os_exit how;       /* and this is what was learned; NOT_YET before */
};

/* 0 while the process lives, else VITALS_EGONE with its message. */
int live_prove(const vitals_process *process, vitals_error *error);

/* wait.c: how it ended, where the kernel tells; a child of the caller is not reaped. NOT_YET while
 * it lives. Nothing of it is kept. */
vitals_availability live_how_ended(const vitals_process *process, struct os_exit *out);

/* ---- query.c: the frame of a handle's answer ---- */

/* begin, rows, finish, done; done is legal after any of them. The keys of processes are made of pid
 * and start, so that all answers of one handle agree, and stand in the order of pids. */
struct query_result {
    vitals_process *process;
    struct metric_set wanted;  /* of its table process, and what of host goes with it */
    struct metric_set details; /* of these, what workers read for samplers */
    unsigned extras;
    struct process_reader reader;
    struct row_batch batch; /* the details of the process being read */
    uint64_t details_ns;    /* when they were read */
    vitals_builder *builder;
    struct row_columns columns;
};

/* Opens the table process with the wanted columns of it (pid and start_seconds always). */
int answer_begin(struct query_result *answer, vitals_process *process,
                 const struct metric_set *wanted, vitals_error *error);

/* Reads of a process what the answer wants, with stat open in it: 1, or 0 where it ended or is
 * another, or a VITALS_E… */
int answer_read(struct query_result *answer, struct process *process, vitals_error *error);
void answer_row(struct query_result *answer, const struct process *process, uint64_t parent);

int answer_finish(struct query_result *answer, vitals_snapshot **out, vitals_error *error);
void answer_done(struct query_result *answer);

/* 0 for a pid that no system gives. */
uint64_t answer_key(int64_t pid, uint64_t start_ticks);

#endif
