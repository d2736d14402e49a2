/* The table of OpenTelemetry's names, the wire form of Protocol Buffers, the sums that begin anew,
 * and the checksum of event files. */
#include "check.h"

#include <vitals/vitals.h>

#include "export/environment.h"
#include "export/otlp/otlp.h"
#include "export/otlp/protobuf.h"
#include "export/tensorboard/crc32c.h"

/* Of the exporter's main.c. */
const char *environment_get(const char *name)
{
    (void)name;
    return NULL;
}

/* ---- Protocol Buffers ---- */

static void numbers_come_back(void)
{
    static const uint64_t NUMBERS[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        struct buffer text = {.bytes = NULL};
        struct protobuf_reader reader;
        struct protobuf_field field;
        protobuf_number(&text, 1000, NUMBERS[i]);
        protobuf_fixed64(&text, 2, NUMBERS[i]);
        protobuf_read(&reader, text.bytes, text.size);
        CHECK(protobuf_next(&reader, &field));
        CHECK_UINT(field.number, 1000);
        CHECK_UINT(field.wire, PROTOBUF_VARINT);
        CHECK_UINT(field.value, NUMBERS[i]);
        CHECK(protobuf_next(&reader, &field));
        CHECK_UINT(field.wire, PROTOBUF_FIXED64);
        CHECK_UINT(field.value, NUMBERS[i]);
        CHECK(!protobuf_next(&reader, &field));
        CHECK(!reader.broken);
        buffer_done(&text);
    }
}

/* Messages whose lengths take one, two and three bytes. */
static void messages_hold_what_was_written_into_them(void)
{
    static const size_t SIZES[] = {0, 1, 125, 126, 127, 128, 16000, 16380, 16390, 70000};
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        struct buffer text = {.bytes = NULL};
        struct protobuf_reader reader;
        struct protobuf_field field;
        char *content = malloc(SIZES[i] + 1);
        memset(content, 'x', SIZES[i] + 1);
        size_t outer = protobuf_open(&text, 1);
        size_t inner = protobuf_open(&text, 2);
        protobuf_bytes(&text, 3, content, SIZES[i]);
        protobuf_close(&text, inner);
        protobuf_close(&text, outer);
        const char *bytes = text.bytes;
        size_t size = text.size;
        for (uint32_t depth = 1; depth <= 3; depth++) {
            protobuf_read(&reader, bytes, size);
            CHECK(protobuf_next(&reader, &field));
            CHECK_UINT(field.number, depth);
            CHECK_UINT(field.wire, PROTOBUF_BYTES);
            bytes = field.bytes;
            size = field.size;
            CHECK(!protobuf_next(&reader, &field));
            CHECK(!reader.broken);
        }
        CHECK_UINT(size, SIZES[i]);
        CHECK(memcmp(bytes, content, size) == 0);
        free(content);
        buffer_done(&text);
    }
}

static void what_is_cut_off_is_broken(void)
{
    struct buffer text = {.bytes = NULL};
    protobuf_number(&text, 1, 300);
    protobuf_string(&text, 2, "words");
    protobuf_double(&text, 3, 0.5);
    protobuf_float(&text, 4, 0.5f);
    size_t whole = 0;
    for (size_t size = 1; size <= text.size; size++) {
        struct protobuf_reader reader;
        struct protobuf_field field;
        protobuf_read(&reader, text.bytes, size);
        while (protobuf_next(&reader, &field))
            CHECK(field.bytes != NULL);
        whole += !reader.broken;
    }
    CHECK_UINT(whole, 4); /* the ends of the four fields */
    buffer_done(&text);
}

/* ---- CRC-32C ---- */

static void checksums_are_those_of_the_standard(void)
{
    unsigned char bytes[32];
    CHECK_UINT(crc32c("", 0), 0);
    CHECK_UINT(crc32c("123456789", 9), 0xE3069283);
    memset(bytes, 0, sizeof bytes); /* RFC 3720, B.4 */
    CHECK_UINT(crc32c(bytes, sizeof bytes), 0x8A9136AA);
    memset(bytes, 0xFF, sizeof bytes);
    CHECK_UINT(crc32c(bytes, sizeof bytes), 0x62A8AB43);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    CHECK_UINT(crc32c(bytes, sizeof bytes), 0x46DD794E);
}

/* ---- sums ---- */

static void sums_begin_anew_where_they_are_less(void)
{
    struct counter_map sums = {.count = 0};
    CHECK_UINT(otlp_sum_start(&sums, 7, 10, 100, 5), 5);
    CHECK_UINT(otlp_sum_start(&sums, 7, 20, 200, 5), 5);
    CHECK_UINT(otlp_sum_start(&sums, 7, 3, 300, 5), 200);
    CHECK_UINT(otlp_sum_start(&sums, 7, 9, 400, 5), 200);
    CHECK_UINT(otlp_sum_start(&sums, 8, 1, 400, 900), 400); /* never behind its own time */
    counter_map_done(&sums);
}

