/* table_logins.c: the table login: records of utmp, and sessions of logind that have none there.
 *
 * Distributions without utmp have logind, and those without logind have utmp; of a login that both
 * tell of, utmp's record counts. utmp(5) is an array of the C library's own struct, whose strings
 * need not end; a session's file (systemd's logind-session.c writes it) has lines KEY=value. Thread
 * rule: any thread. */
#include "os/linux/machine/logins.h"
#include "os/linux/tables.h"

#include "util/memory.h"
#include "util/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <utmp.h>

/* Limits of what is read; a table that was cut is a lower bound. */
enum { UTMP_LIMIT = 4 << 20, SESSION_LIMIT = 64 * 1024, SESSIONS_MAX = 16 * 1024 };

struct logins_reading {
    const struct os *os;
    struct row_batch *out;
    struct buffer utmp;
    struct login *records; /* of utmp; borrowed from its bytes */
    size_t count, capacity;
    bool found;   /* there is utmp or there are sessions */
    bool partial; /* something could not be read */
    int error;
};

static void put(struct row_batch *out, const struct login *login)
{
    if (batch_add_row(out, VITALS_TABLE_LOGIN, 0, (struct span){"", 0}) == NULL)
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
        int result = linux_read_file(reading->os, directory, entry->d_name, O_NOFOLLOW,
                                     SESSION_LIMIT, &text, &reading->partial);
        if (result < 0)
            note_error(reading, result); /* ENOENT: the session has just ended */
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
    int result = linux_read_file(os, os->run, "utmp", O_NOFOLLOW, UTMP_LIMIT, utmp,
                                 &reading.partial);
    if (result < 0)
        note_error(&reading, result);
    reading.found = result == 0;
    struct login login;
    for (size_t at = 0; result == 0 && login_next_utmp(utmp->bytes, utmp->size, &at, &login);) {
        if (MEMORY_GROW(reading.records, reading.capacity, reading.count) < 0) {
            out->failed = true;
            break;
        }
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
        batch_state(out, VITALS_TABLE_LOGIN, VITALS_LOWER_BOUND);
    return 0;
}

/* Records are written by the same C library that this is built with: 384 bytes where times are 32
 * bits wide for the sake of older programs, 400 on other machines of 64 bits. */
_Static_assert(offsetof(struct utmp, ut_pid) == 4 && offsetof(struct utmp, ut_line) == 8 &&
                   offsetof(struct utmp, ut_user) == 44 && offsetof(struct utmp, ut_host) == 76,
               "the layout of utmp(5)");
_Static_assert(sizeof(((struct utmp *)0)->ut_line) == 32 &&
                   sizeof(((struct utmp *)0)->ut_user) == 32 &&
                   sizeof(((struct utmp *)0)->ut_host) == 256,
               "the layout of utmp(5)");
_Static_assert(sizeof(struct utmp) == 384 || sizeof(struct utmp) == 400, "the layout of utmp(5)");

/* Returns a string of a record, whose bytes begin at `offset`. */
static struct span text_at(const char *record, size_t offset, size_t capacity)
{
    return (struct span){record + offset, strnlen(record + offset, capacity)};
}

/* A display of this machine, such as ":0", is not a remote host. */
static struct span host_of(struct span host)
{
    return host.size > 0 && host.bytes[0] == ':' ? (struct span){"", 0} : host;
}

bool login_next_utmp(const char *bytes, size_t size, size_t *at, struct login *out)
{
    while (*at <= size && size - *at >= sizeof(struct utmp)) {
        struct utmp record;
        const char *from = bytes + *at;
        memcpy(&record, from, sizeof record);
        *at += sizeof record;
        if (record.ut_type != USER_PROCESS)
            continue;
        /* A time of 32 bits is unsigned: valid until 2106. */
        double seconds = sizeof record.ut_tv.tv_sec == 4 ? (double)(uint32_t)record.ut_tv.tv_sec
                                                         : (double)record.ut_tv.tv_sec;
        double fraction = (double)record.ut_tv.tv_usec / 1e6;
        if (seconds > 0 && fraction >= 0 && fraction < 1)
            seconds += fraction;
        *out = (struct login){
            .user = text_at(from, offsetof(struct utmp, ut_user), sizeof record.ut_user),
            .terminal = text_at(from, offsetof(struct utmp, ut_line), sizeof record.ut_line),
            .host = host_of(text_at(from, offsetof(struct utmp, ut_host), sizeof record.ut_host)),
            .start_seconds = seconds > 0 ? seconds : 0,
            .pid = record.ut_pid > 0 ? (uint64_t)record.ut_pid : 0,
        };
        return true;
    }
    return false;
}

/* Returns the value if all of it is a number above 0; else 0. */
static uint64_t number_of(struct span value)
{
    const char *at = value.bytes, *end = value.bytes + value.size;
    uint64_t number;
    return value.size != 0 && number_u64(&at, end, &number) && at == end ? number : 0;
}

bool login_parse_session(const char *bytes, size_t size, struct login *out)
{
    enum { USER, CLASS, STATE, TTY, DISPLAY, REMOTE_HOST, LEADER, REALTIME, KEYS };
    static const char *const NAMES[KEYS] = {"USER",    "CLASS",       "STATE",  "TTY",
                                            "DISPLAY", "REMOTE_HOST", "LEADER", "REALTIME"};
    struct span values[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        values[i] = (struct span){"", 0};
    struct cursor text = cursor_over(bytes, size);
    for (struct span line, key; cursor_line(&text, &line);) {
        struct cursor cursor = cursor_over(line.bytes, line.size);
        if (!cursor_until(&cursor, '=', &key))
            continue;
        struct span value = {cursor.at, (size_t)(cursor.end - cursor.at)};
        if (value.size >= 2 && value.bytes[0] == '"' && value.bytes[value.size - 1] == '"')
            value = (struct span){value.bytes + 1, value.size - 2};
        for (size_t i = 0; i < KEYS; i++)
            if (span_equal(key, NAMES[i]))
                values[i] = value;
    }
    /* Sessions of old versions have no class and belong to users; greeters and managers are not
     * users. */
    bool of_user = values[CLASS].size == 0 || span_equal(values[CLASS], "user") ||
                   span_starts(values[CLASS], "user-");
    if (values[USER].size == 0 || !of_user || span_equal(values[STATE], "closing"))
        return false;
    uint64_t pid = number_of(values[LEADER]);
    *out = (struct login){
        .user = values[USER],
        .terminal = values[TTY].size != 0 ? values[TTY] : values[DISPLAY],
        .host = host_of(values[REMOTE_HOST]),
        .display = values[DISPLAY],
        .start_seconds = (double)number_of(values[REALTIME]) / 1e6,
        .pid = pid <= INT32_MAX ? pid : 0,
    };
    return true;
}

static bool equal(struct span a, struct span b)
{
    return a.size == b.size && a.size != 0 && memcmp(a.bytes, b.bytes, a.size) == 0;
}

bool login_same(const struct login *record, const struct login *session)
{
    return equal(record->user, session->user) &&
           ((record->pid != 0 && record->pid == session->pid) ||
            equal(record->terminal, session->terminal) ||
            equal(record->terminal, session->display));
}
