/* columns.c: see columns.h. */
#include "monitor/list/columns.h"

#include <stdio.h>
#include <string.h>

#include "monitor/list/group.h"
#include "util/number.h"
#include "view/canvas.h"

enum { COMMAND_LEAST = 9 };

/* ---- what they say ---- */

static void gpu_words(const struct model *model UNUSED, const struct item *item, char *out)
{
    (void)snprintf(out, WORDS, "%s", item->gpu != NULL ? vitals_row_label(item->gpu) : "-");
}

static bool pid_value(const struct model *model UNUSED, const struct item *item, double *out)
{
    return cell_value(item->process, VITALS_PROCESS_PID, out) ||
           cell_value(item->user, VITALS_GPU_PROCESS_PID, out);
}

static void pid_words(const struct model *model, const struct item *item, char *out)
{
    double pid;
    if (pid_value(model, item, &pid))
        number_print_u64(out, (uint64_t)pid);
    else
        (void)cell_not_available(out);
    cell_cut(out, 7, ".");
}

static void type_words(const struct model *model, const struct item *item, char *out)
{
    (void)cell_text(item->user, VITALS_GPU_PROCESS_TYPE, model->options->look.ascii, out, WORDS);
    if (strcmp(out, "C+G") == 0)
        memcpy(out, "X", 2);
    else if (strcmp(out, "N/A") == 0)
        memcpy(out, "?", 2);
    out[1] = '\0';
}

static void state_words(const struct model *model, const struct item *item, char *out)
{
    char word[WORDS];
    (void)cell_text(item->process, VITALS_PROCESS_STATE, model->options->look.ascii, word,
                    sizeof word);
    (void)snprintf(out, WORDS, "%c", cell_state(word));
}

/* The start of a name, of which a cell has room for WORDS bytes. */
static void name_words(const struct model *model, enum group_by by, const struct item *item,
                       char *out)
{
    char name[GROUP_NAME];
    size_t used = 0, size;
    int wide;
    if (!group_text(model, by, item, name, sizeof name)) {
        (void)cell_not_available(out);
        return;
    }
    while ((size = canvas_next(name + used, &wide)) > 0 && used + size < WORDS)
        used += size;
    memcpy(out, name, used);
    out[used] = '\0';
}

/* The memory of a line: of one device, or of all devices of a process. */
static bool gpu_memory_value(const struct model *model UNUSED, const struct item *item, double *out)
{
    if (item->use.known == 0 && item->use.unknown == 0)
        return cell_value(item->user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, out);
    *out = item->use.bytes;
    return item->use.known > 0;
}

static bool held_value(const struct model *model, const struct item *item, double *out)
{
    return model_idle(model, item->user, out);
}

static bool cpu_value(const struct model *model, const struct item *item, double *out)
{
    return item_cpu(model, item->process, out);
}

static bool memory_value(const struct model *model, const struct item *item, double *out)
{
    double resident, total;
    if (!cell_value(item->process, VITALS_PROCESS_RESIDENT_BYTES, &resident) ||
        !cell_value(model_host(model), VITALS_HOST_MEMORY_TOTAL_BYTES, &total) || total <= 0)
        return false;
    *out = resident / total;
    return true;
}

static bool time_value(const struct model *model UNUSED, const struct item *item, double *out)
{
    double start;
    if (!cell_value(item->process, VITALS_PROCESS_START_SECONDS, &start))
        return false;
    *out = (double)vitals_snapshot_boottime_ns(vitals_row_snapshot(item->process)) / 1e9 - start;
    return true;
}

size_t column_pad(const char *text, int width, bool left, char *out, size_t capacity)
{
    int columns = canvas_columns(text);
    size_t size = size_min(strlen(text), capacity - 1);
    size_t blanks = size_min(width > columns ? (size_t)(width - columns) : 0, capacity - 1 - size);
    memcpy(out + (left ? 0 : blanks), text, size);
    memset(out + (left ? size : 0), ' ', blanks);
    out[size + blanks] = '\0';
    return size + blanks;
}

/* Written apart: it is longer than WORDS. */
static void command_words(const struct model *model UNUSED, const struct item *item UNUSED,
                          char *out)
{
    out[0] = '\0';
}

/* ---- the table ---- */

enum { DEVICES = VIEW_DEVICES, ALL = VIEW_ALL, BOTH = VIEW_DEVICES | VIEW_ALL };

