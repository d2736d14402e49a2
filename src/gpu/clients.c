/* clients.c: see clients.h. An update goes over a sweep three times:
 *   1. holders: the descriptors of this device, sorted by client with the charged process first;
 *      users: their processes.
 *   2. each client once: its counters compared with those of the previous sweep.
 *   3. rows, from the sums of each user.
 *
 * Two generations of records and of users are kept, and are swapped. */
#include "gpu/clients.h"

#include "util/memory.h"
#include "util/search.h"

#include <stdlib.h>
#include <string.h>

/* Ratios up to this follow from two clocks that are read one after the other; a larger one is an
 * estimate. */
static const double FULL = 1.01;

static const double NS = 1e-9;

/* A client: by its identifier, or by its process if the driver gives none. */
struct client_key {
    bool of_process;
    uint64_t id;
};

struct client_holder {
    struct client_key key;
    const struct sweep_client *client;
};

struct engine_record {
    char name[SWEEP_NAME];
    uint64_t busy_ns, cycles, total_cycles; /* largest values so far */
};

struct client_record {
    struct client_key key;
    int64_t pid; /* the charged process */
    uint64_t start_ticks;
    uint64_t stamp_ns;
    uint32_t engine_count;
    struct engine_record engines[SWEEP_ENGINES];
};

/* Memory of one kind. */
struct held {
    bool told, is_total; /* is_total: reserved memory, because resident memory is not reported */
    uint64_t bytes, shared_bytes;
};

/* A process on the device. Engines are indexed as in clients.engines. */
struct user_record {
    int64_t pid;
    uint64_t start_ticks;
    double seconds[SWEEP_ENGINES];
    double busy_seconds; /* of the busiest engine, since the process was first seen */
    /* Values of the last update: */
    unsigned uses;
    int64_t charged_pid; /* the process charged for what this one holds; 0: none */
    uint32_t clients;    /* clients that it is charged for */
    bool is_partial;     /* one of the clients is new, and its earlier usage is not in the ratios */
    bool has_ratio;
    bool is_estimate; /* a ratio was above 1 */
    bool is_unclear;  /* some of its descriptors cannot be told apart */
    double ratio[SWEEP_ENGINES];
    double interval; /* seconds */
    struct held memory[REGION_SYSTEM + 1];
};

void clients_done(struct clients *clients)
{
    memory_free(clients->records);
    memory_free(clients->spare);
    memory_free(clients->users);
    memory_free(clients->spare_users);
    memory_free(clients->holders);
    *clients = (struct clients){0};
}

/* ---- 1. holders and users ---- */

static bool is_of(const struct gpu_identity *device, const struct sweep_client *client)
{
    for (uint32_t i = 0; i < device->node_count; i++) {
        if (device->nodes[i].major == client->major && device->nodes[i].minor == client->minor)
            return true;
    }
    return !device->shares_address && client->pdev[0] != '\0' &&
           strcmp(client->pdev, device->pci_bus_id) == 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_keys(struct client_key a, struct client_key b)
{
    if (a.of_process != b.of_process)
        return a.of_process ? 1 : -1;
    return compare_u64(a.id, b.id);
}

/* Sorts by client, the charged process first. */
static int compare_holders(const void *left, const void *right)
{
    const struct client_holder *a = left, *b = right;
    int order = compare_keys(a->key, b->key);
    if (order == 0)
        order = (int)a->client->is_broker - (int)b->client->is_broker;
    if (order == 0)
        order = compare_u64(a->client->start_ticks, b->client->start_ticks);
    if (order == 0)
        order = compare_u64((uint64_t)a->client->pid, (uint64_t)b->client->pid);
    return order != 0 ? order : (a->client > b->client) - (a->client < b->client);
}

/* Returns the user of a process; each holder's process is a user of this update. */
static struct user_record *user_of(const struct clients *clients, int64_t pid)
{
    struct search_number number = {offsetof(struct user_record, pid), (uint64_t)pid};
    return search_find(clients->users, clients->user_count, sizeof *clients->users, number);
}

/* Collects holders and users, and reserves room for the largest possible number of new records.
 * Returns false if memory is exhausted; existing records are kept. */
static bool gather(struct clients *clients, const struct gpu_identity *device,
                   const struct gpu_sweep *sweep)
{
    size_t count = 0; /* of users */
    clients->holder_count = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct sweep_client *client = &sweep->clients[i];
        if (!is_of(device, client))
            continue;
        if (MEMORY_GROW(clients->holders, clients->holder_capacity, clients->holder_count) < 0)
            return false;
        struct client_key key = {!client->has_id,
                                 client->has_id ? client->id : (uint64_t)client->pid};
        clients->holders[clients->holder_count++] = (struct client_holder){key, client};

        /* Users are in the order of pids, like the sweep. */
        if (count > 0 && clients->spare_users[count - 1].pid == client->pid)
            continue;
        if (MEMORY_GROW(clients->spare_users, clients->spare_user_capacity, count) < 0)
            return false;
        struct user_record *user = &clients->spare_users[count++];
        const struct user_record *old = user_of(clients, client->pid);
        *user = (struct user_record){.pid = client->pid, .start_ticks = client->start_ticks};
        if (old != NULL && old->start_ticks == client->start_ticks) {
            memcpy(user->seconds, old->seconds, sizeof user->seconds);
            user->busy_seconds = old->busy_seconds;
        }
    }
    if (clients->holder_count > clients->spare_capacity) {
        size_t capacity = clients->holder_count + clients->holder_count / 4;
        void *spare = memory_resize(clients->spare, capacity, sizeof *clients->spare);
        if (spare == NULL)
            return false;
        clients->spare = spare;
        clients->spare_capacity = capacity;
    }
    if (clients->holder_count > 0)
        qsort(clients->holders, clients->holder_count, sizeof *clients->holders, compare_holders);

    struct user_record *users = clients->spare_users;
    size_t capacity = clients->spare_user_capacity;
    clients->spare_users = clients->users;
    clients->spare_user_capacity = clients->user_capacity;
    clients->users = users;
    clients->user_capacity = capacity;
    clients->user_count = count;
    return true;
}

