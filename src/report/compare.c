/* compare.c: see compare.h. The arithmetic; compare_print.c shows it.
 *
 * With two or more runs on both sides a difference is reported if Welch's t-test finds it less
 * probable than 1 in 100 by chance and it is at least 1 % of the first. A single run does not tell
 * how much runs vary, so nothing is reported of it: neither its samples nor the calls of a phase
 * are runs. */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"
#include "util/error.h"
#include "util/memory.h"

/* A run on 64 devices has some 1500 figures. */
enum { COMPARED_MAX = 8192 };

static const double LEAST_CHANGE = 0.01;

/* ---- items ---- */

static struct compared *add_item(struct comparison *comparison)
{
    size_t sessions = comparison->session_count;
    if (MEMORY_GROW(comparison->items, comparison->capacity, comparison->count) < 0)
        return NULL;
    struct compared *item = &comparison->items[comparison->count];
    *item = (struct compared){.sessions = calloc(sessions, sizeof *item->sessions)};
    if (item->sessions == NULL)
        return NULL;
    comparison->count++;
    return item;
}

/* ---- figures ---- */

static bool find_figure(const struct comparison *comparison, const char *name, const char *subject)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (strcmp(comparison->items[i].name, name) == 0 &&
            strcmp(comparison->items[i].subject, subject) == 0)
            return true;
    return false;
}

/* Further rows of a hostile file are left out. */
static int add_figures(struct comparison *comparison, const vitals_account *account)
{
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL &&
         comparison->count < COMPARED_MAX;) {
        const char *name = vitals_figure_name(figure), *subject = vitals_figure_subject(figure);
        if (find_figure(comparison, name, subject))
            continue;
        struct compared *item = add_item(comparison);
        if (item == NULL)
            return -1;
        item->name = name;
        item->subject = subject;
        item->label = vitals_figure_label(figure);
        item->unit = vitals_figure_unit(figure);
        for (size_t i = 0; i < comparison->session_count; i++) {
            const struct session *session = &comparison->sessions[i];
            for (size_t run = 0; run < session->count; run++) {
                const vitals_account *other = recording_account(session->runs[run]);
                vitals_availability state;
                double value = words_number(vitals_account_find(other, name, subject), &state);
                if (state <= 0)
                    continue;
                struct compared_session *place = &item->sessions[i];
                statistics_add(&place->values, value);
                place->state = state;
            }
        }
    }
    return 0;
}

/* ---- phases ---- */

/* The size of a name without ":" and digits behind it; all of it where there are none. */
static size_t stem_size(const char *name)
{
    const char *colon = strrchr(name, ':');
    if (colon == NULL || colon[1] == '\0' || colon[1 + strspn(colon + 1, "0123456789")] != '\0')
        return strlen(name);
    return (size_t)(colon - name);
}

static bool same_stem(const char *a, const char *b)
{
    size_t size = stem_size(a);
    return size == stem_size(b) && memcmp(a, b, size) == 0 && a[size] != '\0' && b[size] != '\0';
}

const struct phase *comparison_pair(const struct phases *first, const struct phase *phase,
                                    const struct phases *others)
{
    size_t place = 0, seen = 0;
    for (size_t i = 0; i < others->count; i++) {
        if (strcmp(others->items[i].name, phase->name) == 0)
            return &others->items[i];
    }
    for (size_t i = 0; i < first->count && &first->items[i] != phase; i++)
        place += same_stem(first->items[i].name, phase->name);
    for (size_t i = 0; i < others->count; i++) {
        if (same_stem(others->items[i].name, phase->name) && seen++ == place)
            return &others->items[i];
    }
    return NULL;
}

enum phase_item { PHASE_CALL_SECONDS, PHASE_CPU_SECONDS, PHASE_MEMORY_BYTES, PHASE_ITEMS };

static const struct {
    const char *name, *unit, *measure;
} PHASE_FIGURES[PHASE_ITEMS] = {
    [PHASE_CALL_SECONDS] = {"call_seconds", "seconds", NULL},
    [PHASE_CPU_SECONDS] = {"cpu_seconds", "seconds", "cpu_seconds"},
    [PHASE_MEMORY_BYTES] = {"memory_resident_peak_bytes", "bytes", "memory_resident_bytes"},
};

