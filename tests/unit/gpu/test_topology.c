/* How far devices are from each other and from network adapters. */
#include "check.h"

#include "gpu/topology.h"
#include "util/memory.h"

#define SWITCH "devices/pci0000:15/0000:15:01.0/0000:16:00.0"

static void paths(void)
{
    static const struct {
        const char *name, *a;
        int node_a;
        const char *b;
        int node_b;
        const char *path;
    } CASES[] = {
        {"two ports of a switch", SWITCH "/0000:17:00.0/0000:1a:00.0", 0,
         SWITCH "/0000:17:01.0/0000:1b:00.0", 0, "pix"},
        {"the switch beside", SWITCH "/0000:17:00.0/0000:1a:00.0", 0,
         SWITCH "/0000:17:03.0/0000:18:00.0/0000:19:00.0/0000:1d:00.0", 0, "pxb"},
        {"two functions of a device", "devices/pci0000:15/0000:15:01.0/0000:16:00.0", 0,
         "devices/pci0000:15/0000:15:01.0/0000:16:00.1", 0, "pix"},
        {"two root ports", "devices/pci0000:15/0000:15:01.0/0000:16:00.0", 0,
         "devices/pci0000:15/0000:15:05.0/0000:40:00.0", 0, "phb"},
        {"two devices of a root complex", "devices/pci0000:00/0000:00:02.0", 0,
         "devices/pci0000:00/0000:00:1f.6", 0, "phb"},
        {"host bridges of a node", "devices/pci0000:15/0000:15:01.0/0000:16:00.0", 1,
         "devices/pci0000:64/0000:64:01.0/0000:65:00.0", 1, "node"},
        {"of two nodes", "devices/pci0000:15/0000:15:01.0/0000:16:00.0", 0,
         "devices/pci0000:64/0000:64:01.0/0000:65:00.0", 1, "sys"},
        {"of a machine with one", "devices/pci0000:15/0000:15:01.0/0000:16:00.0", -1,
         "devices/pci0000:64/0000:64:01.0/0000:65:00.0", -1, "node"},
        {"of nodes of which one is known", "devices/pci0000:15/0000:15:01.0/0000:16:00.0", -1,
         "devices/pci0000:64/0000:64:01.0/0000:65:00.0", 0, "sys"},
        {"what hangs on a PCI device", "devices/pci0000:00/0000:00:03.0/virtio0", 0,
         "devices/pci0000:00/0000:00:04.0", 0, "phb"},
        {"a domain below another (VMD)",
         "devices/pci0000:64/0000:64:05.5/pci10000:00/10000:00:02.0/10000:01:00.0", 0,
         "devices/pci0000:64/0000:64:05.5/pci10000:00/10000:00:03.0/10000:02:00.0", 0, "pix"},
        {"behind USB", "devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0", 0,
         "devices/pci0000:00/0000:00:02.0", 0, ""},
        {"not on PCI", "devices/platform/soc/3d00000.gpu", 0, "devices/pci0000:00/0000:00:02.0", 0,
         ""},
        {"a bridge without a device", "devices/pci0000:00", 0, "devices/pci0000:00/0000:00:02.0", 0,
         ""},
        {"nothing", "", 0, "", 0, ""},
        {"elsewhere", "pci0000:00/0000:00:02.0", 0, "devices/pci0000:00/0000:00:02.0", 0, ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].name);
        CHECK_STR(topology_path(CASES[i].a, CASES[i].node_a, CASES[i].b, CASES[i].node_b),
                  CASES[i].path);
        CHECK_STR(topology_path(CASES[i].b, CASES[i].node_b, CASES[i].a, CASES[i].node_a),
                  CASES[i].path);
    }
}

/* More parts than are looked at: what is common of those that are. */
static void a_path_without_end(void)
{
    char place[4096] = "devices/pci0000:00";
    for (int i = 0; i < 200; i++)
        snprintf(place + strlen(place), sizeof place - strlen(place), "/0000:%02x:00.0", i);
    CHECK_STR(topology_path(place, 0, place, 0), "pix");
    CHECK_STR(topology_path(place, 0, "devices/pci0000:00/0000:00:1f.0", 0), "phb");
}

