"""nvitop's Python API over vitals: `import vitals.compat.nvitop as nvitop`.

Names, units and the value NA are those of nvitop 1.7. What is read comes from the C library, of NVIDIA's devices.
"""

from __future__ import annotations

import sys as _sys

from vitals.compat.nvitop import caching, collector, device, host, libnvml, process, readings, termcolor, utils
from vitals.compat.nvitop.caching import ttl_cache
from vitals.compat.nvitop.collector import ResourceMetricCollector, collect_in_background, take_snapshots
from vitals.compat.nvitop.device import (CudaDevice, CudaMigDevice, Device, MigDevice, PhysicalDevice,
                                         normalize_cuda_visible_devices, parse_cuda_visible_devices)
from vitals.compat.nvitop.libnvml import NVMLError, nvmlCheckReturn
from vitals.compat.nvitop.process import GpuProcess, HostProcess, command_join
from vitals.compat.nvitop.select import select_devices
from vitals.compat.nvitop.utils import (NA, SIZE_UNITS, UINT_MAX, ULONGLONG_MAX, GiB, KiB, MiB, NaType, NotApplicable,
                                        NotApplicableType, PiB, Snapshot, TiB, boolify, bytes2human, colored,
                                        human2bytes, set_color, timedelta2human, utilization2string)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vitals.compat.nvitop import libcuda as libcuda
    from vitals.compat.nvitop import libcudart as libcudart

__version__ = "1.7.2"

__all__ = [
    "NVMLError", "nvmlCheckReturn", "libnvml", "libcuda", "libcudart", "Device", "PhysicalDevice", "MigDevice",
    "CudaDevice", "CudaMigDevice", "parse_cuda_visible_devices", "normalize_cuda_visible_devices", "host",
    "HostProcess", "GpuProcess", "command_join", "take_snapshots", "collect_in_background", "ResourceMetricCollector",
    "ttl_cache", "NA", "NaType", "NotApplicable", "NotApplicableType", "UINT_MAX", "ULONGLONG_MAX", "KiB", "MiB",
    "GiB", "TiB", "PiB", "SIZE_UNITS", "bytes2human", "human2bytes", "timedelta2human", "utilization2string",
    "colored", "set_color", "boolify", "Snapshot", "select_devices",
]

# Programs import nvitop.api and its modules, too.
api = _sys.modules[__name__]
for _module in (api, caching, collector, device, host, libnvml, process, termcolor, utils):
    _sys.modules[f"{__name__}.api{_module.__name__[len(__name__):]}"] = _module


def __getattr__(name: str) -> Any:
    """Those of CUDA are loaded when they are first used."""
    if name not in ("libcuda", "libcudart"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib
    module = importlib.import_module(f"{__name__}.{name}")
    _sys.modules[f"{__name__}.api.{name}"] = module
    return module
