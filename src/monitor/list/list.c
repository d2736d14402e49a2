/* list.c: the lines of the list of processes: which and in which order; the selection and the tags.
 *
 * What is missing stands last in every order, turned round or not. */
#include <stdlib.h>
#include <string.h>

#include "feed/rows.h"
#include "monitor/list/group.h"
#include "monitor/list/match.h"
#include "monitor/model.h"
#include "report/report.h"
#include "util/base.h"
#include "util/memory.h"
#include "util/search.h"
#include "view/cell_text.h"

static int add(struct model *model, const struct item *item)
{
    struct list *list = &model->list;
    const struct selection *selection = &model->options->selection;
    uint64_t pid = item_identity(item).pid;
    if (!selection_has_user(selection, item->process) || !selection_has_pid(selection, pid))
        return 0;
    if (MEMORY_GROW(list->items, list->capacity, list->count) < 0)
        return -1;
    list->items[list->count] = *item;
    list->items[list->count++].pid = pid;
    return 0;
}

/* The trends of the readings that a row is of. */
static const struct trends *trends_of(const struct model *model, const vitals_snapshot *snapshot)
{
    bool all = snapshot == model->all.now || snapshot == model->all.previous;
    const struct readings *readings = all ? &model->all : &model->machine;
    const struct trends *trends = &model->trends[all];
    return readings->now != NULL && !model->away && trends->count > 0 &&
                   trends->stream == vitals_snapshot_stream(readings->now) &&
                   trends->sequence == vitals_snapshot_sequence(readings->now)
               ? trends
               : NULL;
}

const struct trend *item_trend(const struct model *model, const struct item *item)
{
    const vitals_row *row = item->process;
    const struct trends *trends = row != NULL && !item->head
                                      ? trends_of(model, vitals_row_snapshot(row))
                                      : NULL;
    return trends != NULL ? trends_find(trends, vitals_row_key(row)) : NULL;
}

/* True if a process of the reading before is not in the newest one. */
static bool has_ended(const struct model *model, const vitals_row *process)
{
    const struct trend *trend = item_trend(model, &(struct item){.process = process});
    return trend != NULL && trend->gone;
}

/* The users of devices in a reading; `ended`: only those that have ended since then. -1: out of
 * memory. */
static int add_users(struct model *model, const vitals_snapshot *reading, bool ended)
{
    const struct selection *selection = &model->options->selection;
    const vitals_row *gpu = NULL;
    size_t order = 0;
    for (uint64_t bit = 1; (gpu = row_next(model->machine.now, VITALS_TABLE_GPU, gpu)) != NULL;
         bit <<= 1) {
        if (!model_shows_device(model, gpu))
            continue;
        EACH_CHILD(user, reading, VITALS_TABLE_GPU_PROCESS, vitals_row_key(gpu)) {
            struct item item = {.process = row_process(user),
                                .user = user,
                                .gpu = gpu,
                                .order = order,
                                .ended = ended,
                                .use = {.devices = ended ? 0 : bit}};
            if (selection_has_type(selection, user) && (!ended || has_ended(model, item.process)) &&
                add(model, &item) < 0)
                return -1;
        }
        order++;
    }
    return 0;
}

/* Lines of processes that have ended since the reading before, which are seen until the next. */
static int add_ended(struct model *model)
{
    const struct readings *own = model->view == VIEW_ALL && !model->same ? &model->all
                                                                         : &model->machine;
    const struct trends *trends = own->previous != NULL ? trends_of(model, own->previous) : NULL;
    if (trends == NULL || model->arranged.group != GROUP_NONE)
        return 0;
    if (model->view != VIEW_ALL)
        return add_users(model, own->previous, true);
    for (size_t i = 0; i < trends->count; i++) {
        const vitals_row *row = trends->items[i].gone
                                    ? vitals_snapshot_find(own->previous, VITALS_TABLE_PROCESS,
                                                           trends->items[i].key)
                                    : NULL;
        if (row != NULL && add(model, &(struct item){.process = row, .ended = true}) < 0)
            return -1;
    }
    return 0;
}

