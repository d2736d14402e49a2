/* CUDA_VISIBLE_DEVICES: the documented vectors, orders, MIG devices, and every way to write it
 * wrongly. */
#include "gpu_rows.h"

#include <vitals/gpu.h>

/* Eight GPUs of one model whose addresses are in the order of their numbers. */
#define H(n, letter)                                                       \
    {                                                                      \
        .label = #n, .vendor = "nvidia", .name = "NVIDIA H100",            \
        .uuid = "GPU-" letter letter "000000-0000-0000-0000-000000000000", \
        .address = "00000000:" #n "0:00.0"                                 \
    }
static const struct gpu_row EIGHT[] = {H(0, "a"), H(1, "b"), H(2, "c"), H(3, "d"),
                                       H(4, "e"), H(5, "f"), H(6, "0"), H(7, "1")};

/* The second of three is divided, and a device of AMD and one of nouveau stand between; the third's
 * UUID has the second's beginning. */
static const struct gpu_row DIVIDED[] = {
    {.label = "0", .vendor = "nvidia", .name = "A", .uuid = "GPU-11aa", .address = "0000:10:00.0"},
    {.label = "1", .vendor = "nvidia", .name = "A", .uuid = "GPU-22aa", .address = "0000:20:00.0"},
    {.label = "1:0", .vendor = "nvidia", .name = "3g", .uuid = "MIG-33aa", .parent = 2, .gi = 1},
    {.label = "1:1", .vendor = "nvidia", .name = "3g", .uuid = "MIG-33bb", .parent = 2, .gi = 2},
    {.label = "2", .vendor = "amd", .name = "M", .uuid = "GPU-44aa", .address = "0000:05:00.0"},
    {.label = "4", .vendor = "nvidia", .name = "nouveau", .uuid = "drm-0", .address = "0:01:00.0"},
    {.label = "3", .vendor = "nvidia", .name = "A", .uuid = "GPU-22bb", .address = "0000:08:00.0"},
};

/* Two models: which is faster only CUDA knows. */
static const struct gpu_row MIXED[] = {
    {.label = "0", .vendor = "nvidia", .name = "A", .uuid = "GPU-11aa", .address = "0000:10:00.0"},
    {.label = "1", .vendor = "nvidia", .name = "B", .uuid = "GPU-22aa", .address = "0000:20:00.0"},
    {.label = "2", .vendor = "nvidia", .name = "B", .uuid = "GPU-33aa", .address = "0000:30:00.0"},
};

#define MIG_ONLY "CUDA sees one MIG device only"
#define TWICE    "named twice"

struct vector {
    const char *visible, *order;
    const char *labels; /* what is seen */
    const char *word;   /* and the word that it ends before; NULL: it does not */
    const char *why;
};

static void run_vectors(const struct gpu_row *rows, size_t row_count, const struct vector *vectors,
                        size_t count)
{
    vitals_snapshot *snapshot = snapshot_of(rows, row_count);
    for (size_t i = 0; i < count; i++) {
        const struct vector *v = &vectors[i];
        const vitals_row *seen[16];
        vitals_error error = {0};
        CHECK_CASE(v->visible != NULL ? v->visible : "(not set)");
        size_t got = vitals_cuda_visible_devices(snapshot, v->visible, v->order, seen, 16);
        CHECK_STR(labels_of(seen, got), v->labels);
        int code = vitals_cuda_visible_check(snapshot, v->visible, v->order, &error);
        CHECK_INT(code, v->word != NULL ? VITALS_EFORMAT : 0);
        if (v->word != NULL) {
            char quoted[80];
            snprintf(quoted, sizeof quoted, "\"%s\"", v->word);
            CHECK_CONTAINS(error.message, quoted);
            CHECK_CONTAINS(error.message, v->why);
        }
    }
    vitals_snapshot_unref(snapshot);
}

