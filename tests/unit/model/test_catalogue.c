/* The catalogue: its numbers, its names, its sets, and that the public header says the same. */
#include "check.h"

#include "model/catalogue.h"
#include <vitals/snapshot.h>

#include <ctype.h>

static void entities_come_in_the_order_of_numbers_and_are_found_by_name(void)
{
    unsigned last = 0;
    size_t count = 0;
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0; count++) {
        CHECK_CASE(vitals_table_name(entity));
        CHECK(entity > last);
        last = entity;
        CHECK_UINT(vitals_table_find(vitals_table_name(entity)), entity);
        CHECK(strlen(vitals_table_help(entity)) > 5);
    }
    CHECK_UINT(count, ENTITY_MAX);
    CHECK_UINT(vitals_table_parent(VITALS_TABLE_GPU_PROCESS), VITALS_TABLE_GPU);
    CHECK_UINT(vitals_table_parent(VITALS_TABLE_GPU), VITALS_TABLE_GPU);
    CHECK_UINT(vitals_table_parent(VITALS_TABLE_PROCESS), VITALS_TABLE_PROCESS);
    CHECK_UINT(vitals_table_parent(VITALS_TABLE_CPU), 0);
}

static void metrics_come_in_the_order_of_numbers_and_are_found_by_name(void)
{
    unsigned last = 0;
    size_t count = 0;
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0; count++) {
        const char *name = vitals_metric_name(metric);
        CHECK_CASE(name);
        CHECK(metric > last);
        last = metric;
        vitals_table entity = vitals_metric_table(metric);
        CHECK_UINT(entity, metric >> 8);
        CHECK_UINT(vitals_metric_find(entity, name), metric);
        CHECK_UINT(metric_of(entity, metric_number(metric)), metric);
    }
    CHECK(count > 100);
    CHECK_UINT(last, VITALS_MOUNT_OPTIONS);
}

static void what_is_none_has_nothing(void)
{
    static const vitals_metric NONE[] = {0,     1,      0xff,       0x100,     0x1ff,
                                         0x180, 0x2101, 0x7fffffff, 0xffffffff};
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        vitals_metric metric = NONE[i];
        CHECK_NULL(vitals_metric_name(metric));
        CHECK_NULL(vitals_metric_unit(metric));
        CHECK_NULL(vitals_metric_source(metric));
        CHECK_NULL(vitals_metric_help(metric));
        CHECK_UINT(vitals_metric_table(metric), 0);
        CHECK_UINT(vitals_metric_target(metric), 0);
        CHECK_UINT(vitals_metric_type(metric), 0);
        CHECK_UINT(vitals_metric_kind(metric), 0);
        CHECK_UINT(vitals_metric_price(metric), 0);
        CHECK_UINT(vitals_metric_every_ns(metric), 0);
        CHECK_UINT(vitals_metric_resolution_ns(metric, 1), 0);
        CHECK_FALSE(metric_in_sets(metric, VITALS_SET_EVERYTHING));
    }
    static const vitals_table NO_ENTITY[] = {0, ENTITY_MAX + 1, 255, 0x7fffffff, 0xffffffff};
    for (size_t i = 0; i < CHECK_COUNT(NO_ENTITY); i++) {
        vitals_table entity = NO_ENTITY[i];
        CHECK_NULL(vitals_table_name(entity));
        CHECK_NULL(vitals_table_help(entity));
        CHECK_UINT(vitals_table_parent(entity), 0);
        CHECK_UINT(vitals_metric_find(entity, "name"), 0);
    }
    CHECK_UINT(vitals_table_next(0xffffffff), 0);
    CHECK_UINT(vitals_metric_next(0xffffffff), 0);
    CHECK_UINT(vitals_table_find("gpus"), 0);
    CHECK_UINT(vitals_table_find(""), 0);
    CHECK_UINT(vitals_table_find(NULL), 0);
    CHECK_UINT(vitals_metric_find(VITALS_TABLE_HOST, "pid"), 0);
    CHECK_UINT(vitals_metric_find(VITALS_TABLE_HOST, NULL), 0);
}

