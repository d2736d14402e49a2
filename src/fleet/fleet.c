/* fleet.c: see fleet.h. */
#include "fleet/fleet.h"

#include <stdio.h>
#include <string.h>

#include "feed/feed_json.h"
#include "util/base.h"
#include "util/memory.h"

const char *const fleet_state_names[FLEET_STATES] = {"waiting", "answers", "silent", "login",
                                                     "other"};

int fleet_init(struct fleet *fleet, struct host_list *list, vitals_error *error)
{
    *fleet = (struct fleet){.hosts = memory_array(list->count + 1, sizeof *fleet->hosts)};
    if (fleet->hosts == NULL) {
        *error = (vitals_error){.code = VITALS_EMEMORY, .message = "out of memory"};
        return VITALS_EMEMORY;
    }
    for (size_t i = 0; i < list->count; i++)
        fleet->hosts[i].place = list->items[i];
    fleet->count = list->count;
    list->count = 0;
    host_list_done(list);
    return vitals_builder_new(&fleet->builder, error);
}

void fleet_done(struct fleet *fleet)
{
    (void)fleet_hold(fleet, false);
    for (size_t i = 0; i < fleet->count; i++) {
        struct fleet_host *host = &fleet->hosts[i];
        vitals_snapshot_unref(host->newest);
        idle_gpus_done(&host->idle);
        memory_free(host->place.url);
        memory_free(host->place.name);
    }
    memory_free(fleet->hosts);
    vitals_builder_free(fleet->builder);
    *fleet = (struct fleet){.hosts = NULL};
}

static void fail(struct fleet_host *host, enum fleet_state state, uint64_t now_ns, const char *why)
{
    if (host->failing_ns == 0)
        host->failing_ns = now_ns;
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
    const char *from = *at;
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (digit > most || number > (most - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (*at == from || *(*at)++ != ' ')
        return false;
    *out = number;
    return true;
}

static void take_snapshot(struct fleet *fleet, size_t place, vitals_text json, uint64_t now_ns)
{
    struct fleet_host *host = &(fleet->later != NULL ? fleet->later : fleet->hosts)[place];
    const struct feed_place source = {.path = host->place.name};
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    if (feed_json_read(&source, json.bytes, json.size, fleet->builder, &snapshot, &error) < 0) {
        fail(host, FLEET_OTHER, now_ns, error.message);
        return;
    }
    vitals_snapshot_unref(host->newest);
    host->newest = snapshot;
    host->state = FLEET_ANSWERS;
    host->why[0] = '\0';
    host->answered_ns = now_ns;
    host->failing_ns = 0;
    idle_gpus_update(&fleet->hosts[place].idle, snapshot);
}

/* Returns the rest of a line behind a word and a blank, or NULL if it begins otherwise. */
static const char *behind(const char *rest, const char *word)
{
    size_t size = strlen(word);
    return strncmp(rest, word, size) == 0 && rest[size] == ' ' ? rest + size + 1 : NULL;
}

bool fleet_take(struct fleet *fleet, const char *line, size_t size, uint64_t now_ns)
{
    const char *at = line, *rest;
    uint64_t place, came_ns;
    if (fleet->count == 0 || !take_number(&at, fleet->count - 1, &place) ||
        !take_number(&at, UINT64_MAX, &came_ns))
        return false;
    struct fleet_host *host = &(fleet->later != NULL ? fleet->later : fleet->hosts)[place];
    bool first = host->state == FLEET_WAITING;
    now_ns = came_ns < now_ns ? came_ns : now_ns;
    if ((rest = behind(at, "answer")) != NULL)
        take_snapshot(fleet, place, (vitals_text){rest, size - (size_t)(rest - line)}, now_ns);
    else if ((rest = behind(at, "silent")) != NULL)
        fail(host, FLEET_SILENT, now_ns, rest);
    else if ((rest = behind(at, "login")) != NULL)
        fail(host, FLEET_NO_LOGIN, now_ns,
             strcmp(rest, "401") == 0 ? "a login is missing or wrong"
                                      : "the login is not permitted");
    else if ((rest = behind(at, "other")) != NULL) {
        char why[FLEET_WHY];
        (void)snprintf(why, sizeof why,
                       strcmp(rest, "503") == 0 ? "it has no sample yet (%.20s)"
                                                : "it is no vitals serve (%.20s)",
                       rest);
        fail(host, FLEET_OTHER, now_ns, why);
    } else if ((rest = behind(at, "failed")) != NULL)
        fail(host, FLEET_OTHER, now_ns, rest);
    else
        return false;
    fleet->heard += first;
    return true;
}

void fleet_forget(struct fleet *fleet, uint64_t now_ns, uint64_t after_ns)
{
    for (size_t i = 0; i < fleet->count; i++) {
        struct fleet_host *host = &fleet->hosts[i];
        if (fleet->later != NULL || host->newest == NULL || host->answered_ns + after_ns >= now_ns)
            continue;
        vitals_snapshot_unref(host->newest);
        host->newest = NULL;
    }
}
