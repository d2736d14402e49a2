/* networks.c: see networks.h. */
#include "host/networks.h"

#include <string.h>

static const struct {
    vitals_metric metric;
    unsigned char number;
} COLUMNS[] = {
    {VITALS_NETWORK_RECEIVED_BYTES, OS_NETWORK_RECEIVED_BYTES},
    {VITALS_NETWORK_TRANSMITTED_BYTES, OS_NETWORK_TRANSMITTED_BYTES},
    {VITALS_NETWORK_RECEIVED_PACKETS, OS_NETWORK_RECEIVED_PACKETS},
    {VITALS_NETWORK_TRANSMITTED_PACKETS, OS_NETWORK_TRANSMITTED_PACKETS},
    {VITALS_NETWORK_RECEIVE_ERRORS, OS_NETWORK_RECEIVE_ERRORS},
    {VITALS_NETWORK_TRANSMIT_ERRORS, OS_NETWORK_TRANSMIT_ERRORS},
    {VITALS_NETWORK_RECEIVE_DROPS, OS_NETWORK_RECEIVE_DROPS},
    {VITALS_NETWORK_TRANSMIT_DROPS, OS_NETWORK_TRANSMIT_DROPS},
};

static const struct {
    vitals_metric metric;
    unsigned char number;
} SUMS[] = {
    {VITALS_HOST_NETWORK_RECEIVED_BYTES, OS_NETWORK_RECEIVED_BYTES},
    {VITALS_HOST_NETWORK_TRANSMITTED_BYTES, OS_NETWORK_TRANSMITTED_BYTES},
    {VITALS_HOST_NETWORK_RECEIVED_PACKETS, OS_NETWORK_RECEIVED_PACKETS},
    {VITALS_HOST_NETWORK_TRANSMITTED_PACKETS, OS_NETWORK_TRANSMITTED_PACKETS},
};

static void classify(const struct os *os, struct device *device, const struct device *before,
                     size_t count)
{
    (void)before;
    (void)count;
    os_network_kind(os, device->name, &device->kind);
}

static const struct devices_kind KIND = {
    .classify = classify,
    .bits = {[OS_NETWORK_RECEIVED_BYTES] = DEVICE_LONG_BITS,
             [OS_NETWORK_RECEIVED_PACKETS] = DEVICE_LONG_BITS,
             [OS_NETWORK_RECEIVE_ERRORS] = DEVICE_LONG_BITS,
             [OS_NETWORK_RECEIVE_DROPS] = DEVICE_LONG_BITS,
             [OS_NETWORK_TRANSMITTED_BYTES] = DEVICE_LONG_BITS,
             [OS_NETWORK_TRANSMITTED_PACKETS] = DEVICE_LONG_BITS,
             [OS_NETWORK_TRANSMIT_ERRORS] = DEVICE_LONG_BITS,
             [OS_NETWORK_TRANSMIT_DROPS] = DEVICE_LONG_BITS},
};

int networks_take(struct devices *networks, const struct os *os, const struct os_devices *reading,
                  struct values *machine)
{
    if (reading->state == VITALS_UNSET)
        return 0;
    int code = devices_take(networks, os, reading, &KIND);
    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++)
        values_set(machine, SUMS[i].metric, devices_sum(networks, SUMS[i].number, 1));
    return code;
}

void networks_write(const struct devices *networks, const struct answer_cache *cache,
                    vitals_builder *builder, uint64_t stamp_ns)
{
    vitals_builder_state(builder, VITALS_NETWORK, (vitals_availability)networks->state);
    size_t hint = 0;
    uint64_t number;
    for (size_t i = 0; networks->state > 0 && i < networks->count; i++) {
        const struct device *network = &networks->items[i];
        vitals_text name = {network->name, strlen(network->name)};
        vitals_builder_row(builder, VITALS_NETWORK, network->key, 0, name, stamp_ns);
        vitals_builder_text(builder, VITALS_NETWORK_NAME, name, VITALS_HAVE);
        vitals_builder_text(builder, VITALS_NETWORK_TYPE,
                            (vitals_text){network->kind.type, strlen(network->kind.type)},
                            VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_NETWORK_COUNTED, network->counted, VITALS_HAVE);
        for (size_t j = 0; j < ARRAY_COUNT(COLUMNS); j++)
            if (device_number(network, COLUMNS[j].number, &number))
                vitals_builder_u64(builder, COLUMNS[j].metric, number, VITALS_HAVE);
        cache_write_named(cache, VITALS_NETWORK, name, &hint, builder, stamp_ns);
        builder_rest(builder, VITALS_NETWORK, VITALS_UNSUPPORTED);
    }
}
