/* words.c: see words.h. Thread rule: any thread. */
#include "model/words.h"

#include <string.h>

static const char UNKNOWN[] = "unknown";

const char *words_state(char letter)
{
    static const struct {
        const char *letters;
        const char *word;
    } STATES[] = {
        {"R", "running"}, {"S", "sleeping"},     {"D", "disk_sleep"},
        {"T", "stopped"}, {"t", "tracing_stop"}, {"Z", "zombie"},
        {"Xx", "dead"},   {"I", "idle"},         {"P", "parked"},
    };
    for (size_t i = 0; letter != '\0' && i < ARRAY_COUNT(STATES); i++)
        if (strchr(STATES[i].letters, letter) != NULL)
            return STATES[i].word;
    return UNKNOWN;
}

const char *words_policy(uint64_t policy)
{
    static const char *const POLICIES[] = {
        "other", "fifo", "rr", "batch", NULL, "idle", "deadline", "ext",
    };
    bool known = policy < ARRAY_COUNT(POLICIES) && POLICIES[policy] != NULL; // 4 was never used
    return known ? POLICIES[policy] : UNKNOWN;
}

const char *words_io_class(uint64_t io_class)
{
    static const char *const CLASSES[] = {"none", "realtime", "best_effort", "idle"};
    return io_class < ARRAY_COUNT(CLASSES) ? CLASSES[io_class] : NULL;
}
