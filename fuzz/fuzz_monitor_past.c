/* Any keys of time over snapshots with any moments, in a recording and in a live monitor, while the
 * oldest go and others come: one stands at a snapshot that was kept, or at now, it draws each time,
 * and every way ends.
 *
 * The first byte: bit 0 live, bits 1 to 6 how many snapshots there are at first. A byte for each:
 * by how much it is later than the one before, or, from 0xf0 on, earlier. Then keys; of bytes from
 * 0x80 on 0x80 lets time pass, 0x81 adds a snapshot, 0x82 drops the oldest, 0x83 breaks what is
 * kept, or mends it, 0x84 fills graphs. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/history/parse_time.h"
#include "monitor/screens/screen.h"
#include <vitals/sys/builder.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEPT_MOST = 256, PRESSES_MOST = 200, FILLS_MOST = 10000 };
#define SECOND_NS UINT64_C(1000000000)

static struct {
    uint64_t moments_ns[KEPT_MOST];
    long first, count, at;
    bool broken;
} kept;

static vitals_builder *builder;
static uint64_t now_ns;

static void require(int condition)
{
    if (!condition)
        abort();
}

static vitals_snapshot *make(uint64_t moment_ns, uint64_t sequence)
{
    static const vitals_metric HOST[] = {VITALS_HOST_CPU_BUSY_SECONDS,
                                         VITALS_HOST_CPU_TOTAL_SECONDS};
    vitals_snapshot *snapshot = NULL;
    vitals_builder_begin(builder);
    vitals_builder_moment(builder, moment_ns, moment_ns, moment_ns, sequence);
    vitals_builder_table(builder, VITALS_TABLE_HOST, HOST, 2);
    vitals_builder_row(builder, VITALS_TABLE_HOST, 1, 0, (vitals_text){"host", 4}, moment_ns);
    vitals_builder_f64(builder, VITALS_HOST_CPU_BUSY_SECONDS, (double)moment_ns / 4e9, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_HOST_CPU_TOTAL_SECONDS, (double)moment_ns / 1e9,
                       VITALS_HAVE);
    require(vitals_builder_finish(builder, &snapshot, NULL) == 0);
    return snapshot;
}

static int give(long place, vitals_snapshot **out, vitals_error *error)
{
    if (kept.broken) {
        *error = (vitals_error){.code = VITALS_EFORMAT, .message = "broken"};
        return VITALS_EFORMAT;
    }
    if (place < kept.first || place >= kept.count)
        return 0;
    kept.at = place;
    *out = make(kept.moments_ns[place], (uint64_t)place + 1);
    return 1;
}

static int kept_span(void *data, struct timeline_span *out, vitals_error *error)
{
    (void)data;
    (void)error;
    *out = (struct timeline_span){.count = (uint64_t)(kept.count - kept.first)};
    if (out->count > 0) {
        out->first_ns = kept.moments_ns[kept.first];
        out->last_ns = kept.moments_ns[kept.count - 1];
    }
    return 0;
}

static int kept_at(void *data, uint64_t realtime_ns, vitals_snapshot **out, vitals_error *error)
{
    long place = kept.count - 1;
    (void)data;
    while (place > kept.first && kept.moments_ns[place] > realtime_ns)
        place--;
    return give(place, out, error);
}

static int kept_next(void *data, vitals_snapshot **out, vitals_error *error)
{
    (void)data;
    return give(kept.at + 1 < kept.first ? kept.first : kept.at + 1, out, error);
}

static int kept_previous(void *data, vitals_snapshot **out, vitals_error *error)
{
    (void)data;
    return give(kept.at - 1, out, error);
}

static int64_t kept_place(void *data)
{
    (void)data;
    return kept.at;
}

static void kept_stand(void *data, int64_t place)
{
    (void)data;
    kept.at = (long)place;
}

static uint64_t clock_now(void *data)
{
    (void)data;
    return now_ns;
}

static const vitals_clock CLOCK = {.size = sizeof CLOCK, .monotonic_ns = clock_now};
static const struct timeline TIMELINE = {.span = kept_span,
                                         .at = kept_at,
                                         .next = kept_next,
                                         .previous = kept_previous,
                                         .place = kept_place,
                                         .stand = kept_stand};

static void keep(struct monitor *monitor, bool live, uint8_t step)
{
    uint64_t before_ns = kept.count > 0 ? kept.moments_ns[kept.count - 1] : 1000 * SECOND_NS;
    if (kept.count == KEPT_MOST)
        return;
    uint64_t by_ns = (step & 0xf) * SECOND_NS / 3;
    kept.moments_ns[kept.count++] = step >= 0xf0 ? before_ns - by_ns : before_ns + step * by_ns;
    if (live)
        model_add_machine(&monitor->model,
                          make(kept.moments_ns[kept.count - 1], (uint64_t)kept.count));
}

static void fill(struct monitor *monitor)
{
    int left = FILLS_MOST;
    while (left-- > 0 && monitor_recall(monitor, 8))
        ;
    require(left > 0);
}

static void event(struct monitor *monitor, struct player *player, bool live, uint8_t byte)
{
    switch (byte) {
    case 0x80:
        now_ns += 3 * SECOND_NS / 2;
        (void)player_turn(player);
        break;
    case 0x81: keep(monitor, live, 2); break;
    case 0x82: kept.first += kept.first + 1 < kept.count; break;
    case 0x83: kept.broken = !kept.broken; break;
    case 0x84: fill(monitor); break;
    default: monitor_input(monitor, &(struct input_event){.code = byte & 0x7f});
    }
}

static void look(struct monitor *monitor, struct player *player, struct canvas *canvas)
{
    char words[PLAYER_WORDS];
    monitor_settle(monitor);
    require(monitor->depth >= 1 && monitor->model.height <= monitor->height);
    monitor_draw(monitor, canvas);
    if (player_words(player, true, (unsigned)-1, words))
        require(strlen(words) < sizeof words && strchr(words, '\n') == NULL);
    (void)player_patience_ns(player);
}

static void read_moment(const uint8_t *data, size_t size)
{
    char text[80];
    uint64_t found = 0;
    const struct time_span span = {1000 * SECOND_NS, 2000 * SECOND_NS, 1500 * SECOND_NS};
    size = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    (void)parse_time(text, &span, &found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct monitor monitor;
    struct player player;
    struct timeline_cursor cursor;
    struct canvas canvas = {0};
    vitals_error error;
    struct monitor_options options = {.clock = &CLOCK, .readonly = "nobody is signalled"};
    if (size == 0)
        return 0;
    bool live = data[0] & 1;
    size_t first = (size_t)(data[0] >> 1 & 63), at = 1;
    read_moment(data + 1, size - 1);
    memset(&kept, 0, sizeof kept);
    now_ns = 500 * SECOND_NS;
    require(builder != NULL || vitals_builder_new(&builder, NULL) == 0);
    require(monitor_init(&monitor, &options) == 0 && canvas_resize(&canvas, 90, 20) == 0);
    monitor.model.same = true;
    monitor_resize(&monitor, 90, 20);
    for (; first > 0 && at < size; first--)
        keep(&monitor, live, data[at++]);
    timeline_cursor_init(&cursor, TIMELINE, NULL, model_window_ns(&monitor.model));
    player_init(&player, &monitor.model, &CLOCK, cursor, !live);
    monitor.player = &player;
    int code = live ? 0 : player_begin(&player, NULL, true, &error);
    require(code == 0 || kept.count == 0);
    for (int i = 0; i < PRESSES_MOST && at < size && code == 0 && !monitor.quit; i++) {
        event(&monitor, &player, live, data[at++]);
        look(&monitor, &player, &canvas);
    }
    monitor.player = NULL;
    player_done(&player);
    monitor_done(&monitor);
    canvas_done(&canvas);
    return 0;
}
