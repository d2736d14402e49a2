/* reader.c: one file of a card, and what its refusal means.
 * Thread rule: a worker's; the driver may ask the card's firmware. */
#include "gpu/amd/state.h"

#include <errno.h>
#include <string.h>

vitals_availability amd_availability(struct amd_reader *reader, int error)
{
    switch (error < 0 ? -error : error) {
    case ENOENT:
    case ENODATA:
    case EINVAL:
    case ENOSYS:
    case EOPNOTSUPP: return VITALS_UNSUPPORTED;
    case EPERM:
    case EBUSY: reader->refused = true; return VITALS_FAILED;
    default: return os_availability(error);
    }
}

struct value amd_read_number(struct amd_reader *reader, const char *file)
{
    char path[OS_SYS_PATH];
    uint64_t number;
    if (!pci_path(path, reader->device->folder, file))
        return value_missing(VITALS_UNSUPPORTED);
    int result = os_sys_u64(reader->os, path, &number);
    return result == 0 ? value_u64(number) : value_missing(amd_availability(reader, result));
}

struct value amd_read_scaled(struct amd_reader *reader, const char *file, double factor,
                             uint64_t most)
{
    struct value number = amd_read_number(reader, file);
    return number.state > 0 ? gpu_fill_scaled(number.as.u64, factor, most) : number;
}

struct span amd_read_text(struct amd_reader *reader, const char *file, char *out, size_t capacity,
                          signed char *state)
{
    char path[OS_SYS_PATH];
    int result = pci_path(path, reader->device->folder, file)
                     ? os_sys_text(reader->os, path, out, capacity)
                     : -ENOENT;
    *state = VITALS_HAVE;
    if (result == -EFBIG)
        *state = VITALS_LOWER_BOUND;
    else if (result < 0)
        *state = (signed char)amd_availability(reader, result);
    else if (out[0] == '\0') // the driver has nothing to say
        *state = VITALS_UNSUPPORTED;
    return (struct span){out, *state > 0 ? strlen(out) : 0};
}

const struct amd_metrics *amd_record(struct amd_reader *reader)
{
    char path[OS_SYS_PATH], bytes[4096];
    size_t size;
    if (reader->record_known)
        return reader->record;
    reader->record_known = true;
    if (!pci_path(path, reader->device->folder, "gpu_metrics"))
        return NULL;
    int result = os_sys_bytes(reader->os, path, bytes, sizeof bytes, &size);
    if (result < 0 && result != -EFBIG)
        (void)amd_availability(reader, result);
    else if (amd_metrics_parse(bytes, size, &reader->room))
        reader->record = &reader->room;
    return reader->record;
}

bool amd_has_child(const struct amd_reader *reader, vitals_metric metric, const char *label)
{
    const struct batch_cell *cell = gpu_fill_find(reader->sample, metric, label);
    return cell != NULL && cell->state > 0;
}

void amd_list_child(struct amd_reader *reader, vitals_metric metric, const char *label)
{
    if (!amd_wants(reader, metric))
        gpu_fill_child(reader->sample, metric, label, value_missing(VITALS_NOT_REQUESTED));
}
