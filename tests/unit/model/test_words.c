/* Words of states and policies: whatever a kernel says has one. */
#include "check.h"

#include "model/words.h"

static void every_letter_has_a_word(void)
{
    static const struct {
        char letter;
        const char *word;
    } cases[] = {
        {'R', "running"},      {'S', "sleeping"}, {'D', "disk_sleep"}, {'T', "stopped"},
        {'t', "tracing_stop"}, {'Z', "zombie"},   {'X', "dead"},       {'x', "dead"},
        {'I', "idle"},         {'P', "parked"},   {'W', "unknown"},    {'\0', "unknown"},
        {'\xff', "unknown"},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++)
        CHECK_STR(words_state(cases[i].letter), cases[i].word);
}

static void every_policy_has_a_word(void)
{
    static const char *const words[] = {"other", "fifo",     "rr",  "batch",  "unknown",
                                        "idle",  "deadline", "ext", "unknown"};
    for (size_t i = 0; i < CHECK_COUNT(words); i++)
        CHECK_STR(words_policy(i), words[i]);
    CHECK_STR(words_policy(UINT64_MAX), "unknown");
}

static const check_test tests[] = {
    {"every letter has a word", every_letter_has_a_word},
    {"every policy has a word", every_policy_has_a_word},
};
CHECK_TESTS(tests)
