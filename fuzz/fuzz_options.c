/* Any bytes as a command line, an environment and a configuration: what is accepted lies within the
 * ranges of the table, and each mistake is one line that is safe to print.
 *
 * A line of the input is an argument; one that begins with $ is a variable ($NAME=VALUE), one that
 * begins with % is a line of the configuration. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/options/option.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MAX = 64 };

struct input {
    const char *argv[LINES_MAX + 1];
    int argc;
    const char *variables[LINES_MAX];
    size_t variable_count;
    char *config;
    size_t config_size;
};

static const struct command commands[] = {
    {.bit = COMMAND_VIEW},
    {.name = "run", .bit = COMMAND_RUN, .flags = COMMAND_RUNS},
    {.name = "metrics", .bit = COMMAND_METRICS},
    {.name = "options", .bit = COMMAND_OPTIONS},
    {.name = NULL},
};

static void require(int condition)
{
    if (!condition)
        abort();
}

static void sort_line(struct input *input, char *line)
{
    size_t size = strlen(line);
    if (line[0] == '%') {
        memcpy(input->config + input->config_size, line + 1, size - 1);
        input->config_size += size - 1;
        input->config[input->config_size++] = '\n';
    } else if (line[0] == '$' && input->variable_count < LINES_MAX) {
        input->variables[input->variable_count++] = line + 1;
    } else if (input->argc < LINES_MAX) {
        input->argv[input->argc++] = line;
    }
}

static const char *look_up(void *data, const char *name)
{
    const struct input *input = data;
    size_t size = strlen(name);
    for (size_t i = 0; i < input->variable_count; i++) {
        if (strncmp(input->variables[i], name, size) == 0 && input->variables[i][size] == '=')
            return input->variables[i] + size + 1;
    }
    return NULL;
}

static void require_pair(const uint64_t *pair)
{
    require(pair[0] >= 1 && pair[0] <= pair[1] && pair[1] <= 99);
}

static void require_ranges(const struct settings *settings)
{
    require(settings->sampling.interval_ns == 0 || settings->sampling.interval_ns >= 10000000);
    require(settings->sampling.interval_ns <= 86400000000000);
    require(settings->sampling.delay_ns <= 3600000000000);
    require_pair(settings->view.gpu_thresholds);
    require_pair(settings->view.memory_thresholds);
    require(settings->view.monitor_mode != NULL);
    require(!settings->view.once || !settings->view.monitor);
    for (size_t i = 0; i < settings->filter.only.count; i++)
        require(settings->filter.only.items[i] <= 65535);
    for (size_t i = 0; i < settings->filter.pids.count; i++)
        require(settings->filter.pids.items[i] >= 1 && settings->filter.pids.items[i] <= 4194304);
    for (size_t i = 0; i < settings->filter.users.count; i++)
        require(strlen(settings->filter.users.items[i]) > 0);
}

static void require_message(const struct option_error *error)
{
    require(error->message[0] != '\0');
    require(memchr(error->message, '\0', sizeof error->message) != NULL);
    for (const char *byte = error->message; *byte != '\0'; byte++)
        require(*byte >= ' ' && *byte <= '~');
}

static void parse(struct input *input)
{
    struct settings settings;
    struct option_error error = {""};
    settings_init(&settings);
    int result = options_from_arguments(&settings, commands, input->argc, input->argv, &error);
    if (result == 0)
        result = options_from_environment(&settings, look_up, input, &error);
    if (result == 0 && input->config_size > 0)
        result = config_parse(&settings, "config.json", input->config, input->config_size, &error);
    if (result == 0)
        require_ranges(&settings);
    else
        require_message(&error);
    settings_done(&settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.argv = {"vitals"}, .argc = 1};
    char *text = malloc(size + 1);
    input.config = malloc(size + 1);
    require(text != NULL && input.config != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
        text[at + strcspn(text + at, "\n")] = '\0';
        sort_line(&input, text + at);
    }
    parse(&input);
    free(input.config);
    free(text);
    return 0;
}
