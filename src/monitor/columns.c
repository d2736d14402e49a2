/* columns.c: see columns.h. */
#include "monitor/columns.h"

#include <stdio.h>
#include <string.h>

enum { COMMAND_LEAST = 9 };

/* ---- what they say ---- */

static void gpu_words(const struct model *model, const struct item *item, char *out)
{
    (void)model;
    (void)snprintf(out, WORDS, "%s", item->gpu != NULL ? vitals_row_label(item->gpu) : "-");
}

static bool pid_value(const struct model *model, const struct item *item, double *out)
{
    (void)model;
    return cell_value(item->process, VITALS_PROCESS_PID, out) ||
           cell_value(item->user, VITALS_GPU_PROCESS_PID, out);
}

static void pid_words(const struct model *model, const struct item *item, char *out)
{
    double pid;
    if (pid_value(model, item, &pid))
        (void)snprintf(out, WORDS, "%.0f", pid);
    else
        (void)cell_missing(out);
    cell_cut(out, 7, ".");
}

static void type_words(const struct model *model, const struct item *item, char *out)
{
    (void)cell_text(item->user, VITALS_GPU_PROCESS_TYPE, model->options->look.ascii, out, WORDS);
    if (strcmp(out, "C+G") == 0)
        memcpy(out, "X", 2);
    out[1] = '\0';
}

static void user_words(const struct model *model, const struct item *item, char *out)
{
    (void)cell_text(item->process, VITALS_PROCESS_USER, model->options->look.ascii, out, WORDS);
    cell_cut(out, 7, "+");
}

static bool user_text(const struct model *model, const struct item *item, char *out,
                      size_t capacity)
{
    vitals_text text;
    (void)model;
    if (item->process == NULL || vitals_row_text(item->process, VITALS_PROCESS_USER, &text) <= 0)
        return false;
    (void)vitals_text_format(text, VITALS_TEXT_ASCII, out, capacity);
    return true;
}

static void state_words(const struct model *model, const struct item *item, char *out)
{
    static const struct {
        const char *name, *letter;
    } STATES[] = {{"running", "R"}, {"sleeping", "S"}, {"disk_sleep", "D"},  {"stopped", "T"},
                  {"zombie", "Z"},  {"idle", "I"},     {"tracing_stop", "t"}};
    char word[WORDS];
    (void)cell_text(item->process, VITALS_PROCESS_STATE, model->options->look.ascii, word,
                    sizeof word);
    (void)snprintf(out, WORDS, "?");
    for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++) {
        if (strcmp(STATES[i].name, word) == 0)
            (void)snprintf(out, WORDS, "%s", STATES[i].letter);
    }
}

#define USER_BYTES(function, metric)                                                            \
    static void function##_words(const struct model *model, const struct item *item, char *out) \
    {                                                                                           \
        (void)model;                                                                            \
        (void)cell_bytes(item->user, metric, out);                                              \
    }
#define USER_SHARE(function, metric)                                                            \
    static void function##_words(const struct model *model, const struct item *item, char *out) \
    {                                                                                           \
        (void)model;                                                                            \
        (void)cell_share(item->user, metric, out);                                              \
    }
#define VALUE(function, row, metric)                                                              \
    static bool function##_value(const struct model *model, const struct item *item, double *out) \
    {                                                                                             \
        (void)model;                                                                              \
        return cell_value(item->row, metric, out);                                                \
    }

USER_BYTES(gpu_memory, VITALS_GPU_PROCESS_MEMORY_USED_BYTES)
USER_SHARE(sm, VITALS_GPU_PROCESS_UTILIZATION_RATIO)
USER_SHARE(bandwidth, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO)
VALUE(gpu_memory, user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES)
VALUE(sm, user, VITALS_GPU_PROCESS_UTILIZATION_RATIO)
VALUE(bandwidth, user, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO)
VALUE(threads, process, VITALS_PROCESS_THREADS)
VALUE(resident, process, VITALS_PROCESS_RESIDENT_BYTES)

static void threads_words(const struct model *model, const struct item *item, char *out)
{
    (void)model;
    (void)cell_number(item->process, VITALS_PROCESS_THREADS, "", out);
}

static void resident_words(const struct model *model, const struct item *item, char *out)
{
    (void)model;
    (void)cell_bytes(item->process, VITALS_PROCESS_RESIDENT_BYTES, out);
}

static bool cpu_value(const struct model *model, const struct item *item, double *out)
{
    return item_cpu(model, item->process, out);
}

