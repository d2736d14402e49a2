/* How a kernel lays out its structures: read from bytes that a test writes, whole, cut and hostile.
 */
#include "check.h"

#include "os/linux/process/btf.h"

#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

/* Types and names as they are written down. */
static struct {
    unsigned char types[1024];
    size_t type_size;
    char names[256];
    size_t name_size;
} world;

static uint32_t name(const char *text)
{
    uint32_t place = (uint32_t)world.name_size;
    memcpy(world.names + place, text, strlen(text) + 1);
    world.name_size += strlen(text) + 1;
    return place;
}

static void words(const uint32_t *items, size_t count)
{
    memcpy(world.types + world.type_size, items, count * 4);
    world.type_size += count * 4;
}

static uint32_t info(uint32_t kind, uint32_t count, uint32_t flag)
{
    return flag << 31 | kind << 24 | count;
}

/* 1 u64, 2 u32, 3 a pointer, 4 counts[2] of 1, 5 typedef of 1, 6 an unnamed union with 5 in it,
 * 7 inner, 8 task, 9 a function's form, 10 the function. */
static void make(void)
{
    memset(&world, 0, sizeof world);
    name("");
    words((uint32_t[]){name("u64"), info(BTF_KIND_INT, 0, 0), 8, 64}, 4);
    words((uint32_t[]){name("u32"), info(BTF_KIND_INT, 0, 0), 4, 32}, 4);
    words((uint32_t[]){0, info(BTF_KIND_PTR, 0, 0), 8}, 3);
    words((uint32_t[]){0, info(BTF_KIND_ARRAY, 0, 0), 0, 1, 2, 2}, 6);
    words((uint32_t[]){name("time"), info(BTF_KIND_TYPEDEF, 0, 0), 1}, 3);
    words((uint32_t[]){0, info(BTF_KIND_UNION, 1, 0), 8, name("lies_deep"), 5, 0}, 6);
    words((uint32_t[]){name("inner"), info(BTF_KIND_STRUCT, 2, 0), 24, name("runtime"), 1, 64,
                       name("counts"), 4, 64},
          9);
    words((uint32_t[]){name("task"), info(BTF_KIND_STRUCT, 5, 1), 64, name("id"), 2, 32, name("se"),
                       7, 128, name("parent"), 8 - 5, 320, 0, 6, 384, name("bits"), 2,
                       3u << 24 | 448},
          18);
    words((uint32_t[]){0, info(BTF_KIND_FUNC_PROTO, 0, 0), 0}, 3);
    words((uint32_t[]){name("walk"), info(BTF_KIND_FUNC, 0, 0), 9}, 3);
}

static size_t write_down(char *out)
{
    struct btf_header header = {.magic = BTF_MAGIC,
                                .version = BTF_VERSION,
                                .hdr_len = sizeof header,
                                .type_len = (uint32_t)world.type_size,
                                .str_off = (uint32_t)world.type_size,
                                .str_len = (uint32_t)world.name_size};
    memcpy(out, &header, sizeof header);
    memcpy(out + sizeof header, world.types, world.type_size);
    memcpy(out + sizeof header + world.type_size, world.names, world.name_size);
    return sizeof header + world.type_size + world.name_size;
}

static void members_lie_where_it_says(void)
{
    static const struct {
        const char *path;
        uint32_t offset, size;
    } CASES[] = {{"id", 4, 4},           {"se.runtime", 24, 8}, {"se.counts.0", 24, 8},
                 {"se.counts.1", 32, 8}, {"parent", 40, 8},     {"lies_deep", 48, 8},
                 {"se", 16, 24}};
    static const char *const NONE[] = {
        "nobody", "se.counts.2", "se.counts.x", "bits", "id.x", "parent.id", "", "."};
    char bytes[2048];
    make();
    size_t size = write_down(bytes);
    struct btf *btf = btf_new(bytes, size);
    CHECK_NOT_NULL(btf);
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct btf_field field = {0};
        CHECK_CASE(CASES[i].path);
        CHECK(btf_member(btf, "task", CASES[i].path, &field));
        CHECK_UINT(field.offset, CASES[i].offset);
        CHECK_UINT(field.size, CASES[i].size);
    }
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        struct btf_field field = {77, 77};
        CHECK_CASE(NONE[i]);
        if (strcmp(NONE[i], "") != 0)
            CHECK_FALSE(btf_member(btf, "task", NONE[i], &field));
        CHECK_FALSE(btf_member(btf, "nothing", NONE[i], &field));
        CHECK_UINT(field.offset, 77);
    }
    CHECK_UINT(btf_function(btf, "walk"), 10);
    CHECK_UINT(btf_function(btf, "task"), 0);
    btf_free(btf);
}

static void what_is_cut_or_broken_is_none(void)
{
    char bytes[2048];
    make();
    size_t size = write_down(bytes);
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut + 1); // so that a sanitizer sees the end
        memcpy(copy, bytes, cut);
        struct btf *btf = btf_new(copy, cut);
        CHECK_NULL(btf);
        free(copy);
    }
    for (size_t at = 0; at < size; at++) {
        char copy[sizeof bytes];
        memcpy(copy, bytes, size);
        copy[at] = (char)(copy[at] ^ 0x55);
        struct btf *btf = btf_new(copy, size);
        struct btf_field field;
        if (btf != NULL)
            (void)btf_member(btf, "task", "se.counts.1", &field);
        btf_free(btf);
    }
}

/* A union that holds itself, and a typedef of itself. */
static void what_refers_to_itself_is_not_found(void)
{
    char bytes[2048];
    struct btf_field field;
    memset(&world, 0, sizeof world);
    name("");
    words((uint32_t[]){0, info(BTF_KIND_UNION, 1, 0), 8, 0, 1, 0}, 6);
    words((uint32_t[]){name("loop"), info(BTF_KIND_TYPEDEF, 0, 0), 2}, 3);
    words((uint32_t[]){name("task"), info(BTF_KIND_STRUCT, 2, 0), 8, 0, 1, 0, name("a"), 2, 0}, 9);
    struct btf *btf = btf_new(bytes, write_down(bytes));
    CHECK_NOT_NULL(btf);
    CHECK_FALSE(btf_member(btf, "task", "a", &field));
    CHECK_FALSE(btf_member(btf, "task", "b", &field));
    btf_free(btf);
}

static const check_test tests[] = {
    {"members lie where it says", members_lie_where_it_says},
    {"what is cut or broken is none", what_is_cut_or_broken_is_none},
    {"what refers to itself is not found", what_refers_to_itself_is_not_found},
};

CHECK_TESTS(tests)
