/* Formats and events of a performance monitoring unit, and a PCI device's windows, made of
 * anything. The first byte says which; what is taken must hold what it promises. */
#include "gpu/intel/events.h"

#include <stdlib.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void take_field(struct span text)
{
    struct event_field field;
    if (!event_parse_field(text, &field))
        return;
    require(field.word < 3 && field.mask != 0);
    struct os_perf_event event = {{0}};
    require(event_set(&event, &field, 1));
    require((event.config[field.word] & ~field.mask) == 0 && event.config[field.word] != 0);
    require(event_set(&event, &field, 0) && event.config[field.word] == 0);
}

static void take_words(struct span text)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    struct span word;
    uint64_t number;
    bool bad;
    for (size_t left = text.size + 1; event_next_word(&cursor, &word, &number, &bad); left--) {
        require(left > 0 && word.size > 0);
        require(word.bytes >= text.bytes && word.bytes + word.size <= text.bytes + text.size);
    }
    require(bad || cursor_done(&cursor));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct span text = {(const char *)data + 1, size - 1}, kind;
    uint64_t number;
    switch (data[0] % 4) {
    case 0: take_field(text); break;
    case 1: take_words(text); break;
    case 2:
        if (event_parse_busy(text, &kind, &number))
            require(kind.size > 0 && kind.size < text.size);
        (void)event_parse_cpu(text, &number);
        break;
    case 3:
        for (unsigned n = 0; n < 6; n++)
            if (event_parse_window(text, n, &number))
                require(number > 1);
        break;
    }
    return 0;
}
