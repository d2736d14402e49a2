/* kill.c: `vitals kill`: shows the chosen processes, asks, signals exactly those, and reports the
 * result for each. A process that gets a pid later is never signalled. A row identifies a process
 * by pid and clock tick, which two processes can share; so a first reading only chooses the
 * processes to open a handle for. Then a second reading is taken. If the process behind a handle
 * still lives after it, its pid belonged to no other process meanwhile, so the row is its own. That
 * row is judged and shown, and the signal goes through the same handle. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "command/command.h"
#include "command/grid.h"
#include "command/options/option.h"
#include "command/output.h"
#include "command/processes/ps_rows.h"
#include "feed/rows.h"
#include "util/number.h"
#include "util/signal_names.h"

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
    const struct kill_settings *settings;
    int signal;
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

/* ---- Choosing ---- */

/* Makes the context and the request, and reads the shell, what that runs in, and so on, unless pids
 * are named. 0, or EXIT_CANNOT after a message. */
static int begin(struct kill *kill)
{
    static const vitals_metric METRICS[] = {VITALS_PROCESS_PID,
                                            VITALS_PROCESS_START_SECONDS,
                                            VITALS_PROCESS_NAME,
                                            VITALS_PROCESS_STATE,
                                            VITALS_PROCESS_VIRTUAL_BYTES,
                                            VITALS_PROCESS_COMMAND_LINE,
                                            VITALS_PROCESS_EFFECTIVE_USER,
                                            VITALS_PROCESS_PARENT_PID,
                                            0};
    vitals_error error;
    int code = command_context(kill->machine, &kill->context, &error);
    if (code == 0)
        code = command_request(METRICS, NULL, &kill->request, &error);
    if (code == 0)
        code = filter_request(&kill->filter, kill->request, &error);
    if (code < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    if (kill->filter.pids.given)
        return 0;

    vitals_process *own = NULL;
    code = vitals_process_open(kill->context, getpid(), &own, &error);
    if (code == 0)
        code = vitals_process_relatives(own, VITALS_ANCESTORS, NULL, &kill->ancestors, &error);
    vitals_process_close(own);
    return code == 0 ? 0
                     : command_fail(EXIT_CANNOT,
                                    "the processes that vitals runs in are not known: %s; name "
                                    "pids instead of options",
                                    error.message);
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

static int compare_pids(const void *pid, const void *item)
{
    const struct kill_target *target = item;
    int64_t wanted = *(const int64_t *)pid, own = vitals_process_pid(target->process);
    return (wanted > own) - (wanted < own);
}

/* True if a process that was named by its pid can be signalled; false after a message. */
static bool named_is_meant(const vitals_row *row)
{
    uint64_t parent;
    if (pid_of(row) == (uint64_t)getpid()) {
        (void)command_fail(0, "process %d is vitals itself", (int)getpid());
        return false;
    }
    if (!command_text_is(row, VITALS_PROCESS_STATE, "zombie"))
        return true;
    if (vitals_row_u64(row, VITALS_PROCESS_PARENT_PID, &parent) <= 0)
        parent = 0;
    (void)command_fail(0, "%llu has already ended; its parent %llu has not collected it",
                       (unsigned long long)pid_of(row), (unsigned long long)parent);
    return false;
}

/* True if a process that was not named by its pid may be signalled: not init, vitals itself, what
 * vitals runs in, a zombie, or a kernel thread, which has no memory and which no signal reaches. */
static bool unnamed_is_meant(const struct kill *kill, const vitals_row *row)
{
    uint64_t pid = pid_of(row), bytes;
    if (pid == 1 || pid == (uint64_t)getpid() ||
        command_text_is(row, VITALS_PROCESS_STATE, "zombie") ||
        (vitals_row_u64(row, VITALS_PROCESS_VIRTUAL_BYTES, &bytes) > 0 && bytes == 0))
        return false;
    EACH_ROW(up, kill->ancestors, VITALS_TABLE_PROCESS) {
        if (pid_of(up) != pid)
            continue;
        (void)command_fail(0,
                           "process %llu is left out: vitals runs in it; name its pid to signal it",
                           (unsigned long long)pid);
        return false;
    }
    return true;
}

/* True if the newest or the oldest may be picked from this process. A named one is judged later. */
static bool may_be_meant(void *data, const vitals_row *row)
{
    struct kill *kill = data;
    return filter_names_pid(&kill->filter, row) || unnamed_is_meant(kill, row);
}

/* Keeps the targets that are signalled. 0, or EXIT_CANNOT after a message for each that was named
 * and cannot be. */
static int judge(struct kill *kill)
{
    int code = EXIT_DONE;
    size_t kept = 0;

    /* Each target's row of the second reading. */
    EACH_ROW(row, kill->snapshot, VITALS_TABLE_PROCESS) {
        int64_t pid = (int64_t)pid_of(row);
        struct kill_target *target = bsearch(&pid, kill->targets, kill->count,
                                             sizeof *kill->targets, compare_pids);
        if (target != NULL)
            target->row = row;
    }

    for (size_t i = 0; i < kill->count; i++) {
        struct kill_target *target = &kill->targets[i];
        int64_t pid = vitals_process_pid(target->process);
        bool meant = false;
        // Asked behind the reading: the row is its own.
        if (target->row == NULL || !vitals_process_is_running(target->process)) {
            if (filter_lists(&kill->filter, pid))
                code = command_fail(EXIT_CANNOT, "process %lld has ended", (long long)pid);
        } else if (filter_passes(&kill->filter, target->row)) {
            bool named = filter_names_pid(&kill->filter, target->row);
            meant = named ? named_is_meant(target->row) : unnamed_is_meant(kill, target->row);
            if (named && !meant)
                code = EXIT_CANNOT;
        }
        if (meant)
            kill->targets[kept++] = *target;
        else
            vitals_process_close(target->process);
    }
    kill->count = kept;
    return code;
}

static void let_go(struct kill *kill)
{
    for (size_t i = 0; i < kill->count; i++)
        vitals_process_close(kill->targets[i].process);
    kill->count = 0;
}

/* 0, or EXIT_CANNOT after messages; there may be targets even then. */
static int choose(struct kill *kill)
{
    vitals_snapshot *first = NULL;
    int code = begin(kill);
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
    kill->filter.means = may_be_meant;
    kill->filter.data = kill;
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

/* ---- Showing and asking ---- */

static void show(const struct kill *kill)
{
    static const char *const NAMES[] = {"pid", "euser=USER", "age=AGE", "stat=STATE", "args"};
    enum { COLUMNS = ARRAY_COUNT(NAMES) };
    const struct grid_form form = {.width = (size_t)kill->look->line_width, .titles = true};
    struct ps_view view = {kill->snapshot, NULL, kill->look->ascii, false, true};
    struct ps_column columns[COLUMNS];
    struct grid grid = {0};
    for (size_t i = 0; i < COLUMNS; i++) {
        (void)ps_column_find("kill", NAMES[i], &columns[i]);
        if (strncmp(NAMES[i], "stat", 4) == 0)
            columns[i].show = SHOW_TEXT;
        grid_column(&grid, columns[i].title,
                    ps_column_is_number(&columns[i]) ? ALIGN_RIGHT : ALIGN_LEFT, 0);
    }
    struct buffer text = {0};
    for (size_t i = 0; i < kill->count; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            enum color color = COLOR_PLAIN;
            const char *cell = ps_column_cell(&columns[j], &view, kill->targets[i].row, &text,
                                              &color);
            grid_cell(&grid, color, cell);
        }
    }
    buffer_done(&text);
    (void)grid_print(&grid, &form, kill->look->color, false, kill->output);
    (void)output_flush(kill->output);
    grid_done(&grid);
}

/* 0 where a person said yes, else EXIT_CANNOT. */
static int ask(const struct kill *kill)
{
    char answer[16] = "", name[SIGNAL_NAME_SIZE];
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return command_fail(EXIT_CANNOT, "nothing was signalled: kill asks first, and there is no "
                                         "terminal to ask on; --yes skips the question");
    (void)tcflush(STDIN_FILENO, TCIFLUSH); // what was typed before is no answer
    if (kill->count == 1)
        fprintf(stderr, "Send %s to this process? [y/N] ", signal_names_format(kill->signal, name));
    else
        fprintf(stderr, "Send %s to these %zu processes? [y/N] ",
                signal_names_format(kill->signal, name), kill->count);
    if (fgets(answer, sizeof answer, stdin) == NULL)
        fputc('\n', stderr);
    bool yes = answer[0] == 'y' || answer[0] == 'Y';
    return yes ? 0 : command_fail(EXIT_CANNOT, "nothing was signalled");
}

/* ---- Signalling and waiting ---- */

static uint64_t now_ns(const struct kill *kill)
{
    const vitals_clock *clock = vitals_context_clock(kill->context);
    return clock->monotonic_ns(clock->data);
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
        if (result == 0) {
            target->sent = signal;
        } else if (result == VITALS_EDENIED) {
            char name[SIGNAL_NAME_SIZE], user[128] = "another user";
            vitals_text text;
            if (vitals_row_text(target->row, VITALS_PROCESS_EFFECTIVE_USER, &text) > 0)
                (void)vitals_text_format(text, VITALS_TEXT_ASCII, user, sizeof user);
            code = command_fail(EXIT_CANNOT,
                                "%s to process %lld: no permission; the process belongs to %s",
                                signal_names_format(signal, name),
                                (long long)vitals_process_pid(target->process), user);
        } else if (result != VITALS_EGONE || target->sent == 0) {
            code = command_fail(EXIT_CANNOT, "%s", error.message);
        }
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
    int code = vitals_process_wait_several(processes, count, &how, living, &error);
    free(processes);
    return code == 0 ? 0 : command_fail(EXIT_CANNOT, "%s", error.message);
}

/* TERM, then KILL for processes that did not end. */
static int act(struct kill *kill)
{
    const struct kill_settings *settings = kill->settings;
    bool forces = settings->force_ns > 0, waits = settings->wait_ended || forces;
    size_t living = 0;
    kill->begun_ns = now_ns(kill);
    int code = send(kill, kill->signal), waited = 0;
    if (waits)
        waited = wait_for_end(kill, forces ? settings->force_ns : settings->wait_ns, &living);
    if (waited == 0 && living > 0 && forces) {
        int sent = send(kill, SIGKILL);
        waited = wait_for_end(kill, settings->wait_ended ? settings->wait_ns : AFTER_KILL_NS,
                              &living);
        waited = waited != 0 ? waited : sent;
    }
    if (living > 0)
        waited = EXIT_CANNOT;

    for (size_t i = 0; i < kill->count; i++) {
        const struct kill_target *target = &kill->targets[i];
        char name[SIGNAL_NAME_SIZE], by[SIGNAL_NAME_SIZE];
        int status, signal;
        if (target->sent == 0)
            continue; // a message has said why
        output_format(kill->output, "%lld: %s sent", (long long)vitals_process_pid(target->process),
                      signal_names_format(target->sent, name));
        if (target->ended)
            output_format(kill->output, ", ended after %.1f s", target->after_seconds);
        else if (waits)
            output_text(kill->output, ", still alive");
        bool known = target->ended &&
                     vitals_process_exit_status(target->process, &status, &signal) == VITALS_HAVE;
        if (known && signal != 0)
            output_format(kill->output, ", by %s", signal_names_format(signal, by));
        else if (known)
            output_format(kill->output, ", exit %d", status);
        output_text(kill->output, "\n");
    }
    return waited != 0 ? waited : code;
}

/* Signal 0, as in kill(1): nothing is sent, asked or shown; the exit code and messages tell. */
static int probe(struct kill *kill)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < kill->count; i++) {
        vitals_error error;
        if (vitals_process_signal(kill->targets[i].process, 0, &error) < 0)
            code = command_fail(EXIT_CANNOT, "%s", error.message);
    }
    return code;
}

