/* exposition.h: what Prometheus is told: the families of one moment, as text or as OpenMetrics.
 *
 * A document is built afresh for each moment, so that what has left is gone from it; what is
 * missing has no sample. Nothing here reads the machine or waits. What is a sum over processes that
 * come and go is counted on as moments pass (exposition_count), so that it never runs backwards.
 * Any thread may call anything here; a mutex inside is held while the sums are read. */
#ifndef VITALS_EXPORT_PROMETHEUS_EXPOSITION_H
#define VITALS_EXPORT_PROMETHEUS_EXPOSITION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/body.h"
#include "export/redact.h"
#include "export/sample.h"

struct exposition;
struct metric_family;

enum exposition_format { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS, EXPOSITION_FORMATS };

/* Which rows of processes become series. */
enum exposition_level {
    EXPOSITION_OFF,
    EXPOSITION_WORKLOAD, /* sums by what they work for */
    EXPOSITION_PID       /* those, and each process */
};

/* How a user is named. */
enum exposition_user {
    EXPOSITION_USER_NAME,
    EXPOSITION_USER_UID,
    EXPOSITION_USER_HASH, /* 16 hexadecimal digits: SipHash by a key that each start draws anew */
    EXPOSITION_USER_OFF
};

enum { EXPOSITION_PROCESSES = 1000, EXPOSITION_PROCESSES_MAX = 100000 };

struct exposition_options {
    enum exposition_level level;
    enum exposition_user user;
    enum redact_form cmdline; /* of compatible names only; ours have no command line */
    bool nvitop;              /* the names of nvitop-exporter instead of ours */
    bool without_host;        /* node_exporter tells of the machine */
    unsigned max_processes;   /* those with series of their own, and workloads likewise */
    uint64_t interval_ns;     /* between two moments: three of them make a value stale */
};

/* Reads them from a member of the first line and from that line itself; what is not said is as the
 * documentation says. Errors: EARGUMENT (a word that none of them is). */
int exposition_options_read(const json_t *config, const json_t *export_config,
                            struct exposition_options *out, vitals_error *error);

/* NULL when memory is out. */
struct exposition *exposition_new(const struct exposition_options *options);
void exposition_free(struct exposition *exposition); /* accepts NULL */

/* To be called with every moment, in their order, before it is rendered: adds up what workloads
 * used. Costs the reading of the moment's JSON where nobody has asked for it yet. */
void exposition_count(struct exposition *exposition, struct sample *moment);

/* A count of who renders: `label` is the code of an answer, or why it was refused. */
struct exposition_tally {
    const char *label;
    uint64_t count;
};

/* What our own program uses: a family of its own for each, whose name has no prefix. */
struct exposition_figure {
    const struct metric_family *family;
    double value;
};

/* What is told of ourselves; all zeros where there is none of it. */
struct exposition_self {
    const struct exposition_tally *requests, *rejected; /* as many as the counts say */
    size_t request_count, rejected_count;
    const struct exposition_figure *own;
    size_t own_count;
    uint64_t now_ns; /* monotonic, for how old the moment is; 0: it has just come */
};

/* The document; the caller's to body_unref. `moment` may be NULL: nothing has come yet. A moment
 * that is older than three intervals gives only what is told of ourselves and of collectors. NULL
 * when memory is out. Costs some ms for 1000 processes; nothing is kept. */
struct body *exposition_render(struct exposition *exposition, struct sample *moment,
                               enum exposition_format format, const struct exposition_self *self);

/* When a moment gets too old to stand for now, by the monotonic clock. */
uint64_t exposition_stale_ns(const struct exposition *exposition, const struct sample *moment);

/* Whether a moment is too old to stand for now: what was rendered of it before must not be given
 * any more. */
bool exposition_is_stale(const struct exposition *exposition, const struct sample *moment,
                         uint64_t now_ns);

/* What the document says it is. */
const char *exposition_content_type(enum exposition_format format);

#endif
