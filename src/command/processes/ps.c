/* ps.c: `vitals ps`: processes as a table, as CSV or as JSON, once or again and again.
 *
 * Only the metrics are read that columns, filters and order need. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/grid.h"
#include "command/output.h"
#include "command/processes/ps_rows.h"
#include "feed/snapshot_filter.h"
#include "util/hash.h"

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
    struct buffer text;      /* a cell */
    vitals_builder *builder; /* of --json */
    size_t tables;           /* printed so far */
    bool complained;         /* of what was named and is not there */
};

/* JSON without -o is for programs: all metrics that are cheap to read. A single reading has one
 * cadence, so that a process's files are read together. */
static int make_request(const struct ps *ps, vitals_request **out, vitals_error *error)
{
    bool plain = ps->look->json && !ps->table->columns.given;
    bool once = !ps->sampling->interval_given;
    int code = vitals_request_new(plain ? VITALS_SET_PROCESSES : 0, out, error);
    if (code == 0)
        code = filter_request(&ps->filter, *out, error);
    for (size_t i = 0; i < ps->columns.count && code == 0; i++)
        code = ps_column_request(&ps->columns.items[i], *out, error);
    for (size_t i = 0; i < ps->order.count && code == 0; i++)
        code = ps_column_request(&ps->order.columns[i], *out, error);
    for (vitals_metric metric = 0;
         once && code == 0 &&
         (metric = vitals_metric_next_of(VITALS_TABLE_PROCESS, metric)) != 0;) {
        if (vitals_request_has(*out, metric))
            code = vitals_request_set_every(*out, metric, 0, error);
    }
    if (!once && code == 0)
        code = vitals_request_set_interval(*out, ps->sampling->interval_ns, error);
    return code;
}

static int print_table(struct ps *ps, const struct ps_view *view, const struct ps_rows *rows,
                       struct output *output)
{
    enum { TEXT_MOST = 40 };
    const struct ps_columns *columns = &ps->columns;
    struct grid_form form = {.width = (size_t)ps->look->line_width};
    size_t tree_column = columns->count - 1; // the command or the name, else the last one
    grid_reset(&ps->grid);
    for (size_t i = columns->count; i-- > 0;) {
        const struct ps_column *column = &columns->items[i];
        if (column->show == SHOW_COMMAND || column->metric == VITALS_PROCESS_NAME)
            tree_column = i;
    }
    for (size_t i = 0; i < columns->count; i++) {
        const struct ps_column *column = &columns->items[i];
        bool number = ps_column_is_number(column);
        grid_column(&ps->grid, column->title, number ? ALIGN_RIGHT : ALIGN_LEFT,
                    form.width > 0 && !number ? TEXT_MOST : 0);
        form.titles |= column->title[0] != '\0' && !ps->table->no_header; // as ps(1)
    }

    struct buffer whole = {0};
    for (size_t at = 0; at < rows->count; at++) {
        const struct ps_row *row = ps_rows_at(rows, at);
        for (size_t i = 0; i < columns->count; i++) {
            enum color color = COLOR_PLAIN;
            const char *text = ps_column_cell(&columns->items[i], view, row->process, &ps->text,
                                              &color);
            if (rows->shown != NULL && i == tree_column) {
                char branches[PS_BRANCHES];
                ps_rows_branches(rows, row, ps->look->ascii, branches);
                buffer_reset(&whole);
                buffer_string(&whole, branches);
                buffer_string(&whole, text);
                ps->grid.failed |= whole.failed;
                text = whole.failed ? "" : whole.bytes;
            }
            grid_cell(&ps->grid, color, text);
        }
    }
    buffer_done(&whole);
    ps->grid.failed |= ps->text.failed;

    return grid_print(&ps->grid, &form, ps->look->color, ps->tables > 0, output);
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
            if (ps->text.failed)
                return command_fail(EXIT_CANNOT, "out of memory");
            output_text(output, text);
            output_text(output, i + 1 < count ? "," : "\n");
        }
    }
    return EXIT_DONE;
}

