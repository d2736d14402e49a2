/* What the page is sent, and the last hour, of whatever a sample says: always JSON on one line. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "export/sample.h"
#include "export/server/page.h"

static void check(struct buffer *text)
{
    json_t *document = json_loadb(text->bytes, text->size, JSON_REJECT_DUPLICATES, NULL);
    if (text->failed || document == NULL || memchr(text->bytes, '\n', text->size) != NULL)
        abort();
    json_decref(document);
    buffer_reset(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Two lines are two samples; one is the same twice. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *line = (const char *)bytes, *end = size > 0 ? memchr(line, '\n', size) : NULL;
    size_t first = end != NULL ? (size_t)(end - line) : size;
    struct sample *one = sample_new(line, first, 1000000000);
    struct sample *two = end != NULL ? sample_new(end + 1, size - first - 1, 7000000000)
                                     : sample_new(line, first, 7000000000);
    struct history_store *history = history_new();
    struct buffer text = {.bytes = NULL};
    const vitals_snapshot *older = sample_snapshot(one), *newer = sample_snapshot(two);
    if (older != NULL)
        history_take(history, older);
    if (newer != NULL)
        history_take(history, newer);
    history_write(history, &text);
    check(&text);
    struct view_sample sample = {newer, older, REDACT_REDACTED},
                       other = {older, newer, REDACT_FULL};
    const struct view_sample *const every[] = {NULL, &sample, older != NULL ? &other : NULL};
    for (size_t i = 0; i < sizeof every / sizeof every[0] && newer != NULL; i++) {
        view_write(&text, &sample, every[i]);
        check(&text);
    }
    buffer_done(&text);
    history_free(history);
    sample_unref(one);
    sample_unref(two);
    return 0;
}
