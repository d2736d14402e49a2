"""GPUs that are free enough."""

from __future__ import annotations

from typing import Any, Sequence

from vitals import _core
from vitals._core import Context, ffi, lib
from vitals._snapshot import Row, Snapshot

OPTIONS = ("min_count", "max_count", "min_free_bytes", "min_total_bytes", "max_utilization_ratio",
           "max_memory_busy_ratio", "tolerance_ratio", "keep_order")


def select_gpus(*, snapshot: Snapshot | None = None, free_accounts: Sequence[str] = (),
                context: Context | None = None, **limits: Any) -> list[Row]:
    """The GPUs that meet limits, the best first, as rows of the table gpu.

    Limits: min_free_bytes, min_total_bytes, max_utilization_ratio (0 to 1), max_memory_busy_ratio,
    min_count, max_count, tolerance_ratio, keep_order. Memory of users in `free_accounts` counts as
    free. All GPUs are of one vendor, and of MIG devices one at most is chosen. Fewer than min_count
    is no error.
    """
    options = ffi.new("vitals_gpu_select_options *")
    lib.vitals_gpu_select_options_init(options, ffi.sizeof("vitals_gpu_select_options"))
    for name, value in limits.items():
        if name not in OPTIONS:
            raise TypeError(f'"{name}" is none of {", ".join(OPTIONS)}')
        setattr(options, name, value)
    accounts, _kept = _core.strings(free_accounts)
    if free_accounts:
        options.free_accounts, options.free_account_count = accounts, len(free_accounts)
    if snapshot is None:
        context = context or _core.default_context()
        wanted = _core.owned(_core.create("vitals_request", lib.vitals_request_new, 0), lib.vitals_request_free)
        _core.call(lib.vitals_gpu_select_request, options, wanted)
        snapshot = Snapshot(_core.create("vitals_snapshot", lib.vitals_snapshot_take_request, context.pointer, wanted))
    room = len(snapshot.gpu) or 1
    rows = ffi.new("vitals_row *[]", room)
    count = _core.call(lib.vitals_gpu_select, snapshot.pointer, options, rows, room)
    table = _core.table_number("gpu")
    return [Row(snapshot, table, rows[index]) for index in range(min(count, room))]


def find_gpu(name: str, *, snapshot: Snapshot | None = None, context: Context | None = None) -> Row:
    """The GPU with a number ("0", "0:1"), a PCI address or a UUID, which may be abbreviated."""
    from vitals._snapshot import snapshot as take
    snapshot = snapshot or take("gpu", context=context)
    out = ffi.new("vitals_row **")
    _core.call(lib.vitals_gpu_find, snapshot.pointer, _core.encode(name), out)
    return Row(snapshot, _core.table_number("gpu"), out[0])
