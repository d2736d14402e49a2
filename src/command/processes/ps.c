/* ps.c: `vitals ps`: processes as a table, as CSV or as JSON, once or again and again.
 *
 * Only the metrics are read that columns, filters and order need. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/command.h"
#include "command/grid.h"
#include "command/look/snapshot_filter.h"
#include "command/output.h"
#include "command/processes/ps_rows.h"

struct ps {
    const struct machine_settings *machine;
    const struct sampling_settings *sampling;
    const struct look_settings *look;
    const struct table_settings *table;
    const struct ps_settings *settings;
    struct filter filter;
    struct ps_columns columns;
    struct ps_order order;
    struct grid grid;
    struct ps_text text;     /* a cell */
    vitals_builder *builder; /* of --json */
    size_t tables;           /* printed so far */
    bool complained;         /* of what was named and is not there */
};

/* --- What is wanted -----------------------------------------------------------------------------
 */

static int choose_columns(struct ps *ps)
{
    const struct settings_words *words = &ps->table->columns;
    if (!words->given)
        return ps_columns_default(&ps->columns);
    for (size_t i = 0; i < words->count; i++) {
        if (ps->columns.count == PS_COLUMNS_MAX)
            return command_fail(EXIT_USAGE, "-o: more than %d columns", PS_COLUMNS_MAX);
        if (ps_column_find("-o", words->items[i], &ps->columns.items[ps->columns.count++]) != 0)
            return EXIT_USAGE;
    }
    return words->count > 0 ? 0 : command_fail(EXIT_USAGE, "-o: no column is named");
}

/* What is read once has one cadence, so that a process's files are read in one go. */
static int one_cadence(vitals_request *request, vitals_error *error)
{
    int code = 0;
    for (vitals_metric metric = 0; code == 0 && (metric = vitals_metric_next(metric)) != 0;) {
        if (vitals_metric_entity(metric) == VITALS_PROCESS && vitals_request_has(request, metric))
            code = vitals_request_every(request, metric, 0, error);
    }
    return code;
}

/* JSON without -o is for programs: all that is cheap to read. */
static int make_request(const struct ps *ps, vitals_request **out, vitals_error *error)
{
    bool plain = ps->look->json && !ps->table->columns.given;
    int code = vitals_request_new(plain ? VITALS_PROCESSES : 0, out, error);
    if (code == 0)
        code = filter_request(&ps->filter, *out, error);
    if (code == 0) {
        vitals_request *request = *out;
        code = 0;
        for (size_t i = 0; i < ps->columns.count && code == 0; i++)
            code = ps_column_request(&ps->columns.items[i], request, error);
        for (size_t i = 0; i < ps->order.count && code == 0; i++)
            code = ps_column_request(&ps->order.columns[i], request, error);
    }
    return code == 0 && !ps->sampling->interval_given ? one_cadence(*out, error) : code;
}

/* --- Forms --------------------------------------------------------------------------------------
 */

static bool has_titles(const struct ps *ps)
{
    if (ps->table->no_header)
        return false;
    for (size_t i = 0; i < ps->columns.count; i++) {
        if (ps->columns.items[i].title[0] != '\0')
            return true;
    }
    return false; /* as ps(1): all were given an empty one */
}

/* Where the branches of the tree go: the command or the name, else the last column. */
static size_t tree_column(const struct ps *ps)
{
    for (size_t i = 0; i < ps->columns.count; i++) {
        const struct ps_column *column = &ps->columns.items[i];
        if (column->show == SHOW_COMMAND || column->metric == VITALS_PROCESS_NAME)
            return i;
    }
    return ps->columns.count - 1;
}

/* A cell with branches before it. */
static void branch_cell(struct ps *ps, const struct ps_rows *rows, const struct ps_row *row,
                        enum color color, const char *text)
{
    char branches[PS_BRANCHES];
    struct ps_text whole = {0};
    ps_rows_branches(rows, row, ps->look->ascii, branches);
    if (ps_text_format(&whole, "%s%s", branches, text))
        grid_cell(&ps->grid, color, whole.bytes);
    else
        ps->grid.failed = true;
    ps_text_done(&whole);
}

static void fill_row(struct ps *ps, const struct ps_view *view, const struct ps_rows *rows,
                     const struct ps_row *row)
{
    size_t branches = rows->shown != NULL ? tree_column(ps) : SIZE_MAX;
    for (size_t i = 0; i < ps->columns.count; i++) {
        enum color color = COLOR_PLAIN;
        const char *text = ps_column_cell(&ps->columns.items[i], view, row->process, &ps->text,
                                          &color);
        if (text == NULL)
            ps->grid.failed = true;
        else if (i == branches)
            branch_cell(ps, rows, row, color, text);
        else
            grid_cell(&ps->grid, color, text);
    }
}

