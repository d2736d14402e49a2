/* work.c: the columns that say which work a process belongs to: its unit, container, pod and job,
 * and its workload.
 *
 * What the path of its cgroup says is the kernel's word. A job that it names by its SLUID has its
 * number in the title of the step's daemon. Where neither knows one, the environment may; the
 * process itself can have written that, so it is an estimate. Where the environment may not be
 * read, what the cgroup says stands. Thread rule: the thread that owns the cache. */
#include "process/detail.h"

#include "workload/container.h"
#include "workload/names.h"
#include "workload/path.h"
#include "workload/pod.h"
#include "workload/slurm.h"
#include "workload/unit.h"
#include "workload/workload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WORK_TEXT = 256, ENVIRONMENT_MAX = 256 * 1024, TITLE_MAX = 4096 };

static const vitals_metric METRICS[] = {
    VITALS_PROCESS_CONTAINER,     VITALS_PROCESS_UNIT,
    VITALS_PROCESS_SLURM_JOB,     VITALS_PROCESS_SLURM_STEP,
    VITALS_PROCESS_POD,           VITALS_PROCESS_POD_NAME,
    VITALS_PROCESS_POD_NAMESPACE, VITALS_PROCESS_CONTAINER_NAME,
};

/* What the path says: copies, because what it is part of may move while a fact is added. No name of
 * a file is longer. */
struct work {
    enum workload_kind kind;
    char container[WORK_TEXT], unit[WORK_TEXT], pod[POD_UID];
    size_t container_size; /* of all of it */
    struct slurm slurm;
    vitals_availability slurm_state;
};

static void judge(struct span path, struct work *work)
{
    struct span container = container_of_cgroup(path);
    work->container_size = container.size;
    container.size = size_min(container.size, sizeof work->container - 1);
    (void)span_copy(container, work->container, sizeof work->container);
    (void)span_copy(unit_of_cgroup(path), work->unit, sizeof work->unit);
    (void)pod_of_cgroup(path, work->pod);
    (void)slurm_of_cgroup(path, &work->slurm);
    work->slurm_state = VITALS_HAVE;
    size_t place;
    work->kind = workload_of_cgroup(path, &place);
}

/* ---- Slurm ---- */

static bool wants_slurm(const struct row_batch *out)
{
    return batch_wants(out, VITALS_PROCESS_SLURM_JOB) ||
           batch_wants(out, VITALS_PROCESS_SLURM_STEP);
}

/* A small file of a process; false where it cannot be read. */
static bool read_file(const struct os *os, int64_t pid, const char *name, size_t limit,
                      struct buffer *text, struct row_batch *out)
{
    bool cut;
    int result = os_process_file(os, pid, name, limit, text, &cut);
    out->failed |= result == -ENOMEM;
    return result == 0;
}

/* Whether the path leads up: out of what is mounted here. */
static bool leads_up(struct span path)
{
    struct cursor cursor = cursor_over(path.bytes, path.size);
    for (struct span element; path_element(&cursor, &element);)
        if (span_equal(element, ".."))
            return true;
    return false;
}

/* The number of a job that the cgroup names by its SLUID: the daemon of the step has it in its
 * title, and a cgroup of its own beside those of its tasks, which is root's and readable for all.
 */
static bool ask_daemon(const struct os *os, struct span path, struct work *work,
                       struct row_batch *out)
{
    static const char *const mounts[] = {"fs/cgroup", "fs/cgroup/unified"};
    char file[OS_SYS_PATH];
    uint64_t pid = 0;
    struct slurm told = {{0}, {0}, {0}, 0, 0};
    if (leads_up(path))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(mounts) && pid == 0 && work->slurm.place != 0; i++) {
        int size = snprintf(file, sizeof file, "%s%.*s/slurm/cgroup.procs", mounts[i],
                            (int)size_min(work->slurm.place, sizeof file), path.bytes);
        if (size <= 0 || (size_t)size >= sizeof file || os_sys_u64(os, file, &pid) < 0)
            pid = 0;
    }
    struct buffer title = {0};
    bool read = pid > 0 && pid <= INT32_MAX &&
                read_file(os, (int64_t)pid, "cmdline", TITLE_MAX, &title, out) &&
                slurm_of_title((struct span){title.bytes, title.size}, &told) &&
                strcmp(told.step, work->slurm.step) == 0;
    buffer_done(&title);
    if (read)
        memcpy(work->slurm.job, told.job, sizeof told.job);
    return read;
}

