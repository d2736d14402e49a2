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

TYPE_CHECKING = False  # as type checkers know it; the module typing takes longer to import than all of this
if TYPE_CHECKING:  # `as` says that these are public
    from typing import Any

    from vitals._core import ArgumentError as ArgumentError
    from vitals._core import Context as Context
    from vitals._core import DeniedError as DeniedError
    from vitals._core import FormatError as FormatError
    from vitals._core import GoneError as GoneError
    from vitals._core import SystemCallError as SystemCallError
    from vitals._core import TimedOutError as TimedOutError
    from vitals._core import UnsupportedError as UnsupportedError
    from vitals._core import VitalsError as VitalsError
    from vitals._export import Exporter as Exporter
    from vitals._process import Process as Process
    from vitals._process import wait_several as wait_several
    from vitals._record import Phase as Phase
    from vitals._record import Recording as Recording
    from vitals._record import Series as Series
    from vitals._record import Span as Span
    from vitals._record import record as record
    from vitals._record import replay as replay
    from vitals._run import Account as Account
    from vitals._run import Figure as Figure
    from vitals._run import Run as Run
    from vitals._run import account as account
    from vitals._run import phase as phase
    from vitals._run import run as run
    from vitals._select import find_gpu as find_gpu
    from vitals._select import select_gpus as select_gpus
    from vitals._snapshot import History as History
    from vitals._snapshot import Row as Row
    from vitals._snapshot import Sampler as Sampler
    from vitals._snapshot import Snapshot as Snapshot
    from vitals._snapshot import Table as Table
    from vitals._snapshot import read_json as read_json
    from vitals._snapshot import read_rows as read_rows
    from vitals._snapshot import snapshot as snapshot

# Where each name is. A module is loaded with the first use of one of its names.
_HOMES = {
    "_core": ("ArgumentError", "Context", "DeniedError", "FormatError", "GoneError", "SystemCallError",
              "TimedOutError", "UnsupportedError", "VitalsError"),
    "_export": ("Exporter",),
    "_process": ("Process", "wait_several"),
    "_record": ("Phase", "Recording", "Series", "Span", "record", "replay"),
    "_run": ("Account", "Figure", "Run", "account", "phase", "run"),
    "_select": ("find_gpu", "select_gpus"),
    "_snapshot": ("History", "Row", "Sampler", "Snapshot", "Table", "read_json", "read_rows", "snapshot"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME, "__version__", "load_ipython_extension"])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from vitals import _core
        value: Any = _core.string(_core.lib.vitals_version_text())
    elif name in _HOME:
        value = getattr(__import__(f"vitals.{_HOME[name]}", fromlist=(name,)), name)
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
