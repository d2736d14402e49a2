/* What /sys tells of a PCI device, and what lists call it. */
#include "check.h"
#include "gpu_tree.h"

#include "gpu/pci.h"

static struct gpu_tree tree;
static struct os os;
static struct gpu_sample sample;

static const char DEVICE[] = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/"
                             "0000:03:00.0/";
static const char FOLDER[] = "bus/pci/devices/0000:03:00.0";

static void put(const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", DEVICE, file);
    gpu_tree_text(&tree, path, text);
}

/* A bridge above it: of the card (01, 02) or of the board (00:01.0). */
static void put_bridge(const char *folder, const char *vendor, const char *speed, const char *width)
{
    static const char *const FILES[] = {
        "vendor",        "class", "current_link_speed", "max_link_speed", "current_link_width",
        "max_link_width"};
    const char *texts[] = {vendor, "0x060400\n", speed, speed, width, width};
    for (size_t i = 0; i < CHECK_COUNT(FILES); i++) {
        char path[256];
        snprintf(path, sizeof path, "sys/devices/pci0000:00/%s/%s", folder, FILES[i]);
        gpu_tree_text(&tree, path, texts[i]);
    }
}

static void begin(void)
{
    tree = gpu_tree_empty();
    os = (struct os){0};
    gpu_tree_open(&tree, &os);
    gpu_tree_link(
        &tree, "sys/bus/pci/devices/0000:03:00.0",
        "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0");
    put("vendor", "0x1002\n");
    put("device", "0x73ff\n");
    put("subsystem_vendor", "0x1eae\n");
    put("subsystem_device", "0x6505\n");
    put("revision", "0xc7\n");
    put("numa_node", "-1\n");
    put("local_cpulist", "0-15\n");
    put("power/runtime_status", "active\n");
    put("current_link_speed", "16.0 GT/s PCIe\n");
    put("max_link_speed", "16.0 GT/s PCIe\n");
    put("current_link_width", "16\n");
    put("max_link_width", "16\n");
    char path[256];
    snprintf(path, sizeof path, "%sdriver", DEVICE);
    gpu_tree_link(&tree, path, "../../../../../../bus/pci/drivers/amdgpu");
    memset(&sample, 0, sizeof sample);
    struct metric_set wanted = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;)
        if (vitals_metric_table(m) == VITALS_TABLE_GPU)
            metric_set_add(&wanted, m);
    batch_reset(&sample.batch, &wanted);
    gpu_fill_begin(&sample, 1);
}

static void end(void)
{
    batch_done(&sample.batch);
    gpu_tree_close(&os);
    gpu_tree_free(&tree);
}

static const struct batch_cell *filled(vitals_metric metric)
{
    const struct batch_cell *cell = batch_find(&sample.batch, &sample.batch.rows[0], metric);
    if (cell == NULL)
        CHECK_FAIL("metric %u was not filled in", (unsigned)metric);
    return cell;
}

static void check_text(vitals_metric metric, const char *text)
{
    const struct batch_cell *cell = filled(metric);
    CHECK_INT(cell->state, VITALS_HAVE);
    struct span span = batch_span(&sample.batch, cell);
    CHECK_BYTES(span.bytes, span.size, text, strlen(text));
}

