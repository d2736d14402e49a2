/* crc32c.h: the Castagnoli checksum (RFC 3720), for TensorBoard's files and MLflow's spool. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Four bits at a time: the input is a few kilobytes a second. */
static inline uint32_t crc32c(const void *bytes, size_t size)
{
    /* The remainder of four bits, for the reflected polynomial 0x82F63B78. */
    static const uint32_t REST[16] = {
        0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3,
        0x61C69362, 0x7198540D, 0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
        0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
    };
    const unsigned char *at = bytes;
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        sum = sum >> 4 ^ REST[(sum ^ at[i]) & 0xF];
        sum = sum >> 4 ^ REST[(sum ^ at[i] >> 4) & 0xF];
    }
    return ~sum;
}
