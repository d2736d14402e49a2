/* write_gpu_tracker.c: writes gpu_tracker's CSV, and a sub-tracking file beside it (FILE.sub.csv)
 * after the first mark. */
#include "record/foreign/gpu_tracker.h"
#include "record/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/decimal.h"

struct tracking_state {
    bool begun;
    struct text_file sub; /* valid only if `sub_open` */
    bool sub_open;
    char sub_path[4096];
};

static void put_titles(struct text_file *file, const struct gpu_tracker_column *columns,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_file_put(file, i > 0 ? "," : "");
        text_file_put(file, columns[i].name);
    }
}

static void put_values(struct recorder *recorder, const struct gpu_tracker_column *columns,
                       size_t count, const struct record_sample *sample)
{
    char words[NUMBER_WORDS];
    double cores = atof(recorder_attribute_text(recorder, "expected_cores"));
    for (size_t i = 0; i < count; i++) {
        const struct gpu_tracker_column *column = &columns[i];
        text_file_put(&recorder->file, i > 0 ? "," : "");
        if (column->type == GPU_TRACKER_TEXT) {
            text_file_put(&recorder->file, column->text);
            continue;
        }
        number_shortest(gpu_tracker_value(column, sample, cores), words);
        text_file_put(&recorder->file, words);
        if (column->type == GPU_TRACKER_REAL && strpbrk(words, ".e") == NULL)
            text_file_put(&recorder->file, ".0");
    }
}

/* Rates need two samples, so the first gives no row; gpu_tracker does the same. */
static int tracking_sample(struct recorder *recorder, const struct record_sample *sample,
                           vitals_error *error)
{
    struct tracking_state *state = recorder->state;
    if (state->begun) {
        put_values(recorder, GPU_TRACKER_DATA_COLUMNS, GPU_TRACKER_DATA, sample);
        return text_file_end_line(&recorder->file, error);
    }
    state->begun = true;
    put_titles(&recorder->file, GPU_TRACKER_STATIC_COLUMNS, GPU_TRACKER_STATIC);
    int code = text_file_end_line(&recorder->file, error);
    if (code < 0)
        return code;
    put_values(recorder, GPU_TRACKER_STATIC_COLUMNS, GPU_TRACKER_STATIC, sample);
    code = text_file_end_line(&recorder->file, error);
    if (code < 0)
        return code;
    put_titles(&recorder->file, GPU_TRACKER_DATA_COLUMNS, GPU_TRACKER_DATA);
    return text_file_end_line(&recorder->file, error);
}

static int tracking_mark(struct recorder *recorder, const vitals_mark *mark, uint64_t realtime_ns,
                         vitals_error *error)
{
    struct tracking_state *state = recorder->state;
    char words[64], safe[256];
    int code = 0;
    if (recorder->path == NULL)
        return 0; /* standard output has no place beside it */
    if (!state->sub_open) {
        gpu_tracker_beside(recorder->path, state->sub_path, sizeof state->sub_path);
        code = text_file_open(&state->sub, state->sub_path, recorder->options.overwrite, error);
        state->sub_open = code == 0;
        for (size_t i = 0; i < 4 && code == 0; i++) {
            text_file_put(&state->sub, i > 0 ? "," : "");
            text_file_put(&state->sub, GPU_TRACKER_SUB_COLUMNS[i]);
        }
        if (code == 0)
            code = text_file_end_line(&state->sub, error);
    }
    if (code < 0)
        return code;
    (void)vitals_text_format((vitals_text){mark->name, strlen(mark->name)}, VITALS_TEXT_TERMINAL,
                             safe, sizeof safe);
    (void)snprintf(words, sizeof words, "%lld,", (long long)mark->pid);
    text_file_put(&state->sub, words);
    text_file_field(&state->sub, safe, false);
    (void)snprintf(words, sizeof words, ",%d,%llu.%06llu", mark->begins ? 0 : 1,
                   (unsigned long long)(realtime_ns / 1000000000u),
                   (unsigned long long)(realtime_ns % 1000000000u / 1000u));
    text_file_put(&state->sub, words);
    return text_file_end_line(&state->sub, error);
}

static int tracking_begin(struct recorder *recorder, vitals_error *error)
{
    struct tracking_state *state = recorder->state;
    (void)error;
    state->sub.descriptor = -1;
    return 0;
}

static int tracking_end(struct recorder *recorder, vitals_error *error)
{
    struct tracking_state *state = recorder->state;
    (void)error;
    text_file_close(&state->sub);
    state->sub_open = false;
    return 0;
}

const struct format FORMAT_GPU_TRACKER = {.name = "gpu-tracker",
                                          .state_size = sizeof(struct tracking_state),
                                          .text = true,
                                          .machine = true,
                                          .begin = tracking_begin,
                                          .sample = tracking_sample,
                                          .end = tracking_end,
                                          .mark = tracking_mark,
                                          .beside = gpu_tracker_beside};
