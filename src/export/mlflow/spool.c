/* spool.c: see spool.h. */
#include "export/mlflow/spool.h"

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

#include "export/clock.h"
#include "export/mlflow/spool_record.h"
#include "record/sample.h"
#include "util/file.h"
#include "util/memory.h"

enum {
    WORTH_PACKING = 4 * 1024 * 1024, /* acknowledged bytes at the front */
    ASIDE_MOST = 9,                  /* numbered names for a damaged file */
};

static const char DAMAGED[] = ".damaged";

struct spool {
    char *path; /* NULL: in memory */
    int descriptor;
    pthread_mutex_t mutex;              /* guards what follows, and the file */
    struct buffer notes[SPOOL_RUN + 1]; /* newest of each */
    uint64_t id, number;                /* of the file; of the next record */
    uint64_t end;                       /* where the next record goes */

    /* Records in the file that are not acknowledged, in order. Those before `next` were given and
     * left. */
    struct spool_record *records;
    size_t first, next, count, capacity;
    uint64_t kept; /* their bytes */

    bool given;   /* spool_next gave records[next] */
    bool adopted; /* another program created it */
    bool has_end;
    struct spool_damage damage;
    int trouble; /* errno of the newest write that failed */
    struct spool
        *memory; /* records that the disk did not accept, all after the file's; NULL: none yet */
    uint64_t written_ms; /* when another program last wrote to it */
};

/* ---- records ---- */

/* Appends a record to the file, without checking its limit. */
static bool put(struct spool *spool, enum spool_kind kind, const char *bytes, size_t size)
{
    struct spool_record record = {
        .id = spool->id, .number = spool->number, .kind = (uint8_t)kind, .size = (uint32_t)size};
    bool note = kind <= SPOOL_RUN;
    if (!note && spool->count == spool->capacity && spool->first > spool->capacity / 2) {
        memmove(spool->records, spool->records + spool->first,
                (spool->count - spool->first) * sizeof spool->records[0]);
        spool->next -= spool->first;
        spool->count -= spool->first;
        spool->first = 0;
    } else if (!note && MEMORY_GROW(spool->records, spool->capacity, spool->count) != 0) {
        return false;
    }

    if (!spool_write(spool->descriptor, spool->end, &record, bytes)) {
        spool->trouble = errno;
        (void)!ftruncate(spool->descriptor, (off_t)spool->end);
        return false;
    }
    spool->end = record.end;
    spool->number++;
    if (!note) {
        spool->records[spool->count++] = record;
        spool->kept += record.end - record.place;
    }
    return true;
}

/* Removes the record that was given from the list. Few records before it were left. */
static void take_out(struct spool *spool)
{
    struct spool_record *records = spool->records;
    spool->kept -= records[spool->next].end - records[spool->next].place;
    memmove(records + spool->first + 1, records + spool->first,
            (spool->next - spool->first) * sizeof records[0]);
    spool->first++;
    spool->next++;
    spool->given = false;
}

static bool is_damaged(const struct spool *spool)
{
    return spool->damage.places > 0 || spool->damage.missing > 0;
}

/* ---- spools of other programs ---- */

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
    spool->end = SPOOL_MAGIC_SIZE;
    spool->number = 1;
    *out = spool;
    return 0;
}

