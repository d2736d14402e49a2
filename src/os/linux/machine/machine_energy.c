/* machine_energy.c: the processor's energy counters: the zones of /sys/class/powercap.
 *
 * "intel-rapl:0" is a package (or "psys", the whole platform), "intel-rapl:0:1" a part of it; AMD's
 * processors have the same. The zones of "intel-rapl-mmio" are the same packages over another bus
 * and are skipped. Counters are reported as read: the code that keeps the last reading detects a
 * restart (host/energy.c). Since Linux 5.10 only root may read them. Thread rule: workers only. */
#include "os/linux/machine/machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Most machines have about ten; this limits a folder of any size. */
enum { ZONES_MAX = 512, NAME_BYTES = 64, KEY_PARTS = 1 << 16 };

static const char FOLDER[] = "class/powercap", PREFIX[] = "intel-rapl:";

static bool read_name(const struct os *os, const char *zone, char out[static NAME_BYTES])
{
    char path[OS_SYS_PATH];
    (void)snprintf(path, sizeof path, "%s/%.80s/name", FOLDER, zone);
    return os_sys_text(os, path, out, NAME_BYTES) >= 0 && out[0] != '\0';
}

static void read_joules(const struct os *os, const char *zone, const char *file,
                        vitals_metric metric, struct row_batch *out)
{
    char path[OS_SYS_PATH];
    uint64_t micro;
    if (!batch_wants(out, metric))
        return;
    (void)snprintf(path, sizeof path, "%s/%.80s/%s", FOLDER, zone, file);
    int code = os_sys_u64(os, path, &micro);
    if (code < 0)
        batch_set_missing(out, metric, os_availability(code));
    else
        batch_set_f64(out, metric, (double)micro / 1e6);
}

/* Adds the row of an entry that is a zone; false if it is none. */
static bool add_zone(const struct os *os, const char *entry, struct row_batch *out)
{
    char name[NAME_BYTES], package[NAME_BYTES], label[2 * NAME_BYTES], above[NAME_BYTES];
    struct cursor at = cursor_over(entry, strlen(entry));
    uint64_t whole, part = 0;
    if (strlen(entry) >= NAME_BYTES || !cursor_literal(&at, PREFIX) || !cursor_u64(&at, &whole) ||
        whole >= KEY_PARTS)
        return false;
    (void)snprintf(above, sizeof above, "%.*s", (int)(at.at - entry), entry);
    if ((!cursor_done(&at) &&
         (!cursor_literal(&at, ":") || !cursor_u64(&at, &part) || ++part >= KEY_PARTS)) ||
        !cursor_done(&at) || !read_name(os, entry, name))
        return false;
    if (part == 0 || !read_name(os, above, package))
        memcpy(package, name, sizeof package);
    (void)snprintf(label, sizeof label, "%s%s%s", package, part != 0 ? " " : "",
                   part != 0 ? name : "");
    /* A stable key: the part in the lower bits, 0 for the whole. */
    if (batch_add_row(out, VITALS_TABLE_ENERGY_ZONE, (whole + 1) * KEY_PARTS + part,
                      (struct span){label, strlen(label)}) == NULL)
        return false;
    batch_set_string(out, VITALS_ENERGY_ZONE_NAME, name);
    batch_set_string(out, VITALS_ENERGY_ZONE_PACKAGE, package);
    read_joules(os, entry, "max_energy_range_uj", VITALS_ENERGY_ZONE_RANGE_JOULES, out);
    read_joules(os, entry, "energy_uj", VITALS_ENERGY_ZONE_ENERGY_JOULES, out);
    return true;
}

void machine_read_energy(const struct os *os, struct row_batch *out)
{
    struct os_sys_names names;
    size_t count = 0;
    os_sys_names(&names, os, FOLDER);
    for (const char *name; count < ZONES_MAX && (name = os_sys_next(&names)) != NULL;)
        count += add_zone(os, name, out);
    if (count == ZONES_MAX)
        batch_state(out, VITALS_TABLE_ENERGY_ZONE, VITALS_LOWER_BOUND);
    else if (count == 0)
        batch_state(out, VITALS_TABLE_ENERGY_ZONE,
                    names.result == 0 || names.result == -ENOENT ? VITALS_UNSUPPORTED
                                                                 : os_availability(names.result));
}
