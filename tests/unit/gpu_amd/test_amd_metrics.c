/* amdgpu's binary record gpu_metrics: what each revision has to become. The records are made by
 * tests/fixtures/gpu/amd_metrics/make.py out of the kernel's layouts. */
#include "check.h"

#include "gpu/amd/metrics.h"

static struct amd_metrics metrics;

static bool parse(const char *name)
{
    char path[96];
    size_t size;
    snprintf(path, sizeof path, "gpu/amd_metrics/%s.bin", name);
    char *bytes = check_read(path, &size);
    bool known = amd_metrics_parse(bytes, size, &metrics);
    free(bytes);
    return known;
}

/* ---- what must come out ---- */

struct expected {
    enum amd_number number;
    double value;
};

enum { EXPECTED = 24 };
#define END            \
    {                  \
        AMD_NUMBERS, 0 \
    }
#define WATTS(w)              \
    {                         \
        AMD_SOCKET_WATTS, (w) \
    }

/* What all boards have. */
#define BOARD                                                                                  \
    {AMD_EDGE_CELSIUS, 56}, {AMD_JUNCTION_CELSIUS, 71}, {AMD_MEMORY_CELSIUS, 64},              \
        {AMD_VR_GFX_CELSIUS, 61}, {AMD_VR_SOC_CELSIUS, 58}, {AMD_HBM0_CELSIUS, 60},            \
        {AMD_HBM1_CELSIUS, 61}, {AMD_GFX_RATIO, 0.99}, {AMD_MEMORY_RATIO, 0.43},               \
        {AMD_VIDEO_RATIO, 0.07}, WATTS(302), {AMD_GFX_HERTZ, 2505e6}, {AMD_SOC_HERTZ, 1200e6}, \
        {AMD_MEMORY_HERTZ, 1249e6}, {AMD_VCLK0_HERTZ, 0}, {AMD_DCLK0_HERTZ, 0},                \
        {AMD_FAN_RPM, 1780}, {AMD_PCIE_LANES, 16},                                             \
    {                                                                                          \
        AMD_PCIE_TRANSFERS, 160                                                                \
    }
#define INSTINCT                                                                              \
    {AMD_JUNCTION_CELSIUS, 52}, {AMD_MEMORY_CELSIUS, 47}, {AMD_VR_SOC_CELSIUS, 55},           \
        {AMD_GFX_RATIO, 0.37}, {AMD_MEMORY_RATIO, 0.12}, WATTS(140), {AMD_GFX_HERTZ, 2100e6}, \
        {AMD_SOC_HERTZ, 28e6}, {AMD_MEMORY_HERTZ, 1300e6}, {AMD_PCIE_LANES, 16},              \
        {AMD_PCIE_TRANSFERS, 320},                                                            \
    {                                                                                         \
        AMD_PCIE_REPLAYS, 3                                                                   \
    }
#define PROCESSOR                                                                         \
    {AMD_EDGE_CELSIUS, 25}, {AMD_SOC_CELSIUS, 24.31}, {AMD_GFX_RATIO, 0.79},              \
        {AMD_VIDEO_RATIO, 0.0125}, {AMD_GFX_HERTZ, 800e6}, {AMD_SOC_HERTZ, 1200e6},       \
        {AMD_MEMORY_HERTZ, 2800e6}, {AMD_FABRIC_HERTZ, 2000e6}, {AMD_VCLK0_HERTZ, 400e6}, \
    {                                                                                     \
        AMD_DCLK0_HERTZ, 320e6                                                            \
    }

