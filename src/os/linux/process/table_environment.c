/* table_environment.c: what a process was given as its environment.
 *
 * As it was when the program began: what the process has set since is not seen, and one that writes
 * its title over it (setproctitle) leaves empty strings, which are left out. A name that stands
 * there twice has two rows; programs differ in which of them they take. A kernel thread has none,
 * and a zombie has given its away (-ESRCH).
 * The file ends early, without an error, where a page cannot be had and where the process begins
 * another program: stat says how much there is. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include <errno.h>
#include <string.h>

enum { ENVIRONMENT_BYTES_MAX = 16 << 20, ENVIRONMENT_ROWS_MAX = 1 << 16 };

bool linux_parse_variable(struct cursor *cursor, struct linux_variable *out)
{
    while (!cursor_done(cursor) && *cursor->at == '\0')
        cursor->at++;
    if (cursor_done(cursor))
        return false;
    struct span string;
    if (!cursor_until(cursor, '\0', &string)) {
        string = (struct span){cursor->at, (size_t)(cursor->end - cursor->at)};
        cursor->at = cursor->end;
    }
    const char *equals = memchr(string.bytes, '=', string.size);
    size_t size = equals != NULL ? (size_t)(equals - string.bytes) : string.size;
    out->name = (struct span){string.bytes, size};
    out->value = equals != NULL ? (struct span){equals + 1, string.size - size - 1}
                                : (struct span){NULL, 0};
    return true;
}

/* Everything up to where it ends or a page cannot be had, page by page: a read that reaches into
 * such a page gives nothing at all. *cut: there is more than `out` holds, for want of room or of
 * what the file gave. */
static int read_once(const struct os *os, int64_t pid, struct buffer *out, bool *cut)
{
    enum { PAGE = 4096 }; // or a multiple
    buffer_reset(out);
    int file = linux_process_open(os, pid, "environ", 0);
    if (file < 0)
        return file;
    struct linux_stat_memory memory = {{0, 0}, {0, 0}};
    linux_stat_memory(os, pid, &memory);
    int64_t size = 1;
    bool whole = false; // the end that stat tells of was reached
    *cut = false;
    while (size > 0 && !*cut && !whole) {
        size_t piece = PAGE - (size_t)((memory.environment.start + out->size) % PAGE);
        size_t room = ENVIRONMENT_BYTES_MAX - out->size;
        char *at = buffer_reserve(out, piece);
        size = at != NULL ? linux_read(file, at, piece, out->size) : -ENOMEM;
        if (size > 0) {
            *cut = (size_t)size > room;
            buffer_advance(out, size_min((size_t)size, room));
            whole = (size_t)size < piece && out->size == memory.environment.size;
        }
    }

    // Else its first byte can still be read, as long as this is the process's memory.
    char byte;
    bool lasts = whole || (size == 0 && (out->size == 0 || linux_read(file, &byte, 1, 0) > 0));
    os_close_descriptor(file);
    if (size < 0 || *cut)
        return size < 0 ? (int)size : 0;
    if (out->size == 0 && linux_lacks_memory(os, pid))
        return -EAGAIN;
    *cut = !lasts || out->size < memory.environment.size;
    return 0;
}

static int read_table(const struct os *os, int64_t pid, struct row_batch *out)
{
    struct buffer text = {0};
    bool cut = false;
    int result = read_once(os, pid, &text, &cut);
    if (result == -EAGAIN || (result == 0 && cut && text.size < ENVIRONMENT_BYTES_MAX))
        result = read_once(os, pid, &text, &cut);
    if (result == 0 && cut)
        batch_state(out, VITALS_TABLE_ENVIRONMENT, VITALS_LOWER_BOUND);

    struct cursor strings = cursor_over(text.bytes, result == 0 ? text.size : 0);
    struct linux_variable variable;
    for (uint64_t row = 1; linux_parse_variable(&strings, &variable) && !out->failed; row++) {
        if (row > ENVIRONMENT_ROWS_MAX) {
            batch_state(out, VITALS_TABLE_ENVIRONMENT, VITALS_LOWER_BOUND);
            break;
        }
        vitals_availability state = cut && cursor_done(&strings) ? VITALS_LOWER_BOUND : VITALS_HAVE;
        batch_add_row(out, VITALS_TABLE_ENVIRONMENT, row, variable.name);
        batch_set_text(out, VITALS_ENVIRONMENT_NAME, variable.name);
        if (variable.value.bytes != NULL)
            batch_set_text_as(out, VITALS_ENVIRONMENT_VALUE, variable.value, state);
        else
            batch_set_missing(out, VITALS_ENVIRONMENT_VALUE, VITALS_UNSUPPORTED);
    }
    buffer_done(&text);
    return result;
}

int table_environment(const struct os *os, int64_t pid, struct row_batch *out)
{
    return linux_read_owned(os, pid, read_table, -ESRCH, out);
}
