/* usage_devices.c: devices, and what the tree uses of them. See usage_data.h.
 *
 * A process on a device is a row of its own with its own counter of busy time; one that is gone
 * keeps its share. Energy is told by the device alone: of what it drew between two snapshots the
 * tree gets its part of the busy time, all of it where no other process is on the device. */
#include "run/usage/usage_data.h"

#include "util/memory.h"

#include <stdio.h>
#include <string.h>
#include <vitals/gpu.h>

/* ---- which devices ---- */

static bool is_of_brand(const vitals_usage *usage, const vitals_row *gpu)
{
    vitals_text vendor;
    return usage->options.brand == NULL || (vitals_row_text(gpu, VITALS_GPU_VENDOR, &vendor) > 0 &&
                                            strcmp(vendor.bytes, usage->options.brand) == 0);
}

/* Whether the options ask for it. A device that is named stands for its partitions too. */
static bool is_wanted(const vitals_usage *usage, const vitals_snapshot *snapshot,
                      const vitals_row *gpu)
{
    const vitals_row *found;
    bool wanted = usage->options.devices == NULL;
    for (size_t i = 0; !wanted && usage->options.devices[i] != NULL; i++)
        wanted = vitals_gpu_find(snapshot, usage->options.devices[i], &found, NULL) == 0 &&
                 (found == gpu || vitals_row_key(found) == vitals_row_key(gpu) ||
                  vitals_row_key(found) == vitals_row_parent(gpu));
    return wanted;
}

/* Written only where it says something new: holders of a figure read its words meanwhile. */
static void say(char *out, size_t size, const char *words)
{
    if (strcmp(out, words) != 0)
        (void)snprintf(out, size, "%.*s", (int)size - 1, words);
}

/* A device may tell its UUID later than its first process. */
static void name_device(struct usage_subject *subject, const vitals_row *gpu)
{
    char words[sizeof(subject->text)];
    vitals_text uuid;
    if (vitals_row_text(gpu, VITALS_GPU_UUID, &uuid) > 0 && uuid.size > 0) {
        vitals_text_format(uuid, VITALS_TEXT_TERMINAL, words, sizeof(words));
        say(subject->text, sizeof(subject->text), words);
    } else if (subject->text[0] == '\0')
        say(subject->text, sizeof(subject->text), vitals_row_label(gpu));
    (void)snprintf(words, sizeof(words), "GPU %.30s", vitals_row_label(gpu));
    say(subject->label, sizeof(subject->label), words);
}

static void note_word(const vitals_row *gpu, vitals_metric metric, char out[16])
{
    vitals_text word;
    if (vitals_row_text(gpu, metric, &word) > 0 && word.size > 0 && word.size < 16)
        vitals_text_format(word, VITALS_TEXT_TERMINAL, out, 16);
}

static struct usage_device *find_device(const vitals_usage *usage, uint64_t key)
{
    for (size_t i = 0; i < usage->device_count; i++) {
        if (usage->devices[i]->key == key)
            return usage->devices[i];
    }
    return NULL;
}

/* A device that was there before under another key (another sampler, a driver that came again) goes
 * on under its UUID. */
static struct usage_device *add_device(vitals_usage *usage, const vitals_row *gpu)
{
    struct usage_subject named = {.scope = VITALS_SCOPE_GPU}, *subject = NULL;
    name_device(&named, gpu);
    for (size_t i = SUBJECT_DEVICES; i < usage->subject_count && subject == NULL; i++) {
        if (strcmp(usage->subjects[i]->text, named.text) == 0)
            subject = usage->subjects[i];
    }
    if (subject == NULL)
        subject = usage_subject_add(usage, VITALS_SCOPE_GPU, named.text, named.label);
    for (size_t i = 0; subject != NULL && i < usage->device_count; i++) {
        if (usage->devices[i]->subject == subject && usage->devices[i]->key == 0) {
            usage->devices[i]->key = vitals_row_key(gpu);
            return usage->devices[i];
        }
    }

