/* What the table diagnosis reads, and how its remedies are broken into lines: all over the same
 * bytes. What is found is a plain word, and nothing of a line is lost. */
#include "command/devices/doctor.h"
#include "os/linux/diagnosis/ourselves.h"

#include <stdlib.h>
#include <string.h>

#include <vitals/vitals.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const char *bytes, size_t size)
{
    struct ourselves self = {.mount = {.group = 26}};
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_line(&cursor, &line);) {
        struct proc_mount mount;
        uint64_t id;
        bool at_proc;
        ourselves_parse_status(line, &self);
        if (ourselves_parse_mount(line, &id, &at_proc, &mount) &&
            (mount.hide == 3 || mount.hide > HIDE_UNTRACED))
            abort();
        ourselves_parse_release(line, &self);
    }
    if (self.depth > 64 || self.family >= FAMILIES ||
        memchr(self.system, '\0', sizeof self.system) == NULL ||
        strpbrk(self.system, " $`;\"'\n\\") != NULL)
        abort();
}

static void check_breaks(const char *bytes, size_t size)
{
    char line[1024], safe[1024];
    size_t columns = size > 0 ? (unsigned char)bytes[0] : 0;
    size_t taken = size < sizeof line - 1 ? size : sizeof line - 1;
    memcpy(line, bytes, taken);
    (void)vitals_text_format((vitals_text){line, taken}, VITALS_TEXT_TERMINAL, safe, sizeof safe);
    for (const char *at = safe; *at != '\0';) {
        size_t part = doctor_break(at, columns);
        if (part == 0 || part > strlen(at) || (at[part] != '\0' && at[part] != ' '))
            abort();
        at += part;
        at += strspn(at, " ");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_lines((const char *)data, size);
    check_breaks((const char *)data, size);
    return 0;
}
