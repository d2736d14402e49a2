/* Any bytes as samples: whatever a machine says, the document is one that Prometheus takes: heads
 * before samples, a family in one piece, no series twice, labels escaped and in UTF-8, numbers that
 * are numbers, and an end. The first byte chooses the options; lines are samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/prometheus/exposition.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { FAMILIES_MOST = 256, SERIES_MOST = 4096 };

struct reading {
    const char *families[FAMILIES_MOST]; /* their names, and how long these are */
    size_t sizes[FAMILIES_MOST];
    size_t family_count;
    const char *series[SERIES_MOST]; /* where their lines begin */
    size_t series_sizes[SERIES_MOST];
    size_t series_count;
};

static void require(int condition)
{
    if (!condition)
        abort();
}

static size_t name_size(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* A head: of a family that has not stood, or of the one at hand. */
static void read_head(struct reading *reading, const char *line)
{
    static const char *const WORDS[] = {"# HELP ", "# TYPE ", "# UNIT "};
    const char *name = NULL;
    for (size_t i = 0; i < 3; i++) {
        if (strncmp(line, WORDS[i], 7) == 0)
            name = line + 7;
    }
    require(name != NULL);
    size_t size = name_size(name);
    require(size > 0 && name[size] == ' ');
    for (size_t i = 0; i < reading->family_count; i++) {
        if (reading->sizes[i] == size && memcmp(reading->families[i], name, size) == 0) {
            require(i == reading->family_count - 1);
            return;
        }
    }
    require(reading->family_count < FAMILIES_MOST);
    reading->families[reading->family_count] = name;
    reading->sizes[reading->family_count++] = size;
}

/* A label's value behind its quote; where it ends. */
static const char *read_value(const char *at)
{
    const char *from = at;
    for (; *at != '"'; at++) {
        require(*at != '\n' && *at != '\0' && *at != '\r');
        if (*at == '\\') {
            at++;
            require(*at == '\\' || *at == '"' || *at == 'n');
        }
    }
    require(at - from <= 128);
    return at + 1;
}

static const char *read_labels(const char *at)
{
    do {
        size_t size = name_size(at + 1);
        require(size > 0 && at[1 + size] == '=' && at[2 + size] == '"');
        at = read_value(at + 3 + size);
    } while (*at == ',');
    require(*at == '}');
    return at + 1;
}

static void read_sample(struct reading *reading, const char *line)
{
    size_t size = name_size(line);
    size_t family = reading->family_count;
    require(family > 0 && size >= reading->sizes[family - 1]);
    require(memcmp(reading->families[family - 1], line, reading->sizes[family - 1]) == 0);
    const char *at = line[size] == '{' ? read_labels(line + size) : line + size;
    for (size_t i = 0; i < reading->series_count; i++)
        require(reading->series_sizes[i] != (size_t)(at - line) ||
                memcmp(reading->series[i], line, (size_t)(at - line)) != 0);
    if (reading->series_count < SERIES_MOST) {
        reading->series[reading->series_count] = line;
        reading->series_sizes[reading->series_count++] = (size_t)(at - line);
    }
    char *end;
    require(*at == ' ');
    require(isfinite(strtod(at + 1, &end)) && end > at + 1 && *end == '\n');
}

static void require_utf8(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        unsigned char byte = (unsigned char)text[i++];
        unsigned more = byte < 0x80 ? 0 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
        require(byte < 0x80 || (byte >= 0xc2 && byte <= 0xf4));
        for (; more > 0; more--, i++)
            require(i < size && ((unsigned char)text[i] & 0xc0) == 0x80);
    }
}

static void require_document(const char *text, size_t size, bool openmetrics)
{
    static const char END[] = "# EOF\n";
    static struct reading reading;
    reading.family_count = reading.series_count = 0;
    require(strlen(text) == size);
    require_utf8(text, size);
    require(size == 0 || text[size - 1] == '\n');
    require(!openmetrics || (size >= 6 && strcmp(text + size - 6, END) == 0));
    const char *last = openmetrics ? text + size - 6 : text + size;
    for (const char *line = text; line < last; line = strchr(line, '\n') + 1) {
        if (line[0] == '#')
            read_head(&reading, line);
        else
            read_sample(&reading, line);
    }
}

static void render(struct exposition *exposition, struct sample *moment)
{
    const struct exposition_self self = {.now_ns = 0};
    for (int format = 0; format < EXPOSITION_FORMATS; format++) {
        struct body *body = exposition_render(exposition, moment, (enum exposition_format)format,
                                              &self);
        struct buffer text = {.bytes = NULL};
        size_t size;
        require(body != NULL);
        const void *bytes = body_bytes(body, &size);
        buffer_append(&text, bytes, size); /* with a NUL */
        require_document(text.bytes, size, format == EXPOSITION_OPENMETRICS);
        buffer_done(&text);
        body_unref(body);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned chosen = size > 0 ? bytes[0] : 0;
    const struct exposition_options options = {
        .level = (enum exposition_level)(chosen % 3),
        .user = (enum exposition_user)(chosen / 3 % 4),
        .cmdline = (enum redact_form)(chosen / 12 % 4),
        .nvitop = chosen & 128,
        .max_processes = chosen & 64 ? 2 : 1000,
        .interval_ns = 1000000000,
    };
    struct exposition *exposition = exposition_new(&options);
    const char *line = (const char *)bytes + (size > 0), *end = (const char *)bytes + size;
    require(exposition != NULL);
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *until = newline != NULL ? newline : end;
        struct sample *moment = sample_new(line, (size_t)(until - line), 1000000000);
        require(moment != NULL);
        exposition_count(exposition, moment);
        render(exposition, moment);
        sample_unref(moment);
        line = until + (newline != NULL);
    }
    exposition_free(exposition);
    return 0;
}