static void the_metrics_of_a_table(void)
{
    size_t count = 0, all = 0;
    for (vitals_metric one = VITALS_METRIC_NONE; (one = vitals_metric_next(one)) != 0;)
        all += vitals_metric_table(one) == VITALS_TABLE_CPU;
    for (vitals_metric one = VITALS_METRIC_NONE;
         (one = vitals_metric_next_of(VITALS_TABLE_CPU, one)) != VITALS_METRIC_NONE; count++)
        CHECK_UINT(vitals_metric_table(one), VITALS_TABLE_CPU);
    CHECK_UINT(count, all);
    CHECK_UINT(vitals_metric_next_of(VITALS_TABLE_HOST, VITALS_METRIC_NONE),
               vitals_metric_next(VITALS_METRIC_NONE));
    CHECK_UINT(vitals_metric_next_of(VITALS_TABLE_CPU, VITALS_GPU_NAME), 0);
    CHECK_UINT(vitals_metric_next_of(VITALS_TABLE_NONE, VITALS_METRIC_NONE), 0);
    CHECK_UINT(vitals_metric_next_of(0xffffffff, VITALS_METRIC_NONE), 0);
}

static bool ends_with(const char *string, const char *end)
{
    size_t size = strlen(string), end_size = strlen(end);
    return size >= end_size && strcmp(string + size - end_size, end) == 0;
}

static void the_unit_is_part_of_the_name(void)
{
    static const char *const UNITS[] = {"bytes",  "seconds", "celsius",         "watts",
                                        "joules", "cores",   "hertz",           "volts",
                                        "rpm",    "ratio",   "bytes_per_second"};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        const char *name = vitals_metric_name(metric), *unit = vitals_metric_unit(metric);
        CHECK_CASE(name);
        if (*unit != '\0')
            CHECK(ends_with(name, unit) && name[strlen(name) - strlen(unit) - 1] == '_');
        bool known = *unit == '\0';
        for (size_t i = 0; i < CHECK_COUNT(UNITS); i++) {
            known = known || strcmp(unit, UNITS[i]) == 0;
            CHECK(ends_with(name, UNITS[i]) == (strcmp(unit, UNITS[i]) == 0));
        }
        CHECK(known);
    }
}

/* A name becomes a JSON key beside those of the row itself, a label, a part of a constant. */
static void names_can_be_keys_everywhere(void)
{
    static const char *const TAKEN[] = {"key",    "parent",  "label",
                                        "age_ns", "ages_ns", "availability"};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        const char *name = vitals_metric_name(metric);
        CHECK_CASE(name);
        CHECK(islower((unsigned char)name[0]));
        CHECK(strlen(name) < 64);
        for (const char *at = name; *at != '\0'; at++)
            CHECK(islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_');
        for (size_t i = 0; i < CHECK_COUNT(TAKEN); i++)
            CHECK(strcmp(name, TAKEN[i]) != 0);
    }
}

static void each_metric_makes_sense(void)
{
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        CHECK_CASE(vitals_metric_name(metric));
        vitals_type type = vitals_metric_type(metric);
        vitals_kind kind = vitals_metric_kind(metric);
        CHECK(type >= VITALS_U64 && type <= VITALS_TEXT);
        CHECK(kind >= VITALS_GAUGE && kind <= VITALS_IDENTITY);
        CHECK(vitals_metric_price(metric) >= VITALS_PRICE_TICK &&
              vitals_metric_price(metric) <= VITALS_PRICE_SLOW);
        CHECK(vitals_metric_source(metric) != NULL && *vitals_metric_source(metric) != '\0');
        CHECK(ends_with(vitals_metric_help(metric), "."));
        uint64_t fine = vitals_metric_resolution_ns(metric, 0);
        uint64_t coarse = vitals_metric_resolution_ns(metric, 1);
        CHECK(coarse >= fine);
        if (type == VITALS_TEXT)
            CHECK(*vitals_metric_unit(metric) == '\0' && kind != VITALS_COUNTER);
        if (vitals_metric_target(metric) != 0) {
            CHECK_UINT(type, VITALS_U64);
            CHECK_NOT_NULL(vitals_table_name(vitals_metric_target(metric)));
        }
        bool of_time = kind == VITALS_COUNTER && strcmp(vitals_metric_unit(metric), "seconds") == 0;
        CHECK((fine != 0) == of_time);
    }
    CHECK_UINT(vitals_metric_resolution_ns(VITALS_PROCESS_CPU_SECONDS, 0), 1000);
    CHECK_UINT(vitals_metric_resolution_ns(VITALS_PROCESS_CPU_SECONDS, 1), 10000000);
    CHECK_UINT(vitals_metric_resolution_ns(VITALS_HOST_CPU_USER_SECONDS, 1), 10000000);
    CHECK_UINT(vitals_metric_target(VITALS_GPU_PROCESS_PROCESS), VITALS_TABLE_PROCESS);
    CHECK_UINT(vitals_metric_target(VITALS_GPU_PROCESS_PID), 0);
    CHECK_UINT(vitals_metric_every_ns(VITALS_GPU_POWER_LIMIT_WATTS), 5000000000);
    CHECK_UINT(vitals_metric_price(VITALS_HOST_FORKS), VITALS_PRICE_TICK);
    CHECK_UINT(vitals_metric_price(VITALS_GPU_POWER_WATTS), VITALS_PRICE_WORKER);
}

