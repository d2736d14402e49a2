/* account_world.h: accounts that a test fills, and what their figures say. */
#ifndef TESTS_UNIT_ACCOUNT_WORLD_H
#define TESTS_UNIT_ACCOUNT_WORLD_H

#include "check.h"

#include "run/account.h"

#include <math.h>
#include <vitals/vitals.h>

static inline vitals_account *new_account(void)
{
    vitals_error error;
    vitals_account *account = NULL;
    CHECK_OK(vitals_account_new(&account, &error), error);
    return account;
}

static inline double value_of(const vitals_account *account, const char *name, const char *subject,
                              vitals_availability *state)
{
    double value = (double)NAN;
    const vitals_figure *figure = vitals_account_find(account, name, subject);
    CHECK_NOT_NULL(figure);
    *state = vitals_figure_value(figure, &value);
    return value;
}

#endif
