/* options.c: `vitals options --settings`: prints the value of each option and its origin. */
#include <unistd.h>

#include "command/options/option.h"
#include "report/json_form.h"

enum { INDENT = 2 };

static void print_numbers(struct json_form *form, const uint64_t *numbers, size_t count)
{
    form_begin(form, '[');
    for (size_t i = 0; i < count; i++)
        form_count(form, numbers[i]);
    form_end(form, ']');
}

static void print_value(struct json_form *form, const struct option *option, const void *field)
{
    switch (option->kind) {
    case OPTION_FLAG: form_bool(form, *(const bool *)field); return;
    case OPTION_CHOICE:
    case OPTION_TEXT:
    case OPTION_MAYBE: form_string(form, *(const char *const *)field); return;
    case OPTION_NUMBER: form_count(form, *(const uint64_t *)field); return;
    case OPTION_DURATION: form_number(form, (double)*(const uint64_t *)field / 1e9); return;
    case OPTION_PAIR: print_numbers(form, field, 2); return;
    case OPTION_NUMBERS: {
        const struct settings_numbers *numbers = field;
        print_numbers(form, numbers->items, numbers->count);
        return;
    }
    case OPTION_WORDS: {
        const struct settings_words *words = field;
        form_begin(form, '[');
        for (size_t i = 0; i < words->count; i++)
            form_string(form, words->items[i]);
        form_end(form, ']');
        return;
    }
    }
}

/* Begins an object on a line of its own. */
static void begin_line(struct json_form *form, const char *key)
{
    form_key(form, key);
    form->indent = 0;
    form_begin(form, '{');
}

static void end_line(struct json_form *form)
{
    form_end(form, '}');
    form->indent = INDENT;
}

int command_options(const struct settings *settings)
{
    if (!settings->form_settings)
        return command_fail(EXIT_USAGE, "options: write vitals options --settings");
    struct output *output = output_begin(STDOUT_FILENO);

    static const char *const origins[] = {"default", "configuration", "environment", "flag"};
    struct json_form form;
    json_form_init(&form, INDENT, output_write, output);
    form_begin(&form, '{');
    for (const struct option *option = option_table; option->name != NULL; option++) {
        if (!(option->commands & COMMAND_VIEW))
            continue;
        const void *field = (const char *)settings + option->offset;
        begin_line(&form, option->name);
        form_key(&form, "value");
        print_value(&form, option, field);
        if (option->kind == OPTION_CHOICE)
            form_put_bool(&form, "given", *(const bool *)((const char *)settings + option->also));
        form_put_string(&form, "origin", origins[settings_origin(settings, field)]);
        end_line(&form);
    }
    begin_line(&form, "found");
    form_put_bool(&form, "color", settings->look.color);
    form_put_bool(&form, "ascii", settings->look.ascii);
    form_put_bool(&form, "terminal", settings->look.terminal);
    form_put_count(&form, "width", settings->look.width);
    end_line(&form);
    form_end(&form, '}');
    output_text(output, "\n");

    return output_done(output, EXIT_DONE);
}
