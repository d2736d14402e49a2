/* panel_processes.c: who uses the devices; on a machine without devices, who uses the machine.
 *
 *     | GPU     PID      USER  GPU-MEM %SM %GMBW  %CPU  %MEM     TIME  COMMAND        |
 *     |     PID      USER  THR      RES  %CPU  %MEM     TIME  COMMAND                 |
 *
 * Where there is room, and a process on a device is in a job, a pod, a container or a service, a
 * column before the command says in which.
 */
#include "report/panel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_ROWS = 20, COMMAND_TEXT = 1024 };

/* ---- what a row says ---- */

static vitals_availability cpu_of(const struct view *view, const vitals_row *process, double *out)
{
    if (process == NULL)
        return VITALS_GONE;
    return vitals_row_rate(process, view->older, VITALS_PROCESS_CPU_SECONDS, out);
}

static const vitals_row *host_row(const struct view *view)
{
    return vitals_snapshot_next(view->now, VITALS_HOST, NULL);
}

/* Share of the machine's memory. */
static void memory_words(const struct view *view, const vitals_row *process,
                         char out[static PANEL_TEXT])
{
    double resident, total;
    const vitals_row *host = host_row(view);
    if (process == NULL || host == NULL ||
        vitals_row_number(process, VITALS_PROCESS_RESIDENT_BYTES, &resident) <= 0 ||
        vitals_row_number(host, VITALS_HOST_MEMORY_TOTAL_BYTES, &total) <= 0 || total <= 0)
        (void)snprintf(out, PANEL_TEXT, "N/A");
    else
        (void)snprintf(out, PANEL_TEXT, "%.1f", resident / total * 100);
}

/* How long it has been running. */
static void time_words(const struct view *view, const vitals_row *process,
                       char out[static PANEL_TEXT])
{
    double start;
    double now = (double)vitals_snapshot_boottime_ns(view->now) / 1e9;
    if (process == NULL || vitals_row_f64(process, VITALS_PROCESS_START_SECONDS, &start) <= 0)
        (void)snprintf(out, PANEL_TEXT, "N/A");
    else
        vitals_human_duration(now - start, out);
}

static void cpu_words(const struct view *view, const vitals_row *process,
                      char out[static PANEL_TEXT])
{
    double cores;
    if (cpu_of(view, process, &cores) <= 0)
        (void)snprintf(out, PANEL_TEXT, "N/A");
    else
        (void)snprintf(out, PANEL_TEXT, "%.1f", cores * 100);
}

/* Arguments as a shell would read them, or the name in brackets where there are none. */
/* Why there is nothing to say of a process. */
static const char *stranger(vitals_availability reason)
{
    return reason == VITALS_OUTSIDE  ? "(not in this pid namespace, or gone)"
           : reason == VITALS_GONE   ? "(has ended)"
           : reason == VITALS_DENIED ? "(no permission)"
                                     : "(not known)";
}

/* What has ended and waits for its parent: a zombie has no command line any more. */
static bool is_zombie(const vitals_row *process)
{
    vitals_text state;
    return vitals_row_text(process, VITALS_PROCESS_STATE, &state) > 0 && state.size == 6 &&
           memcmp(state.bytes, "zombie", 6) == 0;
}

static void command_words(const struct view *view, const vitals_row *process,
                          char out[static COMMAND_TEXT])
{
    vitals_text text;
    char joined[COMMAND_TEXT];
    vitals_text_form form = view->options->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
    if (vitals_row_text(process, VITALS_PROCESS_COMMAND_LINE, &text) > 0 && text.size > 0) {
        size_t size = vitals_text_command(text, joined, sizeof(joined));
        size = size < sizeof(joined) ? size : sizeof(joined) - 1;
        vitals_text_format((vitals_text){joined, size}, form, out, COMMAND_TEXT);
        return;
    }
    if (vitals_row_text(process, VITALS_PROCESS_NAME, &text) <= 0) {
        vitals_availability reason = vitals_row_availability(process, VITALS_PROCESS_NAME);
        bool told = reason == VITALS_DENIED || reason == VITALS_GONE;
        (void)snprintf(out, COMMAND_TEXT, "%s", told ? stranger(reason) : "N/A");
        return;
    }
    char name[256];
    vitals_text_format(text, form, name, sizeof(name));
    (void)snprintf(out, COMMAND_TEXT, "[%s]%s", name, is_zombie(process) ? " (zombie)" : "");
}

