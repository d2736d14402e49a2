/* json.c: see <vitals/record/json.h>. */
#include <vitals/record/json.h>

#include "feed/feed_json.h"
#include "record/recording.h"
#include "record_library/library.h"

#define PLACE "JSON" /* of a document without a file, for messages */

int vitals_snapshot_read_json(const char *bytes, size_t size, vitals_snapshot **out,
                              vitals_error *error)
{
    vitals_error ours;
    vitals_builder *builder = NULL;
    const struct feed_place place = {PLACE, 1};
    error = error != NULL ? error : &ours;
    int code = vitals_builder_new(&builder, error);
    if (code < 0)
        return code;
    locale_t locale = library_enter();
    code = feed_json_read(&place, bytes, size, builder, out, error);
    library_leave(locale);
    vitals_builder_free(builder);
    return code;
}

int vitals_account_read_json(const char *bytes, size_t size, vitals_account **out,
                             vitals_error *error)
{
    locale_t locale = library_enter();
    int code = account_json_read(PLACE, bytes, size, out, error);
    library_leave(locale);
    return code;
}
