/* context.h: the counted side of a vitals_context. */
#ifndef VITALS_SAMPLER_CONTEXT_H
#define VITALS_SAMPLER_CONTEXT_H

#include "os/world.h"

vitals_context *context_ref(vitals_context *context);
void context_unref(vitals_context *context); /* frees with the last one; accepts NULL */

#endif
