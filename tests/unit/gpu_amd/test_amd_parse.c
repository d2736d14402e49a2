/* The texts of amdgpu and of its compute driver: tables of levels, counts of errors, bad pages,
 * properties of the topology. */
#include "check.h"

#include "gpu/amd/kfd.h"
#include "gpu/amd/parse.h"

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

/* ---- clocks ---- */

enum { NONE = -1 };

static void check_number(struct value value, double expected)
{
    CHECK_INT(value.state != VITALS_UNSET, expected >= 0);
    if (expected >= 0)
        CHECK_NEAR(value.as.f64, expected * 1e6, 0.5);
}

static void levels_of_a_clock(void)
{
    static const struct {
        const char *what, *text;
        double now, lowest, highest; /* megahertz */
        bool estimate;
    } cases[] = {
        {"a board", "0: 500Mhz *\n1: 2505Mhz \n", 500, 500, 2505, false},
        {"a fine-grained table", "0: 500Mhz\n1: 1312Mhz *\n2: 2100Mhz\n", 1312, 500, 2100, false},
        {"deep sleep is where it is, not a level", "S: 132Mhz *\n0: 500Mhz\n1: 2100Mhz\n", 132, 500,
         2100, false},
        {"capitals", "0: 96MHz\n1: 1000MHz *\n", 1000, 96, 1000, false},
        {"two stars", "0: 400Mhz *\n1: 400Mhz *\n", 400, 400, 400, false},
        {"two stars that differ", "0: 400Mhz *\n1: 800Mhz *\n2: 1200Mhz\n", 800, 400, 1200, true},
        {"no star", "0: 400Mhz\n1: 800Mhz\n", NONE, 400, 800, false},
        {"zero while it idles", "0: 0Mhz *\n1: 2575Mhz\n", 0, 0, 2575, false},
        {"a line that is none", "unavailable\n0: 400Mhz *\n", 400, 400, 400, false},
        {"no line end", "0: 400Mhz *", 400, 400, 400, false},
        {"a clock that cannot be", "0: 99999999Mhz *\n1: 400Mhz\n", NONE, 400, 400, false},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct amd_dpm_levels levels;
        CHECK_CASE(cases[i].what);
        CHECK(amd_dpm_levels_parse(span_of(cases[i].text), &levels));
        check_number(levels.now, cases[i].now);
        check_number(levels.lowest, cases[i].lowest);
        check_number(levels.highest, cases[i].highest);
        CHECK_INT(levels.now.state == VITALS_ESTIMATE, cases[i].estimate);
    }
    static const char padded[] = "0: 400Mhz *\0\0\n1: 800Mhz\0";
    struct amd_dpm_levels levels;
    CHECK_CASE("NULs behind it");
    CHECK(amd_dpm_levels_parse((struct span){padded, sizeof padded}, &levels));
    check_number(levels.now, 400);
    check_number(levels.highest, 800);
}

static void no_levels_at_all(void)
{
    static const char *const texts[] = {"",         "\n",         "unavailable\n", "0: *\n",
                                        "0: Mhz",   ": 500Mhz *", "SS: 500Mhz",    "0 500Mhz",
                                        "-1: 5Mhz", "0: 500 Mhz", "0: x16 *"};
    for (size_t i = 0; i < CHECK_COUNT(texts); i++) {
        struct amd_dpm_levels levels;
        struct amd_link_levels link;
        CHECK_CASE(texts[i]);
        CHECK_FALSE(amd_dpm_levels_parse(span_of(texts[i]), &levels));
        CHECK_FALSE(amd_link_levels_parse(span_of(texts[i]), &link));
    }
}

