/* self_metrics.h: what this program itself uses, by the names that Prometheus' own libraries give
 * it.
 *
 * They have no prefix of ours: dashboards look for them under these names. One thread. */
#ifndef VITALS_EXPORT_PROMETHEUS_SELF_METRICS_H
#define VITALS_EXPORT_PROMETHEUS_SELF_METRICS_H

#include "export/prometheus/exposition.h"
#include "export/prometheus/families.h"

enum { SELF_METRIC_FAMILIES = 6 };

extern const struct metric_family self_metric_families[SELF_METRIC_FAMILIES];

struct self_metrics;

/* NULL when memory is out, or where we may not look at ourselves. */
struct self_metrics *self_metrics_new(void);
void self_metrics_free(struct self_metrics *own); /* accepts NULL */

/* What is known now; gives how many. Costs some 20 system calls. */
size_t self_metrics_read(struct self_metrics *own,
                         struct exposition_figure figures[SELF_METRIC_FAMILIES]);

#endif
