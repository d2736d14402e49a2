/* code_name.c: the names of error codes. */
#include "util/base.h"
#include <vitals/error.h>

/* Codes begin at -101, so that none equals an availability. */
#define PLACE(code) ((code) == VITALS_OK ? 0 : -100 - (code))

static const char *const NAMES[] = {
    [PLACE(VITALS_OK)] = "ok",
    [PLACE(VITALS_EARGUMENT)] = "argument",
    [PLACE(VITALS_EMEMORY)] = "memory",
    [PLACE(VITALS_ESYSTEM)] = "system",
    [PLACE(VITALS_EGONE)] = "gone",
    [PLACE(VITALS_EDENIED)] = "denied",
    [PLACE(VITALS_EUNSUPPORTED)] = "unsupported",
    [PLACE(VITALS_EFORMAT)] = "format",
    [PLACE(VITALS_ETIMEOUT)] = "timeout",
};

_Static_assert(ARRAY_COUNT(NAMES) == PLACE(VITALS_ETIMEOUT) + 1, "one name for each code");

const char *vitals_code_name(vitals_code code)
{
    int number = (int)code, index = number < -100 || number == 0 ? PLACE(number) : -1;
    return index >= 0 && index < (int)ARRAY_COUNT(NAMES) ? NAMES[index] : "unknown";
}
