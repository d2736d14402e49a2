/* The kernel's word for its own layout: whatever the bytes, nothing beyond them is read, and what
 * is found lies within a structure's size in width. */
#include "os/linux/process/btf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const PATHS[] = {"id",        "se.runtime", "se.counts.1",        "parent",
                                        "lies_deep", "a",          "se.counts.0.runtime"};
    struct btf *btf = btf_new((const char *)data, size);
    for (size_t i = 0; btf != NULL && i < sizeof PATHS / sizeof PATHS[0]; i++) {
        struct btf_field field = {0};
        if (btf_member(btf, "task", PATHS[i], &field) && field.size == 0)
            abort();
    }
    if (btf != NULL)
        (void)btf_function(btf, "walk");
    btf_free(btf);
    return 0;
}
