/* The text in which a performance monitoring unit describes its events, and a PCI device its
 * memory windows. */
#include "check.h"

#include "gpu/intel/events.h"

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static void a_field_is_a_word_and_bits(void)
{
    static const struct {
        const char *text;
        unsigned word;
        uint64_t mask; /* 0: it is none */
    } cases[] = {
        {"config:0-11", 0, 0xfff},
        {"config:60-63", 0, UINT64_C(0xf) << 60},
        {"config1:7", 1, 0x80},
        {"config2:0-63", 2, UINT64_MAX},
        {"config:0-7,32-35", 0, UINT64_C(0xf000000ff)},
        {"config:63", 0, UINT64_C(1) << 63},
        {"", 0, 0},
        {"config", 0, 0},
        {"config:", 0, 0},
        {"config3:1", 0, 0},
        {"config:64", 0, 0},
        {"config:99", 0, 0},
        {"config:8-4", 0, 0},
        {"config:0-99999999999999999999", 0, 0},
        {"config:1,", 0, 0},
        {"config:1 ", 0, 0},
        {"config:-1", 0, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct event_field field = {9, 9};
        CHECK_CASE(cases[i].text);
        CHECK_INT(event_parse_field(span_of(cases[i].text), &field), cases[i].mask != 0);
        CHECK_UINT(field.mask, cases[i].mask != 0 ? cases[i].mask : 9);
        CHECK_UINT(field.word, cases[i].mask != 0 ? cases[i].word : 9);
    }
}

static void a_number_is_spread_over_the_bits_of_its_field(void)
{
    struct os_perf_event event = {{0xf, 0, 0}};
    struct event_field split = {0, UINT64_C(0xf000000f0)}, high = {0, UINT64_C(0xf) << 60};
    CHECK(event_set(&event, &split, 0xab));
    CHECK_UINT(event.config[0], UINT64_C(0xa000000bf));
    CHECK(event_set(&event, &split, 0x01)); // in place of what was there
    CHECK_UINT(event.config[0], 0x1f);
    CHECK_FALSE(event_set(&event, &split, 0x100));
    CHECK_UINT(event.config[0], 0x1f);
    CHECK(event_set(&event, &high, 1));
    CHECK_UINT(event.config[0], UINT64_C(0x100000000000001f));
    CHECK_FALSE(event_set(&event, &high, 16));
}

static void words_of_an_event_have_numbers(void)
{
    struct cursor cursor = cursor_over("event=0x02,gt=10,edge", 21);
    struct span word;
    uint64_t number;
    bool bad;
    CHECK(event_next_word(&cursor, &word, &number, &bad));
    CHECK(span_equal(word, "event"));
    CHECK_UINT(number, 2);
    CHECK(event_next_word(&cursor, &word, &number, &bad));
    CHECK(span_equal(word, "gt"));
    CHECK_UINT(number, 10);
    CHECK(event_next_word(&cursor, &word, &number, &bad));
    CHECK(span_equal(word, "edge"));
    CHECK_UINT(number, 1);
    CHECK_FALSE(event_next_word(&cursor, &word, &number, &bad));
    CHECK_FALSE(bad);
}

static void what_is_no_event_says_so(void)
{
    static const char *const cases[] = {"=1",       ",",        "event=", "event=x",
                                        "event=1;", "event=0x", "a=1b"};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct cursor cursor = cursor_over(cases[i], strlen(cases[i]));
        struct span word;
        uint64_t number;
        bool bad;
        CHECK_CASE(cases[i]);
        while (event_next_word(&cursor, &word, &number, &bad))
            continue;
        CHECK(bad);
    }
}

static void engines_are_known_by_their_busy_events(void)
{
    static const struct {
        const char *name, *kind; /* NULL: it is none */
        uint64_t instance;
    } cases[] = {
        {"rcs0-busy", "rcs", 0},    {"vcs12-busy", "vcs", 12},   {"vecs1-busy", "vecs", 1},
        {"rcs0-wait", NULL, 0},     {"rcs0-busy.unit", NULL, 0}, {"rcs-busy", NULL, 0},
        {"0-busy", NULL, 0},        {"interrupts", NULL, 0},     {"", NULL, 0},
        {"rcs0-busy-gt1", NULL, 0}, {"Rcs0-busy", NULL, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        struct span kind;
        uint64_t instance;
        CHECK_CASE(cases[i].name);
        bool found = event_parse_busy(span_of(cases[i].name), &kind, &instance);
        CHECK_INT(found, cases[i].kind != NULL);
        if (found) {
            CHECK(span_equal(kind, cases[i].kind));
            CHECK_UINT(instance, cases[i].instance);
        }
    }
}

static void a_window_has_a_size_where_it_is_there(void)
{
    static const char resource[] = "0x000000009f000000 0x000000009fffffff 0x0000000000140204\n"
                                   "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                                   "0x0000004000000000 0x00000041ffffffff 0x000000000014220c\n"
                                   "0x0000000000000005 0x0000000000000004 0x0\n"
                                   "rubbish 0x1 0x2\n"
                                   "0x10\n";
    static const uint64_t sizes[] = {UINT64_C(16) << 20, 0, UINT64_C(8) << 30, 0, 0, 0, 0};
    for (unsigned n = 0; n < CHECK_COUNT(sizes); n++) {
        uint64_t size = 0;
        CHECK_INT(event_parse_window(span_of(resource), n, &size), sizes[n] != 0);
        CHECK_UINT(size, sizes[n]);
    }
}

static void the_first_cpu_of_a_list_is_asked(void)
{
    uint64_t cpu = 9;
    CHECK(event_parse_cpu(span_of("3-7,9"), &cpu));
    CHECK_UINT(cpu, 3);
    CHECK_FALSE(event_parse_cpu(span_of(""), &cpu));
    CHECK_FALSE(event_parse_cpu(span_of("99999999999"), &cpu));
}

static const check_test tests[] = {
    {"a field is a word and bits", a_field_is_a_word_and_bits},
    {"a number is spread over the bits of its field",
     a_number_is_spread_over_the_bits_of_its_field},
    {"words of an event have numbers", words_of_an_event_have_numbers},
    {"what is no event says so", what_is_no_event_says_so},
    {"engines are known by their busy events", engines_are_known_by_their_busy_events},
    {"a window has a size where it is there", a_window_has_a_size_where_it_is_there},
    {"the first cpu of a list is asked", the_first_cpu_of_a_list_is_asked},
};
CHECK_TESTS(tests)
