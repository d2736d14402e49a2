/* pmu.c: busy time of the engines, from the device's performance monitoring unit. Exact, and for
 * all users, but needs CAP_PERFMON or perf_event_paranoid at 0.
 *
 * i915 has an event for each engine, which counts nanoseconds; xe has two, in ticks, whose class,
 * instance and GT are words of the event. The words are described in /sys. While an event of xe's
 * engines is open the kernel keeps the device awake. So these events are opened only once a GT is
 * awake for much of the time, and closed once the engines were nearly idle for some seconds, so
 * that the device can save power. */
#include "gpu/intel/events.h"
#include "gpu/intel/state.h"

#include <stdio.h>
#include <string.h>

enum { CLASSES_XE = 5, INSTANCES_MAX = 32, EVENT_TEXT = 128, FAILURES_MAX = 3 };

static const uint64_t STILL_NS = 5 * NS_PER_SECOND;
static const double AWAKE_LEAST = 0.25; /* below this share awake, the device should rather sleep */
static const double BUSY_LEAST = 0.05;  /* likewise, while the counters are open */
static const double RATIO_SLACK = 1.05; /* the clocks of counter and reader differ slightly */

/* Numbers of engine classes in xe's events, from its uapi. */
static const struct {
    const char *name;
    uint64_t number;
} XE_CLASSES[CLASSES_XE] = {{"rcs", 0}, {"bcs", 1}, {"vcs", 2}, {"vecs", 3}, {"ccs", 4}};

/* ---- description of the unit ---- */

struct pmu_unit {
    struct intel *intel;
    struct intel_slot *slot;
    const struct os *os;
    char folder[INTEL_FOLDER];
    uint32_t type;
    unsigned cpu;
    bool full; /* there are more counters than slots */
};

static bool read_text(const struct pmu_unit *unit, const char *folder, const char *name,
                      char out[static EVENT_TEXT])
{
    char path[OS_SYS_PATH];
    int size = snprintf(path, sizeof path, "%s/%s%s", unit->folder, folder, name);
    return size > 0 && (size_t)size < sizeof path &&
           os_sys_text(unit->os, path, out, EVENT_TEXT) == 0;
}

static bool open_folder(struct pmu_unit *unit, const char *name)
{
    snprintf(unit->folder, sizeof unit->folder, "bus/event_source/devices/%s", name);
    struct value type = intel_number(unit->os, unit->folder, "type");
    if (type.state <= 0 || type.as.u64 > UINT32_MAX)
        return false;
    unit->type = (uint32_t)type.as.u64;
    char text[EVENT_TEXT];
    uint64_t cpu = 0;
    if (read_text(unit, "", "cpumask", text))
        (void)event_parse_cpu((struct span){text, strlen(text)}, &cpu);
    unit->cpu = (unsigned)cpu;
    return true;
}

static bool set_word(const struct pmu_unit *unit, struct os_perf_event *event, struct span word,
                     uint64_t number)
{
    static const char *const whole[] = {"config", "config1", "config2"};
    for (size_t i = 0; i < ARRAY_COUNT(whole); i++) {
        if (span_equal(word, whole[i])) {
            event->config[i] = number;
            return true;
        }
    }
    char name[64], text[EVENT_TEXT];
    struct event_field field;
    if (word.size >= sizeof name || memchr(word.bytes, '/', word.size) != NULL)
        return false;
    memcpy(name, word.bytes, word.size);
    name[word.size] = '\0';
    return read_text(unit, "format/", name, text) &&
           event_parse_field((struct span){text, strlen(text)}, &field) &&
           event_set(event, &field, number);
}

/* Reads the event of that name, as its file describes it. */
static bool read_event(const struct pmu_unit *unit, const char *name, struct os_perf_event *out)
{
    char text[EVENT_TEXT];
    *out = (struct os_perf_event){{0}};
    if (!read_text(unit, "events/", name, text))
        return false;
    struct cursor cursor = cursor_over(text, strlen(text));
    struct span word;
    uint64_t number;
    bool bad, any = false;
    while (event_next_word(&cursor, &word, &number, &bad)) {
        if (!set_word(unit, out, word, number))
            return false;
        any = true;
    }
    return any && !bad;
}