static void numbers(void)
{
    static const struct vector VECTORS[] = {
        {.visible = NULL, .labels = "0 1 2 3 4 5 6 7"},
        {.visible = "", .labels = ""},
        {.visible = "6,5", .labels = "6 5"},
        {.visible = "0", .labels = "0"},
        {.visible = "0,0", .labels = "", .word = "0", .why = TWICE},
        {.visible = "1,2,1,3", .labels = "", .word = "1", .why = TWICE},
        {.visible = "16", .labels = "", .word = "16", .why = "no device with that number"},
        {.visible = "2,16,3", .labels = "2", .word = "16", .why = "no device"},
        {.visible = "99999999999999999999",
         .labels = "",
         .word = "99999999999999999999",
         .why = "no device"},
        {.visible = "-1", .labels = ""},
        {.visible = "3,-1,4", .labels = "3", .word = "-1", .why = "must be a number"},
        {.visible = "+1x", .labels = "1"},
        {.visible = "2x,+3 ,\t4", .labels = "2 3 4"},
        {.visible = "0x1", .labels = "0"},
        {.visible = "+", .labels = "", .word = "+", .why = "neither"},
        {.visible = "++1", .labels = "", .word = "++1", .why = "neither"},
        {.visible = "none", .labels = ""},
        {.visible = "-2", .labels = "", .word = "-2", .why = "neither a number nor a UUID"},
        {.visible = "none,1", .labels = "", .word = "none", .why = "neither"},
        {.visible = "NoDevFiles", .labels = ""},
        {.visible = " ", .labels = "", .word = "", .why = "neither"},
        {.visible = "1,", .labels = "1", .word = "", .why = "must be a number"},
        {.visible = ",1", .labels = "", .word = "", .why = "neither"},
        {.visible = "1,,2", .labels = "1", .word = "", .why = "must be a number"},
        {.visible = "1;2", .labels = "1"},
        {.visible = "0,GPU-bb", .labels = "0", .word = "GPU-bb", .why = "must be a number"},
    };
    run_vectors(EIGHT, CHECK_COUNT(EIGHT), VECTORS, CHECK_COUNT(VECTORS));
}

static void uuids(void)
{
    static const struct vector VECTORS[] = {
        {.visible = "GPU-bb000000-0000-0000-0000-000000000000", .labels = "1"},
        {.visible = "GPU-b,GPU-aa0", .labels = "1 0"},
        {.visible = "GPU-b,GPU-bb", .labels = "", .word = "GPU-bb", .why = TWICE},
        {.visible = "GPU-b,2", .labels = "1", .word = "2", .why = "a UUID of the same kind"},
        {.visible = "GPU-b,GPU-9", .labels = "1", .word = "GPU-9", .why = "no device has"},
        {.visible = "GPU-B", .labels = "", .word = "GPU-B", .why = "no device has that UUID"},
        {.visible = "GPU-", .labels = "", .word = "GPU-", .why = "neither"},
        {.visible = "gpu-b", .labels = "", .word = "gpu-b", .why = "neither"},
        {.visible = "GPU-b,", .labels = "1", .word = "", .why = "a UUID of the same kind"},
    };
    run_vectors(EIGHT, CHECK_COUNT(EIGHT), VECTORS, CHECK_COUNT(VECTORS));
}

/* By address 3 (08), 0 (10), 1 (20). */
static void divided_devices(void)
{
    static const struct vector VECTORS[] = {
        {.visible = NULL, .labels = "3 0"},
        {.visible = "0,1", .labels = "3 0"},
        {.visible = "2", .labels = "1:0"},
        {.visible = "2,0", .labels = "1:0", .word = "0", .why = MIG_ONLY},
        {.visible = "0,2", .labels = "3", .word = "2", .why = MIG_ONLY},
        {.visible = "MIG-33b", .labels = "1:1"},
        {.visible = "MIG-33b,MIG-33a", .labels = "1:1", .word = "MIG-33a", .why = MIG_ONLY},
        {.visible = "MIG-33b,MIG-33bb", .labels = "", .word = "MIG-33bb", .why = TWICE},
        {.visible = "MIG-33", .labels = "", .word = "MIG-33", .why = "several UUIDs begin with it"},
        {.visible = "MIG-GPU-22aa/2/0", .labels = "1:1"},
        {.visible = "MIG-GPU-22aa/3/0",
         .labels = "",
         .word = "MIG-GPU-22aa/3/0",
         .why = "no device has that UUID"},
        {.visible = "GPU-22a", .labels = "1:0"},
        {.visible = "GPU-22", .labels = "", .word = "GPU-22", .why = "several UUIDs begin with it"},
        {.visible = "GPU-1,MIG-33b", .labels = "0", .word = "MIG-33b", .why = "of the same kind"},
        {.visible = "MIG-33b,GPU-1", .labels = "1:1", .word = "GPU-1", .why = "of the same kind"},
        {.visible = "GPU-44", .labels = "", .word = "GPU-44", .why = "CUDA cannot use that device"},
        {.visible = "3", .labels = "", .word = "3", .why = "no device with that number"},
    };
    run_vectors(DIVIDED, CHECK_COUNT(DIVIDED), VECTORS, CHECK_COUNT(VECTORS));
}

