/* html_tables.h: the sections of the page that are a table each: a run's phases, its processes, and
 * what to ask for next time. One without rows is left out. */
#ifndef VITALS_REPORT_HTML_TABLES_H
#define VITALS_REPORT_HTML_TABLES_H

#include "report/html_out.h"
#include "report/phases.h"
#include "report/processes.h"
#include "report/sizing.h"

void html_phases(struct html *html, const struct phases *phases);
void html_processes(struct html *html, const struct process_list *list);
void html_sizing(struct html *html, const struct sizing *sizing);

#endif
