/* doctor_devices.c: what devices say of themselves that somebody should look at.
 *
 * A rule is a row: a number of a device that is not 0 in a healthy one, or why nothing can be read
 * of it. All vendors' and the demo's are judged by the same. */
#include <stdio.h>
#include <string.h>

#include "command/doctor_paint.h"
#include "command/subset.h"

#define G(suffix) VITALS_GPU_##suffix

static const char READ_LOG[] = "sudo dmesg | tail -n 50\n"
                               "# reset the device, or restart the machine";
static const char RESET[] = "# end what uses the device, then reset it or restart the machine";

struct verdict {
    const char *severity, *finding, *remedy;
};

/* Where the driver says of all of it why it cannot be read. */
static const struct {
    vitals_availability reason;
    struct verdict verdict;
} SILENCES[] = {
    {VITALS_GONE, {"problem", "lost: its driver does not reach it any more", READ_LOG}},
    {VITALS_TIMED_OUT, {"problem", "it gives no answer in time", READ_LOG}},
    {VITALS_SUSPENDED, {"good", "asleep, and left so", ""}},
};

static const struct {
    vitals_metric metric;
    struct verdict verdict;
} RULES[] = {
    {G(REMAPPED_ROWS_FAILED),
     {"problem", "broken memory that could not be replaced by spare",
      "# have the device exchanged"}},
    {G(REMAPPED_ROWS_PENDING),
     {"problem", "broken memory waits for a reset to be replaced", RESET}},
    {G(RETIRED_PAGES_PENDING),
     {"problem", "broken memory waits for a reset to be left out", RESET}},
    {G(ECC_ERRORS_UNCORRECTED),
     {"problem", "its memory had errors that could not be corrected", READ_LOG}},
    {G(XID_ERRORS), {"notice", "its driver reported errors (Xid)", "sudo dmesg | grep -i xid"}},
    {G(THROTTLED_BY_TEMPERATURE),
     {"notice", "heat holds its clocks down", "# see to its fans and to the air that reaches it"}},
};

enum {
    SILENCE_COUNT = sizeof SILENCES / sizeof SILENCES[0],
    RULE_COUNT = sizeof RULES / sizeof RULES[0]
};

int doctor_ask_devices(vitals_request *request, vitals_error *error)
{
    int code = vitals_request_add(request, G(MEMORY_USED_BYTES), error);
    for (size_t i = 0; i < RULE_COUNT && code == 0; i++)
        code = vitals_request_add(request, RULES[i].metric, error);
    return code;
}

struct telling {
    const vitals_snapshot *snapshot;
    uint64_t key; /* of the newest row */
};

static void put_text(vitals_builder *builder, vitals_metric metric, const char *text)
{
    vitals_builder_text(builder, metric, (vitals_text){text, strlen(text)}, VITALS_HAVE);
}

static void put(struct telling *telling, vitals_builder *builder, const vitals_row *device,
                const struct verdict *verdict)
{
    char subject[64];
    snprintf(subject, sizeof subject, "GPU %s", vitals_row_label(device));
    vitals_builder_row(builder, VITALS_DIAGNOSIS, ++telling->key, 0,
                       (vitals_text){subject, strlen(subject)}, vitals_row_stamp_ns(device));
    put_text(builder, VITALS_DIAGNOSIS_SEVERITY, verdict->severity);
    put_text(builder, VITALS_DIAGNOSIS_SUBJECT, subject);
    put_text(builder, VITALS_DIAGNOSIS_FINDING, verdict->finding);
    put_text(builder, VITALS_DIAGNOSIS_REMEDY, verdict->remedy);
}

static void judge(struct telling *telling, vitals_builder *builder, const vitals_row *device)
{
    vitals_availability state = vitals_row_availability(device, G(MEMORY_USED_BYTES));
    double number;
    for (size_t i = 0; i < SILENCE_COUNT; i++) {
        if (state == SILENCES[i].reason)
            put(telling, builder, device, &SILENCES[i].verdict);
    }
    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (vitals_row_number(device, RULES[i].metric, &number) > 0 && number > 0)
            put(telling, builder, device, &RULES[i].verdict);
    }
}

/* Of devices alone: a partition says the same as its device. */
static void add_rows(void *data, vitals_entity entity, vitals_builder *builder)
{
    struct telling *telling = data;
    if (entity != VITALS_DIAGNOSIS)
        return;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(telling->snapshot, VITALS_DIAGNOSIS, row)) != NULL;)
        telling->key = vitals_row_key(row); // in the order of keys
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(telling->snapshot, VITALS_GPU, row)) != NULL;) {
        if (vitals_row_parent(row) == 0)
            judge(telling, builder, row);
    }
}

int doctor_judge_devices(const vitals_snapshot *snapshot, vitals_snapshot **out,
                         vitals_error *error)
{
    struct telling telling = {.snapshot = snapshot};
    vitals_builder *builder = NULL;
    int code = vitals_builder_new(&builder, error);
    if (code == 0)
        code = subset_extend(snapshot, add_rows, &telling, builder, out, error);
    vitals_builder_free(builder);
    return code;
}
