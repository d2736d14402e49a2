/* names.c: see names.h. pci.ids has a line "1002  Vendor" for each vendor and below it lines that
 * begin with a tab: "\t73df  Device"; two tabs begin a line of a board. amdgpu.ids has lines
 * "73DF,\tC1,\tName". "#" begins a comment in both. */
#include "gpu/names.h"

#include "util/number.h"

#include <stdio.h>
#include <string.h>

static void copy_rest(struct cursor *cursor, char out[static NAMES_TEXT])
{
    cursor_blanks(cursor);
    size_t size = (size_t)(cursor->end - cursor->at);
    while (size > 0 && (unsigned char)cursor->at[size - 1] <= ' ')
        size--;
    size = size_min(size, NAMES_TEXT - 1);
    memcpy(out, cursor->at, size);
    out[size] = '\0';
}

/* Four digits and a blank behind them. */
static bool id_here(struct cursor *cursor, uint64_t *id)
{
    const char *from = cursor->at;
    return number_hex(&cursor->at, cursor->end, id) && cursor->at - from == 4 &&
           !cursor_done(cursor) && *cursor->at == ' ';
}

void names_pci_line(struct span line, void *data)
{
    struct names_pci_search *search = data;
    struct cursor cursor = cursor_over(line.bytes, line.size);
    uint64_t id;
    if (search->found || cursor_done(&cursor) || *cursor.at == '#')
        return;
    if (!cursor_literal(&cursor, "\t")) {
        search->in_vendor = id_here(&cursor, &id) && id == search->vendor;
        if (search->in_vendor)
            copy_rest(&cursor, search->out->vendor);
        return;
    }
    if (!search->in_vendor || !id_here(&cursor, &id) || id != search->device)
        return;
    copy_rest(&cursor, search->out->device);
    search->found = search->out->device[0] != '\0';
}

bool names_find_pci(const struct os *os, uint64_t vendor, uint64_t device, struct names_pci *out)
{
    static const char *const FILES[] = {"hwdata/pci.ids", "misc/pci.ids"};
    for (size_t i = 0; i < ARRAY_COUNT(FILES); i++) {
        *out = (struct names_pci){0};
        struct names_pci_search search = {.vendor = vendor, .device = device, .out = out};
        (void)os_share_lines(os, FILES[i], names_pci_line, &search);
        if (search.found)
            return true;
    }
    return false;
}

void names_device(const struct os *os, uint64_t vendor, uint64_t device, const char *fallback,
                  char out[static GPU_NAME])
{
    struct names_pci names;
    if (names_find_pci(os, vendor, device, &names))
        snprintf(out, GPU_NAME, "%.*s", GPU_NAME - 1, names.device);
    else
        snprintf(out, GPU_NAME, "%s [%04x:%04x]", fallback, (unsigned)(vendor & 0xffff),
                 (unsigned)(device & 0xffff));
}

/* Hexadecimal, with a comma behind it. */
static bool number_and_comma(struct cursor *cursor, uint64_t *out)
{
    cursor_blanks(cursor);
    return number_hex(&cursor->at, cursor->end, out) && cursor_literal(cursor, ",");
}

void names_amdgpu_line(struct span line, void *data)
{
    struct names_amdgpu_search *search = data;
    struct cursor cursor = cursor_over(line.bytes, line.size);
    uint64_t device, revision;
    if (search->found || !number_and_comma(&cursor, &device) ||
        !number_and_comma(&cursor, &revision))
        return;
    if (device != search->device || revision != search->revision)
        return;
    copy_rest(&cursor, search->out);
    search->found = search->out[0] != '\0';
}

bool names_find_amdgpu(const struct os *os, uint64_t device, uint64_t revision,
                       char out[static NAMES_TEXT])
{
    struct names_amdgpu_search search = {.device = device, .revision = revision, .out = out};
    out[0] = '\0';
    (void)os_share_lines(os, "libdrm/amdgpu.ids", names_amdgpu_line, &search);
    return search.found;
}
