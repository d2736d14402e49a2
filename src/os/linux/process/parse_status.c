/* parse_status.c: /proc/PID/status, io and statm.
 *
 * All values are anchored at the beginning of a line and none is looked for in the first one, which
 * holds the name: a process may call itself "Uid:\t7\t8\t9", but the kernel escapes newlines there.
 * A line that the end of the text cuts is not a line: half a number would be a wrong one. Pure. */
#include "os/os.h"

#include "util/number.h"

#include <string.h>

static bool take_u64(struct cursor line, uint64_t *out)
{
    return cursor_u64(&line, out);
}

static bool take_kilobytes(struct cursor line, uint64_t *out)
{
    if (!cursor_u64(&line, out))
        return false;
    *out = saturating_mul(*out, 1024);
    return true;
}

static bool take_hex(struct cursor line, uint64_t *out)
{
    cursor_blanks(&line);
    return number_hex(&line.at, line.end, out);
}

static bool take_octal(struct cursor line, uint64_t *out)
{
    enum { DIGITS_MAX = 8 };
    cursor_blanks(&line);
    uint64_t value = 0;
    size_t size = (size_t)(line.end - line.at);
    for (size_t i = 0; i < size; i++) {
        if (line.at[i] < '0' || line.at[i] > '7')
            return false;
        value = value * 8 + (uint64_t)(line.at[i] - '0');
    }
    *out = value;
    return size != 0 && size <= DIGITS_MAX;
}

/* The last of several numbers. */
static bool take_last(struct cursor line, uint64_t *out)
{
    bool any = false;
    while (cursor_u64(&line, out))
        any = true;
    cursor_blanks(&line);
    return any && cursor_done(&line);
}

/* `size` counts the label. */
static const struct status_field {
    const char *label;
    uint16_t size;
    uint16_t place;
    bool (*take)(struct cursor line, uint64_t *out);
    unsigned bit;
} FIELDS[] = {
#define FIELD(label, place, take, bit)                                                     \
    {                                                                                      \
        label, sizeof(label) - 1, offsetof(struct os_status, place), take, OS_STATUS_##bit \
    }
    FIELD("CapPrm:", permitted, take_hex, PERMITTED),
    FIELD("CapEff:", effective, take_hex, EFFECTIVE),
    FIELD("Cpus_allowed_list:", cpus, NULL, CPUS),
    FIELD("Gid:", gid, take_u64, GID),
    FIELD("Groups:", groups, NULL, GROUPS),
    FIELD("HugetlbPages:", hugetlb_bytes, take_kilobytes, HUGETLB),
    FIELD("NSpid:", namespace_pid, take_last, NAMESPACE_PID),
    FIELD("NoNewPrivs:", no_new_privileges, take_u64, NO_NEW_PRIVILEGES),
    FIELD("RssAnon:", anon_bytes, take_kilobytes, ANON),
    FIELD("RssFile:", file_bytes, take_kilobytes, FILE),
    FIELD("RssShmem:", shmem_bytes, take_kilobytes, SHMEM),
    FIELD("State:", state, NULL, STATE),
    FIELD("Seccomp:", seccomp, take_u64, SECCOMP),
    FIELD("SigBlk:", blocked, take_hex, BLOCKED),
    FIELD("SigCgt:", caught, take_hex, CAUGHT),
    FIELD("SigIgn:", ignored, take_hex, IGNORED),
    FIELD("SigPnd:", thread_pending, take_hex, THREAD_PENDING),
    FIELD("ShdPnd:", pending, take_hex, PENDING),
    FIELD("Tgid:", group, take_u64, GROUP),
    FIELD("TracerPid:", tracer_pid, take_u64, TRACER),
    FIELD("Umask:", umask, take_octal, UMASK),
    FIELD("Uid:", uid, take_u64, UID),
    FIELD("VmPeak:", virtual_peak_bytes, take_kilobytes, VIRTUAL_PEAK),
    FIELD("VmLck:", locked_bytes, take_kilobytes, LOCKED),
    FIELD("VmHWM:", peak_bytes, take_kilobytes, PEAK),
    FIELD("VmSwap:", swapped_bytes, take_kilobytes, SWAPPED),
#undef FIELD
};

/* Real, effective, saved and file-system id stand in one line and in one row of the struct. */
#define FOUR(first, second, third, fourth)                                                 \
    _Static_assert(                                                                        \
        offsetof(struct os_status, second) == offsetof(struct os_status, first) + 8 &&     \
            offsetof(struct os_status, third) == offsetof(struct os_status, first) + 16 && \
            offsetof(struct os_status, fourth) == offsetof(struct os_status, first) + 24,  \
        "four in a row")
FOUR(uid, effective_uid, saved_uid, filesystem_uid);
FOUR(gid, effective_gid, saved_gid, filesystem_gid);

