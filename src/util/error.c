/* error.c: codes, and messages that are safe to print. */
#include "util/error.h"

#include "util/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <vitals/text.h>

_Static_assert(sizeof((vitals_error *)0)->message == VITALS_ERROR_MESSAGE, "as the header says");

static const struct {
    int number;
    vitals_code code;
} CODES[] = {
    {EACCES, VITALS_EDENIED}, {EPERM, VITALS_EDENIED},  {ENOENT, VITALS_EGONE},
    {ESRCH, VITALS_EGONE},    {ENOMEM, VITALS_EMEMORY},
};

enum { REASON_MAX = 96 };

/* The reason matters more than the end of a long path: that is cut, and says so. */

__attribute__((format(printf, 3, 0))) static void fill(vitals_error *error, const char *reason,
                                                       const char *format, va_list arguments)
{
    /* A text that is cut here would be cut below too, since escaping never makes it shorter. */
    char what[VITALS_ERROR_MESSAGE + 4];
    if (vsnprintf(what, sizeof what, format, arguments) < 0)
        what[0] = '\0';
    char tail[REASON_MAX + 3] = "";
    if (reason != NULL)
        snprintf(tail, sizeof tail, ": %s", reason);
    size_t room = sizeof error->message - strlen(tail);
    vitals_text text = {what, strlen(what)};
    const char *ellipsis = "";
    if (vitals_text_format(text, VITALS_TEXT_TERMINAL, error->message, room) >= room) {
        ellipsis = "\xE2\x80\xA6";
        vitals_text_format(text, VITALS_TEXT_TERMINAL, error->message, room - strlen(ellipsis));
    }
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, "%s%s", ellipsis, tail);
}

int error_set(vitals_error *error, vitals_code code, int detail, const char *format, ...)
{
    if (error == NULL)
        return code;
    va_list arguments;
    va_start(arguments, format);
    error->code = code;
    error->detail = detail;
    fill(error, NULL, format, arguments);
    va_end(arguments);
    return code;
}

int error_no_memory(vitals_error *error)
{
    return error_set(error, VITALS_EMEMORY, 0, "out of memory");
}

int error_forked(vitals_error *error, const char *what)
{
    return error_set(error, VITALS_EARGUMENT, 0,
                     "the %s was created before fork(); this process can only free it", what);
}

int error_system(vitals_error *error, int number, const char *format, ...)
{
    vitals_code code = VITALS_ESYSTEM;
    for (size_t i = 0; i < ARRAY_COUNT(CODES); i++)
        if (CODES[i].number == number)
            code = CODES[i].code;
    if (error == NULL)
        return code;

    /* glibc returns the text and others fill the buffer: strerror_r has two faces. */
    char buffer[128];
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    const char *reason = strerror_r(number, buffer, sizeof buffer);
#else
    const char *reason = buffer;
    if (strerror_r(number, buffer, sizeof buffer) != 0)
        snprintf(buffer, sizeof buffer, "error %d", number);
#endif
    va_list arguments;
    va_start(arguments, format);
    error->code = code;
    error->detail = number;
    fill(error, reason, format, arguments);
    va_end(arguments);
    return code;
}
