/* observer_pair.c: see observer_pair.h. */
#include "export/observer_pair.h"

enum { EACH = 2 };

enum event { BEGIN, SAMPLE, MARK, END };

/* Calls both observers, except one that has failed. Returns a negative code only once both have
 * failed; at the end also if one has. */
static int tell(struct observer_pair *pair, enum event event, const vitals_snapshot *snapshot,
                const vitals_usage *usage, const vitals_mark *given, vitals_error *error)
{
    for (int i = 0; i < EACH; i++) {
        const vitals_run_observer *observer = pair->each[i];
        vitals_error one = {.message = ""};
        int code = 0;
        if (pair->stopped[i])
            continue;
        if (event == BEGIN && observer->begin != NULL)
            code = observer->begin(observer->data, &one);
        else if (event == SAMPLE && observer->sample != NULL)
            code = observer->sample(observer->data, snapshot, usage, &one);
        else if (event == MARK && observer->mark != NULL)
            code = observer->mark(observer->data, given, &one);
        else if (event == END && observer->end != NULL)
            code = observer->end(observer->data, &one);
        if (code >= 0)
            continue;
        pair->stopped[i] = true;
        if (pair->error.code == 0)
            pair->error = one;
        pair->error.code = code;
    }
    if (event != END && (!pair->stopped[0] || !pair->stopped[1]))
        return 0;
    *error = pair->error;
    return pair->error.code;
}

static int begin(void *data, vitals_error *error)
{
    return tell(data, BEGIN, NULL, NULL, NULL, error);
}

static int sample(void *data, const vitals_snapshot *snapshot, const vitals_usage *usage,
                  vitals_error *error)
{
    return tell(data, SAMPLE, snapshot, usage, NULL, error);
}

static int mark(void *data, const vitals_mark *given, vitals_error *error)
{
    return tell(data, MARK, NULL, NULL, given, error);
}

static int end(void *data, vitals_error *error)
{
    return tell(data, END, NULL, NULL, NULL, error);
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
    pair->face = (vitals_run_observer){.size = sizeof(vitals_run_observer),
                                       .data = pair,
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
