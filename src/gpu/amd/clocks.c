/* clocks.c: the tables pp_dpm_*, each for a clock or the PCIe link. */
#include "gpu/amd/parse.h"
#include "gpu/amd/state.h"

#include <string.h>

static const struct {
    const char *file, *label;
} clocks[] = {
    {"pp_dpm_sclk", "graphics"}, {"pp_dpm_mclk", "memory"},     {"pp_dpm_socclk", "soc"},
    {"pp_dpm_fclk", "fclk"},     {"pp_dpm_dcefclk", "dcefclk"}, {"pp_dpm_vclk", "video"},
    {"pp_dpm_vclk1", "vclk1"},   {"pp_dpm_dclk", "dclk"},       {"pp_dpm_dclk1", "dclk1"},
};

enum { TABLE = 4096 };

static void fill_known(struct amd_reader *reader, vitals_metric metric, const char *label,
                       struct value value)
{
    if (value.state != VITALS_UNSET)
        gpu_fill_child(reader->sample, metric, label, value);
}

void amd_read_clocks(struct amd_reader *reader)
{
    if (!gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_CLOCK))
        return;
    bool of_levels = amd_wants(reader, VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ) ||
                     amd_wants(reader, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ);
    for (size_t i = 0; i < ARRAY_COUNT(clocks); i++) {
        const char *label = clocks[i].label;
        bool is_told = amd_has_child(reader, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, label);
        char text[TABLE];
        signed char state;
        struct amd_dpm_levels levels;
        if (is_told && !of_levels)
            continue;
        struct span table = amd_read_text(reader, clocks[i].file, text, sizeof text, &state);
        if (state <= 0 && state != VITALS_UNSUPPORTED && !is_told)
            gpu_fill_child(reader->sample, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, label,
                           value_missing(state));
        if (state <= 0 || !amd_dpm_levels_parse(table, &levels))
            continue;
        amd_list_child(reader, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, label);
        if (!is_told)
            fill_known(reader, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, label, levels.now);
        fill_known(reader, VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, label, levels.lowest);
        fill_known(reader, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, label, levels.highest);
    }
}

static void fill_link(struct amd_reader *reader, struct value generation, struct value width)
{
    if (generation.state > 0 && !gpu_fill_has(reader->sample, VITALS_GPU_PCIE_GENERATION))
        gpu_fill(reader->sample, VITALS_GPU_PCIE_GENERATION, generation);
    if (width.state > 0 && !gpu_fill_has(reader->sample, VITALS_GPU_PCIE_WIDTH))
        gpu_fill(reader->sample, VITALS_GPU_PCIE_WIDTH, width);
}

/* The table is of the card's own link; on many cards the PCI device's files are of a switch inside
 * the card. */
void amd_read_pcie(struct amd_reader *reader)
{
    static const uint16_t transfers[] = {25, 50, 80, 160, 320, 640}; /* by generation */
    const struct amd_metrics *record = NULL;
    if (amd_wants(reader, VITALS_GPU_PCIE_GENERATION) || amd_wants(reader, VITALS_GPU_PCIE_WIDTH)) {
        char text[TABLE];
        signed char state;
        struct amd_link_levels link;
        struct span table = amd_read_text(reader, "pp_dpm_pcie", text, sizeof text, &state);
        if (state > 0 && amd_link_levels_parse(table, &link))
            fill_link(reader, link.generation, link.width);
        if (!gpu_fill_has(reader->sample, VITALS_GPU_PCIE_GENERATION))
            record = amd_record(reader);
    }
    if (record != NULL) {
        struct value speed = record->numbers[AMD_PCIE_TRANSFERS];
        struct value lanes = record->numbers[AMD_PCIE_LANES];
        struct value generation = value_missing(VITALS_UNSET), width = generation;
        for (size_t i = 0; i < ARRAY_COUNT(transfers); i++)
            if (speed.state > 0 && (unsigned)speed.as.f64 == transfers[i])
                generation = value_u64(i + 1);
        if (lanes.state > 0 && lanes.as.f64 > 0)
            width = value_u64((uint64_t)lanes.as.f64);
        fill_link(reader, generation, width);
    }
    pci_fill_link(reader->os, reader->device->folder, reader->sample);
}
