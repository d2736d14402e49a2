/* layout.c: see layout.h. */
#include "command/look/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed/built_without.h"
#include "monitor/list/columns.h"
#include "util/file.h"
#include "util/memory.h"
#include "view/theme.h"

enum { LAYOUT_BYTES_MAX = 1 << 16 };

VITALS_FORMAT(2, 3) static int tell(char *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(out, LAYOUT_MESSAGE, format, arguments);
    va_end(arguments);
    return -1;
}

#if VITALS_WITH_JANSSON

#include <jansson.h>

struct layout_reader {
    const char *path, *bytes;
    size_t size;
    char *message;
};

static int fail_at(const struct layout_reader *reader, const char *word, const char *what)
{
    size_t line, column;
    config_find(reader->bytes, reader->size, word, SIZE_MAX, &line, &column);
    return tell(reader->message, "%s:%zu:%zu: \"%s\" %s", command_safe(reader->path), line, column,
                command_safe(word), what);
}

/* ---- reading ---- */

typedef int read_member(const struct layout_reader *reader, const char *key, const json_t *value,
                        struct arrangement *out);

/* Reads a list; "user+4" is a column four columns wider. The command is always the last column. */
static int read_list(const struct layout_reader *reader, const char *key, const json_t *value,
                     enum view view, struct arranged_columns *out)
{
    out->count = 0;
    if (!json_is_array(value) || json_array_size(value) >= ARRANGED_COLUMNS)
        return fail_at(reader, key, "must be a list of names of columns");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *word = json_string_value(json_array_get(value, i));
        if (word == NULL)
            return fail_at(reader, key, "must be a list of names of columns");
        if (strcmp(word, "command") == 0)
            continue;
        size_t size = strcspn(word, "+-"), place = column_find(word, size);
        char *end = NULL;
        long wider = word[size] != '\0' ? strtol(word + size, &end, 10) : 0;
        bool written = end == NULL || (*end == '\0' && end > word + size + 1);
        if (place == list_column_count || !(list_columns[place].views & view))
            return fail_at(reader, word, "is not a column of this list");
        if (list_columns[place].width == 0)
            return fail_at(reader, word, "has no width of its own");
        if (!written || wider > INT_MAX || wider < -INT_MAX / 2 ||
            !column_may_be(&list_columns[place], (int)wider))
            return fail_at(reader, word, "is not a valid width for this column");
        for (size_t j = 0; j < out->count; j++) {
            if (out->items[j].column == place)
                return fail_at(reader, word, "is there twice");
        }
        out->items[out->count++] = (struct arranged_column){(unsigned)place, (int)wider};
    }
    out->items[out->count++] = (struct arranged_column){
        .column = (unsigned)column_find("command", 7)};
    return 0;
}

static int read_columns(const struct layout_reader *reader, const char *key, const json_t *value,
                        struct arrangement *out)
{
    const char *name;
    json_t *list;
    if (!json_is_object(value))
        return fail_at(reader, key, "must be an object with \"devices\" and \"all\"");
    json_object_foreach((json_t *)value, name, list)
    {
        bool all = strcmp(name, "all") == 0;
        if (!all && strcmp(name, "devices") != 0)
            return fail_at(reader, name, "is no list; there are \"devices\" and \"all\"");
        if (read_list(reader, name, list, all ? VIEW_ALL : VIEW_DEVICES, &out->views[all]) < 0)
            return -1;
    }
    return 0;
}

static int read_sorts(const struct layout_reader *reader, const char *key, const json_t *value,
                      struct arrangement *out)
{
    if (!json_is_array(value) || json_array_size(value) > ARRANGED_SORTS)
        return fail_at(reader, key, "must be a list of at most 4 columns");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *word = json_string_value(json_array_get(value, i));
        if (word == NULL)
            return fail_at(reader, key, "must be a list of at most 4 columns");
        bool reversed = word[0] == '-';
        const char *name = word + reversed;
        size_t place = column_find(name, strlen(name));
        bool natural = i == 0 && strcmp(name, "none") == 0;
        if (!natural && (place == list_column_count || !column_sorts(&list_columns[place])))
            return fail_at(reader, word, "is not a column that can be sorted by");
        out->sorts[out->sort_count++] = (struct arranged_sort){natural ? 0 : (unsigned)place + 1,
                                                               reversed};
    }
    return 0;
}

/* Returns the index of a word among names that end with NULL, or -1. */
static int find_name(const char *const *names, const json_t *value)
{
    const char *word = json_string_value(value);
    for (int i = 0; word != NULL && names[i] != NULL; i++) {
        if (strcmp(names[i], word) == 0)
            return i;
    }
    return -1;
}

