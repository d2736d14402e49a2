/* error.c: see error.h. */
#include "record/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int record_fail(int code, const char *path, vitals_error *error, const char *format, ...)
{
    enum { WHAT = 150, PATH_SHOWN = 100 };
    char raw[WHAT], what[WHAT], place[PATH_SHOWN];
    path = path != NULL ? path : "standard output";
    size_t size = strlen(path);
    const char *end = size >= PATH_SHOWN ? path + size - PATH_SHOWN + 1 : path;
    va_list arguments;
    if (error == NULL)
        return code;
    va_start(arguments, format);
    (void)vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    (void)vitals_text_format(vitals_text_of(raw), VITALS_TEXT_ASCII, what, sizeof what);
    (void)vitals_text_format(vitals_text_of(end), VITALS_TEXT_ASCII, place, sizeof place);
    error->code = (vitals_code)code;
    error->detail = 0;
    (void)snprintf(error->message, sizeof error->message, "%s: %s", place, what);
    return code;
}

int record_no_memory(const char *path, vitals_error *error)
{
    return record_fail(VITALS_EMEMORY, path, error, "out of memory");
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
