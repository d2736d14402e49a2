/* screen_signal.c: the dialog before a signal: its targets, by proven handles, and what became of
 * them.
 *
 * The targets are the tagged processes, or the selected one, or all of the selected group. A handle
 * is opened for each when the dialog opens, and the signal goes through it, so that a process which
 * reuses the pid or joins the group later is not signalled. In a group, init, vitals and its
 * ancestors are left alone, as the user does not mean the own session. Letters only choose a
 * button; Enter presses it; for several targets nothing is chosen yet. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/list/group.h"
#include "monitor/screens/process_summary.h"
#include "monitor/screens/screen.h"
#include "util/signal_names.h"

enum { TARGETS_MOST = 256, LINE = 512, RESULT = 160, FRAME = 7, KIN_MOST = 64 };

/* The interval at which signalled processes are checked. */
static const uint64_t LOOK_NS = 200000000u;

enum screen_signal_state { STATE_KNOWN, STATE_REFUSED, STATE_SENT, STATE_ENDED };

struct screen_signal_target {
    vitals_process *process; /* NULL: there is none to signal */
    uint64_t pid;
    enum screen_signal_state state;
    char about[LINE];    /* "1234 ana  2:10:44  3 children  python3 train.py" */
    char result[RESULT]; /* safe */
};

struct dialog {
    struct screen_signal_target targets[TARGETS_MOST];
    int count, left_out;
    int able;                       /* that can be sent one */
    struct freed freed;             /* when these end */
    int top;                        /* the first one that is seen */
    char group[GROUP_NAME + WORDS]; /* that they are of, safe; "": of none */
    int total;                      /* processes that this has; 0: not known */
    int button;
    bool has_other; /* there is room for the button of another signal, */
    int other;      /* which is this one */
    bool of_tags;   /* the targets are the tagged processes */
    bool sent;
    int signal; /* the last one that was sent */
    uint64_t sent_ns, now_ns;
    bool stubborn; /* some process still lives seconds later */
};

struct button {
    const char *label;
    int signal; /* 0: none is sent */
    char letter;
};
static const struct button BUTTONS[] = {{"SIGTERM", SIGTERM, 't'},
                                        {"SIGKILL", SIGKILL, 'k'},
                                        {"SIGINT", SIGINT, 'i'},
                                        {"SIGVTALRM", 0, 'o'}, /* the longest of the others */
                                        {"Cancel", 0, 'c'}};
enum { BUTTON_COUNT = sizeof BUTTONS / sizeof BUTTONS[0], CANCEL = BUTTON_COUNT - 1, OTHER = 3 };

static int signal_of(const struct dialog *dialog, int button)
{
    return button == OTHER ? dialog->other : BUTTONS[button].signal;
}

static bool has_button(const struct dialog *dialog, int button)
{
    return button != OTHER || dialog->has_other;
}

/* A target in words. Asking for children reads all of /proc: not for each of many. */
static void describe(const struct monitor *monitor, struct screen_signal_target *target,
                     const vitals_row *row, bool alone)
{
    const struct model *model = &monitor->model;
    bool ascii = model->options->look.ascii;
    char user[WORDS], age[WORDS], command[WORDS_COMMAND], children[WORDS] = "";
    double start;
    (void)cell_text(row, VITALS_PROCESS_USER, ascii, user, sizeof user);
    (void)cell_not_available(age);
    if (cell_value(row, VITALS_PROCESS_START_SECONDS, &start))
        (void)vitals_human_duration(
            (double)vitals_snapshot_boottime_ns(vitals_row_snapshot(row)) / 1e9 - start, age);

    const vitals_snapshot *now = model->same ? model->machine.now : model->all.now;
    vitals_snapshot *relatives = NULL;
    size_t count = 0;
    const vitals_row *other = NULL;
    uint64_t parent;
    while ((other = row_next(now, VITALS_TABLE_PROCESS, other)) != NULL)
        count += vitals_row_u64(other, VITALS_PROCESS_PARENT_PID, &parent) > 0 &&
                 parent == target->pid;
    if (now == NULL && alone && target->process != NULL &&
        vitals_process_relatives(target->process, VITALS_CHILDREN, NULL, &relatives, NULL) == 0)
        count = vitals_snapshot_count(relatives, VITALS_TABLE_PROCESS);
    vitals_snapshot_unref(relatives);
    if (count > 0)
        (void)snprintf(children, sizeof children, ", %zu %s", count,
                       count == 1 ? "child" : "children");
    (void)snprintf(target->about, sizeof target->about, "%llu %s, running %s%s: %.300s",
                   (unsigned long long)target->pid, user, age, children,
                   cell_command(row, ascii, command));
}

