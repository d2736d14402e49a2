/* Command lines: what a person would have typed, and what a shell reads back. */
#include "check.h"

#include "util/utf8.h"
#include <vitals/text.h>

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

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
    {"a command that reads as grammar", TEXT("time\0if\0"), "'time' if"},
    {"a word that zsh looks up", TEXT("echo\0=ls\0"), "echo '=ls'"},
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

/* ---- the strict form ---- */

static const struct {
    const char *name;
    vitals_text arguments;
    const char *line;
} strict_rows[] = {
    {"nothing", TEXT(""), ""},
    {"plain words", TEXT("/usr/bin/x\0-u\0a=b,c:d@e%f+g\0"), "/usr/bin/x -u a=b,c:d@e%f+g"},
    {"empty arguments", TEXT("\0a\0\0"), "'' a ''"},
    {"a title is an argument", TEXT("sshd: root@pts/0"), "'sshd: root@pts/0'"},
    {"and what fills it up are arguments too", TEXT("nginx: x\0\0\0"), "'nginx: x' '' ''"},
    {"a quote", TEXT("it's\0'\0''\0'a\0"), "'it'\\''s' \\' \\'\\' \\''a'"},
    {"an assignment", TEXT("A=b\0A=b\0"), "'A=b' A=b"},
    {"grammar", TEXT("while\0true\0while\0"), "'while' true while"},
    {"every sign that a shell knows", TEXT("x\0$HOME\0*.c\0~\0a;b\0{1,2}\0a\\b\0!!\0#\0^a\0[b]\0"),
     "x '$HOME' '*.c' '~' 'a;b' '{1,2}' 'a\\b' '!!' '#' '^a' '[b]'"},
    {"lines", TEXT("sh\0-c\0a\n\tb\r\0"), "sh -c 'a'$'\\n\\t''b'$'\\x0d'"},
    {"an escape sequence before a digit",
     TEXT("x\0\x1b[31m\0\x01"
          "1\0"),
     "x $'\\x1b''[31m' $'\\x01''1'"},
    {"DEL", TEXT("x\0\x7f\0"), "x $'\\x7f'"},
    {"broken UTF-8", TEXT("x\0a\xFFg\0\xE6\x97\0"), "x 'a'$'\\xff''g' $'\\xe6\\x97'"},
    {"other alphabets", TEXT("vi\0\u65E5\u672C.txt\0"), "vi '\u65E5\u672C.txt'"},
    {"text that runs backwards", TEXT("rm\0a\u202Eb\0"), "rm 'a'$'\\xe2\\x80\\xae''b'"},
    {"C1 controls", TEXT("x\0\xC2\x9B\0"), "x $'\\xc2\\x9b'"},
    {"a mark on a letter", TEXT("x\0e\u0301\0"), "x 'e\u0301'"},
    {"marks on nothing, and on a quote of ours", TEXT("x\0\u0301\0'\u0301\0"),
     "x $'\\xcc\\x81' \\'$'\\xcc\\x81'"},
};

static void strict_lines_are_as_told(void)
{
    for (size_t i = 0; i < CHECK_COUNT(strict_rows); i++) {
        char out[256];
        const char *expected = strict_rows[i].line;
        CHECK_CASE(strict_rows[i].name);
        CHECK_UINT(vitals_text_command_strict(strict_rows[i].arguments, out, sizeof out),
                   strlen(expected));
        CHECK_STR(out, expected);
        for (size_t capacity = 1; capacity <= strlen(expected); capacity++) {
            CHECK_UINT(vitals_text_command_strict(strict_rows[i].arguments, out, capacity),
                       strlen(expected));
            CHECK(strlen(out) < capacity);
            CHECK_BYTES(out, strlen(out), expected, strlen(out));
        }
    }
}

/* What bash makes of `printf '%s\0' LINE`. */
static size_t bash_reads(const char *line, char *out, size_t capacity)
{
    static char command[8192];
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    int size = snprintf(command, sizeof command, "printf '%%s\\0' %s", line);
    CHECK(size > 0 && (size_t)size < sizeof command);
    pid_t shell = fork();
    if (shell == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("bash", "bash", "--norc", "-c", command, (char *)NULL);
        _exit(127);
    }
    CHECK(shell > 0);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], out + used, capacity - used)) > 0;)
        used += (size_t)got;
    close(ends[0]);
    int status;
    CHECK_INT(waitpid(shell, &status, 0), shell);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        CHECK_SKIP("bash, which must read the line, is not there");
    CHECK_INT(status, 0);
    return used;
}

/* Printable as it stands: UTF-8, and nothing that a terminal obeys or hides. */
static void check_harmless(const char *line)
{
    const char *end = line + strlen(line);
    size_t size;
    for (const char *at = line; at < end; at += size) {
        uint32_t character = utf8_decode(at, end, &size);
        CHECK(character != UTF8_BROKEN);
        CHECK(width_of(character) != WIDTH_HIDDEN);
    }
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A round is all about one of: every byte; what a shell reads; pieces of difficult UTF-8. */
static size_t random_arguments(uint64_t *state, char *out, size_t capacity)
{
    static const char shell[] = "ab '\"\\$`*?[]~#&|;<>(){}!=%^\n\t\r-,.:/@+_x0";
    static const char *const pieces[] = {"\u0301", "\u202E",   "\u200B",   "\u65E5", "e", "'",
                                         "\x1b[",  "\xC2\x9B", "\xE6\x97", "\xFF",   "7", "$'"};
    uint32_t kind = next_random(state) % 3;
    size_t size = 0, wanted = next_random(state) % (capacity - 8);
    while (size < wanted) {
        uint32_t random = next_random(state);
        if (random % 9 == 0)
            out[size++] = '\0';
        else if (kind == 0)
            out[size++] = (char)(random >> 8);
        else if (kind == 1)
            out[size++] = shell[(random >> 8) % (sizeof shell - 1)];
        else
            size += (size_t)snprintf(out + size, capacity - size, "%s",
                                     pieces[(random >> 8) % CHECK_COUNT(pieces)]);
    }
    out[size++] = '\0';
    return size;
}

static void bash_reads_the_same_arguments(void)
{
    uint64_t state = 20;
    for (int round = 0; round < 150; round++) {
        char arguments[200], line[1024], back[400], what[24];
        size_t size = random_arguments(&state, arguments, sizeof arguments);
        size_t needed = vitals_text_command_strict((vitals_text){arguments, size}, line,
                                                   sizeof line);
        snprintf(what, sizeof what, "round %d", round);
        CHECK_CASE(what);
        CHECK(needed < sizeof line);
        check_harmless(line);
        size_t read = bash_reads(line, back, sizeof back);
        CHECK_BYTES(back, read, arguments, size);
    }
}

static const check_test tests[] = {
    {"lines are as a person would type them", lines_are_as_a_person_would_type_them},
    {"a cut leaves whole characters", a_cut_leaves_whole_characters},
    {"a shell reads the same arguments", a_shell_reads_the_same_arguments},
    {"strict lines are as told", strict_lines_are_as_told},
    {"bash reads the same arguments", bash_reads_the_same_arguments},
};
CHECK_TESTS(tests)
