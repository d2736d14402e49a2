/* html.h: a recorded run as one page that needs nothing but a browser: no network, no other file.
 *
 * Everything that comes from outside is escaped, and the page's own policy allows its own scripts
 * alone. Without JavaScript it has the same charts, drawn. One thread. */
#pragma once

#include <stdbool.h>

#include "record/recording.h"
#include "report/phases.h"
#include "report/sizing.h"

struct html_report {
    const struct recording *recording;
    const char *path; /* of the recording, for its snapshots; as it was given */
    const struct account_view *view;
    const struct phases *phases;
    const struct sizing *sizing;

    /* For a page that is published: neither paths of this machine nor command lines, but this
     * title; NULL: none. */
    bool for_others;
    const char *title;
};

/* Returns 0, what `write` returned to stop, or less than zero where memory is out. */
int html_write(const struct html_report *report, vitals_write_fn *write, void *data);

/* The sections that are a table each; one without rows is left out (html_tables.c). */
struct html;
struct process_list;
void html_phases(struct html *html, const struct phases *phases);
void html_processes(struct html *html, const struct process_list *list);
void html_sizing(struct html *html, const struct sizing *sizing);
