/*
 * simulated_nvml.c - the simulation's one state: its scenario, its count of initialisations, its
 * log and counts. A call passes through call_enter and call_leave; latency is slept without the
 * mutex, so that one hung call blocks no other. */
#include "call.h"
#include "variant.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static const char *const call_names[CALL_COUNT] = {
#define CALL(since, name) [CALL_##name] = #name,
#include "calls.def"
#undef CALL
};

static const char default_scenario[] = "[gpu 0]\n[gpu 1]\n";

/* What VITALS_NVML_TALLY=FILE tells while the program runs. */
struct tally {
    uint64_t calls, inside_ns;
};

static struct {
    pthread_mutex_t mutex;
    /* everything below is guarded by the mutex */
    struct scenario *scenario; /* kept after a failed nvmlInit, so that rules count on */
    char *path;                /* where it is from; owned */
    unsigned references;
    uint64_t epoch; /* one more at each nvmlShutdown that ends it */
    uint64_t started_ns;
    uint64_t counts[CALL_COUNT];
    int log;
    struct tally *tally; /* shared with the reader of the file; NULL: not asked for */
    unsigned asleep;     /* calls that wait out their latency */
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .log = -1};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u),
                            .tv_nsec = (long)(ns % 1000000000u)};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

/* -- scenario and log -----------------------------------------------------------------------------
 */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    for (size_t room = 0, got = 1; got > 0; size += got) {
        if (room < size + 4097) {
            room = 2 * room + 8192;
            char *grown = realloc(text, room);
            if (!grown)
                break;
            text = grown;
        }
        got = fread(text + size, 1, 4096, file);
    }
    fclose(file);
    if (text)
        text[size] = '\0';
    return text;
}

static void fill_versions(struct scenario *scenario)
{
    if (scenario->driver_version.kind == VALUE_UNSET)
        value_parse_text(&scenario->driver_version, simulated_variant.driver_version);
    if (scenario->nvml_version.kind == VALUE_UNSET)
        value_parse_text(&scenario->nvml_version, simulated_variant.nvml_version);
    if (scenario->driver_branch.kind == VALUE_UNSET)
        value_parse_text(&scenario->driver_branch, simulated_variant.name);
    if (scenario->cuda_version.kind == VALUE_UNSET)
        scenario->cuda_version = (struct value){.kind = VALUE_CONSTANT,
                                                .first = (uint64_t)simulated_variant.cuda_version};
}

static struct scenario *read_scenario(const char *path)
{
    if (!*path)
        return scenario_parse("default", default_scenario);
    char *text = read_file(path);
    if (!text) {
        fprintf(stderr, "simulated_nvml: %s: %s; VITALS_NVML_SCENARIO takes a scenario file\n",
                path, strerror(errno));
        return NULL;
    }
    struct scenario *scenario = scenario_parse(path, text);
    free(text);
    return scenario;
}

/* Reads the scenario, unless an nvmlInit that failed has left the same one. */
static void load_scenario(void)
{
    const char *path = getenv("VITALS_NVML_SCENARIO");
    path = path ? path : "";
    if (state.scenario && state.path && strcmp(path, state.path) == 0)
        return;
    scenario_free(state.scenario);
    free(state.path);
    state.path = strdup(path);
    state.scenario = read_scenario(path);
    if (state.scenario)
        fill_versions(state.scenario);
}

