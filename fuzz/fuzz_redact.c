/* Any bytes as a command line: each form ends and stays within its bounds; the whole one
 * and the first word are where it begins. */
#include <stdlib.h>
#include <string.h>

#include "export/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct buffer redacted(vitals_text line, enum redact_form form)
{
    struct buffer text = {.bytes = NULL};
    redact_line(&text, line, form);
    /* A byte becomes at most the three of a hidden value. */
    if (text.failed || text.size > 3 * line.size + 3)
        abort();
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vitals_text line = {(const char *)bytes, size};
    for (int form = REDACT_OFF; form <= REDACT_FULL; form++) {
        struct buffer text = redacted(line, (enum redact_form)form);
        bool whole = form == REDACT_FULL || form == REDACT_ARGV0;
        if (whole && text.size > 0 &&
            (text.size > size || memcmp(text.bytes, bytes, text.size) != 0))
            abort();
        buffer_done(&text);
    }
    return 0;
}
