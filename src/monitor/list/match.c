/* match.c: see match.h. */
#include "monitor/list/match.h"

#include <stdio.h>
#include <string.h>

#include "monitor/list/group.h"
#include "util/base.h"

enum match_kind { BY_TEXT, BY_COMMAND, BY_PID, BY_PARENT, BY_STATE, BY_DEVICE, BY_JOB };

struct match_field {
    const char *name;
    enum match_kind kind;
    vitals_metric texts[2]; /* of BY_TEXT: one of these holds the word */
    vitals_metric needs[4]; /* beside what every list has */
};

/* Its number, which is also that of its partitions, or a part of its name. */
static int is_device(const struct model *model, const vitals_row *gpu, const char *word)
{
    char text[WORDS];
    const char *label = vitals_row_label(gpu);
    size_t size = strlen(word);
    if (strncmp(label, word, size) == 0 &&
        (label[size] == '\0' || (size > 0 && label[size] == ':' && word[size - 1] != ':')))
        return 1;
    return strspn(word, "0123456789.:/") < strlen(word) &&
           cell_hold(cell_text(gpu, VITALS_GPU_NAME, model->options->look.ascii, text, sizeof text),
                     word);
}

// clang-format off
#define P(suffix) VITALS_PROCESS_##suffix
static const struct match_field FIELDS[] = {
    {"user", BY_TEXT, {P(USER)}, {0}},
    {"name", BY_TEXT, {P(NAME)}, {0}},
    {"command", BY_COMMAND, {0}, {0}},
    {"pid", BY_PID, {0}, {0}},
    {"ppid", BY_PARENT, {0}, {0}},
    {"state", BY_STATE, {0}, {0}},
    {"gpu", BY_DEVICE, {0}, {0}},
    {"container", BY_TEXT, {P(CONTAINER), P(CONTAINER_NAME)}, {P(CONTAINER), P(CONTAINER_NAME)}},
    {"job", BY_JOB, {0}, {P(SLURM_JOB), P(POD), P(POD_NAME), P(POD_NAMESPACE)}},
    {"service", BY_TEXT, {P(UNIT)}, {P(UNIT)}},
    {"cgroup", BY_TEXT, {P(CGROUP)}, {P(CGROUP)}},
};
// clang-format on
enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

bool match_unknown(const char *words, char *out, size_t capacity)
{
    struct match match;
    match_parse(words, &match);
    (void)snprintf(out, capacity, "no field \"%s\": there are ", match.unknown);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        cell_add(out, capacity, "%s%s", i > 0 ? ", " : "", FIELDS[i].name);
    return match.unknown[0] != '\0';
}

void match_parse(const char *words, struct match *out)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz";
    size_t used = 0;
    *out = (struct match){0};
    for (const char *at = words; out->count < MATCH_TERMS;) {
        at += strspn(at, " ");
        if (*at == '\0')
            break;
        bool turned = *at == '!' && at[1] != ' ' && at[1] != '\0';
        at += turned;

        /* A field's name before a colon; else what begins there is a word. */
        const struct match_field *field = NULL;
        size_t name = strspn(at, LETTERS);
        bool colon = name > 0 && at[name] == ':';
        for (size_t i = 0; colon && i < FIELD_COUNT && field == NULL; i++) {
            if (strlen(FIELDS[i].name) == name && memcmp(FIELDS[i].name, at, name) == 0)
                field = &FIELDS[i];
        }
        if (field != NULL)
            at += name + 1;
        else if (colon && out->unknown[0] == '\0')
            (void)snprintf(out->unknown, sizeof out->unknown, "%.*s", (int)(name < 30 ? name : 30),
                           at);

        bool quoted = *at == '"';
        at += quoted;
        size_t size = strcspn(at, quoted ? "\"" : " ");
        if (used + size + 1 > sizeof out->text)
            break;
        memcpy(out->text + used, at, size);
        at += size;
        at += quoted && *at == '"';
        if (size == 0)
            continue; /* still being typed */
        out->terms[out->count].field = field;
        out->terms[out->count].turned = turned;
        out->terms[out->count++].word = out->text + used;
        used += size + 1;
    }
}

