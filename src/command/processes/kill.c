/* kill.c: `vitals kill`: shows the chosen processes, asks, signals exactly those, and reports the
 * result for each. A process that gets a pid later is never signalled. A row identifies a process
 * by pid and clock tick, which two processes can share; so a first reading only chooses the
 * processes to open a handle for. Then a second reading is taken. If the process behind a handle
 * still lives after it, its pid belonged to no other process meanwhile, so the row is its own. That
 * row is judged and shown, and the signal goes through the same handle. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "command/command.h"
#include "command/grid.h"
#include "command/output.h"
#include "command/processes/ps_rows.h"
#include "command/signals.h"

enum { SIGNAL_TEXT = 16 };

/* After KILL they end as soon as the kernel lets them. */
static const uint64_t AFTER_KILL_NS = 5000000000u;

struct kill_target {
    vitals_process *process;
    const vitals_row *row; /* of the reading behind its opening */
    int sent;              /* the last signal that it was sent; 0: none */
    bool ended;
    double after_seconds;
};

struct kill {
    const struct machine_settings *machine;
    const struct look_settings *look;
    const struct argument_settings *arguments;
    const struct choice_settings *choice;
    const struct kill_settings *settings;
    int signal;
    size_t signal_words; /* how many words name it; the others are pids */
    struct filter filter;
    vitals_context *context;
    vitals_request *request;
    vitals_snapshot *snapshot;   /* the second reading */
    vitals_snapshot *ancestors;  /* that vitals runs in; read if no process is named */
    struct kill_target *targets; /* by pid */
    size_t count;
    uint64_t begun_ns;
    struct output *output;
};

/* --- Choosing -----------------------------------------------------------------------------------
 */

static int begin(struct kill *kill)
{
    static const vitals_metric METRICS[] = {VITALS_PROCESS_PID,
                                            VITALS_PROCESS_START_SECONDS,
                                            VITALS_PROCESS_NAME,
                                            VITALS_PROCESS_STATE,
                                            VITALS_PROCESS_VIRTUAL_BYTES,
                                            VITALS_PROCESS_COMMAND_LINE,
                                            VITALS_PROCESS_EFFECTIVE_USER,
                                            VITALS_PROCESS_PARENT_PID};
    vitals_options world;
    vitals_error error;
    command_world(kill->machine, &world);
    int code = vitals_context_new(&world, &kill->context, &error);
    if (code == 0)
        code = vitals_request_new(0, &kill->request, &error);
    for (size_t i = 0; i < sizeof METRICS / sizeof METRICS[0] && code == 0; i++)
        code = vitals_request_add(kill->request, METRICS[i], &error);
    if (code == 0)
        code = filter_request(&kill->filter, kill->request, &error);
    return code == 0 ? 0 : command_fail(EXIT_CANNOT, "%s", error.message);
}

static int take(const struct kill *kill, vitals_snapshot **out)
{
    vitals_error error;
    int code = vitals_snapshot_take_request(kill->context, kill->request, out, &error);
    return code == 0 ? 0 : command_fail(EXIT_CANNOT, "%s", error.message);
}

static uint64_t pid_of(const vitals_row *row)
{
    uint64_t pid;
    return vitals_row_u64(row, VITALS_PROCESS_PID, &pid) > 0 ? pid : 0;
}

static bool is_zombie(const vitals_row *row)
{
    vitals_text state;
    return vitals_row_text(row, VITALS_PROCESS_STATE, &state) > 0 &&
           filter_state_letter(state.bytes, state.size) == 'Z';
}

/* Kernel threads, which no signal reaches, have no memory of their own; nor has a zombie. */
static bool is_kernel_thread(const vitals_row *row)
{
    uint64_t bytes;
    return vitals_row_u64(row, VITALS_PROCESS_VIRTUAL_BYTES, &bytes) > 0 && bytes == 0 &&
           !is_zombie(row);
}

