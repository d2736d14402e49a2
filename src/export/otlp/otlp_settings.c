/* otlp_settings.c: see otlp.h. */
#include "export/otlp/otlp.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/address.h"
#include "export/environment.h"
#include "export/reply.h"
#include "util/error.h"
#include "util/number.h"

static const char DEFAULT_ENDPOINT[] = "http://localhost:4318", PATH[] = "/v1/metrics";

enum { MILLISECOND = 1000000, HOUR_MS = 3600 * 1000 };

/* ---- pairs ---- */

/* Decodes in place. Returns false if a percent sign lacks two digits, or encodes NUL. */
static bool decode(char *word)
{
    char *to = word;
    for (const char *at = word; *at != '\0'; at++) {
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        const char *digits = at + 1, *end = digits + strnlen(digits, 2);
        uint64_t byte;
        if (!number_hex(&digits, end, &byte) || digits != at + 3 || byte == 0)
            return false;
        *to++ = (char)byte;
        at += 2;
    }
    *to = '\0';
    return true;
}

static char *trim(char *word)
{
    word += strspn(word, " \t");
    size_t size = strlen(word);
    while (size > 0 && (word[size - 1] == ' ' || word[size - 1] == '\t'))
        word[--size] = '\0';
    return word;
}

bool otlp_pairs_read(const char *words, struct otlp_pairs *out)
{
    *out = (struct otlp_pairs){.words = strdup(words)};
    bool good = out->words != NULL;
    for (char *word = out->words; word != NULL && good;) {
        char *comma = strchr(word, ',');
        if (comma != NULL)
            *comma++ = '\0';
        char *value = strchr(word, '=');
        good = value != NULL && out->count < OTLP_PAIRS;
        if (good) {
            *value = '\0';
            word = trim(word);
            value = trim(value + 1);
            good = word[0] != '\0' && decode(word) && decode(value);
            out->list[out->count].key = word;
            out->list[out->count].value = value;
            out->count += good;
        }
        word = comma;
    }
    if (!good) {
        free(out->words);
        *out = (struct otlp_pairs){.words = NULL};
    }
    return good;
}

/* ---- variables ---- */

struct settings_reader {
    struct otlp_settings *out;
    vitals_error *error;
    char name[80]; /* the name that get_either found */
};

static const char *get_either(struct settings_reader *reader, const char *tail)
{
    static const char *const HEADS[] = {"OTEL_EXPORTER_OTLP_METRICS_", "OTEL_EXPORTER_OTLP_"};
    for (size_t i = 0; i < sizeof HEADS / sizeof HEADS[0]; i++) {
        (void)snprintf(reader->name, sizeof reader->name, "%s%s", HEADS[i], tail);
        const char *value = environment_get(reader->name);
        if (value != NULL)
            return value;
    }
    return NULL;
}

/* Formats a variable's value safely, in at most 80 columns. */
struct shown_value {
    char words[400];
};

static struct shown_value show(const char *value)
{
    struct shown_value shown;
    size_t used;
    (void)vitals_text_fit(vitals_text_of(value), VITALS_TEXT_TERMINAL, 80, shown.words,
                          sizeof shown.words, &used);
    return shown;
}

static int VITALS_FORMAT(2, 3) fail(struct settings_reader *reader, const char *format, ...)
{
    *reader->error = (vitals_error){.code = VITALS_EARGUMENT};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reader->error->message, sizeof reader->error->message, format, arguments);
    va_end(arguments);
    return VITALS_EARGUMENT;
}

/* Reads milliseconds, from 1 to an hour. */
static uint64_t read_duration(const char *name, const char *value, uint64_t normal_ms)
{
    uint64_t number = normal_ms;
    bool digits = value == NULL || number_is_u64(value, &number);
    if (digits && number >= 1 && number <= HOUR_MS)
        return number * MILLISECOND;
    reply_say("otlp: %s is %s: not milliseconds from 1 to %d; it stays at %llu", name,
              show(value).words, HOUR_MS, (unsigned long long)normal_ms);
    return normal_ms * MILLISECOND;
}

/* ---- the endpoint ---- */

static bool ends_in(const char *string, const char *end)
{
    size_t size = strlen(string), tail = strlen(end);
    return size >= tail && strcmp(string + size - tail, end) == 0;
}

static int read_endpoint(struct settings_reader *reader, const char *endpoint)
{
    const char *name = "--otlp", *base = endpoint;
    bool verbatim = false;
    if (base == NULL) {
        name = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
        base = environment_get(name);
        verbatim = base != NULL;
    }
    if (base == NULL) {
        name = "OTEL_EXPORTER_OTLP_ENDPOINT";
        base = environment_get(name);
    }
    if (base == NULL)
        base = DEFAULT_ENDPOINT;
    if (!address_is_web(base)) {
        char shown[200];
        address_show(base, shown, sizeof shown);
        return fail(reader, "%s is %s, which is not an address to send to; write http://HOST:4318",
                    name, shown);
    }
    /* /v1/metrics is appended to a base unless it ends in it. A metrics endpoint is used as it is,
     * with "/" if it has no path. */
    size_t room = strlen(base) + sizeof PATH + 1;
    const char *tail = ends_in(base, PATH) ? "" : ends_in(base, "/") ? PATH + 1 : PATH;
    if (verbatim)
        tail = strchr(strstr(base, "://") + 3, '/') == NULL ? "/" : "";
    reader->out->url = malloc(room);
    if (reader->out->url == NULL)
        return error_set(reader->error, VITALS_EMEMORY, 0, "out of memory");
    (void)snprintf(reader->out->url, room, "%s%s", base, tail);
    return 0;
}

