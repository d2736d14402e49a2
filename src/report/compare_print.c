/* compare_print.c: a comparison as text, as JSON, and as gpu_tracker prints one. */
#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/foreign/foreign.h"
#include "report/json_form.h"
#include "report/words.h"
#include "view/paint.h"

enum { WHAT_COLUMNS = 18, SESSION_NARROW = 16, SESSION_WIDE = 24, CHANGE_COLUMNS = 8, WIDE = 100 };
enum { NAME_MAX_BYTES = 256 };

/* ---- text ---- */

/* The measures that are shown first, and their labels; the others come with --verbose. */
static const struct {
    const char *name, *words;
} FIRST[] = {
    {"wall_seconds", "time"},
    {"cpu_seconds", "CPU"},
    {"cpu_user_seconds", "CPU, user"},
    {"cpu_system_seconds", "CPU, system"},
    {"cpu_cores", "CPUs in use"},
    {"memory_peak_bytes", "memory peak"},
    {"memory_peak_low_bytes", "memory, at least"},
    {"memory_peak_high_bytes", "memory, estimate"},
    {"gpu_memory_peak_bytes", "memory peak"},
    {"gpu_busy_ratio", "busy"},
    {"gpu_energy_joules", "GPU energy"},
    {"disk_read_bytes", "disk read"},
    {"disk_written_bytes", "disk written"},
    {"processes", "processes"},
    {"call_seconds", "time of a call"},
};

static const char *first_words(const char *name)
{
    for (size_t i = 0; i < sizeof FIRST / sizeof FIRST[0]; i++) {
        if (strcmp(FIRST[i].name, name) == 0)
            return FIRST[i].words;
    }
    return NULL;
}

static void item_words(const struct compared *item, bool verbose, char out[static WORDS])
{
    const char *of = item->label[0] != '\0' ? item->label : item->subject;
    const char *words = verbose && item->phase == NULL ? NULL : first_words(item->name);
    if (words == NULL && item->phase != NULL)
        words = strcmp(item->unit, "bytes") == 0 ? "memory peak" : "CPU";
    (void)snprintf(out, WORDS, "%s%.60s%s%.60s", item->phase != NULL ? "  " : "", of,
                   of[0] != '\0' ? " " : "", words != NULL ? words : item->name);
}

/* "12.3 s ±1.6 %": how much its runs vary, where there are several. */
static void session_words(const struct account_view *view, bool wide, const struct compared *item,
                          size_t at, char out[static WORDS])
{
    const struct statistics *values = &item->sessions[at].values;
    char mean[WORDS];
    if (values->count == 0) {
        (void)snprintf(out, WORDS, "N/A");
        return;
    }
    (void)words_value(view, item->name, item->unit, values->mean, mean);
    double deviation = statistics_deviation(values);
    (void)snprintf(out, WORDS, "%.100s", mean);
    if (wide && deviation > 0 && values->mean != 0)
        (void)snprintf(out, WORDS, "%.100s %s%.1f %%", mean, view->ascii ? "+-" : "\u00b1",
                       100 * deviation / fabs(values->mean));
}

static enum color verdict_words(const struct verdict *verdict, char out[static WORDS])
{
    char chance[64] = "";
    enum color color = COLOR_DIM;
    if (verdict->probability < 0.0001)
        (void)snprintf(chance, sizeof chance, " (p < 0.0001)");
    else if (!isnan(verdict->probability))
        (void)snprintf(chance, sizeof chance, " (p %.2g)", verdict->probability);
    out[0] = '\0';
    switch (verdict->kind) {
    case VITALS_VERDICT_FIRST: break;
    case VITALS_VERDICT_NONE: (void)snprintf(out, WORDS, "not in both"); break;
    case VITALS_VERDICT_SAME:
        (void)snprintf(out, WORDS,
                       verdict->probability < COMPARE_CHANCE ? "less than 1 %%%s"
                                                             : "within chance%s, above 0.01",
                       chance);
        break;
    case VITALS_VERDICT_LESS:
        color = COLOR_GREEN;
        (void)snprintf(out, WORDS, "less%s", chance);
        break;
    case VITALS_VERDICT_MORE:
        color = COLOR_YELLOW;
        (void)snprintf(out, WORDS, "more%s", chance);
        break;
    case VITALS_VERDICT_UNSURE: (void)snprintf(out, WORDS, "not known"); break;
    }
    if (verdict->change == 0 && verdict->kind != VITALS_VERDICT_FIRST)
        (void)snprintf(out, WORDS, "the same");
    if (verdict->unlike && verdict->kind != VITALS_VERDICT_NONE &&
        verdict->kind != VITALS_VERDICT_FIRST) {
        size_t used = strlen(out);
        (void)snprintf(out + used, WORDS - used, "; got in another way");
    }
    return color;
}