static void levels_of_the_link(void)
{
    static const struct {
        const char *what, *text;
        int generation, width;
        bool estimate;
    } cases[] = {
        {"rx6900xt", "0: 2.5GT/s, x1 310Mhz \n1: 16.0GT/s, x16 619Mhz *\n", 4, 16, false},
        {"rx6600", "0: 2.5GT/s, x8 100Mhz \n1: 8.0GT/s, x8 0Mhz *\n", 3, 8, false},
        {"gen 5", "0: 2.5GT/s, x16 *\n1: 32.0GT/s, x16 \n", 1, 16, false},
        {"5.0 GT/s", "0: 5.0GT/s, x4 *\n", 2, 4, false},
        {"vega56 stars both", "0: 8.0GT/s, x16 *\n1: 8.0GT/s, x16 *\n", 3, 16, false},
        {"both, and they differ", "0: 2.5GT/s, x8 *\n1: 8.0GT/s, x16 *\n", 3, 16, true},
        {"no star", "0: 8.0GT/s, x16\n", NONE, NONE, false},
        {"a space", "0: 8.0 GT/s, x16 *\n", 3, 16, false},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct amd_link_levels link;
        CHECK_CASE(cases[i].what);
        CHECK(amd_link_levels_parse(span_of(cases[i].text), &link));
        CHECK_INT(link.generation.state != VITALS_UNSET, cases[i].generation != NONE);
        if (cases[i].generation != NONE) {
            CHECK_UINT(link.generation.as.u64, (unsigned)cases[i].generation);
            CHECK_UINT(link.width.as.u64, (unsigned)cases[i].width);
        }
        CHECK_INT(link.width.state == VITALS_ESTIMATE, cases[i].estimate);
    }
}

static void a_link_that_cannot_be(void)
{
    static const char *const texts[] = {"0: 8.0GT/s, x0 *", "0: 8.0GT/s, x4096 *", "0: 1.0GT/s, x1",
                                        "0: 999.0GT/s, x16", "0: 8.0GT/s"};
    for (size_t i = 0; i < CHECK_COUNT(texts); i++) {
        struct amd_link_levels link;
        CHECK_CASE(texts[i]);
        CHECK_FALSE(amd_link_levels_parse(span_of(texts[i]), &link));
    }
}

/* ---- errors ---- */

static void counts_of_errors(void)
{
    struct amd_errors errors;
    CHECK(amd_errors_parse(span_of("ue: 2\nce: 17\n"), &errors));
    CHECK_UINT(errors.uncorrected.as.u64, 2);
    CHECK_UINT(errors.corrected.as.u64, 17);
    CHECK_INT(errors.deferred.state, VITALS_UNSET);
    CHECK(amd_errors_parse(span_of("ue: 0\nce: 0\nde: 4"), &errors));
    CHECK_INT(errors.uncorrected.state, VITALS_HAVE);
    CHECK_UINT(errors.deferred.as.u64, 4);
    CHECK_FALSE(amd_errors_parse(span_of("Query currently inaccessible\n"), &errors));
    CHECK_FALSE(amd_errors_parse(span_of("ue: \nce: -1\n"), &errors));
    CHECK_FALSE(amd_errors_parse(span_of(""), &errors));
}

static void bad_pages(void)
{
    struct amd_bad_pages pages;
    amd_bad_pages_parse(span_of("0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : P\n"
                                "0x00000003 : 0x00001000 : R\n0x00000004 : 0x00001000 : F\n"
                                "0x5 : R\nnonsense : R : R\n"),
                        &pages);
    CHECK_UINT(pages.retired, 2);
    CHECK_UINT(pages.pending, 1);
    amd_bad_pages_parse(span_of(""), &pages);
    CHECK_UINT(pages.retired, 0);
}

/* ---- the compute driver ---- */

