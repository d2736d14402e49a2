"""What a command, a block or a process used: runs, accounts, phases."""

from __future__ import annotations

import functools
import html
import os
import signal
from typing import Any, Callable, Iterator, NamedTuple, Sequence, TypeVar

from vitals import _core
from vitals._core import ArgumentError, Context, GoneError, Pointer, VitalsError, ffi, lib
from vitals._process import Process, sliced
from vitals._snapshot import nanoseconds

F = TypeVar("F", bound=Callable[..., Any])

KILLED_SECONDS = 5.0  # for the kernel, to end what was killed


class Figure(NamedTuple):
    """One figure of an account. `value` is None where it is missing; `availability` says how good it
    is ("have" is exact) or why there is none, `source` how it was measured."""

    name: str
    value: float | None
    unit: str
    availability: str
    source: str
    subject: str
    label: str


class Account:
    """What a run used, figure by figure.

    `account["cpu_seconds"]` is a number, or None; `account.figure("cpu_seconds")` also says how it
    was measured; `print(account)` is the report of `vitals run`.
    """

    def __init__(self, pointer: Pointer, keep: object = None) -> None:
        """`keep`: what a borrowed account belongs to; without it the account is ours to free."""
        self.pointer = pointer if keep is not None else _core.owned(pointer, lib.vitals_account_free)
        self._keep = keep
        self._figures: dict[tuple[str, str], Figure] | None = None

    def _all(self) -> dict[tuple[str, str], Figure]:
        if self._figures is None:
            self._figures = {}
            out = ffi.new("double *")
            for figure in _core.each(lib.vitals_account_next, self.pointer):
                state = lib.vitals_figure_value(figure, out)
                made = Figure(_core.string(lib.vitals_figure_name(figure)), float(out[0]) if state > 0 else None,
                              _core.string(lib.vitals_figure_unit(figure)),
                              _core.string(lib.vitals_availability_name(state)),
                              _core.string(lib.vitals_figure_source(figure)),
                              _core.string(lib.vitals_figure_subject(figure)),
                              _core.string(lib.vitals_figure_label(figure)))
                self._figures[made.name, made.subject] = made
        return self._figures

    def __iter__(self) -> Iterator[Figure]:
        return iter(self._all().values())

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, name: str) -> bool:
        return (name, "") in self._all()

    def figure(self, name: str, subject: str = "") -> Figure:
        """A figure of the whole tree, or of a subject: "root", "descendants", "system", a device's UUID."""
        try:
            return self._all()[name, subject]
        except KeyError:
            raise KeyError(f"{name} {subject}".strip()) from None

    def __getitem__(self, name: str | tuple[str, str]) -> float | None:
        return self.figure(name).value if isinstance(name, str) else self.figure(*name).value

    def get(self, name: str, subject: str = "", default: float | None = None) -> float | None:
        """A figure's value, or the default where there is none."""
        figure = self._all().get((name, subject))
        return default if figure is None or figure.value is None else figure.value

    def total(self, name: str) -> float | None:
        """The sum of a figure over all its subjects but the machine, as over all devices."""
        values = [figure.value for figure in self if figure.name == name and figure.subject != "system"]
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    @property
    def attributes(self) -> dict[str, str]:
        """What is known of the run beside figures: command, host, methods, missing, …"""
        return {_core.string(name): _core.text(lib.vitals_account_attribute(self.pointer, name))
                for name in _core.each(lib.vitals_account_next_attribute, self.pointer)}

    @property
    def exit_code(self) -> int | None:
        """As a shell reports it: the exit code, 128 + the signal, 126, 127; None if it has not ended
        or that is not known."""
        code = int(lib.vitals_account_exit_code(self.pointer))
        return code if code >= 0 else None

    @property
    def failure(self) -> str:
        """Why the command could not be started, or ""."""
        return _core.text(lib.vitals_account_failure(self.pointer))

    def json(self) -> str:
        """The account as JSON, as `vitals run --json` writes it."""
        return _core.written(lib.vitals_account_json, self.pointer)

    def report(self, form: str = "text", **options: Any) -> str:
        """The account as "text", "json", "html", "gpu_tracker" or "gpu_tracker_text". Options are those
        of vitals_report_options: verbose, width, ascii, color, memory_unit, gpu_memory_unit, time_unit."""
        number, made, _kept = report_options(form, options)
        return _core.written(lib.vitals_account_report, self.pointer, number, made)

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        wall, cpu = self.get("wall_seconds"), self.get("cpu_seconds")
        return (f"<account: {'?' if wall is None else f'{wall:.3f}'} s, "
                f"CPU {'?' if cpu is None else f'{cpu:.3f}'} s>")

    def _repr_html_(self) -> str:
        return f"<pre style='line-height:1.35'>{html.escape(self.report(width=100))}</pre>"

    def __getstate__(self) -> str:
        return self.json()

    def __setstate__(self, state: str) -> None:
        self.__init__(account_pointer(state))  # type: ignore[misc]