/* ---- 2. usage since the last sweep ---- */

_Static_assert((int)GPU_LABEL >= (int)SWEEP_NAME, "a driver's name is a label");

static const struct engine_record *find_engine(const struct client_record *record, const char *name)
{
    for (uint32_t i = 0; record != NULL && i < record->engine_count; i++) {
        if (strcmp(record->engines[i].name, name) == 0)
            return &record->engines[i];
    }
    return NULL;
}

/* A client's reading compared with its last one. */
struct step {
    const struct client_record *old; /* NULL: the client is new */
    struct client_record *now;
    double seconds; /* between the two readings */
};

/* Returns the seconds that the engine was busy since the last reading. Some drivers omit an engine
 * that was never used: for a known client the old value is then 0. */
static double used_since(const struct step *step, const struct sweep_engine *engine,
                         const struct engine_record *old, const struct engine_record *now)
{
    if (engine->has_percent)
        return engine->percent / 100 * step->seconds;
    if (engine->has_busy)
        return (double)(now->busy_ns - (old != NULL ? old->busy_ns : 0)) * NS;
    if (old == NULL || now->total_cycles == old->total_cycles)
        return 0;
    return (double)(now->cycles - old->cycles) / (double)(now->total_cycles - old->total_cycles) *
           step->seconds;
}

static void add_engine(struct clients *clients, const struct step *step,
                       const struct sweep_engine *engine, struct user_record *user)
{
    const struct engine_record *old = find_engine(step->old, engine->name);
    struct engine_record *now = &step->now->engines[step->now->engine_count++];
    *now = (struct engine_record){
        .busy_ns = uint64_max(engine->busy_ns, old != NULL ? old->busy_ns : 0),
        .cycles = uint64_max(engine->cycles, old != NULL ? old->cycles : 0),
        .total_cycles = uint64_max(engine->total_cycles, old != NULL ? old->total_cycles : 0)};
    memcpy(now->name, engine->name, sizeof now->name);

    /* Index in the device's engines. */
    enum engine_kind kind = client_engine(engine->name);
    const char *label = kind != ENGINE_OTHER ? engine_label(kind) : engine->name;
    uint32_t place = 0;
    while (place < clients->engine_count && strcmp(clients->engines[place].label, label) != 0)
        place++;
    if (place == SWEEP_ENGINES)
        return;
    struct clients_engine *sum = &clients->engines[place];
    if (place == clients->engine_count) {
        clients->engine_count++;
        *sum = (struct clients_engine){.kind = kind};
        memcpy(sum->label, label, strlen(label) + 1);
    }
    if (engine->capacity > sum->capacity)
        sum->capacity = engine->capacity;

    bool is_used = now->busy_ns > 0 || now->cycles > 0 || engine->percent > 0;
    if (is_used && kind == ENGINE_GRAPHICS)
        user->uses |= GPU_GRAPHICS;
    if (is_used && kind == ENGINE_COMPUTE)
        user->uses |= GPU_COMPUTE;
    double seconds = (double)now->busy_ns * NS; /* for a new client: its usage so far */
    if (step->old != NULL) {
        seconds = used_since(step, engine, old, now);
        user->ratio[place] += step->seconds > 0 ? seconds / step->seconds : 0;
    } else if (engine->has_percent) {
        user->ratio[place] += engine->percent / 100;
        user->has_ratio = true;
    } else {
        user->is_partial |= is_used;
    }
    user->seconds[place] += seconds;
    sum->busy += seconds;
}

