/* A machine as a tree of files for the tests of src/gpu: packed into one text below
 * tests/fixtures/gpu/, unpacked into a folder of its own that a test may change and that is removed
 * again. Everything is static: each test program includes it once.
 *
 *     # Which kernel and device it stands for.
 *     sys/class/drm/card0 -> ../../devices/platform/soc/gpu/drm/card0
 *     sys/devices/platform/soc/gpu/drm/card0/dev = 226:0
 *     sys/devices/platform/soc/gpu/gpu_metrics x 78 00 01 03
 *     proc/42/fd/
 *     proc/42/fdinfo/5
 *     | pos:	0
 *     | drm-driver:	msm
 *
 * "=": one line; "x": bytes in hexadecimal; "->": a symbolic link; "/" at the end: a folder; else
 * the lines behind "| " that follow, each with a newline. What stands twice is what stands last. */
#ifndef TESTS_UNIT_GPU_TREE_H
#define TESTS_UNIT_GPU_TREE_H

#include "check.h"

#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GPU_TREE_PATH = 768 };

struct gpu_tree {
    char path[64];
};

static inline void gpu_tree_path(const struct gpu_tree *tree, const char *name,
                                 char out[static GPU_TREE_PATH])
{
    int size = snprintf(out, GPU_TREE_PATH, "%s/%s", tree->path, name);
    if (size < 0 || size >= GPU_TREE_PATH)
        CHECK_FAIL("%s: too long", name);
}

/* The folders above it. */
static inline void gpu_tree_parents(const struct gpu_tree *tree, const char *name)
{
    char path[GPU_TREE_PATH];
    gpu_tree_path(tree, name, path);
    for (char *slash = path + strlen(tree->path) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            CHECK_FAIL("%s: %s", path, strerror(errno));
        *slash = '/';
    }
}

static inline void gpu_tree_put(const struct gpu_tree *tree, const char *name, const void *bytes,
                                size_t size)
{
    char path[GPU_TREE_PATH];
    gpu_tree_parents(tree, name);
    gpu_tree_path(tree, name, path);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        CHECK_FAIL("%s: %s", path, strerror(errno));
    close(file);
}

static inline void gpu_tree_text(const struct gpu_tree *tree, const char *name, const char *text)
{
    gpu_tree_put(tree, name, text, strlen(text));
}

