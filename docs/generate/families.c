/* families.c: docs/prometheus.md, from the tables of families. */
#include "export/prometheus/families.h"
#include "documents.h"
#include "export/prometheus/exposition.h"

static const char INTRODUCTION[] =
    "# Prometheus metrics\n"
    "\n"
    "    vitals serve &\n"
    "    curl -s localhost:9847/metrics | head\n"
    "\n"
    "The families that `vitals serve` exports at `/metrics` and writes with `--textfile`, in this "
    "order. This page is\nprinted by the program (`make docs`); [telling.md](telling.md) is the "
    "guide.\n"
    "\n"
    "An empty label is left out. A value that a machine does not have, or denies, has no\nsample. "
    "Level: `workload` and `pid` are those of `--processes`; `run` is written only by\n"
    "`vitals run --textfile FILE`, of the run.\n";

static const char LEFT_OUT[] =
    "\nBytes over PCIe have no family: what vitals reads of them is the driver's window of 20 ms, "
    "which is no counter.\n";

static const char OWN[] =
    "\n## The exporter itself\n\nOnly at `/metrics`, of `libexec/vitals/tell`, under the names "
    "of Prometheus' own libraries. Another process reads the\nmachine.\n\n"
    "| Name | Type | |\n|---|---|---|\n";

static const char *const TYPES[] = {[FAMILY_GAUGE] = "gauge", [FAMILY_COUNTER] = "counter"};
static const char *const LEVELS[] = {[EXPOSITION_OFF] = "",
                                     [EXPOSITION_WORKLOAD] = "workload",
                                     [EXPOSITION_PID] = "pid",
                                     [EXPOSITION_RUN] = "run"};

void document_families(struct output *output)
{
    output_text(output, INTRODUCTION);

    output_text(output, "\n| Name | Type | Labels | Level | |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < families_count; i++) {
        char room[FAMILY_NAME_SIZE], labels[FAMILY_LABELS_SIZE];
        const char *name = family_name(&families[i], room);
        family_labels(&families[i], labels);
        output_format(output, "| `" FAMILY_PREFIX "%s` | %s | %s | %s | %s |\n", name,
                      TYPES[family_type(name)], labels, LEVELS[family_level(&families[i])],
                      family_help(&families[i]));
    }

    output_text(output, LEFT_OUT);
    output_text(output, OWN);
    for (size_t i = 0; i < self_families_count; i++)
        output_format(output, "| `%s` | %s | %s |\n", self_families[i].name,
                      TYPES[family_type(self_families[i].name)], self_families[i].help);
    output_text(
        output,
        "\n## nvitop-exporter's\n\nWith `--compat nvitop-exporter` these stand there instead, "
        "with that exporter's labels and units:\n\n");
    output_text(output, "`nvitop_info`, `process_info_info`");
    for (size_t i = 0; i < nvitop_families_count; i++)
        output_format(output, "%s`%s`", i % 3 == 0 ? ",\n" : ", ", nvitop_families[i].name);
    output_text(output, ".\n");
}
