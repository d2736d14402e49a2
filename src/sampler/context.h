/* context.h: what the rooms of the library need of a context and a sampler beside the public
 * headers.
 */
#pragma once

#include "os/world.h"
#include <vitals/sampler.h>

vitals_context *context_ref(vitals_context *context);
void context_unref(vitals_context *context); /* frees with the last one; accepts NULL */

/* vitals_sampler_take, with no more patience in the first tick than in any other: for callers that
 * will ask again, and may be told to end meanwhile. */
int sampler_take_soon(vitals_sampler *sampler, vitals_snapshot **out);

/* The same, when no other comes after it: what is read seldom and cheaply is read once more. */
int sampler_take_last(vitals_sampler *sampler, vitals_snapshot **out);
