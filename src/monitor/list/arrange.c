/* arrange.c: see arrange.h. */
#include "monitor/list/arrange.h"

#include <string.h>

#include "monitor/list/group.h"
#include "monitor/list/match.h"

/* The metrics that every list has are requested anyway. */
static void add_column(struct wants *wants, const struct column *column)
{
    if (column->usual == 0)
        wants_add(wants, column->metric);
    for (size_t i = 0; i < sizeof column->needs / sizeof column->needs[0]; i++)
        wants_add(wants, column->needs[i]);
}

void wants_of(const struct arrangement *arrangement, unsigned views, struct wants *out)
{
    struct arranged_columns columns;
    struct match match;
    *out = (struct wants){.count = 0};
    for (unsigned view = VIEW_DEVICES; view <= VIEW_ALL; view++) {
        /* The usual ones of devices are requested with these. */
        if (view == VIEW_DEVICES && arrangement->views[0].count == 0)
            continue;
        columns_of(arrangement, (enum view)view, &columns);
        for (size_t i = 0; (views & view) && i < columns.count; i++)
            add_column(out, &list_columns[columns.items[i].column]);
    }
    for (size_t i = 0; i < arrangement->sort_count; i++) {
        if (columns_sorted(arrangement->sorts[i].sort) != NULL)
            add_column(out, columns_sorted(arrangement->sorts[i].sort));
    }
    for (const vitals_metric *metric = group_needs(arrangement->group); *metric != 0; metric++)
        wants_add(out, *metric);
    match_parse(arrangement->filter, &match);
    match_needs(&match, out);
}

void model_fit(struct model *model)
{
    enum { WIDE_LIST = 140 };
    model->arranged.wide = !model->arranged.nvitop && model->width >= WIDE_LIST;
}

void model_arrangement(const struct model *model, struct arrangement *out)
{
    *out = model->arranged;
    out->sorts[0] = (struct arranged_sort){model->sort, model->reversed};
    if (out->sort_count == 0)
        out->sort_count = model->sort != 0 || model->reversed;
    out->all = model->view == VIEW_ALL && model->view_chosen;
    if (model->mode_chosen)
        out->mode = (char)(model->mode + 1);
    memcpy(out->filter, model->filter, sizeof out->filter);
}

void model_arrange(struct model *model, const struct arrangement *arrangement)
{
    static const struct arrangement USUAL = {.sort_count = 0};
    const struct arrangement *from = arrangement != NULL ? arrangement : &USUAL;
    model->arranged = *from;
    model->sort = from->sort_count > 0 ? from->sorts[0].sort : 0;
    model->reversed = from->sort_count > 0 && from->sorts[0].reversed;
    model->mode_chosen = false;
    if (from->mode != 0 && !model->options->mode_given)
        model->mode = (enum monitor_mode)(from->mode - 1);
    if (from->all) {
        model->view = VIEW_ALL;
        model->view_chosen = true;
    }
    memcpy(model->filter, from->filter, sizeof model->filter);
    model_fit(model);
    model->folds.count = 0;
    model->folds.all = false;
}

void wants_add(struct wants *wants, vitals_metric metric)
{
    bool found = metric == 0 || wants->count == WANTS_MOST;
    for (size_t i = 0; i < wants->count && !found; i++)
        found = wants->metrics[i] == metric;
    if (!found)
        wants->metrics[wants->count++] = metric;
}

bool wants_equal(const struct wants *a, const struct wants *b)
{
    return a->count == b->count &&
           memcmp(a->metrics, b->metrics, a->count * sizeof a->metrics[0]) == 0;
}

int wants_request(const struct wants *wants, vitals_request *request, vitals_error *error)
{
    static const uint64_t SELDOM_NS = 10000000000u; /* the place of a process seldom changes */
    int code = 0;
    for (size_t i = 0; i < wants->count && code == 0; i++) {
        vitals_metric metric = wants->metrics[i];
        code = vitals_request_add(request, metric, error);
        if (code == 0 && vitals_metric_type(metric) == VITALS_TEXT &&
            vitals_metric_price(metric) != VITALS_PRICE_TICK)
            code = vitals_request_set_every(request, metric, SELDOM_NS, error);
    }
    return code;
}
