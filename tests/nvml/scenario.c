/*
 * scenario.c - the reader of scenario files. Lines are `# comment`, `[section]` or `key = value`;
 * README.md has the list of both. Knows no driver call and no clock.
 */
#include "scenario.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELD_TEXT, FIELD_NUMBER };

static const struct {
    const char *key;
    int kind;
    const char *initial;
} field_rows[FIELD_COUNT] = {
#define FIELD(symbol, key, kind, initial) [FIELD_##symbol] = {key, FIELD_##kind, initial},
#define FIELD_END_OF_IDENTITY
#include "fields.def"
#undef FIELD
#undef FIELD_END_OF_IDENTITY
};

/* Where identity ends: the rows before are never copied from another GPU. */
enum { IDENTITY_END = FIELD_COMPUTE_INSTANCE + 1 };

struct reader {
    struct scenario *scenario;
    const char *file;
    unsigned line;
    bool failed;
    bool amends; /* a section given again is the same one, of rules too */
    /* the section that keys go to; all NULL: none yet */
    const struct section_kind *section;
    void *target;
};

static void fail(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fail(struct reader *reader, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!reader->failed)
        fprintf(stderr, "simulated_nvml: %s:%u: %s\n", reader->file, reader->line, message);
    reader->failed = true;
}

bool field_is_text(enum device_field field)
{
    return field_rows[field].kind == FIELD_TEXT;
}

const char *field_key(enum device_field field)
{
    return field_rows[field].key;
}

/* -- one kind of value each: they write to `at` and say what they would have taken --------------
 */

static const char *take_number(void *at, const char *text)
{
    return value_parse_number(at, text) ? NULL : VALUE_NUMBER_FORMS;
}

static const char *take_text(void *at, const char *text)
{
    return value_parse_text(at, text) ? NULL
                                      : "a text (\\n \\e \\xNN are escapes), N/A or error:CODE";
}

static const char *take_duration(void *at, const char *text)
{
    return value_parse_duration(at, text) ? NULL : "a duration: 0, 250us, 20ms, 5s";
}

static const char *take_count(void *at, const char *text)
{
    return value_parse_integer(at, text) ? NULL : "a whole number";
}

static const char *take_unsigned(void *at, const char *text)
{
    uint64_t number;
    if (!value_parse_integer(&number, text) || number > UINT32_MAX)
        return "a number below 2^32";
    *(unsigned *)at = (unsigned)number;
    return NULL;
}

static const char *take_index(void *at, const char *text)
{
    uint64_t number;
    if (!value_parse_integer(&number, text) || number >= GPUS_MAX)
        return "an index from 0 to 63";
    *(int *)at = (int)number;
    return NULL;
}

static const char *take_yes(void *at, const char *text)
{
    bool yes = strcmp(text, "yes") == 0;
    *(bool *)at = yes;
    return yes || strcmp(text, "no") == 0 ? NULL : "yes or no";
}

/* 1, self, env:NAME: the simulated process may be a real one. */
static const char *take_pid(void *at, const char *text)
{
    if (strcmp(text, "self") == 0) {
        *(unsigned *)at = (unsigned)getpid();
        return NULL;
    }
    const char *number = strncmp(text, "env:", 4) == 0 ? getenv(text + 4) : text;
    return number && !take_unsigned(at, number) ? NULL
                                                : "a process id, self or env:NAME (NAME being set)";
}

static const char *take_kinds(void *at, const char *text)
{
    unsigned kinds = 0;
    for (; *text; text++) {
        kinds |= *text == 'C' ? (unsigned)PROCESS_COMPUTE : 0;
        kinds |= *text == 'G' ? (unsigned)PROCESS_GRAPHICS : 0;
        kinds |= *text == 'M' ? (unsigned)PROCESS_MPS : 0;
        if (!strchr("CGM+", *text))
            kinds = 8;
    }
    *(unsigned *)at = kinds;
    return kinds > 0 && kinds < 8 ? NULL : "C, G, M (MPS) or several with +";
}

static const char *take_layout(void *at, const char *text)
{
    static const char *const names[] = {
        [LAYOUT_DRIVER] = "driver",
        [LAYOUT_V1] = "v1",
        [LAYOUT_V2] = "v2",
        [LAYOUT_V3] = "v3",
        [LAYOUT_V3_CONFIDENTIAL] = "v3_confcompute",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *(enum process_layout *)at = (enum process_layout)i;
            return NULL;
        }
    }
    return "driver, v1, v2, v3 or v3_confcompute";
}

