/* feed.c: see <vitals/record/feed.h>. */
#include <vitals/record/feed.h>

#include "feed/feed.h"
#include "record/recording.h"
#include "record_library/library.h"
#include "util/error.h"
#include "util/memory.h"

struct vitals_feed {
    struct feed feed;
};

static int give(struct feed *feed, vitals_feed **out, vitals_error *error)
{
    vitals_feed *made = memory_alloc(sizeof *made);
    if (made == NULL) {
        feed_close(feed);
        return error_no_memory(error);
    }
    made->feed = *feed;
    *out = made;
    return 0;
}

int vitals_feed_open(const char *path, vitals_feed **out, vitals_error *error)
{
    vitals_error ours;
    struct feed feed = {0};
    error = error != NULL ? error : &ours;
    locale_t locale = library_enter();
    int code = recording_has_frames(path) ? recording_feed(path, &feed, error)
                                          : feed_file_open(path, &feed, error);
    library_leave(locale);
    return code < 0 ? code : give(&feed, out, error);
}

int vitals_feed_open_json(int descriptor, const char *name, vitals_feed **out, vitals_error *error)
{
    vitals_error ours;
    struct feed feed = {0};
    error = error != NULL ? error : &ours;
    int code = feed_descriptor_open(descriptor, name, &feed, error);
    return code < 0 ? code : give(&feed, out, error);
}

int vitals_feed_next(vitals_feed *feed, vitals_snapshot **out, vitals_error *error)
{
    vitals_error ours;
    locale_t locale = library_enter();
    int code = feed->feed.next(feed->feed.data, out, error != NULL ? error : &ours);
    library_leave(locale);
    return code;
}

int vitals_feed_seek(vitals_feed *feed, uint64_t realtime_ns, vitals_error *error)
{
    vitals_error ours;
    if (feed->feed.seek == NULL)
        return error_set(error, VITALS_EUNSUPPORTED, 0, "cannot seek in a pipe");
    locale_t locale = library_enter();
    int code = feed->feed.seek(feed->feed.data, realtime_ns, error != NULL ? error : &ours);
    library_leave(locale);
    return code;
}

void vitals_feed_close(vitals_feed *feed)
{
    if (feed != NULL)
        feed_close(&feed->feed);
    memory_free(feed);
}
