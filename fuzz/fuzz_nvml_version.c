/* /proc/driver/nvidia/version: the version in a line of words. Input: the text, to its first NUL.
 */
#include "gpu/nvidia/state.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    char out[32];
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    memset(out, 'x', sizeof out);
    nvidia_module_version(text, out, sizeof out);
    size_t length = strnlen(out, sizeof out);
    if (length == sizeof out)
        abort();
    if (length > 0 && (out[0] < '0' || out[0] > '9' || !strchr(out, '.') || !strstr(text, out)))
        abort();
    free(text);
    return 0;
}