static void an_address_is_written_in_one_way(void)
{
    static const struct {
        const char *text, *bus_id;
    } CASES[] = {
        {"0000:03:00.0", "0000:03:00.0"},
        {"00000000:03:00.0", "0000:03:00.0"},
        {"03:00.0", "0000:03:00.0"},
        {"0000:AF:1F.7", "0000:af:1f.7"},
        {"10000:e1:00.0", "10000:e1:00.0"},
        {"", ""},
        {"3", ""},
        {"0000:03:00", ""},
        {"0000:03:00.8", ""},
        {"0000:03:20.0", ""},
        {"0000:103:00.0", ""},
        {"0000:03:00.0 ", ""},
        {"0x00:03:00.0", ""},
        {"pci0000:00", ""},
        {"0000:03:00.0:1", ""},
        {"000000000:03:00.0", ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        char bus_id[PCI_BUS_ID];
        CHECK_CASE(CASES[i].text);
        struct span text = {CASES[i].text, strlen(CASES[i].text)};
        CHECK_INT(pci_parse_bus_id(text, bus_id), CASES[i].bus_id[0] != '\0');
        CHECK_STR(bus_id, CASES[i].bus_id);
    }
}

static void what_it_is_is_filled_in(void)
{
    begin();
    pci_fill(&os, FOLDER, "active", &sample);
    gpu_fill_end(&sample);
    check_text(VITALS_GPU_KERNEL_DRIVER, "amdgpu");
    check_text(VITALS_GPU_PCI_ID, "1002:73ff");
    check_text(VITALS_GPU_PCI_SUBSYSTEM_ID, "1eae:6505");
    check_text(VITALS_GPU_LOCAL_CPUS, "0-15");
    check_text(VITALS_GPU_RUNTIME_STATUS, "active");
    CHECK_INT(filled(VITALS_GPU_NUMA_NODE)->state, VITALS_UNSUPPORTED);
    end();
}

static void what_is_missing_is_unsupported(void)
{
    begin();
    pci_fill(&os, "bus/pci/devices/none", "", &sample);
    pci_fill_link(&os, "bus/pci/devices/none", &sample);
    gpu_fill_end(&sample);
    static const vitals_metric METRICS[] = {
        VITALS_GPU_KERNEL_DRIVER, VITALS_GPU_PCI_ID,         VITALS_GPU_PCI_SUBSYSTEM_ID,
        VITALS_GPU_LOCAL_CPUS,    VITALS_GPU_RUNTIME_STATUS, VITALS_GPU_NUMA_NODE,
        VITALS_GPU_PCIE_WIDTH,    VITALS_GPU_PCIE_GENERATION};
    for (size_t i = 0; i < CHECK_COUNT(METRICS); i++)
        CHECK_INT(filled(METRICS[i])->state, VITALS_UNSUPPORTED);
    end();
}

/* What a vendor knows better stands. */
static void what_is_filled_in_already_stands(void)
{
    begin();
    gpu_fill(&sample, VITALS_GPU_NUMA_NODE, value_u64(3));
    gpu_fill(&sample, VITALS_GPU_PCIE_WIDTH, value_u64(2));
    pci_fill(&os, FOLDER, "active", &sample);
    pci_fill_link(&os, FOLDER, &sample);
    gpu_fill_end(&sample);
    CHECK_UINT(filled(VITALS_GPU_NUMA_NODE)->as.u64, 3);
    CHECK_UINT(filled(VITALS_GPU_PCIE_WIDTH)->as.u64, 2);
    CHECK_UINT(filled(VITALS_GPU_PCIE_WIDTH_MAX)->as.u64, 16);
    end();
}

static void a_sleeping_device_is_known_as_such(void)
{
    static const struct {
        const char *status;
        bool asleep;
    } CASES[] = {{"suspended\n", true},
                 {"suspending\n", true},
                 {"resuming\n", true},
                 {"active\n", false},
                 {"unsupported\n", false},
                 {"error\n", false},
                 {"\n", false},
                 {"a word that is far too long\n", false}};
    char status[PCI_STATUS];
    begin();
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].status);
        put("power/runtime_status", CASES[i].status);
        CHECK_INT(pci_is_asleep(&os, FOLDER, status), CASES[i].asleep);
        CHECK_INT(pci_is_asleep(&os, FOLDER, NULL), CASES[i].asleep);
    }
    CHECK_CASE(NULL);
    CHECK_STR(status, "");
    put("power/runtime_status", "suspended\n");
    CHECK(pci_is_asleep(&os, FOLDER, status));
    pci_fill(&os, FOLDER, status, &sample);
    gpu_fill_end(&sample);
    check_text(VITALS_GPU_RUNTIME_STATUS, "suspended");
    check_text(VITALS_GPU_PCI_ID, "1002:73ff"); // the kernel knows it without asking the device
    end();
}

/* ---- the link ---- */