static void add_client(struct clients *clients, const struct sweep_client *client,
                       struct step *step)
{
    struct user_record *user = user_of(clients, client->pid);
    step->now->stamp_ns = client->stamp_ns;
    step->seconds = 0;
    if (step->old != NULL && client->stamp_ns > step->old->stamp_ns)
        step->seconds = (double)(client->stamp_ns - step->old->stamp_ns) * NS;
    user->clients++;
    user->has_ratio |= step->seconds > 0;
    user->interval = step->seconds > user->interval ? step->seconds : user->interval;
    for (uint32_t i = 0; i < client->engine_count; i++) {
        if (client->engines[i].has_busy ||
            (client->engines[i].has_cycles && client->engines[i].has_total) ||
            client->engines[i].has_percent)
            add_engine(clients, step, &client->engines[i], user);
    }

    /* Keep a counter that is missing once: when it comes back, it would count from 0. */
    const struct client_record *old = step->old;
    for (uint32_t i = 0; old != NULL && i < old->engine_count; i++) {
        if (step->now->engine_count < SWEEP_ENGINES &&
            find_engine(step->now, old->engines[i].name) == NULL)
            step->now->engines[step->now->engine_count++] = old->engines[i];
    }

    for (uint32_t i = 0; i < client->region_count; i++) {
        const struct sweep_region *region = &client->regions[i];
        enum region_kind kind = client_region(region->name);
        bool has_resident = region->resident.state > 0, has_total = region->total.state > 0;
        if (kind == REGION_OTHER || !(has_resident || has_total))
            continue;
        struct held *held = &user->memory[kind];
        held->told = true;
        held->is_total |= !has_resident;
        uint64_t bytes = has_resident ? region->resident.as.u64 : region->total.as.u64;
        held->bytes = saturating_add(held->bytes, bytes);
        if (region->shared.state > 0)
            held->shared_bytes = saturating_add(held->shared_bytes, region->shared.as.u64);
    }
}

/* If a driver gives no identifiers, the descriptor of a process with the most information is
 * used. */
static uint64_t weight_of(const struct sweep_client *client)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < client->engine_count; i++)
        weight = saturating_add(weight, client->engines[i].busy_ns);
    for (uint32_t i = 0; i < client->region_count; i++) {
        const struct sweep_region *region = &client->regions[i];
        if (region->resident.state > 0)
            weight = saturating_add(weight, region->resident.as.u64);
    }
    return weight;
}

/* True if the identifier belongs to another process and the counters are lower: the driver gave it
 * to another client. */
static bool is_other(const struct client_record *old, const struct sweep_client *client)
{
    if (old->pid == client->pid && old->start_ticks == client->start_ticks)
        return false;
    for (uint32_t i = 0; i < client->engine_count; i++) {
        const struct engine_record *then = find_engine(old, client->engines[i].name);
        if (then != NULL && (client->engines[i].busy_ns < then->busy_ns ||
                             client->engines[i].cycles < then->cycles))
            return true;
    }
    return false;
}

