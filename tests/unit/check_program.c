/* check_program.c: main() of a program that holds the tests of several files.
 *
 * Each file registers its list under its name: test_NAME.c is NAME. With names as arguments the
 * program runs these lists, without arguments it runs all. */
#include "check.h"

enum { LISTS_MAX = 64 };

static struct list {
    char name[64];
    const check_test *tests;
    size_t count;
} lists[LISTS_MAX];
static size_t list_count;

void check_register(const char *file, const check_test *tests, size_t count)
{
    const char *slash = strrchr(file, '/'), *name = slash != NULL ? slash + 1 : file;
    static const char PREFIX[] = "test_";

    if (strncmp(name, PREFIX, strlen(PREFIX)) == 0)
        name += strlen(PREFIX);
    if (list_count == LISTS_MAX) {
        fprintf(stderr, "check_program.c: no room for %s: raise LISTS_MAX\n", name);
        exit(2);
    }
    struct list *list = &lists[list_count++];
    *list = (struct list){.tests = tests, .count = count};
    snprintf(list->name, sizeof list->name, "%.*s", (int)strcspn(name, "."), name);
}

static bool is_chosen(const struct list *list, int count, char **names)
{
    for (int i = 1; i < count; i++)
        if (strcmp(names[i], list->name) == 0)
            return true;
    return count < 2;
}

int main(int count, char **arguments)
{
    check_test *tests = NULL;
    size_t used = 0;

    for (size_t i = 0; i < list_count; i++) {
        if (!is_chosen(&lists[i], count, arguments))
            continue;
        check_test *larger = realloc(tests, (used + lists[i].count) * sizeof *tests);
        if (larger == NULL) {
            free(tests);
            return 2;
        }
        tests = larger;
        memcpy(tests + used, lists[i].tests, lists[i].count * sizeof *tests);
        used += lists[i].count;
    }
    if (used == 0) {
        fprintf(stderr, "%s: no tests of that name\n", arguments[0]);
        return 2;
    }

    int result = check_main(tests, used);
    free(tests);
    return result;
}
