/* info.c: `vitals info PID…`: everything about a process, from one query of its live handle, as
 * JSON or as sections of single values followed by tables.
 *
 * A table assigns metrics to sections; all others are listed under "More". Missing values show the
 * reason. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/grid.h"
#include "command/output.h"
#include "command/processes/filter.h"
#include "command/processes/ps_columns.h"
#include "feed/rows.h"
#include "monitor/monitor.h"
#include "report/report.h"
#include "util/thread.h"

enum { LABEL = 32, ROWS_MOST = 64, FILES_MOST = 12, METRICS_MOST = 32, MINUTE = 60 };

#define P(suffix) VITALS_PROCESS_##suffix

/* ---- the sections ---- */

// clang-format off
static const struct info_section {
    const char *title;
    vitals_metric metrics[METRICS_MOST]; /* ends with 0 */
} SECTIONS[] = {
    {"Process",
     {P(COMMAND_LINE), P(NAME), P(PROGRAM_NAME), P(EXECUTABLE), P(EXECUTABLE_DELETED),
      P(WORKING_DIRECTORY), P(STATE), P(WAIT_CHANNEL), P(START_SECONDS), P(PARENT_PID),
      P(PROCESS_GROUP), P(SESSION), P(TERMINAL), P(FOREGROUND_GROUP), P(THREADS), P(DESCRIPTORS),
      P(PID), P(NAMESPACE_PID)}},
    {"CPU and scheduling",
     {P(CPU_SECONDS), P(CPU_USER_SECONDS), P(CPU_SYSTEM_SECONDS), P(CHILDREN_USER_SECONDS),
      P(CHILDREN_SYSTEM_SECONDS), P(RUN_DELAY_SECONDS), P(BLOCK_DELAY_SECONDS),
      P(SWAP_DELAY_SECONDS), P(RECLAIM_DELAY_SECONDS), P(VOLUNTARY_CONTEXT_SWITCHES),
      P(INVOLUNTARY_CONTEXT_SWITCHES), P(SCHEDULING_POLICY), P(NICE), P(PRIORITY),
      P(REALTIME_PRIORITY), P(CPU), P(CPUS_ALLOWED), P(CPUS_ALLOWED_LIST)}},
    {"Memory",
     {P(RESIDENT_BYTES),  P(RESIDENT_PEAK_BYTES), P(PSS_BYTES),           P(PSS_ANON_BYTES),
      P(PSS_FILE_BYTES),  P(PSS_SHMEM_BYTES),     P(USS_BYTES),
      P(SHARED_BYTES),    P(RESIDENT_ANON_BYTES), P(RESIDENT_FILE_BYTES), P(RESIDENT_SHMEM_BYTES),
      P(SWAPPED_BYTES),   P(SWAP_PSS_BYTES),      P(THP_BYTES),           P(HUGETLB_BYTES),
      P(LOCKED_BYTES),    P(VIRTUAL_BYTES),       P(VIRTUAL_PEAK_BYTES),  P(TEXT_BYTES),
      P(DATA_BYTES),      P(MINOR_FAULTS),        P(MAJOR_FAULTS),        P(OOM_SCORE),
      P(OOM_SCORE_ADJUST)}},
    {"Input and output",
     {P(READ_BYTES), P(WRITTEN_BYTES), P(CANCELLED_WRITE_BYTES), P(CALL_READ_BYTES),
      P(CALL_WRITTEN_BYTES), P(READ_CALLS), P(WRITE_CALLS), P(IO_CLASS), P(IO_LEVEL),
      P(NETWORK_RECEIVED_BYTES), P(NETWORK_TRANSMITTED_BYTES)}},
    {"Seldom needed",
     {P(ROOT_DIRECTORY), P(UMASK), P(TRACER_PID), P(KERNEL_FLAGS)}},
    {"Rights",
     {P(USER), P(UID), P(EFFECTIVE_USER), P(EFFECTIVE_UID), P(SAVED_UID), P(GROUP), P(GID),
      P(EFFECTIVE_GID), P(SAVED_GID), P(SUPPLEMENTARY_GROUPS), P(SUPPLEMENTARY_GIDS),
      P(FILESYSTEM_UID), P(FILESYSTEM_GID), P(LOGIN_UID), P(CAPABILITIES),
      P(CAPABILITIES_PERMITTED), P(SECCOMP), P(NO_NEW_PRIVILEGES), P(SECURITY_LABEL)}},
    {"Signals",
     {P(SIGNALS_PENDING), P(SIGNALS_BLOCKED), P(SIGNALS_IGNORED), P(SIGNALS_CAUGHT)}},
    {"Place",
     {P(WORKLOAD), P(CGROUP), P(UNIT), P(CONTAINER), P(CONTAINER_NAME), P(POD), P(POD_NAME),
      P(POD_NAMESPACE), P(SLURM_JOB), P(SLURM_STEP), P(PID_NAMESPACE), P(NETWORK_NAMESPACE),
      P(MOUNT_NAMESPACE), P(USER_NAMESPACE), P(CGROUP_NAMESPACE), P(IPC_NAMESPACE),
      P(UTS_NAMESPACE), P(TIME_NAMESPACE)}},
};
// clang-format on

