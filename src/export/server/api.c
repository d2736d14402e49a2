/* api.c: the routes /api/v1/snapshot, /api/v1/stream and /api/v1/history.
 *
 * Runs on the server's thread. Each document is made once per sample, for all clients. */
#include "export/server/api.h"

#include <string.h>

#include "export/command_lines.h"
#include "export/server/history.h"
#include "export/server/view.h"
#include "feed/text.h"

static const char JSON[] = "application/json; charset=utf-8";

static bool has_argument(const struct http_request *request, const char *name, const char *value)
{
    const char *given = http_request_argument(request, name);
    return given != NULL && strcmp(given, value) == 0;
}

/* ---- documents and events of a sample ---- */

static struct body *snapshot_document(struct serve *serve, struct sample *sample)
{
    struct text text = {.bytes = NULL};
    size_t size;
    const char *json = sample_json(sample, &size);
    command_lines_write(&text, json, size, serve_command_lines(serve));
    return body_new(&text);
}

static struct body *document_event(struct serve *serve, const char *name, struct sample *sample)
{
    size_t size;
    const char *json = sample_json(sample, &size);
    struct text text = {.bytes = NULL};
    command_lines_write(&text, json, size, serve_command_lines(serve));
    struct body *body = text.failed ? NULL : event_of(name, text.bytes, text.size);
    text_done(&text);
    return body;
}

static struct body *snapshot_event(struct serve *serve, struct sample *sample)
{
    return document_event(serve, NULL, sample);
}

/* The same, followed by an event with every process. */
static struct body *snapshot_all_event(struct serve *serve, struct sample *sample)
{
    struct sample *before, *listed = serve_listed(serve, &before);
    struct body *first = snapshot_event(serve, sample), *second = NULL;
    struct text text = {.bytes = NULL};
    size_t size;
    if (listed == NULL || first == NULL)
        return first;
    second = document_event(serve, "processes", listed);
    if (second != NULL) {
        const void *bytes = body_bytes(first, &size);
        text_append(&text, bytes, size);
        bytes = body_bytes(second, &size);
        text_append(&text, bytes, size);
    }
    body_unref(first);
    body_unref(second);
    return body_new(&text);
}

static struct view_sample view_sample_of(struct sample *sample, struct sample *before)
{
    return (struct view_sample){
        .snapshot = sample_snapshot(sample, NULL),
        .older = before != NULL ? sample_snapshot(before, NULL) : NULL,
    };
}

static struct body *view_event(struct serve *serve, struct sample *sample, bool every_process)
{
    const struct history_store *history = serve_history(serve);
    struct sample *before = history != NULL ? history_before(history) : NULL;
    struct sample *listed_before, *listed = serve_listed(serve, &listed_before);
    struct view_sample few = view_sample_of(sample, before), every = few;
    struct body *body = NULL;
    struct text text = {.bytes = NULL};
    if (few.snapshot == NULL)
        return NULL;
    if (listed != NULL && sample_snapshot(listed, NULL) != NULL)
        every = view_sample_of(listed, listed_before);
    view_write(&text, &few, every_process ? &every : NULL);
    if (!text.failed)
        body = event_of(NULL, text.bytes, text.size);
    text_done(&text);
    return body;
}

static struct body *few_event(struct serve *serve, struct sample *sample)
{
    return view_event(serve, sample, false);
}

static struct body *all_event(struct serve *serve, struct sample *sample)
{
    return view_event(serve, sample, true);
}

static struct body *history_document(struct serve *serve, struct sample *sample)
{
    struct text text = {.bytes = NULL};
    const struct history_store *history = serve_history(serve);
    (void)sample;
    if (history == NULL)
        return NULL;
    history_write(history, &text);
    return body_new(&text);
}

/* ---- the routes ---- */

static void answer_rendered(struct serve *serve, render_function *render,
                            struct http_answer *answer)
{
    if (serve_sample(serve) == NULL) {
        http_answer_text(answer, 503, "no sample has come yet\n");
        return;
    }
    answer->body = serve_rendered(serve, render);
    answer->type = JSON;
}

void api_snapshot(struct serve *serve, const struct http_request *request,
                  struct http_answer *answer)
{
    (void)request;
    answer_rendered(serve, snapshot_document, answer);
}

void api_history(struct serve *serve, const struct http_request *request,
                 struct http_answer *answer)
{
    (void)request;
    answer_rendered(serve, history_document, answer);
}

void api_stream(struct serve *serve, const struct http_request *request, struct http_answer *answer)
{
    bool page = has_argument(request, "view", "page");
    bool all = has_argument(request, "processes", "all");
    if (all && !serve_tells_processes(serve)) {
        http_answer_text(answer, 403, "nothing is told of processes: --processes off\n");
        return;
    }
    answer->type = "text/event-stream";
    answer->events = page ? (all ? all_event : few_event)
                          : (all ? snapshot_all_event : snapshot_event);
    answer->processes = all;
}
