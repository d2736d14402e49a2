/* slurm.c: see workload.h. */
#include "workload/workload.h"

#include <string.h>

enum { SLUID_DIGITS = 13, NUMBER_DIGITS = 20 };

static bool is_number(struct span text)
{
    return text.size <= NUMBER_DIGITS && span_is_decimal(text);
}

/* Crockford's base 32 has no I, L, O and U. */
static bool is_sluid(struct span text)
{
    return text.size == 1 + SLUID_DIGITS && text.bytes[0] == 's' &&
           span_is_of((struct span){text.bytes + 1, SLUID_DIGITS},
                      "0123456789ABCDEFGHJKMNPQRSTVWXYZ");
}

bool slurm_is_sluid(const char *job)
{
    return is_sluid((struct span){job, strlen(job)});
}

static bool is_step(struct span text)
{
    static const char *const words[] = {"batch", "extern", "interactive"};
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        if (span_equal(text, words[i]))
            return true;
    return is_number(text);
}

bool slurm_of_cgroup(struct span path, struct slurm *out)
{
    struct span above = {path.bytes, 0}, parent = above, element, id;
    struct cursor cursor = cursor_over(path.bytes, path.size);
    *out = (struct slurm){{0}, {0}, {0}, 0, 0};
    for (; path_element(&cursor, &element); above = parent, parent = element) {
        /* A reader whose own cgroup hides what lies above sees /../../job_12/step_0. */
        bool hidden = parent.size == 0 || span_equal(parent, "..");
        /* Else above a job stands slurmd's scope, or the folder of a user below slurmd's. */
        struct span uid, node;
        bool slurmd = span_equal(parent, "slurmstepd.scope") ||
                      span_between(parent, "", "_slurmstepd.scope", &node) ||
                      (span_between(parent, "uid_", "", &uid) && is_number(uid) &&
                       (span_equal(above, "slurm") || span_starts(above, "slurm_")));
        if (!(hidden || slurmd) || !span_between(element, "job_", "", &id) ||
            !(is_number(id) || is_sluid(id)))
            continue;
        struct span next, step;
        bool stepped = path_element(&cursor, &next) && span_between(next, "step_", "", &step) &&
                       is_step(step);
        if (hidden && !stepped) // any user may call a cgroup job_1
            return false;
        (void)span_copy(id, out->job, sizeof out->job);
        out->own = (size_t)(element.bytes + element.size - path.bytes);
        if (stepped) {
            (void)span_copy(step, out->step, sizeof out->step);
            out->place = out->own = (size_t)(next.bytes + next.size - path.bytes);
        }
        return true;
    }
    return false;
}

/* Other words may stand before the bracket closes: "[123.0 stepmgr]". */
bool slurm_of_title(struct span title, struct slurm *out)
{
    struct cursor cursor = cursor_over(title.bytes, title.size);
    struct span job, rest;
    *out = (struct slurm){{0}, {0}, {0}, 0, 0};
    if (!cursor_literal(&cursor, "slurmstepd: [") || !cursor_until(&cursor, '.', &job) ||
        !is_number(job) || !cursor_until(&cursor, ']', &rest))
        return false;
    const char *blank = rest.size > 0 ? memchr(rest.bytes, ' ', rest.size) : NULL;
    if (blank != NULL)
        rest.size = (size_t)(blank - rest.bytes);
    if (!is_step(rest))
        return false;
    (void)span_copy(job, out->job, sizeof out->job);
    (void)span_copy(rest, out->step, sizeof out->step);
    return true;
}

/* Steps that are no numbers to a person, from Slurm's slurm.h. */
static const struct {
    const char *number, *word;
} STEPS[] = {
    {"4294967290", "interactive"},
    {"4294967291", "batch"},
    {"4294967292", "extern"},
};

bool slurm_of_environment(struct span strings, struct slurm *out)
{
    struct cursor cursor = cursor_over(strings.bytes, strings.size);
    *out = (struct slurm){{0}, {0}, {0}, 0, 0};
    for (struct span string; !cursor_done(&cursor);) {
        if (!cursor_until(&cursor, '\0', &string)) // cut: half a number would be a wrong one
            break;
        const char *equals = memchr(string.bytes, '=', string.size);
        if (equals == NULL)
            continue;
        /* The names of older versions stand behind those of newer ones. */
        struct span name = {string.bytes, (size_t)(equals - string.bytes)};
        struct span value = {equals + 1, string.size - name.size - 1};
        bool job = span_equal(name, "SLURM_JOB_ID") ||
                   (span_equal(name, "SLURM_JOBID") && out->job[0] == '\0');
        bool step = span_equal(name, "SLURM_STEP_ID") ||
                    (span_equal(name, "SLURM_STEPID") && out->step[0] == '\0');
        if (job && is_number(value))
            (void)span_copy(value, out->job, sizeof out->job);
        if (span_equal(name, "SLURM_JOB_SLUID") && is_sluid(value))
            (void)span_copy(value, out->sluid, sizeof out->sluid);
        for (size_t i = 0; step && i < ARRAY_COUNT(STEPS); i++)
            if (span_equal(value, STEPS[i].number))
                value = (struct span){STEPS[i].word, strlen(STEPS[i].word)};
        if (step && is_step(value))
            (void)span_copy(value, out->step, sizeof out->step);
    }
    if (out->job[0] == '\0' && out->sluid[0] != '\0')
        memcpy(out->job, out->sluid, sizeof out->job);
    return out->job[0] != '\0';
}
