/* read_tables.c: reads CSV: ours, resource-tracker's and gpu_tracker's. The names of the columns
 * tell which. Pure but for memory and the file that the caller opened. */
#include "record/csv.h"
#include "record/foreign/foreign.h"
#include "record/recording_data.h"

#include "util/base.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NO_SERIES = -1, TIME_SERIES = -2, MARK_SERIES = -3 };

/* The series of a column of the file. */
struct read_tables_plan {
    long series; /* or one of the above */
    double scale;
    bool growth;
};

struct tables {
    struct recording *recording;
    int (*row)(struct tables *tables, const struct csv_row *row);
    struct read_tables_plan *plans;
    size_t count;
    uint64_t broken;   /* rows with too few or too many fields, or no time */
    uint64_t nonsense; /* fields that are no numbers */
    double ram_scale, gpu_ram_scale;
    size_t sub[4]; /* columns of a sub-tracking file */
};

enum { STOP_NO_FORM = 1, STOP_NO_MEMORY };

/* ---- rows of numbers ---- */

static bool plan_columns(struct tables *tables, size_t count)
{
    free(tables->plans);
    tables->plans = calloc(count, sizeof *tables->plans);
    tables->count = count;
    for (size_t i = 0; i < count && tables->plans != NULL; i++)
        tables->plans[i] = (struct read_tables_plan){NO_SERIES, 1, false};
    return tables->plans != NULL;
}

static void plan_measure(struct tables *tables, size_t column, const char *measure,
                         const char *subject)
{
    size_t index = recording_measure_index(tables->recording, measure, subject);
    if (index != SIZE_MAX)
        tables->plans[column].series = (long)index;
}

static int plain_row(struct tables *tables, const struct csv_row *row)
{
    struct recording *recording = tables->recording;
    double seconds, value;
    bool timed = false;
    const char *mark = "";
    for (size_t i = 0; i < tables->count && i < row->count; i++) {
        if (tables->plans[i].series == TIME_SERIES)
            timed = csv_number(row->fields[i], &seconds);
        else if (tables->plans[i].series == MARK_SERIES)
            mark = row->fields[i];
    }
    if (row->count != tables->count || !timed) {
        tables->broken++;
        return 0;
    }
    if (mark[0] != '\0') { /* "begin 12/13 epoch 1"; it has no values */
        long long pid, tid;
        int name = 0;
        bool begins = strncmp(mark, "begin ", 6) == 0;
        mark += begins ? 6 : strncmp(mark, "end ", 4) == 0 ? 4 : strlen(mark);
        if (sscanf(mark, "%18lld/%18lld %n", &pid, &tid, &name) == 2 && name > 0)
            recording_mark(recording, begins, mark + name, seconds, pid, tid);
        return 0;
    }

    recording_row(recording, seconds);
    for (size_t i = 0; i < tables->count; i++) {
        const struct read_tables_plan *plan = &tables->plans[i];
        if (plan->series < 0 || row->fields[i][0] == '\0')
            continue;
        if (!csv_number(row->fields[i], &value))
            tables->nonsense++;
        else if (plan->growth)
            recording_growth(recording, (size_t)plan->series, value * plan->scale);
        else
            recording_value(recording, (size_t)plan->series, value * plan->scale);
    }
    recording_row_end(recording);
    return recording->no_memory ? STOP_NO_MEMORY : 0;
}

/* ---- our own ---- */

static int begin_ours(struct tables *tables, const struct csv_row *row)
{
    char subject[COLUMN_WORDS];
    tables->recording->format = "vitals-csv";
    if (!plan_columns(tables, row->count))
        return STOP_NO_MEMORY;
    tables->plans[0].series = TIME_SERIES;
    tables->plans[1].series = MARK_SERIES;
    for (size_t i = 2; i < row->count; i++) {
        const char *name = row->fields[i], *dot = strrchr(name, '.');
        size_t size = dot != NULL ? (size_t)(dot - name) : 0;
        if (size >= sizeof subject)
            continue;
        memcpy(subject, name, size);
        subject[size] = '\0';
        plan_measure(tables, i, dot != NULL ? dot + 1 : name, subject);
    }
    tables->row = plain_row;
    return 0;
}

