/* about.c: see about.h. */
#include "run/about.h"

#include "os/self.h"
#include "run/account.h"
#include "util/buffer.h"
#include "util/number.h"
#include <vitals/sys/account.h>
#include <vitals/text.h>
#include <vitals/version.h>

#include <string.h>

enum { COMMAND_MOST = 64 * 1024 };

/* As a shell would read it. */
static void set_command(vitals_account *account, const char *const *argv)
{
    struct buffer arguments = {0}, line = {0};
    for (size_t i = 0; argv[i] != NULL && arguments.size < COMMAND_MOST; i++)
        buffer_append(&arguments, argv[i], strlen(argv[i]) + 1);
    const vitals_text text = {arguments.bytes, arguments.size};
    if (!arguments.failed && buffer_reserve(&line, COMMAND_MOST) != NULL) {
        size_t size = vitals_text_command(text, line.bytes, COMMAND_MOST);
        account_set_text(account, "command",
                         (vitals_text){line.bytes, size_min(size, COMMAND_MOST - 1)});
    }
    buffer_done(&arguments);
    buffer_done(&line);
}

static void set_moment(vitals_account *account, const vitals_clock *clock, uint64_t begin_ns)
{
    char text[NUMBER_TEXT];
    uint64_t since = clock->monotonic_ns(clock->data) - begin_ns;
    (void)number_print_u64(text, clock->realtime_ns(clock->data) - since);
    account_set_string(account, "started_ns", text);
}

void about_fill(vitals_account *account, const vitals_context *context, const char *const *argv,
                uint64_t begin_ns)
{
    char text[OS_SELF_TEXT];
    const struct os_origin *origin = &context->origin;
    if (argv != NULL)
        set_command(account, argv);
    if (os_self_folder(text, sizeof(text)) == 0)
        account_set_string(account, "working_directory", text);
    if (os_self_user(&context->os, text, sizeof(text)) == 0)
        account_set_string(account, "user", text);
    account_set_string(account, "host", origin->host);
    account_set_string(account, "boot_id", origin->boot_id);
    account_set_string(account, "version", vitals_version_text());
    set_moment(account, &context->os.clock, begin_ns);
}