/* 1 or 1:0, into the rule's gpu and mig. */
static const char *take_place(void *at, const char *text)
{
    struct rule *rule = (struct rule *)(void *)((char *)at - offsetof(struct rule, gpu));
    int gpu, mig = -1, end = 0;
    if (sscanf(text, "%d%n:%d%n", &gpu, &end, &mig, &end) < 1 || text[end] || gpu < 0)
        return "GPU or GPU:MIG";
    rule->gpu = gpu;
    rule->mig = mig;
    return NULL;
}

static const char *take_missing(void *at, const char *text)
{
    struct scenario *scenario = (struct scenario *)(void *)((char *)at -
                                                            offsetof(struct scenario, missing));
    for (text += strspn(text, ", "); *text; text += strspn(text, ", ")) {
        size_t size = strcspn(text, ", ");
        if (size >= NAME_SIZE || scenario->missing_count == NAMES_MAX)
            return "up to 32 function names, separated by commas";
        memcpy(scenario->missing[scenario->missing_count++], text, size);
        text += size;
    }
    return NULL;
}

/* -- keys of each kind of section ---------------------------------------------------------------
 */

struct key {
    const char *name;
    size_t offset;
    const char *(*take)(void *at, const char *text);
};

#define KEY(name, type, member, take)             \
    {                                             \
        name, offsetof(struct type, member), take \
    }

static const struct key library_keys[] = {
    KEY("driver_version", scenario, driver_version, take_text),
    KEY("driver_branch", scenario, driver_branch, take_text),
    KEY("nvml_version", scenario, nvml_version, take_text),
    KEY("cuda_version", scenario, cuda_version, take_number),
    KEY("init_result", scenario, init_result, take_unsigned),
    KEY("process_layout", scenario, process_layout, take_layout),
    KEY("sample_period", scenario, sample_period_ns, take_duration),
    KEY("sample_slots", scenario, sample_slots, take_unsigned),
    KEY("field_values_overrun", scenario, field_values_overrun, take_yes),
    KEY("topology_level", scenario, topology_level, take_unsigned),
    KEY("missing", scenario, missing, take_missing),
    {NULL, 0, NULL},
};

static const struct key process_keys[] = {
    KEY("gpu", process, gpu, take_index),
    KEY("pid", process, pid, take_pid),
    KEY("kind", process, kinds, take_kinds),
    KEY("running", process, running, take_yes),
    KEY("listed", process, listed, take_yes),
    KEY("name", process, name, take_text),
    KEY("memory", process, memory, take_number),
    KEY("protected_memory", process, protected_memory, take_number),
    KEY("max_memory", process, max_memory, take_number),
    KEY("gi", process, gpu_instance, take_number),
    KEY("ci", process, compute_instance, take_number),
    KEY("sm", process, engines[ENGINE_SM], take_number),
    KEY("mem", process, engines[ENGINE_MEMORY], take_number),
    KEY("enc", process, engines[ENGINE_ENCODER], take_number),
    KEY("dec", process, engines[ENGINE_DECODER], take_number),
    KEY("jpeg", process, engines[ENGINE_JPEG], take_number),
    KEY("ofa", process, engines[ENGINE_OFA], take_number),
    KEY("time_ms", process, time_ms, take_number),
    KEY("start_us", process, start_us, take_number),
    {NULL, 0, NULL},
};

static const struct key call_keys[] = {
    KEY("gpu", rule, gpu, take_place),
    KEY("latency", rule, latency_ns, take_duration),
    KEY("result", rule, result, take_unsigned),
    KEY("from_call", rule, from_call, take_count),
    KEY("until_call", rule, until_call, take_count),
    {NULL, 0, NULL},
};

/* -- sections: each finds or makes the thing that its keys describe ------------------------------
 */

struct device *scenario_find(const struct scenario *scenario, int gpu, int mig)
{
    for (size_t i = 0; i < scenario->device_count; i++) {
        struct device *device = scenario->devices[i];
        if (device->gpu == gpu && device->mig == mig)
            return device;
    }
    return NULL;
}

