/* Devices by their names: label, address, UUID, each abbreviated, wrong and ambiguous. */
#include "gpu_rows.h"

#include "gpu/find.h"

#define UUID_0 "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
#define UUID_1 "GPU-8932aaaa-0000-4106-c12f-20bd9faed9f6"
#define UUID_M "MIG-4f0b0000-1111-5222-8333-444444444444"
#define UUID_N "MIG-4f0c0000-1111-5222-8333-444444444444"

/* Two GPUs, the second divided; one of AMD; one that is on no bus and whose UUID another's begins
 * with. */
static const struct gpu_row ROWS[] = {
    {.label = "0", .vendor = "nvidia", .uuid = UUID_0, .address = "00000000:17:00.0"},
    {.label = "1", .vendor = "nvidia", .uuid = UUID_1, .address = "00000000:65:00.0"},
    {.label = "1:0",
     .vendor = "nvidia",
     .uuid = UUID_M,
     .address = "00000000:65:00.0",
     .parent = 2,
     .gi = 1,
     .ci = 0},
    {.label = "1:1",
     .vendor = "nvidia",
     .uuid = UUID_N,
     .address = "00000000:65:00.0",
     .parent = 2,
     .gi = 2,
     .ci = 0},
    {.label = "2", .vendor = "amd", .uuid = "GPU-fe12345678", .address = "0001:c3:00.0"},
    {.label = "3", .vendor = "msm", .uuid = "soc-gpu", .address = NULL},
    {.label = "4", .vendor = "msm", .uuid = "soc-gpu-2", .address = NULL},
};

/* What a name means: a label, or a code and a part of its message. */
static void each_name_means_one(void)
{
    static const struct {
        const char *name, *label, *message;
        int code;
    } CASES[] = {
        {.name = "0", .label = "0"},
        {.name = "4", .label = "4"},
        {.name = "1:1", .label = "1:1"},
        {.name = "9", .code = VITALS_EGONE, .message = "no GPU 9"},
        {.name = "1:7", .code = VITALS_EGONE, .message = "no GPU 1:7"},
        {.name = "18446744073709551616", .code = VITALS_EGONE, .message = "no GPU 1844674"},
        {.name = "00000000:17:00.0", .label = "0"},
        {.name = "0000:17:00.0", .label = "0"},
        {.name = "17:00.0", .label = "0"},
        {.name = "0000:65:00.0", .label = "1"},
        {.name = "0001:C3:00.0", .label = "2"},
        {.name = "c3:00.0", .code = VITALS_EGONE, .message = "no GPU c3:00.0"},
        {.name = "0000:17:00.1", .code = VITALS_EGONE, .message = "no GPU 0000:17:00.1"},
        {.name = UUID_0, .label = "0"},
        {.name = "gpu-8932F937", .label = "0"},
        {.name = "GPU-8932", .code = VITALS_EARGUMENT, .message = UUID_0 ", " UUID_1},
        {.name = "GPU-", .code = VITALS_EARGUMENT, .message = "several"},
        {.name = "GPU-f", .label = "2"},
        {.name = "GPU-1", .code = VITALS_EGONE, .message = "no GPU GPU-1"},
        {.name = "MIG-4f0b", .label = "1:0"},
        {.name = "MIG-4f0", .code = VITALS_EARGUMENT, .message = "MIG-4f0c"},
        {.name = "MIG-" UUID_1 "/2/0", .label = "1:1"},
        {.name = "MIG-GPU-8932a/1/0", .label = "1:0"},
        {.name = "MIG-GPU-8932/1/0", .code = VITALS_EARGUMENT, .message = UUID_1},
        {.name = "MIG-" UUID_1 "/3/0", .code = VITALS_EGONE, .message = "/3/0"},
        {.name = "MIG-" UUID_0 "/1/0", .code = VITALS_EGONE, .message = "/1/0"},
        {.name = "MIG-GPU-8932a/1", .code = VITALS_EGONE, .message = "no GPU"},
        {.name = "MIG-GPU-8932a/1/x", .code = VITALS_EGONE, .message = "no GPU"},
        {.name = "soc-gpu", .label = "3"},
        {.name = "soc-gpu-", .label = "4"},
        {.name = "", .code = VITALS_EARGUMENT, .message = "\"\""},
        {.name = "GPU", .code = VITALS_EARGUMENT, .message = "\"GPU\""},
        {.name = "-1", .code = VITALS_EARGUMENT, .message = "\"-1\""},
        {.name = "0 ", .code = VITALS_EARGUMENT, .message = "\"0 \""},
        {.name = "1:", .code = VITALS_EARGUMENT, .message = "\"1:\""},
        {.name = "GPU-89\n32", .code = VITALS_EARGUMENT, .message = "\\n"},
        {.name = "GPU-\xff\xfe", .code = VITALS_EARGUMENT, .message = "is not a GPU"},
    };
    vitals_snapshot *snapshot = snapshot_of(ROWS, CHECK_COUNT(ROWS));
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        const vitals_row *row = NULL;
        vitals_error error = {0};
        CHECK_CASE(CASES[i].name);
        int code = vitals_gpu_find(snapshot, CASES[i].name, &row, &error);
        CHECK_INT(code, CASES[i].code);
        if (CASES[i].label != NULL) {
            CHECK_STR(vitals_row_label(row), CASES[i].label);
            continue;
        }
        CHECK_NULL(row);
        CHECK_CONTAINS(error.message, CASES[i].message);
        CHECK_INT(vitals_gpu_find(snapshot, CASES[i].name, &row, NULL), CASES[i].code);
    }
    vitals_snapshot_unref(snapshot);
}

