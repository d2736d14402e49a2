/* marks.h: the file into which the processes of a run write their marks (vitals/mark.h).
 *
 *     make (the launcher) ──► its path goes into VITALS_MARKS ──► remove
 *            └──► open (the sampler) ──► read … close
 *
 * It lies in a folder that only our user can write to; each opener checks that it is the file that
 * was made. The job can write anything into it, truncate it or replace it.
 * Thread rule: one thread at a time. */
#pragma once

#include "util/base.h"

enum { OS_MARKS_PATH = 256, OS_MARKS_TAIL = 64 };

/* The file as it was made; `held` is -1 where there is none. */
struct os_marks {
    char path[OS_MARKS_PATH];
    uint64_t device, inode;
    bool alone;         /* its folder holds nothing else */
    bool borrowed;      /* not made by us: it stays */
    uint64_t begins_at; /* what stands before that is not ours */
    int held;
};

/* Makes the file, with mode 0600, in runtime_folder/vitals if that folder is the user's own, else
 * in /tmp/vitals-UID. runtime_folder may be NULL. Returns 0, or a negative errno. */
int os_marks_make(struct os_marks *out, const char *runtime_folder);

/* Takes a plain file of the caller's, from its present end on; makes it, with mode 0600, where it
 * is missing. Negative errno; EPERM: this process is root's or set-user-ID, and another user owns
 * the file or may write to it. */
int os_marks_use(struct os_marks *out, const char *path);

/* Removes those beside it whose run is dead; accepts one that was not made. */
void os_marks_tidy(const struct os_marks *marks);

/* Accepts one that was not made. */
void os_marks_remove(struct os_marks *marks);

/* An environment (NULL: ours) with VITALS_MARKS in it, for the command; the texts are borrowed but
 * for that one. Freed by memory_free; NULL when memory is out. Accepts a file that was not made:
 * VITALS_MARKS then stays as it was. */
const char **os_marks_environment(const struct os_marks *marks, const char *const *base);

/* How far it was read. */
struct os_marks_reader {
    int file;
    int watch; /* os_marks_watch; -1: none */
    uint64_t at;
    uint64_t freed;           /* up to here its pages were given back */
    char tail[OS_MARKS_TAIL]; /* what stood before `at`, to notice that it was written anew */
    size_t tail_size;
};

/* Negative errno; ESTALE where another file lies in its place. */
int os_marks_open(const struct os_marks *marks, struct os_marks_reader *out);

/* A descriptor that can be read once something was written; -1: the kernel does not tell. To close
 * it costs 10 to 20 ms, a grace period of the kernel's: it is made when it is first asked for. */
int os_marks_watch(struct os_marks_reader *reader);
void os_marks_close(struct os_marks_reader *reader);

/* One reading. `again`: the file was cut or written anew, and this is from its beginning. */
struct os_marks_reading {
    int64_t size; /* 0: nothing was written since; negative errno */
    bool again;
    uint64_t left;   /* bytes that the file had beyond these when it was read */
    uint64_t age_ns; /* how long ago the last of it was written, as the file's time has it */
};

/* The bytes written since, at most `capacity` bytes. */
struct os_marks_reading os_marks_read(struct os_marks_reader *reader, char *out, size_t capacity);
