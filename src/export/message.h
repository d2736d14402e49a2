/* message.h: what the exporter says (reply.h), read by the program that started it. Messages are
 * untrusted: a line can be anything. Pure. */
#pragma once

#include <stdbool.h>

enum message_kind {
    MESSAGE_OTHER, /* in no known form: the output of a library, or of the loader */
    MESSAGE_OPENED,
    MESSAGE_FAILED,
    MESSAGE_SAY,
    MESSAGE_WANT,
    MESSAGE_DONE
};

struct exporter_message {
    enum message_kind kind;
    char publisher[32]; /* OPENED, FAILED */
    char run_id[128];   /* OPENED by mlflow; "" */
    char url[1024];     /* OPENED by serve, or by mlflow (address of the run); "" */
    char text[1024];    /* FAILED, SAY: for a person, not safe to print yet */
    bool lost;          /* SAY: something was not sent */
    bool all_processes; /* WANT */
};

void message_read(const char *line, struct exporter_message *message);
