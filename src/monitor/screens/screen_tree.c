/* screen_tree.c: the process tree: the processes on devices with all their ancestors and all their
 * descendants, or every process; with a filter those that pass it and their ancestors.
 *
 * Its lines are those of a list of its own, in the order of the branches (pane_processes.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/list/match.h"
#include "monitor/screens/screen.h"
#include "util/base.h"
#include "util/memory.h"

enum { LEVELS_MOST = 16, LEVELS_LEAST = 3, BRANCH = 8 * LEVELS_MOST + 48, HEAD = 2 };

/* Of the process at the same place of the list, which stands by PID. */
struct screen_tree_node {
    long parent, first, next; /* places: its first child, its next sibling; -1: none that is seen */
    bool is_wanted, is_shown;
    size_t depth;
    uint64_t open; /* as in struct branch */
};

/* How the branch of a line is drawn. */
struct branch {
    size_t depth;
    uint64_t open; /* bit n: more siblings follow n levels above it, itself at 0 */
    size_t hidden; /* lines below it that are folded away */
};

struct screen_tree {
    struct monitor_options options; /* which leave no process out */
    struct model model; /* the monitor's, with a list, a selection and scrolling of its own */
    struct folds folds; /* by `fold_id` */
    bool all, is_seen;  /* every process; the selected one is in the list */
    struct screen_tree_node *nodes;
    struct branch *branches;
    size_t capacity;
    char (*texts)[BRANCH]; /* of the lines that are seen */
    int text_capacity;
};

static const struct hint HINTS[] = {
    {INPUT_ENTER, "Enter", "details"},
    {'T', "T", "end it"},
    {'g', "g", "all/GPU"},
    {'*', "+ - *", "fold"},
    {INPUT_SPACE, "Space", "tag"},
    {'h', "h", "help"},
    {'q', "q", "back"},
};

static int make_room(struct screen_tree *tree)
{
    struct list *list = &tree->model.list;
    size_t count = list->count;
    if (list->spare_capacity < count) {
        struct item *spare = memory_resize(list->spare, count, sizeof *spare);
        if (spare == NULL)
            return -1;
        list->spare = spare;
        list->spare_capacity = count;
    }
    if (count <= tree->capacity)
        return 0;
    struct screen_tree_node *nodes = realloc(tree->nodes, count * sizeof *nodes);
    tree->nodes = nodes != NULL ? nodes : tree->nodes;
    struct branch *branches = realloc(tree->branches, count * sizeof *branches);
    tree->branches = branches != NULL ? branches : tree->branches;
    if (nodes == NULL || branches == NULL)
        return -1;
    tree->capacity = count;
    return 0;
}

/* The parents; and which processes are shown: those that are wanted, their ancestors, and without
 * a filter their descendants. */
static void fill_nodes(struct screen_tree *tree, const char *filter)
{
    enum { STEPS_MOST = 4096 };
    const struct list *list = &tree->model.list;
    struct match match;
    bool all = tree->all || model_device_count(&tree->model) == 0;
    match_parse(filter, &match);
    for (size_t i = 0; i < list->count; i++) {
        struct screen_tree_node *node = &tree->nodes[i];
        struct item parent = {.pid = 0};
        const struct item *item = &list->items[i], *found = NULL;
        if (vitals_row_u64(item->process, VITALS_PROCESS_PARENT_PID, &parent.pid) > 0 &&
            parent.pid != 0)
            found = bsearch(&parent, list->items, list->count, sizeof *list->items, item_by_pid);
        /* A parent is no younger than its child: one that is only got the number. */
        bool is_parent = found != NULL && found != item &&
                         identity_of(found->process).start <= identity_of(item->process).start;
        *node = (struct screen_tree_node){
            .parent = is_parent ? (long)(found - list->items) : -1, .first = -1, .next = -1};
        node->is_wanted = (all || item->user != NULL) && match_item(&match, &tree->model, item);
    }
    for (size_t i = 0; i < list->count; i++) {
        long at = (long)i;
        for (int steps = 0;
             filter[0] == '\0' && at >= 0 && steps < STEPS_MOST && !tree->nodes[at].is_wanted;
             steps++)
            at = tree->nodes[at].parent;
        if (at >= 0 && tree->nodes[at].is_wanted)
            tree->nodes[i].is_shown = true;
        at = tree->nodes[i].is_wanted ? (long)i : -1;
        for (int steps = 0; at >= 0 && steps < STEPS_MOST; steps++, at = tree->nodes[at].parent)
            tree->nodes[at].is_shown = true;
    }
}

