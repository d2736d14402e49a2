/* comparison.c: see <vitals/record/comparison.h>. Sessions are kept as they were added, and laid
 * out for report/compare.h when they are compared. */
#include <vitals/record/comparison.h>

#include <string.h>

#include "record_library/library.h"
#include "report/compare.h"
#include "util/error.h"
#include "util/memory.h"

/* A session that was added. */
struct added {
    char *name;
    const struct recording **runs;
    size_t count, capacity;
};

struct vitals_comparison {
    struct added *added;
    size_t count, capacity;

    struct session *sessions; /* NULL: not computed */
    struct phases *phases;    /* of all runs */
    size_t phase_count;
    struct comparison computed;
};

int vitals_comparison_new(vitals_comparison **out, vitals_error *error)
{
    vitals_comparison *made = memory_alloc(sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    *out = made;
    return 0;
}

static void forget(vitals_comparison *comparison)
{
    if (comparison->sessions != NULL)
        comparison_done(&comparison->computed);
    for (size_t i = 0; i < comparison->phase_count; i++)
        phases_done(&comparison->phases[i]);
    memory_free(comparison->sessions);
    memory_free(comparison->phases);
    comparison->sessions = NULL;
    comparison->phases = NULL;
    comparison->phase_count = 0;
    comparison->computed = (struct comparison){0};
}

void vitals_comparison_free(vitals_comparison *comparison)
{
    if (comparison == NULL)
        return;
    forget(comparison);
    for (size_t i = 0; i < comparison->count; i++) {
        memory_free(comparison->added[i].name);
        memory_free(comparison->added[i].runs);
    }
    memory_free(comparison->added);
    memory_free(comparison);
}

static struct added *session_of(vitals_comparison *comparison, const char *name)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (strcmp(comparison->added[i].name, name) == 0)
            return &comparison->added[i];
    char *copy = memory_string(name);
    if (copy == NULL ||
        MEMORY_GROW(comparison->added, comparison->capacity, comparison->count) < 0) {
        memory_free(copy);
        return NULL;
    }
    comparison->added[comparison->count] = (struct added){.name = copy};
    return &comparison->added[comparison->count++];
}

int vitals_comparison_add(vitals_comparison *comparison, const char *session,
                          const vitals_recording *recording, vitals_error *error)
{
    forget(comparison);
    size_t before = comparison->count;
    struct added *added = session_of(comparison, session);
    if (added == NULL)
        return error_no_memory(error);
    if (MEMORY_GROW(added->runs, added->capacity, added->count) < 0) {
        if (comparison->count > before)
            memory_free(comparison->added[--comparison->count].name);
        return error_no_memory(error);
    }
    added->runs[added->count++] = (const struct recording *)recording;
    return 0;
}

int vitals_comparison_compute(vitals_comparison *comparison, vitals_error *error)
{
    vitals_error ours;
    size_t runs = 0;
    int code = 0;
    error = error != NULL ? error : &ours;
    forget(comparison);
    if (comparison->count < 2)
        return error_set(error, VITALS_EARGUMENT, 0, "at least two sessions are needed, not %zu",
                         comparison->count);
    for (size_t i = 0; i < comparison->count; i++)
        runs += comparison->added[i].count;
    struct session *sessions = memory_array(comparison->count, sizeof *sessions);
    comparison->phases = memory_array(runs, sizeof *comparison->phases);
    if (sessions == NULL || comparison->phases == NULL)
        code = error_no_memory(error);

    locale_t locale = library_enter();
    for (size_t i = 0; i < comparison->count && code == 0; i++) {
        const struct added *added = &comparison->added[i];
        sessions[i] = (struct session){.name = added->name,
                                       .runs = added->runs,
                                       .phases = comparison->phases + comparison->phase_count,
                                       .count = added->count};
        for (size_t k = 0; k < added->count && code == 0; k++) {
            code = phases_of(added->runs[k], &comparison->phases[comparison->phase_count], error);
            comparison->phase_count += code == 0;
        }
    }
    if (code == 0) {
        code = compare_sessions(sessions, comparison->count, &comparison->computed, error);
        if (code == 0)
            comparison->sessions = sessions;
    }
    library_leave(locale);
    if (code < 0) {
        memory_free(sessions);
        forget(comparison);
    }
    return code;
}

size_t vitals_comparison_session_count(const vitals_comparison *comparison)
{
    return comparison->count;
}

const char *vitals_comparison_session(const vitals_comparison *comparison, size_t session)
{
    return session < comparison->count ? comparison->added[session].name : NULL;
}

/* ---- items ---- */

static const struct compared *inside(const vitals_compared *item)
{
    return (const struct compared *)item;
}

const vitals_compared *vitals_comparison_next(const vitals_comparison *comparison,
                                              const vitals_compared *previous)
{
    const struct comparison *computed = &comparison->computed;
    return library_next(computed->items, computed->count, sizeof *computed->items, previous);
}

const char *vitals_compared_phase(const vitals_compared *item)
{
    return inside(item)->phase;
}

const char *vitals_compared_name(const vitals_compared *item)
{
    return inside(item)->name;
}

const char *vitals_compared_subject(const vitals_compared *item)
{
    return inside(item)->subject;
}

const char *vitals_compared_label(const vitals_compared *item)
{
    return inside(item)->label;
}

const char *vitals_compared_unit(const vitals_compared *item)
{
    return inside(item)->unit;
}

double vitals_compared_value(const vitals_compared *item, size_t session,
                             vitals_statistic statistic)
{
    return statistic_of(&inside(item)->sessions[session].values, statistic);
}

vitals_availability vitals_compared_state(const vitals_compared *item, size_t session)
{
    return inside(item)->sessions[session].state;
}

vitals_verdict vitals_compared_verdict(const vitals_compared *item, size_t session)
{
    return inside(item)->sessions[session].verdict.kind;
}

double vitals_compared_change(const vitals_compared *item, size_t session)
{
    return inside(item)->sessions[session].verdict.change;
}

double vitals_compared_probability(const vitals_compared *item, size_t session)
{
    return inside(item)->sessions[session].verdict.probability;
}

int vitals_comparison_report(const vitals_comparison *comparison, vitals_report_form form,
                             const vitals_report_options *given, vitals_write_fn *write, void *data,
                             vitals_error *error)
{
    struct library_writer writer = {.write = write, .data = data};
    vitals_report_options options;
    struct account_view view;
    int code = view_take(given, &options, &view, error), result;
    if (code < 0)
        return code;
    if (comparison->sessions == NULL)
        return error_set(error, VITALS_EARGUMENT, 0, "compare first");
    if (form != VITALS_REPORT_TEXT && form != VITALS_REPORT_JSON &&
        form != VITALS_REPORT_GPU_TRACKER)
        return error_set(error, VITALS_EARGUMENT, 0, "a comparison has no form %d", (int)form);
    if (!comparison_knows(options.statistic))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "\"%s\" is not a statistic; there are mean, min, max and std",
                         options.statistic);
    writer.locale = library_enter();
    if (form == VITALS_REPORT_TEXT)
        result = comparison_text(&comparison->computed, &view, library_write, &writer);
    else if (form == VITALS_REPORT_JSON)
        result = comparison_json(&comparison->computed, library_write, &writer);
    else
        result = comparison_gpu_tracker(&comparison->computed, &view, options.statistic,
                                        library_write, &writer);
    return library_written(&writer, result, error);
}