/* ---- opening ---- */

/* Adds the counters of one engine; returns false if the unit does not have it, or access is
 * denied. */
static bool add_engine(struct pmu_unit *unit, enum engine_kind kind,
                       const struct os_perf_event *events, uint32_t count)
{
    struct intel_pmu *pmu = &unit->slot->pmu;
    uint32_t first = pmu->perf.count;
    if (first + count > OS_PERF_EVENTS || pmu->engine_count == OS_PERF_EVENTS) {
        unit->full = true;
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        int result = unit->intel->counting->add(unit->os, &pmu->perf, unit->type, unit->cpu,
                                                &events[i]);
        if (result < 0) { /* a pair with only one event open is not read */
            if (pmu->error == 0 || intel_reason(result) == VITALS_DENIED)
                pmu->error = result; /* a denied counter is the more useful reason */
            return false;
        }
    }
    pmu->engines[pmu->engine_count++] = (struct intel_engine){
        .kind = kind, .active = first, .total = first + count - 1};
    pmu->classes[kind].capacity++;
    return true;
}

/* Adds the engines of i915, which has an event for each. */
static void open_events(struct pmu_unit *unit)
{
    struct os_sys_names names;
    os_sys_names(&names, unit->os, "%s/events", unit->folder);
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        struct span kind;
        uint64_t instance;
        char word[16];
        struct os_perf_event event;
        if (!event_parse_busy((struct span){name, strlen(name)}, &kind, &instance) ||
            kind.size >= sizeof word || !read_event(unit, name, &event))
            continue;
        memcpy(word, kind.bytes, kind.size);
        word[kind.size] = '\0';
        (void)add_engine(unit, client_engine(word), &event, 1);
    }
}

static void open_class(struct pmu_unit *unit, const struct intel_gt *gt, size_t class)
{
    struct os_perf_event events[2];
    const char *name = XE_CLASSES[class].name;
    if (!read_event(unit, "engine-active-ticks", &events[0]) ||
        !read_event(unit, "engine-total-ticks", &events[1]))
        return;
    for (uint64_t instance = 0; instance < INSTANCES_MAX; instance++) {
        for (size_t i = 0; i < ARRAY_COUNT(events); i++) {
            static const struct span words[] = {
                {"engine_class", 12}, {"engine_instance", 15}, {"gt", 2}};
            const uint64_t numbers[] = {XE_CLASSES[class].number, instance, gt->number};
            for (size_t j = 0; j < ARRAY_COUNT(words); j++) {
                if (!set_word(unit, &events[i], words[j], numbers[j]))
                    return;
            }
        }
        if (!add_engine(unit, client_engine(name), events, ARRAY_COUNT(events)))
            return; /* engines of a class are numbered without gaps */
    }
}

