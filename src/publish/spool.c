/* spool.c: see spool.h. */
#include "publish/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "publish/clock.h"
#include "record/tick.h"

enum {
    HEAD_MOST = 64,
    WORTH_PACKING = 4 * 1024 * 1024, /* acknowledged bytes at the front */
};

static const char MAGIC[] = "vitals-spool 1\n";

/* What a record is called. An acknowledgement is one too: the place that all before has arrived. */
static const char *const WORDS[] = {
    [SPOOL_TARGET] = "target",     [SPOOL_RUN] = "run", [SPOOL_BATCH] = "batch",
    [SPOOL_ARTIFACT] = "artifact", [SPOOL_END] = "end", [SPOOL_KINDS] = "done",
};

struct spool {
    char *path; /* NULL: nameless */
    int descriptor;
    pthread_mutex_t mutex;            /* guards what follows, and the file */
    struct text notes[SPOOL_RUN + 1]; /* newest of each */
    uint64_t end;                     /* where the next record goes */
    uint64_t place;                   /* of the oldest record that is not acknowledged, or end */
    uint64_t current;                 /* behind what spool_next gave; 0: nothing */
    uint64_t waiting;                 /* records from place on */
    bool has_end;
    int trouble;          /* the errno of the newest write that failed */
    struct spool *memory; /* what the disk did not take, all behind the file's; NULL: nothing yet */
    uint64_t written_ms;  /* what another program left: when it last wrote */
};

/* ---- heads ---- */

size_t spool_head(const char *bytes, size_t size, char word[static 16], uint64_t *body)
{
    size_t most = size < HEAD_MOST ? size : HEAD_MOST, at = 0;
    while (at < most && at < 15 && bytes[at] >= 'a' && bytes[at] <= 'z')
        at++;
    if (at == 0 || at >= most || bytes[at] != ' ')
        return 0;
    memcpy(word, bytes, at);
    word[at++] = '\0';
    size_t first = at;
    uint64_t number = 0;
    while (at < most && at - first < 12 && bytes[at] >= '0' && bytes[at] <= '9')
        number = number * 10 + (uint64_t)(bytes[at++] - '0');
    if (at == first || at >= most || bytes[at] != '\n' || number > SPOOL_BODY_MOST)
        return 0;
    *body = number;
    return at + 1;
}

static int kind_of(const char *word)
{
    int kind = 0;
    while (kind <= SPOOL_KINDS && strcmp(WORDS[kind], word) != 0)
        kind++;
    return kind;
}

/* ---- bytes ---- */