static void check_link(uint64_t generation, uint64_t generation_max, uint64_t width,
                       uint64_t width_max)
{
    struct pci_link link;
    pci_read_link(&os, FOLDER, &link);
    CHECK_UINT(link.generation.as.u64, generation);
    CHECK_UINT(link.generation_max.as.u64, generation_max);
    CHECK_UINT(link.width.as.u64, width);
    CHECK_UINT(link.width_max.as.u64, width_max);
    CHECK_INT(link.width.state, VITALS_HAVE);
}

/* RX 6600: it says 16 GT/s x16 of the link inside the card; the slot's is 8 GT/s x8. */
static void a_card_with_its_own_switch_tells_of_the_slot(void)
{
    begin();
    put_bridge("0000:00:01.0", "0x1022\n", "8.0 GT/s PCIe\n", "16\n");
    put_bridge("0000:00:01.0/0000:01:00.0", "0x1002\n", "8.0 GT/s PCIe\n", "8\n");
    put_bridge("0000:00:01.0/0000:01:00.0/0000:02:00.0", "0x1002\n", "16.0 GT/s PCIe\n", "16\n");
    check_link(3, 3, 8, 8);
    end();
}

/* Arc: it says 2.5 GT/s x1; its two bridges and the board's port are all Intel's. */
static void no_more_than_two_bridges_are_the_cards_own(void)
{
    begin();
    put("vendor", "0x8086\n");
    put("current_link_speed", "2.5 GT/s PCIe\n");
    put("max_link_speed", "2.5 GT/s PCIe\n");
    put("current_link_width", "1\n");
    put("max_link_width", "1\n");
    put_bridge("0000:00:01.0", "0x8086\n", "32.0 GT/s PCIe\n", "4\n");
    put_bridge("0000:00:01.0/0000:01:00.0", "0x8086\n", "16.0 GT/s PCIe\n", "8\n");
    put_bridge("0000:00:01.0/0000:01:00.0/0000:02:00.0", "0x8086\n", "2.5 GT/s PCIe\n", "1\n");
    check_link(4, 4, 8, 4); // the port has four lanes
    end();
}

static void a_card_without_a_switch_tells_of_its_own_link(void)
{
    begin();
    put("current_link_speed", "2.5 GT/s PCIe\n");
    put("current_link_width", "4\n");
    put_bridge("0000:00:01.0/0000:01:00.0/0000:02:00.0", "0x1022\n", "8.0 GT/s PCIe\n", "8\n");
    check_link(1, 3, 4, 8);
    end();
}

static void a_link_that_is_not_there_has_no_figures(void)
{
    static const char *const SPEEDS[] = {"Unknown\n", "Unknown speed\n", "\n", "99 GT/s\n",
                                         "16\xff"};
    static const char *const WIDTHS[] = {"0\n", "255\n", "63\n", "x8\n", "\n"};
    begin();
    for (size_t i = 0; i < CHECK_COUNT(SPEEDS); i++) {
        struct pci_link link;
        CHECK_CASE(SPEEDS[i]);
        put("current_link_speed", SPEEDS[i]);
        put("current_link_width", WIDTHS[i]);
        pci_read_link(&os, FOLDER, &link);
        CHECK(link.generation.state < 0);
        CHECK(link.width.state < 0);
        CHECK_UINT(link.width_max.as.u64, 16);
    }
    end();
}

static void a_speed_is_a_generation(void)
{
    static const char *const SPEEDS[] = {"x",         "2.5 GT/s",  "5 GT/s",    "8.0 GT/s PCIe",
                                         "16.0 GT/s", "32.0 GT/s", "64.0 GT/s", "128.0 GT/s PCIe"};
    for (unsigned i = 0; i < CHECK_COUNT(SPEEDS); i++)
        CHECK_UINT(pci_generation((struct span){SPEEDS[i], strlen(SPEEDS[i])}), i);
    CHECK_UINT(pci_generation((struct span){NULL, 0}), 0);
}

/* ---- names ---- */

