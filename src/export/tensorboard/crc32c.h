/* crc32c.h: the checksum of Castagnoli (RFC 3720), as the framing of TensorBoard's files needs it.
 */
#ifndef VITALS_EXPORT_TENSORBOARD_CRC32C_H
#define VITALS_EXPORT_TENSORBOARD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *bytes, size_t size);

#endif
