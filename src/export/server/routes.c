/* routes.c: what the server has at each path: the files of the page, documents and events of the
 * newest sample, and the exposition for Prometheus.
 *
 * Runs on the server's thread. Each document is made once per sample, for all clients. */
#include <string.h>

#include "export/clock.h"
#include "export/redact.h"
#include "export/server/page.h"
#include "export/server/page_files.h"
#include "export/server/request_headers.h"
#include "export/server/serve.h"
#include "feed/snapshot_filter.h"
#include "feed/text.h"

static const char JSON[] = "application/json; charset=utf-8";

/* ---- documents and events of a sample ---- */

/* Appends a server-sent event: `event: NAME` (unless NULL), `data: ` and the document, which has
 * no newline. */
static void write_event(struct serve *serve, struct buffer *text, const char *name,
                        struct sample *sample)
{
    size_t size;
    const char *json = sample_json(sample, &size);
    if (name != NULL)
        buffer_format(text, "event: %s\n", name);
    buffer_string(text, "data: ");
    command_lines_write(text, json, size, serve->command_lines);
    buffer_string(text, "\n\n");
}

/* True for the metrics that `vitals top` requests: a twentieth of the document. */
static bool is_of_fleet(vitals_metric metric)
{
    // clang-format off
    static const vitals_metric COLUMNS[] = {
        VITALS_HOST_LOAD_1M,
        VITALS_GPU_NAME, VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_MEMORY_USED_BYTES,
        VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_POWER_WATTS, VITALS_GPU_TEMPERATURE_CELSIUS,
        VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_PROCESS_TYPE, VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
        VITALS_GPU_PROCESS_UTILIZATION_RATIO,
        VITALS_PROCESS_USER, VITALS_PROCESS_WORKLOAD, VITALS_GPU_JOB_JOB_ID,
    };
    // clang-format on
    size_t at = 0;
    while (at < sizeof COLUMNS / sizeof COLUMNS[0] && COLUMNS[at] != metric)
        at++;
    return at < sizeof COLUMNS / sizeof COLUMNS[0];
}

static void write_fleet(struct buffer *text, struct sample *sample)
{
    const struct snapshot_changes changes = {.column = is_of_fleet};
    const vitals_snapshot *whole = sample_snapshot(sample);
    vitals_snapshot *part = NULL;
    vitals_builder *builder = NULL;
    text->failed = whole == NULL || vitals_builder_new(&builder, NULL) < 0 ||
                   snapshot_copy(whole, &changes, builder, &part, NULL) < 0 ||
                   vitals_snapshot_json(part, text_write, text, NULL) < 0;
    vitals_snapshot_unref(part);
    vitals_builder_free(builder);
}

static void write_view(struct serve *serve, struct buffer *text, struct sample *sample,
                       bool every_process)
{
    const struct view_sample few = {.snapshot = sample_snapshot(sample),
                                    .older = history_before(serve->history),
                                    .command_lines = serve->command_lines};
    struct view_sample every = few;
    text->failed = few.snapshot == NULL;
    if (text->failed)
        return;
    if (sample_snapshot(serve->listed) != NULL) {
        every.snapshot = sample_snapshot(serve->listed);
        every.older = sample_snapshot(serve->listed_before);
    }
    buffer_string(text, "data: ");
    view_write(text, &few, every_process ? &every : NULL);
    buffer_string(text, "\n\n");
}

/* The exposition for Prometheus; `sample` may be NULL. */
static struct body *render_metrics(struct serve *serve, struct sample *sample,
                                   enum exposition_format format)
{
    enum { OF_CONNECTIONS = 4, REASONS = REFUSED_REASONS + OF_CONNECTIONS };
    const struct connections *connections = &serve->connections;
    struct exposition_tally requests[HTTP_CODES];
    struct exposition_tally rejected[REASONS] = {
        {"evicted", connections->evicted},
        {"deadline", connections->overdue},
        {"connections", connections->turned_away},
        {"slow_listener", serve->events_dropped},
    };
    for (size_t i = 0; i < HTTP_CODES; i++)
        requests[i] = (struct exposition_tally){http_codes[i].name, serve->answered[i]};
    for (size_t i = 0; i < REFUSED_REASONS; i++)
        rejected[OF_CONNECTIONS + i] = (struct exposition_tally){http_reasons[i],
                                                                 serve->refused[i]};
    if (serve->own == NULL)
        serve->own = self_metrics_new();
    struct exposition_self self = {.requests = requests,
                                   .rejected = rejected,
                                   .request_count = HTTP_CODES,
                                   .rejected_count = REASONS,
                                   .own = serve->own,
                                   .now_ns = clock_now_ns()};
    return exposition_render(serve->exposition, sample, format, &self);
}

static struct body *render(struct serve *serve, struct sample *sample,
                           enum served_document document)
{
    struct buffer text = {.bytes = NULL};
    size_t size;
    const char *json = sample_json(sample, &size);
    switch (document) {
    case DOCUMENT_METRICS: return render_metrics(serve, sample, EXPOSITION_TEXT);
    case DOCUMENT_OPENMETRICS: return render_metrics(serve, sample, EXPOSITION_OPENMETRICS);
    case DOCUMENT_SNAPSHOT: command_lines_write(&text, json, size, serve->command_lines); break;
    case DOCUMENT_FLEET: write_fleet(&text, sample); break;
    case DOCUMENT_HISTORY: history_write(serve->history, &text); break;
    case EVENT_SNAPSHOT_ALL:
    case EVENT_SNAPSHOT:
        write_event(serve, &text, NULL, sample);
        if (document == EVENT_SNAPSHOT_ALL && serve->listed != NULL)
            write_event(serve, &text, "processes", serve->listed);
        break;
    case EVENT_VIEW_ALL:
    case EVENT_VIEW: write_view(serve, &text, sample, document == EVENT_VIEW_ALL); break;
    case DOCUMENT_NONE:
    case DOCUMENTS: break;
    }
    return body_new(&text);
}

