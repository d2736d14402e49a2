/* usage_devices.c: devices, and what the tree uses of them. See usage_data.h.
 *
 * A process on a device is a row of its own with its own counter of busy time; one that is gone
 * keeps its share. Energy is told by the device alone: of what it drew between two snapshots the
 * tree gets its part of the busy time, all of it where nobody else is on the device. */
#include "run/usage/usage_data.h"

#include "util/memory.h"

#include <stdio.h>
#include <string.h>
#include <vitals/gpu.h>

/* ---- which devices ---- */

static bool is_of_brand(const vitals_usage *usage, const vitals_row *gpu)
{
    vitals_text vendor;
    if (usage->brand == NULL)
        return true;
    return vitals_row_text(gpu, VITALS_GPU_VENDOR, &vendor) > 0 &&
           vendor.size == strlen(usage->brand) &&
           memcmp(vendor.bytes, usage->brand, vendor.size) == 0;
}

/* A device that is named stands for its partitions too. */
static bool is_wanted(const vitals_usage *usage, const vitals_snapshot *snapshot,
                      const vitals_row *gpu)
{
    const vitals_row *found;
    if (!is_of_brand(usage, gpu))
        return false;
    if (usage->devices_named == NULL)
        return true;
    for (size_t i = 0; usage->devices_named[i] != NULL; i++) {
        if (vitals_gpu_find(snapshot, usage->devices_named[i], &found, NULL) == 0 &&
            (found == gpu || vitals_row_key(found) == vitals_row_key(gpu) ||
             vitals_row_key(found) == vitals_row_parent(gpu)))
            return true;
    }
    return false;
}

/* Written only where it says something new: who holds a figure reads its words meanwhile. */
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

static struct usage_device *find_device(vitals_usage *usage, const vitals_row *gpu)
{
    for (size_t i = 0; i < usage->device_count; i++) {
        if (usage->devices[i]->key == vitals_row_key(gpu))
            return usage->devices[i];
    }
    return NULL;
}

/* A device that was there before under another key (another sampler, a driver that came again) goes
 * on under its UUID. */
static struct usage_subject *known_subject(vitals_usage *usage, const vitals_row *gpu)
{
    struct usage_subject named = {.scope = VITALS_SCOPE_GPU};
    name_device(&named, gpu);
    for (size_t i = SUBJECT_DEVICES; i < usage->subject_count; i++) {
        if (strcmp(usage->subjects[i]->text, named.text) == 0)
            return usage->subjects[i];
    }
    return usage_subject_add(usage, VITALS_SCOPE_GPU, named.text, named.label);
}

static struct usage_device *add_device(vitals_usage *usage, const vitals_row *gpu)
{
    struct usage_subject *subject = known_subject(usage, gpu);
    for (size_t i = 0; subject != NULL && i < usage->device_count; i++) {
        if (usage->devices[i]->subject != subject || usage->devices[i]->key != 0)
            continue;
        usage->devices[i]->key = vitals_row_key(gpu);
        return usage->devices[i];
    }
    struct usage_device *device = memory_alloc(sizeof(*device));
    if (device != NULL)
        device->subject = subject;
    if (device == NULL || device->subject == NULL ||
        memory_grow((void **)&usage->devices, &usage->device_capacity, usage->device_count,
                    sizeof(struct usage_device *)) < 0) {
        memory_free(device);
        usage->failed = true;
        return NULL;
    }
    device->key = vitals_row_key(gpu);
    usage->devices[usage->device_count++] = device;
    return device;
}

/* ---- who is on them ---- */

