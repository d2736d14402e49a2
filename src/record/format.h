/* format.h: one recording format: an entry of the table in recorder.c. One thread.
 *
 * A recorder opens a part, gives it all attributes, then samples and marks, and closes it. If it
 * rotates, it does so for each part. A format knows nothing of other formats. */
#pragma once

#include "feed/text.h"
#include "record/error.h"
#include "record/recorder.h"
#include "record/sample.h"

/* ---- a file of lines that is whole at any time: a line is one write, and one that does not fit is
 * removed again (text_file.c) ---- */

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

/* ---- formats ---- */

enum { ATTRIBUTES_MAX = 32, MARKS_WAITING_MAX = 1024, MARKS_OPEN_MAX = 256 };

struct format {
    const char *name;
    size_t state_size;
    bool text;         /* made of lines: may go to standard output */
    bool crlf;         /* how its lines end */
    bool machine;      /* needs the machine's values in each sample */
    bool tree;         /* needs processes in each sample */
    const void *table; /* data of formats that share their functions */

    int (*sample)(struct recorder *recorder, const struct record_sample *sample,
                  vitals_error *error);

    /* Each may be NULL. */
    /* Begins a part at `path`. Text formats find their file open. The state is zeroed. */
    int (*begin)(struct recorder *recorder, vitals_error *error);
    int (*end)(struct recorder *recorder, vitals_error *error);
    int (*attribute)(struct recorder *recorder, const char *name, const char *text,
                     vitals_error *error);
    int (*mark)(struct recorder *recorder, const vitals_mark *mark, uint64_t realtime_ns,
                vitals_error *error);
    int (*account)(struct recorder *recorder, const vitals_account *account, vitals_error *error);
    uint64_t (*size)(const struct recorder *recorder); /* NULL: that of the lines */
    /* Makes the path of the file beside a part, which is renamed and removed with it. */
    void (*beside)(const char *path, char *out, size_t capacity);
};

struct attribute {
    char *name, *text;
};

struct waiting_mark {
    vitals_mark mark;
    char name[208];
};

struct recorder {
    const struct format *format;
    struct recorder_options options; /* its strings are below */
    char *path;                      /* NULL: standard output */
    bool open;
    void *state;
    struct text_file file; /* of text formats */

    struct attribute attributes[ATTRIBUTES_MAX];
    size_t attribute_count;

    /* marks have monotonic times; the first sample gives the realtime that belongs to them */
    uint64_t realtime_ns, monotonic_ns, boottime_ns; /* of the newest sample; 0: none */
    struct waiting_mark *waiting;
    size_t waiting_count, waiting_dropped;

    /* if it rotates: open phases, which go on in the next part */
    struct waiting_mark *opened;
    size_t opened_count;

    const vitals_usage_value **values; /* of the newest sample, borrowed of its usage */
    size_t value_capacity;

    uint64_t samples;       /* of this part */
    uint64_t part_began_ns; /* monotonic */
    unsigned part_next;
};

/* Returns the text of an attribute, or "". */
const char *recorder_attribute_text(const struct recorder *recorder, const char *name);

/* Writes one sample; recorder_sample makes it from a usage. */
int recorder_write_sample(struct recorder *recorder, const struct record_sample *sample,
                          vitals_error *error);

extern const struct format FORMAT_CSV, FORMAT_DATABASE, FORMAT_GPU_TRACKER,
    FORMAT_GPU_TRACKER_DATABASE;

/* Formats of foreign/dialect.c. */
extern const struct format FORMAT_DIALECTS[];
extern const size_t FORMAT_DIALECT_COUNT;
