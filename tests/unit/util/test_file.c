/* A file that decides what the program does: its owner, its mode, its size. */
#include "check.h"

#include "util/file.h"
#include "util/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void only_ours_and_roots_are_trusted(void)
{
    uid_t us = geteuid(), other = us + 1;
    static const struct {
        int owner; /* 0: us, 1: root, 2: another user */
        mode_t mode;
        bool trusted;
    } rows[] = {
        {0, S_IFREG | 0600, true},   {0, S_IFREG | 0644, true},  {1, S_IFREG | 0644, true},
        {0, S_IFREG | 0664, false},  {0, S_IFREG | 0646, false}, {1, S_IFREG | 0666, false},
        {2, S_IFREG | 0600, false},  {2, S_IFREG | 0444, false}, {0, S_IFDIR | 0755, true},
        {0, S_IFDIR | 0777, false},  {1, S_IFDIR | 01777, true}, {0, S_IFREG | 01666, false},
        {2, S_IFDIR | 01755, false}, {1, S_IFCHR | 0666, true},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        struct stat status = {.st_mode = rows[i].mode};
        status.st_uid = rows[i].owner == 0 ? us : rows[i].owner == 1 ? 0 : other;
        CHECK_INT(file_distrust(&status) == NULL, rows[i].trusted);
    }
}

static void a_file_is_read_whole_and_no_further(void)
{
    char path[] = "/tmp/vitals-file-XXXXXX";
    struct file_text file;
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    CHECK_INT(write(descriptor, "a\0b", 3), 3);
    CHECK_INT(file_read_whole(path, 3, FILE_OUR_OWN, &file), 0);
    CHECK_UINT(file.size, 3);
    CHECK_INT(memcmp(file.bytes, "a\0b\0", 4), 0);
    memory_free(file.bytes);

    CHECK_INT(file_read_whole(path, 2, 0, &file), -EFBIG);
    CHECK(file.bytes == NULL);
    CHECK(fchmod(descriptor, 0620) == 0);
    CHECK_INT(file_read_whole(path, 3, FILE_OUR_OWN, &file), -EPERM);
    CHECK_STR(file.why, "other users may write to it (chmod go-w)");
    CHECK_INT(file_read_whole(path, 3, FILE_PRIVILEGED, &file), geteuid() == 0 ? -EPERM : 0);
    memory_free(file.bytes);
    CHECK_INT(file_read_whole(path, 3, 0, &file), 0);
    memory_free(file.bytes);

    CHECK(ftruncate(descriptor, 0) == 0);
    CHECK_INT(file_read_whole(path, 3, 0, &file), 0);
    CHECK_UINT(file.size, 0);
    CHECK_STR(file.bytes, "");
    memory_free(file.bytes);
    close(descriptor);
    unlink(path);
    CHECK_INT(file_read_whole(path, 3, 0, &file), -ENOENT);
    CHECK_INT(file_read_whole("/", 3, 0, &file), -EINVAL);
    CHECK_INT(file_read_whole("/dev/zero", 1000, 0, &file), -EINVAL);
    CHECK_INT(file_read_whole("/dev/zero", 1000, FILE_ANY_KIND, &file), -EFBIG);
}

static void nothing_is_made_behind_a_link(void)
{
    char folder[] = "/tmp/vitals-link-XXXXXX", link[64], target[64];
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(link, sizeof link, "%s/link", folder);
    (void)snprintf(target, sizeof target, "%s/target", folder);
    CHECK(symlink(target, link) == 0);
    errno = 0;
    CHECK_INT(file_open_or_make(link, 0), -1);
    CHECK_INT(errno, ENOENT);
    CHECK_INT(access(target, F_OK), -1);
    for (int i = 0; i < 2; i++) { /* made, and there */
        int descriptor = file_open_or_make(target, O_APPEND);
        CHECK(descriptor >= 0);
        close(descriptor);
    }
    int descriptor = file_open_or_make(link, 0);
    CHECK(descriptor >= 0);
    close(descriptor);
    unlink(target);
    unlink(link);
    rmdir(folder);
}

static void all_bytes_are_written_and_read(void)
{
    char bytes[4] = "";
    FILE *file = tmpfile();
    CHECK_NOT_NULL(file);
    CHECK(file_write_all(fileno(file), "abcd", 4));
    CHECK(file_write_at(fileno(file), "XY", 2, 1));
    CHECK(file_read_at(fileno(file), bytes, 3, 0));
    CHECK_STR(bytes, "aXY");
    CHECK_FALSE(file_read_at(fileno(file), bytes, 3, 2)); /* two are left */
    CHECK_INT(errno, EIO);
    (void)fclose(file);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full >= 0) {
        CHECK_FALSE(file_write_all(full, "a", 1));
        CHECK_INT(errno, ENOSPC);
        (void)close(full);
    }
}

static const check_test tests[] = {
    {"nothing is made behind a link", nothing_is_made_behind_a_link},
    {"only our files and root's are trusted", only_ours_and_roots_are_trusted},
    {"a file is read whole and no further", a_file_is_read_whole_and_no_further},
    {"all bytes are written and read", all_bytes_are_written_and_read},
};
CHECK_TESTS(tests)