struct compare_print_table {
    struct paint *paint;
    const struct comparison *comparison;
    const struct account_view *view;
    size_t session; /* columns of each */
};

static void safe_name(const struct compare_print_table *table, const char *name,
                      char out[static NAME_MAX_BYTES])
{
    vitals_text_form form = table->view->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
    (void)vitals_text_format(vitals_text_of(name), form, out, NAME_MAX_BYTES);
}

/* `at` columns are used. */
static void put_verdict(const struct compare_print_table *table, size_t at,
                        const struct verdict *verdict)
{
    char change[WORDS] = "", words[WORDS];
    enum color color = verdict_words(verdict, words);
    double percent = verdict->kind == VITALS_VERDICT_NONE ? (double)NAN : verdict->change * 100;
    if (fabs(percent) < 0.05)
        (void)snprintf(change, sizeof change, "0 %%");
    else if (percent >= 1000)
        (void)snprintf(change, sizeof change, "x %.3g", 1 + verdict->change);
    else if (!isnan(percent))
        (void)snprintf(change, sizeof change, fabs(percent) < 10 ? "%+.1f %%" : "%+.0f %%",
                       percent);
    paint_cell(table->paint, color == COLOR_DIM ? COLOR_PLAIN : color, ALIGN_RIGHT, CHANGE_COLUMNS,
               change);
    paint_text(table->paint, COLOR_PLAIN, "  ");
    paint_paragraph(table->paint, color, at + CHANGE_COLUMNS + 2, table->view->width, words);
}

/* Two sessions stand side by side. */
static void put_pair(const struct compare_print_table *table, const struct compared *item)
{
    char words[WORDS];
    item_words(item, table->view->verbose, words);
    paint_text(table->paint, COLOR_PLAIN, "  ");
    if (paint_columns(words) > WHAT_COLUMNS) {
        paint_text(table->paint, COLOR_PLAIN, words);
        paint_end(table->paint);
        paint_repeat(table->paint, COLOR_PLAIN, " ", WHAT_COLUMNS + 2);
    } else {
        paint_cell(table->paint, COLOR_PLAIN, ALIGN_LEFT, WHAT_COLUMNS, words);
    }
    for (size_t i = 0; i < 2; i++) {
        session_words(table->view, table->session == SESSION_WIDE, item, i, words);
        paint_cell(table->paint, COLOR_PLAIN, ALIGN_RIGHT, table->session, words);
    }
    put_verdict(table, 2 + WHAT_COLUMNS + 2 * table->session, &item->sessions[1].verdict);
}

/* More stand below each other. */
static void put_list(const struct compare_print_table *table, const struct compared *item)
{
    char words[WORDS], name[NAME_MAX_BYTES];
    item_words(item, table->view->verbose, words);
    paint_text(table->paint, COLOR_PLAIN, "  ");
    paint_text(table->paint, COLOR_BOLD, words);
    paint_end(table->paint);
    for (size_t i = 0; i < table->comparison->session_count; i++) {
        safe_name(table, table->comparison->sessions[i].name, name);
        paint_text(table->paint, COLOR_PLAIN, "    ");
        paint_cell(table->paint, COLOR_PLAIN, ALIGN_LEFT, WHAT_COLUMNS - 2, name);
        session_words(table->view, table->session == SESSION_WIDE, item, i, words);
        paint_cell(table->paint, COLOR_PLAIN, ALIGN_RIGHT, table->session, words);
        put_verdict(table, 2 + WHAT_COLUMNS + table->session, &item->sessions[i].verdict);
    }
}

