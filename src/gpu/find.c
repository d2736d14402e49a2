/* find.c: a device by its label, its address or its UUID. See vitals/gpu.h. */
#include "gpu/find.h"

#include "model/request.h"
#include "util/error.h"
#include "util/number.h"

#include <stdio.h>
#include <string.h>

enum { UUID_LEAST = 4, CANDIDATES = 160 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_bytes(const char *a, const char *b, size_t size, bool exact)
{
    for (size_t i = 0; i < size; i++) {
        if (exact ? a[i] != b[i] : lower(a[i]) != lower(b[i]))
            return false;
    }
    return true;
}

/* ---- addresses ---- */

/* Takes hexadecimal digits up to `end`; a field of an address has at most `most` of them. */
static bool take_hex(struct cursor *cursor, size_t most, char end, uint64_t *out)
{
    struct span digits;
    const char *at;
    if (end == '\0') {
        digits = (struct span){cursor->at, (size_t)(cursor->end - cursor->at)};
        cursor->at = cursor->end;
    } else if (!cursor_until(cursor, end, &digits)) {
        return false;
    }
    at = digits.bytes;
    bool prefixed = digits.size > 1 && lower(digits.bytes[1]) == 'x';
    return digits.size > 0 && digits.size <= most && !prefixed &&
           number_hex(&at, digits.bytes + digits.size, out) && at == digits.bytes + digits.size;
}

bool gpu_parse_address(struct span text, uint64_t *out)
{
    uint64_t domain = 0, bus, device, function;
    struct cursor cursor = cursor_over(text.bytes, text.size);
    size_t colons = 0;
    for (size_t i = 0; i < text.size; i++)
        colons += text.bytes[i] == ':';
    if (colons < 1 || colons > 2 || (colons == 2 && !take_hex(&cursor, 8, ':', &domain)) ||
        !take_hex(&cursor, 2, ':', &bus) || !take_hex(&cursor, 2, '.', &device) ||
        !take_hex(&cursor, 1, '\0', &function) || device > 31 || function > 7)
        return false;
    *out = domain << 16 | bus << 8 | device << 3 | function;
    return true;
}

bool gpu_row_says(const vitals_row *row, vitals_metric metric, const char *text)
{
    vitals_text own;
    return vitals_row_text(row, metric, &own) > 0 &&
           span_equal((struct span){own.bytes, own.size}, text);
}

bool gpu_row_address(const vitals_row *row, uint64_t *out)
{
    vitals_text text;
    return vitals_row_text(row, VITALS_GPU_PCI_BUS_ID, &text) > 0 &&
           gpu_parse_address((struct span){text.bytes, text.size}, out);
}

/* ---- UUIDs ---- */

enum gpu_match gpu_match_uuid(const vitals_snapshot *snapshot, struct span name,
                              struct gpu_match_rule rule, const vitals_row **out)
{
    size_t count = 0;
    if (name.size == 0)
        return GPU_MATCH_NONE;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row));) {
        vitals_text uuid;
        if (vitals_row_text(row, VITALS_GPU_UUID, &uuid) <= 0 || uuid.size < name.size ||
            !same_bytes(uuid.bytes, name.bytes, name.size, rule.exact) ||
            (rule.vendor != NULL && !gpu_row_says(row, VITALS_GPU_VENDOR, rule.vendor)))
            continue;
        if (uuid.size == name.size) {
            *out = row;
            return GPU_MATCH_ONE;
        }
        if (count++ == 0)
            *out = row;
    }
    return count == 0 ? GPU_MATCH_NONE : count == 1 ? GPU_MATCH_ONE : GPU_MATCH_SEVERAL;
}

/* Cuts "/7" off the end of the name. */
static bool take_instance(struct span *name, uint64_t *out)
{
    size_t at = name->size;
    while (at > 0 && name->bytes[at - 1] != '/')
        at--;
    const char *digits = name->bytes + at, *end = name->bytes + name->size;
    if (at == 0 || !number_u64(&digits, end, out) || digits != end)
        return false;
    name->size = at - 1;
    return true;
}

/* Takes "MIG-GPU-UUID/GI/CI" apart; leaves the UUID, or its beginning. */
static bool take_instance_name(struct span *name, bool exact, uint64_t *gi, uint64_t *ci)
{
    if (name->size < 4 || !same_bytes(name->bytes, "MIG-", 4, exact) || !take_instance(name, ci) ||
        !take_instance(name, gi) || name->size < 4 + UUID_LEAST)
        return false;
    *name = (struct span){name->bytes + 4, name->size - 4};
    return true;
}

enum gpu_match gpu_match_instance(const vitals_snapshot *snapshot, struct span name, bool exact,
                                  const vitals_row **out)
{
    uint64_t wanted_gi, wanted_ci, gi, ci;
    const vitals_row *gpu;
    if (!take_instance_name(&name, exact, &wanted_gi, &wanted_ci))
        return GPU_MATCH_NONE;
    enum gpu_match match = gpu_match_uuid(snapshot, name, (struct gpu_match_rule){"nvidia", exact},
                                          &gpu);
    if (match != GPU_MATCH_ONE)
        return match;
    for (const vitals_row *row = NULL;
         (row =
              vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU, vitals_row_key(gpu), row));) {
        if (vitals_row_u64(row, VITALS_GPU_GPU_INSTANCE_ID, &gi) > 0 && gi == wanted_gi &&
            vitals_row_u64(row, VITALS_GPU_COMPUTE_INSTANCE_ID, &ci) > 0 && ci == wanted_ci) {
            *out = row;
            return GPU_MATCH_ONE;
        }
    }
    return GPU_MATCH_NONE;
}