struct body *serve_rendered(struct serve *serve, enum served_document document)
{
    struct body **rendered = &serve->rendered[document];
    if (*rendered == NULL && serve->newest != NULL)
        *rendered = render(serve, serve->newest, document);
    return *rendered != NULL ? body_ref(*rendered) : NULL;
}

void serve_forget_rendered(struct serve *serve)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        body_unref(serve->rendered[i]);
        serve->rendered[i] = NULL;
    }
}

/* ---- answers ---- */

static void answer_rendered(struct serve *serve, enum served_document document,
                            struct http_answer *answer)
{
    if (serve->newest == NULL) {
        http_answer_text(answer, 503, "no sample has come yet\n");
        return;
    }
    answer->body = serve_rendered(serve, document);
    answer->type = JSON;
}

/* The last hour (page.h). */
static void api_history(struct serve *serve, const struct http_request *request UNUSED,
                        struct http_answer *answer)
{
    answer_rendered(serve, DOCUMENT_HISTORY, answer);
}

static bool has_argument(const struct http_request *request, const char *name, const char *value)
{
    const char *given = MHD_lookup_connection_value(request->mhd, MHD_GET_ARGUMENT_KIND, name);
    return given != NULL && strcmp(given, value) == 0;
}

/* The newest sample in the form of `vitals --json`; with ?view=fleet the part of it that `vitals
 * top` shows. */
static void api_snapshot(struct serve *serve, const struct http_request *request,
                         struct http_answer *answer)
{
    bool fleet = has_argument(request, "view", "fleet");
    answer_rendered(serve, fleet ? DOCUMENT_FLEET : DOCUMENT_SNAPSHOT, answer);
}

/* Each new sample as a server-sent event: the document of `vitals --json`, or with ?view=page the
 * part that the page needs (page.h). With &processes=all every process is sampled while a client
 * listens: they are in the page's tables, or follow each document as an event `processes` of their
 * own. 403 if processes are not exported. */
static void api_stream(struct serve *serve, const struct http_request *request,
                       struct http_answer *answer)
{
    bool page = has_argument(request, "view", "page");
    bool all = has_argument(request, "processes", "all");
    if (all && serve->without_processes) {
        http_answer_text(answer, 403, "nothing is told of processes: --processes off\n");
        return;
    }
    answer->type = "text/event-stream";
    answer->events = page ? (all ? EVENT_VIEW_ALL : EVENT_VIEW)
                          : (all ? EVENT_SNAPSHOT_ALL : EVENT_SNAPSHOT);
    answer->processes = all;
}

/* A stale sample is rendered for each request, since only the metrics of vitals itself remain. */
static void answer_metrics(struct serve *serve, const struct http_request *request,
                           struct http_answer *answer)
{
    static const char *const OPENMETRICS_VERSIONS[] = {"1.0.0", "0.0.1", NULL};
    static const char *const TEXT_VERSIONS[] = {"0.0.4", NULL};
    const char *accept = http_request_header(request, "Accept");
    struct accept_quality open = accept_type(accept, "application/openmetrics-text",
                                             OPENMETRICS_VERSIONS);
    struct accept_quality text = accept_type(accept, "text/plain", TEXT_VERSIONS);
    /* OpenMetrics only if named: a client that accepts anything reads the older format. */
    bool is_open = open.exactness == 3 && open.quality > 0 && open.quality >= text.quality;
    enum exposition_format format = is_open ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT;
    struct sample *newest = serve->newest;
    answer->type = exposition_content_type(format);
    answer->body = newest == NULL || exposition_is_stale(serve->exposition, newest, clock_now_ns())
                       ? render_metrics(serve, newest, format)
                       : serve_rendered(serve, is_open ? DOCUMENT_OPENMETRICS : DOCUMENT_METRICS);
}

/* ---- the page ---- */

/* The Content-Security-Policy of every file: the page runs and loads only its own files. */
static const char PAGE_POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static void answer_page(struct serve *serve UNUSED, const struct http_request *request,
                        struct http_answer *answer)
{
    const struct page_file *file = page_files;
    while (file->path != NULL && strcmp(file->path, request->path) != 0)
        file++;
    if (file->path == NULL) {
        http_answer_text(answer, 404, "no such page\n");
        return;
    }
    answer->body = body_of_constant(file->bytes, file->size);
    answer->type = file->type;
    answer->etag = file->etag;
    answer->cache = "no-cache"; /* browsers revalidate, and get 304 */
    answer->policy = PAGE_POLICY;
}

/* ---- the table ---- */

/* The process runs. */
static void answer_healthy(struct serve *serve UNUSED, const struct http_request *request UNUSED,
                           struct http_answer *answer)
{
    http_answer_text(answer, 200, "vitals is healthy\n");
}

/* There is a sample. */
static void answer_ready(struct serve *serve, const struct http_request *request UNUSED,
                         struct http_answer *answer)
{
    if (serve->newest != NULL)
        http_answer_text(answer, 200, "vitals is ready\n");
    else
        http_answer_text(answer, 503, "no sample has come yet\n");
}

const struct route routes[] = {
    {"/", false, answer_page},
    {"/metrics", false, answer_metrics},
    {"/-/healthy", false, answer_healthy},
    {"/-/ready", false, answer_ready},
    {"/api/v1/snapshot", false, api_snapshot},
    {"/api/v1/stream", false, api_stream},
    {"/api/v1/history", false, api_history},
    {"/page/", true, answer_page},
    {NULL, false, NULL},
};
