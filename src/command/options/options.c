/* options.c: `vitals options --settings`: the value of each option, and where it came from. */
#include <unistd.h>

#include "command/look/json_print.h"
#include "command/options/option.h"

static void print_numbers(struct json_print *print, const uint64_t *numbers, size_t count)
{
    json_open_line(print, "value", '[');
    for (size_t i = 0; i < count; i++)
        json_number(print, NULL, numbers[i]);
    json_close_line(print, ']');
}

static void print_words(struct json_print *print, const struct settings_words *words)
{
    json_open_line(print, "value", '[');
    for (size_t i = 0; i < words->count; i++)
        json_text(print, NULL, words->items[i]);
    json_close_line(print, ']');
}

static void print_value(struct json_print *print, const struct option *option, const void *field)
{
    const char *text;
    switch (option->kind) {
    case OPTION_FLAG: json_flag(print, "value", *(const bool *)field); return;
    case OPTION_CHOICE:
    case OPTION_TEXT:
    case OPTION_MAYBE:
        text = *(const char *const *)field;
        if (text != NULL)
            json_text(print, "value", text);
        else
            json_nothing(print, "value");
        return;
    case OPTION_NUMBER: json_number(print, "value", *(const uint64_t *)field); return;
    case OPTION_DURATION:
        json_decimal(print, "value", (double)*(const uint64_t *)field / 1e9);
        return;
    case OPTION_PAIR: print_numbers(print, field, 2); return;
    case OPTION_NUMBERS: {
        const struct settings_numbers *numbers = field;
        print_numbers(print, numbers->items, numbers->count);
        return;
    }
    case OPTION_WORDS: print_words(print, field); return;
    }
}

static void print_settings(const struct settings *settings, struct output *output)
{
    static const char *const origins[] = {"default", "configuration", "environment", "flag"};
    struct json_print print;
    json_print_init(&print, output);
    json_open_object(&print, NULL);
    for (const struct option *option = option_table; option->name != NULL; option++) {
        if (!(option->commands & COMMAND_VIEW))
            continue;
        const void *field = (const char *)settings + option->offset;
        json_open_line(&print, option->name, '{');
        print_value(&print, option, field);
        if (option->kind == OPTION_CHOICE)
            json_flag(&print, "given", *(const bool *)((const char *)settings + option->also));
        json_text(&print, "origin", origins[settings_origin(settings, field)]);
        json_close_line(&print, '}');
    }
    json_open_line(&print, "found", '{');
    json_flag(&print, "color", settings->look.color);
    json_flag(&print, "ascii", settings->look.ascii);
    json_flag(&print, "terminal", settings->look.terminal);
    json_number(&print, "width", settings->look.width);
    json_close_line(&print, '}');
    json_close_object(&print);
}

int command_options(const struct settings *settings)
{
    struct output output;
    if (!settings->form_settings)
        return command_fail(EXIT_USAGE, "options prints --settings");
    output_init(&output, STDOUT_FILENO);
    print_settings(settings, &output);
    return output_done(&output, EXIT_DONE);
}
