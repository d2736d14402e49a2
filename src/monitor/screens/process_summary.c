/* process_summary.c: see process_summary.h. */
#include "monitor/screens/process_summary.h"

#include <stdio.h>
#include <string.h>

#include "feed/rows.h"
#include "feed/trouble.h"
#include "monitor/screens/pane.h"
#include "report/report.h"

enum { LINE = 512 };

/* In the columns of the lines below. */
static void put(const struct process_summary *summary, struct paint *paint, const char *label,
                enum color color, const char *text)
{
    enum { NARROW_WIDTH = 64, NARROW_LABEL = 18, LABEL = 32 };
    size_t at = summary->width < NARROW_WIDTH ? NARROW_LABEL : LABEL;
    paint_labelled(paint, at, summary->width, label, color, text);
    paint_end(paint);
}

const char *wait_channel_words(const char *channel)
{
    /* By a part of the function's name; the first that fits. */
    static const char *const PLACES[][2] = {
        {"futex", "a lock"},
        {"rwsem", "a lock"},
        {"mutex", "a lock"},
        {"nanosleep", "time to pass"},
        {"pipe_read", "input from a pipe"},
        {"pipe_write", "room in a pipe"},
        {"n_tty_read", "input from a terminal"},
        {"do_wait", "a child"},
        {"sigsuspend", "a signal"},
        {"sigtimedwait", "a signal"},
        {"sys_pause", "a signal"},
        {"ptrace_stop", "its tracer"},
        {"signal_stop", "SIGCONT"},
        {"io_schedule", "a disk"},
        {"folio_wait", "a disk"},
        {"wait_on_page", "a disk"},
        {"wait_on_buffer", "a disk"},
        {"jbd2", "a disk"},
        {"rpc_", "a network file system"},
        {"fuse_", "a FUSE file system"},
        {"request_wait_answer", "a FUSE file system"},
        {"unix_stream", "a socket"},
        {"skb_wait", "a socket"},
        {"sk_wait", "a socket"},
        {"inet_csk", "a socket"},
        {"poll", "input"}, /* epoll too */
        {"do_select", "input"},
        {"dma_fence", "a driver"},
        {"amdgpu", "a driver"},
        {"drm_", "a driver"},
        {"nvidia", "a driver"},
        {"_nv0", "a driver"}, /* functions of NVIDIA's driver that have no names */
        {"ioctl", "a driver"},
    };
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        if (strstr(channel, PLACES[i][0]) != NULL)
            return PLACES[i][1];
    }
    return NULL;
}

/* "sleeping, waits for a lock (futex_wait_queue)" */
static void put_state(const struct process_summary *summary, const vitals_row *row,
                      struct paint *paint)
{
    bool ascii = summary->model->options->look.ascii;
    char state[WORDS], channel[WORDS * 2], line[LINE];
    vitals_text text;
    if (summary->absence != NULL) {
        put(summary, paint, "state", COLOR_YELLOW, summary->absence);
        return;
    }
    (void)cell_text(row, VITALS_PROCESS_STATE, ascii, state, sizeof state);
    for (char *at = state; *at != '\0'; at++)
        *at = *at == '_' ? ' ' : *at;
    channel[0] = '\0';
    vitals_availability known = row != NULL
                                    ? vitals_row_availability(row, VITALS_PROCESS_WAIT_CHANNEL)
                                    : VITALS_NOT_REQUESTED;
    if (vitals_row_text(row, VITALS_PROCESS_WAIT_CHANNEL, &text) > 0 && text.size > 0)
        (void)cell_text(row, VITALS_PROCESS_WAIT_CHANNEL, ascii, channel, sizeof channel);
    const char *what = wait_channel_words(channel);
    if (channel[0] != '\0' && strcmp(state, "running") != 0 && what != NULL)
        (void)snprintf(line, sizeof line, "%s, waits for %s (%s)", state, what, channel);
    else if (channel[0] != '\0' && strcmp(state, "running") != 0)
        (void)snprintf(line, sizeof line, "%s in %s", state, channel);
    else if (known > 0 || known == VITALS_NOT_REQUESTED)
        (void)snprintf(line, sizeof line, "%s", state);
    else
        (void)snprintf(line, sizeof line, "%s (waits for N/A: %s)", state,
                       vitals_availability_help(known));
    put(summary, paint, "state", COLOR_PLAIN, line);
}