/* A metric of a process that is shown only if a person chooses it. */
#define MORE(suffix)     .host = true, .views = BOTH, .metric = VITALS_PROCESS_##suffix
#define USER(suffix)     VITALS_GPU_PROCESS_##suffix
#define AS_TEXT          .left = true, .show = SHOW_TEXT
#define AS_BYTES         .show = SHOW_BYTES, .falling = true
#define OF_MEMORY        AS_BYTES, .whole = WHOLE_MEMORY
#define SUM              .sum = true
#define ONCE             .sum = true, .once = true
#define OF_WORKLOAD(...) .needs = {__VA_ARGS__}

// One column, one paragraph.
// clang-format off
const struct column list_columns[] = {
    {"gpu", "GPU", "device", .width = 4, .views = DEVICES, .usual = DEVICES, .rank = 90,
     .words = gpu_words},
    {"pid", "PID", "PID", .width = 8, .views = BOTH, .usual = BOTH, .rank = 99, .letter = 'p',
     .words = pid_words, .value = pid_value},
    {"type", "", "type", .width = 2, .views = DEVICES, .usual = DEVICES, .rank = 30,
     .words = type_words},
    {"user", "USER", "user", .width = 8, .views = BOTH, .usual = BOTH, .rank = 60, .letter = 'u',
     .show = SHOW_TEXT, .metric = VITALS_PROCESS_USER},
    {"s", "S", "state", .width = 2, .views = BOTH, .usual = ALL, .rank = 35, .words = state_words},
    {"thr", "THR", "threads", .width = 5, .views = BOTH, .usual = ALL, .rank = 20, .letter = 'h',
     .falling = true, ONCE, .metric = VITALS_PROCESS_THREADS},
    {"gpumem", "GPU-MEM", "GPU memory", .width = 9, .views = BOTH, .usual = BOTH, .rank = 70,
     .letter = 'g', AS_BYTES, SUM, .whole = WHOLE_DEVICES, .value = gpu_memory_value},
    {"sm%", "%SM", "use of processors", .width = 4, .views = DEVICES, .usual = DEVICES, .rank = 65,
     .letter = 's', .falling = true, .show = SHOW_SHARE, .user_metric = USER(UTILIZATION_RATIO)},
    {"gmbw%", "%GMBW", "use of memory bus", .width = 6, .views = DEVICES, .usual = DEVICES, .rank = 10,
     .letter = 'b', .falling = true, .show = SHOW_SHARE, .user_metric = USER(MEMORY_BUSY_RATIO)},
    {"enc%", "%ENC", "encoder", .width = 5, .views = DEVICES, .rank = 9, .falling = true,
     .show = SHOW_SHARE, .user_metric = USER(ENCODER_RATIO)},
    {"dec%", "%DEC", "decoder", .width = 5, .views = DEVICES, .rank = 9, .falling = true,
     .show = SHOW_SHARE, .user_metric = USER(DECODER_RATIO)},
    {"held", "HELD", "held without being used", .width = 9, .views = DEVICES, .rank = 45,
     .falling = true, .show = SHOW_DURATION, .value = held_value},
    {"res", "RES", "resident memory", .width = 9, .views = BOTH, .usual = ALL, .rank = 75,
     .letter = 'r', OF_MEMORY, ONCE, .metric = VITALS_PROCESS_RESIDENT_BYTES},
    {"%cpu", "%CPU", "%CPU", .width = 6, .host = true, .views = BOTH, .usual = BOTH, .rank = 80,
     .letter = 'c', .falling = true, .show = SHOW_CPU, ONCE, .value = cpu_value,
     .made_of = VITALS_PROCESS_CPU_SECONDS},
    {"%mem", "%MEM", "%MEM", .width = 6, .host = true, .views = BOTH, .usual = BOTH, .rank = 25,
     .letter = 'm', .falling = true, .show = SHOW_PERCENT, ONCE, .value = memory_value,
     .made_of = VITALS_PROCESS_RESIDENT_BYTES},
    {"etime", "TIME", "time", .width = 9, .host = true, .views = BOTH, .usual = BOTH, .rank = 40,
     .letter = 't', .falling = true, .show = SHOW_DURATION, .value = time_value},
    {"time", "CPU-TIME", "CPU time", .width = 10, MORE(CPU_SECONDS), .rank = 50,
     .show = SHOW_DURATION, .falling = true, ONCE},
    {"ppid", "PPID", "parent", .width = 8, MORE(PARENT_PID), .rank = 50},
    {"name", "NAME", "name", .width = 17, MORE(NAME), .rank = 50, AS_TEXT},
    {"ni", "NI", "nice", .width = 4, MORE(NICE), .rank = 50},
    {"pr", "PR", "priority", .width = 5, MORE(PRIORITY), .rank = 50},
    {"policy", "POLICY", "scheduling policy", .width = 9, MORE(SCHEDULING_POLICY), .rank = 50, AS_TEXT},
    {"psr", "PSR", "CPU that it ran on", .width = 5, MORE(CPU), .rank = 50},
    {"tty", "TTY", "terminal", .width = 8, MORE(TERMINAL), .rank = 50, AS_TEXT},
    {"pgid", "PGID", "process group", .width = 8, MORE(PROCESS_GROUP), .rank = 50},
    {"sid", "SID", "session", .width = 8, MORE(SESSION), .rank = 50},
    {"vsz", "VSZ", "address space", .width = 9, MORE(VIRTUAL_BYTES), .rank = 50, AS_BYTES, ONCE},
    {"shr", "SHR", "shared memory", .width = 9, MORE(SHARED_BYTES), .rank = 50, OF_MEMORY},
    {"peak", "PEAK", "highest resident memory", .width = 9, MORE(RESIDENT_PEAK_BYTES), .rank = 50,
     OF_MEMORY},
    {"swap", "SWAP", "swapped memory", .width = 9, MORE(SWAPPED_BYTES), .rank = 50, AS_BYTES, ONCE,
     .whole = WHOLE_SWAP},
    {"pss", "PSS", "proportional memory", .width = 9, MORE(PSS_BYTES), .rank = 50, OF_MEMORY, ONCE},
    {"uss", "USS", "memory of its own", .width = 9, MORE(USS_BYTES), .rank = 50, OF_MEMORY, ONCE},
    {"read/s", "READ/s", "disk reads", .width = 12, MORE(READ_BYTES), .wide = BOTH, .rank = 50,
     .show = SHOW_RATE, .falling = true, ONCE},
    {"write/s", "WRITE/s", "disk writes", .width = 12, MORE(WRITTEN_BYTES), .wide = BOTH,
     .rank = 50, .show = SHOW_RATE, .falling = true, ONCE},
    {"majflt/s", "MAJFLT/s", "page faults with a disk", .width = 9, MORE(MAJOR_FAULTS), .rank = 50,
     .show = SHOW_PER_SECOND, .falling = true, ONCE},
    {"minflt/s", "MINFLT/s", "page faults without", .width = 9, MORE(MINOR_FAULTS), .rank = 50,
     .show = SHOW_PER_SECOND, .falling = true, ONCE},
    {"nvcsw/s", "NVCSW/s", "context switches", .width = 9, MORE(VOLUNTARY_CONTEXT_SWITCHES),
     .rank = 50, .show = SHOW_PER_SECOND, .falling = true, ONCE},
    {"nivcsw/s", "NIVCSW/s", "context switches by force", .width = 9,
     MORE(INVOLUNTARY_CONTEXT_SWITCHES), .rank = 50, .show = SHOW_PER_SECOND, .falling = true, ONCE},
    {"fds", "FDS", "open descriptors", .width = 6, MORE(DESCRIPTORS), .rank = 50, .falling = true,
     ONCE},
    {"oom", "OOM", "score of the OOM killer", .width = 5, MORE(OOM_SCORE), .rank = 50,
     .falling = true},
    {"wchan", "WCHAN", "what it waits for", .width = 16, MORE(WAIT_CHANNEL), .rank = 50, AS_TEXT},
    {"container", "CONTAINER", "container", .width = 14, MORE(CONTAINER), .rank = 55, AS_TEXT,
     .by = GROUP_CONTAINER, OF_WORKLOAD(VITALS_PROCESS_CONTAINER_NAME)},
    {"job", "JOB", "Slurm job or pod", .width = 14, MORE(SLURM_JOB), .rank = 55, AS_TEXT,
     .by = GROUP_JOB,
     OF_WORKLOAD(VITALS_PROCESS_POD, VITALS_PROCESS_POD_NAME, VITALS_PROCESS_POD_NAMESPACE)},
    {"unit", "UNIT", "systemd unit", .width = 20, MORE(UNIT), .rank = 55, AS_TEXT},
    {"cgroup", "CGROUP", "cgroup", .width = 24, MORE(CGROUP), .rank = 54, AS_TEXT},
    {"exe", "EXE", "program", .width = 24, MORE(EXECUTABLE), .rank = 50, AS_TEXT},
    {"cwd", "CWD", "working directory", .width = 24, MORE(WORKING_DIRECTORY), .rank = 50, AS_TEXT},
    {"command", "COMMAND", "command", .width = 0, .left = true, .host = true, .views = BOTH,
     .usual = BOTH, .rank = 100, .words = command_words},
};
// clang-format on
const size_t list_column_count = sizeof list_columns / sizeof list_columns[0];
_Static_assert(sizeof list_columns / sizeof list_columns[0] <= ARRANGED_COLUMNS,
               "a layout has room for every column");

