/* One fdinfo of a DRM driver: each dialect with the figures that must come out, and hostile text.
 */
#include "check.h"

#include "gpu/sweep.h"

static struct sweep_client client;

static bool parse(const char *text)
{
    memset(&client, 0xAA, sizeof client); // what is left of an older one must not show
    return sweep_parse((struct span){text, strlen(text)}, &client);
}

static const struct sweep_engine *engine(const char *name)
{
    for (uint32_t i = 0; i < client.engine_count; i++) {
        if (strcmp(client.engines[i].name, name) == 0)
            return &client.engines[i];
    }
    CHECK_FAIL("no engine %s", name);
}

static const struct sweep_region *region(const char *name)
{
    for (uint32_t i = 0; i < client.region_count; i++) {
        if (strcmp(client.regions[i].name, name) == 0)
            return &client.regions[i];
    }
    CHECK_FAIL("no region %s", name);
}

static void check_bytes_of(struct value value, uint64_t bytes)
{
    CHECK_INT(value.state, VITALS_HAVE);
    CHECK_UINT(value.as.u64, bytes);
}

static void what_is_no_drm_driver_is_none(void)
{
    CHECK_FALSE(parse(""));
    CHECK_FALSE(parse("pos:\t0\nflags:\t0100002\nmnt_id:\t26\nino:\t685\n"));
    CHECK_FALSE(parse("pasid:\t32\nvram mem:\t4 kB\ngfx0:\t5.50%\n"));
    CHECK_FALSE(parse("drm-drivers: x\n"));
    CHECK_UINT(client.engine_count, 0);
}

/* xe: busy is told in cycles, of as many as there were. */
static void cycles_come_with_their_total(void)
{
    CHECK(parse("pos:\t0\ndrm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\n"
                "drm-total-system:\t0\ndrm-resident-system:\t0\n"
                "drm-total-gtt:\t192 KiB\ndrm-resident-gtt:\t192 KiB\n"
                "drm-total-vram0:\t23992 KiB\ndrm-shared-vram0:\t16 MiB\ndrm-active-vram0:\t0\n"
                "drm-resident-vram0:\t23992 KiB\n"
                "drm-cycles-rcs:\t28257900\ndrm-total-cycles-rcs:\t7655183225\n"
                "drm-cycles-ccs:\t0\ndrm-total-cycles-ccs:\t7655183225\n"
                "drm-engine-capacity-ccs:\t4\n"));
    CHECK_STR(client.driver, "xe");
    CHECK_STR(client.pdev, "0000:03:00.0");
    CHECK(client.has_id);
    CHECK_UINT(client.id, 3);
    CHECK_UINT(client.engine_count, 2);
    CHECK(engine("rcs")->has_cycles && engine("rcs")->has_total && !engine("rcs")->has_busy);
    CHECK_UINT(engine("rcs")->cycles, 28257900);
    CHECK_UINT(engine("rcs")->total_cycles, 7655183225);
    CHECK_UINT(engine("rcs")->capacity, 1);
    CHECK_UINT(engine("ccs")->capacity, 4);
    CHECK_UINT(client.region_count, 3);
    check_bytes_of(region("vram0")->resident, 23992u << 10);
    check_bytes_of(region("vram0")->shared, 16u << 20);
    check_bytes_of(region("gtt")->total, 192u << 10);
}

/* i915: names with a dash in them, and one prefix that begins another. */
static void names_may_hold_a_dash(void)
{
    CHECK(parse("drm-driver: i915\ndrm-pdev: 0000:00:02.0\ndrm-client-id: 7\n"
                "drm-engine-render: 9288864723 ns\ndrm-engine-video-enhance: 0 ns\n"
                "drm-engine-video: 2035 ns\ndrm-engine-capacity-video: 2\n"
                "drm-resident-stolen-local0: 4 MiB\n"));
    CHECK_UINT(client.engine_count, 3);
    CHECK_UINT(engine("render")->busy_ns, 9288864723);
    CHECK_UINT(engine("video")->busy_ns, 2035);
    CHECK_UINT(engine("video")->capacity, 2);
    CHECK(engine("video-enhance")->has_busy);
    check_bytes_of(region("stolen-local0")->resident, 4u << 20);
}

