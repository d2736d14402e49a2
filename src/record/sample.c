/* sample.c: see sample.h. */
#include "record/sample.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const vitals_usage_value *sample_find(const struct sample *sample, const char *measure,
                                      vitals_scope scope)
{
    vitals_measure wanted = vitals_measure_find(measure);
    for (size_t i = 0; i < sample->count && wanted != 0; i++) {
        const vitals_usage_value *value = &sample->values[i];
        if (value->measure == wanted && value->scope == scope)
            return value;
    }
    return NULL;
}

bool usage_value_is_fresh(const vitals_usage_value *value)
{
    return value->state != VITALS_STALE;
}

void column_name(const char *subject, const char *name, char out[static COLUMN_WORDS])
{
    (void)snprintf(out, COLUMN_WORDS, "%s%s%s", subject, subject[0] != '\0' ? "." : "", name);
}

int record_fail(int code, const char *path, vitals_error *error, const char *format, ...)
{
    enum { WHAT = 150, PATH_SHOWN = 100 };
    char raw[WHAT], what[WHAT], place[PATH_SHOWN];
    size_t size = strlen(path);
    const char *end = size >= PATH_SHOWN ? path + size - PATH_SHOWN + 1 : path;
    va_list arguments;
    if (error == NULL)
        return code;
    va_start(arguments, format);
    (void)vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    (void)vitals_text_format((vitals_text){raw, strlen(raw)}, VITALS_TEXT_ASCII, what, sizeof what);
    (void)vitals_text_format((vitals_text){end, strlen(end)}, VITALS_TEXT_ASCII, place,
                             sizeof place);
    error->code = (vitals_code)code;
    error->detail = 0;
    (void)snprintf(error->message, sizeof error->message, "%s: %s", place, what);
    return code;
}

int record_fail_errno(int number, const char *path, vitals_error *error)
{
    int code = number == ENOENT || number == ENOTDIR ? VITALS_EGONE
               : number == EACCES || number == EPERM ? VITALS_EDENIED
               : number == ENOMEM                    ? VITALS_EMEMORY
                                                     : VITALS_ESYSTEM;
    (void)record_fail(code, path, error, "%s", strerror(number));
    if (error != NULL)
        error->detail = number;
    return code;
}
