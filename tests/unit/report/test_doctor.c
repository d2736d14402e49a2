/* Where `vitals doctor` breaks a command line so that a shell still reads it as one. */
#include "check.h"

#include "command/devices/doctor.h"

/* The lines of `line` in so many columns, with "|" between them. */
static const char *broken(const char *line, size_t columns)
{
    static char out[512];
    size_t used = 0;
    out[0] = '\0';
    while (*line != '\0') {
        size_t size = doctor_break(line, columns);
        CHECK(size > 0 && size <= strlen(line));
        used += (size_t)snprintf(out + used, sizeof out - used, "%.*s", (int)size, line);
        line += size;
        line += strspn(line, " ");
        if (*line != '\0')
            out[used++] = '|';
        out[used] = '\0';
    }
    return out;
}

static void breaks_at_blanks(void)
{
    CHECK_STR(broken("sudo modprobe nvidia", 40), "sudo modprobe nvidia");
    CHECK_STR(broken("sudo modprobe nvidia", 20), "sudo modprobe nvidia");
    CHECK_STR(broken("sudo modprobe nvidia", 19), "sudo modprobe|nvidia");
    CHECK_STR(broken("sudo modprobe nvidia", 15), "sudo modprobe|nvidia");
    CHECK_STR(broken("sudo modprobe nvidia", 14), "sudo|modprobe|nvidia");
    CHECK_STR(broken("a  b", 3), "a|b");
}

static void a_word_that_is_too_long_stays_whole(void)
{
    CHECK_STR(broken("abcdefghij", 4), "abcdefghij");
    CHECK_STR(broken("abcdefghij kl", 4), "abcdefghij|kl");
    CHECK_STR(broken("a bcdefghijk lm", 5), "a|bcdefghijk|lm");
    CHECK_STR(broken(" ", 0), " ");
}

static void quotes_stay_whole(void)
{
    CHECK_STR(broken("a \"b c d e f\" g", 8), "a|\"b c d e f\"|g");
    CHECK_STR(broken("a 'b \" c d e' g", 8), "a|'b \" c d e'|g");
    CHECK_STR(broken("usermod -aG \"$(stat -c %G /dev/kfd)\" \"$USER\"", 24),
              "usermod -aG|\"$(stat -c %G /dev/kfd)\"|\"$USER\"");
    CHECK_STR(broken("a \"b c d e f g h i", 6), "a|\"b c d e f g h i"); // never closed
}

static void comments_stay_whole(void)
{
    CHECK_STR(broken("a b # c d e f", 8), "a|b # c d e f");
    CHECK_STR(broken("# c d e f", 4), "# c d e f");
    CHECK_STR(broken("a b#c d e", 7), "a b#c|d e");
}

static void characters_count_as_columns(void)
{
    CHECK_STR(broken("\xc3\xa4\xc3\xb6 \xc3\xbc b", 6), "\xc3\xa4\xc3\xb6 \xc3\xbc b");
    CHECK_STR(broken("a \xd6\x9b", 1), "a|\xd6\x9b"); // an accent that stood on a blank
    CHECK_STR(broken("\xc3\xa4\xc3\xb6 \xc3\xbc b", 5), "\xc3\xa4\xc3\xb6|\xc3\xbc b");
}

static const check_test tests[] = {
    {"breaks at blanks", breaks_at_blanks},
    {"a word that is too long stays whole", a_word_that_is_too_long_stays_whole},
    {"quotes stay whole", quotes_stay_whole},
    {"comments stay whole", comments_stay_whole},
    {"characters count as columns", characters_count_as_columns},
};
CHECK_TESTS(tests)
