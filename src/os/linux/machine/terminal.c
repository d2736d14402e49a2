/* terminal.c: a terminal's name from its device number (Documentation/admin-guide/devices.txt).
 * /dev is not searched for a device with that number, as other programs do: a mount there may
 * belong to others, and may grow during the search. Thread rule: any thread. */
#include "os/linux/linux.h"

#include <stdio.h>
#include <string.h>

/* Majors with numbered terminals. */
static const struct {
    unsigned major, first, end; /* first, end: range of minors */
    const char *name;           /* prefix of the number */
} NUMBERED[] = {
    {4, 0, 64, "tty"},
    {4, 64, 256, "ttyS"},
};

enum { PTS_FIRST = 136, PTS_LAST = 143 };
enum { CONSOLE_MAJOR = 5, CONSOLE_MINOR = 1 };

size_t os_terminal_name(const struct os *os, int64_t device, char out[static OS_TERMINAL_TEXT])
{
    unsigned major = (unsigned)(device >> 8) & 0xfff;
    unsigned minor = ((unsigned)device & 0xff) | ((unsigned)(device >> 12) & 0xfff00);
    out[0] = '\0';
    if (device == 0)
        return 0;

    /* From its number. */
    if (major >= PTS_FIRST && major <= PTS_LAST)
        return (size_t)snprintf(out, OS_TERMINAL_TEXT, "pts/%llu",
                                (major - PTS_FIRST) * 256ull + minor);
    for (size_t i = 0; i < ARRAY_COUNT(NUMBERED); i++)
        if (major == NUMBERED[i].major && minor >= NUMBERED[i].first && minor < NUMBERED[i].end)
            return (size_t)snprintf(out, OS_TERMINAL_TEXT, "%s%u", NUMBERED[i].name,
                                    minor - NUMBERED[i].first);
    if (major == CONSOLE_MAJOR && minor == CONSOLE_MINOR)
        return (size_t)snprintf(out, OS_TERMINAL_TEXT, "console");

    /* From DEVNAME that the driver gave to udev, unless it is missing or too long. */
    char path[OS_TERMINAL_TEXT], text[UEVENT_TEXT];
    snprintf(path, sizeof path, "dev/char/%u:%u/uevent", major, minor);
    struct span name = linux_uevent(os, path, "DEVNAME", text);
    if (name.size > 0 && name.size < OS_TERMINAL_TEXT) {
        memcpy(out, name.bytes, name.size);
        out[name.size] = '\0';
        return name.size;
    }
    /* The numbers, as ls(1) shows those of a device. */
    return (size_t)snprintf(out, OS_TERMINAL_TEXT, "%u:%u", major, minor);
}
