/* Command lines: what a person would have typed, and what a shell reads back. */
#include "check.h"

#include <vitals/text.h>

#define TEXT(literal)                  \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

static const struct {
    const char *name;
    vitals_text arguments;
    const char *line;
} rows[] = {
    {"nothing", TEXT(""), ""},
    {"plain words", TEXT("python3\0-u\0train.py\0"), "python3 -u train.py"},
    {"without the last NUL", TEXT("python3\0-u"), "python3 -u"},
    {"a blank", TEXT("ls\0My Files\0"), "ls 'My Files'"},
    {"a quote", TEXT("echo\0it's\0"), "echo 'it'\\''s'"},
    {"an empty argument", TEXT("grep\0\0file\0"), "grep '' file"},
    {"empty arguments at the end", TEXT("cmd\0\0\0"), "cmd '' ''"},
    {"an option with a value", TEXT("dd\0if=/dev/zero\0bs=1M\0"), "dd if=/dev/zero bs=1M"},
    {"a command that reads like an assignment", TEXT("A=b\0c\0"), "'A=b' c"},
    {"what a shell would expand", TEXT("x\0$HOME\0*.c\0~\0a;b\0{1,2}\0"),
     "x '$HOME' '*.c' '~' 'a;b' '{1,2}'"},
    {"a newline", TEXT("sh\0-c\0a\nb\0"), "sh -c 'a\nb'"},
    {"other alphabets", TEXT("vi\0\u65E5\u672C.txt\0"), "vi \u65E5\u672C.txt"},
    {"a title", TEXT("sshd: root@pts/0"), "sshd: root@pts/0"},
    {"a title filled up with NULs", TEXT("nginx: worker process\0\0\0\0\0"),
     "nginx: worker process"},
    {"a title that begins with a path", TEXT("/usr/sbin/dovecot: idle\0"),
     "/usr/sbin/dovecot: idle"},
    {"a command line written over as one", TEXT("/opt/browser/browser --type=gpu --no-x\0"),
     "/opt/browser/browser --type=gpu --no-x"},
    {"a path with a blank", TEXT("/opt/My App/run\0"), "'/opt/My App/run'"},
    {"a login shell", TEXT("-bash\0"), "-bash"},
};

static void lines_are_as_a_person_would_type_them(void)
{
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        char out[128];
        CHECK_CASE(rows[i].name);
        size_t needed = vitals_text_command(rows[i].arguments, out, sizeof out);
        CHECK_STR(out, rows[i].line);
        CHECK_UINT(needed, strlen(rows[i].line));
        for (size_t capacity = 0; capacity <= needed; capacity++) {
            char *small = malloc(capacity + 1);
            small[capacity] = '#';
            CHECK_UINT(vitals_text_command(rows[i].arguments, small, capacity), needed);
            CHECK_INT(small[capacity], '#');
            if (capacity > 0)
                CHECK_BYTES(small, strlen(small), rows[i].line, strlen(small));
            free(small);
        }
    }
}

static void a_cut_leaves_whole_characters(void)
{
    static const vitals_text arguments = TEXT("vi\0\u65E5\u672C\0");
    char out[16];
    vitals_text_command(arguments, out, 9);
    CHECK_STR(out, "vi \u65E5");
    vitals_text_command(arguments, out, 7);
    CHECK_STR(out, "vi \u65E5");
    vitals_text_command(arguments, out, 6);
    CHECK_STR(out, "vi ");
}

/* Random arguments of difficult bytes: /bin/sh is the judge. */
static void a_shell_reads_the_same_arguments(void)
{
    static const char alphabet[] = "ab '\"\\$`*?[]~#&|;<>(){}!=%^\n\t-,\x01\xC3\xA9\xFF";
    uint64_t state = 3;
    for (int round = 0; round < 40; round++) {
        char arguments[120] = "x"; /* a first word that is no assignment and no option */
        size_t size = 2;
        while (size < sizeof arguments) {
            state = state * UINT64_C(6364136223846793005) + 1;
            size_t letter = (size_t)(state >> 33) % (sizeof alphabet + 3);
            arguments[size++] = letter < sizeof alphabet - 1 ? alphabet[letter] : '\0';
        }
        arguments[size - 1] = '\0';
        char line[1024] = "printf '%s\\0' ";
        size_t prefix = strlen(line);
        vitals_text_command((vitals_text){arguments, size}, line + prefix, sizeof line - prefix);
        CHECK_CASE(line);
        FILE *shell = popen(line, "r");
        CHECK_NOT_NULL(shell);
        char back[256];
        size_t read = fread(back, 1, sizeof back, shell);
        CHECK_INT(pclose(shell), 0);
        CHECK_BYTES(back, read, arguments, size);
    }
}

static const check_test tests[] = {
    {"lines are as a person would type them", lines_are_as_a_person_would_type_them},
    {"a cut leaves whole characters", a_cut_leaves_whole_characters},
    {"a shell reads the same arguments", a_shell_reads_the_same_arguments},
};
CHECK_MAIN(tests)
