/* machine_names.c: names of the machine: processor, architecture, product, distribution. Thread
 * rule: workers only. */
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

/* os-release(5): unquoted as a shell would, with either kind of quotes or none. */
size_t machine_parse_release(const char *bytes, size_t size, char *out, size_t capacity)
{
    struct cursor text = cursor_over(bytes, size), at = text;
    struct span line;
    bool found = false;
    while (!found && cursor_line(&text, &line)) {
        at = cursor_over(line.bytes, line.size);
        found = cursor_literal(&at, "PRETTY_NAME=");
    }
    if (!found)
        return 0;
    struct span value = lines_trim((struct span){at.at, (size_t)(at.end - at.at)});
    char quote = value.size > 0 && (*value.bytes == '"' || *value.bytes == '\'') ? *value.bytes
                                                                                 : '\0';
    size_t used = 0;
    for (size_t i = quote != '\0'; i < value.size && used < capacity; i++) {
        if (quote != '\0' && value.bytes[i] == quote)
            break;
        bool escape = value.bytes[i] == '\\' && quote != '\'' && i + 1 < value.size;
        out[used++] = value.bytes[escape ? ++i : i];
    }
    return used;
}

/* The keys of the model name by architecture, best first. */
static const char *const MODEL_KEYS[] = {"model name", "Model Name", "cpu model", "cpu",
                                         "uarch",      "Processor",  "Hardware",  "vendor_id"};

struct machine_model {
    size_t rank; /* index of the key that was found; the count of MODEL_KEYS: none */
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

static void set_name(struct row_batch *out, vitals_metric metric, struct span name)
{
    if (name.size > 0)
        batch_set_text(out, metric, name);
}

void machine_read_names(const struct os *os, struct row_batch *out)
{
    char text[RELEASE_BYTES], vendor[NAME_BYTES], name[2 * NAME_BYTES + 1];
    if (batch_wants(out, VITALS_HOST_CPU_MODEL)) {
        struct machine_model model = {.rank = ARRAY_COUNT(MODEL_KEYS)};
        (void)lines_each(os, os->proc, "cpuinfo", take_model, &model);
        set_name(out, VITALS_HOST_CPU_MODEL, (struct span){model.text, model.size});
    }
    if (batch_wants(out, VITALS_HOST_ARCHITECTURE)) {
        struct span kernel = lines_read(os, os->proc, "sys/kernel/arch", text, NAME_BYTES, NULL);
        struct utsname uts;
        if (kernel.size == 0 && os->live && uname(&uts) == 0)
            kernel = (struct span){uts.machine, strlen(uts.machine)};
        set_name(out, VITALS_HOST_ARCHITECTURE, kernel);
    }
    if (batch_wants(out, VITALS_HOST_PRODUCT)) {
        struct span first = lines_trim(
            lines_read(os, os->sys, "class/dmi/id/sys_vendor", vendor, sizeof vendor, NULL));
        struct span second = lines_trim(
            lines_read(os, os->sys, "class/dmi/id/product_name", text, NAME_BYTES, NULL));
        if (first.size + second.size == 0)
            second = lines_read(os, os->sys, "firmware/devicetree/base/model", text, NAME_BYTES,
                                NULL);
        /* Texts of a device tree end with a NUL. */
        while (second.size > 0 && second.bytes[second.size - 1] == '\0')
            second.size--;
        size_t size = first.size;
        memcpy(name, first.bytes, first.size);
        if (first.size > 0 && second.size > 0)
            name[size++] = ' ';
        memcpy(name + size, second.bytes, second.size);
        set_name(out, VITALS_HOST_PRODUCT, (struct span){name, size + second.size});
    }
    if (batch_wants(out, VITALS_HOST_OPERATING_SYSTEM)) {
        struct span whole = lines_read(os, os->etc, "os-release", text, sizeof text, NULL);
        size_t size = machine_parse_release(whole.bytes, whole.size, name, NAME_BYTES);
        set_name(out, VITALS_HOST_OPERATING_SYSTEM, (struct span){name, size});
    }
}
