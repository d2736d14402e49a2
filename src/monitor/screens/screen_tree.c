/* screen_tree.c: the process tree: the processes on devices with all their ancestors and all their
 * descendants; without devices, every process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/screens/screen.h"
#include "util/search.h"

enum { LEVELS_MOST = 24, LEVELS_LEAST = 3, DEVICES = 24, HEAD = 1 };
enum { LINE = WORDS_COMMAND + 8 * LEVELS_MOST + 128 };

struct screen_tree_node {
    const vitals_row *process;
    uint64_t pid;
    double start; /* below 0: not known */
    long parent;  /* place; -1: none that is seen */
    bool user, shown;
    char devices[DEVICES]; /* "0,1" */
};

/* A line: a node and how its branch is drawn. */
struct branch {
    size_t node;
    size_t depth;
    uint64_t open; /* bit n: more siblings follow n levels above it, itself at 0 */
};

/* On the way down: the next place in `order` at a level, and the parent of these children. */
struct screen_tree_level {
    size_t next;
    long parent;
    uint64_t open;
};

struct screen_tree {
    struct screen_tree_node *nodes; /* by pid */
    struct branch *branches;
    struct screen_tree_level *levels;
    size_t *order; /* nodes, by parent and pid */
    size_t count, branch_count, capacity;
    bool has_selected;
    struct identity selected;
    int top, shift;
};