static int print_table(struct ps *ps, const struct ps_view *view, const struct ps_rows *rows,
                       struct output *output)
{
    enum { TEXT_MOST = 40 };
    bool fits = ps->look->line_width > 0;
    const struct grid_form form = {.width = (size_t)ps->look->line_width, .titles = has_titles(ps)};
    struct paint paint;
    grid_reset(&ps->grid);
    for (size_t i = 0; i < ps->columns.count; i++) {
        const struct ps_column *column = &ps->columns.items[i];
        bool number = ps_column_is_number(column);
        grid_column(&ps->grid, column->title, number ? ALIGN_RIGHT : ALIGN_LEFT,
                    fits && !number ? TEXT_MOST : 0);
    }
    for (size_t i = 0; i < rows->count; i++)
        fill_row(ps, view, rows, ps_rows_at(rows, i));
    paint_init(&paint, ps->look->color, output_write, output);
    if (ps->tables > 0)
        paint_end(&paint);
    int code = grid_paint(&ps->grid, &form, &paint);
    (void)paint_done(&paint);
    return code == 0 ? EXIT_DONE : command_fail(EXIT_CANNOT, "out of memory");
}

static int print_csv(struct ps *ps, const struct ps_view *view, const struct ps_rows *rows,
                     struct output *output)
{
    size_t count = ps->columns.count;
    for (size_t i = 0; ps->tables == 0 && !ps->table->no_header && i < count; i++)
        output_format(output, "%s%s", ps->columns.items[i].key, i + 1 < count ? "," : "\n");
    for (size_t at = 0; at < rows->count; at++) {
        for (size_t i = 0; i < count; i++) {
            const char *text = ps_column_field(&ps->columns.items[i], view,
                                               ps_rows_at(rows, at)->process, &ps->text);
            if (text == NULL)
                return command_fail(EXIT_CANNOT, "out of memory");
            output_text(output, text);
            output_text(output, i + 1 < count ? "," : "\n");
        }
    }
    return EXIT_DONE;
}

