/* fleet.c: see fleet.h. */
#include "fleet/fleet.h"

#include <stdio.h>
#include <string.h>

#include "feed/feed_json.h"
#include "util/base.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"

const char *const fleet_state_names[FLEET_STATES] = {"waiting", "answers",   "silent",
                                                     "login",   "oversized", "other"};

static uint64_t name_key(const char *name, size_t size)
{
    return hash_bytes(name, size) | 1;
}

int fleet_init(struct fleet *fleet, struct host_list *list, bool prometheus, vitals_error *error)
{
    bool listed = list->count > 0;
    size_t room = prometheus && !listed ? HOSTS_MOST : list->count;
    *fleet = (struct fleet){.hosts = memory_array(room + 1, sizeof *fleet->hosts),
                            .prometheus = prometheus,
                            .listed = listed};
    bool failed = fleet->hosts == NULL;
    for (size_t i = 0; !failed && i < list->count; i++) {
        const char *name = list->items[i].name;
        failed = prometheus && hash_set(&fleet->names, name_key(name, strlen(name)), i + 1) < 0;
    }
    if (failed)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    for (size_t i = 0; i < list->count; i++)
        fleet->hosts[i].place = list->items[i];
    fleet->count = list->count;
    list->count = 0;
    host_list_done(list);
    return vitals_builder_new(&fleet->builder, error);
}

static void free_host(struct fleet_host *host)
{
    vitals_snapshot_unref(host->newest);
    idle_gpus_done(&host->idle);
    memory_free(host->place.url);
    memory_free(host->place.name);
    *host = (struct fleet_host){.newest = NULL};
}

void fleet_done(struct fleet *fleet)
{
    (void)fleet_hold(fleet, false);
    for (size_t i = 0; i < fleet->count; i++)
        free_host(&fleet->hosts[i]);
    memory_free(fleet->hosts);
    hash_done(&fleet->names);
    vitals_builder_free(fleet->builder);
    *fleet = (struct fleet){.hosts = NULL};
}

/* The machine as what comes is kept. */
static struct fleet_host *kept(const struct fleet *fleet, size_t place)
{
    return &(fleet->later != NULL ? fleet->later : fleet->hosts)[place];
}

void fleet_fail(struct fleet *fleet, size_t place, enum fleet_state state, uint64_t then_ns,
                const char *why)
{
    struct fleet_host *host = kept(fleet, place);
    fleet->heard += host->state == FLEET_WAITING;
    if (host->failing_ns == 0)
        host->failing_ns = then_ns;
    host->state = state;
    (void)vitals_text_format(vitals_text_of(why), VITALS_TEXT_ASCII, host->why, sizeof host->why);
}

int fleet_hold(struct fleet *fleet, bool held)
{
    struct fleet_host *later = fleet->later;
    if (held == (later != NULL))
        return 0;
    if (!held) {
        for (size_t i = 0; i < fleet->count; i++) {
            vitals_snapshot_unref(fleet->hosts[i].newest);
            later[i].idle = fleet->hosts[i].idle;
            fleet->hosts[i] = later[i];
        }
        memory_free(later);
        fleet->later = NULL;
        return 0;
    }
    if ((later = memory_array(fleet->count + 1, sizeof *later)) == NULL)
        return VITALS_EMEMORY;
    for (size_t i = 0; i < fleet->count; i++) {
        later[i] = fleet->hosts[i];
        if (later[i].newest != NULL)
            (void)vitals_snapshot_ref(later[i].newest);
    }
    fleet->later = later;
    return 0;
}

/* Reads a number that ends with a blank, and the blank. Returns false if there is none, or it is
 * above `most`. */
static bool take_number(const char **at, uint64_t most, uint64_t *out)
{
    return number_u64(at, *at + strnlen(*at, NUMBER_TEXT), out) && *out <= most && *(*at)++ == ' ';
}