static void set_text(struct device *device, enum device_field field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void set_text(struct device *device, enum device_field field, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    value_parse_text(&device->fields[field], text);
}

static void fill_defaults(struct device *device, const struct device *parent)
{
    unsigned gpu = (unsigned)device->gpu, mig = (unsigned)device->mig;
    if (parent) {
        const char *name = parent->fields[FIELD_NAME].text;
        set_text(device, FIELD_NAME, "%s MIG 1g.10gb", name ? name : "NVIDIA");
        set_text(device, FIELD_UUID, "MIG-5e4f0000-%04x-5a10-8000-%012x", gpu, mig + 1);
        device->fields[FIELD_GPU_INSTANCE] = (struct value){.kind = VALUE_CONSTANT,
                                                            .first = mig + 7};
        device->fields[FIELD_COMPUTE_INSTANCE] = (struct value){.kind = VALUE_CONSTANT};
        return;
    }
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (field_rows[i].initial[0] && field_rows[i].kind == FIELD_TEXT)
            value_parse_text(&device->fields[i], field_rows[i].initial);
        else if (field_rows[i].initial[0])
            value_parse_number(&device->fields[i], field_rows[i].initial);
    }
    set_text(device, FIELD_UUID, "GPU-5e4f0000-%04x-4a10-8000-000000000000", gpu);
    set_text(device, FIELD_BUS_ID, "00000000:%02X:00.0", 0x17 + gpu);
    set_text(device, FIELD_SERIAL, "165002300%04u", gpu);
    device->fields[FIELD_MINOR_NUMBER] = (struct value){.kind = VALUE_CONSTANT, .first = gpu};
}

static struct device *add_device(struct scenario *scenario, int gpu, int mig)
{
    struct device *parent = mig < 0 ? NULL : scenario_find(scenario, gpu, -1);
    struct device *device = calloc(1, sizeof *device);
    struct device **grown = realloc(scenario->devices,
                                    (scenario->device_count + 1) * sizeof(struct device *));
    if (grown)
        scenario->devices = grown;
    if (!grown || !device)
        return free(device), NULL;
    device->gpu = gpu;
    device->mig = mig;
    fill_defaults(device, parent);
    grown[scenario->device_count++] = device;
    if (mig < 0)
        scenario->gpu_count++;
    return device;
}

static void *open_library(struct reader *reader, const char *name)
{
    return *name ? fail(reader, "[library] takes no name"), NULL : reader->scenario;
}

static void *open_gpu(struct reader *reader, const char *name)
{
    int gpu;
    if (take_index(&gpu, name) || gpu > (int)reader->scenario->gpu_count)
        return fail(reader, "[gpu N]: N counts up from 0, at most 63; not \"%s\"", name), NULL;
    struct device *found = scenario_find(reader->scenario, gpu, -1);
    return found ? found : add_device(reader->scenario, gpu, -1);
}

static void *open_mig(struct reader *reader, const char *name)
{
    int gpu, mig, end = 0;
    if (sscanf(name, "%d:%d%n", &gpu, &mig, &end) != 2 || name[end] || mig < 0 || mig >= MIGS_MAX ||
        !scenario_find(reader->scenario, gpu, -1))
        return fail(reader, "[mig GPU:INDEX]: a GPU given before and 0..15; not \"%s\"", name),
               NULL;
    struct device *found = scenario_find(reader->scenario, gpu, mig);
    return found ? found : add_device(reader->scenario, gpu, mig);
}

