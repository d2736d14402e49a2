/* table.c: see table.h: builds, filters and sorts the rows. */
#include "fleet/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/rows.h"
#include "util/memory.h"
#include "view/cell_text.h"

const char *const fleet_by_names[] = {"gpu", "node", "user", "job", NULL};

/* Rows of one machine: its share of so many, within these bounds. One that sends more hurts no
 * other.
 */
enum { ROWS_MOST = 200000, HOST_ROWS_FEWEST = 256, HOST_ROWS_MOST = 4096 };

/* A device is free up to these shares of its memory and its time: drivers hold some for themselves.
 */
static const double FREE_MEMORY = 0.05, FREE_BUSY = 0.05;

/* ---- figures ---- */

static void add(struct fleet_figure *figure, const vitals_row *row, vitals_metric metric)
{
    double value;
    bool known = cell_value(row, metric, &value);
    figure->value += known ? value : 0;
    figure->known += known;
    figure->missing += !known;
}

static void add_most(struct fleet_figure *figure, double value)
{
    if (figure->known++ == 0 || value > figure->value)
        figure->value = value;
}

static struct fleet_row *add_row(struct fleet_table *table)
{
    if (MEMORY_GROW(table->rows, table->capacity, table->count) < 0)
        return NULL;
    struct fleet_row *row = &table->rows[table->count++];
    *row = (struct fleet_row){.host = NULL};
    return row;
}

/* Adds a word to a list, once. */
static void add_word(struct fleet_list *list, const char *word)
{
    char *words = list->words;
    size_t used = strlen(words), size = strlen(word);
    for (const char *at = words; size > 0 && (at = strstr(at, word)) != NULL; at += size) {
        if ((at == words || at[-1] == ' ') && (at[size] == '\0' || at[size] == ' '))
            return;
    }
    if (used + size + 2 >= FLEET_LIST)
        list->cut = true;
    else if (size > 0)
        (void)snprintf(words + used, FLEET_LIST - used, "%s%s", used > 0 ? " " : "", word);
}

/* ---- what is too much ---- */

static size_t host_rows_most(const struct fleet *fleet)
{
    size_t share = ROWS_MOST / (fleet->count > 0 ? fleet->count : 1);
    return share < HOST_ROWS_FEWEST ? HOST_ROWS_FEWEST
           : share > HOST_ROWS_MOST ? HOST_ROWS_MOST
                                    : share;
}

bool fleet_is_cut(const struct fleet *fleet, const struct fleet_host *host)
{
    size_t most = host_rows_most(fleet);
    return host->newest != NULL &&
           (vitals_snapshot_count(host->newest, VITALS_TABLE_GPU) > most ||
            vitals_snapshot_count(host->newest, VITALS_TABLE_GPU_PROCESS) > most);
}

/* ---- devices ---- */

/* A device that is divided is shown by its partitions. */
static bool is_divided(const vitals_snapshot *snapshot, const vitals_row *gpu)
{
    return vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU, vitals_row_key(gpu), NULL) !=
           NULL;
}

static bool computes(const vitals_row *user)
{
    char type[WORDS];
    return strcmp(cell_text(user, VITALS_GPU_PROCESS_TYPE, true, type, sizeof type), "G") != 0;
}

bool fleet_is_free(const vitals_row *gpu)
{
    const vitals_snapshot *snapshot = vitals_row_snapshot(gpu);
    double used, busy;
    if (vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS) <= 0)
        return false; /* it is not known which processes use it */
    EACH_CHILD(user, snapshot, VITALS_TABLE_GPU_PROCESS, vitals_row_key(gpu)) {
        if (computes(user))
            return false;
    }
    if (vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU_JOB, vitals_row_key(gpu), NULL) !=
        NULL)
        return false;
    if (cell_value(gpu, VITALS_GPU_UTILIZATION_RATIO, &busy) && busy > FREE_BUSY)
        return false;
    return cell_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES, &used) &&
           used <= FREE_MEMORY;
}

static void word_of(const vitals_row *row, vitals_metric metric, const char *missing,
                    char out[static FLEET_NAME])
{
    vitals_text text;
    if (row != NULL && vitals_row_text(row, metric, &text) > 0 && text.size > 0)
        (void)vitals_text_format(text, VITALS_TEXT_ASCII, out, FLEET_NAME);
    else
        (void)snprintf(out, FLEET_NAME, "%s", missing);
}

/* Adds a device to a row of its own, or of its machine. */
static void add_gpu(struct fleet_row *row, const struct fleet_host *host, const vitals_row *gpu)
{
    const vitals_snapshot *snapshot = vitals_row_snapshot(gpu);
    char word[FLEET_NAME];
    double seconds;
    row->gpus++;
    row->free += fleet_is_free(gpu);
    add(&row->busy, gpu, VITALS_GPU_UTILIZATION_RATIO);
    add(&row->used, gpu, VITALS_GPU_MEMORY_USED_BYTES);
    add(&row->total, gpu, VITALS_GPU_MEMORY_TOTAL_BYTES);
    if (idle_rows_find(&host->idle.devices, vitals_row_key(gpu),
                       vitals_snapshot_monotonic_ns(snapshot), &seconds))
        add_most(&row->idle, seconds);
    EACH_CHILD(user, snapshot, VITALS_TABLE_GPU_PROCESS, vitals_row_key(gpu)) {
        word_of(row_process(user), VITALS_PROCESS_USER, "?", word);
        add_word(&row->users, word);
        word_of(row_process(user), VITALS_PROCESS_WORKLOAD, "", word);
        add_word(&row->jobs, word);
    }
    EACH_CHILD(job, snapshot, VITALS_TABLE_GPU_JOB, vitals_row_key(gpu)) {
        word_of(job, VITALS_GPU_JOB_JOB_ID, "", word);
        add_word(&row->jobs, word);
    }
}

