/* otlp.h: what the files of the OpenTelemetry exporter share.
 *
 *     main thread                                                       sender's thread
 *     snapshots, usage ─► points (by the table of names) ─► documents ─► queue ─► collector
 *
 * One thread each. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/counter_map.h"
#include "export/prometheus/exposition.h"
#include "export/usage_line.h"
#include "feed/text.h"

/* ---- documents (ExportMetricsServiceRequest) in protobuf: otlp_writer.c ----
 *
 * Metrics are written one after another, each with its points. A document that reaches
 * OTLP_DOCUMENT_MAX is ended and the next begun, within a metric if necessary; each document is
 * complete. Without points there is no document. Values must be finite. */

/* A collector accepts 20 MiB by default; other servers less. */
enum { OTLP_DOCUMENT_MAX = 4 * 1024 * 1024, OTLP_ATTRIBUTES = 16, OTLP_STORE = 2048 };

enum otlp_kind {
    OTLP_GAUGE,
    OTLP_COUNTER, /* a cumulative, monotonic sum */
    OTLP_UP_DOWN, /* a cumulative sum that is not */
};

struct otlp_attribute {
    const char *key;
    const char *text; /* UTF-8; NULL: `number` is the value */
    int64_t number;
};

/* Attributes, and storage for their texts. */
struct otlp_attributes {
    struct otlp_attribute list[OTLP_ATTRIBUTES];
    size_t count;
    char store[OTLP_STORE];
    size_t used;
};

/* Attributes beyond the capacity are left out. `otlp_attribute_safe` makes any bytes printable, at
 * most 128, and leaves out empty texts; `otlp_attribute_text` borrows a trusted text. */
void otlp_attribute_text(struct otlp_attributes *attributes, const char *key, const char *text);
void otlp_attribute_safe(struct otlp_attributes *attributes, const char *key, vitals_text text);
void otlp_attribute_number(struct otlp_attributes *attributes, const char *key, int64_t number);

struct otlp_metric {
    const char *name, *unit, *help;
    enum otlp_kind kind;
};

struct otlp_point {
    uint64_t start_ns, time_ns; /* since 1970; the start is of sums only */
    bool whole;                 /* `integer` holds the value, else `value` */
    int64_t integer;
    double value; /* finite */
    const struct otlp_attributes *attributes;
};

/* Returns the time from which a cumulative sum counts that is `value` at `time_ns`: `origin_ns`; if
 * it was lower than before, and so was reset, when it was last seen before that. `id` identifies
 * the sum (hash_join). Returns `origin_ns` if memory is out. */
uint64_t otlp_sum_start(struct counter_map *sums, uint64_t id, double value, uint64_t time_ns,
                        uint64_t origin_ns);

/* Borrowed by writers. */
struct otlp_resource {
    const struct otlp_attribute *list;
    size_t count;
};

enum { OTLP_DEPTH = 4 };

struct otlp_writer {
    const struct otlp_resource *resource;
    size_t most; /* bytes of a document; OTLP_DOCUMENT_MAX, or less in tests */
    /* Gets a complete document; it may take the bytes. */
    void (*give)(void *data, struct buffer *document);
    void *data;

    struct buffer text;
    size_t marks[OTLP_DEPTH]; /* of the messages that are open */
    struct otlp_metric metric;
    size_t metrics, points; /* in this document; of this metric in it */
};

/* Begin a metric, then write its points. Metrics without points are not written. */
void otlp_writer_metric(struct otlp_writer *writer, const struct otlp_metric *metric);
void otlp_writer_point(struct otlp_writer *writer, const struct otlp_point *point);

/* Ends the last document, and frees the buffer. */
void otlp_writer_end(struct otlp_writer *writer);

/* ---- the name of each metric: otlp_table.c, the only place that defines it ----
 *
 * Names of the semantic conventions, with their unit, instrument and attributes, if they have one;
 * else `vitals.` and our own name without its unit, which a Prometheus behind a collector restores.
 */

