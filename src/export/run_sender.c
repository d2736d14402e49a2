/* run_sender.c: see run_sender.h. */
#include "export/run_sender.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "export/clock.h"
#include "export/redact.h"
#include "export/usage_line.h"
#include "util/error.h"

static const uint64_t ROOM_NS = 50000000, END_NS = 200000000, HEARD_NS = 500000000;

/* ---- the request ---- */

int run_sender_init(struct run_sender *sender, const vitals_exporter_options *options,
                    vitals_error *error)
{
    bool limits = options->mlflow != NULL && options->argv == NULL, work = options->otlp != NULL;
    bool command = strcmp(options->command_line, "off") != 0;
    const struct {
        bool wanted;
        vitals_metric metric;
    } METRICS[] = {
        {true, VITALS_PROCESS_NAME},          {true, VITALS_FILESYSTEM_MOUNT_POINT},
        {true, VITALS_FILESYSTEM_USED_BYTES}, {true, VITALS_FILESYSTEM_AVAILABLE_BYTES},
        {limits, VITALS_PROCESS_CGROUP},      {command, VITALS_PROCESS_COMMAND_LINE},
        {work, VITALS_PROCESS_WORKLOAD},      {work, VITALS_WORKLOAD_ID},
        {work, VITALS_WORKLOAD_KIND},         {work, VITALS_WORKLOAD_USER},
        {work, VITALS_WORKLOAD_SLURM_JOB_ID}, {work, VITALS_WORKLOAD_SLURM_STEP_ID},
        {work, VITALS_WORKLOAD_SLURM_SLUID},  {work, VITALS_WORKLOAD_K8S_NAMESPACE_NAME},
        {work, VITALS_WORKLOAD_K8S_POD_NAME}, {work, VITALS_WORKLOAD_K8S_CONTAINER_NAME},
        {work, VITALS_WORKLOAD_CONTAINER_ID}, {work, VITALS_WORKLOAD_UNIT},
    };
    *sender = (struct run_sender){.link = NULL};
    int code = vitals_request_new(VITALS_SET_MACHINE | VITALS_SET_GPUS, &sender->request, error);
    for (size_t i = 0; i < sizeof METRICS / sizeof METRICS[0] && code == 0; i++) {
        if (METRICS[i].wanted)
            code = vitals_request_add(sender->request, METRICS[i].metric, error);
    }
    return code;
}

