/* read_json.c: recordings that are JSON: an account alone, or resource-tracker-rs's lines, one for
 * each sample. jansson reads the JSON itself. */
#include "feed/built_without.h"
#include "record/recording_data.h"

#include <math.h>
#include <string.h>

#include "feed/text.h"
#include "util/base.h"

enum {
    LINE_MAX_BYTES = 16 * 1024 * 1024,
    ACCOUNT_MAX_BYTES = 64 * 1024 * 1024,
    CORES_READ_MAX = 64 /* each is a series; more would thin the curves early */
};

#if VITALS_WITH_JANSSON
#include <jansson.h>

#define MIB 1048576.0

/* A number of a line, and the measure that it is. */
static const struct json_member {
    const char *object, *name; /* object NULL: at the top */
    const char *measure, *subject;
    double scale;
    bool growth;
} MEMBERS[] = {
    {"cpu", "utilization_pct", "cpu_cores", "system", 1, false}, /* in cores, despite its name */
    {"cpu", "utime_secs", "cpu_user_seconds", "system", 1, true},
    {"cpu", "stime_secs", "cpu_system_seconds", "system", 1, true},
    {"cpu", "process_count", "processes", "system", 1, false},
    {"cpu", "process_cores_used", "cpu_cores", "", 1, false},
    {"cpu", "process_child_count", "processes", "descendants", 1, false},
    {"cpu", "process_utime_secs", "cpu_user_seconds", "", 1, true},
    {"cpu", "process_stime_secs", "cpu_system_seconds", "", 1, true},
    {"cpu", "process_pss_mib", "memory_pss_bytes", "", MIB, false},
    {"cpu", "process_rss_mib", "memory_resident_bytes", "", MIB, false},
    {"cpu", "process_disk_read_bytes", "disk_read_bytes", "", 1, true},
    {"cpu", "process_disk_write_bytes", "disk_written_bytes", "", 1, true},
    {"cpu", "process_gpu_usage", "gpu_utilization_ratio", "", 1, false},
    {"cpu", "process_gpu_vram_mib", "gpu_memory_bytes", "", MIB, false},
    {"cpu", "process_gpu_utilized", "devices_busy", "", 1, false},
    {"cpu", "cgroup_utilization_pct", "cpu_cores", "cgroup", 1, false}, /* cores too */
    {"cpu", "cgroup_usage_secs", "cpu_seconds", "cgroup", 1, true},
    {"memory", "total_mib", "memory_total_bytes", "system", MIB, false},
    {"memory", "free_mib", "memory_free_bytes", "system", MIB, false},
    {"memory", "available_mib", "memory_available_bytes", "system", MIB, false},
    {"memory", "used_mib", "memory_used_bytes", "system", MIB, false},
    {"memory", "buffers_mib", "memory_buffers_bytes", "system", MIB, false},
    {"memory", "cached_mib", "memory_cached_bytes", "system", MIB, false},
    {"memory", "swap_used_mib", "swap_used_bytes", "system", MIB, false},
    {"memory", "active_mib", "memory_active_bytes", "system", MIB, false},
    {"memory", "inactive_mib", "memory_inactive_bytes", "system", MIB, false},
};

/* Numbers that are summed over a list. */
static const struct json_member SUMS[] = {
    {"network", "rx_bytes_total", "network_received_bytes", "system", 1, false},
    {"network", "tx_bytes_total", "network_transmitted_bytes", "system", 1, false},
    {"disk", "read_bytes_total", "disk_read_bytes", "system", 1, false},
    {"disk", "write_bytes_total", "disk_written_bytes", "system", 1, false},
};

/* Numbers of a GPU, named by its UUID. */
static const struct json_member DEVICE[] = {
    {"gpu", "utilization_pct", "device_utilization_ratio", NULL, 0.01, false},
    {"gpu", "vram_used_bytes", "device_memory_used_bytes", NULL, 1, false},
    {"gpu", "vram_total_bytes", "device_memory_total_bytes", NULL, 1, false},
    {"gpu", "temperature_celsius", "device_temperature_celsius", NULL, 1, false},
    {"gpu", "power_watts", "device_power_watts", NULL, 1, false},
};

static void put_member(struct recording *recording, const struct json_member *member,
                       const char *subject, const json_t *value)
{
    if (!json_is_number(value))
        return;
    size_t index = recording_measure_index(recording, member->measure, subject);
    double number = json_number_value(value) * member->scale;
    if (member->growth)
        recording_growth(recording, index, number);
    else
        recording_value(recording, index, number);
}

