/* Lists of CPUs: writes no more than there is room for, and the same count whatever that is. */
#include <stdint.h>
#include <stdlib.h>
#include <vitals/process.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ROOM = 9, UNTOUCHED = 0x55555555 };
    unsigned cpus[ROOM + 1];
    for (size_t i = 0; i <= ROOM; i++)
        cpus[i] = UNTOUCHED;
    vitals_text list = {size != 0 ? (const char *)data : "", size};
    int count = vitals_cpus_parse(list, cpus, ROOM);
    if (count == 0 || (count < 0 && count != VITALS_EARGUMENT) ||
        vitals_cpus_parse(list, NULL, 0) != count)
        abort();
    for (int i = 0; i <= ROOM; i++)
        if ((i < count && i < ROOM) != (cpus[i] != UNTOUCHED))
            abort();
    return 0;
}