def account_pointer(document: str | bytes) -> Pointer:
    raw = document.encode() if isinstance(document, str) else document
    return _core.create("vitals_account", lib.vitals_account_read_json, raw, len(raw))


REPORTS = {
    "text": lib.VITALS_REPORT_TEXT,
    "json": lib.VITALS_REPORT_JSON,
    "html": lib.VITALS_REPORT_HTML,
    "gpu_tracker": lib.VITALS_REPORT_GPU_TRACKER,
    "gpu_tracker_text": lib.VITALS_REPORT_GPU_TRACKER_TEXT,
}


def report_options(form: str, options: dict[str, Any]) -> tuple[int, Pointer, list[Pointer]]:
    """The number of a form, vitals_report_options, and what must live as long."""
    if form not in REPORTS:
        raise ArgumentError(f'"{form}" is none of {", ".join(REPORTS)}')
    made, kept = ffi.new("vitals_report_options *"), []
    lib.vitals_report_options_init(made, ffi.sizeof("vitals_report_options"))
    known = {name for name, _ in ffi.typeof("vitals_report_options").fields} - {"size"}
    for name, value in options.items():
        if name not in known:
            raise TypeError(f'"{name}" is none of {", ".join(sorted(known))}')
        if isinstance(value, str):
            kept.append(ffi.new("char[]", _core.encode(value)))
            value = kept[-1]
        setattr(made, name, value)
    return REPORTS[form], made, kept