static void take_values(struct recording *recording, const json_t *line, size_t *cores)
{
    static const struct json_member CORE = {"cpu", "per_core_pct", "cpu_ratio", NULL, 0.01, false};
    for (size_t i = 0; i < ARRAY_COUNT(MEMBERS); i++)
        put_member(recording, &MEMBERS[i], MEMBERS[i].subject,
                   json_object_get(json_object_get(line, MEMBERS[i].object), MEMBERS[i].name));

    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++) {
        const json_t *list = json_object_get(line, SUMS[i].object);
        double sum = 0;
        bool any = false;
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *value = json_object_get(json_array_get(list, k), SUMS[i].name);
            any = any || json_is_number(value);
            sum += json_number_value(value);
        }
        if (any)
            recording_value(recording,
                            recording_measure_index(recording, SUMS[i].measure, SUMS[i].subject),
                            sum);
    }

    const json_t *devices = json_object_get(line, "gpu");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        const char *uuid = json_string_value(json_object_get(device, "uuid"));
        for (size_t k = 0; k < ARRAY_COUNT(DEVICE) && uuid != NULL && uuid[0] != '\0'; k++)
            put_member(recording, &DEVICE[k], uuid, json_object_get(device, DEVICE[k].name));
    }

    const json_t *list = json_object_get(json_object_get(line, CORE.object), CORE.name);
    *cores = size_max(*cores, json_array_size(list));
    for (size_t i = 0; i < json_array_size(list) && i < CORES_READ_MAX; i++) {
        char subject[NUMBER_WORDS + 4];
        (void)snprintf(subject, sizeof subject, "cpu%zu", i);
        put_member(recording, &CORE, subject, json_array_get(list, i));
    }
}

/* Returns false if it is no line of resource-tracker-rs. `cores` is the most CPUs that a line
 * held. */
static bool take_line(struct recording *recording, const char *bytes, size_t size, size_t *cores)
{
    json_t *line = json_loadb(bytes, size, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    const json_t *time = json_object_get(line, "timestamp_secs");
    const json_t *pid = json_object_get(line, "tracked_pid");
    const char *name = json_string_value(json_object_get(line, "job_name"));
    double seconds = json_number_value(time);
    bool good = json_is_number(time) && isfinite(seconds);
    bool first = good && recording->rows_seen == 0;
    if (first && name != NULL)
        recording_attribute(recording, "command", vitals_text_of(name));
    if (first && json_is_number(pid)) {
        char digits[NUMBER_WORDS];
        number_shortest(json_number_value(pid), digits);
        recording_attribute(recording, "pid", vitals_text_of(digits));
    }
    if (good) {
        recording_row(recording, seconds);
        take_values(recording, line, cores);
        recording_row_end(recording);
    }
    json_decref(line);
    return good;
}

/* ---- an account ---- */

static int wrong(const char *path, vitals_error *error, const char *what)
{
    return record_fail(VITALS_EFORMAT, path, error, "its account is wrong: %s", what);
}

/* Returns "" if the member is no text. A text that holds a NUL ends there. */
static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text != NULL ? text : "";
}

static int read_figure(const char *path, const json_t *figure, vitals_account *account,
                       vitals_error *error)
{
    const json_t *value = json_object_get(figure, "value");
    const vitals_figure_form form = {
        .size = sizeof(vitals_figure_form),
        .name = text_of(figure, "name"),
        .unit = text_of(figure, "unit"),
        .subject = text_of(figure, "subject"),
        .label = text_of(figure, "label"),
        .source = text_of(figure, "source"),
        .state = vitals_availability_from_name(text_of(figure, "availability")),
        .value = json_number_value(value),
    };
    vitals_error reason;
    if (!json_is_object(figure) || form.name[0] == '\0')
        return wrong(path, error, "a figure has no name");
    if (form.state == VITALS_UNSET)
        return wrong(path, error, "a figure has no availability that we know");
    if (form.state > 0 && (!json_is_number(value) || !isfinite(form.value)))
        return wrong(path, error, "a figure that is there has no number");
    if (form.state > 0 && !recording_is_possible(form.unit, form.value))
        return wrong(path, error, "a figure is less than nothing, or more than any machine has");
    if (vitals_account_add(account, &form, &reason) < 0)
        return record_fail(reason.code, path, error, "%s", reason.message);
    return 0;
}

