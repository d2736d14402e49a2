/* watch_area.c: see watch_area.h. */
#include "run/watch_area.h"

#include "os/shared.h"
#include "run/account.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { AREA_FIGURES = 4096, AREA_ATTRIBUTES = 16, AREA_TEXT = 512, AREA_TRIES = 3 };

struct area_attribute {
    char name[ACCOUNT_ATTRIBUTE];
    char text[AREA_TEXT];
};

struct area_report {
    uint32_t figure_count, attribute_count;
    struct area_attribute attributes[AREA_ATTRIBUTES];
    vitals_figure figures[AREA_FIGURES];
};

struct watch_area {
    atomic_uint_fast64_t told; /* number of the newest report; it stands in reports[told % 2] */
    struct area_report reports[2];
};

struct watch_area *watch_area_new(void)
{
    return os_shared_new(sizeof(struct watch_area));
}

void watch_area_free(struct watch_area *area)
{
    os_shared_free(area, sizeof(*area));
}

/* ---- the watcher's side ---- */

static void write_attributes(struct area_report *report, const vitals_account *account)
{
    report->attribute_count = 0;
    for (const char *name = NULL; (name = vitals_account_next_attribute(account, name)) != NULL &&
                                  report->attribute_count < AREA_ATTRIBUTES;) {
        struct area_attribute *attribute = &report->attributes[report->attribute_count++];
        vitals_text text = vitals_account_attribute(account, name);
        size_t size = size_min(text.size, AREA_TEXT - 1);
        (void)snprintf(attribute->name, sizeof(attribute->name), "%s", name);
        memcpy(attribute->text, text.bytes, size);
        attribute->text[size] = '\0';
    }
}

void watch_area_write(struct watch_area *area, const vitals_account *account)
{
    if (area == NULL)
        return;
    uint64_t number = atomic_load(&area->told) + 1;
    struct area_report *report = &area->reports[number % 2];
    size_t count = size_min(account->count, AREA_FIGURES);
    memcpy(report->figures, account->figures, count * sizeof(vitals_figure));
    report->figure_count = (uint32_t)count;
    write_attributes(report, account);
    if (count < account->count && count > 0)
        report->figures[count - 1] = (vitals_figure){.name = "figures_left_out",
                                                     .source = "more than a run has room for",
                                                     .state = VITALS_HAVE,
                                                     .value = (double)(account->count - count + 1)};
    atomic_store(&area->told, number);
}

/* ---- the launcher's ---- */

/* A copy in memory of our own, whose texts end. */
static int read_figure(vitals_account *account, const vitals_figure *told)
{
    vitals_figure figure = *told;
    figure.name[FIGURE_NAME - 1] = figure.unit[FIGURE_UNIT - 1] = '\0';
    figure.subject[FIGURE_SUBJECT - 1] = figure.label[FIGURE_LABEL - 1] = '\0';
    figure.source[FIGURE_SOURCE - 1] = '\0';
    const vitals_figure_form form = {.name = figure.name,
                                     .unit = figure.unit,
                                     .subject = figure.subject,
                                     .label = figure.label,
                                     .source = figure.source,
                                     .state = (vitals_availability)figure.state,
                                     .value = figure.value};
    return vitals_account_add(account, &form, NULL);
}

static void read_attribute(vitals_account *account, const struct area_attribute *told)
{
    struct area_attribute attribute = *told;
    attribute.name[ACCOUNT_ATTRIBUTE - 1] = attribute.text[AREA_TEXT - 1] = '\0';
    vitals_text text = {attribute.text, strlen(attribute.text)};
    int code = vitals_account_set(account, attribute.name, text, NULL);
    (void)code; /* what is no attribute is none */
}

static vitals_account *read_report(const struct area_report *report)
{
    vitals_account *account = account_new();
    if (account == NULL)
        return NULL;
    size_t figures = size_min(report->figure_count, AREA_FIGURES);
    size_t attributes = size_min(report->attribute_count, AREA_ATTRIBUTES);
    for (size_t i = 0; i < figures; i++) {
        int code = read_figure(account, &report->figures[i]);
        (void)code; /* one that cannot be is left out */
    }
    for (size_t i = 0; i < attributes; i++)
        read_attribute(account, &report->attributes[i]);
    return account;
}

vitals_account *watch_area_read(struct watch_area *area)
{
    for (int i = 0; area != NULL && i < AREA_TRIES; i++) {
        uint64_t number = atomic_load(&area->told);
        vitals_account *account = number != 0 ? read_report(&area->reports[number % 2]) : NULL;
        if (account == NULL || atomic_load(&area->told) == number)
            return account;
        vitals_account_free(account); /* it may have been written over meanwhile */
    }
    return NULL;
}
