/* track_cgroup.c: see track_cgroup.h. */
#include "run/track_cgroup.h"

#include "os/attach.h"
#include "util/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often the members of a cgroup are listed. */
static const uint64_t LOOK_NS = 5 * NS_PER_SECOND;

enum { GROUPS_MAX = 8, DEPTH_MAX = 64 };

struct track_cgroup_group {
    bool counts;          /* it held the tree alone when it was looked at first */
    bool shared, escaped; /* since the begin: it held a process of others; a process of the tree was
                             outside */
    struct counted base[COUNTED_COUNT], last[COUNTED_COUNT];
    bool lost; /* it could not be read any more: what it told last stands */
};

struct track_cgroup {
    const struct os *os;
    struct os_tracked_cgroup *groups_of;
    size_t count;
    struct track_cgroup_group groups[GROUPS_MAX];
    bool begun;
    uint64_t looked_ns;
    bool sampled;                         /* there is CPU time of the tree that was sampled */
    double sampled_base, sampled_seconds; /* of the tree, at the first look and the last */
    struct os_pids members, inside;       /* memory that is used again */
};

struct track_cgroup *track_cgroup_new(const struct os *os, int64_t root)
{
    struct track_cgroup *cgroup = memory_alloc(sizeof(*cgroup));
    if (cgroup == NULL)
        return NULL;
    cgroup->os = os;
    if (os_attach(os, root, &cgroup->groups_of) < 0 || cgroup->groups_of == NULL) {
        memory_free(cgroup);
        return NULL;
    }
    cgroup->count = size_min(os_tracked_cgroup_count(cgroup->groups_of), GROUPS_MAX);
    return cgroup;
}

void track_cgroup_free(struct track_cgroup *cgroup)
{
    if (cgroup == NULL)
        return;
    os_tracked_cgroup_free(cgroup->groups_of);
    os_pids_done(&cgroup->members);
    os_pids_done(&cgroup->inside);
    memory_free(cgroup);
}

/* ---- members ---- */

static int compare_pids(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return first < second ? -1 : first > second;
}

/* One that came since the snapshot is of the tree where its way up leads to a member; one that is
 * gone already says nothing. */
static bool is_outsider(const struct track_cgroup *cgroup, const vitals_usage *usage, int64_t pid)
{
    const struct os_pids *members = &cgroup->members;
    if (pid <= 0)
        return true;
    for (int depth = 0; depth < DEPTH_MAX && !usage_excludes(usage, pid); depth++) {
        if (bsearch(&pid, members->items, members->count, sizeof(pid), compare_pids) != NULL)
            return false;
        pid = os_parent_of(cgroup->os, pid);
        if (pid <= 0)
            return pid == 0; /* at the top of what we see; else it has ended */
    }
    return true;
}

/* ---- what it counts ---- */

/* A value that cannot be read any more keeps the one before it. */
static void read_group(struct track_cgroup *cgroup, size_t which)
{
    struct track_cgroup_group *group = &cgroup->groups[which];
    struct counted now[COUNTED_COUNT] = {0};
    os_tracked_cgroup_read(cgroup->groups_of, which, now);
    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        struct counted *last = &group->last[quantity];
        if (now[quantity].value.state > 0)
            *last = now[quantity];
        else
            group->lost |= last->value.state > 0;
    }
    if (!cgroup->begun)
        memcpy(group->base, group->last, sizeof(group->base));
}

