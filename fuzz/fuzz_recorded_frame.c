/* Any bytes as a frame of a recording: the first says how it is encoded, and whether it depends on
 * a key, which is as many bytes as the second says. */
#include <stdint.h>
#include <stdlib.h>

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
    struct frame_decoder decoder = {.key = NULL};
    vitals_error error;
    if (size == 0)
        return 0;
    bool packed = data[0] & 1, delta = data[0] & 2;
    const char *rest = (const char *)data + 1;
    size_t key_size = 0;
    if (delta && size > 2) {
        rest++;
        size--;
        key_size = data[1] < size ? data[1] : size - 1;
    }
    const struct frame key = {
        .whole = true, .encoding = FRAME_BINARY, .content = rest, .size = key_size};
    if (delta && frame_decode_key(&decoder, 1, &key, "input", &error) < 0)
        require(error.message[0] != '\0');
    const struct frame frame = {.whole = !delta,
                                .encoding = packed ? FRAME_BINARY_ZLIB : FRAME_BINARY,
                                .content = rest + key_size,
                                .size = size - 1 - key_size};
    decode(&decoder, &frame);
    decode(&decoder, &frame);
    frame_decoder_done(&decoder);
    return 0;
}
