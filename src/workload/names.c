/* names.c: see workload.h. */
#include "workload/workload.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 64, ENTRIES_MAX = 16384 };

static const char FOLDER[] = "log/containers";
static const uint64_t MISSED_NS = 10 * NS_PER_SECOND; /* what is not there is looked for so often */

struct workload_name_entry {
    char id[ID_DIGITS];
    size_t at; /* of its name, in `text` */
    uint16_t pod, space, container;
};

struct workload_names {
    bool listed;
    int error; /* of the listing */
    uint64_t changed_ns, listed_ns;
    struct workload_name_entry *entries; /* in the order of ids */
    size_t count, capacity;
    struct buffer text;
};

/* Names of Kubernetes. */
static bool is_name(struct span text)
{
    return text.size <= UINT16_MAX && span_is_of(text, "abcdefghijklmnopqrstuvwxyz0123456789-.");
}

bool workload_name_parse(struct span file, struct workload_name *out, struct span *id)
{
    struct span stem;
    struct workload_name name;
    if (!span_between(file, "", ".log", &stem) || stem.size <= ID_DIGITS + 1)
        return false;
    *id = (struct span){stem.bytes + stem.size - ID_DIGITS, ID_DIGITS};
    struct cursor cursor = cursor_over(stem.bytes, stem.size - ID_DIGITS - 1);
    if (!span_is_hex(*id) || *cursor.end != '-' || !cursor_until(&cursor, '_', &name.pod) ||
        !cursor_until(&cursor, '_', &name.space))
        return false;
    name.container = (struct span){cursor.at, (size_t)(cursor.end - cursor.at)};
    if (!is_name(name.pod) || !is_name(name.space) || !is_name(name.container))
        return false;
    *out = name;
    return true;
}

struct workload_names *workload_names_new(void)
{
    return memory_alloc(sizeof(struct workload_names));
}

void workload_names_free(struct workload_names *names)
{
    if (names == NULL)
        return;
    memory_free(names->entries);
    buffer_done(&names->text);
    memory_free(names);
}

static bool take_file(struct span file, void *data)
{
    struct workload_names *names = data;
    struct workload_name name;
    struct span id;
    if (!workload_name_parse(file, &name, &id))
        return true;
    if (names->count == ENTRIES_MAX)
        return false;
    if (MEMORY_GROW(names->entries, names->capacity, names->count) < 0) {
        names->text.failed = true;
        return false;
    }
    struct workload_name_entry *entry = &names->entries[names->count++];
    *entry = (struct workload_name_entry){.at = names->text.size,
                                          .pod = (uint16_t)name.pod.size,
                                          .space = (uint16_t)name.space.size,
                                          .container = (uint16_t)name.container.size};
    memcpy(entry->id, id.bytes, ID_DIGITS);
    buffer_append(&names->text, name.pod.bytes, name.pod.size);
    buffer_append(&names->text, name.space.bytes, name.space.size);
    buffer_append(&names->text, name.container.bytes, name.container.size);
    return !names->text.failed;
}

static int compare(const void *a, const void *b)
{
    return memcmp(((const struct workload_name_entry *)a)->id,
                  ((const struct workload_name_entry *)b)->id, ID_DIGITS);
}

static void list(struct workload_names *names, const struct os *os)
{
    names->count = 0;
    names->text.failed = false;
    buffer_reset(&names->text);
    names->error = os_var_list(os, FOLDER, take_file, names);
    names->listed = !names->text.failed;
    names->listed_ns = os_now_ns(os);
    if (names->text.failed)
        names->count = 0;
    else if (names->count > 1)
        qsort(names->entries, names->count, sizeof *names->entries, compare);
}

static const struct workload_name_entry *find(const struct workload_names *names, struct span id)
{
    struct workload_name_entry wanted;
    if (id.size != ID_DIGITS || names->count == 0)
        return NULL;
    memcpy(wanted.id, id.bytes, ID_DIGITS);
    return bsearch(&wanted, names->entries, names->count, sizeof *names->entries, compare);
}

vitals_availability workload_names_find(struct workload_names *names, const struct os *os,
                                        struct span id, struct workload_name *out)
{
    uint64_t changed_ns = 0;
    int error = os_var_changed(os, FOLDER, &changed_ns);
    bool changed = !names->listed || changed_ns != names->changed_ns;
    uint64_t now_ns = os_now_ns(os);
    bool due = !names->listed || now_ns - names->listed_ns >= MISSED_NS;
    if (error == 0 && (changed || (names->error < 0 && due))) {
        list(names, os);
        due = !names->listed;
    }
    names->changed_ns = changed_ns;
    error = error < 0 ? error : names->error;
    const struct workload_name_entry *entry = error < 0 ? NULL : find(names, id);
    if (entry == NULL && error == 0 && due) {
        list(names, os); // a change within one tick of the folder's clock is not seen by it
        entry = find(names, id);
    }
    if (error < 0) {
        vitals_availability reason = os_availability(error);
        return reason == VITALS_GONE ? VITALS_UNSUPPORTED : reason;
    }
    if (entry == NULL)
        return names->listed ? VITALS_UNSUPPORTED : VITALS_FAILED;
    const char *at = names->text.bytes + entry->at;
    *out = (struct workload_name){{at, entry->pod},
                                  {at + entry->pod, entry->space},
                                  {at + entry->pod + entry->space, entry->container}};
    return VITALS_HAVE;
}
