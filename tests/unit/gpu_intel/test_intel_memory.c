/* How much memory a card of Intel's has, over drivers that answer as i915 and xe do: their bytes
 * are written down here by the offsets of the kernel's headers. */
#include "intel_world.h"

#include "gpu/intel/state.h"

static struct intel_world world;

/* ---- a driver ---- */

enum { REGIONS = 4, REGION_BYTES = 88 };

static struct {
    int refusal; /* of opening; 0: none */
    int error;   /* of asking; 0: none */
    bool is_xe;
    unsigned count; /* of its regions */
    struct {
        uint16_t kind; /* 0: the machine's memory, 1: the card's */
        uint64_t size, used;
    } regions[REGIONS];
    uint32_t claims; /* what it says their number is, where that is not it */
    unsigned opened, asked, open;
    char name[24];
    uint32_t major, minor;
} driver;

static int driver_open(const struct os *os, const char *name, uint32_t major, uint32_t minor)
{
    (void)os;
    driver.opened++;
    if (driver.refusal < 0)
        return driver.refusal;
    snprintf(driver.name, sizeof driver.name, "%s", name);
    driver.major = major;
    driver.minor = minor;
    driver.open++;
    return 77;
}

static void driver_close(int descriptor)
{
    CHECK_INT(descriptor, 77);
    driver.open--;
}

static void put(unsigned char *bytes, size_t at, uint64_t number, size_t size)
{
    memcpy(bytes + at, &number, size);
}

static size_t head_bytes(void)
{
    return driver.is_xe ? 8 : 16;
}

static size_t answer_bytes(void)
{
    return head_bytes() + driver.count * (size_t)REGION_BYTES;
}

static void write_answer(unsigned char *out)
{
    memset(out, 0, answer_bytes());
    put(out, 0, driver.claims != 0 ? driver.claims : driver.count, 4);
    for (unsigned i = 0; i < driver.count; i++) {
        unsigned char *region = out + head_bytes() + (size_t)i * REGION_BYTES;
        uint64_t size = driver.regions[i].size, used = driver.regions[i].used;
        put(region, 0, driver.regions[i].kind, 2);
        put(region, 2, i, 2);
        put(region, 8, size, 8);
        put(region, 16, driver.is_xe ? used : size - used, 8);
    }
}

static void *pointer_at(const unsigned char *bytes, size_t at)
{
    uint64_t address;
    memcpy(&address, bytes + at, sizeof address);
    return (void *)(uintptr_t)address; // NOLINT: so it passes through the kernel
}

/* struct drm_i915_query holds items of struct drm_i915_query_item. */
static int ask_i915(const unsigned char *query)
{
    unsigned char *item = pointer_at(query, 8);
    uint64_t id;
    int32_t length;
    memcpy(&id, item, sizeof id);
    memcpy(&length, item + 8, sizeof length);
    CHECK_UINT(query[0], 1);
    CHECK_UINT(id, 4);
    int32_t needed = (int32_t)answer_bytes(),
            answer = length == 0 || length >= needed ? needed : -22;
    if (length != 0 && answer > 0)
        write_answer(pointer_at(item, 16));
    memcpy(item + 8, &answer, sizeof answer);
    return 0;
}

/* struct drm_xe_device_query. */
static int ask_xe(unsigned char *query)
{
    uint32_t which, size, needed = (uint32_t)answer_bytes();
    memcpy(&which, query + 8, sizeof which);
    memcpy(&size, query + 12, sizeof size);
    CHECK_UINT(which, 1);
    if (size != 0 && size != needed)
        return -EINVAL;
    if (size != 0)
        write_answer(pointer_at(query, 16));
    put(query, 12, needed, 4);
    return 0;
}

static int driver_ask(int descriptor, unsigned command, void *argument, size_t size)
{
    CHECK_INT(descriptor, 77);
    driver.asked++;
    if (driver.error < 0)
        return driver.error;
    CHECK_UINT(command, driver.is_xe ? 0 : 0x39);
    CHECK_UINT(size, driver.is_xe ? 40 : 16);
    return driver.is_xe ? ask_xe(argument) : ask_i915(argument);
}

static const struct intel_asking DRIVER = {driver_open, driver_ask, driver_close};

/* A card with one region of its own, and the machine's. */
static void begin(const char *fixture, uint64_t size, uint64_t used)
{
    intel_world_begin(&world, fixture);
    intel_ask_with(world.state, &DRIVER);
    memset(&driver, 0, sizeof driver);
    driver.is_xe = strncmp(fixture, "xe", 2) == 0;
    driver.count = 2;
    driver.regions[0].size = UINT64_C(64) << 30;
    driver.regions[1].kind = 1;
    driver.regions[1].size = size;
    driver.regions[1].used = used;
}

static void end(void)
{
    CHECK_UINT(driver.open, 0);
    intel_world_end(&world);
}

static const uint64_t GIB = UINT64_C(1) << 30;

/* ---- what a user sees ---- */

