/* output.h: buffered output to standard output or to a file. The first failure is remembered and
 * reported at the end. A closed pipe (`| head`) is not a failure, and further writes are then
 * harmless. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/export.h>

struct output {
    int descriptor;
    int error; /* errno of the first failure; EPIPE: the reader closed the pipe */
    size_t used;
    char buffer[32768];
};

/* Returns the output of the process, of which there is one at a time: the previous one must be done
 * or flushed. */
struct output *output_begin(int descriptor);

/* Opens the file of an option for writing: "-" is a copy of standard output. Returns a descriptor,
 * or -1 with errno set. */
int output_create(const char *path);

/* Returns 0, or -1 after any write has failed. The signature is that of vitals_write_fn, with an
 * output as data. */
int output_write(void *output, const char *bytes, size_t size);
void output_text(struct output *output, const char *string);
void output_format(struct output *output, const char *format, ...) VITALS_FORMAT(2, 3);

/* Writes the buffer now. */
int output_flush(struct output *output);

/* True if further writes have a reader. */
bool output_open(const struct output *output);

/* Flushes. Returns `code`, or EXIT_CANNOT after a message if a write failed. */
int output_done(struct output *output, int code);
