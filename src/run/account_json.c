/* account_json.c: an account as one JSON document; docs/account.md describes it. Thread rule: any
 * thread. */
#include "model/json_writer.h"
#include "run/account.h"

#include <vitals/version.h>

static void put_member(struct json_writer *writer, const char *before, const char *value)
{
    writer_raw(writer, before);
    writer_string(writer, value);
}

int vitals_account_json(const vitals_account *account, vitals_write *write, void *data)
{
    struct json_writer writer;
    writer_init(&writer, write, data);
    writer_raw(&writer, "{\"schema\":");
    writer_i64(&writer, VITALS_SCHEMA);
    put_member(&writer, ",\"vitals\":", vitals_version_text());
    writer_raw(&writer, ",\"exit_code\":");
    writer_i64(&writer, account->exit_code);
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
    return writer_finish(&writer);
}
