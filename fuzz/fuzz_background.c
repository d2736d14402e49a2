/* Any text as a terminal's reply, and as COLORFGBG: the background is light, dark or unknown. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/theme.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size); /* without room behind it */
    if (text == NULL)
        return 0;
    int reply = theme_reply(text), variable = theme_variable(text);
    if (reply < -1 || reply > 1 || variable < -1 || variable > 1 || (reply >= 0 && variable >= 0))
        abort();
    free(text);
    return 0;
}
