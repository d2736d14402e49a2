/* The texts of amdgpu and of its compute driver: what is told is possible, whatever the text is. */
#include "gpu/amd/kfd.h"
#include "gpu/amd/parse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_levels(struct span text)
{
    struct amd_dpm_levels levels;
    bool told = amd_dpm_levels_parse(text, &levels);
    if (!told && (levels.now.state != VITALS_UNSET || levels.lowest.state != VITALS_UNSET))
        abort();
    if ((levels.lowest.state > 0) != (levels.highest.state > 0))
        abort();
    if (levels.lowest.state > 0 && levels.lowest.as.f64 > levels.highest.as.f64)
        abort();
}

static void check_link(struct span text)
{
    struct amd_link_levels link;
    if (!amd_link_levels_parse(text, &link))
        return;
    if (link.generation.state > 0 && (link.generation.as.u64 < 1 || link.generation.as.u64 > 6))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = {(const char *)data, size};
    struct amd_errors errors;
    struct amd_bad_pages pages;
    struct kfd_properties node;
    char architecture[KFD_ARCHITECTURE], bus_id[32];
    check_levels(text);
    check_link(text);
    amd_errors_parse(text, &errors);
    amd_bad_pages_parse(text, &pages);
    if (pages.retired + pages.pending > size / 4)
        abort();
    kfd_parse_properties(text, &node);
    kfd_architecture(node.gfx_target_version, architecture);
    kfd_bus_id(&node, bus_id);
    return 0;
}
