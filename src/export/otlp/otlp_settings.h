/* otlp_settings.h: the settings of the OpenTelemetry exporter, from --otlp and OTEL_* variables.
 *
 * OTEL_EXPORTER_OTLP_METRICS_… wins over OTEL_EXPORTER_OTLP_…. An invalid value is an error if
 * nothing would work with it; else it is reported (reply.h) and the default is used. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <vitals/vitals.h>

enum { OTLP_PAIRS = 64 };

/* Decoded pairs of k=v,k=v. */
struct otlp_pairs {
    char *words; /* storage of all, each ended by NUL */
    struct {
        const char *key, *value;
    } list[OTLP_PAIRS];
    size_t count;
};

struct otlp_settings {
    const char *off; /* not NULL: nothing is sent, because of this variable */
    char *url;       /* with its path */
    bool gzip;
    uint64_t timeout_ns;                     /* of one request */
    uint64_t interval_ns;                    /* between two exports */
    const char *ca_file, *certificate, *key; /* borrowed from the environment */
    struct otlp_pairs headers, attributes;
    const char *service_name; /* borrowed; NULL if not set */
};

/* `endpoint`: the value of --otlp, or NULL; a base URL that wins over OTEL_EXPORTER_OTLP_ENDPOINT.
 * Errors: EARGUMENT (names the variable), EMEMORY. */
int otlp_settings_read(const char *endpoint, struct otlp_settings *out, vitals_error *error);
void otlp_settings_done(struct otlp_settings *settings);

/* Parses k=v,k=v with percent-encoded values. Returns false, with *out empty, if a pair is
 * malformed or memory is out. */
bool otlp_pairs_read(const char *words, struct otlp_pairs *out);