void track_cgroup_look(struct track_cgroup *cgroup, const vitals_usage *usage,
                       const vitals_snapshot *snapshot)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(snapshot), pid;
    const struct usage_cell *cpu = &usage->subjects[SUBJECT_TREE]->cells[MEASURE_AT_cpu_seconds];
    cgroup->sampled = cpu->readings > 0;
    cgroup->sampled_seconds = cgroup->sampled ? cpu->most : 0;
    if (!cgroup->begun)
        cgroup->sampled_base = cgroup->sampled_seconds;
    for (size_t i = 0; i < cgroup->count && cgroup->begun; i++) {
        if (cgroup->groups[i].counts)
            read_group(cgroup, i);
    }
    if (cgroup->begun && now_ns < saturating_add(cgroup->looked_ns, LOOK_NS))
        return;

    struct os_pids *members = &cgroup->members, *inside = &cgroup->inside;
    const vitals_row *row = NULL;
    members->count = 0;
    while (usage_next_member(usage, snapshot, &row) != NULL) {
        if (vitals_row_u64(row, VITALS_PROCESS_PID, &pid) > 0 &&
            os_pids_append(members, (int64_t)pid) < 0)
            return;
    }
    os_pids_settle(members);
    if (members->count == 0)
        return;
    for (size_t i = 0; i < cgroup->count; i++) {
        struct track_cgroup_group *group = &cgroup->groups[i];
        inside->count = 0;
        if (cgroup->begun && !group->counts)
            continue;
        if (os_tracked_cgroup_list(cgroup->groups_of, i, inside) < 0) {
            group->shared |= !cgroup->begun; /* it may hold any process */
            continue;
        }
        for (size_t k = 0; k < inside->count && !group->shared; k++)
            group->shared = is_outsider(cgroup, usage, inside->items[k]);
        for (size_t k = 0; k < members->count && !group->escaped; k++)
            group->escaped = !os_tracked_cgroup_holds(cgroup->groups_of, i, members->items[k]);
    }
    cgroup->looked_ns = now_ns;
    for (size_t i = 0; i < cgroup->count && !cgroup->begun; i++) {
        struct track_cgroup_group *group = &cgroup->groups[i];
        group->counts = !group->shared && !group->escaped;
        if (group->counts)
            read_group(cgroup, i);
    }
    cgroup->begun = true;
}

/* The growth of one group's counters since the begin. */
static void tell_group(const struct track_cgroup *cgroup, const struct track_cgroup_group *group,
                       struct counted *out)
{
    static const double SHARE = 1.01, STEP_SECONDS = 0.05;
    /* Other processes that came and went between two looks are not seen, but what they used is:
     * then there is more than the tree's own samples tell of. Clocks are read one after the other,
     * in steps. */
    const struct value *before = &group->base[COUNTED_CPU_SECONDS].value;
    const struct value *after = &group->last[COUNTED_CPU_SECONDS].value;
    double seen = cgroup->sampled_seconds - cgroup->sampled_base;
    bool explained = cgroup->sampled && before->state > 0 && after->state > 0 &&
                     after->as.f64 - before->as.f64 <= seen * SHARE + STEP_SECONDS;
    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        const struct counted *base = &group->base[quantity], *last = &group->last[quantity];
        struct counted *told = &out[quantity];
        if (told->value.state > 0 || last->value.state <= 0 || base->value.state <= 0)
            continue;
        bool peak = quantity == COUNTED_MEMORY_PEAK_BYTES || quantity == COUNTED_SWAP_PEAK_BYTES ||
                    quantity == COUNTED_TASKS_PEAK;
        double grown = last->value.as.f64 - base->value.as.f64;
        bool older = peak && grown <= 0; /* one that did not move may be from before us */
        vitals_availability state = (vitals_availability)last->value.state;
        if (group->shared || !explained)
            state = state_worse(state, VITALS_UPPER_BOUND);
        if (group->escaped || group->lost)
            state = state_worse(state, VITALS_LOWER_BOUND);
        if (older)
            state = state_worse(state, VITALS_UPPER_BOUND);
        told->value = value_f64(peak ? last->value.as.f64 : grown > 0 ? grown : 0);
        told->value.state = (signed char)state;
        (void)snprintf(told->source, sizeof(told->source), "its %.75s%s", last->source,
                       older ? ", ever" : "");
    }
}

/* ---- what is told ---- */

bool track_cgroup_read(const struct track_cgroup *cgroup, struct counted *out)
{
    bool any = false;
    memset(out, 0, COUNTED_COUNT * sizeof(*out));
    for (size_t i = 0; cgroup != NULL && i < cgroup->count; i++) {
        if (cgroup->groups[i].counts)
            tell_group(cgroup, &cgroup->groups[i], out);
    }
    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        any |= out[quantity].value.state > 0;
        if (out[quantity].value.state == VITALS_UNSET)
            out[quantity].value.state = VITALS_UNSUPPORTED;
    }
    return any;
}

void track_cgroup_names(const struct track_cgroup *cgroup, char *out, size_t capacity)
{
    size_t size = 0;
    const char *before = "";
    out[0] = '\0';
    for (size_t i = 0; cgroup != NULL && i < cgroup->count; i++) {
        const char *name = os_tracked_cgroup_name(cgroup->groups_of, i);
        if (!cgroup->groups[i].counts || strcmp(name, before) == 0 || size >= capacity)
            continue;
        size += (size_t)snprintf(out + size, capacity - size, "%s ", name);
        before = name;
    }
}