static struct usage_client *find_client(vitals_usage *usage, const vitals_row *row, bool member)
{
    uint64_t key = vitals_row_key(row);
    const uintptr_t *found = hash_find(&usage->clients, key);
    if (found != NULL)
        return (struct usage_client *)*found;
    struct usage_client *client = memory_alloc(sizeof(*client));
    if (client == NULL ||
        memory_grow((void **)&usage->client_entries, &usage->client_capacity, usage->client_count,
                    sizeof(struct usage_client *)) < 0 ||
        hash_set(&usage->clients, key, (uintptr_t)client) < 0) {
        memory_free(client);
        usage->failed = true;
        return NULL;
    }
    client->key = key;
    client->device = vitals_row_parent(row);
    client->member = member;
    usage->client_entries[usage->client_count++] = client;
    return client;
}

/* A counter of somebody that was born in the run counts from birth, unless it tells of more time
 * than its process has lived: then it began before, under another owner. */
static bool counts_from_birth(double busy, double age)
{
    static const double ROUNDING_SECONDS = 0.05; /* of the start, and between two readings */
    return age > 0 && busy <= age + ROUNDING_SECONDS;
}

static void read_busy(struct usage_client *client, const vitals_row *row, double age)
{
    double busy;
    vitals_availability state = vitals_row_number(row, VITALS_GPU_PROCESS_BUSY_SECONDS, &busy);
    if (state <= 0) {
        if (client->state <= 0)
            client->state = (signed char)state;
        return;
    }
    bool first = client->state <= 0;
    if (first && !counts_from_birth(busy, age)) {
        client->base = busy;
        client->cut = age > 0;
    }
    if (first || busy > client->busy_seconds)
        client->busy_seconds = busy;
    client->state = (signed char)state;
}

/* The tree's parts, each with a subject of its own. */
enum { PARTS = 2 };
static const size_t PART_SUBJECTS[PARTS] = {SUBJECT_ROOT, SUBJECT_DESCENDANTS};

/* What one fold finds on one device. */
struct usage_devices_found {
    struct usage_sum memory, utilization, busy;
    struct usage_sum memory_of[PARTS], utilization_of[PARTS]; /* of roots, of descendants */
    double others_busy;
    uint64_t users_ns; /* when they were read */
    bool ours, others;
};

static void add_client(vitals_usage *usage, uint64_t boottime_ns, const vitals_row *row,
                       struct usage_devices_found *found)
{
    uint64_t key = 0;
    double value = 0;
    bool member = vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) > 0 &&
                  usage_is_member(usage, key);
    struct usage_client *client = find_client(usage, row, member);
    if (client == NULL)
        return;
    client->seen = usage->fold;
    client->member |= member;
    client->root |= member && usage_is_root(usage, key);
    read_busy(client, row, member ? usage_age(usage, key, boottime_ns) : 0);
    found->users_ns = uint64_max(found->users_ns,
                                 vitals_row_read_ns(row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES));
    found->ours |= client->member;
    found->others |= !client->member;
    if (!client->member) {
        found->others_busy += client->state > 0 ? client->busy_seconds : 0;
        return;
    }
    vitals_availability state = vitals_row_number(row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
                                                  &value);
    const size_t part = client->root ? 0 : 1;
    sum_add(&found->memory, state, value);
    sum_add(&found->memory_of[part], state, value);
    state = vitals_row_number(row, VITALS_GPU_PROCESS_UTILIZATION_RATIO, &value);
    sum_add(&found->utilization, state, value);
    sum_add(&found->utilization_of[part], state, value);
    state = (vitals_availability)client->state;
    if (state > 0 && client->cut)
        state = state_worse(state, VITALS_LOWER_BOUND);
    sum_add(&found->busy, state, client->busy_seconds - client->base);
}

static struct usage_device *device_of(const vitals_usage *usage, uint64_t key)
{
    for (size_t i = 0; i < usage->device_count; i++) {
        if (usage->devices[i]->key == key)
            return usage->devices[i];
    }
    return NULL;
}

