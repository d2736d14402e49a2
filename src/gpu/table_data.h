/* table_data.h: what table.c keeps and rows.c writes. No other file includes it. */
#ifndef VITALS_GPU_TABLE_DATA_H
#define VITALS_GPU_TABLE_DATA_H

#include "gpu/table.h"
#include "model/answer_cache.h"

/* A text of the identity: where its bytes and its state stand in struct gpu_identity. */
struct gpu_text {
    vitals_metric metric;
    size_t bytes, state;
};
#define GPU_TEXT_ALWAYS SIZE_MAX /* it has no state: it is always there */
enum { GPU_TEXTS = 6, GPU_TABLE_LABEL = 24, GPU_PART_LABEL = 48 };
extern const struct gpu_text gpu_texts[GPU_TEXTS];

/* A row of a child table: its key is never given to another. */
struct gpu_part {
    uint64_t key;
    vitals_table entity;
    uint64_t number; /* identifies it in its table; 0: its label does */
    bool is_there;   /* while the rows that are gone are found */
    size_t label_size;
    char label[GPU_PART_LABEL];
};

/* A process on the device. */
struct gpu_user {
    uint64_t key;
    uint64_t process;   /* its key in the table of processes; 0: never seen there */
    double busy_before; /* of now's busy_seconds: what an earlier owner of the pid used */
    struct gpu_process now;
};

struct gpu_device {
    uint64_t key, parent;
    unsigned backend;
    bool present;
    uint32_t place; /* in the last scan */
    bool claimed;   /* while a scan is taken in: it is one of its devices */
    char label[GPU_TABLE_LABEL];
    struct gpu_identity identity;
    struct shared_text *texts[GPU_TEXTS];

    uint64_t stamp_ns;
    signed char lost;             /* why nothing at all is read of it; HAVE: it is */
    struct answer_cache readings; /* what its driver says */
    struct answer_cache
        claims; /* what others do: the table gpu_job, whether the driver answers or not */
    uint64_t claims_stamp_ns;
    struct gpu_part *parts; /* in the order of tables, numbers and labels */
    size_t part_count, part_capacity;
    size_t part_limit; /* beyond it, rows that are gone are removed */

    uint64_t users_stamp_ns;
    bool users_cache;
    struct metric_set users_asked; /* at least once */
    struct value process_count;
    struct gpu_user *users, *spare; /* in the order of pids; spare is what users was before */
    size_t user_count, user_capacity, spare_capacity;
};

struct gpu_table {
    struct gpu_device **devices; /* in the order of keys */
    size_t count, capacity;
    uint64_t child_keys, user_keys; /* the last that was given */
    struct row_batch peers;         /* what topology.c said last, */
    uint64_t peers_hash;            /* of these devices and links */
};

/* The cache that holds the device's rows of a table. */
static inline const struct answer_cache *gpu_device_late(const struct gpu_device *device,
                                                         vitals_table entity)
{
    return entity == VITALS_TABLE_GPU_JOB ? &device->claims : &device->readings;
}

/* Gives a row of a child table a key, where it has none. 0 or VITALS_EMEMORY. */
int gpu_part_add(struct gpu_table *table, struct gpu_device *device, const struct row_batch *batch,
                 const struct batch_row *row);

/* The row's key; NULL where it has none. */
const struct gpu_part *gpu_part_find(const struct gpu_device *device, const struct row_batch *batch,
                                     const struct batch_row *row);

/* Forgets rows that are gone, once they are more than those that are there. */
void gpu_parts_forget(const struct gpu_table *table, struct gpu_device *device);

/* peers.c: the rows of gpu_peer, into the open table. */
void gpu_table_write_peers(const struct gpu_table *table, vitals_builder *builder,
                           uint64_t stamp_ns);

#endif
