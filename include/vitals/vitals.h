/* vitals.h: snapshots of a machine, its processes and GPUs, and accounts of what a run used.
 *
 * This header includes all others of libvitals but mark.h (phases of one's own program), psutil.h,
 * and those of sys/ (which make snapshots and accounts). record.h is of a second library,
 * libvitals-record:
 *
 *     context ── request ──► sampler ──► snapshot ──► rows, values, rates
 *        └───── live handles (process.h) and runs (run.h)
 *
 * Time has one unit: each moment, interval, deadline and timeout that a function takes or gives is
 * a uint64_t of nanoseconds whose name ends in _ns. What is measured is in the unit of its metric
 * or figure: seconds, as double, where the name ends in _seconds.
 *
 * docs/architecture.md follows one number from its file to the screen. */
#ifndef VITALS_H
#define VITALS_H

#include <vitals/account.h>
#include <vitals/availability.h>
#include <vitals/catalogue.h>
#include <vitals/clock.h>
#include <vitals/collector.h>
#include <vitals/context.h>
#include <vitals/error.h>
#include <vitals/export.h>
#include <vitals/filesystem.h>
#include <vitals/gpu.h>
#include <vitals/history.h>
#include <vitals/measures.h>
#include <vitals/metrics.h>
#include <vitals/process.h>
#include <vitals/request.h>
#include <vitals/run.h>
#include <vitals/sampler.h>
#include <vitals/select.h>
#include <vitals/snapshot.h>
#include <vitals/table.h>
#include <vitals/text.h>
#include <vitals/units.h>
#include <vitals/usage.h>
#include <vitals/version.h>

#endif
