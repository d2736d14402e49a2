/* topo.c: `vitals topo`: the links between GPUs, CPUs and network adapters, as a matrix or as
 * JSON. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/devices/device_list.h"
#include "command/grid.h"
#include "command/output.h"
#include "feed/rows.h"
#include "view/cell_text.h"

enum { PEERS_MOST = 112, CELL = 48 };

/* A column of the matrix: a device, or an adapter by its address. */
struct topo_place {
    const vitals_row *device; /* NULL: an adapter */
    char label[DEVICE_VALUE];
    char address[CELL];
};

struct topo {
    const struct settings *settings;
    const vitals_snapshot *snapshot;
    struct topo_place places[PEERS_MOST];
    size_t device_count, count;
    bool cut;
    bool seen[10]; /* legend rows in use */
};

/* The legend; its first rows are paths, by their words in the snapshot. */
static const struct {
    const char *word, *shown, *help;
} LEGEND[] = {
    {"pix", "PIX", "one PCIe switch at most"},
    {"pxb", "PXB", "several PCIe switches, no host bridge"},
    {"phb", "PHB", "through a PCIe host bridge"},
    {"node", "NODE", "between host bridges of one NUMA node"},
    {"sys", "SYS", "between NUMA nodes"},
    {NULL, "NV#", "so many NVLinks"},
    {NULL, "XGMI#", "so many links of XGMI"},
    {NULL, "LINK#", "so many direct links"},
    {NULL, "X", "the same device"},
    {NULL, "N/A", "the system does not tell how they are linked"},
};
enum { PATH_COUNT = 5, NVLINK = PATH_COUNT, XGMI, LINK, SAME, UNKNOWN, LEGEND_COUNT };

static void address_of(const struct topo *topo, const vitals_row *peer, char out[static CELL])
{
    vitals_text text = {"", 0};
    (void)!vitals_row_text(peer, VITALS_GPU_PEER_PEER_PCI_BUS_ID, &text);
    (void)cell_safe(text, topo->settings->look.ascii, out, CELL);
}

static struct topo_place *add_place(struct topo *topo)
{
    if (topo->count == PEERS_MOST) {
        topo->cut = true;
        return NULL;
    }
    struct topo_place *place = &topo->places[topo->count++];
    *place = (struct topo_place){.device = NULL};
    return place;
}

/* Returns the row of gpu_peer between a device and a place. */
static const vitals_row *find_peer(const struct topo *topo, const vitals_row *device,
                                   const struct topo_place *place)
{
    char address[CELL];
    EACH_CHILD(peer, topo->snapshot, VITALS_TABLE_GPU_PEER, vitals_row_key(device)) {
        uint64_t key;
        bool is_gpu = vitals_row_u64(peer, VITALS_GPU_PEER_PEER, &key) > 0;
        if (place->device != NULL && is_gpu && key == vitals_row_key(place->device))
            return peer;
        address_of(topo, peer, address);
        if (place->device == NULL && !is_gpu && strcmp(address, place->address) == 0)
            return peer;
    }
    return NULL;
}

/* Prints "NV4" for direct links, by the beginning of their kind; else the path. */
static enum color put_path(struct topo *topo, const vitals_row *peer, char out[static CELL])
{
    uint64_t links;
    if (peer != NULL && vitals_row_u64(peer, VITALS_GPU_PEER_LINKS, &links) > 0 && links > 0) {
        bool nvlink = command_text_is(peer, VITALS_GPU_PEER_LINK_KIND, "nvlink");
        bool xgmi = command_text_is(peer, VITALS_GPU_PEER_LINK_KIND, "xgmi");
        topo->seen[nvlink ? NVLINK : xgmi ? XGMI : LINK] = true;
        snprintf(out, CELL, "%s%llu",
                 nvlink ? "NV"
                 : xgmi ? "XGMI"
                        : "LINK",
                 (unsigned long long)links);
        return COLOR_GREEN;
    }
    for (size_t i = 0; i < PATH_COUNT && peer != NULL; i++) {
        if (command_text_is(peer, VITALS_GPU_PEER_PATH, LEGEND[i].word)) {
            topo->seen[i] = true;
            snprintf(out, CELL, "%s", LEGEND[i].shown);
            return COLOR_PLAIN;
        }
    }
    topo->seen[UNKNOWN] = true;
    snprintf(out, CELL, "N/A");
    return COLOR_DIM;
}

static void put_value(const struct topo *topo, struct grid *grid, const vitals_row *device,
                      vitals_metric metric)
{
    char value[DEVICE_VALUE];
    const struct device_form form = device_form_of(topo->settings);
    vitals_availability state = device_value(device, NULL, metric, &form, value);
    grid_cell(grid, state > 0 ? COLOR_PLAIN : COLOR_DIM, value);
}

