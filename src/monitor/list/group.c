/* group.c: see group.h. */
#include "monitor/list/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ---- */

/* The columns that a group must know: those that are seen, those that it is sorted by. */
static size_t asked_columns(const struct model *model, unsigned out[static ARRANGED_COLUMNS])
{
    struct arranged_columns columns;
    bool asked[ARRANGED_COLUMNS] = {false};
    size_t count = 0;
    columns_of(&model->arranged, model->view, &columns);
    for (size_t i = 0; i < columns.count; i++)
        asked[columns.items[i].column] = true;
    if (model->sort > 0)
        asked[model->sort - 1] = true;
    for (size_t i = 1; i < model->arranged.sort_count; i++)
        asked[model->arranged.sorts[i].sort - 1] = true;
    asked[column_find("%cpu", 4)] = true;
    for (unsigned i = 0; i < list_column_count; i++) {
        if (asked[i] && list_columns[i].sum)
            out[count++] = i;
    }
    return count;
}

/* A process that is on no device has nothing of it, which is no gap. */
static void add_part(const struct model *model, const struct item *item, unsigned place,
                     struct group_part *part)
{
    const struct column *column = &list_columns[place];
    double value;
    if ((column->once && item->again) || (column->whole == WHOLE_DEVICES && item->user == NULL))
        return;
    if (!column_value(column, model, item, &value)) {
        part->unknown++;
        return;
    }
    part->sum += value;
    part->known++;
    part->unknown += column_is_least(column, item);
}

/* ---- making ---- */

static bool is_folded(const struct model *model, uint64_t id)
{
    bool found = false;
    for (size_t i = 0; i < model->folded_count && !found; i++)
        found = model->folded[i] == id;
    return found != model->all_folded;
}

static struct group *group_add(struct model *model, uint64_t id)
{
    struct list *list = &model->list;
    if (list->group_count == list->group_capacity) {
        size_t capacity = list->group_capacity > 0 ? list->group_capacity * 2 : 16;
        struct group *groups = realloc(list->groups, capacity * sizeof *groups);
        if (groups == NULL)
            return NULL;
        list->groups = groups;
        list->group_capacity = capacity;
    }
    struct group *group = &list->groups[list->group_count++];
    memset(group, 0, sizeof *group);
    group->id = id;
    group->folded = is_folded(model, id);
    return group;
}

/* Neighbors of a list often belong together: the group found last is looked at first. */
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
    struct group *group = group_add(model, id);
    if (group == NULL)
        return NULL;
    *last = list->group_count - 1;
    group->known = known;
    memcpy(group->name, name, sizeof name);
    return group;
}

/* "20 train" */
static void name_parents(struct model *model)
{
    char name[WORDS];
    for (size_t i = 0; i < model->list.group_count; i++) {
        struct group *group = &model->list.groups[i];
        struct identity parent = {.pid = strtoull(group->name, NULL, 10), .start = -1};
        const vitals_row *row = group->name[0] != '\0' ? model_process(model, &parent) : NULL;
        vitals_text text;
        if (row == NULL || vitals_row_text(row, VITALS_PROCESS_NAME, &text) <= 0 || text.size == 0)
            continue;
        (void)cell_text(row, VITALS_PROCESS_NAME, model->options->look.ascii, name, sizeof name);
        size_t used = strlen(group->name);
        (void)snprintf(group->name + used, sizeof group->name - used, " %s", name);
    }
}

static bool is_again(const struct item *items, size_t place)
{
    struct identity own = item_identity(&items[place]), other;
    if (place == 0 || items[place].process == NULL)
        return false;
    other = item_identity(&items[place - 1]);
    own.gpu = other.gpu = 0;
    return identity_equal(&own, &other);
}

int groups_make(struct model *model)
{
    struct list *list = &model->list;
    unsigned columns[ARRANGED_COLUMNS];
    size_t asked = asked_columns(model, columns), last = 0;
    list->group_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct item *item = &list->items[i];
        struct group *group = group_of(model, item, &last);
        if (group == NULL)
            return -1;
        item->again = is_again(list->items, i);
        group->count += !item->again;
        group->lines++;
        group->devices |= item_devices(item);
        for (size_t j = 0; j < asked; j++)
            add_part(model, item, columns[j], &group->parts[columns[j]]);
        item->order_of_group = (size_t)(group - list->groups);
    }
    /* Only now they stay where they are. */
    for (size_t i = 0; i < list->count; i++)
        list->items[i].group = &list->groups[list->items[i].order_of_group];
    if (model->arranged.group == GROUP_PARENT)
        name_parents(model);
    return 0;
}

/* ---- order ---- */

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
        struct item *more = realloc(list->spare, count * sizeof *more);
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

/* ---- members ---- */

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

/* ---- words ---- */

void group_title(const struct model *model, const struct group *group, char *out, size_t capacity)
{
    const char *word = group_word(model->arranged.group, true);
    bool named = group->known && group->name[0] != '\0';
    (void)snprintf(out, capacity, "%s%s%s", named ? word : "", named && word[0] != '\0' ? " " : "",
                   !group->known ? "not known"
                   : !named      ? group_word(model->arranged.group, false)
                                 : group->name);
}

void group_words(const struct model *model, const struct group *group, char *out, size_t capacity)
{
    char title[GROUP_NAME + WORDS];
    const char *mark = model->options->look.ascii ? (group->folded ? "+" : "-")
                                                  : (group->folded ? "▶" : "▼");
    group_title(model, group, title, sizeof title);
    (void)snprintf(out, capacity, "%s %s: %zu process%s", mark, title, group->count,
                   group->count == 1 ? "" : "es");
}

/* ---- opening and closing ---- */

void group_fold(struct model *model, uint64_t id, int open)
{
    bool folded = is_folded(model, id);
    if (open != 0 && folded == (open < 0))
        return;
    for (size_t i = 0; i < model->folded_count; i++) {
        if (model->folded[i] == id) {
            model->folded[i] = model->folded[--model->folded_count];
            return;
        }
    }
    if (model->folded_count == model->folded_capacity) {
        size_t capacity = model->folded_capacity > 0 ? model->folded_capacity * 2 : 16;
        uint64_t *all = realloc(model->folded, capacity * sizeof *all);
        if (all == NULL)
            return;
        model->folded = all;
        model->folded_capacity = capacity;
    }
    model->folded[model->folded_count++] = id;
}

void groups_fold_all(struct model *model)
{
    model->all_folded = !model->all_folded;
    model->folded_count = 0;
}
