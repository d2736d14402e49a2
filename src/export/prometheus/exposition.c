/* exposition.c: see exposition.h: options, kept sums, and whole documents. */
#include "export/prometheus/exposition.h"

#include <stdlib.h>
#include <string.h>

#include "export/keyed_hash.h"
#include "export/prometheus/exposition_page.h"
#include "feed/feed_json.h"
#include "feed/rows.h"

enum { STALE_AFTER = 3 }; /* intervals */

struct exposition {
    struct exposition_options options; /* never changes */
    struct exposition_sums sums;
    struct nvitop_past past;
};

/* ---- options ---- */

/* Returns the index of the member's word in the list; `otherwise` if it is missing; -1 if it is not
 * in the list. */
static int word_of(const json_t *config, const char *member, const char *const *words,
                   int otherwise)
{
    const char *word = json_string_value(json_object_get(config, member));
    if (word == NULL)
        return otherwise;
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], word) == 0)
            return i;
    }
    return -1;
}

int exposition_options_read(const json_t *config, const json_t *export_config,
                            struct exposition_options *out, vitals_error *error)
{
    static const struct feed_place FIRST_LINE = {"the first line", 1};
    static const char *const LEVELS[] = {"off", "workload", "pid", NULL};
    static const char *const USERS[] = {"name", "uid", "hash", "off", NULL};
    static const char *const COMPATIBLE[] = {"", "nvitop-exporter", NULL};
    const char *cmdline = json_string_value(json_object_get(export_config, "cmdline"));
    int level = word_of(config, "processes", LEVELS, EXPOSITION_WORKLOAD);
    int user = word_of(config, "label_user", USERS, EXPOSITION_USER_NAME);
    int compatible = word_of(config, "compat", COMPATIBLE, 0);
    int form = cmdline != NULL ? redact_form_of(cmdline) : (int)REDACT_OFF;
    json_int_t most = json_integer_value(json_object_get(config, "max_processes"));
    if (level < 0 || user < 0 || compatible < 0 || form < 0)
        return feed_fail(&FIRST_LINE, VITALS_EARGUMENT, error, "no such %s",
                         level < 0        ? "level of processes"
                         : user < 0       ? "way to name a user"
                         : compatible < 0 ? "set of names"
                                          : "form of command lines");
    double seconds = json_number_value(json_object_get(export_config, "interval_seconds"));
    *out = (struct exposition_options){
        .level = (enum exposition_level)level,
        .user = (enum exposition_user)user,
        .cmdline = (enum redact_form)form,
        .nvitop = compatible == 1,
        .without_host = json_is_true(json_object_get(config, "no_host")),
        .max_processes = most > 0 && most <= EXPOSITION_PROCESSES_MAX ? (unsigned)most
                                                                      : EXPOSITION_PROCESSES,
        .interval_ns = seconds >= 0.01 && seconds <= 86400 ? (uint64_t)(seconds * 1e9) : 1000000000,
    };
    return 0;
}

/* Snapshots for which a workload without a process on a device is remembered; then its sum
 * restarts. */
enum { SUMS_TURNS = 600 };

/* ---- sums over snapshots: what rows state ---- */

bool exposition_workload_of(const vitals_row *row, vitals_text *id)
{
    const vitals_row *process = row_process(row);
    return process != NULL && vitals_row_text(process, VITALS_PROCESS_WORKLOAD, id) > 0 &&
           id->size > 0;
}

vitals_availability exposition_state_of(const vitals_row *row)
{
    char name[32];
    vitals_text state;
    if (vitals_row_text(row, VITALS_SOURCE_STATE, &state) <= 0 || state.size >= sizeof name)
        return VITALS_UNSET;
    memcpy(name, state.bytes, state.size);
    name[state.size] = '\0';
    return vitals_availability_from_name(name);
}

uint64_t exposition_workload_key(uint64_t gpu, vitals_text id)
{
    return hash_join(gpu, keyed_hash(id.bytes, id.size));
}

/* Returns the time of a row's reading, since 1970. */
static uint64_t when_read(const vitals_snapshot *snapshot, const vitals_row *row)
{
    uint64_t taken = vitals_snapshot_monotonic_ns(snapshot);
    uint64_t stamp = vitals_row_stamp_ns(row);
    uint64_t age = taken > stamp ? taken - stamp : 0;
    uint64_t now = vitals_snapshot_realtime_ns(snapshot);
    return now > age ? now - age : 0;
}

