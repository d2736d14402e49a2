/* device_list.c: see device_list.h. */
#include "command/devices/device_list.h"

#include <stdlib.h>

static void add_key(struct device_list *list, uint64_t key)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->keys[i] == key)
            return;
    }
    list->keys[list->count++] = key;
}

int device_list(const vitals_snapshot *snapshot, const struct settings_words *words,
                struct device_list *out)
{
    size_t most = words->count + vitals_snapshot_count(snapshot, VITALS_GPU) + 1;
    int code = EXIT_DONE;
    *out = (struct device_list){.keys = calloc(most, sizeof *out->keys), .all = words->count == 0};
    if (out->keys == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");
    for (const vitals_row *row = NULL;
         out->all && (row = vitals_snapshot_next(snapshot, VITALS_GPU, row)) != NULL;)
        out->keys[out->count++] = vitals_row_key(row);
    for (size_t i = 0; i < words->count; i++) {
        const vitals_row *row;
        vitals_error error;
        if (vitals_gpu_find(snapshot, words->items[i], &row, &error) == 0)
            add_key(out, vitals_row_key(row));
        else
            code = command_fail(EXIT_CANNOT, "%s", error.message);
    }
    return code;
}

void device_list_done(struct device_list *list)
{
    free(list->keys);
    *list = (struct device_list){0};
}

static bool has_key(const struct device_list *list, uint64_t key)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->keys[i] == key)
            return true;
    }
    return false;
}

static bool has_device(const struct device_list *list, const vitals_row *device)
{
    return has_key(list, vitals_row_key(device)) || has_key(list, vitals_row_parent(device));
}

bool device_list_has(const struct device_list *list, const vitals_row *row)
{
    if (list->all)
        return true;
    if (vitals_row_entity(row) == VITALS_GPU)
        return has_device(list, row);
    const vitals_row *device = vitals_snapshot_find(vitals_row_snapshot(row), VITALS_GPU,
                                                    vitals_row_parent(row));
    return device != NULL && has_device(list, device);
}

struct device_form device_form_of(const struct settings *settings)
{
    return (struct device_form){.ascii = settings->look.ascii, .bytes = settings->table.bytes};
}
