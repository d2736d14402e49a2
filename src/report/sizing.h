/* sizing.h: what to ask for next time, by the rules of docs/account.md. Pure. */
#pragma once

#include "report/account.h"

enum { SIZING_REASON = 240 };

/* One thing to ask for. */
struct sizing_part {
    bool known;
    double amount;              /* CPUs, bytes, GPUs, bytes of each GPU, seconds */
    char reason[SIZING_REASON]; /* what it rests on, or why there is none; safe to print */
};

enum sizing_what {
    SIZING_CPUS,
    SIZING_MEMORY,
    SIZING_GPUS,
    SIZING_GPU_MEMORY,
    SIZING_TIME,
    SIZING_COUNT
};

struct sizing {
    struct sizing_part parts[SIZING_COUNT];
    const char *gpu_resource;    /* "nvidia.com/gpu"; NULL: the vendor is not known */
    char starved[SIZING_REASON]; /* how long it waited for a CPU, if that was much; else "" */
    bool failed;                 /* it did not end well: it may have needed more, had it gone on */
};

void sizing_of(const vitals_account *account, struct sizing *out);

/* An amount in words, into room for WORDS bytes (words.h). */
void sizing_words(const struct account_view *view, size_t part, double amount, char *out);

/* The options of sbatch and srun that ask for it, "--cpus-per-task=2 --mem=4G --time=1:30:00"; ""
 * if nothing is known. */
void sizing_request(const struct sizing *sizing, char *out, size_t capacity);

/* Lines for a person; the value of a struct account_member whose data is a struct sizing; lines for
 * a job script or a pod. */
int sizing_text(const struct sizing *sizing, const struct account_view *view,
                vitals_write_fn *write, void *data);
void sizing_json(const void *sizing, struct json_form *form);
int sizing_slurm(const struct sizing *sizing, vitals_write_fn *write, void *data);
int sizing_kubernetes(const struct sizing *sizing, vitals_write_fn *write, void *data);