/* Power and temperature are of whole devices. */
static void add_body(struct fleet_row *row, const vitals_row *gpu)
{
    double celsius;
    add(&row->power, gpu, VITALS_GPU_POWER_WATTS);
    if (cell_value(gpu, VITALS_GPU_TEMPERATURE_CELSIUS, &celsius))
        add_most(&row->heat, celsius);
}

static bool add_machine(struct fleet_table *table, const struct fleet_host *host, size_t most)
{
    bool by_node = table->by == FLEET_BY_NODE;
    struct fleet_row *row = NULL;
    size_t shown = 0;
    if (by_node || host->newest == NULL ||
        vitals_snapshot_count(host->newest, VITALS_TABLE_GPU) == 0) {
        if ((row = add_row(table)) == NULL)
            return false;
        row->host = host;
        row->hosts = 1;
    }
    if (host->newest == NULL)
        return true;
    if (row != NULL)
        add(&row->load, vitals_snapshot_next(host->newest, VITALS_TABLE_HOST, NULL),
            VITALS_HOST_LOAD_1M);
    EACH_ROW(gpu, host->newest, VITALS_TABLE_GPU) {
        bool divided = is_divided(host->newest, gpu);
        if (by_node && vitals_row_parent(gpu) == 0)
            add_body(row, gpu);
        if (divided)
            continue;
        struct fleet_row *own = by_node ? row : add_row(table);
        if (own == NULL)
            return false;
        own->host = host;
        if (!by_node && shown++ == most) {
            own->cut = true;
            break;
        }
        add_gpu(own, host, gpu);
        if (!by_node) {
            own->gpu = gpu;
            own->hosts = 1;
            add_body(own, gpu);
        }
    }
    return true;
}

/* ---- users and jobs ---- */

/* What a process has of a device. */
struct device_share {
    const struct fleet_host *host;
    const vitals_row *user; /* of gpu_process */
    char name[FLEET_NAME], other[FLEET_NAME];
};

struct device_shares {
    struct device_share *items;
    size_t count, capacity;
};

static int by_name(const void *a, const void *b)
{
    const struct device_share *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = (x->host > y->host) - (x->host < y->host);
    uint64_t own = vitals_row_parent(x->user), other = vitals_row_parent(y->user);
    return order != 0 ? order : (own > other) - (own < other);
}

static bool gather(struct device_shares *shares, const struct fleet_host *host, bool by_user,
                   size_t most)
{
    EACH_ROW(user, host->newest, VITALS_TABLE_GPU_PROCESS) {
        const vitals_row *process = row_process(user);
        if (!computes(user))
            continue;
        if (most-- == 0)
            break;
        if (MEMORY_GROW(shares->items, shares->capacity, shares->count) < 0)
            return false;
        struct device_share *own = &shares->items[shares->count++];
        own->host = host;
        own->user = user;
        word_of(process, VITALS_PROCESS_USER, "?", by_user ? own->name : own->other);
        word_of(process, VITALS_PROCESS_WORKLOAD, by_user ? "" : "?",
                by_user ? own->other : own->name);
    }
    return true;
}

