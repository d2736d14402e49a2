/* btf.h: how this kernel lays out its own structures, as it tells in /sys/kernel/btf/vmlinux.
 *
 * Documentation/bpf/btf.rst. One thread at a time per object. */
#pragma once

#include "util/base.h"

struct btf;

/* Parses what was read; the bytes are borrowed for as long as the object lives. NULL where they are
 * no such thing, or memory is out. */
struct btf *btf_new(const char *bytes, size_t size);
void btf_free(struct btf *btf); /* accepts NULL */

/* The number of a function; 0: there is none. */
uint32_t btf_function(const struct btf *btf, const char *name);

struct btf_field {
    uint32_t offset; /* bytes */
    uint32_t size;   /* bytes: 1, 2, 4, 8, or of a structure */
};

/* Finds the offset and size of a member: "se.sum_exec_runtime", "rss_stat.2.count" (the third
 * element of an array). Members of an unnamed structure count as members of the one around it.
 * Returns false if there is none, or it is a bit-field. */
bool btf_member(const struct btf *btf, const char *structure, const char *path,
                struct btf_field *out);
