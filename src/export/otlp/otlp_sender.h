/* otlp_sender.h: documents on their way to a collector: a thread of its own, behind a queue.
 *
 * The queue holds the newest ones: where it is full the oldest goes, and is counted. What may get
 * through later is tried again, in order; what the collector refuses is dropped, and counted. What
 * a person should know is said once per change (reply.h). */
#ifndef VITALS_EXPORT_OTLP_OTLP_SENDER_H
#define VITALS_EXPORT_OTLP_OTLP_SENDER_H

#include "export/otlp/otlp_settings.h"
#include "feed/text.h"

enum { OTLP_QUEUE = 64, OTLP_QUEUE_BYTES = 16 * 1024 * 1024 };

struct otlp_sender;

/* The settings are borrowed until the sender is closed. Errors: ESYSTEM (no thread), EMEMORY. */
int otlp_sender_new(const struct otlp_settings *settings, struct otlp_sender **out,
                    vitals_error *error);

/* Takes the document's bytes over; the text is empty after it. Never waits. */
void otlp_sender_push(struct otlp_sender *sender, struct text *document);

/* Sends what is left, until the deadline of the monotonic clock, says what was lost, and frees.
 * True: the thread has ended, and the settings may go. */
bool otlp_sender_close(struct otlp_sender *sender, uint64_t deadline_ns);

#endif
