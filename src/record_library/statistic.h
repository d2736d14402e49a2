/* statistic.h: a statistic by its public name. Pure. */
#pragma once

#include <vitals/record/phases.h>

#include "report/statistics.h"

double statistic_of(const struct statistics *statistics, vitals_statistic which);
