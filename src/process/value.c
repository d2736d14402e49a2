/* value.c: one value of one process, for programs that want no more: a handle, a request and an
 * answer that live for one call. Thread rule: any thread, as the context. */
#include <vitals/process.h>

#include "util/error.h"

/* A missing value is an error here, as there is no other way to say why. */
static int missing(int64_t pid, vitals_metric metric, vitals_availability why, vitals_error *error)
{
    vitals_code code = why == VITALS_DENIED        ? VITALS_EDENIED
                       : why == VITALS_GONE        ? VITALS_EGONE
                       : why == VITALS_TIMED_OUT   ? VITALS_ETIMEOUT
                       : why == VITALS_UNSUPPORTED ? VITALS_EUNSUPPORTED
                       : why == VITALS_NOT_YET     ? VITALS_EUNSUPPORTED
                                                   : VITALS_ESYSTEM;
    return error_set(error, code, 0, "process %lld: %s: %s", (long long)pid,
                     vitals_metric_name(metric), vitals_availability_help(why));
}

/* An answer with the metric; type 0: whichever it has. */
static int ask_one(vitals_context *context, int64_t pid, vitals_metric metric, unsigned type,
                   vitals_snapshot **out, vitals_error *error)
{
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    const char *name = vitals_metric_name(metric);
    if (name == NULL || vitals_metric_table(metric) != VITALS_TABLE_PROCESS)
        return error_set(error, VITALS_EARGUMENT, 0, "metric 0x%x is not one of the table process",
                         (unsigned)metric);
    if (type != 0 && (unsigned)vitals_metric_type(metric) != type)
        return error_set(error, VITALS_EARGUMENT, 0, "process %s: the metric is of another type",
                         name);
    int code = vitals_process_open(context, pid, &process, error);
    if (code == 0)
        code = vitals_request_new(0, &request, error);
    if (code == 0)
        code = vitals_request_add(request, metric, error);
    /* The text that vitals_row_command falls back to. */
    if (code == 0 && metric == VITALS_PROCESS_COMMAND_LINE && type == 0)
        code = vitals_request_add(request, VITALS_PROCESS_NAME, error);
    if (code == 0)
        code = vitals_process_ask(process, request, out, error);
    vitals_request_free(request);
    vitals_process_close(process);
    return code;
}

static const vitals_row *row_of(const vitals_snapshot *answer)
{
    return vitals_snapshot_row(answer, VITALS_TABLE_PROCESS, 0);
}

int vitals_process_u64(vitals_context *context, int64_t pid, vitals_metric metric, uint64_t *out,
                       vitals_error *error)
{
    vitals_snapshot *answer;
    int code = ask_one(context, pid, metric, VITALS_U64, &answer, error);
    if (code < 0)
        return code;
    vitals_availability state = vitals_row_u64(row_of(answer), metric, out);
    vitals_snapshot_unref(answer);
    return state > 0 ? 0 : missing(pid, metric, state, error);
}

int vitals_process_i64(vitals_context *context, int64_t pid, vitals_metric metric, int64_t *out,
                       vitals_error *error)
{
    vitals_snapshot *answer;
    int code = ask_one(context, pid, metric, VITALS_I64, &answer, error);
    if (code < 0)
        return code;
    vitals_availability state = vitals_row_i64(row_of(answer), metric, out);
    vitals_snapshot_unref(answer);
    return state > 0 ? 0 : missing(pid, metric, state, error);
}

int vitals_process_f64(vitals_context *context, int64_t pid, vitals_metric metric, double *out,
                       vitals_error *error)
{
    vitals_snapshot *answer;
    int code = ask_one(context, pid, metric, VITALS_F64, &answer, error);
    if (code < 0)
        return code;
    vitals_availability state = vitals_row_f64(row_of(answer), metric, out);
    vitals_snapshot_unref(answer);
    return state > 0 ? 0 : missing(pid, metric, state, error);
}

int vitals_process_string(vitals_context *context, int64_t pid, vitals_metric metric, char *out,
                          size_t capacity, vitals_error *error)
{
    vitals_snapshot *answer;
    int code = ask_one(context, pid, metric, 0, &answer, error);
    if (code < 0)
        return code;
    const vitals_row *row = row_of(answer);
    vitals_availability state = vitals_row_availability(row, metric);
    if (state > 0 && metric == VITALS_PROCESS_COMMAND_LINE)
        (void)vitals_row_command(row, VITALS_TEXT_TERMINAL, out, capacity);
    else if (state > 0)
        (void)vitals_row_string(row, metric, VITALS_TEXT_TERMINAL, out, capacity);
    vitals_snapshot_unref(answer);
    return state > 0 ? 0 : missing(pid, metric, state, error);
}