/* Without a start time only the pid is known, which another process may have here. */
static void add_target(struct monitor *monitor, struct dialog *dialog,
                       const struct identity *identity, bool alone)
{
    vitals_error error;
    if (dialog->count >= TARGETS_MOST) {
        dialog->left_out++;
        return;
    }
    struct screen_signal_target *target = &dialog->targets[dialog->count++];
    const vitals_row *row = identity->start >= 0 ? model_process(&monitor->model, identity) : NULL;
    target->pid = identity->pid;
    if (row == NULL) {
        target->state = STATE_REFUSED;
        (void)snprintf(target->about, sizeof target->about, "%llu",
                       (unsigned long long)identity->pid);
        (void)snprintf(target->result, sizeof target->result,
                       "left alone: which process has that pid here is not known");
        return;
    }
    if (monitor->options->context == NULL) {
        target->state = STATE_REFUSED;
        (void)snprintf(target->result, sizeof target->result,
                       "left alone: this is a recording of it");
    } else if (vitals_process_of(monitor->options->context, row, &target->process, &error) < 0) {
        target->state = STATE_REFUSED;
        (void)snprintf(target->result, sizeof target->result, "left alone: %.140s", error.message);
    }
    dialog->able += target->process != NULL;
    describe(monitor, target, row, alone);
}

/* The processes of the group whose line is selected, without init, vitals and its ancestors;
 * returns false if none is. */
static bool add_group(struct monitor *monitor, struct dialog *dialog)
{
    struct identity members[TARGETS_MOST];
    const struct model *model = &monitor->model;
    vitals_context *context = monitor->options->context;
    const struct group *group = model->has_selected && model->selected.group != 0
                                    ? group_find(model, model->selected.group)
                                    : NULL;
    if (group == NULL)
        return false;
    size_t count = group_members(model, group, members, TARGETS_MOST), kin_count = 0;
    group_title(model, group, dialog->group, sizeof dialog->group);
    dialog->total = (int)group_total(model, group);

    uint64_t kin[KIN_MOST];
    vitals_process *own = NULL;
    vitals_snapshot *ancestors = NULL;
    if (context != NULL && vitals_process_open(context, getpid(), &own, NULL) == 0 &&
        vitals_process_relatives(own, VITALS_ANCESTORS, NULL, &ancestors, NULL) == 0) {
        const vitals_row *row = NULL;
        while (kin_count < KIN_MOST &&
               (row = vitals_snapshot_next(ancestors, VITALS_TABLE_PROCESS, row)) != NULL)
            kin_count += vitals_row_u64(row, VITALS_PROCESS_PID, &kin[kin_count]) > 0;
    }
    vitals_snapshot_unref(ancestors);
    vitals_process_close(own);

    for (size_t i = 0; i < count && i < TARGETS_MOST; i++) {
        struct screen_signal_target *target = &dialog->targets[i];
        add_target(monitor, dialog, &members[i], false);
        const char *why = target->pid == (uint64_t)getpid() ? "this is vitals"
                          : target->pid == 1                ? "this is init"
                                                            : NULL;
        for (size_t j = 0; j < kin_count && why == NULL; j++)
            why = kin[j] == target->pid ? "it started vitals" : NULL;
        if (why == NULL || target->process == NULL)
            continue;
        vitals_process_close(target->process);
        target->process = NULL;
        target->state = STATE_REFUSED;
        (void)snprintf(target->result, sizeof target->result, "left alone: %s", why);
        dialog->able--;
    }
    dialog->left_out = count > TARGETS_MOST ? (int)(count - TARGETS_MOST) : 0;
    return count > 0;
}

