/* otlp_sender.h: the thread that sends documents to a collector, with a bounded queue.
 *
 * The queue holds the newest documents: if it is full the oldest is dropped, and counted. A failure
 * that may be temporary is retried, in order; a document that the collector refuses is dropped, and
 * counted. Each change is reported once (reply.h). */
#pragma once

#include "export/otlp/otlp_settings.h"
#include "feed/text.h"

enum { OTLP_QUEUE = 64, OTLP_QUEUE_BYTES = 16 * 1024 * 1024 };

struct otlp_sender;

/* The settings are borrowed until the sender is closed. Errors: ESYSTEM (no thread), EMEMORY. */
int otlp_sender_new(const struct otlp_settings *settings, struct otlp_sender **out,
                    vitals_error *error);

/* Takes the document's bytes; the text is empty afterwards. Never waits. */
void otlp_sender_push(struct otlp_sender *sender, struct buffer *document);

/* Sends the rest, until the deadline of the monotonic clock, reports what was lost, and frees the
 * sender. Returns true if the thread has ended, so that the settings may be freed. */
bool otlp_sender_close(struct otlp_sender *sender, uint64_t deadline_ns);