/* ---- Names of signals ---- */

const char *signal_word(size_t index)
{
    int number;
    return signal_names_at(index, &number);
}

/* Parses at most three digits. Returns -1 if the word is not such a number. */
static int number_of(const char *digits)
{
    uint64_t number;
    return strlen(digits) <= 3 && number_is_u64(digits, &number) ? (int)number : -1;
}

/* The number of a signal such as "TERM", "SIGTERM", "term", "15" or "RTMIN+3", or -1 after a
 * message that suggests the nearest name. */
static int signal_number(const char *word)
{
    char name[SIGNAL_NAME_SIZE];
    struct nearest nearest;
    int number = number_of(word);
    if (number >= 1 && number <= SIGRTMAX)
        return number;
    if (number >= 0)
        return command_fail(-1, "there is no signal %d; give 1 to %d", number, SIGRTMAX);

    /* Convert to capitals, without SIG at the beginning. */
    size_t used = 0;
    for (; word[used] != '\0' && used + 1 < SIGNAL_NAME_SIZE; used++)
        name[used] = word[used] >= 'a' && word[used] <= 'z' ? (char)(word[used] - 'a' + 'A')
                                                            : word[used];
    name[used] = '\0';
    if (strncmp(name, "SIG", 3) == 0 && name[3] != '\0')
        memmove(name, name + 3, used - 2);

    nearest_begin(&nearest, name);
    const char *known;
    for (size_t i = 0; (known = signal_names_at(i, &number)) != NULL; i++) {
        if (strcmp(known, name) == 0)
            return number;
        nearest_offer(&nearest, known);
    }

    /* RTMIN, RTMIN+3, RTMAX-2. */
    bool from_top = strncmp(name, "RTMAX", 5) == 0;
    if (from_top || strncmp(name, "RTMIN", 5) == 0) {
        int base = from_top ? SIGRTMAX : SIGRTMIN, step = 0;
        if (name[5] != '\0')
            step = name[5] == (from_top ? '-' : '+') ? number_of(name + 6) : -1;
        number = from_top ? base - step : base + step;
        if (step >= 0 && number >= SIGRTMIN && number <= SIGRTMAX)
            return number;
    }

    if (nearest.word != NULL)
        return command_fail(-1, "there is no signal \"%s\"; did you mean %s?", command_safe(word),
                            nearest.word);
    return command_fail(-1, "there is no signal \"%s\"; give a name as TERM, or a number",
                        command_safe(word));
}

