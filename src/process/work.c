/* work.c: the columns that say which work a process belongs to: its unit, container, pod and job,
 * and its workload.
 *
 * The path of its cgroup counts as the kernel's word if an ordinary user could not have made that
 * cgroup; else it is a claim, and an estimate. For a job that the path names by its SLUID, the
 * title of the step's daemon has the number. If neither names a job, the environment may: an
 * estimate too, since the process can have written it. If the environment may not be read, the path
 * counts alone. Thread rule: the thread that owns the cache. */
#include "process/reader.h"

#include "workload/workload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { WORK_TEXT = 256, ENVIRONMENT_MAX = 256 * 1024, TITLE_MAX = 4096 };

static const vitals_metric NAMES[] = {VITALS_PROCESS_POD_NAME, VITALS_PROCESS_POD_NAMESPACE,
                                      VITALS_PROCESS_CONTAINER_NAME};

static const vitals_metric METRICS[] = {
    VITALS_PROCESS_CONTAINER,     VITALS_PROCESS_UNIT,
    VITALS_PROCESS_SLURM_JOB,     VITALS_PROCESS_SLURM_STEP,
    VITALS_PROCESS_POD,           VITALS_PROCESS_POD_NAME,
    VITALS_PROCESS_POD_NAMESPACE, VITALS_PROCESS_CONTAINER_NAME,
};

static struct span span_of(const char *string)
{
    return (struct span){string, strlen(string)};
}

/* The parts of the path, as copies: the text may move when a cell is added. No name of a file is
 * longer. */
struct work {
    enum workload_kind kind;
    char container[WORK_TEXT], unit[WORK_TEXT], pod[POD_UID];
    size_t container_size; /* of all of it */
    /* As much of the path leads to the cgroup of the workload, of the container and of the pod: any
     * of them may lie in another. 0: there is none. */
    size_t place, container_place, pod_place;
    bool claimed, container_claimed, pod_claimed;
    struct slurm slurm;
    vitals_availability slurm_state;
};

static void judge(struct span path, struct work *work)
{
    *work = (struct work){.slurm_state = VITALS_HAVE};
    struct span container = container_of_cgroup(path);
    work->container_size = container.size;
    work->container_place = container.size != 0 ? path_end(path, container.bytes) : 0;
    container.size = size_min(container.size, sizeof work->container - 1);
    (void)span_copy(container, work->container, sizeof work->container);
    (void)span_copy(unit_of_cgroup(path), work->unit, sizeof work->unit);
    work->pod_place = pod_of_cgroup(path, work->pod);
    (void)slurm_of_cgroup(path, &work->slurm);
    work->kind = workload_of_cgroup(path, &work->place);
}

/* Whether an ordinary user may have made the cgroup that `path` is up to `place`: below his own
 * manager, or in a folder that is not, or not only, that of the hierarchy's owner, or that may not
 * be looked at. If the folder is not there, as in a container, the path alone decides. */
static bool is_claimed(const struct os *os, struct span path, size_t place)
{
    static const char *const mounts[] = {
        "fs/cgroup",       "fs/cgroup/unified", "fs/cgroup/systemd",    "fs/cgroup/memory",
        "fs/cgroup/pids",  "fs/cgroup/freezer", "fs/cgroup/devices",    "fs/cgroup/cpuset",
        "fs/cgroup/blkio", "fs/cgroup/cpuacct", "fs/cgroup/cpu,cpuacct"};
    struct span element, uid, last = {path.bytes, 0};
    struct cursor cursor = cursor_over(path.bytes, place);
    bool outer = false;
    for (; path_element(&cursor, &element); last = element) {
        if (span_between(element, "user@", ".service", &uid))
            return true;
        outer |= span_equal(element, "..");
    }
    char folder[PATH_MAX];
    size_t above = (size_t)(last.bytes - path.bytes); /* with the slash before the last element */
    for (size_t i = 0; i < ARRAY_COUNT(mounts) && !outer; i++) {
        int size = snprintf(folder, sizeof folder, "%s%.*s", mounts[i],
                            (int)size_min(above, sizeof folder), path.bytes);
        if (size < 0 || (size_t)size >= sizeof folder)
            return true;
        int kept = os_sys_is_kept(os, mounts[i], folder);
        if (kept == 0 || (kept < 0 && kept != -ENOENT && kept != -ENOTDIR))
            return true;
    }
    return false;
}

