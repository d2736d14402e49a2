/* panel.c: what panels share. */
#include "report/panel.h"

#include "feed/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A partition is shown where its device is. The label of a device is its index; that of a partition
 * begins with it. */
bool panel_shows_device(const struct view *view, const vitals_row *gpu)
{
    const struct report_options *options = view->options;
    if (options->device_count == 0)
        return true;
    uint64_t index = strtoull(vitals_row_label(gpu), NULL, 10);
    for (size_t i = 0; i < options->device_count; i++) {
        if (options->devices[i] == index)
            return true;
    }
    return false;
}

vitals_availability panel_ratio(const vitals_row *row, vitals_metric part, vitals_metric whole,
                                double *out)
{
    double a, b;
    vitals_availability first = vitals_row_number(row, part, &a);
    vitals_availability second = vitals_row_number(row, whole, &b);
    if (first <= 0 || second <= 0)
        return first <= 0 ? first : second;
    if (b <= 0)
        return VITALS_UNSUPPORTED;
    *out = a / b;
    return first;
}

enum color panel_device_color(const struct view *view, const vitals_row *gpu)
{
    double memory = 0, busy = 0, age;
    const struct silence *silence = trouble_silence(gpu);
    if (silence != NULL)
        return silence->is_fault ? COLOR_MAGENTA : COLOR_DIM;
    if (trouble_age(gpu, &age))
        return COLOR_DIM;
    vitals_availability has_memory = panel_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES,
                                                 VITALS_GPU_MEMORY_TOTAL_BYTES, &memory);
    vitals_availability has_busy = vitals_row_f64(gpu, VITALS_GPU_UTILIZATION_RATIO, &busy);
    enum color a = paint_load(has_memory, memory, view->options->memory_thresholds);
    enum color b = paint_load(has_busy, busy, view->options->gpu_thresholds);
    if (a == COLOR_DIM || b == COLOR_DIM)
        return a == COLOR_DIM ? b : a;
    return a > b ? a : b; /* green, yellow, red stand in that order */
}

static char *not_available(char *out)
{
    memcpy(out, "N/A", 4);
    return out;
}

char *panel_percent(const vitals_row *row, vitals_metric metric, char *out)
{
    double ratio;
    if (row == NULL || vitals_row_f64(row, metric, &ratio) <= 0)
        return not_available(out);
    (void)snprintf(out, PANEL_TEXT, "%.0f%%", ratio * 100);
    return out;
}

char *panel_bytes(const vitals_row *row, vitals_metric metric, char *out)
{
    uint64_t bytes;
    if (row == NULL || vitals_row_u64(row, metric, &bytes) <= 0)
        return not_available(out);
    return vitals_human_bytes(bytes, out);
}

char *panel_number(const vitals_row *row, vitals_metric metric, const char *format, char *out)
{
    double number;
    if (row == NULL || vitals_row_number(row, metric, &number) <= 0)
        return not_available(out);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(out, PANEL_TEXT, format, number);
#pragma GCC diagnostic pop
    return out;
}

char *panel_text(const struct view *view, const vitals_row *row, vitals_metric metric, char *out,
                 size_t capacity)
{
    vitals_text text;
    if (row == NULL || vitals_row_text(row, metric, &text) <= 0)
        return not_available(out);
    vitals_text_format(text, view->options->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out,
                       capacity);
    return out;
}