static int read_hidden(const struct layout_reader *reader, const char *key, const json_t *value,
                       struct arrangement *out)
{
    int place = 0;
    for (size_t i = 0; i < json_array_size(value) && place >= 0; i++) {
        place = find_name(panel_names, json_array_get(value, i));
        out->hidden |= place >= 0 ? 1u << place : 0;
    }
    return json_is_array(value) && place >= 0
               ? 0
               : fail_at(reader, key, "must be a list of devices, host and graphs");
}

static int read_plain(const struct layout_reader *reader, const char *key, const json_t *value,
                      struct arrangement *out)
{
    out->plain = json_is_true(value);
    return json_is_boolean(value) ? 0 : fail_at(reader, key, "must be true or false");
}

/* The filter is shown unchanged, so it must be safe to print. */
static int read_filter(const struct layout_reader *reader, const char *key, const json_t *value,
                       struct arrangement *out)
{
    char safe[ARRANGED_FILTER * 4];
    const char *word = json_string_value(value);
    size_t size = json_string_length(value);
    if (word == NULL || size >= sizeof out->filter)
        return fail_at(reader, key, "must be a text of less than 96 bytes");
    (void)vitals_text_format((vitals_text){word, size}, VITALS_TEXT_TERMINAL, safe, sizeof safe);
    if (strlen(word) != size || strcmp(word, safe) != 0)
        return fail_at(reader, key, "holds characters that cannot be printed");
    memcpy(out->filter, word, size + 1);
    return 0;
}

static const char *const MEMORIES[] = {"bytes", "percent", NULL};
static const char *const LISTS[] = {"devices", "all", NULL};
static const char *const MODES[] = {"auto", "full", "compact", NULL};
static const char *const SCREENS[] = {"vitals", "nvitop", NULL};

enum { GROUP, MEMORY, LIST, PANELS, TRAFFIC, SCREEN, THEME, SPAN, SECOND };

/* Members whose value is one of some words. */
static const struct {
    const char *key;
    const char *const *words;
    const char *wrong;
} CHOICES[] = {
    [GROUP] = {"group", group_names, "must be none, user, container, job, service or parent"},
    [MEMORY] = {"memory", MEMORIES, "must be bytes or percent"},
    [LIST] = {"list", LISTS, "must be devices or all"},
    [PANELS] = {"panels", MODES, "must be auto, full or compact"},
    [TRAFFIC] = {"traffic", traffic_names, "must be auto, always or never"},
    [SCREEN] = {"screen", SCREENS, "must be vitals or nvitop"},
    [THEME] = {"theme", theme_names, "must be dark, light, contrast or mono"},
    [SPAN] = {"time_base", span_names, "must be 6s, 20s, 60s or 2s"},
    [SECOND] = {"second_chart", second_names, "must be memory, power or temperature"},
};

static const struct {
    const char *key;
    read_member *read;
} MEMBERS[] = {
    {"columns", read_columns}, {"sort", read_sorts},    {"hidden", read_hidden},
    {"plain", read_plain},     {"filter", read_filter},
};

static int read_object(const struct layout_reader *reader, json_t *object, struct arrangement *out)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t word = 0, i = 0;
        while (word < ARRAY_COUNT(CHOICES) && strcmp(CHOICES[word].key, key) != 0)
            word++;
        while (i < ARRAY_COUNT(MEMBERS) && strcmp(MEMBERS[i].key, key) != 0)
            i++;
        if (word == ARRAY_COUNT(CHOICES) && i == ARRAY_COUNT(MEMBERS))
            return fail_at(reader, key, "is not a key of a layout");
        if (i < ARRAY_COUNT(MEMBERS)) {
            if (MEMBERS[i].read(reader, key, value, out) < 0)
                return -1;
            continue;
        }
        int place = find_name(CHOICES[word].words, value);
        if (place < 0)
            return fail_at(reader, key, CHOICES[word].wrong);
        switch (word) {
        case GROUP: out->group = (enum group_by)place; break;
        case MEMORY: out->percent = place == 1; break;
        case LIST: out->all = place == 1; break;
        case PANELS: out->mode = (char)(place + 1); break;
        case TRAFFIC: out->traffic = (char)place; break;
        case SCREEN: out->nvitop = place == 1; break;
        case THEME: out->theme = (char)(place + 1); break;
        case SPAN: out->span = place; break;
        case SECOND: out->second = (enum second_chart)place; break;
        }
    }
    return 0;
}

