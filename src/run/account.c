/* account.c: see account.h and <vitals/sys/account.h>. Holds figures and attributes, and writes
 * them; knows nothing of where they come from. */
#include "run/account.h"

#include "model/catalogue.h"
#include "model/json_writer.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vitals/version.h>

/* The order in which they are given, whatever the order in which they were set. */
static const char *const ATTRIBUTES[] = {
    VITALS_ATTRIBUTE_STATE,   VITALS_ATTRIBUTE_COMMAND,    VITALS_ATTRIBUTE_WORKING_DIRECTORY,
    VITALS_ATTRIBUTE_USER,    VITALS_ATTRIBUTE_HOST,       VITALS_ATTRIBUTE_BOOT_ID,
    VITALS_ATTRIBUTE_VERSION, VITALS_ATTRIBUTE_STARTED_NS, VITALS_ATTRIBUTE_INTERVAL_NS,
    VITALS_ATTRIBUTE_EXIT,    VITALS_ATTRIBUTE_SIGNAL,     VITALS_ATTRIBUTE_EXPECTED_CORES,
    VITALS_ATTRIBUTE_METHODS, VITALS_ATTRIBUTE_MISSING,
};

/* Enough for the figures of a launcher and of a usage with some devices, and less than what the C
 * library asks the kernel for by itself each time. */
enum { FIGURES_RESERVED = 256 };

/* ---- texts ---- */

/* Copies a text that may come from outside so that it can be printed; cut between characters. One
 * that is what formatting made of it, but for doubled backslashes, has been made safe before and
 * stays as it is. */
static void copy_safe(const char *from, char *out, size_t capacity)
{
    from = from != NULL ? from : "";
    size_t size = strlen(from);
    (void)vitals_text_format((vitals_text){from, size}, VITALS_TEXT_TERMINAL, out, capacity);
    const char *text = from, *formatted = out;
    for (; *text != '\0' && *text == *formatted; text++, formatted++) {
        if (*text == '\\' && formatted[1] == '\\' && text[1] != '\\')
            formatted++;
    }
    if (size < capacity && *text == '\0' && *formatted == '\0')
        memcpy(out, from, size + 1);
}

/* ---- figures ---- */

static void fill_figure(vitals_figure *figure, const vitals_figure_form *form)
{
    *figure = (vitals_figure){.state = (signed char)form->state,
                              .value = form->state > 0 ? form->value : 0};
    copy_safe(form->name, figure->name, sizeof(figure->name));
    copy_safe(form->unit, figure->unit, sizeof(figure->unit));
    copy_safe(form->subject, figure->subject, sizeof(figure->subject));
    copy_safe(form->label, figure->label, sizeof(figure->label));
    copy_safe(form->source, figure->source, sizeof(figure->source));
}

static const vitals_figure_form EMPTY = {0};

OPTIONS_FORM(FORM, vitals_figure_form, EMPTY, value, 64);

void vitals_figure_form_init(vitals_figure_form *form, size_t size)
{
    options_init(&FORM, form, size);
}

static int take_form(const vitals_figure_form *given, vitals_figure_form *form, vitals_error *error)
{
    int code = options_take(&FORM, given, form, error);
    if (code < 0)
        return code;
    if (form->name == NULL || form->name[0] == '\0')
        return error_set(error, VITALS_EARGUMENT, 0, "a figure without a name");
    int state = (int)form->state;
    bool listed = state >= (int)VITALS_AVAILABILITY_MIN && state <= (int)VITALS_AVAILABILITY_MAX &&
                  state != 0;
    if (!listed)
        return error_set(error, VITALS_EARGUMENT, 0, "figure %s: no availability", form->name);
    if (form->state > 0 && !isfinite(form->value))
        return error_set(error, VITALS_EARGUMENT, 0, "figure %s: not a finite number", form->name);
    return 0;
}

int vitals_account_add(vitals_account *account, const vitals_figure_form *form, vitals_error *error)
{
    vitals_figure_form taken;
    int code = take_form(form, &taken, error);
    if (code < 0)
        return code;
    if (account->count == ACCOUNT_FIGURES_MAX)
        return error_set(error, VITALS_EARGUMENT, 0, "more than %d figures", ACCOUNT_FIGURES_MAX);
    if (MEMORY_GROW(account->figures, account->capacity, account->count) < 0)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    fill_figure(&account->figures[account->count++], &taken);
    return 0;
}

int vitals_account_put(vitals_account *account, const vitals_figure_form *form, vitals_error *error)
{
    vitals_figure_form taken;
    int code = take_form(form, &taken, error);
    if (code < 0)
        return code;
    char name[FIGURE_NAME], subject[FIGURE_SUBJECT]; /* as a figure holds them: a long one is cut */
    copy_safe(taken.name, name, sizeof(name));
    copy_safe(taken.subject, subject, sizeof(subject));
    const vitals_figure *known = vitals_account_find(account, name, subject);
    if (known == NULL)
        return vitals_account_add(account, form, error);
    fill_figure(&account->figures[known - account->figures], &taken);
    return 0;
}

