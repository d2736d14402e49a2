/* reply.c: see reply.h. Each line is one write of at most PIPE_BUF bytes, so it is written
 * completely or not at all. */
#include "export/reply.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "feed/text.h"

enum { MESSAGE = 1000 };

/* Writes an object of up to three members; those without a value are left out. */
static void write_reply(const char *const members[3][2])
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct buffer line = {.bytes = NULL};
    for (int i = 0; i < 3 && members[i][0] != NULL; i++) {
        const char *value = members[i][1];
        if (value == NULL)
            continue;
        buffer_format(&line, "%s\"%s\":\"", line.size > 0 ? "," : "{", members[i][0]);
        text_safe(&line, vitals_text_of(value), VITALS_TEXT_JSON);
        buffer_byte(&line, '"');
    }
    buffer_string(&line, line.size > 0 ? "}\n" : "{\"done\":true}\n");

    pthread_mutex_lock(&mutex);
    if (!line.failed && line.size <= PIPE_BUF) {
        int flags = fcntl(STDOUT_FILENO, F_GETFL);
        if (flags >= 0 && !(flags & O_NONBLOCK))
            (void)fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
        ssize_t written;
        do {
            written = write(STDOUT_FILENO, line.bytes, line.size);
        } while (written < 0 && errno == EINTR);
    }
    pthread_mutex_unlock(&mutex);
    buffer_done(&line);
}

void reply_opened(const char *publisher, const char *key, const char *value)
{
    write_reply((const char *const[3][2]){{"opened", publisher}, {key, value}});
}

void reply_opened_run(const char *publisher, const char *run_id, const char *url)
{
    write_reply((const char *const[3][2]){{"opened", publisher}, {"run_id", run_id}, {"url", url}});
}

void reply_failed(const char *publisher, const char *format, ...)
{
    char message[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    write_reply((const char *const[3][2]){{"failed", publisher}, {"message", message}});
}

void reply_say(const char *format, ...)
{
    char message[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    write_reply((const char *const[3][2]){{"say", message}});
}

void reply_lost(const char *format, ...)
{
    char message[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    write_reply((const char *const[3][2]){{"say", message}, {"lost", "yes"}});
}

void reply_want_processes(int all)
{
    write_reply((const char *const[3][2]){{"want", all ? "processes" : "few"}});
}

void reply_done(void)
{
    write_reply((const char *const[3][2]){{NULL, NULL}});
}