    struct usage_device *device = subject != NULL ? memory_alloc(sizeof(*device)) : NULL;
    if (device == NULL ||
        MEMORY_GROW(usage->devices, usage->device_capacity, usage->device_count) < 0) {
        memory_free(device);
        usage->failed = true;
        return NULL;
    }
    device->subject = subject;
    device->key = vitals_row_key(gpu);
    usage->devices[usage->device_count++] = device;
    return device;
}

/* ---- processes on them ---- */

/* Sums of the tree on devices; its parts, root and descendants, have the first two. */
enum { SUM_MEMORY, SUM_UTILIZATION, SUM_OF_PARTS, SUM_BUSY = SUM_OF_PARTS, SUM_ENERGY, SUMS };

static const enum measure_place TREE_PLACES[SUMS] = {
    MEASURE_AT_gpu_memory_bytes, MEASURE_AT_gpu_utilization_ratio, MEASURE_AT_gpu_busy_seconds,
    MEASURE_AT_gpu_energy_joules};

enum {
    MACHINE_UTILIZATION,
    MACHINE_MEMORY_USED,
    MACHINE_MEMORY_TOTAL,
    MACHINE_ENERGY,
    MACHINE_POWER
};
static const enum measure_place MACHINE_PLACES[] = {
    [MACHINE_UTILIZATION] = MEASURE_AT_device_utilization_ratio,
    [MACHINE_MEMORY_USED] = MEASURE_AT_device_memory_used_bytes,
    [MACHINE_MEMORY_TOTAL] = MEASURE_AT_device_memory_total_bytes,
    [MACHINE_ENERGY] = MEASURE_AT_device_energy_joules,
    [MACHINE_POWER] = MEASURE_AT_device_power_watts};

enum { PARTS = 2 };
static const size_t PART_SUBJECTS[PARTS] = {SUBJECT_ROOT, SUBJECT_DESCENDANTS};

/* The values that one pass finds on one device. */
struct usage_devices_found {
    struct usage_sum tree[SUMS], parts[PARTS][SUM_OF_PARTS];
    double others_busy;
    uint64_t users_ns; /* when they were read */
    bool ours, others;
};

static void add_client(vitals_usage *usage, uint64_t boottime_ns, const vitals_row *row,
                       struct usage_devices_found *found)
{
    static const double ROUNDING_SECONDS = 0.05; /* of the start, and between two readings */
    uint64_t key = 0;
    double value = 0;
    const struct usage_process *process = NULL;
    if (vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) > 0)
        process = usage_member_of(usage, key);
    struct usage_client *client = usage_index_find(&usage->clients, vitals_row_key(row));
    if (client == NULL)
        client = usage_index_add(&usage->clients, vitals_row_key(row), sizeof(*client));
    if (client == NULL) {
        usage->failed = true;
        return;
    }
    client->key = vitals_row_key(row);
    client->device = vitals_row_parent(row);
    client->seen = usage->pass;
    client->member |= process != NULL;
    client->root |= process != NULL && process->root;

    /* A process that was born in the run counts from birth, unless its counter tells of more time
     * than it has lived: then the counter began before, under another owner. */
    bool first = client->state <= 0;
    vitals_availability state = vitals_row_number(row, VITALS_GPU_PROCESS_BUSY_SECONDS, &value);
    double age = 0; /* of what lived in the run alone, if that is known */
    if (process != NULL && process->born && process->start_seconds > 0)
        age = (double)boottime_ns / (double)NS_PER_SECOND - process->start_seconds;
    if (state > 0 && first && (age <= 0 || value > age + ROUNDING_SECONDS)) {
        client->base = value;
        client->cut = age > 0;
    }
    if (state > 0 && (first || value > client->busy_seconds))
        client->busy_seconds = value;
    if (state > 0 || first)
        client->state = (signed char)state;

    found->users_ns = uint64_max(found->users_ns,
                                 vitals_row_read_ns(row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES));
    found->ours |= client->member;
    found->others |= !client->member;
    if (!client->member) {
        found->others_busy += client->state > 0 ? client->busy_seconds : 0;
        return;
    }
    static const vitals_metric METRICS[SUM_OF_PARTS] = {VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
                                                        VITALS_GPU_PROCESS_UTILIZATION_RATIO};
    for (size_t i = 0; i < SUM_OF_PARTS; i++) {
        state = vitals_row_number(row, METRICS[i], &value);
        sum_add(&found->tree[i], state, value);
        sum_add(&found->parts[client->root ? 0 : 1][i], state, value);
    }
    state = (vitals_availability)client->state;
    if (state > 0 && client->cut)
        state = state_worse(state, VITALS_LOWER_BOUND);
    sum_add(&found->tree[SUM_BUSY], state, client->busy_seconds - client->base);
}