/* msm and panthor: nanoseconds and cycles of one engine; no address. */
static void an_engine_has_several_counters(void)
{
    CHECK(parse("drm-driver:\tmsm\ndrm-client-id:\t7\ndrm-engine-gpu:\t1734371319 ns\n"
                "drm-cycles-gpu:\t1153645024\ndrm-maxfreq-gpu:\t800000000 Hz\n"));
    CHECK_STR(client.pdev, "");
    CHECK_UINT(client.engine_count, 1);
    CHECK(engine("gpu")->has_busy && engine("gpu")->has_cycles && !engine("gpu")->has_total);
}

/* v3d has a blank before the tab. */
static void blanks_around_a_value_do_not_count(void)
{
    CHECK(parse("drm-driver:v3d\ndrm-client-id: \t 12 \t\ndrm-engine-render: \t4 ns\n"
                "drm-engine-cache_clean: \t5ns\nv3d-jobs-render: \t9 jobs\n"));
    CHECK_STR(client.driver, "v3d");
    CHECK_UINT(client.id, 12);
    CHECK_UINT(engine("render")->busy_ns, 4);
    CHECK_UINT(engine("cache_clean")->busy_ns, 5);
    CHECK_UINT(client.region_count, 0);
}

/* drm-memory-R is the older name of drm-resident-R; amdgpu tells both. */
static void resident_memory_is_told_twice_and_counts_once(void)
{
    static const char *const BOTH[] = {
        "drm-driver: amdgpu\ndrm-memory-vram: 10 KiB\ndrm-resident-vram: 20 KiB\n",
        "drm-driver: amdgpu\ndrm-resident-vram: 20 KiB\ndrm-memory-vram: 10 KiB\n",
    };
    for (size_t i = 0; i < CHECK_COUNT(BOTH); i++) {
        CHECK(parse(BOTH[i]));
        CHECK_UINT(client.region_count, 1);
        check_bytes_of(region("vram")->resident, 20 << 10);
    }
    CHECK(parse("drm-driver: amdgpu\ndrm-memory-vram: 10 KiB\n"));
    check_bytes_of(region("vram")->resident, 10 << 10);
    CHECK_INT(region("vram")->total.state, VITALS_UNSET);
}

/* amdgpu of Linux 5.14 to 5.18. */
static void the_old_dialect_of_amdgpu_is_understood(void)
{
    CHECK(parse("pos:\t0\nflags:\t02100002\nmnt_id:\t26\npdev:\t0000:0c:00.0\npasid:\t32769\n"
                "vram mem:\t2048 kB\ngtt mem:\t1024 kB\ncpu mem:\t0 kB\n"
                "gfx0:\t12.50%\ndma0:\t3.7%\ncompute1:\t100.0%\n"));
    CHECK_STR(client.driver, "amdgpu");
    CHECK_STR(client.pdev, "0000:0c:00.0");
    CHECK(client.has_id);
    CHECK_UINT(client.id, 32769); // the address space stands in for the client id
    check_bytes_of(region("vram")->resident, 2048u << 10);
    check_bytes_of(region("gtt")->resident, 1024u << 10);
    CHECK_UINT(client.engine_count, 3);
    CHECK(engine("gfx0")->has_percent && !engine("gfx0")->has_busy);
    CHECK_NEAR(engine("gfx0")->percent, 12.5, 1e-9);
    CHECK_NEAR(engine("dma0")->percent, 3.07, 1e-9); // that kernel drops a zero
    CHECK_NEAR(engine("compute1")->percent, 100, 1e-9);
}

/* pasid is a word of newer amdgpu too, which has client ids. */
static void old_words_of_a_new_dialect_are_passed_over(void)
{
    CHECK(parse("pasid:\t5\ndrm-driver:\tamdgpu\npdev:\t0000:0c:00.0\npasid:\t32769\n"
                "vram mem:\t2048 kB\ngfx0:\t12.50%\n"));
    CHECK_FALSE(client.has_id);
    CHECK_UINT(client.engine_count, 0);
    CHECK_UINT(client.region_count, 0);
}

static void every_unit_is_known(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } CASES[] = {
        {"5", 5},          {"5 KiB", 5 << 10},
        {"5 kB", 5 << 10}, {"5 MiB", 5 << 20},
        {"5KiB", 5 << 10}, {"2 GiB", UINT64_C(2) << 30},
        {"5 B", 5},        {"99999999999999999999 MiB", UINT64_MAX},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        char text[128];
        CHECK_CASE(CASES[i].text);
        snprintf(text, sizeof text, "drm-driver: x\ndrm-total-memory: %s\n", CASES[i].text);
        CHECK(parse(text));
        check_bytes_of(region("memory")->total, CASES[i].bytes);
    }
}

