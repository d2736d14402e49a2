/* The closed list: names that outputs hold for ever, and back. */
#include "check.h"

#include <vitals/availability.h>

static void names_are_for_ever(void)
{
    static const struct {
        int number;
        const char *name;
    } rows[] = {
        {6, "sampled"},        {5, "upper_bound"},  {4, "lower_bound"}, {3, "estimate"},
        {2, "stale"},          {1, "have"},         {0, "unset"},       {-1, "not_requested"},
        {-2, "not_yet"},       {-3, "unsupported"}, {-4, "denied"},     {-5, "gone"},
        {-6, "suspended"},     {-7, "timed_out"},   {-8, "failed"},     {-9, "outside"},
        {-10, "wrong_metric"},
    };
    CHECK_UINT(CHECK_COUNT(rows), VITALS_AVAILABILITY_MAX - VITALS_AVAILABILITY_MIN + 1);
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        vitals_availability availability = (vitals_availability)rows[i].number;
        CHECK_STR(vitals_availability_name(availability), rows[i].name);
        CHECK_INT(vitals_availability_from_name(rows[i].name), rows[i].number);
        CHECK(strlen(vitals_availability_help(availability)) > 5);
    }
}

static void what_is_outside_the_list_is_unset(void)
{
    CHECK_STR(vitals_availability_name((vitals_availability)7), "unset");
    CHECK_STR(vitals_availability_name((vitals_availability)-11), "unset");
    CHECK_STR(vitals_availability_help((vitals_availability)100),
              vitals_availability_help(VITALS_UNSET));
    CHECK_INT(vitals_availability_from_name("nonsense"), VITALS_UNSET);
    CHECK_INT(vitals_availability_from_name(""), VITALS_UNSET);
    CHECK_INT(vitals_availability_from_name(NULL), VITALS_UNSET);
}

static const check_test tests[] = {
    {"names are for ever", names_are_for_ever},
    {"what is outside the list is unset", what_is_outside_the_list_is_unset},
};
CHECK_TESTS(tests)