/* ---- resource-tracker ---- */

/* The pid is an attribute of the run, not a series. */
static int take_pid_first(struct tables *tables, const struct csv_row *row)
{
    double pid;
    tables->row = plain_row;
    if (tables->sub[0] < row->count && csv_number(row->fields[tables->sub[0]], &pid))
        recording_attribute(tables->recording, "pid", vitals_text_of(row->fields[tables->sub[0]]));
    return plain_row(tables, row);
}

static int begin_dialect(struct tables *tables, const struct dialect *dialect,
                         const struct csv_row *row, const char *format)
{
    tables->recording->format = format;
    tables->row = plain_row;
    if (!plan_columns(tables, row->count))
        return STOP_NO_MEMORY;
    for (size_t i = 0; i < row->count; i++) {
        const struct dialect_column *column = dialect_find(dialect, row->fields[i]);
        struct read_tables_plan *plan = &tables->plans[i];
        if (column == NULL) {
            plan_measure(tables, i, row->fields[i], "");
        } else if (column->kind == DIALECT_TIME) {
            plan->series = TIME_SERIES;
        } else if (column->kind != DIALECT_BOOT) {
            bool one = column->measures[0] != NULL && column->measures[1] == NULL;
            plan->scale = column->scale > 0 ? column->scale : 1;
            plan->growth = column->kind == DIALECT_GROWTH;
            plan_measure(tables, i, one ? column->measures[0] : column->name,
                         scope_subject(column->scope));
        }
        if (column != NULL && column->kind == DIALECT_PID) {
            tables->sub[0] = i;
            plan->series = NO_SERIES;
            tables->row = take_pid_first;
        }
    }
    return 0;
}

/* Returns row->count if there is none. */
static size_t field_at(const struct csv_row *row, const char *name)
{
    size_t at = 0;
    while (at < row->count && strcmp(row->fields[at], name) != 0)
        at++;
    return at;
}

static bool has(const struct csv_row *row, const char *name)
{
    return field_at(row, name) < row->count;
}

static int begin_tracker(struct tables *tables, const struct csv_row *row)
{
    const struct {
        const char *sign;
        const struct dialect *dialect;
        const char *format;
    } signs[] = {
        {"system_cpu_usage", &DIALECT_COMBINED,
         row->first_quoted ? "resource-tracker" : "resource-tracker-rs"},
        {"process_cpu_usage", &DIALECT_COMBINED,
         row->first_quoted ? "resource-tracker" : "resource-tracker-rs"},
        {"System CPU usage", &DIALECT_COMBINED, "resource-tracker"},
        {"Process CPU usage", &DIALECT_COMBINED, "resource-tracker"},
        {"memory_mib", &DIALECT_PROCESS, "resource-tracker"},
        {"memory_free_mib", &DIALECT_SYSTEM, "resource-tracker"},
        {"memory", &DIALECT_MIDDLE_PROCESS, "resource-tracker-0.4"},
        {"memory_active", &DIALECT_MIDDLE_SYSTEM, "resource-tracker-0.4"},
        {"pss", &DIALECT_OLD_PROCESS, "resource-tracker-0.1"},
        {"memory_free", &DIALECT_OLD_SYSTEM, "resource-tracker-0.1"},
    };
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (has(row, signs[i].sign)) {
            if (strchr(signs[i].sign, ' ') != NULL)
                recording_wrong(tables->recording,
                                "its names for people tell no unit: memory is taken for MiB");
            return begin_dialect(tables, signs[i].dialect, row, signs[i].format);
        }
    return STOP_NO_FORM;
}

/* Without a header, the number of columns and the form of the time decide: 0.5 rounds it to
 * milliseconds. */