static unsigned sets_of(vitals_metric metric)
{
    unsigned sets = 0;
    for (unsigned set = 1; set != 0; set *= 2)
        if (metric_in_sets(metric, set))
            sets |= set;
    return sets;
}

static void each_metric_is_in_one_set_or_must_be_named(void)
{
    CHECK_UINT(sets_of(VITALS_HOST_NAME), VITALS_SET_MACHINE);
    CHECK_UINT(sets_of(VITALS_CPU_INDEX), VITALS_SET_MACHINE);
    CHECK_UINT(sets_of(VITALS_GPU_INDEX), VITALS_SET_GPUS);
    CHECK_UINT(sets_of(VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS), VITALS_SET_GPUS);
    CHECK_UINT(sets_of(VITALS_GPU_PROCESS_PID), VITALS_SET_GPUS);
    CHECK_UINT(sets_of(VITALS_PROCESS_COMMAND_LINE), VITALS_SET_PROCESSES);
    CHECK_UINT(sets_of(VITALS_SOURCE_STATE), VITALS_SET_SOURCES);
    CHECK_UINT(sets_of(VITALS_DISK_READ_BYTES), VITALS_SET_MACHINE);
    CHECK_UINT(sets_of(VITALS_FILESYSTEM_USED_BYTES), VITALS_SET_FILESYSTEMS);
    CHECK_UINT(sets_of(VITALS_SENSOR_FAN_RPM), VITALS_SET_SENSORS);
    CHECK_UINT(sets_of(VITALS_PROCESS_PSS_BYTES), 0); /* costs something: by name only */
    CHECK_UINT(sets_of(VITALS_PROCESS_RESIDENT_PEAK_BYTES), 0);
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        CHECK_CASE(vitals_metric_name(metric));
        vitals_table entity = vitals_metric_table(metric);
        bool asked = entity_is_of_handle(entity) || entity == VITALS_TABLE_SOCKET ||
                     entity == VITALS_TABLE_LOGIN || entity == VITALS_TABLE_NETWORK_ADDRESS ||
                     entity == VITALS_TABLE_GPU_LINK || entity == VITALS_TABLE_GPU_ERROR ||
                     entity == VITALS_TABLE_GPU_PEER || entity == VITALS_TABLE_DIAGNOSIS ||
                     entity == VITALS_TABLE_ENERGY_ZONE || entity == VITALS_TABLE_WORKLOAD ||
                     entity == VITALS_TABLE_GPU_JOB || entity == VITALS_TABLE_MOUNT;
        CHECK(metric_in_sets(metric, VITALS_SET_EVERYTHING) ==
              (!asked && metric_in_table(metric, entity)));
        CHECK(!asked || metric_in_table(metric, entity));
        CHECK_FALSE(metric_in_sets(metric, 0));
        unsigned sets = sets_of(metric);
        CHECK((sets & (sets - 1)) == 0);
    }
}

/* An entity passed for a set is a mistake that must be seen. */
static void sets_are_no_numbers_of_entities(void)
{
    unsigned sets = 0;
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        CHECK_CASE(vitals_metric_name(metric));
        CHECK_FALSE(metric_in_sets(metric, 0xffff));
        sets |= sets_of(metric);
    }
    CHECK_UINT(sets, VITALS_SET_MACHINE | VITALS_SET_GPUS | VITALS_SET_PROCESSES |
                         VITALS_SET_SOURCES | VITALS_SET_FILESYSTEMS | VITALS_SET_SENSORS);
    CHECK_UINT(sets & ~(unsigned)VITALS_SET_EVERYTHING, 0);
    CHECK_UINT(VITALS_SET_EVERYTHING & 0xffff, 0);
    CHECK((unsigned)ENTITY_MAX < VITALS_SET_MACHINE);
}

