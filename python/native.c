/* native.c: what vitals._native has beside the libraries, so that Python calls C once where it
 * would call it for each value. Included behind the libraries' headers by what cffi makes
 * (setup.py). Any thread; a handle's rule is the handle's. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static void vitals_python_mark(const char *what, const char *name)
{
    vitals_mark_write(what, name);
}

/* Lays values of a row out as Python's module struct reads them: a cell of 8 bytes for each metric,
 * of a text its size; then an availability for each, in a byte; then the bytes of the texts. Writes
 * no text beyond `capacity`, which has room for the rest, and returns the size of it all. */
static size_t vitals_python_row(const vitals_row *row, const vitals_metric *metrics, size_t count,
                                char *out, size_t capacity)
{
    size_t size = count * (sizeof(uint64_t) + 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t cell = 0;
        vitals_availability state;
        switch (vitals_metric_type(metrics[i])) {
        case VITALS_U64: state = vitals_row_u64(row, metrics[i], &cell); break;
        case VITALS_I64: {
            int64_t number = 0;
            state = vitals_row_i64(row, metrics[i], &number);
            memcpy(&cell, &number, sizeof cell);
            break;
        }
        case VITALS_F64: {
            double number = 0;
            state = vitals_row_f64(row, metrics[i], &number);
            memcpy(&cell, &number, sizeof cell);
            break;
        }
        default: {
            vitals_text text = {"", 0};
            state = vitals_row_text(row, metrics[i], &text);
            cell = text.size;
            if (size <= capacity && text.size <= capacity - size)
                memcpy(out + size, text.bytes, text.size);
            size += text.size;
        }
        }
        memcpy(out + i * sizeof cell, &cell, sizeof cell);
        out[count * sizeof cell + i] = (char)state;
    }
    return size;
}

/* The same of all rows of a table, one behind the other. 0: there is no room for them, or no row.
 */
static size_t vitals_python_rows(const vitals_snapshot *snapshot, vitals_table table,
                                 const vitals_metric *metrics, size_t count, char *out,
                                 size_t capacity)
{
    size_t size = 0, rows = vitals_snapshot_count(snapshot, table);
    for (size_t i = 0; i < rows; i++) {
        if (capacity - size < count * (sizeof(uint64_t) + 1))
            return 0;
        size += vitals_python_row(vitals_snapshot_row(snapshot, table, i), metrics, count,
                                  out + size, capacity - size);
        if (size > capacity)
            return 0;
    }
    return size;
}

/* Lays out values that were read directly; vitals_process_read has put their texts behind them. */
static size_t vitals_python_values(const vitals_value *values, const vitals_metric *metrics,
                                   size_t count, char *out)
{
    size_t size = count * (sizeof(uint64_t) + 1);
    for (size_t i = 0; i < count; i++) {
        const void *cell = &values[i].u64;
        uint64_t text_size = values[i].text.size;
        switch (vitals_metric_type(metrics[i])) {
        case VITALS_U64: break;
        case VITALS_I64: cell = &values[i].i64; break;
        case VITALS_F64: cell = &values[i].f64; break;
        default: cell = &text_size; size += text_size;
        }
        memcpy(out + i * sizeof(uint64_t), cell, sizeof(uint64_t));
        out[count * sizeof(uint64_t) + i] = (char)values[i].availability;
    }
    return size;
}

/* Reads metrics of a process, which the request names too, and lays them out in `out`. If
 * they do not fit, *answer is the caller's to read again and to unref, else NULL. Returns the size,
 * or a negative error code. */
static int64_t vitals_python_ask(vitals_process *process, const vitals_python_plan *plan,
                                 vitals_python_answer *out)
{
    enum { DIRECTLY_MAX = 16 };
    const size_t fixed = plan->count * (sizeof(uint64_t) + 1);
    vitals_value values[DIRECTLY_MAX];
    vitals_snapshot *answer;
    out->answer = NULL;
    if (plan->count <= DIRECTLY_MAX &&
        vitals_process_read(process, plan->metrics, plan->count, values, out->bytes + fixed,
                            sizeof out->bytes - fixed) > 0)
        return (int64_t)vitals_python_values(values, plan->metrics, plan->count, out->bytes);
    int code = vitals_process_ask(process, plan->request, &answer, &out->error);
    if (code < 0)
        return code;
    const vitals_row *row = vitals_snapshot_row(answer, VITALS_TABLE_PROCESS, 0);
    size_t size = vitals_python_row(row, plan->metrics, plan->count, out->bytes, sizeof out->bytes);
    out->answer = size <= sizeof out->bytes ? NULL : answer;
    if (out->answer == NULL)
        vitals_snapshot_unref(answer);
    return (int64_t)size;
}

/* Takes a snapshot and lays out the rows of a table, as vitals_python_ask does a process's row. */
static int64_t vitals_python_take(vitals_sampler *sampler, vitals_table table,
                                  const vitals_metric *metrics, size_t count,
                                  vitals_python_answer *out)
{
    int code = vitals_sampler_take(sampler, &out->answer, &out->error);
    if (code < 0)
        return code;
    size_t size = vitals_python_rows(out->answer, table, metrics, count, out->bytes,
                                     sizeof out->bytes);
    if (size == 0)
        return sizeof out->bytes + 1;
    vitals_snapshot_unref(out->answer);
    return (int64_t)size;
}

/* Lists a folder such as /proc. Writes for each entry that is a number, below 2^32, a mark that has
 * it above the lower half of its inode: a process that has the pid of an earlier one has another
 * mark. Writes as many as there is room for, and returns how many there are; -1 with errno. */
static int64_t vitals_python_marks(const char *path, uint64_t *marks, size_t capacity)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return -1;
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char *end;
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        uint64_t number = strtoull(entry->d_name, &end, 10);
        if (*end != '\0')
            continue;
        if (count < capacity)
            marks[count] = number << 32 | (uint32_t)entry->d_ino;
        count++;
    }
    closedir(folder);
    return (int64_t)count;
}
