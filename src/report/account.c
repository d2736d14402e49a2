/* account.c: the account that `vitals run --json` writes, with the command's words. */
#include "report/account.h"

#include <string.h>

#include "feed/text.h"
#include "report/json_form.h"
#include "report/report.h"

int account_json_with(const vitals_account *account, const struct account_member *members,
                      size_t count, vitals_write *write, void *data)
{
    static const char END[] = "}\n"; /* of a document that goes on here */
    struct text own = {0};
    struct json_form form;
    int stopped = vitals_account_json(account, text_write, &own);
    if (stopped == 0)
        stopped = write(data, own.bytes, own.size - strlen(END));
    text_done(&own);
    json_form_init(&form, 0, write, data);
    form.failed = stopped;
    form.begun = true; /* the figures stand there */
    form.depth = 1;
    for (size_t i = 0; i < count; i++) {
        form_key(&form, members[i].key);
        members[i].put(members[i].data, &form);
    }
    form_end(&form, '}');
    return form.failed != 0 ? form.failed : write(data, "\n", 1);
}

static void put_arguments(void *data, void *form)
{
    const char *const *argv = *(const char *const **)data;
    form_begin(form, '[');
    for (size_t i = 0; argv[i] != NULL; i++)
        form_string(form, argv[i]);
    form_end(form, ']');
}

int report_account_json(const vitals_account *account, const char *const *argv, vitals_write *write,
                        void *data)
{
    const struct account_member member = {"command", put_arguments, &argv};
    return account_json_with(account, &member, 1, write, data);
}
