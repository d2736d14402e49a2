/* sizing_print.c: what to ask for next time, for people, programs, Slurm and Kubernetes. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/json_form.h"
#include "report/sizing.h"
#include "report/words.h"
#include "view/paint.h"

static const double MIB = 0x1p20, GIB = 0x1p30;

static const struct {
    const char *what, *key;
} PARTS[SIZING_COUNT] = {
    [SIZING_CPUS] = {"CPUs", "cpus"},
    [SIZING_MEMORY] = {"memory", "memory_bytes"},
    [SIZING_GPUS] = {"GPUs", "gpus"},
    [SIZING_GPU_MEMORY] = {"GPU memory", "gpu_memory_bytes"},
    [SIZING_TIME] = {"time", "time_seconds"},
};

/* "48 GiB", "512 MiB": whole ones, as they are asked for; `gib` and `mib` name the units. */
static char *size_words(double bytes, const char *gib, const char *mib, char out[static WORDS])
{
    bool whole = bytes >= GIB && fmod(bytes, GIB) == 0;
    (void)snprintf(out, WORDS, "%.0f%s", bytes / (whole ? GIB : MIB), whole ? gib : mib);
    return out;
}

void sizing_words(const struct account_view *view, size_t part, double amount, char *out)
{
    if (part == SIZING_TIME)
        (void)words_value(view, "wall_seconds", "seconds", amount, out);
    else if (part == SIZING_MEMORY && view->memory_unit == NULL)
        (void)size_words(amount, " GiB", " MiB", out);
    else if (part == SIZING_GPU_MEMORY && view->gpu_memory_unit == NULL)
        (void)size_words(amount, " GiB", " MiB", out);
    else if (part == SIZING_MEMORY || part == SIZING_GPU_MEMORY)
        (void)words_value(view, part == SIZING_MEMORY ? "" : "gpu_memory", "bytes", amount, out);
    else
        (void)snprintf(out, WORDS, "%.0f", amount);
}

int sizing_text(const struct sizing *sizing, const struct account_view *view, vitals_write *write,
                void *data)
{
    enum { WHAT = 13, AMOUNT = 32 };
    struct paint paint;
    paint_init(&paint, view->color, write, data);
    paint_end(&paint);
    paint_text(&paint, COLOR_PLAIN,
               sizing->failed ? "next time ask for (this run failed and may have needed more)"
                              : "next time ask for");
    paint_end(&paint);
    for (size_t i = 0; i < SIZING_COUNT; i++) {
        char amount[WORDS] = "N/A";
        const struct sizing_part *part = &sizing->parts[i];
        bool used_none = part->known && part->amount == 0 &&
                         strncmp(part->reason, "it used none", 12) == 0;
        if ((i == SIZING_GPU_MEMORY && !part->known) || (i == SIZING_GPUS && used_none))
            continue;
        if (part->known)
            sizing_words(view, i, part->amount, amount);
        paint_text(&paint, COLOR_PLAIN, "  ");
        paint_cell(&paint, COLOR_BOLD, ALIGN_LEFT, WHAT - 2, PARTS[i].what);
        paint_cell(&paint, COLOR_PLAIN, ALIGN_LEFT, AMOUNT, amount);
        paint_paragraph(&paint, COLOR_DIM, WHAT + AMOUNT, view->width, part->reason);
    }
    return paint_done(&paint);
}

void sizing_json(const struct sizing *sizing, void *to)
{
    struct json_form *form = to;
    form_begin(form, '{');
    for (size_t i = 0; i < SIZING_COUNT; i++) {
        form_key(form, PARTS[i].key);
        form_begin(form, '{');
        form_put_number(form, "value",
                        sizing->parts[i].known ? sizing->parts[i].amount : (double)NAN);
        form_put_string(form, "reason", sizing->parts[i].reason);
        form_end(form, '}');
    }
    form_end(form, '}');
}

