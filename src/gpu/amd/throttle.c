/* throttle.c: see throttle.h. */
#include "gpu/amd/throttle.h"

#include <stdio.h>
#include <string.h>

/* amdgpu's common bits (SMU_THROTTLER_… of its amdgpu_smu.h). */
static const struct {
    uint8_t bit, cause;
    const char *word;
} bits_known[] = {
    {0, AMD_BY_POWER, "ppt0"},         {1, AMD_BY_POWER, "ppt1"},
    {2, AMD_BY_POWER, "ppt2"},         {3, AMD_BY_POWER, "ppt3"},
    {4, AMD_BY_POWER, "spl"},          {5, AMD_BY_POWER, "fppt"},
    {6, AMD_BY_POWER, "sppt"},         {7, AMD_BY_POWER, "sppt_apu"},
    {16, AMD_BY_CURRENT, "tdc_gfx"},   {17, AMD_BY_CURRENT, "tdc_soc"},
    {18, AMD_BY_CURRENT, "tdc_mem"},   {19, AMD_BY_CURRENT, "tdc_vdd"},
    {20, AMD_BY_CURRENT, "tdc_cvip"},  {21, AMD_BY_CURRENT, "edc_cpu"},
    {22, AMD_BY_CURRENT, "edc_gfx"},   {23, AMD_BY_CURRENT, "apcc"},
    {32, AMD_BY_HEAT, "temp_gpu"},     {33, AMD_BY_HEAT, "temp_core"},
    {34, AMD_BY_HEAT, "temp_mem"},     {35, AMD_BY_HEAT, "temp_edge"},
    {36, AMD_BY_HEAT, "temp_hotspot"}, {37, AMD_BY_HEAT, "temp_soc"},
    {38, AMD_BY_HEAT, "temp_vr_gfx"},  {39, AMD_BY_HEAT, "temp_vr_soc"},
    {40, AMD_BY_HEAT, "temp_vr_mem0"}, {41, AMD_BY_HEAT, "temp_vr_mem1"},
    {42, AMD_BY_HEAT, "temp_liquid0"}, {43, AMD_BY_HEAT, "temp_liquid1"},
    {44, AMD_BY_HEAT, "vrhot0"},       {45, AMD_BY_HEAT, "vrhot1"},
    {46, AMD_BY_HEAT, "prochot_cpu"},  {47, AMD_BY_HEAT, "prochot_gfx"},
    {56, AMD_BY_POWER, "ppm"},         {57, AMD_BY_OTHER, "fit"},
};

static const struct {
    enum amd_cause cause;
    const char *word;
} residencies_known[AMD_RESIDENCIES] = {
    [AMD_RESIDENCY_PROCHOT] = {AMD_BY_HEAT, "prochot"},
    [AMD_RESIDENCY_PPT] = {AMD_BY_POWER, "ppt"},
    [AMD_RESIDENCY_SOCKET_HEAT] = {AMD_BY_HEAT, "socket_thm"},
    [AMD_RESIDENCY_VR_HEAT] = {AMD_BY_HEAT, "vr_thm"},
    [AMD_RESIDENCY_HBM_HEAT] = {AMD_BY_HEAT, "hbm_thm"},
    [AMD_RESIDENCY_SPL] = {AMD_BY_POWER, "spl"},
    [AMD_RESIDENCY_FPPT] = {AMD_BY_POWER, "fppt"},
    [AMD_RESIDENCY_SPPT] = {AMD_BY_POWER, "sppt"},
    [AMD_RESIDENCY_CORE_HEAT] = {AMD_BY_HEAT, "thm_core"},
    [AMD_RESIDENCY_GFX_HEAT] = {AMD_BY_HEAT, "thm_gfx"},
    [AMD_RESIDENCY_SOC_HEAT] = {AMD_BY_HEAT, "thm_soc"},
};

static void add(struct amd_throttle *out, enum amd_cause cause, const char *word)
{
    size_t used = strlen(out->reasons);
    out->by[cause] = true;
    snprintf(out->reasons + used, sizeof out->reasons - used, used > 0 ? ",%s" : "%s", word);
}

void amd_throttle_of_bits(uint64_t bits, struct amd_throttle *out)
{
    *out = (struct amd_throttle){0};
    for (size_t i = 0; i < ARRAY_COUNT(bits_known); i++) {
        uint64_t bit = UINT64_C(1) << bits_known[i].bit;
        if (bits & bit)
            add(out, (enum amd_cause)bits_known[i].cause, bits_known[i].word);
        bits &= ~bit;
    }
    for (unsigned i = 0; i < 64; i++) {
        char word[16];
        if (!(bits >> i & 1))
            continue;
        snprintf(word, sizeof word, "bit%u", i);
        add(out, AMD_BY_OTHER, word);
    }
}

bool amd_throttle_of_residencies(const struct value *before, const struct value *now,
                                 struct amd_throttle *out)
{
    bool told = false;
    *out = (struct amd_throttle){0};
    for (size_t i = 0; i < AMD_RESIDENCIES; i++) {
        if (before[i].state <= 0 || now[i].state <= 0)
            continue;
        told = true;
        if (now[i].as.u64 > before[i].as.u64)
            add(out, residencies_known[i].cause, residencies_known[i].word);
    }
    return told;
}