/* Those that have no row any more: the share of the tree's stays. */
static void settle_clients(vitals_usage *usage)
{
    size_t kept = 0;
    for (size_t i = 0; i < usage->client_count; i++) {
        struct usage_client *client = usage->client_entries[i];
        struct usage_device *device = device_of(usage, client->device);
        bool device_seen = device != NULL && device->seen == usage->fold && device->unread == 0;
        if (client->seen == usage->fold || (device != NULL && !device_seen)) {
            usage->client_entries[kept++] = client;
            continue;
        }
        if (device != NULL && client->state > 0 && client->member)
            device->busy_gone += client->busy_seconds - client->base;
        else if (device != NULL && client->state > 0)
            device->others_gone += client->busy_seconds;
        hash_remove(&usage->clients, client->key);
        memory_free(client);
    }
    usage->client_count = kept;
}

/* Why it cannot be said who uses a device; 0 where it can, or its kind has no list. A partition is
 * spoken for by its device. */
static vitals_availability unread(const vitals_row *gpu)
{
    uint64_t count;
    vitals_availability state = vitals_row_u64(gpu, VITALS_GPU_PROCESSES, &count);
    bool told = state > 0 || state == VITALS_UNSUPPORTED || state == VITALS_NOT_REQUESTED;
    return told || vitals_row_parent(gpu) != 0 ? VITALS_UNSET : state;
}

/* ---- measures ---- */

static void set_gauge(vitals_usage *usage, uint64_t now_ns, struct usage_subject *subject,
                      enum measure_place place, vitals_availability state, double value)
{
    (void)usage;
    if (state > 0)
        usage_cell_gauge(&subject->cells[place], now_ns, value, state);
    else
        usage_cell_missing(&subject->cells[place], state);
}

static void set_counter(struct usage_subject *subject, uint64_t now_ns, enum measure_place place,
                        vitals_availability state, double value)
{
    if (state > 0)
        usage_cell_counter(&subject->cells[place], now_ns, value, state);
    else
        usage_cell_missing(&subject->cells[place], state);
}

/* The newest value of a cell into a sum. One that was not read anew since is as good as it was. */
static void add_cell(struct usage_sum *sum, const struct usage_subject *subject,
                     enum measure_place place)
{
    const struct usage_cell *cell = &subject->cells[place];
    bool repeated = cell->state == VITALS_STALE;
    sum_add(sum, (vitals_availability)(repeated ? cell->worst : cell->state), cell->value);
}

/* Sums over devices: of the tree, and of the machine. */
struct totals {
    struct usage_sum memory, utilization, busy, energy;
    struct usage_sum device_utilization, device_used, device_total, device_energy, device_power;
    struct usage_sum memory_of[PARTS], utilization_of[PARTS];
    uint64_t newest_ns; /* of all readings */
    size_t devices, busy_devices, used_devices;
};

static void set_tree(vitals_usage *usage, struct usage_device *device,
                     const struct usage_devices_found *found)
{
    uint64_t now_ns = found->users_ns;
    struct usage_subject *subject = device->subject;
    vitals_availability why = (vitals_availability)device->unread;
    vitals_availability empty = why != VITALS_UNSET ? why : VITALS_HAVE;
    set_gauge(usage, now_ns, subject, MEASURE_AT_gpu_memory_bytes, sum_state(&found->memory, empty),
              found->memory.total);
    set_gauge(usage, now_ns, subject, MEASURE_AT_gpu_utilization_ratio,
              sum_state(&found->utilization, empty), found->utilization.total);
    vitals_availability state = sum_state(&found->busy, empty);
    double busy = found->busy.total + device->busy_gone;
    if (state <= 0 && device->busy_gone > 0)
        state = VITALS_LOWER_BOUND;
    if (state > 0 && device->used)
        state = state_worse(state, VITALS_SAMPLED);
    set_counter(subject, now_ns, MEASURE_AT_gpu_busy_seconds, state, busy);
}