/* The shell, what that runs in, and so on. 0, or EXIT_CANNOT after a message. */
static int read_ancestors(struct kill *kill)
{
    vitals_error error;
    vitals_process *own = NULL;
    int code = vitals_process_open(kill->context, getpid(), &own, &error);
    if (code == 0)
        code = vitals_process_relatives(own, VITALS_ANCESTORS, NULL, &kill->ancestors, &error);
    if (code < 0)
        code = command_fail(EXIT_CANNOT, "cannot tell what vitals itself runs in: %s; name pids",
                            error.message);
    vitals_process_free(own);
    return code;
}

static bool holds(const vitals_snapshot *ancestors, uint64_t pid)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(ancestors, VITALS_PROCESS, row)) != NULL;) {
        if (pid_of(row) == pid)
            return true;
    }
    return false;
}

/* Whether one that was named by its pid can be signalled; false after a message. */
static bool is_sound(const vitals_row *row)
{
    uint64_t parent;
    if (pid_of(row) == (uint64_t)getpid()) {
        (void)command_fail(0, "process %d is vitals itself", (int)getpid());
        return false;
    }
    if (!is_zombie(row))
        return true;
    if (vitals_row_u64(row, VITALS_PROCESS_PARENT_PID, &parent) <= 0)
        parent = 0;
    (void)command_fail(0, "%llu has already ended; its parent %llu has not collected it",
                       (unsigned long long)pid_of(row), (unsigned long long)parent);
    return false;
}

static int compare_pids(const void *pid, const void *item)
{
    const struct kill_target *target = item;
    int64_t wanted = *(const int64_t *)pid, own = vitals_process_pid(target->process);
    return (wanted > own) - (wanted < own);
}

/* Whether it is signalled; false after a message where it was named. */
static bool is_meant(struct kill *kill, struct kill_target *target, int *code)
{
    // Asked behind the reading: the row is its own.
    bool lives = target->row != NULL && vitals_process_is_running(target->process);
    if (!lives) {
        if (filter_lists(&kill->filter, vitals_process_pid(target->process)))
            *code = command_fail(EXIT_CANNOT, "process %lld has ended",
                                 (long long)vitals_process_pid(target->process));
        return false;
    }
    if (!filter_passes(&kill->filter, target->row))
        return false;
    /* Whether a process may be signalled although its pid was not given. */
    if (!filter_names_pid(&kill->filter, target->row)) {
        const vitals_row *row = target->row;
        uint64_t pid = pid_of(row);
        if (pid == 1 || is_kernel_thread(row) || is_zombie(row) || pid == (uint64_t)getpid())
            return false;
        if (!holds(kill->ancestors, pid))
            return true;
        (void)command_fail(0,
                           "process %llu is left out: vitals runs in it; name its pid to signal it",
                           (unsigned long long)pid);
        return false;
    }
    bool sound = is_sound(target->row);
    *code = sound ? *code : EXIT_CANNOT;
    return sound;
}

/* Lets go of those that are not meant. */
static int judge(struct kill *kill)
{
    int code = EXIT_DONE;
    size_t kept = 0;

    /* Each target's row of the second reading. */
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(kill->snapshot, VITALS_PROCESS, row)) != NULL;) {
        int64_t pid = (int64_t)pid_of(row);
        struct kill_target *target = bsearch(&pid, kill->targets, kill->count,
                                             sizeof *kill->targets, compare_pids);
        if (target != NULL)
            target->row = row;
    }

    for (size_t i = 0; i < kill->count; i++) {
        if (is_meant(kill, &kill->targets[i], &code))
            kill->targets[kept++] = kill->targets[i];
        else
            vitals_process_free(kill->targets[i].process);
    }
    kill->count = kept;
    return code;
}

static void let_go(struct kill *kill)
{
    for (size_t i = 0; i < kill->count; i++)
        vitals_process_free(kill->targets[i].process);
    kill->count = 0;
}

