/* track_cgroup.c: see track_cgroup.h. */
#include "run/track_cgroup.h"

#include "os/attach.h"
#include "util/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who is in a cgroup is looked at so often: its processes are listed for it. */
static const uint64_t LOOK_NS = 5 * NS_PER_SECOND;

enum { GROUPS_MAX = 8, DEPTH_MAX = 64 };

struct group {
    bool counts;          /* it held the tree alone when it was looked at first */
    bool shared, escaped; /* since: somebody else was in it, one of the tree was not */
    struct counted base[COUNTED_COUNT], last[COUNTED_COUNT];
    bool lost; /* it could not be read any more: what it told last stands */
};

struct track_cgroup {
    const struct os *os;
    struct os_tracked_cgroup *groups_of;
    size_t count;
    struct group groups[GROUPS_MAX];
    bool begun;
    uint64_t looked_ns;
    bool sampled;                         /* there is CPU time of the tree that was sampled */
    double sampled_base, sampled_seconds; /* of the tree, at the first look and the last */
    struct os_pids members, inside;       /* memory that is used again */
};

struct track_cgroup *track_cgroup_new(const struct os *os, int64_t root)
{
    struct track_cgroup *attached = memory_alloc(sizeof(*attached));
    if (attached == NULL)
        return NULL;
    attached->os = os;
    if (os_attach(os, root, &attached->groups_of) < 0 || attached->groups_of == NULL) {
        memory_free(attached);
        return NULL;
    }
    attached->count = size_min(os_tracked_cgroup_count(attached->groups_of), GROUPS_MAX);
    return attached;
}

void track_cgroup_free(struct track_cgroup *attached)
{
    if (attached == NULL)
        return;
    os_tracked_cgroup_free(attached->groups_of);
    os_pids_done(&attached->members);
    os_pids_done(&attached->inside);
    memory_free(attached);
}

/* ---- who is in it ---- */

static bool list_members(struct track_cgroup *attached, const vitals_usage *usage,
                         const vitals_snapshot *snapshot)
{
    attached->members.count = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        uint64_t pid;
        if (usage_is_member(usage, vitals_row_key(row)) &&
            vitals_row_u64(row, VITALS_PROCESS_PID, &pid) > 0 &&
            os_pids_append(&attached->members, (int64_t)pid) < 0)
            return false;
    }
    os_pids_settle(&attached->members);
    return attached->members.count > 0;
}

static int compare_pids(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return first < second ? -1 : first > second;
}

static bool is_member(const struct track_cgroup *attached, int64_t pid)
{
    const struct os_pids *members = &attached->members;
    return members->count > 0 &&
           bsearch(&pid, members->items, members->count, sizeof(pid), compare_pids) != NULL;
}

/* One that came since the snapshot is of the tree where its way up leads to a member; one that is
 * gone already says nothing. */
static bool is_stranger(const struct track_cgroup *attached, const vitals_usage *usage, int64_t pid)
{
    if (pid <= 0)
        return true;
    for (int depth = 0; depth < DEPTH_MAX && !usage_excludes(usage, pid); depth++) {
        if (is_member(attached, pid))
            return false;
        pid = os_parent_of(attached->os, pid);
        if (pid <= 0)
            return pid == 0; /* at the top of what we see; else it has ended */
    }
    return true;
}

/* A group that cannot be listed may hold anybody. */
static void look_at(struct track_cgroup *attached, const vitals_usage *usage, size_t which)
{
    struct group *group = &attached->groups[which];
    struct os_pids *inside = &attached->inside;
    inside->count = 0;
    if (os_tracked_cgroup_list(attached->groups_of, which, inside) < 0) {
        group->shared |= !attached->begun;
        return;
    }
    for (size_t i = 0; i < inside->count && !group->shared; i++)
        group->shared = is_stranger(attached, usage, inside->items[i]);
    for (size_t i = 0; i < attached->members.count && !group->escaped; i++)
        group->escaped = !os_tracked_cgroup_holds(attached->groups_of, which,
                                                  attached->members.items[i]);
}

/* ---- what it counts ---- */

static bool is_peak(enum quantity quantity)
{
    return quantity == COUNTED_MEMORY_PEAK_BYTES || quantity == COUNTED_SWAP_PEAK_BYTES ||
           quantity == COUNTED_TASKS_PEAK;
}

/* What was read before stands for what cannot be read any more. */
static void read_group(struct track_cgroup *attached, size_t which)
{
    struct group *group = &attached->groups[which];
    struct counted now[COUNTED_COUNT] = {0};
    os_tracked_cgroup_read(attached->groups_of, which, now);
    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        struct counted *last = &group->last[quantity];
        if (now[quantity].value.state > 0)
            *last = now[quantity];
        else
            group->lost |= last->value.state > 0;
    }
    if (!attached->begun)
        memcpy(group->base, group->last, sizeof(group->base));
}

