/* Any bytes as a recording in CSV: ours, resource-tracker's, gpu_tracker's. */
#include "recorded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return read_bytes(data, size, read_tables);
}
