/* A document's command lines, in every form: whatever it is, JSON stays JSON, and what is not to be
 * told is nowhere. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "export/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { FLAGS = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES };
    json_t *given = json_loadb((const char *)bytes, size, FLAGS, NULL);
    /* As vitals writes one, without spaces; what is no document stays as it came. */
    char *compact = given != NULL ? json_dumps(given, JSON_COMPACT) : NULL;
    if (compact != NULL) {
        bytes = (const uint8_t *)compact;
        size = strlen(compact);
    }
    for (int form = REDACT_OFF; form <= REDACT_FULL; form++) {
        struct buffer text = {.bytes = NULL};
        command_lines_write(&text, (const char *)bytes, size, (enum redact_form)form);
        json_t *written = json_loadb(text.bytes != NULL ? text.bytes : "", text.size, FLAGS, NULL);
        const json_t *line = json_object_get(written, "command_line");
        if (text.failed || (given != NULL && written == NULL) ||
            (form == REDACT_OFF && json_is_string(line) && json_string_length(line) > 0) ||
            (form == REDACT_FULL && !json_equal(given, written) && given != NULL))
            abort();
        json_decref(written);
        buffer_done(&text);
    }
    json_decref(given);
    free(compact);
    return 0;
}
