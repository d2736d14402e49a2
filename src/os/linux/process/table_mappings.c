/* table_mappings.c: the mappings of a process, one row each or summed by what is mapped.
 *
 * smaps costs the kernel a walk over every page, with the process's own page faults waiting: it is
 * read only for what maps cannot tell, in pieces, and never held whole (60,000 mappings are 80 MB).
 * " (deleted)" is the kernel's, and cut, unless the file is called so (deleted.c).
 * The files end early, without an error, where the process ends or begins another program while
 * they are read: what they begin with is read again at the end, and is nothing then.
 * A kernel thread has none, and a zombie no longer: ESRCH, as its environment.
 * Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include "util/hash.h"
#include "util/memory.h"
#include "util/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAPPING_ROWS_MAX = 1 << 18, MAPPED_FILE_ROWS_MAX = 1 << 16 };

/* ---- which columns come from smaps ---- */

static const struct {
    vitals_metric mapping, file;
} SIZES[MAPPING_SIZES] = {
#define SIZE(name) \
    [MAPPING_##name] = {VITALS_MAPPING_##name##_BYTES, VITALS_MAPPED_FILE_##name##_BYTES}
    SIZE(RESIDENT),       SIZE(PSS),           SIZE(SHARED_CLEAN), SIZE(SHARED_DIRTY),
    SIZE(PRIVATE_CLEAN),  SIZE(PRIVATE_DIRTY), SIZE(REFERENCED),   SIZE(ANONYMOUS),
    SIZE(SWAP),           SIZE(THP),           SIZE(LOCKED),       SIZE(SHARED_HUGETLB),
    SIZE(PRIVATE_HUGETLB)
#undef SIZE
};

/* ---- lines of a file that is too large to hold ---- */

enum { LINES_BYTES = 64 * 1024 }; /* a path is a page, and each of its bytes may become four */

struct mappings_lines {
    int file;
    int error;  /* that ended it, negative */
    bool skips; /* to the next newline: the line was longer than all of this */
    uint64_t offset;
    size_t begin, end; /* of what is not taken yet */
    char bytes[LINES_BYTES];
};

/* The next line; one without a newline at the end of the file was cut and is none. */
static bool lines_next(struct mappings_lines *lines, struct span *line)
{
    for (;;) {
        const char *from = lines->bytes + lines->begin;
        const char *newline = memchr(from, '\n', lines->end - lines->begin);
        if (newline != NULL) {
            bool skipped = lines->skips;
            lines->begin = (size_t)(newline + 1 - lines->bytes);
            lines->skips = false;
            *line = (struct span){from, (size_t)(newline - from)};
            if (!skipped)
                return true;
            continue;
        }

        // Reads on behind what is left.
        if (lines->begin == 0 && lines->end == LINES_BYTES) {
            lines->skips = true;
            lines->end = 0;
        }
        lines->end -= lines->begin;
        memmove(lines->bytes, from, lines->end);
        lines->begin = 0;
        int64_t size = linux_read(lines->file, lines->bytes + lines->end, LINES_BYTES - lines->end,
                                  lines->offset);
        if (size <= 0) {
            lines->error = (int)size;
            return false;
        }
        lines->end += (size_t)size;
        lines->offset += (uint64_t)size;
    }
}

/* ---- what is mapped ---- */

struct mappings_reader {
    const struct os *os;
    int64_t pid;
    struct row_batch *out;
    struct mappings_lines *lines;
    struct buffer path; /* one with newlines */
    uint64_t start;     /* of the newest mapping */
    size_t rows;
    bool any, full; /* there was one; there is no room for another */
    unsigned seen;  /* of the sizes below it, by bit */
    struct groups *groups;
};

/* Memory that the kernel made a nameless file for. It was not deleted. */
static bool is_memory(struct span path)
{
    static const char *const NAMES[] = {
        "/memfd:",  "/SYSV",    "/dev/zero (",      "/anon_hugepage (", "/secretmem (",
        "/[aio] (", "/dmabuf:", "/drm mm object (", "/i915 (",
    };
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++)
        if (span_starts(path, NAMES[i]))
            return true;
    return false;
}