/* All signals with their numbers; or a line for each word, the name of a number and the number of a
 * name. The number may be an exit code of a shell: 128 and a signal. */
static int list_signals(const struct settings_words *words, struct output *output)
{
    enum { SHELL_CODE = 128 };
    char text[SIGNAL_NAME_SIZE];
    int number, code = EXIT_DONE;
    for (number = 1; words->count == 0 && number <= SIGRTMAX; number++) {
        if (signal_names_find(number) != NULL || number == SIGRTMIN || number == SIGRTMAX)
            output_format(output, "%2d %s\n", number, signal_names_format(number, text));
    }
    for (size_t i = 0; i < words->count; i++) {
        uint64_t given;
        const char *word = words->items[i] + (words->items[i][0] == '-');
        bool is_number = option_number(word, 1, SHELL_CODE + SIGRTMAX, &given);
        if (is_number && given > SHELL_CODE)
            given -= SHELL_CODE;
        if (is_number && given <= (uint64_t)SIGRTMAX) {
            output_format(output, "%s\n", signal_names_format((int)given, text));
        } else if ((number = signal_number(word)) > 0) {
            output_format(output, "%d\n", number);
        } else {
            code = EXIT_USAGE;
        }
    }
    return code;
}

/* ---- As a whole ---- */

/* True if the data may be invented: --demo, or a list of back ends that names the demo, from any
 * origin. */
