/* fleet.h: many machines: the newest answer of each, and what is wrong with the others.
 *
 * A process of its own asks them (export/fleet/poll.h) and writes lines to a descriptor. Reading
 * never waits for a machine. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/sys/builder.h>
#include <vitals/vitals.h>

#include "fleet/host_list.h"
#include "monitor/model.h"
#include "util/buffer.h"
#include "util/hash.h"

enum fleet_state {
    FLEET_WAITING, /* nothing has come yet */
    FLEET_ANSWERS,
    FLEET_SILENT,    /* no connection, or no answer in time */
    FLEET_NO_LOGIN,  /* a login is missing or wrong */
    FLEET_OVERSIZED, /* its answer is above the limit, or all together are */
    FLEET_OTHER      /* it answers, but not as vitals serve does */
};
enum { FLEET_STATES = FLEET_OTHER + 1, FLEET_WHY = 128 };

extern const char *const fleet_state_names[FLEET_STATES]; /* "waiting", "answers", … */

struct fleet_host {
    struct host_place place;
    enum fleet_state state;
    char why[FLEET_WHY];     /* of the states after FLEET_ANSWERS, safe to print; "" */
    uint64_t answered_ns;    /* of our clock, of the newest answer; 0: none */
    uint64_t failing_ns;     /* since when it does not answer; 0: it does, or nothing came yet */
    vitals_snapshot *newest; /* NULL: none, or it is too old to be shown */
    struct idle_gpus idle;
    unsigned round;      /* of the answer of Prometheus that had it */
    uint64_t unknown_ns; /* since when Prometheus does not name it; 0: it does */
};

struct fleet {
    struct fleet_host *hosts;
    size_t count, heard;      /* heard: machines of which something has come */
    struct fleet_host *later; /* while it is held: what came since then; NULL: it is not held */
    uint64_t now_ns;          /* of the newest look: ages are of then */
    vitals_builder *builder;

    /* With Prometheus, which is asked for all machines at once. Places by name. */
    bool prometheus, listed; /* listed: machines that the list does not name are left out */
    bool told;               /* something has come */
    bool full;               /* the newest answer named more than HOSTS_MOST machines */
    char trouble[FLEET_WHY]; /* why there is no answer, or not all of it, safe to print; "" */
    unsigned round;          /* of answers */
    struct hash names;
};

/* Takes the list over. With `prometheus` its answers name the machines where the list is empty.
 * Errors: EMEMORY. */
int fleet_init(struct fleet *fleet, struct host_list *list, bool prometheus, vitals_error *error);
void fleet_done(struct fleet *fleet);

/* Takes a line of export/fleet/poll.h, which says when it came. Returns false for one that is in no
 * known form. */
bool fleet_take(struct fleet *fleet, const char *line, size_t size, uint64_t now_ns);

/* Takes a document of vitals --json of a machine by its place. Returns false, and the machine says
 * why, if it is none. */
bool fleet_take_document(struct fleet *fleet, size_t place, vitals_text json, uint64_t now_ns);

/* While it is held the machines stay as they are: what comes is kept beside them until it is
 * released. Errors: EMEMORY (it is not held). */
int fleet_hold(struct fleet *fleet, bool held);

/* True until something has come of each machine. */
bool fleet_is_awaited(const struct fleet *fleet);

/* Forgets the figures of machines that have not answered for so long; and machines that Prometheus
 * has not named for 10 min, if no list does: places and rows are others then. */
void fleet_forget(struct fleet *fleet, uint64_t now_ns, uint64_t after_ns);

/* ---- Prometheus: prometheus.c ---- */

/* The query, in PromQL. */
void fleet_prometheus_query(const struct fleet *fleet, struct buffer *out);

/* Takes the answer to the query. Errors: EFORMAT, EMEMORY, EUNSUPPORTED (built without JSON). */
int fleet_prometheus_read(struct fleet *fleet, vitals_text json, uint64_t now_ns,
                          vitals_error *error);

/* What it says of a machine by its place: that there is no answer, or a snapshot, NULL: the newest
 * is still that. */
void fleet_fail(struct fleet *fleet, size_t place, enum fleet_state state, uint64_t then_ns,
                const char *why);
void fleet_answered(struct fleet *fleet, size_t place, vitals_snapshot *snapshot, uint64_t then_ns);
const vitals_snapshot *fleet_newest(const struct fleet *fleet, size_t place);

/* Returns the place of a machine by Prometheus' label instance, a host and perhaps a port, or -1.
 * One that is not known yet is added if the list names none. */
long fleet_place_of(struct fleet *fleet, const char *instance);

/* ---- asking: ask.c ---- */

struct fleet_asking {
    const char *program;         /* the exporter */
    const char *prometheus;      /* its address; NULL: each machine is asked */
    bool ssh;                    /* by a program there, not by its server */
    const char *netrc, *ca_file; /* NULL: none */
    bool whole; /* ask for everything that a machine tells, not for what the table shows */
    uint64_t interval_ns; /* 0: each once */
    uint64_t timeout_ns;  /* of one request */
};

struct fleet_link;

/* Starts the process that asks. Errors: those of link_open, ESYSTEM, EUNSUPPORTED (built without
 * the exporter). */
int fleet_link_open(const struct fleet *fleet, const struct fleet_asking *asking,
                    struct fleet_link **out, vitals_error *error);
void fleet_link_close(struct fleet_link *link); /* accepts NULL */

/* The descriptor that can be read when something came. */
int fleet_link_descriptor(const struct fleet_link *link);

/* Takes what has come, without waiting. Returns how many machines that is about, or an error: EGONE
 * (the process has ended; the message is its last). */
int fleet_link_read(struct fleet_link *link, struct fleet *fleet, vitals_error *error);
