/* format.h: what a format of a recorder is: a table entry of recorder_formats.c. One thread.
 *
 * A recorder opens a part, gives it all attributes, then samples and marks, and closes it; where
 * it rotates, that again and again. A format never sees the others. */
#ifndef VITALS_RECORD_FORMAT_H
#define VITALS_RECORD_FORMAT_H

#include "record/recorder.h"
#include "record/sample.h"
#include "record/text_file.h"

enum { ATTRIBUTES_MAX = 32, MARKS_WAITING_MAX = 1024, MARKS_OPEN_MAX = 256 };

struct format {
    const char *name;
    size_t state_size;
    bool text;         /* lines: may go to standard output */
    bool crlf;         /* how its lines end */
    bool machine;      /* each sample tells of the machine, as it was in that moment */
    bool tree;         /* each sample tells of processes: there must be some */
    const void *table; /* what it is made of, where several formats share their functions */

    /* A part was named by `path`: for lines it is open. The state is zeroed. */
    int (*begin)(struct recorder *recorder, vitals_error *error);
    int (*sample)(struct recorder *recorder, const struct sample *sample, vitals_error *error);
    int (*end)(struct recorder *recorder, vitals_error *error);

    /* Each may be NULL. */
    int (*attribute)(struct recorder *recorder, const char *name, const char *text,
                     vitals_error *error);
    int (*mark)(struct recorder *recorder, const vitals_mark *mark, uint64_t realtime_ns,
                vitals_error *error);
    int (*account)(struct recorder *recorder, const vitals_account *account, vitals_error *error);
    uint64_t (*size)(const struct recorder *recorder); /* NULL: that of the lines */
    /* the path of what stands beside a part, and goes where it goes */
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

    /* a mark is told by another clock, which the first sample compares */
    uint64_t realtime_ns, monotonic_ns; /* of the newest sample; 0: none yet */
    struct waiting_mark *waiting;
    size_t waiting_count, waiting_dropped;

    /* where it rotates: phases that have begun and go on in the next part */
    struct waiting_mark *opened;
    size_t opened_count;

    uint64_t samples;       /* of this part */
    uint64_t part_began_ns; /* monotonic */
    unsigned part_next;
};

/* The format with that name; by the path's ending where the name is NULL. Errors: EARGUMENT. */
int format_choose(const char *name, const char *path, const struct format **out,
                  vitals_error *error);

/* What an attribute says, or "". */
const char *recorder_attribute_text(const struct recorder *recorder, const char *name);

/* One sample by hand, as recorder_sample takes it from a usage. */
int recorder_write_sample(struct recorder *recorder, const struct sample *sample,
                          vitals_error *error);

extern const struct format FORMAT_CSV, FORMAT_DATABASE, FORMAT_GPU_TRACKER,
    FORMAT_GPU_TRACKER_DATABASE;

/* Those of write_dialect.c. */
extern const struct format FORMAT_DIALECTS[];
extern const size_t FORMAT_DIALECT_COUNT;

#endif