const vitals_snapshot *fleet_newest(const struct fleet *fleet, size_t place)
{
    return kept(fleet, place)->newest;
}

void fleet_answered(struct fleet *fleet, size_t place, vitals_snapshot *snapshot, uint64_t then_ns)
{
    struct fleet_host *host = kept(fleet, place);
    fleet->heard += host->state == FLEET_WAITING;
    host->state = FLEET_ANSWERS;
    host->why[0] = '\0';
    host->answered_ns = then_ns;
    host->failing_ns = 0;
    if (snapshot == NULL)
        return;
    vitals_snapshot_unref(host->newest);
    host->newest = snapshot;
    idle_gpus_update(&fleet->hosts[place].idle, snapshot);
}

bool fleet_take_document(struct fleet *fleet, size_t place, vitals_text json, uint64_t now_ns)
{
    const struct feed_place source = {.path = fleet->hosts[place].place.name};
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    if (feed_json_read(&source, json.bytes, json.size, fleet->builder, &snapshot, &error) < 0) {
        fleet_fail(fleet, place, FLEET_OTHER, now_ns, error.message);
        return false;
    }
    fleet_answered(fleet, place, snapshot, now_ns);
    return true;
}

/* ---- machines that Prometheus names ---- */

/* Returns the place of a name, or -1. */
static long find_name(const struct fleet *fleet, const char *name, size_t size)
{
    const uintptr_t *found = hash_find(&fleet->names, name_key(name, size));
    if (found == NULL)
        return -1;
    const char *own = fleet->hosts[*found - 1].place.name;
    return strlen(own) == size && memcmp(own, name, size) == 0 ? (long)(*found - 1) : -1;
}

long fleet_place_of(struct fleet *fleet, const char *instance)
{
    size_t size = strlen(instance);
    long place = find_name(fleet, instance, size);
    if (place < 0 && fleet->listed) {
        const char *colon = strrchr(instance, ':');
        if (colon != NULL && colon[strspn(colon, ":0123456789")] == '\0')
            place = find_name(fleet, instance, (size_t)(colon - instance));
    }
    fleet->full = fleet->full || (place < 0 && !fleet->listed && fleet->count == HOSTS_MOST);
    if (place < 0 && !fleet->listed && fleet->later == NULL && fleet->count < HOSTS_MOST &&
        hash_find(&fleet->names, name_key(instance, size)) == NULL) {
        struct buffer name = {.bytes = NULL};
        buffer_string(&name, instance);
        if (!name.failed &&
            hash_set(&fleet->names, name_key(instance, size), fleet->count + 1) == 0) {
            place = (long)fleet->count;
            fleet->hosts[fleet->count++].place.name = name.bytes;
        } else
            buffer_done(&name);
    }
    if (place >= 0)
        fleet->hosts[place].round = fleet->round;
    return place;
}

/* Takes what came of Prometheus: an answer, or why there is none, which is said of each machine. */
static void take_prometheus(struct fleet *fleet, vitals_text json, enum fleet_state state,
                            const char *why, uint64_t now_ns)
{
    vitals_error error;
    bool answer = why == NULL;
    fleet->told = true;
    fleet->round++;
    fleet->full = false;
    if (answer && fleet_prometheus_read(fleet, json, now_ns, &error) < 0)
        why = error.message;
    fleet->trouble[0] = '\0';
    if (why != NULL)
        (void)vitals_text_format(vitals_text_of(why), VITALS_TEXT_ASCII, fleet->trouble,
                                 sizeof fleet->trouble);
    else if (fleet->full)
        (void)snprintf(fleet->trouble, sizeof fleet->trouble,
                       "Prometheus knows more than %d machines: choose some with --hosts",
                       HOSTS_MOST);
    for (size_t i = 0; i < fleet->count; i++) {
        uint64_t *unknown_ns = &kept(fleet, i)->unknown_ns;
        if (why != NULL) {
            fleet_fail(fleet, i, answer ? FLEET_OTHER : state, now_ns, fleet->trouble);
        } else if (fleet->hosts[i].round == fleet->round) {
            *unknown_ns = 0;
        } else {
            fleet_fail(fleet, i, FLEET_OTHER, now_ns, "Prometheus does not know it");
            *unknown_ns = *unknown_ns > 0 ? *unknown_ns : now_ns;
        }
    }
}

