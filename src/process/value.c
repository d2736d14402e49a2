/* value.c: values of one process without a snapshot. One value, for programs that want no more: a
 * handle, a request and an answer that live for one call; any thread, as the context. Or values
 * and rows that a handle reads directly: one thread at a time per handle. */
#include "process/live.h"

#include "model/row_batch.h"
#include "model/words.h"
#include "process/reader.h"
#include "util/error.h"

#include <errno.h>
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

enum {
    READ_STAT = 1u << 0,
    READ_STATM = 1u << 1,
    READ_CLOCK = 1u << 2,
    READ_OTHERS = 1u << 3, /* by os_process_metrics */
    READ_NOTHING = 1u << 4 /* the handle knows it */
};

/* What a metric is read from; 0: it is not read directly. Of the rest those that os_process_metrics
 * reads; it passes over what is made of others. A cgroup may have been made up. */
static unsigned origin_of(const vitals_process *process, vitals_metric metric)
{
    switch (metric) {
    case VITALS_PROCESS_PID:
    case VITALS_PROCESS_START_SECONDS: return READ_NOTHING;
    case VITALS_PROCESS_NAME:
    case VITALS_PROCESS_STATE:
    case VITALS_PROCESS_TERMINAL:
    case VITALS_PROCESS_PARENT_PID:
    case VITALS_PROCESS_THREADS:
    case VITALS_PROCESS_MINOR_FAULTS:
    case VITALS_PROCESS_MAJOR_FAULTS:
    case VITALS_PROCESS_NICE:
    case VITALS_PROCESS_CPU:
    case VITALS_PROCESS_PROCESS_GROUP:
    case VITALS_PROCESS_SESSION:
    case VITALS_PROCESS_KERNEL_FLAGS:
    case VITALS_PROCESS_PRIORITY:
    case VITALS_PROCESS_REALTIME_PRIORITY:
    case VITALS_PROCESS_CPU_USER_SECONDS:
    case VITALS_PROCESS_CPU_SYSTEM_SECONDS:
    case VITALS_PROCESS_CHILDREN_USER_SECONDS:
    case VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS: return READ_STAT;
    case VITALS_PROCESS_VIRTUAL_BYTES:
    case VITALS_PROCESS_RESIDENT_BYTES:
    case VITALS_PROCESS_SHARED_BYTES:
    case VITALS_PROCESS_TEXT_BYTES:
    case VITALS_PROCESS_DATA_BYTES: return READ_STATM;
    case VITALS_PROCESS_CPU_SECONDS: return READ_CLOCK;
    case VITALS_PROCESS_READ_BYTES:
    case VITALS_PROCESS_WRITTEN_BYTES: return READ_OTHERS;
    case VITALS_PROCESS_CGROUP: return process->context->player_count == 0 ? READ_OTHERS : 0;
    default: break;
    }
    bool worker = vitals_metric_table(metric) == VITALS_TABLE_PROCESS &&
                  vitals_metric_price(metric) == VITALS_PRICE_WORKER;
    return worker ? READ_OTHERS : 0;
}

/* Returns false if the process ends or its first thread has ended: vitals_process_ask knows more
 * then. The size in statm is that in stat. */
static bool read_statm(vitals_process *process, struct process *subject)
{
    struct os_process files = process->files;
    if (files.statm < 0 && os_process_open_statm(&process->context->os, &files) < 0)
        return false;
    bool read = os_process_statm(&files, &subject->statm) == 0;
    live_keep_statm(process, files.statm);
    subject->statm_state = VITALS_HAVE;
    return read && subject->statm.has == OS_STATM_ALL && subject->statm.size != 0;
}

/* Reads stat, which proves that it and all that was read before are this process's. The name lies
 * in `text`. */
static bool read_stat(const vitals_process *process, char text[static OS_STAT_TEXT],
                      struct os_stat *out)
{
    return os_process_stat(&process->files, text, out) == 0 && (out->has & OS_STAT_START) != 0 &&
           out->start_ticks == process->start_ticks;
}

/* A number that a snapshot would cut is left to an answer. */
static bool take_number(vitals_metric metric, struct value value, vitals_value *out)
{
    *out = (vitals_value){.availability = (vitals_availability)value.state, .text = {"", 0}};
    if (value.state <= 0)
        return value.state == VITALS_UNSUPPORTED;
    switch (vitals_metric_type(metric)) {
    case VITALS_U64: out->u64 = value.as.u64; return out->u64 <= EXACT_MAX;
    case VITALS_I64: out->i64 = value.as.i64; return true;
    default: out->f64 = value.as.f64; return true;
    }
}

/* The bytes are copied to *text, before *end. */
static bool take_text(struct span span, vitals_availability state, char **text, const char *end,
                      vitals_value *out)
{
    if (span.size > (size_t)(end - *text))
        return false;
    memcpy(*text, span.bytes, span.size);
    *out = (vitals_value){.availability = state, .text = {*text, span.size}};
    *text += span.size;
    return true;
}

/* A value of the batch. Of an empty text an answer knows more. */
static bool take_cell(const struct row_batch *batch, vitals_metric metric, char **text,
                      const char *end, vitals_value *out)
{
    const struct batch_cell *cell = batch_find(batch, batch->rows, metric);
    if (cell == NULL)
        return false;
    if (cell->state <= 0 || vitals_metric_type(metric) != VITALS_TEXT)
        return take_number(metric, (struct value){{cell->as.u64}, cell->state}, out);
    return cell->as.text.size != 0 &&
           take_text(batch_span(batch, cell), (vitals_availability)cell->state, text, end, out);
}

