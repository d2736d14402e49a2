/* Which container a cgroup's path tells of, in the forms that runtimes have written. */
#include "check.h"

#include "workload/workload.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define TASK "0123456789abcdef0123456789abcdef"
#define UID  "11112222-3333-4444-5555-666677778888"
#define UNIT "11112222_3333_4444_5555_666677778888"

static const struct {
    const char *path, *container;
} CASES[] = {
    // docker: cgroupfs and systemd, a parent of the user's own, one within the other
    {"/docker/" ID_A, ID_A},
    {"/system.slice/docker-" ID_A ".scope", ID_A},
    {"/system.slice/docker-" ID_A ".scope/init", ID_A},
    {"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID_A ".scope", ID_A},
    {"/my-parent/" ID_A, ID_A},
    {"/docker/" ID_A "/docker/" ID_B, ID_B},
    {"/../../docker-" ID_A ".scope", ID_A},
    {"/../" ID_A, ID_A},
    // Kubernetes: both drivers, every class, kind, static pods, containerd that was told wrong
    {"/kubepods/besteffort/pod" UID "/" ID_A, ID_A},
    {"/kubepods/pod" UID "/" ID_A, ID_A},
    {"/kubepods.slice/kubepods-pod" UNIT ".slice/cri-containerd-" ID_A ".scope", ID_A},
    {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UNIT ".slice/crio-" ID_A
     ".scope",
     ID_A},
    {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UNIT ".slice/docker-" ID_A
     ".scope/nested",
     ID_A},
    {"/kubepods/burstable/pod" TASK "/" ID_A, ID_A},
    {"/docker/" ID_A "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UNIT
     ".slice/cri-containerd-" ID_B ".scope",
     ID_B},
    {"/system.slice/containerd.service/kubepods-burstable-pod" UNIT ".slice:cri-containerd:" ID_A,
     ID_A},
    {"/kubepods.slice/kubepods-pod" UNIT ".slice", ""},
    {"/kubepods/besteffort/pod" UID, ""},
    // containerd by itself
    {"/default/" ID_A, ID_A},
    {"/system.slice/nerdctl-" ID_A ".scope", ID_A},
    // podman: with and without systemd, split, and its monitors
    {"/machine.slice/libpod-" ID_A ".scope", ID_A},
    {"/machine.slice/libpod-" ID_A ".scope/container", ID_A},
    {"/libpod_parent/libpod-" ID_A, ID_A},
    {"/system.slice/web.service/libpod-payload-" ID_A, ID_A},
    {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID_A ".scope/container",
     ID_A},
    {"/machine.slice/libpod-conmon-" ID_A ".scope", ""},
    {"/kubepods.slice/kubepods-pod" UNIT ".slice/crio-conmon-" ID_A ".scope", ""},
    // ECS on machines and on Fargate
    {"/ecs/" TASK "/" ID_A, ID_A},
    {"/ecs/" TASK "/" TASK "-1234567890", TASK "-1234567890"},
    {"/ecs/" TASK "/" TASK "-x", ""},
    {"/ecs/" TASK "/" TASK "-", ""},
    // LXC and LXD: every age, and their monitors
    {"/lxc/web", "web"},
    {"/lxc/101/ns/system.slice/ssh.service", "101"},
    {"/lxc.payload/web/init.scope", "web"},
    {"/lxc.payload.web", "web"},
    {"/lxc.payload.project_web/system.slice/cron.service", "project_web"},
    {"/lxc.payload.web/docker/" ID_A, ID_A},
    {"/lxc.monitor.web", ""},
    {"/lxc.monitor/web", ""},
    {"/lxc", ""},
    {"/lxc/", ""},
    {"/lxc.payload.", ""},
    // systemd-nspawn and libvirt
    {"/machine.slice/machine-web.scope", "web"},
    {"/machine.slice/machine-my\\x2dweb.scope/payload/init.scope", "my\\x2dweb"},
    {"/machine.slice/machine-web.scope/supervisor", ""},
    {"/machine.slice/systemd-nspawn@web.service/payload", "web"},
    {"/machine.slice/systemd-nspawn@web.service/supervisor", ""},
    {"/machine.slice/systemd-nspawn@web.service/payload/supervisor/x", "web"},
    {"/lxc.payload.a/machine.slice/machine-b.scope/supervisor", "a"},
    {"/docker/" ID_A "/supervisor", ID_A}, // a name that any container may choose
    {"/machine.slice/machine-lxc\\x2d7\\x2dweb.scope", "lxc\\x2d7\\x2dweb"},
    {"/machine.slice/machine-qemu\\x2d7\\x2dweb.scope", ""},
    {"/machine.slice/machine-.scope", ""},
    {"/machine.slice/machine-blue.slice/machine-web.scope", "web"},
    {"/user.slice/machine-web.scope", ""},
    {"/system.slice/systemd-nspawn@web.service", ""},
    {"/machine-web.scope", ""},
    // none
    {"", ""},
    {"/", ""},
    {"//", ""},
    {"/init.scope", ""},
    {"/user.slice/user-1000.slice/session-4.scope", ""},
    {"/system.slice/docker.service", ""},
    {"/slurm/uid_0/job_9/step_0", ""},
    {"/docker/0123456789ab", ""},
    {"/docker/" ID_A "0", ""},
    {"/docker/g" ID_A, ""},
    {"/docker/0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", ""},
    {"/a" ID_A, ""},
    {ID_A, ID_A},
    {"/system.slice/docker-" ID_A ".service", ""},
};

static void every_form_is_read(void)
{
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].path);
        struct span path = {CASES[i].path, strlen(CASES[i].path)};
        struct span found = container_of_cgroup(path);
        CHECK_BYTES(found.bytes, found.size, CASES[i].container, strlen(CASES[i].container));
        CHECK(found.bytes >= path.bytes && found.bytes + found.size <= path.bytes + path.size);
    }
}

/* A cut path has the container of the whole, none, or one further out. */
static void nothing_is_read_behind_the_end(void)
{
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].path);
        size_t size = strlen(CASES[i].path);
        for (size_t cut = 0; cut < size; cut++) {
            char *copy = malloc(cut + 1); // exactly, so that a sanitizer sees one byte too many
            CHECK_NOT_NULL(copy);
            memcpy(copy, CASES[i].path, cut);
            struct span found = container_of_cgroup((struct span){copy, cut});
            CHECK(found.bytes >= copy && found.bytes + found.size <= copy + cut);
            free(copy);
        }
    }
}

static const check_test tests[] = {
    {"every form is read", every_form_is_read},
    {"nothing is read behind the end", nothing_is_read_behind_the_end},
};
CHECK_TESTS(tests)
