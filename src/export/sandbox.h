/* sandbox.h: the system calls that the exporter gives up before it reads what networks send. */
#pragma once

/* Refuses, for this process and for good, with EPERM: to execute a program, to look into or change
 * another process by its calls, to mount, to load code into the kernel, namespaces by unshare,
 * setns and clone, and sockets other than Unix ones and those of TCP and UDP. It cannot gain rights
 * any more (no_new_privs). Before the first thread. Returns 0, or a negative errno, as on a kernel
 * without seccomp; nothing is refused then. */
int sandbox_enter(void);
