/* otlp_settings.h: where OpenTelemetry's metrics go and how: what --otlp and OTEL_* variables say.
 *
 * Variables that begin with OTEL_EXPORTER_OTLP_METRICS_ win over OTEL_EXPORTER_OTLP_. What cannot
 * be meant is told: where it leaves nothing that works it is an error, else the default stands.
 * Pure but for the environment that it is given. */
#ifndef VITALS_EXPORT_OTLP_OTLP_SETTINGS_H
#define VITALS_EXPORT_OTLP_OTLP_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <vitals/vitals.h>

enum { OTLP_PAIRS = 64 };

/* Words of the form k=v,k=v, decoded. */
struct otlp_pairs {
    char *words; /* all of them, each with its NUL */
    struct {
        const char *key, *value;
    } list[OTLP_PAIRS];
    size_t count;
};

struct otlp_settings {
    const char *off; /* not NULL: nothing is to be sent, and this variable says so */
    char *url;       /* with its path */
    bool gzip;
    uint64_t timeout_ns;                     /* of one request */
    uint64_t interval_ns;                    /* between two exports */
    const char *ca_file, *certificate, *key; /* borrowed from the environment */
    struct otlp_pairs headers, attributes;
    const char *service_name; /* borrowed; NULL: none */
};

struct otlp_surroundings {
    const char *(*get)(const char *name); /* NULL: not set, or empty */
    void (*say)(const char *message);     /* one line for a person */
};

/* `endpoint`: what --otlp says, or NULL; a base URL, as OTEL_EXPORTER_OTLP_ENDPOINT, which it wins
 * over. Errors: EARGUMENT (names the variable), EMEMORY. */
int otlp_settings_read(const char *endpoint, const struct otlp_surroundings *around,
                       struct otlp_settings *out, vitals_error *error);
void otlp_settings_done(struct otlp_settings *settings);

/* Reads k=v,k=v with percent-encoded values. False: one of them is none of that form, and *out is
 * empty; or memory is out. */
bool otlp_pairs_read(const char *words, struct otlp_pairs *out);

#endif
