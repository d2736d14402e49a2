/* exposition.h: the Prometheus exposition of a snapshot, as text or as OpenMetrics.
 *
 * A document is built anew for each snapshot, so series of ended processes and missing values are
 * not in it. Nothing here reads the machine or waits. Sums over processes are accumulated from
 * snapshot to snapshot (exposition_count), so that they never decrease when a process ends. One
 * thread at a time. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/body.h"
#include "export/prometheus/families.h"
#include "export/redact.h"
#include "export/sample.h"

struct exposition;
struct exposition_page;

enum exposition_format { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS, EXPOSITION_FORMATS };

/* How a user is named. */
enum exposition_user {
    EXPOSITION_USER_NAME,
    EXPOSITION_USER_UID,
    EXPOSITION_USER_HASH, /* 16 hexadecimal digits: SipHash with a random key per start of the
                             program */
    EXPOSITION_USER_OFF
};

enum { EXPOSITION_PROCESSES = 1000, EXPOSITION_PROCESSES_MAX = 100000 };

struct exposition_options {
    enum exposition_level level;
    enum exposition_user user;
    enum redact_form
        cmdline;       /* only for nvitop-exporter's names; our own families have no command line */
    bool nvitop;       /* the names of nvitop-exporter instead of ours */
    bool without_host; /* without the families of the machine, which node_exporter has */
    unsigned
        max_processes;    /* the maximum of processes with series of their own, and of workloads */
    uint64_t interval_ns; /* between two snapshots: a value is stale after three */
};

/* Reads the options from a member of the export_config and from that line; a missing one has its
 * documented default. Errors: EARGUMENT (an unknown word). */
int exposition_options_read(const json_t *config, const json_t *export_config,
                            struct exposition_options *out, vitals_error *error);

/* Returns NULL if memory is out. */
struct exposition *exposition_new(const struct exposition_options *options);
void exposition_free(struct exposition *exposition); /* accepts NULL */

/* Adds up what workloads used. Must be called with every snapshot, in order, before it is rendered.
 * Costs parsing the snapshot's JSON if that was not done before. */
void exposition_count(struct exposition *exposition, struct sample *sample);

/* A count of answers: `label` is the status code, or the reason of a refusal. */
struct exposition_tally {
    const char *label;
    uint64_t count;
};

/* The resources that this program uses, by the names of Prometheus' client libraries. The names
 * have no prefix of ours: dashboards look for them. Returns NULL if memory is out, or /proc of this
 * process cannot be read. */
struct self_family {
    const char *name, *help;
    vitals_metric metric; /* 0: the limit of descriptors */
};
extern const struct self_family self_families[];
extern const size_t self_families_count;
struct self_metrics *self_metrics_new(void);
void self_metrics_free(struct self_metrics *metrics); /* accepts NULL */

/* Writes the families that are available; none of NULL. Costs some 20 system calls. */
void self_metrics_write(struct self_metrics *metrics, struct exposition_page *page);

/* The exporter's figures about itself; all zeros for none. */
struct exposition_self {
    const struct exposition_tally *requests, *rejected; /* the counts are their lengths */
    size_t request_count, rejected_count;
    struct self_metrics *own; /* NULL: none */
    uint64_t now_ns;          /* monotonic, for the age of the snapshot; 0: it is new */
};

/* Returns the document; the caller calls body_unref. `sample` may be NULL if there is none yet. If
 * it is older than three intervals only the exporter's own figures and those of collectors are
 * written. NULL if memory is out. Costs some ms for 1000 processes. */
struct body *exposition_render(struct exposition *exposition, struct sample *sample,
                               enum exposition_format format, const struct exposition_self *self);

/* Returns when a snapshot becomes stale, by the monotonic clock. */
uint64_t exposition_stale_ns(const struct exposition *exposition, const struct sample *sample);

/* Returns whether a snapshot is stale: what was rendered of it must not be served any more. */
bool exposition_is_stale(const struct exposition *exposition, const struct sample *sample,
                         uint64_t now_ns);

/* Returns the media type of the document. */
const char *exposition_content_type(enum exposition_format format);
