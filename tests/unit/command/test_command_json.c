/* `vitals --json` over a machine whose driver only counts the load of its device, so that there are
 * two readings, in which memory runs out at each place. */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

#include "command/command.h"
#include "gpu_tree.h"
#include "util/memory.h"

static const uint64_t SOON_NS = 60000000000; /* a busy machine */

/* What it prints is not looked at. */
static int run_json(const struct settings *settings)
{
    int kept[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CHECK(null >= 0);
    (void)fflush(stdout);
    for (int i = 0; i < 2; i++) {
        kept[i] = dup(STDOUT_FILENO + i);
        CHECK_INT(dup2(null, STDOUT_FILENO + i), STDOUT_FILENO + i);
    }
    int code = command_json(settings);
    for (int i = 0; i < 2; i++) {
        (void)dup2(kept[i], STDOUT_FILENO + i);
        close(kept[i]);
    }
    close(null);
    return code;
}

/* Threads that end free what is theirs. */
static void check_live(int64_t live)
{
    const vitals_clock *clock = vitals_clock_system();
    uint64_t now_ns = clock->monotonic_ns(clock->data), until_ns = now_ns + SOON_NS;
    while (memory_live() != live && now_ns < until_ns) {
        (void)clock->wait_until(clock->data, -1, now_ns + 1000000);
        now_ns = clock->monotonic_ns(clock->data);
    }
    CHECK_INT(memory_live(), live);
}

static void without_memory_nothing_is_left(void)
{
    char roots[3][GPU_TREE_PATH], where[32];
    struct gpu_tree tree = gpu_tree_new("drm/v3d");
    gpu_tree_path(&tree, "proc", roots[0]);
    gpu_tree_path(&tree, "sys", roots[1]);
    gpu_tree_path(&tree, "dev", roots[2]);
    const struct settings settings = {
        .machine = {.proc_root = roots[0],
                    .sys_root = roots[1],
                    .dev_root = roots[2],
                    .backends = "drm",
                    .device_wait_ns = SOON_NS,
                    .driver_percent = 10,
                    .no_bpf = true},
        .sampling = {.delay_ns = 1000},
    };
    CHECK_INT(run_json(&settings), 0); /* what is made once */
    int64_t live = memory_live();
    uint64_t before = memory_asked();
    CHECK_INT(run_json(&settings), 0);
    uint64_t asked = memory_asked() - before, failed = 0;
    check_live(live);
    for (uint64_t nth = 1; nth <= asked; nth++) {
        (void)snprintf(where, sizeof where, "%u of %u", (unsigned)nth, (unsigned)asked);
        CHECK_CASE(where);
        memory_fail_at(nth);
        failed += run_json(&settings) != 0;
        memory_fail_at(0);
        check_live(live);
    }
    CHECK(failed > 0);
    gpu_tree_free(&tree);
}

static const check_test tests[] = {
    {"without memory nothing is left", without_memory_nothing_is_left},
};
CHECK_TESTS(tests)