static void the_driver_tells_what_the_window_does_not(void)
{
    static const struct {
        const char *fixture, *node;
        uint32_t minor;
    } CASES[] = {{"i915-a380", "renderD129", 129}, {"xe-a380", "renderD128", 128}};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].fixture);
        begin(CASES[i].fixture, 6 * GIB, 2 * GIB);
        intel_world_sample(&world, 0, 0);
        CHECK_VALUE(&world, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_HAVE, 6.0 * (double)GIB);
        CHECK_VALUE(&world, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_HAVE, 2.0 * (double)GIB);
        CHECK_VALUE(&world, VITALS_GPU_MEMORY_FREE_BYTES, "", VITALS_HAVE, 4.0 * (double)GIB);
        CHECK_STR(driver.name, CASES[i].node);
        CHECK_UINT(driver.major, 226);
        CHECK_UINT(driver.minor, CASES[i].minor);
        CHECK_UINT(driver.opened, 1);
        CHECK_UINT(driver.asked, 2);
        end();
    }
}

/* Without CAP_PERFMON everything looks free. */
static void who_may_not_count_is_told_the_size_alone(void)
{
    static const char *const FIXTURES[] = {"i915-a380", "xe-a380"};
    for (size_t i = 0; i < CHECK_COUNT(FIXTURES); i++) {
        CHECK_CASE(FIXTURES[i]);
        begin(FIXTURES[i], 6 * GIB, 0);
        intel_world_sample(&world, 0, 0);
        CHECK_VALUE(&world, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_HAVE, 6.0 * (double)GIB);
        CHECK_MISSING(&world, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_NOT_YET); /* of processes */
        CHECK_MISSING(&world, VITALS_GPU_MEMORY_FREE_BYTES, "", VITALS_UNSUPPORTED);
        end();
    }
}

static void two_tiles_are_one_memory(void)
{
    begin("xe-b580", 16 * GIB, 3 * GIB);
    driver.count = 3;
    driver.regions[2].kind = 1;
    driver.regions[2].size = 16 * GIB;
    driver.regions[2].used = GIB;
    intel_world_sample(&world, 0, 0);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_HAVE, 32.0 * (double)GIB);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_HAVE, 4.0 * (double)GIB);
    end();
}

static void where_the_node_is_denied_it_is_estimated(void)
{
    begin("i915-a380", 6 * GIB, GIB);
    driver.refusal = -EACCES;
    for (int i = 0; i < 30; i++)
        intel_world_sample(&world, 0, 1);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_ESTIMATE, 8.0 * (double)GIB);
    CHECK_UINT(driver.opened, 1); /* it is not asked in every tick */
    driver.refusal = 0;
    intel_world_sample(&world, 0, 60);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_HAVE, 6.0 * (double)GIB);
    end();
}

/* An open node, and a question, keep it from falling asleep. */
static void a_card_that_does_nothing_is_asked_seldom(void)
{
    begin("xe-b580", 12 * GIB, GIB);
    intel_world_sample(&world, 0, 0);
    for (int i = 0; i < 9; i++)
        intel_world_sample(&world, 0, 1);
    CHECK_MISSING(&world, VITALS_GPU_UTILIZATION_RATIO, "", VITALS_UPPER_BOUND); /* at most */
    CHECK_UINT(driver.opened, 1);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_ESTIMATE, (double)GIB);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_HAVE, 12.0 * (double)GIB);
    driver.regions[1].used = 5 * GIB;
    intel_world_sample(&world, 0, 2);
    CHECK_UINT(driver.opened, 2);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_HAVE, 5.0 * (double)GIB);
    end();
}

static void a_card_that_works_is_asked_each_time(void)
{
    begin("i915-a380", 6 * GIB, GIB);
    intel_kernel.refusal = 0;
    intel_world_sample(&world, 0, 0);
    for (unsigned i = 1; i < 4; i++) {
        intel_kernel_wind(0x0000, 500000000); /* rcs0 */
        driver.regions[1].used = (1 + i) * GIB;
        intel_world_sample(&world, 0, 1);
        CHECK_UINT(driver.opened, 1 + i);
        CHECK_VALUE(&world, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_HAVE,
                    (double)(1 + i) * (double)GIB);
    }
    end();
}

static void who_sleeps_has_none_or_does_not_ask_is_not_opened(void)
{
    begin("xe-asleep", 6 * GIB, GIB);
    intel_world_sample(&world, 0, 0);
    CHECK_UINT(driver.opened, 0);
    end();
    begin("i915-igpu", 6 * GIB, GIB); /* its memory is the machine's */
    intel_world_sample(&world, 0, 0);
    CHECK_UINT(driver.opened, 0);
    end();
    begin("i915-a380", 6 * GIB, GIB);
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_GPU_UTILIZATION_RATIO);
    intel_world_read(&world, 0, &wanted);
    CHECK_UINT(driver.opened, 0);
    end();
}

