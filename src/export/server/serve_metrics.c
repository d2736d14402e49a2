/* serve_metrics.c: the route /metrics: chooses the format and adds the metrics of the server
 * itself. Each format is rendered once per sample. */
#include "export/server/serve_metrics.h"

#include "export/clock.h"
#include "export/prometheus/self_metrics.h"
#include "export/server/accept.h"
#include "export/server/serve.h"

static enum exposition_format format_for(const struct http_request *request)
{
    static const char *const OPENMETRICS_VERSIONS[] = {"1.0.0", "0.0.1", NULL};
    static const char *const TEXT_VERSIONS[] = {"0.0.4", NULL};
    const char *accept = http_request_header(request, "Accept");
    struct accept_quality open = accept_type(accept, "application/openmetrics-text",
                                             OPENMETRICS_VERSIONS);
    struct accept_quality text = accept_type(accept, "text/plain", TEXT_VERSIONS);
    /* OpenMetrics only if named: a client that accepts anything reads the older format. */
    return open.exactness == 3 && open.quality > 0 && open.quality >= text.quality
               ? EXPOSITION_OPENMETRICS
               : EXPOSITION_TEXT;
}

static struct body *render(struct serve *serve, enum exposition_format format, uint64_t now_ns)
{
    static const char *const CODES[HTTP_CODES_COUNT] = {
#define CODE_NAME(code) [HTTP_CODE_##code] = #code,
        HTTP_CODES(CODE_NAME)
#undef CODE_NAME
            [HTTP_CODE_OTHER] = "other"};
    enum { OF_CONNECTIONS = 4, REASONS = HTTP_REFUSED_COUNT + OF_CONNECTIONS };
    static const char *const NAMES[HTTP_REFUSED_COUNT] = {
#define REASON_NAME(name) [HTTP_REFUSED_##name] = #name,
        HTTP_REASONS(REASON_NAME)
#undef REASON_NAME
    };
    const struct connections *connections = &serve->connections;
    struct exposition_tally requests[HTTP_CODES_COUNT];
    struct exposition_tally rejected[REASONS] = {
        {"evicted", connections->evicted},
        {"deadline", connections->overdue},
        {"connections", connections->turned_away},
        {"slow_listener", serve->events_dropped},
    };
    struct exposition_figure own[SELF_METRIC_FAMILIES];
    if (serve->own == NULL && !serve->without_own)
        serve->own = self_metrics_new();
    serve->without_own = serve->own == NULL;
    for (size_t i = 0; i < HTTP_CODES_COUNT; i++)
        requests[i] = (struct exposition_tally){CODES[i], serve->answered[i]};
    for (size_t i = 0; i < HTTP_REFUSED_COUNT; i++)
        rejected[OF_CONNECTIONS + i] = (struct exposition_tally){NAMES[i], serve->refused[i]};
    struct exposition_self self = {
        .requests = requests,
        .rejected = rejected,
        .request_count = HTTP_CODES_COUNT,
        .rejected_count = REASONS,
        .own = own,
        .own_count = serve->own != NULL ? self_metrics_read(serve->own, own) : 0,
        .now_ns = now_ns};
    return exposition_render(serve->exposition, serve->newest, format, &self);
}

/* A stale sample is rendered for each request, since only the metrics of vitals itself remain. */
void serve_metrics(struct serve *serve, const struct http_request *request,
                   struct http_answer *answer)
{
    enum exposition_format format = format_for(request);
    uint64_t now = clock_now_ns();
    const struct sample *newest = serve->newest;
    answer->type = exposition_content_type(format);
    if (newest == NULL || exposition_is_stale(serve->exposition, newest, now)) {
        answer->body = render(serve, format, now);
        return;
    }
    if (serve->exposed[format].sample != newest) {
        body_unref(serve->exposed[format].body);
        serve->exposed[format].body = render(serve, format, now);
        serve->exposed[format].sample = newest;
    }
    struct body *body = serve->exposed[format].body;
    answer->body = body != NULL ? body_ref(body) : NULL;
}

void serve_metrics_forget(struct serve *serve)
{
    for (size_t i = 0; i < EXPOSITION_FORMATS; i++) {
        body_unref(serve->exposed[i].body);
        serve->exposed[i].body = NULL;
        serve->exposed[i].sample = NULL;
    }
}
