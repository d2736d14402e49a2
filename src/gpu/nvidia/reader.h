/* reader.h: one sample of one device under way, and the readings that it is made of.
 *
 * A reading is a driver call and the metrics that it gives; it is made where one of them is wanted,
 * and no call is made twice. Readings stand in one file per noun; sample.c has the table of them.
 * Thread rule: as struct nvidia_device. */
#ifndef VITALS_GPU_NVIDIA_READER_H
#define VITALS_GPU_NVIDIA_READER_H

#include "gpu/fill.h"
#include "gpu/nvidia/state.h"

struct nvidia_reader {
    struct nvidia *nvidia;
    const struct nvml *nvml;
    struct nvidia_device *device;
    nvml_device handle;
    struct gpu_sample *sample;
    bool lost; /* the driver said so: nothing more is asked */
};

static inline bool reader_wants(const struct nvidia_reader *reader, vitals_metric metric)
{
    return gpu_fill_wants(reader->sample, metric);
}

/* Notices a lost device, and passes the code on. */
nvml_return reader_check(struct nvidia_reader *reader, nvml_return code);

/* What a call gave, or why it gave nothing; of the device, or of the row with the label. */
void reader_set(struct nvidia_reader *reader, vitals_metric metric, nvml_return code,
                struct value value);
void reader_set_text(struct nvidia_reader *reader, vitals_metric metric, nvml_return code,
                     const char *text);
void reader_set_child(struct nvidia_reader *reader, vitals_metric metric, const char *label,
                      nvml_return code, struct value value);

/* There is a row with that label, whatever will be known of it; `metric` is any of its table. */
static inline void reader_list(struct nvidia_reader *reader, vitals_metric metric,
                               const char *label)
{
    gpu_fill_child(reader->sample, metric, label, value_missing(VITALS_UNSUPPORTED));
}

/* A call that gives one number by the function's place in struct nvml; *out is 0 where it fails. */
nvml_return reader_call_u32(struct nvidia_reader *reader, size_t function, unsigned *out);

/* Likewise of an nvml_choice_call. */
nvml_return reader_call_choice(struct nvidia_reader *reader, size_t function, unsigned which,
                               unsigned *out);

/* Field values in one call, but for those that the device does not have; fields has room for one
 * more than `count`, as some drivers look at the entry behind the last one. Each has its code
 * afterwards. */
void reader_call_fields(struct nvidia_reader *reader, struct nvml_field_value *fields, int count);

/* The number in a field; its result is *code, or what says that there is none. */
uint64_t nvml_field_number(const struct nvml_field_value *field, nvml_return *code);

/* READER_ASK(reader, which, nvmlDeviceGetName, …): the function of the device, if it has that. */
#define READER_ASK(reader, which, name, ...) \
    NVIDIA_ASK((reader)->nvml, (reader)->device, which, name, (reader)->handle, __VA_ARGS__)

/* A number as it is, or times factor. All bits set is "not known": 64, or 32 where `most` is a
 * number of 32; above `most` is nonsense. */
struct value nvml_count(uint64_t number, uint64_t most);
struct value nvml_amount(uint64_t number, double factor, uint64_t most);

typedef void nvidia_reading(struct nvidia_reader *reader);

/* numbers.c */
nvidia_reading nvidia_read_numbers, nvidia_read_energy, nvidia_read_power_limits,
    nvidia_read_compute_mode, nvidia_read_mig_mode, nvidia_read_ecc_mode, nvidia_read_driver_model,
    nvidia_read_accounting_pids, nvidia_read_pcie_throughput;
/* about.c */
nvidia_reading nvidia_read_texts, nvidia_read_multiprocessors, nvidia_read_place,
    nvidia_read_partition;
/* memory.c, numbers.c, sensors.c */
nvidia_reading nvidia_read_memory, nvidia_read_bar1, nvidia_read_utilization, nvidia_read_engines,
    nvidia_read_temperature, nvidia_read_fans;
/* sensors.c: clocks, all of the table */
nvidia_reading nvidia_read_clocks, nvidia_read_reasons, nvidia_read_violations;
/* ecc.c */
nvidia_reading nvidia_read_ecc, nvidia_read_retired_pages, nvidia_read_remapped_rows,
    nvidia_read_error_locations, nvidia_read_events;
/* links.c, gpm.c */
nvidia_reading nvidia_read_links, nvidia_read_gpm;

#endif
