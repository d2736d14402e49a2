/* table_logins.c: the table login: records of utmp, and sessions of logind that have none there.
 *
 * Distributions without utmp have logind, and those without logind have utmp; of a login that both
 * tell of, utmp's record counts. Thread rule: any thread. */
#include "os/linux/machine/logins.h"
#include "os/linux/tables.h"

#include "util/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Caps of what is read; a table that was cut is a lower bound. */
enum { UTMP_LIMIT = 4 << 20, SESSION_LIMIT = 64 * 1024, SESSIONS_MAX = 16 * 1024 };

struct logins_reading {
    const struct os *os;
    struct row_batch *out;
    struct buffer utmp;
    struct login *records; /* of utmp, borrowed from it */
    size_t count, capacity;
    bool found;   /* there is utmp or there are sessions */
    bool partial; /* something could not be read */
    int error;
};

static void put(struct row_batch *out, const struct login *login)
{
    if (batch_add_row(out, VITALS_LOGIN, 0, (struct span){"", 0}) == NULL)
        return;
    batch_set_text(out, VITALS_LOGIN_USER, login->user);
    batch_set_text(out, VITALS_LOGIN_TERMINAL, login->terminal);
    batch_set_text(out, VITALS_LOGIN_HOST, login->host);
    if (login->start_seconds > 0)
        batch_set_f64(out, VITALS_LOGIN_START_TIME_SECONDS, login->start_seconds);
    else
        batch_set_missing(out, VITALS_LOGIN_START_TIME_SECONDS, VITALS_UNSUPPORTED);
    if (login->pid != 0)
        batch_set_u64(out, VITALS_LOGIN_PID, login->pid);
    else
        batch_set_missing(out, VITALS_LOGIN_PID, VITALS_UNSUPPORTED);
}

static void note_error(struct logins_reading *reading, int error)
{
    if (error == -ENOENT)
        return;
    reading->partial = true;
    if (reading->error == 0)
        reading->error = error;
}

static int read_below(const struct logins_reading *reading, int root, const char *path,
                      size_t limit, struct buffer *out, bool *cut)
{
    int descriptor = linux_open(reading->os, root, path, O_NOFOLLOW);
    if (descriptor < 0)
        return descriptor;
    int result = linux_read_all(descriptor, limit, false, out, cut);
    os_close_descriptor(descriptor);
    return result;
}

static void read_sessions(struct logins_reading *reading)
{
    int directory = linux_open(reading->os, reading->os->run, "systemd/sessions", O_DIRECTORY);
    DIR *stream = directory < 0 ? NULL : fdopendir(directory);
    if (stream == NULL) {
        note_error(reading, directory < 0 ? directory : -errno);
        os_close_descriptor(directory);
        return;
    }
    reading->found = true;
    struct buffer text = {0};
    unsigned count = 0;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL && !reading->out->failed;) {
        // Besides sessions there are their FIFOs ("3.ref") and files being written (".#3…").
        if (strchr(entry->d_name, '.') != NULL)
            continue;
        if (++count > SESSIONS_MAX) {
            reading->partial = true;
            break;
        }
        struct login session;
        buffer_reset(&text);
        int result = read_below(reading, directory, entry->d_name, SESSION_LIMIT, &text,
                                &reading->partial);
        if (result < 0)
            note_error(reading, result); // ENOENT: it has just ended
        if (result < 0 || text.size == 0 || !login_parse_session(text.bytes, text.size, &session))
            continue;
        size_t same = 0;
        while (same < reading->count && !login_same(&reading->records[same], &session))
            same++;
        if (same == reading->count)
            put(reading->out, &session);
    }
    reading->out->failed |= text.failed;
    buffer_done(&text);
    closedir(stream);
}

int table_logins(const struct os *os, struct row_batch *out)
{
    if (os->run < 0)
        return -ENOTSUP;
    struct logins_reading reading = {.os = os, .out = out};
    struct buffer *utmp = &reading.utmp;
    int result = read_below(&reading, os->run, "utmp", UTMP_LIMIT, utmp, &reading.partial);
    if (result < 0)
        note_error(&reading, result);
    reading.found = result == 0;
    struct login login;
    for (size_t at = 0; result == 0 && login_next_utmp(utmp->bytes, utmp->size, &at, &login);) {
        void *records = reading.records;
        if (memory_grow(&records, &reading.capacity, reading.count, sizeof login) < 0) {
            out->failed = true;
            break;
        }
        reading.records = records;
        reading.records[reading.count++] = login;
        put(out, &login);
    }
    read_sessions(&reading);
    bool failed = utmp->failed || out->failed;
    memory_free(reading.records);
    buffer_done(utmp);
    if (failed)
        return -ENOMEM;
    if (!reading.found) // this machine keeps no record of logins
        return reading.error != 0 ? reading.error : -ENOTSUP;
    if (reading.partial)
        batch_state(out, VITALS_LOGIN, VITALS_LOWER_BOUND);
    return 0;
}
