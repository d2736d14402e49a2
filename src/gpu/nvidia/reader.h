/* reader.h: a sample of one device, and the readings that it consists of.
 *
 * A reading is a driver call and the metrics that it gives; it runs if one of them is wanted, and
 * no call is made twice. Readings are in one file for each topic; sample.c has the table of them.
 * Thread rule: as struct nvidia_device. */
#pragma once

#include "gpu/fill.h"
#include "gpu/nvidia/state.h"

struct nvidia_reader {
    struct nvidia *nvidia;
    const struct nvml *nvml;
    struct nvidia_device *device;
    nvml_device handle;
    struct gpu_sample *sample;
    char status[PCI_STATUS]; /* the word of pci_is_asleep */
    bool lost;               /* the driver reported the device as lost: nothing more is queried */
};

static inline bool reader_wants(const struct nvidia_reader *reader, vitals_metric metric)
{
    return gpu_fill_wants(reader->sample, metric);
}

/* Notes a lost device, and returns the code. */
nvml_return reader_check(struct nvidia_reader *reader, nvml_return code);

/* Sets the result of a call, or why it has none; for the device, or for the row with the label. */
void reader_set(struct nvidia_reader *reader, vitals_metric metric, nvml_return code,
                struct value value);
void reader_set_text(struct nvidia_reader *reader, vitals_metric metric, nvml_return code,
                     const char *text);
void reader_set_child(struct nvidia_reader *reader, vitals_metric metric, const char *label,
                      nvml_return code, struct value value);

/* Lists a row with that label, even without a value; `metric` is any of its table. */
static inline void reader_list(struct nvidia_reader *reader, vitals_metric metric,
                               const char *label)
{
    gpu_fill_child(reader->sample, metric, label, value_missing(VITALS_UNSUPPORTED));
}

/* Calls a function that returns one number, by its offset in struct nvml; *out is 0 on failure. */
nvml_return reader_call_u32(struct nvidia_reader *reader, size_t function, unsigned *out);

/* Likewise for an nvml_choice_call. */
nvml_return reader_call_choice(struct nvidia_reader *reader, size_t function, unsigned which,
                               unsigned *out);

/* Reads field values in one call, except those that the device does not have. `fields` has room for
 * one more than `count`, because some drivers read the entry after the last one. Each entry has its
 * own code afterwards. */
void reader_call_fields(struct nvidia_reader *reader, struct nvml_field_value *fields, int count);

/* Returns the number of a field; *code is its result, or why there is none. */
uint64_t nvml_field_number(const struct nvml_field_value *field, nvml_return *code);

/* READER_ASK(reader, which, nvmlDeviceGetName, …): calls the function for the device, unless it is
 * known to be unsupported. */
#define READER_ASK(reader, which, name, ...) \
    NVIDIA_ASK((reader)->nvml, (reader)->device, which, name, (reader)->handle, __VA_ARGS__)

/* Convert a number, unchanged or times a factor. All bits set is "not known": 64, or 32 if `most`
 * fits in 32; a number above `most` is implausible. */
struct value nvml_count(uint64_t number, uint64_t most);
struct value nvml_amount(uint64_t number, double factor, uint64_t most);

typedef void nvidia_reading(struct nvidia_reader *reader);

/* numbers.c */
nvidia_reading nvidia_read_numbers, nvidia_read_energy, nvidia_read_power_limits,
    nvidia_read_compute_mode, nvidia_read_mig_mode, nvidia_read_ecc_mode, nvidia_read_driver_model,
    nvidia_read_accounting_pids, nvidia_read_pcie_throughput;
/* about.c */
nvidia_reading nvidia_read_texts, nvidia_read_multiprocessors, nvidia_read_place,
    nvidia_read_place_of_driver, nvidia_read_partition;
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
