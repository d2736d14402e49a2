/* exposition_page.c: see exposition_page.h: the text of a document. */
#include "export/prometheus/exposition_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void page_init(struct exposition_page *page, struct text *out, enum exposition_format format,
               const struct exposition_options *options)
{
    *page = (struct exposition_page){.out = out, .format = format, .options = options};
}

void page_done(struct exposition_page *page)
{
    for (size_t i = 0; i < PAGE_TABLES; i++)
        free(page->tables[i].rows);
    free(page->sums);
    hash_done(&page->seen);
    text_done(&page->labels);
}

/* ---- families ---- */

void page_family(struct exposition_page *page, const char *prefix, const char *name,
                 enum family_type type, const char *help)
{
    page->prefix = prefix;
    page->name = name;
    page->type = type;
    page->help = help;
    page->unit = prefix[0] != '\0' ? family_unit(name) : "";
    page->headed = false;
    if (page->seen.count > 0)
        hash_reset(&page->seen);
}

static void head_line(struct exposition_page *page, const char *word, const char *rest)
{
    text_string(page->out, word);
    text_string(page->out, page->prefix);
    size_t size = strlen(page->name);
    if (page->format == EXPOSITION_OPENMETRICS && page->type == FAMILY_COUNTER)
        size -= sizeof "_total" - 1; /* OpenMetrics names the family without it */
    text_append(page->out, page->name, size);
    text_byte(page->out, ' ');
    text_string(page->out, rest);
    text_byte(page->out, '\n');
}

/* ---- samples ---- */

void page_sample(struct exposition_page *page)
{
    if (!page->headed) { /* help texts are our own: no backslash and no newline in them */
        bool open = page->format == EXPOSITION_OPENMETRICS;
        if (!open)
            head_line(page, "# HELP ", page->help);
        head_line(page, "# TYPE ", page->type == FAMILY_COUNTER ? "counter" : "gauge");
        if (open && page->unit[0] != '\0')
            head_line(page, "# UNIT ", page->unit);
        if (open)
            head_line(page, "# HELP ", page->help);
        page->headed = true;
    }

    page->sample = page->out->size;
    text_string(page->out, page->prefix);
    text_string(page->out, page->name);
    page->braces = page->out->size;
    page->labeled = false;
}

static void separate(struct exposition_page *page)
{
    text_byte(page->out, page->labeled ? ',' : '{');
    page->labeled = true;
}

void page_labels(struct exposition_page *page, const char *bytes, size_t size)
{
    if (size == 0)
        return;
    separate(page);
    text_append(page->out, bytes, size);
}

void page_label_word(struct exposition_page *page, const char *name, const char *value)
{
    page_label(page, name, (vitals_text){value, strlen(value)});
}

void page_label(struct exposition_page *page, const char *name, vitals_text value)
{
    separate(page);
    text_string(page->out, name);
    text_append(page->out, "=\"", 2);
    text_safe(page->out, value, VITALS_TEXT_LABEL);
    text_byte(page->out, '"');
}

void page_value(struct exposition_page *page, double value)
{
    if (page->labeled)
        text_byte(page->out, '}');
    if (page->out->failed)
        return;

    /* A series of the family that was written already is dropped. */
    bool writes = isfinite(value) && (page->type != FAMILY_COUNTER || value >= 0);
    size_t size = page->out->size - page->braces;
    const char *series = page->out->bytes + page->braces;
    uint64_t key = hash_bytes(series, size);
    const uintptr_t *seen = hash_find(&page->seen, key);
    if (seen != NULL && memcmp(page->out->bytes + *seen, series, size) == 0)
        writes = false;
    if (writes && seen == NULL && hash_set(&page->seen, key, page->braces) != 0) {
        page->failed = true;
        writes = false;
    }
    if (!writes) {
        page->out->size = page->sample;
        page->out->bytes[page->sample] = '\0';
        return;
    }
    text_byte(page->out, ' ');
    text_number(page->out, value);
    text_byte(page->out, '\n');
}

void page_sample_of(struct exposition_page *page, const struct exposition_row *row)
{
    page_sample(page);
    if (row->size > 0)
        page_labels(page, page->labels.bytes + row->labels, row->size);
}

/* ---- values ---- */

enum { STALE_INTERVALS = 3 };

bool page_number(const struct exposition_page *page, const vitals_row *row, vitals_metric metric,
                 double *value)
{
    vitals_availability availability = vitals_row_number(row, metric, value);
    if (availability <= 0)
        return false;
    if (availability != VITALS_STALE)
        return true;

    uint64_t taken = vitals_snapshot_monotonic_ns(page->snapshot);
    uint64_t read = vitals_row_read_ns(row, metric);
    uint64_t age = taken > read ? taken - read : 0;
    return age + page->age_ns <= STALE_INTERVALS * page->options->interval_ns;
}

bool page_text(const vitals_row *row, vitals_metric metric, vitals_text *text)
{
    return vitals_row_text(row, metric, text) > 0;
}