/* What the end of the targets would free; nothing of it waits for a lock of a process. */
static void count_freed(const struct model *model, struct dialog *dialog)
{
    vitals_request *request = NULL;
    bool made = vitals_request_new(0, &request, NULL) == 0 &&
                vitals_request_add(request, VITALS_PROCESS_RESIDENT_BYTES, NULL) == 0 &&
                vitals_request_add(request, VITALS_PROCESS_SHARED_BYTES, NULL) == 0;
    for (int i = 0; made && i < dialog->count; i++) {
        vitals_process *process = dialog->targets[i].process;
        vitals_snapshot *answer = NULL;
        if (process == NULL || vitals_process_ask(process, request, &answer, NULL) < 0)
            continue;
        const struct identity identity = {.pid = dialog->targets[i].pid,
                                          .start = vitals_process_start_seconds(process)};
        freed_add(&dialog->freed, model, &identity, row_next(answer, VITALS_TABLE_PROCESS, NULL));
        vitals_snapshot_unref(answer);
    }
    vitals_request_free(request);
}

static int open_dialog(struct monitor *monitor, void *state)
{
    struct dialog *dialog = state;
    struct identity identity;
    const struct model *model = &monitor->model;
    /* On the page of a process it is about that one. */
    bool page = monitor->stack[monitor->depth - 1].screen == &screen_process;
    for (size_t i = 0; i < model->tag_count && !page; i++)
        add_target(monitor, dialog, &model->tags[i], model->tag_count == 1);
    dialog->of_tags = dialog->count > 0;
    if (dialog->count == 0 && monitor_target(monitor, &identity))
        add_target(monitor, dialog, &identity, true);
    else if (dialog->count == 0 && (monitor->depth > 1 || !add_group(monitor, dialog))) {
        model_say(&monitor->model, "select a process first (Up, Down), or tag some (Space)");
        return -1;
    }
    count_freed(model, dialog);
    dialog->button = CANCEL;
    dialog->other = SIGHUP;
    for (int i = 0; i < CANCEL && dialog->able == 1; i++) {
        if (BUTTONS[i].signal == monitor->signal)
            dialog->button = i;
    }
    return 0;
}

static void close_dialog(void *state)
{
    struct dialog *dialog = state;
    for (int i = 0; i < dialog->count; i++)
        vitals_process_close(dialog->targets[i].process);
}

/* "SIGHUP" */
static const char *name_of(int number)
{
    static char name[SIGNAL_NAME_SIZE + 4];
    char own[SIGNAL_NAME_SIZE];
    (void)snprintf(name, sizeof name, "SIG%s", signal_names_format(number, own));
    return name;
}

/* The next signal, or the one before, that has no button of its own. */
static int other_than(int number, int step)
{
    bool has_button;
    do {
        number = number + step < 1 ? NSIG - 1 : number + step >= NSIG ? 1 : number + step;
        has_button = signal_names_find(number) == NULL;
        for (int i = 0; i < CANCEL; i++)
            has_button = has_button || BUTTONS[i].signal == number;
    } while (has_button);
    return number;
}

static void send_one(struct screen_signal_target *target, int number)
{
    vitals_error error;
    if (target->process == NULL || target->state == STATE_ENDED)
        return;
    int code = vitals_process_signal(target->process, number, &error);
    target->state = code == 0 ? STATE_SENT : code == VITALS_EGONE ? STATE_ENDED : STATE_REFUSED;
    if (code == 0)
        (void)snprintf(target->result, sizeof target->result, "%s sent", name_of(number));
    else if (code == VITALS_EGONE)
        (void)snprintf(target->result, sizeof target->result, "had ended already");
    else if (code == VITALS_EDENIED)
        (void)snprintf(target->result, sizeof target->result,
                       "no permission: another user runs it; root may send it");
    else
        (void)snprintf(target->result, sizeof target->result, "not sent: %.140s", error.message);
}

static double seconds_since(const struct dialog *dialog)
{
    return (double)(dialog->now_ns - dialog->sent_ns) / 1e9;
}

static void look(struct dialog *dialog, struct screen_signal_target *target)
{
    enum { LONG_SECONDS = 2 };
    if (target->state != STATE_SENT)
        return;
    if (vitals_process_wait(target->process, 0, NULL) == 0) {
        target->state = STATE_ENDED;
        (void)snprintf(target->result, sizeof target->result, "has ended, %.1f s after %s",
                       seconds_since(dialog), name_of(dialog->signal));
        return;
    }
    if (seconds_since(dialog) < LONG_SECONDS)
        return;
    dialog->stubborn = true;
    (void)snprintf(target->result, sizeof target->result, "still alive %.0f s after %s",
                   seconds_since(dialog), name_of(dialog->signal));
}

