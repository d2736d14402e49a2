/* sandbox.c: see sandbox.h. A list of what is refused, not of what is allowed: libraries change
 * their calls with each release, and what is listed here no library of ours has a use for. */
#include "export/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__) && defined(__LP64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* LeakSanitizer traces its own process. */
#if defined(__SANITIZE_ADDRESS__)
#undef OUR_ARCHITECTURE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#undef OUR_ARCHITECTURE
#endif
#endif

#ifdef OUR_ARCHITECTURE

// clang-format off
static const unsigned REFUSED[] = {
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_swapon, SYS_swapoff, SYS_quotactl,
    SYS_setns, SYS_unshare, SYS_open_by_handle_at, SYS_personality, SYS_acct, SYS_reboot,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
#endif
#ifdef SYS_move_mount
    SYS_move_mount, SYS_fsopen, SYS_open_tree,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm,
#endif
};
// clang-format on

#ifndef SYS_clone3 /* the same for all architectures */
#define SYS_clone3 435
#endif

/* CLONE_NEWNS and the other flags of clone that make a namespace. */
static const uint32_t NEW_NAMESPACES = 0x7E020000, SOCKET_TYPE = 0xF;

enum { REFUSED_COUNT = sizeof REFUSED / sizeof REFUSED[0], CODE_MAX = REFUSED_COUNT + 26 };

#define FIELD(name) (uint32_t) offsetof(struct seccomp_data, name)

/* The low half of an argument; both architectures are little-endian. */
#define ARGUMENT(n) (FIELD(args) + 8 * (n))

int sandbox_enter(void)
{
    /* Jumps lead forward. clone3 has its flags in memory, where no filter sees them: the C library
     * takes clone where a kernel lacks it. */
    struct sock_filter code[CODE_MAX];
    const unsigned type = 11 + REFUSED_COUNT, stream = type + 7, flags = stream + 3,
                   allow = flags + 2, refuse = allow + 1, unknown = allow + 2;
    unsigned at = 0;
#define ADD(...)           code[at] = (struct sock_filter)__VA_ARGS__, at++
#define TO(place)          (unsigned char)((place)-at - 1)
#define LOAD(place)        ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place))
#define IF(number, yes)    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, TO(yes), 0))
#define UNLESS(number, no) ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, TO(no)))
    LOAD(FIELD(arch));
    UNLESS(OUR_ARCHITECTURE, refuse);
    LOAD(FIELD(nr));
    /* Numbers of x32, which are the same calls. */
    ADD(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, TO(refuse), 0));
    for (unsigned i = 0; i < REFUSED_COUNT; i++)
        IF(REFUSED[i], refuse);
    IF(SYS_clone3, unknown);
    IF(SYS_clone, flags);
    UNLESS(SYS_socket, allow);
    LOAD(ARGUMENT(0));
    IF(AF_UNIX, allow);
    IF(AF_INET, type);
    UNLESS(AF_INET6, refuse);
    LOAD(ARGUMENT(1)); /* type: */
    ADD(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE));
    IF(SOCK_STREAM, stream);
    UNLESS(SOCK_DGRAM, refuse);
    LOAD(ARGUMENT(2)); /* the protocol; 0 is the usual one */
    IF(0, allow);
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, TO(allow), TO(refuse)));
    LOAD(ARGUMENT(2)); /* stream: */
    IF(0, allow);
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, TO(allow), TO(refuse)));
    LOAD(ARGUMENT(0)); /* flags: */
    ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, TO(refuse), TO(allow)));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
#undef ADD
#undef TO
#undef LOAD
#undef IF
#undef UNLESS
    const struct sock_fprog program = {.len = (unsigned short)at, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return -errno;
    return 0;
}

#else

int sandbox_enter(void)
{
    return -ENOSYS;
}

#endif
