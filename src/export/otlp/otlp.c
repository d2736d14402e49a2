/* otlp.c: the publisher that exports to an OpenTelemetry collector.
 *
 *     "otlp":{"endpoint":"URL"}       or {}: OTEL_… variables state the rest (otlp_settings.c)
 *
 * At each interval the newest sample is encoded at once, so that little memory waits for a server;
 * the thread of otlp_sender.c sends it. The sample of a run is its usage line, and its account is
 * the last. Main thread. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "export/clock.h"
#include "export/otlp/otlp.h"
#include "export/publisher.h"
#include "export/reply.h"
#include "util/arena.h"
#include "util/error.h"

/* ---- the resource of all that is exported ---- */

enum { OWN = 32, WORD_MAX = 1024, MOST = OWN + OTLP_PAIRS };

/* OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME win over our own values. Constant once created. */
struct otlp_identity {
    struct otlp_resource resource; /* its list is NULL until then */
    struct otlp_attribute list[MOST];
    struct arena words; /* storage of the attributes */
};

struct otlp {
    struct otlp_settings settings;
    struct otlp_identity identity; /* created with the first sample */
    struct otlp_look look;
    struct otlp_job job;
    struct counter_map sums;
    struct otlp_sender *sender;
    json_t *export_config;
    bool is_run;
    struct otlp_attributes work; /* attributes of the run's workload */
    bool work_known;
    uint64_t due_ns;          /* of the next export, monotonic */
    uint64_t stream;          /* of the samples before: keys of another stream are unrelated */
    struct sample *newest;    /* not sent yet; NULL if it was */
    struct usage_line *usage; /* the newest of a run */
    bool usage_sent;
};

/* Adds an attribute, or replaces its value. */
static void put(struct otlp_identity *identity, const char *key, vitals_text value)
{
    char safe[WORD_MAX];
    size_t place = 0;
    if (value.size == 0)
        return;
    while (place < identity->resource.count && strcmp(identity->list[place].key, key) != 0)
        place++;
    if (place == MOST)
        return;
    (void)vitals_text_format(value, VITALS_TEXT_TERMINAL, safe, sizeof safe);
    identity->list[place].key = key;
    identity->list[place].text = arena_copy(&identity->words, safe, strlen(safe));
    identity->resource.count += place == identity->resource.count;
}

static void put_string(struct otlp_identity *identity, const char *key, const char *value)
{
    if (value != NULL)
        put(identity, key, vitals_text_of(value));
}

/* The values of host.arch, by uname's machine. */
static const char *architecture_of(const char *machine)
{
    static const char *const NAMES[][2] = {
        {"x86_64", "amd64"}, {"aarch64", "arm64"}, {"ppc64", "ppc64"}, {"s390", "s390x"},
        {"ia64", "ia64"},    {"arm", "arm32"},     {"ppc", "ppc32"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strncmp(machine, NAMES[i][0], strlen(NAMES[i][0])) == 0)
            return NAMES[i][1];
    }
    return machine[0] == 'i' && strcmp(machine + 2, "86") == 0 ? "x86" : machine;
}

