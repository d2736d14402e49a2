/* otlp_answer.h: what a collector answers: what of it it refused, and why. Pure. */
#ifndef VITALS_EXPORT_OTLP_OTLP_ANSWER_H
#define VITALS_EXPORT_OTLP_OTLP_ANSWER_H

#include <stddef.h>
#include <stdint.h>

struct otlp_answer {
    uint64_t rejected; /* points of a partial success; 0: none, or it is a full one */
    char message[240]; /* one safe line, or "" */
};

/* `content_type` says which form the bytes have; of one that is no form of OTLP the first line is
 * the message. Never fails: what is broken says nothing. */
void otlp_answer_read(const char *content_type, const void *bytes, size_t size,
                      struct otlp_answer *answer);

#endif
