/* Names of devices, CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, with any content. The first line is
 * the order, the rest the list. */
#include "gpu/find.h"
#include <vitals/sys/builder.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

/* Two devices of two models, the second divided. */
static vitals_snapshot *make_devices(void)
{
    static const vitals_metric COLUMNS[] = {VITALS_GPU_VENDOR,
                                            VITALS_GPU_NAME,
                                            VITALS_GPU_UUID,
                                            VITALS_GPU_PCI_BUS_ID,
                                            VITALS_GPU_GPU_INSTANCE_ID,
                                            VITALS_GPU_COMPUTE_INSTANCE_ID};
    static const struct {
        const char *label, *name, *uuid, *address;
        uint64_t parent;
    } ROWS[] = {{"0", "A", "GPU-1111aaaa", "0000:17:00.0", 0},
                {"1", "B", "GPU-1111bbbb", "0001:18:00.0", 0},
                {"1:0", "3g", "MIG-2222aaaa", "0001:18:00.0", 2},
                {"1:1", "3g", "MIG-2222bbbb", "0001:18:00.0", 2}};
    vitals_builder *builder;
    vitals_snapshot *snapshot = NULL;
    if (vitals_builder_new(&builder, NULL) < 0)
        abort();
    vitals_builder_begin(builder);
    vitals_builder_table(builder, VITALS_TABLE_GPU, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        vitals_builder_row(builder, VITALS_TABLE_GPU, i + 1, ROWS[i].parent, text_of(ROWS[i].label),
                           1);
        vitals_builder_text(builder, VITALS_GPU_VENDOR, text_of("nvidia"), VITALS_HAVE);
        vitals_builder_text(builder, VITALS_GPU_NAME, text_of(ROWS[i].name), VITALS_HAVE);
        vitals_builder_text(builder, VITALS_GPU_UUID, text_of(ROWS[i].uuid), VITALS_HAVE);
        vitals_builder_text(builder, VITALS_GPU_PCI_BUS_ID, text_of(ROWS[i].address), VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_GPU_GPU_INSTANCE_ID, i, VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_GPU_COMPUTE_INSTANCE_ID, 0, VITALS_HAVE);
    }
    if (vitals_builder_finish(builder, &snapshot, NULL) < 0)
        abort();
    vitals_builder_free(builder);
    return snapshot;
}

static void check_list(const vitals_snapshot *snapshot, const char *visible, const char *order)
{
    const vitals_row *rows[4] = {NULL};
    vitals_error error;
    size_t count = vitals_cuda_visible_devices(snapshot, visible, order, rows, 4);
    if (count > 2)
        abort(); /* two devices, of which one is divided */
    for (size_t i = 0; i < count; i++) {
        if (rows[i] == NULL || (i > 0 && rows[i] == rows[i - 1]))
            abort();
    }
    if (vitals_cuda_visible_check(snapshot, visible, order, &error) < 0 && error.message[0] == '\0')
        abort();
    if (vitals_cuda_order(snapshot, order) == VITALS_UNSUPPORTED)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static vitals_snapshot *snapshot;
    const vitals_row *row = NULL;
    vitals_error error;
    if (snapshot == NULL)
        snapshot = make_devices();
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (vitals_gpu_find(snapshot, text, &row, &error) == 0 && row == NULL)
        abort();
    char *list = strchr(text, '\n');
    if (list != NULL)
        *list++ = '\0';
    check_list(snapshot, list != NULL ? list : text, list != NULL ? text : NULL);
    free(text);
    return 0;
}