int layout_parse(const char *path, const char *bytes, size_t size, struct arrangement *out,
                 char message[static LAYOUT_MESSAGE])
{
    json_error_t error;
    struct layout_reader reader = {path, bytes, size, message};
    json_t *object = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    int code = 0;
    *out = (struct arrangement){.sort_count = 0};
    if (object == NULL)
        return tell(message, "%s:%d:%d: %s", command_safe(path), error.line > 0 ? error.line : 1,
                    error.column > 0 ? error.column : 1, command_safe(error.text));
    if (!json_is_object(object))
        code = tell(message, "%s:1:1: a layout is one object: {\"group\": \"user\"}",
                    command_safe(path));
    else
        code = read_object(&reader, object, out);
    json_decref(object);
    if (code < 0)
        *out = (struct arrangement){.sort_count = 0};
    return code;
}

/* ---- writing ---- */

/* NULL: out of memory. */
static char *layout_text(const struct arrangement *arrangement)
{
    json_t *object = json_object(), *columns = json_object(), *sorts = json_array();
    json_t *hidden = json_array();
    char word[48];
    for (size_t i = 0; i < ARRANGED_VIEWS; i++) {
        const struct arranged_columns *view = &arrangement->views[i];
        json_t *list = json_array();
        for (size_t j = 0; j < view->count; j++) {
            int wider = view->items[j].wider;
            (void)snprintf(word, sizeof word, wider != 0 ? "%s%+d" : "%s",
                           list_columns[view->items[j].column].key, wider);
            (void)json_array_append_new(list, json_string(word));
        }
        if (view->count > 0)
            (void)json_object_set(columns, LISTS[i], list);
        json_decref(list);
    }
    for (size_t i = 0; i < arrangement->sort_count; i++) {
        const struct column *column = columns_sorted(arrangement->sorts[i].sort);
        (void)snprintf(word, sizeof word, "%s%s", arrangement->sorts[i].reversed ? "-" : "",
                       column != NULL ? column->key : "none");
        (void)json_array_append_new(sorts, json_string(word));
    }
    for (size_t i = 0; panel_names[i] != NULL; i++) {
        if (arrangement->hidden & (1u << i))
            (void)json_array_append_new(hidden, json_string(panel_names[i]));
    }

    (void)json_object_set_new(object, "columns", columns);
    (void)json_object_set_new(object, "sort", sorts);
    (void)json_object_set_new(object, "group", json_string(group_names[arrangement->group]));
    (void)json_object_set_new(object, "hidden", hidden);
    (void)json_object_set_new(object, "memory", json_string(MEMORIES[arrangement->percent]));
    (void)json_object_set_new(object, "list", json_string(LISTS[arrangement->all]));
    if (arrangement->mode != 0)
        (void)json_object_set_new(object, "panels", json_string(MODES[arrangement->mode - 1]));
    if (arrangement->traffic != TRAFFIC_AUTO)
        (void)json_object_set_new(object, "traffic",
                                  json_string(traffic_names[(int)arrangement->traffic]));
    if (arrangement->nvitop)
        (void)json_object_set_new(object, "screen", json_string(SCREENS[1]));
    if (arrangement->theme != 0)
        (void)json_object_set_new(object, "theme",
                                  json_string(theme_names[arrangement->theme - 1]));
    if (arrangement->span != 0)
        (void)json_object_set_new(object, "time_base", json_string(span_names[arrangement->span]));
    if (arrangement->second != SECOND_MEMORY)
        (void)json_object_set_new(object, "second_chart",
                                  json_string(second_names[arrangement->second]));
    (void)json_object_set_new(object, "plain", json_boolean(arrangement->plain));
    (void)json_object_set_new(object, "filter", json_string(arrangement->filter));
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(object);
    return text;
}

#else

int layout_parse(const char *path, const char *bytes UNUSED, size_t size UNUSED,
                 struct arrangement *out, char message[static LAYOUT_MESSAGE])
{
    *out = (struct arrangement){.sort_count = 0};
    return tell(message, "%s: " BUILT_WITHOUT_JSON, command_safe(path));
}

static char *layout_text(const struct arrangement *arrangement UNUSED)
{
    errno = ENOTSUP;
    return NULL;
}

#endif

/* ---- files ---- */

static int read_layout(const char *path, bool named, struct arrangement *out, char *message)
{
    struct file_text file;
    *out = (struct arrangement){.sort_count = 0};
    int code = file_read_whole(path, LAYOUT_BYTES_MAX, FILE_PRIVILEGED, &file);
    if (!named && (code == -ENOENT || code == -ENOTDIR))
        return 0;
    if (code < 0)
        return tell(message, "%s: %s", command_safe(path), file.why);
    code = layout_parse(path, file.bytes, file.size, out, message);
    memory_free(file.bytes);
    return code;
}

