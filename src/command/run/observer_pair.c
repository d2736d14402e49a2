/* observer_pair.c: see run_export.h. */
#include "command/run/run_export.h"

enum { EACH = 2 };

static void take_result(struct observer_pair *pair, int index, int code, const vitals_error *error)
{
    if (code >= 0)
        return;
    pair->stopped[index] = true;
    if (pair->error.code == 0)
        pair->error = *error;
    pair->error.code = code;
}

/* Negative only once both observers have failed. */
static int result_of(const struct observer_pair *pair, vitals_error *error)
{
    if (!pair->stopped[0] || !pair->stopped[1])
        return 0;
    *error = pair->error;
    return pair->error.code;
}

static int begin(void *data, vitals_error *error)
{
    struct observer_pair *pair = data;
    for (int i = 0; i < EACH; i++) {
        vitals_error one = {.message = ""};
        if (pair->each[i]->begin != NULL)
            take_result(pair, i, pair->each[i]->begin(pair->each[i]->data, &one), &one);
    }
    return result_of(pair, error);
}

static int sample(void *data, const vitals_snapshot *snapshot, const vitals_usage *usage,
                  vitals_error *error)
{
    struct observer_pair *pair = data;
    for (int i = 0; i < EACH; i++) {
        vitals_error one = {.message = ""};
        if (!pair->stopped[i] && pair->each[i]->sample != NULL)
            take_result(pair, i, pair->each[i]->sample(pair->each[i]->data, snapshot, usage, &one),
                        &one);
    }
    return result_of(pair, error);
}

static int mark(void *data, const vitals_mark *told, vitals_error *error)
{
    struct observer_pair *pair = data;
    for (int i = 0; i < EACH; i++) {
        vitals_error one = {.message = ""};
        if (!pair->stopped[i] && pair->each[i]->mark != NULL)
            take_result(pair, i, pair->each[i]->mark(pair->each[i]->data, told, &one), &one);
    }
    return result_of(pair, error);
}

/* Here the one that stopped before is told of. */
static int end(void *data, vitals_error *error)
{
    struct observer_pair *pair = data;
    for (int i = 0; i < EACH; i++) {
        vitals_error one = {.message = ""};
        if (!pair->stopped[i] && pair->each[i]->end != NULL)
            take_result(pair, i, pair->each[i]->end(pair->each[i]->data, &one), &one);
    }
    *error = pair->error;
    return pair->error.code;
}

static int add_all(vitals_request *request, const vitals_request *wanted, vitals_error *error)
{
    int code = 0;
    for (vitals_metric metric = vitals_metric_next(0); metric != 0 && code == 0;
         metric = vitals_metric_next(metric)) {
        if (wanted != NULL && vitals_request_has(wanted, metric))
            code = vitals_request_add(request, metric, error);
    }
    return code;
}

int observer_pair_init(struct observer_pair *pair, const vitals_run_observer *first,
                       const vitals_run_observer *second, vitals_error *error)
{
    *pair = (struct observer_pair){.each = {first, second}};
    int code = vitals_request_new(0, &pair->request, error);
    if (code == 0)
        code = add_all(pair->request, first->request, error);
    if (code == 0)
        code = add_all(pair->request, second->request, error);
    pair->face = (vitals_run_observer){.data = pair,
                                       .request = pair->request,
                                       .begin = begin,
                                       .sample = sample,
                                       .mark = mark,
                                       .end = end,
                                       .descriptor = first->descriptor,
                                       .other_descriptor = second->descriptor};
    return code;
}

void observer_pair_done(struct observer_pair *pair)
{
    vitals_request_free(pair->request);
    pair->request = NULL;
}