/* Those that have no row any more: the share of the tree's stays. */
static void settle_clients(vitals_usage *usage)
{
    size_t kept = 0;
    for (size_t i = 0; i < usage->clients.count; i++) {
        struct usage_client *client = usage->clients.items[i];
        struct usage_device *device = find_device(usage, client->device);
        bool device_seen = device != NULL && device->seen == usage->pass && device->unread == 0;
        if (client->seen == usage->pass || (device != NULL && !device_seen)) {
            usage->clients.items[kept++] = client;
            continue;
        }
        if (device != NULL && client->state > 0 && client->member)
            device->busy_gone += client->busy_seconds - client->base;
        else if (device != NULL && client->state > 0)
            device->others_gone += client->busy_seconds;
        hash_remove(&usage->clients.of, client->key);
        memory_free(client);
    }
    usage->clients.count = kept;
}

/* ---- measures ---- */

/* The device's energy, and the tree's part of what it drew since the pass before. */
static void add_energy(struct usage_device *device, const vitals_row *gpu,
                       const struct usage_devices_found *found)
{
    struct usage_cell *whole = &device->subject->cells[MEASURE_AT_device_energy_joules];
    struct usage_cell *part = &device->subject->cells[MEASURE_AT_gpu_energy_joules];
    uint64_t read_ns = vitals_row_read_ns(gpu, VITALS_GPU_ENERGY_JOULES);
    double energy;
    vitals_availability state = vitals_row_number(gpu, VITALS_GPU_ENERGY_JOULES, &energy);
    if (state <= 0) {
        usage_cell_missing(whole, state);
        usage_cell_missing(part, state);
        return;
    }
    if (device->energy_state > 0 && read_ns <= device->energy_ns) {
        usage_cell_repeat(whole);
        usage_cell_repeat(part);
        return; /* the same reading: what was done since is shared out with the next */
    }

    double tree_busy = found->tree[SUM_BUSY].total + device->busy_gone;
    double others_busy = found->others_busy + device->others_gone;
    double ours = f64_max(0, tree_busy - device->tree_busy);
    double others = f64_max(0, others_busy - device->others_busy);
    double grown = energy - device->energy_last;
    if (device->energy_state <= 0)
        device->energy_first = energy;
    else if (grown < 0) /* a driver that was loaded anew counts from 0: no growth */
        device->energy_first += grown;
    else if (found->ours && !found->others)
        device->energy_tree += grown;
    else {
        device->shared |= found->ours && found->others;
        device->share_unknown |= found->ours && found->tree[SUM_BUSY].known == 0;
        device->energy_tree += ours > 0 ? grown * ours / (ours + others) : 0;
    }
    device->energy_last = energy;
    device->energy_ns = read_ns;
    device->energy_state = (signed char)state;
    device->tree_busy = tree_busy;
    device->others_busy = others_busy;

    usage_cell_counter(whole, read_ns, device->energy_done + energy - device->energy_first, state);
    vitals_availability share = device->share_unknown ? VITALS_LOWER_BOUND
                                : device->shared      ? VITALS_ESTIMATE
                                                      : VITALS_SAMPLED;
    usage_cell_counter(part, read_ns, device->energy_tree, state_worse(state, share));
}