static void a_set_holds_what_was_added(void)
{
    struct metric_set set = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        CHECK_FALSE(metric_set_has(&set, metric));
        metric_set_add(&set, metric);
        CHECK(metric_set_has(&set, metric));
        CHECK(metric_set_has_entity(&set, vitals_metric_table(metric)));
        metric_set_remove(&set, metric);
        CHECK_FALSE(metric_set_has(&set, metric));
        CHECK_FALSE(metric_set_has_entity(&set, vitals_metric_table(metric)));
    }
    static const vitals_metric NONE[] = {0, 0x1ff, 0x180, 0x2101, 0xffffffff};
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        metric_set_add(&set, NONE[i]);
        CHECK_FALSE(metric_set_has(&set, NONE[i]));
        metric_set_remove(&set, NONE[i]);
    }
    CHECK_FALSE(metric_set_has_entity(&set, 0xffffffff));
}

/* The constant that the header must have: VITALS_GPU_PROCESS_PID. */
static void constant_of(char *out, size_t capacity, const char *entity, const char *metric)
{
    snprintf(out, capacity, "VITALS_%s%s%s", entity, *metric != '\0' ? "_" : "", metric);
    for (char *at = out; *at != '\0'; at++)
        *at = (char)toupper((unsigned char)*at);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* As gpu + process_pid and gpu_process + pid would be, which the header could not hold. */
static void no_two_constants_are_one_word(void)
{
    enum { COUNT = 1024, SIZE = 128 };
    static char names[COUNT][SIZE];
    size_t count = 0;
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;)
        constant_of(names[count++], SIZE, "TABLE", vitals_table_name(entity));
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        CHECK(count < COUNT);
        constant_of(names[count++], SIZE, vitals_table_name(vitals_metric_table(metric)),
                    vitals_metric_name(metric));
    }
    qsort(names, count, SIZE, by_name);
    for (size_t i = 1; i < count; i++) {
        CHECK_CASE(names[i]);
        CHECK(strcmp(names[i - 1], names[i]) != 0);
    }
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        count++;
    }
    return count;
}

static void the_header_has_the_same_constants(void)
{
    size_t size;
    char *header = check_read("../../include/vitals/metrics.h", &size);
    char name[128], line[160];
    size_t count = 0;
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0; count++) {
        constant_of(name, sizeof name, "TABLE", vitals_table_name(entity));
        snprintf(line, sizeof line, " %s = %u", name, entity);
        CHECK_CONTAINS(header, line);
    }
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0; count++) {
        constant_of(name, sizeof name, vitals_table_name(vitals_metric_table(metric)),
                    vitals_metric_name(metric));
        snprintf(line, sizeof line, " %s = 0x%04x", name, metric);
        CHECK_CONTAINS(header, line);
    }
    CHECK_UINT(count_of(header, " = "),
               count + 2); /* and the two zeros, of no table and no metric */
    free(header);
}

static const check_test tests[] = {
    {"entities come in the order of numbers and are found by name",
     entities_come_in_the_order_of_numbers_and_are_found_by_name},
    {"metrics come in the order of numbers and are found by name",
     metrics_come_in_the_order_of_numbers_and_are_found_by_name},
    {"what is none has nothing", what_is_none_has_nothing},
    {"the metrics of a table", the_metrics_of_a_table},
    {"the unit is part of the name", the_unit_is_part_of_the_name},
    {"names can be keys everywhere", names_can_be_keys_everywhere},
    {"each metric makes sense", each_metric_makes_sense},
    {"each metric is in one set or must be named", each_metric_is_in_one_set_or_must_be_named},
    {"sets are no numbers of entities", sets_are_no_numbers_of_entities},
    {"a set holds what was added", a_set_holds_what_was_added},
    {"no two constants are one word", no_two_constants_are_one_word},
    {"the header has the same constants", the_header_has_the_same_constants},
};
CHECK_TESTS(tests)