static uint64_t patience_ns(const void *state)
{
    const struct dialog *dialog = state;
    for (int i = 0; dialog->sent && i < dialog->count; i++) {
        if (dialog->targets[i].state == STATE_SENT)
            return LOOK_NS;
    }
    return 0;
}

static void line(struct pen *pen, const struct box *box, int row, ink style, const char *text)
{
    canvas_words(pen->canvas, box->x + 2, box->y + row, box->columns - 4, style, text);
}

/* The place and the width of a button; 0: there is no room for it. */
static int button_at(const struct dialog *dialog, const struct box *box, int button, int *wide)
{
    int x = box->x + 2;
    *wide = 0;
    if (!has_button(dialog, button))
        return x;
    for (int i = 0; i < button; i++)
        x += has_button(dialog, i) ? (int)strlen(BUTTONS[i].label) + (box->columns < 50 ? 1 : 4)
                                   : 0;
    *wide = (int)strlen(BUTTONS[button].label) + (box->columns < 50 ? 0 : 2);
    return x;
}

/* Rows of each target: what became of it, or why it is left alone, has one of its own. */
static int rows_each(const struct dialog *dialog)
{
    for (int i = 0; i < dialog->count; i++) {
        if (dialog->targets[i].result[0] != '\0')
            return 2;
    }
    return 1;
}

/* Those of the frame; what devices have free then has one. */
static int frame_rows(const struct dialog *dialog)
{
    return FRAME + (dialog->freed.gpu_count > 0);
}

/* How many are seen at a time. */
static int shown(const struct model *model, const struct dialog *dialog)
{
    enum { ROWS_MOST = 16 };
    int rows = model->height - frame_rows(dialog);
    rows = rows < ROWS_MOST ? rows : ROWS_MOST;
    int most = rows / rows_each(dialog) > 1 ? rows / rows_each(dialog) : 1;
    return dialog->count < most ? dialog->count : most;
}

static struct box place_of(const struct model *model, const struct dialog *dialog)
{
    enum { WIDE_MOST = 90, BESIDE_LEAST = 4 }; /* less of what is below looks like a fault */
    bool whole = model->width < WIDE_MOST + 2 * BESIDE_LEAST;
    struct box box = {.columns = whole ? model->width : WIDE_MOST};
    box.rows = frame_rows(dialog) + rows_each(dialog) * shown(model, dialog);
    box.rows = box.rows > model->height ? model->height : box.rows;
    box.x = (model->width - box.columns) / 2;
    box.y = (model->height - box.rows) / 2;
    return box;
}

static void scroll(const struct model *model, struct dialog *dialog, int by)
{
    dialog->top = place_within(dialog->top + by, dialog->count - shown(model, dialog));
}

static void settle(struct monitor *monitor, void *state)
{
    enum { WIDE_ENOUGH = 64 };
    struct dialog *dialog = state;
    dialog->has_other = !monitor->model.arranged.nvitop && monitor->model.width >= WIDE_ENOUGH;
    dialog->button = has_button(dialog, dialog->button) ? dialog->button : CANCEL;
    scroll(&monitor->model, dialog, 0); /* the terminal may have another size */
    if (!dialog->sent)
        return;
    dialog->now_ns = monitor_now_ns(monitor);
    dialog->stubborn = false;
    for (int i = 0; i < dialog->count; i++)
        look(dialog, &dialog->targets[i]);
}

/* "Send a signal to 11 of 12 processes?"; of a group, which may have more than pass the filter,
 * "Send a signal to user ana: 11 of its 15 processes (4 are not touched)?" */