static void aggregate_phase(const struct phase *phase, enum phase_item what,
                            struct compared_session *place)
{
    const char *name = PHASE_FIGURES[what].measure;
    const struct phase_measure *measure = name != NULL ? phase_measure_of(phase, name, "") : NULL;
    place->state = what == PHASE_CALL_SECONDS                     ? VITALS_HAVE
                   : what == PHASE_CPU_SECONDS && measure != NULL ? phase_measure_state(measure)
                                                                  : VITALS_SAMPLED;
    if (what == PHASE_CALL_SECONDS && phase->calls > 0) {
        statistics_add(&place->values, phase->seconds.mean);
    } else if (what == PHASE_CPU_SECONDS && measure != NULL && !isnan(measure->growth)) {
        statistics_add(&place->values, measure->growth);
    } else if (what == PHASE_MEMORY_BYTES && measure != NULL && measure->values.count > 0) {
        statistics_add(&place->values, measure->values.max);
    }
}

static int add_phases(struct comparison *comparison)
{
    const struct phases *first = &comparison->sessions[0].phases[0];
    for (size_t i = 0; i < first->count * PHASE_ITEMS; i++) {
        const struct phase *phase = &first->items[i / PHASE_ITEMS];
        enum phase_item what = i % PHASE_ITEMS;
        struct compared *item = add_item(comparison);
        if (item == NULL)
            return -1;
        item->phase = phase->name;
        item->name = PHASE_FIGURES[what].name;
        item->unit = PHASE_FIGURES[what].unit;
        item->subject = item->label = "";
        for (size_t k = 0; k < comparison->session_count; k++) {
            const struct session *session = &comparison->sessions[k];
            for (size_t run = 0; run < session->count; run++) {
                const struct phase *pair = comparison_pair(first, phase, &session->phases[run]);
                if (pair != NULL)
                    aggregate_phase(pair, what, &item->sessions[k]);
            }
        }
    }
    return 0;
}

/* ---- verdicts ---- */

static struct verdict judge(const struct compared *item, size_t at)
{
    const struct compared_session *one = &item->sessions[0], *two = &item->sessions[at];
    const struct statistics *first = &one->values, *other = &two->values;
    struct verdict verdict = {
        .kind = VITALS_VERDICT_NONE, .change = (double)NAN, .probability = (double)NAN};
    if (first->count == 0 || other->count == 0)
        return verdict;
    double difference = other->mean - first->mean;
    if (first->mean != 0 || difference == 0)
        verdict.change = difference != 0 ? difference / fabs(first->mean) : 0;
    verdict.unlike = one->state != two->state;
    if (at == 0) {
        verdict.kind = VITALS_VERDICT_FIRST;
    } else if (first->count > 1 && other->count > 1) {
        verdict.probability = statistics_welch(first, other);
        bool told = verdict.probability < COMPARE_CHANCE &&
                    (isnan(verdict.change) || fabs(verdict.change) >= LEAST_CHANGE);
        verdict.kind = !told            ? VITALS_VERDICT_SAME
                       : difference < 0 ? VITALS_VERDICT_LESS
                                        : VITALS_VERDICT_MORE;
    } else {
        verdict.kind = VITALS_VERDICT_UNSURE;
    }
    return verdict;
}

/* ---- the whole ---- */

int compare_sessions(const struct session *sessions, size_t count, struct comparison *out,
                     vitals_error *error)
{
    struct comparison comparison = {.sessions = sessions, .session_count = count};
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        for (size_t run = 0; run < sessions[i].count && code == 0; run++)
            code = add_figures(&comparison, recording_account(sessions[i].runs[run]));
    }
    if (code == 0)
        code = add_phases(&comparison);
    if (code < 0) {
        comparison_done(&comparison);
        return error_no_memory(error);
    }
    for (size_t i = 0; i < comparison.count; i++) {
        for (size_t j = 0; j < count; j++)
            comparison.items[i].sessions[j].verdict = judge(&comparison.items[i], j);
    }
    *out = comparison;
    return 0;
}

void comparison_done(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++)
        free(comparison->items[i].sessions);
    memory_free(comparison->items);
    *comparison = (struct comparison){0};
}
