/* What a job is told of its devices: the variable of their vendor, the names in it, and what must
 * not stand beside it. */
#include "gpu_rows.h"

#include "command/devices/select.h"

#include <unistd.h>

/* NVIDIA: whole and divided; AMD: one of two partitions and a whole one; Intel; nouveau; another.
 */
static const struct gpu_row ROWS[] = {
    {.label = "0", .vendor = "nvidia", .uuid = "GPU-1111"},
    {.label = "1", .vendor = "nvidia", .uuid = "GPU-2222"},
    {.label = "1:0", .vendor = "nvidia", .uuid = "MIG-3333", .parent = 2},
    {.label = "2", .vendor = "amd", .uuid = "AMD-4444"},
    {.label = "2:0", .vendor = "amd", .uuid = "AMD-5555", .parent = 4},
    {.label = "2:1", .vendor = "amd", .uuid = "AMD-6666", .parent = 4},
    {.label = "3", .vendor = "amd", .uuid = "AMD-7777"},
    {.label = "4", .vendor = "intel", .uuid = "intel-0000:9a:00.0"},
    {.label = "5", .vendor = "nvidia", .uuid = "drm-0000:01:00.0"},
    {.label = "6", .vendor = "qualcomm", .uuid = "soc"},
    {.label = "7", .vendor = "nvidia", .uuid = "nvidia-2"},
};

static const vitals_row *row_of(const vitals_snapshot *snapshot, const char *label)
{
    const vitals_row *row = NULL;
    vitals_error error;
    CHECK_OK(vitals_gpu_find(snapshot, label, &row, &error), error);
    return row;
}

/* All of the variables that are there, in their order, those of others left out. */
static const char *told(const vitals_row *const *rows, size_t count)
{
    static char out[1024];
    static const char *const NAMES[] = {"CUDA_VISIBLE", "ROCR_", "HIP_", "ZE_", "ONEAPI_", "KEPT="};
    struct environment environment;
    size_t used = 0;
    CHECK_INT(select_environment(rows, count, &environment), 0);
    out[0] = '\0';
    for (char **item = environment.items; *item != NULL; item++) {
        for (size_t i = 0; i < CHECK_COUNT(NAMES); i++) {
            if (strncmp(*item, NAMES[i], strlen(NAMES[i])) == 0)
                used += (size_t)snprintf(out + used, sizeof out - used, "%s%s", used > 0 ? " " : "",
                                         *item);
        }
    }
    select_environment_done(&environment);
    return out;
}

static void variables(void)
{
    static const struct {
        const char *labels[3];
        const char *expected;
    } CASES[] = {
        {{"0"},
         "HIP_VISIBLE_DEVICES=8 KEPT=1 ONEAPI_DEVICE_SELECTOR=x ROCR_VISIBLE_DEVICES=9 "
         "ZE_AFFINITY_MASK=7 CUDA_VISIBLE_DEVICES=GPU-1111"},
        {{"1:0"},
         "HIP_VISIBLE_DEVICES=8 KEPT=1 ONEAPI_DEVICE_SELECTOR=x ROCR_VISIBLE_DEVICES=9 "
         "ZE_AFFINITY_MASK=7 CUDA_VISIBLE_DEVICES=MIG-3333"},
        {{"3", "2:1", "2:0"},
         "KEPT=1 ONEAPI_DEVICE_SELECTOR=x ZE_AFFINITY_MASK=7 "
         "ROCR_VISIBLE_DEVICES=2,1,0"},
        {{"4"},
         "CUDA_VISIBLE_DEVICES=5 HIP_VISIBLE_DEVICES=8 KEPT=1 ROCR_VISIBLE_DEVICES=9 "
         "ZE_AFFINITY_MASK=0 ZE_ENABLE_PCI_ID_DEVICE_ORDER=1"},
        {{NULL},
         "HIP_VISIBLE_DEVICES=8 KEPT=1 ONEAPI_DEVICE_SELECTOR=x ROCR_VISIBLE_DEVICES=9 "
         "ZE_AFFINITY_MASK=7 CUDA_VISIBLE_DEVICES="},
    };
    static const char *const OURS[] = {
        "CUDA_VISIBLE_DEVICES=5", "HIP_VISIBLE_DEVICES=8", "KEPT=1", "ONEAPI_DEVICE_SELECTOR=x",
        "ROCR_VISIBLE_DEVICES=9", "ZE_AFFINITY_MASK=7",    NULL};
    char **before = environ;
    vitals_snapshot *snapshot = snapshot_of(ROWS, CHECK_COUNT(ROWS));
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        const vitals_row *rows[3];
        size_t count = 0;
        while (count < 3 && CASES[i].labels[count] != NULL) {
            rows[count] = row_of(snapshot, CASES[i].labels[count]);
            count++;
        }
        CHECK_CASE(CASES[i].expected);
        environ = (char **)(uintptr_t)OURS;
        const char *got = told(rows, count);
        environ = before;
        CHECK_STR(got, CASES[i].expected);
    }
    vitals_snapshot_unref(snapshot);
}

static void vendors_without_a_variable(void)
{
    vitals_snapshot *snapshot = snapshot_of(ROWS, CHECK_COUNT(ROWS));
    CHECK_STR(select_variable(row_of(snapshot, "1:0")), "CUDA_VISIBLE_DEVICES");
    CHECK_NULL(select_variable(row_of(snapshot, "5"))); /* nouveau */
    CHECK_NULL(select_variable(row_of(snapshot, "7"))); /* it does not say its UUID */
    CHECK_NULL(select_variable(row_of(snapshot, "6")));
    vitals_snapshot_unref(snapshot);
}

static void names(void)
{
    static const struct gpu_row ODD[] = {
        {.label = "0", .vendor = "nvidia", .uuid = NULL},
        {.label = "1", .vendor = "nvidia", .uuid = "GPU-\n\xff,x"},
    };
    char name[SELECT_ID];
    vitals_snapshot *snapshot = snapshot_of(ODD, CHECK_COUNT(ODD));
    select_uuid(vitals_snapshot_row(snapshot, VITALS_TABLE_GPU, 0), name);
    CHECK_STR(name, "0");
    select_uuid(vitals_snapshot_row(snapshot, VITALS_TABLE_GPU, 1), name);
    CHECK_STR(name, "GPU-\\n\\xff,x");
    vitals_snapshot_unref(snapshot);
}

static const check_test tests[] = {
    {"the variable of each vendor", variables},
    {"vendors without a variable", vendors_without_a_variable},
    {"names", names},
};
CHECK_TESTS(tests)
