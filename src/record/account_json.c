/* account_json.c: see recording_data.h. jansson reads the JSON itself. */

#include <math.h>
#include <string.h>

#include "feed/built_without.h"
#include "record/error.h"
#include "record/recording_data.h"
#include <vitals/sys/account.h>

#if VITALS_WITH_JANSSON
#include <jansson.h>

static int wrong(const char *path, vitals_error *error, const char *what)
{
    return record_fail(VITALS_EFORMAT, path, error, "its account is wrong: %s", what);
}

/* Returns "" if the member is no text. A text that holds a NUL ends there. */
static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text != NULL ? text : "";
}

static int read_figure(const char *path, const json_t *figure, vitals_account *account,
                       vitals_error *error)
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
    vitals_error reason;
    if (!json_is_object(figure) || form.name[0] == '\0')
        return wrong(path, error, "a figure has no name");
    if (form.state == VITALS_UNSET)
        return wrong(path, error, "a figure has no availability that we know");
    if (form.state > 0 && (!json_is_number(value) || !isfinite(form.value)))
        return wrong(path, error, "a figure that is there has no number");
    if (form.state > 0 && !recording_is_possible(form.unit, form.value))
        return wrong(path, error, "a figure is less than nothing, or more than any machine has");
    if (vitals_account_add(account, &form, &reason) < 0)
        return record_fail(reason.code, path, error, "%s", reason.message);
    return 0;
}

int account_json_read(const char *path, const char *bytes, size_t size, vitals_account **out,
                      vitals_error *error)
{
    json_error_t where;
    vitals_error reason;
    vitals_account *account = NULL;
    const char *name;
    json_t *attribute,
        *root = json_loadb(bytes, size, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &where);
    if (root == NULL)
        return record_fail(VITALS_EFORMAT, path, error, "line %d: %.80s", where.line, where.text);
    const json_t *figures = json_object_get(root, "figures");
    const char *failure = text_of(root, "failure");
    double exit_code = json_number_value(json_object_get(root, "exit_code"));
    double signal = json_number_value(json_object_get(root, "signal"));
    int code = vitals_account_new(&account, error);
    if (code == 0 && json_number_value(json_object_get(root, "schema")) > VITALS_SCHEMA)
        code = record_fail(VITALS_EUNSUPPORTED, path, error,
                           "was written by a newer vitals, in a form that this one does not know");
    else if (code == 0 && !json_is_array(figures))
        code = wrong(path, error, "it has no figures");

    json_object_foreach(json_object_get(root, "attributes"), name, attribute)
    {
        vitals_text text = {json_string_value(attribute), json_string_length(attribute)};
        if (code == 0 && text.bytes == NULL)
            code = wrong(path, error, "an attribute is no text");
        else if (code == 0 && vitals_account_set(account, name, text, &reason) == VITALS_EMEMORY)
            code = record_fail(VITALS_EMEMORY, path, error, "%s", reason.message);
    }
    bool ended = code == 0 && vitals_account_attribute(account, "exit").size > 0;
    if (ended && exit_code >= 0 && exit_code <= 255 && signal >= 0 && signal <= 128)
        vitals_account_ended(account, (int)exit_code, (int)signal);
    if (code == 0 && failure[0] != '\0')
        code = vitals_account_set(account, "failure", (vitals_text){failure, strlen(failure)},
                                  error);
    for (size_t i = 0; i < json_array_size(figures) && code == 0; i++)
        code = read_figure(path, json_array_get(figures, i), account, error);

    json_decref(root);
    if (code == 0)
        *out = account;
    else
        vitals_account_free(account);
    return code;
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