static void take_field(const struct status_field *field, struct cursor line, struct os_status *out)
{
    uint64_t number;
    struct span word;
    if (field->take != NULL) {
        if (!field->take(line, &number))
            return;
        memcpy((char *)out + field->place, &number, sizeof number);
        out->has |= field->bit;
    }
    if (field->bit == OS_STATUS_UID || field->bit == OS_STATUS_GID) {
        bool user = field->bit == OS_STATUS_UID;
        uint64_t *ids = user ? &out->uid : &out->gid;
        if (!cursor_u64(&line, &number) || !cursor_u64(&line, &ids[1]) ||
            !cursor_u64(&line, &ids[2]))
            return;
        out->has |= user ? OS_STATUS_UIDS : OS_STATUS_GIDS;
        if (cursor_u64(&line, &ids[3]))
            out->has |= user ? OS_STATUS_FILESYSTEM_UID : OS_STATUS_FILESYSTEM_GID;
    } else if (field->bit == OS_STATUS_STATE && cursor_word(&line, &word) && word.size == 1) {
        out->state = word.bytes[0];
        out->has |= OS_STATUS_STATE;
    } else if (field->bit == OS_STATUS_CPUS && cursor_word(&line, &out->cpus)) {
        out->has |= OS_STATUS_CPUS;
    } else if (field->bit == OS_STATUS_GROUPS) {
        out->groups = (struct span){line.at, (size_t)(line.end - line.at)};
        out->has |= OS_STATUS_GROUPS;
    }
}

bool os_parse_status(const char *bytes, size_t size, struct os_status *out)
{
    *out = (struct os_status){0};
    struct cursor cursor = cursor_over(bytes, size);
    struct span line;
    if (!cursor_line(&cursor, &line) || !span_starts(line, "Name:"))
        return false;
    while (cursor_line(&cursor, &line)) {
        if (line.size == 0 || line.bytes + line.size == bytes + size)
            continue;
        for (size_t i = 0; i < ARRAY_COUNT(FIELDS); i++) {
            const struct status_field *field = &FIELDS[i];
            if (field->label[0] != line.bytes[0] || line.size <= field->size ||
                memcmp(line.bytes, field->label, field->size) != 0)
                continue;
            if ((out->has & field->bit) == 0)
                take_field(field, cursor_over(line.bytes + field->size, line.size - field->size),
                           out);
            break;
        }
    }
    if (out->group < 0)
        out->has &= ~(unsigned)OS_STATUS_GROUP;
    return true;
}

bool os_parse_io(const char *bytes, size_t size, struct os_io *out)
{
    static const struct {
        const char *label;
        uint16_t place;
        unsigned bit;
    } LINES[] = {
        {"rchar:", offsetof(struct os_io, call_read_bytes), OS_IO_CALL_READ},
        {"wchar:", offsetof(struct os_io, call_written_bytes), OS_IO_CALL_WRITTEN},
        {"syscr:", offsetof(struct os_io, read_calls), OS_IO_READ_CALLS},
        {"syscw:", offsetof(struct os_io, write_calls), OS_IO_WRITE_CALLS},
        {"read_bytes:", offsetof(struct os_io, read_bytes), OS_IO_READ},
        {"write_bytes:", offsetof(struct os_io, written_bytes), OS_IO_WRITTEN},
        {"cancelled_write_bytes:", offsetof(struct os_io, cancelled_write_bytes), OS_IO_CANCELLED},
    };
    *out = (struct os_io){0};
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_line(&cursor, &line);) {
        if (line.bytes + line.size == bytes + size)
            break;
        for (size_t i = 0; i < ARRAY_COUNT(LINES); i++) {
            struct cursor rest = cursor_over(line.bytes, line.size);
            uint64_t number;
            if ((out->has & LINES[i].bit) != 0 || !cursor_literal(&rest, LINES[i].label) ||
                !cursor_u64(&rest, &number))
                continue;
            memcpy((char *)out + LINES[i].place, &number, sizeof number);
            out->has |= LINES[i].bit;
            break;
        }
    }
    return out->has != 0;
}

bool os_parse_statm(const char *bytes, size_t size, struct os_statm *out)
{
    // size, resident, shared, text, library, data, dirty
    static const struct {
        uint16_t place;
        unsigned bit;
    } PAGES[] = {
        {0, 0},
        {offsetof(struct os_statm, resident), OS_STATM_RESIDENT},
        {offsetof(struct os_statm, shared), OS_STATM_SHARED},
        {offsetof(struct os_statm, text), OS_STATM_TEXT},
        {0, 0},
        {offsetof(struct os_statm, data), OS_STATM_DATA},
    };
    *out = (struct os_statm){0};
    struct cursor cursor = cursor_over(bytes, size);
    uint64_t number;
    for (size_t i = 0; i < ARRAY_COUNT(PAGES) && cursor_u64(&cursor, &number); i++) {
        // A number at the very end may have been cut.
        if (cursor_done(&cursor) || (*cursor.at != ' ' && *cursor.at != '\n'))
            break;
        if (PAGES[i].bit != 0)
            memcpy((char *)out + PAGES[i].place, &number, sizeof number);
        out->has |= PAGES[i].bit;
    }
    return (out->has & OS_STATM_RESIDENT) != 0;
}
