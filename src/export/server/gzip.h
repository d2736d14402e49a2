/* gzip.h: packs what is sent, by zlib, which is opened when first needed. Any thread. */
#ifndef VITALS_EXPORT_SERVER_GZIP_H
#define VITALS_EXPORT_SERVER_GZIP_H

#include "feed/text.h"

/* Appends the bytes as a gzip file. False where there is no zlib, or no memory. */
bool gzip_pack(const void *bytes, size_t size, struct text *out);

#endif
