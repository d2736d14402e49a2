/* list.c: the lines of the list of processes: which and in which order; the selection and the tags.
 *
 * What is missing stands last in every order, turned round or not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/list/group.h"
#include "monitor/list/match.h"

/* ---- which ---- */

bool model_matches(const struct model *model, const struct item *item, const char *words)
{
    struct match match;
    match_parse(words, &match);
    return match_item(&match, model, item);
}

static bool passes(const struct model *model, const struct item *item)
{
    const struct selection *selection = &model->options->selection;
    return selection_has_user(selection, item->process) &&
           selection_has_pid(selection, item_identity(item).pid);
}

static int add(struct list *list, const struct item *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? list->capacity * 2 : 64;
        struct item *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL)
            return -1;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count] = *item;
    list->items[list->count++].pid = item_identity(item).pid;
    return 0;
}

static int add_users(struct model *model, const vitals_row *gpu, size_t order, uint64_t bit)
{
    const vitals_snapshot *now = model->machine.now;
    for (const vitals_row *user = NULL;
         (user = vitals_snapshot_next_child(now, VITALS_GPU_PROCESS, vitals_row_key(gpu), user)) !=
         NULL;) {
        struct item item = {.process = item_process_of(now, user),
                            .user = user,
                            .gpu = gpu,
                            .order = order,
                            .use = {.devices = bit}};
        if (selection_has_type(&model->options->selection, user) && passes(model, &item) &&
            add(&model->list, &item) < 0)
            return -1;
    }
    return 0;
}

static int list_devices(struct model *model)
{
    size_t order = 0;
    uint64_t bit = 1;
    for (const vitals_row *gpu = NULL;
         model->machine.now != NULL &&
         (gpu = vitals_snapshot_next(model->machine.now, VITALS_GPU, gpu)) != NULL;
         bit <<= 1) {
        if (model_shows_device(model, gpu) && add_users(model, gpu, order++, bit) < 0)
            return -1;
    }
    return 0;
}

static int list_all(struct model *model)
{
    const vitals_snapshot *now = model->same ? model->machine.now : model->all.now;
    for (const vitals_row *row = NULL;
         now != NULL && (row = vitals_snapshot_next(now, VITALS_PROCESS, row)) != NULL;) {
        struct item item = {.process = row};
        if (passes(model, &item) && add(&model->list, &item) < 0)
            return -1;
    }
    return 0;
}