/* ---- for schedulers ---- */

static void put(struct paint *paint, const char *format, ...) VITALS_FORMAT(2, 3);

static void put(struct paint *paint, const char *format, ...)
{
    char line[2 * WORDS];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    paint_text(paint, COLOR_PLAIN, line);
    paint_end(paint);
}

/* Remarks about what could not be determined, so that its absence is not taken for an answer. */
static void put_unknown(struct paint *paint, const struct sizing *sizing)
{
    if (sizing->failed)
        put(paint, "# this run failed and may have needed more");
    for (size_t i = 0; i < SIZING_COUNT; i++) {
        if (!sizing->parts[i].known && i != SIZING_GPU_MEMORY)
            put(paint, "# %s: %s", PARTS[i].what, sizing->parts[i].reason);
    }
}

int sizing_slurm(const struct sizing *sizing, vitals_write *write, void *data)
{
    const struct sizing_part *parts = sizing->parts;
    struct paint paint;
    char size[WORDS]; /* Slurm's letters are binary: its M is MiB */
    paint_init(&paint, false, write, data);
    if (parts[SIZING_CPUS].known)
        put(&paint, "#SBATCH --cpus-per-task=%.0f", parts[SIZING_CPUS].amount);
    if (parts[SIZING_MEMORY].known)
        put(&paint, "#SBATCH --mem=%s", size_words(parts[SIZING_MEMORY].amount, "G", "M", size));
    if (parts[SIZING_GPUS].known && parts[SIZING_GPUS].amount > 0)
        put(&paint, "#SBATCH --gpus=%.0f", parts[SIZING_GPUS].amount);
    if (parts[SIZING_TIME].known) {
        double minutes = parts[SIZING_TIME].amount / 60, hours = floor(minutes / 60);
        put(&paint, "#SBATCH --time=%.0f:%02.0f:00", hours, minutes - hours * 60);
    }
    if (parts[SIZING_GPU_MEMORY].known)
        put(&paint, "# each GPU needs %.0f GiB of memory", parts[SIZING_GPU_MEMORY].amount / GIB);
    put_unknown(&paint, sizing);
    return paint_done(&paint);
}

int sizing_kubernetes(const struct sizing *sizing, vitals_write *write, void *data)
{
    const struct sizing_part *parts = sizing->parts;
    struct paint paint;
    char size[WORDS];
    bool gpus = parts[SIZING_GPUS].known && parts[SIZING_GPUS].amount > 0;
    paint_init(&paint, false, write, data);
    put(&paint, "resources:");
    if (parts[SIZING_CPUS].known || parts[SIZING_MEMORY].known)
        put(&paint, "  requests:");
    if (parts[SIZING_CPUS].known)
        put(&paint, "    cpu: \"%.0f\"", parts[SIZING_CPUS].amount);
    (void)size_words(parts[SIZING_MEMORY].amount, "Gi", "Mi", size);
    if (parts[SIZING_MEMORY].known)
        put(&paint, "    memory: %s", size);
    if (parts[SIZING_MEMORY].known || (gpus && sizing->gpu_resource != NULL))
        put(&paint, "  limits:");
    if (parts[SIZING_MEMORY].known)
        put(&paint, "    memory: %s", size);
    if (gpus && sizing->gpu_resource != NULL)
        put(&paint, "    %s: %.0f", sizing->gpu_resource, parts[SIZING_GPUS].amount);
    if (gpus && sizing->gpu_resource == NULL)
        put(&paint,
            "# %.0f GPUs: limits of amd.com/gpu or gpu.intel.com/i915, as your cluster "
            "names them",
            parts[SIZING_GPUS].amount);
    if (parts[SIZING_GPU_MEMORY].known)
        put(&paint, "# each GPU needs %.0f GiB of memory", parts[SIZING_GPU_MEMORY].amount / GIB);
    put_unknown(&paint, sizing);
    return paint_done(&paint);
}