static const struct record {
    const char *name;
    unsigned format, content;
    struct expected numbers[EXPECTED]; /* and nothing else */
} records[] = {
    {"v1_1", 1, 1, {BOARD, END}},
    {"v1_2", 1, 2, {BOARD, END}},
    {"v1_3",
     1,
     3,
     {BOARD, {AMD_SOC_VOLTS, 0.95}, {AMD_GFX_VOLTS, 1.068}, {AMD_MEMORY_VOLTS, 1.35}, END}},
    {"v1_3_padded",
     1,
     3,
     {BOARD, {AMD_SOC_VOLTS, 0.95}, {AMD_GFX_VOLTS, 1.068}, {AMD_MEMORY_VOLTS, 1.35}, END}},
    {"v1_4", 1, 4, {INSTINCT, {AMD_VIDEO_RATIO, 0.2}, END}},
    {"v1_5", 1, 5, {INSTINCT, {AMD_VIDEO_RATIO, 0.2}, {AMD_JPEG_RATIO, 0.02}, END}},
    {"v1_6", 1, 6, {INSTINCT, END}},
    {"v1_7", 1, 7, {INSTINCT, END}},
    {"v1_8", 1, 8, {INSTINCT, END}},
    {"v1_9",
     1,
     9,
     {{AMD_JUNCTION_CELSIUS, 49},
      {AMD_MEMORY_CELSIUS, 44},
      WATTS(168),
      {AMD_GFX_RATIO, 0.64},
      {AMD_PCIE_TRANSFERS, 320},
      {AMD_GFX_HERTZ, 2100e6},
      END}},
    {"v2_1", 2, 1, {PROCESSOR, END}},
    {"v2_2", 2, 2, {PROCESSOR, END}},
    {"v2_3", 2, 3, {PROCESSOR, END}},
    {"v2_4", 2, 4, {PROCESSOR, WATTS(3.401), {AMD_SOC_VOLTS, 0.812}, {AMD_GFX_VOLTS, 0.701}, END}},
    {"v3_0",
     3,
     0,
     {{AMD_EDGE_CELSIUS, 38.12},
      {AMD_SOC_CELSIUS, 36.5},
      {AMD_GFX_RATIO, 0.0003},
      {AMD_VIDEO_RATIO, 0.025},
      WATTS(9.839),
      {AMD_GFX_HERTZ, 603e6},
      {AMD_SOC_HERTZ, 757e6},
      {AMD_MEMORY_HERTZ, 937e6},
      {AMD_FABRIC_HERTZ, 1794e6},
      {AMD_VCLK0_HERTZ, 100e6},
      END}},
    {"unmeasured", 1, 3, {END}},
};

static const struct expected *find(const struct record *record, size_t number)
{
    for (size_t i = 0; record->numbers[i].number != AMD_NUMBERS; i++)
        if (record->numbers[i].number == number)
            return &record->numbers[i];
    return NULL;
}

static void every_revision_gives_its_numbers_and_no_others(void)
{
    for (size_t i = 0; i < CHECK_COUNT(records); i++) {
        const struct record *record = &records[i];
        CHECK_CASE(record->name);
        CHECK(parse(record->name));
        CHECK_UINT(metrics.format, record->format);
        CHECK_UINT(metrics.content, record->content);
        for (size_t number = 0; number < AMD_NUMBERS; number++) {
            const struct expected *expected = find(record, number);
            struct value value = metrics.numbers[number];
            if ((value.state > 0) != (expected != NULL))
                CHECK_FAIL("number %zu has state %d and %f", number, value.state, value.as.f64);
            if (expected != NULL)
                CHECK_NEAR(value.as.f64, expected->value, 1e-9 * (1 + expected->value));
        }
    }
}

static void what_cannot_be_is_failed_and_not_shown(void)
{
    CHECK(parse("nonsense"));
    CHECK_INT(metrics.numbers[AMD_EDGE_CELSIUS].state, VITALS_FAILED);
    CHECK_INT(metrics.numbers[AMD_GFX_RATIO].state, VITALS_FAILED);
    CHECK_INT(metrics.numbers[AMD_GFX_HERTZ].state, VITALS_FAILED);
    CHECK_INT(metrics.numbers[AMD_JUNCTION_CELSIUS].state, VITALS_HAVE);
}

static void unknown_revisions_are_not_guessed_at(void)
{
    static const char *const names[] = {"v1_0", "v4_0", "wrong_size"};
    for (size_t i = 0; i < CHECK_COUNT(names); i++) {
        CHECK_CASE(names[i]);
        CHECK_FALSE(parse(names[i]));
        CHECK_INT(metrics.numbers[AMD_EDGE_CELSIUS].state, VITALS_UNSET);
    }
}

static void a_record_that_is_cut_is_none(void)
{
    for (size_t i = 0; i < CHECK_COUNT(records); i++) {
        char path[96];
        size_t size;
        CHECK_CASE(records[i].name);
        snprintf(path, sizeof path, "gpu/amd_metrics/%s.bin", records[i].name);
        char *bytes = check_read(path, &size);
        size_t told = (unsigned char)bytes[0] | (size_t)(unsigned char)bytes[1] << 8;
        for (size_t cut = 0; cut < told; cut++) {
            char *exact = malloc(cut + 1); /* so that a sanitizer sees what is read beyond */
            memcpy(exact, bytes, cut);
            CHECK_FALSE(amd_metrics_parse(exact, cut, &metrics));
            free(exact);
        }
        free(bytes);
    }
}

/* ---- counters ---- */

static void energy_has_a_unit_where_the_kernel_says_so(void)
{
    static const struct {
        const char *name;
        uint64_t energy;
        bool known;
    } cases[] = {
        {"v1_3", 123456789, false}, {"v1_4", 1 << 20, true}, {"v1_5", 1 << 20, true},
        {"v1_6", 1 << 20, true},    {"v1_7", 1 << 20, true}, {"v1_8", 1 << 20, true},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].name);
        CHECK(parse(cases[i].name));
        CHECK_INT(metrics.energy.state, VITALS_HAVE);
        CHECK_UINT(metrics.energy.as.u64, cases[i].energy);
        CHECK_INT(metrics.energy_known, cases[i].known);
    }
    CHECK_CASE("unmeasured");
    CHECK(parse("unmeasured"));
    CHECK_INT(metrics.energy.state, VITALS_UNSET);
}

