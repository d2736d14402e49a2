/* ssh_output.h: what the ssh of one machine writes: documents of vitals --json, line by line, and
 * errors. All of it is untrusted and bounded. Starts no process. One thread. */
#pragma once

#include "export/wire.h"
#include "fleet/fleet.h"

enum {
    SSH_OUTPUT_LINE_MOST = 4 * 1024 * 1024,
    SSH_OUTPUT_READS = 8 /* at once: the others come to their turn */
};

struct ssh_output {
    int output, errors;   /* non-blocking; -1: closed */
    struct wire *lines;   /* NULL: closed */
    char said[FLEET_WHY]; /* the last line of its errors; not safe to print */
    char odd[FLEET_WHY];  /* the last line that is no document, as a ~/.bashrc there prints */
};

/* Takes the descriptors over, also on failure. Errors: EMEMORY. */
int ssh_output_open(struct ssh_output *own, int output, int errors);
void ssh_output_close(struct ssh_output *own); /* what was said stays */

/* Returns 1 and the next document, valid until the next call; 0 if none is complete yet; -1 at the
 * end. Reads at most once. */
int ssh_output_next(struct ssh_output *own, vitals_text *document);

/* Reads errors, at most SSH_OUTPUT_READS times. */
void ssh_output_read_errors(struct ssh_output *own);

/* Bytes of memory that the line which is not complete takes. */
size_t ssh_output_held(const struct ssh_output *own);
