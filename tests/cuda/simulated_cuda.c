/* A libcuda that says what SIMULATED_CUDA tells it to: "UUID,UUID,…" (32 hexadecimal digits each),
 * in CUDA's order; "error NUMBER": what cuInit gives; "hang": cuInit never returns; "lost": a
 * device without a UUID. Where CUDA_VISIBLE_DEVICES is set there is no device, so that a test
 * notices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { NO_DEVICE = 100, INVALID = 101, DIGITS = 32 };

struct uuid {
    unsigned char bytes[16];
};

EXPORT int cuInit(unsigned flags);
EXPORT int cuDeviceGetCount(int *count);
EXPORT int cuDeviceGet(int *device, int ordinal);
EXPORT int cuDeviceGetUuid(struct uuid *uuid, int device);
EXPORT int cuDeviceGetUuid_v2(struct uuid *uuid, int device);

static const char *told(void)
{
    const char *text = getenv("SIMULATED_CUDA");
    return text != NULL ? text : "";
}

int cuInit(unsigned flags)
{
    if (flags != 0)
        return 1;
    if (strcmp(told(), "hang") == 0) {
        for (;;)
            pause();
    }
    if (strncmp(told(), "error ", 6) == 0)
        return atoi(told() + 6);
    return told()[0] == '\0' || getenv("CUDA_VISIBLE_DEVICES") != NULL ? NO_DEVICE : 0;
}

int cuDeviceGetCount(int *count)
{
    *count = (int)((strlen(told()) + 1) / (DIGITS + 1));
    if (strcmp(told(), "lost") == 0)
        *count = 1;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

/* The older call knows GPUs only, which nobody asks where there is the newer one. */
int cuDeviceGetUuid(struct uuid *uuid, int device)
{
    (void)uuid;
    (void)device;
    return INVALID;
}

int cuDeviceGetUuid_v2(struct uuid *uuid, int device)
{
    const char *digits = told() + (size_t)device * (DIGITS + 1);
    if (strcmp(told(), "lost") == 0)
        return INVALID;
    for (size_t i = 0; i < sizeof uuid->bytes; i++) {
        char byte[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
        uuid->bytes[i] = (unsigned char)strtoul(byte, NULL, 16);
    }
    return 0;
}
