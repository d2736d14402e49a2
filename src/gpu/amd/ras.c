/* ras.c: errors that the card's blocks have counted (its folder ras), and pages taken out of use.
 *
 * The file xgmi_error is not read: reading it clears it. */
#include "gpu/amd/parse.h"
#include "gpu/amd/state.h"

#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PAGES_TEXT = 32768 };

static const char suffix[] = "_err_count";

static void add(struct value *sum, struct value value)
{
    if (value.state <= 0)
        return;
    if (sum->state <= 0)
        *sum = value_u64(0);
    sum->as.u64 = saturating_add(sum->as.u64, value.as.u64);
}

/* Reads "umc_err_count"; a file with words instead of numbers is not available at this time.
 * Returns false if the file has another name. */
static bool read_block(struct amd_reader *reader, const char *name, struct amd_errors *out)
{
    char file[OS_SYS_NAME + 8], label[OS_SYS_NAME], text[256];
    signed char state;
    struct amd_errors errors;
    size_t size = strlen(name);
    if (size < sizeof suffix || strcmp(name + size - (sizeof suffix - 1), suffix) != 0)
        return false;
    snprintf(label, sizeof label, "%.*s", (int)(size - (sizeof suffix - 1)), name);
    snprintf(file, sizeof file, "ras/%s", name);
    struct span span = amd_read_text(reader, file, text, sizeof text, &state);
    if (state > 0 && !amd_errors_parse(span, &errors))
        state = VITALS_FAILED;
    if (state <= 0) {
        struct value missing = value_missing(state);
        errors = (struct amd_errors){missing, missing, missing};
    }

    const struct {
        vitals_metric metric;
        struct value value;
    } counts[] = {
        {VITALS_GPU_ERROR_CORRECTED, errors.corrected},
        {VITALS_GPU_ERROR_UNCORRECTED, errors.uncorrected},
        {VITALS_GPU_ERROR_DEFERRED, errors.deferred},
    };
    amd_list_child(reader, VITALS_GPU_ERROR_UNCORRECTED, label);
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++)
        if (counts[i].value.state != VITALS_UNSET)
            gpu_fill_child(reader->sample, counts[i].metric, label, counts[i].value);
    *out = errors;
    return true;
}

/* An empty file means that no page is bad. */
static void read_pages(struct amd_reader *reader)
{
    char text[PAGES_TEXT];
    struct amd_bad_pages pages;
    if (!amd_wants(reader, VITALS_GPU_RETIRED_PAGES_UNCORRECTED) &&
        !amd_wants(reader, VITALS_GPU_RETIRED_PAGES_PENDING))
        return;
    int result = pci_text(reader->os, reader->device->folder, "ras/gpu_vram_bad_pages", text,
                          sizeof text);
    amd_bad_pages_parse((struct span){text, strlen(text)}, &pages);
    struct value retired = value_u64(pages.retired), pending = value_u64(pages.pending > 0);
    if (result == -EFBIG)
        retired.state = pending.state = VITALS_LOWER_BOUND;
    else if (result < 0)
        retired = pending = value_missing(amd_availability(reader, result));
    gpu_fill(reader->sample, VITALS_GPU_RETIRED_PAGES_UNCORRECTED, retired);
    gpu_fill(reader->sample, VITALS_GPU_RETIRED_PAGES_PENDING, pending);
}

void amd_read_errors(struct amd_reader *reader)
{
    struct value uncorrected = value_missing(VITALS_UNSUPPORTED), corrected = uncorrected;
    if (gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_ERROR) ||
        amd_wants(reader, VITALS_GPU_ECC_ERRORS_UNCORRECTED) ||
        amd_wants(reader, VITALS_GPU_ECC_ERRORS_CORRECTED)) {
        struct os_sys_names names;
        os_sys_names(&names, reader->os, "%s/ras", reader->device->folder);
        for (const char *name; (name = os_sys_next(&names)) != NULL;) {
            struct amd_errors errors;
            if (!read_block(reader, name, &errors))
                continue;
            add(&uncorrected, errors.uncorrected);
            add(&corrected, errors.corrected);
        }
        gpu_fill(reader->sample, VITALS_GPU_ECC_ERRORS_UNCORRECTED, uncorrected);
        gpu_fill(reader->sample, VITALS_GPU_ECC_ERRORS_CORRECTED, corrected);
    }

    read_pages(reader);

    /* "feature mask: 0x…": bit 0 is the memory's. */
    char text[256];
    signed char state;
    struct span word;
    uint64_t mask;
    if (!amd_wants(reader, VITALS_GPU_ECC_MODE))
        return;
    struct span span = amd_read_text(reader, "ras/features", text, sizeof text, &state);
    struct cursor cursor = cursor_over(span.bytes, span.size);
    if (state > 0 && cursor_literal(&cursor, "feature mask:") && cursor_word(&cursor, &word)) {
        struct cursor digits = cursor_over(word.bytes, word.size);
        bool whole = number_hex(&digits.at, digits.end, &mask) && cursor_done(&digits);
        state = whole ? VITALS_HAVE : VITALS_FAILED;
    } else if (state > 0) {
        state = VITALS_UNSUPPORTED; /* the words of another kernel */
    }
    gpu_fill(reader->sample, VITALS_GPU_ECC_MODE,
             state > 0 ? value_u64(mask & 1) : value_missing(state));
}