/* What the environment adds to the cgroup's word. */
static void ask_environment(const struct os *os, int64_t pid, struct work *work,
                            struct row_batch *out)
{
    struct buffer text = {0};
    struct slurm told;
    bool read = read_file(os, pid, "environ", ENVIRONMENT_MAX, &text, out) &&
                slurm_of_environment((struct span){text.bytes, text.size}, &told);
    buffer_done(&text);
    if (!read)
        return;
    bool sluid = work->slurm.job[0] != '\0';
    bool same = told.sluid[0] == '\0' || strcmp(told.sluid, work->slurm.job) == 0;
    if (sluid && (!same || slurm_is_sluid(told.job)))
        return; // it was inherited from another job, or knows no number
    memcpy(work->slurm.job, told.job, sizeof told.job);
    if (!sluid) // else the cgroup knows the step
        memcpy(work->slurm.step, told.step, sizeof told.step);
    work->slurm_state = VITALS_ESTIMATE;
}

/* ---- the demo ---- */

/* Whether it is still the one that was chosen: pids are given anew. */
static bool is_player(const vitals_context *context, const struct world_player *player)
{
    char text[OS_STAT_TEXT];
    struct os_process process;
    struct os_stat stat = {0};
    if (os_process_open(&context->os, player->pid, false, &process) < 0)
        return false;
    int result = os_process_stat(&process, text, &stat);
    os_process_close(&process);
    return result == 0 && (stat.has & OS_STAT_START) && stat.start_ticks == player->start_ticks;
}

const struct world_player *work_player(const vitals_context *context, int64_t pid)
{
    for (size_t i = 0; i < context->player_count; i++) {
        const struct world_player *player = &context->players[i];
        if (player->pid == pid && player->cgroup != NULL)
            return is_player(context, player) ? player : NULL;
    }
    return NULL;
}

/* ---- names ---- */

/* Of what is in no container or no pod: HAVE, and "". */
static vitals_availability find_names(const struct os *os, struct user_cache *cache,
                                      const struct work *work, const struct world_player *player,
                                      struct workload_name *name, struct row_batch *out)
{
    *name = (struct workload_name){{"", 0}, {"", 0}, {"", 0}};
    struct span id = {work->container, strlen(work->container)};
    if (player != NULL) {
        name->pod = (struct span){player->pod, strlen(player->pod)};
        name->space = (struct span){player->space, strlen(player->space)};
        name->container = (struct span){player->container, strlen(player->container)};
    } else if (id.size != 0 && work->pod[0] != '\0') {
        struct workload_names *names = user_cache_containers(cache);
        out->failed |= names == NULL;
        return names == NULL ? VITALS_FAILED : workload_names_find(names, os, id, name);
    }
    return VITALS_HAVE;
}

static void add_names(const struct workload_name *name, vitals_availability state,
                      struct row_batch *out)
{
    const struct {
        vitals_metric metric;
        struct span text;
    } texts[] = {
        {VITALS_PROCESS_POD_NAME, name->pod},
        {VITALS_PROCESS_POD_NAMESPACE, name->space},
        {VITALS_PROCESS_CONTAINER_NAME, name->container},
    };
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        if (state > 0)
            batch_set_text(out, texts[i].metric, texts[i].text);
        else
            batch_set_missing(out, texts[i].metric, state);
    }
}

static bool wants_names(const struct row_batch *out)
{
    return batch_wants(out, VITALS_PROCESS_POD_NAME) ||
           batch_wants(out, VITALS_PROCESS_POD_NAMESPACE) ||
           batch_wants(out, VITALS_PROCESS_CONTAINER_NAME) ||
           batch_wants(out, VITALS_PROCESS_WORKLOAD);
}

/* ---- the workload ---- */

/* A job counts only if the cgroup names it: a process may put any number in its environment. That
 * may tell the number of a SLUID, and then the id is an estimate too. */
static vitals_availability find_workload(const struct work *work, const struct workload_name *name,
                                         struct workload *out)
{
    *out = (struct workload){
        .kind = work->kind,
        .job = {work->slurm.job, strlen(work->slurm.job)},
        .step = {work->slurm.step, strlen(work->slurm.step)},
        .space = name->space,
        .pod = name->pod,
        .container = name->container,
        .name = {work->container, strlen(work->container)},
    };
    if (out->kind == WORKLOAD_UNIT)
        out->name = (struct span){work->unit, strlen(work->unit)};
    if (out->kind == WORKLOAD_CONTAINER && name->pod.size != 0)
        out->kind = WORKLOAD_POD;
    return out->kind == WORKLOAD_SLURM ? work->slurm_state : VITALS_HAVE;
}

