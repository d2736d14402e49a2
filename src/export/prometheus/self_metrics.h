/* self_metrics.h: what this program itself uses, by the names that Prometheus' own libraries give
 * it.
 *
 * They have no prefix of ours: dashboards look for them under these names. One thread. */
#ifndef VITALS_EXPORT_PROMETHEUS_SELF_METRICS_H
#define VITALS_EXPORT_PROMETHEUS_SELF_METRICS_H

#include "export/prometheus/exposition.h"
#include "export/prometheus/families.h"

enum { OWN_FAMILIES = 6 };

extern const struct family own_families[OWN_FAMILIES];

struct own;

/* NULL when memory is out, or where we may not look at ourselves. */
struct own *own_new(void);
void own_free(struct own *own); /* accepts NULL */

/* What is known now; gives how many. Costs some 20 system calls. */
size_t own_read(struct own *own, struct exposition_figure figures[OWN_FAMILIES]);

#endif
