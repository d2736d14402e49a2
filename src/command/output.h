/* output.h: what goes to standard output, or to a file.
 *
 * Buffered. The first failure is remembered and told at the end; a reader that went away (`| head`)
 * is no failure, and writing on is then harmless. One thread. */
#ifndef VITALS_COMMAND_OUTPUT_H
#define VITALS_COMMAND_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <vitals/export.h>

struct output {
    int descriptor;
    int error; /* errno of the first failure; EPIPE: the reader has gone */
    size_t used;
    char buffer[32768];
};

/* The output of the process, which has one at a time: the one before must be done, or flushed. */
struct output *output_begin(int descriptor);

/* A descriptor to write to the file of an option: "-" is a copy of standard output. -1: errno. */
int output_create(const char *path);

/* 0, or -1 once a write has failed. The signature is vitals_write_fn's, with an output as data. */
int output_write(void *output, const char *bytes, size_t size);
void output_text(struct output *output, const char *string);
void output_format(struct output *output, const char *format, ...) VITALS_FORMAT(2, 3);

/* Everything so far, now. */
int output_flush(struct output *output);

/* Whether writing on is of use. */
bool output_open(const struct output *output);

/* Flushes; gives `code`, or EXIT_CANNOT after a message where something could not be written. */
int output_done(struct output *output, int code);

#endif
