/* row_text.c: values of a row as a person reads them.
 *
 * Text goes out in a form of text.h, never as it is.
 * Thread rule: any thread. */
#include "model/snapshot.h"

#include "util/memory.h"
#include "util/number.h"
#include <math.h>
#include <string.h>

enum { JOINED = 4096 };

/* The string in a form; `out` again, which is always terminated. */
static const char *put(vitals_text text, vitals_text_form form, char *out, size_t capacity)
{
    (void)vitals_text_format(text, form, out, capacity);
    return out;
}

static const char *put_reason(vitals_availability reason, char *out, size_t capacity)
{
    return put(vitals_text_of(vitals_availability_name(reason)), VITALS_TEXT_ASCII, out, capacity);
}

static const char *put_command(vitals_text arguments, vitals_text_form form, char *out,
                               size_t capacity)
{
    /* No form makes a text shorter, but where a label is cut: what `out` cannot hold joined, it
     * cannot hold at all. */
    char few[JOINED];
    char *many = capacity > sizeof few ? memory_alloc(capacity) : NULL;
    char *joined = many != NULL ? many : few;
    size_t room = many != NULL ? capacity : sizeof few;
    size_t size = size_min(vitals_text_command(arguments, joined, room), room - 1);
    if (size == room - 1) /* cut, maybe before a character that does not fit */
        size = strnlen(joined, room - 1);
    put((vitals_text){joined, size}, form, out, capacity);
    memory_free(many);
    return out;
}

/* A moment as a date in UTC, "2026-11-28T09:30:00Z", into `out` (NUMBER_TEXT bytes); false for a
 * metric that is none. */
static bool put_date(const vitals_row *row, vitals_metric metric, double seconds, char *out)
{
    const vitals_snapshot *snapshot = row->table->snapshot;
    bool since_boot = metric == VITALS_PROCESS_START_SECONDS ||
                      metric == VITALS_THREAD_START_SECONDS;
    if (!since_boot && metric != VITALS_HOST_BOOT_TIME_SECONDS &&
        metric != VITALS_LOGIN_START_TIME_SECONDS)
        return false;
    if (since_boot)
        seconds += ((double)snapshot->realtime_ns - (double)snapshot->boottime_ns) / 1e9;
    size_t size = number_print_date(out, (uint64_t)fmin(fmax(seconds, 0), 1e12));
    memcpy(out + size, "Z", 2);
    return true;
}

/* True of a limit that has no number because it is none. */
static bool is_unlimited(const vitals_row *row, vitals_metric metric)
{
    vitals_metric tells = metric == VITALS_LIMIT_SOFT   ? VITALS_LIMIT_SOFT_UNLIMITED
                          : metric == VITALS_LIMIT_HARD ? VITALS_LIMIT_HARD_UNLIMITED
                                                        : VITALS_METRIC_NONE;
    uint64_t unlimited;
    return vitals_row_u64(row, tells, &unlimited) > 0 && unlimited != 0;
}

const char *vitals_row_string(const vitals_row *row, vitals_metric metric, vitals_text_form form,
                              char *out, size_t capacity)
{
    char words[VITALS_HUMAN];
    double number;
    vitals_text text;
    if (capacity == 0)
        return "";
    vitals_availability state = vitals_metric_type(metric) == VITALS_TEXT
                                    ? vitals_row_text(row, metric, &text)
                                    : vitals_row_number(row, metric, &number);
    if (state <= 0 && is_unlimited(row, metric))
        return put(vitals_text_of("unlimited"), form, out, capacity);
    if (state <= 0)
        return put_reason(state, out, capacity);
    if (metric == VITALS_PROCESS_COMMAND_LINE)
        return put_command(text, form, out, capacity);
    if (vitals_metric_type(metric) == VITALS_TEXT)
        return put(text, form, out, capacity);
    if (!put_date(row, metric, number, words))
        (void)vitals_metric_format(metric, number, form, words);
    return put(vitals_text_of(words), form, out, capacity);
}

/* The process that a row is of: itself, or the row that it points to. */
static const vitals_row *process_of(const vitals_row *row)
{
    uint64_t key;
    if (vitals_row_table(row) != VITALS_TABLE_GPU_PROCESS)
        return row;
    return vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) > 0
               ? vitals_snapshot_find(row->table->snapshot, VITALS_TABLE_PROCESS, key)
               : NULL;
}

const char *vitals_row_command(const vitals_row *row, vitals_text_form form, char *out,
                               size_t capacity)
{
    vitals_text text, state;
    if (capacity == 0)
        return "";
    const vitals_row *process = process_of(row);
    if (process == NULL) {
        vitals_availability why = vitals_row_availability(row, VITALS_GPU_PROCESS_PROCESS);
        return put_reason(why > 0 ? VITALS_NOT_REQUESTED : why, out, capacity);
    }
    vitals_availability have = vitals_row_text(process, VITALS_PROCESS_COMMAND_LINE, &text);
    if (have > 0 && text.size != 0)
        return put_command(text, form, out, capacity);
    bool asked = have != VITALS_NOT_REQUESTED;
    have = vitals_row_text(process, VITALS_PROCESS_NAME, &text);
    if (have <= 0)
        return put_reason(have, out, capacity);
    if (!asked)
        return put(text, form, out, capacity);

    /* The kernel gives a name at most 63 bytes, another system's recording maybe more. */
    static const char ZOMBIE[] = "zombie", MARK[] = "] (zombie)";
    char name[256] = "[";
    size_t size = size_min(text.size, sizeof name - sizeof MARK - 1);
    bool zombie = vitals_row_text(process, VITALS_PROCESS_STATE, &state) > 0 &&
                  state.size == sizeof ZOMBIE - 1 && memcmp(state.bytes, ZOMBIE, state.size) == 0;
    memcpy(name + 1, text.bytes, size);
    memcpy(name + 1 + size, MARK, sizeof MARK);
    return put((vitals_text){name, 1 + size + (zombie ? sizeof MARK - 1 : 1)}, form, out, capacity);
}
