/* exposition_run.c: see exposition_run.h. */
#include "export/prometheus/exposition_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/prometheus/exposition_page.h"
#include "export/usage_line.h"

enum { SUBJECTS_MAX = 256, VALUES_MAX = 16, ID_SIZE = 64 };

struct run_value {
    double number;
    bool known;
};

/* The values of the tree, or of the tree on a device. */
struct run_subject {
    char *uuid; /* NULL for the tree */
    struct run_value values[VALUES_MAX];
};

struct exposition_run {
    char id[ID_SIZE];
    char *name, *user; /* NULL if not known */
    double start_seconds;
    struct run_value end_seconds, exit_code;
    struct run_subject subjects[SUBJECTS_MAX]; /* the first is the tree */
    size_t count;
};

/* ---- creation ---- */

static char *copy_of(const json_t *object, const char *member)
{
    const char *string = json_string_value(json_object_get(object, member));
    return string != NULL && string[0] != '\0' ? strdup(string) : NULL;
}

struct exposition_run *exposition_run_new(const json_t *export_config, int64_t number,
                                          uint64_t now_ns)
{
    const json_t *job = json_object_get(export_config, "job");
    const char *started = json_string_value(json_object_get(job, "started_ns"));
    uint64_t ns = started != NULL ? strtoull(started, NULL, 10) : 0;
    struct exposition_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return NULL;
    ns = ns > 0 && ns <= now_ns ? ns : now_ns;
    run->name = copy_of(job, "name");
    run->user = copy_of(job, "user");
    run->start_seconds = (double)ns / 1e9;
    run->count = 1;
    (void)snprintf(run->id, sizeof run->id, "%llu-%lld", (unsigned long long)ns, (long long)number);
    return run;
}

void exposition_run_free(struct exposition_run *run)
{
    if (run == NULL)
        return;
    for (size_t i = 0; i < run->count; i++)
        free(run->subjects[i].uuid);
    free(run->name);
    free(run->user);
    free(run);
}

/* ---- values ---- */

/* Returns the i-th family whose values are measured; NULL if there are no more. */
static const struct metric_family *measured(size_t i)
{
    for (size_t f = 0; f < families_count; f++) {
        if (families[f].writer == FAMILY_RUN && i-- == 0)
            return &families[f];
    }
    return NULL;
}

static bool is_of_devices(const struct metric_family *family)
{
    return family->labels != NULL && strstr(family->labels, "uuid") != NULL;
}

/* Counters and peaks never decrease. */
static void take(const struct metric_family *family, struct run_value *value, double number)
{
    bool grows = family_type(family->name) == FAMILY_COUNTER || family->figure != NULL;
    if (!grows || !value->known || number > value->number)
        value->number = number;
    value->known = true;
}

/* A device that the run does not use is not kept. */
static struct run_subject *subject_of(struct exposition_run *run, const char *uuid, double number)
{
    for (size_t i = 1; i < run->count; i++) {
        if (strcmp(run->subjects[i].uuid, uuid) == 0)
            return &run->subjects[i];
    }
    char *copy = number > 0 && run->count < SUBJECTS_MAX ? strdup(uuid) : NULL;
    if (copy == NULL)
        return NULL;
    struct run_subject *subject = &run->subjects[run->count++];
    subject->uuid = copy;
    return subject;
}

void exposition_run_usage(struct exposition_run *run, const json_t *usage)
{
    const struct metric_family *family;
    const json_t *values = json_object_get(usage, "values"), *value;
    struct usage_line line;
    double number;
    size_t at;
    exposition_run_leave(run);
    usage_line_read(&line, usage);
    for (size_t i = 0; i < VALUES_MAX && (family = measured(i)) != NULL; i++) {
        if (!is_of_devices(family)) {
            if (usage_line_value(&line, "tree", NULL, family->measure, &number) > 0)
                take(family, &run->subjects[0].values[i], number);
            continue;
        }
        json_array_foreach(values, at, value)
        {
            const char *scope = json_string_value(json_array_get(value, 0));
            const char *uuid = json_string_value(json_array_get(value, 1));
            const char *name = json_string_value(json_array_get(value, 2));
            if (scope == NULL || uuid == NULL || name == NULL || strcmp(scope, "gpu") != 0 ||
                strcmp(name, family->measure) != 0 ||
                usage_line_value(&line, "gpu", uuid, name, &number) <= 0)
                continue;
            struct run_subject *subject = subject_of(run, uuid, number);
            if (subject != NULL)
                take(family, &subject->values[i], number);
        }
    }
    usage_line_done(&line);
}

