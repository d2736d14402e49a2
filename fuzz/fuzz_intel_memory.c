/* What i915 and xe say of a card's memory, made of anything. The first byte says whose answer it
 * is; what is taken must hold together. */
#include "gpu/intel/state.h"

#include <stdlib.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct intel_memory told = {0};
    if (size == 0)
        return 0;
    if (!intel_parse_memory(data + 1, size - 1, data[0] % 2 != 0, &told))
        return 0;
    if (told.total.state > 0)
        require(told.total.as.u64 > 0 && told.total.as.u64 <= EXACT_MAX);
    if (told.used.state > 0)
        require(told.total.state > 0 && told.used.as.u64 > 0 &&
                told.used.as.u64 <= told.total.as.u64);
    return 0;
}
