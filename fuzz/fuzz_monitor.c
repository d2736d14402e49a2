/* Any keys, sizes and snapshots at any moment into the monitor with the demo's devices: it draws
 * each time, stays within its canvas, never leaves less than one screen and sends no signal.
 *
 * A byte is a key; 0x80 to 0x9f are the keys that are no characters, followed by two bytes of
 * position for the mouse; 0xa0 and two bytes are a size, 0xa1 is the next snapshot of the machine,
 * 0xa2 of every process, 0xa3 forgets those. In each snapshot other processes are missing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "feed/feed.h"
#include "feed/snapshot_filter.h"
#include "monitor/screens/screen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PRESSES_MOST = 120, DRAW_EACH = 12, SNAPSHOTS = 4 };

static vitals_snapshot *snapshots[SNAPSHOTS];

static void require(int condition)
{
    if (!condition)
        abort();
}

static bool keep(void *data, const vitals_row *row)
{
    const size_t *turn = data;
    return vitals_row_table(row) != VITALS_TABLE_PROCESS || (vitals_row_key(row) + *turn) % 5 != 0;
}

/* The demo as it is at the start: once, since a driver is loaded for it. */
static void take_snapshots(void)
{
    vitals_context *context = NULL;
    vitals_request *request = NULL;
    vitals_options world;
    struct monitor_options options = {.mode = MONITOR_AUTO};
    struct feed feed = {0};
    vitals_builder *builder;
    vitals_error error;
    vitals_options_init(&world, sizeof world);
    world.backends = "demo";
    world.demo = "default";
    require(vitals_context_new(&world, &context, &error) == 0);
    require(monitor_request(&options, MONITOR_EVERYTHING, &request, &error) == 0);
    struct feed_sampler_options sampler = {
        .request = request, .interval_ns = 20000000, .cancel = -1};
    require(feed_sampler_open(context, &sampler, &feed, &error) == 0);
    require(vitals_builder_new(&builder, &error) == 0);
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        struct snapshot_changes changes = {.keep = keep, .data = &i};
        vitals_snapshot *whole = NULL;
        require(feed.next(feed.data, &whole, &error) == 1);
        require(snapshot_copy(whole, &changes, builder, &snapshots[i], &error) == 0);
        vitals_snapshot_unref(whole);
    }
    vitals_builder_free(builder);
    feed_close(&feed);
    vitals_request_free(request);
    vitals_context_free(context);
}

struct input {
    const uint8_t *bytes;
    size_t size, at;
};

static uint8_t take(struct input *input)
{
    return input->at < input->size ? input->bytes[input->at++] : 0;
}

static void press_one(struct monitor *monitor, struct input *input, size_t *next)
{
    uint8_t byte = take(input);
    struct input_event event = {.code = byte};
    if (byte == 0xa0) {
        int width = take(input);
        monitor_resize(monitor, width + 1, take(input) % 100 + 1);
        return;
    }
    if (byte == 0xa1 || byte == 0xa2) {
        vitals_snapshot *snapshot = vitals_snapshot_ref(snapshots[*next % SNAPSHOTS]);
        (byte == 0xa1 ? model_add_machine : model_add_all)(&monitor->model, snapshot);
        *next += 1;
        return;
    }
    if (byte == 0xa3) {
        model_forget_all(&monitor->model);
        return;
    }
    if (byte >= 0x80 && byte < 0xa0)
        event.code = INPUT_UP + (byte - 0x80u);
    if (event.code >= INPUT_CLICK && event.code <= INPUT_WHEEL_RIGHT) {
        event.x = take(input);
        event.y = take(input) % 100;
    }
    monitor_input(monitor, &event);
}

static void draw(const struct monitor *monitor)
{
    static struct canvas canvas; /* kept: its cells are most of what is allocated */
    require(canvas_resize(&canvas, monitor->model.width, monitor->model.height) == 0);
    monitor_draw(monitor, &canvas);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct monitor monitor;
    struct input input = {.bytes = data, .size = size};
    static const struct arrangement NVITOP = {.nvitop = true};
    struct monitor_options options = {.arrangement = size % 4 < 2 ? &NVITOP : NULL,
                                      .look = {.ascii = size % 2,
                                               .colorful = size % 3 == 0,
                                               .gpu_thresholds = {10, 75},
                                               .memory_thresholds = {10, 80}},
                                      .user = "ana"};
    size_t next = 0;
    if (snapshots[0] == NULL)
        take_snapshots();
    require(monitor_init(&monitor, &options) == 0);
    monitor.model.same = size % 5 < 3;
    for (int i = 0; i < PRESSES_MOST && input.at < size && !monitor.quit; i++) {
        press_one(&monitor, &input, &next);
        monitor_settle(&monitor);
        require(monitor.depth >= 1 && monitor.depth <= SCREENS_DEEP);
        require(monitor.model.top >= 0 && monitor.model.lift >= 0 && monitor.model.shift >= 0);
        if (i % DRAW_EACH == 0)
            draw(&monitor);
    }
    draw(&monitor);
    monitor_done(&monitor);
    return 0;
}
