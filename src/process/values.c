/* values.c: what is set of a process, in the words that the catalogue has for it.
 *
 * So what was read of one process can be set of another. Thread rule: pure. */
#include "model/words.h"
#include "util/base.h"
#include "util/cursor.h"
#include <vitals/process.h>

#include <limits.h>

/* ---- I/O classes ---- */

_Static_assert(VITALS_IO_REALTIME == 1 && VITALS_IO_IDLE == 3, "the kernel's numbers");

const char *vitals_io_class_name(vitals_io_class io_class)
{
    return words_io_class((unsigned)io_class);
}

int vitals_io_class_find(vitals_text name)
{
    const char *word;
    for (unsigned i = 0; (word = words_io_class(i)) != NULL; i++)
        if (span_equal((struct span){name.bytes, name.size}, word))
            return (int)i;
    return -1;
}

/* ---- lists of CPUs ---- */

/* Above what any kernel can be built for; what os_process_set_affinity has room for. */
enum { CPU_MAX = (1 << 22) - 1 };

/* "7" or "0-3". */
static bool take_range(struct cursor *cursor, unsigned *first, unsigned *last)
{
    uint64_t from, to;
    if (!cursor_u64(cursor, &from))
        return false;
    to = from;
    if (cursor_literal(cursor, "-") && !cursor_u64(cursor, &to))
        return false;
    if (from > to || to > CPU_MAX)
        return false;
    *first = (unsigned)from;
    *last = (unsigned)to;
    return true;
}

/* How many there are, of which the first `capacity` are written; or VITALS_EARGUMENT. */
static int read_list(vitals_text list, unsigned *cpus, size_t capacity)
{
    struct cursor cursor = cursor_over(list.bytes, list.size);
    size_t count = 0;
    do {
        unsigned first, last;
        if (!take_range(&cursor, &first, &last) || last - first >= INT_MAX - count)
            return VITALS_EARGUMENT;
        for (unsigned cpu = first; cpu <= last && count + (cpu - first) < capacity; cpu++)
            cpus[count + (cpu - first)] = cpu;
        count += last - first + 1;
    } while (cursor_literal(&cursor, ","));
    return cursor_done(&cursor) ? (int)count : VITALS_EARGUMENT;
}

int vitals_cpus_parse(vitals_text list, unsigned *cpus, size_t capacity)
{
    int count = read_list(list, NULL, 0); // what is no list writes nothing
    return count < 0 ? count : read_list(list, cpus, capacity);
}