/* Identifies a process in the folds. */
static uint64_t fold_id(const struct item *item)
{
    struct identity own = item_identity(item);
    return own.pid << 40 ^ (uint64_t)(own.start > 0 ? own.start * 1000 : 0);
}

/* The list of every process, by PID, and then in the order of its branches, without those that are
 * folded away. */
static void build(struct screen_tree *tree, const char *filter)
{
    struct list *list = &tree->model.list;
    size_t lines = 0;
    if (model_list(&tree->model) < 0 || make_room(tree) < 0)
        list->count = 0;
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof *list->items, item_by_pid);
    fill_nodes(tree, filter);

    /* From the last to the first, so that siblings stand by PID. */
    struct screen_tree_node *nodes = tree->nodes;
    long at = -1;
    for (long i = (long)list->count - 1; i >= 0; i--) {
        long *first = nodes[i].parent >= 0 ? &nodes[nodes[i].parent].first : &at;
        nodes[i].next = nodes[i].is_shown ? *first : -1;
        *first = nodes[i].is_shown ? i : *first;
    }

    /* Depth first, without recursion, however deep it is. Lines below a closed one are counted. */
    size_t closed = SIZE_MAX;
    while (at >= 0) {
        struct screen_tree_node *node = &nodes[at];
        if (node->parent >= 0) {
            node->depth = nodes[node->parent].depth + 1;
            node->open = nodes[node->parent].open << 1;
        }
        node->open |= node->next >= 0;
        if (node->depth > closed)
            tree->branches[lines - 1].hidden++;
        else {
            bool is_closed = folds_closed(&tree->folds, fold_id(&list->items[at]));
            closed = is_closed ? node->depth : SIZE_MAX;
            tree->branches[lines] = (struct branch){node->depth, node->open, 0};
            list->spare[lines++] = list->items[at];
        }
        long next = node->first;
        for (; next < 0 && at >= 0; at = nodes[at].parent)
            next = nodes[at].next;
        at = next;
    }
    struct item *items = list->items;
    size_t capacity = list->capacity;
    list->items = list->spare;
    list->capacity = list->spare_capacity;
    list->spare = items;
    list->spare_capacity = capacity;
    list->count = lines;
}

/* "│  ├─ ", of as many levels as leave the command its room: what stands further out is a number,
 * "17  ├─ ". What is folded: "│  ├▶ 12 more  ". */
static void branch_words(const struct screen_tree *tree, const struct branch *branch,
                         char out[static BRANCH])
{
    static const char *const PARTS[2][6] = {{"│  ", "   ", "├─ ", "└─ ", "├▶ ", "└▶ "},
                                            {"|  ", "   ", "|- ", "`- ", "|+ ", "`+ "}};
    enum { COLUMNS_OF_A_LEVEL = 12 };
    int most = tree->model.width / COLUMNS_OF_A_LEVEL;
    most = most < LEVELS_LEAST ? LEVELS_LEAST : most > LEVELS_MOST ? LEVELS_MOST : most;
    size_t levels = branch->depth > (size_t)most ? (size_t)most : branch->depth;
    out[0] = '\0';
    if (levels < branch->depth)
        cell_add(out, BRANCH, "%-3zu", branch->depth - levels);
    for (size_t up = levels; up-- > 0;) {
        size_t part = branch->open >> up & 1 ? 0 : 1;
        part += up > 0 ? 0 : branch->hidden == 0 ? 2 : 4;
        cell_add(out, BRANCH, "%s", PARTS[tree->options.look.ascii][part]);
    }
    if (branch->hidden > 0)
        cell_add(out, BRANCH, "%s%zu more  ",
                 levels > 0                 ? ""
                 : tree->options.look.ascii ? "+ "
                                            : "▶ ",
                 branch->hidden);
}