static void count_clients(struct clients *clients)
{
    size_t count = 0, old = 0;
    for (size_t from = 0, end; from < clients->holder_count; from = end) {
        const struct client_holder *holders = &clients->holders[from];
        struct client_key key = holders[0].key;
        for (end = from + 1; end < clients->holder_count; end++) {
            if (compare_keys(clients->holders[end].key, key) != 0)
                break;
        }
        while (old < clients->count && compare_keys(clients->records[old].key, key) < 0)
            old++;

        const struct sweep_client *client = holders[0].client;
        for (size_t i = 1; key.of_process && i < end - from; i++) {
            if (weight_of(holders[i].client) > weight_of(client))
                client = holders[i].client;
        }
        bool is_known = old < clients->count && compare_keys(clients->records[old].key, key) == 0 &&
                        !is_other(&clients->records[old], client);
        struct step step = {.old = is_known ? &clients->records[old] : NULL,
                            .now = &clients->spare[count++]};
        *step.now = (struct client_record){
            .key = key, .pid = client->pid, .start_ticks = client->start_ticks};
        add_client(clients, client, &step);

        /* The other holders get the charged pid. Descriptors that cannot be told apart are all
         * charged to that process. */
        int64_t charged = holders[0].client->pid;
        if (key.of_process && end - from > 1)
            user_of(clients, charged)->is_unclear = true;
        for (size_t i = 0; i < end - from; i++) {
            struct user_record *user = user_of(clients, holders[i].client->pid);
            if (user->charged_pid == 0 || user->pid == charged)
                user->charged_pid = charged;
        }
    }
    struct client_record *records = clients->spare;
    size_t capacity = clients->spare_capacity;
    clients->spare = clients->records;
    clients->spare_capacity = clients->capacity;
    clients->records = records;
    clients->capacity = capacity;
    clients->count = count;
}

static struct value bounded(double number)
{
    return (struct value){.as.f64 = number, .state = VITALS_LOWER_BOUND};
}

static struct value sum_memory(const struct clients *clients, enum region_kind kind)
{
    struct value sum = {.state = VITALS_UNSET};
    for (size_t i = 0; i < clients->user_count; i++) {
        const struct held *held = &clients->users[i].memory[kind];
        if (!held->told)
            continue;
        sum.state = VITALS_LOWER_BOUND;
        sum.as.u64 = saturating_add(sum.as.u64, held->bytes);
    }
    return sum;
}

/* Divides by the number of engines of a kind, and limits ratios to 1; sums over the device. */
static void sum_up(struct clients *clients, bool is_first)
{
    for (size_t i = 0; i < clients->user_count; i++) {
        struct user_record *user = &clients->users[i];
        double busiest = 0;
        for (uint32_t e = 0; e < clients->engine_count; e++) {
            double ratio = user->ratio[e] / clients->engines[e].capacity;
            user->is_estimate |= ratio > FULL;
            user->ratio[e] = ratio < 1 ? ratio : 1;
            busiest = user->ratio[e] > busiest ? user->ratio[e] : busiest;
        }
        user->busy_seconds += busiest * user->interval;
    }
    for (uint32_t e = 0; e < clients->engine_count; e++) {
        struct clients_engine *engine = &clients->engines[e];
        double ratio = 0;
        for (size_t i = 0; i < clients->user_count; i++)
            ratio += clients->users[i].ratio[e];
        engine->utilization_ratio = is_first ? value_missing(VITALS_NOT_YET)
                                             : bounded(ratio < 1 ? ratio : 1);
        engine->busy_seconds = bounded(engine->busy);
    }
    clients->memory_bytes = sum_memory(clients, REGION_DEVICE);
    clients->system_memory_bytes = sum_memory(clients, REGION_SYSTEM);
}

/* ---- 3. rows ---- */

static void set(struct gpu_process *row, vitals_metric metric, struct value value)
{
    row->at[metric_number(metric)] = value;
}

static struct value memory_value(uint64_t bytes, bool is_estimate)
{
    struct value value = value_u64(bytes);
    if (is_estimate)
        value.state = VITALS_ESTIMATE;
    return value;
}

/* The columns of each kind of engine; 0: none. */
static const struct {
    enum engine_kind kind;
    vitals_metric seconds, ratio;
} COLUMNS[] = {
    {ENGINE_GRAPHICS, VITALS_GPU_PROCESS_GRAPHICS_SECONDS, 0},
    {ENGINE_COMPUTE, VITALS_GPU_PROCESS_COMPUTE_SECONDS, 0},
    {ENGINE_COPY, VITALS_GPU_PROCESS_COPY_SECONDS, 0},
    {ENGINE_ENCODER, VITALS_GPU_PROCESS_ENCODER_SECONDS, VITALS_GPU_PROCESS_ENCODER_RATIO},
    {ENGINE_DECODER, VITALS_GPU_PROCESS_DECODER_SECONDS, VITALS_GPU_PROCESS_DECODER_RATIO},
    {ENGINE_VIDEO, VITALS_GPU_PROCESS_VIDEO_SECONDS, VITALS_GPU_PROCESS_VIDEO_RATIO},
    {ENGINE_VIDEO_ENHANCE, VITALS_GPU_PROCESS_VIDEO_ENHANCE_SECONDS,
     VITALS_GPU_PROCESS_VIDEO_ENHANCE_RATIO},
    {ENGINE_JPEG, 0, VITALS_GPU_PROCESS_JPEG_RATIO},
    {ENGINE_OPTICAL_FLOW, 0, VITALS_GPU_PROCESS_OPTICAL_FLOW_RATIO},
};