static bool read_at(int descriptor, void *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(descriptor, (char *)bytes + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool write_at(int descriptor, const void *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = pwrite(descriptor, (const char *)bytes + done, size - done,
                             (off_t)(at + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0)
            errno = ENOSPC;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

/* A record as it was found. */
struct found {
    int kind;
    uint64_t body, size, next; /* where the body is, its size, where the next record begins */
};

/* Reads the head at a place. False: no whole record is there. */
static bool look(int descriptor, uint64_t at, uint64_t end, struct found *found)
{
    char bytes[HEAD_MOST], word[16], newline;
    uint64_t size, left = end - at;
    size_t count = left < sizeof bytes ? (size_t)left : sizeof bytes;
    if (count == 0 || !read_at(descriptor, bytes, count, at))
        return false;
    size_t head = spool_head(bytes, count, word, &size);
    if (head == 0 || left - head < size + 1 ||
        !read_at(descriptor, &newline, 1, at + head + size) || newline != '\n')
        return false;
    *found = (struct found){kind_of(word), at + head, size, at + head + size + 1};
    return true;
}

static bool read_body(int descriptor, const struct found *found, struct text *body)
{
    text_reset(body);
    char *place = text_reserve(body, found->size);
    if (place == NULL || !read_at(descriptor, place, found->size, found->body))
        return false;
    text_advance(body, found->size);
    return true;
}

/* Appends a record without a look at how full it is. */
static bool put(struct spool *spool, const char *word, const char *bytes, size_t size)
{
    char head[HEAD_MOST];
    int length = snprintf(head, sizeof head, "%s %zu\n", word, size);
    uint64_t at = spool->end;
    /* The newline last: without it there is no record. */
    if (!write_at(spool->descriptor, head, (size_t)length, at) ||
        !write_at(spool->descriptor, bytes, size, at + (size_t)length) ||
        !write_at(spool->descriptor, "\n", 1, at + (size_t)length + size)) {
        spool->trouble = errno;
        (void)!ftruncate(spool->descriptor, (off_t)at);
        return false;
    }
    spool->end = at + (size_t)length + size + 1;
    return true;
}

/* ---- what another program left ---- */

static void take_note(struct spool *spool, const struct found *found)
{
    struct text note = {.bytes = NULL};
    if (!read_body(spool->descriptor, found, &note)) {
        text_done(&note);
        return;
    }
    text_done(&spool->notes[found->kind]);
    spool->notes[found->kind] = note;
}

/* The place up to which all has arrived, of a record "done". */
static uint64_t place_in(const struct spool *spool, const struct found *found)
{
    char digits[24] = "";
    if (found->size >= sizeof digits ||
        !read_at(spool->descriptor, digits, found->size, found->body))
        return 0;
    return strtoull(digits, NULL, 10);
}

/* Reads all heads. Half a record at the end is cut off, so that the next goes in its place. */
static void scan(struct spool *spool, uint64_t size)
{
    struct found found;
    uint64_t at = sizeof MAGIC - 1, acknowledged = at;
    spool->end = at;
    while (look(spool->descriptor, at, size, &found)) {
        if (found.kind <= SPOOL_RUN)
            take_note(spool, &found);
        uint64_t place = found.kind == SPOOL_KINDS ? place_in(spool, &found) : 0;
        if (place > acknowledged && place <= at)
            acknowledged = place;
        spool->has_end |= found.kind == SPOOL_END;
        at = spool->end = found.next;
    }
    spool->place = spool->end;
    for (at = sizeof MAGIC - 1; at < spool->end && look(spool->descriptor, at, size, &found);
         at = found.next) {
        if (found.kind <= SPOOL_RUN || found.kind >= SPOOL_KINDS || at < acknowledged)
            continue;
        spool->place = spool->waiting++ == 0 ? at : spool->place;
    }
    if (spool->end < size)
        (void)!ftruncate(spool->descriptor, (off_t)spool->end);
}

static int make(int descriptor, const char *path, struct spool **out, vitals_error *error)
{
    struct spool *spool = calloc(1, sizeof *spool);
    if (spool != NULL && path != NULL)
        spool->path = strdup(path);
    if (spool == NULL || (path != NULL && spool->path == NULL)) {
        free(spool);
        (void)close(descriptor);
        return record_fail(VITALS_EMEMORY, "spool", error, "out of memory");
    }
    pthread_mutex_init(&spool->mutex, NULL);
    spool->descriptor = descriptor;
    spool->end = spool->place = sizeof MAGIC - 1;
    *out = spool;
    return 0;
}

int spool_adopt(int descriptor, const char *path, struct spool **out, vitals_error *error)
{
    char magic[sizeof MAGIC - 1];
    struct stat status;
    /* Locked before it is looked at: until then its program may write. */
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        int number = errno;
        (void)close(descriptor);
        return number == EWOULDBLOCK ? record_fail(VITALS_ETIMEOUT, path, error, "it is being sent")
                                     : record_fail_errno(number, path, error);
    }
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        !read_at(descriptor, magic, sizeof magic, 0) || memcmp(magic, MAGIC, sizeof magic) != 0) {
        (void)close(descriptor);
        return record_fail(VITALS_EFORMAT, path, error, "nothing that vitals keeps for later");
    }
    int code = make(descriptor, path, out, error);
    if (code == 0) {
        (*out)->written_ms = (uint64_t)status.st_mtime * 1000;
        scan(*out, (uint64_t)status.st_size);
    }
    return code;
}

int spool_open(const char *path, struct spool **out, vitals_error *error)
{
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0)
        return record_fail_errno(errno, path, error);
    return spool_adopt(descriptor, path, out, error);
}

/* ---- a new one ---- */

static bool make_folders(const char *folder)
{
    struct text path = {.bytes = NULL};
    text_string(&path, folder);
    for (char *slash = path.bytes; slash != NULL && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        (void)mkdir(path.bytes, 0700);
        *slash = '/';
    }
    bool made = !path.failed && (mkdir(path.bytes, 0700) == 0 || errno == EEXIST);
    text_done(&path);
    return made;
}

int spool_new(const char *folder, struct spool **out, vitals_error *error)
{
    char path[4096];
    const char *name = folder != NULL ? path : NULL;
    int descriptor, length = 0;
    if (name != NULL)
        length = snprintf(path, sizeof path, "%s/mlflow-%llu-%ld.spool", folder,
                          (unsigned long long)(clock_realtime_ns() / 1000), (long)getpid());
    if (length < 0 || (size_t)length >= sizeof path)
        return record_fail(VITALS_EARGUMENT, folder, error, "its name is too long");
    if (name != NULL && !make_folders(folder))
        return record_fail_errno(errno, folder, error);
    descriptor = name != NULL ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                              : memfd_create("vitals-spool", MFD_CLOEXEC);
    if (descriptor < 0 || !write_at(descriptor, MAGIC, sizeof MAGIC - 1, 0)) {
        int number = errno;
        if (descriptor >= 0)
            (void)close(descriptor);
        if (descriptor >= 0 && name != NULL)
            (void)unlink(name);
        return record_fail_errno(number, name != NULL ? path : "spool", error);
    }
    (void)flock(descriptor, LOCK_EX | LOCK_NB);
    return make(descriptor, name, out, error);
}

const char *spool_path(const struct spool *spool)
{
    return spool->path;
}

uint64_t spool_written_ms(const struct spool *spool)
{
    return spool->written_ms;
}

void spool_close(struct spool *spool, bool remove)
{
    if (spool == NULL)
        return;
    if (remove && spool->path != NULL)
        (void)unlink(spool->path);
    (void)close(spool->descriptor);
    spool_close(spool->memory, true);
    for (int i = 0; i <= SPOOL_RUN; i++)
        text_done(&spool->notes[i]);
    pthread_mutex_destroy(&spool->mutex);
    free(spool->path);
    free(spool);
}

/* ---- in and out ---- */

static bool keep_note(struct spool *spool, enum spool_kind kind, const char *bytes, size_t size)
{
    text_reset(&spool->notes[kind]);
    text_append(&spool->notes[kind], bytes, size);
    return !spool->notes[kind].failed;
}

static bool has_room(const struct spool *spool, enum spool_kind kind, size_t size)
{
    uint64_t kept = spool->end - spool->place + size;
    uint64_t most = spool->path != NULL ? SPOOL_MOST : SPOOL_MEMORY_MOST;
    return size <= SPOOL_BODY_MOST &&
           (kept <= most || (kind != SPOOL_BATCH && kept <= most + SPOOL_RESERVE));
}

/* Behind all that this spool holds itself. False: it could not be written. */
static bool append_here(struct spool *spool, enum spool_kind kind, const char *bytes, size_t size)
{
    bool note = kind <= SPOOL_RUN, nothing_waits = spool->waiting == 0;
    uint64_t at = spool->end;
    if (!put(spool, WORDS[kind], bytes, size))
        return false;
    if (nothing_waits)
        spool->place = note ? spool->end : at;
    spool->waiting += !note;
    return true;
}

static bool append_to_memory(struct spool *spool, enum spool_kind kind, const char *bytes,
                             size_t size)
{
    if (spool->path == NULL || (spool->memory == NULL && spool_new(NULL, &spool->memory, NULL) < 0))
        return false;
    return spool_append(spool->memory, kind, bytes, size);
}

/* What waits in memory goes to the disk, if that takes it by now. Says how much is left there. */
static uint64_t empty_memory(struct spool *spool)
{
    struct text body = {.bytes = NULL};
    enum spool_kind kind;
    while (spool->memory != NULL && spool_next(spool->memory, &kind, &body) &&
           has_room(spool, kind, body.size) && append_here(spool, kind, body.bytes, body.size))
        spool_acknowledge(spool->memory);
    text_done(&body);
    return spool->memory != NULL ? spool_waiting(spool->memory) : 0;
}

bool spool_append(struct spool *spool, enum spool_kind kind, const char *bytes, size_t size)
{
    pthread_mutex_lock(&spool->mutex);
    bool note = kind <= SPOOL_RUN;
    bool kept = has_room(spool, kind, size) && (!note || keep_note(spool, kind, bytes, size));
    bool in_order = note || spool->memory == NULL || spool_waiting(spool->memory) == 0;
    kept = kept && ((in_order && append_here(spool, kind, bytes, size)) ||
                    (!note && append_to_memory(spool, kind, bytes, size)));
    spool->has_end |= kept && kind == SPOOL_END;
    pthread_mutex_unlock(&spool->mutex);
    return kept;
}

bool spool_note(struct spool *spool, enum spool_kind kind, struct text *out)
{
    pthread_mutex_lock(&spool->mutex);
    const struct text *note = &spool->notes[kind];
    text_reset(out);
    if (note->size > 0)
        text_append(out, note->bytes, note->size);
    pthread_mutex_unlock(&spool->mutex);
    return out->size > 0 && !out->failed;
}

bool spool_has_end(struct spool *spool)
{
    pthread_mutex_lock(&spool->mutex);
    bool has_end = spool->has_end;
    pthread_mutex_unlock(&spool->mutex);
    return has_end;
}

uint64_t spool_waiting(struct spool *spool)
{
    pthread_mutex_lock(&spool->mutex);
    uint64_t waiting = spool->waiting;
    if (spool->memory != NULL)
        waiting += spool_waiting(spool->memory);
    pthread_mutex_unlock(&spool->mutex);
    return waiting;
}

uint64_t spool_in_memory(struct spool *spool)
{
    pthread_mutex_lock(&spool->mutex);
    uint64_t count = spool->path != NULL ? empty_memory(spool) : spool->waiting;
    pthread_mutex_unlock(&spool->mutex);
    return count;
}

int spool_trouble(struct spool *spool)
{
    pthread_mutex_lock(&spool->mutex);
    int trouble = spool->trouble;
    pthread_mutex_unlock(&spool->mutex);
    return trouble;
}

bool spool_next(struct spool *spool, enum spool_kind *kind, struct text *body)
{
    struct found found;
    bool given = false;
    pthread_mutex_lock(&spool->mutex);
    spool->current = 0;
    while (spool->waiting > 0 && look(spool->descriptor, spool->place, spool->end, &found)) {
        if (found.kind > SPOOL_RUN && found.kind < SPOOL_KINDS) {
            given = read_body(spool->descriptor, &found, body);
            *kind = (enum spool_kind)found.kind;
            spool->current = found.next;
            break;
        }
        spool->place = found.next;
    }
    if (spool->waiting == 0 && spool->memory != NULL)
        given = spool_next(spool->memory, kind, body);
    pthread_mutex_unlock(&spool->mutex);
    return given;
}

/* All has arrived, and the file is long: it begins anew with its notes, which are written over its
 * beginning before the rest is cut off. What is left of old records between is no record. */
static void begin_anew(struct spool *spool)
{
    spool->end = sizeof MAGIC - 1;
    for (int i = 0; i <= SPOOL_RUN; i++) {
        if (spool->notes[i].size > 0)
            (void)put(spool, WORDS[i], spool->notes[i].bytes, spool->notes[i].size);
    }
    (void)!ftruncate(spool->descriptor, (off_t)spool->end);
}

void spool_acknowledge(struct spool *spool)
{
    char digits[24];
    pthread_mutex_lock(&spool->mutex);
    if (spool->current > 0 && spool->waiting > 0) {
        spool->place = spool->current;
        spool->current = 0;
        spool->waiting--;
        int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)spool->place);
        bool pack = spool->waiting == 0 && spool->end >= WORTH_PACKING;
        if (!pack && !put(spool, WORDS[SPOOL_KINDS], digits, (size_t)length))
            pack = spool->waiting == 0; /* a full disk has room again */
        if (pack)
            begin_anew(spool);
        if (spool->waiting == 0)
            spool->place = spool->end;
    } else if (spool->memory != NULL) {
        spool_acknowledge(spool->memory);
    }
    pthread_mutex_unlock(&spool->mutex);
}
