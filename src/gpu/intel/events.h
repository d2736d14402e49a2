/* events.h: the text in which a performance monitoring unit says what can be counted.
 *
 * /sys/bus/event_source/devices/UNIT/format/NAME tells which bits of an event's configuration a
 * word of that name sets ("config:12-19"), events/NAME which words make an event up
 * ("event=0x02", "config=0x2000"). Parsers of (bytes, size): pure, total, fuzzed. */
#ifndef VITALS_GPU_INTEL_EVENTS_H
#define VITALS_GPU_INTEL_EVENTS_H

#include "os/os.h"
#include "util/cursor.h"

/* The bits that a word sets, the lowest of them first. */
struct event_field {
    unsigned word; /* of os_perf_event.config */
    uint64_t mask;
};

/* "config:12-19", "config1:0", "config:0-7,32-35". */
bool event_parse_field(struct span text, struct event_field *out);

/* False where the number has more bits than the field; the event is as before then. */
bool event_set(struct os_perf_event *event, const struct event_field *field, uint64_t number);

/* The next of "event=0x02,gt=1"; a word without a number is 1. False at the end, and where the text
 * is none: *bad says which. */
bool event_next_word(struct cursor *cursor, struct span *word, uint64_t *number, bool *bad);

/* Whether the name is an engine's counter of busy time: "rcs0-busy", "vcs12-busy". Borrowed. */
bool event_parse_busy(struct span name, struct span *kind, uint64_t *instance);

/* The first CPU of a list or mask of those that may be asked: "0", "0-3,8". False where there is
 * none. */
bool event_parse_cpu(struct span text, uint64_t *cpu);

/* The size of the n-th memory window of a PCI device, out of its file `resource`: lines of first
 * byte, last byte and flags. False where it has none. */
bool event_parse_window(struct span text, unsigned n, uint64_t *size);

#endif