enum sum group_sum(const struct group *group, const struct column *column, double *out)
{
    const struct group_part *part = &group->parts[column - list_columns];
    if (part->known == 0)
        return part->unknown == 0 ? SUM_NOTHING : SUM_UNKNOWN;
    *out = part->sum;
    return part->unknown > 0 ? SUM_LEAST : SUM_WHOLE;
}

bool column_is_text(const struct column *column)
{
    return column->by != GROUP_NONE || (column->metric != 0 && column->show == SHOW_TEXT);
}

bool column_sorts(const struct column *column)
{
    return column->user_metric != 0 || column->by != GROUP_NONE || column->value != NULL ||
           column->metric != 0;
}

/* The two files of a process that are read in any case. */
bool column_is_dear(const struct column *column)
{
    if (column->metric == 0 || column->usual != 0 || column->metric == VITALS_PROCESS_CPU_SECONDS)
        return false;
    const char *source = vitals_metric_source(column->metric);
    return strstr(source, "PID/stat ") == NULL && strstr(source, "PID/statm ") == NULL;
}

bool column_value(const struct column *column, const struct model *model, const struct item *item,
                  double *out)
{
    if (item->head)
        return group_sum(item->group, column, out) != SUM_UNKNOWN;
    if (column->value != NULL)
        return column->value(model, item, out);
    if (column->user_metric != 0)
        return cell_value(item->user, column->user_metric, out);
    return column->show == SHOW_RATE || column->show == SHOW_PER_SECOND
               ? item_rate(model, item_row(item), column->metric, out)
               : cell_value(item_row(item), column->metric, out);
}