static void *open_process(struct reader *reader, const char *name)
{
    struct scenario *scenario = reader->scenario;
    for (size_t i = 0; i < scenario->process_count; i++) {
        if (strcmp(scenario->processes[i].label, name) == 0)
            return &scenario->processes[i];
    }
    struct process *grown = realloc(scenario->processes,
                                    (scenario->process_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    scenario->processes = grown;
    struct process *process = &grown[scenario->process_count++];
    *process = (struct process){.kinds = PROCESS_COMPUTE, .running = true, .listed = true};
    process->protected_memory.kind = VALUE_CONSTANT;
    snprintf(process->label, sizeof process->label, "%s", name);
    process->pid = (unsigned)(4000000 + scenario->process_count);
    return process;
}

static void *open_call(struct reader *reader, const char *name)
{
    struct scenario *scenario = reader->scenario;
    if ((strncmp(name, "nvml", 4) != 0 && strcmp(name, "*") != 0) || strlen(name) >= NAME_SIZE)
        return fail(reader, "[call NAME]: a function's name or *; not \"%s\"", name), NULL;
    for (size_t i = scenario->rule_count; reader->amends && i-- > 0;) {
        if (strcmp(scenario->rules[i].call, name) == 0)
            return &scenario->rules[i];
    }
    struct rule *grown = realloc(scenario->rules, (scenario->rule_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    scenario->rules = grown;
    struct rule *rule = &grown[scenario->rule_count++];
    *rule = (struct rule){.gpu = -1, .mig = -1, .from_call = 1, .until_call = UINT64_MAX};
    memcpy(rule->call, name, strlen(name));
    return rule;
}

static const struct section_kind {
    const char *name;
    void *(*open)(struct reader *reader, const char *name);
    const struct key *keys; /* NULL: the rows of fields.def */
} section_kinds[] = {
    {"library", open_library, library_keys},
    {"gpu", open_gpu, NULL},
    {"mig", open_mig, NULL},
    {"process", open_process, process_keys},
    {"call", open_call, call_keys},
};

static void open_section(struct reader *reader, const char *text)
{
    size_t size = strcspn(text, " \t");
    const char *name = text + size + strspn(text + size, " \t");
    for (size_t i = 0; i < sizeof section_kinds / sizeof section_kinds[0]; i++) {
        const struct section_kind *kind = &section_kinds[i];
        if (strlen(kind->name) == size && strncmp(kind->name, text, size) == 0) {
            reader->section = kind;
            reader->target = kind->open(reader, name);
            if (!reader->target)
                fail(reader, "out of memory");
            return;
        }
    }
    fail(reader,
         "unknown section [%s]; accepted: library, gpu N, mig GPU:INDEX, process LABEL, "
         "call NAME",
         text);
}

/* -- keys ----------------------------------------------------------------------------------------
 */

static void set_everything(struct reader *reader, struct device *device, const char *text)
{
    for (size_t i = IDENTITY_END; i < FIELD_COUNT; i++) {
        bool known = field_rows[i].kind == FIELD_TEXT
                         ? value_parse_text(&device->fields[i], text)
                         : value_parse_number(&device->fields[i], text);
        if (!known)
            fail(reader, "everything: accepted: %s", VALUE_NUMBER_FORMS);
    }
}

static void set_like(struct reader *reader, struct device *device, const char *text)
{
    int gpu, mig = -1, end = 0;
    struct device *model = NULL;
    if (sscanf(text, "%d%n:%d%n", &gpu, &end, &mig, &end) >= 1 && !text[end])
        model = scenario_find(reader->scenario, gpu, mig);
    if (!model) {
        fail(reader, "like: accepted: a GPU or GPU:MIG given before; not \"%s\"", text);
        return;
    }
    value_copy(&device->fields[FIELD_NAME], &model->fields[FIELD_NAME]);
    for (size_t i = IDENTITY_END; i < FIELD_COUNT; i++)
        value_copy(&device->fields[i], &model->fields[i]);
}

static void set_extra(struct reader *reader, struct device *device, const char *key,
                      const char *text)
{
    unsigned number;
    struct extra_field *extra = &device->extra[device->extra_count];
    if (device->extra_count == EXTRA_FIELDS_MAX || take_unsigned(&number, key + 6))
        fail(reader, "%s: accepted: field_NUMBER, at most 32 of them", key);
    else if (!value_parse_number(&extra->value, text))
        fail(reader, "%s: accepted: %s; not \"%s\"", key, VALUE_NUMBER_FORMS, text);
    else {
        extra->number = number;
        device->extra_count++;
    }
}

static void set_field(struct reader *reader, const char *key, const char *text)
{
    struct device *device = reader->target;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(field_rows[i].key, key) != 0)
            continue;
        const char *accepted = field_rows[i].kind == FIELD_TEXT
                                   ? take_text(&device->fields[i], text)
                                   : take_number(&device->fields[i], text);
        if (accepted)
            fail(reader, "%s: accepted: %s; not \"%s\"", key, accepted, text);
        return;
    }
    if (strcmp(key, "everything") == 0)
        set_everything(reader, device, text);
    else if (strcmp(key, "like") == 0)
        set_like(reader, device, text);
    else if (strncmp(key, "field_", 6) == 0)
        set_extra(reader, device, key, text);
    else
        fail(reader,
             "unknown key \"%s\" in [%s]; accepted: everything, like, field_NUMBER and "
             "the keys of fields.def (name, memory_total_bytes, ...)",
             key, reader->section->name);
}

static void set_key(struct reader *reader, const char *key, const char *text)
{
    if (!reader->target) {
        fail(reader, "\"%s\" before the first section; accepted: [library], [gpu 0], ...", key);
        return;
    }
    if (!reader->section->keys) {
        set_field(reader, key, text);
        return;
    }
    char names[400];
    size_t used = 0;
    for (const struct key *row = reader->section->keys; row->name; row++) {
        if (strcmp(row->name, key) == 0) {
            const char *accepted = row->take((char *)reader->target + row->offset, text);
            if (accepted)
                fail(reader, "%s: accepted: %s; not \"%s\"", key, accepted, text);
            return;
        }
        int size = snprintf(names + used, sizeof names - used, " %s", row->name);
        used += size > 0 && used + (size_t)size < sizeof names ? (size_t)size : 0;
    }
    fail(reader, "unknown key \"%s\" in [%s]; accepted:%s", key, reader->section->name, names);
}

static void read_line(struct reader *reader, char *line)
{
    size_t size = strlen(line);
    while (size > 0 && isspace((unsigned char)line[size - 1]))
        line[--size] = '\0';
    line += strspn(line, " \t");
    if (*line == '\0' || *line == '#')
        return;
    size = strlen(line);
    if (line[0] == '[' && line[size - 1] == ']') {
        line[size - 1] = '\0';
        open_section(reader, line + 1);
        return;
    }
    char *equals = strchr(line, '=');
    if (!equals) {
        fail(reader, "\"%s\"; accepted: # comment, [section] or key = value", line);
        return;
    }
    char *end = equals;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    equals++;
    set_key(reader, line, equals + strspn(equals, " \t"));
}

/* -- whole scenarios -----------------------------------------------------------------------------
 */

static int compare_devices(const void *left, const void *right)
{
    const struct device *a = *(struct device *const *)left, *b = *(struct device *const *)right;
    return a->gpu != b->gpu ? (a->gpu > b->gpu) - (a->gpu < b->gpu)
                            : (a->mig > b->mig) - (a->mig < b->mig);
}

static void check(struct reader *reader)
{
    struct scenario *scenario = reader->scenario;
    for (size_t i = 0; i < scenario->process_count; i++) {
        if (!scenario_find(scenario, scenario->processes[i].gpu, -1))
            fail(reader, "[process %s]: there is no gpu %d", scenario->processes[i].label,
                 scenario->processes[i].gpu);
    }
    if (scenario->device_count)
        qsort(scenario->devices, scenario->device_count, sizeof *scenario->devices,
              compare_devices);
}

struct scenario *scenario_parse(const char *name, const char *text)
{
    struct reader reader = {.scenario = calloc(1, sizeof(struct scenario)), .file = name};
    char *copy = strdup(text);
    if (!reader.scenario || !copy)
        return free(copy), free(reader.scenario), NULL;
    reader.scenario->sample_period_ns = 166666000;
    reader.scenario->topology_level = 50;
    for (char *line = copy, *next; line && !reader.failed; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        reader.line++;
        read_line(&reader, line);
    }
    free(copy);
    if (!reader.failed)
        check(&reader);
    if (reader.failed) {
        scenario_free(reader.scenario);
        return NULL;
    }
    return reader.scenario;
}

bool scenario_set(struct scenario *scenario, const char *section, const char *key,
                  const char *value)
{
    struct reader reader = {.scenario = scenario, .file = "simulated_nvml_set", .amends = true};
    open_section(&reader, section);
    if (!reader.failed)
        set_key(&reader, key, value);
    if (!reader.failed)
        check(&reader);
    return !reader.failed;
}

static void free_process(struct process *process)
{
    struct value *values[] = {&process->memory,           &process->protected_memory,
                              &process->max_memory,       &process->gpu_instance,
                              &process->compute_instance, &process->time_ms,
                              &process->start_us,         &process->name};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        value_done(values[i]);
    for (size_t i = 0; i < ENGINES; i++)
        value_done(&process->engines[i]);
}

void scenario_free(struct scenario *scenario)
{
    if (!scenario)
        return;
    for (size_t i = 0; i < scenario->device_count; i++) {
        struct device *device = scenario->devices[i];
        for (size_t f = 0; f < FIELD_COUNT; f++)
            value_done(&device->fields[f]);
        free(device);
    }
    for (size_t i = 0; i < scenario->process_count; i++)
        free_process(&scenario->processes[i]);
    value_done(&scenario->driver_version);
    value_done(&scenario->driver_branch);
    value_done(&scenario->nvml_version);
    value_done(&scenario->cuda_version);
    free(scenario->devices);
    free(scenario->processes);
    free(scenario->rules);
    free(scenario);
}