static int by_pid(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The first line of a pid in a list that stands by pid, or NULL. */
static struct item *find_pid(const struct list *list, const struct item *wanted)
{
    struct item *found = bsearch(wanted, list->items, list->count, sizeof *list->items, by_pid);
    while (found != NULL && found > list->items && by_pid(found - 1, found) == 0)
        found--;
    return found;
}

/* The device on which a process has the most memory stands for all of its devices. */
static void add_use(struct item *item, const vitals_row *user, uint64_t bit)
{
    double own, theirs;
    bool known = cell_value(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &own);
    vitals_availability quality = vitals_row_availability(user,
                                                          VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    bool more = item->user == NULL ||
                !cell_value(item->user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &theirs) ||
                (known && own > theirs);
    if (more)
        item->user = user;
    item->use.devices |= bit;
    item->use.bytes += known ? own : 0;
    item->use.known += known;
    item->use.unknown += !known || quality == VITALS_LOWER_BOUND || quality == VITALS_STALE;
}

/* Adds what devices report of the processes in the list of all. */
static void join_users(struct model *model)
{
    const vitals_snapshot *now = model->machine.now;
    uint64_t bit = 1;
    for (const vitals_row *gpu = NULL;
         now != NULL && (gpu = vitals_snapshot_next(now, VITALS_GPU, gpu)) != NULL; bit <<= 1) {
        for (const vitals_row *user = NULL;
             (user = vitals_snapshot_next_child(now, VITALS_GPU_PROCESS, vitals_row_key(gpu),
                                                user)) != NULL;) {
            struct item one = {.process = item_process_of(now, user), .user = user};
            one.pid = item_identity(&one).pid;
            struct item *found = find_pid(&model->list, &one);
            if (found == NULL ||
                !identity_same_process(identity_of(found->process), item_identity(&one)))
                continue;
            add_use(found, user, bit);
            model->list_of_users = true;
        }
    }
}

/* Adds the metrics that are only read of every process. */
static void join_details(struct model *model)
{
    struct list *list = &model->list;
    for (const vitals_row *row = NULL;
         model->all.now != NULL &&
         (row = vitals_snapshot_next(model->all.now, VITALS_PROCESS, row)) != NULL;) {
        struct item one = {.process = row, .pid = identity_of(row).pid};
        struct item *end = list->items + list->count;
        for (struct item *item = find_pid(list, &one);
             item != NULL && item < end && by_pid(item, &one) == 0; item++) {
            if (item->process != NULL &&
                identity_same_process(identity_of(item->process), identity_of(row)))
                item->details = row;
        }
    }
}

static void take_out(struct model *model)
{
    struct list *list = &model->list;
    struct match match;
    size_t kept = 0;
    match_parse(model->filter, &match);
    for (size_t i = 0; i < list->count && match.count > 0; i++) {
        if (match_item(&match, model, &list->items[i]))
            list->items[kept++] = list->items[i];
    }
    if (match.count > 0)
        list->count = kept;
}

/* ---- in which order ---- */

/* The natural order of a view: by device, then known processes, then user; all processes by CPU. */
static void fill_natural(const struct model *model, struct item *item)
{
    if (model->view == VIEW_ALL) {
        double cores;
        item->known = item_cpu(model, item->process, &cores);
        item->value = item->known ? -cores : 0;
        if (!cell_value(item->process, VITALS_PROCESS_RESIDENT_BYTES, &item->weight))
            item->weight = -1;
        return;
    }
    item->known = true;
    item->value = (double)item->order * 2 + (item->process == NULL);
    const struct column *user = &list_columns[column_find("user", 4)];
    if (!column_text(user, model, item, item->text, sizeof item->text))
        item->text[0] = '\0';
}

/* True if the process has ended, or only a device knows it. */
static bool is_dead(const struct item *item)
{
    vitals_text state;
    if (item->process == NULL)
        return true;
    if (vitals_row_text(item->process, VITALS_PROCESS_STATE, &state) <= 0)
        return false;
    return (state.size == 6 && memcmp(state.bytes, "zombie", 6) == 0) ||
           (state.size == 4 && memcmp(state.bytes, "dead", 4) == 0);
}

/* For qsort(3), which has no argument for it; one thread. */
static const struct model *sorting;
static const struct column *first; /* NULL: as it comes */

static void fill(const struct model *model, struct item *item)
{
    const struct column *column = first;
    item->text[0] = '\0';
    item->value = 0;
    item->dead = column != NULL && is_dead(item);
    if (column == NULL)
        fill_natural(model, item);
    else if (column_is_text(column))
        item->known = column_text(column, model, item, item->text, sizeof item->text);
    else
        item->known = column_value(column, model, item, &item->value);
}

/* Missing values are last in either direction. */
static int compare_known(bool a, bool b)
{
    return a == b ? 0 : a ? -1 : 1;
}

/* The last two are the beginnings of theirs, escaped: where these are alike and long the rest
 * tells. */
static int compare_texts(const struct column *column, const struct item *x, const struct item *y,
                         const char *one, const char *other)
{
    enum { LONG = sizeof x->text / 2 };
    int order = strcmp(one, other);
    if (order == 0 && column != NULL && strlen(one) >= LONG)
        order = column_compare(column, sorting, x, y);
    return order;
}

static int compare_first(const struct item *x, const struct item *y)
{
    bool falling = (first != NULL && first->falling) != sorting->reversed;
    int order = compare_known(!x->dead, !y->dead);
    if (order == 0)
        order = compare_known(x->known, y->known);
    if (order != 0)
        return order;
    int text = compare_texts(first, x, y, x->text, y->text);
    order = x->value < y->value ? -1 : x->value > y->value ? 1 : text < 0 ? -1 : text > 0;
    return falling ? -order : order;
}

/* A sort behind the first one is asked for only where that finds two lines alike. */
static int compare_behind(const struct item *x, const struct item *y,
                          const struct arranged_sort *sort)
{
    const struct column *column = columns_sorted(sort->sort);
    char texts[2][sizeof x->text] = {"", ""};
    double values[2] = {0, 0};
    bool known[2];
    for (int i = 0; i < 2; i++) {
        const struct item *item = i == 0 ? x : y;
        known[i] = column_is_text(column)
                       ? column_text(column, sorting, item, texts[i], sizeof texts[i])
                       : column_value(column, sorting, item, &values[i]);
    }
    if (known[0] != known[1])
        return compare_known(known[0], known[1]);
    int order = values[0] < values[1] ? -1 : values[0] > values[1];
    order = order != 0 ? order : compare_texts(column, x, y, texts[0], texts[1]);
    return column->falling != sort->reversed ? -order : order;
}

static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->group != y->group) {
        int order = groups_compare(sorting, x->group, y->group);
        if (order != 0)
            return order;
    }
    int order = compare_first(x, y);
    for (size_t i = 1; i < sorting->arranged.sort_count && order == 0; i++)
        order = compare_behind(x, y, &sorting->arranged.sorts[i]);
    if (order != 0)
        return order;
    if (first == NULL && sorting->view == VIEW_ALL && x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    order = by_pid(x, y);
    return order != 0 ? order : x->order < y->order ? -1 : x->order > y->order;
}

/* The processes of the view that pass, by pid. -1: out of memory. */
static int gather(struct model *model)
{
    struct list *list = &model->list;
    list->count = list->group_count = 0;
    model->list_of_users = model->view == VIEW_DEVICES;
    int code = model->view == VIEW_DEVICES ? list_devices(model) : list_all(model);
    if (code < 0 || list->count == 0)
        return code;
    qsort(list->items, list->count, sizeof *list->items, by_pid);
    if (model->view == VIEW_ALL)
        join_users(model);
    else if (!model->same)
        join_details(model);
    take_out(model);
    return 0;
}

int model_list(struct model *model)
{
    struct list *list = &model->list;
    bool grouped = model->arranged.group != GROUP_NONE;
    model->list_waits = false;
    int code = gather(model);
    if (code == 0 && grouped && list->count > 0)
        code = groups_make(model);
    if (code == 0 && list->count > 0) {
        sorting = model;
        first = column_has_values(model, columns_sorted(model->sort)) ? columns_sorted(model->sort)
                                                                      : NULL;
        for (size_t i = 0; i < list->count; i++)
            fill(model, &list->items[i]);
        qsort(list->items, list->count, sizeof *list->items, compare);
    }
    if (code == 0 && grouped)
        code = groups_insert(model);
    if (code < 0)
        list->count = list->group_count = 0;
    return code;
}

/* ---- chosen lines ---- */

/* In the list of all processes no line is of one device. */
static bool is_chosen(const struct model *model, const struct item *item,
                      const struct identity *identity)
{
    struct identity own = item_identity(item);
    return model->view == VIEW_ALL ? identity_same_process(own, *identity)
                                   : identity_equal(&own, identity);
}

int model_selected(const struct model *model)
{
    for (size_t i = 0; model->has_selected && i < model->list.count; i++) {
        if (is_chosen(model, &model->list.items[i], &model->selected))
            return (int)i;
    }
    return -1;
}

void model_select(struct model *model, int place)
{
    model->has_selected = place >= 0 && (size_t)place < model->list.count;
    if (model->has_selected)
        model->selected = item_identity(&model->list.items[place]);
}

bool model_tagged(const struct model *model, const struct identity *identity)
{
    for (size_t i = 0; i < model->tag_count; i++) {
        if (identity_same_process(model->tags[i], *identity))
            return true;
    }
    return false;
}

void model_tag(struct model *model, const struct identity *identity)
{
    if (identity->group != 0)
        return;
    for (size_t i = 0; i < model->tag_count; i++) {
        if (identity_same_process(model->tags[i], *identity)) {
            model->tags[i] = model->tags[--model->tag_count];
            return;
        }
    }
    if (model->tag_count == model->tag_capacity) {
        size_t capacity = model->tag_capacity > 0 ? model->tag_capacity * 2 : 16;
        struct identity *tags = realloc(model->tags, capacity * sizeof *tags);
        if (tags == NULL)
            return;
        model->tags = tags;
        model->tag_capacity = capacity;
    }
    model->tags[model->tag_count++] = *identity;
}

int model_search(const struct model *model, int from, int step)
{
    int count = (int)model->list.count;
    for (int i = 0; i < count && model->search[0] != '\0'; i++) {
        int place = ((from + i * step) % count + count) % count;
        if (model_matches(model, &model->list.items[place], model->search))
            return place;
    }
    return -1;
}