static int by_pid(const void *a, const void *b)
{
    const struct screen_tree_node *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static long find(const struct screen_tree *tree, uint64_t pid)
{
    struct screen_tree_node wanted = {.pid = pid};
    const struct screen_tree_node *found = bsearch(&wanted, tree->nodes, tree->count,
                                                   sizeof *tree->nodes, by_pid);
    return found != NULL ? (long)(found - tree->nodes) : -1;
}

static const struct screen_tree *ordering; /* qsort(3) has no argument for it; one thread */

static int by_parent(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    long p = ordering->nodes[x].parent, q = ordering->nodes[y].parent;
    return p != q ? (p < q ? -1 : 1) : x < y ? -1 : x > y;
}

/* In the order of `by_parent`: a node whose parent stands before a place. */
static bool is_before(const void *item, const void *wanted)
{
    return ordering->nodes[*(const size_t *)item].parent < *(const long *)wanted;
}

/* The nodes of a snapshot, by pid, with their parents. -1: out of memory, or there is none. */
static int collect(struct screen_tree *tree, const vitals_snapshot *now)
{
    size_t count = now != NULL ? vitals_snapshot_count(now, VITALS_TABLE_PROCESS) : 0;
    tree->count = tree->branch_count = 0;
    if (count > tree->capacity) {
        struct screen_tree_node *nodes = realloc(tree->nodes, count * sizeof *nodes);
        tree->nodes = nodes != NULL ? nodes : tree->nodes;
        struct branch *branches = realloc(tree->branches, count * sizeof *branches);
        tree->branches = branches != NULL ? branches : tree->branches;
        size_t *order = realloc(tree->order, count * sizeof *order);
        tree->order = order != NULL ? order : tree->order;
        struct screen_tree_level *levels = realloc(tree->levels, (count + 1) * sizeof *levels);
        tree->levels = levels != NULL ? levels : tree->levels;
        if (nodes == NULL || branches == NULL || order == NULL || levels == NULL)
            return -1;
        tree->capacity = count;
    }
    for (const vitals_row *row = NULL; (row = row_next(now, VITALS_TABLE_PROCESS, row)) != NULL;) {
        struct identity identity = identity_of(row);
        if (identity.pid != 0)
            tree->nodes[tree->count++] = (struct screen_tree_node){
                .process = row, .pid = identity.pid, .start = identity.start, .parent = -1};
    }
    if (tree->count > 0)
        qsort(tree->nodes, tree->count, sizeof *tree->nodes, by_pid);

    /* A parent is no younger than its child: one that is only got the number. */
    for (size_t i = 0; i < tree->count; i++) {
        struct screen_tree_node *node = &tree->nodes[i];
        uint64_t pid = 0;
        if (vitals_row_u64(node->process, VITALS_PROCESS_PARENT_PID, &pid) <= 0 || pid == 0)
            continue;
        long parent = find(tree, pid);
        if (parent >= 0 && (size_t)parent != i && tree->nodes[parent].start <= node->start)
            node->parent = parent;
    }
    return tree->count > 0 ? 0 : -1;
}

static void build(struct screen_tree *tree, const struct model *model)
{
    enum { STEPS_MOST = 4096 };
    const vitals_snapshot *now = model->machine.now;
    if (collect(tree, model->same ? now : model->all.now) < 0)
        return;

    /* A pid alone is enough to mark a user of a device; it is not what a signal goes by. */
    for (const vitals_row *user = NULL;
         (user = row_next(now, VITALS_TABLE_GPU_PROCESS, user)) != NULL;) {
        const vitals_row *gpu = vitals_snapshot_find(now, VITALS_TABLE_GPU,
                                                     vitals_row_parent(user));
        uint64_t pid, key;
        if (gpu == NULL || vitals_row_u64(user, VITALS_GPU_PROCESS_PID, &pid) <= 0 ||
            vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
            continue;
        long place = find(tree, pid);
        if (place < 0)
            continue;
        struct screen_tree_node *node = &tree->nodes[place];
        size_t used = strlen(node->devices);
        node->user = true;
        (void)snprintf(node->devices + used, sizeof node->devices - used, "%s%s",
                       used > 0 ? "," : "", vitals_row_label(gpu));
    }

    /* Shown is a user of a device, its ancestors, and its descendants; all without devices. */
    bool all = model_device_count(model) == 0;
    for (size_t i = 0; i < tree->count; i++) {
        long at = (long)i;
        for (int steps = 0; at >= 0 && steps < STEPS_MOST && !tree->nodes[at].user; steps++)
            at = tree->nodes[at].parent;
        if (all || (at >= 0 && tree->nodes[at].user))
            tree->nodes[i].shown = true;
        at = tree->nodes[i].user ? (long)i : -1;
        for (int steps = 0; at >= 0 && steps < STEPS_MOST; steps++, at = tree->nodes[at].parent)
            tree->nodes[at].shown = true;
    }
    size_t count = 0, depth = 0;
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->nodes[i].shown)
            tree->order[count++] = i;
    }
    if (count == 0)
        return;
    ordering = tree;
    qsort(tree->order, count, sizeof *tree->order, by_parent);

    /* Depth first, without recursion, however deep it is. */
    tree->levels[0] = (struct screen_tree_level){.parent = -1};
    for (;;) {
        struct screen_tree_level *level = &tree->levels[depth];
        size_t at = level->next++;
        if (at >= count || tree->nodes[tree->order[at]].parent != level->parent) {
            if (depth-- == 0)
                return;
            continue;
        }
        bool more = at + 1 < count && tree->nodes[tree->order[at + 1]].parent == level->parent;
        uint64_t open = level->open << 1 | more;
        long own = (long)tree->order[at];
        size_t first = search_place(tree->order, count, sizeof *tree->order, &own, is_before);
        tree->branches[tree->branch_count++] = (struct branch){tree->order[at], depth, open};
        tree->levels[++depth] = (struct screen_tree_level){first, own, open};
    }
}

static struct identity identity_at(const struct screen_tree *tree, int place)
{
    return identity_of(tree->nodes[tree->branches[place].node].process);
}

static int selected(const struct screen_tree *tree)
{
    for (size_t i = 0; tree->has_selected && i < tree->branch_count; i++) {
        struct identity own = identity_at(tree, (int)i);
        if (identity_equal(&own, &tree->selected))
            return (int)i;
    }
    return -1;
}

static void select_place(struct screen_tree *tree, int place)
{
    int count = (int)tree->branch_count;
    place = place < 0 ? 0 : place >= count ? count - 1 : place;
    tree->has_selected = count > 0;
    if (count > 0)
        tree->selected = identity_at(tree, place);
}

static void step(struct screen_tree *tree, int steps)
{
    int place = selected(tree);
    select_place(tree, place < 0 ? tree->top : place + steps);
}