struct info_painter {
    struct ps_view view;
    const vitals_row *process;
    struct paint *paint;
    size_t width; /* 0: no end */
    struct buffer text;
    bool untitled; /* of tables and sections */
    bool headed;   /* its state is said above it */
    bool rated;    /* threads have %CPU, against view.older */
    bool failed;
};

/* ---- lines ---- */

/* Labels for metrics whose own name is unfamiliar. */
static const struct {
    vitals_metric metric;
    const char *label;
} LABELS[] = {
    {P(CPU_SECONDS), "CPU time"},
    {P(CPU_USER_SECONDS), "in user mode"},
    {P(CPU_SYSTEM_SECONDS), "in the kernel"},
    {P(CHILDREN_USER_SECONDS), "of ended children, user mode"},
    {P(CHILDREN_SYSTEM_SECONDS), "of ended children, kernel"},
    {P(RUN_DELAY_SECONDS), "waited for a CPU"},
    {P(BLOCK_DELAY_SECONDS), "waited for disks"},
    {P(SWAP_DELAY_SECONDS), "waited for swap"},
    {P(RECLAIM_DELAY_SECONDS), "freed memory for itself"},
    {P(CPU), "last CPU"},
    {P(CPUS_ALLOWED), "CPUs allowed"},
    {P(CPUS_ALLOWED_LIST), "CPUs by number"},
    {P(START_SECONDS), "started"},
    {P(PSS_BYTES), "proportional share (PSS)"},
    {P(PSS_ANON_BYTES), "of that anonymous"},
    {P(PSS_FILE_BYTES), "of that files"},
    {P(PSS_SHMEM_BYTES), "of that shared memory"},
    {P(USS_BYTES), "its own (USS)"},
    {P(SWAP_PSS_BYTES), "proportional share of swap"},
    {P(THP_BYTES), "transparent huge pages"},
    {P(HUGETLB_BYTES), "reserved huge pages"},
    {P(READ_BYTES), "read from disks"},
    {P(WRITTEN_BYTES), "written to disks"},
    {P(CANCELLED_WRITE_BYTES), "of that never written"},
    {P(CALL_READ_BYTES), "read by any call"},
    {P(CALL_WRITTEN_BYTES), "written by any call"},
    {P(OOM_SCORE), "OOM score"},
    {P(OOM_SCORE_ADJUST), "OOM score adjustment"},
};

/* "resident peak" of resident_peak_bytes. */
static void label_of(vitals_metric metric, char out[static DEVICE_LABEL])
{
    device_label(metric, out);
    for (size_t i = 0; i < ARRAY_COUNT(LABELS); i++) {
        if (LABELS[i].metric == metric)
            snprintf(out, DEVICE_LABEL, "%s", LABELS[i].label);
    }
}

/* Fewer on a narrow page of the monitor; reports are wider. */
static size_t label_columns(const struct info_painter *info)
{
    enum { NARROW_WIDTH = 64, NARROW_LABEL = 18 };
    return info->width > 0 && info->width < NARROW_WIDTH ? NARROW_LABEL : LABEL;
}