static void put_head(const struct compare_print_table *table)
{
    const struct comparison *comparison = table->comparison;
    char name[NAME_MAX_BYTES], words[WORDS];
    bool alone = false;
    for (size_t i = 0; i < comparison->session_count; i++)
        alone = alone || comparison->sessions[i].count < 2;
    if (comparison->session_count == 2) {
        paint_text(table->paint, COLOR_PLAIN, "  ");
        paint_repeat(table->paint, COLOR_PLAIN, " ", WHAT_COLUMNS);
        for (size_t i = 0; i < 2; i++) {
            safe_name(table, comparison->sessions[i].name, name);
            (void)snprintf(words, sizeof words, "%.200s", name);
            if (comparison->sessions[i].count > 1)
                (void)snprintf(words, sizeof words, "%.200s (%zu)", name,
                               comparison->sessions[i].count);
            paint_text(table->paint, COLOR_PLAIN, " ");
            paint_cell(table->paint, COLOR_BOLD, ALIGN_RIGHT, table->session - 1, words);
        }
        paint_end(table->paint);
    }
    if (alone) {
        paint_text(table->paint, COLOR_PLAIN, "  ");
        paint_paragraph(table->paint, COLOR_DIM, 2, table->view->width,
                        "One run does not show how much runs vary, so it is not known whether a "
                        "difference is more than chance. Give two files or more of each, with vs "
                        "between them.");
    }
}

int comparison_text(const struct comparison *comparison, const struct account_view *view,
                    vitals_write_fn *write, void *data)
{
    struct paint paint;
    const struct compare_print_table table = {&paint, comparison, view,
                                              view->width > 0 && view->width < WIDE ? SESSION_NARROW
                                                                                    : SESSION_WIDE};
    const char *phase = NULL;
    paint_init(&paint, view->color, write, data);
    put_head(&table);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct compared *item = &comparison->items[i];
        bool scope = strcmp(item->subject, "root") == 0 || strcmp(item->subject, "system") == 0 ||
                     strcmp(item->subject, "descendants") == 0;
        bool whole_gpu = item->subject[0] == '\0' && strncmp(item->name, "gpu_", 4) == 0 &&
                         strcmp(item->name, "gpu_energy_joules") != 0;
        if (!view->verbose && item->phase == NULL &&
            (first_words(item->name) == NULL || scope || whole_gpu))
            continue;
        if (item->phase != phase) {
            char name[NAME_MAX_BYTES];
            phase = item->phase;
            safe_name(&table, phase, name);
            paint_text(&paint, COLOR_PLAIN, "  ");
            paint_text(&paint, COLOR_BOLD, name);
            paint_end(&paint);
        }
        if (comparison->session_count == 2)
            put_pair(&table, item);
        else
            put_list(&table, item);
    }
    return paint_done(&paint);
}

/* ---- JSON ---- */

static const char *const VERDICTS[] = {
    [VITALS_VERDICT_FIRST] = "first",        [VITALS_VERDICT_SAME] = "no_difference",
    [VITALS_VERDICT_LESS] = "less",          [VITALS_VERDICT_MORE] = "more",
    [VITALS_VERDICT_UNSURE] = "cannot_tell", [VITALS_VERDICT_NONE] = "missing",
};