static void nonsense_of_a_driver_is_not_believed(void)
{
    begin("xe-a380", 6 * GIB, 7 * GIB); /* more in use than there is */
    intel_world_sample(&world, 0, 0);
    CHECK_MISSING(&world, VITALS_GPU_MEMORY_USED_BYTES, "", VITALS_FAILED);
    CHECK_MISSING(&world, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_FAILED);
    end();
    begin("i915-a380", 6 * GIB, GIB);
    driver.claims = 1000000; /* beyond what it wrote */
    intel_world_sample(&world, 0, 0);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_ESTIMATE, 8.0 * (double)GIB);
    end();
    begin("i915-a380", 6 * GIB, GIB);
    driver.error = -ENODEV;
    intel_world_sample(&world, 0, 0);
    CHECK_VALUE(&world, VITALS_GPU_MEMORY_TOTAL_BYTES, "", VITALS_ESTIMATE, 8.0 * (double)GIB);
    end();
}

/* ---- bytes ---- */

static void bytes_that_are_cut_are_no_answer(void)
{
    unsigned char bytes[16 + REGIONS * REGION_BYTES];
    struct intel_memory told;
    for (int xe = 0; xe < 2; xe++) {
        memset(&driver, 0, sizeof driver);
        driver.is_xe = xe != 0;
        driver.count = REGIONS;
        for (unsigned i = 0; i < REGIONS; i++) {
            driver.regions[i].kind = 1;
            driver.regions[i].size = 2 * GIB;
            driver.regions[i].used = GIB;
        }
        write_answer(bytes);
        for (size_t size = 0; size <= answer_bytes(); size++) {
            bool parsed = intel_parse_memory(bytes, size, xe != 0, &told);
            CHECK(parsed == (size == answer_bytes()));
        }
        CHECK_UINT(told.total.as.u64, 8 * GIB);
        CHECK_UINT(told.used.as.u64, 4 * GIB);
        driver.regions[2].used = 0; /* of one it is not told: not of all together either */
        write_answer(bytes);
        CHECK(intel_parse_memory(bytes, answer_bytes(), xe != 0, &told));
        CHECK_INT(told.used.state, VITALS_UNSET);
        CHECK_UINT(told.total.as.u64, 8 * GIB);
        driver.regions[1].size = UINT64_MAX / 2;
        write_answer(bytes);
        CHECK(intel_parse_memory(bytes, answer_bytes(), xe != 0, &told));
        CHECK_INT(told.total.state, VITALS_FAILED);
    }
}

/* The node is opened only where it is that device. */
static void another_device_s_node_is_not_opened(void)
{
    struct os os;
    vitals_options options;
    vitals_error error;
    vitals_options_init(&options, sizeof options);
    CHECK_OK(os_open(&os, &options, &error), error);
    CHECK_INT(os_drm_open(&os, "../null", 1, 3), -EINVAL);
    CHECK_INT(os_drm_open(&os, "no-such-node", 226, 128), -ENOENT);
    os_close(&os);
    struct gpu_tree tree = gpu_tree_empty();
    gpu_tree_link(&tree, "dev/dri/renderD128", "/dev/null");
    gpu_tree_text(&tree, "dev/dri/renderD129", "a file");
    gpu_tree_open(&tree, &os);
    os.live = true;
    CHECK_INT(os_drm_open(&os, "renderD128", 226, 128), -ENODEV);
    CHECK_INT(os_drm_open(&os, "renderD129", 226, 129), -ENODEV);
    int descriptor = os_drm_open(&os, "renderD128", 1, 3);
    CHECK(descriptor >= 0);
    uint64_t argument = 0;
    CHECK_INT(os_drm_ask(descriptor, 0, &argument, sizeof argument), -ENOTTY);
    CHECK(os_drm_is_ours(getpid(), (uint64_t)descriptor));
    CHECK(!os_drm_is_ours(getpid() + 1, (uint64_t)descriptor));
    CHECK(!os_drm_is_ours(getpid(), UINT64_MAX));
    os_drm_close(descriptor);
    CHECK(!os_drm_is_ours(getpid(), (uint64_t)descriptor));
    os.live = false;
    CHECK_INT(os_drm_open(&os, "renderD128", 1, 3), -ENOTSUP);
    gpu_tree_close(&os);
    gpu_tree_free(&tree);
}

static const check_test tests[] = {
    {"the driver tells what the window does not", the_driver_tells_what_the_window_does_not},
    {"who may not count is told the size alone", who_may_not_count_is_told_the_size_alone},
    {"two tiles are one memory", two_tiles_are_one_memory},
    {"where the node is denied it is estimated", where_the_node_is_denied_it_is_estimated},
    {"a card that does nothing is asked seldom", a_card_that_does_nothing_is_asked_seldom},
    {"a card that works is asked each time", a_card_that_works_is_asked_each_time},
    {"who sleeps, has none or does not ask is not opened",
     who_sleeps_has_none_or_does_not_ask_is_not_opened},
    {"nonsense of a driver is not believed", nonsense_of_a_driver_is_not_believed},
    {"bytes that are cut are no answer", bytes_that_are_cut_are_no_answer},
    {"another device's node is not opened", another_device_s_node_is_not_opened},
};
CHECK_TESTS(tests)
