/* usage.c: see <vitals/usage.h>: options, the life of a usage, the order of a pass, its values. */
#include "run/usage/usage_data.h"

#include "util/error.h"
#include "util/memory.h"
#include "util/options.h"

#include <math.h>
#include <string.h>

static const vitals_usage_options DEFAULTS = {0};

OPTIONS_FORM(FORM, vitals_usage_options, DEFAULTS, machine_pace, 88);

void vitals_usage_options_init(vitals_usage_options *options, size_t size)
{
    options_init(&FORM, options, size);
}

int usage_options_take(const vitals_usage_options *given, vitals_usage_options *out,
                       vitals_error *error)
{
    return options_take(&FORM, given, out, error);
}

/* ---- options ---- */

static int check_pids(const int64_t *pids, size_t count, vitals_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (pids[i] < 1)
            return error_set(error, VITALS_EARGUMENT, 0, "%lld is not a pid", (long long)pids[i]);
    }
    return 0;
}

static int check(const vitals_usage_options *options, vitals_error *error)
{
    const char *brand = options->brand;
    int code = check_pids(options->pids, options->pid_count, error);
    if (code == 0)
        code = check_pids(options->excluded_pids, options->excluded_count, error);
    if (code < 0)
        return code;
    if (options->launcher != 0 && options->pid_count > 0)
        return error_set(error, VITALS_EARGUMENT, 0, "give pids or a launcher, not both");
    if (!(options->expected_cores >= 0) || !isfinite(options->expected_cores))
        return error_set(error, VITALS_EARGUMENT, 0, "expected_cores must be above 0");
    if (options->machine_pace < 0 || options->machine_pace > VITALS_MACHINE_SELDOM)
        return error_set(error, VITALS_EARGUMENT, 0, "there is no machine pace %d",
                         options->machine_pace);
    if (brand != NULL && strcmp(brand, "nvidia") != 0 && strcmp(brand, "amd") != 0 &&
        strcmp(brand, "intel") != 0)
        return error_set(error, VITALS_EARGUMENT, 0, "brand %s: give nvidia, amd or intel", brand);
    return 0;
}

/* With room for so many more behind them; NULL when memory is out. */
static int64_t *copy_pids(vitals_usage *usage, const int64_t *pids, size_t count, size_t more)
{
    int64_t *copy = arena_array(&usage->memory, count + more, sizeof(*copy));
    if (copy != NULL && count > 0)
        memcpy(copy, pids, count * sizeof(*copy));
    return copy;
}

