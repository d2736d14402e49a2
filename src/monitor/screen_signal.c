/* screen_signal.c: the dialog before a signal: whom, by proven handles; and what became of them.
 *
 * A handle is opened for each line's process when the dialog opens, and the signal goes through it:
 * whoever got the pid meanwhile is not meant. Letters only choose a button; Enter presses it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/screen.h"

enum { TARGETS_MOST = 64, SHOWN_MOST = 8, LINE = 512, RESULT = 160 };

/* How often those are looked at who got a signal. */
static const uint64_t LOOK_NS = 200000000u;

enum state { STATE_KNOWN, STATE_REFUSED, STATE_SENT, STATE_ENDED };

struct target {
    vitals_process *process; /* NULL: there is none to signal */
    uint64_t pid;
    enum state state;
    char about[LINE];    /* "1234 ana  2:10:44  3 children  python3 train.py" */
    char result[RESULT]; /* safe */
};

struct dialog {
    struct target targets[TARGETS_MOST];
    int count, left_out;
    int button;
    bool sent;
    int signal; /* the last one that was sent */
    uint64_t sent_ns, now_ns;
    bool stubborn; /* somebody still lives seconds later */
};

struct button {
    const char *label;
    int signal; /* 0: none is sent */
    char letter;
};
static const struct button BUTTONS[] = {{"SIGTERM", SIGTERM, 't'},
                                        {"SIGKILL", SIGKILL, 'k'},
                                        {"SIGINT", SIGINT, 'i'},
                                        {"Cancel", 0, 'c'}};
enum { BUTTON_COUNT = sizeof BUTTONS / sizeof BUTTONS[0], CANCEL = BUTTON_COUNT - 1 };

/* ---- whom ---- */

/* Of those that a snapshot has: their own children. -1: not known. */
static long count_children(const struct model *model, uint64_t pid)
{
    const vitals_snapshot *now = model->same ? model->machine.now : model->all.now;
    long count = 0;
    if (now == NULL)
        return -1;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(now, VITALS_PROCESS, row)) != NULL;) {
        uint64_t parent;
        count += vitals_row_u64(row, VITALS_PROCESS_PARENT_PID, &parent) > 0 && parent == pid;
    }
    return count;
}

static long ask_children(vitals_process *process)
{
    vitals_snapshot *children = NULL;
    vitals_error error;
    if (vitals_process_relatives(process, VITALS_CHILDREN, NULL, &children, &error) < 0)
        return -1;
    long count = (long)vitals_snapshot_count(children, VITALS_PROCESS);
    vitals_snapshot_unref(children);
    return count;
}

static void describe(const struct monitor *monitor, struct target *target, const vitals_row *row)
{
    const struct model *model = &monitor->model;
    char user[WORDS], age[WORDS], command[WORDS_COMMAND], children[WORDS] = "";
    double start;
    (void)cell_text(row, VITALS_PROCESS_USER, model->options->look.ascii, user, sizeof user);
    (void)cell_missing(age);
    if (cell_value(row, VITALS_PROCESS_START_SECONDS, &start))
        (void)vitals_human_duration(
            (double)vitals_snapshot_boottime_ns(vitals_row_snapshot(row)) / 1e9 - start, age);
    long count = count_children(model, target->pid);
    if (count < 0 && target->process != NULL)
        count = ask_children(target->process);
    if (count > 0)
        (void)snprintf(children, sizeof children, ", %ld %s", count,
                       count == 1 ? "child" : "children");
    (void)snprintf(target->about, sizeof target->about, "%llu %s, since %s%s: %.300s",
                   (unsigned long long)target->pid, user, age, children,
                   cell_command(row, model->options->look.ascii, command));
}

static void add_target(struct monitor *monitor, struct dialog *dialog,
                       const struct identity *identity)
{
    vitals_error error;
    if (dialog->count >= TARGETS_MOST) {
        dialog->left_out++;
        return;
    }
    struct target *target = &dialog->targets[dialog->count++];
    const vitals_row *row = model_process(&monitor->model, identity);
    target->pid = identity->pid;
    if (row == NULL) {
        target->state = STATE_REFUSED;
        (void)snprintf(target->about, sizeof target->about, "%llu",
                       (unsigned long long)identity->pid);
        (void)snprintf(target->result, sizeof target->result,
                       "left alone: it is not known whose pid that is here");
        return;
    }
    if (vitals_process_of(monitor->options->context, row, &target->process, &error) < 0) {
        target->state = STATE_REFUSED;
        (void)snprintf(target->result, sizeof target->result, "left alone: %.140s", error.message);
    }
    describe(monitor, target, row);
}

