"""The machine: psutil's functions and names, and nvitop's own."""

from __future__ import annotations

import os as _os
import time as _time

import vitals as _vitals
from vitals.compat import psutil as _psutil
from vitals.compat.psutil import (AccessDenied, NoSuchProcess, Popen, Process, ZombieProcess, boot_time, cpu_percent,
                                  pids, swap_memory, virtual_memory)
from vitals.compat.psutil import Error as PsutilError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vitals.compat.psutil import *  # noqa: F403

# The names of psutil are names of this module; those that load more come by __getattr__.
globals().update({name: value for name, value in vars(_psutil).items() if name in _psutil.__all__})

LINUX = POSIX = True
PROCFS_PATH = _psutil.PROCFS_PATH
WINDOWS = MACOS = False
WSL = _os.environ.get("WSL_DISTRO_NAME")
if WSL == "":
    WSL = "WSL"
WINDOWS_SUBSYSTEM_FOR_LINUX = WSL


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_psutil, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def getuser() -> str:
    """The user's name, from the environment or by the user id."""
    import getpass
    try:
        return getpass.getuser()
    except (KeyError, ModuleNotFoundError, OSError):
        return _os.getlogin()


def hostname() -> str:
    return _os.uname().nodename


def load_average() -> tuple[float, float, float]:
    """Over 1, 5 and 15 minutes."""
    return _psutil.getloadavg()


def uptime() -> float:
    """Seconds since the machine started."""
    return _time.time() - boot_time()


def memory_percent() -> float:
    """How much of the memory is not available."""
    return float(virtual_memory().percent)


def swap_percent() -> float:
    return float(swap_memory().percent)


def ppid_map() -> dict[int, int]:
    """The parent of every process, by pid, of one moment."""
    table = _vitals.snapshot("process.pid", "process.parent_pid").process
    return {pid: parent or 0 for pid, parent in zip(table.values("pid"), table.values("parent_pid"))}  # type: ignore[misc]


def reverse_ppid_map() -> dict[int, list[int]]:
    """The children of every process, by pid, of one moment."""
    from collections import defaultdict
    found: dict[int, list[int]] = defaultdict(list)
    for pid, parent in ppid_map().items():
        found[parent].append(pid)
    return found


__all__ = [
    "WINDOWS_SUBSYSTEM_FOR_LINUX", "WSL", "PsutilError", "getuser", "hostname", "load_average", "memory_percent",
    "ppid_map", "reverse_ppid_map", "swap_percent", "uptime", "AccessDenied", "NoSuchProcess", "Popen", "Process",
    "ZombieProcess", "boot_time", "cpu_percent", "pids", "swap_memory", "virtual_memory",
    "POSIX", "PROCFS_PATH",
]
__all__ += [name for name in _psutil.__all__ if name not in __all__ and name != "Error"]
