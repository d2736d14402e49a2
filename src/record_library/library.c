/* library.c: see library.h. */
#include "record_library/library.h"

#include "util/error.h"

locale_t library_enter(void)
{
    /* With all categories this is the C library's own object: making and freeing it costs no
     * memory. Without it the locale stays as it is. */
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void library_leave(locale_t before)
{
    (void)uselocale(before);
}

int library_write(void *data, const char *bytes, size_t size)
{
    struct library_writer *writer = data;
    locale_t ours = uselocale(writer->locale);
    writer->stopped = writer->write(writer->data, bytes, size);
    (void)uselocale(ours);
    return writer->stopped;
}

int library_written(const struct library_writer *writer, int result, vitals_error *error)
{
    library_leave(writer->locale);
    if (result == 0)
        return 0;
    if (writer->stopped == 0)
        return error_no_memory(error);
    return error_set(error, VITALS_ESYSTEM, writer->stopped, "the writer stopped it");
}
