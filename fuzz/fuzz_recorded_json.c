/* Any bytes as an account in JSON, or as resource-tracker-rs's lines. */
#include "recorded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return read_bytes(data, size, read_json);
}