int spool_adopt(int descriptor, const char *path, struct spool **out, vitals_error *error)
{
    struct spool_scan scan = {.records = NULL};
    struct stat status;
    int code = VITALS_EFORMAT;
    /* Locks the file before reading it: its program may write until then. */
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        int number = errno;
        (void)close(descriptor);
        return number == EWOULDBLOCK ? record_fail(VITALS_ETIMEOUT, path, error, "it is being sent")
                                     : record_fail_errno(number, path, error);
    }
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
        code = spool_scan(descriptor, (uint64_t)status.st_size, &scan);
    if (code < 0) {
        (void)close(descriptor);
        return record_fail(code, path, error,
                           code == VITALS_EMEMORY ? "out of memory"
                                                  : "not a file of unsent data of vitals");
    }
    code = make(descriptor, path, out, error);
    if (code < 0) {
        memory_free(scan.records);
        return code;
    }

    /* Takes the list of the scan, but for records that do not wait, and the newest notes. */
    struct spool *spool = *out;
    spool->adopted = true;
    spool->written_ms = (uint64_t)status.st_mtime * 1000;
    spool->end = (uint64_t)status.st_size;
    spool->records = scan.records;
    spool->capacity = scan.capacity;
    for (size_t i = 0; i < scan.count; i++) {
        struct spool_record record = scan.records[i], again;
        struct buffer note = {.bytes = NULL};
        spool->has_end |= record.kind == SPOOL_END;
        if (record.kind > SPOOL_RUN && !record.arrived) {
            spool->records[spool->count++] = record;
            spool->kept += record.end - record.place;
        } else if (record.kind <= SPOOL_RUN) {
            if (spool_read(descriptor, record.place, record.end, &again, &note)) {
                buffer_done(&spool->notes[record.kind]);
                spool->notes[record.kind] = note;
            } else {
                buffer_done(&note);
            }
        }
    }
    spool->id = scan.id;
    spool->number = scan.next;
    spool->damage = scan.damage;
    return 0;
}

int spool_open(const char *path, struct spool **out, vitals_error *error)
{
    struct stat status;
    const char *slash = strrchr(path, '/'), *distrust = NULL;
    char *folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0 || folder == NULL || stat(folder, &status) != 0) {
        int number = errno;
        free(folder);
        if (descriptor >= 0)
            (void)close(descriptor);
        return record_fail_errno(number, path, error);
    }

    /* The file says where to, and our login may go there. */
    int code = 0;
    if ((distrust = file_distrust(&status)) != NULL)
        code = record_fail(VITALS_EDENIED, path, error, "its folder: %s; it is not sent", distrust);
    else if (fstat(descriptor, &status) == 0 && (distrust = file_distrust(&status)) != NULL)
        code = record_fail(VITALS_EDENIED, path, error, "%s; it is not sent", distrust);
    free(folder);
    if (code < 0) {
        (void)close(descriptor);
        return code;
    }
    return spool_adopt(descriptor, path, out, error);
}

/* ---- new spools ---- */

int spool_new(const char *folder, struct spool **out, vitals_error *error)
{
    char path[4096], magic[SPOOL_MAGIC_SIZE + 1];
    const char *name = folder != NULL ? path : NULL;
    int descriptor, length = 0;
    uint64_t id = clock_realtime_ns();
    spool_format_magic(id, magic);
    if (name != NULL)
        length = snprintf(path, sizeof path, "%s/mlflow-%llu-%ld.spool", folder,
                          (unsigned long long)(id / 1000), (long)getpid());
    if (length < 0 || (size_t)length >= sizeof path)
        return record_fail(VITALS_EARGUMENT, folder, error, "its name is too long");
    if (name != NULL) {
        struct stat status;
        if (!file_make_folders(folder, 0700) || stat(folder, &status) < 0)
            return record_fail_errno(errno, folder, error);
        const char *distrust = file_distrust(&status);
        if (distrust != NULL) /* `vitals send` would refuse what is in it */
            return record_fail(VITALS_EDENIED, folder, error, "%s", distrust);
    }
    descriptor = name != NULL ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                              : memfd_create("vitals-spool", MFD_CLOEXEC);
    if (descriptor < 0 || !file_write_at(descriptor, magic, SPOOL_MAGIC_SIZE, 0)) {
        int number = errno;
        if (descriptor >= 0)
            (void)close(descriptor);
        if (descriptor >= 0 && name != NULL)
            (void)unlink(name);
        return record_fail_errno(number, name != NULL ? path : "spool", error);
    }
    (void)flock(descriptor, LOCK_EX | LOCK_NB);
    int code = make(descriptor, name, out, error);
    if (code == 0)
        (*out)->id = id;
    return code;
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
    memory_free(spool->records);
    for (int i = 0; i <= SPOOL_RUN; i++)
        buffer_done(&spool->notes[i]);
    pthread_mutex_destroy(&spool->mutex);
    free(spool->path);
    free(spool);
}