/* A value of what stat, statm and the clock have told. */
static bool take_column(const struct process_reader *reader, const struct process *subject,
                        vitals_metric metric, char **text, const char *end, vitals_value *out)
{
    const struct os_stat *stat = &subject->stat;
    char terminal[OS_TERMINAL_TEXT];
    const char *state;
    struct value value;
    size_t size;
    switch (metric) {
    case VITALS_PROCESS_NAME: return take_text(stat->name, VITALS_HAVE, text, end, out);
    case VITALS_PROCESS_STATE:
        state = words_state(stat->state);
        return (stat->has & OS_STAT_STATE) != 0 &&
               take_text((struct span){state, strlen(state)}, VITALS_HAVE, text, end, out);
    case VITALS_PROCESS_TERMINAL:
        size = os_terminal_name(&reader->context->os, stat->terminal, terminal);
        return (stat->has & OS_STAT_TERMINAL) != 0 &&
               take_text((struct span){terminal, size}, VITALS_HAVE, text, end, out);
    case VITALS_PROCESS_PID:
        return take_number(metric, value_u64((uint64_t)subject->files.pid), out);
    default: break;
    }
    return rows_number(reader, subject, metric, &value) && take_number(metric, value, out);
}

int vitals_process_read(vitals_process *process, const vitals_metric *metrics, size_t count,
                        vitals_value *out, char *text, size_t capacity)
{
    const struct os *os = &process->context->os;
    const struct process_reader reader = {.context = process->context};
    struct process subject = {
        .files = process->files,
        .stat = {.has = OS_STAT_START, .start_ticks = process->start_ticks},
    };
    struct row_batch batch = {.count = 0};
    char line[OS_STAT_TEXT];
    const char *end = text + capacity;
    unsigned origins = 0;
    uint64_t ns;
    bool read = false;
    for (size_t i = 0; i < count; i++) {
        unsigned origin = origin_of(process, metrics[i]);
        if (origin == 0)
            return 0;
        if (origin == READ_OTHERS)
            metric_set_add(&batch.wanted, metrics[i]);
        origins |= origin;
    }
    if (process->pidfd < 0 || origins == 0)
        return 0;
    if ((origins & READ_OTHERS) != 0 &&
        (batch_add_row(&batch, VITALS_TABLE_PROCESS, 1, (struct span){"", 0}) == NULL ||
         !os_process_metrics(os, process->files.pid, &batch) || batch.failed))
        goto done;
    if ((origins & READ_STATM) != 0 && !read_statm(process, &subject))
        goto done;
    if ((origins & READ_CLOCK) != 0) {
        if (os_process_cpu_ns(os, process->files.pid, &ns) < 0)
            goto done;
        subject.cpu = value_f64((double)ns / 1e9);
    }

    /* It still has its pid, so what was read by pid was its own. */
    read = (origins & READ_STAT) != 0 ? read_stat(process, line, &subject.stat)
                                      : os_pidfd_ended(process->pidfd) == 0;
    if (subject.stat.state == 'Z' && (origins & ~(unsigned)READ_STAT) != 0)
        read = false; /* it may have ended between two readings */
    if ((origins & READ_STATM) != 0) {
        subject.stat.virtual_bytes = saturating_mul(subject.statm.size, os->page_bytes);
        subject.stat.has |= OS_STAT_VIRTUAL;
    }
    for (size_t i = 0; i < count && read; i++) {
        if (metric_set_has(&batch.wanted, metrics[i]))
            read = take_cell(&batch, metrics[i], &text, end, &out[i]);
        else
            read = take_column(&reader, &subject, metrics[i], &text, end, &out[i]);
    }
done:
    batch_done(&batch);
    return read;
}

int vitals_process_read_table(vitals_process *process, const vitals_metric *metrics, size_t count,
                              vitals_row_fn *row, void *data, vitals_error *error)
{
    struct row_batch batch = {.count = 0};
    vitals_table entity = batch_want(&batch, metrics, count);
    if (!entity_is_of_handle(entity) && entity != VITALS_TABLE_SOCKET)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "%zu metrics, of which one is not of the same table of a process", count);
    const struct os *os = &process->context->os;
    int result = os_process_table(os, process->files.pid, entity, &batch);
    if (process->pidfd >= 0 && os_pidfd_ended(process->pidfd) != 0) { /* maybe meanwhile: again */
        const struct metric_set wanted = batch.wanted;
        batch_reset(&batch, &wanted);
        result = os_process_table(os, process->files.pid, entity, &batch);
    }
    int code = live_prove(process, error);
    if (code == 0 && (batch.failed || result == -ENOMEM))
        code = error_no_memory(error);
    else if (code == 0 && result == -ENOTSUP)
        code = error_set(error, VITALS_EUNSUPPORTED, ENOTSUP, "there is no table %s here",
                         vitals_table_name(entity));
    else if (code == 0 && result < 0)
        code = error_system(error, -result, "the table %s of process %lld",
                            vitals_table_name(entity), (long long)process->files.pid);
    else if (code == 0)
        code = batch_hand_over(&batch, metrics, count, row, data);
    batch_done(&batch);
    return code;
}