static int lines_of(const struct monitor *monitor)
{
    return monitor->model.height > HEAD + 1 ? monitor->model.height - HEAD - 1 : 1;
}

static void settle(struct monitor *monitor, void *state)
{
    struct screen_tree *tree = state;
    build(tree, &monitor->model);
    tree->top = scroll_to(tree->top, selected(tree), lines_of(monitor), (int)tree->branch_count);
}

/* The cells of a line: narrow, only the pid, the devices and the CPU. */
static void node_words(const struct model *model, const struct screen_tree_node *node,
                       char out[static LINE])
{
    static const char *const TITLES[] = {"%CPU", "%MEM", "TIME"};
    char pid[WORDS], user[WORDS], cell[2 * WORDS], threads[WORDS], devices[DEVICES + 8];
    struct item item = {.process = node->process};
    bool narrow = model->width < NARROW;
    column_words(column_titled("PID"), model, &item, pid);
    column_words(column_titled("USER"), model, &item, user);
    column_words(column_titled("THR"), model, &item, threads);
    (void)snprintf(devices, sizeof devices, "%s%s", node->user ? "GPU " : "Host", node->devices);
    cell_cut(devices, narrow ? 7 : 9, "+");
    (void)column_pad(user, 7, false, cell, sizeof cell);
    size_t used = (size_t)(narrow ? snprintf(out, LINE, "%7s %-7s", pid, devices)
                                  : snprintf(out, LINE, "%7s %s  %-9s %4s", pid, cell, devices,
                                             threads));
    for (size_t i = 0; i < (narrow ? 1u : ARRAY_COUNT(TITLES)); i++) {
        const struct column *column = column_titled(TITLES[i]);
        column_words(column, model, &item, cell);
        used += (size_t)snprintf(out + used, LINE - used, "%*s", column->width, cell);
    }
}

static void draw_branch(const struct monitor *monitor, const struct screen_tree *tree,
                        struct pen *pen, int place, int wide)
{
    static const char *const PARTS[2][4] = {{"│  ", "   ", "├─ ", "└─ "},
                                            {"|  ", "   ", "|- ", "`- "}};
    const struct model *model = &monitor->model;
    const struct branch *branch = &tree->branches[place];
    const struct screen_tree_node *node = &tree->nodes[branch->node];
    char line[LINE], command[WORDS_COMMAND];
    struct identity identity = identity_at(tree, place);
    struct item item = {.process = node->process};
    bool chosen = tree->has_selected && identity_equal(&identity, &tree->selected);
    bool tagged = model_tagged(model, &identity);
    ink style = chosen   ? STYLE_BOLD | STYLE_REVERSE | (tagged ? STYLE_YELLOW : STYLE_GREEN)
                : tagged ? STYLE_BOLD | STYLE_YELLOW
                : item_is_other(model, &item) ? STYLE_DIM
                                              : STYLE_PLAIN;
    struct canvas_field field = {.y = HEAD + place - tree->top, .columns = wide, .style = style};
    node_words(model, node, line);
    canvas_field(pen->canvas, &field, line);

    /* "│  ├─ ", of as many levels as leave the command its room: what stands further out is a
     * number, "17  ├─ ". */
    int most = (model->width - wide) / 5;
    most = most < LEVELS_LEAST ? LEVELS_LEAST : most > LEVELS_MOST ? LEVELS_MOST : most;
    size_t levels = branch->depth > (size_t)most ? (size_t)most : branch->depth, used = 0;
    if (levels < branch->depth)
        used = (size_t)snprintf(line, sizeof line, "%-3zu", branch->depth - levels);
    for (size_t up = levels; up-- > 0;) {
        size_t closed = branch->open >> up & 1 ? 0 : 1;
        used += (size_t)snprintf(line + used, sizeof line - used, "%s",
                                 PARTS[pen->look->ascii][up == 0 ? 2 + closed : closed]);
    }
    (void)snprintf(line + used, sizeof line - used, "%s",
                   cell_command(node->process, pen->look->ascii, command));
    field.x = wide;
    field.columns = model->width - wide;
    field.skip = tree->shift;
    field.style = style | (node->user && !chosen ? STYLE_BOLD : 0u);
    canvas_field(pen->canvas, &field, line);
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct screen_tree *tree = state;
    int width = monitor->model.width, lines = lines_of(monitor);
    const char *head = width < NARROW
                           ? "    PID DEVICE   %CPU  COMMAND"
                           : "    PID    USER  DEVICE    NLWP  %CPU  %MEM     TIME  COMMAND";
    int wide = canvas_columns(head) - (int)strlen("COMMAND");
    canvas_field(pen->canvas,
                 &(struct canvas_field){.columns = width, .style = STYLE_BOLD | STYLE_REVERSE},
                 head);
    for (int i = tree->top; i < (int)tree->branch_count && i < tree->top + lines; i++)
        draw_branch(monitor, tree, pen, i, wide);
    if (tree->branch_count == 0)
        (void)canvas_text(pen->canvas, 2, HEAD + 1, STYLE_DIM,
                          tree->count == 0 ? "Gathering process status..."
                                           : "No process uses a device");
    (void)canvas_text(pen->canvas, 1, monitor->model.height - 1, STYLE_DIM,
                      "t or q goes back, h helps");
}