class Run:
    """Measures a command, processes, or this process and all that it starts, until it is stopped."""

    def __init__(self, argv: Sequence[str | os.PathLike[str]] | None = None, *, pids: Sequence[int] | None = None,
                 interval: float = 1.0, record: str | os.PathLike[str] | None = None, snapshots: bool = False,
                 env: dict[str, str] | None = None, methods: str | None = None, devices: Sequence[str] | None = None,
                 details: bool = False, marks: bool = True, context: Context | None = None,
                 mlflow: Any = None, otlp: bool | str | None = None,
                 tensorboard: str | os.PathLike[str] | None = None,
                 textfile: str | os.PathLike[str] | None = None, export: dict[str, Any] | None = None) -> None:
        self._kept: list[Any] = [context]
        self._maker = os.getpid()
        self._account: Account | None = None
        self._recorder: Any = None
        self._marked: str | None = None
        self._command = False
        targets = {"mlflow": mlflow, "otlp": otlp, "tensorboard": tensorboard, "textfile": textfile}
        self._export: Any = None
        if any(value is not None and value is not False for value in targets.values()):
            from vitals._export import RunExport
            pid = 0 if argv is not None else list(pids)[0] if pids else os.getpid()
            self._export = RunExport(argv, pid, interval, {**targets, **(export or {})})
            if argv is not None:
                env = self._export.environment(env)
        options = self._options(argv, interval, env, methods, marks, context)
        options.usage = self._usage(argv, pids, devices, details)
        if record is not None:
            options.observer = self._record(record, snapshots, interval, argv)
        if self._export is not None:
            options.observer = self._export.exporter.observer(options.observer)
        run = _core.create("vitals_run", lib.vitals_run_open, options)
        self._pointer: Pointer | None = _core.owned(run, lib.vitals_run_close, self._kept, self._recorder, self._export)
        if self._export is not None and argv is None:
            _core.call(lib.vitals_run_exclude, self._pointer, self._export.exporter.pid)

    def _keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def _options(self, argv: Sequence[str | os.PathLike[str]] | None, interval: float, env: dict[str, str] | None,
                 methods: str | None, marks: bool, context: Context | None) -> Pointer:
        options = self._keep(ffi.new("vitals_run_options *"))
        lib.vitals_run_options_init(options, ffi.sizeof("vitals_run_options"))
        options.interval_ns = nanoseconds(interval)
        if context is not None:
            options.world = context.options
        if argv is not None:
            if isinstance(argv, (str, bytes)) or len(argv) == 0:
                raise ArgumentError("argv is a list: a program and its arguments")
            options.argv, _ = self._keep(_core.strings(argv))
            self._command = True
        if marks:
            options.marks_path = self._keep(ffi.new("char[]", b""))
        if env is not None:
            options.environment, _ = self._keep(_core.strings(f"{name}={value}" for name, value in env.items()))
        if methods is not None:
            options.methods = self._keep(ffi.new("char[]", _core.encode(methods)))
        folder = os.environ.get("XDG_RUNTIME_DIR")
        if folder:
            options.runtime_folder = self._keep(ffi.new("char[]", _core.encode(folder)))
        return options

    def _usage(self, argv: object, pids: Sequence[int] | None, devices: Sequence[str] | None,
               details: bool) -> Pointer:
        usage = self._keep(ffi.new("vitals_usage_options *"))
        lib.vitals_usage_options_init(usage, ffi.sizeof("vitals_usage_options"))
        if argv is None:
            roots = list(pids) if pids is not None else [os.getpid()]
            usage.pids, usage.pid_count = self._keep(ffi.new("int64_t[]", roots)), len(roots)
        if devices is not None:
            usage.devices, _ = self._keep(_core.strings(devices))
        usage.details = details
        return usage

    def _record(self, path: str | os.PathLike[str], snapshots: bool, interval: float,
                argv: Sequence[str | os.PathLike[str]] | None) -> Pointer:
        options = ffi.new("vitals_recorder_options *")
        lib.vitals_recorder_options_init(options, ffi.sizeof("vitals_recorder_options"))
        name = ffi.new("char[]", _core.encode(path))
        options.path, options.overwrite, options.snapshots = name, True, snapshots
        options.interval_ns = nanoseconds(interval)
        recorder = _core.create("vitals_run_recorder", lib.vitals_run_recorder_open, options)
        self._recorder = recorder
        self._close_recorder = True
        if argv is not None:
            import shlex
            line = ffi.new("char[]", _core.encode(shlex.join(os.fspath(word) for word in argv)))
            _core.call(lib.vitals_run_recorder_set, recorder, b"command", lib.vitals_text_of(line))
        return lib.vitals_run_recorder_observer(recorder)

    def _run(self) -> Pointer:
        if self._pointer is None:
            raise VitalsError("the run is closed")
        if os.getpid() != self._maker:
            raise VitalsError("the run was opened before this process was forked")
        return self._pointer

    def start(self) -> Run:
        """Begins; a command is started."""
        _core.call(lib.vitals_run_start, self._run())
        path = _core.string(lib.vitals_run_marks_path(self._run()))
        if path and not self._command:  # a command has it in its own environment
            self._marked = os.environ.get("VITALS_MARKS", "")
            os.environ["VITALS_MARKS"] = path
        return self

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the command, or the processes, have ended: False if the time was over before."""
        def look(slice_ns: int) -> bool:
            if _core.call(lib.vitals_run_wait, self._run(), slice_ns) > 0:
                return True
            raise _core.TimedOutError("still running")
        try:
            return bool(sliced(look, timeout))
        except _core.TimedOutError:
            return False

    @property
    def pid(self) -> int | None:
        """The pid of the command, or None without one."""
        return int(lib.vitals_run_pid(self._run())) or None

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signals the command and what descends from it now. Does nothing if it has ended."""
        if self.pid is None:
            raise VitalsError("the run has no command")
        try:
            root = Process(self.pid)
            found = [root, *root.descendants()]
        except GoneError:
            return
        for process in found:
            try:
                process.signal(number)
            except GoneError:
                pass

    def stop(self) -> Account:
        """Ends the measuring, and returns the account. A command that runs is left running."""
        if self._account is None:
            self._restore()
            _core.call(lib.vitals_run_stop, self._run())
            self._account = self._take()
            self._end_recording(self._account.pointer)
            self._end_export(self._account)
        return self._account

    def _restore(self) -> None:
        if self._marked is not None:
            if self._marked:
                os.environ["VITALS_MARKS"] = self._marked
            else:
                os.environ.pop("VITALS_MARKS", None)
            self._marked = None

    def _end_recording(self, account: Pointer) -> None:
        if self._recorder is not None:
            recorder, self._recorder = self._recorder, None
            _core.call(lib.vitals_run_recorder_close, recorder, account)

    def _end_export(self, account: Account | None) -> None:
        if self._export is not None:
            export, self._export = self._export, None
            export.end(account)

    @property
    def exporter(self) -> Any:
        """The Exporter of this run until it is stopped, or None."""
        return self._export.exporter if self._export is not None else None

    def _take(self) -> Account:
        return Account(_core.create("vitals_account", lib.vitals_run_account, self._run()))

    @property
    def account(self) -> Account:
        """What was used: until now, or to the end once it is stopped."""
        return self._account if self._account is not None else self._take()

    def close(self) -> None:
        """Frees everything; the account lives on."""
        if self._pointer is not None and os.getpid() == self._maker:
            self._restore()
            ffi.release(self._pointer)
            self._end_recording(ffi.NULL)
            self._end_export(None)
        self._pointer = None

    def __enter__(self) -> Run:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if os.getpid() == self._maker:
            self.stop()
            self.close()

    # What an account has, a run has too.
    def __getitem__(self, name: str | tuple[str, str]) -> float | None:
        return self.account[name]

    def __iter__(self) -> Iterator[Figure]:
        return iter(self.account)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(Account, name):
            raise AttributeError(name)
        return getattr(self.account, name)

    def __str__(self) -> str:
        return str(self.account)

    def _repr_html_(self) -> str:
        return self.account._repr_html_()