static void read_sampled(struct track_cgroup *attached, const vitals_usage *usage)
{
    const struct usage_cell *cpu = &usage->subjects[SUBJECT_TREE]->cells[MEASURE_AT_cpu_seconds];
    attached->sampled = cpu->readings > 0;
    attached->sampled_seconds = attached->sampled ? cpu->most : 0;
    if (!attached->begun)
        attached->sampled_base = attached->sampled_seconds;
}

static void begin(struct track_cgroup *attached)
{
    for (size_t i = 0; i < attached->count; i++) {
        struct group *group = &attached->groups[i];
        group->counts = !group->shared && !group->escaped;
        if (group->counts)
            read_group(attached, i);
    }
    attached->begun = true;
}

void track_cgroup_look(struct track_cgroup *attached, const vitals_usage *usage,
                       const vitals_snapshot *snapshot)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(snapshot);
    read_sampled(attached, usage);
    bool due = !attached->begun || now_ns >= saturating_add(attached->looked_ns, LOOK_NS);
    for (size_t i = 0; i < attached->count && attached->begun; i++) {
        if (attached->groups[i].counts)
            read_group(attached, i);
    }
    if (!due || !list_members(attached, usage, snapshot))
        return;
    for (size_t i = 0; i < attached->count; i++) {
        if (!attached->begun || attached->groups[i].counts)
            look_at(attached, usage, i);
    }
    attached->looked_ns = now_ns;
    if (!attached->begun)
        begin(attached);
}

/* ---- what is told ---- */

/* Strangers that came and went between two looks are not seen, but what they used is: then there is
 * more than the tree's own samples tell of. Clocks are read one after the other, in steps. */
static bool is_explained(const struct track_cgroup *attached, const struct group *group)
{
    static const double SHARE = 1.01, STEP_SECONDS = 0.05;
    const struct counted *base = &group->base[COUNTED_CPU_SECONDS];
    const struct counted *last = &group->last[COUNTED_CPU_SECONDS];
    double seen = attached->sampled_seconds - attached->sampled_base;
    return attached->sampled && base->value.state > 0 && last->value.state > 0 &&
           last->value.as.f64 - base->value.as.f64 <= seen * SHARE + STEP_SECONDS;
}

static vitals_availability state_of(const struct track_cgroup *attached, const struct group *group,
                                    vitals_availability state)
{
    if (group->shared || !is_explained(attached, group))
        state = state_worse(state, VITALS_UPPER_BOUND);
    if (group->escaped || group->lost)
        state = state_worse(state, VITALS_LOWER_BOUND);
    return state;
}

/* A peak that did not move may be from before us. */
static void tell(const struct track_cgroup *attached, const struct group *group,
                 enum quantity quantity, struct counted *out)
{
    const struct counted *base = &group->base[quantity], *last = &group->last[quantity];
    bool peak = is_peak(quantity);
    if (last->value.state <= 0 || base->value.state <= 0)
        return;
    double grown = last->value.as.f64 - base->value.as.f64;
    bool older = peak && grown <= 0;
    vitals_availability state = state_of(attached, group, (vitals_availability)last->value.state);
    out->value = value_f64(peak ? last->value.as.f64 : grown > 0 ? grown : 0);
    out->value.state = (signed char)(older ? state_worse(state, VITALS_UPPER_BOUND) : state);
    (void)snprintf(out->source, sizeof(out->source), "its %.75s%s", last->source,
                   older ? ", ever" : "");
}

bool track_cgroup_read(const struct track_cgroup *attached, struct counted *out)
{
    bool any = false;
    memset(out, 0, COUNTED_COUNT * sizeof(*out));
    for (size_t i = 0; attached != NULL && i < attached->count; i++) {
        for (int quantity = 0; quantity < COUNTED_COUNT && attached->groups[i].counts; quantity++) {
            if (out[quantity].value.state <= 0)
                tell(attached, &attached->groups[i], (enum quantity)quantity, &out[quantity]);
            any |= out[quantity].value.state > 0;
        }
    }
    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        if (out[quantity].value.state == VITALS_UNSET)
            out[quantity].value.state = VITALS_UNSUPPORTED;
    }
    return any;
}

void track_cgroup_rungs(const struct track_cgroup *attached, char *out, size_t capacity)
{
    size_t size = 0;
    const char *before = "";
    out[0] = '\0';
    for (size_t i = 0; attached != NULL && i < attached->count; i++) {
        const char *name = os_tracked_cgroup_name(attached->groups_of, i);
        if (!attached->groups[i].counts || strcmp(name, before) == 0 || size >= capacity)
            continue;
        size += (size_t)snprintf(out + size, capacity - size, "%s ", name);
        before = name;
    }
}