static bool has_demo(const struct machine_settings *machine)
{
    static const char around[] = ", \t\n\v\f\r";
    for (const char *at = machine->backends; at != NULL && *at != '\0'; at += strcspn(at, around)) {
        at += strspn(at, around);
        if (strcspn(at, around) == 4 && strncmp(at, "demo", 4) == 0)
            return true;
    }
    return machine->demo != NULL;
}

int command_kill(const struct settings *settings)
{
    struct kill kill = {.machine = &settings->machine,
                        .look = &settings->look,
                        .settings = &settings->kill,
                        .output = output_begin(STDOUT_FILENO)};
    const struct settings_words *words = &settings->arguments.words;
    const char *word = settings->kill.signal != NULL ? settings->kill.signal : "TERM";
    size_t used = 0; // words that name the signal; the others are pids
    if (settings->kill.list)
        return output_done(kill.output, list_signals(words, kill.output));
    if (settings->arguments.dashed_first) {
        if (settings->kill.signal != NULL)
            return command_fail(EXIT_USAGE, "give one signal, not two: -s %s or %s",
                                command_safe(word), command_safe(words->items[0]));
        word = words->items[0] + 1;
        used = 1;
    }
    bool zero = word[0] != '\0' && word[strspn(word, "0")] == '\0';
    kill.signal = zero ? 0 : signal_number(word);
    if (kill.signal < 0)
        return EXIT_USAGE;
    if (kill.signal == 0 && (settings->kill.wait_ended || settings->kill.force_ns > 0))
        return command_fail(EXIT_USAGE, "signal 0 ends no process; leave out %s",
                            settings->kill.wait_ended ? "--wait" : "--force-after");

    int code = filter_init(&kill.filter, &settings->choice, &settings->machine,
                           used > 0 ? words->items + used : words->items, words->count - used);
    if (code == 0 && !filter_chooses(&kill.filter))
        code = command_fail(EXIT_USAGE, "kill needs a pid, or an option that chooses processes");
    /* The demo invents owners and activity of processes; a process chosen by those would really
     * end. Pids are real. */
    bool by_pid = words->count > used || settings->choice.pids.count > 0;
    if (code == 0 && has_demo(&settings->machine) && !settings->kill.dry_run && !by_pid)
        code = command_fail(EXIT_USAGE, "the demo's GPU users are invented, but kill ends real "
                                        "processes; add --dry-run, or name pids");
    if (code == 0) {
        int chosen = choose(&kill);
        if (kill.count == 0 && chosen == 0)
            chosen = filter_none(&kill.filter);
        bool probes = kill.signal == 0 && !settings->kill.dry_run;
        if (kill.count > 0 && !probes)
            show(&kill);
        if (kill.count > 0 && probes) {
            code = probe(&kill);
        } else if (kill.count > 0 && !settings->kill.dry_run) {
            code = settings->kill.yes ? 0 : ask(&kill);
            if (code == 0)
                code = act(&kill);
        }
        code = code != 0 ? code : chosen;
    }
    let_go(&kill);
    free(kill.targets);
    vitals_snapshot_unref(kill.ancestors);
    vitals_request_free(kill.request);
    filter_done(&kill.filter);
    vitals_snapshot_unref(kill.snapshot);
    vitals_context_free(kill.context);
    return output_done(kill.output, code);
}
