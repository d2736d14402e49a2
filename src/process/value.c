/* value.c: values of one process without a snapshot. One value, for programs that want no more: a
 * handle, a request and an answer that live for one call; any thread, as the context. Or values
 * that a handle reads directly: one thread at a time per handle. */
#include "process/live.h"

#include "model/row_batch.h"
#include "util/error.h"
#include "util/number.h"

#include <string.h>

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

/* ---- values that are read directly ---- */

/* A metric that is some pages of statm; false for another one. The size there is that of stat. */
static bool memory_of(const struct os *os, const struct os_statm *statm, vitals_metric metric,
                      uint64_t *bytes)
{
    uint64_t pages;
    switch (metric) {
    case VITALS_PROCESS_VIRTUAL_BYTES: pages = statm->size; break;
    case VITALS_PROCESS_RESIDENT_BYTES: pages = statm->resident; break;
    case VITALS_PROCESS_SHARED_BYTES: pages = statm->shared; break;
    case VITALS_PROCESS_TEXT_BYTES: pages = statm->text; break;
    case VITALS_PROCESS_DATA_BYTES: pages = statm->data; break;
    default: return false;
    }
    *bytes = saturating_mul(pages, os->page_bytes);
    return true;
}

/* Of the rest those that os_process_metrics reads; it passes over what is made of others. A cgroup
 * may have been made up. */
static bool is_direct(const vitals_process *process, vitals_metric metric)
{
    if (metric == VITALS_PROCESS_READ_BYTES || metric == VITALS_PROCESS_WRITTEN_BYTES)
        return true;
    return vitals_metric_table(metric) == VITALS_TABLE_PROCESS &&
           vitals_metric_price(metric) == VITALS_PRICE_WORKER &&
           (metric != VITALS_PROCESS_CGROUP || process->context->player_count == 0);
}

static bool read_memory(vitals_process *process, struct os_statm *out)
{
    struct os_process files = process->files;
    if (files.statm < 0 && os_process_open_statm(&process->context->os, &files) < 0)
        return false;
    bool read = os_process_statm(&files, out) == 0;
    live_keep_statm(process, files.statm);
    return read && out->has == OS_STATM_ALL && out->size != 0; // 0: it, or its first thread, ends
}

/* A value of the batch; of a text the bytes are copied to *text, before *end. */
static bool take(const struct row_batch *batch, vitals_metric metric, char **text, const char *end,
                 vitals_value *out)
{
    const struct batch_cell *cell = batch_find(batch, batch->rows, metric);
    if (cell == NULL || (cell->state <= 0 && cell->state != VITALS_UNSUPPORTED))
        return false;
    *out = (vitals_value){.availability = (vitals_availability)cell->state, .text = {"", 0}};
    if (cell->state == VITALS_UNSUPPORTED)
        return true;

    /* Of an empty text, or a number that a snapshot cuts, an answer knows more. */
    struct span span;
    switch (vitals_metric_type(metric)) {
    case VITALS_U64: out->u64 = cell->as.u64; return out->u64 <= EXACT_MAX;
    case VITALS_I64: out->i64 = cell->as.i64; return true;
    case VITALS_F64: out->f64 = cell->as.f64; return true;
    default: break;
    }
    span = batch_span(batch, cell);
    if (span.size == 0 || span.size > (size_t)(end - *text))
        return false;
    memcpy(*text, span.bytes, span.size);
    out->text = (vitals_text){*text, span.size};
    *text += span.size;
    return true;
}

int vitals_process_read(vitals_process *process, const vitals_metric *metrics, size_t count,
                        vitals_value *out, char *text, size_t capacity)
{
    const struct os *os = &process->context->os;
    struct row_batch batch = {.count = 0};
    struct os_statm statm = {0};
    uint64_t bytes;
    bool memory = false, others = false, read = false;
    for (size_t i = 0; i < count; i++) {
        if (memory_of(os, &statm, metrics[i], &bytes)) {
            memory = true;
        } else if (is_direct(process, metrics[i])) {
            metric_set_add(&batch.wanted, metrics[i]);
            others = true;
        } else {
            return 0;
        }
    }
    if (process->pidfd < 0 || (!memory && !others) || (memory && !read_memory(process, &statm)))
        return 0;
    if (others && (batch_add_row(&batch, VITALS_TABLE_PROCESS, 1, (struct span){"", 0}) == NULL ||
                   !os_process_metrics(os, process->files.pid, &batch) || batch.failed))
        goto done;

    /* It lives, so the pid was its own all the while. */
    read = os_pidfd_ended(process->pidfd) == 0;
    const char *end = text + capacity;
    for (size_t i = 0; i < count && read; i++) {
        if (memory_of(os, &statm, metrics[i], &bytes))
            out[i] = (vitals_value){.availability = VITALS_HAVE,
                                    .u64 = bytes < EXACT_MAX ? bytes : EXACT_MAX,
                                    .text = {"", 0}};
        else
            read = take(&batch, metrics[i], &text, end, &out[i]);
    }
done:
    batch_done(&batch);
    return read;
}
