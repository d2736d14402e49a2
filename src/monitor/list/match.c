/* match.c: see match.h. */
#include "monitor/list/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/list/group.h"

/* ---- fields ---- */

/* 1: it is so; 0: it is not; -1: not known. */
typedef int match_test(const struct model *model, const struct item *item, const char *word);

struct match_field {
    const char *name;
    match_test *test;
    vitals_metric needs[4]; /* beside what every list has */
};

static int hold_text(const struct model *model, const vitals_row *row, vitals_metric metric,
                     const char *word)
{
    char text[WORDS_COMMAND];
    vitals_text bytes;
    if (row == NULL || vitals_row_text(row, metric, &bytes) <= 0)
        return -1;
    (void)cell_text(row, metric, model->options->look.ascii, text, sizeof text);
    return cell_hold(text, word);
}

static int is_number(uint64_t number, const char *word)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return strcmp(text, word) == 0;
}

static int test_user(const struct model *model, const struct item *item, const char *word)
{
    return hold_text(model, item->process, VITALS_PROCESS_USER, word);
}

static int test_name(const struct model *model, const struct item *item, const char *word)
{
    return hold_text(model, item->process, VITALS_PROCESS_NAME, word);
}

static int test_command(const struct model *model, const struct item *item, const char *word)
{
    char text[WORDS_COMMAND];
    if (item->process == NULL)
        return -1;
    return cell_hold(cell_command(item->process, model->options->look.ascii, text), word);
}

static int test_pid(const struct model *model, const struct item *item, const char *word)
{
    uint64_t pid = item_identity(item).pid;
    (void)model;
    return pid == 0 ? -1 : is_number(pid, word);
}

static int test_parent(const struct model *model, const struct item *item, const char *word)
{
    uint64_t pid;
    (void)model;
    if (item->process == NULL ||
        vitals_row_u64(item->process, VITALS_PROCESS_PARENT_PID, &pid) <= 0)
        return -1;
    return is_number(pid, word);
}

static int test_state(const struct model *model, const struct item *item, const char *word)
{
    char state[WORDS];
    vitals_text bytes;
    if (item->process == NULL || vitals_row_text(item->process, VITALS_PROCESS_STATE, &bytes) <= 0)
        return -1;
    (void)cell_text(item->process, VITALS_PROCESS_STATE, true, state, sizeof state);
    (void)model;
    return word[1] == '\0' ? cell_state(state) == word[0] : cell_hold(state, word);
}

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

static int test_gpu(const struct model *model, const struct item *item, const char *word)
{
    uint64_t devices = item_devices(item), bit = 1;
    if (item->gpu != NULL)
        return is_device(model, item->gpu, word);
    for (const vitals_row *gpu = NULL;
         model->machine.now != NULL &&
         (gpu = vitals_snapshot_next(model->machine.now, VITALS_GPU, gpu)) != NULL;
         bit <<= 1) {
        if ((devices & bit) && is_device(model, gpu, word))
            return 1;
    }
    return 0;
}

static int test_container(const struct model *model, const struct item *item, const char *word)
{
    int id = hold_text(model, item_row(item), VITALS_PROCESS_CONTAINER, word);
    int name = hold_text(model, item_row(item), VITALS_PROCESS_CONTAINER_NAME, word);
    return id > name ? id : name;
}

/* A job is its number, a pod a part of its name. */
static int test_job(const struct model *model, const struct item *item, const char *word)
{
    char text[GROUP_NAME];
    if (!group_text(model, GROUP_JOB, item, text, sizeof text))
        return -1;
    if (strncmp(text, "job ", 4) == 0)
        return strcmp(text + 4, word) == 0;
    return cell_hold(text, word);
}

static int test_unit(const struct model *model, const struct item *item, const char *word)
{
    return hold_text(model, item_row(item), VITALS_PROCESS_UNIT, word);
}

static int test_cgroup(const struct model *model, const struct item *item, const char *word)
{
    return hold_text(model, item_row(item), VITALS_PROCESS_CGROUP, word);
}

static const struct match_field FIELDS[] = {
    {"user", test_user, {0}},
    {"name", test_name, {0}},
    {"command", test_command, {0}},
    {"pid", test_pid, {0}},
    {"ppid", test_parent, {0}},
    {"state", test_state, {0}},
    {"gpu", test_gpu, {0}},
    {"container", test_container, {VITALS_PROCESS_CONTAINER, VITALS_PROCESS_CONTAINER_NAME}},
    {"job",
     test_job,
     {VITALS_PROCESS_SLURM_JOB, VITALS_PROCESS_POD, VITALS_PROCESS_POD_NAME,
      VITALS_PROCESS_POD_NAMESPACE}},
    {"service", test_unit, {VITALS_PROCESS_UNIT}},
    {"cgroup", test_cgroup, {VITALS_PROCESS_CGROUP}},
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

void match_names(char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < FIELD_COUNT && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", i > 0 ? ", " : "",
                                 FIELDS[i].name);
}

/* ---- reading ---- */

static const struct match_field *find(const char *name, size_t size)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strlen(FIELDS[i].name) == size && memcmp(FIELDS[i].name, name, size) == 0)
            return &FIELDS[i];
    }
    return NULL;
}

/* A field's name before a colon; else what begins there is a word. Gives where that begins. */
static const char *take_field(const char *at, struct match *match, const struct match_field **field)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz";
    size_t size = strspn(at, LETTERS);
    *field = NULL;
    if (size == 0 || at[size] != ':')
        return at;
    *field = find(at, size);
    if (*field != NULL)
        return at + size + 1;
    if (match->unknown[0] == '\0')
        (void)snprintf(match->unknown, sizeof match->unknown, "%.*s", (int)(size < 30 ? size : 30),
                       at);
    return at;
}

void match_parse(const char *words, struct match *out)
{
    size_t used = 0;
    *out = (struct match){0};
    for (const char *at = words; out->count < MATCH_TERMS;) {
        at += strspn(at, " ");
        if (*at == '\0')
            break;
        bool turned = *at == '!' && at[1] != ' ' && at[1] != '\0';
        const struct match_field *field = NULL;
        at += turned;
        if (*at != '"')
            at = take_field(at, out, &field);
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

/* ---- looking ---- */

/* Any of what a person would look at. */
static int test_any(const struct model *model, const struct item *item, const char *word)
{
    return test_user(model, item, word) > 0 || test_command(model, item, word) > 0 ||
           test_pid(model, item, word) > 0 ||
           (item->gpu != NULL && is_device(model, item->gpu, word) > 0);
}

bool match_item(const struct match *match, const struct model *model, const struct item *item)
{
    for (size_t i = 0; i < match->count; i++) {
        const struct match_field *field = match->terms[i].field;
        match_test *test = field != NULL ? field->test : test_any;
        int got = item->head
                      ? (field == NULL ? cell_hold(item->group->name, match->terms[i].word) : -1)
                      : test(model, item, match->terms[i].word);
        if (got < 0 || (got > 0) == match->terms[i].turned)
            return false;
    }
    return true;
}