/* ---- the end ---- */

void exposition_run_leave(struct exposition_run *run)
{
    for (size_t i = 0; i < VALUES_MAX && measured(i) != NULL; i++) {
        for (size_t s = 0; s < run->count && measured(i)->figure == NULL; s++)
            run->subjects[s].values[i].known = false;
    }
}

/* Takes a figure of the tree, or of the tree on a device. */
static void take_figure(struct exposition_run *run, const char *name, const char *uuid,
                        double number)
{
    const struct metric_family *family;
    for (size_t i = 0; i < VALUES_MAX && (family = measured(i)) != NULL; i++) {
        if (family->figure == NULL || strcmp(family->figure, name) != 0 ||
            is_of_devices(family) != (uuid != NULL))
            continue;
        struct run_subject *subject = uuid != NULL ? subject_of(run, uuid, number) : run->subjects;
        if (subject != NULL)
            take(family, &subject->values[i], number);
    }
}

void exposition_run_end(struct exposition_run *run, const json_t *account, const json_t *status,
                        uint64_t now_ns)
{
    const json_t *figures = json_object_get(account, "figures"), *figure;
    const json_t *code = json_object_get(account, "exit_code");
    const char *state = json_string_value(json_object_get(status, "state"));
    size_t i;
    exposition_run_leave(run);
    json_array_foreach(figures, i, figure)
    {
        const char *name = json_string_value(json_object_get(figure, "name"));
        const char *subject = json_string_value(json_object_get(figure, "subject"));
        const char *availability = json_string_value(json_object_get(figure, "availability"));
        const json_t *value = json_object_get(figure, "value");
        bool of_part = subject != NULL && /* of the tree, or of the machine */
                       (strcmp(subject, "root") == 0 || strcmp(subject, "descendants") == 0 ||
                        strcmp(subject, "system") == 0);
        if (name != NULL && !of_part && availability != NULL &&
            vitals_availability_from_name(availability) > 0 && json_is_number(value))
            take_figure(run, name, subject, json_number_value(value));
    }

    uint64_t ended_ns = account_ended_ns(account), began_ns = account_began_ns(account);
    run->end_seconds = (struct run_value){(double)(ended_ns > 0 ? ended_ns : now_ns) / 1e9, true};
    if (began_ns > 0)
        run->start_seconds = (double)began_ns / 1e9;
    run->exit_code = (struct run_value){json_number_value(code), json_is_integer(code) &&
                                                                     state != NULL &&
                                                                     strcmp(state, "unknown") != 0};
}

/* ---- writing ---- */

static void write_value(struct exposition_page *page, const struct exposition_run *run,
                        const char *uuid, struct run_value value)
{
    if (!value.known)
        return;
    page_sample(page);
    page_label_word(page, "run", run->id);
    if (uuid != NULL)
        page_label_word(page, "uuid", uuid);
    page_value(page, value.number);
}

struct body *exposition_run_render(const struct exposition_run *run)
{
    static const struct exposition_options OPTIONS = {.interval_ns = 1000000000};
    struct text out = {.bytes = NULL};
    struct exposition_page page;
    size_t number = 0;
    page_init(&page, &out, EXPOSITION_TEXT, &OPTIONS);

    for (size_t f = 0; f < families_count; f++) {
        const struct metric_family *family = &families[f];
        if (family_level(family) != FAMILY_OF_RUNS)
            continue;
        page_family(&page, FAMILY_PREFIX, family->name, family_type(family->name), family->help);
        if (family->writer == FAMILY_RUN) {
            for (size_t s = 0; s < run->count; s++)
                write_value(&page, run, run->subjects[s].uuid, run->subjects[s].values[number]);
            number++;
        } else if (family->writer == FAMILY_RUN_INFO) {
            page_sample(&page);
            page_label_word(&page, "run", run->id);
            if (run->name != NULL)
                page_label_word(&page, "name", run->name);
            if (run->user != NULL)
                page_label_word(&page, "user", run->user);
            page_value(&page, 1);
        } else {
            write_value(&page, run, NULL,
                        family->writer == FAMILY_RUN_START
                            ? (struct run_value){run->start_seconds, true}
                        : family->writer == FAMILY_RUN_END ? run->end_seconds
                                                           : run->exit_code);
        }
    }

    bool failed = page.failed || out.failed;
    page_done(&page);
    struct body *body = failed ? NULL : body_new(&out);
    text_done(&out);
    return body;
}
