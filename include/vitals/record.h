/* record.h: recordings and reports: the second library, libvitals-record.
 *
 *     samples ──► recorder ──► file ──► recording ──► report · phases · comparison · advice
 *     samples ──► exporter ──► MLflow · OpenTelemetry · TensorBoard
 *     JSON, a recording with snapshots ──► feed ──► snapshots
 *
 * It needs libvitals, SQLite, zlib and jansson (pkg-config vitals-record), and follows libvitals'
 * rules: errors are values (error.h), options have a size and an init, what comes back through a
 * `T **out` is the caller's. It prints nothing, ends nothing, reads no environment variable, and
 * changes neither handlers of signals nor the locale of the process: numbers in files are the same
 * in every locale, and SIGPIPE and SIGXFSZ of its own writes are held back in the calling thread.
 * It starts one program, the exporter, where one is opened (record/exporter.h).
 * A build may lack SQLite, zlib or jansson; what would need it is EUNSUPPORTED then.
 *
 * An object may be used from any thread, by one at a time. */
#ifndef VITALS_RECORD_H
#define VITALS_RECORD_H

#include <vitals/record/advice.h>
#include <vitals/record/comparison.h>
#include <vitals/record/exporter.h>
#include <vitals/record/feed.h>
#include <vitals/record/json.h>
#include <vitals/record/phases.h>
#include <vitals/record/recorder.h>
#include <vitals/record/recording.h>
#include <vitals/record/report.h>

#endif
