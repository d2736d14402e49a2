/* btf.c: see btf.h. Every type is bounded by the bytes that were given; what refers beyond them, or
 * to itself without end, is not found. */
#include "os/linux/process/btf.h"

#include "util/cursor.h"
#include "util/memory.h"

#include <linux/btf.h>
#include <string.h>

enum { DEEPEST = 16, KINDS = 20 };

struct btf {
    const char *strings;
    size_t string_size;
    const char *types;
    size_t type_size;
    uint32_t *places; /* of types, by their number; the first is none */
    size_t count;
};

/* The data behind a type: so many bytes, and so many for each of its `vlen`. */
static const struct {
    uint8_t fixed, each;
} BEHIND[KINDS] = {
    [BTF_KIND_INT] = {4, 0},     [BTF_KIND_ARRAY] = {12, 0},   [BTF_KIND_STRUCT] = {0, 12},
    [BTF_KIND_UNION] = {0, 12},  [BTF_KIND_ENUM] = {0, 8},     [BTF_KIND_FUNC_PROTO] = {0, 8},
    [BTF_KIND_VAR] = {4, 0},     [BTF_KIND_DATASEC] = {0, 12}, [BTF_KIND_DECL_TAG] = {4, 0},
    [BTF_KIND_ENUM64] = {0, 12},
};

_Static_assert(sizeof(struct btf_type) == 12 && sizeof(struct btf_member) == 12, "as in the file");

static struct btf_type type_at(const struct btf *btf, size_t place)
{
    struct btf_type type;
    memcpy(&type, btf->types + place, sizeof type);
    return type;
}

/* Numbers types, or counts them where there is no room yet. False where not all bytes of one, and
 * of all that stands behind it, are there. */
static bool number_types(struct btf *btf)
{
    size_t count = 1;
    for (size_t place = 0, size; place < btf->type_size; place += size) {
        size_t left = btf->type_size - place;
        if (left < sizeof(struct btf_type))
            return false;
        struct btf_type type = type_at(btf, place);
        unsigned kind = BTF_INFO_KIND(type.info);
        if (kind >= KINDS)
            return false;
        size = sizeof type + BEHIND[kind].fixed +
               (size_t)BEHIND[kind].each * BTF_INFO_VLEN(type.info);
        if (left < size)
            return false;
        if (btf->places != NULL)
            btf->places[count] = (uint32_t)place;
        count++;
    }
    btf->count = count;
    return true;
}

struct btf *btf_new(const char *bytes, size_t size)
{
    struct btf_header header;
    if (size < sizeof header || size > UINT32_MAX)
        return NULL;
    memcpy(&header, bytes, sizeof header);
    if (header.magic != BTF_MAGIC || header.version != BTF_VERSION ||
        header.hdr_len < sizeof header || header.hdr_len > size)
        return NULL;
    size_t room = size - header.hdr_len;
    if (header.type_off > room || header.type_len > room - header.type_off ||
        header.str_off > room || header.str_len > room - header.str_off || header.str_len == 0)
        return NULL;
    struct btf *btf = memory_alloc(sizeof *btf);
    if (btf == NULL)
        return NULL;
    btf->types = bytes + header.hdr_len + header.type_off;
    btf->type_size = header.type_len;
    btf->strings = bytes + header.hdr_len + header.str_off;
    btf->string_size = header.str_len;
    bool whole = btf->strings[btf->string_size - 1] == '\0' && number_types(btf);
    btf->places = whole ? memory_array(btf->count, sizeof *btf->places) : NULL;
    if (btf->places == NULL) {
        btf_free(btf);
        return NULL;
    }
    (void)number_types(btf);
    return btf;
}

void btf_free(struct btf *btf)
{
    if (btf != NULL)
        memory_free(btf->places);
    memory_free(btf);
}

static const char *name_of(const struct btf *btf, uint32_t offset)
{
    return offset < btf->string_size ? btf->strings + offset : "";
}

