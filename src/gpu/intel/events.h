/* events.h: parsers for the texts in which a performance monitoring unit describes its events.
 *
 * /sys/bus/event_source/devices/UNIT/format/NAME says which bits of an event's configuration a word
 * of that name sets ("config:12-19"), events/NAME which words make up an event ("event=0x02",
 * "config=0x2000"). Parsers of (bytes, size): pure, total, fuzzed. */
#pragma once

#include "os/os.h"
#include "util/cursor.h"

/* The bits that a word sets, lowest first. */
struct event_field {
    unsigned word; /* index of os_perf_event.config */
    uint64_t mask;
};

/* Parses "config:12-19", "config1:0", "config:0-7,32-35". */
bool event_parse_field(struct span text, struct event_field *out);

/* Returns false if the number has more bits than the field; the event is then unchanged. */
bool event_set(struct os_perf_event *event, const struct event_field *field, uint64_t number);

/* Takes the next word of "event=0x02,gt=1"; a word without a number is 1. Returns false at the end
 * and on an error; *bad says which. */
bool event_next_word(struct cursor *cursor, struct span *word, uint64_t *number, bool *bad);

/* True if the name is an engine's busy counter: "rcs0-busy", "vcs12-busy". Borrowed. */
bool event_parse_busy(struct span name, struct span *kind, uint64_t *instance);

/* Parses the first CPU of a list or mask of permitted CPUs: "0", "0-3,8". Returns false if there is
 * none. */
bool event_parse_cpu(struct span text, uint64_t *cpu);

/* Parses the size of the n-th memory window of a PCI device from its file `resource`: lines of
 * first byte, last byte and flags. Returns false if there is none. */
bool event_parse_window(struct span text, unsigned n, uint64_t *size);