/* Makes the identity of a host ("": this machine). Returns false if memory is out. */
static bool otlp_identity_make(struct otlp *otlp, vitals_text host)
{
    enum { ID_DIGITS = 32 };
    struct otlp_identity *out = &otlp->identity;
    const struct otlp_pairs *given = &otlp->settings.attributes;
    const json_t *job = json_object_get(otlp->export_config, "job");
    enum redact_form form = otlp->look.options.cmdline;
    struct utsname machine;
    char name[256] = "", instance[300], id[ID_DIGITS + 2] = "";
    const char *of_job = json_string_value(json_object_get(job, "host"));
    const char *started = json_string_value(json_object_get(job, "started_ns"));
    arena_reset(&out->words);
    out->resource.count = 0;
    bool named = uname(&machine) == 0;
    if (of_job != NULL)
        host = vitals_text_of(of_job);
    if (host.size > 0)
        (void)vitals_text_format(host, VITALS_TEXT_TERMINAL, name, sizeof name);
    else if (named)
        (void)snprintf(name, sizeof name, "%s", machine.nodename);

    put_string(out, "service.name", "vitals");
    put_string(out, "service.version", vitals_version_text());
    /* A run is an instance of its own; a server is its host's. */
    (void)snprintf(instance, sizeof instance, "%.200s%s%.20s", name, started != NULL ? "/" : "",
                   started != NULL ? started : "");
    put_string(out, "service.instance.id", instance);
    put_string(out, "host.name", name);

    /* The machine id is stable over boots. Copied images may share it, so nothing is identified by
     * it alone. */
    FILE *file = fopen("/etc/machine-id", "re");
    if (file != NULL && fgets(id, sizeof id, file) != NULL &&
        strspn(id, "0123456789abcdef") == ID_DIGITS)
        put(out, "host.id", (vitals_text){id, ID_DIGITS});
    if (file != NULL)
        (void)fclose(file);
    if (named) {
        put_string(out, "host.arch", architecture_of(machine.machine));
        put_string(out, "os.type", strcasecmp(machine.sysname, "linux") == 0 ? "linux" : NULL);
    }
    put_string(out, "process.owner", json_string_value(json_object_get(job, "user")));
    struct buffer command = {.bytes = NULL};
    redact_arguments(&command, json_object_get(job, "argv"), form);
    if (!command.failed)
        put(out, form == REDACT_ARGV0 ? "process.command" : "process.command_line",
            (vitals_text){command.bytes, command.size});
    buffer_done(&command);
    for (size_t i = 0; i < otlp->work.count; i++)
        put_string(out, otlp->work.list[i].key, otlp->work.list[i].text);
    for (size_t i = 0; i < given->count; i++)
        put_string(out, given->list[i].key, given->list[i].value);
    put_string(out, "service.name", otlp->settings.service_name);

    for (size_t i = 0; i < out->resource.count; i++) {
        if (out->list[i].text == NULL)
            return false;
    }
    out->resource.list = out->list;
    return true;
}

/* ---- the publisher ---- */

static void otlp_free(struct otlp *otlp)
{
    arena_done(&otlp->identity.words);
    otlp_settings_done(&otlp->settings);
    counter_map_done(&otlp->sums);
    sample_unref(otlp->newest);
    usage_line_unref(otlp->usage);
    json_decref(otlp->export_config);
    free(otlp);
}