void match_needs(const struct match *match, struct wants *out)
{
    for (size_t i = 0; i < match->count; i++) {
        const struct match_field *field = match->terms[i].field;
        for (size_t j = 0; field != NULL && j < sizeof field->needs / sizeof field->needs[0]; j++)
            wants_add(out, field->needs[j]);
    }
}

/* 1: it is so; 0: it is not; -1: not known. */
static int test(const struct match_field *field, const struct model *model, const struct item *item,
                const char *word)
{
    const vitals_row *row = field->needs[0] != 0 ? item_row(item) : item->process;
    const vitals_snapshot *now = model->machine.now;
    bool ascii = model->options->look.ascii;
    char text[WORDS_COMMAND];
    uint64_t pid = item_identity(item).pid, bit = 1;
    vitals_text bytes;
    int found = -1;
    switch (field->kind) {
    case BY_TEXT:
        for (size_t i = 0; i < ARRAY_COUNT(field->texts) && field->texts[i] != 0 && found < 1;
             i++) {
            if (vitals_row_text(row, field->texts[i], &bytes) > 0)
                found = cell_hold(cell_text(row, field->texts[i], ascii, text, sizeof text), word);
        }
        return found;
    case BY_COMMAND: return row == NULL ? -1 : cell_hold(cell_command(row, ascii, text), word);
    case BY_PARENT:
        if (vitals_row_u64(row, VITALS_PROCESS_PARENT_PID, &pid) <= 0)
            return -1;
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)pid);
        return strcmp(text, word) == 0;
    case BY_PID:
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)pid);
        return pid == 0 ? -1 : strcmp(text, word) == 0;
    case BY_STATE:
        if (vitals_row_text(row, VITALS_PROCESS_STATE, &bytes) <= 0)
            return -1;
        (void)cell_text(row, VITALS_PROCESS_STATE, true, text, WORDS);
        return word[1] == '\0' ? cell_state(text) == word[0] : cell_hold(text, word);
    case BY_DEVICE:
        if (item->gpu != NULL)
            return is_device(model, item->gpu, word);
        for (const vitals_row *gpu = NULL; (gpu = row_next(now, VITALS_TABLE_GPU, gpu)) != NULL;
             bit <<= 1) {
            if ((item_devices(item) & bit) && is_device(model, gpu, word))
                return 1;
        }
        return 0;
    case BY_JOB: /* a job is its number, a pod a part of its name */
        if (!group_text(model, GROUP_JOB, item, text, sizeof text))
            return -1;
        return strncmp(text, "job ", 4) == 0 ? strcmp(text + 4, word) == 0 : cell_hold(text, word);
    }
    return -1;
}

/* What its line shows beside user, command, pid and device: its work, and the texts of columns. */
static bool is_shown(const struct model *model, const struct item *item, const char *word)
{
    struct arranged_columns columns;
    char text[WORDS_COMMAND];
    item_work(model, item, text, sizeof text);
    bool found = text[0] != '\0' && cell_hold(text, word);
    columns_of(&model->arranged, model->view, &columns);
    for (size_t i = 0; i < columns.count && !found; i++) {
        const struct column *column = &list_columns[columns.items[i].column];
        if (!column_is_text(column))
            continue;
        column_words(column, model, item, text);
        found = strcmp(text, "N/A") != 0 && cell_hold(text, word);
    }
    return found;
}

bool match_item(const struct match *match, const struct model *model, const struct item *item)
{
    static const struct match_field USER = {"user", BY_TEXT, {VITALS_PROCESS_USER}, {0}};
    static const struct match_field COMMAND = {"command", BY_COMMAND, {0}, {0}};
    static const struct match_field PID = {"pid", BY_PID, {0}, {0}};
    for (size_t i = 0; i < match->count; i++) {
        const struct match_field *field = match->terms[i].field;
        const char *word = match->terms[i].word;
        int got;
        if (item->head)
            got = field == NULL ? cell_hold(item->group->name, word) : -1;
        else if (field != NULL)
            got = test(field, model, item, word);
        else /* any of what a person would look at */
            got = test(&USER, model, item, word) > 0 || test(&COMMAND, model, item, word) > 0 ||
                  test(&PID, model, item, word) > 0 ||
                  (item->gpu != NULL && is_device(model, item->gpu, word) > 0) ||
                  is_shown(model, item, word);
        if (got < 0 || (got > 0) == match->terms[i].turned)
            return false;
    }
    return true;
}