static int open_dialog(struct monitor *monitor, void **state)
{
    struct identity identity;
    const struct model *model = &monitor->model;
    bool any = monitor_target(monitor, &identity);
    if (monitor->options->context == NULL || (model->tag_count == 0 && !any)) {
        monitor_say(monitor, "select a process first (Up, Down), or tag some (Space)");
        return -1;
    }
    struct dialog *dialog = calloc(1, sizeof *dialog);
    if (dialog == NULL)
        return -1;
    for (size_t i = 0; i < model->tag_count; i++)
        add_target(monitor, dialog, &model->tags[i]);
    if (model->tag_count == 0)
        add_target(monitor, dialog, &identity);
    dialog->button = CANCEL;
    for (int i = 0; i < CANCEL; i++) {
        if (BUTTONS[i].signal == monitor->signal)
            dialog->button = i;
    }
    *state = dialog;
    return 0;
}

static void close_dialog(void *state)
{
    struct dialog *dialog = state;
    for (int i = 0; i < dialog->count; i++)
        vitals_process_free(dialog->targets[i].process);
    free(dialog);
}

/* ---- sending, and what became of it ---- */

static const char *name_of(int number)
{
    for (int i = 0; i < CANCEL; i++) {
        if (BUTTONS[i].signal == number)
            return BUTTONS[i].label;
    }
    return "signal";
}

static void send_one(struct target *target, int number)
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
                       "no permission: it is somebody else's; root may");
    else
        (void)snprintf(target->result, sizeof target->result, "not sent: %.140s", error.message);
}

static void send_all(struct monitor *monitor, struct dialog *dialog)
{
    dialog->signal = BUTTONS[dialog->button].signal;
    dialog->sent = true;
    dialog->stubborn = false;
    dialog->sent_ns = dialog->now_ns = monitor_now_ns(monitor);
    for (int i = 0; i < dialog->count; i++)
        send_one(&dialog->targets[i], dialog->signal);
    monitor->model.tag_count = 0;
}

static double seconds_since(const struct dialog *dialog)
{
    return (double)(dialog->now_ns - dialog->sent_ns) / 1e9;
}