/* Returns the rest of a line behind a word and a blank, or NULL if it begins otherwise. */
static const char *behind(const char *rest, const char *word)
{
    size_t size = strlen(word);
    return strncmp(rest, word, size) == 0 && rest[size] == ' ' ? rest + size + 1 : NULL;
}

bool fleet_take(struct fleet *fleet, const char *line, size_t size, uint64_t now_ns)
{
    enum { WHY = 2 * FLEET_WHY };
    const char *at = line, *rest;
    uint64_t place, came_ns, places = fleet->prometheus ? 1 : fleet->count;
    if (places == 0 || !take_number(&at, places - 1, &place) ||
        !take_number(&at, UINT64_MAX - 1, &came_ns))
        return false;
    now_ns = came_ns < now_ns ? came_ns : now_ns;
    if ((rest = behind(at, "answer")) != NULL) {
        const vitals_text json = {rest, size - (size_t)(rest - line)};
        if (fleet->prometheus)
            take_prometheus(fleet, json, FLEET_ANSWERS, NULL, now_ns);
        else
            (void)fleet_take_document(fleet, place, json, now_ns);
        return true;
    }
    char why[WHY];
    enum fleet_state state = FLEET_SILENT;
    while (state <= FLEET_OTHER && (rest = behind(at, fleet_state_names[state])) == NULL)
        state++;
    if (rest == NULL)
        return false;
    (void)snprintf(why, sizeof why, "%s%s", fleet->prometheus ? "Prometheus: " : "", rest);
    if (fleet->prometheus)
        take_prometheus(fleet, (vitals_text){.bytes = NULL}, state, why, now_ns);
    else
        fleet_fail(fleet, place, state, now_ns, why);
    return true;
}

bool fleet_is_awaited(const struct fleet *fleet)
{
    return fleet->prometheus ? !fleet->told : fleet->heard < fleet->count;
}

/* Forgets machines that Prometheus alone named, and no longer does. */
static void forget_unknown(struct fleet *fleet, uint64_t now_ns)
{
    static const uint64_t AFTER_NS = 600000000000;
    size_t kept_count = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        struct fleet_host *host = &fleet->hosts[i];
        if (host->unknown_ns > 0 && host->unknown_ns + AFTER_NS < now_ns)
            free_host(host);
        else
            fleet->hosts[kept_count++] = *host;
    }
    if (kept_count == fleet->count)
        return;
    hash_reset(&fleet->names); /* it keeps its memory: setting cannot fail */
    for (size_t i = 0; i < kept_count; i++) {
        const char *name = fleet->hosts[i].place.name;
        (void)hash_set(&fleet->names, name_key(name, strlen(name)), i + 1);
    }
    memset(&fleet->hosts[kept_count], 0, (fleet->count - kept_count) * sizeof *fleet->hosts);
    fleet->count = kept_count;
}

void fleet_forget(struct fleet *fleet, uint64_t now_ns, uint64_t after_ns)
{
    fleet->now_ns = now_ns;
    if (fleet->prometheus && !fleet->listed && fleet->later == NULL)
        forget_unknown(fleet, now_ns);
    for (size_t i = 0; i < fleet->count; i++) {
        struct fleet_host *host = &fleet->hosts[i];
        if (fleet->later != NULL || host->newest == NULL || host->answered_ns + after_ns >= now_ns)
            continue;
        vitals_snapshot_unref(host->newest);
        host->newest = NULL;
    }
}