int usage_exclude(vitals_usage *usage, int64_t pid, vitals_error *error)
{
    vitals_usage_options *options = &usage->options;
    size_t count = options->excluded_count;
    int code = check_pids(&pid, 1, error);
    if (code < 0)
        return code;
    int64_t *excluded_pids = copy_pids(usage, options->excluded_pids, count, 1);
    if (excluded_pids == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    excluded_pids[count] = pid;
    options->excluded_pids = excluded_pids;
    options->excluded_count = count + 1;
    return 0;
}

static bool copy_options(vitals_usage *usage, const vitals_usage_options *given)
{
    vitals_usage_options *options = &usage->options;
    const char **devices = NULL;
    size_t count = 0;
    *options = *given;
    usage->expected_cores = given->expected_cores;
    options->pids = copy_pids(usage, given->pids, given->pid_count, 0);
    options->excluded_pids = copy_pids(usage, given->excluded_pids, given->excluded_count, 0);
    bool whole = options->pids != NULL && options->excluded_pids != NULL;
    if (given->brand != NULL) {
        options->brand = arena_copy(&usage->memory, given->brand, strlen(given->brand));
        whole = whole && options->brand != NULL;
    }

    while (given->devices != NULL && given->devices[count] != NULL)
        count++;
    if (count > 0)
        devices = arena_array(&usage->memory, count + 1, sizeof(*devices));
    options->devices = devices;
    whole = whole && (count == 0 || devices != NULL);
    for (size_t i = 0; i < count && whole; i++) {
        devices[i] = arena_copy(&usage->memory, given->devices[i], strlen(given->devices[i]));
        whole = devices[i] != NULL;
    }
    return whole;
}

/* ---- life ---- */

int vitals_usage_new(const vitals_usage_options *options, vitals_usage **out, vitals_error *error)
{
    vitals_usage_options taken;
    int code = usage_options_take(options, &taken, error);
    if (code == 0)
        code = check(&taken, error);
    if (code < 0)
        return code;
    vitals_usage *usage = memory_alloc(sizeof(*usage));
    if (usage == NULL || !copy_options(usage, &taken) ||
        usage_subject_add(usage, VITALS_SCOPE_TREE, "", "") == NULL ||
        usage_subject_add(usage, VITALS_SCOPE_ROOT, "root", "") == NULL ||
        usage_subject_add(usage, VITALS_SCOPE_DESCENDANTS, "descendants", "") == NULL ||
        usage_subject_add(usage, VITALS_SCOPE_SYSTEM, "system", "") == NULL) {
        vitals_usage_free(usage);
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    }
    *out = usage;
    return 0;
}

static void free_each(void *items, size_t count)
{
    void **pointers = items;
    for (size_t i = 0; i < count; i++)
        memory_free(pointers[i]);
    memory_free(items);
}

void vitals_usage_free(vitals_usage *usage)
{
    if (usage == NULL)
        return;
    arena_done(&usage->memory);
    free_each(usage->subjects, usage->subject_count);
    free_each(usage->devices, usage->device_count);
    usage_index_done(&usage->processes);
    usage_index_done(&usage->clients);
    memory_free(usage->networks);
    memory_free(usage->values);
    memory_free(usage);
}

/* ---- one snapshot ---- */

static void keep_values(vitals_usage *usage)
{
    static const unsigned char SCOPES[] = {
        [VITALS_SCOPE_TREE] = MEASURE_OF_TREE,        [VITALS_SCOPE_ROOT] = MEASURE_OF_TREE,
        [VITALS_SCOPE_DESCENDANTS] = MEASURE_OF_TREE, [VITALS_SCOPE_SYSTEM] = MEASURE_OF_SYSTEM,
        [VITALS_SCOPE_GPU] = MEASURE_OF_GPU,
    };
    usage->value_count = 0;
    for (size_t i = 0; i < usage->subject_count * MEASURE_COUNT; i++) {
        const struct usage_subject *subject = usage->subjects[i / MEASURE_COUNT];
        const struct measure *measure = &MEASURES[i % MEASURE_COUNT];
        const struct usage_cell *cell = &subject->cells[i % MEASURE_COUNT];
        if ((measure->scopes & SCOPES[subject->scope]) == 0 || cell->state == VITALS_UNSET)
            continue;
        if (MEMORY_GROW(usage->values, usage->value_capacity, usage->value_count) < 0) {
            usage->failed = true;
            return;
        }
        usage->values[usage->value_count++] = (vitals_usage_value){
            .measure = measure->number,
            .scope = subject->scope,
            .subject = subject->text,
            .label = subject->label,
            .state = (vitals_availability)cell->state,
            .value = cell->state > 0 ? cell->value : 0,
            .read_ns = cell->state > 0 ? cell->read_ns : 0};
    }
}

int vitals_usage_add(vitals_usage *usage, const vitals_snapshot *snapshot, vitals_error *error)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(snapshot);
    uint64_t stream = vitals_snapshot_stream(snapshot);
    if (usage->count > 0 && now_ns <= usage->last_ns)
        return 0;
    usage->failed = false;

    /* Keys of another sampler mean other things: what was keyed is settled, its share stays. */
    if (usage->count == 0) {
        usage->first_ns = now_ns;
        usage->first_boot_ns = vitals_snapshot_boottime_ns(snapshot);
    } else if (stream != usage->stream) {
        usage_processes_end(usage);
        usage_devices_end(usage);
        memset(usage->machine_based, 0, sizeof(usage->machine_based));
        usage->system_cpu_ns = usage->cores_ns = usage->energy_ns = 0;
        usage_network_end(usage);
    }
    usage->stream = stream;

    usage->pass++;
    usage_machine(usage, snapshot);
    if (vitals_snapshot_has_table(snapshot, VITALS_TABLE_PROCESS))
        usage_processes(usage, snapshot);
    usage_energy(usage);
    usage_network(usage, snapshot);
    usage_devices(usage, snapshot);
    usage->count++;
    usage->last_ns = now_ns;
    keep_values(usage);
    return usage->failed ? error_set(error, VITALS_EMEMORY, 0, "out of memory") : 0;
}

const vitals_usage_value *vitals_usage_next(const vitals_usage *usage,
                                            const vitals_usage_value *previous)
{
    size_t next = previous != NULL ? (size_t)(previous - usage->values) + 1 : 0;
    return next < usage->value_count ? &usage->values[next] : NULL;
}

uint64_t vitals_usage_count(const vitals_usage *usage)
{
    return usage->count;
}

uint64_t vitals_usage_first_ns(const vitals_usage *usage)
{
    return usage->first_ns;
}

uint64_t vitals_usage_last_ns(const vitals_usage *usage)
{
    return usage->last_ns;
}
