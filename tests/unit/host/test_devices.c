/* Devices from reading to reading: counters that wrap and begin again, devices that come and go. No
 * sum ever steps back. */
#include "host_world.h"

#include "host/devices.h"

static void counters_go_on(void)
{
    static const struct {
        const char *name;
        uint64_t first, second, third, expected;
        bool wraps;
    } cases[] = {
        {"grows", 5, 7, 9, 9, false},
        {"stands", 5, 5, 5, 5, true},
        {"wraps at 32 bits", 4294967290, 4, 10, 4294967306, true},
        {"wraps twice", 4294967290, 4294967295, 1, 4294967297, true},
        {"begins again", 1000, 3, 4, 1004, false},
        {"begins again below 32 bits", 4294967290, 4, 10, 4294967300, false},
        {"begins again beyond 32 bits", 8589934592, 1, 2, 8589934594, false},
        {"ends at the end", UINT64_MAX, 5, 6, UINT64_MAX, false},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].name);
        struct counter counter = {0};
        uint64_t first = counter_take(&counter, cases[i].first, cases[i].wraps);
        uint64_t second = counter_take(&counter, cases[i].second, cases[i].wraps);
        CHECK(second >= first);
        CHECK_UINT(counter_take(&counter, cases[i].third, cases[i].wraps), cases[i].expected);
    }
}

/* A list by words "name:number:rank". */
static struct os_devices reading;
static unsigned ranks[26], asked;

static void read_list(const char *list)
{
    reading.count = 0;
    reading.state = VITALS_HAVE;
    unsigned long number;
    unsigned rank;
    char letter;
    int size;
    while (sscanf(list, " %c:%lu:%u%n", &letter, &number, &rank, &size) == 3) {
        void *items = reading.items;
        CHECK_INT(memory_grow(&items, &reading.capacity, reading.count, sizeof *reading.items), 0);
        reading.items = items;
        reading.items[reading.count++] = (struct os_device){
            .name = {letter}, .has = 1, .numbers = {number}};
        ranks[letter - 'a'] = rank;
        list += size;
    }
}

static void classify(const struct os *os, struct device *device, const struct device *before,
                     size_t count)
{
    (void)os;
    (void)before;
    (void)count;
    asked++;
    device->kind = (struct os_device_kind){"disk", (unsigned char)ranks[device->name[0] - 'a']};
}

static const struct devices_kind LETTERS = {.classify = classify, .bits = 64};

static const struct device *find(const struct devices *devices, char letter)
{
    for (size_t i = 0; i < devices->count; i++)
        if (devices->items[i].name[0] == letter)
            return &devices->items[i];
    return NULL;
}

static void sums_never_step_back(void)
{
    static const struct {
        const char *list;
        uint64_t sum;
        unsigned asked;
    } steps[] = {
        {"a:100:1 b:10:1 c:7:0", 110, 3},
        {"a:105:1 b:12:1 c:9:0", 117, 3}, // c is not counted
        {"b:20:1 c:9:0", 125, 3},         // a left, and what it did stays
        {"b:20:1 d:900:1 c:9:0", 125, 4}, // d brings nothing from before
        {"d:905:1 b:21:1 c:9:0", 131, 5}, // in another order; d is asked once more
        {"a:3:1 b:21:1 d:905:1", 131, 6}, // a is back, and is another
        {"a:4:1 b:1:1 d:905:1", 133, 7},  // b began again
        {"", 133, 7},                     // all left; what they did is still known
        {"e:5:3", 133, 8},                // now the best there is
        {"e:9:3", 137, 9},
        {"e:19:3 a:1000:1", 137, 10}, // and not any more
        {"e:29:3 a:1001:1 f:7:1", 138, 12},
        {"e:29:3 a:1001:1 f:8:0", 138, 13}, // f has become a part of something
        {"e:29:3 a:1001:1 f:9:1", 138, 13}, // and what it became, it stays
    };
    struct devices devices = {0};
    uint64_t keys[8] = {0}, before = 0;
    asked = 0;
    for (size_t i = 0; i < CHECK_COUNT(steps); i++) {
        CHECK_CASE(steps[i].list);
        read_list(steps[i].list);
        CHECK_INT(devices_take(&devices, NULL, &reading, &LETTERS), 0);
        struct value sum = devices_sum(&devices, 0, 1);
        CHECK_INT(sum.state, VITALS_HAVE);
        CHECK_UINT(sum.as.u64, steps[i].sum);
        CHECK(sum.as.u64 >= before);
        before = sum.as.u64;
        CHECK_UINT(asked, steps[i].asked);
        if (i == 0)
            keys[0] = find(&devices, 'a')->key;
        if (i == 5)
            CHECK(find(&devices, 'a')->key > 4 && find(&devices, 'a')->key != keys[0]);
        uint64_t own;
        if (i == 6) {
            CHECK(device_number(find(&devices, 'b'), 0, &own));
            CHECK_UINT(own, 22); // of its row too
        }
    }
    devices_done(&devices);
    memory_free(reading.items);
    reading = (struct os_devices){0};
}

