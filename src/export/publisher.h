/* publisher.h: an exporter: a server of ours that is scraped, a client of another server, or a
 * file.
 *
 * A publisher is a record of functions, a row in main.c and a member of the export_config
 * line. All functions are called by the main thread, one after another, and never wait for a
 * network: a publisher that needs one has a thread of its own behind a queue of bounded length that
 * counts what it dropped. MLflow's queue is a file, so a disk that hangs holds this program until
 * its watchdog ends it. Messages for a person go through reply.h.
 *
 *     open ──► (snapshot | usage)… ──► end, if it is a run ──► close */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "export/sample.h"
#include "export/usage_line.h"

struct publisher {
    const char *name; /* its member of the export_config */

    /* Opens it. `config` is that member; `export_config` the whole line, with the settings that
     * publishers share (`cmdline`, `job`, see run_config.c). Both are borrowed for the call. *data
     * is the publisher's own. It calls reply_opened or reply_failed, now or later from its thread.
     * Returns a negative VITALS_E… if it cannot work, which the caller reports. */
    int (*open)(const json_t *config, const json_t *export_config, void **data,
                vitals_error *error);

    /* Each may be NULL. A sample and a usage are borrowed; sample_ref and usage_line_ref keep them.
     */
    void (*snapshot)(void *data, struct sample *sample);
    void (*processes)(void *data, struct sample *sample); /* of another sampler: every process */
    void (*usage)(void *data, struct usage_line *usage);
    void (*end)(void *data, const json_t *account, const json_t *status);
    void (*files)(void *data, const json_t *paths); /* of the run, after its end; removed soon */

    /* Sends the rest, until the deadline of the monotonic clock; keeps or counts what could not be
     * sent, reports it, and frees. The only function that may wait, and not longer than that. */
    void (*close)(void *data, uint64_t deadline_ns);
};
