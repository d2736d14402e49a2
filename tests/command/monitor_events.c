/* monitor_events.c: the terminal of the monitor, of input events instead of a tty. Linked before
 * the command's archive, it takes the place of src/monitor/terminal.c, and all else is the real
 * program.
 *
 * VITALS_EVENTS="IN OUT WIDTHxHEIGHT": the descriptor IN gives events, a line "CODE X Y" each.
 * Whenever the monitor has drawn, OUT gets a picture: the number of events read so far, a newline,
 * the screen as text, a form feed. */
#include "monitor/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 64 };

static struct {
    int in, out, width, height;
    unsigned long seen;
    char bytes[4096];
    size_t used;
} events;

int terminal_open(const char *term, const uint32_t *ramps, vitals_error *error)
{
    (void)term;
    (void)ramps;
    (void)error;
    const char *given = getenv("VITALS_EVENTS");
    if (given == NULL ||
        sscanf(given, "%d %d %dx%d", &events.in, &events.out, &events.width, &events.height) != 4)
        abort();
    return fcntl(events.in, F_SETFL, O_NONBLOCK) == 0 ? 0 : VITALS_ESYSTEM;
}

const char *terminal_notice(void)
{
    return NULL;
}

void terminal_close(void)
{
}

int terminal_descriptor(void)
{
    return events.in;
}

int terminal_read(struct input_event *out)
{
    ssize_t got = read(events.in, events.bytes + events.used, sizeof events.bytes - events.used);
    if (got > 0)
        events.used += (size_t)got;
    const char *end = memchr(events.bytes, '\n', events.used);
    if (end == NULL)
        return 0;

    char line[LINE] = "";
    size_t size = (size_t)(end + 1 - events.bytes);
    *out = (struct input_event){.code = INPUT_NONE};
    memcpy(line, events.bytes, size < LINE ? size : LINE - 1);
    if (sscanf(line, "%u %d %d", &out->code, &out->x, &out->y) != 3)
        abort();
    if (out->code == INPUT_SIZE) {
        events.width = out->x;
        events.height = out->y;
    }
    memmove(events.bytes, end + 1, events.used - size);
    events.used -= size;
    events.seen++;
    return 1;
}

void terminal_size(int *width, int *height)
{
    *width = events.width;
    *height = events.height;
}

void terminal_query_background(void)
{
}

void terminal_set_ramps(const uint32_t *ramps)
{
    (void)ramps;
}

int terminal_background(void)
{
    return -1;
}

bool terminal_is_direct(void)
{
    return false;
}

int terminal_colors(void)
{
    return 256;
}

static int write_all(void *data, const char *bytes, size_t size)
{
    (void)data;
    while (size > 0) {
        ssize_t wrote = write(events.out, bytes, size);
        if (wrote < 0 && errno != EINTR)
            _exit(EXIT_FAILURE); /* the test has gone */
        if (wrote > 0) {
            bytes += wrote;
            size -= (size_t)wrote;
        }
    }
    return 0;
}

void terminal_show(struct canvas *canvas)
{
    char head[LINE];
    int size = snprintf(head, sizeof head, "%lu\n", events.seen);
    (void)write_all(NULL, head, (size_t)size);
    (void)canvas_print(canvas, false, write_all, NULL);
    (void)write_all(NULL, "\f", 1);
}

void terminal_send(const char *sequence)
{
    (void)!write(STDOUT_FILENO, sequence, strlen(sequence));
}

void terminal_mouse(bool wanted)
{
    (void)wanted;
}

void terminal_forget(void)
{
}

void terminal_suspend(void)
{
}

void terminal_resume(void)
{
}
