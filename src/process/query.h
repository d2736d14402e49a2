/* query.h: the frame of a handle's answer, which query.c and relatives.c share.
 *
 * begin, rows, finish, done; done is legal after any of them. The keys of processes are made of pid
 * and start, so that all answers of one handle agree, and stand in the order of pids.
 * Thread rule: one thread at a time per handle. */
#ifndef VITALS_PROCESS_QUERY_H
#define VITALS_PROCESS_QUERY_H

#include "process/live.h"
#include "process/reader.h"

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
