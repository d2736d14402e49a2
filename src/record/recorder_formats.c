/* recorder_formats.c: the table of formats, and the choice by name or path. */
#include "record/format.h"

#include <stdio.h>
#include <string.h>

/* gpu_tracker's two forms share a name; the ending of the path selects one. */
static const struct format *const FORMATS[] = {&FORMAT_DATABASE, &FORMAT_CSV, &FORMAT_GPU_TRACKER,
                                               &FORMAT_GPU_TRACKER_DATABASE};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof FORMATS[0] };

static const struct {
    const char *ending;
    const char *format;
} ENDINGS[] = {{".db", "vitals"},
               {".sqlite", "vitals"},
               {".sqlite3", "vitals"},
               {".vitals", "vitals"},
               {".csv", "vitals-csv"}};

static const struct format *format_at(size_t index)
{
    if (index < FORMAT_COUNT)
        return FORMATS[index];
    return index - FORMAT_COUNT < FORMAT_DIALECT_COUNT ? &FORMAT_DIALECTS[index - FORMAT_COUNT]
                                                       : NULL;
}

const char *recorder_format_name(size_t index)
{
    const struct format *format = format_at(index);
    return format != NULL ? format->name : NULL;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t size = strlen(path), tail = strlen(ending);
    return size >= tail && strcmp(path + size - tail, ending) == 0;
}

int format_choose(const char *name, const char *path, const struct format **out,
                  vitals_error *error)
{
    bool standard = path == NULL || strcmp(path, "-") == 0;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0] && name == NULL && !standard; i++)
        if (ends_in(path, ENDINGS[i].ending))
            name = ENDINGS[i].format;
    if (name == NULL && !standard)
        return record_fail(VITALS_EARGUMENT, path, error,
                           "its ending tells no format: .db (SQLite) or .csv, or say --format");
    if (name == NULL || strcmp(name, "csv") == 0)
        name = FORMAT_CSV.name;
    if (strcmp(name, "gpu-tracker") == 0 && !standard && ends_in(path, ".sqlite"))
        name = FORMAT_GPU_TRACKER_DATABASE.name;

    char list[200] = "";
    for (size_t i = 0; format_at(i) != NULL; i++) {
        const char *known = format_at(i)->name;
        size_t used = strlen(list);
        if (strcmp(known, name) == 0) {
            *out = format_at(i);
            return 0;
        }
        if (used + strlen(known) + 3 <= sizeof list)
            (void)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", known);
    }
    return record_fail(VITALS_EARGUMENT, name, error, "no such format: there are %s", list);
}

/* NULL: the options name none. */
static const struct format *format_of(const struct recorder_options *options)
{
    const struct format *format;
    vitals_error error;
    return format_choose(options->format, options->path, &format, &error) == 0 ? format : NULL;
}

bool recorder_samples_machine(const struct recorder_options *options)
{
    const struct format *format = format_of(options);
    return format != NULL && format->machine;
}

bool recorder_needs_processes(const struct recorder_options *options)
{
    const struct format *format = format_of(options);
    return format != NULL && format->tree;
}

bool recorder_may_keep_frames(const struct recorder_options *options)
{
    const struct format *format = format_of(options);
    return format == NULL || format == &FORMAT_DATABASE;
}