static void settle(struct monitor *monitor, void *state)
{
    struct screen_tree *tree = state;
    struct model *own = &tree->model;
    const struct list list = own->list;
    const struct identity selected = own->selected;
    bool has_selected = own->has_selected;
    int top = own->top, shift = own->shift, lines = screen_lines(monitor);
    *own = monitor->model;
    own->options = &tree->options;
    own->list = list;
    own->selected = selected;
    own->has_selected = has_selected;
    own->shift = shift;
    own->view = VIEW_ALL;
    own->sort = columns_sort(VIEW_ALL, 'p');
    own->reversed = own->arranged.nvitop = false;
    own->arranged.sort_count = 0;
    own->arranged.group = GROUP_NONE;
    own->filter[0] = '\0';
    own->list.tree = tree->all ? "Tree of processes " : "Tree of processes on devices ";
    if (model_device_count(own) == 0)
        own->list.tree = "Tree of processes ";
    build(tree, monitor->model.filter);
    memcpy(own->filter, monitor->model.filter, sizeof own->filter);
    int place = model_selected(own), count = (int)own->list.count;
    tree->is_seen = place >= 0;
    own->top = scroll_to(top, place, lines, count);

    if (tree->text_capacity < lines) {
        char(*texts)[BRANCH] = realloc(tree->texts, (size_t)lines * sizeof *texts);
        tree->texts = texts != NULL ? texts : tree->texts;
        tree->text_capacity = texts != NULL ? lines : tree->text_capacity;
    }
    for (int i = 0; i < lines && own->top + i < count && i < tree->text_capacity; i++) {
        branch_words(tree, &tree->branches[own->top + i], tree->texts[i]);
        own->list.items[own->top + i].branch = tree->texts[i];
    }
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct screen_tree *tree = state;
    const struct layout layout = {.usual = true, .lines_y = HEAD, .lines = screen_lines(monitor)};
    pane_processes(pen, &tree->model, &layout, 0);
    hints_draw(pen, &monitor->model, HINTS, ARRAY_COUNT(HINTS));
}

static void select_place(struct screen_tree *tree, int place)
{
    model_select(&tree->model, place_within(place, (int)tree->model.list.count - 1));
}

static void step(struct screen_tree *tree, int steps)
{
    int place = model_selected(&tree->model);
    select_place(tree, place < 0 ? tree->model.top : place + steps);
}

static bool is_parent(const struct screen_tree *tree, int place)
{
    const struct branch *own = &tree->branches[place];
    bool is_last = (size_t)place + 1 >= tree->model.list.count;
    return own->hidden > 0 || (!is_last && own[1].depth > own->depth);
}

/* Opens (1), closes (-1) or toggles (0) the branch of a line. If the line has nothing to close, the
 * branch around it is closed, and its parent is selected. */
static void fold(struct screen_tree *tree, int place, int open)
{
    size_t depth = tree->branches[place].depth;
    if (open < 0 && (!is_parent(tree, place) || tree->branches[place].hidden > 0)) {
        while (depth > 0 && tree->branches[place].depth >= depth)
            place--;
    }
    select_place(tree, place);
    if (is_parent(tree, place))
        folds_turn(&tree->folds, fold_id(&tree->model.list.items[place]), open);
}

enum { SIDEWAYS = 5 };

