/* pane_cpus.h: every CPU of the machine in a box: a bar each, or a cell each, or a cell for
 * several. Pure, as pane.h. */
#ifndef VITALS_MONITOR_SCREENS_PANE_CPUS_H
#define VITALS_MONITOR_SCREENS_PANE_CPUS_H

#include "monitor/list/columns.h"

/* The first of these that a box of so many columns and rows has room for. */
enum cpus_form { CPUS_BARS, CPUS_CELLS, CPUS_SHARED_CELLS };
enum cpus_form pane_cpus_form(const struct model *model, int columns, int rows);

/* Rows that the CPUs take of `rows`. */
int pane_cpus_rows(const struct model *model, int columns, int rows);

size_t pane_cpus_count(const struct model *model);

/* Draws in all of the rows that pane_cpus_rows gave. */
void pane_cpus(struct pen *pen, const struct model *model, const struct box *box);

#endif