static inline int gpu_tree_remove_one(const char *path, const struct stat *status, int kind,
                                      struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

/* A file, a link, or a folder with what is in it. */
static inline void gpu_tree_remove(const struct gpu_tree *tree, const char *name)
{
    char path[GPU_TREE_PATH];
    gpu_tree_path(tree, name, path);
    nftw(path, gpu_tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void gpu_tree_link(const struct gpu_tree *tree, const char *name, const char *target)
{
    char path[GPU_TREE_PATH];
    gpu_tree_parents(tree, name);
    gpu_tree_path(tree, name, path);
    unlink(path);
    if (symlink(target, path) != 0)
        CHECK_FAIL("%s: %s", path, strerror(errno));
}

static inline struct gpu_tree gpu_tree_empty(void)
{
    struct gpu_tree tree;
    check_folder(tree.path, sizeof tree.path, "gpu");
    static const char *const ROOTS[] = {"proc/", "sys/", "dev/", "etc/", "run/", "share/"};
    for (size_t i = 0; i < CHECK_COUNT(ROOTS); i++)
        gpu_tree_parents(&tree, ROOTS[i]);
    return tree;
}

static inline void gpu_tree_free(const struct gpu_tree *tree)
{
    nftw(tree->path, gpu_tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the packed form ---- */

static inline void gpu_tree_put_hex(const struct gpu_tree *tree, const char *name, char *text)
{
    size_t size = 0;
    for (char *at = text, *end; *at != '\0'; at = end) {
        unsigned long byte = strtoul(at, &end, 16);
        if (end == at || byte > 255)
            CHECK_FAIL("%s: %s is no byte", name, at);
        text[size++] = (char)byte;
        end += strspn(end, " ");
    }
    gpu_tree_put(tree, name, text, size);
}

/* Splits at the separator; NULL where it is not in the line. */
static inline char *gpu_tree_split(char *line, const char *separator)
{
    char *at = strstr(line, separator);
    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + strlen(separator);
}

/* One line that begins something; true where lines behind "| " follow. */
static inline bool gpu_tree_take(const struct gpu_tree *tree, char *line)
{
    char *rest;
    if ((rest = gpu_tree_split(line, " -> ")) != NULL) {
        gpu_tree_link(tree, line, rest);
    } else if ((rest = gpu_tree_split(line, " = ")) != NULL) {
        rest[strlen(rest)] = '\n'; // in place of the newline that the line ended with
        gpu_tree_put(tree, line, rest, strcspn(rest, "\n") + 1);
    } else if ((rest = gpu_tree_split(line, " x ")) != NULL) {
        gpu_tree_put_hex(tree, line, rest);
    } else if (line[strlen(line) - 1] == '/') {
        gpu_tree_parents(tree, line);
    } else {
        gpu_tree_put(tree, line, "", 0);
        return true;
    }
    return false;
}

static inline void gpu_tree_append(const struct gpu_tree *tree, const char *name, const char *text)
{
    char path[GPU_TREE_PATH];
    gpu_tree_path(tree, name, path);
    FILE *file = fopen(path, "ae");
    if (file == NULL || fprintf(file, "%s\n", text) < 0 || fclose(file) != 0)
        CHECK_FAIL("%s: %s", path, strerror(errno));
}

/* More of it, from tests/fixtures/gpu/NAME.tree. */
static inline void gpu_tree_add(const struct gpu_tree *tree, const char *name)
{
    char fixture[128], open_file[GPU_TREE_PATH] = "";
    snprintf(fixture, sizeof fixture, "gpu/%s.tree", name);
    size_t size;
    char *text = check_read(fixture, &size);
    for (char *line = text, *next; line < text + size; line = next) {
        next = line + strcspn(line, "\n");
        *next++ = '\0';
        if (line[0] == '|') {
            if (open_file[0] == '\0')
                CHECK_FAIL("%s: a line of no file: %s", fixture, line);
            gpu_tree_append(tree, open_file, line + (line[1] == ' ' ? 2 : 1));
        } else if (line[0] != '\0' && line[0] != '#') {
            char copy[GPU_TREE_PATH];
            snprintf(copy, sizeof copy, "%s", line);
            open_file[0] = '\0';
            if (gpu_tree_take(tree, line))
                memcpy(open_file, copy, sizeof copy);
        }
    }
    free(text);
}

static inline struct gpu_tree gpu_tree_new(const char *name)
{
    struct gpu_tree tree = gpu_tree_empty();
    gpu_tree_add(&tree, name);
    return tree;
}

/* ---- its roots ---- */

static inline int gpu_tree_root(const struct gpu_tree *tree, const char *name)
{
    char path[GPU_TREE_PATH];
    gpu_tree_path(tree, name, path);
    int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        CHECK_FAIL("%s: %s", path, strerror(errno));
    return root;
}

/* Sets the roots of `os`, and the ticks of /proc; gpu_tree_close closes them. */
static inline void gpu_tree_open(const struct gpu_tree *tree, struct os *os)
{
    os->proc = gpu_tree_root(tree, "proc");
    os->sys = gpu_tree_root(tree, "sys");
    os->dev = gpu_tree_root(tree, "dev");
    os->etc = gpu_tree_root(tree, "etc");
    os->run = gpu_tree_root(tree, "run");
    os->share = gpu_tree_root(tree, "share");
    os->ticks_per_second = 100;
    os->page_bytes = 4096;
}

static inline void gpu_tree_close(struct os *os)
{
    os_close(os);
}

#endif
