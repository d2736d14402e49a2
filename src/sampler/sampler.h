/* sampler.h: what the rooms of the library need of a sampler beside <vitals/sampler.h>. */
#ifndef VITALS_SAMPLER_SAMPLER_H
#define VITALS_SAMPLER_SAMPLER_H

#include <vitals/sampler.h>

/* vitals_sampler_take, with no more patience in the first tick than in any other: for callers that
 * will ask again, and may be told to end meanwhile. */
int sampler_take_soon(vitals_sampler *sampler, vitals_snapshot **out);

/* The same, when no other comes after it: what is read seldom and cheaply is read once more. */
int sampler_take_last(vitals_sampler *sampler, vitals_snapshot **out);

#endif
