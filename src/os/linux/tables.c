/* tables.c: which file reads which table. */
#include "os/linux/tables.h"

#include <errno.h>

static const struct {
    vitals_table entity;
    int (*read)(const struct os *os, struct row_batch *out);
} MACHINE[] = {
    {VITALS_TABLE_FILESYSTEM, table_filesystems}, {VITALS_TABLE_MOUNT, table_mounts},
    {VITALS_TABLE_SENSOR, table_sensors},         {VITALS_TABLE_NETWORK_ADDRESS, table_addresses},
    {VITALS_TABLE_LOGIN, table_logins},           {VITALS_TABLE_SOCKET, table_sockets},
    {VITALS_TABLE_DIAGNOSIS, table_diagnosis},
};

static const struct {
    vitals_table entity;
    int (*read)(const struct os *os, int64_t pid, struct row_batch *out);
} PROCESS[] = {
    {VITALS_TABLE_THREAD, table_threads},          {VITALS_TABLE_DESCRIPTOR, table_descriptors},
    {VITALS_TABLE_MAPPING, table_mappings},        {VITALS_TABLE_MAPPED_FILE, table_mapped_files},
    {VITALS_TABLE_ENVIRONMENT, table_environment}, {VITALS_TABLE_LIMIT, table_limits},
    {VITALS_TABLE_SOCKET, table_process_sockets},
};

int os_read_table(const struct os *os, vitals_table entity, struct row_batch *out)
{
    for (size_t i = 0; i < ARRAY_COUNT(MACHINE); i++)
        if (MACHINE[i].entity == entity)
            return MACHINE[i].read(os, out);
    return -ENOTSUP;
}

int os_process_table(const struct os *os, int64_t pid, vitals_table entity, struct row_batch *out)
{
    for (size_t i = 0; i < ARRAY_COUNT(PROCESS); i++)
        if (PROCESS[i].entity == entity)
            return PROCESS[i].read(os, pid, out);
    return -ENOTSUP;
}
