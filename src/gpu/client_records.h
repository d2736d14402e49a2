/* client_records.h: the records of processes that clients.c keeps and client_rows.c makes rows of.
 * No other file includes it. */
#ifndef VITALS_GPU_CLIENT_RECORDS_H
#define VITALS_GPU_CLIENT_RECORDS_H

#include "gpu/clients.h"

/* Memory of one kind. */
struct held {
    bool told, is_total; /* is_total: what is reserved, for what is resident is not told */
    uint64_t bytes, shared_bytes;
};

/* A process on the device. Engines by their place in clients.engines. */
struct user_record {
    int64_t pid;
    uint64_t start_ticks;
    double seconds[SWEEP_ENGINES];
    double busy_seconds; /* of the busiest engine, since it was first seen */
    /* Of the last update: */
    unsigned uses;
    int64_t charged_pid; /* 0: no process was charged for what it holds */
    uint32_t clients;    /* that it is charged for */
    bool is_partial;     /* one of them is new, and what it did before is not in the ratios */
    bool has_ratio;
    bool is_estimate; /* a ratio was above the whole */
    bool is_unclear;  /* it has descriptors that cannot be told apart */
    double ratio[SWEEP_ENGINES];
    double interval; /* seconds */
    struct held memory[REGION_SYSTEM + 1];
};

/* The rows of all users, as they are after an update. */
void clients_write(const struct clients *clients, const struct clients_device *device,
                   struct gpu_processes *out);

#endif