static void numeric(const vitals_row *row, vitals_metric metric, char out[static PANEL_TEXT])
{
    double ratio;
    if (vitals_row_f64(row, metric, &ratio) > 0)
        (void)snprintf(out, PANEL_TEXT, "%.0f", ratio * 100);
    else
        (void)snprintf(out, PANEL_TEXT, "N/A");
}

/* ---- which processes on devices ---- */

static const vitals_row *process_of(const struct view *view, const vitals_row *user)
{
    uint64_t key;
    if (vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
        return NULL;
    return vitals_snapshot_find(view->now, VITALS_PROCESS, key);
}

static bool type_passes(const struct report_options *options, const char *type)
{
    bool compute = strchr(type, 'C') != NULL, graphics = strchr(type, 'G') != NULL;
    return (!options->compute || compute) && (!options->graphics || graphics) &&
           (!options->only_compute || (compute && !graphics)) &&
           (!options->only_graphics || (graphics && !compute));
}

static bool user_passes(const struct view *view, const vitals_row *process)
{
    const struct report_options *options = view->options;
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

static bool pid_passes(const struct report_options *options, const vitals_row *row,
                       vitals_metric metric)
{
    uint64_t pid = 0;
    if (options->pid_count == 0)
        return true;
    if (vitals_row_u64(row, metric, &pid) <= 0)
        return false;
    for (size_t i = 0; i < options->pid_count; i++) {
        if (options->pids[i] == pid)
            return true;
    }
    return false;
}

static bool passes(const struct view *view, const vitals_row *user)
{
    char type[PANEL_TEXT];
    panel_text(view, user, VITALS_GPU_PROCESS_TYPE, type, sizeof(type));
    return type_passes(view->options, type) && user_passes(view, process_of(view, user)) &&
           pid_passes(view->options, user, VITALS_GPU_PROCESS_PID);
}

/* ---- lines ---- */

static void title_line(struct paint *paint, const struct view *view)
{
    vitals_text host = vitals_snapshot_host(view->now);
    char who[128], name[64];
    vitals_text_format(host, view->options->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, name,
                       sizeof(name));
    const char *user = view->options->user;
    (void)snprintf(who, sizeof(who), "%s%s%s", user != NULL ? user : "", user != NULL ? "@" : "",
                   name);
    paint_edge(paint);
    paint_cell(paint, COLOR_BOLD, ALIGN_LEFT, 12, " Processes:");
    paint_cell(paint, COLOR_BOLD, ALIGN_RIGHT, view->width - 15, who);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    paint_end(paint);
}

static void text_line(struct paint *paint, const struct view *view, const char *text)
{
    paint_edge(paint);
    paint_cell(paint, COLOR_PLAIN, ALIGN_LEFT, view->width - 2, text);
    paint_edge(paint);
    paint_end(paint);
}

/* %CPU %MEM TIME and, in the columns that are left, COMMAND, which both tables end with; `work` is
 * how many columns before it tell which work the process belongs to. */
static void tail_cells(struct paint *paint, const struct view *view, const vitals_row *process,
                       size_t work, size_t columns, const char *command, bool known)
{
    enum { CPU = 6, MEM = 6, TIME = 9 };
    char text[PANEL_TEXT];
    cpu_words(view, process, text);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, CPU, text);
    memory_words(view, process, text);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, MEM, text);
    time_words(view, process, text);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, TIME, text);
    paint_text(paint, COLOR_PLAIN, "  ");
    columns -= CPU + MEM + TIME + 2;
    if (work > 0) {
        char words[COMMAND_TEXT];
        (void)report_work(process, view->options->ascii, words, sizeof words);
        paint_cell(paint, COLOR_PLAIN, ALIGN_LEFT, work, words);
        paint_text(paint, COLOR_PLAIN, "  ");
        columns -= work + 2;
    }
    paint_cell(paint, known ? COLOR_PLAIN : COLOR_YELLOW, ALIGN_LEFT, columns, command);
}

