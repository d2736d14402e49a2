/* What leaves of a command line: every secret of the examples is gone, and what is none stays. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "export/redact.h"

static char *redacted(const char *line, enum redact_form form)
{
    struct buffer text = {.bytes = NULL};
    buffer_append(&text, "", 0);
    redact_line(&text, (vitals_text){line, strlen(line)}, form);
    CHECK_FALSE(text.failed);
    return text.bytes;
}

static void check_line(const char *line, const char *expected)
{
    char *got = redacted(line, REDACT_REDACTED);
    CHECK_CASE(line);
    CHECK_STR(got, expected);
    free(got);
}

static void values_of_options_are_hidden(void)
{
    check_line("app --password hunter2 --port 80", "app --password *** --port 80");
    check_line("app --password=hunter2 x", "app --password=*** x");
    check_line("app --api-key abc", "app --api-key ***");
    check_line("app --db-pass 'two words' x", "app --db-pass *** x");
    check_line("app --AuthToken abc", "app --AuthToken ***");
    check_line("app --client-secret a --credential-file b",
               "app --client-secret *** --credential-file ***");
    check_line("app --token --verbose", "app --token --verbose");
    check_line("app --password --password x", "app --password --password ***");
    check_line("WANDB_API_KEY=abc python train.py", "WANDB_API_KEY=*** python train.py");
    check_line("env DB_PASSWORD=abc LEVEL=3 run", "env DB_PASSWORD=*** LEVEL=3 run");
}

static void headers_are_hidden(void)
{
    check_line("curl -H 'Authorization: Bearer abc' url", "curl -H 'Authorization:***' url");
    check_line("curl -H 'X-Api-Key: abc' url", "curl -H 'X-Api-Key:***' url");
    check_line("curl -H 'Accept: text/html' url", "curl -H 'Accept: text/html' url");
}

static void options_of_known_programs_are_hidden(void)
{
    check_line("/usr/bin/mysql -phunter2 -u root db", "/usr/bin/mysql -p*** -u root db");
    check_line("mysql -p hunter2", "mysql -p ***");
    check_line("sshpass -p hunter2 ssh host", "sshpass -p *** ssh host");
    check_line("curl -u me:hunter2 url", "curl -u *** url");
    check_line("curl --user me:hunter2 url", "curl --user *** url");
    check_line("redis-cli -a hunter2 ping", "redis-cli -a *** ping");
    check_line("curl --user=me:hunter2 url", "curl --user=*** url");
    check_line("wget --user-agent=me --user=me url", "wget --user-agent=me --user=*** url");
    check_line("curl -sSume:hunter2 url", "curl -sSu*** url");
    check_line("curl -sSu me:hunter2 url", "curl -sSu *** url");
    check_line("curl -sS url", "curl -sS url");
    check_line("mysql '-phun$ter2' '-uroot'", "mysql '-p***' '-uroot'");
    check_line("curl '--user=me:$x' u", "curl '--user=***' u");
    check_line("sudo mysql -phunter2 db", "sudo mysql -p*** db");
    check_line("env A=b timeout 5 /usr/bin/mysql -phunter2",
               "env A=b timeout 5 /usr/bin/mysql -p***");
    check_line("srun -n 1 curl -u me:hunter2 url", "srun -n 1 curl -u *** url");
    check_line("docker exec -it db mysql -uroot -phunter2",
               "docker exec -it db mysql -uroot -p***");
    check_line("ssh -p 2222 host", "ssh -p 2222 host");
    check_line("mkdir -p a/b", "mkdir -p a/b");
}

static void logins_in_urls_are_hidden(void)
{
    check_line("psql postgres://me:hunter2@db:5432/x", "psql postgres://***@db:5432/x");
    check_line("git clone https://abc@host/x.git", "git clone https://***@host/x.git");
    check_line("wget 'http://h/x?token=abc&n=3'", "wget 'http://h/x?token=***&n=3'");
    check_line("redis-cli redis://:hun/ter2E@host", "redis-cli redis://***@host");
    check_line("psql postgres://u:p@hunter2F@h/x", "psql postgres://***@h/x");
    check_line("wget http://host/a@b", "wget http://host/a@b");
    check_line("pip install git+https://host/x.git@v1", "pip install git+https://host/x.git@v1");
    check_line("ssh me@host", "ssh me@host");
}

static void tokens_are_hidden(void)
{
    /* Made up, and put together here so that no scanner reports them as leaked. */
    check_line("x "
               "sk-"
               "abcdefghijklmnop",
               "x ***");
    check_line("x "
               "ghp_"
               "0123456789abcdef y",
               "x *** y");
    check_line("x "
               "hf_"
               "ABCDEFGHIJKLMNOP",
               "x ***");
    check_line("x "
               "AKIA"
               "ABCDEFGHIJKLMNOP",
               "x ***");
    check_line("x --run="
               "eyJhbGciOi"
               ".eyJzdWIi.c2ln y",
               "x --run=*** y");
    check_line("x 0123456789abcdef0123456789abcdef", "x ***");
    check_line("x /a/aB3dE5fG7hI9jK1lM3nO5pQ7/b", "x /a/***/b");
}

