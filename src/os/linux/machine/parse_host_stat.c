/* parse_host_stat.c: /proc/stat, loadavg, vmstat and pressure.
 *
 * proc(5) of stat: "cpu" and "cpuN" lines of up to ten numbers in clock ticks. Kernels before 2.6
 * have four, and guest time came with 2.6.24 and 2.6.33: what is missing stays unsupported, and had
 * been counted within the others. Offline CPUs vanish, so a CPU is known by its number and never
 * by its line.
 * Thread rule: pure. */
#include "os/linux/machine/host_files.h"

#include "util/memory.h"
#include "util/number.h"

/* The ten numbers of a line, in order; a line with fewer than TIMES_MIN is invalid. GUEST is
 * already in USER, and GUEST_NICE in NICE. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, GUEST, GUEST_NICE, TIMES };
enum { TIMES_MIN = IDLE + 1 };

/* Times have the same metric numbers in both tables, so one function writes either row. */
enum { FIRST = 20, BUSY = 30, TOTAL = 31 };

#define SAME_NUMBER(name, number)                                           \
    _Static_assert((VITALS_HOST_CPU_##name##_SECONDS & 0xff) == (number) && \
                       (VITALS_CPU_##name##_SECONDS & 0xff) == (number),    \
                   "the times of host and cpu rows have the same numbers")
SAME_NUMBER(USER, FIRST + USER);
SAME_NUMBER(NICE, FIRST + NICE);
SAME_NUMBER(SYSTEM, FIRST + SYSTEM);
SAME_NUMBER(IDLE, FIRST + IDLE);
SAME_NUMBER(IOWAIT, FIRST + IOWAIT);
SAME_NUMBER(IRQ, FIRST + IRQ);
SAME_NUMBER(SOFTIRQ, FIRST + SOFTIRQ);
SAME_NUMBER(STEAL, FIRST + STEAL);
SAME_NUMBER(GUEST, FIRST + GUEST);
SAME_NUMBER(GUEST_NICE, FIRST + GUEST_NICE);
SAME_NUMBER(BUSY, BUSY);
SAME_NUMBER(TOTAL, TOTAL);

static const struct host_field FIELDS[] = {
    {"intr", VITALS_HOST_INTERRUPTS, 1},
    {"softirq", VITALS_HOST_SOFT_INTERRUPTS, 1},
    {"ctxt", VITALS_HOST_CONTEXT_SWITCHES, 1},
    {"processes", VITALS_HOST_FORKS, 1},
    {"procs_blocked", VITALS_HOST_TASKS_BLOCKED, 1},
};

/* The division by the ticks of a second, instead of a multiplication by the length of a tick, gives
 * the double nearest to a count of hundredths, which prints with the fewest digits. */
static struct value seconds_of(uint64_t ticks, double ticks_per_second)
{
    return value_f64((double)ticks / ticks_per_second);
}

static uint64_t sum_of(const uint64_t ticks[static TIMES], unsigned from, unsigned to)
{
    uint64_t sum = 0;
    for (unsigned i = from; i <= to; i++)
        sum = saturating_add(sum, ticks[i]);
    return sum;
}

static void parse_times(struct cursor *line, double ticks_per_second, struct values *out)
{
    uint64_t ticks[TIMES] = {0};
    unsigned count = 0;
    while (count < TIMES && cursor_u64(line, &ticks[count]))
        count++;
    const struct value missing = value_missing(VITALS_UNSUPPORTED);
    for (unsigned i = 0; i < TIMES; i++)
        out->at[FIRST + i] = i < count ? seconds_of(ticks[i], ticks_per_second) : missing;

    uint64_t busy = saturating_add(sum_of(ticks, USER, SYSTEM), sum_of(ticks, IRQ, STEAL));
    uint64_t total = saturating_add(busy, sum_of(ticks, IDLE, IOWAIT));
    out->at[BUSY] = count >= TIMES_MIN ? seconds_of(busy, ticks_per_second) : missing;
    out->at[TOTAL] = count >= TIMES_MIN ? seconds_of(total, ticks_per_second) : missing;
}

int host_parse_stat(const char *bytes, size_t size, double ticks_per_second, struct values *machine,
                    struct os_cpus *cpus)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line, word;
    uint64_t index, next = 0, count = 0;
    if (cpus != NULL)
        cpus->count = 0;
    while (host_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (!cursor_word(&at, &word))
            continue;
        struct cursor name = cursor_over(word.bytes, word.size);
        if (span_equal(word, "cpu")) {
            parse_times(&at, ticks_per_second, machine);
            continue;
        }
        if (!cursor_literal(&name, "cpu") || !cursor_u64(&name, &index) || !cursor_done(&name) ||
            index >= HOST_CPUS_MAX) {
            host_field_set(FIELDS, ARRAY_COUNT(FIELDS), word, &at, machine);
            continue;
        }
        /* The kernel lists CPUs in ascending order, each once. */
        if (index < next)
            continue;
        next = index + 1;
        count++;
        if (cpus == NULL)
            continue;
        /* Every tick sets the same numbers of an item, so only a new one is zeroed. */
        size_t before = cpus->capacity;
        if (MEMORY_GROW(cpus->items, cpus->capacity, cpus->count) != 0)
            return -1;
        for (size_t i = before; i < cpus->capacity; i++)
            cpus->items[i] = (struct os_cpu){0};
        struct os_cpu *cpu = &cpus->items[cpus->count++];
        cpu->index = index;
        values_set(&cpu->values, VITALS_CPU_INDEX, value_u64(index));
        parse_times(&at, ticks_per_second, &cpu->values);
    }
    /* A text that ends within a line may lack more CPUs. */
    struct value cpu_count = value_u64(count);
    if (size > 0 && bytes[size - 1] != '\n')
        cpu_count.state = VITALS_LOWER_BOUND;
    if (count > 0)
        values_set(machine, VITALS_HOST_CPUS, cpu_count);
    return 0;
}

/* "0.78 0.75 0.44 2/1234 5678": three averages, tasks that are runnable of all tasks, and the
 * newest pid, which is not used. */
void host_parse_loadavg(const char *bytes, size_t size, struct values *machine)
{
    static const vitals_metric AVERAGES[] = {VITALS_HOST_LOAD_1M, VITALS_HOST_LOAD_5M,
                                             VITALS_HOST_LOAD_15M};
    struct cursor text = cursor_over(bytes, size);
    struct span line;
    if (!host_line(&text, &line))
        return;
    struct cursor at = cursor_over(line.bytes, line.size);
    for (size_t i = 0; i < ARRAY_COUNT(AVERAGES); i++) {
        double load;
        cursor_blanks(&at);
        if (!number_f64(&at.at, at.end, &load) || cursor_done(&at) || *at.at != ' ')
            return; /* each number is followed by the next field, or the text is invalid */
        values_set(machine, AVERAGES[i], value_f64(load));
    }
    uint64_t running, tasks;
    if (!cursor_u64(&at, &running))
        return;
    values_set(machine, VITALS_HOST_TASKS_RUNNING, value_u64(running));
    if (cursor_literal(&at, "/") && cursor_u64(&at, &tasks))
        values_set(machine, VITALS_HOST_TASKS, value_u64(tasks));
}

/* "key number" on each line. Swap is counted in pages of this kernel's size. */
void host_parse_vmstat(const char *bytes, size_t size, uint64_t page_bytes, struct values *machine)
{
    const struct host_field fields[] = {
        {"pswpin", VITALS_HOST_SWAP_IN_BYTES, page_bytes},
        {"pswpout", VITALS_HOST_SWAP_OUT_BYTES, page_bytes},
        {"oom_kill", VITALS_HOST_OOM_KILLS, 1},
    };
    struct cursor text = cursor_over(bytes, size);
    struct span line, key;
    while (host_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (cursor_word(&at, &key))
            host_field_set(fields, ARRAY_COUNT(fields), key, &at, machine);
    }
}

/* /proc/pressure/ and a cgroup's .pressure files (kernel documentation, accounting/psi):
 *
 * "some avg10=0.12 avg60=0.00 avg300=0.00 total=12345", and the same of "full". Percent and
 * microseconds become shares and seconds. irq has no "some", older kernels no "full" of cpu. */

enum { AVERAGES = 3 };

static const char *const KEYS[AVERAGES] = {"avg10=", "avg60=", "avg300="};

static const struct {
    const char *word;
    vitals_metric averages[AVERAGES], seconds;
} LINES[] = {
    {"some",
     {VITALS_PRESSURE_SOME_10S_RATIO, VITALS_PRESSURE_SOME_60S_RATIO,
      VITALS_PRESSURE_SOME_300S_RATIO},
     VITALS_PRESSURE_SOME_SECONDS},
    {"full",
     {VITALS_PRESSURE_FULL_10S_RATIO, VITALS_PRESSURE_FULL_60S_RATIO,
      VITALS_PRESSURE_FULL_300S_RATIO},
     VITALS_PRESSURE_FULL_SECONDS},
};

/* A percentage such as 22.26 as a share: divided once, so that it prints with the fewest digits. */
static bool take_share(struct cursor *at, double *share)
{
    enum { PLACES_MAX = 6 };
    uint64_t number;
    double divisor = 100.0;
    if (!cursor_u64(at, &number) || number > 100)
        return false;
    if (cursor_literal(at, "."))
        for (unsigned i = 0; i < PLACES_MAX && !cursor_done(at) && *at->at >= '0' && *at->at <= '9';
             i++) {
            number = number * 10 + (uint64_t)(*at->at++ - '0');
            divisor *= 10.0;
        }
    *share = (double)number / divisor;
    return *share <= 1.0;
}

bool host_parse_pressure(const char *bytes, size_t size, struct values *out)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line, word;
    bool any = false;
    while (host_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        size_t which = 0;
        if (!cursor_word(&at, &word))
            continue;
        while (which < ARRAY_COUNT(LINES) && !span_equal(word, LINES[which].word))
            which++;
        if (which == ARRAY_COUNT(LINES))
            continue;
        double share;
        uint64_t micros;
        unsigned taken = 0;
        for (; taken < AVERAGES; taken++) {
            cursor_blanks(&at);
            if (!cursor_literal(&at, KEYS[taken]) || !take_share(&at, &share))
                break;
            values_set(out, LINES[which].averages[taken], value_f64(share));
            any = true;
        }
        cursor_blanks(&at);
        if (taken == AVERAGES && cursor_literal(&at, "total=") && cursor_u64(&at, &micros))
            values_set(out, LINES[which].seconds, value_f64((double)micros / 1e6));
    }
    return any;
}