static struct value ratio_value(const struct user_record *user, double ratio)
{
    if (!user->has_ratio)
        return value_missing(VITALS_NOT_YET);
    struct value value = value_f64(ratio);
    if (user->is_estimate || user->is_unclear)
        value.state = VITALS_ESTIMATE;
    else if (user->is_partial)
        value.state = VITALS_LOWER_BOUND;
    return value;
}

static void write_rows(const struct clients *clients, bool unified, struct gpu_processes *out)
{
    for (size_t i = 0; i < clients->user_count; i++) {
        const struct user_record *user = &clients->users[i];
        struct gpu_process *row = gpu_processes_put(out, user->pid);
        if (row == NULL)
            return;
        row->is_ours = VITALS_HAVE; /* found in our own /proc */
        row->start_ticks = user->start_ticks;
        row->uses = user->uses;
        set(row, VITALS_GPU_PROCESS_CHARGED_PID, value_u64((uint64_t)user->charged_pid));
        set(row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, value_missing(VITALS_UNSUPPORTED));
        if (user->clients == 0)
            continue;

        const struct held *system = &user->memory[REGION_SYSTEM];
        struct held used = user->memory[REGION_DEVICE];
        if (unified && system->told) {
            used.told = used.is_total = true; /* is_total: an estimate */
            used.bytes = saturating_add(used.bytes, system->bytes);
            used.shared_bytes = saturating_add(used.shared_bytes, system->shared_bytes);
        }
        if (used.told) {
            set(row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
                memory_value(used.bytes, used.is_total || user->is_unclear));
            set(row, VITALS_GPU_PROCESS_SHARED_MEMORY_BYTES, value_u64(used.shared_bytes));
        }
        if (system->told)
            set(row, VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES,
                memory_value(system->bytes, system->is_total || user->is_unclear));

        double busiest = 0;
        for (uint32_t e = 0; e < clients->engine_count; e++) {
            busiest = user->ratio[e] > busiest ? user->ratio[e] : busiest;
            for (size_t c = 0; c < ARRAY_COUNT(COLUMNS); c++) {
                if (COLUMNS[c].kind != clients->engines[e].kind)
                    continue;
                if (COLUMNS[c].seconds != 0)
                    set(row, COLUMNS[c].seconds, value_f64(user->seconds[e]));
                if (COLUMNS[c].ratio != 0)
                    set(row, COLUMNS[c].ratio, ratio_value(user, user->ratio[e]));
            }
        }
        if (clients->engine_count == 0)
            continue; // no source reports engines
        set(row, VITALS_GPU_PROCESS_UTILIZATION_RATIO, ratio_value(user, busiest));
        set(row, VITALS_GPU_PROCESS_BUSY_SECONDS, value_f64(user->busy_seconds));
    }
}

void clients_update(struct clients *clients, const struct gpu_identity *device, bool unified,
                    const struct gpu_sweep *sweep, struct gpu_processes *out)
{
    out->count = 0;
    out->cut = false;
    out->state = sweep == NULL ? VITALS_NOT_YET : sweep->state;
    if (out->state != VITALS_HAVE)
        return;
    out->stamp_ns = sweep->stamp_ns;
    out->cut = sweep->cut || sweep->denied > 0;
    if (sweep->stamp_ns != clients->stamp_ns) {
        if (!gather(clients, device, sweep)) {
            out->state = VITALS_FAILED;
            return;
        }
        count_clients(clients);
        sum_up(clients, clients->stamp_ns == 0);
        clients->stamp_ns = sweep->stamp_ns;
    }
    write_rows(clients, unified, out);
}