static const char PCI_IDS[] = "#\n# A list.\n\n1001  Kolter\n\t0010  PCI 1616\n"
                              "1002  Advanced Micro Devices, Inc. [AMD/ATI]\n"
                              "\t73df  Navi 22 [Radeon RX 6700]\n"
                              "\t\t1002 73ff  a board\n"
                              "\t73ff  Navi 23 [Radeon RX 6600]  \n"
                              "1003  ULSI\n\t73fe  Not AMD's\n"
                              "C 03  Display controller\n\t00  VGA\n";

static void a_device_is_called_as_the_list_says(void)
{
    struct names_pci names;
    begin();
    CHECK_FALSE(names_find_pci(&os, 0x1002, 0x73ff, &names)); // there is no list
    CHECK_STR(names.vendor, "");
    gpu_tree_text(&tree, "share/misc/pci.ids", PCI_IDS);
    CHECK(names_find_pci(&os, 0x1002, 0x73ff, &names));
    CHECK_STR(names.vendor, "Advanced Micro Devices, Inc. [AMD/ATI]");
    CHECK_STR(names.device, "Navi 23 [Radeon RX 6600]");
    CHECK_FALSE(names_find_pci(&os, 0x1002, 0x73fe, &names)); // another vendor's
    CHECK_STR(names.vendor, "Advanced Micro Devices, Inc. [AMD/ATI]");
    CHECK_STR(names.device, "");
    CHECK_FALSE(names_find_pci(&os, 0xC, 0x3, &names)); // a class
    gpu_tree_text(&tree, "share/hwdata/pci.ids", "1002  Another list\n\t73ff  Another name\n");
    CHECK(names_find_pci(&os, 0x1002, 0x73ff, &names));
    CHECK_STR(names.device, "Another name");
    end();
}

static void amd_tells_revisions_apart(void)
{
    char name[NAMES_TEXT];
    begin();
    CHECK_FALSE(names_find_amdgpu(&os, 0x73ff, 0xc7, name));
    gpu_tree_text(&tree, "share/libdrm/amdgpu.ids",
                  "# List\n1.0.0\n73FF,\tC1,\tAMD Radeon RX 6600 XT\n"
                  "73FF,\tC7,\tAMD Radeon RX 6600\n73FF,C9,\n73FF\n");
    CHECK(names_find_amdgpu(&os, 0x73ff, 0xc7, name));
    CHECK_STR(name, "AMD Radeon RX 6600");
    CHECK_FALSE(names_find_amdgpu(&os, 0x73ff, 0xc9, name));
    CHECK_FALSE(names_find_amdgpu(&os, 0x73ff, 0, name));
    CHECK_STR(name, "");
    end();
}

static void a_name_that_is_too_long_is_cut(void)
{
    char text[1200] = "1002  ";
    struct names_pci names;
    memset(text + 6, 'n', 1000);
    memcpy(text + 1006, "\n\t73ff  x\n", 11);
    begin();
    gpu_tree_text(&tree, "share/misc/pci.ids", text);
    CHECK(names_find_pci(&os, 0x1002, 0x73ff, &names));
    CHECK_UINT(strlen(names.vendor), NAMES_TEXT - 1);
    CHECK_STR(names.device, "x");
    end();
}

static const check_test tests[] = {
    {"an address is written in one way", an_address_is_written_in_one_way},
    {"what it is is filled in", what_it_is_is_filled_in},
    {"what is missing is unsupported", what_is_missing_is_unsupported},
    {"what is filled in already stands", what_is_filled_in_already_stands},
    {"a sleeping device is known as such", a_sleeping_device_is_known_as_such},
    {"a card with its own switch tells of the slot", a_card_with_its_own_switch_tells_of_the_slot},
    {"no more than two bridges are the card's own", no_more_than_two_bridges_are_the_cards_own},
    {"a card without a switch tells of its own link",
     a_card_without_a_switch_tells_of_its_own_link},
    {"a link that is not there has no figures", a_link_that_is_not_there_has_no_figures},
    {"a speed is a generation", a_speed_is_a_generation},
    {"a device is called as the list says", a_device_is_called_as_the_list_says},
    {"AMD tells revisions apart", amd_tells_revisions_apart},
    {"a name that is too long is cut", a_name_that_is_too_long_is_cut},
};

CHECK_TESTS(tests)