static void put_metric(struct info_painter *info, vitals_metric metric)
{
    const vitals_row *process = info->process;
    char label[DEVICE_LABEL], short_time[64], note[160] = "", age[VITALS_HUMAN];
    struct ps_column column;
    enum color color = COLOR_PLAIN;
    double number = 0;
    vitals_text raw;
    const char *text;
    ps_column_of(metric, &column);
    label_of(metric, label);
    if (column.show == SHOW_START)
        column.show = SHOW_DATE;
    bool has_number = vitals_row_number(process, metric, &number) > 0;
    if (metric == P(COMMAND_LINE)) {
        text = ps_command(process, info->view.ascii, &info->text, &color);
    } else if (has_number && (metric == P(EXECUTABLE_DELETED) || metric == P(NO_NEW_PRIVILEGES))) {
        text = number > 0 ? "yes" : "no";
    } else if (has_number && column.show == SHOW_DURATION && number < MINUTE) {
        snprintf(short_time, sizeof short_time, "%.3f s", number);
        text = short_time;
    } else if (vitals_row_text(process, metric, &raw) > 0 && raw.size == 0) {
        text = "none";
    } else {
        text = ps_column_cell(&column, &info->view, process, &info->text, &color);
    }
    paint_labelled(info->paint, label_columns(info), info->width, label, color, text);

    /* Adds what the short form omits: bytes, thousandths, the age of a date. */
    if (has_number && column.show == SHOW_BYTES && number >= 1024)
        snprintf(note, sizeof note, "  %.0f", number);
    if (has_number && column.show == SHOW_DURATION && number >= MINUTE)
        snprintf(note, sizeof note, "  %.2f s", number);
    if (has_number && column.show == SHOW_DATE)
        snprintf(note, sizeof note, "  %s ago",
                 vitals_human_duration(
                     (double)vitals_snapshot_boottime_ns(info->view.now) / 1e9 - number, age));
    paint_text(info->paint, COLOR_DIM, note);

    vitals_availability availability = vitals_row_availability(process, metric);
    if (availability > VITALS_HAVE) {
        snprintf(note, sizeof note, "  (%s)", vitals_availability_help(availability));
        paint_text(info->paint, COLOR_DIM, note);
    }
    paint_end(info->paint);
}

static void put_title(struct info_painter *info, const char *title)
{
    if (info->untitled)
        return;
    paint_end(info->paint);
    paint_text(info->paint, COLOR_BOLD, title);
    paint_end(info->paint);
}

static bool has_place(vitals_metric metric)
{
    for (size_t i = 0; i < ARRAY_COUNT(SECTIONS); i++) {
        for (size_t j = 0; j < METRICS_MOST && SECTIONS[i].metrics[j] != 0; j++) {
            if (SECTIONS[i].metrics[j] == metric)
                return true;
        }
    }
    return false;
}

/* ---- what is missing ---- */

/* More precise reasons than "the kernel does not have it". */
static const struct {
    vitals_metric metric;
    const char *reason;
} REASONS[] = {
    {P(BLOCK_DELAY_SECONDS), "kernel.task_delayacct is off"},
    {P(SWAP_DELAY_SECONDS), "kernel.task_delayacct is off"},
    {P(RECLAIM_DELAY_SECONDS), "kernel.task_delayacct is off"},
    {P(LOGIN_UID), "no user logged in"},
    {P(FOREGROUND_GROUP), "it has no terminal"},
    {P(IO_LEVEL), "its class has none"},
};

static const char *reason_of(const struct info_painter *info, vitals_metric metric)
{
    vitals_availability availability = vitals_row_availability(info->process, metric);
    for (size_t i = 0; i < ARRAY_COUNT(REASONS); i++) {
        if (availability == VITALS_UNSUPPORTED && REASONS[i].metric == metric)
            return REASONS[i].reason;
    }
    if (availability == VITALS_NOT_REQUESTED)
        return "not read yet";
    return vitals_availability_help(availability);
}

static bool is_missing(const struct info_painter *info, vitals_metric metric)
{
    return vitals_row_availability(info->process, metric) <= 0;
}

static void put_section(struct info_painter *info, const char *title, const vitals_metric *metrics,
                        size_t count)
{
    if (count == 0)
        return;
    put_title(info, title);
    for (size_t i = 0; i < count; i++) {
        if (!is_missing(info, metrics[i]))
            put_metric(info, metrics[i]);
    }

    /* "N/A  waited for disks, waited for swap: kernel.task_delayacct is off", a line for each
     * reason.
     */
    for (size_t i = 0; i < count; i++) {
        char line[1024] = "", label[DEVICE_LABEL];
        size_t used = 0;
        bool told = false;
        const char *reason = reason_of(info, metrics[i]);
        for (size_t j = 0; j < count && used < sizeof line; j++) {
            if (!is_missing(info, metrics[j]) || strcmp(reason_of(info, metrics[j]), reason) != 0)
                continue;
            told |= j < i;
            label_of(metrics[j], label);
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used > 0 ? ", " : "",
                                     label);
        }
        if (!is_missing(info, metrics[i]) || told)
            continue;
        if (used < sizeof line)
            (void)snprintf(line + used, sizeof line - used, ": %s", reason);
        paint_labelled(info->paint, label_columns(info), info->width, "N/A", COLOR_DIM, line);
        paint_end(info->paint);
    }
}