struct gpu_process *gpu_processes_put(struct gpu_processes *list, int64_t pid)
{
    uint32_t place = list->count;
    while (place > 0 && list->items[place - 1].pid > pid)
        place--;
    if (place > 0 && list->items[place - 1].pid == pid)
        return &list->items[place - 1];
    if (list->count == GPU_PROCESSES_MAX) {
        list->cut = true;
        return NULL;
    }
    struct gpu_process *process = &list->items[place];
    memmove(process + 1, process, (list->count - place) * sizeof *process);
    *process = (struct gpu_process){.pid = pid};
    list->count++;
    return process;
}

void clients_fill_engines(const struct clients *clients, struct gpu_sample *sample)
{
    for (uint32_t e = 0; e < clients->engine_count; e++) {
        const struct clients_engine *engine = &clients->engines[e];
        if (gpu_fill_has_row(sample, VITALS_TABLE_GPU_ENGINE, engine->label))
            continue;
        gpu_fill_child(sample, VITALS_GPU_ENGINE_UTILIZATION_RATIO, engine->label,
                       engine->utilization_ratio);
        gpu_fill_child(sample, VITALS_GPU_ENGINE_BUSY_SECONDS, engine->label, engine->busy_seconds);
        gpu_fill_child(sample, VITALS_GPU_ENGINE_CAPACITY, engine->label,
                       value_u64(engine->capacity));
    }
}

/* ---- names of engines and memory regions ---- */

static const char *const LABELS[ENGINE_KINDS] = {
    [ENGINE_GRAPHICS] = "graphics",
    [ENGINE_COMPUTE] = "compute",
    [ENGINE_COPY] = "copy",
    [ENGINE_ENCODER] = "encoder",
    [ENGINE_DECODER] = "decoder",
    [ENGINE_VIDEO] = "video",
    [ENGINE_JPEG] = "jpeg",
    [ENGINE_VIDEO_ENHANCE] = "video_enhance",
    [ENGINE_OPTICAL_FLOW] = "optical_flow",
};

const char *engine_label(enum engine_kind kind)
{
    return LABELS[kind];
}

struct client_name {
    const char *name;
    int kind;
};

/* amdgpu, i915, xe, v3d, etnaviv. */
static const struct client_name ENGINES[] = {
    {"gfx", ENGINE_GRAPHICS},       {"render", ENGINE_GRAPHICS},
    {"rcs", ENGINE_GRAPHICS},       {"3d", ENGINE_GRAPHICS},
    {"3D", ENGINE_GRAPHICS},        {"compute", ENGINE_COMPUTE},
    {"ccs", ENGINE_COMPUTE},        {"csd", ENGINE_COMPUTE},
    {"copy", ENGINE_COPY},          {"dma", ENGINE_COPY},
    {"sdma", ENGINE_COPY},          {"bcs", ENGINE_COPY},
    {"enc", ENGINE_ENCODER},        {"dec", ENGINE_DECODER},
    {"video", ENGINE_VIDEO},        {"vcs", ENGINE_VIDEO},
    {"jpeg", ENGINE_JPEG},          {"video-enhance", ENGINE_VIDEO_ENHANCE},
    {"vecs", ENGINE_VIDEO_ENHANCE},
};

/* amdgpu, i915, xe, and "memory", the only region of drivers without memory of their own. Memory
 * that the device cannot reach (amdgpu's "cpu") and parts of other regions are not counted. */
static const struct client_name REGIONS[] = {
    {"vram", REGION_DEVICE},   {"local", REGION_DEVICE},  {"stolen-local", REGION_DEVICE},
    {"gtt", REGION_SYSTEM},    {"system", REGION_SYSTEM}, {"stolen-system", REGION_SYSTEM},
    {"stolen", REGION_SYSTEM}, {"memory", REGION_SYSTEM},
};

/* 0, the kind of all others, for a name that is not in the table. */
static int find(const struct client_name *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i].name, name) == 0)
            return names[i].kind;
    }
    for (size_t i = 0; i < count; i++) { /* "vram" matches "vram0"; "enc" matches "enc_1" */
        size_t size = strlen(names[i].name);
        if (strncmp(name, names[i].name, size) != 0)
            continue;
        const char *rest = name + size;
        if (rest[0] == '_' && rest[1] != '\0')
            rest++;
        if (rest[strspn(rest, "0123456789")] == '\0')
            return names[i].kind;
    }
    return 0;
}

enum engine_kind client_engine(const char *name)
{
    return (enum engine_kind)find(ENGINES, ARRAY_COUNT(ENGINES), name);
}

enum region_kind client_region(const char *name)
{
    return (enum region_kind)find(REGIONS, ARRAY_COUNT(REGIONS), name);
}