static void properties_of_a_node(void)
{
    struct kfd_properties node;
    kfd_parse_properties(span_of("cpu_cores_count 0\nsimd_count 1216\nsimd_per_cu 4\n"
                                 "gfx_target_version 90402\nvendor_id 4098\nlocation_id 1280\n"
                                 "domain 1\ndrm_render_minor 128\nhive_id 12345678901234567\n"
                                 "unique_id 18446744073709551615\nnum_xcc 8\nsimd_count_x 9\n"),
                         &node);
    CHECK_UINT(kfd_compute_units(&node), 304);
    CHECK_UINT(node.drm_render_minor, 128);
    CHECK_UINT(node.unique_id, UINT64_MAX);
    CHECK_UINT(node.num_xcc, 8);
    char bus[32];
    kfd_bus_id(&node, bus);
    CHECK_STR(bus, "0001:05:00.0");
    kfd_parse_properties(span_of("simd_count\nsimd_count x\n\n"), &node);
    CHECK_UINT(kfd_compute_units(&node), 0);
}

static void a_node_is_on_its_card(void)
{
    struct kfd_node node = {.properties = {.domain = 0, .location_id = 0xC503}};
    CHECK(kfd_is_on(&node, "0000:c5:00.0"));
    CHECK(kfd_is_on(&node, "0000:c5:00.3"));
    CHECK_FALSE(kfd_is_on(&node, "0000:c5:01.0"));
    CHECK_FALSE(kfd_is_on(&node, "0001:c5:00.0"));
    CHECK_FALSE(kfd_is_on(&node, "0000:c5:00"));
    CHECK_FALSE(kfd_is_on(&node, ""));
}

static void architectures(void)
{
    static const struct {
        uint64_t version;
        const char *name;
    } cases[] = {
        {90402, "gfx942"},
        {90010, "gfx90a"},
        {90012, "gfx90c"},
        {100300, "gfx1030"},
        {110003, "gfx1103"},
        {120001, "gfx1201"},
        {80003, "gfx803"},
        {90500, "gfx950"},
        {0, ""},
        {99, ""},
        {1000000, ""},
        {99999999999, ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char name[KFD_ARCHITECTURE];
        CHECK_CASE(cases[i].name);
        kfd_architecture(cases[i].version, name);
        CHECK_STR(name, cases[i].name);
    }
}

static void links_and_banks(void)
{
    struct kfd_link link;
    kfd_parse_link(span_of("type 11\nversion_major 0\nnode_from 2\nnode_to 3\nweight 15\n"
                           "min_bandwidth 50000\nmax_bandwidth 50000\nflags 1\n"),
                   &link);
    CHECK_UINT(link.type, KFD_LINK_XGMI);
    CHECK_UINT(link.node_to, 3);
    CHECK_UINT(link.max_bandwidth, 50000);
    struct kfd_bank bank;
    kfd_parse_bank(span_of("heap_type 1\nsize_in_bytes 206141652992\nflags 0\nwidth 8192\n"),
                   &bank);
    CHECK_UINT(bank.width, 8192);
    CHECK_UINT(bank.size_in_bytes, 206141652992);
}

static void pids_of_folders(void)
{
    static const struct {
        const char *name;
        int64_t pid; /* 0: none */
    } cases[] = {{"4242", 4242}, {"4242_1", 4242}, {"4242-0", 4242}, {"x", 0},
                 {"", 0},        {"-4", 0},        {"0", 0},         {"99999999999999", 0}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        int64_t pid = 0;
        CHECK_CASE(cases[i].name);
        CHECK_INT(kfd_parse_pid(cases[i].name, &pid), cases[i].pid != 0);
        CHECK_INT(pid, cases[i].pid);
    }
}

static const check_test tests[] = {
    {"the levels of a clock", levels_of_a_clock},
    {"no levels at all", no_levels_at_all},
    {"the levels of the link", levels_of_the_link},
    {"a link that cannot be is none", a_link_that_cannot_be},
    {"errors are counted by their kind", counts_of_errors},
    {"bad pages are counted by what became of them", bad_pages},
    {"the properties of a node", properties_of_a_node},
    {"a node is on its card, whatever its function", a_node_is_on_its_card},
    {"architectures have the compiler's names", architectures},
    {"links and banks of memory", links_and_banks},
    {"a folder's name begins with a pid", pids_of_folders},
};
CHECK_TESTS(tests)