static void a_list_that_cannot_be_read_keeps_the_sums(void)
{
    struct devices devices = {0};
    read_list("a:100:1");
    CHECK_INT(devices_take(&devices, NULL, &reading, &LETTERS), 0);
    reading.state = VITALS_DENIED;
    CHECK_INT(devices_take(&devices, NULL, &reading, &LETTERS), 0);
    CHECK_INT(devices_sum(&devices, 0, 1).state, VITALS_DENIED);
    read_list("a:130:1");
    reading.state = VITALS_LOWER_BOUND;
    CHECK_INT(devices_take(&devices, NULL, &reading, &LETTERS), 0);
    CHECK_INT(devices_sum(&devices, 0, 1).state, VITALS_LOWER_BOUND);
    CHECK_UINT(devices_sum(&devices, 0, 2).as.u64, 260);
    devices_done(&devices);
    memory_free(reading.items);
    reading = (struct os_devices){0};
}

static void it_is_known_whether_any_was_ever_counted(void)
{
    static const struct {
        const char *list;
        bool counted;
    } steps[] = {
        {"", false},
        {"a:100:0", false}, // such as a loop device
        {"a:200:0 b:5:1", true},
        {"a:200:0", true}, // 0 bytes, and known
    };
    struct devices devices = {0};
    for (size_t i = 0; i < CHECK_COUNT(steps); i++) {
        CHECK_CASE(steps[i].list);
        read_list(steps[i].list);
        CHECK_INT(devices_take(&devices, NULL, &reading, &LETTERS), 0);
        CHECK(devices.any_counted == steps[i].counted);
        CHECK_UINT(devices_sum(&devices, 0, 1).as.u64, 0);
    }
    devices_done(&devices);
    memory_free(reading.items);
    reading = (struct os_devices){0};
}

/* Four numbers of one device: two of 64 bits, two of 32, and a gauge. */
enum { NUMBERS = 5 };

static const struct devices_kind WIDTHS = {
    .classify = classify, .bits = 64, .ints = 1u << 2 | 1u << 3, .gauges = 1u << 4};

#define END UINT64_C(4294967296)

/* What two readings count, of the row and of the sum; a width is one of the number's, and what
 * cannot have wrapped says that nothing of the device has. */