/* Prints the legend for the entries of the matrix only. */
static void print_legend(const struct topo *topo, struct paint *paint)
{
    char line[160];
    paint_end(paint);
    for (size_t i = 0; i < LEGEND_COUNT; i++) {
        if (!topo->seen[i] && i != SAME)
            continue;
        snprintf(line, sizeof line, "  %-5s %s", LEGEND[i].shown, LEGEND[i].help);
        paint_text(paint, COLOR_DIM, line);
        paint_end(paint);
    }
    paint_end(paint);
    for (size_t i = 0; i < topo->device_count; i++) {
        char name[DEVICE_VALUE], address[DEVICE_VALUE];
        const struct device_form form = device_form_of(topo->settings);
        (void)device_value(topo->places[i].device, NULL, VITALS_GPU_NAME, &form, name);
        (void)device_value(topo->places[i].device, NULL, VITALS_GPU_PCI_BUS_ID, &form, address);
        snprintf(line, sizeof line, "  %-5.16s %.40s  %.90s", topo->places[i].label, address, name);
        paint_text(paint, COLOR_DIM, line);
        paint_end(paint);
    }
    for (size_t i = topo->device_count; i < topo->count; i++) {
        snprintf(line, sizeof line, "  %-5.60s %s", topo->places[i].label, topo->places[i].address);
        paint_text(paint, COLOR_DIM, line);
        paint_end(paint);
    }
}

static int print_text(struct topo *topo, struct output *output)
{
    const struct settings *settings = topo->settings;
    struct paint paint;
    EACH_CHILD(row, topo->snapshot, VITALS_TABLE_GPU, 0) {
        struct topo_place *place = add_place(topo);
        if (place == NULL)
            break;
        place->device = row;
        snprintf(place->label, sizeof place->label, "GPU%s", vitals_row_label(row));
    }
    topo->device_count = topo->count;
    if (topo->count == 0)
        return command_tell_no_devices(topo->snapshot);

    char address[CELL];
    EACH_ROW(peer, topo->snapshot, VITALS_TABLE_GPU_PEER) {
        size_t i = topo->device_count;
        address_of(topo, peer, address);
        while (i < topo->count && strcmp(topo->places[i].address, address) != 0)
            i++;
        bool is_network = command_text_is(peer, VITALS_GPU_PEER_KIND, "network");
        struct topo_place *place = is_network && i == topo->count ? add_place(topo) : NULL;
        if (place == NULL)
            continue;
        snprintf(place->address, sizeof place->address, "%s", address);
        (void)cell_safe(vitals_text_of(vitals_row_label(peer)), settings->look.ascii, place->label,
                        sizeof place->label);
    }

    paint_init(&paint, settings->look.color, output_write, output);

    const struct grid_form form = {.width = (size_t)settings->look.line_width, .titles = true};
    struct grid grid = {0};
    grid_column(&grid, "", ALIGN_LEFT, 0);
    for (size_t i = 0; i < topo->count; i++)
        grid_column(&grid, topo->places[i].label, ALIGN_LEFT, 0);
    grid_column(&grid, "NUMA", ALIGN_RIGHT, 0);
    grid_column(&grid, "CPUS", ALIGN_LEFT, 0);
    for (size_t at = 0; at < topo->device_count; at++) {
        const vitals_row *device = topo->places[at].device;
        grid_cell(&grid, COLOR_BOLD, topo->places[at].label);
        for (size_t i = 0; i < topo->count; i++) {
            char cell[CELL] = "X";
            enum color color = COLOR_DIM;
            if (i != at)
                color = put_path(topo, find_peer(topo, device, &topo->places[i]), cell);
            grid_cell(&grid, color, cell);
        }
        put_value(topo, &grid, device, VITALS_GPU_NUMA_NODE);
        put_value(topo, &grid, device, VITALS_GPU_LOCAL_CPUS);
    }
    int code = grid_paint(&grid, &form, &paint);
    grid_done(&grid);

    print_legend(topo, &paint);
    (void)paint_done(&paint);
    if (topo->cut)
        (void)command_fail(0, "only the first %d devices and adapters are shown; --json has all",
                           PEERS_MOST);
    return code == 0 ? EXIT_DONE : command_fail(EXIT_CANNOT, "out of memory");
}

static int make_request(vitals_request **out, vitals_error *error)
{
    static const vitals_metric METRICS[] = {
        VITALS_GPU_INDEX,      VITALS_GPU_VENDOR,    VITALS_GPU_NAME,       VITALS_GPU_UUID,
        VITALS_GPU_PCI_BUS_ID, VITALS_GPU_NUMA_NODE, VITALS_GPU_LOCAL_CPUS, 0};
    static const vitals_table TABLES[] = {VITALS_TABLE_GPU_PEER, VITALS_TABLE_GPU_LINK,
                                          VITALS_TABLE_SOURCE, 0};
    return command_request(METRICS, TABLES, out, error);
}

static int print(const struct settings *settings, const vitals_snapshot *snapshot)
{
    static struct topo topo; /* too large for the stack */
    struct output *output = output_begin(STDOUT_FILENO);
    topo = (struct topo){.settings = settings, .snapshot = snapshot};
    if (!settings->look.json)
        return command_tell_partial(snapshot, output_done(output, print_text(&topo, output)));
    int code = command_print_json(snapshot, output);
    if (vitals_snapshot_count(snapshot, VITALS_TABLE_GPU) == 0)
        (void)command_tell_no_devices(snapshot);
    return command_tell_partial(snapshot, output_done(output, code));
}

int command_topo(const struct settings *settings)
{
    return command_once(settings, make_request, print);
}
