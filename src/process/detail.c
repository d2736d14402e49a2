/* detail.c: what a lane reads of one process: command line, user, cgroup.
 *
 * By pid, and so of whoever has it: the table takes an answer only after it has proven that the
 * process lived all the while. Thread rule: the lane that owns the cache. */
#include "process/detail.h"

#include <errno.h>
#include <string.h>

enum { FILE_LIMIT = 64 * 1024, COMMAND_LIMIT = SHARED_TEXT_MAX };

/* A file of the process; NULL and the reason where it cannot be read. */
static const struct buffer *read_file(const vitals_context *context, struct user_cache *users,
                                      int64_t pid, const char *name, size_t limit,
                                      signed char *state)
{
    struct buffer *text = user_cache_buffer(users);
    bool cut;
    int result = os_process_file(&context->os, pid, name, limit, text, &cut);
    *state = (signed char)(result < 0 ? os_availability(result)
                           : cut      ? VITALS_LOWER_BOUND
                                      : VITALS_HAVE);
    return result < 0 ? NULL : text;
}

static struct shared_text *text_of(struct span span, signed char *state)
{
    struct shared_text *text = shared_text_new(span.bytes, span.size);
    if (text == NULL)
        *state = VITALS_FAILED;
    return text;
}

static void read_user(const vitals_context *context, struct user_cache *users, int64_t pid,
                      struct process_detail *out)
{
    signed char state;
    const struct buffer *file = read_file(context, users, pid, "status", FILE_LIMIT, &state);
    struct os_status status = {0};
    if (file != NULL &&
        (!os_parse_status(file->bytes, file->size, &status) || (status.has & OS_STATUS_UID) == 0))
        state = VITALS_FAILED;
    if (file != NULL && (status.has & OS_STATUS_UID) != 0) {
        out->uid = value_u64(status.uid);
        out->user = user_cache_name(users, &context->os.clock, status.uid);
        out->user_state = (signed char)(out->user != NULL ? VITALS_HAVE : VITALS_FAILED);
        return;
    }
    out->uid = value_missing((vitals_availability)state);
    out->user_state = state;
}

/* The arguments as the kernel gives them, each ended by NUL; none for a kernel thread. */
static void read_command(const vitals_context *context, struct user_cache *users, int64_t pid,
                         struct process_detail *out)
{
    const struct buffer *file = read_file(context, users, pid, "cmdline", COMMAND_LIMIT,
                                          &out->command_state);
    if (file == NULL)
        return;
    out->command = text_of((struct span){file->bytes, file->size}, &out->command_state);
}

static void read_cgroup(const vitals_context *context, struct user_cache *users, int64_t pid,
                        struct process_detail *out)
{
    const struct buffer *file = read_file(context, users, pid, "cgroup", FILE_LIMIT,
                                          &out->cgroup_state);
    if (file == NULL)
        return;
    struct span path = os_parse_cgroup(file->bytes, file->size);
    if (path.size != 0)
        out->cgroup = text_of(path, &out->cgroup_state);
    else
        out->cgroup_state = VITALS_UNSUPPORTED; // a kernel without cgroups
}

void process_detail_read(const vitals_context *context, struct user_cache *users,
                         const struct process_want *want, struct process_detail *out)
{
    *out = (struct process_detail){.key = want->key, .pid = want->pid, .bits = want->bits};
    if ((want->bits & PROCESS_DETAIL_USER) != 0)
        read_user(context, users, want->pid, out);
    if ((want->bits & PROCESS_DETAIL_COMMAND) != 0)
        read_command(context, users, want->pid, out);
    if ((want->bits & PROCESS_DETAIL_CGROUP) != 0)
        read_cgroup(context, users, want->pid, out);
}

void process_detail_done(struct process_detail *detail)
{
    shared_text_unref(detail->user);
    shared_text_unref(detail->command);
    shared_text_unref(detail->cgroup);
    detail->user = detail->command = detail->cgroup = NULL;
}