static void open_counters(struct intel *intel, struct intel_slot *slot)
{
    struct intel_pmu *pmu = &slot->pmu;
    struct pmu_unit unit = {.intel = intel, .slot = slot, .os = &intel->context->os};
    char name[64], folder[OS_SYS_PATH];
    pmu->error = 0;
    pmu->engine_count = 0;
    pmu->stamp_ns = pmu->still_since_ns = 0;
    for (size_t i = 0; i < ENGINE_KINDS; i++) {
        pmu->classes[i].capacity = 0;
        pmu->classes[i].ratio = value_missing(VITALS_NOT_YET);
    }

    /* i915_0000_03_00.0, xe_0000_03_00.0; only i915 for the graphics in the processor. */
    snprintf(name, sizeof name, "%s_%s", slot->driver, slot->who.pci_bus_id);
    for (char *at = name; *at != '\0'; at++)
        *at = *at == ':' ? '_' : *at;
    if (!open_folder(&unit, name) && !(slot->integrated && open_folder(&unit, slot->driver))) {
        pmu->state = VITALS_UNSUPPORTED;
        return;
    }

    bool is_xe = slot->gt_count > 0 && slot->gts[0].dialect->engines != NULL;
    for (uint32_t i = 0; is_xe && i < slot->gt_count; i++) {
        const struct intel_gt *gt = &slot->gts[i];
        bool listed = pci_path(folder, gt->folder, gt->dialect->engines) &&
                      os_sys_exists(unit.os, folder);
        for (size_t class = 0; class < CLASSES_XE; class ++) {
            if (!listed || pci_exists(unit.os, folder, XE_CLASSES[class].name))
                open_class(&unit, gt, class);
        }
    }
    if (!is_xe && slot->tile < 0)
        open_events(&unit);
    if (pmu->engine_count == 0) {
        pmu->state = (signed char)(pmu->error < 0 ? intel_reason(pmu->error) : VITALS_UNSUPPORTED);
        intel->counting->close(&pmu->perf);
        return;
    }
    pmu->state = VITALS_HAVE;
    pmu->was_open = true;
    pmu->cut = unit.full;
}

void intel_close_pmu(struct intel *intel, struct intel_slot *slot)
{
    intel->counting->close(&slot->pmu.perf);
    slot->pmu.engine_count = 0;
    slot->pmu.stamp_ns = 0;
    if (slot->pmu.state == VITALS_HAVE)
        slot->pmu.state = VITALS_UNSET;
}

vitals_availability intel_probe_pmu(struct intel *intel, const struct intel_slot *slot)
{
    struct intel_slot probe = {.who = slot->who,
                               .driver = slot->driver,
                               .tile = slot->tile,
                               .integrated = slot->integrated};
    memcpy(probe.folder, slot->folder, sizeof probe.folder);
    memcpy(probe.card, slot->card, sizeof probe.card);
    intel_find_gts(&intel->context->os, &probe);
    open_counters(intel, &probe);
    vitals_availability state = (vitals_availability)probe.pmu.state;
    intel_close_pmu(intel, &probe);
    return state;
}

/* ---- reading ---- */

/* Returns the share of the window in which the engine was busy; negative: not known. */
static double ratio_of(struct intel_engine *engine, const uint64_t *values, uint64_t window_ns)
{
    uint64_t active = values[engine->active], total = values[engine->total];
    bool ticks = engine->total != engine->active;
    bool backwards = active < engine->last_active || (ticks && total < engine->last_total);
    double moved = (double)(active - engine->last_active);
    double whole = ticks ? (double)(total - engine->last_total) : (double)window_ns;
    engine->last_active = active;
    engine->last_total = total;
    if (backwards || (whole <= 0 && moved > 0))
        return -1;
    double ratio = whole > 0 ? moved / whole : 0;
    return ratio <= RATIO_SLACK ? (ratio < 1 ? ratio : 1) : -1;
}

/* Without counters, the time awake is an upper bound of the engines' busy time. */
static void rest(struct intel_slot *slot)
{
    for (size_t kind = 0; kind < ENGINE_KINDS; kind++)
        slot->pmu.classes[kind].ratio = intel_awake(slot);
}

static bool keeps_awake(const struct intel_slot *slot)
{
    return slot->gt_count > 0 && slot->gts[0].dialect->counters_keep_awake;
}

