/* otlp_identity.h: the OpenTelemetry resource of all that is exported.
 *
 * OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME win over our own values. Constant once created. */
#ifndef VITALS_EXPORT_OTLP_OTLP_IDENTITY_H
#define VITALS_EXPORT_OTLP_OTLP_IDENTITY_H

#include <jansson.h>

#include "export/otlp/otlp_settings.h"
#include "export/otlp/otlp_writer.h"

struct otlp_identity {
    struct otlp_resource resource;
    struct otlp_attribute *list;
    char *words; /* storage of the attributes */
};

/* The origin of the figures. */
struct otlp_speaker {
    vitals_text host;                   /* "" for this machine's */
    const json_t *export_config;        /* the export_config line */
    const struct otlp_attributes *work; /* attributes of a run's workload */
};

/* Borrows the settings and the keys of `work` as long as the identity is used. Returns false if
 * memory is out. */
bool otlp_identity_make(const struct otlp_settings *settings, const struct otlp_speaker *speaker,
                        struct otlp_identity *out);
void otlp_identity_done(struct otlp_identity *identity);

#endif