/* ---- Slurm ---- */

/* A small file of a process; false where it cannot be read. */
static bool read_file(const struct os *os, int64_t pid, const char *name, size_t limit,
                      struct buffer *text, struct row_batch *out)
{
    bool cut;
    int result = os_process_file(os, pid, name, limit, text, &cut);
    out->failed |= result == -ENOMEM;
    return result == 0;
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
    struct cursor cursor = cursor_over(path.bytes, path.size);
    for (struct span element; path_element(&cursor, &element);)
        if (span_equal(element, ".."))
            return false; // out of what is mounted here
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

/* Values from the environment, beside those of the cgroup. */
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

const struct world_player *work_player(const vitals_context *context, int64_t pid)
{
    const struct world_player *player = NULL;
    for (size_t i = 0; i < context->player_count && player == NULL; i++)
        if (context->players[i].pid == pid && context->players[i].cgroup != NULL)
            player = &context->players[i];
    if (player == NULL)
        return NULL;

    /* Whether it is still the one that was chosen: pids are given anew. */
    char text[OS_STAT_TEXT];
    struct os_process process;
    struct os_stat stat = {0};
    if (os_process_open(&context->os, pid, false, &process) < 0)
        return NULL;
    int result = os_process_stat(&process, text, &stat);
    os_process_close(&process);
    bool same = result == 0 && (stat.has & OS_STAT_START) != 0 &&
                stat.start_ticks == player->start_ticks;
    return same ? player : NULL;
}

/* ---- names ---- */

/* A process in no container or no pod: HAVE, and "". */
static vitals_availability find_names(const struct os *os, struct user_cache *cache,
                                      const struct work *work, const struct world_player *player,
                                      struct workload_name *name, struct row_batch *out)
{
    *name = (struct workload_name){{"", 0}, {"", 0}, {"", 0}};
    struct span id = span_of(work->container);
    if (player != NULL) {
        *name = (struct workload_name){span_of(player->pod), span_of(player->space),
                                       span_of(player->container)};
    } else if (id.size != 0 && work->pod[0] != '\0') {
        struct workload_names *names = user_cache_containers(cache);
        out->failed |= names == NULL;
        return names == NULL ? VITALS_FAILED : workload_names_find(names, os, id, name);
    }
    return VITALS_HAVE;
}

/* A job counts only if the cgroup names it: a process may put any number in its environment. That
 * may tell the number of a SLUID, and then the id is an estimate too. */
static vitals_availability find_workload(const struct work *work, const struct workload_name *name,
                                         struct workload *out)
{
    *out = (struct workload){
        .kind = work->kind,
        .job = span_of(work->slurm.job),
        .step = span_of(work->slurm.step),
        .space = name->space,
        .pod = name->pod,
        .container = name->container,
        .name = span_of(work->container),
        .claimed = work->claimed,
    };
    if (out->kind == WORKLOAD_UNIT)
        out->name = span_of(work->unit);
    if (out->kind == WORKLOAD_CONTAINER && name->pod.size != 0)
        out->kind = WORKLOAD_POD;
    return work->claimed                 ? VITALS_ESTIMATE
           : out->kind == WORKLOAD_SLURM ? work->slurm_state
                                         : VITALS_HAVE;
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
    if (state > 0 && workload->kind == WORKLOAD_USER) {
        bool lacking = false;
        const struct shared_text *text = NULL;
        state = (vitals_availability)uid.state;
        if (state > 0)
            text = user_cache_name(cache, &context->os.clock, USER_NAME, uid.as.u64, &lacking);
        if (text != NULL)
            workload->name = (struct span){text->bytes, text->size};
        else if (state > 0)
            state = VITALS_FAILED;
        whole = !lacking;
    }
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

bool work_add(const vitals_context *context, struct user_cache *cache, int64_t pid,
              const struct batch_row *row, struct row_batch *out)
{
    bool wanted = batch_wants(out, VITALS_PROCESS_WORKLOAD), names_wanted = wanted;
    for (size_t i = 0; i < ARRAY_COUNT(METRICS); i++)
        wanted |= batch_wants(out, METRICS[i]);
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++)
        names_wanted |= batch_wants(out, NAMES[i]);
    if (!wanted)
        return true;