static int begin_headless(struct tables *tables, const struct csv_row *row)
{
    const char *point = strchr(row->fields[0], '.');
    bool old = point != NULL && strlen(point + 1) > 3;
    const struct dialect *dialect = row->count == DIALECT_PROCESS.count
                                        ? (old ? &DIALECT_OLD_PROCESS : &DIALECT_PROCESS)
                                        : (old ? &DIALECT_OLD_SYSTEM : &DIALECT_SYSTEM);
    if (row->count != DIALECT_PROCESS.count && row->count != DIALECT_SYSTEM.count)
        return STOP_NO_FORM;
    const char *titles[64];
    for (size_t i = 0; i < dialect->count; i++)
        titles[i] = dialect->columns[i].name;
    const struct csv_row header = {titles, dialect->count, true, row->line};
    int code = begin_dialect(tables, dialect, &header,
                             old ? "resource-tracker-0.1" : "resource-tracker");
    recording_wrong(tables->recording, "it has no header: its columns are taken for those of %s",
                    dialect->name);
    return code != 0 ? code : tables->row(tables, row);
}

/* ---- gpu_tracker ---- */

static double bytes_of(const char *unit)
{
    double bytes;
    return vitals_usage_convert(1, unit, "bytes", &bytes) == 0 ? bytes : 1;
}

static int begin_tracking_data(struct tables *tables, const struct csv_row *row)
{
    if (!plan_columns(tables, row->count))
        return STOP_NO_MEMORY;
    for (size_t i = 0; i < row->count; i++)
        for (size_t k = 0; k < GPU_TRACKER_DATA; k++) {
            const struct gpu_tracker_column *column = &GPU_TRACKER_DATA_COLUMNS[k];
            if (strcmp(column->name, row->fields[i]) != 0)
                continue;
            tables->plans[i].scale = column->kind == GT_RAM        ? tables->ram_scale
                                     : column->kind == GT_GPU_RAM  ? tables->gpu_ram_scale
                                     : column->kind == GT_AS_IT_IS ? 1 / column->scale
                                                                   : 1;
            if (column->kind == GT_TIME)
                tables->plans[i].series = TIME_SERIES;
            else if (column->kind == GT_GPUS)
                plan_measure(tables, i, column->name, "system");
            else
                plan_measure(tables, i, column->measure, scope_subject(column->scope));
        }
    tables->row = plain_row;
    return 0;
}

static int take_static_row(struct tables *tables, const struct csv_row *row)
{
    static const struct {
        const char *column, *attribute;
    } ATTRIBUTES[] = {{"n_expected_cores", "expected_cores"},
                      {"system_core_count", "system_cores"},
                      {"n_expected_gpus", "expected_gpus"},
                      {"system_gpu_count", "system_gpus"},
                      {"ram_system_capacity", "ram_system_capacity"},
                      {"gpu_ram_system_capacity", "gpu_ram_system_capacity"}};
    static const struct {
        const char *column, *figure, *unit;
    } FIGURES[] = {{"ram_system_capacity", "memory_total_peak_bytes", "bytes"},
                   {"gpu_ram_system_capacity", "device_memory_total_peak_bytes", "bytes"},
                   {"system_gpu_count", "devices_peak", ""}};
    for (size_t i = 0; i < GPU_TRACKER_STATIC && i < row->count; i++) {
        const char *name = GPU_TRACKER_STATIC_COLUMNS[i].name, *value = row->fields[i];
        double number;
        for (size_t k = 0; k < ARRAY_COUNT(FIGURES) && csv_number(value, &number); k++) {
            double scale = k == 0 ? tables->ram_scale : k == 1 ? tables->gpu_ram_scale : 1;
            const vitals_figure_form form = {.size = sizeof form,
                                             .name = FIGURES[k].figure,
                                             .unit = FIGURES[k].unit,
                                             .subject = "system",
                                             .source = "the file's static data",
                                             .state = VITALS_HAVE,
                                             .value = number * scale};
            if (strcmp(name, FIGURES[k].column) == 0 &&
                vitals_account_put(tables->recording->account, &form, NULL) == VITALS_EMEMORY)
                tables->recording->no_memory = true;
        }
        if (strcmp(name, "ram_unit") == 0)
            tables->ram_scale = bytes_of(value);
        else if (strcmp(name, "gpu_ram_unit") == 0)
            tables->gpu_ram_scale = bytes_of(value);
        for (size_t k = 0; k < ARRAY_COUNT(ATTRIBUTES); k++)
            if (strcmp(name, ATTRIBUTES[k].column) == 0)
                recording_attribute(tables->recording, ATTRIBUTES[k].attribute,
                                    vitals_text_of(value));
    }
    tables->row = begin_tracking_data;
    return 0;
}