/* Sums over devices: of the tree, its parts, and the machine. */
struct totals {
    struct usage_sum tree[SUMS], parts[PARTS][SUM_OF_PARTS], machine[ARRAY_COUNT(MACHINE_PLACES)];
    uint64_t newest_ns; /* of all readings */
    size_t devices, others, busy_devices, used_devices;
};

/* The newest value of a cell into a sum. One that was not read anew since is as good as it was. */
static void add_cell(struct usage_sum *sum, const struct usage_subject *subject,
                     enum measure_place place)
{
    const struct usage_cell *cell = &subject->cells[place];
    bool repeated = cell->state == VITALS_STALE;
    sum_add(sum, (vitals_availability)(repeated ? cell->worst : cell->state), cell->value);
}

static void add_totals(struct totals *totals, const struct usage_device *device,
                       const vitals_row *gpu, const struct usage_devices_found *found)
{
    static const vitals_metric READ[] = {VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_MEMORY_USED_BYTES,
                                         VITALS_GPU_ENERGY_JOULES, VITALS_GPU_POWER_WATTS};
    const struct usage_cell *busy = &device->subject->cells[MEASURE_AT_device_utilization_ratio];
    vitals_availability empty = device->unread != 0 ? (vitals_availability)device->unread
                                                    : VITALS_HAVE;
    totals->newest_ns = uint64_max(totals->newest_ns, found->users_ns);
    for (size_t i = 0; i < ARRAY_COUNT(READ); i++)
        totals->newest_ns = uint64_max(totals->newest_ns, vitals_row_read_ns(gpu, READ[i]));
    for (size_t i = 0; i < SUMS; i++)
        add_cell(&totals->tree[i], device->subject, TREE_PLACES[i]);
    for (size_t part = 0; part < PARTS; part++) {
        for (size_t i = 0; i < SUM_OF_PARTS; i++) {
            const struct usage_sum *sum = &found->parts[part][i];
            sum_add(&totals->parts[part][i], sum_state(sum, empty), sum->total);
        }
    }
    totals->used_devices += found->ours;
    if (vitals_row_parent(gpu) != 0)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(MACHINE_PLACES); i++)
        add_cell(&totals->machine[i], device->subject, MACHINE_PLACES[i]);
    totals->devices++;
    totals->busy_devices += busy->state > 0 && busy->value > 0;
}

static void add_reading(vitals_usage *usage, const vitals_snapshot *snapshot, const vitals_row *gpu,
                        struct totals *totals)
{
    static const struct {
        enum measure_place place;
        vitals_metric metric;
    } WHOLE[] = {
        {MEASURE_AT_device_utilization_ratio, VITALS_GPU_UTILIZATION_RATIO},
        {MEASURE_AT_device_memory_used_bytes, VITALS_GPU_MEMORY_USED_BYTES},
        {MEASURE_AT_device_memory_total_bytes, VITALS_GPU_MEMORY_TOTAL_BYTES},
        {MEASURE_AT_device_power_watts, VITALS_GPU_POWER_WATTS},
        {MEASURE_AT_device_temperature_celsius, VITALS_GPU_TEMPERATURE_CELSIUS},
    };
    struct usage_device *device = find_device(usage, vitals_row_key(gpu));
    struct usage_devices_found found = {.users_ns = vitals_row_read_ns(gpu, VITALS_GPU_PROCESSES)};
    uint64_t count;
    if (device == NULL && (device = add_device(usage, gpu)) == NULL)
        return;
    struct usage_cell *cells = device->subject->cells;
    device->seen = usage->pass;
    name_device(device->subject, gpu);
    note_word(gpu, VITALS_GPU_VENDOR, device->vendor);
    note_word(gpu, VITALS_GPU_KERNEL_DRIVER, device->driver);

