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

void about_fill(vitals_account *account, const vitals_context *context, const char *const *argv,
                uint64_t begin_ns)
{
    char text[OS_SELF_TEXT], started[NUMBER_TEXT];
    struct buffer arguments = {0}, line = {0};
    const vitals_clock *clock = &context->os.clock;

    /* The command as a shell would read it. */
    for (size_t i = 0; argv != NULL && argv[i] != NULL && arguments.size < COMMAND_MOST; i++)
        buffer_append(&arguments, argv[i], strlen(argv[i]) + 1);
    if (argv != NULL && !arguments.failed && buffer_reserve(&line, COMMAND_MOST) != NULL) {
        const vitals_text all = {arguments.bytes, arguments.size};
        size_t size = vitals_text_command(all, line.bytes, COMMAND_MOST);
        account_set_text(account, "command",
                         (vitals_text){line.bytes, size_min(size, COMMAND_MOST - 1)});
    }
    buffer_done(&arguments);
    buffer_done(&line);

    if (os_self_folder(text, sizeof(text)) == 0)
        account_set_string(account, "working_directory", text);
    if (os_self_user(&context->os, text, sizeof(text)) == 0)
        account_set_string(account, "user", text);
    account_set_string(account, "host", context->origin.host);
    account_set_string(account, "boot_id", context->origin.boot_id);
    account_set_string(account, "version", vitals_version_text());
    uint64_t since = clock->monotonic_ns(clock->data) - begin_ns;
    (void)number_print_u64(started, clock->realtime_ns(clock->data) - since);
    account_set_string(account, "started_ns", started);
}