int run_sender_begin(struct run_sender *sender, struct link *link, uint64_t interval_ns,
                     vitals_error *error)
{
    void *place = mmap(NULL, sizeof *sender->dropped, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    sender->dropped = place;
    sender->link = link;
    sender->wait_ns = ROOM_NS;
    if (interval_ns > 0 && interval_ns / 8 < ROOM_NS)
        sender->wait_ns = interval_ns / 8;
    return 0;
}

/* ---- lines ---- */

/* Sends and empties the line. Returns 1, 0 (dropped) or EMEMORY. */
static int send_line(struct run_sender *sender, struct buffer *line, uint64_t wait_ns)
{
    int sent = VITALS_EMEMORY;
    if (!line->failed)
        sent = link_write(sender->link, line->bytes, line->size, wait_ns);
    buffer_reset(line);
    return sent;
}

static int count_dropped(struct run_sender *sender, int sent)
{
    if (sent <= 0)
        atomic_fetch_add(sender->dropped, 1);
    return sent;
}

/* Sends a line that comes once. First waits for the rest of the line before, also if a wait for it
 * was in vain. */
static int send_last(struct run_sender *sender, struct buffer *line, uint64_t wait_ns)
{
    uint64_t deadline_ns = saturating_add(clock_now_ns(), wait_ns);
    (void)link_flush(sender->link, wait_ns);
    return count_dropped(sender, send_line(sender, line, clock_left_ns(deadline_ns)));
}

int run_sender_sample(struct run_sender *sender, const vitals_snapshot *snapshot,
                      const vitals_usage *usage)
{
    if (sender->link == NULL)
        return 0;
    uint64_t deadline_ns = clock_now_ns() + sender->wait_ns;
    buffer_reset(&sender->line);
    if (vitals_snapshot_json(snapshot, text_write, &sender->line, NULL) < 0)
        return count_dropped(sender, VITALS_EMEMORY);
    buffer_byte(&sender->line, '\n');
    int sent = send_line(sender, &sender->line, clock_left_ns(deadline_ns));
    usage_line_write(&sender->line, snapshot, usage);
    int used = send_line(sender, &sender->line, clock_left_ns(deadline_ns));
    return count_dropped(sender, used < sent ? used : sent);
}

static int sample(void *data, const vitals_snapshot *snapshot, const vitals_usage *usage,
                  vitals_error *error UNUSED)
{
    (void)run_sender_sample(data, snapshot, usage);
    return 0;
}

static int end(void *data, vitals_error *error UNUSED)
{
    struct run_sender *sender = data;
    if (sender->link != NULL)
        (void)count_dropped(sender, link_flush(sender->link, END_NS));
    return 0;
}

void run_sender_observe(struct run_sender *sender)
{
    sender->face = (vitals_run_observer){.size = sizeof(vitals_run_observer),
                                         .data = sender,
                                         .request = sender->request,
                                         .sample = sample,
                                         .end = end};
    if (sender->link != NULL)
        sender->face.descriptor = link_descriptor(sender->link);
}

int run_sender_file(struct run_sender *sender, const char *path, uint64_t wait_ns)
{
    struct buffer line = {.bytes = NULL};
    buffer_string(&line, "{\"artifacts\":[\"");
    text_safe(&line, vitals_text_of(path), VITALS_TEXT_JSON);
    buffer_string(&line, "\"]}\n");
    int sent = send_last(sender, &line, wait_ns);
    buffer_done(&line);
    return sent;
}

/* ---- the account ---- */

json_t *run_sender_account_of(const vitals_account *account, const char *command_line)
{
    struct buffer text = {.bytes = NULL};
    json_t *document = NULL;
    if (vitals_account_json(account, text_write, &text, NULL) == 0 && !text.failed)
        document = json_loadb(text.bytes, text.size, 0, NULL);
    buffer_done(&text);

    json_t *attributes = json_object_get(document, "attributes");
    const char *command = json_string_value(json_object_get(attributes, "command"));
    if (command == NULL)
        return document;
    redact_line(&text, vitals_text_of(command), (enum redact_form)redact_form_of(command_line));
    if (text.failed || text.size == 0 ||
        json_object_set_new(attributes, "command", json_stringn(text.bytes, text.size)) < 0)
        (void)json_object_del(attributes, "command");
    buffer_done(&text);
    return document;
}

uint64_t run_sender_until_ns(uint64_t deadline_ns)
{
    return deadline_ns - uint64_min(clock_left_ns(deadline_ns) / 4, HEARD_NS);
}

/* The sampler's last line may be incomplete, so the account begins on a new one. */
int run_sender_account(struct run_sender *sender, const vitals_account *account,
                       const json_t *document, uint64_t wait_ns, uint64_t deadline_ns)
{
    int code = vitals_account_exit_code(account), signal = vitals_account_signal(account);
    const char *state = "exited";
    if (vitals_account_attribute(account, "limit").size > 0)
        state = "limit";
    else if (signal != 0)
        state = "signaled";
    else if (vitals_account_attribute(account, "exit").size == 0)
        state = "unknown"; /* a process that is not our child has no exit status */

    char *bytes = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    struct buffer line = {.bytes = NULL, .failed = bytes == NULL};
    buffer_string(&line, "\n{\"account\":");
    buffer_string(&line, bytes != NULL ? bytes : "");
    buffer_format(&line, ",\"status\":{\"state\":\"%s\",\"code\":", state);
    if (code >= 0)
        buffer_format(&line, "%d", code);
    else
        buffer_string(&line, "null");
    buffer_format(&line, ",\"signal\":%d}", signal);
    if (deadline_ns > 0)
        buffer_format(&line, ",\"until_ns\":\"%llu\"",
                      (unsigned long long)run_sender_until_ns(deadline_ns));
    buffer_string(&line, "}\n");
    int sent = send_last(sender, &line, wait_ns);
    buffer_done(&line);
    free(bytes);
    return sent;
}

uint64_t run_sender_dropped(const struct run_sender *sender)
{
    return sender->dropped != NULL ? atomic_load(sender->dropped) : 0;
}

void run_sender_done(struct run_sender *sender)
{
    if (sender->dropped != NULL)
        (void)munmap((void *)sender->dropped, sizeof *sender->dropped);
    vitals_request_free(sender->request);
    buffer_done(&sender->line);
    *sender = (struct run_sender){.link = NULL};
}
