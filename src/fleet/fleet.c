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

static void take_snapshot(struct fleet *fleet, struct fleet_host *host, const char *json,
                          size_t size, uint64_t now_ns)
{
    const struct feed_place place = {.path = host->place.name};
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    if (feed_json_read(&place, json, size, fleet->builder, &snapshot, &error) < 0) {
        fail(host, FLEET_OTHER, now_ns, error.message);
        return;
    }
    vitals_snapshot_unref(host->newest);
    host->newest = snapshot;
    host->state = FLEET_ANSWERS;
    host->why[0] = '\0';
    host->answered_ns = now_ns;
    host->failing_ns = 0;
    idle_gpus_update(&host->idle, snapshot);
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
    size_t place = 0;
    while (*at >= '0' && *at <= '9' && place < fleet->count)
        place = place * 10 + (size_t)(*at++ - '0');
    if (at == line || *at != ' ' || place >= fleet->count)
        return false;
    struct fleet_host *host = &fleet->hosts[place];
    bool first = host->state == FLEET_WAITING;
    at++;
    if ((rest = behind(at, "answer")) != NULL)
        take_snapshot(fleet, host, rest, size - (size_t)(rest - line), now_ns);
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
    } else
        return false;
    fleet->heard += first;
    return true;
}

void fleet_forget(struct fleet *fleet, uint64_t now_ns, uint64_t after_ns)
{
    for (size_t i = 0; i < fleet->count; i++) {
        struct fleet_host *host = &fleet->hosts[i];
        if (host->newest == NULL || now_ns - host->answered_ns <= after_ns)
            continue;
        vitals_snapshot_unref(host->newest);
        host->newest = NULL;
    }
}