/* The name of a user: HAVE, or why it is not known. False where a descriptor was refused. */
static bool find_user(const vitals_context *context, struct user_cache *cache, struct value uid,
                      struct span *name, vitals_availability *state)
{
    bool lacking = false;
    *state = (vitals_availability)uid.state;
    if (uid.state <= 0)
        return true;
    const struct shared_text *text = user_cache_name(cache, &context->os.clock, USER_NAME,
                                                     uid.as.u64, &lacking);
    *state = text != NULL ? VITALS_HAVE : VITALS_FAILED;
    if (text != NULL)
        *name = (struct span){text->bytes, text->size};
    return !lacking;
}

/* False where a descriptor was refused. */
static bool add_workload(const vitals_context *context, struct user_cache *cache, struct value uid,
                         struct workload *workload, vitals_availability state,
                         struct row_batch *out)
{
    bool whole = true;
    struct buffer id = {0};
    if (!batch_wants(out, VITALS_PROCESS_WORKLOAD))
        return true;
    if (state > 0 && workload->kind == WORKLOAD_USER)
        whole = find_user(context, cache, uid, &workload->name, &state);
    if (state > 0) {
        workload_format(workload, &id);
        out->failed |= id.failed;
    }
    if (id.failed || state <= 0)
        batch_set_missing(out, VITALS_PROCESS_WORKLOAD, state > 0 ? VITALS_FAILED : state);
    else
        batch_set_text_as(out, VITALS_PROCESS_WORKLOAD, (struct span){id.bytes, id.size}, state);
    buffer_done(&id);
    return whole;
}

/* ---- all of it ---- */

/* If the system has no cgroups, a process works for its user; if they are hidden, its user tells
 * nothing. */
static bool add_without(const vitals_context *context, struct user_cache *cache,
                        const struct work_known *known, struct row_batch *out)
{
    struct workload workload = {.kind = WORKLOAD_USER};
    for (size_t i = 0; i < ARRAY_COUNT(METRICS); i++)
        batch_set_missing(out, METRICS[i], known->reason);
    vitals_availability state = known->reason == VITALS_UNSUPPORTED ? VITALS_HAVE : known->reason;
    return add_workload(context, cache, known->uid, &workload, state, out);
}

/* Looks for the number of the job where it is asked for. That the environment alone names one is
 * worth something to the columns of Slurm only. */
static void find_job(const struct os *os, int64_t pid, struct span path, struct work *work,
                     struct row_batch *out)
{
    bool sluid = slurm_is_sluid(work->slurm.job);
    bool asked = wants_slurm(out) || (sluid && batch_wants(out, VITALS_PROCESS_WORKLOAD));
    if (asked && (work->slurm.job[0] == '\0' || sluid) &&
        !(sluid && ask_daemon(os, path, work, out)))
        ask_environment(os, pid, work, out);
}

static void add_texts(const struct work *work, struct row_batch *out)
{
    struct span container = {work->container, strlen(work->container)};
    batch_set_text_as(out, VITALS_PROCESS_CONTAINER, container,
                      container.size < work->container_size ? VITALS_LOWER_BOUND : VITALS_HAVE);
    batch_set_string(out, VITALS_PROCESS_UNIT, work->unit);
    batch_set_string(out, VITALS_PROCESS_POD, work->pod);
    batch_set_text_as(out, VITALS_PROCESS_SLURM_JOB,
                      (struct span){work->slurm.job, strlen(work->slurm.job)}, work->slurm_state);
    batch_set_text_as(out, VITALS_PROCESS_SLURM_STEP,
                      (struct span){work->slurm.step, strlen(work->slurm.step)}, work->slurm_state);
}

bool work_add(const vitals_context *context, struct user_cache *cache, int64_t pid,
              const struct work_known *known, struct row_batch *out)
{
    struct work work = {0};
    struct workload workload;
    struct workload_name name = {{"", 0}, {"", 0}, {"", 0}};
    if (known->cgroup == NULL)
        return add_without(context, cache, known, out);
    judge(*known->cgroup, &work);
    const struct world_player *player = work_player(context, pid);
    if (player == NULL)
        find_job(&context->os, pid, *known->cgroup, &work, out);
    add_texts(&work, out);
    if (!wants_names(out))
        return true;
    vitals_availability named = find_names(&context->os, cache, &work, player, &name, out);
    add_names(&name, named, out);
    vitals_availability state = find_workload(&work, &name, &workload);
    return add_workload(context, cache, known->uid, &workload, state, out);
}
