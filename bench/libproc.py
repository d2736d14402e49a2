"""All processes by libproc2 (procps 4), the library of ps and top, through ctypes: a peer to compare with.

Its columns are those of VITALS_SET_PROCESSES. Their numbers are of libproc2.so.0 and may differ in another release, so
LibProc.knows() proves them by one process.
"""

import ctypes
import os

# enum pids_item: pid, ppid, cmd, cmdline, state, ruser, tics_all, res, virt, nlwp, nice, began, tty
ITEMS = (36, 37, 12, 14, 120, 41, 123, 62, 66, 69, 68, 126, 139)
CGROUP = 10  # which vitals reads at first sight, and every ten seconds


class LibProc:
    def __init__(self, *more):
        self.library = ctypes.CDLL("libproc2.so.0")
        self.library.procps_pids_reap.restype = ctypes.POINTER(ctypes.c_void_p * 2)
        self.info = ctypes.c_void_p()
        chosen = (*ITEMS, *more)
        items = (ctypes.c_int * len(chosen))(*chosen)
        if self.library.procps_pids_new(ctypes.byref(self.info), items, len(chosen)) < 0:
            raise OSError("libproc2 refuses these columns")

    def take(self):
        """Reads them all; their number."""
        fetched = self.library.procps_pids_reap(self.info, 0)
        return ctypes.cast(fetched.contents[0], ctypes.POINTER(ctypes.c_int))[0]

    def knows(self, pid):
        """Whether its columns are those above, by a child of the caller's parent."""
        fetched = self.library.procps_pids_reap(self.info, 0)
        stacks = ctypes.cast(fetched.contents[1], ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))
        count = ctypes.cast(fetched.contents[0], ctypes.POINTER(ctypes.c_int))[0]
        for place in range(count):
            values = ctypes.cast(stacks[place][0], ctypes.POINTER(ctypes.c_uint64))
            if values[1] & 0xFFFFFFFF == pid:
                return values[3] & 0xFFFFFFFF == os.getppid() and ctypes.string_at(values[5]) == name_of(pid)
        return False

    def close(self):
        self.library.procps_pids_unref(ctypes.byref(self.info))


def name_of(pid):
    with open(f"/proc/{pid}/comm", "rb") as file:
        return file.read().rstrip(b"\n")


def usable():
    """Whether it is there and its columns are those that we mean."""
    try:
        opened = LibProc()
    except OSError:
        return False
    try:
        return opened.knows(os.getpid())
    finally:
        opened.close()