/* The chosen processes, of which `data` has the keys, and of gpu_process only theirs. */
static bool is_kept(void *data, const vitals_row *row)
{
    uint64_t key = vitals_row_key(row);
    if (vitals_row_table(row) == VITALS_TABLE_GPU_PROCESS) {
        if (vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
            return false;
    } else if (vitals_row_table(row) != VITALS_TABLE_PROCESS) {
        return true;
    }
    return hash_find(data, key) != NULL;
}

static int print_json(struct ps *ps, const vitals_snapshot *now, const struct ps_rows *rows,
                      struct output *output)
{
    vitals_error error = {.message = "out of memory"};
    vitals_snapshot *chosen = NULL;
    struct hash kept = {0};
    const struct snapshot_changes changes = {.keep = is_kept, .data = &kept};
    int code = ps->builder == NULL ? vitals_builder_new(&ps->builder, &error) : 0;
    for (size_t i = 0; i < rows->count && code == 0; i++)
        code = hash_set(&kept, vitals_row_key(rows->items[i].process), 1);
    if (code == 0)
        code = snapshot_copy(now, &changes, ps->builder, &chosen, &error);
    code = code == 0 ? command_print_json(chosen, output)
                     : command_fail(EXIT_CANNOT, "%s", error.message);
    vitals_snapshot_unref(chosen);
    hash_done(&kept);
    return code;
}

static int print_one(struct ps *ps, const struct ps_view *view, struct output *output)
{
    struct ps_rows rows;
    int code = ps_rows_choose(&rows, &ps->filter, &ps->order, view, ps->settings->limit);
    if (code == 0 && ps->settings->tree)
        code = ps_rows_tree(&rows);
    if (code == 0 && ps->look->json)
        code = print_json(ps, view->now, &rows, output);
    else if (code == 0 && ps->table->csv)
        code = print_csv(ps, view, &rows, output);
    else if (code == 0 && (rows.count > 0 || !ps->look->terminal))
        code = print_table(ps, view, &rows, output);
    ps->tables++;
    (void)output_flush(output);

    /* Reports, for the first table, named processes that are missing, or that none was chosen. */
    if (code == 0 && !ps->complained) {
        ps->complained = true;
        bool all = ps->machine->from == NULL && !ps->filter.pids.given;
        if (all && vitals_snapshot_state(view->now, VITALS_TABLE_PROCESS) == VITALS_LOWER_BOUND)
            (void)command_fail(0, "there are more processes: /proc hides others' (hidepid); "
                                  "vitals doctor says more");
        code = filter_complain(&ps->filter, view->now);
        if (code == EXIT_DONE && rows.count == 0)
            code = filter_none(&ps->filter);
    }
    ps_rows_done(&rows);
    return code;
}

/* Prints the last snapshot of a file. The first table of a repetition stands after the first
 * interval: before it there is no share. The exit code is the first table's. */
static int print_feed(struct ps *ps, struct feed *feed, struct output *output)
{
    bool from_file = ps->machine->from != NULL, repeated = ps->sampling->interval_given;
    uint64_t left = ps->sampling->count > 0 && !from_file ? ps->sampling->count : UINT64_MAX;
    vitals_snapshot *older = NULL, *now = NULL;
    struct ps_view view = {
        .ascii = ps->look->ascii, .bytes = ps->table->bytes, .local = !from_file};
    vitals_error error;
    int code = EXIT_DONE, got = 0;
    while (left > 0 && output_open(output) && (got = feed->next(feed->data, &now, &error)) > 0) {
        if (!from_file && (older != NULL || !repeated || ps->look->json)) {
            view.now = now;
            view.older = repeated ? older : NULL;
            int result = print_one(ps, &view, output);
            if (ps->tables == 1)
                code = result;
            left = repeated ? left - 1 : 0;
        }
        vitals_snapshot_unref(older);
        older = now;
    }
    if (got < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    else if (from_file && older == NULL)
        code = command_fail(EXIT_CANNOT, "%s: no snapshot in it", command_safe(ps->machine->from));
    else if (from_file) {
        ps_columns_fall_back(&ps->columns, older);
        view.now = older;
        code = print_one(ps, &view, output);
    }
    vitals_snapshot_unref(older);
    return code;
}

int command_ps(const struct settings *settings)
{
    static struct ps ps; /* its columns are not for the stack */
    vitals_request *request = NULL;
    vitals_error error;
    struct feed feed = {0};
    const struct settings_words *given = &settings->arguments.words;
    struct ps_settings own = settings->ps; /* and what words of ps(1) add */
    const char **words_left = calloc(given->count + 1, sizeof *words_left);
    size_t left = 0;
    bool full = false;
    if (words_left == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");
    for (size_t i = 0; i < given->count; i++) {
        const char *word = given->items[i];
        enum ps_word kind = command_ps_word(settings->command, word);
        if (kind == PS_WORD_ALL) {
            full |= word[0] == '-' && strchr(word, 'f') != NULL;
            own.tree |= word[0] != '-' && strchr(word, 'f') != NULL;
        } else if (kind == PS_WORD_HABIT) {
            free(words_left);
            return command_fail(EXIT_USAGE, "%s: %s", command_safe(word), COMMAND_PS_HABIT);
        } else {
            words_left[left++] = word;
        }
    }
    if (own.tree && settings->look.json) {
        free(words_left);
        return command_fail(EXIT_USAGE, "--json cannot be used with a tree (--tree, axf)");
    }
    ps = (struct ps){.machine = &settings->machine,
                     .sampling = &settings->sampling,
                     .look = &settings->look,
                     .table = &settings->table,
                     .settings = &own};
    int code = filter_init(&ps.filter, &settings->choice, &settings->machine, words_left, left);
    free(words_left);
    const struct settings_words *words = &settings->table.columns;
    if (code == 0 && !words->given)
        ps_columns_default(&ps.columns, full);
    if (code == 0 && words->given && words->count == 0)
        code = command_fail(EXIT_USAGE, "-o needs the name of a column, as in: -o pid,rss,cmd");
    for (size_t i = 0; i < words->count && code == 0; i++) {
        if (ps.columns.count == PS_COLUMNS_MAX)
            code = command_fail(EXIT_USAGE, "-o: more than %d columns", PS_COLUMNS_MAX);
        else
            code = ps_column_find("-o", words->items[i], &ps.columns.items[ps.columns.count++]);
    }
    if (code == 0)
        code = ps_order_init(&ps.order, &settings->ps.sort);
    if (code == 0) {
        bool repeated = settings->sampling.interval_given;
        uint64_t interval_ns = repeated ? settings->sampling.interval_ns : FEED_ONCE;
        int cancel = repeated ? command_interrupts() : -1;
        int made = make_request(&ps, &request, &error);
        code = made < 0 ? command_fail(EXIT_CANNOT, "%s", error.message)
                        : command_feed(&settings->machine, request, interval_ns, cancel, &feed);
        vitals_request_free(request);
    }
    if (code == 0) {
        struct output *output = output_begin(STDOUT_FILENO);
        code = output_done(output, print_feed(&ps, &feed, output));
        feed_close(&feed);
    }
    filter_done(&ps.filter);
    grid_done(&ps.grid);
    buffer_done(&ps.text);
    vitals_builder_free(ps.builder);
    return code;
}
