/* link.h: the connection of a program to the exporter, libexec/vitals/tell: starts it, sends it
 * lines, reads its replies.
 *
 * The exporter has a session of its own, so that signals of the terminal do not reach it. It lives
 * until its input is closed, and then for its patience. No function waits longer than documented.
 * One thread at a time; after fork() only one process may write. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

struct link;

/* The number of the inherited socket in the exporter. */
enum { LINK_ACTIVATION_SOCKET = 4 };

struct link_program {
    const char *path;
    char *const *environment; /* NULL: the caller's */
    int activation_socket;    /* a descriptor above LINK_ACTIVATION_SOCKET that it inherits as
                               * LINK_ACTIVATION_SOCKET, and    that stays the caller's; -1: none */
};

/* Starts the exporter, as a grandchild that need not be waited for. `export_config` is its first
 * line without newline. Errors: EGONE, EDENIED (the program cannot be executed), ESYSTEM (it does
 * not read), EMEMORY. */
int link_open(const struct link_program *program, const char *export_config, struct link **out,
              vitals_error *error);

/* Returns the exporter's pid, or 0 if unknown. */
int64_t link_pid(const struct link *link);

/* Returns the descriptor to which lines are written, to be kept open in a fork. */
int link_descriptor(const struct link *link);

/* Writes a line that ends in a newline. Returns false if it was dropped: the line before is not
 * sent yet, or the exporter has exited. `wait_ns`: how long to wait for room; 0: not at all. The
 * rest of a line that fits in part is sent by later calls. */
bool link_write(struct link *link, const char *line, size_t size, uint64_t wait_ns);

/* Sends the rest of the last line. Returns whether all of it was sent. */
bool link_flush(struct link *link, uint64_t wait_ns);

uint64_t link_dropped(const struct link *link);

/* Reads a reply, a line of JSON (reply.h). Returns 1 and sets *line, valid until the next call; 0
 * if there is none within the time; -1 if the exporter has exited. Libraries of the exporter may
 * print here too, so a line can be anything. Lines of 64 KiB and more are ignored. */
int link_hear(struct link *link, uint64_t wait_ns, char **line);

/* Returns the descriptor from which replies are read, to be polled. */
int link_hearing(const struct link *link);

/* Ends the input of the exporter, for all processes that hold the descriptor. */
void link_finish(struct link *link);

/* Sets a descriptor that, when readable, ends all waiting. */
void link_hurry_by(struct link *link, int descriptor);

enum link_end {
    LINK_DONE, /* it reported to be done, or was never started */
    LINK_GONE, /* it exited without that report */
    LINK_LEFT, /* the time was over; it continues */
};

/* Closes the descriptors of a forked child's copy: the exporter notices nothing. Its memory stays,
 * because another thread may have been changing it when the process was forked. */
void link_abandon(const struct link *link);

/* Ends the input and waits at most `wait_ns` until the exporter reports to be done; after that it
 * is killed if it `ends`, else left to itself. Other replies go to `hear`, which may be NULL.
 * Accepts NULL. */
enum link_end link_close(struct link *link, uint64_t wait_ns, bool ends,
                         void (*hear)(void *data, const char *line), void *data);