/* ---- any name ---- */

/* True for digits, optionally followed by a colon and digits. */
static bool is_label(struct span name)
{
    size_t colons = 0, digits = 0;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.bytes[i];
        if (c == ':' && digits > 0 && i + 1 < name.size)
            colons++;
        else if (c >= '0' && c <= '9')
            digits++;
        else
            return false;
    }
    return digits > 0 && colons <= 1;
}

/* True if the name may be a UUID of any vendor. */
static bool is_uuid(struct span name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = lower(name.bytes[i]);
        bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || strchr("-_/.:", c) != NULL;
        if (c == '\0' || !fine)
            return false;
    }
    return name.size >= UUID_LEAST;
}

bool gpu_has_name(const char *name, const char *label, const char *address, const char *uuid)
{
    struct span text = {name, strlen(name)};
    uint64_t wanted, own;
    if (is_label(text))
        return strcmp(name, label) == 0;
    if (gpu_parse_address(text, &wanted))
        return gpu_parse_address((struct span){address, strlen(address)}, &own) && own == wanted;
    return strlen(uuid) >= text.size && same_bytes(uuid, name, text.size, false);
}

bool gpu_has_instance_name(const char *name, const char *uuid, struct value gi, struct value ci)
{
    struct span text = {name, strlen(name)};
    uint64_t wanted_gi, wanted_ci;
    return take_instance_name(&text, false, &wanted_gi, &wanted_ci) && strlen(uuid) >= text.size &&
           same_bytes(uuid, text.bytes, text.size, false) && gi.state > 0 &&
           gi.as.u64 == wanted_gi && ci.state > 0 && ci.as.u64 == wanted_ci;
}

static int complain_of_name(const char *name, vitals_error *error)
{
    return error_set(error, VITALS_EARGUMENT, 0,
                     "\"%.64s\" is not a GPU; give a number, UUID or PCI address (vitals device "
                     "lists them)",
                     name);
}

int vitals_request_set_devices(vitals_request *request, const char *const *names, size_t count,
                               vitals_error *error)
{
    uint64_t address;
    for (size_t i = 0; i < count; i++) {
        struct span text = {names[i], strlen(names[i])};
        if (!is_label(text) && !gpu_parse_address(text, &address) && !is_uuid(text))
            return complain_of_name(names[i], error);
    }
    int code = request_choose_devices(request, names, count);
    return code < 0 ? error_set(error, code, 0, "out of memory") : 0;
}

/* Reports "GPU-1111…, GPU-1122…": the devices whose UUID begins with the name. */
static int complain_of_several(const vitals_snapshot *snapshot, struct span name,
                               vitals_error *error)
{
    char list[CANDIDATES] = "";
    size_t used = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row));) {
        vitals_text uuid;
        if (vitals_row_text(row, VITALS_GPU_UUID, &uuid) <= 0 || uuid.size < name.size ||
            !same_bytes(uuid.bytes, name.bytes, name.size, false))
            continue;
        const char *comma = used > 0 ? ", " : "";
        if (used + uuid.size + 8 > sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s…", comma);
            break;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", comma, (int)uuid.size,
                                 uuid.bytes);
    }
    return error_set(error, VITALS_EARGUMENT, 0,
                     "%.*s is the beginning of several UUIDs; give more of it: %s",
                     (int)size_min(name.size, 64), name.bytes, list);
}

int vitals_gpu_find(const vitals_snapshot *snapshot, const char *name, const vitals_row **out,
                    vitals_error *error)
{
    struct span text = {name, strlen(name)}, beginning = text;
    const vitals_row *found = NULL, *row = NULL;
    uint64_t address, own;
    if (is_label(text)) {
        while (!found && (row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row)))
            found = strcmp(vitals_row_label(row), name) == 0 ? row : NULL;
    } else if (gpu_parse_address(text, &address)) {
        /* Returns the device rather than its partitions, which have the same address. */
        while ((row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row))) {
            if (gpu_row_address(row, &own) && own == address &&
                (!found || (vitals_row_parent(found) != 0 && vitals_row_parent(row) == 0)))
                found = row;
        }
    } else if (!is_uuid(text)) {
        return complain_of_name(name, error);
    } else {
        enum gpu_match match = gpu_match_uuid(snapshot, text, (struct gpu_match_rule){0}, &found);
        if (match == GPU_MATCH_NONE) {
            match = gpu_match_instance(snapshot, text, false, &found);
            beginning = (struct span){name + 4, strcspn(name + 4, "/")};
        }
        if (match == GPU_MATCH_SEVERAL)
            return complain_of_several(snapshot, beginning, error);
        if (match == GPU_MATCH_NONE)
            found = NULL;
    }
    if (!found)
        return error_set(error, VITALS_EGONE, 0, "there is no GPU %.64s (vitals device lists them)",
                         name);
    *out = found;
    return 0;
}
