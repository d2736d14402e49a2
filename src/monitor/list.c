/* list.c: the lines of the list of processes: which, in which order, and whom they are about.
 *
 * What is missing stands last in every order, turned round or not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/columns.h"

/* ---- who ---- */

bool identity_equal(const struct identity *a, const struct identity *b)
{
    bool starts = a->start < 0 || b->start < 0 ||
                  (a->start - b->start < 0.001 && b->start - a->start < 0.001);
    return a->pid == b->pid && starts && a->gpu == b->gpu;
}

static struct identity identity_of(const vitals_row *process)
{
    struct identity identity = {.start = -1};
    uint64_t pid;
    double start;
    if (process != NULL && vitals_row_u64(process, VITALS_PROCESS_PID, &pid) > 0)
        identity.pid = pid;
    if (process != NULL && vitals_row_f64(process, VITALS_PROCESS_START_SECONDS, &start) > 0)
        identity.start = start;
    return identity;
}

struct identity item_identity(const struct item *item)
{
    struct identity identity = identity_of(item->process);
    uint64_t pid;
    if (item->process == NULL && item->user != NULL &&
        vitals_row_u64(item->user, VITALS_GPU_PROCESS_PID, &pid) > 0)
        identity.pid = pid;
    identity.gpu = item->user != NULL ? vitals_row_parent(item->user) : 0;
    return identity;
}

static bool same_process(struct identity a, struct identity b)
{
    a.gpu = b.gpu = 0;
    return identity_equal(&a, &b);
}

bool item_cpu(const struct model *model, const vitals_row *process, double *cores)
{
    if (process == NULL)
        return false;
    const struct readings *readings = vitals_row_snapshot(process) == model->all.now
                                          ? &model->all
                                          : &model->machine;
    return vitals_row_rate(process, readings->older, VITALS_PROCESS_CPU_SECONDS, cores) > 0;
}

bool item_is_other(const struct model *model, const struct item *item)
{
    vitals_text user;
    const char *own = model->options->user;
    if (own == NULL || model->options->root)
        return false;
    if (item->process == NULL || vitals_row_text(item->process, VITALS_PROCESS_USER, &user) <= 0)
        return true;
    return strlen(own) != user.size || memcmp(own, user.bytes, user.size) != 0;
}

static const vitals_row *process_of(const vitals_snapshot *snapshot, const vitals_row *user)
{
    uint64_t key;
    if (vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
        return NULL;
    return vitals_snapshot_find(snapshot, VITALS_PROCESS, key);
}

static bool has_identity(const struct identity *identity, const vitals_row *process)
{
    struct identity own = identity_of(process);
    own.gpu = identity->gpu;
    return own.pid != 0 && identity_equal(&own, identity);
}

const vitals_row *model_process(const struct model *model, const struct identity *identity)
{
    const vitals_snapshot *places[] = {model->all.now, model->machine.now};
    for (size_t i = 0; i < 2; i++) {
        for (const vitals_row *row = NULL;
             places[i] != NULL &&
             (row = vitals_snapshot_next(places[i], VITALS_PROCESS, row)) != NULL;) {
            if (has_identity(identity, row))
                return row;
        }
    }
    return NULL;
}

const vitals_row *model_user_of(const struct model *model, const struct identity *identity,
                                const vitals_row *previous)
{
    const vitals_snapshot *now = model->machine.now;
    for (const vitals_row *user = previous;
         now != NULL && (user = vitals_snapshot_next(now, VITALS_GPU_PROCESS, user)) != NULL;) {
        struct item item = {.process = process_of(now, user), .user = user};
        if (same_process(item_identity(&item), *identity))
            return user;
    }
    return NULL;
}

/* ---- which ---- */

static bool type_passes(const struct monitor_options *options, const char *type)
{
    bool compute = strchr(type, 'C') != NULL, graphics = strchr(type, 'G') != NULL;
    return (!options->compute || compute) && (!options->graphics || graphics) &&
           (!options->only_compute || (compute && !graphics)) &&
           (!options->only_graphics || (graphics && !compute));
}

static bool user_passes(const struct monitor_options *options, const vitals_row *process)
{
    vitals_text name;
    if (!options->users_given)
        return true;
    if (process == NULL || vitals_row_text(process, VITALS_PROCESS_USER, &name) <= 0)
        return false;
    for (size_t i = 0; i < options->user_count; i++) {
        if (strlen(options->users[i]) == name.size &&
            memcmp(options->users[i], name.bytes, name.size) == 0)
            return true;
    }
    return false;
}

static bool pid_passes(const struct monitor_options *options, uint64_t pid)
{
    for (size_t i = 0; i < options->pid_count; i++) {
        if (options->pids[i] == pid)
            return true;
    }
    return options->pid_count == 0;
}

bool model_matches(const struct model *model, const struct item *item, const char *words)
{
    char text[WORDS_COMMAND];
    bool ascii = model->options->look.ascii;
    if (cell_hold(cell_text(item->process, VITALS_PROCESS_USER, ascii, text, sizeof text), words) ||
        cell_hold(cell_command(item->process, ascii, text), words))
        return true;
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)item_identity(item).pid);
    return cell_hold(text, words) ||
           (item->gpu != NULL &&
            (strcmp(vitals_row_label(item->gpu), words) == 0 ||
             cell_hold(cell_text(item->gpu, VITALS_GPU_NAME, ascii, text, sizeof text), words)));
}

