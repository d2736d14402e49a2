/* tables.c: which file reads which table. */
#include "os/linux/tables.h"

#include <errno.h>

static const struct {
    vitals_entity entity;
    int (*read)(const struct os *os, struct row_batch *out);
} MACHINE[] = {
    {VITALS_FILESYSTEM, table_filesystems},
    {VITALS_SENSOR, table_sensors},
    {VITALS_NETWORK_ADDRESS, table_addresses},
    {VITALS_LOGIN, table_logins},
    {VITALS_SOCKET, table_sockets},
    {VITALS_DIAGNOSIS, table_diagnosis},
    {0, NULL},
};

static const struct {
    vitals_entity entity;
    int (*read)(const struct os *os, int64_t pid, struct row_batch *out);
} PROCESS[] = {
    {0, NULL},
    {VITALS_THREAD, table_threads},
    {VITALS_DESCRIPTOR, table_descriptors},
    {VITALS_MAPPING, table_mappings},
    {VITALS_MAPPED_FILE, table_mapped_files},
    {VITALS_ENVIRONMENT, table_environment},
    {VITALS_LIMIT, table_limits},
    {VITALS_SOCKET, table_process_sockets},
};

int os_read_table(const struct os *os, vitals_entity entity, struct row_batch *out)
{
    for (size_t i = 0; i < ARRAY_COUNT(MACHINE); i++)
        if (MACHINE[i].read != NULL && MACHINE[i].entity == entity)
            return MACHINE[i].read(os, out);
    return -ENOTSUP;
}

int os_process_table(const struct os *os, int64_t pid, vitals_entity entity, struct row_batch *out)
{
    for (size_t i = 0; i < ARRAY_COUNT(PROCESS); i++)
        if (PROCESS[i].read != NULL && PROCESS[i].entity == entity)
            return PROCESS[i].read(os, pid, out);
    return -ENOTSUP;
}