void exposition_sums_add(struct exposition_sums *sums, const vitals_snapshot *snapshot)
{
    uint64_t stream = vitals_snapshot_stream(snapshot);
    if (stream != sums->stream)
        exposition_sums_done(sums);
    if (stream == sums->stream && vitals_snapshot_sequence(snapshot) <= sums->sequence)
        return;
    sums->stream = stream;
    sums->sequence = vitals_snapshot_sequence(snapshot);

    /* A workload gets what its processes used since they were last seen; a new process has used all
     * of it since then. */
    EACH_ROW(row, snapshot, VITALS_TABLE_GPU_PROCESS) {
        vitals_text id;
        double busy, grown = 0;
        if (vitals_row_number(row, VITALS_GPU_PROCESS_BUSY_SECONDS, &busy) <= 0)
            continue;
        struct counter_map_entry *process = counter_map_take(&sums->processes, vitals_row_key(row));
        if (process != NULL) {
            grown = busy > process->last ? busy - process->last : 0;
            process->last = busy;
        }
        if (!exposition_workload_of(row, &id))
            continue;
        uint64_t key = exposition_workload_key(vitals_row_parent(row), id);
        struct counter_map_entry *workload = counter_map_take(&sums->workloads, key);
        if (workload != NULL)
            workload->value += grown;
    }

    EACH_ROW(row, snapshot, VITALS_TABLE_SOURCE) {
        struct counter_map_entry *entry = counter_map_take(&sums->sources, vitals_row_key(row));
        double seconds;
        if (entry == NULL)
            continue;
        if (vitals_row_number(row, VITALS_SOURCE_CALL_SECONDS, &seconds) > 0) {
            entry->value = seconds > entry->last ? seconds - entry->last : 0;
            entry->last = seconds;
        }
        vitals_availability state = exposition_state_of(row);
        if (state > 0 && state != VITALS_STALE)
            entry->at_ns = when_read(snapshot, row);
    }

    EACH_ROW(row, snapshot, VITALS_TABLE_GPU) {
        double count, newest;
        if (vitals_row_number(row, VITALS_GPU_XID_ERRORS, &count) <= 0 ||
            vitals_row_number(row, VITALS_GPU_XID_LAST, &newest) <= 0)
            continue;
        struct counter_map_entry *entry = counter_map_take(&sums->errors, vitals_row_key(row));
        if (entry == NULL || count <= entry->last)
            continue;
        entry->last = count;
        entry->value = newest;
        entry->at_ns = when_read(snapshot, row);
    }

    counter_map_turn(&sums->processes, SUMS_TURNS);
    counter_map_turn(&sums->workloads, SUMS_TURNS);
    counter_map_turn(&sums->sources, SUMS_TURNS);
    counter_map_turn(&sums->errors, SUMS_TURNS);
}

void exposition_sums_done(struct exposition_sums *sums)
{
    counter_map_done(&sums->processes);
    counter_map_done(&sums->workloads);
    counter_map_done(&sums->sources);
    counter_map_done(&sums->errors);
    *sums = (struct exposition_sums){.stream = 0};
}

/* ---- between snapshots ---- */

struct exposition *exposition_new(const struct exposition_options *options)
{
    struct exposition *exposition = calloc(1, sizeof *exposition);
    if (exposition != NULL)
        exposition->options = *options;
    return exposition;
}

void exposition_free(struct exposition *exposition)
{
    if (exposition == NULL)
        return;
    exposition_sums_done(&exposition->sums);
    nvitop_past_done(&exposition->past);
    free(exposition);
}

void exposition_count(struct exposition *exposition, struct sample *sample)
{
    const vitals_snapshot *snapshot = sample_snapshot(sample);
    if (snapshot == NULL)
        return;
    if (exposition->options.nvitop)
        nvitop_past_add(&exposition->past, snapshot);
    else
        exposition_sums_add(&exposition->sums, snapshot);
}

/* ---- documents ---- */

uint64_t exposition_stale_ns(const struct exposition *exposition, const struct sample *sample)
{
    return sample_came_ns(sample) + STALE_AFTER * exposition->options.interval_ns + 1;
}

bool exposition_is_stale(const struct exposition *exposition, const struct sample *sample,
                         uint64_t now_ns)
{
    return now_ns >= exposition_stale_ns(exposition, sample);
}

struct body *exposition_render(struct exposition *exposition, struct sample *sample,
                               enum exposition_format format, const struct exposition_self *self)
{
    struct buffer out = {.bytes = NULL};
    struct exposition_page page;
    page_init(&page, &out, format, &exposition->options);

    const vitals_snapshot *snapshot = sample_snapshot(sample);
    if (snapshot != NULL) {
        uint64_t came_ns = sample_came_ns(sample);
        page.age_ns = self->now_ns > came_ns ? self->now_ns - came_ns : 0;
        page.is_alone = exposition_is_stale(exposition, sample, self->now_ns);
        page_read(&page, snapshot);
    }

    page.self = self;
    page.kept = &exposition->sums;
    if (exposition->options.nvitop)
        nvitop_write(&page, &exposition->past);
    for (size_t i = 0; i < families_count && !exposition->options.nvitop; i++)
        exposition_write_family(&page, &families[i]);

    /* These names are the same with --compat. */
    self_metrics_write(self->own, &page);
    if (format == EXPOSITION_OPENMETRICS)
        buffer_string(&out, "# EOF\n");

    bool failed = page.failed || page.labels.failed || out.failed;
    page_done(&page);
    struct body *body = failed ? NULL : body_new(&out);
    buffer_done(&out);
    return body;
}

const char *exposition_content_type(enum exposition_format format)
{
    static const char *const TYPES[EXPOSITION_FORMATS] = {
        [EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
        [EXPOSITION_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
    };
    return TYPES[format < EXPOSITION_FORMATS ? format : EXPOSITION_TEXT];
}