static void open_log(void)
{
    const char *path = getenv("VITALS_NVML_LOG");
    if (state.log >= 0)
        close(state.log);
    state.log = -1;
    if (path && *path)
        state.log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

static void open_tally(void)
{
    const char *path = getenv("VITALS_NVML_TALLY");
    if (state.tally || !path || !*path)
        return;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
        return;
    if (ftruncate(file, sizeof *state.tally) == 0) {
        void *shared = mmap(NULL, sizeof *state.tally, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        state.tally = shared != MAP_FAILED ? shared : NULL;
    }
    close(file);
}

static void count_call(const struct call *call)
{
    if (!state.tally)
        return;
    state.tally->calls++;
    state.tally->inside_ns += now_ns() - call->begun_ns;
}

static void write_log(const struct call *call, nvml_return result)
{
    char place[32] = "-", line[160];
    if (state.log < 0)
        return;
    if (call->gpu >= 0 && call->mig >= 0)
        snprintf(place, sizeof place, "%d:%d", call->gpu, call->mig);
    else if (call->gpu >= 0)
        snprintf(place, sizeof place, "%d", call->gpu);
    int size = snprintf(line, sizeof line, "%s %s %u\n", call_names[call->id], place, result);
    if (size > 0 && write(state.log, line, (size_t)size) < 0)
        state.log = -1; /* the error cannot be reported here */
}

/* -- handles --------------------------------------------------------------------------------------
 */

enum { HANDLE_MARK = 0x6e760000 };

nvml_device handle_of(const struct device *device)
{
    uintptr_t number = (uintptr_t)HANDLE_MARK | (uintptr_t)(device->gpu + 1) << 8 |
                       (uintptr_t)(device->mig + 1);
    return (nvml_device)number; // NOLINT: a handle that must not be dereferenced
}

struct device *device_of(const struct scenario *scenario, nvml_device handle)
{
    uintptr_t number = (uintptr_t)handle;
    if ((number & ~(uintptr_t)0xffff) != HANDLE_MARK)
        return NULL;
    return scenario_find(scenario, (int)(number >> 8 & 0xff) - 1, (int)(number & 0xff) - 1);
}

/* -- one call -------------------------------------------------------------------------------------
 */

static bool rule_matches(const struct rule *rule, const struct call *call)
{
    bool named = strcmp(rule->call, call_names[call->id]) == 0;
    if (!named && (strcmp(rule->call, "*") != 0 || call->gpu < 0))
        return false;
    return rule->gpu < 0 || (rule->gpu == call->gpu && (rule->mig < 0 || rule->mig == call->mig));
}

/* What the rules want of this call, which counts as one match of each that names it. */
static nvml_return apply_rules(struct scenario *scenario, const struct call *call,
                               uint64_t *latency_ns)
{
    nvml_return result = NVML_SUCCESS;
    *latency_ns = 0;
    for (size_t i = 0; i < scenario->rule_count; i++) {
        struct rule *rule = &scenario->rules[i];
        if (!rule_matches(rule, call))
            continue;
        rule->matches++;
        if (rule->matches < rule->from_call || rule->matches > rule->until_call)
            continue;
        *latency_ns += rule->latency_ns;
        if (result == NVML_SUCCESS)
            result = rule->result;
    }
    for (unsigned i = 0; i < scenario->missing_count && result == NVML_SUCCESS; i++) {
        if (strcmp(scenario->missing[i], call_names[call->id]) == 0)
            result = NVML_ERROR_FUNCTION_NOT_FOUND;
    }
    return result;
}

/* Mutex held before and after, and not in between. */
static void sleep_unlocked(uint64_t ns)
{
    if (ns == 0)
        return;
    state.asleep++;
    pthread_mutex_unlock(&state.mutex);
    sleep_ns(ns);
    pthread_mutex_lock(&state.mutex);
    state.asleep--;
}

nvml_return call_enter(struct call *call)
{
    call->gpu = call->mig = -1;
    call->begun_ns = now_ns();
    pthread_mutex_lock(&state.mutex);
    state.counts[call->id]++;
    if (state.references == 0)
        return NVML_ERROR_UNINITIALIZED;
    if (call->finder)
        call->device = call->finder(state.scenario, call->key);
    else if (call->takes_device)
        call->device = device_of(state.scenario, call->handle);
    if (call->device) {
        call->gpu = call->device->gpu;
        call->mig = call->device->mig;
    } else if (call->takes_device) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    uint64_t latency_ns, epoch = state.epoch;
    nvml_return result = apply_rules(state.scenario, call, &latency_ns);
    sleep_unlocked(latency_ns);
    if (epoch != state.epoch)
        return NVML_ERROR_UNINITIALIZED;
    call->scenario = state.scenario;
    call->elapsed_ns = now_ns() - state.started_ns;
    return result;
}

nvml_return call_leave(struct call *call, nvml_return result)
{
    write_log(call, result);
    count_call(call);
    pthread_mutex_unlock(&state.mutex);
    return result;
}

nvml_return call_init(enum call_id id)
{
    struct call call = {.id = id, .gpu = -1, .mig = -1, .begun_ns = now_ns()};
    pthread_mutex_lock(&state.mutex);
    state.counts[id]++;
    if (state.references == 0) {
        open_log();
        open_tally();
        load_scenario();
        state.started_ns = now_ns();
    }
    if (!state.scenario)
        return call_leave(&call, NVML_ERROR_UNKNOWN);
    uint64_t latency_ns;
    nvml_return result = apply_rules(state.scenario, &call, &latency_ns);
    if (result == NVML_SUCCESS)
        result = state.scenario->init_result;
    sleep_unlocked(latency_ns);
    if (result == NVML_SUCCESS && !state.scenario)
        result = NVML_ERROR_UNKNOWN; /* shut down by another thread while asleep */
    if (result == NVML_SUCCESS)
        state.references++;
    return call_leave(&call, result);
}

nvml_return call_shutdown(void)
{
    struct call call = {.id = CALL_nvmlShutdown, .gpu = -1, .mig = -1, .begun_ns = now_ns()};
    pthread_mutex_lock(&state.mutex);
    state.counts[call.id]++;
    if (state.references == 0)
        return call_leave(&call, NVML_ERROR_UNINITIALIZED);
    uint64_t latency_ns, epoch = state.epoch;
    nvml_return result = apply_rules(state.scenario, &call, &latency_ns);
    sleep_unlocked(latency_ns);
    if (epoch == state.epoch && result == NVML_SUCCESS && --state.references == 0) {
        scenario_free(state.scenario);
        state.scenario = NULL;
        state.epoch++;
    }
    return call_leave(&call, result);
}

/* Programs load and unload us again and again, and count what is left. A program that ends while a
 * call still hangs leaves us as we are: that call will look at the scenario once more. */
__attribute__((destructor)) static void forget(void)
{
    pthread_mutex_lock(&state.mutex);
    bool hangs = state.asleep > 0;
    pthread_mutex_unlock(&state.mutex);
    if (hangs)
        return;
    scenario_free(state.scenario);
    free(state.path);
    if (state.log >= 0)
        close(state.log);
}

/* -- for tests only: no driver has these
 * ----------------------------------------------------------- */

EXPORT uint64_t simulated_nvml_calls(const char *name);
EXPORT unsigned simulated_nvml_sizeof(const char *name);
EXPORT const char *simulated_nvml_variant(void);
EXPORT unsigned simulated_nvml_live(void);
EXPORT int simulated_nvml_set(const char *section, const char *key, const char *value);

/* How often the function was called in this process; NULL: all together. 0 for unknown names. */
uint64_t simulated_nvml_calls(const char *name)
{
    uint64_t count = 0;
    pthread_mutex_lock(&state.mutex);
    for (size_t i = 0; i < CALL_COUNT; i++)
        count += !name || strcmp(name, call_names[i]) == 0 ? state.counts[i] : 0;
    pthread_mutex_unlock(&state.mutex);
    return count;
}

/* The size of a struct by nvidia-ml-py's name for it; 0 if it is not simulated. */
unsigned simulated_nvml_sizeof(const char *name)
{
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {
#define STRUCT(theirs, ours) {#theirs, sizeof(ours)},
        STRUCTS(STRUCT)
#undef STRUCT
            {NULL, 0},
    };
    for (size_t i = 0; sizes[i].name; i++) {
        if (strcmp(sizes[i].name, name) == 0)
            return (unsigned)sizes[i].size;
    }
    return 0;
}

/* Sets of events and samples of the monitor that were not given back. */
unsigned simulated_nvml_live(void)
{
    unsigned count = 0;
    pthread_mutex_lock(&state.mutex);
    for (size_t i = 0; state.scenario && i < EVENT_SETS_MAX; i++)
        count += state.scenario->event_sets[i].used;
    for (size_t i = 0; state.scenario && i < GPM_SAMPLES_MAX; i++)
        count += state.scenario->gpm_samples[i].used;
    pthread_mutex_unlock(&state.mutex);
    return count;
}

const char *simulated_nvml_variant(void)
{
    return simulated_variant.name;
}

/* One line of a scenario while the library is initialised. 0, or -1 with a message. */
int simulated_nvml_set(const char *section, const char *key, const char *value)
{
    pthread_mutex_lock(&state.mutex);
    bool done = state.scenario && scenario_set(state.scenario, section, key, value);
    pthread_mutex_unlock(&state.mutex);
    return done ? 0 : -1;
}