/* ---- appending and taking ---- */

static bool has_room(const struct spool *spool, enum spool_kind kind, size_t size)
{
    uint64_t kept = spool->kept + size;
    uint64_t most = spool->path != NULL ? SPOOL_MOST : SPOOL_MEMORY_MOST;
    return size <= SPOOL_BODY_MOST &&
           (kept <= most || (kind != SPOOL_BATCH && kept <= most + SPOOL_RESERVE));
}

bool spool_append(struct spool *spool, enum spool_kind kind, const char *bytes, size_t size)
{
    pthread_mutex_lock(&spool->mutex);
    bool note = kind <= SPOOL_RUN;
    bool kept = has_room(spool, kind, size);
    if (kept && note) {
        buffer_reset(&spool->notes[kind]);
        buffer_append(&spool->notes[kind], bytes, size);
        kept = !spool->notes[kind].failed;
    }

    bool in_order = note || spool->memory == NULL || spool_waiting(spool->memory) == 0;
    if (kept && !(in_order && put(spool, kind, bytes, size))) {
        bool has_memory = !note && spool->path != NULL &&
                          (spool->memory != NULL || spool_new(NULL, &spool->memory, NULL) == 0);
        kept = has_memory && spool_append(spool->memory, kind, bytes, size);
    }
    spool->has_end |= kept && kind == SPOOL_END;
    pthread_mutex_unlock(&spool->mutex);
    return kept;
}

bool spool_note(struct spool *spool, enum spool_kind kind, struct buffer *out)
{
    pthread_mutex_lock(&spool->mutex);
    const struct buffer *note = &spool->notes[kind];
    buffer_reset(out);
    if (note->size > 0)
        buffer_append(out, note->bytes, note->size);
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
    uint64_t waiting = spool->count - spool->first;
    if (spool->memory != NULL)
        waiting += spool_waiting(spool->memory);
    pthread_mutex_unlock(&spool->mutex);
    return waiting;
}