/* The users of devices, or in the list of all processes every one. -1: out of memory. */
static int add_lines(struct model *model)
{
    const vitals_snapshot *all = model->same ? model->machine.now : model->all.now;
    const vitals_row *row = NULL;
    if (model->view != VIEW_ALL && add_users(model, model->machine.now, false) < 0)
        return -1;
    while (model->view == VIEW_ALL && (row = row_next(all, VITALS_TABLE_PROCESS, row)) != NULL) {
        if (add(model, &(struct item){.process = row}) < 0)
            return -1;
    }
    return add_ended(model);
}

int item_by_pid(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The first line of a pid in a list that stands by pid, or NULL. */
static struct item *find_pid(const struct list *list, uint64_t pid)
{
    return search_find(list->items, list->count, sizeof *list->items,
                       (struct search_number){offsetof(struct item, pid), pid});
}

/* Adds what devices report of the processes in the list of all. The device on which a process has
 * the most memory stands for all of its devices. */
static void join_users(struct model *model)
{
    static const vitals_metric USED = VITALS_GPU_PROCESS_MEMORY_USED_BYTES;
    const vitals_snapshot *now = model->machine.now;
    uint64_t bit = 1;
    for (const vitals_row *gpu = NULL; (gpu = row_next(now, VITALS_TABLE_GPU, gpu)) != NULL;
         bit <<= 1) {
        EACH_CHILD(user, now, VITALS_TABLE_GPU_PROCESS, vitals_row_key(gpu)) {
            struct item one = {.process = row_process(user), .user = user};
            struct item *item = find_pid(&model->list, item_identity(&one).pid);
            if (item == NULL ||
                !identity_same_process(identity_of(item->process), item_identity(&one)))
                continue;
            double own, theirs;
            bool known = cell_value(user, USED, &own);
            vitals_availability quality = vitals_row_availability(user, USED);
            if (!cell_value(item->user, USED, &theirs) || (known && own > theirs))
                item->user = user;
            item->use.devices |= bit;
            item->use.bytes += known ? own : 0;
            item->use.known += known;
            item->use.unknown += !known || quality == VITALS_LOWER_BOUND || quality == VITALS_STALE;
            model->list_of_users = true;
        }
    }
}

/* Adds the metrics that are only read of every process. */
static void join_details(struct model *model)
{
    struct list *list = &model->list;
    const vitals_snapshot *all = model->all.now;
    for (const vitals_row *row = NULL; (row = row_next(all, VITALS_TABLE_PROCESS, row)) != NULL;) {
        uint64_t pid = identity_of(row).pid;
        struct item *end = list->items + list->count;
        for (struct item *item = find_pid(list, pid);
             item != NULL && item < end && item->pid == pid; item++) {
            if (item->process != NULL &&
                identity_same_process(identity_of(item->process), identity_of(row)))
                item->details = row;
        }
    }
}

/* ---- in which order; what is missing is last in either direction ---- */

/* For qsort(3), which has no argument for it; one thread. */
static const struct model *sorting;
static const struct column *first; /* NULL: as it comes */

/* Compares by the first sort. Without one: by device, then known processes, then user; all
 * processes by CPU. */
static void fill(const struct model *model, struct item *item)
{
    static const char *const DEAD[] = {"zombie", "dead"};
    char state[WORDS];
    double cores;
    item->known = true;
    if (first == NULL && model->view == VIEW_ALL) {
        item->known = item_cpu(model, item->process, &cores);
        item->value = item->known ? -cores : 0;
        if (!cell_value(item->process, VITALS_PROCESS_RESIDENT_BYTES, &item->weight))
            item->weight = -1;
        return;
    }
    if (first == NULL) {
        const struct column *user = &list_columns[column_find("user", 4)];
        item->value = (double)item->order * 2 + (item->process == NULL);
        if (!column_text(user, model, item, item->text, sizeof item->text))
            item->text[0] = '\0';
        return;
    }

    /* A process that has ended, or that only a device knows, is last. */
    (void)cell_text(item->process, VITALS_PROCESS_STATE, true, state, sizeof state);
    item->dead = item->process == NULL || strcmp(state, DEAD[0]) == 0 ||
                 strcmp(state, DEAD[1]) == 0;
    item->known = column_is_text(first)
                      ? column_text(first, model, item, item->text, sizeof item->text)
                      : column_value(first, model, item, &item->value);
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

static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = x->group != y->group ? groups_compare(sorting, x->group, y->group) : 0;
    if (order != 0)
        return order;
    if (x->dead != y->dead)
        return x->dead ? 1 : -1;
    if (x->known != y->known)
        return x->known ? -1 : 1;
    int text = compare_texts(first, x, y, x->text, y->text);
    order = x->value < y->value ? -1 : x->value > y->value ? 1 : text < 0 ? -1 : text > 0;
    if ((first != NULL && first->falling) != sorting->reversed)
        order = -order;

    /* A sort behind the first one is asked for only where that finds two lines alike. */
    for (size_t i = 1; i < sorting->arranged.sort_count && order == 0; i++) {
        const struct arranged_sort *sort = &sorting->arranged.sorts[i];
        const struct column *column = columns_sorted(sort->sort);
        char texts[2][sizeof x->text] = {"", ""};
        double values[2] = {0, 0};
        bool known[2];
        for (int j = 0; j < 2; j++)
            known[j] = column_is_text(column)
                           ? column_text(column, sorting, j == 0 ? x : y, texts[j], sizeof texts[j])
                           : column_value(column, sorting, j == 0 ? x : y, &values[j]);
        if (known[0] != known[1])
            return known[0] ? -1 : 1;
        order = values[0] < values[1] ? -1 : values[0] > values[1];
        order = order != 0 ? order : compare_texts(column, x, y, texts[0], texts[1]);
        order = column->falling != sort->reversed ? -order : order;
    }
    if (order != 0)
        return order;
    if (first == NULL && sorting->view == VIEW_ALL && x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    order = item_by_pid(x, y);
    return order != 0 ? order : x->order < y->order ? -1 : x->order > y->order;
}

int model_list(struct model *model)
{
    struct list *list = &model->list;
    bool grouped = model->arranged.group != GROUP_NONE;
    struct match match;
    model->list_waits = false;
    model->list_of_users = model->view == VIEW_DEVICES;
    list->count = list->group_count = 0;
    int code = add_lines(model);
    if (code == 0 && list->count > 0) {
        qsort(list->items, list->count, sizeof *list->items, item_by_pid);
        if (model->view == VIEW_ALL)
            join_users(model);
        else if (!model->same)
            join_details(model);
        size_t kept = 0;
        match_parse(model->filter, &match);
        for (size_t i = 0; i < list->count; i++) {
            if (match_item(&match, model, &list->items[i]))
                list->items[kept++] = list->items[i];
        }
        list->count = kept;
    }
    if (code == 0 && grouped && list->count > 0)
        code = groups_make(model);
    if (code == 0 && list->count > 0) {
        sorting = model;
        first = columns_sorted(model->sort);
        first = column_has_values(model, first) ? first : NULL;
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

int model_selected(const struct model *model)
{
    for (size_t i = 0; model->has_selected && i < model->list.count; i++) {
        struct identity own = item_identity(&model->list.items[i]);
        if (model->view == VIEW_ALL) /* no line is of one device */
            own.gpu = model->selected.gpu;
        if (identity_equal(&own, &model->selected))
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
    if (MEMORY_GROW(model->tags, model->tag_capacity, model->tag_count) < 0)
        return;
    model->tags[model->tag_count++] = *identity;
}

int model_search(const struct model *model, int from, int step)
{
    int count = (int)model->list.count;
    struct match match;
    match_parse(model->search, &match);
    for (int i = 0; i < count && model->search[0] != '\0'; i++) {
        int place = ((from + i * step) % count + count) % count;
        if (match_item(&match, model, &model->list.items[place]))
            return place;
    }
    return -1;
}

/* ---- lines, and the processes that they are about ---- */

bool identity_equal(const struct identity *a, const struct identity *b)
{
    bool starts = a->start < 0 || b->start < 0 ||
                  (a->start - b->start < 0.001 && b->start - a->start < 0.001);
    return a->pid == b->pid && starts && a->gpu == b->gpu && a->group == b->group;
}

struct identity identity_of(const vitals_row *process)
{
    struct identity identity = {.start = -1};
    (void)!vitals_row_u64(process, VITALS_PROCESS_PID, &identity.pid);
    (void)!vitals_row_f64(process, VITALS_PROCESS_START_SECONDS, &identity.start);
    return identity;
}

struct identity item_identity(const struct item *item)
{
    struct identity identity = identity_of(item->process);
    if (item->process == NULL)
        (void)!vitals_row_u64(item->user, VITALS_GPU_PROCESS_PID, &identity.pid);
    identity.gpu = vitals_row_parent(item->user);
    identity.group = item->head ? item->group->id : 0;
    return identity;
}

bool identity_same_process(struct identity a, struct identity b)
{
    a.gpu = b.gpu = 0;
    return identity_equal(&a, &b);
}

/* The rate of a row of either list, by the readings that it is from. */
bool item_rate(const struct model *model, const vitals_row *process, vitals_metric metric,
               double *out)
{
    if (process == NULL)
        return false;
    const struct trend *trend = metric == VITALS_PROCESS_CPU_SECONDS
                                    ? item_trend(model, &(struct item){.process = process})
                                    : NULL;
    if (trend != NULL) { /* also of one that has ended */
        *out = trend->cores;
        return *out >= 0;
    }
    const vitals_snapshot *snapshot = vitals_row_snapshot(process);
    const struct readings *readings = snapshot == model->all.now ? &model->all : &model->machine;
    return (metric != VITALS_PROCESS_CPU_SECONDS || snapshot == readings->now) &&
           vitals_row_rate(process, readings->older, metric, out) > 0;
}

bool item_cpu(const struct model *model, const vitals_row *process, double *cores)
{
    return item_rate(model, process, VITALS_PROCESS_CPU_SECONDS, cores);
}

bool item_is_other(const struct model *model, const struct item *item)
{
    vitals_text user;
    const char *own = model->options->user;
    if (own == NULL || model->options->root || item->head)
        return false;
    if (vitals_row_text(item->process, VITALS_PROCESS_USER, &user) <= 0)
        return true;
    return strlen(own) != user.size || memcmp(own, user.bytes, user.size) != 0;
}

void item_work(const struct model *model, const struct item *item, char *out, size_t capacity)
{
    /* A service's name says no more than its command. */
    static const char *const KINDS[] = {"job ", "pod ", "container "};
    bool is_shown = false, ascii = model->options->look.ascii;
    /* Workloads are read only for processes that use a device, and stand in other rows. */
    if (!item->head && (report_work(item_row(item), ascii, out, capacity) ||
                        report_work(row_process(item->user), ascii, out, capacity))) {
        for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++)
            is_shown = is_shown || strncmp(out, KINDS[i], strlen(KINDS[i])) == 0;
    }
    if (!is_shown)
        out[0] = '\0';
}

const vitals_row *model_process(const struct model *model, const struct identity *identity)
{
    const vitals_snapshot *places[] = {model->all.now, model->machine.now};
    for (size_t i = 0; i < 2; i++) {
        const vitals_row *row = places[i] != NULL
                                    ? vitals_snapshot_find_pid(places[i], (int64_t)identity->pid)
                                    : NULL;
        struct identity own = identity_of(row);
        own.gpu = identity->gpu;
        if (own.pid != 0 && identity_equal(&own, identity))
            return row;
    }
    return NULL;
}

const vitals_row *model_user_of(const struct model *model, const struct identity *identity,
                                const vitals_row *previous)
{
    const vitals_row *user = previous;
    while ((user = row_next(model->machine.now, VITALS_TABLE_GPU_PROCESS, user)) != NULL) {
        struct item item = {.process = row_process(user), .user = user};
        if (identity_same_process(item_identity(&item), *identity))
            break;
    }
    return user;
}

uint64_t item_devices(const struct item *item)
{
    return item->head ? item->group->devices : item->use.devices;
}

bool model_devices_total(const struct model *model, uint64_t devices, double *out)
{
    double sum = 0, total;
    uint64_t bit = 1;
    for (const vitals_row *gpu = NULL;
         (gpu = row_next(model->machine.now, VITALS_TABLE_GPU, gpu)) != NULL; bit <<= 1) {
        if (!(devices & bit))
            continue;
        if (!cell_value(gpu, VITALS_GPU_MEMORY_TOTAL_BYTES, &total))
            return false;
        sum += total;
    }
    *out = sum;
    return sum > 0;
}

const vitals_row *item_row(const struct item *item)
{
    return item->details != NULL ? item->details : item->process;
}
