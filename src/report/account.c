/* account.c: the account that `vitals run --json` writes, with the command's words. */
#include "report/account.h"
#include "report/json_form.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

enum { HELD = 2 };

/* Passes on all but the last two bytes: the end of a document that goes on. */
struct holder {
    vitals_write *write;
    void *data;
    char held[HELD];
    size_t used;
};

static int hold(void *data, const char *bytes, size_t size)
{
    struct holder *holder = data;
    char joined[HELD * 2];
    if (size < HELD) {
        memcpy(joined, holder->held, holder->used);
        memcpy(joined + holder->used, bytes, size);
        size_t all = holder->used + size, out = all > HELD ? all - HELD : 0;
        memcpy(holder->held, joined + out, all - out);
        holder->used = all - out;
        return out > 0 ? holder->write(holder->data, joined, out) : 0;
    }
    int stopped = holder->used > 0 ? holder->write(holder->data, holder->held, holder->used) : 0;
    memcpy(holder->held, bytes + size - HELD, HELD);
    holder->used = HELD;
    return stopped == 0 && size > HELD ? holder->write(holder->data, bytes, size - HELD) : stopped;
}

int account_json_with(const vitals_account *account, const struct account_member *members,
                      size_t count, vitals_write *write, void *data)
{
    struct holder holder = {.write = write, .data = data};
    struct json_form form;
    int stopped = vitals_account_json(account, hold, &holder); /* all but "}\n" */
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