static const struct topology_device DEVICES[] = {
    {11, "0", "00000000:1A:00.0"}, {12, "1", "00000000:1B:00.0"}, {13, "2", "0000:1d:00.0"},
    {14, "3", "0000:65:00.0"},     {15, "4", "0000:98:00.0"},     {16, "5", ""},
};

static void links(void)
{
    static const struct topology_link LINKS[] = {
        {0, "nvlink", false, "00000000:1B:00.0"},
        {0, "nvlink", false, "0000:1b:00.0"},
        {1, "nvlink", false, "0000:1a:00.0"},
        {1, "nvlink", false, "0000:1a:00.0"},
        {2, "xgmi", false, "0000:65:00.0"},
        {3, "nvlink", true, ""},
        {3, "nvlink", true, "0000:05:00.0"},
        {4, "nvlink", true, "0000:05:00.0"},
        {0, "nvlink", false, ""},
        {0, "nvlink", false, "rubbish"},
        {5, "xgmi", true, ""},
    };
    const struct topology topology = {DEVICES, LINKS, CHECK_COUNT(DEVICES), CHECK_COUNT(LINKS)};
    static const struct {
        size_t a, b;
        uint64_t links;
        const char *kind;
    } CASES[] = {{0, 1, 2, "nvlink"}, {1, 0, 2, "nvlink"}, {2, 3, 1, "xgmi"},
                 {3, 4, 1, "nvlink"}, {4, 3, 1, "nvlink"}, {0, 2, 0, ""},
                 {0, 5, 0, ""},       {5, 4, 0, ""},       {4, 5, 0, ""}};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        const char *kind = NULL;
        CHECK_UINT(topology_links(&topology, CASES[i].a, CASES[i].b, &kind), CASES[i].links);
        CHECK_STR(kind, CASES[i].kind);
    }
}

static struct os open_tree(const char *sys_root)
{
    struct os os;
    vitals_options options = {.size = sizeof options, .sys_root = sys_root};
    vitals_error error;
    CHECK_OK(os_open(&os, &options, &error), error);
    return os;
}

static struct metric_set all_wanted(void)
{
    struct metric_set wanted = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        if (vitals_metric_table(metric) == VITALS_TABLE_GPU_PEER)
            metric_set_add(&wanted, metric);
    }
    return wanted;
}

static const char *text_at(const struct row_batch *batch, const struct batch_row *row,
                           vitals_metric metric, char *out, size_t capacity)
{
    const struct batch_cell *cell = batch_find(batch, row, metric);
    if (cell == NULL || cell->state <= 0)
        return "-";
    struct span text = batch_span(batch, cell);
    snprintf(out, capacity, "%.*s", (int)text.size, text.bytes);
    return out;
}

/* "11 1 gpu 0000:1b:00.0 pix 12" a line. */
static void print_rows(const struct row_batch *batch, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < batch->row_count && used < capacity; i++) {
        const struct batch_row *row = &batch->rows[i];
        struct span label = batch_label(batch, row);
        const struct batch_cell *peer = batch_find(batch, row, VITALS_GPU_PEER_PEER);
        char kind[16], address[32], path[8];
        used += (size_t)snprintf(
            out + used, capacity - used, "%llu %.*s %s %s %s %llu\n",
            (unsigned long long)row->parent, (int)label.size, label.bytes,
            text_at(batch, row, VITALS_GPU_PEER_KIND, kind, sizeof kind),
            text_at(batch, row, VITALS_GPU_PEER_PEER_PCI_BUS_ID, address, sizeof address),
            text_at(batch, row, VITALS_GPU_PEER_PATH, path, sizeof path),
            peer->state > 0 ? (unsigned long long)peer->as.u64 : 0);
    }
}