/* Those from one on to before another. */
static void put_sections(struct info_painter *info, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        vitals_metric metrics[METRICS_MOST];
        size_t count = 0;
        for (size_t j = 0; j < METRICS_MOST && SECTIONS[i].metrics[j] != 0; j++) {
            vitals_metric metric = SECTIONS[i].metrics[j];
            if (!info->headed || (metric != P(STATE) && metric != P(WAIT_CHANNEL)))
                metrics[count++] = metric;
        }
        put_section(info, SECTIONS[i].title, metrics, count);
    }
}

/* ---- the tables ---- */

enum { COLUMNS_MOST = 8 };

// clang-format off
static const struct info_table {
    const char *title, *none;
    vitals_table entity;
    size_t most;
    vitals_metric by;                    /* the largest first; 0: in the order of keys */
    vitals_metric columns[COLUMNS_MOST]; /* ends with 0 */
} TABLES[] = {
    {"Threads", "none", VITALS_TABLE_THREAD, ROWS_MOST, 0,
     {VITALS_THREAD_TID, VITALS_THREAD_STATE, VITALS_THREAD_CPU_SECONDS,
      VITALS_THREAD_RUN_DELAY_SECONDS, VITALS_THREAD_CPU, VITALS_THREAD_NICE, VITALS_THREAD_NAME}},
    {"Open files", "none", VITALS_TABLE_DESCRIPTOR, ROWS_MOST, 0,
     {VITALS_DESCRIPTOR_NUMBER, VITALS_DESCRIPTOR_TYPE, VITALS_DESCRIPTOR_MODE,
      VITALS_DESCRIPTOR_POSITION_BYTES, VITALS_DESCRIPTOR_SIZE_BYTES, VITALS_DESCRIPTOR_PATH}},
    {"Sockets", "none", VITALS_TABLE_SOCKET, ROWS_MOST, 0,
     {VITALS_SOCKET_DESCRIPTOR, VITALS_SOCKET_PROTOCOL, VITALS_SOCKET_STATE,
      VITALS_SOCKET_LOCAL_ADDRESS, VITALS_SOCKET_LOCAL_PORT, VITALS_SOCKET_REMOTE_ADDRESS,
      VITALS_SOCKET_REMOTE_PORT}},
    {"Mapped files, by proportional share", "none", VITALS_TABLE_MAPPED_FILE, FILES_MOST,
     VITALS_MAPPED_FILE_PSS_BYTES,
     {VITALS_MAPPED_FILE_SIZE_BYTES, VITALS_MAPPED_FILE_RESIDENT_BYTES,
      VITALS_MAPPED_FILE_PSS_BYTES, VITALS_MAPPED_FILE_MAPPINGS, VITALS_MAPPED_FILE_PATH}},
    {"Limits", "none", VITALS_TABLE_LIMIT, ROWS_MOST, 0,
     {VITALS_LIMIT_NAME, VITALS_LIMIT_SOFT, VITALS_LIMIT_HARD, VITALS_LIMIT_UNIT}},
    {"Environment", "empty", VITALS_TABLE_ENVIRONMENT, SIZE_MAX, 0,
     {VITALS_ENVIRONMENT_NAME, VITALS_ENVIRONMENT_VALUE}},
};
// clang-format on

/* Titles of columns whose own name is unclear. */
static const struct {
    vitals_metric metric;
    const char *title;
} TITLES[] = {
    {VITALS_THREAD_CPU_SECONDS, "TIME"},      {VITALS_THREAD_RUN_DELAY_SECONDS, "WAITED"},
    {VITALS_DESCRIPTOR_NUMBER, "FD"},         {VITALS_SOCKET_DESCRIPTOR, "FD"},
    {VITALS_SOCKET_LOCAL_ADDRESS, "LOCAL"},   {VITALS_SOCKET_LOCAL_PORT, "PORT"},
    {VITALS_SOCKET_REMOTE_ADDRESS, "REMOTE"}, {VITALS_SOCKET_REMOTE_PORT, "PORT"},
};

struct info_order {
    vitals_metric by;
    const vitals_snapshot *older; /* what its rates are made against; NULL: by the value */
};

static double sorted_value(const struct info_order *order, const vitals_row *row)
{
    double value;
    bool known = order->older != NULL ? vitals_row_rate(row, order->older, order->by, &value) > 0
                                      : vitals_row_number(row, order->by, &value) > 0;
    return known ? value : -1;
}

