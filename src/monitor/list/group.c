/* group.c: see group.h. */
#include "monitor/list/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

static bool is_folded(const struct model *model, uint64_t id)
{
    bool found = false;
    for (size_t i = 0; i < model->folded_count && !found; i++)
        found = model->folded[i] == id;
    return found != model->all_folded;
}

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
    void *groups = list->groups;
    if (memory_grow(&groups, &list->group_capacity, list->group_count, sizeof *list->groups) < 0)
        return NULL;
    list->groups = groups;
    *last = list->group_count++;
    struct group *group = &list->groups[*last];
    memset(group, 0, sizeof *group);
    group->id = id;
    group->folded = is_folded(model, id);
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
        if (row == NULL || vitals_row_text(row, VITALS_PROCESS_NAME, &text) <= 0 || text.size == 0)
            continue;
        (void)cell_text(row, VITALS_PROCESS_NAME, model->options->look.ascii, name, sizeof name);
        size_t used = strlen(group->name);
        (void)snprintf(group->name + used, sizeof group->name - used, " %s", name);
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
    void *all = model->folded;
    if (memory_grow(&all, &model->folded_capacity, model->folded_count, sizeof id) < 0)
        return;
    model->folded = all;
    model->folded[model->folded_count++] = id;
}

void groups_fold_all(struct model *model)
{
    model->all_folded = !model->all_folded;
    model->folded_count = 0;
}