static void a_value_that_is_none_is_passed_over(void)
{
    static const char *const LINES[] = {
        "drm-total-memory: -5 KiB",
        "drm-total-memory: 5 pages",
        "drm-total-memory: KiB",
        "drm-total-memory:",
        "drm-total-memory",
        "drm-total-: 5",
        "drm-total-a b: 5",
        "drm-total-a\x01: 5",
        "drm-total-a_name_of_twenty-four_bytes: 5",
        "drm-engine-gfx: 5 %",
        "drm-engine-gfx: 5 ms",
        "drm-engine-: 5 ns",
        "drm-engine-capacity-gfx: 0",
        "drm-engine-capacity-gfx: 5000000000",
        "drm-cycles-gfx: 5 Hz",
        "drm-client-id: x",
        "drm-client-id: ",
        "drm-client-id-more: 5",
        "drm-pdev: 0000:03:00.0 and more",
        "drm-pdev-more: 0000:03:00.0",
        "gfx0: 5.0%",
    };
    for (size_t i = 0; i < CHECK_COUNT(LINES); i++) {
        char text[128];
        CHECK_CASE(LINES[i]);
        snprintf(text, sizeof text, "drm-driver: x\n%s\n", LINES[i]);
        CHECK(parse(text));
        CHECK_UINT(client.engine_count, 0);
        CHECK_UINT(client.region_count, 0);
        CHECK_FALSE(client.has_id);
        CHECK_STR(client.pdev, "");
    }
}

static void of_a_key_that_stands_twice_the_last_counts(void)
{
    CHECK(parse("drm-driver: x\ndrm-client-id: 1\ndrm-client-id: 2\ndrm-engine-a: 5 ns\n"
                "drm-engine-a: 3 ns\ndrm-engine-a: nonsense\n"));
    CHECK_UINT(client.id, 2);
    CHECK_UINT(client.engine_count, 1);
    CHECK_UINT(engine("a")->busy_ns, 3);
}

static void more_engines_than_there_is_room_for_are_left_out(void)
{
    char text[8192] = "drm-driver: x\n";
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "drm-engine-e%d: %d ns\ndrm-total-r%d: %d\n", i, i, i, i);
    CHECK(parse(text));
    CHECK_UINT(client.engine_count, SWEEP_ENGINES);
    CHECK_UINT(client.region_count, SWEEP_REGIONS);
    CHECK_UINT(engine("e15")->busy_ns, 15);
}

/* A name that is as long as there is room for, one byte less, and NULs inside. */
static void bytes_may_be_anything(void)
{
    static const char TEXT[] = "drm-driver: a\0b\ndrm-engine-a\0b: 5 ns\n\0\0:\n::::\n"
                               "drm-engine-\xff\xfe: 5 ns\n"
                               "drm-engine-aaaaaaaaaaaaaaaaaaaaaaa: 6 ns";
    memset(&client, 0xAA, sizeof client);
    CHECK(sweep_parse((struct span){TEXT, sizeof TEXT - 1}, &client));
    CHECK_STR(client.driver, "");
    CHECK_UINT(client.engine_count, 2);
    CHECK_UINT(engine("\xff\xfe")->busy_ns, 5);
    CHECK_UINT(engine("aaaaaaaaaaaaaaaaaaaaaaa")->busy_ns, 6);
    CHECK_FALSE(sweep_parse((struct span){NULL, 0}, &client));
}

static const check_test tests[] = {
    {"what is no DRM driver is none", what_is_no_drm_driver_is_none},
    {"cycles come with their total", cycles_come_with_their_total},
    {"names may hold a dash", names_may_hold_a_dash},
    {"an engine has several counters", an_engine_has_several_counters},
    {"blanks around a value do not count", blanks_around_a_value_do_not_count},
    {"resident memory is told twice and counts once",
     resident_memory_is_told_twice_and_counts_once},
    {"the old dialect of amdgpu is understood", the_old_dialect_of_amdgpu_is_understood},
    {"old words of a new dialect are passed over", old_words_of_a_new_dialect_are_passed_over},
    {"every unit is known", every_unit_is_known},
    {"a value that is none is passed over", a_value_that_is_none_is_passed_over},
    {"of a key that stands twice the last counts", of_a_key_that_stands_twice_the_last_counts},
    {"more engines than there is room for are left out",
     more_engines_than_there_is_room_for_are_left_out},
    {"bytes may be anything", bytes_may_be_anything},
};

CHECK_TESTS(tests)
