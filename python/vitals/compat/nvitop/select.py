"""Devices that are free enough, by nvitop's rules."""

from __future__ import annotations

import math

from vitals.compat.nvitop import readings
from vitals.compat.nvitop.device import Device
from vitals.compat.nvitop.process import GpuProcess
from vitals.compat.nvitop.utils import NA, Snapshot, human2bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable

__all__ = ["select_devices"]

# The value, whether the limit is the least or the most, and whether it is a number of bytes.
_LIMITS = (("memory_free", False, True), ("memory_total", False, True), ("gpu_utilization", True, False),
           ("memory_utilization", True, False))


def _meets(device: Snapshot, name: str, most: bool, limit: float) -> bool:
    return bool(device[name] <= limit if most else device[name] >= limit)


def _order(device: Snapshot) -> tuple[Any, ...]:
    """The best first; what is not known is better than what is."""
    def known(name: str, sign: int) -> tuple[bool, float]:
        there = not math.isnan(device[name])
        return there, sign * device[name] if there else 0.0
    return (device.loosen_constraints, known("memory_free", -1), known("memory_used", -1),
            known("gpu_utilization", 1), known("memory_utilization", 1), -device.physical_index)


def select_devices(devices: Iterable[Device] | None = None, *, format: str = "index", force_index: bool = False,
                   min_count: int = 0, max_count: int | None = None, min_free_memory: int | str | None = None,
                   min_total_memory: int | str | None = None, max_gpu_utilization: int | None = None,
                   max_memory_utilization: int | None = None, tolerance: int = 0,
                   free_accounts: Iterable[str] | None = None, sort: bool = True) -> list[Any]:
    """The devices that keep the limits, the best first, as "index", "uuid" or "device".

    Limits are in bytes ("4GiB" too) and percent; `tolerance`, in percent, takes those that miss one by no more, after
    the others. Memory of `free_accounts` counts as free. A divided device stands for its MIG devices, of which there
    is one at most, as a uuid unless `force_index`.
    """
    assert format in {"index", "uuid", "device"}
    assert tolerance >= 0
    if max_count == 0:
        return []
    assert min_count >= 0 and (max_count is None or max_count >= min_count)
    sizes = [human2bytes(size) if isinstance(size, str) else size for size in (min_free_memory, min_total_memory)]
    limits = (*sizes, max_gpu_utilization, max_memory_utilization)
    with readings.together():
        leaves = [leaf for device in (Device.all() if devices is None else devices) for leaf in device.to_leaf_devices()]
        found = [leaf.as_snapshot() for leaf in leaves]
    _count_as_free(found, set(free_accounts or ()))
    for device in found:
        device.loosen_constraints = 0
    for (name, most, is_size), limit in zip(_LIMITS, limits):
        if limit is None:
            continue
        loose = limit * (1 - tolerance / 100) if is_size else limit + tolerance
        found = [device for device in found if _meets(device, name, most, loose)]
        for device in found:
            device.loosen_constraints += not _meets(device, name, most, limit)
    if sort:
        found.sort(key=_order)
    parts = [device for device in found if device.real.is_mig_device()]
    if parts:
        whole = [device for device in found if not device.real.is_mig_device()]
        if len(whole) >= min_count > 0 or not found[0].real.is_mig_device():
            found = whole
        else:
            found = parts[:1]
            format = "uuid" if format == "index" and not force_index else format
    return [device.real if format == "device" else device[format] for device in found[:max_count]]


def _count_as_free(devices: list[Snapshot], accounts: set[str]) -> None:
    if not accounts:
        return
    with GpuProcess.failsafe():
        for device in devices:
            sizes = (process.gpu_memory() for process in device.real.processes().values()
                     if process.username() in accounts)
            held = sum(size for size in sizes if size is not NA)
            device.memory_free += held
            device.memory_used -= held