/* "GPU 1    44.00GiB, 55% of its memory; idle 44 s, its memory held" */
static void put_device(const struct process_summary *summary, const vitals_row *user,
                       struct paint *paint)
{
    enum { NOTE_COLUMNS = 60 };
    const struct model *model = summary->model;
    const vitals_row *gpu = vitals_snapshot_find(vitals_row_snapshot(user), VITALS_TABLE_GPU,
                                                 vitals_row_parent(user));
    char label[WORDS], line[LINE], note[TROUBLE_WORDS], words[WORDS], span[SPAN_WORDS];
    double bytes, total, seconds;
    enum color color = COLOR_PLAIN;
    if (gpu == NULL)
        return;
    (void)snprintf(label, sizeof label, "GPU %.50s", vitals_row_label(gpu));
    bool known = cell_value(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &bytes);
    (void)snprintf(line, sizeof line, "%s",
                   known ? cell_bytes(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, words)
                         : "memory N/A");
    if (known && cell_value(gpu, VITALS_GPU_MEMORY_TOTAL_BYTES, &total) && total > 0)
        cell_add(line, sizeof line, ", %.0f%% of its memory", bytes / total * 100);

    const struct silence *silence = trouble_silence(gpu);
    if (silence != NULL) {
        (void)snprintf(line, sizeof line, "%s", silence->word);
        color = silence->is_fault ? COLOR_RED : COLOR_DIM;
    } else if (trouble_note(gpu, NOTE_COLUMNS, note)) {
        cell_add(line, sizeof line, "; %s", note);
        color = pane_device_is_ill(gpu) ? COLOR_RED : COLOR_YELLOW;
    }
    if (silence == NULL && model_idle(model, user, &seconds)) {
        cell_add(line, sizeof line, "; idle %s, its memory held", span_words(seconds, span));
        color = color == COLOR_RED ? color : COLOR_YELLOW;
    }
    put(summary, paint, label, color, line);
}

/* Adds memory that a device has back. */
static void add_gpu(struct freed *freed, const vitals_row *user, double bytes)
{
    const vitals_row *gpu = vitals_snapshot_find(vitals_row_snapshot(user), VITALS_TABLE_GPU,
                                                 vitals_row_parent(user));
    double used, total;
    size_t i = 0;
    if (!cell_value(gpu, VITALS_GPU_MEMORY_USED_BYTES, &used) ||
        !cell_value(gpu, VITALS_GPU_MEMORY_TOTAL_BYTES, &total))
        return;
    while (i < freed->gpu_count && strcmp(freed->gpus[i].label, vitals_row_label(gpu)) != 0)
        i++;
    if (i == FREED_GPUS)
        return;
    struct freed_gpu *own = &freed->gpus[i];
    if (i == freed->gpu_count) {
        freed->gpu_count++;
        (void)snprintf(own->label, sizeof own->label, "%s", vitals_row_label(gpu));
        own->total = total;
        own->free = total - used;
    }
    own->free = own->free + bytes < total ? own->free + bytes : total;
}

void freed_add(struct freed *freed, const struct model *model, const struct identity *identity,
               const vitals_row *row)
{
    double bytes, shared;
    bool known = true;
    freed->processes++;
    for (const vitals_row *user = NULL; (user = model_user_of(model, identity, user)) != NULL;) {
        known = cell_value(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &bytes);
        freed->devices += known;
        freed->device_least = freed->device_least || !known ||
                              vitals_row_availability(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES) ==
                                  VITALS_LOWER_BOUND;
        if (known && cell_value(user, VITALS_GPU_PROCESS_SHARED_MEMORY_BYTES, &shared) &&
            shared > 0) { /* others hold it too, or those that end with it */
            bytes -= shared < bytes ? shared : bytes;
            freed->device_least = true;
        }
        freed->device += known ? bytes : 0;
        if (known)
            add_gpu(freed, user, bytes);
    }
    known = cell_value(row, VITALS_PROCESS_RESIDENT_BYTES, &bytes) &&
            cell_value(row, VITALS_PROCESS_SHARED_BYTES, &shared);
    freed->host += known && bytes > shared ? bytes - shared : 0;
    freed->hosts += known;
    freed->host_least = freed->hosts < freed->processes;
}