/* The path as the process sees it, in the line or in reader->path; false where memory is out. */
static bool name_of(struct mappings_reader *reader, const struct linux_mapping *mapping,
                    struct span *path, struct value *deleted)
{
    static const char ANONYMOUS[] = "[anon]";
    struct span cut;
    *deleted = value_u64(0);
    *path = (struct span){ANONYMOUS, sizeof ANONYMOUS - 1};
    if (mapping->path.size == 0)
        return true;
    if (!linux_mapping_path(mapping->path, &reader->path, path))
        return false;
    if (mapping->inode == 0 || !linux_ends_deleted(*path, &cut))
        return true;
    const struct linux_file file = {.inode = mapping->inode};
    int named = is_memory(*path) ? 0 : linux_process_names(reader->os, reader->pid, *path, &file);
    if (named == 1)
        return true;
    deleted->as.u64 = !is_memory(*path);
    deleted->state = named == 0 ? VITALS_HAVE : VITALS_ESTIMATE;
    *path = cut;
    return true;
}

/* ---- one row each ---- */

/* No page is smaller, on any machine. */
static uint64_t key_of(uint64_t start)
{
    return (start >> 12) + 1;
}

static void add_mapping(struct mappings_reader *reader, const struct linux_mapping *mapping)
{
    struct row_batch *out = reader->out;
    struct span path;
    struct value deleted;
    if (reader->rows == MAPPING_ROWS_MAX) {
        reader->full = true;
        return;
    }
    reader->rows++;
    if (!name_of(reader, mapping, &path, &deleted)) {
        out->failed = true;
        return;
    }
    char device[2 * NUMBER_TEXT];
    size_t size = number_print_u64(device, mapping->major);
    device[size++] = ':';
    size += number_print_u64(device + size, mapping->minor);
    batch_add_row(out, VITALS_TABLE_MAPPING, key_of(mapping->start), path);
    batch_set_text(out, VITALS_MAPPING_ADDRESSES, mapping->addresses);
    batch_set_text(out, VITALS_MAPPING_PERMISSIONS, mapping->permissions);
    batch_set_text(out, VITALS_MAPPING_PATH, path);
    batch_set_value(out, VITALS_MAPPING_DELETED, deleted);
    batch_set_u64(out, VITALS_MAPPING_OFFSET_BYTES, mapping->offset);
    batch_set_text(out, VITALS_MAPPING_DEVICE, (struct span){device, size});
    batch_set_u64(out, VITALS_MAPPING_INODE, mapping->inode);
    batch_set_u64(out, VITALS_MAPPING_SIZE_BYTES, mapping->end - mapping->start);
}

/* ---- summed by path, what was deleted apart from what is there now ---- */

struct mappings_group {
    struct value deleted;
    size_t path_at, path_size; /* in groups.text */
    size_t next;               /* of the same hash, + 1; 0: none */
    uint64_t mappings, address_bytes;
    uint64_t sums[MAPPING_SIZES], told[MAPPING_SIZES]; /* by how many mappings */
};

struct groups {
    struct mappings_group *items;
    size_t count, capacity;
    size_t newest;       /* + 1; 0: its path has no room */
    struct hash by_path; /* hash of the path → index + 1 of the newest */
    bool cut;            /* there was more: of each of them, for all that is known */
    struct buffer text;
};

