/* machine_cpus.c: topology and clocks of the online CPUs.
 *
 * A clock is that of the CPU and not of its policy; offline CPUs have none and no row. Hardware
 * threads of one core list each other in core_cpus_list (thread_siblings_list before 5.4): the
 * first of them represents the core. If /sys has no clocks, as in most virtual machines, or does
 * not exist, /proc/cpuinfo lists the CPUs and is used as far as possible. Thread rule: workers
 * only. */
#include "os/linux/machine/machine.h"

#include "os/linux/machine/host_files.h"
#include "util/number.h"

#include <stdio.h>
#include <string.h>

enum { PACKAGES_MAX = 1024, LIST_BYTES = 4096, PATH_BYTES = 128 };

struct cpu {
    uint64_t index, package, core, cores_of_package;
    double hertz;
    bool has_package, has_core, has_clock;
};

struct processors {
    const struct os *os;
    struct row_batch *out;
    uint64_t packages[PACKAGES_MAX / 64]; /* bits of packages already counted */
    uint64_t package_count, core_count, clock_count, cpu_count;
    double clock_sum;
    bool cores_known, packages_known;
    struct cpu info; /* from cpuinfo: the current CPU */
    bool begun;
};

static bool read_number(const struct os *os, uint64_t cpu, const char *file, uint64_t *out)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "devices/system/cpu/cpu%llu/%s", (unsigned long long)cpu, file);
    return lines_u64(os, os->sys, path, out, NULL);
}

static bool read_clock(const struct os *os, uint64_t cpu, const char *file, double *hertz)
{
    uint64_t kilo;
    if (!read_number(os, cpu, file, &kilo) || kilo == 0)
        return false;
    *hertz = (double)kilo * 1e3;
    return true;
}

static bool wants_clock(const struct row_batch *out)
{
    return batch_wants(out, VITALS_CPU_FREQUENCY_HERTZ) ||
           batch_wants(out, VITALS_HOST_CPU_FREQUENCY_HERTZ);
}

static bool read_clock_now(const struct os *os, uint64_t cpu, double *hertz)
{
    return read_clock(os, cpu, "cpufreq/scaling_cur_freq", hertz) ||
           read_clock(os, cpu, "cpufreq/cpuinfo_cur_freq", hertz);
}

/* Values from /sys replace those from cpuinfo. Updates the sums, and writes the row. */
static void read_cpu(struct processors *all, struct cpu *cpu)
{
    const struct os *os = all->os;
    struct row_batch *out = all->out;
    uint64_t sibling, index = cpu->index;
    bool has_siblings = false;
    double hertz;
    if (batch_wants(out, VITALS_CPU_CORE))
        cpu->has_core |= read_number(os, index, "topology/core_id", &cpu->core);
    if (batch_wants(out, VITALS_CPU_PACKAGE) || batch_wants(out, VITALS_HOST_CPU_PACKAGES))
        cpu->has_package |= read_number(os, index, "topology/physical_package_id", &cpu->package);
    if (batch_wants(out, VITALS_HOST_CPUS_PHYSICAL))
        has_siblings = read_number(os, index, "topology/core_cpus_list", &sibling) ||
                       read_number(os, index, "topology/thread_siblings_list", &sibling);
    if (wants_clock(out) && !cpu->has_clock)
        cpu->has_clock = read_clock_now(os, index, &cpu->hertz);

    char label[3 + NUMBER_TEXT] = "cpu";
    size_t size = 3 + number_print_u64(label + 3, index);
    if (metric_set_has_entity(&out->wanted, VITALS_TABLE_CPU))
        (void)batch_add_row(out, VITALS_TABLE_CPU, index + 1, (struct span){label, size});
    all->cpu_count++;
    all->cores_known |= has_siblings;
    all->core_count += has_siblings && sibling == index; /* the core's first thread */
    if (cpu->has_package)
        batch_set_u64(out, VITALS_CPU_PACKAGE, cpu->package);
    if (cpu->has_package && cpu->package < PACKAGES_MAX) {
        uint64_t *seen = &all->packages[cpu->package / 64], bit = UINT64_C(1) << cpu->package % 64;
        bool first = (*seen & bit) == 0;
        *seen |= bit;
        all->packages_known = true;
        all->package_count += first;
        if (first && !has_siblings && cpu->cores_of_package > 0) {
            all->cores_known = true;
            all->core_count += cpu->cores_of_package;
        }
    }
    if (cpu->has_core)
        batch_set_u64(out, VITALS_CPU_CORE, cpu->core);
    if (cpu->has_clock) {
        batch_set_f64(out, VITALS_CPU_FREQUENCY_HERTZ, cpu->hertz);
        all->clock_sum += cpu->hertz;
        all->clock_count++;
    }
    if (batch_wants(out, VITALS_CPU_FREQUENCY_MIN_HERTZ) &&
        read_clock(os, index, "cpufreq/scaling_min_freq", &hertz))
        batch_set_f64(out, VITALS_CPU_FREQUENCY_MIN_HERTZ, hertz);
    if (batch_wants(out, VITALS_CPU_FREQUENCY_MAX_HERTZ) &&
        read_clock(os, index, "cpufreq/scaling_max_freq", &hertz))
        batch_set_f64(out, VITALS_CPU_FREQUENCY_MAX_HERTZ, hertz);
}