static int compare_rows(const void *first, const void *second, void *order)
{
    const vitals_row *const *a = first, *const *b = second;
    double x = sorted_value(order, *a), y = sorted_value(order, *b);
    if (x != y)
        return x > y ? -1 : 1;
    uint64_t k = vitals_row_key(*a), l = vitals_row_key(*b);
    return (k > l) - (k < l);
}

static void put_cell(struct info_painter *info, struct grid *grid, const struct ps_column *column,
                     const vitals_row *row)
{
    enum color color = COLOR_PLAIN;
    double cores;
    char percent[32];
    if (column->metric == VITALS_THREAD_CPU_SECONDS && column->show == SHOW_PERCENT) {
        bool known = info->view.older != NULL &&
                     vitals_row_rate(row, info->view.older, column->metric, &cores) > 0;
        if (known)
            snprintf(percent, sizeof percent, "%.1f", cores * 100);
        grid_cell(grid, known ? COLOR_PLAIN : COLOR_DIM, known ? percent : "-");
        return;
    }
    struct ps_column shown = *column;
    bool limit = column->metric == VITALS_LIMIT_SOFT || column->metric == VITALS_LIMIT_HARD;
    if (vitals_row_availability(row, column->metric) == VITALS_UNSUPPORTED) {
        grid_cell(grid, COLOR_DIM, limit ? "unlimited" : "-");
        return;
    }
    if (limit && command_text_is(row, VITALS_LIMIT_UNIT, "bytes"))
        shown.show = SHOW_BYTES;
    const char *text = ps_column_cell(&shown, &info->view, row, &info->text, &color);
    grid_cell(grid, color, text);
}

static void put_state(struct info_painter *info, const struct info_table *table, size_t all,
                      size_t shown)
{
    vitals_availability state = vitals_snapshot_state(info->view.now, table->entity);
    char line[200] = "";
    if (state <= 0)
        snprintf(line, sizeof line, "  N/A: %s", vitals_availability_help(state));
    else if (all == 0)
        snprintf(line, sizeof line, "  %s", table->none);
    else if (all > shown)
        snprintf(line, sizeof line, "  and %zu more; vitals info --json has them all", all - shown);
    if (line[0] != '\0') {
        paint_text(info->paint, COLOR_DIM, line);
        paint_end(info->paint);
    }
    if (state > VITALS_HAVE) {
        snprintf(line, sizeof line, "  not all of them: %s", vitals_availability_help(state));
        paint_text(info->paint, COLOR_DIM, line);
        paint_end(info->paint);
    }
}

/* Returns why no row has a value other than its name, or HAVE if one has. */
static vitals_availability find_hidden(const struct info_table *table, const vitals_row **rows,
                                       size_t count)
{
    vitals_availability reason = VITALS_HAVE;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 1; j < COLUMNS_MOST && table->columns[j] != 0; j++) {
            vitals_availability state = vitals_row_availability(rows[i], table->columns[j]);
            if (state > 0 || state == VITALS_UNSUPPORTED)
                return VITALS_HAVE;
            reason = reason == VITALS_HAVE ? state : reason;
        }
    }
    return reason;
}

/* `most` rows, sorted by a metric unless it is 0. */
static void put_table(struct info_painter *info, const struct info_table *table, size_t most,
                      vitals_metric by)
{
    size_t all = vitals_snapshot_count(info->view.now, table->entity), count = 0;
    const vitals_row **rows = calloc(all + 1, sizeof(const vitals_row *));
    info->failed |= rows == NULL;
    if (rows == NULL)
        return;
    EACH_ROW(row, info->view.now, table->entity)
        rows[count++] = row;
    if (by != 0)
        qsort_r(rows, count, sizeof(const vitals_row *), compare_rows,
                &(struct info_order){by, info->view.older});
    size_t shown = count < most ? count : most;
    put_title(info, table->title);
    vitals_availability hidden = find_hidden(table, rows, count);
    if (hidden <= 0) {
        char line[200];
        snprintf(line, sizeof line, "  %zu, of which nothing is known: %s", count,
                 vitals_availability_help(hidden));
        paint_text(info->paint, COLOR_DIM, line);
        paint_end(info->paint);
    } else if (shown > 0) {
        const struct grid_form form = {.indent = 2, .width = info->width, .titles = true};
        struct ps_column columns[COLUMNS_MOST + 1];
        struct grid grid = {0};
        size_t column_count = 0;
        for (size_t j = 0; j < COLUMNS_MOST && table->columns[j] != 0; j++) {
            struct ps_column *column = &columns[column_count++];
            ps_column_of(table->columns[j], column);
            if (info->rated && column->metric == VITALS_THREAD_CPU_SECONDS) { /* before its sum */
                column->show = SHOW_PERCENT;
                grid_column(&grid, "%CPU", ALIGN_RIGHT, 0);
                column = &columns[column_count++];
                ps_column_of(table->columns[j], column);
            }
            bool number = ps_column_is_number(column);
            for (size_t i = 0; i < ARRAY_COUNT(TITLES); i++) {
                if (TITLES[i].metric == column->metric)
                    snprintf(column->title, sizeof column->title, "%s", TITLES[i].title);
            }
            grid_column(&grid, column->title, number ? ALIGN_RIGHT : ALIGN_LEFT,
                        info->width > 0 && !number ? 40 : 0);
        }
        for (size_t i = 0; i < shown; i++) {
            for (size_t j = 0; j < column_count; j++)
                put_cell(info, &grid, &columns[j], rows[i]);
        }
        info->failed |= grid_paint(&grid, &form, info->paint) < 0;
        grid_done(&grid);
    }
    put_state(info, table, count, hidden <= 0 ? count : shown);
    free(rows);
}

