/* The assertions behind check.h: compare, and where that fails say everything that a reader needs
 * to understand the failure without a debugger. */
#include "check.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

// cmocka.h uses what these two declare and includes neither.
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

// One test runs at a time.
static const check_test *all_tests;
static struct CMUnitTest *all_units; /* the same tests, as cmocka knows them */
static struct CMUnitTest *current;   /* the one that runs */
static const char *current_case;
static jmp_buf skipping; /* back into run_one */

static void tell(const char *text)
{
    // A handler of signals may write, and not print; what it cannot write is lost either way.
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* Says which test it was, and lets the signal do its work: Meson names it. */
static void crashed(int number)
{
    tell(current->name);
    if (current_case != NULL) {
        tell(", case ");
        tell(current_case);
    }
    tell(": crashed\n");
    signal(number, SIG_DFL);
    raise(number);
}

/* cmocka would catch a crash, say so where Meson does not look, and go on in broken memory. */
static void watch_for_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (size_t i = 0; i < CHECK_COUNT(signals); i++)
        signal(signals[i], crashed);
}

static void run_one(void **state)
{
    current = *state;
    current_case = NULL;
    watch_for_crashes();
    if (setjmp(skipping) == 0)
        all_tests[current - all_units].run();
}

int check_main(const check_test *tests, size_t count)
{
    struct CMUnitTest *units = calloc(count, sizeof *units);
    if (units == NULL)
        return 1;
    for (size_t i = 0; i < count; i++)
        units[i] = (struct CMUnitTest){
            .name = tests[i].name,
            .test_func = run_one,
            .initial_state = &units[i],
        };
    all_tests = tests;
    all_units = units;

    cmocka_set_message_output(CM_OUTPUT_TAP);
    int failed = _cmocka_run_group_tests("tests", units, count, NULL, NULL);
    free(units);
    return failed != 0;
}

void check_case(const char *name)
{
    current_case = name;
}

_Noreturn void check_fail(check_place place, const char *format, ...)
{
    char message[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);

    // Meson shows what a failed program wrote to stderr, and only that.
    fprintf(stderr, "%s:%d: %s", place.file, place.line, current->name);
    if (current_case != NULL)
        fprintf(stderr, ", case \"%s\"", current_case);
    fprintf(stderr, ": %s\n", message);
    _fail(place.file, place.line);
    abort(); // _fail has jumped away, but its declaration does not say so
}

_Noreturn void check_skip(const char *reason)
{
    // cmocka's own skip() writes "not ok … # SKIP", which Meson takes for a failure. A test that
    // ends well is "ok", and its name is read only afterwards.
    static char name[512];
    snprintf(name, sizeof name, "%s # SKIP %s", current->name, reason);
    current->name = name;
    longjmp(skipping, 1);
}

void check_true(check_place place, bool condition)
{
    if (!condition)
        check_fail(place, "%s does not hold", place.expression);
}

void check_int(check_place place, intmax_t actual, intmax_t expected)
{
    if (actual != expected)
        check_fail(place, "%s is %" PRIdMAX ", expected %" PRIdMAX, place.expression, actual,
                   expected);
}

void check_uint(check_place place, uintmax_t actual, uintmax_t expected)
{
    if (actual != expected)
        check_fail(place,
                   "%s is %" PRIuMAX " (0x%" PRIxMAX "), expected %" PRIuMAX " (0x%" PRIxMAX ")",
                   place.expression, actual, actual, expected, expected);
}

void check_near(check_place place, double actual, double expected, double tolerance)
{
    if (!(fabs(actual - expected) <= tolerance))
        check_fail(place, "%s is %.17g, expected %.17g within %g", place.expression, actual,
                   expected, tolerance);
}

/* Writes bytes so that they can be told apart on any terminal: printable ones as they are, the rest
 * as \xNN. What does not fit ends in "…". */