static bool aggregate(struct fleet_table *table, const struct fleet *fleet)
{
    struct device_shares shares = {.items = NULL};
    struct fleet_row *row = NULL;
    bool by_user = table->by == FLEET_BY_USER, done = true;
    for (size_t i = 0; i < fleet->count && done; i++)
        done = fleet->hosts[i].newest == NULL ||
               gather(&shares, &fleet->hosts[i], by_user, host_rows_most(fleet));
    if (shares.count > 1)
        qsort(shares.items, shares.count, sizeof *shares.items, by_name);
    for (size_t i = 0; i < shares.count && done; i++) {
        const struct device_share *own = &shares.items[i], *before = i > 0 ? own - 1 : NULL;
        bool next = before == NULL || strcmp(own->name, before->name) != 0;
        if (next && (row = add_row(table)) == NULL)
            done = false;
        if (!done)
            break;
        bool machine = next || own->host != before->host;
        double seconds;
        memcpy(by_user ? row->user : row->job, own->name, FLEET_NAME);
        add_word(by_user ? &row->jobs : &row->users, own->other);
        row->hosts += machine;
        row->gpus += machine || vitals_row_parent(own->user) != vitals_row_parent(before->user);
        add(&row->busy, own->user, VITALS_GPU_PROCESS_UTILIZATION_RATIO);
        add(&row->used, own->user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
        if (idle_rows_find(&own->host->idle.users, vitals_row_key(own->user),
                           vitals_snapshot_monotonic_ns(own->host->newest), &seconds))
            add_most(&row->idle, seconds);
    }
    memory_free(shares.items);
    return done;
}

/* ---- arranging ---- */

/* True if some cell of the row holds the word. */
static bool holds(const struct fleet_table *table, const struct fleet_row *row, const char *word)
{
    char text[FLEET_CELL];
    for (const struct fleet_column *column = fleet_columns; column->name != NULL; column++) {
        if (!(column->bys & 1u << table->by) || fleet_figure(column, row) != NULL)
            continue;
        fleet_cell(column, row, true, text);
        if (cell_hold(text, word))
            return true;
    }
    return false;
}

static bool passes(const struct fleet_table *table, const struct fleet_row *row, const char *words)
{
    while (words != NULL && *(words += strspn(words, " ")) != '\0') {
        char word[FLEET_NAME];
        bool turned = words[0] == '!' && words[1] != ' ' && words[1] != '\0';
        words += turned;
        size_t size = strcspn(words, " ");
        (void)snprintf(word, sizeof word, "%.*s", (int)size, words);
        if (holds(table, row, word) == turned)
            return false;
        words += size;
    }
    return true;
}

struct sorting {
    const struct fleet_column *column;
    bool reversed;
};
static struct sorting sorting; /* of the qsort that runs: qsort has no data of its own */

static int by_column(const void *a, const void *b)
{
    const struct fleet_row *x = a, *y = b;
    const struct fleet_figure *own = fleet_figure(sorting.column, x);
    const struct fleet_figure *other = fleet_figure(sorting.column, y);
    int order = 0;
    if (own != NULL) {
        if (own->known == 0 || other->known == 0) /* what is missing comes last, either way */
            order = (own->known == 0) - (other->known == 0);
        else if (fleet_value(sorting.column, x) != fleet_value(sorting.column, y))
            order = (fleet_value(sorting.column, x) < fleet_value(sorting.column, y)) ==
                            sorting.reversed
                        ? 1
                        : -1;
    } else {
        char one[FLEET_CELL], two[FLEET_CELL];
        fleet_cell(sorting.column, x, true, one);
        fleet_cell(sorting.column, y, true, two);
        order = sorting.reversed ? strverscmp(two, one) : strverscmp(one, two);
    }
    if (order != 0)
        return order;
    order = (x->host > y->host) - (x->host < y->host);
    return order != 0 ? order : (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

/* Says how old the figures of the rows of a machine are. */
static void add_age(struct fleet_row *row, const struct fleet *fleet)
{
    const struct fleet_host *host = row->host;
    if (host != NULL && host->newest != NULL)
        add_most(&row->age, fleet->now_ns > host->answered_ns
                                ? (double)(fleet->now_ns - host->answered_ns) / 1e9
                                : 0);
}

/* Counts the devices of a machine, and notes which are free. */
static void count_free(struct fleet_table *table, const struct fleet_host *host)
{
    size_t used = strlen(table->where);
    bool first = true;
    for (const vitals_row *gpu = NULL;
         (gpu = row_next(host->newest, VITALS_TABLE_GPU, gpu)) != NULL;) {
        if (is_divided(host->newest, gpu))
            continue;
        table->gpus++;
        if (!fleet_is_free(gpu))
            continue;
        table->free++;
        if (used + FLEET_NAME < sizeof table->where)
            used += (size_t)snprintf(table->where + used, sizeof table->where - used,
                                     "%s%.40s%s%.8s", first && used > 0 ? "  " : "",
                                     first ? host->place.name : "", first ? " " : ",",
                                     vitals_row_label(gpu));
        first = false;
    }
}

int fleet_table_build(struct fleet_table *table, const struct fleet *fleet,
                      const struct fleet_order *order)
{
    bool by_machine = order->by == FLEET_BY_GPU || order->by == FLEET_BY_NODE;
    bool done = true;
    table->by = order->by;
    table->count = table->gpus = table->free = 0;
    table->where[0] = '\0';
    for (size_t i = 0; i < fleet->count && done; i++) {
        count_free(table, &fleet->hosts[i]);
        done = !by_machine || add_machine(table, &fleet->hosts[i], host_rows_most(fleet));
    }
    if (!by_machine)
        done = aggregate(table, fleet);

    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        add_age(&table->rows[i], fleet);
        if (passes(table, &table->rows[i], order->filter))
            table->rows[kept++] = table->rows[i];
    }
    table->count = kept;
    bool most = order->sort == NULL && !by_machine;
    sorting.column = order->sort != NULL || most
                         ? fleet_column_find(most ? "used" : order->sort, order->by)
                         : NULL;
    sorting.reversed = order->reversed != most;
    if (sorting.column != NULL && kept > 1)
        qsort(table->rows, kept, sizeof *table->rows, by_column);
    return done ? 0 : VITALS_EMEMORY;
}

void fleet_table_done(struct fleet_table *table)
{
    memory_free(table->rows);
    *table = (struct fleet_table){.rows = NULL};
}
