/* The rules that names of Prometheus follow, held to by every row of the table. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "export/prometheus/families.h"

static bool ends_in(const char *name, const char *word)
{
    size_t size = strlen(name), length = strlen(word);
    return size >= length && strcmp(name + size - length, word) == 0;
}

static bool is_name(const char *name)
{
    return name[0] != '\0' && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static void names_follow_the_rules(void)
{
    static const char *const SUFFIXES[] = {"_sum", "_count", "_bucket", "_created"};
    for (size_t i = 0; i < families_count; i++) {
        const struct metric_family *family = &families[i];
        char room[FAMILY_NAME_SIZE];
        const char *name = family_name(family, room);
        CHECK_CASE(name);
        CHECK(is_name(name));
        CHECK_INT(ends_in(name, "_total"), family_type(name) == FAMILY_COUNTER);
        for (size_t s = 0; s < CHECK_COUNT(SUFFIXES); s++)
            CHECK_FALSE(ends_in(name, SUFFIXES[s]));
        for (size_t other = 0; other < i; other++) {
            char other_room[FAMILY_NAME_SIZE];
            CHECK(strcmp(family_name(&families[other], other_room), name) != 0);
        }
    }
}

static void help_is_a_sentence(void)
{
    for (size_t i = 0; i < families_count; i++) {
        char room[FAMILY_NAME_SIZE], labels[FAMILY_LABELS_SIZE];
        const char *help = family_help(&families[i]);
        CHECK_CASE(family_name(&families[i], room));
        family_labels(&families[i], labels);
        CHECK(strlen(labels) < FAMILY_LABELS_SIZE - 1);
        CHECK(strlen(help) > 5 && ends_in(help, "."));
        CHECK_NULL(strpbrk(help, "\\\n\r"));
    }
}

/* What a family reads has its unit; but a count of something may be of any metric without one. */
static void units_are_those_of_what_is_read(void)
{
    for (size_t i = 0; i < families_count; i++) {
        const struct metric_family *family = &families[i];
        char room[FAMILY_NAME_SIZE];
        const char *name = family_name(family, room);
        if (family->writer != FAMILY_ROWS)
            continue;
        for (size_t p = 0; p < FAMILY_PARTS && family->parts[p].metric != 0; p++) {
            const char *unit = vitals_metric_unit(family->parts[p].metric);
            CHECK_CASE(name);
            CHECK_NOT_NULL(unit);
            CHECK_STR(family_unit(name), unit);
            CHECK(vitals_metric_type(family->parts[p].metric) != VITALS_TEXT);
        }
    }
}

/* Rows taken out of use for good are a gauge in the catalogue; they only grow. */
static void counters_read_what_counts(void)
{
    for (size_t i = 0; i < families_count; i++) {
        const struct metric_family *family = &families[i];
        char room[FAMILY_NAME_SIZE];
        const char *name = family_name(family, room);
        bool remapped = strcmp(name, "gpu_row_remaps_total") == 0;
        for (size_t p = 0;
             family->writer == FAMILY_ROWS && p < FAMILY_PARTS && family->parts[p].metric != 0;
             p++) {
            bool counts = vitals_metric_kind(family->parts[p].metric) == VITALS_COUNTER;
            CHECK_CASE(name);
            CHECK_INT(counts || remapped, family_type(name) == FAMILY_COUNTER);
        }
    }
}

/* A family of a run names a measure and a figure that there are, or is known at its ends. */
static void runs_have_their_values(void)
{
    for (size_t i = 0; i < families_count; i++) {
        const struct metric_family *family = &families[i];
        char room[FAMILY_NAME_SIZE];
        const char *name = family_name(family, room);
        CHECK_CASE(name);
        CHECK_INT(family_level(family) == EXPOSITION_RUN, family->writer >= FAMILY_RUN);
        CHECK_INT(family->writer == FAMILY_RUN, family->measure != NULL);
        if (family->measure == NULL)
            continue;
        vitals_measure measure = vitals_measure_find(family->measure);
        CHECK(measure != 0);
        CHECK_STR(vitals_measure_unit(measure), family_unit(name));
        CHECK_INT(vitals_measure_is_counter(measure), family_type(name) == FAMILY_COUNTER);
        CHECK(family_type(name) != FAMILY_COUNTER || family->figure != NULL);
    }
}