    /* Where the kind has no list nothing is missing; a partition is spoken for by its device. */
    vitals_availability state = vitals_row_u64(gpu, VITALS_GPU_PROCESSES, &count);
    bool told = state > 0 || state == VITALS_UNSUPPORTED || state == VITALS_NOT_REQUESTED ||
                vitals_row_parent(gpu) != 0;
    device->unread = (signed char)(told ? VITALS_UNSET : state);
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU_PROCESS, vitals_row_key(gpu),
                                           row)) != NULL;)
        add_client(usage, vitals_snapshot_boottime_ns(snapshot), row, &found);
    settle_clients(usage);
    device->used |= found.ours;

    vitals_availability empty = told ? VITALS_HAVE : state;
    for (size_t i = 0; i < SUM_OF_PARTS; i++)
        usage_cell_gauge(&cells[TREE_PLACES[i]], found.users_ns, found.tree[i].total,
                         sum_state(&found.tree[i], empty));
    state = sum_state(&found.tree[SUM_BUSY], empty);
    if (state <= 0 && device->busy_gone > 0)
        state = VITALS_LOWER_BOUND;
    if (state > 0 && device->used)
        state = state_worse(state, VITALS_SAMPLED);
    usage_cell_counter(&cells[MEASURE_AT_gpu_busy_seconds], found.users_ns,
                       found.tree[SUM_BUSY].total + device->busy_gone, state);
    for (size_t i = 0; i < ARRAY_COUNT(WHOLE); i++) {
        double value = 0;
        state = vitals_row_number(gpu, WHOLE[i].metric, &value);
        usage_cell_gauge(&cells[WHOLE[i].place], vitals_row_read_ns(gpu, WHOLE[i].metric), value,
                         state);
    }
    add_energy(device, gpu, &found);
    add_totals(totals, device, gpu, &found);
}

/* A device that the options do not ask for is in the machine all the same, with its memory. */
static void add_other(struct totals *totals, const vitals_row *gpu)
{
    static const struct {
        size_t place;
        vitals_metric metric;
    } MEMORY[] = {{MACHINE_MEMORY_USED, VITALS_GPU_MEMORY_USED_BYTES},
                  {MACHINE_MEMORY_TOTAL, VITALS_GPU_MEMORY_TOTAL_BYTES}};
    for (size_t i = 0; i < ARRAY_COUNT(MEMORY); i++) {
        double bytes = 0;
        vitals_availability state = vitals_row_number(gpu, MEMORY[i].metric, &bytes);
        sum_add(&totals->machine[MEMORY[i].place], state, bytes);
        totals->newest_ns = uint64_max(totals->newest_ns,
                                       vitals_row_read_ns(gpu, MEMORY[i].metric));
    }
    totals->others++;
}

static void set_total(vitals_usage *usage, uint64_t now_ns, size_t scope, enum measure_place place,
                      const struct usage_sum *sum)
{
    vitals_availability state = sum_state(sum, VITALS_UNSUPPORTED);
    if (MEASURES[place].kind == MEASURE_COUNTER)
        usage_cell_counter(usage_cell(usage, scope, place), now_ns, sum->total, state);
    else
        usage_cell_gauge(usage_cell(usage, scope, place), now_ns, sum->total, state);
}

/* Takes the reports of back ends; the other sources have the lower keys. */
static void note_sources(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    enum { FIRST_BACKEND_KEY = 16 };
    usage->source_count = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, row)) != NULL;) {
        vitals_text state, message;
        char word[32] = "";
        if (vitals_row_key(row) < FIRST_BACKEND_KEY || usage->source_count == USAGE_SOURCES_MAX ||
            vitals_row_text(row, VITALS_SOURCE_STATE, &state) <= 0)
            continue;
        struct usage_source *source = &usage->sources[usage->source_count++];
        *source = (struct usage_source){.state = 0};
        (void)snprintf(source->label, sizeof(source->label), "%.30s", vitals_row_label(row));
        vitals_text_format(state, VITALS_TEXT_TERMINAL, word, sizeof(word));
        source->state = (signed char)vitals_availability_from_name(word);
        if (vitals_row_text(row, VITALS_SOURCE_MESSAGE, &message) > 0)
            vitals_text_format(message, VITALS_TEXT_TERMINAL, source->message,
                               sizeof(source->message));
    }
}