/* 0, or EXIT_CANNOT after messages; there may be targets even then. */
static int choose(struct kill *kill)
{
    vitals_snapshot *first = NULL;
    int code = begin(kill);
    if (code == 0 && !kill->filter.pids.given)
        code = read_ancestors(kill);
    if (code == 0)
        code = take(kill, &first);
    if (code != 0)
        return code;

    /* Opens a handle for each process that passes in a first reading, whichever has the pid by now.
     * One that ended in between is reported only if it was named. 0, or EXIT_CANNOT after messages.
     */
    const struct ps_order by_pid = {.count = 0};
    struct ps_view view = {first, NULL, kill->look->ascii, false, true};
    struct ps_rows rows;
    int held = ps_rows_choose(&rows, &kill->filter, &by_pid, &view, 0);
    if (held == 0 && (kill->targets = calloc(rows.count + 1, sizeof *kill->targets)) == NULL)
        held = command_fail(EXIT_CANNOT, "out of memory");
    for (size_t i = 0; kill->targets != NULL && i < rows.count; i++) {
        const vitals_row *row = rows.items[i].process;
        vitals_error error;
        struct kill_target *target = &kill->targets[kill->count];
        int opened = vitals_process_open(kill->context, (int64_t)pid_of(row), &target->process,
                                         &error);
        if (opened == 0)
            kill->count++;
        else if (opened != VITALS_EGONE || filter_names_pid(&kill->filter, row))
            held = command_fail(EXIT_CANNOT, "%s", error.message);
    }
    ps_rows_done(&rows);

    code = take(kill, &kill->snapshot);
    int judged = code == 0 ? judge(kill) : code;
    int complained = code == 0 ? filter_complain(&kill->filter, first) : 0;
    vitals_snapshot_unref(first);
    if (code != 0)
        let_go(kill);
    return held != 0 ? held : judged != 0 ? judged : complained;
}

/* --- Showing and asking -------------------------------------------------------------------------
 */

static void fill_target(struct grid *grid, const struct ps_column *columns, size_t count,
                        const struct ps_view *view, const struct kill_target *target)
{
    struct ps_text text = {0};
    for (size_t i = 0; i < count; i++) {
        enum color color = COLOR_PLAIN;
        const char *cell = ps_column_cell(&columns[i], view, target->row, &text, &color);
        grid_cell(grid, color, cell != NULL ? cell : "");
    }
    ps_text_done(&text);
}

static void show(const struct kill *kill)
{
    static const char *const NAMES[] = {"pid", "euser=USER", "age=AGE", "stat=STATE", "args"};
    enum { COLUMNS = sizeof NAMES / sizeof NAMES[0] };
    const struct grid_form form = {.width = (size_t)kill->look->line_width, .titles = true};
    struct ps_view view = {kill->snapshot, NULL, kill->look->ascii, false, true};
    struct ps_column columns[COLUMNS];
    struct grid grid = {0};
    struct paint paint;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (ps_column_find("kill", NAMES[i], &columns[i]) != 0)
            return;
        if (strncmp(NAMES[i], "stat", 4) == 0)
            columns[i].show = SHOW_TEXT;
        grid_column(&grid, columns[i].title,
                    ps_column_is_number(&columns[i]) ? ALIGN_RIGHT : ALIGN_LEFT, 0);
    }
    for (size_t i = 0; i < kill->count; i++)
        fill_target(&grid, columns, COLUMNS, &view, &kill->targets[i]);
    paint_init(&paint, kill->look->color, output_write, kill->output);
    (void)grid_paint(&grid, &form, &paint);
    (void)paint_done(&paint);
    (void)output_flush(kill->output);
    grid_done(&grid);
}

/* 0 where a person said yes, else EXIT_CANNOT. */
static int ask(const struct kill *kill)
{
    char answer[16] = "", name[SIGNAL_TEXT];
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return command_fail(EXIT_CANNOT, "nothing was signalled: kill asks first, and there is no "
                                         "terminal to ask on; --yes does without");
    (void)tcflush(STDIN_FILENO, TCIFLUSH); // what was typed before is no answer
    if (kill->count == 1)
        fprintf(stderr, "Send %s to this process? [y/N] ", signal_name(kill->signal, name));
    else
        fprintf(stderr, "Send %s to these %zu processes? [y/N] ", signal_name(kill->signal, name),
                kill->count);
    if (fgets(answer, sizeof answer, stdin) == NULL)
        fputc('\n', stderr);
    bool yes = answer[0] == 'y' || answer[0] == 'Y';
    return yes ? 0 : command_fail(EXIT_CANNOT, "nothing was signalled");
}

