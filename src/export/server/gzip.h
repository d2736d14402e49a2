/* gzip.h: compresses answers with zlib. Any thread. */
#ifndef VITALS_EXPORT_SERVER_GZIP_H
#define VITALS_EXPORT_SERVER_GZIP_H

#include "feed/text.h"

/* Appends the bytes as a gzip file. Returns false without zlib or memory. */
bool gzip_pack(const void *bytes, size_t size, struct text *out);

#endif