/* The truth may be more: at least so much, or older. */
static bool is_least(const vitals_row *row, vitals_metric metric)
{
    vitals_availability quality = vitals_row_availability(row, metric);
    return quality == VITALS_LOWER_BOUND || quality == VITALS_STALE;
}

bool column_is_least(const struct column *column, const struct item *item)
{
    if (column->whole == WHOLE_DEVICES)
        return item->use.unknown > 0 || is_least(item->user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    return column->metric != 0 ? is_least(item_row(item), column->metric)
                               : is_least(item->process, column->made_of);
}

bool column_text(const struct column *column, const struct model *model, const struct item *item,
                 char *out, size_t capacity)
{
    if (item->head)
        return false;
    if (column->by != GROUP_NONE)
        return group_text(model, column->by, item, out, capacity);
    vitals_text text;
    if (vitals_row_text(item_row(item), column->metric, &text) <= 0)
        return false;
    (void)vitals_text_format(text, VITALS_TEXT_ASCII, out, capacity);
    return true;
}

int column_compare(const struct column *column, const struct model *model, const struct item *a,
                   const struct item *b)
{
    char one[WORDS_COMMAND] = "", other[WORDS_COMMAND] = "";
    vitals_text x, y;
    if (column->by != GROUP_NONE) {
        (void)group_text(model, column->by, a, one, sizeof one);
        (void)group_text(model, column->by, b, other, sizeof other);
        return strcmp(one, other);
    }
    if (vitals_row_text(item_row(a), column->metric, &x) <= 0 ||
        vitals_row_text(item_row(b), column->metric, &y) <= 0)
        return 0;
    int order = memcmp(x.bytes, y.bytes, x.size < y.size ? x.size : y.size);
    return order != 0 ? order : x.size < y.size ? -1 : x.size > y.size;
}

static void write_value(enum show show, double value, char *out)
{
    static const double MOST = 18e18;
    double bytes = value <= 0 ? 0 : value < MOST ? value : MOST;
    switch (show) {
    case SHOW_BYTES: (void)vitals_human_bytes((uint64_t)bytes, out); break;
    case SHOW_SHARE: (void)snprintf(out, WORDS, "%.0f", value * 100); break;
    case SHOW_PERCENT: (void)snprintf(out, WORDS, "%.1f", value * 100); break;
    case SHOW_CPU: (void)snprintf(out, WORDS, value >= 99.95 ? "%.0f" : "%.1f", value * 100); break;
    case SHOW_RATE: (void)cell_rate(true, value, out); break;
    case SHOW_PER_SECOND: (void)snprintf(out, WORDS, value < 10 ? "%.1f" : "%.0f", value); break;
    case SHOW_DURATION: (void)vitals_human_duration(value < 0 ? 0 : value, out); break;
    case SHOW_COUNT:
    case SHOW_TEXT: (void)snprintf(out, WORDS, "%.0f", value); break;
    }
}

/* Bytes in the one unit of a column, so that the longer number is the larger one: MiB, and GiB for
 * memory of devices, which has more. */
static void memory_words(const struct column *column, double bytes, char *out)
{
    enum { ROOM = 8 };
    double mib = bytes / (1 << 20), gib = mib / 1024;
    if (column->whole == WHOLE_DEVICES && bytes > 0 && gib < 0.005)
        (void)snprintf(out, WORDS, "<0.01GiB");
    else if (column->whole == WHOLE_DEVICES)
        (void)snprintf(out, WORDS, "%.*fGiB", gib < 99.995 ? 2 : gib < 999.95 ? 1 : 0, gib);
    else
        (void)snprintf(out, WORDS, "%.*f%s", mib < 9.95 ? 1 : 0, mib, mib < 99999.5 ? "MiB" : "M");
    if (canvas_columns(out) > ROOM)
        write_value(SHOW_BYTES, bytes, out);
}

static bool as_share(const struct column *column, const struct model *model)
{
    return model->arranged.percent && column->whole != WHOLE_NONE;
}

/* Takes the fraction out of a number that leaves its column no blank: "1862.0" is 1862. */
static void fit_number(int width, char *out)
{
    size_t whole = strcspn(out, ".");
    if (out[whole] == '\0' || width <= 1 || canvas_columns(out) < width)
        return;
    size_t end = whole + 1 + strspn(out + whole + 1, "0123456789");
    memmove(out + whole, out + end, strlen(out + end) + 1);
}

static void value_words(const struct column *column, const struct model *model,
                        const struct item *item, char *out)
{
    double value, whole = 0;
    bool share = as_share(column, model);
    const vitals_row *host = model_host(model);
    if (share && column->whole == WHOLE_DEVICES)
        (void)model_devices_total(model, item_devices(item), &whole);
    else if (share)
        (void)cell_value(host,
                         column->whole == WHOLE_MEMORY ? VITALS_HOST_MEMORY_TOTAL_BYTES
                                                       : VITALS_HOST_SWAP_TOTAL_BYTES,
                         &whole);
    if (!column_value(column, model, item, &value) || (share && whole <= 0))
        (void)cell_not_available(out);
    else if (share)
        write_value(SHOW_PERCENT, value / whole, out);
    else if (column->show == SHOW_BYTES && !model->arranged.nvitop && value >= 0)
        memory_words(column, value, out);
    else
        write_value(column->show, value, out);
    fit_number(column->width, out);
}

/* Marks a sum to which unknown values belong. */
static void mark_least(const struct model *model, int width, char *out)
{
    char text[WORDS];
    memcpy(text, out, sizeof text);
    (void)snprintf(out, WORDS, "%s%.60s", model->options->look.ascii ? ">" : "≥", text);
    fit_number(width, out);
}

void column_words(const struct column *column, const struct model *model, const struct item *item,
                  char *out)
{
    double sum;
    enum sum known = !item->head   ? SUM_WHOLE
                     : column->sum ? group_sum(item->group, column, &sum)
                                   : SUM_NOTHING;
    if (known == SUM_NOTHING)
        out[0] = '\0';
    else if (!item->head && column->by != GROUP_NONE)
        name_words(model, column->by, item, out);
    else if (item->head || (column->words == NULL && column->show != SHOW_TEXT))
        value_words(column, model, item, out);
    else if (column->words != NULL)
        column->words(model, item, out);
    else
        (void)cell_text(item_row(item), column->metric, model->options->look.ascii, out, WORDS);
    if (known == SUM_LEAST || (!item->head && column->whole == WHOLE_DEVICES &&
                               item->use.known > 0 && item->use.unknown > 0))
        mark_least(model, column->width, out);
}

void column_title(const struct column *column, const struct model *model, char *out)
{
    (void)snprintf(out, WORDS, "%s%s", as_share(column, model) ? "%" : "", column->title);
}

/* ---- which of them ---- */

bool column_may_be(const struct column *column, int wider)
{
    enum { WIDTH_MOST = WORDS - 1, WIDTH_LEAST = 3 };
    if (column->width == 0 || wider > WIDTH_MOST - column->width)
        return wider == 0;
    return wider >= 0 || column->width + wider >= WIDTH_LEAST;
}

size_t column_find(const char *key, size_t size)
{
    size_t i = 0;
    while (i < list_column_count &&
           (strlen(list_columns[i].key) != size || memcmp(list_columns[i].key, key, size) != 0))
        i++;
    return i;
}

const struct column *column_titled(const char *title)
{
    size_t i = 0;
    while (strcmp(list_columns[i].title, title) != 0)
        i++;
    return &list_columns[i];
}

void columns_usual(enum view view, bool wide, struct arranged_columns *out)
{
    out->count = 0;
    for (size_t i = 0; i < list_column_count; i++) {
        if ((list_columns[i].usual | (wide ? list_columns[i].wide : 0)) & view)
            out->items[out->count++] = (struct arranged_column){.column = (unsigned)i};
    }
}

void columns_of(const struct arrangement *arrangement, enum view view, struct arranged_columns *out)
{
    const struct arranged_columns *chosen = &arrangement->views[view == VIEW_ALL];
    if (chosen->count > 0)
        *out = *chosen;
    else
        columns_usual(view, arrangement->wide, out);
}

/* Without a device nothing uses its memory. */
static bool is_idle(const struct model *model, const struct column *column)
{
    return model->view == VIEW_ALL && column->whole == WHOLE_DEVICES &&
           model_device_count(model) == 0;
}

bool column_has_values(const struct model *model, const struct column *column)
{
    return column != NULL && (column->views & model->view) && !is_idle(model, column);
}

/* The columns of the screen that those of at least a rank take. */
static int wide(const struct arranged_columns *columns, int rank)
{
    int sum = 0;
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &list_columns[columns->items[i].column];
        if (column->rank >= rank)
            sum += column->width + columns->items[i].wider;
    }
    return sum;
}

