/* account.h: the use of a run, for people and for programs.
 *
 * Sees accounts, and recordings through recording.h; no machine, no clock. Its output is safe for a
 * terminal. One thread. */
#pragma once

#include <stdbool.h>

#include <vitals/vitals.h>

/* How figures are shown. */
struct account_view {
    bool ascii, color;
    bool verbose;            /* every figure */
    bool spaced;             /* "41.2 GiB", not "41.2GiB" */
    size_t width;            /* columns; 0: lines as long as they are */
    const char *memory_unit; /* names of vitals_usage_convert; NULL: what reads best */
    const char *gpu_memory_unit;
    const char *time_unit;
};

/* Returns true if the units are valid; else a line that names the invalid ones, safe to print,
 * without an end. */
bool account_units(const struct account_view *view, char *out, size_t capacity);

/* The text. Returns 0, or what `write` returned to stop. */
int account_text(const vitals_account *account, const struct account_view *view,
                 vitals_write_fn *write, void *data);

/* gpu_tracker's report, its keys and its meaning: as JSON, or as its text. Units that are not said
 * are its defaults: gigabytes, hours. */
int account_gpu_tracker(const vitals_account *account, const struct account_view *view, bool text,
                        vitals_write_fn *write, void *data);

struct json_form;

/* A member more of the JSON of an account. */
struct account_member {
    const char *key;
    void (*put)(const void *data, struct json_form *form); /* the form waits for the value */
    const void *data;
};

/* vitals_account_json with members behind its own. */
int account_json_with(const vitals_account *account, const struct account_member *members,
                      size_t count, vitals_write_fn *write, void *data);