/* What a row does not state follows from its first metric. */
static void rows_of_one_metric_follow_the_catalogue(void)
{
    const struct metric_family counter = {.parts = {{VITALS_GPU_ENGINE_BUSY_SECONDS, NULL}}};
    const struct metric_family gauge = {.parts = {{VITALS_GPU_PROCESS_MEMORY_USED_BYTES, NULL}}};
    char room[FAMILY_NAME_SIZE], labels[FAMILY_LABELS_SIZE];
    CHECK_STR(family_name(&counter, room), "gpu_engine_busy_seconds_total");
    CHECK_STR(family_help(&counter), vitals_metric_help(VITALS_GPU_ENGINE_BUSY_SECONDS));
    CHECK_STR(family_row_label(&counter), "engine");
    CHECK_INT(family_level(&counter), EXPOSITION_OFF);
    family_labels(&counter, labels);
    CHECK_STR(labels, "gpu, uuid, engine");
    CHECK_STR(family_name(&gauge, room), "gpu_process_memory_used_bytes");
    CHECK_NULL(family_row_label(&gauge));
    CHECK_INT(family_level(&gauge), EXPOSITION_PID);
    family_labels(&gauge, labels);
    CHECK_STR(labels, "gpu, uuid, pid");
}

static void units_are_told_by_names(void)
{
    CHECK_STR(family_unit("gpu_energy_joules_total"), "joules");
    CHECK_STR(family_unit("gpu_fan_rpm"), "rpm");
    CHECK_STR(family_unit("gpu_processes"), "");
    CHECK_STR(family_unit("bytes"), "");
    CHECK_STR(family_unit("http_requests_total"), "");
}

static vitals_request *request_of(enum exposition_level level, bool nvitop)
{
    vitals_request *request;
    vitals_error error;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(metric_selection_add(request, level, nvitop, &error), error);
    return request;
}

/* Every metric that a family reads is asked for at its level, and those of processes at no lower.
 */
static void what_is_read_is_asked_for(void)
{
    vitals_request *none = request_of(EXPOSITION_OFF, false);
    vitals_request *workloads = request_of(EXPOSITION_WORKLOAD, false);
    vitals_request *all = request_of(EXPOSITION_PID, true);
    for (size_t i = 0; i < families_count; i++) {
        for (size_t p = 0; p < FAMILY_PARTS && families[i].parts[p].metric != 0; p++) {
            vitals_metric metric = families[i].parts[p].metric;
            char room[FAMILY_NAME_SIZE];
            CHECK_CASE(family_name(&families[i], room));
            CHECK(vitals_request_has(all, metric));
            if (family_level(&families[i]) <= EXPOSITION_WORKLOAD)
                CHECK(vitals_request_has(workloads, metric));
        }
    }
    for (size_t i = 0; i < nvitop_families_count; i++)
        CHECK(vitals_request_has(all, nvitop_families[i].reads[0]));
    CHECK_FALSE(vitals_request_has(none, VITALS_PROCESS_PID));
    CHECK_FALSE(vitals_request_has(none, VITALS_GPU_PROCESS_PID));
    CHECK_FALSE(vitals_request_has(workloads, VITALS_PROCESS_DESCRIPTORS));
    CHECK_FALSE(vitals_request_has(workloads, VITALS_PROCESS_COMMAND_LINE));
    vitals_request_free(none);
    vitals_request_free(workloads);
    vitals_request_free(all);
}

static const check_test tests[] = {
    {"names follow the rules", names_follow_the_rules},
    {"help is a sentence", help_is_a_sentence},
    {"units are those of what is read", units_are_those_of_what_is_read},
    {"counters read what counts", counters_read_what_counts},
    {"runs have their values", runs_have_their_values},
    {"rows of one metric follow the catalogue", rows_of_one_metric_follow_the_catalogue},
    {"units are told by names", units_are_told_by_names},
    {"what is read is asked for", what_is_read_is_asked_for},
};

CHECK_TESTS(tests)
