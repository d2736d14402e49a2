/* reply.h: what this program tells who started it: lines of JSON on standard output.
 *
 * Any thread. Nothing here waits: what the other side does not read is dropped. */
#ifndef VITALS_EXPORT_REPLY_H
#define VITALS_EXPORT_REPLY_H

#include <vitals/export.h>

/* A publisher is at work. `key` and `value` say what the other side wants to know of it (the id of
 * a run, the address that it listens at); NULL: nothing.
 *     {"opened":"mlflow","run_id":"…"} */
void reply_opened(const char *publisher, const char *key, const char *value);

/* The same of a run of MLflow's: its id, and the address that shows it to a person; NULL: not
 * known.     {"opened":"mlflow","run_id":"…","url":"…"} */
void reply_opened_run(const char *publisher, const char *run_id, const char *url);

/* It cannot work, for good; one line for a person.     {"failed":"serve","message":"…"} */
void reply_failed(const char *publisher, const char *format, ...) VITALS_FORMAT(2, 3);

/* Something a person should read once it does not disturb.     {"say":"…"} */
void reply_say(const char *format, ...) VITALS_FORMAT(1, 2);

/* Whether every process should be in the samples from now on.     {"want":"processes"} or "few" */
void reply_want_processes(int all);

/* Everything has gone where it should, or is kept; the last line.     {"done":true} */
void reply_done(void);

#endif
