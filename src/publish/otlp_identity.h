/* otlp_identity.h: who speaks, in OpenTelemetry's words: the resource of all that is sent.
 *
 * What the user says by OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME wins. Constant once made. */
#ifndef VITALS_PUBLISH_OTLP_IDENTITY_H
#define VITALS_PUBLISH_OTLP_IDENTITY_H

#include <jansson.h>

#include "publish/otlp_settings.h"
#include "publish/otlp_writer.h"

struct otlp_identity {
    struct otlp_resource resource;
    struct otlp_attribute *list;
    char *words; /* what the attributes point to */
};

/* `host` is whose figures they are, or "" where they are this machine's; `hello` is the first line
 * of the wire. The settings are borrowed as long as the identity is used. False: memory is out. */
bool otlp_identity_make(const struct otlp_settings *settings, const json_t *hello, vitals_text host,
                        struct otlp_identity *out);
void otlp_identity_done(struct otlp_identity *identity);

#endif