/* Cuts the last part of a path off; returns false if there is none. */
static bool cut_last(char *path)
{
    char *last = strrchr(path, '/');
    if (last == NULL || last == path)
        return false;
    *last = '\0';
    return true;
}

/* Makes no folder inside a folder of another user (sudo). */
static void make_folder(const char *path)
{
    struct stat above;
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s", path) < (int)sizeof folder && cut_last(folder) &&
        stat(folder, &above) == 0 && above.st_uid == geteuid())
        (void)mkdir(path, 0700);
}

/* The file keeps its owner; a new one gets the folder's owner, and only that user may read it. */
static bool hand_over(int descriptor, const char *path)
{
    struct stat status;
    char folder[PATH_MAX];
    bool there = stat(path, &status) == 0;
    if (!there && (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder ||
                   !cut_last(folder) || stat(folder, &status) < 0))
        return true;
    if (geteuid() == 0 && status.st_uid != 0 &&
        fchown(descriptor, status.st_uid, status.st_gid) < 0)
        return false;
    return !there || fchmod(descriptor, status.st_mode & 07777) == 0;
}

/* A link is kept: the file that it names is written, if it exists. */
static int replace_file(const char *path, const char *text)
{
    char real[PATH_MAX], fresh[PATH_MAX + 8];
    struct stat status;
    if (stat(path, &status) < 0 && lstat(path, &status) == 0) {
        errno = ENOENT;
        return -1;
    }
    if (realpath(path, real) == NULL && snprintf(real, sizeof real, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)snprintf(fresh, sizeof fresh, "%s.XXXXXX", real);
    int descriptor = mkostemp(fresh, O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    bool written = file_write_all(descriptor, text, strlen(text)) &&
                   file_write_all(descriptor, "\n", 1) && fsync(descriptor) == 0 &&
                   hand_over(descriptor, real);
    if (close(descriptor) == 0 && written && rename(fresh, real) == 0)
        return 0;
    int kept = errno;
    (void)unlink(fresh);
    errno = kept;
    return -1;
}

/* Replaces the file atomically, and makes its folder; `message` says whether it could. */
static void write_layout(const char *path, const struct arrangement *arrangement,
                         char message[static LAYOUT_MESSAGE])
{
    errno = ENOMEM;
    char *text = layout_text(arrangement);
    if (text == NULL) {
        (void)tell(message, "no layout is written: %s", strerror(errno));
        return;
    }

    /* The folder of a file, and the parent of that folder. */
    char folder[PATH_MAX], above[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s", path) < (int)sizeof folder && cut_last(folder)) {
        memcpy(above, folder, sizeof above);
        if (cut_last(above))
            make_folder(above);
        make_folder(folder);
    }

    if (replace_file(path, text) < 0)
        (void)tell(message, "%s: %s", command_safe(path), strerror(errno));
    else
        (void)tell(message, "the layout is saved in %s", command_safe(path));
    free(text);
}

/* ---- for the monitor ---- */

/* A file that could not be read is replaced only if the user asks twice. */
struct layout_place {
    char path[PATH_MAX];
    bool unread;
};

static void save(void *data, const struct arrangement *arrangement, char *out, size_t capacity)
{
    struct layout_place *place = data;
    char message[LAYOUT_MESSAGE];
    if (place->unread) {
        place->unread = false;
        (void)snprintf(out, capacity, "this replaces a file that could not be read; W again does");
        return;
    }
    write_layout(place->path, arrangement, message);
    (void)snprintf(out, capacity, "%s", message);
}

void layout_begin(const struct view_settings *view, struct monitor_options *options)
{
    static struct arrangement arrangement; /* one monitor for each process */
    static char message[LAYOUT_MESSAGE];
    static struct layout_place place;
    bool nvitop = view->layout != NULL && strcmp(view->layout, "nvitop") == 0;
    bool named = view->layout != NULL && !nvitop;
    const char *path = named ? view->layout : view->layout_path;
    arrangement = (struct arrangement){.nvitop = nvitop};
    options->arrangement = &arrangement;
    if (path == NULL || path[0] == '\0' ||
        snprintf(place.path, sizeof place.path, "%s", path) >= (int)sizeof place.path)
        return;
    int code = read_layout(place.path, named, &arrangement, message);
    arrangement.nvitop |= nvitop;
    arrangement.theme = view->theme_given || view->light ? 0 : arrangement.theme;
    if (code < 0) {
        options->notice = message;
        place.unread = access(place.path, F_OK) == 0;
    }
    options->save = save;
    options->save_data = &place;
}
