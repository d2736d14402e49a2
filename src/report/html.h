/* html.h: a recorded run as one page that needs nothing but a browser: no network, no other file.
 *
 * Everything that comes from outside is escaped, and the page's own policy allows its own scripts
 * alone. Without JavaScript it has the same charts, drawn. One thread. */
#pragma once

#include "report/phases.h"
#include "report/run_report.h"
#include "report/sizing.h"
#include "report/words.h"

/* Returns 0, what `write` returned to stop, or less than zero where memory is out. */
int html_write(const struct run_report *report, const struct phases *phases,
               const struct sizing *sizing, vitals_write_fn *write, void *data);

/* ---- markup (html_out.c) ---- */

struct html {
    vitals_write_fn *write;
    void *data;
    int failed;
    const struct account_view *view;
};

/* Ours, as it is; and with numbers in it. */
void html_raw(struct html *html, const char *markup);
void html_format(struct html *html, const char *format, ...) VITALS_FORMAT(2, 3);

/* Untrusted text: controls and invisible characters are made visible, and nothing of it is markup.
 * May stand in a quoted attribute. */
void html_text(struct html *html, vitals_text text);
void html_string(struct html *html, const char *string);

/* A number that tells how it was got when it is pointed at. */
void html_figure(struct html *html, const char *words, const char *how);

/* A small word for how good a figure is. */
void html_quality(struct html *html, vitals_availability state);

/* ---- sections that are a table each; one without rows is left out (html_tables.c) ---- */

struct process_list;
void html_phases(struct html *html, const struct phases *phases);
void html_processes(struct html *html, const struct process_list *list);
void html_sizing(struct html *html, const struct sizing *sizing);

/* ---- what a reader should know first of a run, in one sentence (insight.c) ---- */

struct insight {
    char sentence[WORDS];        /* "" if nothing is known; safe to print, as all here */
    char detail[2 * WORDS];      /* what explains it, or "" */
    bool trouble;                /* time or memory was lost */
    const vitals_figure *figure; /* that it rests on */
};

void insight_of(const vitals_account *account, const struct account_view *view,
                struct insight *out);
