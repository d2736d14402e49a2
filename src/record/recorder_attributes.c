/* recorder_attributes.c: the attributes of a recorder. Each part of a recording gets all of
 * them. */
#include "record/format.h"
#include <vitals/sys/account.h>

#include <stdlib.h>
#include <string.h>

const char *recorder_attribute_text(const struct recorder *recorder, const char *name)
{
    for (size_t i = 0; i < recorder->attribute_count; i++)
        if (strcmp(recorder->attributes[i].name, name) == 0)
            return recorder->attributes[i].text;
    return "";
}

static struct attribute *attribute_place(struct recorder *recorder, const char *name)
{
    for (size_t i = 0; i < recorder->attribute_count; i++)
        if (strcmp(recorder->attributes[i].name, name) == 0)
            return &recorder->attributes[i];
    if (recorder->attribute_count == ATTRIBUTES_MAX)
        return NULL;
    struct attribute *place = &recorder->attributes[recorder->attribute_count];
    place->name = strdup(name);
    if (place->name == NULL)
        return NULL;
    recorder->attribute_count++;
    return place;
}

int recorder_attribute(struct recorder *recorder, const char *name, vitals_text text,
                       vitals_error *error)
{
    enum { TEXT_MAX = 64 * 1024 };
    size_t size = text.size < TEXT_MAX ? text.size : TEXT_MAX;
    char *copy = malloc(size + 1);
    struct attribute *place = copy != NULL ? attribute_place(recorder, name) : NULL;
    if (place == NULL) {
        free(copy);
        return record_fail(VITALS_EMEMORY, recorder->path != NULL ? recorder->path : "recording",
                           error, "out of memory");
    }
    for (size_t i = 0; i < size; i++)
        copy[i] = text.bytes[i] != '\0' ? text.bytes[i] : ' ';
    copy[size] = '\0';
    free(place->text);
    place->text = copy;
    if (recorder->format->attribute == NULL || !recorder->open)
        return 0;
    return recorder->format->attribute(recorder, place->name, copy, error);
}

int recorder_describe(const struct recorder *recorder, vitals_account *account, vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < recorder->attribute_count && code == 0; i++) {
        const struct attribute *attribute = &recorder->attributes[i];
        if (vitals_account_attribute(account, attribute->name).size == 0)
            code = vitals_account_set(account, attribute->name,
                                      (vitals_text){attribute->text, strlen(attribute->text)},
                                      error);
    }
    return code;
}