    const struct batch_cell *cgroup = batch_find(out, row, VITALS_PROCESS_CGROUP);
    const struct batch_cell *cell = batch_find(out, row, VITALS_PROCESS_UID);
    struct value uid = value_missing(VITALS_UNSUPPORTED);
    if (cell != NULL)
        uid = (struct value){.as.u64 = cell->as.u64, .state = cell->state};
    if (cgroup == NULL || cgroup->state <= 0) {
        /* If the system has no cgroups, a process works for its user; if they are hidden, its user
         * tells nothing. */
        struct workload workload = {.kind = WORKLOAD_USER};
        vitals_availability reason = VITALS_UNSUPPORTED;
        if (cgroup != NULL)
            reason = (vitals_availability)cgroup->state;
        for (size_t i = 0; i < ARRAY_COUNT(METRICS); i++)
            batch_set_missing(out, METRICS[i], reason);
        return add_workload(context, cache, uid, &workload,
                            reason == VITALS_UNSUPPORTED ? VITALS_HAVE : reason, out);
    }

    struct work work;
    struct span path = batch_span(out, cgroup);
    judge(path, &work);
    const struct world_player *player = work_player(context, pid);
    /* A login's units are its user's, whatever they are called. */
    bool judged = work.kind == WORKLOAD_SLURM || work.kind == WORKLOAD_CONTAINER;
    if (player == NULL) {
        const struct os *os = &context->os;
        work.claimed = judged && is_claimed(os, path, work.place);
        work.container_claimed = work.container_place == work.place
                                     ? work.claimed
                                     : work.container_place != 0 &&
                                           is_claimed(os, path, work.container_place);
        work.pod_claimed = work.pod_place != 0 && is_claimed(os, path, work.pod_place);
    }
    if (work.claimed)
        work.slurm_state = VITALS_ESTIMATE;

    /* That the environment alone names a job is worth something to the columns of Slurm only. */
    bool sluid = slurm_is_sluid(work.slurm.job);
    bool job_wanted = batch_wants(out, VITALS_PROCESS_SLURM_JOB) ||
                      batch_wants(out, VITALS_PROCESS_SLURM_STEP) ||
                      (sluid && batch_wants(out, VITALS_PROCESS_WORKLOAD));
    if (player == NULL && job_wanted && (work.slurm.job[0] == '\0' || sluid) &&
        !(sluid && ask_daemon(&context->os, path, &work, out)))
        ask_environment(&context->os, pid, &work, out);

    bool cut = strlen(work.container) < work.container_size;
    vitals_availability said = work.container_claimed ? VITALS_ESTIMATE : VITALS_HAVE;
    batch_set_text_as(out, VITALS_PROCESS_CONTAINER, span_of(work.container),
                      cut ? VITALS_LOWER_BOUND : said);
    batch_set_string(out, VITALS_PROCESS_UNIT, work.unit);
    batch_set_text_as(out, VITALS_PROCESS_POD, span_of(work.pod),
                      work.pod_claimed ? VITALS_ESTIMATE : VITALS_HAVE);
    batch_set_text_as(out, VITALS_PROCESS_SLURM_JOB, span_of(work.slurm.job), work.slurm_state);
    batch_set_text_as(out, VITALS_PROCESS_SLURM_STEP, span_of(work.slurm.step), work.slurm_state);
    if (!names_wanted)
        return true;

    struct workload_name name;
    vitals_availability named = find_names(&context->os, cache, &work, player, &name, out);
    const struct span names[] = {name.pod, name.space, name.container};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (named > 0)
            batch_set_text_as(out, NAMES[i], names[i], names[i].size != 0 ? said : VITALS_HAVE);
        else
            batch_set_missing(out, NAMES[i], named);
    }
    struct workload workload;
    vitals_availability state = find_workload(&work, &name, &workload);
    return add_workload(context, cache, uid, &workload, state, out);
}
