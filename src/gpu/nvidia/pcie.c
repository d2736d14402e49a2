/* pcie.c: what goes over the bus now. The driver measures while we wait, 20 ms a direction, so that
 * it is only asked in samples of their own: nothing of the device's slot is touched here. */
#include "gpu/nvidia/reader.h"

enum { KIB = 1024, KIB_PER_SECOND_MAX = 1 << 30 };

void nvidia_read_pcie_throughput(struct nvidia_reader *reader)
{
    static const struct {
        vitals_metric metric;
        unsigned direction;
    } rows[] = {{VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, NVML_PCIE_RECEIVED},
                {VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, NVML_PCIE_TRANSMITTED}};
    for (size_t i = 0; i < ARRAY_COUNT(rows) && !reader->lost; i++) {
        if (!reader_wants(reader, rows[i].metric))
            continue;
        unsigned kib = 0;
        nvml_return code = NVML_CALL(reader->nvml, nvmlDeviceGetPcieThroughput, reader->handle,
                                     rows[i].direction, &kib);
        reader_set(reader, rows[i].metric, code, nvml_amount(kib, KIB, KIB_PER_SECOND_MAX));
    }
}