/* ---- the whole ---- */

/* `width`: columns to keep to; 0: no limit. Returns 0, or -1 if memory is exhausted. */
static int info_paint(const vitals_snapshot *answer, const struct settings *settings, size_t width,
                      struct paint *paint)
{
    struct info_painter info = {.view = {answer, NULL, settings->look.ascii, settings->table.bytes,
                                         settings->machine.from == NULL},
                                .process = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, NULL),
                                .paint = paint,
                                .width = width};
    if (info.process == NULL)
        return 0;

    /* "1234 python train.py", and its state in a word. */
    enum color color = COLOR_PLAIN;
    uint64_t pid = 0;
    char number[32];
    if (vitals_row_u64(info.process, P(PID), &pid) > 0)
        snprintf(number, sizeof number, "%llu  ", (unsigned long long)pid);
    else
        snprintf(number, sizeof number, "N/A  ");
    const char *command = ps_command(info.process, info.view.ascii, &info.text, &color);
    paint_text(info.paint, COLOR_BOLD, number);
    size_t room = info.width > strlen(number) + 8 ? info.width - strlen(number) : 0;
    if (room > 0 && paint_columns(command) > room)
        paint_cell(info.paint, COLOR_BOLD, ALIGN_LEFT, room, command);
    else
        paint_text(info.paint, COLOR_BOLD, command);
    paint_end(info.paint);

    vitals_metric more[METRICS_MOST];
    size_t count = 0;
    put_sections(&info, 0, ARRAY_COUNT(SECTIONS));
    for (vitals_metric metric = 0;
         (metric = vitals_metric_next_of(VITALS_TABLE_PROCESS, metric)) != 0 &&
         count < METRICS_MOST;) {
        if (!has_place(metric))
            more[count++] = metric;
    }
    put_section(&info, "More", more, count);

    for (size_t i = 0; i < ARRAY_COUNT(TABLES); i++) {
        if (vitals_snapshot_has_table(answer, TABLES[i].entity))
            put_table(&info, &TABLES[i], TABLES[i].most, TABLES[i].by);
    }
    info.failed |= info.text.failed;
    buffer_done(&info.text);
    return info.failed ? -1 : 0;
}

/* ---- a part of it, for the monitor ---- */

/* Tables, and the sections from one on to before another. `by` in place of a table's own. */
static const struct info_part {
    size_t first, end;
    vitals_table tables[3]; /* ends with 0 */
    vitals_metric by;
} PARTS[PROCESS_PARTS] = {
    [PROCESS_OVERVIEW] = {0, 5, {0}, 0},
    [PROCESS_THREADS] = {0, 0, {VITALS_TABLE_THREAD}, VITALS_THREAD_CPU_SECONDS},
    [PROCESS_FILES] = {0, 0, {VITALS_TABLE_DESCRIPTOR, VITALS_TABLE_MAPPED_FILE}, 0},
    [PROCESS_SOCKETS] = {0, 0, {VITALS_TABLE_SOCKET}, 0},
    [PROCESS_LIMITS] = {5, 7, {VITALS_TABLE_LIMIT}, 0},
    [PROCESS_ENVIRONMENT] = {0, 0, {VITALS_TABLE_ENVIRONMENT}, 0},
    [PROCESS_CGROUP] = {7, 8, {0}, 0},
};

