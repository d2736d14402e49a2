/* otlp_answer.h: reads a collector's answer: what it rejected, and why. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct otlp_answer {
    uint64_t rejected; /* points of a partial success; 0 for none, or a full success */
    char message[240]; /* one safe line, or "" */
};

/* `content_type` selects the form. In any other form the first line is the message. Never fails: a
 * malformed answer is empty. */
void otlp_answer_read(const char *content_type, const void *bytes, size_t size,
                      struct otlp_answer *answer);