/* The attributes that describe a row (otlp_describe). */
enum otlp_subject {
    OTLP_HOST,
    OTLP_CPU,
    OTLP_DISK,
    OTLP_INTERFACE,      /* network.interface.name */
    OTLP_NETWORK_DEVICE, /* the same as system.device: the conventions have both */
    OTLP_FILESYSTEM,
    OTLP_PRESSURE,
    OTLP_GPU,        /* all attributes that hw.gpu.* recommend */
    OTLP_OUR_GPU,    /* id and name, for metrics that are not of the conventions */
    OTLP_HARDWARE,   /* with hw.type gpu */
    OTLP_GPU_PART,   /* of a device: its engine, clock, pool or link, as `part` */
    OTLP_GPU_SENSOR, /* hardware of its own, whose parent is the device */
    OTLP_PROCESS,
    OTLP_GPU_PROCESS,
    OTLP_WORKLOAD,
};

/* The start of a sum that was never reset. */
enum otlp_origin { OTLP_SINCE_BOOT, OTLP_SINCE_START_OF_PROCESS, OTLP_SINCE_WE_LOOK };

struct otlp_source {
    struct otlp_metric as; /* help NULL: the metric's */
    enum otlp_subject subject;
    enum otlp_origin origin;
    vitals_metric metric;         /* of the table that is walked */
    vitals_metric plus, minus[3]; /* 0 for none; of the same type */
    /* Computes the value instead; `metric` selects the table. */
    vitals_availability (*value)(const struct otlp_source *source, const vitals_row *row,
                                 double *out);
    /* Returns false if the row is exported otherwise. NULL: never. */
    bool (*holds)(const vitals_row *row);
    const char *part;           /* the key of a part's label, or NULL */
    const char *only;           /* of parts, only the one with this label, which needs no key */
    const char *other_than[2];  /* of parts, all but these */
    const char *key, *constant; /* an attribute that is the same for all rows; NULL: none */
};

/* Sources of one name are adjacent. */
extern const struct otlp_source otlp_sources[];
extern const size_t otlp_sources_count;

/* Returns OpenTelemetry's unit: "By" for "bytes"; for counts "{" name "}" in `out`. */
const char *otlp_unit(const char *unit, const char *name, char *out, size_t capacity);

/* Returns the length of a name without its unit: `cpu_seconds` is `cpu`; `cpu_ratio` stays. */
size_t otlp_stem(const char *name, const char *unit);

/* ---- snapshots: otlp_snapshot.c: the machine, its GPUs, workloads ----
 *
 * Missing values have no point. A sum has the time of its reading, all else that of the snapshot.
 */

struct otlp_look {
    struct exposition_options options; /* selection of processes, and how a user is named */
    uint64_t since_ns;                 /* start of the exporter, since 1970 */
};

void otlp_snapshot_write(struct otlp_writer *writer, struct counter_map *sums,
                         const vitals_snapshot *snapshot, const struct otlp_look *look);

/* ---- otlp_describe.c: rows by OpenTelemetry's attributes; texts are made safe ---- */

/* Adds all attributes of a point of this source and row. */
void otlp_describe(struct otlp_attributes *attributes, const vitals_row *row,
                   const struct otlp_source *source, const struct otlp_look *look);

/* Adds the id of a device: its UUID, or its index if it has none. Returns false if it has neither.
 */
bool otlp_describe_device(struct otlp_attributes *attributes, const char *key,
                          const vitals_row *gpu);

/* Adds the workload that a text of the row names; `row` may be NULL. The id of a workload without a
 * job contains the user's name, which is a hash if names are not exported. An id that is too long
 * is cut, with a hash of all of it, so that two ids stay different. */
void otlp_describe_workload(struct otlp_attributes *attributes, const vitals_row *row,
                            vitals_metric metric, const struct otlp_look *look);

/* Adds the workload of a run's first process, and what is known of it; nothing if no row states it.
 */
void otlp_describe_job(struct otlp_attributes *attributes, const vitals_row *process,
                       const struct otlp_look *look);

/* ---- runs: otlp_usage.c: `process.*` of the first process, `vitals.run.` of the tree, and what
 * the tree uses of each device ---- */

