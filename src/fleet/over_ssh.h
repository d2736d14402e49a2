/* over_ssh.h: asks machines on which no server runs: starts `vitals --json` there over ssh, a
 * process for each machine that goes on as long as it answers. A machine whose ssh fails says ssh's
 * last words; ssh never asks for a password. Reading never waits. One thread. */
#pragma once

#include "export/wire.h"
#include "fleet/fleet.h"

struct over_ssh;

/* An interval of 0: each once. A machine is silent that says nothing for the timeout and an
 * interval. Errors: EMEMORY, ESYSTEM. */
int over_ssh_open(const struct fleet *fleet, uint64_t interval_ns, uint64_t timeout_ns,
                  struct over_ssh **out, vitals_error *error);
void over_ssh_close(struct over_ssh *own); /* accepts NULL */

/* The descriptor that can be read when something came, or is due. */
int over_ssh_descriptor(const struct over_ssh *own);

/* Takes what has come. Returns how many answers that were. */
int over_ssh_read(struct over_ssh *own, struct fleet *fleet);

/* ---- what the ssh of one machine writes ----
 *
 * Documents of vitals --json, one in a line, and errors. All of it is untrusted and bounded. */

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