/* ---- attributes ---- */

static struct account_attribute *find_attribute(const vitals_account *account, const char *name)
{
    for (size_t i = 0; i < account->attribute_count; i++) {
        if (strcmp(account->attributes[i].name, name) == 0)
            return &account->attributes[i];
    }
    return NULL;
}

/* Where a name stands: the listed ones first, then as they came. */
static size_t rank_of(const char *name)
{
    size_t rank = 0;
    while (rank < ARRAY_COUNT(ATTRIBUTES) && strcmp(ATTRIBUTES[rank], name) != 0)
        rank++;
    return rank;
}

int vitals_account_set(vitals_account *account, const char *name, vitals_text text,
                       vitals_error *error)
{
    /* A name is of the letters that JSON keys have, and short. */
    size_t name_size = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (name_size == 0 || name_size >= ACCOUNT_ATTRIBUTE || name[name_size] != '\0')
        return error_set(error, VITALS_EARGUMENT, 0, "%s: no name of an attribute", name);
    if (strcmp(name, "failure") == 0) {
        size_t kept = size_min(text.size, sizeof(account->failure) - 1);
        memcpy(account->failure, text.bytes, kept);
        account->failure[kept] = '\0';
        return 0;
    }
    struct account_attribute *attribute = find_attribute(account, name);
    size_t size = size_min(text.size, ACCOUNT_TEXT_MAX);
    char *bytes = memory_alloc(size + 1);
    if (bytes != NULL && attribute == NULL && account->attribute_count < ACCOUNT_ATTRIBUTES_MAX &&
        MEMORY_GROW(account->attributes, account->attribute_capacity, account->attribute_count) ==
            0) {
        attribute = &account->attributes[account->attribute_count++];
        while (attribute > account->attributes && rank_of(attribute[-1].name) > rank_of(name)) {
            attribute[0] = attribute[-1];
            attribute--;
        }
        *attribute = (struct account_attribute){.bytes = NULL};
        (void)snprintf(attribute->name, sizeof(attribute->name), "%s", name);
    }
    if (attribute == NULL || bytes == NULL) {
        memory_free(bytes);
        return error_set(error, VITALS_EMEMORY, 0, "no room for the attribute %s", name);
    }
    memcpy(bytes, text.bytes, size);
    memory_free(attribute->bytes);
    attribute->bytes = bytes;
    attribute->size = size;
    return 0;
}

static void set_number(vitals_account *account, const char *name, int number)
{
    char digits[16];
    int size = snprintf(digits, sizeof(digits), "%d", number);
    /* Without memory the number itself is told all the same. */
    int code = vitals_account_set(account, name, (vitals_text){digits, (size_t)size}, NULL);
    (void)code;
}

void vitals_account_ended(vitals_account *account, int exit_code, int signal)
{
    account->exit_code = exit_code;
    account->signal = signal;
    set_number(account, VITALS_ATTRIBUTE_EXIT, exit_code);
    if (signal != 0)
        set_number(account, VITALS_ATTRIBUTE_SIGNAL, signal);
}

vitals_text vitals_account_attribute(const vitals_account *account, const char *name)
{
    const struct account_attribute *attribute = find_attribute(account, name);
    bool known = attribute != NULL && attribute->bytes != NULL;
    return known ? (vitals_text){attribute->bytes, attribute->size} : (vitals_text){"", 0};
}

const char *vitals_account_next_attribute(const vitals_account *account, const char *previous)
{
    size_t next = 0;
    if (previous != NULL) {
        const struct account_attribute *known = find_attribute(account, previous);
        if (known == NULL)
            return NULL; /* no name of ours */
        next = (size_t)(known - account->attributes) + 1;
    }
    return next < account->attribute_count ? account->attributes[next].name : NULL;
}

/* ---- the whole ---- */

vitals_account *account_new(void)
{
    vitals_account *account = memory_alloc(sizeof(*account));
    if (account == NULL)
        return NULL;
    /* Not zeroed: most are never written, and their pages never touched. */
    account->figures = memory_resize(NULL, FIGURES_RESERVED, sizeof(*account->figures));
    if (account->figures == NULL) {
        memory_free(account);
        return NULL;
    }
    account->capacity = FIGURES_RESERVED;
    account->exit_code = -1;
    return account;
}

void account_shrink(vitals_account *account)
{
    size_t count = account->count > 0 ? account->count : 1;
    vitals_figure *figures = memory_resize(account->figures, count, sizeof(*figures));
    if (figures == NULL)
        return; /* it is large, and whole */
    account->figures = figures;
    account->capacity = count;
}