static void a_wrap_is_no_new_beginning(void)
{
    static const struct {
        const char *name;
        uint64_t first[NUMBERS], second[NUMBERS], expected[NUMBERS];
    } cases[] = {
        {"32 bits wrap", {100, 200, END - 6, 7, 3}, {101, 202, 4, 8, 1}, {101, 202, END + 4, 8, 1}},
        {"two wrap at once, as the times of a disk that is only read",
         {100, 200, END - 6, END - 5, 3},
         {101, 202, 4, 5, 9},
         {101, 202, END + 4, END + 5, 9}},
        {"64 bits do not wrap at 32",
         {END - 6, 200, 5, 7, 3},
         {4, 200, 5, 7, 3},
         {END - 2, 200, 5, 7, 3}},
        {"made anew: no time of the old one has wrapped",
         {1000, 5000, END - 6, END / 2 + 9, 3},
         {10, 50, 4, 5, 0},
         {1010, 5050, END - 2, END / 2 + 14, 0}},
        {"made anew: by a time that had no reason to wrap",
         {10, 50, END - 6, 700, 3},
         {10, 50, 4, 5, 0},
         {10, 50, END - 2, 705, 0}},
        {"made anew: a wrap would be more than half of all",
         {10, 50, END / 2 + 1, 7, 3},
         {10, 50, END / 2, 7, 0},
         {10, 50, END + 1, 7, 0}},
        {"what does not fall goes on from where it was",
         {1000, 50, 5, 7, 3},
         {10, 60, 6, 8, 0},
         {1010, 60, 6, 8, 0}},
        {"a 32-bit number that has more bits",
         {1, 1, END + 6, 7, 0},
         {1, 1, 4, 7, 0},
         {1, 1, END + 10, 7, 0}},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].name);
        struct devices devices = {0};
        read_list("a:0:1");
        reading.items[0].has = (1u << NUMBERS) - 1;
        memcpy(reading.items[0].numbers, cases[i].first, sizeof cases[i].first);
        CHECK_INT(devices_take(&devices, NULL, &reading, &WIDTHS), 0);
        memcpy(reading.items[0].numbers, cases[i].second, sizeof cases[i].second);
        CHECK_INT(devices_take(&devices, NULL, &reading, &WIDTHS), 0);
        for (unsigned j = 0; j < NUMBERS; j++) {
            uint64_t own;
            CHECK(device_number(&devices.items[0], j, &own));
            CHECK_UINT(own, cases[i].expected[j]);
            if ((WIDTHS.gauges >> j & 1) == 0)
                CHECK_UINT(devices_sum(&devices, j, 1).as.u64, cases[i].expected[j]);
        }
        devices_done(&devices);
    }
    memory_free(reading.items);
    reading = (struct os_devices){0};
}

/* The same name twice: nothing of ours tells them apart but their order. */
static void two_of_one_name_are_two(void)
{
    struct devices devices = {0};
    for (int i = 0; i < 3; i++) {
        read_list("a:1:1 a:2:1");
        CHECK_INT(devices_take(&devices, NULL, &reading, &LETTERS), 0);
        CHECK_UINT(devices.count, 2);
        CHECK_UINT(devices.items[0].key, 1);
        CHECK_UINT(devices.items[1].key, 2);
    }
    devices_done(&devices);
    memory_free(reading.items);
    reading = (struct os_devices){0};
}

static void a_failed_allocation_is_told(void)
{
    int64_t live = memory_live();
    struct devices devices = {0};
    read_list("a:1:1 b:2:1");
    memory_fail_at(1);
    CHECK_INT(devices_take(&devices, NULL, &reading, &LETTERS), VITALS_EMEMORY);
    memory_fail_at(0);
    CHECK_INT(devices_take(&devices, NULL, &reading, &LETTERS), 0);
    CHECK_UINT(devices.count, 2);
    devices_done(&devices);
    memory_free(reading.items);
    reading = (struct os_devices){0};
    CHECK_INT(memory_live(), live);
}

static const check_test tests[] = {
    {"counters go on", counters_go_on},
    {"sums never step back", sums_never_step_back},
    {"a list that cannot be read keeps the sums", a_list_that_cannot_be_read_keeps_the_sums},
    {"it is known whether any was ever counted", it_is_known_whether_any_was_ever_counted},
    {"a wrap is no new beginning", a_wrap_is_no_new_beginning},
    {"two of one name are two", two_of_one_name_are_two},
    {"a failed allocation is told", a_failed_allocation_is_told},
};
CHECK_TESTS(tests)