static void only_a_divided_device(void)
{
    static const struct vector VECTORS[] = {{.visible = NULL, .labels = "1:0"}};
    struct gpu_row rows[3] = {DIVIDED[1], DIVIDED[2], DIVIDED[3]};
    rows[1].parent = rows[2].parent = 1;
    run_vectors(rows, 3, VECTORS, 1);
}

/* CUDA knows of NVIDIA's alone, whatever the UUIDs of others begin with. */
static void another_vendor_s_uuids_are_not_meant(void)
{
    static const struct vector VECTORS[] = {
        {.visible = "GPU-4", .labels = "1"},
        {.visible = "GPU-44", .labels = "1"},
        {.visible = "GPU-44aa",
         .labels = "",
         .word = "GPU-44aa",
         .why = "CUDA cannot use that device"},
        {.visible = "0", .order = "GPU-44", .labels = "1"},
        {.visible = "MIG-GPU-44/2/0", .labels = "1:0"},
        {.visible = "MIG-GPU-44aa/2/0",
         .labels = "",
         .word = "MIG-GPU-44aa/2/0",
         .why = "no device"},
    };
    static const struct gpu_row ROWS[] = {
        {.label = "0", .vendor = "amd", .uuid = "GPU-44aa", .address = "0000:05:00.0"},
        {.label = "1", .vendor = "nvidia", .uuid = "GPU-44bb", .address = "0000:10:00.0"},
    };
    run_vectors(ROWS, CHECK_COUNT(ROWS), VECTORS, 4);
    const struct gpu_row divided[] = {
        ROWS[0],
        ROWS[1],
        {.label = "1:0", .vendor = "nvidia", .uuid = "MIG-33", .parent = 2, .gi = 2}};
    run_vectors(divided, CHECK_COUNT(divided), VECTORS + 4, 2);
}

/* Its UUID is one that was made for it; CUDA counts it all the same. */
static void a_device_without_a_uuid(void)
{
    static const struct vector VECTORS[] = {{.visible = NULL, .labels = "0 1 2"},
                                            {.visible = "1", .labels = "1"},
                                            {.visible = "0,2", .labels = "0 2"}};
    struct gpu_row rows[3] = {MIXED[0], MIXED[1], MIXED[2]};
    rows[0].uuid = "nvidia-0";
    run_vectors(rows, 3, VECTORS, CHECK_COUNT(VECTORS));
}

static void orders(void)
{
    static const struct vector VECTORS[] = {
        {.visible = "1", .order = NULL, .labels = "1"},
        {.visible = "1", .order = "PCI_BUS_ID", .labels = "1"},
        {.visible = "0,1,2", .order = "GPU-33aa,GPU-11aa,GPU-22aa", .labels = "2 0 1"},
        {.visible = NULL, .order = "GPU-33aa", .labels = "2 0 1"},
        {.visible = "0", .order = "GPU-zzzz,GPU-22aa,,", .labels = "1"},
        {.visible = "GPU-11", .order = "GPU-33aa", .labels = "0"},
    };
    run_vectors(MIXED, CHECK_COUNT(MIXED), VECTORS, CHECK_COUNT(VECTORS));
    vitals_snapshot *mixed = snapshot_of(MIXED, CHECK_COUNT(MIXED));
    vitals_snapshot *eight = snapshot_of(EIGHT, CHECK_COUNT(EIGHT));
    vitals_snapshot *none = end_rows(begin_rows(1));
    CHECK_INT(vitals_cuda_order(mixed, NULL), VITALS_ESTIMATE);
    CHECK_INT(vitals_cuda_order(mixed, "FASTEST_FIRST"), VITALS_ESTIMATE);
    CHECK_INT(vitals_cuda_order(mixed, "PCI_BUS_ID"), VITALS_HAVE);
    CHECK_INT(vitals_cuda_order(mixed, "GPU-33aa"), VITALS_HAVE);
    CHECK_INT(vitals_cuda_order(eight, NULL), VITALS_HAVE);
    CHECK_INT(vitals_cuda_order(none, "PCI_BUS_ID"), VITALS_UNSUPPORTED);
    vitals_snapshot_unref(mixed);
    vitals_snapshot_unref(eight);
    vitals_snapshot_unref(none);
}