int vitals_account_new(vitals_account **out, vitals_error *error)
{
    vitals_account *account = account_new();
    if (account == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    *out = account;
    return 0;
}

void vitals_account_free(vitals_account *account)
{
    if (account == NULL)
        return;
    for (size_t i = 0; i < account->attribute_count; i++)
        memory_free(account->attributes[i].bytes);
    memory_free(account->attributes);
    memory_free(account->figures);
    memory_free(account);
}

int vitals_account_exit_code(const vitals_account *account)
{
    return account->exit_code;
}

int vitals_account_signal(const vitals_account *account)
{
    return account->signal;
}

vitals_text vitals_account_failure(const vitals_account *account)
{
    return vitals_text_of(account->failure);
}

const vitals_figure *vitals_account_next(const vitals_account *account,
                                         const vitals_figure *previous)
{
    const vitals_figure *next = previous == NULL ? account->figures : previous + 1;
    return next < account->figures + account->count ? next : NULL;
}

const vitals_figure *vitals_account_find(const vitals_account *account, const char *name,
                                         const char *subject)
{
    for (size_t i = 0; i < account->count; i++) {
        const vitals_figure *figure = &account->figures[i];
        if (strcmp(figure->name, name) == 0 && strcmp(figure->subject, subject) == 0)
            return figure;
    }
    return NULL;
}

const char *vitals_figure_name(const vitals_figure *figure)
{
    return figure->name;
}

const char *vitals_figure_unit(const vitals_figure *figure)
{
    return figure->unit;
}

const char *vitals_figure_subject(const vitals_figure *figure)
{
    return figure->subject;
}

const char *vitals_figure_label(const vitals_figure *figure)
{
    return figure->label;
}

const char *vitals_figure_source(const vitals_figure *figure)
{
    return figure->source;
}

vitals_availability vitals_figure_value(const vitals_figure *figure, double *out)
{
    if (figure->state > 0)
        *out = figure->value;
    return (vitals_availability)figure->state;
}

const char *vitals_figure_string(const vitals_figure *figure, vitals_text_form form, char *out,
                                 size_t capacity)
{
    char number[VITALS_HUMAN];
    const char *words = vitals_availability_name((vitals_availability)figure->state);
    if (figure->state > 0)
        words = unit_format(figure->unit, figure->value, figure->unit[0] == '\0', form, number);
    (void)vitals_text_format(vitals_text_of(words), form, out, capacity);
    return capacity != 0 ? out : "";
}

void account_set_text(vitals_account *account, const char *name, vitals_text text)
{
    if (text.size > 0)
        (void)!vitals_account_set(account, name, text, NULL);
}

void account_set_string(vitals_account *account, const char *name, const char *string)
{
    account_set_text(account, name, vitals_text_of(string));
}

/* ---- as JSON; docs/account.md describes it ---- */

static void put_member(struct json_writer *writer, const char *before, const char *value)
{
    writer_raw(writer, before);
    writer_string(writer, value);
}

int vitals_account_json(const vitals_account *account, vitals_write_fn *write, void *data,
                        vitals_error *error)
{
    struct json_writer writer;
    writer_init(&writer, write, data);
    writer_raw(&writer, "{\"schema\":");
    writer_i64(&writer, VITALS_SCHEMA);
    put_member(&writer, ",\"vitals\":", vitals_version_text());
    writer_raw(&writer, ",\"exit_code\":");
    if (account->exit_code >= 0)
        writer_i64(&writer, account->exit_code);
    else
        writer_raw(&writer, "null");
    writer_raw(&writer, ",\"signal\":");
    writer_i64(&writer, account->signal);
    if (account->failure[0] != '\0')
        put_member(&writer, ",\"failure\":", account->failure);

    const char *between = "";
    writer_raw(&writer, ",\"attributes\":{");
    for (const char *name = NULL; (name = vitals_account_next_attribute(account, name)) != NULL;) {
        vitals_text text = vitals_account_attribute(account, name);
        put_member(&writer, between, name);
        writer_raw(&writer, ":");
        writer_text(&writer, text.bytes, text.size);
        between = ",";
    }

    writer_raw(&writer, "},\"figures\":[");
    for (size_t i = 0; i < account->count; i++) {
        const vitals_figure *figure = &account->figures[i];
        put_member(&writer, i > 0 ? ",\n{\"name\":" : "\n{\"name\":", figure->name);
        if (figure->subject[0] != '\0')
            put_member(&writer, ",\"subject\":", figure->subject);
        if (figure->label[0] != '\0')
            put_member(&writer, ",\"label\":", figure->label);
        writer_raw(&writer, ",\"value\":");
        if (figure->state > 0)
            writer_f64(&writer, figure->value);
        else
            writer_raw(&writer, "null");
        put_member(&writer, ",\"unit\":", figure->unit);
        put_member(&writer, ",\"availability\":",
                   vitals_availability_name((vitals_availability)figure->state));
        put_member(&writer, ",\"source\":", figure->source);
        writer_raw(&writer, "}");
    }
    writer_raw(&writer, "\n]}\n");
    if (writer_finish(&writer) != 0)
        return error_set(error, VITALS_ESYSTEM, writer.stopped, "account: the writer stopped");
    return 0;
}
