/* routes.c: the table of routes. */
#include "export/server/api.h"
#include "export/server/page.h"
#include "export/server/route.h"
#include "export/server/serve_metrics.h"

/* /-/healthy: the process runs. */
static void healthy(struct serve *serve, const struct http_request *request,
                    struct http_answer *answer)
{
    (void)serve;
    (void)request;
    http_answer_text(answer, 200, "vitals is healthy\n");
}

/* /-/ready: there is a sample. */
static void ready(struct serve *serve, const struct http_request *request,
                  struct http_answer *answer)
{
    (void)request;
    if (serve_sample(serve) != NULL)
        http_answer_text(answer, 200, "vitals is ready\n");
    else
        http_answer_text(answer, 503, "no sample has come yet\n");
}

const struct route routes[] = {
    {"/", false, page_answer},
    {"/metrics", false, serve_metrics},
    {"/-/healthy", false, healthy},
    {"/-/ready", false, ready},
    {"/api/v1/snapshot", false, api_snapshot},
    {"/api/v1/stream", false, api_stream},
    {"/api/v1/history", false, api_history},
    {"/page/", true, page_answer},
    {NULL, false, NULL},
};
