/* group.c: see group.h. */
#include "monitor/list/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* ---- what a process belongs to, in words ---- */

const char *const group_names[] = {"none", "user", "container", "job", "service", "parent", NULL};
const char group_letters[] = "nucjsp";
const char *const panel_names[] = {"devices", "host", "graphs", NULL};
const char *const traffic_names[] = {"auto", "always", "never", NULL};
const char *const second_names[] = {"memory", "power", "temperature", NULL};
const char *const span_names[] = {"6s", "20s", "60s", "2s", NULL}; /* as chart_seconds */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    for (const unsigned char *at = bytes; size > 0; at++, size--)
        hash = (hash ^ *at) * 0x100000001b3u;
    return hash;
}

/* The name of a line's group, and a hash of everything that it is made of, however long. */
struct naming {
    const struct model *model;
    const vitals_row *row;
    uint64_t hash;
};

/* 1: something is there; 0: nothing, which is known; -1: not known. */
static int take(struct naming *naming, vitals_metric metric, char *out, size_t capacity)
{
    bool ascii = naming->model->options->look.ascii;
    vitals_text text;
    out[0] = '\0';
    if (vitals_row_text(naming->row, metric, &text) <= 0)
        return -1;
    (void)vitals_text_format(text, ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out, capacity);
    if (text.size == 0)
        return 0;
    naming->hash = mix(naming->hash, &metric, sizeof metric);
    naming->hash = mix(naming->hash, text.bytes, text.size);
    return 1;
}

// clang-format off
#define P(suffix) VITALS_PROCESS_##suffix
static const struct {
    const char *word;       /* before the name */
    const char *nowhere;    /* of processes that belong to none */
    vitals_metric needs[5]; /* ends with 0 */
} KINDS[GROUP_KINDS] = {
    [GROUP_NONE] = {"", "", {0}},
    [GROUP_USER] = {"user", "no user", {0}},
    [GROUP_CONTAINER] = {"container", "in no container", {P(CONTAINER), P(CONTAINER_NAME)}},
    [GROUP_JOB] = {"", "in no job", {P(SLURM_JOB), P(POD), P(POD_NAME), P(POD_NAMESPACE)}},
    [GROUP_SERVICE] = {"service", "of no service", {P(UNIT)}},
    [GROUP_PARENT] = {"parent", "without parent", {0}},
};
// clang-format on

const vitals_metric *group_needs(enum group_by by)
{
    return KINDS[by].needs;
}

/* As `take` of what the group is called. */
static int name_of(struct naming *naming, enum group_by by, char *out, size_t capacity)
{
    enum { ID_SHOWN = 12 };
    char name[GROUP_NAME / 2], place[GROUP_NAME / 4]; /* together they fit */
    uint64_t number;
    int got, pod;
    switch (by) {
    case GROUP_USER: return take(naming, P(USER), out, capacity);
    case GROUP_SERVICE: return take(naming, P(UNIT), out, capacity);
    case GROUP_CONTAINER: /* by its name where the node knows it; else by the start of its id */
        if (take(naming, P(CONTAINER_NAME), out, capacity) > 0)
            return 1;
        got = take(naming, P(CONTAINER), out, capacity);
        if (got > 0 && strspn(out, "0123456789abcdef") > ID_SHOWN)
            out[ID_SHOWN] = '\0';
        return got;
    case GROUP_JOB:
        got = take(naming, P(SLURM_JOB), name, sizeof name);
        if (got > 0) {
            (void)snprintf(out, capacity, "job %s", name);
            return 1;
        }
        if (take(naming, P(POD_NAME), name, sizeof name) > 0) {
            bool known = take(naming, P(POD_NAMESPACE), place, sizeof place) > 0;
            (void)snprintf(out, capacity, "%s%s%s", known ? place : "", known ? "/" : "", name);
            return 1;
        }
        pod = take(naming, P(POD), name, sizeof name);
        (void)snprintf(out, capacity, "%s%s", pod > 0 ? "pod " : "", name);
        return pod > 0 ? 1 : got < 0 && pod < 0 ? -1 : 0;
    case GROUP_PARENT: /* the pid; group.c adds the name once for each group */
        if (vitals_row_u64(naming->row, P(PARENT_PID), &number) <= 0)
            return -1;
        if (number == 0)
            return 0;
        naming->hash = mix(naming->hash, &number, sizeof number);
        (void)snprintf(out, capacity, "%llu", (unsigned long long)number);
        return 1;
    case GROUP_NONE:
    case GROUP_KINDS: break;
    }
    return -1;
}

/* The text of group_text, and an id that is never 0: a hash of the group's whole name, however
 * long. */
static bool group_identify(const struct model *model, enum group_by by, const struct item *item,
                           char *out, size_t capacity, uint64_t *id)
{
    struct naming naming = {model, item_row(item), 0xcbf29ce484222325u};
    out[0] = '\0';
    bool known = name_of(&naming, by, out, capacity) >= 0;
    *id = known ? naming.hash | 1u : 2u;
    return known;
}

