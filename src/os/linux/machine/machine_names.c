/* machine_names.c: what the machine is called: processor, architecture, product, distribution.
 *
 * Thread rule: workers only. */
#include "os/linux/machine/machine.h"

#include <string.h>
#include <sys/utsname.h>

enum { NAME_BYTES = 256, RELEASE_BYTES = 8192 };

bool machine_parse_cpuinfo(struct span line, struct span *key, struct span *value)
{
    struct cursor at = cursor_over(line.bytes, line.size);
    if (!cursor_until(&at, ':', key))
        return false;
    *key = lines_trim(*key);
    *value = lines_trim((struct span){at.at, (size_t)(at.end - at.at)});
    return true;
}

/* The keys of the model name by architecture, best first. */
static const char *const MODEL_KEYS[] = {"model name", "Model Name", "cpu model", "cpu",
                                         "uarch",      "Processor",  "Hardware",  "vendor_id"};

struct machine_model {
    size_t rank; /* of what was found; the count of MODEL_KEYS: nothing */
    size_t size;
    char text[NAME_BYTES];
};

static void take_model(struct span line, void *data)
{
    struct machine_model *model = data;
    struct span key, value;
    if (!machine_parse_cpuinfo(line, &key, &value) || value.size == 0)
        return;
    for (size_t i = 0; i < model->rank; i++) {
        if (!span_equal(key, MODEL_KEYS[i]))
            continue;
        model->rank = i;
        model->size = size_min(value.size, sizeof model->text);
        memcpy(model->text, value.bytes, model->size);
    }
}

static void read_model(const struct os *os, struct row_batch *out)
{
    struct machine_model model = {.rank = ARRAY_COUNT(MODEL_KEYS)};
    (void)lines_each(os, os->proc, "cpuinfo", take_model, &model);
    if (model.size > 0)
        batch_set_text(out, VITALS_HOST_CPU_MODEL, (struct span){model.text, model.size});
}

static void read_architecture(const struct os *os, struct row_batch *out)
{
    char text[NAME_BYTES];
    struct span name = lines_read(os, os->proc, "sys/kernel/arch", text, sizeof text, NULL);
    struct utsname uts;
    if (name.size > 0)
        batch_set_text(out, VITALS_HOST_ARCHITECTURE, name);
    else if (os->live && uname(&uts) == 0)
        batch_set_string(out, VITALS_HOST_ARCHITECTURE, uts.machine);
}

static void read_product(const struct os *os, struct row_batch *out)
{
    char vendor[NAME_BYTES], name[NAME_BYTES], both[2 * NAME_BYTES + 1];
    struct span first = lines_trim(
        lines_read(os, os->sys, "class/dmi/id/sys_vendor", vendor, sizeof vendor, NULL));
    struct span second = lines_trim(
        lines_read(os, os->sys, "class/dmi/id/product_name", name, sizeof name, NULL));
    if (first.size + second.size == 0)
        second = lines_read(os, os->sys, "firmware/devicetree/base/model", name, sizeof name, NULL);
    // A device tree ends its texts with a NUL.
    while (second.size > 0 && second.bytes[second.size - 1] == '\0')
        second.size--;
    size_t size = first.size;
    memcpy(both, first.bytes, first.size);
    if (first.size > 0 && second.size > 0)
        both[size++] = ' ';
    memcpy(both + size, second.bytes, second.size);
    size += second.size;
    if (size > 0)
        batch_set_text(out, VITALS_HOST_PRODUCT, (struct span){both, size});
}

/* os-release(5): as a shell would read it, in one of two kinds of quotes or in none. */
static size_t unquote(struct span value, char *out, size_t capacity)
{
    char quote = value.size > 0 && (*value.bytes == '"' || *value.bytes == '\'') ? *value.bytes
                                                                                 : '\0';
    size_t size = 0;
    for (size_t i = quote != '\0'; i < value.size && size < capacity; i++) {
        if (quote != '\0' && value.bytes[i] == quote)
            break;
        bool escape = value.bytes[i] == '\\' && quote != '\'' && i + 1 < value.size;
        out[size++] = value.bytes[escape ? ++i : i];
    }
    return size;
}

size_t machine_parse_release(const char *bytes, size_t size, char *out, size_t capacity)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line;
    while (cursor_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (cursor_literal(&at, "PRETTY_NAME="))
            return unquote(lines_trim((struct span){at.at, (size_t)(at.end - at.at)}), out,
                           capacity);
    }
    return 0;
}

static void read_release(const struct os *os, struct row_batch *out)
{
    char text[RELEASE_BYTES], name[NAME_BYTES];
    struct span whole = lines_read(os, os->etc, "os-release", text, sizeof text, NULL);
    size_t size = machine_parse_release(whole.bytes, whole.size, name, sizeof name);
    if (size > 0)
        batch_set_text(out, VITALS_HOST_OPERATING_SYSTEM, (struct span){name, size});
}

void machine_read_names(const struct os *os, struct row_batch *out)
{
    static const struct {
        vitals_metric metric;
        void (*read)(const struct os *os, struct row_batch *out);
    } NAMES[] = {
        {VITALS_HOST_CPU_MODEL, read_model},
        {VITALS_HOST_ARCHITECTURE, read_architecture},
        {VITALS_HOST_PRODUCT, read_product},
        {VITALS_HOST_OPERATING_SYSTEM, read_release},
    };
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++)
        if (batch_wants(out, NAMES[i].metric))
            NAMES[i].read(os, out);
}
