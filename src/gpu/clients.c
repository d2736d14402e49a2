/* clients.c: see clients.h. An update goes over a sweep three times:
 *   1. holders: the descriptors of this device, sorted so that those of one client stand together
 *      and the charged one stands first; users: their processes.
 *   2. each client once: its counters against those that it had in the sweep before.
 *   3. rows, from what was added up at the users: client_rows.c.
 * Two generations of records and of users are kept, and change places. */
#include "gpu/client_records.h"

#include "util/memory.h"
#include "util/search.h"

#include <stdlib.h>
#include <string.h>

/* Above the whole by as much as two clocks that are read one after the other may differ. */
static const double FULL = 1.01;

static const double NS = 1e-9;

/* A client: by its id, or by its process where the driver gives none. */
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
    uint64_t busy_ns, cycles, total_cycles; /* the most that was seen */
};

struct client_record {
    struct client_key key;
    int64_t pid; /* the charged process */
    uint64_t start_ticks;
    uint64_t stamp_ns;
    uint32_t engine_count;
    struct engine_record engines[SWEEP_ENGINES];
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

/* ---- 1. whose are they ---- */

static bool is_of(const struct clients_device *device, const struct sweep_client *client)
{
    for (uint32_t i = 0; i < device->node_count; i++) {
        if (device->nodes[i].major == client->major && device->nodes[i].minor == client->minor)
            return true;
    }
    return !device->by_node && client->pdev[0] != '\0' && device->pci_bus_id != NULL &&
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

/* Those of one client together, the charged one first. */
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

static bool add_holder(struct clients *clients, const struct sweep_client *client)
{
    void *holders = clients->holders;
    if (memory_grow(&holders, &clients->holder_capacity, clients->holder_count,
                    sizeof *clients->holders) < 0)
        return false;
    clients->holders = holders;
    struct client_key key = {!client->has_id, client->has_id ? client->id : (uint64_t)client->pid};
    clients->holders[clients->holder_count++] = (struct client_holder){key, client};
    return true;
}

/* Of the first so many users. Each holder's process is among those of this update. */
static struct user_record *user_of(const struct clients *clients, size_t count, int64_t pid)
{
    struct search_number number = {offsetof(struct user_record, pid), (uint64_t)pid};
    return search_find(clients->users, count, sizeof *clients->users, number);
}

/* The user of that pid before this update; NULL: there was none, or another had the pid. */
static const struct user_record *find_old(const struct clients *clients, size_t count,
                                          const struct sweep_client *client)
{
    const struct user_record *user = user_of(clients, count, client->pid);
    return user != NULL && user->start_ticks == client->start_ticks ? user : NULL;
}

/* Into the new generation, in the order of pids as the sweep is. */
static bool add_user(struct clients *clients, size_t *count, const struct sweep_client *client)
{
    if (*count > 0 && clients->spare_users[*count - 1].pid == client->pid)
        return true;
    void *users = clients->spare_users;
    if (memory_grow(&users, &clients->spare_user_capacity, *count, sizeof *clients->users) < 0)
        return false;
    clients->spare_users = users;
    struct user_record *user = &clients->spare_users[(*count)++];
    const struct user_record *old = find_old(clients, clients->user_count, client);
    *user = (struct user_record){.pid = client->pid, .start_ticks = client->start_ticks};
    if (old != NULL) {
        memcpy(user->seconds, old->seconds, sizeof user->seconds);
        user->busy_seconds = old->busy_seconds;
    }
    return true;
}

static bool gather(struct clients *clients, const struct clients_device *device,
                   const struct gpu_sweep *sweep, size_t *user_count)
{
    clients->holder_count = *user_count = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct sweep_client *client = &sweep->clients[i];
        if (is_of(device, client) &&
            (!add_holder(clients, client) || !add_user(clients, user_count, client)))
            return false;
    }
    if (clients->holder_count > 0)
        qsort(clients->holders, clients->holder_count, sizeof *clients->holders, compare_holders);
    return true;
}

/* Room for as many new records as there can be. */
static bool reserve_records(struct clients *clients)
{
    if (clients->holder_count <= clients->spare_capacity)
        return true;
    size_t capacity = clients->holder_count + clients->holder_count / 4;
    void *spare = memory_resize(clients->spare, capacity, sizeof *clients->spare);
    if (spare == NULL)
        return false;
    clients->spare = spare;
    clients->spare_capacity = capacity;
    return true;
}

/* ---- 2. what they did ---- */

/* The place of that engine among the device's; SWEEP_ENGINES where there is none left. */
static uint32_t place_of(struct clients *clients, const struct clients_device *device,
                         const struct sweep_engine *engine)
{
    enum engine_kind kind = client_engine(device->engines, device->engine_names, engine->name);
    const char *label = kind != ENGINE_OTHER ? engine_label(kind) : engine->name;
    uint32_t place = 0;
    while (place < clients->engine_count && strcmp(clients->engines[place].label, label) != 0)
        place++;
    if (place == clients->engine_count && place < SWEEP_ENGINES) {
        struct clients_engine *made = &clients->engines[clients->engine_count++];
        *made = (struct clients_engine){.kind = kind};
        memcpy(made->label, label, strlen(label) + 1);
    }
    if (place < SWEEP_ENGINES && engine->capacity > clients->engines[place].capacity)
        clients->engines[place].capacity = engine->capacity;
    return place;
}
_Static_assert((int)GPU_LABEL >= (int)SWEEP_NAME, "a driver's name is a label");

static bool tells(const struct sweep_engine *engine)
{
    return engine->has_busy || (engine->has_cycles && engine->has_total) || engine->has_percent;
}

static const struct engine_record *find_engine(const struct client_record *record, const char *name)
{
    for (uint32_t i = 0; record != NULL && i < record->engine_count; i++) {
        if (strcmp(record->engines[i].name, name) == 0)
            return &record->engines[i];
    }
    return NULL;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A client's reading against its last one. */
struct step {
    const struct client_record *old; /* NULL: it is new */
    struct client_record *now;
    double seconds; /* between them */
};

/* Seconds that the engine was busy since the last reading. Some drivers leave an engine out as long
 * as it has done nothing: of a client that was there it was 0. */
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

static void add_engine(struct clients *clients, const struct clients_device *device,
                       const struct step *step, const struct sweep_engine *engine,
                       struct user_record *user)
{
    uint32_t place = place_of(clients, device, engine);
    const struct engine_record *old = find_engine(step->old, engine->name);
    struct engine_record *now = &step->now->engines[step->now->engine_count++];
    *now = (struct engine_record){
        .busy_ns = most(engine->busy_ns, old != NULL ? old->busy_ns : 0),
        .cycles = most(engine->cycles, old != NULL ? old->cycles : 0),
        .total_cycles = most(engine->total_cycles, old != NULL ? old->total_cycles : 0)};
    memcpy(now->name, engine->name, sizeof now->name);
    if (place == SWEEP_ENGINES)
        return;
    bool is_used = now->busy_ns > 0 || now->cycles > 0 || engine->percent > 0;
    enum engine_kind kind = clients->engines[place].kind;
    if (is_used && kind == ENGINE_GRAPHICS)
        user->uses |= GPU_GRAPHICS;
    if (is_used && kind == ENGINE_COMPUTE)
        user->uses |= GPU_COMPUTE;
    double seconds = (double)now->busy_ns * NS; // of a new client: all that it ever did
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
    clients->engines[place].busy += seconds;
}

/* A counter that is left out for once is not forgotten: it would count from 0 when it comes back.
 */
static void keep_engines(const struct step *step)
{
    const struct client_record *old = step->old;
    for (uint32_t i = 0; old != NULL && i < old->engine_count; i++) {
        if (step->now->engine_count < SWEEP_ENGINES &&
            find_engine(step->now, old->engines[i].name) == NULL)
            step->now->engines[step->now->engine_count++] = old->engines[i];
    }
}

static void add_memory(const struct clients_device *device, const struct sweep_client *client,
                       struct user_record *user)
{
    for (uint32_t i = 0; i < client->region_count; i++) {
        const struct sweep_region *region = &client->regions[i];
        enum region_kind kind = client_region(device->regions, device->region_names, region->name);
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

static void add_client(struct clients *clients, const struct clients_device *device,
                       const struct sweep_client *client, struct step *step)
{
    struct user_record *user = user_of(clients, clients->user_count, client->pid);
    step->now->stamp_ns = client->stamp_ns;
    step->seconds = 0;
    if (step->old != NULL && client->stamp_ns > step->old->stamp_ns)
        step->seconds = (double)(client->stamp_ns - step->old->stamp_ns) * NS;
    user->clients++;
    user->has_ratio |= step->seconds > 0;
    user->interval = step->seconds > user->interval ? step->seconds : user->interval;
    for (uint32_t i = 0; i < client->engine_count; i++) {
        if (tells(&client->engines[i]))
            add_engine(clients, device, step, &client->engines[i], user);
    }
    keep_engines(step);
    add_memory(device, client, user);
}

/* Where a driver gives no ids, of the descriptors of a process the one that tells most. */
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

static const struct sweep_client *choose(const struct client_holder *holders, size_t count)
{
    const struct sweep_client *chosen = holders[0].client;
    for (size_t i = 1; holders[0].key.of_process && i < count; i++) {
        if (weight_of(holders[i].client) > weight_of(chosen))
            chosen = holders[i].client;
    }
    return chosen;
}

/* Another process has it, and its counters are lower: the driver gave its id to another client. */
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

/* The others get the charged pid. Descriptors that cannot be told apart are all charged to that
 * process. */
static void charge(struct clients *clients, const struct client_holder *holders, size_t count)
{
    int64_t charged = holders[0].client->pid;
    if (holders[0].key.of_process && count > 1)
        user_of(clients, clients->user_count, charged)->is_unclear = true;
    for (size_t i = 0; i < count; i++) {
        struct user_record *user = user_of(clients, clients->user_count, holders[i].client->pid);
        if (user->charged_pid == 0 || user->pid == charged)
            user->charged_pid = charged;
    }
}

static void add_all(struct clients *clients, const struct clients_device *device)
{
    size_t count = 0, old = 0;
    for (size_t from = 0, end; from < clients->holder_count; from = end) {
        const struct client_holder *holders = &clients->holders[from];
        for (end = from + 1; end < clients->holder_count; end++) {
            if (compare_keys(clients->holders[end].key, holders[0].key) != 0)
                break;
        }
        while (old < clients->count && compare_keys(clients->records[old].key, holders[0].key) < 0)
            old++;
        bool is_known = old < clients->count &&
                        compare_keys(clients->records[old].key, holders[0].key) == 0;
        const struct sweep_client *client = choose(holders, end - from);
        is_known = is_known && !is_other(&clients->records[old], client);
        struct step step = {.old = is_known ? &clients->records[old] : NULL,
                            .now = &clients->spare[count++]};
        *step.now = (struct client_record){
            .key = holders[0].key, .pid = client->pid, .start_ticks = client->start_ticks};
        add_client(clients, device, client, &step);
        charge(clients, holders, end - from);
    }
    struct client_record *records = clients->spare;
    size_t capacity = clients->spare_capacity;
    clients->spare = clients->records;
    clients->spare_capacity = clients->capacity;
    clients->records = records;
    clients->capacity = capacity;
    clients->count = count;
}

static double clamp(double ratio, bool *is_estimate)
{
    *is_estimate |= ratio > FULL;
    return ratio < 1 ? ratio : 1;
}

/* Ratios of the whole: of all engines of a kind, and at most 1. */
static void divide(struct clients *clients)
{
    for (size_t i = 0; i < clients->user_count; i++) {
        struct user_record *user = &clients->users[i];
        double busiest = 0;
        for (uint32_t e = 0; e < clients->engine_count; e++) {
            user->ratio[e] = clamp(user->ratio[e] / clients->engines[e].capacity,
                                   &user->is_estimate);
            busiest = user->ratio[e] > busiest ? user->ratio[e] : busiest;
        }
        user->busy_seconds += busiest * user->interval;
    }
}

/* ---- sums over the device ---- */

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

static void sum_up(struct clients *clients, bool is_first)
{
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

/* ---- the whole ---- */

static void swap_users(struct clients *clients, size_t count)
{
    struct user_record *users = clients->spare_users;
    size_t capacity = clients->spare_user_capacity;
    clients->spare_users = clients->users;
    clients->spare_user_capacity = clients->user_capacity;
    clients->users = users;
    clients->user_capacity = capacity;
    clients->user_count = count;
}

static bool take_sweep(struct clients *clients, const struct clients_device *device,
                       const struct gpu_sweep *sweep)
{
    size_t user_count;
    if (!gather(clients, device, sweep, &user_count) || !reserve_records(clients))
        return false;
    swap_users(clients, user_count);
    add_all(clients, device);
    divide(clients);
    sum_up(clients, clients->stamp_ns == 0);
    clients->stamp_ns = sweep->stamp_ns;
    return true;
}

void clients_update(struct clients *clients, const struct clients_device *device,
                    const struct gpu_sweep *sweep, struct gpu_processes *out)
{
    out->count = 0;
    out->cut = false;
    out->state = sweep == NULL ? VITALS_NOT_YET : sweep->state;
    if (out->state != VITALS_HAVE)
        return;
    out->stamp_ns = sweep->stamp_ns;
    out->cut = sweep->cut || sweep->denied > 0;
    if (sweep->stamp_ns != clients->stamp_ns && !take_sweep(clients, device, sweep)) {
        out->state = VITALS_FAILED;
        return;
    }
    clients_write(clients, device, out);
}
