/* otlp_identity.h: who speaks, in OpenTelemetry's words: the resource of all that is sent.
 *
 * What the user says by OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME wins. Constant once made. */
#ifndef VITALS_EXPORT_OTLP_OTLP_IDENTITY_H
#define VITALS_EXPORT_OTLP_OTLP_IDENTITY_H

#include <jansson.h>

#include "export/otlp/otlp_settings.h"
#include "export/otlp/otlp_writer.h"

struct otlp_identity {
    struct otlp_resource resource;
    struct otlp_attribute *list;
    char *words; /* what the attributes point to */
};

/* Whose figures they are. */
struct otlp_speaker {
    vitals_text host;                   /* "": this machine's */
    const json_t *export_config;        /* the first line of the wire */
    const struct otlp_attributes *work; /* what a run is part of */
};

/* The settings are borrowed as long as the identity is used, and so are the keys of `work`. False:
 * memory is out. */
bool otlp_identity_make(const struct otlp_settings *settings, const struct otlp_speaker *speaker,
                        struct otlp_identity *out);
void otlp_identity_done(struct otlp_identity *identity);

#endif
