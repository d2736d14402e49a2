"""`%%vitals` in a notebook: what a cell used, with a small chart while it runs.

    %load_ext vitals
    %%vitals
    train()
"""

from __future__ import annotations

import importlib
import threading
from html import escape
from typing import Any

from vitals._run import Account, Run

REFRESH_SECONDS = 1.0
POINTS = 300
WIDTH, HEIGHT = 320, 48
SHOWN = (("wall_seconds", "time"), ("cpu_seconds", "CPU"), ("memory_peak_bytes", "memory peak"),
         ("memory_resident_peak_bytes", "resident peak"), ("gpu_memory_peak_bytes", "GPU memory peak"),
         ("disk_read_bytes", "read"), ("disk_written_bytes", "written"))


def quantity(value: float, unit: str) -> str:
    """A figure in a unit that people read."""
    if unit == "seconds":
        return f"{value:.3g} s" if value < 100 else f"{value / 60:.1f} min"
    if unit == "bytes":
        for name in ("B", "KiB", "MiB", "GiB"):
            if value < 1024:
                return f"{value:.4g} {name}"
            value /= 1024
        return f"{value:.4g} TiB"
    return f"{value:.4g} {unit}".strip()


def spark(values: list[float], label: str) -> str:
    """A line from the first value to the last, above its largest."""
    most = max(values, default=0.0)
    step = WIDTH / max(1, len(values) - 1)
    points = " ".join(f"{index * step:.1f},{HEIGHT - (HEIGHT - 2) * value / (most or 1):.1f}"
                      for index, value in enumerate(values))
    return (f"<figure style='display:inline-block;margin:0 16px 0 0'><svg width='{WIDTH}' height='{HEIGHT}' "
            f"role='img' aria-label='{escape(label)}'><polyline points='{points}' fill='none' "
            f"stroke='currentColor' stroke-width='1.5'/></svg>"
            f"<figcaption style='font:12px system-ui'>{escape(label)}</figcaption></figure>")


def summary(account: Account) -> str:
    """The main figures of an account, each with how it was measured as a tooltip."""
    cells = []
    for name, label in SHOWN:
        figure = next((one for one in account if one.name == name and one.subject == ""), None)
        if figure is not None and figure.value is not None:
            bound = {"lower_bound": "≥ ", "upper_bound": "≤ "}.get(figure.availability, "")
            cells.append(f"<span style='margin-right:20px' title='{escape(figure.source)}'>"
                         f"<b>{escape(label)}</b> {bound}{escape(quantity(figure.value, figure.unit))}</span>")
    return f"<div style='font:13px/1.6 system-ui'>{''.join(cells)}</div>"


class Chart:
    """Shows a run in the output of a cell, and renews it each second, until it is closed."""

    def __init__(self, run: Run) -> None:
        display: Any = importlib.import_module("IPython.display")
        self._run, self._html = run, display.HTML
        self._cores: list[float] = []
        self._memory: list[float] = []
        self._last: tuple[float, float] | None = None
        self._over = threading.Event()
        self._handle: Any = display.display(self._html(""), display_id=True)
        self._thread = threading.Thread(target=self._follow, name="vitals-chart", daemon=True)
        self._thread.start()

    def _add(self, account: Account) -> None:
        wall, cpu = account.get("wall_seconds"), account.get("cpu_seconds")
        if wall is not None and cpu is not None:
            if self._last is not None and wall > self._last[0]:
                self._cores.append(max(0.0, (cpu - self._last[1]) / (wall - self._last[0])))
            self._last = (wall, cpu)
        memory = account.get("memory_resident_peak_bytes")
        if memory is not None:
            self._memory.append(memory)
        for values in (self._cores, self._memory):
            del values[:-POINTS]

    def _draw(self, account: Account) -> str:
        charts = ""
        if len(self._cores) > 1:
            charts += spark(self._cores, f"CPUs in use, at most {max(self._cores):.2f}")
        if len(self._memory) > 1:
            charts += spark(self._memory, f"resident memory, peak {quantity(self._memory[-1], 'bytes')}")
        return charts + summary(account)

    def _follow(self) -> None:
        while not self._over.wait(REFRESH_SECONDS):
            account = self._run.account
            self._add(account)
            if self._handle is not None:
                self._handle.update(self._html(self._draw(account)))

    def close(self, account: Account) -> None:
        """The last picture: the whole account."""
        self._over.set()
        self._thread.join()
        self._add(account)
        details = f"<details><summary>all figures</summary>{account._repr_html_()}</details>"
        if self._handle is not None:
            self._handle.update(self._html(self._draw(account) + details))


def load(shell: Any) -> None:
    """Registers the magic."""

    def vitals_magic(line: str, cell: str | None = None) -> None:
        """Runs the line, or the cell, and shows what it used."""
        with Run(interval=0.5) as run:
            chart = Chart(run)
            try:
                shell.run_cell(line if cell is None else cell)
            finally:
                chart.close(run.stop())

    shell.register_magic_function(vitals_magic, "line_cell", "vitals")