static void add_to_group(struct mappings_reader *reader, const struct linux_mapping *mapping)
{
    struct groups *groups = reader->groups;
    struct span path;
    struct value deleted;
    groups->newest = 0;
    if (!name_of(reader, mapping, &path, &deleted)) {
        reader->out->failed = true;
        return;
    }
    uint64_t hash = hash_bytes(path.bytes, path.size);
    const uintptr_t *first = hash_find(&groups->by_path, hash);
    size_t found = first != NULL ? *first : 0;
    for (; found != 0; found = groups->items[found - 1].next) {
        const struct mappings_group *group = &groups->items[found - 1];
        if (group->deleted.as.u64 == deleted.as.u64 && group->path_size == path.size &&
            (path.size == 0 ||
             memcmp(groups->text.bytes + group->path_at, path.bytes, path.size) == 0))
            break;
    }
    if (found == 0 && groups->count == MAPPED_FILE_ROWS_MAX) {
        batch_state(reader->out, VITALS_TABLE_MAPPED_FILE, VITALS_LOWER_BOUND);
        return;
    }
    if (found == 0) {
        bool grown = MEMORY_GROW(groups->items, groups->capacity, groups->count) == 0;
        if (grown)
            groups->items[groups->count] = (struct mappings_group){
                .deleted = deleted,
                .path_at = groups->text.size,
                .path_size = path.size,
                .next = first != NULL ? *first : 0,
            };
        buffer_append(&groups->text, path.bytes, path.size);
        if (!grown || groups->text.failed ||
            hash_set(&groups->by_path, hash, groups->count + 1) < 0) {
            reader->out->failed = true;
            return;
        }
        found = ++groups->count;
    }
    groups->newest = found;
    struct mappings_group *group = &groups->items[found - 1];
    group->mappings++;
    group->address_bytes = saturating_add(group->address_bytes, mapping->end - mapping->start);
}

/* By path, and then what was deleted after what is there. */
static int compare_groups(const void *a, const void *b, void *text)
{
    const struct mappings_group *x = a, *y = b;
    const char *bytes = text;
    size_t both = size_min(x->path_size, y->path_size);
    int order = both != 0 ? memcmp(bytes + x->path_at, bytes + y->path_at, both) : 0;
    if (order == 0)
        order = (x->path_size > y->path_size) - (x->path_size < y->path_size);
    return order != 0 ? order : (int)x->deleted.as.u64 - (int)y->deleted.as.u64;
}

static void add_files(struct row_batch *out, struct groups *groups)
{
    const vitals_availability state = groups->cut ? VITALS_LOWER_BOUND : VITALS_HAVE;
    if (groups->count == 0 || out->failed)
        return;
    qsort_r(groups->items, groups->count, sizeof *groups->items, compare_groups,
            groups->text.bytes);
    for (size_t i = 0; i < groups->count; i++) {
        const struct mappings_group *group = &groups->items[i];
        const struct span path = {groups->text.bytes + group->path_at, group->path_size};
        batch_add_row(out, VITALS_TABLE_MAPPED_FILE, i + 1, path);
        batch_set_text(out, VITALS_MAPPED_FILE_PATH, path);
        batch_set_value(out, VITALS_MAPPED_FILE_DELETED, group->deleted);
        batch_set_u64_as(out, VITALS_MAPPED_FILE_MAPPINGS, group->mappings, state);
        batch_set_u64_as(out, VITALS_MAPPED_FILE_SIZE_BYTES, group->address_bytes, state);
        for (size_t k = 0; k < MAPPING_SIZES; k++)
            if (group->told[k] != 0)
                batch_set_u64_as(out, SIZES[k].file, group->sums[k],
                                 group->told[k] == group->mappings ? state : VITALS_LOWER_BOUND);
    }
}

static void groups_done(struct groups *groups)
{
    memory_free(groups->items);
    hash_done(&groups->by_path);
    buffer_done(&groups->text);
    *groups = (struct groups){0};
}

/* ---- reading ---- */

static void take_lines(struct mappings_reader *reader)
{
    struct groups *groups = reader->groups;
    bool counts = false; /* the sizes that come */
    struct linux_mapping mapping;
    enum linux_mapping_size which;
    uint64_t bytes;
    struct span line;
    while (!reader->full && !reader->out->failed && lines_next(reader->lines, &line)) {
        if (linux_parse_mapping(line, &mapping)) {
            // One that grows while we read may be told again: it counts once.
            counts = !reader->any || key_of(mapping.start) > key_of(reader->start);
            if (!counts)
                continue;
            reader->start = mapping.start;
            reader->any = true;
            reader->seen = 0;
            if (groups != NULL)
                add_to_group(reader, &mapping);
            else
                add_mapping(reader, &mapping);
        } else if (counts && linux_parse_mapping_size(line, &which, &bytes) &&
                   (reader->seen >> which & 1) == 0) {
            reader->seen |= 1u << which;
            if (groups == NULL) {
                batch_set_u64(reader->out, SIZES[which].mapping, bytes);
            } else if (groups->newest != 0) {
                struct mappings_group *group = &groups->items[groups->newest - 1];
                group->sums[which] = saturating_add(group->sums[which], bytes);
                group->told[which]++;
            }
        }
    }
}