bool group_text(const struct model *model, enum group_by by, const struct item *item, char *out,
                size_t capacity)
{
    uint64_t id;
    return group_identify(model, by, item, out, capacity, &id);
}

/* ---- groups ---- */

/* The group of a line, perhaps a new one; NULL: out of memory. Neighbors of a list often belong
 * together: the group found last is looked at first. */
static struct group *group_of(struct model *model, const struct item *item, size_t *last)
{
    char name[GROUP_NAME];
    struct list *list = &model->list;
    uint64_t id;
    bool known = group_identify(model, model->arranged.group, item, name, sizeof name, &id);
    for (size_t i = 0; i < list->group_count; i++) {
        size_t place = (*last + i) % list->group_count;
        if (list->groups[place].id == id) {
            *last = place;
            return &list->groups[place];
        }
    }
    if (MEMORY_GROW(list->groups, list->group_capacity, list->group_count) < 0)
        return NULL;
    *last = list->group_count++;
    struct group *group = &list->groups[*last];
    memset(group, 0, sizeof *group);
    group->id = id;
    group->folded = folds_closed(&model->folds, id);
    group->known = known;
    memcpy(group->name, name, sizeof name);
    return group;
}

int groups_make(struct model *model)
{
    struct list *list = &model->list;
    const struct arrangement *arranged = &model->arranged;
    size_t last = 0;
    list->group_count = 0;

    /* The columns that a group must know: those that are seen, those that it is sorted by. */
    struct arranged_columns columns;
    bool asked[ARRANGED_COLUMNS] = {false};
    columns_of(arranged, model->view, &columns);
    for (size_t i = 0; i < columns.count; i++)
        asked[columns.items[i].column] = true;
    if (model->sort > 0)
        asked[model->sort - 1] = true;
    for (size_t i = 1; i < arranged->sort_count; i++)
        asked[arranged->sorts[i].sort - 1] = true;
    asked[column_find("%cpu", 4)] = true;

    for (size_t i = 0; i < list->count; i++) {
        struct item *item = &list->items[i];
        struct group *group = group_of(model, item, &last);
        if (group == NULL)
            return -1;
        item->again = i > 0 && item->process != NULL &&
                      identity_same_process(item_identity(item), item_identity(item - 1));
        group->count += !item->again;
        group->lines++;
        group->devices |= item_devices(item);
        for (size_t j = 0; j < list_column_count; j++) {
            const struct column *column = &list_columns[j];
            struct group_part *part = &group->parts[j];
            double value;
            /* A process that is on no device has nothing of it, which is no gap. */
            if (!asked[j] || !column->sum || (column->once && item->again) ||
                (column->whole == WHOLE_DEVICES && item->user == NULL))
                continue;
            bool known = column_value(column, model, item, &value);
            part->sum += known ? value : 0;
            part->known += known;
            part->unknown += !known || column_is_least(column, item);
        }
        item->order_of_group = (size_t)(group - list->groups);
    }
    /* Only now they stay where they are. */
    for (size_t i = 0; i < list->count; i++)
        list->items[i].group = &list->groups[list->items[i].order_of_group];

    /* "20 train" */
    for (size_t i = 0; arranged->group == GROUP_PARENT && i < list->group_count; i++) {
        struct group *group = &list->groups[i];
        struct identity parent = {.pid = strtoull(group->name, NULL, 10), .start = -1};
        const vitals_row *row = group->name[0] != '\0' ? model_process(model, &parent) : NULL;
        char name[WORDS];
        vitals_text text;
        if (vitals_row_text(row, VITALS_PROCESS_NAME, &text) <= 0 || text.size == 0)
            continue;
        (void)cell_text(row, VITALS_PROCESS_NAME, model->options->look.ascii, name, sizeof name);
        cell_add(group->name, sizeof group->name, " %s", name);
    }
    return 0;
}

static int compare_part(const struct group *a, const struct group *b, const struct column *column,
                        bool reversed)
{
    double x = 0, y = 0;
    bool known = group_sum(a, column, &x) >= SUM_LEAST;
    bool other = group_sum(b, column, &y) >= SUM_LEAST;
    if (known != other)
        return known ? -1 : 1;
    int order = x < y ? -1 : x > y;
    return column->falling != reversed ? -order : order;
}

/* A sort by what is no sum leaves groups by name; all processes come by CPU. */
int groups_compare(const struct model *model, const struct group *a, const struct group *b)
{
    if (a == b)
        return 0;
    if (a->known != b->known)
        return a->known ? -1 : 1;
    if ((a->name[0] != '\0') != (b->name[0] != '\0'))
        return a->name[0] != '\0' ? -1 : 1;
    static const struct column *cpu;
    const struct column *column = columns_sorted(model->sort);
    if (cpu == NULL)
        cpu = &list_columns[column_find("%cpu", 4)];
    if (column == NULL && model->view == VIEW_ALL)
        column = cpu;
    int order = column != NULL && column->sum ? compare_part(a, b, column, model->reversed) : 0;
    for (size_t i = 1; i < model->arranged.sort_count && order == 0; i++) {
        const struct arranged_sort *sort = &model->arranged.sorts[i];
        if (columns_sorted(sort->sort)->sum)
            order = compare_part(a, b, columns_sorted(sort->sort), sort->reversed);
    }
    if (order != 0)
        return order;
    order = strcmp(a->name, b->name);
    if (order == 0)
        order = a->id < b->id ? -1 : 1;
    return model->reversed && column == NULL ? -order : order;
}