static void put_session(struct json_form *form, const struct comparison *comparison,
                        const struct compared *item, size_t at)
{
    const struct statistics *values = &item->sessions[at].values;
    const struct verdict *verdict = &item->sessions[at].verdict;
    bool known = values->count > 0;
    form_begin(form, '{');
    form_put_string(form, "session", comparison->sessions[at].name);
    form_put_count(form, "count", values->count);
    form_put_number(form, "mean", known ? values->mean : (double)NAN);
    form_put_number(form, "min", known ? values->min : (double)NAN);
    form_put_number(form, "max", known ? values->max : (double)NAN);
    form_put_number(form, "std", statistics_deviation(values));
    form_put_string(form, "availability",
                    known ? vitals_availability_name(item->sessions[at].state) : "not_requested");
    form_put_string(form, "verdict", VERDICTS[verdict->kind]);
    form_put_number(form, "change_ratio", verdict->change);
    form_put_number(form, "probability", verdict->probability);
    form_key(form, "counted_alike");
    form_bool(form, !verdict->unlike);
    form_end(form, '}');
}

int comparison_json(const struct comparison *comparison, vitals_write_fn *write, void *data)
{
    struct json_form form;
    json_form_init(&form, 0, write, data);
    form_begin(&form, '{');
    form_put_count(&form, "schema", VITALS_SCHEMA);
    form_put_string(&form, "vitals", vitals_version_text());
    form_begin_member(&form, "sessions", '[');
    for (size_t i = 0; i < comparison->session_count; i++) {
        form_begin(&form, '{');
        form_put_string(&form, "name", comparison->sessions[i].name);
        form_put_count(&form, "runs", comparison->sessions[i].count);
        form_end(&form, '}');
    }
    form_end(&form, ']');
    form_begin_member(&form, "figures", '[');
    for (size_t i = 0; i < comparison->count; i++) {
        const struct compared *item = &comparison->items[i];
        form_begin(&form, '{');
        if (item->phase != NULL)
            form_put_string(&form, "phase", item->phase);
        form_put_string(&form, "name", item->name);
        if (item->subject[0] != '\0')
            form_put_string(&form, "subject", item->subject);
        if (item->label[0] != '\0')
            form_put_string(&form, "label", item->label);
        form_put_string(&form, "unit", item->unit);
        form_begin_member(&form, "sessions", '[');
        for (size_t k = 0; k < comparison->session_count; k++)
            put_session(&form, comparison, item, k);
        form_end(&form, ']');
        form_end(&form, '}');
    }
    form_end(&form, ']');
    form_end(&form, '}');
    return form.failed != 0 ? form.failed : write(data, "\n", 1);
}

/* ---- gpu_tracker's ---- */

bool comparison_knows(const char *statistic)
{
    return strcmp(statistic, "mean") == 0 || strcmp(statistic, "min") == 0 ||
           strcmp(statistic, "max") == 0 || strcmp(statistic, "std") == 0;
}

struct compare_print_value {
    const char *session;
    size_t place; /* of the session among those that were named */
    double number;
};

static int by_number(const void *a, const void *b)
{
    const struct compare_print_value *left = a, *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return left->place < right->place ? -1 : 1;
}

/* A measure of the whole or of a phase, or the time of a phase. */
struct compare_print_wanted {
    const struct comparison *comparison;
    const struct account_view *view;
    const char *statistic;
    const struct phase *block; /* of the first session; NULL: the whole run */
    size_t measure;
    bool time;
};

/* The mean over its runs. */
static bool session_value(const struct compare_print_wanted *wanted, const struct session *session,
                          double *out)
{
    const struct phases *first = &wanted->comparison->sessions[0].phases[0];
    struct statistics over_runs = {0};
    for (size_t run = 0; run < session->count; run++) {
        struct statistics found = {0};
        const struct phase *phase = &session->phases[run].whole;
        if (wanted->block != NULL)
            phase = comparison_pair(first, wanted->block, &session->phases[run]);
        bool known = phase != NULL && wanted->time && phase->calls > 0;
        if (known)
            found = phase->seconds;
        else if (phase != NULL && !wanted->time)
            known = gpu_tracker_statistics(phase, recording_account(session->runs[run]),
                                           wanted->view, wanted->measure, &found);
        if (known)
            statistics_add(&over_runs, strcmp(wanted->statistic, "min") == 0   ? found.min
                                       : strcmp(wanted->statistic, "max") == 0 ? found.max
                                       : strcmp(wanted->statistic, "std") == 0
                                           ? statistics_gpu_tracker_std(&found)
                                           : found.mean);
    }
    *out = over_runs.mean;
    return over_runs.count > 0;
}

