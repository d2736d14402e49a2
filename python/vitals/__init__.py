"""vitals: what every process does to a machine's CPUs, memory, disks and GPUs.

    import vitals

    for gpu in vitals.snapshot("gpu").gpu:          # a snapshot: tables of rows
        print(gpu.label, gpu.text("memory_used_bytes"))

    vitals.Process(1234)["resident_bytes"]          # one process
    print(vitals.run(["make", "-j4"]))              # what a command used, exactly
    with vitals.account() as used:                  # what a block used
        train()
    print(used["cpu_seconds"])

Everything is read by the C library libvitals. A value that cannot be read is None, never 0, and the
row says why. Modules of `vitals.compat` have the names and units of psutil and others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitals._core import (ArgumentError, Context, DeniedError, FormatError, GoneError, SystemCallError,
                              TimedOutError, UnsupportedError, VitalsError)
    from vitals._process import Process, wait_several
    from vitals._record import Phase, Recording, Series, Span, record, replay
    from vitals._run import Account, Figure, Run, account, phase, run
    from vitals._select import find_gpu, select_gpus
    from vitals._snapshot import History, Row, Sampler, Snapshot, Table, read_json, snapshot

# Where each name is. A module is loaded with the first use of one of its names.
_HOMES = {
    "_core": ("ArgumentError", "Context", "DeniedError", "FormatError", "GoneError", "SystemCallError",
              "TimedOutError", "UnsupportedError", "VitalsError"),
    "_process": ("Process", "wait_several"),
    "_record": ("Phase", "Recording", "Series", "Span", "record", "replay"),
    "_run": ("Account", "Figure", "Run", "account", "phase", "run"),
    "_select": ("find_gpu", "select_gpus"),
    "_snapshot": ("History", "Row", "Sampler", "Snapshot", "Table", "read_json", "snapshot"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME, "__version__", "load_ipython_extension"])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from vitals import _core
        value: Any = _core.string(_core.lib.vitals_version_text())
    elif name in _HOME:
        value = getattr(importlib.import_module(f"vitals.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'vitals' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext vitals` in a notebook: the magic `%%vitals`."""
    from vitals import _notebook
    _notebook.load(shell)
