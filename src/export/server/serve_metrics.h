/* serve_metrics.h: the route /metrics, which Prometheus scrapes. On the server's thread. */
#ifndef VITALS_EXPORT_SERVER_SERVE_METRICS_H
#define VITALS_EXPORT_SERVER_SERVE_METRICS_H

#include "export/server/route.h"

route_function serve_metrics;

/* Drops the rendered documents, because there is a new sample. */
void serve_metrics_forget(struct serve *serve);

#endif