/* --- Signalling and waiting ---------------------------------------------------------------------
 */

static uint64_t now_ns(const struct kill *kill)
{
    const vitals_clock *clock = vitals_context_clock(kill->context);
    return clock->monotonic_ns(clock->data);
}

/* Says why a process could not be signalled. Gives EXIT_CANNOT. */
static int tell_refused(const struct kill_target *target, int signal, int result,
                        const vitals_error *error)
{
    char name[SIGNAL_TEXT], user[128] = "somebody else";
    vitals_text text;
    if (result != VITALS_EDENIED)
        return command_fail(EXIT_CANNOT, "%s", error->message);
    if (vitals_row_text(target->row, VITALS_PROCESS_EFFECTIVE_USER, &text) > 0)
        (void)vitals_text_format(text, VITALS_TEXT_ASCII, user, sizeof user);
    return command_fail(EXIT_CANNOT, "%s to process %lld: no permission; it is %s's",
                        signal_name(signal, name), (long long)vitals_process_pid(target->process),
                        user);
}

/* To those that still live. 0, or EXIT_CANNOT after a message for each that could not be. */
static int send(struct kill *kill, int signal)
{
    int code = 0;
    for (size_t i = 0; i < kill->count; i++) {
        struct kill_target *target = &kill->targets[i];
        vitals_error error;
        if (target->ended || (target->sent == 0 && signal != kill->signal))
            continue;
        int result = vitals_process_signal(target->process, signal, &error);
        if (result == 0)
            target->sent = signal;
        else if (result != VITALS_EGONE || target->sent == 0)
            code = tell_refused(target, signal, result, &error);
    }
    return code;
}

static int note_end(void *data, vitals_process *process)
{
    struct kill *kill = data;
    for (size_t i = 0; i < kill->count; i++) {
        struct kill_target *target = &kill->targets[i];
        if (target->process != process)
            continue;
        target->ended = true;
        target->after_seconds = (double)(now_ns(kill) - kill->begun_ns) / 1e9;
    }
    return 0;
}