static void move_sideways(struct screen_tree *tree, int columns)
{
    tree->model.shift = place_within(tree->model.shift + columns, WORDS_COMMAND);
}

static bool act(struct monitor *monitor, void *state, enum action action, int argument)
{
    struct screen_tree *tree = state;
    int page = screen_lines(monitor) > 1 ? screen_lines(monitor) - 1 : 1;
    switch ((int)action) {
    case ACTION_UP: step(tree, -1); return true;
    case ACTION_DOWN: step(tree, 1); return true;
    case ACTION_PAGE_UP: step(tree, -page); return true;
    case ACTION_PAGE_DOWN: step(tree, page); return true;
    case ACTION_FIRST: select_place(tree, 0); return true;
    case ACTION_LAST: select_place(tree, (int)tree->model.list.count - 1); return true;
    case ACTION_SIDEWAYS: move_sideways(tree, argument * SIDEWAYS); return true;
    case ACTION_LINE_BEGIN: tree->model.shift = 0; return true;
    case ACTION_LINE_END: tree->model.shift = monitor->model.width / 2; return true;
    case ACTION_VIEW: tree->all = !tree->all; return true;
    case ACTION_UNFOLD:
        if (argument == 0)
            folds_turn_all(&tree->folds);
        else if (tree->is_seen)
            fold(tree, model_selected(&tree->model), argument);
        return true;
    case ACTION_TAG:
        if (tree->is_seen)
            model_tag(&monitor->model, &tree->model.selected);
        step(tree, 1);
        return true;
    case ACTION_PROCESS: /* the first that is seen, where none is selected */
        if (!monitor->model.arranged.nvitop && !tree->is_seen && tree->model.list.count > 0) {
            select_place(tree, tree->model.top);
            tree->is_seen = true;
        }
        return false;
    case ACTION_CLEAR:
        tree->model.has_selected = tree->is_seen = false;
        monitor->model.tag_count = 0;
        return true;
    default: return false;
    }
}

static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct screen_tree *tree = state;
    int place = tree->model.top + event->y - HEAD, by = input_lines(event, 0, 0);
    if (hints_click(monitor, event, HINTS, ARRAY_COUNT(HINTS)))
        return true;
    if (event->code == INPUT_CLICK && event->y >= HEAD && place < (int)tree->model.list.count) {
        const char *branch = tree->model.list.items[place].branch;
        int x = event->x - pane_command_x(&tree->model);
        select_place(tree, place);
        if (branch != NULL && x >= 0 && x < canvas_columns(branch) && is_parent(tree, place))
            fold(tree, place, 0);
    }
    if (by != 0)
        step(tree, by);
    move_sideways(tree, SIDEWAYS * input_columns(event));
    return true;
}

static bool target(const struct monitor *monitor UNUSED, const void *state, struct identity *out)
{
    const struct screen_tree *tree = state;
    *out = tree->model.selected;
    return tree->is_seen;
}

static int open_tree(struct monitor *monitor, void *state)
{
    struct screen_tree *tree = state;
    tree->model.has_selected = monitor_target(monitor, &tree->model.selected);
    tree->all = monitor->model.view == VIEW_ALL;
    tree->options = *monitor->options;
    tree->options.selection.users_given = false;
    tree->options.selection.user_count = tree->options.selection.pid_count = 0;
    return 0;
}

static void close_tree(void *state)
{
    struct screen_tree *tree = state;
    memory_free(tree->model.list.items);
    memory_free(tree->model.list.spare);
    memory_free(tree->folds.ids);
    free(tree->nodes);
    free(tree->branches);
    free(tree->texts);
}

const struct screen screen_tree = {
    .name = "tree",
    .bit = ON_TREE,
    .needs_all = true,
    .size = sizeof(struct screen_tree),
    .open = open_tree,
    .draw = draw,
    .act = act,
    .click = click,
    .settle = settle,
    .target = target,
    .close = close_tree,
};
