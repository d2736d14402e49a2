/* text_file.h: a file of lines that is whole at every moment: a line is one write, and one that
 * did not fit is taken back. One thread. */
#ifndef VITALS_RECORD_TEXT_FILE_H
#define VITALS_RECORD_TEXT_FILE_H

#include "feed/text.h"
#include "record/error.h"

struct text_file {
    const char *path; /* for messages; borrowed */
    int descriptor;   /* -1: not open */
    bool standard;    /* standard output: not ours to close, and cannot be taken back */
    bool crlf;        /* how lines end */
    int stop;         /* see recorder.h; 0: nothing */
    bool waits;       /* for its reader: no regular file */
    uint64_t size;    /* of all whole lines */
    struct text line; /* that is being written */
};

/* NULL or "-": standard output. Without `overwrite` a file that is there and not empty is refused.
 * Errors: EARGUMENT (that), EGONE, EDENIED, ESYSTEM. */
int text_file_open(struct text_file *file, const char *path, bool overwrite, vitals_error *error);

/* Adds to the line that is being written. */
void text_file_put(struct text_file *file, const char *string);

/* One field of CSV: quoted where RFC 4180 wants it, or always. */
void text_file_field(struct text_file *file, const char *string, bool quote);

/* The line is whole and leaves. Errors: ESYSTEM (what was there before is still whole), EMEMORY. */
int text_file_end_line(struct text_file *file, vitals_error *error);

/* Writes the file anew with the line that was put in its first line's place, and with so many empty
 * fields more at the end of all others; the new one takes its name and goes on. Who has the old one
 * open keeps that. 0 or an errno (ESTALE: the name is a link, or another file's by now): then all
 * is as it was, but for the line, which is gone. */
int text_file_widen(struct text_file *file, size_t fields);

/* A new file beside another, of a name that nobody had (PATH and some letters), open for adding to
 * its end. The descriptor; -1 with errno. */
int text_file_beside(const char *path, unsigned mode, char *out, size_t capacity);

/* Closes; harmless on what was never opened, if `descriptor` is -1. */
void text_file_close(struct text_file *file);

#endif