int account_json_read(const char *path, const char *bytes, size_t size, vitals_account **out,
                      vitals_error *error)
{
    json_error_t where;
    vitals_error reason;
    vitals_account *account = NULL;
    const char *name;
    json_t *attribute,
        *root = json_loadb(bytes, size, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &where);
    if (root == NULL)
        return record_fail(VITALS_EFORMAT, path, error, "line %d: %.80s", where.line, where.text);
    const json_t *figures = json_object_get(root, "figures");
    const char *failure = text_of(root, "failure");
    double exit_code = json_number_value(json_object_get(root, "exit_code"));
    double signal = json_number_value(json_object_get(root, "signal"));
    int code = vitals_account_new(&account, error);
    if (code == 0 && json_number_value(json_object_get(root, "schema")) > VITALS_SCHEMA)
        code = record_fail(VITALS_EUNSUPPORTED, path, error,
                           "was written by a newer vitals; update vitals to read it");
    else if (code == 0 && !json_is_array(figures))
        code = wrong(path, error, "it has no figures");

    json_object_foreach(json_object_get(root, "attributes"), name, attribute)
    {
        vitals_text text = {json_string_value(attribute), json_string_length(attribute)};
        if (code == 0 && text.bytes == NULL)
            code = wrong(path, error, "an attribute is no text");
        else if (code == 0 && vitals_account_set(account, name, text, &reason) == VITALS_EMEMORY)
            code = record_fail(VITALS_EMEMORY, path, error, "%s", reason.message);
    }
    bool ended = code == 0 && vitals_account_attribute(account, "exit").size > 0;
    if (ended && exit_code >= 0 && exit_code <= 255 && signal >= 0 && signal <= 128)
        vitals_account_ended(account, (int)exit_code, (int)signal);
    if (code == 0 && failure[0] != '\0')
        code = vitals_account_set(account, "failure", vitals_text_of(failure), error);
    for (size_t i = 0; i < json_array_size(figures) && code == 0; i++)
        code = read_figure(path, json_array_get(figures, i), account, error);

    json_decref(root);
    if (code == 0)
        *out = account;
    else
        vitals_account_free(account);
    return code;
}

#else

static bool take_line(struct recording *recording UNUSED, const char *bytes UNUSED,
                      size_t size UNUSED, size_t *cores UNUSED)
{
    return false;
}

int account_json_read(const char *path, const char *bytes UNUSED, size_t size UNUSED,
                      vitals_account **out UNUSED, vitals_error *error)
{
    return record_fail(VITALS_EUNSUPPORTED, path, error, BUILT_WITHOUT_JSON);
}

#endif

static int read_lines(struct recording *recording, FILE *file, struct buffer *line,
                      vitals_error *error)
{
    uint64_t broken = 0;
    size_t cores = 0;
    int byte = 0;
    while (byte != EOF && !recording->no_memory && !line->failed) {
        buffer_reset(line);
        while ((byte = getc_unlocked(file)) != EOF && byte != '\n')
            if (line->size < LINE_MAX_BYTES)
                buffer_byte(line, (char)byte);

        bool empty = line->size == 0;
        if (empty && byte == EOF)
            break;
        bool good = take_line(recording, empty ? "" : line->bytes, line->size, &cores);
        if (!good && byte == EOF)
            recording_wrong(recording, "its last line is cut off and was left out");
        else
            broken += !good && !empty;
    }
    if (line->failed)
        return record_no_memory(recording->path, error);
    if (recording->rows_seen == 0)
        return record_fail(VITALS_EFORMAT, recording->path, error,
                           "is JSON, but neither an account nor a recording");
    if (broken > 0)
        recording_wrong(recording, "%llu of its lines are broken and were left out",
                        (unsigned long long)broken);
    if (cores > CORES_READ_MAX)
        recording_wrong(recording, "it tells of %zu CPUs: only the first %d were read one by one",
                        cores, CORES_READ_MAX);
    recording->format = "resource-tracker-rs";
    return 0;
}

static int read_account(struct recording *recording, FILE *file, struct buffer *text,
                        vitals_error *error)
{
    char chunk[64 * 1024];
    vitals_account *account = NULL;
    for (size_t size; text->size <= ACCOUNT_MAX_BYTES && !text->failed &&
                      (size = fread(chunk, 1, sizeof chunk, file)) > 0;)
        buffer_append(text, chunk, size);
    if (text->failed)
        return record_no_memory(recording->path, error);
    if (text->size > ACCOUNT_MAX_BYTES)
        return record_fail(VITALS_EFORMAT, recording->path, error,
                           "is larger than an account may be");
    int code = account_json_read(recording->path, text->bytes, text->size, &account, error);
    if (code < 0)
        return code;
    vitals_account_free(recording->account);
    recording->account = account;
    recording->account_stored = true;
    recording->format = "json";
    return 0;
}

int read_json(struct recording *recording, FILE *file, vitals_error *error)
{
    struct buffer text = {0};
    char head[256];
    head[fread(head, 1, sizeof head - 1, file)] = '\0';
    rewind(file);
    bool is_account = strstr(head, "\"timestamp_secs\"") == NULL &&
                      strstr(head, "\"schema\"") != NULL;
    int code = is_account ? read_account(recording, file, &text, error)
                          : read_lines(recording, file, &text, error);
#if !VITALS_WITH_JANSSON
    if (code == VITALS_EFORMAT)
        code = record_fail(VITALS_EUNSUPPORTED, recording->path, error, BUILT_WITHOUT_JSON);
#endif
    buffer_done(&text);
    return code;
}
