/* self_metrics.h: the resources that this program uses, by the names of Prometheus' client
 * libraries.
 *
 * The names have no prefix of ours: dashboards look for them. One thread. */
#pragma once

#include "export/prometheus/exposition.h"
#include "export/prometheus/families.h"

enum { SELF_METRIC_FAMILIES = 6 };

extern const struct metric_family self_metric_families[SELF_METRIC_FAMILIES];

struct self_metrics;

/* Returns NULL if memory is out, or /proc of this process cannot be read. */
struct self_metrics *self_metrics_new(void);
void self_metrics_free(struct self_metrics *metrics); /* accepts NULL */

/* Reads what is available; returns how many. Costs some 20 system calls. */
size_t self_metrics_read(struct self_metrics *metrics,
                         struct exposition_figure figures[SELF_METRIC_FAMILIES]);