static int take_sub_row(struct tables *tables, const struct csv_row *row)
{
    double pid, position, seconds;
    size_t most = 0;
    for (size_t i = 0; i < 4; i++)
        most = tables->sub[i] > most ? tables->sub[i] : most;
    if (row->count <= most || !csv_number(row->fields[tables->sub[2]], &position) ||
        !csv_number(row->fields[tables->sub[3]], &seconds)) {
        tables->broken++;
        return 0;
    }
    if (!csv_number(row->fields[tables->sub[0]], &pid) || pid < 0 || pid > 4194304)
        pid = 0;
    recording_mark(tables->recording, position == 0, row->fields[tables->sub[1]], seconds,
                   (int64_t)pid, 0);
    return 0;
}

/* ---- which of them it is ---- */

static int first_row(struct tables *tables, const struct csv_row *row)
{
    struct recording *recording = tables->recording;
    double number;
    if (row->count >= 2 && strcmp(row->fields[0], "time") == 0 &&
        strcmp(row->fields[1], "mark") == 0)
        return begin_ours(tables, row);
    if (has(row, "ram_unit") && has(row, "n_expected_cores")) {
        recording->format = "gpu-tracker";
        tables->row = take_static_row;
        return 0;
    }

    bool is_sub = true;
    for (size_t i = 0; i < ARRAY_COUNT(tables->sub); i++) {
        tables->sub[i] = field_at(row, GPU_TRACKER_SUB_COLUMNS[i]);
        is_sub = is_sub && tables->sub[i] < row->count;
    }
    if (is_sub) {
        recording->format = "gpu-tracker";
        tables->row = take_sub_row;
        return 0;
    }
    if (has(row, "timestamp") || has(row, "Timestamp"))
        return begin_tracker(tables, row);
    return csv_number(row->fields[0], &number) && number > 1e8 ? begin_headless(tables, row)
                                                               : STOP_NO_FORM;
}

static int take(void *data, const struct csv_row *row)
{
    struct tables *tables = data;
    return tables->row(tables, row);
}

int read_tables(struct recording *recording, FILE *file, vitals_error *error)
{
    struct csv csv;
    struct tables tables = {
        .recording = recording, .row = first_row, .ram_scale = 1e9, .gpu_ram_scale = 1e9};
    char chunk[64 * 1024], last = '\n';
    int code = csv_init(&csv, take, &tables) ? 0 : STOP_NO_MEMORY;
    for (size_t size; code == 0 && (size = fread(chunk, 1, sizeof chunk, file)) > 0;) {
        code = csv_push(&csv, chunk, size);
        last = chunk[size - 1];
    }
    if (code == 0 && ferror(file))
        code = record_fail_errno(errno != 0 ? errno : EIO, recording->path, error);
    else if (code == STOP_NO_FORM)
        code = record_fail(VITALS_EFORMAT, recording->path, error,
                           "is not a recording: vitals does not know its columns");
    else if (code != 0)
        code = record_no_memory(recording->path, error);
    else if (csv_end(&csv) && last != '\n')
        recording_wrong(recording, "its last line is cut off and was left out");
    if (code == 0 && recording->format == NULL)
        code = record_fail(VITALS_EFORMAT, recording->path, error,
                           "is not a recording: there is no complete line in it");

    if (tables.broken > 0)
        recording_wrong(recording, "%llu of its rows are broken and were left out",
                        (unsigned long long)tables.broken);
    if (tables.nonsense > 0)
        recording_wrong(recording, "%llu of its fields are no numbers and were left out",
                        (unsigned long long)tables.nonsense);
    if (csv.skipped_rows > 0)
        recording_wrong(recording, "%llu of its lines are too long and were left out",
                        (unsigned long long)csv.skipped_rows);
    free(tables.plans);
    csv_done(&csv);
    return code;
}
