/* html_out.h: markup as it comes, with text from outside escaped. */
#pragma once

#include "report/words.h"

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
