/* table_data.h: the state that table.c keeps and rows.c writes. Only these files and peers.c
 * include it. */
#pragma once

#include "gpu/table.h"
#include "model/answer_cache.h"

/* A text of the identity: offsets of its bytes and its state in struct gpu_identity. */
struct gpu_text {
    vitals_metric metric;
    size_t bytes, state;
};
#define GPU_TEXT_ALWAYS SIZE_MAX /* no state: the text is always there */
enum { GPU_TEXTS = 6, GPU_TABLE_LABEL = 24, GPU_PART_LABEL = 48 };
extern const struct gpu_text gpu_texts[GPU_TEXTS];

/* A row of a child table: its key is never given to another row. */
struct gpu_part {
    uint64_t key;
    vitals_table entity;
    uint64_t number; /* identifies the row in its table; 0: its label does */
    bool is_there;   /* used while rows that are gone are searched */
    size_t label_size;
    char label[GPU_PART_LABEL];
};

/* A process on the device. */
struct gpu_user {
    uint64_t key;
    uint64_t process;   /* its key in the table of processes; 0: never seen there */
    double busy_before; /* part of now's busy_seconds that an earlier process with this pid used */
    bool is_old;        /* the list that it was in could not be read this time */
    struct gpu_process now;
};

struct gpu_device {
    uint64_t key, parent;
    unsigned backend;
    bool present;
    bool is_left_out; /* the request does not name it: it has no row, and is not read */
    uint32_t place;   /* index in the last scan */
    bool claimed;     /* used while a scan is taken: it is one of its devices */
    char label[GPU_TABLE_LABEL];
    struct gpu_identity identity;
    struct shared_text *texts[GPU_TEXTS];

    uint64_t stamp_ns;
    signed char lost;             /* why the device cannot be read; HAVE: it can */
    struct answer_cache readings; /* values from its driver */
    struct answer_cache claims; /* values from other sources: the table gpu_job, whether the driver
                                 * answers or not */
    uint64_t claims_stamp_ns;
    struct gpu_part *parts; /* in the order of tables, numbers and labels */
    size_t part_count, part_capacity;
    size_t part_limit; /* if there are more, rows that are gone are removed */

    uint64_t users_stamp_ns;
    bool users_cache;
    struct metric_set users_asked; /* requested at least once */
    struct value process_count;
    struct gpu_user *users, *spare; /* in the order of pids; spare holds the previous list */
    size_t user_count, user_capacity, spare_capacity;
};

struct gpu_table {
    struct gpu_device **devices; /* in the order of keys */
    size_t count, capacity;
    const struct vitals_request *request; /* NULL: no device is left out */
    uint64_t scanning;              /* a bit for each back end whose first scan is under way */
    uint64_t child_keys, user_keys; /* the last keys that were given */
    struct row_batch peers;         /* the last rows of topology.c, */
    uint64_t peers_hash;            /* computed for these devices and links */
};

/* Returns the cache that holds the device's rows of a table. */
static inline const struct answer_cache *gpu_device_late(const struct gpu_device *device,
                                                         vitals_table entity)
{
    return entity == VITALS_TABLE_GPU_JOB ? &device->claims : &device->readings;
}

/* Gives a row of a child table a key, unless it has one. Returns 0 or VITALS_EMEMORY. */
int gpu_part_add(struct gpu_table *table, struct gpu_device *device, const struct row_batch *batch,
                 const struct batch_row *row);

/* Returns the row's key; NULL if it has none. */
const struct gpu_part *gpu_part_find(const struct gpu_device *device, const struct row_batch *batch,
                                     const struct batch_row *row);

/* Removes rows that are gone, once they outnumber the present ones. */
void gpu_parts_forget(const struct gpu_table *table, struct gpu_device *device);

/* Returns the state of a table of which the devices known so far have told `state`: more devices
 * may come while a back end's first scan is under way. rows.c */
vitals_availability gpu_table_state(const struct gpu_table *table, vitals_availability state);

/* Writes the rows of gpu_peer into the open table. peers.c */
void gpu_table_write_peers(const struct gpu_table *table, vitals_builder *builder,
                           uint64_t stamp_ns);