/* The tree's part of what the device drew since the fold before. */
static void set_energy(struct usage_device *device, const struct usage_devices_found *found,
                       double grown)
{
    double ours = found->busy.total + device->busy_gone - device->tree_busy;
    double others = found->others_busy + device->others_gone - device->others_busy;
    ours = ours > 0 ? ours : 0;
    others = others > 0 ? others : 0;
    if (found->ours && !found->others) {
        device->energy_tree += grown;
        return;
    }
    device->shared |= found->ours && found->others;
    device->share_unknown |= found->ours && found->busy.known == 0;
    if (ours > 0)
        device->energy_tree += grown * ours / (ours + others);
}

static void fold_energy(struct usage_device *device, const vitals_row *gpu,
                        const struct usage_devices_found *found)
{
    struct usage_subject *subject = device->subject;
    uint64_t read_ns = vitals_row_read_ns(gpu, VITALS_GPU_ENERGY_JOULES);
    double energy;
    vitals_availability state = vitals_row_number(gpu, VITALS_GPU_ENERGY_JOULES, &energy);
    if (state <= 0) {
        usage_cell_missing(&subject->cells[MEASURE_AT_device_energy_joules], state);
        usage_cell_missing(&subject->cells[MEASURE_AT_gpu_energy_joules], state);
        return;
    }
    if (device->energy_state > 0 && read_ns <= device->energy_ns) {
        usage_cell_repeat(&subject->cells[MEASURE_AT_device_energy_joules]);
        usage_cell_repeat(&subject->cells[MEASURE_AT_gpu_energy_joules]);
        return; /* the same reading: what was done since is shared out with the next */
    }
    /* A driver that was loaded anew counts from 0: what it says first is no growth. */
    if (device->energy_state > 0 && energy >= device->energy_last)
        set_energy(device, found, energy - device->energy_last);
    else if (device->energy_state > 0)
        device->energy_first -= device->energy_last - energy;
    else
        device->energy_first = energy;
    device->energy_last = energy;
    device->energy_ns = read_ns;
    device->energy_state = (signed char)state;
    device->tree_busy = found->busy.total + device->busy_gone;
    device->others_busy = found->others_busy + device->others_gone;
    usage_cell_counter(&subject->cells[MEASURE_AT_device_energy_joules], read_ns,
                       device->energy_done + energy - device->energy_first, state);
    vitals_availability share = device->share_unknown ? VITALS_LOWER_BOUND
                                : device->shared      ? VITALS_ESTIMATE
                                                      : VITALS_SAMPLED;
    set_counter(subject, read_ns, MEASURE_AT_gpu_energy_joules, state_worse(state, share),
                device->energy_tree);
}

static void fold_whole(vitals_usage *usage, struct usage_device *device, const vitals_row *gpu)
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
    for (size_t i = 0; i < ARRAY_COUNT(WHOLE); i++) {
        double value = 0;
        vitals_availability state = vitals_row_number(gpu, WHOLE[i].metric, &value);
        uint64_t read_ns = vitals_row_read_ns(gpu, WHOLE[i].metric);
        set_gauge(usage, read_ns, device->subject, WHOLE[i].place, state, value);
    }
}