static int compare_keys(const void *first, const void *second)
{
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

struct ps_kept {
    uint64_t *keys;
    size_t count;
};

static bool is_kept(void *data, const vitals_row *process)
{
    const struct ps_kept *kept = data;
    uint64_t key = vitals_row_key(process);
    return bsearch(&key, kept->keys, kept->count, sizeof key, compare_keys) != NULL;
}

/* --- Once, or again and again -------------------------------------------------------------------
 */

/* Of the first table: what was named and is not there; or at least that nothing is. */
static int complain(struct ps *ps, const vitals_snapshot *snapshot, size_t count)
{
    ps->complained = true;
    int code = filter_complain(&ps->filter, snapshot);
    return code == EXIT_DONE && count == 0 ? command_fail(EXIT_CANNOT, "no process was chosen")
                                           : code;
}

static int print_one(struct ps *ps, const struct ps_view *view, struct output *output)
{
    struct ps_rows rows;
    int code = ps_rows_choose(&rows, &ps->filter, &ps->order, view, ps->settings->limit);
    if (code == 0 && ps->settings->tree)
        code = ps_rows_tree(&rows);
    if (code == 0 && ps->look->json) {
        vitals_error error;
        vitals_snapshot *chosen = NULL;
        struct ps_kept kept = {calloc(rows.count + 1, sizeof *kept.keys), rows.count};
        code = VITALS_EMEMORY;
        snprintf(error.message, sizeof error.message, "out of memory");
        if (kept.keys != NULL &&
            (ps->builder != NULL || vitals_builder_new(&ps->builder, &error) == 0)) {
            for (size_t i = 0; i < rows.count; i++)
                kept.keys[i] = vitals_row_key(rows.items[i].process);
            qsort(kept.keys, kept.count, sizeof *kept.keys, compare_keys);
            code = snapshot_filter_processes(view->now, is_kept, &kept, ps->builder, &chosen,
                                             &error);
        }
        if (code == 0)
            code = vitals_snapshot_json(chosen, output_write, output, &error);
        if (code == 0)
            output_text(output, "\n");
        vitals_snapshot_unref(chosen);
        free(kept.keys);
        code = code == 0 || !output_open(output) ? EXIT_DONE
                                                 : command_fail(EXIT_CANNOT, "%s", error.message);
    } else if (code == 0 && ps->table->csv)
        code = print_csv(ps, view, &rows, output);
    else if (code == 0 && (rows.count > 0 || !ps->look->terminal))
        code = print_table(ps, view, &rows, output);
    ps->tables++;
    (void)output_flush(output);
    if (code == 0 && !ps->complained)
        code = complain(ps, view->now, rows.count);
    ps_rows_done(&rows);
    return code;
}

/* Of a file, its last snapshot. */
static int print_last(struct ps *ps, struct feed *feed, struct output *output)
{
    vitals_snapshot *last = NULL, *now = NULL;
    vitals_error error;
    int got;
    while ((got = feed->next(feed->data, &now, &error)) > 0) {
        vitals_snapshot_unref(last);
        last = now;
    }
    struct ps_view view = {last, NULL, ps->look->ascii, ps->table->bytes, false};
    int code = EXIT_CANNOT;
    if (last != NULL)
        ps_columns_fall_back(&ps->columns, last);
    if (got < 0)
        code = command_fail(code, "%s", error.message);
    else if (last == NULL)
        code = command_fail(code, "%s: no snapshot in it", command_safe(ps->machine->from));
    else
        code = print_one(ps, &view, output);
    vitals_snapshot_unref(last);
    return code;
}

/* The first table of a repetition stands after the first interval: before it there is no share. The
 * exit code is the first table's. */
static int print_feed(struct ps *ps, struct feed *feed, struct output *output)
{
    uint64_t left = ps->sampling->count > 0 ? ps->sampling->count : UINT64_MAX;
    vitals_snapshot *older = NULL, *now = NULL;
    vitals_error error;
    int code = EXIT_DONE, got = 0;
    if (ps->machine->from != NULL)
        return print_last(ps, feed, output);
    while (left > 0 && output_open(output) && (got = feed->next(feed->data, &now, &error)) > 0) {
        struct ps_view view = {now, ps->sampling->interval_given ? older : NULL, ps->look->ascii,
                               ps->table->bytes, true};
        if (older != NULL || !ps->sampling->interval_given || ps->look->json) {
            int result = print_one(ps, &view, output);
            if (ps->tables == 1)
                code = result != EXIT_DONE ? result : code;
            left = ps->sampling->interval_given ? left - 1 : 0;
        }
        vitals_snapshot_unref(older);
        older = now;
    }
    vitals_snapshot_unref(older);
    return got < 0 ? command_fail(EXIT_CANNOT, "%s", error.message) : code;
}

static int show(struct ps *ps)
{
    static struct output output; /* 32 KiB, not for the stack */
    vitals_request *request = NULL;
    vitals_error error;
    struct feed feed = {0};
    int cancel = ps->sampling->interval_given ? command_interrupts() : -1;
    int code = make_request(ps, &request, &error);
    if (code == 0 && ps->sampling->interval_given)
        code = vitals_request_interval(request, ps->sampling->interval_ns, &error);
    if (code < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    else
        code = command_feed(ps->machine, request,
                            ps->sampling->interval_given ? ps->sampling->interval_ns : 0, cancel,
                            &feed);
    vitals_request_free(request);
    if (code != 0)
        return code;
    output_init(&output, STDOUT_FILENO);
    code = print_feed(ps, &feed, &output);
    feed_close(&feed);
    return output_done(&output, code);
}

int command_ps(const struct settings *settings)
{
    static struct ps ps; /* its columns are not for the stack */
    for (size_t i = 0; i < settings->arguments.words.count; i++) {
        if (command_is_ps_habit(settings->command, settings->arguments.words.items[i]))
            return command_fail(EXIT_USAGE, "%s: %s",
                                command_safe(settings->arguments.words.items[i]), COMMAND_PS_HABIT);
    }
    ps = (struct ps){.machine = &settings->machine,
                     .sampling = &settings->sampling,
                     .look = &settings->look,
                     .table = &settings->table,
                     .settings = &settings->ps};
    int code = filter_init(&ps.filter, &settings->choice, &settings->machine,
                           settings->arguments.words.items, settings->arguments.words.count);
    if (code == 0)
        code = choose_columns(&ps);
    if (code == 0)
        code = ps_order_init(&ps.order, &settings->ps.sort);
    if (code == 0)
        code = show(&ps);
    filter_done(&ps.filter);
    grid_done(&ps.grid);
    ps_text_done(&ps.text);
    vitals_builder_free(ps.builder);
    return code;
}
