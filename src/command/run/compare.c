/* compare.c: `vitals compare`: how sessions differ, and whether a difference is more than chance. A
 * session is one file, or all files between two words "vs"; a prefix NAME= names it, otherwise its
 * name is that of the file. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "record/recording.h"
#include "report/compare.h"

enum { NUMBER_MOST = 32 }; /* bytes of " (2)" */

struct comparing {
    const struct settings_words *words;
    struct arena memory; /* of all that follows, and of generated names of sessions */
    struct session *sessions;
    size_t session_count;
    struct recording **runs; /* of all sessions, in order */
    struct phases *phases;
    struct stat *files;
    size_t run_count;
};

static bool is_vs(const char *word)
{
    return strcmp(word, "vs") == 0;
}

/* Returns the file of NAME=FILE, unless the whole word is a file. */
static const char *path_of(const char *word, size_t *name_size)
{
    const char *equals = strchr(word, '=');
    *name_size = 0;
    if (equals == NULL || equals == word || access(word, F_OK) == 0)
        return word;
    *name_size = (size_t)(equals - word);
    return equals + 1;
}

/* Returns the name of the session that begins with the word. Two sessions with equal names would be
 * one in JSON. */
static const char *name_of(struct comparing *comparing, const char *word)
{
    size_t size, same = 0;
    const char *path = path_of(word, &size), *slash = strrchr(path, '/');
    const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
    const char *given = size > 0 ? arena_copy(&comparing->memory, word, size) : NULL;
    if (given != NULL)
        name = given;
    size = strlen(name);
    for (size_t i = 0; i < comparing->session_count; i++) {
        const char *other = comparing->sessions[i].name;
        same += strncmp(other, name, size) == 0 && (other[size] == '\0' || other[size] == ' ');
    }
    char *unique = same > 0 ? arena_alloc(&comparing->memory, size + NUMBER_MOST) : NULL;
    if (unique == NULL)
        return name;
    (void)snprintf(unique, size + NUMBER_MOST, "%s (%zu)", name, same + 1);
    return unique;
}

/* Remembers the file. Returns false if it was named before: it would count as a second run. */
static bool remember_file(struct comparing *comparing, const char *path)
{
    struct stat file;
    if (stat(path, &file) < 0)
        return true;
    for (size_t i = 0; i < comparing->run_count; i++) {
        if (comparing->files[i].st_dev == file.st_dev && comparing->files[i].st_ino == file.st_ino)
            return false;
    }
    comparing->files[comparing->run_count] = file;
    return true;
}

static int open_run(struct comparing *comparing, const char *word)
{
    vitals_error error;
    size_t ignored;
    const char *path = path_of(word, &ignored);
    struct recording *recording;
    if (!remember_file(comparing, path))
        return command_fail(EXIT_USAGE, "compare: %s: the same file twice; each file is one run",
                            command_safe(path));
    if (recording_open(path, &recording, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    comparing->runs[comparing->run_count] = recording;
    if (recording_problem(recording)[0] != '\0')
        (void)command_fail(0, "%s: read only in part (vitals report says what is missing)",
                           command_safe(path));
    if (phases_of(recording, &comparing->phases[comparing->run_count++], &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    return 0;
}

static int open_runs(struct comparing *comparing)
{
    const struct settings_words *words = comparing->words;
    bool groups = false, begins = true;
    int code = 0;
    for (size_t i = 0; i < words->count; i++)
        groups = groups || is_vs(words->items[i]);
    for (size_t i = 0; i < words->count && code == 0; i++) {
        if (is_vs(words->items[i])) {
            begins = true;
            continue;
        }
        if (begins || !groups) {
            struct session session = {
                .name = name_of(comparing, words->items[i]),
                .runs = (const struct recording **)comparing->runs + comparing->run_count,
                .phases = comparing->phases + comparing->run_count,
            };
            comparing->sessions[comparing->session_count++] = session;
        }
        begins = false;
        code = open_run(comparing, words->items[i]);
        comparing->sessions[comparing->session_count - 1].count += code == 0;
    }
    if (code == 0 && comparing->session_count < 2)
        code = command_fail(
            EXIT_USAGE,
            "compare: at least two files are needed, as in: vitals compare old.db new.db");
    return code;
}

enum { COMPARE_TEXT, COMPARE_JSON, COMPARE_GPU_TRACKER };
static const char *const FORMS[] = {"text", "json", "gpu-tracker"};

static int print_comparison(const struct comparing *comparing, size_t form,
                            const struct account_view *view, const char *statistic)
{
    struct comparison comparison;
    vitals_error error;
    int code = EXIT_DONE;
    if (compare_sessions(comparing->sessions, comparing->session_count, &comparison, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    struct output *output = output_begin(STDOUT_FILENO);
    int stopped = form == COMPARE_TEXT ? comparison_text(&comparison, view, output_write, output)
                  : form == COMPARE_JSON
                      ? comparison_json(&comparison, output_write, output)
                      : comparison_gpu_tracker(&comparison, view, statistic, output_write, output);
    if (stopped != 0 && output_open(output))
        code = command_fail(EXIT_CANNOT, "out of memory");
    comparison_done(&comparison);
    return output_done(output, code);
}

int command_compare(const struct settings *settings)
{
    char wrong[256];
    struct account_view view = command_account_view(&settings->look, &settings->account);
    size_t count = settings->arguments.words.count + 1, form = 0;
    const char *name = settings->look.json                ? "json"
                       : settings->account.format != NULL ? settings->account.format
                                                          : "text";
    while (strcmp(FORMS[form], name) != 0)
        form++;
    if (!account_units(&view, wrong, sizeof wrong))
        return command_fail(EXIT_USAGE, "%s", wrong);
    struct comparing comparing = {.words = &settings->arguments.words};
    struct arena *arena = &comparing.memory;
    comparing.sessions = arena_array(arena, count, sizeof *comparing.sessions);
    comparing.runs = arena_array(arena, count, sizeof *comparing.runs);
    comparing.phases = arena_array(arena, count, sizeof *comparing.phases);
    comparing.files = arena_array(arena, count, sizeof *comparing.files);
    bool memory = comparing.sessions != NULL && comparing.runs != NULL &&
                  comparing.phases != NULL && comparing.files != NULL;
    int code = memory ? open_runs(&comparing) : command_fail(EXIT_CANNOT, "out of memory");
    if (code == 0)
        code = print_comparison(&comparing, form, &view, settings->compare.statistic);

    for (size_t i = 0; i < comparing.run_count; i++) {
        phases_done(&comparing.phases[i]);
        recording_close(comparing.runs[i]);
    }
    arena_done(&comparing.memory);
    return code;
}
