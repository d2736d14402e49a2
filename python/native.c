/* native.c: what vitals._native has beside the libraries, so that Python calls C once where it
 * would call it for each value. Included behind the libraries' headers by what cffi makes
 * (setup.py). Any thread; a handle's rule is the handle's. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Lays out values that were read directly, and returns the size with that of their texts, which are
 * put behind them. */
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
    enum { DIRECTLY_MAX = 32 };
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

/* The same of the process with a pid, if it started at that moment: for one question, after which
 * nothing of it stays open. */
static int64_t vitals_python_ask_once(vitals_context *context, int64_t pid, double start_seconds,
                                      const vitals_python_plan *plan, vitals_python_answer *out)
{
    vitals_process *process = NULL;
    int64_t size = vitals_process_open(context, pid, &process, &out->error);
    if (size < 0)
        return size;
    if (vitals_process_start_seconds(process) == start_seconds) {
        size = vitals_python_ask(process, plan, out);
    } else {
        static const char MESSAGE[] = "another process has this pid now";
        size = VITALS_EGONE;
        out->error.detail = 0;
        memcpy(out->error.message, MESSAGE, sizeof MESSAGE);
    }
    vitals_process_close(process);
    return size;
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

/* ---- tables that are read directly ---- */

struct vitals_python_writer {
    const vitals_metric *metrics;
    vitals_python_answer *out;
    size_t size, capacity; /* of out->more, which takes over where out->bytes is too small */
    int failed;
};

/* Room for so many bytes behind the others; NULL if memory is out. */
static char *vitals_python_room(struct vitals_python_writer *rows, size_t size)
{
    vitals_python_answer *out = rows->out;
    size_t needed = rows->size + size;
    if (out->more == NULL && needed <= sizeof out->bytes)
        return out->bytes + rows->size;
    if (needed > rows->capacity) {
        size_t capacity = needed + needed / 2;
        char *grown = realloc(out->more, capacity);
        if (grown == NULL) {
            rows->failed = 1;
            return NULL;
        }
        if (out->more == NULL)
            memcpy(grown, out->bytes, rows->size);
        out->more = grown;
        rows->capacity = capacity;
    }
    return out->more + rows->size;
}

static int vitals_python_add_row(void *data, const vitals_value *values, size_t count)
{
    struct vitals_python_writer *rows = data;
    size_t at = count * (sizeof(uint64_t) + 1), size = at;
    for (size_t i = 0; i < count; i++)
        size += values[i].text.size;
    char *out = vitals_python_room(rows, size);
    if (out == NULL)
        return 1;
    vitals_python_values(values, rows->metrics, count, out);
    for (size_t i = 0; i < count; i++) {
        memcpy(out + at, values[i].text.bytes, values[i].text.size);
        at += values[i].text.size;
    }
    rows->size += size;
    return 0;
}

/* A variable with a name and a value: both, each with a NUL behind it. */
static int vitals_python_add_variable(void *data, const vitals_value *values, size_t count)
{
    struct vitals_python_writer *rows = data;
    vitals_text name = values[0].text, value = values[count - 1].text;
    if (name.size == 0 || values[count - 1].availability <= 0)
        return 0;
    char *out = vitals_python_room(rows, name.size + value.size + 2);
    if (out == NULL)
        return 1;
    memcpy(out, name.bytes, name.size);
    out[name.size] = '\0';
    memcpy(out + name.size + 1, value.bytes, value.size);
    out[name.size + 1 + value.size] = '\0';
    rows->size += name.size + value.size + 2;
    return 0;
}

/* The size of what was written, or a negative error code. Where it does not fit into out->bytes,
 * all of it is in out->more, to be freed. */
static int64_t vitals_python_written(const struct vitals_python_writer *rows, int code)
{
    vitals_python_answer *out = rows->out;
    if (code >= 0 && !rows->failed)
        return (int64_t)rows->size;
    free(out->more);
    if (code < 0)
        return code;
    out->error.message[0] = '\0';
    return VITALS_EMEMORY;
}

/* Reads a table of a process, or (NULL) of the machine. */
static int64_t vitals_python_table(vitals_context *context, vitals_process *process,
                                   const vitals_metric *metrics, size_t count,
                                   vitals_python_answer *out)
{
    struct vitals_python_writer rows = {.metrics = metrics, .out = out};
    out->more = NULL;
    int code = process != NULL
                   ? vitals_process_read_table(process, metrics, count, vitals_python_add_row,
                                               &rows, &out->error)
                   : vitals_table_read(context, metrics, count, vitals_python_add_row, &rows,
                                       &out->error);
    return vitals_python_written(&rows, code);
}

static int64_t vitals_python_environment(vitals_process *process, vitals_python_answer *out)
{
    static const vitals_metric BOTH[] = {VITALS_ENVIRONMENT_NAME, VITALS_ENVIRONMENT_VALUE};
    struct vitals_python_writer rows = {.metrics = BOTH, .out = out};
    out->more = NULL;
    return vitals_python_written(&rows, vitals_process_read_table(process, BOTH, 2,
                                                                  vitals_python_add_variable, &rows,
                                                                  &out->error));
}

/* ---- what the kernel says of a pid, at the cost of the call and of the proof ---- */

/* Each proves behind the call that the process still has its pid. Where it does not, where the call
 * failed and for NULL the result says so, and the library is to be asked, which knows why. */

static int vitals_python_nice(vitals_process *process)
{
    if (process == NULL)
        return VITALS_PYTHON_UNKNOWN;
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, (id_t)vitals_process_pid(process));
    return errno == 0 && vitals_process_is_running(process) ? nice : VITALS_PYTHON_UNKNOWN;
}

