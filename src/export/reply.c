/* reply.c: see reply.h. Each line is one write of at most PIPE_BUF bytes, so it is written
 * completely or not at all. */
#include "export/reply.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "feed/text.h"

enum { MESSAGE = 1000 };

static void write_line(struct text *line)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    text_string(line, "}\n");
    pthread_mutex_lock(&mutex);
    if (!line->failed && line->size <= PIPE_BUF) {
        int flags = fcntl(STDOUT_FILENO, F_GETFL);
        if (flags >= 0 && !(flags & O_NONBLOCK))
            (void)fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
        ssize_t written;
        do {
            written = write(STDOUT_FILENO, line->bytes, line->size);
        } while (written < 0 && errno == EINTR);
    }
    pthread_mutex_unlock(&mutex);
    text_done(line);
}

static void put(struct text *line, const char *key, const char *value)
{
    text_format(line, "%s\"%s\":\"", line->size > 1 ? "," : "", key);
    text_safe(line, (vitals_text){value, strlen(value)}, VITALS_TEXT_JSON);
    text_byte(line, '"');
}

static struct text begin(void)
{
    struct text line = {.bytes = NULL};
    text_byte(&line, '{');
    return line;
}

void reply_opened(const char *publisher, const char *key, const char *value)
{
    struct text line = begin();
    put(&line, "opened", publisher);
    if (key != NULL)
        put(&line, key, value);
    write_line(&line);
}

void reply_opened_run(const char *publisher, const char *run_id, const char *url)
{
    struct text line = begin();
    put(&line, "opened", publisher);
    put(&line, "run_id", run_id);
    if (url != NULL)
        put(&line, "url", url);
    write_line(&line);
}

void reply_failed(const char *publisher, const char *format, ...)
{
    char message[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    struct text line = begin();
    put(&line, "failed", publisher);
    put(&line, "message", message);
    write_line(&line);
}

void reply_say(const char *format, ...)
{
    char message[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    struct text line = begin();
    put(&line, "say", message);
    write_line(&line);
}

void reply_want_processes(int all)
{
    struct text line = begin();
    put(&line, "want", all ? "processes" : "few");
    write_line(&line);
}

void reply_done(void)
{
    struct text line = begin();
    text_string(&line, "\"done\":true");
    write_line(&line);
}