/* *cut: it ended before its end. */
static int read_once(const struct os *os, int64_t pid, vitals_table entity, struct groups *groups,
                     struct row_batch *out, bool *cut)
{
    struct mappings_reader reader = {.os = os, .pid = pid, .out = out, .groups = groups};
    bool unfinished = linux_lacks_memory(os, pid), sizes = false;
    for (size_t i = 0; i < MAPPING_SIZES; i++)
        sizes |= batch_wants(out,
                             entity == VITALS_TABLE_MAPPING ? SIZES[i].mapping : SIZES[i].file);
    // smaps where it is wanted and there is one (CONFIG_PROC_PAGE_MONITOR), else maps.
    int file = sizes ? linux_process_open(os, pid, "smaps", 0) : -ENOENT;
    if (file == -ENOENT)
        file = linux_process_open(os, pid, "maps", 0);
    *cut = false;
    if (file < 0)
        return file;
    int result = 0;
    reader.lines = memory_alloc(sizeof *reader.lines);
    if (reader.lines == NULL) {
        out->failed = true;
    } else {
        reader.lines->file = file;
        take_lines(&reader);
        // The memory that the open file tells of has been there all the while, if it has a first
        // line now: what is gone does not come back.
        char byte;
        *cut = !out->failed && !reader.full &&
               (unfinished || reader.lines->error != 0 || linux_read(file, &byte, 1, 0) <= 0);
        result = reader.any ? 0 : reader.lines->error;
        if (reader.full || *cut)
            batch_state(out, entity, VITALS_LOWER_BOUND);
        if (result == 0 && !reader.any && *cut)
            result = -EAGAIN; // no memory, or another one by now
        if (groups != NULL)
            groups->cut = reader.full || *cut;
    }
    memory_free(reader.lines);
    buffer_done(&reader.path);
    os_close_descriptor(file);
    return result;
}

/* Once more from the start if it was cut: the new program's memory, or none. */
static int read_table(const struct os *os, int64_t pid, vitals_table entity, struct groups *groups,
                      struct row_batch *out)
{
    bool cut;
    struct batch_mark mark = batch_mark(out);
    batch_state(out, entity, VITALS_HAVE); // another thread may have been asked before
    int result = read_once(os, pid, entity, groups, out, &cut);
    if (!cut)
        return result;
    batch_rewind(out, mark);
    batch_state(out, entity, VITALS_HAVE);
    if (groups != NULL)
        groups_done(groups);
    return read_once(os, pid, entity, groups, out, &cut);
}

static int read_mappings(const struct os *os, int64_t pid, struct row_batch *out)
{
    return read_table(os, pid, VITALS_TABLE_MAPPING, NULL, out);
}

static int read_mapped_files(const struct os *os, int64_t pid, struct row_batch *out)
{
    struct groups groups = {0};
    int result = read_table(os, pid, VITALS_TABLE_MAPPED_FILE, &groups, out);
    add_files(out, &groups);
    groups_done(&groups);
    return result;
}

/* As linux_read_owned, but a kernel thread has an empty table, whatever its files gave. */
static int read_owned(const struct os *os, int64_t pid, vitals_table entity,
                      linux_table_reader *reader, struct row_batch *out)
{
    size_t before = out->row_count;
    int result = linux_read_owned(os, pid, reader, -ESRCH, out);
    if (result == 0 && out->row_count == before)
        batch_state(out, entity, VITALS_HAVE);
    return result;
}

int table_mappings(const struct os *os, int64_t pid, struct row_batch *out)
{
    return read_owned(os, pid, VITALS_TABLE_MAPPING, read_mappings, out);
}

int table_mapped_files(const struct os *os, int64_t pid, struct row_batch *out)
{
    return read_owned(os, pid, VITALS_TABLE_MAPPED_FILE, read_mapped_files, out);
}