static bool passes(const struct model *model, const struct item *item)
{
    const struct monitor_options *options = model->options;
    return user_passes(options, item->process) && pid_passes(options, item_identity(item).pid) &&
           (model->filter[0] == '\0' || model_matches(model, item, model->filter));
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
    list->items[list->count++] = *item;
    return 0;
}

static int add_users(struct model *model, const vitals_row *gpu, size_t order)
{
    const vitals_snapshot *now = model->machine.now;
    char type[WORDS];
    for (const vitals_row *user = NULL;
         (user = vitals_snapshot_next_child(now, VITALS_GPU_PROCESS, vitals_row_key(gpu), user)) !=
         NULL;) {
        struct item item = {
            .process = process_of(now, user), .user = user, .gpu = gpu, .order = order};
        (void)cell_text(user, VITALS_GPU_PROCESS_TYPE, true, type, sizeof type);
        if (type_passes(model->options, type) && passes(model, &item) &&
            add(&model->list, &item) < 0)
            return -1;
    }
    return 0;
}

static int list_devices(struct model *model)
{
    size_t order = 0;
    for (const vitals_row *gpu = NULL;
         model->machine.now != NULL &&
         (gpu = vitals_snapshot_next(model->machine.now, VITALS_GPU, gpu)) != NULL;) {
        if (model_shows_device(model, gpu) && add_users(model, gpu, order++) < 0)
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
    uint64_t x = item_identity(a).pid, y = item_identity(b).pid;
    return x < y ? -1 : x > y;
}

/* What devices say of processes that the list of all has: the one with the most memory of each. */
static void join_users(struct model *model)
{
    const vitals_snapshot *now = model->machine.now;
    for (const vitals_row *user = NULL;
         now != NULL && (user = vitals_snapshot_next(now, VITALS_GPU_PROCESS, user)) != NULL;) {
        struct item one = {.process = process_of(now, user), .user = user};
        struct identity identity = item_identity(&one);
        struct item *found = bsearch(&one, model->list.items, model->list.count,
                                     sizeof *model->list.items, by_pid);
        double own, theirs;
        if (found == NULL || !same_process(identity_of(found->process), identity))
            continue;
        bool more = found->user == NULL ||
                    !cell_value(found->user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &theirs) ||
                    (cell_value(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &own) && own > theirs);
        if (more)
            found->user = user;
        model->list_of_users = true;
    }
}

/* ---- in which order ---- */

/* The natural order of a view: by device, then who is known, then user; all processes by CPU. */
static void fill_natural(const struct model *model, struct item *item)
{
    if (model->view == VIEW_ALL) {
        double cores;
        item->known = item_cpu(model, item->process, &cores);
        item->value = item->known ? -cores : 0;
        return;
    }
    item->known = true;
    item->value = (double)item->order * 2 + (item->process == NULL);
    const struct column *user = columns_sorted(columns_sort(model->view, 'u'));
    if (!user->text(model, item, item->text, sizeof item->text))
        item->text[0] = '\0';
}

static void fill(const struct model *model, struct item *item)
{
    const struct column *column = columns_sorted(model->sort);
    item->text[0] = '\0';
    item->value = 0;
    if (column == NULL)
        fill_natural(model, item);
    else if (column->text != NULL)
        item->known = column->text(model, item, item->text, sizeof item->text);
    else
        item->known = column->value(model, item, &item->value);
}

static double weight(const struct item *item)
{
    double bytes;
    return cell_value(item->process, VITALS_PROCESS_RESIDENT_BYTES, &bytes) ? bytes : -1;
}

static const struct model *sorting; /* qsort(3) has no argument for it; one thread */

static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const struct column *column = columns_sorted(sorting->sort);
    bool falling = (column != NULL && column->falling) != sorting->reversed;
    if (x->known != y->known)
        return x->known ? -1 : 1;
    int text = strcmp(x->text, y->text);
    int order = x->value < y->value ? -1 : x->value > y->value ? 1 : text < 0 ? -1 : text > 0;
    if (order != 0)
        return falling ? -order : order;
    if (column == NULL && sorting->view == VIEW_ALL && weight(x) != weight(y))
        return weight(x) > weight(y) ? -1 : 1;
    order = by_pid(x, y);
    return order != 0 ? order : x->order < y->order ? -1 : x->order > y->order;
}

int model_list(struct model *model)
{
    struct list *list = &model->list;
    list->count = 0;
    model->list_of_users = model->view == VIEW_DEVICES;
    int code = model->view == VIEW_DEVICES ? list_devices(model) : list_all(model);
    if (code < 0) {
        list->count = 0;
        return -1;
    }
    if (list->count == 0)
        return 0;
    if (model->view == VIEW_ALL) {
        qsort(list->items, list->count, sizeof *list->items, by_pid);
        join_users(model);
    }
    for (size_t i = 0; i < list->count; i++)
        fill(model, &list->items[i]);
    sorting = model;
    qsort(list->items, list->count, sizeof *list->items, compare);
    return 0;
}

/* ---- chosen lines ---- */

/* In the list of all processes no line is of one device. */
static bool is_chosen(const struct model *model, const struct item *item,
                      const struct identity *identity)
{
    struct identity own = item_identity(item);
    return model->view == VIEW_ALL ? same_process(own, *identity) : identity_equal(&own, identity);
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
        if (same_process(model->tags[i], *identity))
            return true;
    }
    return false;
}

void model_tag(struct model *model, const struct identity *identity)
{
    for (size_t i = 0; i < model->tag_count; i++) {
        if (same_process(model->tags[i], *identity)) {
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