def run(argv: Sequence[str | os.PathLike[str]], *, check: bool = False, timeout: float | None = None,
        **options: Any) -> Account:
    """Runs a command to its end and returns what it and its descendants used.

        account = vitals.run(["make", "-j4"])
        print(account["cpu_seconds"], account["memory_peak_bytes"])

    Streams, signals and the working directory are ours. `options` are those of Run: interval, record,
    env, methods, devices, details; mlflow, otlp, tensorboard and textfile, as Exporter has them, and
    export={…} for its other options. The command finds its run of MLflow in MLFLOW_RUN_ID. With check=True an exit code other than 0 raises
    subprocess.CalledProcessError; after `timeout` seconds the command is killed and
    subprocess.TimeoutExpired raised, each with the account as its attribute `account`.
    """
    import subprocess
    with Run(argv, **options) as measured:
        if not measured.wait(timeout):
            measured.kill()
            measured.wait(KILLED_SECONDS)
            late = subprocess.TimeoutExpired(list(argv), timeout or 0.0)
            late.account = measured.stop()  # type: ignore[attr-defined]
            raise late
        account = measured.stop()
    if check and account.exit_code:
        bad = subprocess.CalledProcessError(account.exit_code, list(argv))
        bad.account = account  # type: ignore[attr-defined]
        raise bad
    return account


def account(**options: Any) -> Run:
    """Measures a block of this process, with the processes that it starts:

        with vitals.account() as used:
            train()
        print(used["cpu_seconds"])
        print(used)

    Threads of this process count as a whole: work that other threads do meanwhile is in the account.
    With mlflow=True the samples and the account go to the active run of the module mlflow.
    """
    return Run(**options)


class phase:
    """Marks a phase of a run: as a decorator, or around a block.

        @vitals.phase
        def load(): ...

        with vitals.phase("epoch 1"):
            ...

    `vitals run`, `vitals.run` and `vitals.account` of this process read the marks; without one it
    does nothing. Phases nest, in each thread on its own.
    """

    def __new__(cls, name: Any = None) -> Any:
        if callable(name):
            return cls(getattr(name, "__qualname__", "phase"))(name)
        return super().__new__(cls)

    def __init__(self, name: str) -> None:
        self.name = name
        self._raw = name.encode("utf-8", "replace").replace(b"\0", b" ")

    def __enter__(self) -> phase:
        lib.vitals_python_mark(b"begin", self._raw)
        return self

    def __exit__(self, *_: object) -> None:
        lib.vitals_python_mark(b"end", self._raw)

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def marked(*arguments: Any, **named: Any) -> Any:
            with phase(self.name):
                return function(*arguments, **named)
        return marked  # type: ignore[return-value]