static int otlp_open(const json_t *config, const json_t *export_config, void **data,
                     vitals_error *error)
{
    const char *endpoint = json_string_value(json_object_get(config, "endpoint"));
    const json_t *job = json_object_get(export_config, "job");
    uint64_t now = clock_realtime_ns();
    struct otlp *otlp = calloc(1, sizeof *otlp);
    if (otlp == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    int code = otlp_settings_read(endpoint, &otlp->settings, error);
    if (code == 0)
        code = exposition_options_read(json_object_get(export_config, "serve"), export_config,
                                       &otlp->look.options, error);
    if (code == 0) {
        otlp->look.since_ns = now;
        otlp_job_read(job, now, &otlp->job);
        otlp->is_run = json_is_object(job);
        otlp->export_config = json_deep_copy(export_config);
        if (otlp->export_config == NULL)
            code = error_set(error, VITALS_EMEMORY, 0, "out of memory");
    }
    if (code == 0 && otlp->settings.off == NULL)
        code = otlp_sender_new(&otlp->settings, &otlp->sender, error);
    if (code < 0) {
        otlp_free(otlp);
        return code;
    }
    if (otlp->settings.off != NULL) {
        reply_say("otlp: nothing is sent: %s", otlp->settings.off);
        reply_opened("otlp", NULL, NULL);
    }
    *data = otlp;
    return 0;
}

/* ---- documents ---- */

static void push(void *data, struct buffer *document)
{
    struct otlp *otlp = data;
    otlp_sender_push(otlp->sender, document);
}

/* Returns false if memory is out. */
static bool open_writer(struct otlp *otlp, vitals_text host, struct otlp_writer *writer)
{
    if (otlp->identity.resource.list == NULL && !otlp_identity_make(otlp, host))
        return false;
    *writer = (struct otlp_writer){.resource = &otlp->identity.resource,
                                   .most = OTLP_DOCUMENT_MAX,
                                   .give = push,
                                   .data = otlp};
    return true;
}

/* Returns whether an export is due; the next one is counted from the due time of this one. */
static bool is_due(struct otlp *otlp)
{
    uint64_t now = clock_now_ns();
    if (otlp->sender == NULL || now < otlp->due_ns)
        return false;
    otlp->due_ns += otlp->settings.interval_ns;
    if (otlp->due_ns <= now)
        otlp->due_ns = now + otlp->settings.interval_ns;
    return true;
}

static void send_newest(struct otlp *otlp)
{
    struct otlp_writer writer;
    const vitals_snapshot *snapshot = sample_snapshot(otlp->newest);
    if (snapshot != NULL && open_writer(otlp, vitals_snapshot_host(snapshot), &writer)) {
        if (vitals_snapshot_stream(snapshot) != otlp->stream)
            counter_map_done(&otlp->sums);
        otlp->stream = vitals_snapshot_stream(snapshot);
        otlp_snapshot_write(&writer, &otlp->sums, snapshot, &otlp->look);
        otlp_writer_end(&writer);
        counter_map_turn(&otlp->sums, 1);
    }
    sample_unref(otlp->newest);
    otlp->newest = NULL;
}

static void otlp_snapshot(void *data, struct sample *sample)
{
    struct otlp *otlp = data;
    if (otlp->sender == NULL)
        return;
    /* Describes the first process of a run and its workload, by the first sample that has it. */
    if (otlp->is_run && !otlp->work_known && otlp->identity.resource.list == NULL) {
        const vitals_snapshot *snapshot = sample_snapshot(sample);
        const vitals_row *process = snapshot != NULL ? otlp_job_process(&otlp->job, snapshot)
                                                     : NULL;
        if (process != NULL)
            otlp_describe_job(&otlp->work, process, &otlp->look);
        otlp->work_known = process != NULL;
    }
    if (otlp->is_run)
        return;
    sample_unref(otlp->newest);
    otlp->newest = sample_ref(sample);
    if (is_due(otlp))
        send_newest(otlp);
}

static void send_usage(struct otlp *otlp)
{
    struct otlp_writer writer;
    if (!open_writer(otlp, (vitals_text){"", 0}, &writer))
        return;
    otlp_usage_write(&writer, &otlp->sums, otlp->usage, &otlp->job);
    otlp_writer_end(&writer);
    otlp->usage_sent = true;
}

static void otlp_usage(void *data, struct usage_line *usage)
{
    struct otlp *otlp = data;
    if (otlp->sender == NULL)
        return;
    usage_line_unref(otlp->usage);
    otlp->usage = usage_line_ref(usage);
    otlp->usage_sent = false;
    if (is_due(otlp))
        send_usage(otlp);
}

static void otlp_end(void *data, const json_t *account, const json_t *status UNUSED)
{
    struct otlp *otlp = data;
    struct otlp_writer writer;
    if (otlp->sender == NULL)
        return;
    if (otlp->usage != NULL && !otlp->usage_sent)
        send_usage(otlp);
    if (!open_writer(otlp, (vitals_text){"", 0}, &writer))
        return;
    otlp_account_write(&writer, account, otlp->usage, &otlp->job, clock_realtime_ns());
    otlp_writer_end(&writer);
}

static void otlp_close(void *data, uint64_t deadline_ns)
{
    struct otlp *otlp = data;
    if (otlp->sender != NULL && otlp->newest != NULL)
        send_newest(otlp);
    /* The run has no end: the measuring program was killed. */
    if (otlp->usage != NULL && !otlp->usage_sent)
        send_usage(otlp);
    /* A thread that hangs keeps what it uses. */
    if (otlp->sender == NULL || otlp_sender_close(otlp->sender, deadline_ns))
        otlp_free(otlp);
}

const struct publisher publisher_otlp = {
    .name = "otlp",
    .open = otlp_open,
    .snapshot = otlp_snapshot,
    .usage = otlp_usage,
    .end = otlp_end,
    .close = otlp_close,
};