static void user_cell(struct paint *paint, const struct view *view, const vitals_row *process,
                      size_t columns)
{
    char user[PANEL_TEXT * 4];
    panel_text(view, process, VITALS_PROCESS_USER, user, sizeof(user));
    if (paint_columns(user) > columns)
        memcpy(user + paint_fitting(user, columns - 1, NULL), "+", 2);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, columns, user);
}

static void gpu_process_line(struct paint *paint, const struct view *view, const vitals_row *gpu,
                             const vitals_row *user, size_t work)
{
    char text[PANEL_TEXT], command[COMMAND_TEXT];
    const vitals_row *process = process_of(view, user);
    vitals_availability reason = vitals_row_availability(user, VITALS_GPU_PROCESS_PROCESS);
    if (process != NULL)
        command_words(view, process, command);
    paint_edge(paint);
    paint_cell(paint, panel_device_color(view, gpu), ALIGN_RIGHT, 4, vitals_row_label(gpu));
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, 8,
               panel_number(user, VITALS_GPU_PROCESS_PID, "%.0f", text));
    panel_text(view, user, VITALS_GPU_PROCESS_TYPE, text, sizeof(text));
    paint_text(paint, COLOR_PLAIN, " ");
    paint_cell(paint, COLOR_PLAIN, ALIGN_LEFT, 1, strcmp(text, "C+G") == 0 ? "X" : text);
    paint_text(paint, COLOR_PLAIN, " ");
    user_cell(paint, view, process, 7);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, 9,
               panel_bytes(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, text));
    numeric(user, VITALS_GPU_PROCESS_UTILIZATION_RATIO, text);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, 4, text);
    numeric(user, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO, text);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, 6, text);
    tail_cells(paint, view, process, work, view->width - 44,
               process != NULL ? command : stranger(reason), process != NULL);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    paint_end(paint);
}

/* ---- the table of devices' users ---- */

/* How wide the column of their work is; 0: nobody has one, or the screen has no room for it. */
static size_t work_columns(const struct view *view)
{
    enum { ROOMY = 110, MOST = 24 };
    size_t widest = 0;
    for (const vitals_row *user = NULL;
         view->options->width >= ROOMY &&
         (user = vitals_snapshot_next(view->now, VITALS_GPU_PROCESS, user)) != NULL;) {
        char words[COMMAND_TEXT];
        const vitals_row *gpu = vitals_snapshot_find(view->now, VITALS_GPU,
                                                     vitals_row_parent(user));
        if (gpu != NULL && panel_shows_device(view, gpu) && passes(view, user) &&
            report_work(process_of(view, user), view->options->ascii, words, sizeof words)) {
            size_t wide = paint_columns(words);
            widest = wide > widest ? wide : widest;
        }
    }
    return widest < MOST ? widest : MOST;
}

static void gpu_processes(struct paint *paint, const struct view *view, const struct edges *box)
{
    size_t shown = 0, work = work_columns(view);
    char titles[COMMAND_TEXT];
    (void)snprintf(titles, sizeof titles,
                   " GPU     PID      USER  GPU-MEM %%SM %%GMBW  %%CPU  %%MEM     TIME  %-*s%s",
                   (int)(work > 0 ? work + 2 : 0), work > 0 ? "WORK" : "", "COMMAND");
    text_line(paint, view, titles);
    paint_rule(paint, true, box, box);
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(view->now, VITALS_GPU, gpu)) != NULL;) {
        bool begun = false;
        if (!panel_shows_device(view, gpu))
            continue;
        for (const vitals_row *user = NULL;
             (user = vitals_snapshot_next_child(view->now, VITALS_GPU_PROCESS, vitals_row_key(gpu),
                                                user)) != NULL;) {
            if (!passes(view, user))
                continue;
            if (!begun && shown > 0)
                paint_rule(paint, false, box, box);
            begun = true;
            shown++;
            gpu_process_line(paint, view, gpu, user, work);
        }
    }
    if (shown == 0)
        text_line(paint, view, "  No running processes found");
}

/* ---- the table of the machine's processes ---- */

struct ranked {
    const vitals_row *row;
    double cores, resident;
};

