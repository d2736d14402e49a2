/* options.c: `vitals options`: the documents that are made of the option table. */
#include <unistd.h>

#include "command/option.h"

int command_options(const struct settings *settings)
{
    struct output output;
    if (settings->form_markdown == settings->form_man)
        return command_fail(EXIT_USAGE, "options prints --markdown or --man");
    output_init(&output, STDOUT_FILENO);
    if (settings->form_man)
        option_print_man(settings->commands, &output);
    else
        option_print_markdown(settings->commands, &output);
    return output_done(&output, EXIT_DONE);
}
