"""Which devices CUDA_VISIBLE_DEVICES names, and in which order CUDA numbers them. The C library says."""

from __future__ import annotations

import functools
import os
import sys

from vitals import GoneError, _core
from vitals._core import ffi, lib
from vitals.compat.nvitop import libnvml, readings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vitals.compat.nvitop.readings import Index, Reading

OMITTED: Any = type("Omitted", (), {"__repr__": lambda self: "<VALUE OMITTED>"})()

# In a process of its own: CUDA reads the environment once and opens the devices for good.
_ASK_CUDA = """
from vitals._core import call, ffi, lib, string
out = ffi.new("char[]", 65536)
call(lib.vitals_cuda_enumerate, ffi.NULL, out, 65536)
print(string(out))
"""


@functools.lru_cache(maxsize=None)
def _order_of_cuda(order: str | None) -> str | None:
    """CUDA's own order, for models that differ; None where CUDA is not there."""
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    if order is not None:
        environment["CUDA_DEVICE_ORDER"] = order
    import subprocess
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run([sys.executable, "-c", _ASK_CUDA], env=environment, capture_output=True, text=True,
                              timeout=120, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _words(value: str | None) -> Any:
    return ffi.NULL if value is None else ffi.new("char[]", _core.encode(value))


def find(reading: Reading, name: str) -> Index | None:
    """The index of a UUID or an address."""
    out = ffi.new("vitals_row **")
    try:
        _core.call(lib.vitals_gpu_find, reading.snapshot.pointer, _core.encode(name), out)
    except (GoneError, ValueError):
        return None
    return reading.index_of(out[0])


def visible(value: str | None) -> list[tuple[Index, str]]:
    """The indices and UUIDs of the devices that a value of CUDA_VISIBLE_DEVICES names, in CUDA's order."""
    reading = readings.take("identity")  # raises NVMLError_Timeout
    try:
        readings.check(reading)
    except libnvml.NVMLError:
        return []
    order = os.environ.get("CUDA_DEVICE_ORDER")
    pointer = reading.snapshot.pointer
    if lib.vitals_cuda_order(pointer, _words(order)) == lib.VITALS_ESTIMATE:
        order = _order_of_cuda(order) or order
    room = len(reading.rows) or 1
    rows = ffi.new("vitals_row *[]", room)
    count = lib.vitals_cuda_visible_devices(pointer, _words(value), _words(order), rows, room)
    indices = [reading.index_of(rows[number]) for number in range(min(count, room))]
    return [(index, str(reading.value(index, "gpu.uuid"))) for index in indices if index is not None]


def parse_cuda_visible_devices(cuda_visible_devices: str | None = OMITTED) -> list[Any]:
    """The indices of the devices that the value names: of the environment if none is given, None for one that is not
    set. Of MIG devices, which are pairs of numbers, there is one at most."""
    if cuda_visible_devices is OMITTED:
        cuda_visible_devices = os.environ.get("CUDA_VISIBLE_DEVICES")
    return [index for index, _ in visible(cuda_visible_devices)]


def normalize_cuda_visible_devices(cuda_visible_devices: str | None = OMITTED) -> str:
    """The same as UUIDs, joined by commas."""
    if cuda_visible_devices is OMITTED:
        cuda_visible_devices = os.environ.get("CUDA_VISIBLE_DEVICES")
    return ",".join(uuid for _, uuid in visible(cuda_visible_devices))