static int part_request(enum process_part part, vitals_request **out, vitals_error *error)
{
    static const vitals_metric FIRST[] = {VITALS_HOST_MEMORY_TOTAL_BYTES,
                                          VITALS_HOST_BOOT_TIME_SECONDS, 0};
    int code = command_request(FIRST, PARTS[part].tables, out, error);
    if (code == 0 && part == PROCESS_OVERVIEW) /* what the page begins with */
        code = vitals_request_add(*out, P(USER), error);
    if (code == 0 && part == PROCESS_OVERVIEW)
        code = command_request_add(*out, REPORT_WORK_METRICS, REPORT_WORK_METRIC_COUNT, error);
    for (size_t i = PARTS[part].first; i < PARTS[part].end; i++) {
        for (size_t j = 0; code == 0 && j < METRICS_MOST && SECTIONS[i].metrics[j] != 0; j++)
            code = vitals_request_add(*out, SECTIONS[i].metrics[j], error);
    }
    return code;
}

static int part_paint(const vitals_snapshot *answer, const vitals_snapshot *older,
                      enum process_part part, bool ascii, size_t width, struct paint *paint)
{
    enum { MOST = 1000 };
    const struct info_part *own = &PARTS[part];
    struct info_painter info = {.view = {answer, older, ascii, false, true},
                                .rated = true,
                                .process = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, NULL),
                                .paint = paint,
                                .width = width};
    info.untitled = own->end - own->first + (own->tables[0] != 0) + (own->tables[1] != 0) == 1;
    info.headed = part == PROCESS_OVERVIEW;
    if (info.process == NULL)
        return 0;
    for (size_t i = 0; i < ARRAY_COUNT(TABLES); i++) {
        if (TABLES[i].entity == own->tables[0] || TABLES[i].entity == own->tables[1])
            put_table(&info, &TABLES[i], MOST, own->by != 0 ? own->by : TABLES[i].by);
    }
    put_sections(&info, own->first, own->end);
    info.failed |= info.text.failed;
    buffer_done(&info.text);
    return info.failed ? -1 : 0;
}

const struct process_part_ops command_part_ops = {part_request, part_paint};

/* ---- the query ---- */

/* The environment may hold secrets and is read only if it is asked for; single mappings are for
 * programs. */
static int make_request(const struct settings *settings, vitals_request **out, vitals_error *error)
{
    static const vitals_metric HOST[] = {VITALS_HOST_MEMORY_TOTAL_BYTES,
                                         VITALS_HOST_BOOT_TIME_SECONDS, 0};
    int code = command_request(HOST, NULL, out, error);
    if (code == 0)
        code = vitals_request_add_all(*out, VITALS_TABLE_PROCESS, error);
    for (size_t i = 0; i < ARRAY_COUNT(TABLES) && code == 0; i++) {
        if (TABLES[i].entity != VITALS_TABLE_ENVIRONMENT || settings->info.environment)
            code = vitals_request_add_table(*out, TABLES[i].entity, error);
    }
    if (code == 0 && settings->look.json)
        code = vitals_request_add_table(*out, VITALS_TABLE_MAPPING, error);
    return code;
}

/* Requests the metrics that need neither the lock of the process's memory nor a name service. */
static int make_quick_request(vitals_request **out, vitals_error *error)
{
    static const vitals_metric SLOW[] = {
        VITALS_PROCESS_COMMAND_LINE,   VITALS_PROCESS_PROGRAM_NAME,
        VITALS_PROCESS_PSS_BYTES,      VITALS_PROCESS_USS_BYTES,
        VITALS_PROCESS_SWAP_PSS_BYTES, VITALS_PROCESS_PSS_ANON_BYTES,
        VITALS_PROCESS_PSS_FILE_BYTES, VITALS_PROCESS_PSS_SHMEM_BYTES,
        VITALS_PROCESS_USER,           VITALS_PROCESS_EFFECTIVE_USER,
        VITALS_PROCESS_GROUP};
    static const vitals_table QUICK[] = {VITALS_TABLE_THREAD, VITALS_TABLE_DESCRIPTOR,
                                         VITALS_TABLE_LIMIT, 0};
    int code = command_request(NULL, QUICK, out, error);
    if (code == 0)
        code = vitals_request_add_all(*out, VITALS_TABLE_PROCESS, error);
    for (size_t i = 0; i < ARRAY_COUNT(SLOW) && code == 0; i++)
        code = vitals_request_remove(*out, SLOW[i], error);
    return code;
}

