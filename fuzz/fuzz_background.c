/* What a terminal, or COLORFGBG, says of its background: one of three answers to any text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/theme.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size); /* without room behind it */
    int background = text != NULL ? theme_background(text) : -1;
    if (background < -1 || background > 1)
        abort();
    free(text);
    return 0;
}
