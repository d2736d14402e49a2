/* serve_metrics.h: the route that Prometheus scrapes. On the server's thread. */
#ifndef VITALS_EXPORT_SERVER_SERVE_METRICS_H
#define VITALS_EXPORT_SERVER_SERVE_METRICS_H

#include "export/server/route.h"

route_function serve_metrics;

/* Throws away what was rendered, for its moment is no longer the newest. */
void serve_metrics_forget(struct serve *serve);

#endif
