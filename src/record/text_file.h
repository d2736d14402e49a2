/* text_file.h: a file of lines that is whole at any time: a line is one write, and one that does
 * not fit is removed again. One thread. */
#pragma once

#include "feed/text.h"
#include "record/error.h"

struct text_file {
    const char *path;   /* for messages; borrowed */
    int descriptor;     /* -1: not open */
    bool standard;      /* standard output: never closed or truncated */
    bool crlf;          /* how lines end */
    int stop;           /* see recorder.h; 0: none */
    bool waits;         /* writes may block: no regular file */
    uint64_t size;      /* of all whole lines */
    struct buffer line; /* that is being written */
};

/* Opens a file; NULL or "-" is standard output. Without `overwrite` a file that is not empty is
 * refused. Errors: EARGUMENT (that), EGONE, EDENIED, ESYSTEM. */
int text_file_open(struct text_file *file, const char *path, bool overwrite, vitals_error *error);

/* Appends to the current line. */
void text_file_put(struct text_file *file, const char *string);

/* Appends a CSV field, quoted if RFC 4180 demands it or if `quote`. */
void text_file_field(struct text_file *file, const char *string, bool quote);

/* Ends the line and writes it. Errors: ESYSTEM (the lines before are whole), EMEMORY. */
int text_file_end_line(struct text_file *file, vitals_error *error);

/* Rewrites the file with the current line as its first line and so many empty fields more at the
 * end of all others. The new file takes the name; readers that have the old one open keep it.
 * Returns 0 or an errno (ESTALE: the path is a link or names another file by now); then only the
 * current line is lost. */
int text_file_widen(struct text_file *file, size_t fields);

/* Makes a new file beside another (PATH and some letters), open for appending. Returns the
 * descriptor, or -1 with errno. */
int text_file_beside(const char *path, unsigned mode, char *out, size_t capacity);

/* Closes the file. `descriptor` of -1 is ignored. */
void text_file_close(struct text_file *file);
