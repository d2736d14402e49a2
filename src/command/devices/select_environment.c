/* select_environment.c: see select.h.
 *
 * CUDA takes UUIDs, which do not depend on the order of devices. ROCm and Level Zero take numbers,
 * counted as their vendor's tools do; Level Zero is told to count by PCI address. */
#include "command/devices/select.h"
#include "feed/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A vendor, the variable that lists its devices, and the variables that would narrow or reorder the
 * list: runtimes apply several, one after the other. */
static const struct visible_vendor {
    const char *name, *variable;
    bool by_uuid;
    const char *also;    /* variable that is also set; NULL: none */
    const char *drop[6]; /* ends with NULL */
} VENDORS[] = {
    {.name = "nvidia", .variable = "CUDA_VISIBLE_DEVICES", .by_uuid = true},
    {.name = "amd",
     .variable = "ROCR_VISIBLE_DEVICES",
     .drop = {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}},
    {.name = "intel",
     .variable = "ZE_AFFINITY_MASK",
     .also = "ZE_ENABLE_PCI_ID_DEVICE_ORDER=1",
     .drop = {"ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_FILTER"}},
};

/* Returns NULL for a device of nouveau, radeon and similar drivers, whose UUID is made from the
 * kernel's common interface: the vendors' runtimes do not know it. The same holds for an NVIDIA
 * device that does not report its UUID. */
static const struct visible_vendor *vendor_of(const vitals_row *row)
{
    vitals_text uuid;
    if (vitals_row_text(row, VITALS_GPU_UUID, &uuid) > 0 &&
        (strncmp(uuid.bytes, "drm-", 4) == 0 || strncmp(uuid.bytes, "nvidia-", 7) == 0))
        return NULL;
    for (size_t i = 0; i < ARRAY_COUNT(VENDORS); i++) {
        if (command_text_is(row, VITALS_GPU_VENDOR, VENDORS[i].name))
            return &VENDORS[i];
    }
    return NULL;
}

const char *select_variable(const vitals_row *row)
{
    const struct visible_vendor *vendor = vendor_of(row);
    return vendor != NULL ? vendor->variable : NULL;
}

/* Returns the label of the device if there is none. */
void select_uuid(const vitals_row *row, char out[static SELECT_ID])
{
    vitals_text text;
    if (vitals_row_text(row, VITALS_GPU_UUID, &text) <= 0 || text.size == 0)
        text = vitals_text_of(vitals_row_label(row));
    (void)vitals_text_format(text, VITALS_TEXT_ASCII, out, SELECT_ID);
}

/* Counts the devices, or the partitions of a divided device, of the same vendor before this one:
 * runtimes that take numbers count in this way. */
uint64_t select_ordinal(const vitals_row *row)
{
    const vitals_snapshot *snapshot = vitals_row_snapshot(row);
    uint64_t before = 0;
    EACH_CHILD(top, snapshot, VITALS_TABLE_GPU, 0) {
        if (vendor_of(top) != vendor_of(row))
            continue;
        if (top == row)
            return before;
        uint64_t parts = 0;
        EACH_CHILD(part, snapshot, VITALS_TABLE_GPU, vitals_row_key(top)) {
            if (part == row)
                return before + parts;
            parts++;
        }
        before += parts > 0 ? parts : 1;
    }
    return before;
}

/* `name` may end with "=" and a value. */
static bool is_called(const char *variable, const char *name)
{
    size_t size = strcspn(name, "=");
    return strncmp(variable, name, size) == 0 && variable[size] == '=';
}

int select_environment(const vitals_row *const *rows, size_t count, struct environment *out)
{
    const struct visible_vendor *vendor = count > 0 ? vendor_of(rows[0]) : &VENDORS[0];
    size_t size = 0, used = 0;
    while (environ[size] != NULL)
        size++;
    *out = (struct environment){.items = calloc(size + 3, sizeof *out->items)};
    if (out->items == NULL)
        return -1;
    for (size_t i = 0; i < size; i++) {
        bool dropped = vendor != NULL &&
                       (is_called(environ[i], vendor->variable) ||
                        (vendor->also != NULL && is_called(environ[i], vendor->also)));
        for (size_t j = 0; vendor != NULL && vendor->drop[j] != NULL; j++)
            dropped |= is_called(environ[i], vendor->drop[j]);
        if (!dropped)
            out->items[used++] = environ[i];
    }
    if (vendor == NULL)
        return 0;

    /* "CUDA_VISIBLE_DEVICES=GPU-8932…,GPU-4f0b…" */
    size_t room = strlen(vendor->variable) + 2 + count * (SELECT_ID + 1);
    out->own = calloc(1, room);
    if (out->own == NULL)
        return -1;
    size_t length = (size_t)snprintf(out->own, room, "%s=", vendor->variable);
    for (size_t i = 0; i < count; i++) {
        char id[SELECT_ID];
        if (vendor->by_uuid)
            select_uuid(rows[i], id);
        else
            snprintf(id, SELECT_ID, "%llu", (unsigned long long)select_ordinal(rows[i]));
        length += (size_t)snprintf(out->own + length, room - length, "%s%s", i > 0 ? "," : "", id);
    }
    out->items[used++] = out->own;
    out->items[used] = (char *)vendor->also;
    return 0;
}

void select_environment_done(struct environment *environment)
{
    free(environment->items);
    free(environment->own);
    *environment = (struct environment){0};
}

enum { PATIENCE_SECONDS = 10, ANSWER = 8192 };

/* Runs in the new process, whose libraries may print anything: their output is dropped. */
_Noreturn static void answer(int end)
{
    static char list[ANSWER];

    /* Ends this process when its parent no longer waits for it, even if a library hangs. */
    sigset_t alarm_set;
    (void)signal(SIGALRM, SIG_DFL);
    (void)sigemptyset(&alarm_set);
    (void)sigaddset(&alarm_set, SIGALRM);
    (void)sigprocmask(SIG_UNBLOCK, &alarm_set, NULL);
    (void)alarm(PATIENCE_SECONDS);

    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; nowhere >= 0 && i <= STDERR_FILENO; i++)
        (void)dup2(nowhere, i);
    (void)unsetenv("CUDA_VISIBLE_DEVICES");
    if (vitals_cuda_enumerate(NULL, list, sizeof list, NULL) == 0) {
        ssize_t written = write(end, list, strlen(list));
        _exit(written < 0);
    }
    _exit(1);
}

bool select_ask_cuda(char *out, size_t capacity)
{
    int ends[2];
    size_t used = 0;
    uint64_t deadline_ns = clock_now_ns() + PATIENCE_SECONDS * UINT64_C(1000000000);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;

    /* Forks twice, so that the command which replaces vitals has no child that it did not start. */
    int status;
    pid_t child = fork();
    if (child == 0) {
        pid_t own = fork();
        if (own == 0)
            answer(ends[1]);
        _exit(own < 0);
    }
    close(ends[1]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;

    bool open = child > 0;
    while (open && used + 1 < capacity) {
        uint64_t now_ns = clock_now_ns();
        struct pollfd end = {.fd = ends[0], .events = POLLIN};
        int left_ms = now_ns < deadline_ns ? (int)((deadline_ns - now_ns) / 1000000) : 0;
        int ready = left_ms > 0 ? poll(&end, 1, left_ms) : 0;
        ssize_t got = ready > 0 ? read(ends[0], out + used, capacity - used - 1) : ready;
        open = got > 0 || (got < 0 && errno == EINTR);
        used += got > 0 ? (size_t)got : 0;
    }
    close(ends[0]);
    out[used] = '\0';
    return used > 0;
}