static int heavier(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->cores != y->cores)
        return x->cores > y->cores ? -1 : 1;
    if (x->resident != y->resident)
        return x->resident > y->resident ? -1 : 1;
    return vitals_row_key(x->row) < vitals_row_key(y->row) ? -1 : 1;
}

/* The heaviest of those that pass, CPU first; the caller frees. */
static struct ranked *rank(const struct view *view, size_t *count)
{
    size_t rows = vitals_snapshot_count(view->now, VITALS_PROCESS);
    struct ranked *ranked = calloc(rows + 1, sizeof(*ranked));
    *count = 0;
    for (const vitals_row *row = NULL;
         ranked != NULL && (row = vitals_snapshot_next(view->now, VITALS_PROCESS, row)) != NULL;) {
        struct ranked one = {.row = row};
        if (!user_passes(view, row) || !pid_passes(view->options, row, VITALS_PROCESS_PID))
            continue;
        if (cpu_of(view, row, &one.cores) <= 0)
            one.cores = -1; /* what is not known stands last */
        if (vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, &one.resident) <= 0)
            one.resident = -1;
        ranked[(*count)++] = one;
    }
    if (ranked != NULL)
        qsort(ranked, *count, sizeof(*ranked), heavier);
    return ranked;
}

static void host_process_line(struct paint *paint, const struct view *view, const vitals_row *row)
{
    char text[PANEL_TEXT], command[COMMAND_TEXT];
    command_words(view, row, command);
    paint_edge(paint);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, 8,
               panel_number(row, VITALS_PROCESS_PID, "%.0f", text));
    paint_text(paint, COLOR_PLAIN, " ");
    user_cell(paint, view, row, 9);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, 5,
               panel_number(row, VITALS_PROCESS_THREADS, "%.0f", text));
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, 9,
               panel_bytes(row, VITALS_PROCESS_RESIDENT_BYTES, text));
    tail_cells(paint, view, row, 0, view->width - 35, command, true);
    paint_text(paint, COLOR_PLAIN, " ");
    paint_edge(paint);
    paint_end(paint);
}

static void host_processes(struct paint *paint, const struct view *view, const struct edges *box)
{
    size_t count;
    struct ranked *ranked = rank(view, &count);
    size_t shown = count < HOST_ROWS ? count : HOST_ROWS;
    text_line(paint, view, "     PID      USER  THR      RES  %CPU  %MEM     TIME  COMMAND");
    paint_rule(paint, true, box, box);
    for (size_t i = 0; i < shown; i++)
        host_process_line(paint, view, ranked[i].row);
    if (count > shown) {
        char more[PANEL_TEXT * 2];
        (void)snprintf(more, sizeof(more), "  and %zu more; vitals --json has them all",
                       count - shown);
        text_line(paint, view, more);
    }
    if (count == 0)
        text_line(paint, view, "  No processes found");
    free(ranked);
}

/* ---- the box ---- */

static bool has_devices(const struct view *view)
{
    return vitals_snapshot_count(view->now, VITALS_GPU) > 0;
}

size_t panel_processes_width(const struct view *view)
{
    enum { BEFORE_COMMAND_GPU = 67, BEFORE_COMMAND_HOST = 58, FRAME = 2 };
    size_t widest = 0, before = has_devices(view) ? BEFORE_COMMAND_GPU : BEFORE_COMMAND_HOST;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(view->now, VITALS_PROCESS, row)) != NULL;) {
        char command[COMMAND_TEXT];
        command_words(view, row, command);
        size_t wide = paint_columns(command);
        widest = wide > widest ? wide : widest;
    }
    size_t work = work_columns(view);
    return before + (work > 0 ? work + 2 : 0) + widest + FRAME;
}

void panel_processes(struct paint *paint, const struct view *view)
{
    struct edges nothing = {.count = 0}, box = {{0, view->width - 1}, 2};
    if (!vitals_snapshot_has_entity(view->now, VITALS_PROCESS))
        return;
    paint_rule(paint, true, &nothing, &box);
    title_line(paint, view);
    if (has_devices(view))
        gpu_processes(paint, view, &box);
    else
        host_processes(paint, view, &box);
    paint_rule(paint, true, &box, &nothing);
}
