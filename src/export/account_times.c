/* account_times.c: see account_times.h. */
#include "export/account_times.h"

#include <stdlib.h>
#include <string.h>

uint64_t account_began_ns(const json_t *account)
{
    const json_t *attributes = json_object_get(account, "attributes");
    const char *began = json_string_value(json_object_get(attributes, "started_ns"));
    return began != NULL ? strtoull(began, NULL, 10) : 0;
}

uint64_t account_ended_ns(const json_t *account)
{
    const json_t *figures = json_object_get(account, "figures");
    uint64_t began_ns = account_began_ns(account);
    for (size_t i = 0; i < json_array_size(figures) && began_ns > 0; i++) {
        const json_t *figure = json_array_get(figures, i);
        const char *name = json_string_value(json_object_get(figure, "name"));
        double seconds = json_number_value(json_object_get(figure, "value"));
        if (name != NULL && strcmp(name, "wall_seconds") == 0 && seconds >= 0 && seconds < 1e9)
            return began_ns + (uint64_t)(seconds * 1e9);
    }
    return 0;
}