static void cpu_words(const struct model *model, const struct item *item, char *out)
{
    double cores;
    if (!cpu_value(model, item, &cores))
        (void)cell_missing(out);
    else
        (void)snprintf(out, WORDS, cores >= 99.95 ? "%.0f" : "%.1f", cores * 100);
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

static void memory_words(const struct model *model, const struct item *item, char *out)
{
    double share;
    if (memory_value(model, item, &share))
        (void)snprintf(out, WORDS, "%.1f", share * 100);
    else
        (void)cell_missing(out);
}

static bool time_value(const struct model *model, const struct item *item, double *out)
{
    double start;
    (void)model;
    if (!cell_value(item->process, VITALS_PROCESS_START_SECONDS, &start))
        return false;
    *out = (double)vitals_snapshot_boottime_ns(vitals_row_snapshot(item->process)) / 1e9 - start;
    return true;
}

static void time_words(const struct model *model, const struct item *item, char *out)
{
    double seconds;
    if (time_value(model, item, &seconds))
        (void)vitals_human_duration(seconds < 0 ? 0 : seconds, out);
    else
        (void)cell_missing(out);
}

/* Written apart: it is longer than WORDS. */
static void command_words(const struct model *model, const struct item *item, char *out)
{
    (void)model;
    (void)item;
    out[0] = '\0';
}

/* ---- the table ---- */

enum { DEVICES = VIEW_DEVICES, ALL = VIEW_ALL, BOTH = VIEW_DEVICES | VIEW_ALL };

// One column, one paragraph.
// clang-format off
const struct column list_columns[] = {
    {.title = "GPU", .width = 4, .views = DEVICES, .rank = 90, .words = gpu_words},
    {.title = "PID", .name = "PID", .width = 8, .views = BOTH, .rank = 99, .letter = 'p',
     .words = pid_words, .value = pid_value},
    {.title = "", .width = 2, .views = DEVICES, .rank = 30, .words = type_words},
    {.title = "USER", .name = "user", .width = 8, .views = BOTH, .rank = 60, .letter = 'u',
     .words = user_words, .text = user_text},
    {.title = "S", .width = 2, .views = ALL, .rank = 35, .words = state_words},
    {.title = "THR", .name = "threads", .width = 5, .views = ALL, .rank = 20, .letter = 'h',
     .falling = true, .words = threads_words, .value = threads_value},
    {.title = "GPU-MEM", .name = "GPU memory", .width = 9, .views = BOTH, .rank = 70,
     .letter = 'g', .falling = true, .words = gpu_memory_words, .value = gpu_memory_value},
    {.title = "%SM", .name = "%SM", .width = 4, .views = DEVICES, .rank = 65, .letter = 's',
     .falling = true, .words = sm_words, .value = sm_value},
    {.title = "%GMBW", .name = "%GMBW", .width = 6, .views = DEVICES, .rank = 10, .letter = 'b',
     .falling = true, .words = bandwidth_words, .value = bandwidth_value},
    {.title = "RES", .name = "resident memory", .width = 9, .views = ALL, .rank = 75,
     .letter = 'r', .falling = true, .words = resident_words, .value = resident_value},
    {.title = "%CPU", .name = "%CPU", .width = 6, .host = true, .views = BOTH, .rank = 80,
     .letter = 'c', .falling = true, .words = cpu_words, .value = cpu_value},
    {.title = "%MEM", .name = "%MEM", .width = 6, .host = true, .views = BOTH, .rank = 25,
     .letter = 'm', .falling = true, .words = memory_words, .value = memory_value},
    {.title = "TIME", .name = "time", .width = 9, .host = true, .views = BOTH, .rank = 40,
     .letter = 't', .falling = true, .words = time_words, .value = time_value},
    {.title = "COMMAND", .width = 0, .left = true, .host = true, .views = BOTH, .rank = 100,
     .words = command_words},
};
// clang-format on
const size_t list_column_count = sizeof list_columns / sizeof list_columns[0];

/* ---- which of them ---- */

static bool is_shown(const struct column *column, enum view view, bool devices)
{
    return (column->views & view) &&
           (devices || view != VIEW_ALL || column->value != gpu_memory_value);
}

/* The columns that those of at least a rank take. */
static int wide(enum view view, bool devices, int rank)
{
    int sum = 0;
    for (size_t i = 0; i < list_column_count; i++) {
        if (is_shown(&list_columns[i], view, devices) && list_columns[i].rank >= rank)
            sum += list_columns[i].width;
    }
    return sum;
}

void columns_choose(enum view view, bool devices, int width, struct column_choice *choice)
{
    enum { GAP = 2, RANK_MOST = 99 };
    int rank = 0, at = 0;
    while (rank < RANK_MOST && wide(view, devices, rank) + GAP + COMMAND_LEAST > width)
        rank++;
    *choice = (struct column_choice){0};
    for (size_t i = 0; i < list_column_count; i++) {
        if (!is_shown(&list_columns[i], view, devices) || list_columns[i].rank < rank)
            continue;
        choice->shown[choice->count] = &list_columns[i];
        choice->x[choice->count++] = at + (list_columns[i].width == 0 ? GAP : 0);
        choice->fixed += !list_columns[i].host;
        at += list_columns[i].width;
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
             (list_columns[sort - 1].letter == 0 || !(list_columns[sort - 1].views & view)));
    return sort;
}

const struct column *columns_sorted(unsigned sort)
{
    return sort > 0 && sort <= list_column_count ? &list_columns[sort - 1] : NULL;
}