int groups_insert(struct model *model)
{
    struct list *list = &model->list;
    size_t count = list->group_count;
    for (size_t i = 0; i < list->group_count; i++)
        count += list->groups[i].folded ? 0 : list->groups[i].lines;
    if (count > list->spare_capacity) {
        struct item *more = memory_resize(list->spare, count, sizeof *more);
        if (more == NULL) {
            list->group_count = 0; /* nothing stands in the spare room */
            return -1;
        }
        list->spare = more;
        list->spare_capacity = count;
    }
    struct item *items = list->spare;
    size_t used = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct group *group = list->items[i].group;
        if (i == 0 || list->items[i - 1].group != group)
            items[used++] = (struct item){.group = group, .head = true};
        if (!group->folded)
            items[used++] = list->items[i];
    }
    list->spare = list->items;
    list->items = items;
    list->count = used;
    size_t capacity = list->capacity;
    list->capacity = list->spare_capacity;
    list->spare_capacity = capacity;
    return 0;
}

const struct group *group_find(const struct model *model, uint64_t id)
{
    bool any = model->arranged.group != GROUP_NONE;
    for (size_t i = 0; any && i < model->list.group_count; i++) {
        if (model->list.groups[i].id == id)
            return &model->list.groups[i];
    }
    return NULL;
}

/* The list as it was before groups were inserted still stands in the spare room. */
size_t group_members(const struct model *model, const struct group *group, struct identity *out,
                     size_t most)
{
    size_t lines = 0, count = 0;
    for (size_t i = 0; i < model->list.group_count; i++)
        lines += model->list.groups[i].lines;
    for (size_t i = 0; i < lines; i++) {
        const struct item *item = &model->list.spare[i];
        if (item->group != group || item->again)
            continue;
        if (count < most) {
            out[count] = item_identity(item);
            out[count].gpu = 0;
        }
        count++;
    }
    return count;
}

size_t group_total(const struct model *model, const struct group *group)
{
    const vitals_snapshot *all = model->same ? model->machine.now : model->all.now;
    char name[GROUP_NAME];
    size_t count = 0;
    uint64_t id;
    for (const vitals_row *row = NULL; (row = row_next(all, VITALS_TABLE_PROCESS, row)) != NULL;) {
        (void)group_identify(model, model->arranged.group, &(struct item){.process = row}, name,
                             sizeof name, &id);
        count += id == group->id;
    }
    return count > group->count || all == NULL ? count : group->count;
}

void group_title(const struct model *model, const struct group *group, char *out, size_t capacity)
{
    enum group_by by = model->arranged.group;
    const char *word = KINDS[by].word;
    bool named = group->known && group->name[0] != '\0';
    (void)snprintf(out, capacity, "%s%s%s", named ? word : "", named && word[0] != '\0' ? " " : "",
                   !group->known ? "not known"
                   : !named      ? KINDS[by].nowhere
                                 : group->name);
}

void group_words(const struct model *model, const struct group *group, int columns, char *out,
                 size_t capacity)
{
    enum { MARK = 2 };
    char title[GROUP_NAME + WORDS], count[WORDS];
    const char *mark = model->options->look.ascii ? (group->folded ? "+" : "-")
                                                  : (group->folded ? "▶" : "▼");
    group_title(model, group, title, sizeof title);
    (void)snprintf(out, capacity, "%s %s: %zu process%s", mark, title, group->count,
                   group->count == 1 ? "" : "es");
    if (columns <= 0 || canvas_columns(out) <= columns)
        return;
    int wide = snprintf(count, sizeof count, " (%zu)", group->count);
    cell_cut(title, columns - MARK - wide > 1 ? columns - MARK - wide : 1, "+");
    (void)snprintf(out, capacity, "%s %s%s", mark, title, count);
}

/* ---- folds ---- */

bool folds_closed(const struct folds *folds, uint64_t id)
{
    bool found = false;
    for (size_t i = 0; i < folds->count && !found; i++)
        found = folds->ids[i] == id;
    return found != folds->all;
}

void folds_turn(struct folds *folds, uint64_t id, int open)
{
    if (open != 0 && folds_closed(folds, id) == (open < 0))
        return;
    for (size_t i = 0; i < folds->count; i++) {
        if (folds->ids[i] == id) {
            folds->ids[i] = folds->ids[--folds->count];
            return;
        }
    }
    if (MEMORY_GROW(folds->ids, folds->capacity, folds->count) < 0)
        return;
    folds->ids[folds->count++] = id;
}

void folds_turn_all(struct folds *folds)
{
    folds->all = !folds->all;
    folds->count = 0;
}