static void look(struct dialog *dialog, struct target *target)
{
    enum { LONG_SECONDS = 2 };
    vitals_error error;
    if (target->state != STATE_SENT)
        return;
    if (vitals_process_wait(target->process, 0, &error) == 0) {
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

static void settle(struct monitor *monitor, void *state)
{
    struct dialog *dialog = state;
    if (!dialog->sent)
        return;
    dialog->now_ns = monitor_now_ns(monitor);
    dialog->stubborn = false;
    for (int i = 0; i < dialog->count; i++)
        look(dialog, &dialog->targets[i]);
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

/* ---- drawing ---- */

static void line(struct pen *pen, const struct box *box, int row, ink style, const char *text)
{
    struct canvas_field field = {
        .x = box->x + 2, .y = box->y + row, .columns = box->columns - 4, .style = style};
    canvas_field(pen->canvas, &field, text);
}

/* Where a button begins, and how wide it is. */
static int button_at(const struct box *box, int button, int *wide)
{
    int x = box->x + 2;
    for (int i = 0; i < button; i++)
        x += (int)strlen(BUTTONS[i].label) + (box->columns < 50 ? 1 : 4);
    *wide = (int)strlen(BUTTONS[button].label) + (box->columns < 50 ? 0 : 2);
    return x;
}

static void draw_buttons(const struct dialog *dialog, struct pen *pen, const struct box *box, int y)
{
    for (int i = 0; i < BUTTON_COUNT; i++) {
        int wide, x = button_at(box, i, &wide);
        struct canvas_field field = {.x = x, .y = y, .columns = wide, .style = STYLE_BOLD};
        char text[32];
        (void)snprintf(text, sizeof text, "%s%s", box->columns < 50 ? "" : " ", BUTTONS[i].label);
        if (i == dialog->button)
            field.style |= STYLE_REVERSE | (BUTTONS[i].signal != 0 ? STYLE_RED : STYLE_CYAN);
        canvas_field(pen->canvas, &field, text);
    }
}

static int shown(const struct dialog *dialog)
{
    return dialog->count < SHOWN_MOST ? dialog->count : SHOWN_MOST;
}

static struct box place_of(const struct model *model, const struct dialog *dialog)
{
    enum { WIDE_MOST = 90, FRAME = 7 };
    struct box box = {.columns = model->width < WIDE_MOST + 4 ? model->width - 2 : WIDE_MOST};
    box.rows = FRAME + 2 * shown(dialog);
    box.rows = box.rows > model->height ? model->height : box.rows;
    box.x = (model->width - box.columns) / 2;
    box.y = (model->height - box.rows) / 2;
    return box;
}

static ink result_style(const struct target *target)
{
    return target->state == STATE_ENDED     ? STYLE_GREEN
           : target->state == STATE_REFUSED ? STYLE_YELLOW
                                            : STYLE_PLAIN;
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct dialog *dialog = state;
    struct box box = place_of(&monitor->model, dialog);
    char text[LINE];
    int row = 1;
    monitor_draw_below(monitor, pen);
    draw_box(pen, &box, "Signal");
    (void)snprintf(text, sizeof text,
                   dialog->sent ? "What became of it:" : "Send a signal to %d process%s?",
                   dialog->count, dialog->count == 1 ? "" : "es");
    line(pen, &box, row++, STYLE_BOLD, text);
    for (int i = 0; i < shown(dialog); i++) {
        line(pen, &box, row++, STYLE_PLAIN, dialog->targets[i].about);
        (void)snprintf(text, sizeof text, "    %s", dialog->targets[i].result);
        line(pen, &box, row++, result_style(&dialog->targets[i]), text);
    }
    if (dialog->count > SHOWN_MOST || dialog->left_out > 0) {
        (void)snprintf(text, sizeof text, "and %d more%s", dialog->count - shown(dialog),
                       dialog->left_out > 0 ? "; more than 64 are left out" : "");
        line(pen, &box, row++, STYLE_DIM, text);
    }
    if (!dialog->sent)
        draw_buttons(dialog, pen, &box, box.y + box.rows - 3);
    line(pen, &box, box.rows - 2, STYLE_DIM,
         !dialog->sent ? "Left, Right or t k i c choose; Enter sends; Esc cancels"
         : dialog->stubborn && dialog->signal != SIGKILL ? "k asks about SIGKILL; Esc closes"
                                                         : "Esc or Enter closes");
}

/* ---- keys ---- */

static void confirm(struct monitor *monitor, struct dialog *dialog)
{
    if (dialog->button == CANCEL) {
        monitor_close(monitor);
        return;
    }
    send_all(monitor, dialog);
}

static void press_sent(struct monitor *monitor, struct dialog *dialog, uint32_t code)
{
    if ((code == 'k' || code == 'K') && dialog->stubborn && dialog->signal != SIGKILL) {
        dialog->sent = false;
        dialog->button = 1;
    } else if (code == PRESS_ESCAPE || code == PRESS_ENTER || code == '\r' || code == 'q')
        monitor_close(monitor);
}

static void choose(struct dialog *dialog, int button)
{
    dialog->button = (button + BUTTON_COUNT) % BUTTON_COUNT;
}

static bool press_dialog(struct monitor *monitor, void *state, const struct press *press)
{
    struct dialog *dialog = state;
    uint32_t code = press->code;
    if (dialog->sent) {
        press_sent(monitor, dialog, code);
        return true;
    }
    switch (code) {
    case PRESS_LEFT:
    case PRESS_BACK_TAB:
    case ',':
    case '<':
    case '[': choose(dialog, dialog->button - 1); return true;
    case PRESS_RIGHT:
    case PRESS_TAB:
    case '.':
    case '>':
    case ']': choose(dialog, dialog->button + 1); return true;
    case PRESS_ENTER:
    case '\r': confirm(monitor, dialog); return true;
    case PRESS_ESCAPE:
    case 'q':
    case 'Q':
    case 'n':
    case PRESS_CONTROL('c'): monitor_close(monitor); return true;
    default: break;
    }
    for (int i = 0; i < BUTTON_COUNT; i++) {
        if (code == (uint32_t)BUTTONS[i].letter || code == (uint32_t)(BUTTONS[i].letter - 32) ||
            code == (uint32_t)('1' + i))
            choose(dialog, i);
    }
    return true;
}

/* A click chooses; on what is chosen it presses. */
static bool click(struct monitor *monitor, void *state, const struct press *press)
{
    struct dialog *dialog = state;
    struct box box = place_of(&monitor->model, dialog);
    if (dialog->sent || press->code != PRESS_CLICK || press->y != box.y + box.rows - 3)
        return true;
    for (int i = 0; i < BUTTON_COUNT; i++) {
        int wide, x = button_at(&box, i, &wide);
        if (press->x < x || press->x >= x + wide)
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
    .open = open_dialog,
    .draw = draw,
    .click = click,
    .press = press_dialog,
    .settle = settle,
    .patience_ns = patience_ns,
    .close = close_dialog,
};
