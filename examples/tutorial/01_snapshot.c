/* 01_snapshot.c: the first snapshot: the machine's memory, and a value that may be missing. */
#include <stdio.h>
#include <vitals/vitals.h>

int main(void)
{
    vitals_error error;
    vitals_context *context = NULL;
    vitals_snapshot *snapshot = NULL;
    if (vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_snapshot_take(context, VITALS_SET_MACHINE, &snapshot, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    char text[VITALS_HUMAN];
    uint64_t bytes;
    if (vitals_row_u64(host, VITALS_HOST_MEMORY_AVAILABLE_BYTES, &bytes) > 0)
        printf("available  %s\n", vitals_human_bytes(bytes, text));

    /* Above zero there is a value. Below zero the number says why there is none. */
    double seconds;
    vitals_availability state = vitals_row_f64(host, VITALS_HOST_UPTIME_SECONDS, &seconds);
    if (state > 0)
        printf("up for     %s\n", vitals_human_duration(seconds, text));
    else
        printf("up for     N/A: %s\n", vitals_availability_help(state));

    vitals_snapshot_unref(snapshot);
    vitals_context_free(context);
}