static void show_bytes(const unsigned char *bytes, size_t size, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < size; i++) {
        bool plain = isprint(bytes[i]) && bytes[i] < 0x80 && bytes[i] != '\\';
        if (used + 8 >= out_size) {
            snprintf(out + used, out_size - used, "...");
            return;
        }
        used += (size_t)snprintf(out + used, out_size - used, plain ? "%c" : "\\x%02x", bytes[i]);
    }
}

static size_t first_difference(const unsigned char *a, size_t a_size, const unsigned char *b,
                               size_t b_size)
{
    size_t i = 0;
    while (i < a_size && i < b_size && a[i] == b[i])
        i++;
    return i;
}

void check_bytes(check_place place, const void *actual, size_t actual_size, const void *expected,
                 size_t expected_size)
{
    // memcmp of nothing may be handed NULL, which the standard forbids.
    if (actual_size == expected_size &&
        (actual_size == 0 || memcmp(actual, expected, actual_size) == 0))
        return;

    char shown_actual[1500], shown_expected[1500];
    show_bytes(actual, actual_size, shown_actual, sizeof shown_actual);
    show_bytes(expected, expected_size, shown_expected, sizeof shown_expected);
    check_fail(place,
               "%s differs at byte %zu\n  is       %zu bytes \"%s\"\n  expected %zu bytes \"%s\"",
               place.expression, first_difference(actual, actual_size, expected, expected_size),
               actual_size, shown_actual, expected_size, shown_expected);
}

void check_str(check_place place, const char *actual, const char *expected)
{
    if (actual == NULL && expected == NULL)
        return;
    if (actual == NULL || expected == NULL)
        check_fail(place, "%s is %s%s%s, expected %s%s%s", place.expression, actual ? "\"" : "",
                   actual ? actual : "NULL", actual ? "\"" : "", expected ? "\"" : "",
                   expected ? expected : "NULL", expected ? "\"" : "");
    check_bytes(place, actual, strlen(actual), expected, strlen(expected));
}

void check_contains(check_place place, const char *actual, const char *part)
{
    if (actual == NULL || strstr(actual, part) == NULL)
        check_fail(place, "%s does not hold \"%s\"; it is\n%s", place.expression, part,
                   actual != NULL ? actual : "NULL");
}

void check_ok(check_place place, int result, const char *message)
{
    if (result < 0)
        check_fail(place, "%s returned %d: %s", place.expression, result, message);
}

const char *check_fixture(const char *name)
{
    static char path[4096];
    const char *source = getenv("VITALS_SOURCE");
    snprintf(path, sizeof path, "%s/tests/fixtures/%s", source != NULL ? source : ".", name);
    return path;
}

const char *check_linked_fixture(const char *name)
{
    static char path[4096];
    const char *build = getenv("VITALS_BUILD");
    snprintf(path, sizeof path, "%s/tests/fixtures/%s", build != NULL ? build : ".", name);
    return path;
}

char *check_read(const char *name, size_t *size)
{
    const char *path = check_fixture(name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        CHECK_FAIL("%s: %s", path, strerror(errno));

    size_t used = 0, room = 4096;
    char *bytes = malloc(room);
    while (bytes != NULL) {
        used += fread(bytes + used, 1, room - used - 1, file);
        if (used < room - 1)
            break;
        char *larger = realloc(bytes, room *= 2);
        if (larger == NULL)
            free(bytes);
        bytes = larger;
    }
    bool failed = bytes == NULL || ferror(file);
    fclose(file);
    if (failed) {
        free(bytes);
        CHECK_FAIL("%s: cannot be read", path);
    }
    bytes[used] = '\0';
    *size = used;
    return bytes;
}

void check_folder(char *path, size_t capacity, const char *name)
{
    static const char *const ROOTS[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < CHECK_COUNT(ROOTS); i++) {
        (void)snprintf(path, capacity, "%s/vitals-%s-XXXXXX", ROOTS[i], name);
        if (mkdtemp(path) != NULL)
            return;
    }
    CHECK_FAIL("%s: %s", path, strerror(errno));
}

size_t check_open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    CHECK_NOT_NULL(folder);
    size_t count = 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}
