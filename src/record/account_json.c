/* account_json.c: see account_json.h. jansson reads the JSON itself. */
#include "record/account_json.h"

#include <math.h>
#include <string.h>

#include "feed/built_without.h"
#include "record/error.h"
#include "record/recording_data.h"
#include <vitals/sys/account.h>

#if VITALS_WITH_JANSSON
#include <jansson.h>

struct account_json_reader {
    const char *path;
    vitals_account *account;
    vitals_error *error;
};

static int wrong(const struct account_json_reader *reader, const char *what)
{
    return record_fail(VITALS_EFORMAT, reader->path, reader->error, "its account is wrong: %s",
                       what);
}

/* Returns "" if the member is no text. A text that holds a NUL ends there. */
static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text != NULL ? text : "";
}

static int read_figure(const struct account_json_reader *reader, const json_t *figure)
{
    const json_t *value = json_object_get(figure, "value");
    const vitals_figure_form form = {
        .name = text_of(figure, "name"),
        .unit = text_of(figure, "unit"),
        .subject = text_of(figure, "subject"),
        .label = text_of(figure, "label"),
        .source = text_of(figure, "source"),
        .state = vitals_availability_from_name(text_of(figure, "availability")),
        .value = json_number_value(value),
    };
    vitals_error error;
    if (!json_is_object(figure) || form.name[0] == '\0')
        return wrong(reader, "a figure has no name");
    if (form.state == VITALS_UNSET)
        return wrong(reader, "a figure has no availability that we know");
    if (form.state > 0 && (!json_is_number(value) || !isfinite(form.value)))
        return wrong(reader, "a figure that is there has no number");
    if (form.state > 0 && !recording_is_possible(form.unit, form.value))
        return wrong(reader, "a figure is less than nothing, or more than any machine has");
    if (vitals_account_add(reader->account, &form, &error) < 0)
        return record_fail(error.code, reader->path, reader->error, "%s", error.message);
    return 0;
}

static int read_attributes(const struct account_json_reader *reader, json_t *attributes)
{
    const char *name;
    json_t *value;
    int code = 0;
    json_object_foreach(attributes, name, value)
    {
        vitals_text text = {json_string_value(value), json_string_length(value)};
        vitals_error error;
        if (text.bytes == NULL)
            return wrong(reader, "an attribute is no text");
        code = vitals_account_set(reader->account, name, text, &error);
        if (code == VITALS_EMEMORY)
            return record_fail(code, reader->path, reader->error, "%s", error.message);
    }
    return 0;
}

static int read_all(const struct account_json_reader *reader, const json_t *root)
{
    json_t *attributes = json_object_get(root, "attributes");
    const json_t *figures = json_object_get(root, "figures");
    double exit_code = json_number_value(json_object_get(root, "exit_code"));
    double signal = json_number_value(json_object_get(root, "signal"));
    const char *failure = text_of(root, "failure");
    int code = 0;
    if (json_number_value(json_object_get(root, "schema")) > VITALS_SCHEMA)
        return record_fail(VITALS_EUNSUPPORTED, reader->path, reader->error,
                           "was written by a newer vitals, in a form that this one does not know");
    if (!json_is_array(figures))
        return wrong(reader, "it has no figures");
    if (json_is_object(attributes))
        code = read_attributes(reader, attributes);
    bool ended = vitals_account_attribute(reader->account, "exit").size > 0;
    if (code == 0 && ended && exit_code >= 0 && exit_code <= 255 && signal >= 0 && signal <= 128)
        vitals_account_ended(reader->account, (int)exit_code, (int)signal);
    if (code == 0 && failure[0] != '\0')
        code = vitals_account_set(reader->account, "failure",
                                  (vitals_text){failure, strlen(failure)}, reader->error);
    for (size_t i = 0; i < json_array_size(figures) && code == 0; i++)
        code = read_figure(reader, json_array_get(figures, i));
    return code;
}

int account_json_read(const char *path, const char *bytes, size_t size, vitals_account **out,
                      vitals_error *error)
{
    json_error_t where;
    json_t *root = json_loadb(bytes, size, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &where);
    if (root == NULL)
        return record_fail(VITALS_EFORMAT, path, error, "line %d: %.80s", where.line, where.text);
    struct account_json_reader reader = {.path = path, .error = error};
    int code = vitals_account_new(&reader.account, error);
    if (code == 0)
        code = read_all(&reader, root);
    json_decref(root);
    if (code < 0) {
        vitals_account_free(reader.account);
        return code;
    }
    *out = reader.account;
    return 0;
}

#else

int account_json_read(const char *path, const char *bytes, size_t size, vitals_account **out,
                      vitals_error *error)
{
    (void)bytes;
    (void)size;
    (void)out;
    return record_fail(VITALS_EUNSUPPORTED, path, error, BUILT_WITHOUT_JSON);
}

#endif