uint64_t spool_in_memory(struct spool *spool)
{
    pthread_mutex_lock(&spool->mutex);
    uint64_t count = spool->path == NULL ? spool->count - spool->first : 0;
    if (spool->memory != NULL) {
        struct buffer body = {.bytes = NULL};
        enum spool_kind kind;
        while (spool_next(spool->memory, &kind, &body) && has_room(spool, kind, body.size) &&
               put(spool, kind, body.bytes, body.size))
            (void)spool_acknowledge(spool->memory);
        buffer_done(&body);
        count = spool_waiting(spool->memory);
    }
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

/* Leaves the current record, which cannot be read, in the file, and counts it as damaged. */
static void drop_damaged(struct spool *spool)
{
    const struct spool_record *record = &spool->records[spool->next];
    spool_add_damage(&spool->damage, (struct spool_place){.at = record->place,
                                                          .size = record->end - record->place});
    take_out(spool);
}

bool spool_next(struct spool *spool, enum spool_kind *kind, struct buffer *body)
{
    struct spool_record again;
    pthread_mutex_lock(&spool->mutex);
    spool->given = false;
    while (!spool->given && spool->next < spool->count) {
        const struct spool_record *record = &spool->records[spool->next];
        *kind = (enum spool_kind)record->kind;
        spool->given = spool_read(spool->descriptor, record->place, record->end, &again, body);
        if (!spool->given && !body->failed)
            drop_damaged(spool);
        if (body->failed)
            break;
    }
    bool given = spool->given;
    if (spool->next == spool->count && spool->memory != NULL)
        given = spool_next(spool->memory, kind, body);
    pthread_mutex_unlock(&spool->mutex);
    return given;
}

bool spool_acknowledge(struct spool *spool)
{
    bool noted = true;
    pthread_mutex_lock(&spool->mutex);
    if (spool->given) {
        bool marked = spool_write_arrived(spool->descriptor, &spool->records[spool->next]);
        if (!marked)
            spool->trouble = errno;
        noted = marked || !spool->adopted;
        if (noted)
            take_out(spool);
        /* A full disk has space again. */
        if (spool->first == spool->count && !is_damaged(spool) &&
            (spool->end >= WORTH_PACKING || spool->trouble != 0)) {
            /* Restarts the file, whose records have all arrived: writes the notes over its
             * beginning with one write, then cuts the rest off. If this program is killed between
             * the two, the remains are later reported as damaged. */
            struct buffer notes = {.bytes = NULL};
            uint64_t number = spool->number, end = SPOOL_MAGIC_SIZE;
            for (int i = 0; i <= SPOOL_RUN; i++) {
                if (spool->notes[i].size > 0)
                    spool_format_record(spool->id, number++, (enum spool_kind)i, &spool->notes[i],
                                        &notes);
            }
            if (!notes.failed && file_write_at(spool->descriptor, notes.bytes, notes.size, end) &&
                ftruncate(spool->descriptor, (off_t)(end + notes.size)) == 0) {
                spool->number = number;
                spool->end = end + notes.size;
            }
            buffer_done(&notes);
        }
    } else if (spool->memory != NULL) {
        noted = spool_acknowledge(spool->memory);
    }
    pthread_mutex_unlock(&spool->mutex);
    return noted;
}

void spool_leave(struct spool *spool, bool damaged)
{
    pthread_mutex_lock(&spool->mutex);
    if (spool->given && damaged)
        drop_damaged(spool);
    else if (spool->given)
        spool->next++;
    else if (spool->memory != NULL)
        spool_leave(spool->memory, damaged);
    spool->given = false;
    pthread_mutex_unlock(&spool->mutex);
}

/* ---- settling ---- */

struct spool_damage spool_damage(struct spool *spool)
{
    pthread_mutex_lock(&spool->mutex);
    struct spool_damage damage = spool->damage;
    pthread_mutex_unlock(&spool->mutex);
    return damage;
}

enum spool_rest spool_settle(struct spool *spool)
{
    uint64_t waiting = spool_waiting(spool);
    enum spool_rest rest = SPOOL_STAYS;
    pthread_mutex_lock(&spool->mutex);
    if (spool->path != NULL && waiting == 0 && is_damaged(spool)) {
        /* Renames it to a free name, unless it has one already: PATH.damaged, or that followed by
         * .1 to .9. */
        size_t size = strlen(spool->path), behind = sizeof DAMAGED - 1;
        if (size > 2 && spool->path[size - 2] == '.' && spool->path[size - 1] >= '1' &&
            spool->path[size - 1] <= '9')
            size -= 2;
        bool aside = size > behind && strncmp(spool->path + size - behind, DAMAGED, behind) == 0;
        char *path = NULL;
        for (int i = 0; i <= ASIDE_MOST && !aside && (i == 0 || errno == EEXIST); i++) {
            char number[] = {'.', (char)('0' + i), '\0'};
            free(path);
            if (asprintf(&path, "%s%s%s", spool->path, DAMAGED, i > 0 ? number : "") < 0) {
                path = NULL;
                break;
            }
            /* rename() would replace an existing file. */
            if (link(spool->path, path) == 0) {
                (void)unlink(spool->path);
                free(spool->path);
                spool->path = path;
                path = NULL;
                aside = true;
            }
        }
        int why = errno;
        free(path);
        errno = why;
        rest = aside ? SPOOL_SET_ASIDE : SPOOL_STAYS;
    } else if (spool->path != NULL && waiting == 0 && unlink(spool->path) == 0)
        rest = SPOOL_REMOVED;
    if (spool->path != NULL && rest == SPOOL_STAYS && waiting == 0)
        spool->trouble = errno;
    pthread_mutex_unlock(&spool->mutex);
    return rest;
}
