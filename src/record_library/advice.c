/* advice.c: see <vitals/record/advice.h>. */
#include <vitals/record/advice.h>

#include "record_library/library.h"
#include "report/json_form.h"
#include "report/sizing.h"
#include "util/error.h"
#include "util/memory.h"

struct vitals_advice {
    struct sizing sizing;
};

_Static_assert(VITALS_ADVICE_CPUS == SIZING_CPUS + 1 && VITALS_ADVICE_SECONDS == SIZING_TIME + 1 &&
                   VITALS_ADVICE_GPU_MEMORY_BYTES == SIZING_GPU_MEMORY + 1,
               "parts are those of report/sizing.h, from 1");

int vitals_account_advice(const vitals_account *account, vitals_advice **out, vitals_error *error)
{
    vitals_advice *made = memory_alloc(sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    locale_t locale = library_enter();
    sizing_of(account, &made->sizing);
    library_leave(locale);
    *out = made;
    return 0;
}

void vitals_advice_free(vitals_advice *advice)
{
    memory_free(advice);
}

static const struct sizing_part *part_of(const vitals_advice *advice, vitals_advice_part part)
{
    bool known = part >= VITALS_ADVICE_CPUS && part <= VITALS_ADVICE_SECONDS;
    return known ? &advice->sizing.parts[(int)part - 1] : NULL;
}

int vitals_advice_amount(const vitals_advice *advice, vitals_advice_part part, double *out)
{
    const struct sizing_part *found = part_of(advice, part);
    if (found == NULL || !found->known)
        return 0;
    *out = found->amount;
    return 1;
}

const char *vitals_advice_reason(const vitals_advice *advice, vitals_advice_part part)
{
    const struct sizing_part *found = part_of(advice, part);
    return found != NULL ? found->reason : "";
}

int vitals_advice_failed(const vitals_advice *advice)
{
    return advice->sizing.failed;
}

const char *vitals_advice_gpu_resource(const vitals_advice *advice)
{
    return advice->sizing.gpu_resource;
}

int vitals_advice_write(const vitals_advice *advice, vitals_advice_form form,
                        vitals_write_fn *write, void *data, vitals_error *error)
{
    const struct account_view view = {.ascii = true};
    struct library_writer writer = {.write = write, .data = data};
    struct json_form document;
    int result;
    if (form < VITALS_ADVICE_TEXT || form > VITALS_ADVICE_KUBERNETES)
        return error_set(error, VITALS_EARGUMENT, 0, "there is no form %d of advice", (int)form);
    writer.locale = library_enter();
    if (form == VITALS_ADVICE_TEXT) {
        result = sizing_text(&advice->sizing, &view, library_write, &writer);
    } else if (form == VITALS_ADVICE_JSON) {
        json_form_init(&document, 0, library_write, &writer);
        sizing_json(&advice->sizing, &document);
        result = document.failed;
    } else if (form == VITALS_ADVICE_SLURM) {
        result = sizing_slurm(&advice->sizing, library_write, &writer);
    } else {
        result = sizing_kubernetes(&advice->sizing, library_write, &writer);
    }
    return library_written(&writer, result, error);
}
