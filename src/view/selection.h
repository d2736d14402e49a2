/* selection.h: the devices and the processes that a view shows, as options name them. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

struct selection {
    /* Devices, by the index that their labels begin with. None: all, or with `only_visible` those
     * that CUDA_VISIBLE_DEVICES names. */
    const uint64_t *devices;
    size_t device_count;
    bool only_visible;

    /* Processes; all filters must pass. The first four are about processes on devices. */
    bool compute, only_compute, graphics, only_graphics;
    const char *const *users;
    size_t user_count;
    bool users_given; /* true and no user: no process passes */
    const uint64_t *pids;
    size_t pid_count;
};

/* The index of a device, or of the device of a partition. */
uint64_t selection_device_index(const vitals_row *gpu);

bool selection_has_device(const struct selection *selection, const vitals_row *gpu);

/* True if the type of a row of gpu_process passes. */
bool selection_has_type(const struct selection *selection, const vitals_row *user);

/* `process` may be NULL: its user is not known. */
bool selection_has_user(const struct selection *selection, const vitals_row *process);
bool selection_has_pid(const struct selection *selection, uint64_t pid);