/* For all that were signalled; how many still live. 0, or EXIT_CANNOT after a message. */
static int wait_for_end(struct kill *kill, uint64_t timeout_ns, size_t *living)
{
    vitals_error error;
    size_t count = 0;
    vitals_process **processes = calloc(kill->count + 1, sizeof(vitals_process *));
    *living = 0;
    if (processes == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");
    for (size_t i = 0; i < kill->count; i++) {
        if (kill->targets[i].sent != 0 && !kill->targets[i].ended)
            processes[count++] = kill->targets[i].process;
    }
    vitals_wait how;
    vitals_wait_init(&how, sizeof how);
    how.timeout_ns = timeout_ns;
    how.ended = note_end;
    how.data = kill;
    int code = vitals_processes_wait(processes, count, &how, living, &error);
    free(processes);
    return code == 0 ? 0 : command_fail(EXIT_CANNOT, "%s", error.message);
}

/* TERM, then KILL for processes that did not end. */
static int wait_or_force(struct kill *kill)
{
    bool forces = kill->settings->force_ns > 0;
    uint64_t patience_ns = forces ? kill->settings->force_ns : kill->settings->wait_ns;
    size_t living;
    int code = wait_for_end(kill, patience_ns, &living);
    if (code == 0 && living > 0 && forces) {
        code = send(kill, signal_number("KILL"));
        int waited = wait_for_end(
            kill, kill->settings->wait_ended ? kill->settings->wait_ns : AFTER_KILL_NS, &living);
        code = waited != 0 ? waited : code;
    }
    return living > 0 ? EXIT_CANNOT : code;
}

static void describe_end(const struct kill_target *target, char *out, size_t capacity)
{
    char name[SIGNAL_TEXT];
    int size = snprintf(out, capacity, "ended after %.1f s", target->after_seconds);
    int code, signal;
    if (size <= 0 || (size_t)size >= capacity ||
        vitals_process_exit_status(target->process, &code, &signal) != VITALS_HAVE)
        return;
    if (signal != 0)
        snprintf(out + size, capacity - (size_t)size, ", by %s", signal_name(signal, name));
    else
        snprintf(out + size, capacity - (size_t)size, ", exit %d", code);
}

static int act(struct kill *kill)
{
    bool waits = kill->settings->wait_ended || kill->settings->force_ns > 0;
    kill->begun_ns = now_ns(kill);
    int code = send(kill, kill->signal);
    int waited = waits ? wait_or_force(kill) : 0;

    for (size_t i = 0; i < kill->count; i++) {
        const struct kill_target *target = &kill->targets[i];
        char name[SIGNAL_TEXT], end[80] = "still alive";
        if (target->sent == 0)
            continue; /* a message has said why */
        if (target->ended)
            describe_end(target, end, sizeof end);
        output_format(kill->output, "%lld: %s sent%s%s\n",
                      (long long)vitals_process_pid(target->process),
                      signal_name(target->sent, name), waits ? ", " : "", waits ? end : "");
    }

    return waited != 0 ? waited : code;
}

/* --- As a whole ---------------------------------------------------------------------------------
 */

/* -s TERM, or a first word that begins with a dash. 0, or EXIT_USAGE after a message. */
static int take_signal(struct kill *kill, size_t *used)
{
    const char *word = kill->settings->signal != NULL ? kill->settings->signal : "TERM";
    *used = 0;
    if (kill->arguments->dashed_first) {
        if (kill->settings->signal != NULL)
            return command_fail(EXIT_USAGE, "one signal: -s %s or %s", command_safe(word),
                                command_safe(kill->arguments->words.items[0]));
        word = kill->arguments->words.items[0] + 1;
        *used = 1;
    }
    kill->signal = signal_number(word);
    return kill->signal > 0 ? 0 : EXIT_USAGE;
}

/* The demo invents owners and activity of processes; a process chosen by those would really end.
 * Pids are real. */
static bool would_believe_the_demo(const struct kill *kill)
{
    bool by_pid = kill->arguments->words.count > kill->signal_words || kill->choice->pids.count > 0;
    return command_has_demo(kill->machine) && !kill->settings->dry_run && !by_pid;
}

static int run(struct kill *kill)
{
    int chosen = choose(kill);
    if (kill->count == 0)
        return chosen != 0 ? chosen : command_fail(EXIT_CANNOT, "no process was chosen");
    show(kill);
    if (kill->settings->dry_run)
        return chosen;
    int code = kill->settings->yes ? 0 : ask(kill);
    if (code == 0)
        code = act(kill);
    return code != 0 ? code : chosen;
}

int command_kill(const struct settings *settings)
{
    static struct output output; /* 32 KiB, not for the stack */
    struct kill kill = {.machine = &settings->machine,
                        .look = &settings->look,
                        .arguments = &settings->arguments,
                        .choice = &settings->choice,
                        .settings = &settings->kill,
                        .output = &output};
    size_t used;
    int code = take_signal(&kill, &used);
    if (code != 0)
        return code;
    output_init(&output, STDOUT_FILENO);
    code = filter_init(&kill.filter, &settings->choice, &settings->machine,
                       settings->arguments.words.items + used,
                       settings->arguments.words.count - used);
    if (code == 0 && !filter_chooses(&kill.filter))
        code = command_fail(EXIT_USAGE, "kill needs a pid, or an option that chooses processes");
    kill.signal_words = used;
    if (code == 0 && would_believe_the_demo(&kill))
        code = command_fail(EXIT_USAGE,
                            "the demo invents who is on its devices, and kill is no game: "
                            "it goes with --dry-run, or with pids");
    if (code == 0)
        code = run(&kill);
    let_go(&kill);
    free(kill.targets);
    vitals_snapshot_unref(kill.ancestors);
    vitals_request_free(kill.request);
    filter_done(&kill.filter);
    vitals_snapshot_unref(kill.snapshot);
    vitals_context_free(kill.context);
    return output_done(&output, code);
}
