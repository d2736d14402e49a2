/* The table of devices: the rows of what stands beside each, devices and network adapters. */
#include "check.h"
#include "gpu_tree.h"

#include "gpu/table.h"

static struct gpu_table *table;
static vitals_builder *builder;
static vitals_snapshot *snapshot;

static struct metric_set all_metrics(void)
{
    struct metric_set set = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;)
        metric_set_add(&set, m);
    return set;
}

/* Two devices, "0" and "1". */
static void begin(void)
{
    static const char *const NAMES[] = {"A", "B"};
    struct gpu_scan scan = {.state = VITALS_HAVE, .count = CHECK_COUNT(NAMES)};
    vitals_error error;
    for (uint32_t i = 0; i < scan.count; i++) {
        struct gpu_identity *who = &scan.devices[i];
        *who = (struct gpu_identity){.slot = i, .index = i, .parent_slot = -1};
        snprintf(who->uuid, sizeof who->uuid, "%s", NAMES[i]);
    }
    table = gpu_table_new();
    CHECK_NOT_NULL(table);
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    CHECK_INT(gpu_table_scan(table, 0, &scan), 0);
}

static void end(void)
{
    vitals_snapshot_unref(snapshot);
    snapshot = NULL;
    vitals_builder_free(builder);
    gpu_table_free(table);
}

static void look_around(const struct gpu_tree *tree)
{
    struct os os = {.proc = -1};
    struct metric_set wanted = all_metrics();
    vitals_error error;
    gpu_tree_open(tree, &os);
    CHECK_INT(gpu_table_look_around(table, &os, &wanted), 0);
    gpu_tree_close(&os);
    vitals_snapshot_unref(snapshot);
    snapshot = NULL;
    vitals_builder_begin(builder);
    gpu_table_write(table, builder, &wanted, NULL, NULL, 1);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
}

static uint64_t device_key(const char *label)
{
    for (const vitals_row *r = NULL;
         (r = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, r)) != NULL;) {
        if (strcmp(vitals_row_label(r), label) == 0)
            return vitals_row_key(r);
    }
    CHECK_FAIL("no device %s", label);
}

/* The key of a peer of device 0: of this kind, called so. */
static uint64_t peer(const char *kind, const char *label)
{
    vitals_text text;
    for (const vitals_row *r = NULL;
         (r = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU_PEER, r));) {
        if (vitals_row_parent(r) == device_key("0") && strcmp(vitals_row_label(r), label) == 0 &&
            vitals_row_text(r, VITALS_GPU_PEER_KIND, &text) > 0 && text.size == strlen(kind) &&
            memcmp(text.bytes, kind, text.size) == 0)
            return vitals_row_key(r);
    }
    CHECK_FAIL("no %s %s", kind, label);
}

static void name_adapter(const struct gpu_tree *tree, const char *class, const char *name,
                         const char *address)
{
    char path[128], target[128];
    snprintf(path, sizeof path, "sys/devices/pci0000:00/%s/numa_node", address);
    gpu_tree_text(tree, path, "0\n");
    snprintf(path, sizeof path, "sys/class/%s/%s/device", class, name);
    snprintf(target, sizeof target, "../../../devices/pci0000:00/%s", address);
    gpu_tree_link(tree, path, target);
}

/* An interface may have any name: a device's number, or that of an adapter of InfiniBand. */
static void a_device_may_be_called_as_an_adapter_is(void)
{
    struct gpu_tree tree = gpu_tree_empty();
    name_adapter(&tree, "net", "1", "0000:00:05.0");
    name_adapter(&tree, "net", "mlx", "0000:00:06.0");
    name_adapter(&tree, "infiniband", "mlx", "0000:00:07.0");
    begin();
    look_around(&tree);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU_PEER), 2 * (1 + 3));
    uint64_t device = peer("gpu", "1"), adapter = peer("network", "1");
    CHECK(device != adapter);
    look_around(&tree);
    CHECK_UINT(peer("gpu", "1"), device);
    CHECK_UINT(peer("network", "1"), adapter);
    end();
    gpu_tree_free(&tree);
}

static const check_test tests[] = {
    {"a device may be called as an adapter is", a_device_may_be_called_as_an_adapter_is},
};
CHECK_TESTS(tests)
