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

void watch_area_write(struct watch_area *area, const vitals_account *account)
{
    if (area == NULL)
        return;
    uint64_t number = atomic_load(&area->told) + 1;
    struct area_report *report = &area->reports[number % 2];
    size_t count = size_min(account->count, AREA_FIGURES);
    memcpy(report->figures, account->figures, count * sizeof(vitals_figure));
    report->figure_count = (uint32_t)count;
    if (count < account->count && count > 0)
        report->figures[count - 1] = (vitals_figure){.name = "figures_left_out",
                                                     .source = "more than a run has room for",
                                                     .state = VITALS_HAVE,
                                                     .value = (double)(account->count - count + 1)};

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
    atomic_store(&area->told, number);
}

/* ---- the launcher's ---- */

/* Each is copied to memory of our own, where its texts are ended. What is no figure or attribute is
 * left out. */
static vitals_account *read_report(const struct area_report *report)
{
    vitals_account *account = account_new();
    if (account == NULL)
        return NULL;
    size_t figures = size_min(report->figure_count, AREA_FIGURES);
    size_t attributes = size_min(report->attribute_count, AREA_ATTRIBUTES);
    for (size_t i = 0; i < figures; i++) {
        vitals_figure figure = report->figures[i];
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
        (void)!vitals_account_add(account, &form, NULL);
    }
    for (size_t i = 0; i < attributes; i++) {
        struct area_attribute attribute = report->attributes[i];
        attribute.name[ACCOUNT_ATTRIBUTE - 1] = attribute.text[AREA_TEXT - 1] = '\0';
        vitals_text text = {attribute.text, strlen(attribute.text)};
        (void)!vitals_account_set(account, attribute.name, text, NULL);
    }
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
