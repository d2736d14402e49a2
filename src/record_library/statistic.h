/* statistic.h: a statistic by its public name. Pure. */
#ifndef VITALS_RECORD_LIBRARY_STATISTIC_H
#define VITALS_RECORD_LIBRARY_STATISTIC_H

#include <vitals/record/phases.h>

#include "report/statistics.h"

double statistic_of(const struct statistics *statistics, vitals_statistic which);

#endif
