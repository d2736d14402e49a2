/* What files of git say: a commit is one of the two lengths and of hexadecimal digits alone, and a
 * name stays below refs/. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/mlflow/mlflow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_commit(const char *commit)
{
    size_t length = strlen(commit);
    if ((length != 40 && length != 64) || strspn(commit, "0123456789abcdef") != length)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char commit[COMMIT_SIZE], name[COMMIT_NAME_SIZE];
    const char *bytes = (const char *)data;
    if (commit_parse(bytes, size, commit, name)) {
        if (commit[0] != '\0')
            check_commit(commit);
        else if (strncmp(name, "refs/", 5) != 0 || strstr(name, "..") != NULL)
            abort();
    }
    if (commit_parse_packed(bytes, size, "refs/heads/main", commit))
        check_commit(commit);
    return 0;
}
