/* Runs one fuzz target over the files of a folder, so that every input that ever broke a parser is
 * tried again in each test run, without a fuzzer.
 *
 *     replay FOLDER
 *
 * One line of TAP per file, in the order of their names. A target that goes wrong takes the program
 * down, and the name of its input stands in the last line on stderr. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The target gets a copy of exactly the right size, so that a sanitizer sees one byte too many. */
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return -1;

    int result = -1;
    uint8_t *bytes = NULL;
    if (fseek(file, 0, SEEK_END) != 0)
        goto done;
    long size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
        goto done;
    bytes = malloc(size > 0 ? (size_t)size : 1);
    if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        goto done;
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
    result = 0;
done:
    free(bytes);
    fclose(file);
    return result;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }

    struct dirent **entries;
    int count = scandir(argv[1], &entries, is_input, alphasort);
    if (count <= 0) {
        fprintf(stderr, "%s: %s has no inputs; put at least one small file there\n", argv[0],
                argv[1]);
        return 1;
    }

    int failed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
        fprintf(stderr, "%s\n", path);
        int result = replay_file(path);
        printf("%s %d - %s\n", result == 0 ? "ok" : "not ok", i + 1, entries[i]->d_name);
        fflush(stdout);
        failed += result != 0;
        free(entries[i]);
    }
    free(entries);
    printf("1..%d\n", count);
    return failed != 0;
}