/* ---- the transport ---- */

/* Checks that the file can be read; the client validates its content. */
static int read_file(struct settings_reader *reader, const char *tail, const char **out)
{
    *out = get_either(reader, tail);
    FILE *file = *out != NULL ? fopen(*out, "re") : NULL;
    if (*out != NULL && file == NULL)
        return fail(reader, "%s: cannot read %s: %s", reader->name, show(*out).words,
                    strerror(errno));
    if (file != NULL)
        (void)fclose(file);
    return 0;
}

static int read_headers(struct settings_reader *reader)
{
    static const char TOKEN[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *value = get_either(reader, "HEADERS");
    struct otlp_pairs *headers = &reader->out->headers;
    if (value == NULL)
        return 0;
    /* The value may be a secret, so it is not shown. */
    if (!otlp_pairs_read(value, headers))
        return fail(reader, "%s is not of the form name=value,name=value, percent-encoded",
                    reader->name);
    for (size_t i = 0; i < headers->count; i++) {
        const char *key = headers->list[i].key;
        if (strspn(key, TOKEN) != strlen(key) || strpbrk(headers->list[i].value, "\r\n") != NULL)
            return fail(reader, "%s: \"%s\" is not a header that can be sent", reader->name,
                        show(key).words);
    }
    return 0;
}

/* ---- all of them ---- */

int otlp_settings_read(const char *endpoint, struct otlp_settings *out, vitals_error *error)
{
    struct settings_reader reader = {.out = out, .error = error};
    *out = (struct otlp_settings){.url = NULL};

    const char *disabled = environment_get("OTEL_SDK_DISABLED");
    const char *exporter = environment_get("OTEL_METRICS_EXPORTER");
    if (disabled != NULL && strcasecmp(disabled, "true") == 0)
        out->off = "OTEL_SDK_DISABLED is true";
    else if (exporter != NULL && strcmp(exporter, "none") == 0)
        out->off = "OTEL_METRICS_EXPORTER is none";
    if (out->off != NULL)
        return 0;

    const char *timeout = get_either(&reader, "TIMEOUT");
    uint64_t one = read_duration(reader.name, timeout, 10000);
    uint64_t whole = read_duration("OTEL_METRIC_EXPORT_TIMEOUT",
                                   environment_get("OTEL_METRIC_EXPORT_TIMEOUT"), 30000);
    out->timeout_ns = one < whole ? one : whole;
    out->interval_ns = read_duration("OTEL_METRIC_EXPORT_INTERVAL",
                                     environment_get("OTEL_METRIC_EXPORT_INTERVAL"), 60000);

    const char *compression = get_either(&reader, "COMPRESSION");
    out->gzip = compression == NULL || strcmp(compression, "none") != 0;
    if (compression != NULL && out->gzip && strcmp(compression, "gzip") != 0)
        reply_say("otlp: %s is %s, not gzip or none; gzip is used", reader.name,
                  show(compression).words);

    static const char ATTRIBUTES[] = "OTEL_RESOURCE_ATTRIBUTES";
    const char *attributes = environment_get(ATTRIBUTES);
    out->service_name = environment_get("OTEL_SERVICE_NAME");
    if (attributes != NULL && !otlp_pairs_read(attributes, &out->attributes))
        reply_say("otlp: %s is not of the form key=value,key=value, percent-encoded; it is ignored",
                  ATTRIBUTES);

    static const char TEMPORALITY[] = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
    const char *temporality = environment_get(TEMPORALITY);
    if (temporality != NULL && strcasecmp(temporality, "cumulative") != 0)
        reply_say("otlp: %s is %s; vitals sends only cumulative sums", TEMPORALITY,
                  show(temporality).words);

    int code = read_endpoint(&reader, endpoint);
    const char *protocol = get_either(&reader, "PROTOCOL");
    if (code == 0 && protocol != NULL && strcmp(protocol, "http/protobuf") != 0)
        code = fail(&reader,
                    "%s is %s; vitals supports only http/protobuf (port 4318 of most collectors)",
                    reader.name, show(protocol).words);
    code = code == 0 ? read_file(&reader, "CERTIFICATE", &out->ca_file) : code;
    code = code == 0 ? read_file(&reader, "CLIENT_CERTIFICATE", &out->certificate) : code;
    code = code == 0 ? read_file(&reader, "CLIENT_KEY", &out->key) : code;
    code = code == 0 ? read_headers(&reader) : code;
    if (code < 0)
        otlp_settings_done(out);
    return code;
}

void otlp_settings_done(struct otlp_settings *settings)
{
    free(settings->url);
    free(settings->headers.words);
    free(settings->attributes.words);
    *settings = (struct otlp_settings){.url = NULL};
}
