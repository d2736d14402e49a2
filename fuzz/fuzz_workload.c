/* The path of a cgroup, an environment and a link of a log folder, made of anything: what is found
 * lies within, and is of the form that it promises. The first byte says which. */
#include "workload/workload.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_slurm(const struct slurm *slurm)
{
    struct span job = {slurm->job, strlen(slurm->job)}, step = {slurm->step, strlen(slurm->step)};
    require(job.size != 0 && (span_is_decimal(job) || slurm_is_sluid(slurm->job)));
    require(step.size == 0 || span_is_decimal(step) || span_equal(step, "batch") ||
            span_equal(step, "extern") || span_equal(step, "interactive"));
}

static void take_path(struct span path)
{
    char pod[POD_UID];
    struct slurm slurm;
    struct span unit = unit_of_cgroup(path);
    require(unit.bytes >= path.bytes && unit.bytes + unit.size <= path.bytes + path.size);
    require(unit.size == 0 || memchr(unit.bytes, '/', unit.size) == NULL);
    size_t pod_place = pod_of_cgroup(path, pod);
    require(pod_place <= path.size && (pod_place != 0) == (pod[0] != '\0'));
    require(pod[0] == '\0' || strlen(pod) == 32 || strlen(pod) == 36);
    if (slurm_of_cgroup(path, &slurm)) {
        check_slurm(&slurm);
        require(slurm.place <= path.size && (slurm.place != 0) == (slurm.step[0] != '\0'));
        require(slurm.own != 0 && slurm.own <= path.size);
    }
}

/* What leads to a workload's own cgroup is whole elements, and the same workload. */
static void take_own(struct span path)
{
    size_t place, again;
    struct workload_path told;
    enum workload_kind kind = workload_of_cgroup(path, &place);
    require(kind != WORKLOAD_NONE && kind != WORKLOAD_POD && place <= path.size);
    require((place == 0) == (kind == WORKLOAD_USER));
    require(place == 0 || place == path.size || path.bytes[place] == '/');
    if (place != 0)
        require(workload_of_cgroup((struct span){path.bytes, place}, &again) == kind &&
                again == place);
    workload_path_read(path, &told);
    require(told.sluid.size == 0 || kind == WORKLOAD_SLURM);
}

/* What is an id is written as it was read. */
static void take_id(struct span text)
{
    struct workload parts;
    struct buffer out = {0};
    if (!workload_parse(text, &parts))
        return;
    workload_format(&parts, &out);
    bool cut = parts.kind == WORKLOAD_CONTAINER && out.size < text.size;
    require(out.failed || cut ||
            (out.size == text.size && memcmp(out.bytes, text.bytes, out.size) == 0));
    buffer_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct span text = {(const char *)data + 1, size - 1}, id;
    struct workload_name name;
    struct slurm slurm;
    if (data[0] == 'i')
        take_id(text);
    else if (data[0] % 3 == 0) {
        take_path(text);
        take_own(text);
    } else if (data[0] % 3 == 1 && data[0] != '4' && slurm_of_environment(text, &slurm))
        check_slurm(&slurm);
    else if (data[0] == '4' && slurm_of_title(text, &slurm))
        check_slurm(&slurm);
    else if (data[0] % 3 == 2 && workload_name_parse(text, &name, &id))
        require(name.pod.size + name.space.size + name.container.size + id.size + 7 == text.size);
    return 0;
}