static void many_sums_are_kept_apart_and_forgotten(void)
{
    enum { COUNT = 20000 };
    struct counter_map sums = {.count = 0};
    for (uint64_t round = 1; round <= 3; round++) {
        for (uint64_t i = 0; i < COUNT; i++) {
            uint64_t start = otlp_sum_start(&sums, hash_join(i, 1), (double)(i + round),
                                            1000 * round, i % 500);
            CHECK_UINT(start, i % 500);
        }
        counter_map_turn(&sums, 1);
    }
    /* One that was not asked for in a turn is new afterwards: less is no new beginning. */
    counter_map_turn(&sums, 1);
    CHECK_UINT(otlp_sum_start(&sums, hash_join(5, 1), 0, 9000, 5), 5);
    counter_map_done(&sums);
    CHECK_UINT(otlp_sum_start(&sums, hash_join(5, 1), 0, 9000, 6), 6);
    counter_map_done(&sums);
}

/* ---- words ---- */

static void pairs_are_read_or_refused_whole(void)
{
    static const struct {
        const char *words;
        size_t count;
        const char *key, *value; /* of the last */
    } CASES[] = {
        {"a=b", 1, "a", "b"},
        {" a = b , c=d%2Ce ", 2, "c", "d,e"},
        {"a=b=c", 1, "a", "b=c"},
        {"a=", 1, "a", ""},
        {"k%20y=%E2%82%AC", 1, "k y", "\xE2\x82\xAC"},
        {"a", 0, NULL, NULL},
        {"=b", 0, NULL, NULL},
        {"a=b,", 0, NULL, NULL},
        {",a=b", 0, NULL, NULL},
        {"a=%", 0, NULL, NULL},
        {"a=%4", 0, NULL, NULL},
        {"a=%4g", 0, NULL, NULL},
        {"a=%00", 0, NULL, NULL},
        {"", 0, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct otlp_pairs pairs;
        CHECK_CASE(CASES[i].words);
        bool good = otlp_pairs_read(CASES[i].words, &pairs);
        CHECK(good == (CASES[i].count > 0));
        CHECK_UINT(pairs.count, CASES[i].count);
        if (good) {
            CHECK_STR(pairs.list[pairs.count - 1].key, CASES[i].key);
            CHECK_STR(pairs.list[pairs.count - 1].value, CASES[i].value);
        }
        free(pairs.words);
    }
}

static void units_are_those_of_opentelemetry(void)
{
    static const struct {
        const char *name, *unit, *stem, *as;
    } CASES[] = {
        {"cpu_seconds", "seconds", "cpu", "s"},
        {"memory_resident_bytes", "bytes", "memory_resident", "By"},
        {"cpu_cores", "cores", "cpu_cores", "{cpu}"},
        {"processes", "", "processes", "{process}"},
        {"minor_faults", "", "minor_faults", "{fault}"},
        {"threads", "", "threads", "{thread}"},
        {"writes", "", "writes", "{writes}"},
        {"gpu_utilization_ratio", "ratio", "gpu_utilization_ratio", "1"},
        {"bytes", "bytes", "bytes", "By"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char made[64];
        CHECK_CASE(CASES[i].name);
        CHECK_STR(otlp_unit(CASES[i].unit, CASES[i].name, made, sizeof made), CASES[i].as);
        CHECK_UINT(otlp_stem(CASES[i].name, CASES[i].unit), strlen(CASES[i].stem));
    }
}

/* `cpu_seconds` and `cpu_ratio` must not be one name with two units. */
static void each_measure_has_a_name_of_its_own(void)
{
    for (vitals_measure one = 0; (one = vitals_measure_next(one)) != 0;) {
        const char *name = vitals_measure_name(one);
        for (vitals_measure other = one;
             (other = vitals_measure_next(other)) != 0 && name != NULL;) {
            const char *another = vitals_measure_name(other);
            if (another == NULL)
                continue;
            size_t size = otlp_stem(name, vitals_measure_unit(one));
            CHECK_CASE(name);
            CHECK(size != otlp_stem(another, vitals_measure_unit(other)) ||
                  memcmp(name, another, size) != 0);
        }
    }
}

/* ---- the table ---- */

static bool same_words(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether two rows could be one series. */
static bool same_series(const struct otlp_source *a, const struct otlp_source *b)
{
    return strcmp(a->as.name, b->as.name) == 0 && same_words(a->only, b->only) &&
           a->subject == b->subject && a->metric >> 8 == b->metric >> 8 &&
           same_words(a->key, b->key) && same_words(a->constant, b->constant);
}

static void each_name_is_one_metric(void)
{
    for (size_t i = 0; i < otlp_sources_count; i++) {
        const struct otlp_source *source = &otlp_sources[i];
        CHECK_CASE(source->as.name);
        CHECK(vitals_metric_name(source->metric) != NULL);
        CHECK(vitals_metric_help(source->metric) != NULL);
        // Rows that were remapped once stay so: their number is what has been counted.
        CHECK(source->as.kind != OTLP_COUNTER ||
              vitals_metric_kind(source->metric) == VITALS_COUNTER ||
              strcmp(source->as.name, "vitals.gpu.row_remaps") == 0);
        bool left = false; /* behind the last row of that name */
        for (size_t j = i + 1; j < otlp_sources_count; j++) {
            const struct otlp_source *other = &otlp_sources[j];
            bool same = strcmp(source->as.name, other->as.name) == 0;
            CHECK(!same || !left);
            left = left || !same;
            CHECK(!same || (strcmp(source->as.unit, other->as.unit) == 0 &&
                            source->as.kind == other->as.kind));
            CHECK(!same_series(source, other));
        }
    }
}

static bool is_sent(vitals_metric metric)
{
    for (size_t i = 0; i < otlp_sources_count; i++) {
        const struct otlp_source *source = &otlp_sources[i];
        if (metric == source->metric || metric == source->plus || metric == source->minus[0] ||
            metric == source->minus[1] || metric == source->minus[2])
            return true;
    }
    return false;
}

/* Counters that are not sent: a new one must be decided on. Most are sums or parts of what is. */
static const char *const LEFT_OUT[] = {
    "host.context_switches",
    "host.interrupts",
    "host.cpu_guest_seconds",
    "host.cpu_guest_nice_seconds",
    "host.cpu_busy_seconds",
    "host.cpu_total_seconds",
    "host.disk_read_bytes",
    "host.disk_written_bytes",
    "host.disk_reads",
    "host.disk_writes",
    "host.network_received_bytes",
    "host.network_transmitted_bytes",
    "host.soft_interrupts",
    "host.swap_in_bytes",
    "host.swap_out_bytes",
    "host.disk_busy_seconds",
    "host.network_received_packets",
    "host.network_transmitted_packets",
    "host.cgroup_oom_kills",
    "host.cgroup_cpu_seconds",
    "host.cgroup_cpu_throttled_seconds",
    "host.cgroup_cpu_throttled_periods",
    "host.cgroup_read_bytes",
    "host.cgroup_written_bytes",
    "disk.queue_seconds",
    "disk.discards",
    "disk.discarded_bytes",
    "disk.flushes",
    "filesystem.read_bytes",
    "filesystem.written_bytes",
    "gpu.idle_residency_seconds",
    "process.cpu_seconds",
    "process.children_user_seconds",
    "process.children_system_seconds",
    "process.run_delay_seconds",
    "process.block_delay_seconds",
    "process.swap_delay_seconds",
    "process.reclaim_delay_seconds",
    "process.read_calls",
    "process.write_calls",
    "process.call_read_bytes",
    "process.call_written_bytes",
    "process.cancelled_write_bytes",
    "process.network_received_bytes",
    "process.network_transmitted_bytes",
    "gpu_process.accounted_seconds",
};

static void every_counter_is_sent_or_left_out(void)
{
    static const vitals_table TOLD[] = {
        VITALS_TABLE_HOST,        VITALS_TABLE_DISK,     VITALS_TABLE_NETWORK,
        VITALS_TABLE_FILESYSTEM,  VITALS_TABLE_PRESSURE, VITALS_TABLE_GPU,
        VITALS_TABLE_GPU_ENGINE,  VITALS_TABLE_GPU_LINK, VITALS_TABLE_PROCESS,
        VITALS_TABLE_GPU_PROCESS, VITALS_TABLE_WORKLOAD,
    };
    bool used[sizeof LEFT_OUT / sizeof LEFT_OUT[0]] = {false};
    for (vitals_metric metric = vitals_metric_next(0); metric != 0;
         metric = vitals_metric_next(metric)) {
        bool told = false, left = false;
        char name[128];
        for (size_t i = 0; i < sizeof TOLD / sizeof TOLD[0]; i++)
            told = told || vitals_metric_table(metric) == TOLD[i];
        if (!told || vitals_metric_kind(metric) != VITALS_COUNTER)
            continue;
        snprintf(name, sizeof name, "%s.%s", vitals_table_name(vitals_metric_table(metric)),
                 vitals_metric_name(metric));
        CHECK_CASE(name);
        for (size_t i = 0; i < sizeof LEFT_OUT / sizeof LEFT_OUT[0]; i++) {
            if (strcmp(LEFT_OUT[i], name) == 0)
                left = used[i] = true;
        }
        CHECK(left != is_sent(metric));
    }
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        CHECK_CASE(LEFT_OUT[i]);
        CHECK(used[i]);
    }
}

static const check_test tests[] = {
    {"numbers come back", numbers_come_back},
    {"messages hold what was written into them", messages_hold_what_was_written_into_them},
    {"what is cut off is broken", what_is_cut_off_is_broken},
    {"checksums are those of the standard", checksums_are_those_of_the_standard},
    {"sums begin anew where they are less", sums_begin_anew_where_they_are_less},
    {"many sums are kept apart and forgotten", many_sums_are_kept_apart_and_forgotten},
    {"pairs are read or refused whole", pairs_are_read_or_refused_whole},
    {"units are those of OpenTelemetry", units_are_those_of_opentelemetry},
    {"each measure has a name of its own", each_measure_has_a_name_of_its_own},
    {"each name is one metric", each_name_is_one_metric},
    {"every counter is sent or left out", every_counter_is_sent_or_left_out},
};
CHECK_TESTS(tests)
