/* reply.h: the replies of the exporter to the command: lines of JSON on standard output.
 *
 * Any thread. Nothing waits: a line that the pipe has no room for is dropped. */
#pragma once

#include <vitals/export.h>

/* A publisher works. `key` and `value` (NULL: none) are what the command needs, such as the id of
 * a run or the listening address.
 *     {"opened":"mlflow","run_id":"…"} */
void reply_opened(const char *publisher, const char *key, const char *value);

/* Likewise for a run of MLflow: its id, and its web page (NULL: unknown).
 *     {"opened":"mlflow","run_id":"…","url":"…"} */
void reply_opened_run(const char *publisher, const char *run_id, const char *url);

/* A publisher has failed for good; the message is for the user.
 *     {"failed":"serve","message":"…"} */
void reply_failed(const char *publisher, const char *format, ...) VITALS_FORMAT(2, 3);

/* A message for the user.
 *     {"say":"…"} */
void reply_say(const char *format, ...) VITALS_FORMAT(1, 2);

/* A message for the user: something was not sent, or is missing at its destination.
 *     {"say":"…","lost":"yes"} */
void reply_lost(const char *format, ...) VITALS_FORMAT(1, 2);

/* Whether samples of every process are needed from now on.
 *     {"want":"processes"} or {"want":"few"} */
void reply_want_processes(int all);

/* Everything was sent or saved. The last line.
 *     {"done":true} */
void reply_done(void);
