/* self_metrics.h: the resources that this program uses, by the names of Prometheus' client
 * libraries.
 *
 * The names have no prefix of ours: dashboards look for them. One thread at a time. */
#pragma once

struct exposition_page;
struct self_metrics;

/* Returns NULL if memory is out, or /proc of this process cannot be read. */
struct self_metrics *self_metrics_new(void);
void self_metrics_free(struct self_metrics *metrics); /* accepts NULL */

/* Writes the families that are available; none of NULL. Costs some 20 system calls. */
void self_metrics_write(struct self_metrics *metrics, struct exposition_page *page);
