/* crc32c.h: the Castagnoli checksum (RFC 3720), for TensorBoard's files and MLflow's spool. */
#ifndef VITALS_EXPORT_TENSORBOARD_CRC32C_H
#define VITALS_EXPORT_TENSORBOARD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *bytes, size_t size);

#endif