/* Sessions in the order of their values, those without one left out. */
static void put_values(struct json_form *form, const struct compare_print_wanted *wanted)
{
    size_t count = 0, sessions = wanted->comparison->session_count;
    struct compare_print_value *values = calloc(sessions, sizeof *values);
    if (values == NULL) {
        form->failed = -1;
        return;
    }
    for (size_t i = 0; i < sessions; i++) {
        const struct session *session = &wanted->comparison->sessions[i];
        values[count].session = session->name;
        values[count].place = i;
        count += session_value(wanted, session, &values[count].number);
    }
    qsort(values, count, sizeof *values, by_number);
    form_begin(form, '{');
    for (size_t i = 0; i < count; i++)
        form_put_number(form, values[i].session, values[i].number);
    form_end(form, '}');
    free(values);
}

static int by_phase_name(const void *a, const void *b)
{
    return strcmp((*(const struct phase *const *)a)->name, (*(const struct phase *const *)b)->name);
}

/* The key is the name of a block; where the sessions' differ by their line, all: "f.py:7 ->
 * f.py:9". */
static void put_blocks(struct json_form *form, struct compare_print_wanted *wanted,
                       const struct phase *const *blocks, size_t count)
{
    const struct comparison *comparison = wanted->comparison;
    const struct phases *first = &comparison->sessions[0].phases[0];
    form_begin(form, '{');
    for (size_t i = 0; i < count; i++) {
        char key[1024];
        size_t used = (size_t)snprintf(key, sizeof key, "%.400s", blocks[i]->name);
        for (size_t k = 1; k < comparison->session_count; k++) {
            const struct phase *pair = comparison_pair(first, blocks[i],
                                                       &comparison->sessions[k].phases[0]);
            bool other = pair != NULL && strstr(key, pair->name) == NULL;
            if (other && used + strlen(pair->name) + 8 < sizeof key)
                used += (size_t)snprintf(key + used, sizeof key - used, " -> %s", pair->name);
        }
        wanted->block = blocks[i];
        form_key(form, key);
        put_values(form, wanted);
    }
    form_end(form, '}');
}

int comparison_gpu_tracker(const struct comparison *comparison, const struct account_view *view,
                           const char *statistic, vitals_write_fn *write, void *data)
{
    const struct phases *first = &comparison->sessions[0].phases[0];
    struct compare_print_wanted wanted = {
        .comparison = comparison, .view = view, .statistic = statistic};
    const struct phase **blocks = calloc(first->count + 1, sizeof(void *));
    struct json_form form;
    if (blocks == NULL)
        return -1;
    for (size_t i = 0; i < first->count; i++)
        blocks[i] = &first->items[i];
    qsort(blocks, first->count, sizeof(void *), by_phase_name);
    json_form_init(&form, 1, write, data);
    form.floats = true;
    form_begin(&form, '{');
    form_begin_member(&form, "overall_resource_usage", '{');
    for (size_t i = 0; i < GPU_TRACKER_MEASURES; i++) {
        wanted.measure = i;
        form_key(&form, GPU_TRACKER_DATA_COLUMNS[i].name);
        put_values(&form, &wanted);
    }
    form_end(&form, '}');
    form_begin_member(&form, "code_block_resource_usage", '{');
    for (size_t i = 0; first->count > 0 && i < GPU_TRACKER_MEASURES; i++) {
        wanted.measure = i;
        form_key(&form, GPU_TRACKER_DATA_COLUMNS[i].name);
        put_blocks(&form, &wanted, blocks, first->count);
    }
    form_end(&form, '}');
    wanted.time = true;
    form_key(&form, "code_block_compute_time");
    put_blocks(&form, &wanted, blocks, first->count);
    form_end(&form, '}');
    free(blocks);
    return form.failed != 0 ? form.failed : write(data, "\n", 1);
}
