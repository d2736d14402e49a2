/* availability.c: the words of the closed list. */
#include <vitals/availability.h>

#include "util/base.h"

#include <string.h>

#define AT(availability) [(availability)-VITALS_AVAILABILITY_MIN]

static const struct {
    const char *name;
    const char *help;
} WORDS[] = {
    AT(VITALS_HAVE) = {"have", "as the source gives it"},
    AT(VITALS_STALE) = {"stale", "an older value; the source did not answer in time"},
    AT(VITALS_ESTIMATE) = {"estimate", "an estimate"},
    AT(VITALS_LOWER_BOUND) = {"lower_bound", "at least this"},
    AT(VITALS_UPPER_BOUND) = {"upper_bound", "at most this"},
    AT(VITALS_SAMPLED) = {"sampled", "from samples; what happened between them was not seen"},
    AT(VITALS_UNSET) = {"unset", "never written; a defect of vitals"},
    AT(VITALS_NOT_REQUESTED) = {"not_requested", "was not asked for"},
    AT(VITALS_NOT_YET) = {"not_yet", "needs a second reading"},
    AT(VITALS_UNSUPPORTED) =
        {"unsupported", "this device, driver or kernel does not have it, or it does not apply"},
    AT(VITALS_DENIED) = {"denied", "no permission"},
    AT(VITALS_GONE) = {"gone", "the process ended or the device is lost"},
    AT(VITALS_SUSPENDED) = {"suspended", "the device sleeps and was not woken"},
    AT(VITALS_TIMED_OUT) = {"timed_out", "the source did not answer in time"},
    AT(VITALS_FAILED) = {"failed", "the source answered with an error or with nonsense"},
    AT(VITALS_OUTSIDE) = {"outside", "belongs to another pid namespace"},
    AT(VITALS_WRONG_METRIC) = {"wrong_metric", "not a metric of this table or type, or no row"},
};

_Static_assert(ARRAY_COUNT(WORDS) == VITALS_AVAILABILITY_MAX - VITALS_AVAILABILITY_MIN + 1,
               "one row for each availability");

/* A number outside of the list was never written by vitals. */
static size_t index_of(vitals_availability availability)
{
    int value = (int)availability;
    if (value < VITALS_AVAILABILITY_MIN || value > VITALS_AVAILABILITY_MAX)
        value = VITALS_UNSET;
    return (size_t)(value - VITALS_AVAILABILITY_MIN);
}

const char *vitals_availability_name(vitals_availability availability)
{
    return WORDS[index_of(availability)].name;
}

vitals_availability vitals_availability_from_name(const char *name)
{
    for (size_t i = 0; name != NULL && i < ARRAY_COUNT(WORDS); i++)
        if (strcmp(WORDS[i].name, name) == 0)
            return (vitals_availability)((int)i + VITALS_AVAILABILITY_MIN);
    return VITALS_UNSET;
}

const char *vitals_availability_help(vitals_availability availability)
{
    return WORDS[index_of(availability)].help;
}