static void add_totals(struct totals *totals, const struct usage_device *device,
                       const vitals_row *gpu, const struct usage_devices_found *found)
{
    static const vitals_metric READ[] = {VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_MEMORY_USED_BYTES,
                                         VITALS_GPU_ENERGY_JOULES, VITALS_GPU_POWER_WATTS};
    totals->newest_ns = uint64_max(totals->newest_ns, found->users_ns);
    for (size_t i = 0; i < ARRAY_COUNT(READ); i++)
        totals->newest_ns = uint64_max(totals->newest_ns, vitals_row_read_ns(gpu, READ[i]));
    const struct usage_subject *subject = device->subject;
    const struct usage_cell *busy = &subject->cells[MEASURE_AT_device_utilization_ratio];
    add_cell(&totals->memory, subject, MEASURE_AT_gpu_memory_bytes);
    add_cell(&totals->utilization, subject, MEASURE_AT_gpu_utilization_ratio);
    add_cell(&totals->busy, subject, MEASURE_AT_gpu_busy_seconds);
    add_cell(&totals->energy, subject, MEASURE_AT_gpu_energy_joules);
    vitals_availability empty = device->unread != 0 ? (vitals_availability)device->unread
                                                    : VITALS_HAVE;
    for (size_t i = 0; i < PARTS; i++) {
        sum_add(&totals->memory_of[i], sum_state(&found->memory_of[i], empty),
                found->memory_of[i].total);
        sum_add(&totals->utilization_of[i], sum_state(&found->utilization_of[i], empty),
                found->utilization_of[i].total);
    }
    totals->used_devices += found->ours;
    if (vitals_row_parent(gpu) != 0)
        return;
    add_cell(&totals->device_utilization, subject, MEASURE_AT_device_utilization_ratio);
    add_cell(&totals->device_used, subject, MEASURE_AT_device_memory_used_bytes);
    add_cell(&totals->device_total, subject, MEASURE_AT_device_memory_total_bytes);
    add_cell(&totals->device_energy, subject, MEASURE_AT_device_energy_joules);
    add_cell(&totals->device_power, subject, MEASURE_AT_device_power_watts);
    totals->devices++;
    totals->busy_devices += busy->state > 0 && busy->value > 0;
}

static void fold_device(vitals_usage *usage, const vitals_snapshot *snapshot, const vitals_row *gpu,
                        struct totals *totals)
{
    struct usage_device *device = find_device(usage, gpu);
    struct usage_devices_found found = {.users_ns = vitals_row_read_ns(gpu, VITALS_GPU_PROCESSES)};
    if (device == NULL)
        device = add_device(usage, gpu);
    if (device == NULL)
        return;
    device->seen = usage->fold;
    device->unread = (signed char)unread(gpu);
    name_device(device->subject, gpu);
    note_word(gpu, VITALS_GPU_VENDOR, device->vendor);
    note_word(gpu, VITALS_GPU_KERNEL_DRIVER, device->driver);
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next_child(snapshot, VITALS_GPU_PROCESS, vitals_row_key(gpu),
                                           row)) != NULL;)
        add_client(usage, vitals_snapshot_boottime_ns(snapshot), row, &found);
    settle_clients(usage);
    device->used |= found.ours;
    set_tree(usage, device, &found);
    fold_whole(usage, device, gpu);
    fold_energy(device, gpu, &found);
    add_totals(totals, device, gpu, &found);
}

static void set_total(vitals_usage *usage, uint64_t now_ns, size_t scope, enum measure_place place,
                      const struct usage_sum *sum)
{
    struct usage_subject *subject = usage->subjects[scope];
    vitals_availability state = sum_state(sum, VITALS_UNSUPPORTED);
    if (MEASURES[place].kind == MEASURE_COUNTER)
        set_counter(subject, now_ns, place, state, sum->total);
    else
        set_gauge(usage, now_ns, subject, place, state, sum->total);
}