static uint32_t find(const struct btf *btf, unsigned kind, const char *name)
{
    for (size_t i = 1; i < btf->count; i++) {
        struct btf_type type = type_at(btf, btf->places[i]);
        if (BTF_INFO_KIND(type.info) == kind && strcmp(name_of(btf, type.name_off), name) == 0)
            return (uint32_t)i;
    }
    return 0;
}

uint32_t btf_function(const struct btf *btf, const char *name)
{
    return find(btf, BTF_KIND_FUNC, name);
}

/* A type without its names and qualifiers; 0: there is none. */
static uint32_t bare(const struct btf *btf, uint32_t number)
{
    for (unsigned depth = 0; number != 0 && number < btf->count && depth < DEEPEST; depth++) {
        struct btf_type type = type_at(btf, btf->places[number]);
        switch (BTF_INFO_KIND(type.info)) {
        case BTF_KIND_TYPEDEF:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_CONST:
        case BTF_KIND_RESTRICT:
        case BTF_KIND_TYPE_TAG: number = type.type; break;
        default: return number;
        }
    }
    return 0;
}

/* The index for members that are no array. */
static uint32_t bytes_of(const struct btf *btf, uint32_t number)
{
    struct btf_type type = type_at(btf, btf->places[number]);
    switch (BTF_INFO_KIND(type.info)) {
    case BTF_KIND_PTR: return sizeof(void *);
    case BTF_KIND_INT:
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION: return type.size;
    default: return 0;
    }
}

/* Into an array's element, or into a member of a structure or union, or of one in it that has no
 * name. */
static uint32_t enter(const struct btf *btf, uint32_t number, struct span step, uint32_t *offset,
                      unsigned depth)
{
    struct btf_type type = type_at(btf, btf->places[number]);
    const char *at = btf->types + btf->places[number] + sizeof type;
    unsigned kind = BTF_INFO_KIND(type.info);
    if (kind == BTF_KIND_ARRAY) {
        struct btf_array array;
        struct cursor cursor = cursor_over(step.bytes, step.size);
        uint64_t index;
        memcpy(&array, at, sizeof array);
        uint32_t element = bare(btf, array.type);
        bool flexible = array.nelems == 0; /* at the end of a structure; there may be one */
        if (element == 0 || !cursor_u64(&cursor, &index) || index >= array.nelems + flexible)
            return 0;
        *offset += (uint32_t)index * bytes_of(btf, element);
        return element;
    }
    if ((kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION) || depth > DEEPEST)
        return 0;
    for (unsigned i = 0; i < BTF_INFO_VLEN(type.info); i++, at += sizeof(struct btf_member)) {
        struct btf_member member;
        memcpy(&member, at, sizeof member);
        bool bits = BTF_INFO_KFLAG(type.info) && BTF_MEMBER_BITFIELD_SIZE(member.offset) != 0;
        uint32_t place = BTF_MEMBER_BIT_OFFSET(member.offset) / 8;
        uint32_t inner = bits ? 0 : bare(btf, member.type), found = 0;
        const char *name = name_of(btf, member.name_off);
        if (inner != 0 && span_equal(step, name) && name[0] != '\0')
            found = inner;
        else if (inner != 0 && name[0] == '\0')
            found = enter(btf, inner, step, &place, depth + 1);
        if (found != 0) {
            *offset += place;
            return found;
        }
    }
    return 0;
}

bool btf_member(const struct btf *btf, const char *structure, const char *path,
                struct btf_field *out)
{
    uint32_t number = find(btf, BTF_KIND_STRUCT, structure), offset = 0;
    while (number != 0 && *path != '\0') {
        const char *end = strchrnul(path, '.');
        struct span step = {path, (size_t)(end - path)};
        number = enter(btf, number, step, &offset, 0);
        path = *end == '.' ? end + 1 : end;
    }
    uint32_t size = number != 0 ? bytes_of(btf, number) : 0;
    if (size == 0)
        return false;
    *out = (struct btf_field){.offset = offset, .size = size};
    return true;
}