/* As ioprio_get(2) packs it: the class above thirteen bits. */
static int vitals_python_io_priority(vitals_process *process)
{
    enum { WHO_PROCESS = 1 };
    long packed = -1;
    if (process != NULL)
        packed = syscall(SYS_ioprio_get, WHO_PROCESS, (int)vitals_process_pid(process));
    return packed >= 0 && vitals_process_is_running(process) ? (int)packed : VITALS_PYTHON_UNKNOWN;
}

/* The soft limit of a resource by its number, below 32 bits of the hard one; all ones of 31 bits
 * for none. Limits of more than these bits are not known. */
static int64_t vitals_python_limit(vitals_process *process, int resource)
{
    const uint64_t none = INT32_MAX;
    struct rlimit limit;
    if (process == NULL ||
        syscall(SYS_prlimit64, (int)vitals_process_pid(process), resource, NULL, &limit) != 0)
        return VITALS_PYTHON_UNKNOWN;
    uint64_t soft = limit.rlim_cur == RLIM_INFINITY ? none : limit.rlim_cur;
    uint64_t hard = limit.rlim_max == RLIM_INFINITY ? none : limit.rlim_max;
    int fits = (soft < none || limit.rlim_cur == RLIM_INFINITY) &&
               (hard < none || limit.rlim_max == RLIM_INFINITY);
    return fits && vitals_process_is_running(process) ? (int64_t)(hard << 32 | soft)
                                                      : VITALS_PYTHON_UNKNOWN;
}

/* The CPUs that it may run on, a bit for each. */
static int64_t vitals_python_cpus(vitals_process *process)
{
    enum { WORDS = 16 }; /* 1024 CPUs; the kernel may have more, and refuses */
    uint64_t cpus[WORDS] = {0}, others = 0;
    if (process == NULL ||
        syscall(SYS_sched_getaffinity, (int)vitals_process_pid(process), sizeof cpus, cpus) <= 0)
        return VITALS_PYTHON_UNKNOWN;
    for (size_t i = 1; i < WORDS; i++)
        others |= cpus[i];
    int fits = others == 0 && cpus[0] <= INT64_MAX;
    return fits && vitals_process_is_running(process) ? (int64_t)cpus[0] : VITALS_PYTHON_UNKNOWN;
}

/* The folder that it works in, ended by a NUL. */
static int vitals_python_folder(vitals_process *process, char *out, size_t capacity)
{
    char path[64];
    if (process == NULL)
        return VITALS_PYTHON_UNKNOWN;
    (void)snprintf(path, sizeof path, "/proc/%lld/cwd", (long long)vitals_process_pid(process));
    ssize_t size = readlink(path, out, capacity);
    if (size <= 0 || (size_t)size >= capacity || !vitals_process_is_running(process))
        return VITALS_PYTHON_UNKNOWN;
    out[size] = '\0';
    return (int)size;
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
