/* phases.c: see <vitals/record/phases.h>. The public types are those of report/phases.h by another
 * name. */
#include <vitals/record/phases.h>

#include <math.h>
#include <vitals/usage.h>

#include "record_library/library.h"
#include "report/phases.h"
#include "util/error.h"
#include "util/memory.h"

struct vitals_phases {
    struct phases phases;
};

double statistic_of(const struct statistics *statistics, vitals_statistic which)
{
    if (which == VITALS_STATISTIC_COUNT)
        return (double)statistics->count;
    if (which == VITALS_STATISTIC_TOTAL)
        return statistics->count > 0 ? statistics->total : 0;
    if (statistics->count > 0 && which == VITALS_STATISTIC_MIN)
        return statistics->min;
    if (statistics->count > 0 && which == VITALS_STATISTIC_MAX)
        return statistics->max;
    if (statistics->count > 0 && which == VITALS_STATISTIC_MEAN)
        return statistics->mean;
    if (statistics->count > 0 && which == VITALS_STATISTIC_DEVIATION)
        return statistics_deviation(statistics);
    return (double)NAN;
}

int vitals_recording_phases(const vitals_recording *recording, vitals_phases **out,
                            vitals_error *error)
{
    vitals_error ours;
    vitals_phases *made = memory_alloc(sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    int code = phases_of((const struct recording *)recording, &made->phases,
                         error != NULL ? error : &ours);
    if (code < 0)
        memory_free(made);
    else
        *out = made;
    return code;
}

void vitals_phases_free(vitals_phases *phases)
{
    if (phases != NULL)
        phases_done(&phases->phases);
    memory_free(phases);
}

const vitals_phase *vitals_phases_next(const vitals_phases *phases, const vitals_phase *previous)
{
    const struct phases *inside = &phases->phases;
    return library_next(inside->items, inside->count, sizeof *inside->items, previous);
}

size_t vitals_phases_left_out(const vitals_phases *phases)
{
    return phases->phases.left_out;
}

const vitals_phase *vitals_phases_whole(const vitals_phases *phases)
{
    return (const vitals_phase *)&phases->phases.whole;
}

const char *vitals_phase_name(const vitals_phase *phase)
{
    const char *name = ((const struct phase *)phase)->name;
    return name != NULL ? name : "";
}

size_t vitals_phase_calls(const vitals_phase *phase)
{
    return ((const struct phase *)phase)->calls;
}

size_t vitals_phase_open_calls(const vitals_phase *phase)
{
    return ((const struct phase *)phase)->open;
}

size_t vitals_phase_samples(const vitals_phase *phase)
{
    return ((const struct phase *)phase)->timepoints;
}

double vitals_phase_first_seconds(const vitals_phase *phase)
{
    return ((const struct phase *)phase)->first;
}

double vitals_phase_seconds(const vitals_phase *phase, vitals_statistic statistic)
{
    return statistic_of(&((const struct phase *)phase)->seconds, statistic);
}

/* ---- measures ---- */

const vitals_phase_measure *vitals_phase_next_measure(const vitals_phase *phase,
                                                      const vitals_phase_measure *previous)
{
    const struct phase *inside = (const struct phase *)phase;
    return library_next(inside->measures, inside->measure_count, sizeof *inside->measures,
                        previous);
}

const vitals_phase_measure *vitals_phase_find_series(const vitals_phase *phase, const char *name,
                                                     const char *subject)
{
    return (const vitals_phase_measure *)phase_measure_of((const struct phase *)phase, name,
                                                          subject);
}

const vitals_phase_measure *vitals_phase_find_measure(const vitals_phase *phase,
                                                      vitals_measure measure, const char *subject)
{
    const char *name = vitals_measure_name(measure);
    return name != NULL ? vitals_phase_find_series(phase, name, subject) : NULL;
}

const vitals_series *vitals_phase_measure_series(const vitals_phase_measure *measure)
{
    return (const vitals_series *)((const struct phase_measure *)measure)->series;
}

double vitals_phase_measure_value(const vitals_phase_measure *measure, vitals_statistic statistic)
{
    return statistic_of(&((const struct phase_measure *)measure)->values, statistic);
}

double vitals_phase_measure_growth(const vitals_phase_measure *measure)
{
    return ((const struct phase_measure *)measure)->growth;
}
