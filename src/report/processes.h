/* processes.h: what each process of a recording used, aggregated from its snapshots. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    PROCESS_NAME = 256,
    PROGRAM_NAME = 64,
    PROCESSES_SHOWN = 100,
    PROGRAMS_SHOWN = 20,
    PROCESSES_MAX = 100000
};

/* Below zero: not known. */
struct process_use {
    int64_t pid;
    double start;               /* tells two with one pid apart */
    char name[PROCESS_NAME];    /* its command line, else its name; text from outside */
    char program[PROGRAM_NAME]; /* "cc1", "python3 train.py"; text from outside */
    double cpu_seconds, read_bytes, written_bytes; /* growth while it was seen */
    double memory_bytes, gpu_bytes;                /* largest sample */
    double first_second, last_second;
    double gpu_now, gpu_second; /* what it holds in the snapshot of that second */
    double bases[3];            /* of the counters; of a newcomer 0 */
    uint64_t titled; /* the hash of the command line that the name is made of; 0: of none */
    size_t count;    /* of a program: its processes, whose use is added up, but for the peaks */
};

struct process_list {
    struct process_use *items; /* by CPU time, the most first */
    size_t count, left_out;
    struct process_use *programs; /* likewise; NULL if each process is of another program */
    size_t program_count, programs_left_out;
};

/* Empty if the file holds no snapshots or memory is out. `root` is the first process of the run:
 * processes that started before it, as vitals itself, are left out; 0: all are listed. */
void processes_of(const char *path, int64_t root, struct process_list *out);
void processes_done(struct process_list *list);