static void many_candidates_are_cut(void)
{
    static char uuids[40][48];
    struct gpu_row rows[40] = {0};
    vitals_error error;
    const vitals_row *row;
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        snprintf(uuids[i], sizeof uuids[i], "GPU-00000000-0000-0000-0000-0000000000%02zu", i);
        rows[i] = (struct gpu_row){.label = "0", .vendor = "nvidia", .uuid = uuids[i]};
    }
    vitals_snapshot *snapshot = snapshot_of(rows, CHECK_COUNT(rows));
    CHECK_INT(vitals_gpu_find(snapshot, "GPU-00000000", &row, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, uuids[1]);
    CHECK_CONTAINS(error.message, "…");
    vitals_snapshot_unref(snapshot);
}

static void a_snapshot_without_devices_has_none(void)
{
    vitals_snapshot *snapshot = end_rows(begin_rows(1));
    vitals_error error;
    const vitals_row *row = NULL;
    CHECK_INT(vitals_gpu_find(snapshot, "0", &row, &error), VITALS_EGONE);
    CHECK_INT(vitals_gpu_find(snapshot, "GPU-1234", &row, &error), VITALS_EGONE);
    CHECK_NULL(row);
    vitals_snapshot_unref(snapshot);
}

static void addresses_are_read_strictly(void)
{
    static const struct {
        const char *text;
        bool is;
        uint64_t number;
    } CASES[] = {
        {"0000:17:00.0", true, 0x1700},
        {"17:00.0", true, 0x1700},
        {"00000000:17:1f.7", true, 0x17ff},
        {"10000:e1:00.0", true, 0x10000e100},
        {"FFFFFFFF:FF:1F.7", true, 0xffffffffffff},
        {"17:00", false, 0},
        {"17.0", false, 0},
        {"0000:17:20.0", false, 0},
        {"0000:17:00.8", false, 0},
        {"0000:117:00.0", false, 0},
        {"0x17:00.0", false, 0},
        {":17:00.0", false, 0},
        {"0000:17:00.", false, 0},
        {"0000:17:00.0 ", false, 0},
        {"000000001:17:00.0", false, 0},
        {"0:0000:17:00.0", false, 0},
        {"", false, 0},
        {"0000:1g:00.0", false, 0},
        {"0000:17:00.00", false, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        uint64_t number = 0;
        CHECK_CASE(CASES[i].text);
        struct span text = {CASES[i].text, strlen(CASES[i].text)};
        CHECK_INT(gpu_parse_address(text, &number), CASES[i].is);
        CHECK_UINT(number, CASES[i].number);
    }
}

static void an_instance_has_the_name_of_its_device_and_numbers(void)
{
    static const struct {
        const char *name;
        bool has;
    } CASES[] = {
        {"MIG-" UUID_1 "/2/0", true},
        {"mig-gpu-8932AAAA/2/0", true},
        {"MIG-" UUID_1 "/2/1", false},
        {"MIG-" UUID_1 "/1/0", false},
        {"MIG-" UUID_0 "/2/0", false},
        {"MIG-" UUID_1 "/2", false},
        {"MIG-" UUID_1, false},
        {UUID_1 "/2/0", false},
        {"MIG-GP/2/0", false},
        {"MIG-", false},
        {"", false},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].name);
        CHECK_INT(gpu_has_instance_name(CASES[i].name, UUID_1, value_u64(2), value_u64(0)),
                  CASES[i].has);
        CHECK_FALSE(gpu_has_instance_name(CASES[i].name, UUID_1, value_u64(2),
                                          value_missing(VITALS_UNSUPPORTED)));
    }
}

static const check_test tests[] = {
    {"an instance has the name of its device and numbers",
     an_instance_has_the_name_of_its_device_and_numbers},
    {"each name means one device, or says why not", each_name_means_one},
    {"a list of candidates is cut, and says so", many_candidates_are_cut},
    {"a snapshot without devices has none of any name", a_snapshot_without_devices_has_none},
    {"addresses are read strictly", addresses_are_read_strictly},
};
CHECK_TESTS(tests)