static int print(const struct settings *settings, const vitals_snapshot *answer, bool first,
                 struct output *output)
{
    struct paint paint;
    if (settings->look.json)
        return command_print_json(answer, output);
    paint_init(&paint, settings->look.color, output_write, output);
    if (!first)
        paint_end(&paint);
    int code = info_paint(answer, settings, (size_t)settings->look.line_width, &paint);
    (void)paint_done(&paint);
    return code == 0 ? EXIT_DONE : command_fail(EXIT_CANNOT, "out of memory");
}

struct info_command {
    const struct settings *settings;
    vitals_context *context;
    vitals_request *request;
    struct output *output;
    bool any; /* the quick part was shown */
};

/* A query that runs in another thread: a process that holds its memory lock can block the reader
 * indefinitely. */
struct info_question {
    vitals_process *process;
    const vitals_request *request;
    vitals_snapshot *answer;
    vitals_error error;
    int code;
    int done; /* its write end is closed when the query has ended */
};

static void *wait_with(void *data)
{
    struct info_question *question = data;
    question->code = vitals_process_ask(question->process, question->request, &question->answer,
                                        &question->error);
    close(question->done);
    return NULL;
}

/* Runs the query, and prints a message if it takes long. */
static void ask(struct info_command *info, uint64_t pid, struct info_question *question)
{
    enum { PATIENCE_MS = 2000 };
    pthread_t thread;
    int ends[2];
    if (pipe(ends) != 0) {
        question->done = -1;
        (void)wait_with(question);
        return;
    }
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    question->done = ends[1];
    if (thread_start(&thread, "vitals-ask", 0, wait_with, question) == 0) {
        if (poll(&end, 1, PATIENCE_MS) == 0) {
            /* In the meantime, shows what can be read without the memory lock, through a second
             * handle. */
            if (!info->settings->look.json) {
                vitals_error error;
                vitals_request *request = NULL;
                vitals_process *process = NULL;
                vitals_snapshot *answer = NULL;

                int code = make_quick_request(&request, &error);
                if (code == 0)
                    code = vitals_process_open(info->context, (int64_t)pid, &process, &error);
                if (code == 0)
                    code = vitals_process_ask(process, request, &answer, &error);
                if (code == 0) {
                    (void)print(info->settings, answer, !info->any, info->output);
                    info->any = true;
                    (void)output_flush(info->output);
                }
                vitals_snapshot_unref(answer);
                vitals_process_close(process);
                vitals_request_free(request);
            }
            (void)command_fail(
                0, "reading the memory of process %llu takes long; waiting (Ctrl-C ends)",
                (unsigned long long)pid);
        }
        (void)pthread_join(thread, NULL);
    } else {
        (void)wait_with(question);
    }
    close(ends[0]);
}

static int show_one(struct info_command *info, uint64_t pid)
{
    vitals_error error;
    vitals_process *process = NULL;
    vitals_snapshot *answer = NULL;
    int code = vitals_process_open(info->context, (int64_t)pid, &process, &error);
    if (code == 0) {
        struct info_question question = {.process = process, .request = info->request};
        ask(info, pid, &question);
        answer = question.answer;
        error = question.error;
        code = question.code;
    }
    if (code == 0)
        code = print(info->settings, answer, !info->any, info->output);
    else
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    info->any |= answer != NULL;
    vitals_snapshot_unref(answer);
    vitals_process_close(process);
    return code;
}

int command_info(const struct settings *settings)
{
    const struct settings_words *words = &settings->arguments.words;
    struct info_command info = {.settings = settings, .output = output_begin(STDOUT_FILENO)};
    vitals_error error;
    if (words->count == 0)
        return command_fail(EXIT_USAGE, "info: no pid; as in: vitals info 1234");
    int code = 0;
    for (size_t i = 0; i < words->count; i++) {
        if (filter_pid(words->items[i]) == 0)
            code = EXIT_USAGE;
    }
    if (code == 0) {
        int made = command_context(&settings->machine, &info.context, &error);
        if (made == 0)
            made = make_request(settings, &info.request, &error);
        if (made < 0)
            code = command_fail(EXIT_CANNOT, "%s", error.message);
        for (size_t i = 0; made == 0 && i < words->count && output_open(info.output); i++) {
            if (show_one(&info, filter_pid(words->items[i])) != EXIT_DONE)
                code = EXIT_CANNOT;
        }
        code = output_done(info.output, code);
    }
    vitals_request_free(info.request);
    vitals_context_free(info.context);
    return code;
}