static void set_totals(vitals_usage *usage, uint64_t now_ns, const struct totals *totals)
{
    struct usage_subject *tree = usage->subjects[SUBJECT_TREE];
    struct usage_subject *machine = usage->subjects[SUBJECT_SYSTEM];
    set_total(usage, now_ns, SUBJECT_TREE, MEASURE_AT_gpu_memory_bytes, &totals->memory);
    set_total(usage, now_ns, SUBJECT_TREE, MEASURE_AT_gpu_utilization_ratio, &totals->utilization);
    set_total(usage, now_ns, SUBJECT_TREE, MEASURE_AT_gpu_busy_seconds, &totals->busy);
    set_total(usage, now_ns, SUBJECT_TREE, MEASURE_AT_gpu_energy_joules, &totals->energy);
    for (size_t i = 0; i < PARTS; i++) {
        set_total(usage, now_ns, PART_SUBJECTS[i], MEASURE_AT_gpu_memory_bytes,
                  &totals->memory_of[i]);
        set_total(usage, now_ns, PART_SUBJECTS[i], MEASURE_AT_gpu_utilization_ratio,
                  &totals->utilization_of[i]);
    }
    set_total(usage, now_ns, SUBJECT_SYSTEM, MEASURE_AT_device_utilization_ratio,
              &totals->device_utilization);
    set_total(usage, now_ns, SUBJECT_SYSTEM, MEASURE_AT_device_memory_used_bytes,
              &totals->device_used);
    set_total(usage, now_ns, SUBJECT_SYSTEM, MEASURE_AT_device_memory_total_bytes,
              &totals->device_total);
    set_total(usage, now_ns, SUBJECT_SYSTEM, MEASURE_AT_device_energy_joules,
              &totals->device_energy);
    set_total(usage, now_ns, SUBJECT_SYSTEM, MEASURE_AT_device_power_watts, &totals->device_power);
    vitals_availability state = totals->devices > 0 ? VITALS_HAVE : VITALS_UNSUPPORTED;
    set_gauge(usage, now_ns, machine, MEASURE_AT_devices, state, (double)totals->devices);
    state = sum_state(&totals->device_utilization, VITALS_UNSUPPORTED);
    set_gauge(usage, now_ns, machine, MEASURE_AT_devices_busy, state, (double)totals->busy_devices);
    state = sum_state(&totals->memory, VITALS_UNSUPPORTED);
    set_gauge(usage, now_ns, tree, MEASURE_AT_devices_busy,
              totals->used_devices > 0 ? VITALS_HAVE : state, (double)totals->used_devices);
}

/* What has no row in this snapshot has nothing to say: a device that was lost. Sums are without
 * what the tree has on it. */
static void mark_lost(vitals_usage *usage, struct totals *totals)
{
    struct usage_sum *const SUMS[] = {&totals->memory,
                                      &totals->utilization,
                                      &totals->busy,
                                      &totals->energy,
                                      &totals->memory_of[0],
                                      &totals->memory_of[1],
                                      &totals->utilization_of[0],
                                      &totals->utilization_of[1]};
    for (size_t i = 0; i < usage->device_count; i++) {
        struct usage_device *device = usage->devices[i];
        if (device->seen == usage->fold)
            continue;
        for (size_t k = 0; k < ARRAY_COUNT(SUMS) && device->key != 0; k++)
            sum_add(SUMS[k], VITALS_GONE, 0);
        for (size_t place = 0; place < MEASURE_COUNT; place++) {
            if ((MEASURES[place].scopes & MEASURE_OF_GPU) != 0)
                usage_cell_missing(&device->subject->cells[place], VITALS_GONE);
        }
    }
}

/* What the back ends say of themselves; the other sources have the lower keys. */
static void note_sources(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    enum { FIRST_BACKEND_KEY = 16 };
    usage->source_count = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_SOURCE, row)) != NULL;) {
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
    if (!vitals_snapshot_has_entity(snapshot, VITALS_GPU))
        return;
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(snapshot, VITALS_GPU, gpu)) != NULL;) {
        if (is_wanted(usage, snapshot, gpu))
            fold_device(usage, snapshot, gpu, &totals);
    }
    mark_lost(usage, &totals);
    set_totals(usage, totals.newest_ns, &totals);
}

void usage_devices_end(vitals_usage *usage)
{
    for (size_t i = 0; i < usage->device_count; i++) {
        usage->devices[i]->seen = usage->fold;
        usage->devices[i]->unread = 0;
    }
    settle_clients(usage); /* nobody of another stream is anybody's here */
    for (size_t i = 0; i < usage->device_count; i++) {
        struct usage_device *device = usage->devices[i];
        if (device->energy_state > 0)
            device->energy_done += device->energy_last - device->energy_first;
        device->energy_state = 0;
        device->key = 0;
    }
}
