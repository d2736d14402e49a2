/* link.h: the command's side of libexec/vitals/tell: starts it, feeds it, hears what it says.
 *
 * The program has a session of its own, so that no signal of the terminal reaches it; it lives
 * until its pipe is closed, and as long after as it was allowed to. Nothing here waits longer than
 * it says. One thread at a time; in a fork the writing half may be used by one side. */
#ifndef VITALS_EXPORT_LINK_H
#define VITALS_EXPORT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

struct link;

/* The descriptor that the program finds what is handed down at. */
enum { LINK_HANDED = 4 };

/* `program` is the path of tell; `hello` its first line, without a newline; `handed`: -1, or a
 * descriptor above LINK_HANDED that it has too, there, and that stays the caller's. Starts a child
 * of a child, which nobody has to wait for. Errors: EGONE, EDENIED
 * (no such program, with its path), ESYSTEM (it does not read), EMEMORY. */
int link_open(const char *program, const char *hello, int handed, struct link **out,
              vitals_error *error);

/* The program's pid; 0: not known. */
int64_t link_pid(const struct link *link);

/* The end that is written to, for who keeps it open in a fork. */
int link_descriptor(const struct link *link);

/* Writes a line that ends in a newline. False: it was dropped whole, because the one before has not
 * left yet, or the program has gone. `wait_ns`: how long it may wait for room; 0: not at all. What
 * does not fit is kept and leaves with the next calls. */
bool link_write(struct link *link, const char *line, size_t size, uint64_t wait_ns);

/* Writes what was kept. True: nothing is left of it. */
bool link_flush(struct link *link, uint64_t wait_ns);

uint64_t link_dropped(const struct link *link);

/* What it said, a line of JSON each (reply.h), as it comes: 1: *line is one, until the next call;
 * 0: none within the time; -1: the program has gone. What a library of it prints comes here too, so
 * a line may be anything; one of 64 KiB and more is passed over. */
int link_hear(struct link *link, uint64_t wait_ns, char **line);

/* The descriptor that can be read once it says something. */
int link_hearing(const struct link *link);

/* Nothing more will be written, by whoever holds the pipe. */
void link_finish(struct link *link);

/* Once this can be read, nothing here waits any more. */
void link_hurry_by(struct link *link, int descriptor);

enum link_end {
    LINK_DONE, /* it has said so, or was never there */
    LINK_GONE, /* it ended without */
    LINK_LEFT, /* the time was over; it goes on */
};

/* Closes the pipe, and waits until it has said that it is done, at most so long; it is left behind
 * then, and goes on. Lines that come meanwhile go to `hear`, which may be NULL. Accepts NULL. */
enum link_end link_close(struct link *link, uint64_t wait_ns,
                         void (*hear)(void *data, const char *line), void *data);

/* The same, but what would go on is killed, where the kernel can name it for sure (Linux 5.3). */
enum link_end link_end(struct link *link, uint64_t wait_ns,
                       void (*hear)(void *data, const char *line), void *data);

#endif