static void links_count_in_kilobytes_and_some_are_not_there(void)
{
    static const char *const names[] = {"v1_4", "v1_5", "v1_6", "v1_7", "v1_8"};
    for (size_t i = 0; i < CHECK_COUNT(names); i++) {
        CHECK_CASE(names[i]);
        CHECK(parse(names[i]));
        CHECK_INT(metrics.received[0].state, VITALS_ESTIMATE);
        CHECK_UINT(metrics.received[0].as.u64, 1000 * 1024);
        CHECK_UINT(metrics.received[1].as.u64, 2000 * 1024);
        CHECK_INT(metrics.received[2].state, VITALS_UNSET);
        CHECK_UINT(metrics.transmitted[0].as.u64, 10 * 1024);
        CHECK_INT(metrics.transmitted[1].state, VITALS_UNSET);
        CHECK_UINT(metrics.transmitted[2].as.u64, 30 * 1024);
        if (i < 3)
            continue;
        CHECK_UINT(metrics.link_active[0].as.u64, 1);
        CHECK_INT(metrics.link_active[1].state, VITALS_HAVE);
        CHECK_UINT(metrics.link_active[1].as.u64, 0);
        CHECK_INT(metrics.link_active[2].state, VITALS_UNSET);
        CHECK_INT(metrics.link_active[3].state, VITALS_UNSET);
    }
}

static void partitions_have_what_they_do_themselves(void)
{
    static const struct {
        const char *name;
        uint32_t count;
    } cases[] = {{"v1_5", 0}, {"v1_6", 4}, {"v1_7", 1}, {"v1_8", 8}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].name);
        CHECK(parse(cases[i].name));
        CHECK_UINT(metrics.partition_count, cases[i].count);
        const struct amd_partition *partitions = metrics.partitions;
        if (cases[i].count == 0)
            continue;
        CHECK_NEAR(partitions[0].gfx_ratio.as.f64, 0.8, 1e-9);
        CHECK_NEAR(partitions[0].video_ratio.as.f64, 0.2, 1e-9);
        CHECK_NEAR(partitions[0].jpeg_ratio.as.f64, 0.03, 1e-9);
        if (cases[i].count == 1)
            continue;
        CHECK_NEAR(partitions[1].gfx_ratio.as.f64, 0.1, 1e-9);
        CHECK_INT(partitions[1].video_ratio.state, VITALS_UNSET);
        CHECK_INT(partitions[2].gfx_ratio.state, VITALS_HAVE);
        CHECK_NEAR(partitions[2].gfx_ratio.as.f64, 0, 1e-9);
        CHECK_INT(partitions[3].gfx_ratio.state, VITALS_UNSET);
    }
}

/* ---- throttling ---- */

static struct amd_throttle throttle;

static void bits_become_causes_and_words(void)
{
    static const struct {
        uint64_t bits;
        const char *reasons;
        bool power, current, heat, other;
    } cases[] = {
        {0, "", false, false, false, false},
        {UINT64_C(1) << 36, "temp_hotspot", false, false, true, false},
        {1, "ppt0", true, false, false, false},
        {UINT64_C(1) << 36 | 1 | 1 << 22, "ppt0,edc_gfx,temp_hotspot", true, true, true, false},
        {UINT64_C(1) << 47, "prochot_gfx", false, false, true, false},
        {UINT64_C(1) << 57, "fit", false, false, false, true},
        {UINT64_C(1) << 63 | 1 << 8, "bit8,bit63", false, false, false, true},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].reasons);
        amd_throttle_of_bits(cases[i].bits, &throttle);
        CHECK_STR(throttle.reasons, cases[i].reasons);
        CHECK_INT(throttle.by[AMD_BY_POWER], cases[i].power);
        CHECK_INT(throttle.by[AMD_BY_CURRENT], cases[i].current);
        CHECK_INT(throttle.by[AMD_BY_HEAT], cases[i].heat);
        CHECK_INT(throttle.by[AMD_BY_OTHER], cases[i].other);
    }
    amd_throttle_of_bits(UINT64_MAX, &throttle);
    CHECK_CONTAINS(throttle.reasons, ",bit63");
}

static void records_that_hold_bits_give_them(void)
{
    CHECK(parse("v1_3"));
    amd_throttle_of_bits(metrics.throttle.as.u64, &throttle);
    CHECK_STR(throttle.reasons, "ppt0,edc_gfx,temp_hotspot");
    CHECK(parse("v2_2"));
    amd_throttle_of_bits(metrics.throttle.as.u64, &throttle);
    CHECK_STR(throttle.reasons, "prochot_cpu");
    CHECK(parse("v1_4")); /* its field differs by card, and newer drivers leave it 0 */
    CHECK_INT(metrics.throttle.state, VITALS_UNSET);
    CHECK(parse("v2_1"));
    CHECK_INT(metrics.throttle.state, VITALS_UNSET);
}