void columns_choose(const struct model *model, int width, struct column_choice *choice)
{
    enum { GAP = 2, RANK_MOST = 99, TREND = TREND_ROOM / 2 + 1, COMMAND_ENOUGH = 30 };
    struct arranged_columns columns;
    int rank = 0, at = 0;
    bool moves = false;
    size_t kept = 0;
    columns_of(&model->arranged, model->view, &columns);
    for (size_t i = 0; i < columns.count; i++) {
        if (!is_idle(model, &list_columns[columns.items[i].column]))
            columns.items[kept++] = columns.items[i];
    }
    columns.count = kept;
    while (rank < RANK_MOST && wide(&columns, rank) + GAP + COMMAND_LEAST > width)
        rank++;
    *choice = (struct column_choice){0};
    if (model->arranged.wide && wide(&columns, rank) + GAP + TREND + COMMAND_ENOUGH <= width)
        choice->trend = TREND;
    for (size_t i = 0; i < columns.count; i++) {
        const struct column *column = &list_columns[columns.items[i].column];
        if (column->rank < rank)
            continue;
        int own = column->width > 0 ? column->width + columns.items[i].wider : 0;
        own += column->show == SHOW_CPU ? choice->trend : 0;
        choice->shown[choice->count] = column;
        choice->width[choice->count] = own;
        choice->x[choice->count++] = at + (own == 0 ? GAP : 0);
        moves = moves || column->host;
        choice->fixed += !moves;
        at += own;
    }
    choice->command = width - at - GAP > 0 ? width - at - GAP : 0;
}

unsigned columns_sort(enum view view, char letter)
{
    for (size_t i = 0; i < list_column_count && letter != 0; i++) {
        if (list_columns[i].letter == letter && (list_columns[i].views & view))
            return (unsigned)i + 1;
    }
    return 0;
}

unsigned columns_sort_step(enum view view, unsigned sort, int step)
{
    unsigned count = (unsigned)list_column_count + 1;
    do {
        sort = (sort + count + (unsigned)step) % count;
    } while (sort != 0 &&
             (list_columns[sort - 1].letter == 0 || !(list_columns[sort - 1].usual & view)));
    return sort;
}

const struct column *columns_sorted(unsigned sort)
{
    return sort > 0 && sort <= list_column_count ? &list_columns[sort - 1] : NULL;
}
