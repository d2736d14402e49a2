/* What a collector answers: the first byte says in which form. What comes out is one safe line. The
 * rest is read as pairs of an environment variable too: those that are read have keys. */
#include "export/otlp/otlp.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/environment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char *environment_get(const char *name)
{
    (void)name;
    return NULL;
}

static void check_pairs(const uint8_t *data, size_t size)
{
    struct otlp_pairs pairs;
    char *words = malloc(size + 1);
    if (words == NULL)
        return;
    memcpy(words, data, size);
    words[size] = '\0';
    bool good = otlp_pairs_read(words, &pairs);
    if (good != (pairs.count > 0) || pairs.count > OTLP_PAIRS)
        abort();
    for (size_t i = 0; i < pairs.count; i++) {
        if (pairs.list[i].key[0] == '\0' || strlen(pairs.list[i].value) > size)
            abort();
    }
    free(pairs.words);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const TYPES[] = {"application/x-protobuf", "application/json; charset=utf-8",
                                        "text/plain", ""};
    struct otlp_answer answer;
    if (size == 0)
        return 0;
    otlp_answer_read(TYPES[data[0] % 4], data + 1, size - 1, &answer);
    if (memchr(answer.message, '\0', sizeof answer.message) == NULL || answer.rejected > INT64_MAX)
        abort();
    for (const char *at = answer.message; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            abort();
    }
    check_pairs(data + 1, size - 1);
    return 0;
}
