/*
 * answer.c - the shapes in which most calls answer: a number, a pair, one of several, a text; and
 * finding a device by what it is called. What more than one row of calls.def needs.
 */
#include "call.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

nvml_return read_field(struct call *call, enum device_field field, uint64_t *out)
{
    return value_read(&call->device->fields[field], call->elapsed_ns, out);
}

nvml_return answer_number(struct call *call, enum device_field field, unsigned *out)
{
    uint64_t number;
    nvml_return result = out ? read_field(call, field, &number) : NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *out = (unsigned)number;
    return result;
}

nvml_return answer_pair(struct call *call, enum device_field first, enum device_field second,
                        unsigned *out_first, unsigned *out_second)
{
    unsigned a, b;
    if (!out_first || !out_second)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = answer_number(call, first, &a);
    if (result == NVML_SUCCESS)
        result = answer_number(call, second, &b);
    if (result == NVML_SUCCESS) {
        *out_first = a;
        *out_second = b;
    }
    return result;
}

nvml_return answer_choice(struct call *call, enum device_field first, unsigned count,
                          unsigned which, unsigned *out)
{
    if (which >= count)
        return NVML_ERROR_INVALID_ARGUMENT;
    return answer_number(call, (enum device_field)((unsigned)first + which), out);
}

nvml_return answer_wide(struct call *call, enum device_field field, uint64_t *out)
{
    return out ? read_field(call, field, out) : NVML_ERROR_INVALID_ARGUMENT;
}

nvml_return answer_text(struct call *call, const struct value *text, char *out, unsigned size)
{
    (void)call;
    if (!out)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (text->kind != VALUE_TEXT)
        return text->kind == VALUE_ERROR ? text->result : NVML_ERROR_NOT_SUPPORTED;
    size_t needed = strlen(text->text) + 1;
    if (needed > size)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(out, text->text, needed);
    return NVML_SUCCESS;
}

nvml_return answer_handle(struct call *call, nvml_return missing, nvml_device *out)
{
    if (!out)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (!call->device)
        return missing;
    *out = handle_of(call->device);
    return NVML_SUCCESS;
}

/* -- finders: key points to the caller's first parameter ------------------------------------------
 */

struct device *find_by_index(const struct scenario *scenario, const void *key)
{
    unsigned index = *(const unsigned *)key;
    return index < GPUS_MAX ? scenario_find(scenario, (int)index, -1) : NULL;
}

static struct device *find_by_text(const struct scenario *scenario, enum device_field field,
                                   const char *text)
{
    for (size_t i = 0; text && i < scenario->device_count; i++) {
        const char *known = scenario->devices[i]->fields[field].text;
        if (known && strcasecmp(known, text) == 0)
            return scenario->devices[i];
    }
    return NULL;
}

struct device *find_by_serial(const struct scenario *scenario, const void *key)
{
    return find_by_text(scenario, FIELD_SERIAL, *(const char *const *)key);
}

struct device *find_by_uuid(const struct scenario *scenario, const void *key)
{
    return find_by_text(scenario, FIELD_UUID, *(const char *const *)key);
}

struct device *find_by_uuid_struct(const struct scenario *scenario, const void *key)
{
    const struct nvml_uuid *uuid = *(const struct nvml_uuid *const *)key;
    char text[sizeof uuid->value.text + 1];
    if (!uuid || uuid->version != NVML_STRUCT_VERSION(struct nvml_uuid, 1) || uuid->type != 1)
        return NULL;
    snprintf(text, sizeof text, "%.*s", (int)sizeof uuid->value.text, uuid->value.text);
    return find_by_text(scenario, FIELD_UUID, text);
}

/* 0000:17:00.0 and 00000000:17:00.0 are the same place. */
struct device *find_by_bus_id(const struct scenario *scenario, const void *key)
{
    const char *text = *(const char *const *)key;
    unsigned wanted[4], known[4];
    if (!text || sscanf(text, "%x:%x:%x.%x", &wanted[0], &wanted[1], &wanted[2], &wanted[3]) != 4)
        return NULL;
    for (size_t i = 0; i < scenario->device_count; i++) {
        const char *bus_id = scenario->devices[i]->fields[FIELD_BUS_ID].text;
        if (bus_id &&
            sscanf(bus_id, "%x:%x:%x.%x", &known[0], &known[1], &known[2], &known[3]) == 4 &&
            memcmp(wanted, known, sizeof known) == 0)
            return scenario->devices[i];
    }
    return NULL;
}