enum { SIDEWAYS = 5 };

static void move_sideways(struct screen_tree *tree, int columns)
{
    tree->shift += columns;
    tree->shift = tree->shift < 0 ? 0 : tree->shift > LINE ? LINE : tree->shift;
}

static bool act(struct monitor *monitor, void *state, enum action action, int argument)
{
    struct screen_tree *tree = state;
    int page = lines_of(monitor) > 1 ? lines_of(monitor) - 1 : 1, place = selected(tree);
    switch ((int)action) {
    case ACTION_UP: step(tree, -1); return true;
    case ACTION_DOWN: step(tree, 1); return true;
    case ACTION_PAGE_UP: step(tree, -page); return true;
    case ACTION_PAGE_DOWN: step(tree, page); return true;
    case ACTION_FIRST: select_place(tree, 0); return true;
    case ACTION_LAST: select_place(tree, (int)tree->branch_count - 1); return true;
    case ACTION_SIDEWAYS: move_sideways(tree, argument * SIDEWAYS); return true;
    case ACTION_LINE_BEGIN: tree->shift = 0; return true;
    case ACTION_LINE_END: tree->shift = monitor->model.width / 2; return true;
    case ACTION_TAG:
        if (place >= 0)
            model_tag(&monitor->model, &tree->selected);
        step(tree, 1);
        return true;
    case ACTION_PROCESS: /* the first that is seen, where none is selected */
        if (!monitor->model.arranged.nvitop && place < 0 && tree->branch_count > 0)
            select_place(tree, tree->top);
        return false;
    case ACTION_CLEAR:
        tree->has_selected = false;
        monitor->model.tag_count = 0;
        return true;
    default: return false;
    }
}

static bool click(struct monitor *monitor UNUSED, void *state, const struct input_event *event)
{
    struct screen_tree *tree = state;
    int place = tree->top + event->y - HEAD, by = input_lines(event, 0, 0);
    if (event->code == INPUT_CLICK && event->y >= HEAD && place < (int)tree->branch_count)
        select_place(tree, place);
    if (by != 0)
        step(tree, by);
    move_sideways(tree, SIDEWAYS * input_columns(event));
    return true;
}

static bool target(const struct monitor *monitor UNUSED, const void *state, struct identity *out)
{
    const struct screen_tree *tree = state;
    *out = tree->selected;
    return selected(tree) >= 0;
}

static int open_tree(struct monitor *monitor, void **state)
{
    struct screen_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL)
        return -1;
    tree->has_selected = monitor_target(monitor, &tree->selected);
    tree->selected.gpu = 0;
    *state = tree;
    return 0;
}

static void close_tree(void *state)
{
    struct screen_tree *tree = state;
    free(tree->nodes);
    free(tree->branches);
    free(tree->order);
    free(tree->levels);
    free(tree);
}

const struct screen screen_tree = {
    .name = "tree",
    .bit = ON_TREE,
    .needs_all = true,
    .open = open_tree,
    .draw = draw,
    .act = act,
    .click = click,
    .settle = settle,
    .target = target,
    .close = close_tree,
};