/* Arguments as the kernel gives them; shown here with | for NUL. */
static void check_arguments(const char *line, const char *expected)
{
    struct buffer text = {.bytes = NULL};
    char arguments[256];
    size_t size = strlen(line);
    for (size_t i = 0; i <= size; i++)
        arguments[i] = line[i] == '|' ? '\0' : line[i];
    redact_line(&text, (vitals_text){arguments, size}, REDACT_REDACTED);
    for (size_t i = 0; i < text.size; i++)
        text.bytes[i] = text.bytes[i] == '\0' ? '|' : text.bytes[i];
    CHECK_CASE(line);
    CHECK_STR(text.bytes, expected);
    buffer_done(&text);
}

static void arguments_of_the_kernel_are_taken(void)
{
    check_arguments("app|--password|hunter2|-v|", "app|--password|***|-v");
    check_arguments("app|--password|two words|x|", "app|--password|***|x");
    check_arguments("app|--password||x|", "app|--password||***");
    check_arguments("env|PASSWORD=two words; three|x|", "env|PASSWORD=***|x");
    check_arguments("curl|-H|Authorization: Bearer abc|url|", "curl|-H|Authorization:***|url");
    check_arguments("curl|-H|Cookie: a=b; c=d|url|", "curl|-H|Cookie:***|url");
    check_arguments("mysql|-phunter2|", "mysql|-p***");
    check_arguments("it's|--token|x|y|", "it's|--token|***|y");
    check_arguments("sh|-c|mysql -phunter2 && app --token abc x|",
                    "sh|-c|mysql -p*** && app --token *** x");
    check_arguments("sh|-c|curl -H 'Authorization: Bearer abc' u|",
                    "sh|-c|curl -H 'Authorization:***' u");
    check_arguments("app|{\"user\": \"me\", \"password\": \"a b\"}|",
                    "app|{\"user\": \"me\", \"password\": ***");
    check_arguments("sh|-c|tool --password \\\n  hunter2|", "sh|-c|tool --password \\\n  ***");
    check_arguments("sh|-c|tool --password\t\\\n\\\nhunter2 x|",
                    "sh|-c|tool --password\t\\\n\\\n*** x");
    check_arguments("sh|-c|mytool --token\nhunter2; true|", "sh|-c|mytool --token\n*** true");
    check_arguments("sudo|mysql|-phunter2|", "sudo|mysql|-p***");
    check_arguments("app|redis://u:p'hun@ter2@h|", "app|redis://***@h");
    check_arguments("nginx: worker --token abc|", "nginx: worker --token ***");
}

static void quotes_of_text_do_not_hide_words(void)
{
    check_line("echo 'it'\\''s' --token abc x", "echo 'it'\\''s' --token *** x");
    check_line("x --password=a&b y", "x --password=*** y");
    check_line("curl -H Authorization: Bearer abc u", "curl -H Authorization: *** *** u");
    check_line("x '{\"password\":\"abc\"}'", "x '{\"password\":***'");
}

static void what_is_no_secret_stays(void)
{
    static const char *const LINES[] = {
        "python train.py --model meta-llama/Meta-Llama-3-70B-Instruct-AWQ-INT4 --lr 3e-4",
        "/usr/lib/jvm/java-17-openjdk-amd64/bin/java -Xmx4g -jar app.jar",
        "torchrun --nproc_per_node=8 --master_addr 10.0.0.1 main.py",
        "nginx: worker process",
        "sleep 1000",
        "bash -c 'echo $PATH | wc'",
        "",
    };
    for (size_t i = 0; i < CHECK_COUNT(LINES); i++)
        check_line(LINES[i], LINES[i]);
}

static void forms_are_what_they_say(void)
{
    char *off = redacted("app --x y", REDACT_OFF),
         *first = redacted("'my app' --x y", REDACT_ARGV0);
    char *full = redacted("app --password hunter2", REDACT_FULL);
    CHECK_STR(off, "");
    CHECK_STR(first, "'my app'");
    CHECK_STR(full, "app --password hunter2");
    CHECK_INT(redact_form_of("off"), REDACT_OFF);
    CHECK_INT(redact_form_of("argv0"), REDACT_ARGV0);
    CHECK_INT(redact_form_of("redacted"), REDACT_REDACTED);
    CHECK_INT(redact_form_of("full"), REDACT_FULL);
    CHECK_INT(redact_form_of("Full"), -1);
    free(off);
    free(first);
    free(full);
}

/* Redacting what was redacted changes nothing, whatever stands there. */
static void bytes_of_all_kinds_are_taken(void)
{
    static const char LINE[] = "a\xff\xfe 'unended --key\x01= '\\'' \"q --token\" ==:: ://@ ?pass=";
    char *once = redacted(LINE, REDACT_REDACTED), *twice = redacted(once, REDACT_REDACTED);
    CHECK_STR(twice, once);
    free(once);
    free(twice);
}

static const check_test tests[] = {
    {"values of options are hidden", values_of_options_are_hidden},
    {"headers are hidden", headers_are_hidden},
    {"options of known programs are hidden", options_of_known_programs_are_hidden},
    {"logins in URLs are hidden", logins_in_urls_are_hidden},
    {"tokens are hidden", tokens_are_hidden},
    {"arguments of the kernel are taken", arguments_of_the_kernel_are_taken},
    {"quotes of text do not hide words", quotes_of_text_do_not_hide_words},
    {"what is no secret stays", what_is_no_secret_stays},
    {"forms are what they say", forms_are_what_they_say},
    {"bytes of all kinds are taken", bytes_of_all_kinds_are_taken},
};

CHECK_TESTS(tests)