/* CUDA's bytes of a MIG device come back as "GPU-": its device is meant. */
static void an_enumerated_partition(void)
{
    static const struct vector VECTORS[] = {
        {.visible = "0", .order = "GPU-33bb,GPU-11aa", .labels = "1:0"}};
    run_vectors(DIVIDED, CHECK_COUNT(DIVIDED), VECTORS, 1);
}

static void the_rows_that_fit(void)
{
    vitals_snapshot *snapshot = snapshot_of(EIGHT, CHECK_COUNT(EIGHT));
    const vitals_row *rows[3] = {NULL, NULL, NULL};
    CHECK_UINT(vitals_cuda_visible_devices(snapshot, NULL, NULL, rows, 2), 8);
    CHECK_STR(labels_of(rows, 2), "0 1");
    CHECK_NULL(rows[2]);
    CHECK_UINT(vitals_cuda_visible_devices(snapshot, "1", NULL, NULL, 0), 1);
    vitals_snapshot_unref(snapshot);
}

static void more_devices_than_there_can_be(void)
{
    static struct gpu_row rows[300];
    static char labels[300][8];
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        snprintf(labels[i], sizeof labels[i], "%zu", i);
        rows[i] = (struct gpu_row){.label = labels[i], .vendor = "nvidia"};
    }
    vitals_snapshot *snapshot = snapshot_of(rows, CHECK_COUNT(rows));
    CHECK_UINT(vitals_cuda_visible_devices(snapshot, NULL, NULL, NULL, 0), 128);
    CHECK_INT(vitals_cuda_order(snapshot, NULL), VITALS_ESTIMATE); // without names it is not known
    vitals_snapshot_unref(snapshot);
}

static void no_library(void)
{
    char out[64] = "untouched";
    vitals_error error;
    CHECK_INT(vitals_cuda_enumerate("/no/such/library.so", out, sizeof out, &error),
              VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "/no/such/library.so");
    CHECK_INT(vitals_cuda_enumerate("libc.so.6", out, sizeof out, &error), VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "cuInit");
    CHECK_STR(out, "untouched");
}

/* The simulated CUDA says what it is told. */
static void what_cuda_enumerates(void)
{
    static const struct {
        const char *told;
        size_t capacity;
        int code;
        const char *expected; /* the list, or a part of the message */
    } CASES[] = {
        {"8932f937d72c4106c12f20bd9faed9f6,00000000000000000000000000000001", 128, 0,
         "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,GPU-00000000-0000-0000-0000-000000000001"},
        {"8932f937d72c4106c12f20bd9faed9f6", 42, 0, "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"},
        {"8932f937d72c4106c12f20bd9faed9f6", 41, VITALS_EARGUMENT, "no room"},
        {"", 128, 0, ""},
        {"", 0, VITALS_EARGUMENT, "no room"},
        {"error 999", 128, VITALS_ESYSTEM, "cuInit of CUDA failed with 999"},
        {"lost", 128, VITALS_ESYSTEM, "cuDeviceGetUuid of CUDA failed with 101"},
    };
    const char *build = getenv("VITALS_BUILD");
    char library[512], out[128];
    snprintf(library, sizeof library, "%s/tests/cuda/libcuda.so.1",
             build != NULL ? build : "build");
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        vitals_error error = {0};
        CHECK_CASE(CASES[i].told);
        setenv("SIMULATED_CUDA", CASES[i].told, 1);
        int code = vitals_cuda_enumerate(library, out, CASES[i].capacity, &error);
        if (code == VITALS_EUNSUPPORTED)
            CHECK_FAIL("%s", error.message);
        CHECK_INT(code, CASES[i].code);
        if (code == 0)
            CHECK_STR(out, CASES[i].expected);
        else
            CHECK_CONTAINS(error.message, CASES[i].expected);
    }
}

static const check_test tests[] = {
    {"numbers", numbers},
    {"UUIDs", uuids},
    {"divided devices", divided_devices},
    {"only a divided device", only_a_divided_device},
    {"another vendor's UUIDs are not meant", another_vendor_s_uuids_are_not_meant},
    {"a device without a UUID", a_device_without_a_uuid},
    {"orders", orders},
    {"a partition that CUDA enumerates", an_enumerated_partition},
    {"no more rows are written than fit", the_rows_that_fit},
    {"more devices than there can be", more_devices_than_there_can_be},
    {"no library, and one that is not CUDA", no_library},
    {"what CUDA enumerates", what_cuda_enumerates},
};
CHECK_TESTS(tests)