void usage_devices(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    struct totals totals = {.devices = 0};
    note_sources(usage, snapshot);
    if (!vitals_snapshot_has_table(snapshot, VITALS_TABLE_GPU))
        return;
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, gpu)) != NULL;) {
        if (!is_of_brand(usage, gpu))
            continue;
        if (is_wanted(usage, snapshot, gpu))
            add_reading(usage, snapshot, gpu, &totals);
        else if (vitals_row_parent(gpu) == 0)
            add_other(&totals, gpu);
    }
    usage->expected_gpus = totals.devices;
    totals.devices += totals.others;

    /* A device without a row was lost. Sums are without what the tree has on it. */
    for (size_t i = 0; i < usage->device_count; i++) {
        const struct usage_device *device = usage->devices[i];
        if (device->seen == usage->pass)
            continue;
        for (size_t k = 0; k < SUMS && device->key != 0; k++)
            sum_add(&totals.tree[k], VITALS_GONE, 0);
        for (size_t k = 0; k < PARTS * SUM_OF_PARTS && device->key != 0; k++)
            sum_add(&totals.parts[k / SUM_OF_PARTS][k % SUM_OF_PARTS], VITALS_GONE, 0);
        for (size_t place = 0; place < MEASURE_COUNT; place++) {
            if ((MEASURES[place].scopes & MEASURE_OF_GPU) != 0)
                usage_cell_missing(&device->subject->cells[place], VITALS_GONE);
        }
    }

    uint64_t now_ns = totals.newest_ns;
    for (size_t i = 0; i < SUMS; i++)
        set_total(usage, now_ns, SUBJECT_TREE, TREE_PLACES[i], &totals.tree[i]);
    for (size_t part = 0; part < PARTS; part++) {
        for (size_t i = 0; i < SUM_OF_PARTS; i++)
            set_total(usage, now_ns, PART_SUBJECTS[part], TREE_PLACES[i], &totals.parts[part][i]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(MACHINE_PLACES); i++)
        set_total(usage, now_ns, SUBJECT_SYSTEM, MACHINE_PLACES[i], &totals.machine[i]);
    usage_cell_gauge(usage_cell(usage, SUBJECT_SYSTEM, MEASURE_AT_devices), now_ns,
                     (double)totals.devices, totals.devices > 0 ? VITALS_HAVE : VITALS_UNSUPPORTED);
    usage_cell_gauge(usage_cell(usage, SUBJECT_SYSTEM, MEASURE_AT_devices_busy), now_ns,
                     (double)totals.busy_devices,
                     sum_state(&totals.machine[MACHINE_UTILIZATION], VITALS_UNSUPPORTED));
    usage_cell_gauge(usage_cell(usage, SUBJECT_TREE, MEASURE_AT_devices_busy), now_ns,
                     (double)totals.used_devices,
                     totals.used_devices > 0
                         ? VITALS_HAVE
                         : sum_state(&totals.tree[SUM_MEMORY], VITALS_UNSUPPORTED));
}

void usage_devices_end(vitals_usage *usage)
{
    for (size_t i = 0; i < usage->device_count; i++) {
        usage->devices[i]->seen = usage->pass;
        usage->devices[i]->unread = 0;
    }
    settle_clients(usage); /* keys of another stream mean nothing here */
    for (size_t i = 0; i < usage->device_count; i++) {
        struct usage_device *device = usage->devices[i];
        if (device->energy_state > 0)
            device->energy_done += device->energy_last - device->energy_first;
        device->energy_state = 0;
        device->key = 0;
    }
}
