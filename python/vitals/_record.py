"""Recordings: samples written to a file, and files read again."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Sequence

from vitals import _core
from vitals._core import Pointer, ffi, lib
from vitals._run import Account, Run, report_options
from vitals._snapshot import Snapshot

if TYPE_CHECKING:
    import pandas


class Series(NamedTuple):
    """One quantity over time: `values` at `seconds` since 1970; NaN where one is missing."""

    name: str
    unit: str
    subject: str
    label: str
    seconds: list[float]
    values: list[float]


class Span(NamedTuple):
    """One call of a phase. `end` is NaN where it never ended."""

    name: str
    begin: float
    end: float
    pid: int
    tid: int
    depth: int


class Phase(NamedTuple):
    """All calls of a phase: `calls` that ended, `open_calls` that did not, `samples` within them.

    `seconds` has count, min, max, mean, total and deviation of how long the calls took; `measures` has
    the same of each series within them, by the name of the series and its subject, and growth, by how
    much a counter grew: `phase.measures["cpu_seconds", ""]["growth"]`. What is not known is None.
    """

    name: str
    calls: int
    open_calls: int
    samples: int
    seconds: dict[str, float | None]
    measures: dict[tuple[str, str], dict[str, float | None]]


STATISTICS = {
    "count": lib.VITALS_STATISTIC_COUNT,
    "min": lib.VITALS_STATISTIC_MIN,
    "max": lib.VITALS_STATISTIC_MAX,
    "mean": lib.VITALS_STATISTIC_MEAN,
    "total": lib.VITALS_STATISTIC_TOTAL,
    "deviation": lib.VITALS_STATISTIC_DEVIATION,
}


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _statistics(function: Any, item: Pointer) -> dict[str, float | None]:
    return {name: _known(function(item, number)) for name, number in STATISTICS.items()}


def _doubles(function: Any, item: Pointer) -> list[float]:
    count = ffi.new("size_t *")
    values = function(item, count)
    found: list[float] = ffi.unpack(values, count[0]) if count[0] else []
    return found


class Recording:
    """A recording of vitals, gpu_tracker or resource-tracker, read as a whole."""

    def __init__(self, path: str | os.PathLike[str], phases: Sequence[str | os.PathLike[str]] = ()) -> None:
        listed, _kept = _core.strings(phases)
        self.path = os.fspath(path)
        self.pointer = _core.owned(
            _core.create("vitals_recording", lib.vitals_recording_open, _core.encode(path), listed, len(phases)),
            lib.vitals_recording_close)

    @property
    def form(self) -> str:
        """What wrote it: "vitals", "gpu-tracker", …"""
        return _core.string(lib.vitals_recording_form(self.pointer))

    @property
    def problem(self) -> str:
        """What is wrong with the file, or ""."""
        return _core.string(lib.vitals_recording_problem(self.pointer))

    @property
    def account(self) -> Account:
        """The account that it holds, or one made of its samples."""
        return Account(lib.vitals_recording_account(self.pointer), keep=self)

    @property
    def seconds(self) -> list[float]:
        """The moments of the samples, in seconds since 1970."""
        return _doubles(lib.vitals_recording_seconds, self.pointer)

    def _series(self, item: Pointer) -> Series:
        return Series(_core.string(lib.vitals_series_name(item)), _core.string(lib.vitals_series_unit(item)),
                      _core.string(lib.vitals_series_subject(item)), _core.string(lib.vitals_series_label(item)),
                      _doubles(lib.vitals_series_seconds, item), _doubles(lib.vitals_series_values, item))

    @property
    def series(self) -> list[Series]:
        """Every quantity over time."""
        return [self._series(item) for item in _core.each(lib.vitals_recording_next_series, self.pointer)]

    def find(self, name: str, subject: str = "") -> Series | None:
        """The series with a name and a subject ("": the whole run)."""
        item = lib.vitals_recording_find_series(self.pointer, _core.encode(name), _core.encode(subject))
        return self._series(item) if item else None

    @property
    def spans(self) -> list[Span]:
        """Each call of each phase, in the order in which they began."""
        return [Span(_core.string(lib.vitals_span_name(item)), lib.vitals_span_begin_seconds(item),
                     lib.vitals_span_end_seconds(item), lib.vitals_span_pid(item), lib.vitals_span_tid(item),
                     lib.vitals_span_depth(item))
                for item in _core.each(lib.vitals_recording_next_span, self.pointer)]

    @property
    def phases(self) -> list[Phase]:
        """What each phase used, in the order in which they first began."""
        made = _core.owned(_core.create("vitals_phases", lib.vitals_recording_phases, self.pointer),
                           lib.vitals_phases_free, self.pointer)
        return [self._phase(item) for item in _core.each(lib.vitals_phases_next, made)]

    def _phase(self, item: Pointer) -> Phase:
        measures = {}
        for measure in _core.each(lib.vitals_phase_next_measure, item):
            series = lib.vitals_phase_measure_series(measure)
            values = _statistics(lib.vitals_phase_measure_value, measure)
            values["growth"] = _known(lib.vitals_phase_measure_growth(measure))
            measures[_core.string(lib.vitals_series_name(series)),
                     _core.string(lib.vitals_series_subject(series))] = values
        return Phase(_core.string(lib.vitals_phase_name(item)), lib.vitals_phase_calls(item),
                     lib.vitals_phase_open_calls(item), lib.vitals_phase_samples(item),
                     _statistics(lib.vitals_phase_seconds, item), measures)

    def report(self, form: str = "text", **options: Any) -> str:
        """As Account.report, with curves and phases: phases=True, title="…", for_others=True."""
        number, made, _kept = report_options(form, options)
        return _core.written(lib.vitals_recording_report, self.pointer, number, made)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a column for each series, indexed by time."""
        import pandas
        columns = {f"{series.name} {series.subject}".strip(): series.values for series in self.series}
        return pandas.DataFrame(columns, index=pandas.to_datetime(self.seconds, unit="s", utc=True))

    def __str__(self) -> str:
        return self.report(phases=True)

    def __repr__(self) -> str:
        return f"<recording {self.path!r}, {self.form}, {len(self.seconds)} samples>"

    def _repr_html_(self) -> str:
        return self.account._repr_html_()


def record(path: str | os.PathLike[str], argv: Sequence[str | os.PathLike[str]] | None = None,
           **options: Any) -> Run:
    """Records a block of this process, or a command, into a file:

        with vitals.record("run.db", interval=0.5):
            train()
        print(vitals.Recording("run.db"))

    The file is whole at any moment. A path that ends in .csv is written as CSV.
    """
    return Run(argv, record=path, **options)


def replay(path: str | os.PathLike[str]) -> Iterator[Snapshot]:
    """The snapshots of a recording (vitals.record with snapshots=True), or of a file that
    `vitals --json` wrote, one after the other."""
    feed = _core.owned(_core.create("vitals_feed", lib.vitals_feed_open, _core.encode(path)), lib.vitals_feed_close)
    out = ffi.new("vitals_snapshot **")
    while _core.call(lib.vitals_feed_next, feed, out) > 0:
        yield Snapshot(out[0])