/* "18.38GiB", from 10 GiB on. */
static void freed_amount(double bytes, char out[static WORDS])
{
    static const double GIB = 1 << 30;
    if (bytes < 10 * GIB)
        (void)vitals_human_bytes((uint64_t)bytes, out);
    else
        (void)snprintf(out, WORDS, "%.2fGiB", bytes / GIB);
}

bool freed_words(const struct freed *freed, char out[static FREED_WORDS])
{
    char device[WORDS] = "", host[WORDS] = "";
    if (freed->devices > 0)
        freed_amount(freed->device, device);
    if (freed->hosts > 0)
        freed_amount(freed->host, host);
    (void)snprintf(out, FREED_WORDS, "%s%s%s%s%s%s%s",
                   freed->devices > 0 && freed->device_least ? "at least " : "", device,
                   device[0] != '\0' ? " of GPU memory" : "",
                   device[0] != '\0' && host[0] != '\0' ? ", " : "",
                   host[0] == '\0'     ? ""
                   : freed->host_least ? "at least "
                                       : "about ",
                   host, host[0] != '\0' ? " of RAM" : "");
    return freed->devices > 0 || freed->hosts > 0;
}

bool freed_gpu_words(const struct freed *freed, char out[static FREED_WORDS])
{
    static const double GIB = 1 << 30;
    out[0] = '\0';
    for (size_t i = 0; i < freed->gpu_count; i++) {
        const struct freed_gpu *own = &freed->gpus[i];
        cell_add(out, FREED_WORDS, "%sGPU %s: %s%.1f of %.*fGiB", i > 0 ? ", " : "", own->label,
                 freed->device_least ? "at least " : "", own->free / GIB,
                 own->total < 10 * GIB ? 1 : 0, own->total / GIB);
    }
    return freed->gpu_count > 0;
}

void process_summary_paint(const struct process_summary *summary, struct paint *paint)
{
    const struct model *model = summary->model;
    bool ascii = model->options->look.ascii;
    const vitals_row *own = model_process(model, summary->identity);
    const vitals_row *row = summary->answered != NULL ? summary->answered : own;
    char text[WORDS_COMMAND];
    vitals_text name;
    bool named = vitals_row_text(row, VITALS_PROCESS_USER, &name) > 0;
    put(summary, paint, "user", COLOR_PLAIN,
        cell_text(named ? row : own, VITALS_PROCESS_USER, ascii, text, sizeof text));
    /* A reading of what uses devices alone may know its work. */
    const vitals_row *on_device = row_process(model_user_of(model, summary->identity, NULL));
    if (report_work(row, ascii, text, WORDS * 4) || report_work(on_device, ascii, text, WORDS * 4))
        put(summary, paint, "work", COLOR_PLAIN, text);
    for (const vitals_row *user = NULL;
         (user = model_user_of(model, summary->identity, user)) != NULL;)
        put_device(summary, user, paint);
    struct freed freed = {.processes = 0};
    freed_add(&freed, model, summary->identity, summary->answered);
    char frees[FREED_WORDS], line[FREED_WORDS + 8];
    if (summary->absence == NULL && freed_words(&freed, frees)) {
        (void)snprintf(line, sizeof line, "frees %s", frees);
        put(summary, paint, "when it ends", COLOR_PLAIN, line);
        if (freed_gpu_words(&freed, frees))
            put(summary, paint, "free then", COLOR_PLAIN, frees);
    }
    put_state(summary, row, paint);
}
