/* Any bytes as a frame of a recording: the first says how it is encoded, and whether it depends on
 * a key. The key of JSON is the bytes up to the first NUL; of a binary frame, as many as the second
 * byte says. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/frame/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void decode(struct frame_decoder *decoder, const struct frame *frame)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.message = ""};
    int code = frame_decode(decoder, 2, frame, "input", &snapshot, &error);
    require(code == 0 ? snapshot != NULL : snapshot == NULL && error.message[0] != '\0');
    vitals_snapshot_unref(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame_decoder decoder = {.has_key = false};
    vitals_error error;
    if (size == 0)
        return 0;
    bool packed = data[0] & 1, delta = data[0] & 2, binary = data[0] & 4;
    const char *rest = (const char *)data + 1, *nul = memchr(rest, '\0', size - 1);
    size_t key_size = delta && nul != NULL ? (size_t)(nul - rest) : 0;
    size_t at = key_size > 0 ? key_size + 1 : 0;
    if (delta && binary && size > 2) {
        rest++;
        size--;
        at = key_size = data[1] < size ? data[1] : size - 1;
    }
    const struct frame key = {.whole = true,
                              .encoding = binary ? FRAME_BINARY : FRAME_JSON,
                              .content = rest,
                              .size = key_size};
    if (delta && frame_decode_key(&decoder, 1, &key, "input", &error) < 0)
        require(binary && error.message[0] != '\0');
    const struct frame frame = {
        .whole = !delta,
        .encoding = binary  ? (packed ? FRAME_BINARY_ZLIB : FRAME_BINARY)
                    : delta ? (packed ? FRAME_JSON_DELTA_ZLIB : FRAME_JSON_DELTA)
                            : (packed ? FRAME_JSON_ZLIB : FRAME_JSON),
        .content = rest + at,
        .size = size - 1 - at};
    decode(&decoder, &frame);
    decode(&decoder, &frame);
    frame_decoder_done(&decoder);
    return 0;
}