static void a_counter_that_grows_is_a_cause(void)
{
    CHECK(parse("v1_6"));
    struct amd_metrics before = metrics;
    CHECK(amd_throttle_of_residencies(before.residencies, metrics.residencies, &throttle));
    CHECK_STR(throttle.reasons, "");
    metrics.residencies[AMD_RESIDENCY_PPT].as.u64++;
    metrics.residencies[AMD_RESIDENCY_SOCKET_HEAT].as.u64 = 0; /* the driver was loaded anew */
    CHECK(amd_throttle_of_residencies(before.residencies, metrics.residencies, &throttle));
    CHECK_STR(throttle.reasons, "ppt");
    CHECK(throttle.by[AMD_BY_POWER] && !throttle.by[AMD_BY_HEAT]);

    CHECK(parse("v3_0"));
    before = metrics;
    CHECK_UINT(metrics.residencies[AMD_RESIDENCY_SPL].as.u64, 12);
    CHECK_UINT(metrics.residencies[AMD_RESIDENCY_CORE_HEAT].as.u64, 5);
    metrics.residencies[AMD_RESIDENCY_CORE_HEAT].as.u64++;
    CHECK(amd_throttle_of_residencies(before.residencies, metrics.residencies, &throttle));
    CHECK_STR(throttle.reasons, "thm_core");

    CHECK(parse("v1_3"));
    CHECK_FALSE(amd_throttle_of_residencies(metrics.residencies, metrics.residencies, &throttle));
}

/* ---- 1.9 describes itself ---- */

static void a_described_record_gives_counters_too(void)
{
    CHECK(parse("v1_9"));
    CHECK_UINT(metrics.residencies[AMD_RESIDENCY_PPT].as.u64, 5);
    CHECK_UINT(metrics.received[1].as.u64, 2000 * 1024);
    CHECK_UINT(metrics.link_active[0].as.u64, 1);
    CHECK_INT(metrics.link_active[1].state, VITALS_HAVE);
    CHECK_INT(metrics.energy.state, VITALS_UNSET); /* the unit of the counter is not documented */
}

/* Each change of one byte of the description of the first attribute, or of the number of them. */
static void a_described_record_is_taken_whole_or_not_at_all(void)
{
    static const struct {
        const char *what;
        size_t at;
        unsigned char byte;
    } changes[] = {
        {"one attribute fewer", 4, 12},
        {"one more", 4, 14},
        {"as many as none has", 7, 0x7F},
        {"a negative number of them", 7, 0xFF},
        {"no instance", 8, 0},
        {"more instances", 8, 3},
        {"a type that is none", 10, 0x80},
        {"a unit that is none", 11, 77},
        {"bits that mean nothing", 12, 1},
        {"the same one twice", 19, 0},
        {"a size that is another", 0, 180},
    };
    size_t size;
    char *bytes = check_read("gpu/amd_metrics/v1_9.bin", &size);
    for (size_t i = 0; i < CHECK_COUNT(changes); i++) {
        CHECK_CASE(changes[i].what);
        char changed[256];
        memcpy(changed, bytes, size);
        changed[changes[i].at] = (char)changes[i].byte;
        CHECK_FALSE(amd_metrics_parse(changed, size, &metrics));
        CHECK_INT(metrics.numbers[AMD_MEMORY_CELSIUS].state, VITALS_UNSET);
    }
    free(bytes);
}

static const check_test tests[] = {
    {"every revision gives its numbers and no others",
     every_revision_gives_its_numbers_and_no_others},
    {"what cannot be is failed and not shown", what_cannot_be_is_failed_and_not_shown},
    {"unknown revisions are not guessed at", unknown_revisions_are_not_guessed_at},
    {"a record that is cut is none", a_record_that_is_cut_is_none},
    {"energy has a unit where the kernel says so", energy_has_a_unit_where_the_kernel_says_so},
    {"links count in kilobytes and some are not there",
     links_count_in_kilobytes_and_some_are_not_there},
    {"partitions have what they do themselves", partitions_have_what_they_do_themselves},
    {"bits become causes and words", bits_become_causes_and_words},
    {"records that hold bits give them", records_that_hold_bits_give_them},
    {"a counter that grows is a cause", a_counter_that_grows_is_a_cause},
    {"a described record gives counters too", a_described_record_gives_counters_too},
    {"a described record is taken whole or not at all",
     a_described_record_is_taken_whole_or_not_at_all},
};
CHECK_TESTS(tests)