static void question_words(const struct dialog *dialog, int columns, char out[static LINE])
{
    const char *group = dialog->group, *plural = dialog->count == 1 ? "" : "es";
    int able = dialog->able, rest = dialog->total - able;
    char of[32] = "";
    if (able < dialog->count)
        (void)snprintf(of, sizeof of, "%d of ", able);
    if (dialog->sent || able == 0)
        (void)snprintf(out, LINE, "%s",
                       dialog->sent ? "What became of it:" : "None of these can be sent a signal:");
    else if (group[0] == '\0')
        (void)snprintf(out, LINE, "Send a signal to %s%d process%s?", of, dialog->count, plural);
    else if (dialog->total == 0)
        (void)snprintf(out, LINE, "Send a signal to %.300s: %s%d process%s shown here?", group, of,
                       dialog->count, plural);
    else if (rest <= 0)
        (void)snprintf(out, LINE, "Send a signal to %.300s: all %d process%s?", group, able,
                       plural);
    else
        (void)snprintf(out, LINE,
                       "Send a signal to %.300s: %d of its %d processes (%d %s not touched)?",
                       group, able, dialog->total, rest, rest == 1 ? "is" : "are");
    char *more = strrchr(out, '(');
    if (rest > 0 && more != NULL && canvas_columns(out) > columns)
        (void)snprintf(more - 1, 2, "?");
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct dialog *dialog = state;
    struct box box = place_of(&monitor->model, dialog);
    char text[LINE];
    monitor_draw_below(monitor, pen);
    draw_box(pen, &box, monitor_pretends(monitor) ? "Signal (demo: nothing is sent)" : "Signal");
    question_words(dialog, box.columns - 4, text);
    line(pen, &box, 1, STYLE_BOLD, text);

    int row = 2, seen = shown(&monitor->model, dialog), each = rows_each(dialog);
    for (int i = dialog->top; i < dialog->top + seen; i++) {
        const struct screen_signal_target *target = &dialog->targets[i];
        line(pen, &box, row++, STYLE_PLAIN, target->about);
        if (each == 1)
            continue;
        (void)snprintf(text, sizeof text, "    %s", target->result);
        line(pen, &box, row++,
             target->state == STATE_ENDED     ? STYLE_GREEN
             : target->state == STATE_REFUSED ? STYLE_YELLOW
                                              : STYLE_PLAIN,
             text);
    }

    /* How many are not seen, and how many are none of them. */
    int below = dialog->count - dialog->top - seen;
    text[0] = '\0';
    if (dialog->top > 0 || below > 0)
        cell_add(text, sizeof text, "%d more above, %d below: Up, Down", dialog->top, below);
    if (dialog->left_out > 0)
        cell_add(text, sizeof text, "%s%d more are left out", text[0] != '\0' ? "; " : "",
                 dialog->left_out);
    if (text[0] != '\0')
        line(pen, &box, row++, STYLE_DIM, text);

    bool asks = !dialog->sent && dialog->able > 0, narrow = box.columns < 50;
    char freed[FREED_WORDS];
    if (asks && freed_words(&dialog->freed, freed)) {
        (void)snprintf(text, sizeof text, "%s frees %s",
                       dialog->able == 1 ? "Its end" : "Their end", freed);
        line(pen, &box, row++, STYLE_PLAIN, text);
    }
    if (asks && row < box.rows - 3 && freed_gpu_words(&dialog->freed, freed)) {
        (void)snprintf(text, sizeof text, "%s free then", freed);
        line(pen, &box, row, STYLE_PLAIN, text);
    }
    for (int i = 0; asks && i < BUTTON_COUNT; i++) {
        int wide, x = button_at(dialog, &box, i, &wide);
        if (wide == 0)
            continue;
        ink chosen = STYLE_REVERSE | (i != CANCEL ? STYLE_RED : STYLE_CYAN);
        (void)snprintf(text, sizeof text, "%s%s", narrow ? "" : " ",
                       i == OTHER ? name_of(dialog->other) : BUTTONS[i].label);
        canvas_words(pen->canvas, x, box.y + box.rows - 3, wide,
                     STYLE_BOLD | (i == dialog->button ? chosen : STYLE_PLAIN), text);
    }
    line(pen, &box, box.rows - 2, STYLE_DIM,
         asks && dialog->button == OTHER ? "Up, Down: another signal; Enter sends; Esc cancels"
         : asks && dialog->has_other ? "Left, Right or t k i o c choose; Enter sends; Esc cancels"
         : asks                      ? "Left, Right or t k i c choose; Enter sends; Esc cancels"
         : dialog->sent && dialog->stubborn && dialog->signal != SIGKILL
             ? "k asks about SIGKILL; Esc closes"
             : "Esc or Enter closes");
}

/* Keys and the wheel; false: another one. */
static bool moves(const struct model *model, struct dialog *dialog, const struct input_event *event)
{
    int by = input_lines(event, shown(model, dialog), dialog->count);
    scroll(model, dialog, by);
    return by != 0;
}

