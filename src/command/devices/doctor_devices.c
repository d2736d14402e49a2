/* doctor_devices.c: readings of devices that deserve attention.
 *
 * A rule is a row: a number that is 0 for a healthy device, or a reason why something cannot be
 * read. The same rules judge all vendors and the demo. Everything that is read of a device at each
 * tick is requested, so that a call that hangs hangs here too. Events that a driver only reports as
 * they happen (Xid) are not judged, as a single reading cannot see them. */
#include <stdio.h>
#include <string.h>

#include "command/devices/doctor_paint.h"
#include "command/look/snapshot_filter.h"

#define G(suffix) VITALS_GPU_##suffix

static const char READ_LOG[] = "sudo dmesg | tail -n 50\n"
                               "# reset the device, or restart the machine";
static const char RESET[] = "# end what uses the device, then reset it or restart the machine";

static const char ALLOW[] = "ls -l /dev/nvidia* /dev/dri /dev/kfd\n"
                            "# join the group that has them, or:\nsudo vitals doctor";

struct doctor_devices_verdict {
    const char *severity, *finding, *remedy;
};

// One rule, one row.
// clang-format off
/* Why a driver does not tell what every device has; where it is silent on all of the device, that
 * says everything. */
static const struct {
    vitals_metric metric;
    vitals_availability reason;
    bool on_all;
    struct doctor_devices_verdict verdict;
} SILENCES[] = {
    {G(MEMORY_USED_BYTES), VITALS_GONE, true,
     {"problem", "lost: its driver does not reach it any more", READ_LOG}},
    {G(MEMORY_USED_BYTES), VITALS_TIMED_OUT, true,
     {"problem", "it gives no answer in time", READ_LOG}},
    {G(MEMORY_USED_BYTES), VITALS_SUSPENDED, true, {"good", "asleep, and left so", ""}},
    {G(MEMORY_USED_BYTES), VITALS_DENIED, false,
     {"problem", "how much of its memory is used: no permission", ALLOW}},
    {G(MEMORY_USED_BYTES), VITALS_FAILED, false,
     {"problem", "how much of its memory is used: its driver fails to tell", READ_LOG}},
    {G(PROCESSES), VITALS_TIMED_OUT, false,
     {"problem", "which processes use it: no answer in time", READ_LOG}},
    {G(PROCESSES), VITALS_DENIED, false,
     {"problem", "which processes use it: no permission", ALLOW}},
    {G(PROCESSES), VITALS_FAILED, false,
     {"problem", "which processes use it: its driver fails to tell", READ_LOG}},
};

static const struct {
    vitals_metric metric;
    struct doctor_devices_verdict verdict;
} RULES[] = {
    {G(REMAPPED_ROWS_FAILED), {"problem", "broken memory that could not be replaced by spare",
                               "# have the device exchanged"}},
    {G(REMAPPED_ROWS_PENDING), {"problem", "broken memory waits for a reset to be replaced", RESET}},
    {G(RETIRED_PAGES_PENDING), {"problem", "broken memory waits for a reset to be left out", RESET}},
    {G(ECC_ERRORS_UNCORRECTED), {"problem", "its memory had errors that could not be corrected",
                                 READ_LOG}},
    {G(THROTTLED_BY_TEMPERATURE), {"notice", "heat holds its clocks down",
                                   "# see to its fans and to the air that reaches it"}},
};
// clang-format on

enum {
    SILENCE_COUNT = sizeof SILENCES / sizeof SILENCES[0],
    RULE_COUNT = sizeof RULES / sizeof RULES[0]
};

int doctor_ask_devices(vitals_request *request, vitals_error *error)
{
    int code = 0;
    for (vitals_metric metric = 0; code == 0 && (metric = vitals_metric_next(metric)) != 0;) {
        if (vitals_metric_table(metric) == VITALS_TABLE_GPU &&
            vitals_metric_price(metric) <= VITALS_PRICE_WORKER)
            code = vitals_request_add(request, metric, error);
    }
    return code;
}

struct doctor_devices_telling {
    const vitals_snapshot *snapshot;
    uint64_t key; /* of the newest row */
};

static void put_text(vitals_builder *builder, vitals_metric metric, const char *text)
{
    vitals_builder_text(builder, metric, (vitals_text){text, strlen(text)}, VITALS_HAVE);
}

static void put(struct doctor_devices_telling *telling, vitals_builder *builder,
                const vitals_row *device, const struct doctor_devices_verdict *verdict)
{
    char subject[64];
    snprintf(subject, sizeof subject, "GPU %s", vitals_row_label(device));
    vitals_builder_row(builder, VITALS_TABLE_DIAGNOSIS, ++telling->key, 0,
                       (vitals_text){subject, strlen(subject)}, vitals_row_stamp_ns(device));
    put_text(builder, VITALS_DIAGNOSIS_SEVERITY, verdict->severity);
    put_text(builder, VITALS_DIAGNOSIS_SUBJECT, subject);
    put_text(builder, VITALS_DIAGNOSIS_FINDING, verdict->finding);
    put_text(builder, VITALS_DIAGNOSIS_REMEDY, verdict->remedy);
}

/* True if the back end reports the device as a problem ("GPU-…: lost"), for which it knows a better
 * remedy. */
static bool is_told(const struct doctor_devices_telling *telling, const vitals_row *device)
{
    vitals_text uuid, finding;
    if (vitals_row_text(device, G(UUID), &uuid) <= 0 || uuid.size == 0)
        return false;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(telling->snapshot, VITALS_TABLE_DIAGNOSIS, row)) != NULL;) {
        if (command_text_is(row, VITALS_DIAGNOSIS_SEVERITY, "problem") &&
            vitals_row_text(row, VITALS_DIAGNOSIS_FINDING, &finding) > 0 &&
            finding.size >= uuid.size && memcmp(finding.bytes, uuid.bytes, uuid.size) == 0 &&
            (finding.size == uuid.size || finding.bytes[uuid.size] == ':'))
            return true;
    }
    return false;
}

/* Behind the rows that back ends have added. A partition reports the same as its device. */
static void add_rows(void *data, vitals_table entity, vitals_builder *builder)
{
    struct doctor_devices_telling *telling = data;
    double number;
    if (entity != VITALS_TABLE_DIAGNOSIS)
        return;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(telling->snapshot, VITALS_TABLE_DIAGNOSIS, row)) != NULL;)
        telling->key = vitals_row_key(row); // in the order of keys
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next_child(telling->snapshot, VITALS_TABLE_GPU, 0, row)) != NULL;) {
        bool settled = is_told(telling, row);
        for (size_t i = 0; i < SILENCE_COUNT && !settled; i++) {
            if (vitals_row_availability(row, SILENCES[i].metric) != SILENCES[i].reason)
                continue;
            put(telling, builder, row, &SILENCES[i].verdict);
            settled = SILENCES[i].on_all;
        }
        for (size_t i = 0; i < RULE_COUNT; i++) {
            if (vitals_row_number(row, RULES[i].metric, &number) > 0 && number > 0)
                put(telling, builder, row, &RULES[i].verdict);
        }
    }
}

int doctor_judge_devices(const vitals_snapshot *snapshot, vitals_snapshot **out,
                         vitals_error *error)
{
    struct doctor_devices_telling telling = {.snapshot = snapshot};
    const struct snapshot_changes changes = {.more = add_rows, .data = &telling};
    vitals_builder *builder = NULL;
    int code = vitals_builder_new(&builder, error);
    if (code == 0)
        code = snapshot_copy(snapshot, &changes, builder, out, error);
    vitals_builder_free(builder);
    return code;
}
