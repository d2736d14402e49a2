/* Any bytes as each file of a cgroup that is counted from: what is told is a number, finite and not
 * below zero, and the same for the same bytes. */
#include "os/linux/cgroup/cgroup_own.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void all_figures(const struct own_figure *figures, const char *bytes, size_t size)
{
    const struct os os = {.proc = -1, .sys = -1};
    for (; figures->file != NULL; figures++) {
        double first = -1, second = -1;
        bool told = own_figure_parse(&os, figures, bytes, size, &first);
        require(told == own_figure_parse(&os, figures, bytes, size, &second));
        if (told)
            require(isfinite(first) && first >= 0 && !(first < second) && !(first > second));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    all_figures(own_figures_v2, (const char *)data, size);
    all_figures(own_figures_v1, (const char *)data, size);
    return 0;
}
