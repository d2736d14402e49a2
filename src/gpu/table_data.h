/* table_data.h: what table.c keeps and rows.c writes. Nobody else includes it. */
#ifndef VITALS_GPU_TABLE_DATA_H
#define VITALS_GPU_TABLE_DATA_H

#include "gpu/table.h"

/* A text of the identity: where its bytes and its state stand in struct gpu_identity. */
struct gpu_text {
    vitals_metric metric;
    size_t bytes, state;
};
#define GPU_TEXT_ALWAYS SIZE_MAX /* it has no state: it is always there */
enum { GPU_TEXTS = 6 };
extern const struct gpu_text gpu_texts[GPU_TEXTS];

/* A row of a child table. */
struct gpu_part {
    uint64_t key;
    vitals_entity entity;
    char label[GPU_LABEL];
    struct value at[4];
    uint64_t moments[4];
};

/* A process on the device. */
struct gpu_user {
    uint64_t key;
    uint64_t process;   /* its key in the table of processes; 0: never seen there */
    double busy_before; /* of now.busy_seconds: what an earlier owner of the pid used */
    struct gpu_process now;
};

struct gpu_device {
    uint64_t key, parent;
    unsigned backend;
    bool present;
    uint32_t place; /* in the last scan */
    char label[GPU_LABEL];
    struct gpu_identity who;
    struct shared_text *texts[GPU_TEXTS];

    uint64_t stamp_ns;
    bool late; /* since the last reading; likewise users_late */
    struct values values;
    struct moments moments;
    struct shared_text *compute_mode;
    signed char compute_mode_state;
    struct gpu_part *children;
    size_t child_count, child_capacity;

    uint64_t users_stamp_ns;
    bool users_late;
    struct value process_count;
    struct gpu_user *users, *spare; /* in the order of pids; spare is what users was before */
    size_t user_count, user_capacity, spare_capacity;
};

struct gpu_table {
    struct gpu_device **devices; /* in the order of keys */
    size_t count, capacity;
    uint64_t child_keys, user_keys; /* the last that was given */
};

#endif
