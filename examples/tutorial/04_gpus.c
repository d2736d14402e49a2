/* 04_gpus.c: GPUs, and the processes on each. --demo: invented GPUs. */
#include <stdio.h>
#include <vitals/vitals.h>

int main(int argc, char **argv)
{
    (void)argv;
    vitals_error error;
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    if (argc > 1)
        options.demo = "default";
    vitals_context *context = NULL;
    vitals_snapshot *snapshot = NULL;
    if (vitals_context_new(&options, &context, &error) < 0 ||
        vitals_snapshot_take(context, VITALS_SET_GPUS, &snapshot, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    const vitals_row *gpu = NULL, *user = NULL;
    while ((gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, gpu)) != NULL) {
        char text[VITALS_HUMAN];
        uint64_t bytes, pid;
        if (vitals_row_u64(gpu, VITALS_GPU_MEMORY_USED_BYTES, &bytes) > 0)
            printf("GPU %-4s  %s used\n", vitals_row_label(gpu), vitals_human_bytes(bytes, text));

        /* Rows of gpu_process whose parent is this device. */
        uint64_t key = vitals_row_key(gpu);
        while ((user = vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU_PROCESS, key, user)))
            if (vitals_row_u64(user, VITALS_GPU_PROCESS_PID, &pid) > 0 &&
                vitals_row_u64(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &bytes) > 0)
                printf("    pid %llu  %s\n", (unsigned long long)pid,
                       vitals_human_bytes(bytes, text));
    }
    vitals_snapshot_unref(snapshot);
    vitals_context_free(context);
}
