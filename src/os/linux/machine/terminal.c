/* terminal.c: a terminal's name from its device's number (Documentation/admin-guide/devices.txt).
 *
 * Not by looking through /dev for a device of that number, as others do: what is mounted there need
 * not be ours, and grows while we look. Thread rule: any thread. */
#include "os/linux/linux.h"

#include "util/number.h"

#include <stdio.h>
#include <string.h>

/* Majors whose minors are numbered terminals. */
static const struct {
    unsigned major, first, end; /* of minors */
    const char *name;           /* before the number */
} NUMBERED[] = {
    {4, 0, 64, "tty"},
    {4, 64, 256, "ttyS"},
};

enum { PTS_FIRST = 136, PTS_LAST = 143 };
enum { CONSOLE_MAJOR = 5, CONSOLE_MINOR = 1 };

static unsigned major_of(int64_t device)
{
    return (unsigned)(device >> 8) & 0xfff;
}

static unsigned minor_of(int64_t device)
{
    return ((unsigned)device & 0xff) | ((unsigned)(device >> 12) & 0xfff00);
}

static size_t put(char out[static OS_TERMINAL_TEXT], const char *name, uint64_t number)
{
    size_t size = strlen(name);
    memcpy(out, name, size);
    return size + number_print_u64(out + size, number);
}

/* 0 where the number alone does not tell. */
static size_t by_number(unsigned major, unsigned minor, char out[static OS_TERMINAL_TEXT])
{
    static const char CONSOLE[] = "console";
    if (major >= PTS_FIRST && major <= PTS_LAST)
        return put(out, "pts/", (uint64_t)(major - PTS_FIRST) * 256 + minor);
    for (size_t i = 0; i < ARRAY_COUNT(NUMBERED); i++)
        if (major == NUMBERED[i].major && minor >= NUMBERED[i].first && minor < NUMBERED[i].end)
            return put(out, NUMBERED[i].name, minor - NUMBERED[i].first);
    if (major != CONSOLE_MAJOR || minor != CONSOLE_MINOR)
        return 0;
    memcpy(out, CONSOLE, sizeof CONSOLE);
    return sizeof CONSOLE - 1;
}

/* DEVNAME of what the driver told udev; 0 where it has none, or one that is too long. */
static size_t by_driver(const struct os *os, unsigned major, unsigned minor,
                        char out[static OS_TERMINAL_TEXT])
{
    enum { UEVENT_TEXT = 1024 };
    char path[OS_TERMINAL_TEXT], text[UEVENT_TEXT];
    snprintf(path, sizeof path, "dev/char/%u:%u/uevent", major, minor);
    int descriptor = os->sys < 0 ? -1 : linux_open(os, os->sys, path, 0);
    int64_t size = descriptor < 0 ? 0 : linux_read(descriptor, text, sizeof text, 0);
    os_close_descriptor(descriptor);
    struct cursor cursor = cursor_over(text, size > 0 ? (size_t)size : 0);
    for (struct span line; cursor_line(&cursor, &line);) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        if (!cursor_literal(&rest, "DEVNAME="))
            continue;
        size_t length = (size_t)(rest.end - rest.at);
        if (length >= OS_TERMINAL_TEXT)
            return 0;
        memcpy(out, rest.at, length);
        out[length] = '\0';
        return length;
    }
    return 0;
}

size_t os_terminal_name(const struct os *os, int64_t device, char out[static OS_TERMINAL_TEXT])
{
    out[0] = '\0';
    if (device == 0)
        return 0;
    unsigned major = major_of(device), minor = minor_of(device);
    size_t size = by_number(major, minor, out);
    if (size == 0)
        size = by_driver(os, major, minor, out);
    if (size == 0) // its numbers, as ls(1) shows those of a device
        size = (size_t)snprintf(out, OS_TERMINAL_TEXT, "%u:%u", major, minor);
    return size;
}
