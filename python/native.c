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

/* Asks a process for metrics of its own, which the request names, and lays them out in `out`. If
 * they do not fit, *answer is the caller's to read again and to unref, else NULL. Returns the size,
 * or a negative error code. */
static int64_t vitals_python_ask(vitals_process *process, const vitals_python_plan *plan,
                                 vitals_python_answer *out)
{
    vitals_snapshot *answer;
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