void intel_read_pmu(struct intel *intel, struct intel_slot *slot, uint64_t now_ns)
{
    struct intel_pmu *pmu = &slot->pmu;
    uint64_t values[OS_PERF_EVENTS];
    if (pmu->state < 0 && pmu->state != VITALS_SUSPENDED) {
        rest(slot); /* not permitted, not present, or given up */
        return;
    }
    if (pmu->state != VITALS_HAVE) {
        /* Open counters that keep the device awake only while it is in use anyway. */
        struct value awake = intel_awake(slot);
        if (keeps_awake(slot) && !(awake.state > 0 && awake.as.f64 >= AWAKE_LEAST)) {
            rest(slot);
            return;
        }
        pmu->lost_time |= pmu->was_open;
        open_counters(intel, slot);
    }
    if (pmu->state != VITALS_HAVE ||
        (pmu->stamp_ns != 0 && now_ns - pmu->stamp_ns < INTEL_WINDOW_NS))
        return;
    if (intel->counting->read(&pmu->perf, values) < 0) {
        intel_close_pmu(intel, slot);
        rest(slot);
        if (++pmu->failures == FAILURES_MAX)
            pmu->state = VITALS_FAILED;
        return;
    }
    pmu->failures = 0;

    bool first = pmu->stamp_ns == 0;
    uint64_t window_ns = now_ns - pmu->stamp_ns;
    double sums[ENGINE_KINDS] = {0}, busiest = 0;
    bool unknown[ENGINE_KINDS] = {false};
    for (uint32_t i = 0; i < pmu->engine_count; i++) {
        struct intel_engine *engine = &pmu->engines[i];
        double ratio = ratio_of(engine, values, window_ns);
        unknown[engine->kind] |= ratio < 0;
        sums[engine->kind] += ratio > 0 ? ratio : 0;
        busiest = ratio > busiest ? ratio : busiest;
    }
    for (size_t kind = 0; kind < ENGINE_KINDS && !first; kind++) {
        struct intel_class *class = &pmu->classes[kind];
        if (class->capacity == 0)
            continue;
        class->ratio = unknown[kind] ? value_missing(VITALS_FAILED)
                                     : value_f64(sums[kind] / class->capacity);
        if (pmu->cut && class->ratio.state > 0)
            class->ratio.state = VITALS_ESTIMATE; /* computed from a part of the engines */
        class->busy_seconds += sums[kind] * (double)window_ns / (double)NS_PER_SECOND;
        pmu->lost_time |= unknown[kind];
    }
    pmu->stamp_ns = now_ns;
    if (busiest >= BUSY_LEAST || pmu->still_since_ns == 0)
        pmu->still_since_ns = now_ns;

    if (keeps_awake(slot) && now_ns - pmu->still_since_ns >= STILL_NS) {
        intel_close_pmu(intel, slot);
        pmu->state = VITALS_SUSPENDED;
    }
}

/* ---- results ---- */

struct value intel_busiest(const struct intel_slot *slot)
{
    const struct intel_pmu *pmu = &slot->pmu;
    struct value most = value_missing(VITALS_UNSUPPORTED);
    for (size_t kind = 0; kind < ENGINE_KINDS && pmu->state == VITALS_HAVE; kind++) {
        const struct intel_class *class = &pmu->classes[kind];
        if (class->capacity == 0)
            continue;
        if (class->ratio.state <= 0)
            return class->ratio;
        if (most.state <= 0 || class->ratio.as.f64 > most.as.f64)
            most = class->ratio;
    }
    return most;
}

void intel_fill_engines(const struct intel_slot *slot, struct gpu_sample *sample)
{
    const struct intel_pmu *pmu = &slot->pmu;
    for (size_t kind = 0; kind < ENGINE_KINDS && pmu->was_open; kind++) {
        const struct intel_class *class = &pmu->classes[kind];
        const char *label = engine_label((enum engine_kind)kind);
        if (class->capacity == 0)
            continue;
        if (label == NULL) /* a kind of engine without a label */
            label = "other";
        struct value busy = value_f64(class->busy_seconds);
        busy.state = pmu->lost_time || pmu->cut ? VITALS_LOWER_BOUND : VITALS_HAVE;
        gpu_fill_child(sample, VITALS_GPU_ENGINE_UTILIZATION_RATIO, label, class->ratio);
        gpu_fill_child(sample, VITALS_GPU_ENGINE_BUSY_SECONDS, label, busy);
        gpu_fill_child(sample, VITALS_GPU_ENGINE_CAPACITY, label, value_u64(class->capacity));
    }
}