struct otlp_job {
    int64_t pid;         /* of the first process; 0 if not known */
    uint64_t started_ns; /* since 1970: counters count from here */
};

/* Reads "job" of the export_config; missing values are `now_ns`, or 0. */
void otlp_job_read(const json_t *job, uint64_t now_ns, struct otlp_job *out);

/* Returns the row of the first process: that of the job's pid or, if it is not known, the oldest
 * one without a parent, whose pid is kept. NULL if it has no row. */
const vitals_row *otlp_job_process(struct otlp_job *job, const vitals_snapshot *snapshot);

void otlp_usage_write(struct otlp_writer *writer, struct counter_map *sums,
                      const struct usage_line *usage, const struct otlp_job *job);

/* Encodes the account (docs/account.md): counters continue from `last`, which may be NULL, and
 * never decrease; peaks, means, the exit code and the end are gauges. */
void otlp_account_write(struct otlp_writer *writer, const json_t *account,
                        const struct usage_line *last, const struct otlp_job *job, uint64_t now_ns);

/* ---- settings, from --otlp and OTEL_* variables: otlp_settings.c ----
 *
 * OTEL_EXPORTER_OTLP_METRICS_… wins over OTEL_EXPORTER_OTLP_…. An invalid value is an error if
 * nothing would work with it; else it is reported (reply.h) and the default is used. */

enum { OTLP_PAIRS = 64 };

/* Decoded pairs of k=v,k=v. */
struct otlp_pairs {
    char *words; /* storage of all, each ended by NUL */
    struct {
        const char *key, *value;
    } list[OTLP_PAIRS];
    size_t count;
};

struct otlp_settings {
    const char *off; /* not NULL: nothing is sent, because of this variable */
    char *url;       /* with its path */
    bool gzip;
    uint64_t timeout_ns;                     /* of one request */
    uint64_t interval_ns;                    /* between two exports */
    const char *ca_file, *certificate, *key; /* borrowed from the environment */
    struct otlp_pairs headers, attributes;
    const char *service_name; /* borrowed; NULL if not set */
};

/* `endpoint`: the value of --otlp, or NULL; a base URL that wins over OTEL_EXPORTER_OTLP_ENDPOINT.
 * Errors: EARGUMENT (names the variable), EMEMORY. */
int otlp_settings_read(const char *endpoint, struct otlp_settings *out, vitals_error *error);
void otlp_settings_done(struct otlp_settings *settings);

/* Parses k=v,k=v with percent-encoded values. Returns false, with *out empty, if a pair is
 * malformed or memory is out. */
bool otlp_pairs_read(const char *words, struct otlp_pairs *out);

/* ---- sending: otlp_sender.c, a thread with a bounded queue ----
 *
 * The queue holds the newest documents: if it is full the oldest is dropped, and counted. A failure
 * that may be temporary is retried, in order; a document that the collector refuses is dropped, and
 * counted. Each change is reported once (reply.h). */

enum { OTLP_QUEUE = 64, OTLP_QUEUE_BYTES = 16 * 1024 * 1024 };

struct otlp_sender;

/* The settings are borrowed until the sender is closed. Errors: ESYSTEM (no thread), EMEMORY. */
int otlp_sender_new(const struct otlp_settings *settings, struct otlp_sender **out,
                    vitals_error *error);

/* Takes the document's bytes; the text is empty afterwards. Never waits. */
void otlp_sender_push(struct otlp_sender *sender, struct buffer *document);

/* Sends the rest, until the deadline of the monotonic clock, reports what was lost, and frees the
 * sender. Returns true if the thread has ended, so that the settings may be freed. */
bool otlp_sender_close(struct otlp_sender *sender, uint64_t deadline_ns);

/* What a collector rejected, and why. Pure. */
struct otlp_answer {
    uint64_t rejected; /* points of a partial success; 0 for none, or a full success */
    char message[240]; /* one safe line, or "" */
};

/* `content_type` selects the form. In any other form the first line is the message. Never fails: a
 * malformed answer is empty. */
void otlp_answer_read(const char *content_type, const void *bytes, size_t size,
                      struct otlp_answer *answer);