static void a_server(void)
{
    struct os os = open_tree(check_linked_fixture("gpu/topology/sys"));
    struct metric_set wanted = all_wanted();
    struct row_batch batch = {0};
    char rows[8192];
    batch_reset(&batch, &wanted);
    gpu_topology_write(&os, &(struct topology){DEVICES, NULL, CHECK_COUNT(DEVICES), 0}, &batch);
    CHECK_FALSE(batch.failed);
    CHECK_INT(batch.states[VITALS_TABLE_GPU_PEER], VITALS_HAVE);
    CHECK_UINT(batch.row_count, 6 * 5 + 6 * 2);
    print_rows(&batch, rows, sizeof rows);
    CHECK_CONTAINS(rows, "11 1 gpu 0000:1b:00.0 pix 12\n"
                         "11 2 gpu 0000:1d:00.0 pxb 13\n"
                         "11 3 gpu 0000:65:00.0 node 14\n"
                         "11 4 gpu 0000:98:00.0 sys 15\n"
                         "11 5 gpu - - 16\n"
                         "11 mlx5_0 network 0000:1c:00.0 pix 0\n"
                         "11 eno1 network 0000:99:00.0 sys 0\n");
    CHECK_CONTAINS(rows, "15 mlx5_0 network 0000:1c:00.0 sys 0\n"
                         "15 eno1 network 0000:99:00.0 phb 0\n");
    CHECK_CONTAINS(rows, "16 mlx5_0 network 0000:1c:00.0 - 0\n");
    batch_done(&batch);
    os_close(&os);
}

static void an_empty_tree(void)
{
    struct os os = open_tree(check_linked_fixture("gpu/topology/nothing"));
    struct metric_set wanted = all_wanted(), none = {0};
    struct row_batch batch = {0};
    char rows[8192];
    batch_reset(&batch, &wanted);
    gpu_topology_write(&os, &(struct topology){DEVICES, NULL, 2, 0}, &batch);
    print_rows(&batch, rows, sizeof rows);
    CHECK_STR(rows, "11 1 gpu 00000000:1B:00.0 - 12\n12 0 gpu 00000000:1A:00.0 - 11\n");
    batch_reset(&batch, &wanted);
    gpu_topology_write(&os, &(struct topology){DEVICES, NULL, 0, 0}, &batch);
    CHECK_UINT(batch.row_count, 0);
    batch_reset(&batch, &none);
    gpu_topology_write(&os, &(struct topology){DEVICES, NULL, 2, 0}, &batch);
    CHECK_UINT(batch.row_count, 0);
    batch_done(&batch);
    os_close(&os);
}

static void too_many_devices(void)
{
    static struct topology_device many[TOPOLOGY_DEVICES + 1];
    struct os os = open_tree(check_linked_fixture("gpu/topology/nothing"));
    struct metric_set wanted = all_wanted();
    struct row_batch batch = {0};
    for (size_t i = 0; i < CHECK_COUNT(many); i++)
        many[i] = (struct topology_device){i + 1, "x", ""};
    batch_reset(&batch, &wanted);
    gpu_topology_write(&os, &(struct topology){many, NULL, CHECK_COUNT(many), 0}, &batch);
    CHECK_UINT(batch.row_count, TOPOLOGY_DEVICES * (TOPOLOGY_DEVICES - 1));
    CHECK_INT(batch.states[VITALS_TABLE_GPU_PEER], VITALS_LOWER_BOUND);
    batch_done(&batch);
    os_close(&os);
}

static void every_allocation_may_fail(void)
{
    struct os os = open_tree(check_linked_fixture("gpu/topology/sys"));
    struct metric_set wanted = all_wanted();
    int64_t live = memory_live();
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        struct row_batch batch = {0};
        CHECK(nth < 100);
        batch_reset(&batch, &wanted);
        memory_fail_at(nth);
        gpu_topology_write(&os, &(struct topology){DEVICES, NULL, CHECK_COUNT(DEVICES), 0}, &batch);
        memory_fail_at(0);
        failed = batch.failed;
        CHECK(failed || batch.row_count == 42);
        batch_done(&batch);
        CHECK_INT(memory_live(), live);
    }
    os_close(&os);
}

static const check_test tests[] = {
    {"paths", paths},
    {"a path without end", a_path_without_end},
    {"links", links},
    {"a server with two sockets", a_server},
    {"an empty tree", an_empty_tree},
    {"too many devices", too_many_devices},
    {"every allocation may fail", every_allocation_may_fail},
};
CHECK_TESTS(tests)