/* Reads the CPUs from a list like "0-3,8"; returns false if cpuinfo should be used instead. */
static bool read_online(struct processors *all)
{
    char text[LIST_BYTES];
    double hertz;
    struct span list = lines_read(all->os, all->os->sys, "devices/system/cpu/online", text,
                                  sizeof text, NULL);
    struct cursor at = cursor_over(list.bytes, list.size);
    uint64_t first, last;
    while (cursor_u64(&at, &first)) {
        if (all->cpu_count == 0 && wants_clock(all->out) && !read_clock_now(all->os, first, &hertz))
            return false;
        last = first;
        if (cursor_literal(&at, "-") && !cursor_u64(&at, &last))
            break;
        for (uint64_t index = first; index <= last && index < HOST_CPUS_MAX; index++)
            read_cpu(all, &(struct cpu){.index = index});
        if (!cursor_literal(&at, ","))
            break;
    }
    return all->cpu_count > 0;
}

static void finish_info(struct processors *all)
{
    if (all->begun)
        read_cpu(all, &all->info);
    all->begun = false;
}

static void take_info(struct span line, void *data)
{
    struct processors *all = data;
    struct cpu *cpu = &all->info;
    struct span key, value;
    if (!machine_parse_cpuinfo(line, &key, &value))
        return;
    struct cursor at = cursor_over(value.bytes, value.size);
    double mega;
    if (span_equal(key, "processor")) {
        finish_info(all);
        *cpu = (struct cpu){.index = HOST_CPUS_MAX};
        (void)cursor_u64(&at, &cpu->index);
        all->begun = cpu->index < HOST_CPUS_MAX;
    } else if (span_equal(key, "physical id")) {
        cpu->has_package = cursor_u64(&at, &cpu->package);
    } else if (span_equal(key, "cpu cores")) {
        (void)cursor_u64(&at, &cpu->cores_of_package);
    } else if (span_equal(key, "core id")) {
        cpu->has_core = cursor_u64(&at, &cpu->core);
    } else if (span_equal(key, "cpu MHz") && number_f64(&at.at, at.end, &mega) && mega > 0) {
        cpu->has_clock = true;
        cpu->hertz = mega * 1e6;
    }
}

static void set_count(struct values *host, vitals_metric metric, bool known, uint64_t count)
{
    values_set(host, metric,
               known && count > 0 ? value_u64(count) : value_missing(VITALS_UNSUPPORTED));
}

void machine_read_cpus(const struct os *os, struct row_batch *out, struct values *host)
{
    struct processors all = {.os = os, .out = out};
    if (os->sys < 0 || !read_online(&all)) {
        (void)lines_each(os, os->proc, "cpuinfo", take_info, &all);
        finish_info(&all);
    }
    set_count(host, VITALS_HOST_CPUS_PHYSICAL, all.cores_known, all.core_count);
    set_count(host, VITALS_HOST_CPU_PACKAGES, all.packages_known, all.package_count);
    values_set(host, VITALS_HOST_CPU_FREQUENCY_HERTZ,
               all.clock_count > 0 ? value_f64(all.clock_sum / (double)all.clock_count)
                                   : value_missing(VITALS_UNSUPPORTED));
}