/* Vitals itself is signalled last, so that all others get the signal. */
static void confirm(struct monitor *monitor, struct dialog *dialog)
{
    struct screen_signal_target *own = NULL;
    if (dialog->button == CANCEL || dialog->able == 0) {
        monitor_close(monitor);
        return;
    }
    dialog->signal = signal_of(dialog, dialog->button);
    dialog->sent = true;
    dialog->stubborn = false;
    dialog->sent_ns = dialog->now_ns = monitor_now_ns(monitor);
    for (int i = 0; i < dialog->count; i++) {
        if (monitor_readonly(monitor) != NULL) /* only a demo comes here then */
            (void)snprintf(dialog->targets[i].result, RESULT, "demo: nothing is sent");
        else if (dialog->targets[i].pid == (uint64_t)getpid())
            own = &dialog->targets[i];
        else
            send_one(&dialog->targets[i], dialog->signal);
    }
    if (own != NULL)
        send_one(own, dialog->signal);
    if (dialog->of_tags)
        monitor->model.tag_count = 0;
}

static void choose(struct dialog *dialog, int button)
{
    if (dialog->able > 0 && has_button(dialog, (button + BUTTON_COUNT) % BUTTON_COUNT))
        dialog->button = (button + BUTTON_COUNT) % BUTTON_COUNT;
}

static void choose_beside(struct dialog *dialog, int step)
{
    int button = (dialog->button + step + BUTTON_COUNT) % BUTTON_COUNT;
    choose(dialog, has_button(dialog, button) ? button : button + step);
}

static bool press_dialog(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct dialog *dialog = state;
    uint32_t code = event->code;
    if (!dialog->sent && dialog->button == OTHER && (code == INPUT_UP || code == INPUT_DOWN)) {
        dialog->other = other_than(dialog->other, code == INPUT_DOWN ? 1 : -1);
        return true;
    }
    if (moves(&monitor->model, dialog, event))
        return true;
    if (dialog->sent && (code == 'k' || code == 'K') && dialog->stubborn &&
        dialog->signal != SIGKILL) {
        dialog->sent = false;
        dialog->button = 1;
        return true;
    }
    if (dialog->sent) {
        if (code == INPUT_ESCAPE || code == INPUT_ENTER || code == '\r' || code == 'q')
            monitor_close(monitor);
        return true;
    }
    switch (code) {
    case INPUT_LEFT:
    case INPUT_BACK_TAB:
    case ',':
    case '<':
    case '[': choose_beside(dialog, -1); return true;
    case INPUT_RIGHT:
    case INPUT_TAB:
    case '.':
    case '>':
    case ']': choose_beside(dialog, 1); return true;
    case INPUT_ENTER:
    case '\r': confirm(monitor, dialog); return true;
    case INPUT_ESCAPE:
    case 'q':
    case 'Q':
    case 'n':
    case INPUT_CONTROL('c'): monitor_close(monitor); return true;
    default: break;
    }
    for (int i = 0; i < BUTTON_COUNT; i++) {
        int number = i > OTHER && !dialog->has_other ? i - 1 : i;
        if (has_button(dialog, i) &&
            (code == (uint32_t)BUTTONS[i].letter || code == (uint32_t)(BUTTONS[i].letter - 32) ||
             code == (uint32_t)('1' + number)))
            choose(dialog, i);
    }
    return true;
}

/* A click chooses; on what is chosen it presses. */
static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct dialog *dialog = state;
    struct box box = place_of(&monitor->model, dialog);
    if (moves(&monitor->model, dialog, event) || dialog->sent || dialog->able == 0 ||
        event->code != INPUT_CLICK || event->y != box.y + box.rows - 3)
        return true;
    for (int i = 0; i < BUTTON_COUNT; i++) {
        int wide, x = button_at(dialog, &box, i, &wide);
        if (event->x < x || event->x >= x + wide)
            continue;
        if (dialog->button == i)
            confirm(monitor, dialog);
        else
            choose(dialog, i);
        return true;
    }
    return true;
}

const struct screen screen_signal = {
    .name = "signal",
    .asks = true,
    .size = sizeof(struct dialog),
    .open = open_dialog,
    .draw = draw,
    .click = click,
    .input = press_dialog,
    .settle = settle,
    .patience_ns = patience_ns,
    .close = close_dialog,
};
