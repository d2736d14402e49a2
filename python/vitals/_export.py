"""Exports to MLflow, OpenTelemetry, TensorBoard and Prometheus' node_exporter."""

from __future__ import annotations

import os
import pathlib
import sys
import warnings
from typing import Any, Mapping, Sequence, Union

from vitals import _core
from vitals._core import Context, Pointer, VitalsError, ffi, lib
from vitals._process import sliced
from vitals._snapshot import Sampler, Snapshot, nanoseconds

Path = Union[str, "os.PathLike[str]"]
Destination = Union[None, bool, str, Mapping[str, Any]]

TARGETS = {
    "mlflow": lib.VITALS_EXPORT_MLFLOW,
    "otlp": lib.VITALS_EXPORT_OTLP,
    "tensorboard": lib.VITALS_EXPORT_TENSORBOARD,
    "textfile": lib.VITALS_EXPORT_TEXTFILE,
}
STATES = {
    lib.VITALS_EXPORT_OFF: "off",
    lib.VITALS_EXPORT_STARTING: "starting",
    lib.VITALS_EXPORT_WORKS: "works",
    lib.VITALS_EXPORT_FAILED: "failed",
}
# Members of mlflow={…} and those of vitals_exporter_options.
MLFLOW = {
    "run_id": "mlflow_run_id", "new_run": "mlflow_new_run", "experiment": "mlflow_experiment",
    "run_name": "mlflow_run_name", "prefix": "mlflow_prefix", "interval": "mlflow_interval_ns",
    "samples": "mlflow_samples", "max_cpus": "mlflow_max_cpus", "max_memory": "mlflow_max_memory",
    "unsent": "mlflow_unsent",
}


def _program() -> str:
    named = os.environ.get("VITALS_TELL")
    return named or str(pathlib.Path(__file__).with_name("_prefix") / "libexec/vitals/tell")


def _mlflow(given: bool | str | Mapping[str, Any]) -> dict[str, Any]:
    """The settings of MLflow. True: the server and the active run of the module mlflow if this process
    uses it, else what the variables MLFLOW_… say."""
    settings = dict(given) if isinstance(given, Mapping) else {} if given is True else {"uri": given}
    module = sys.modules.get("mlflow")
    if module is not None and "uri" not in settings:
        settings["uri"] = module.get_tracking_uri()
    if module is not None and not {"run_id", "new_run"} & settings.keys():
        active = module.active_run()
        if active is not None and settings["uri"] == module.get_tracking_uri():
            settings["run_id"] = active.info.run_id
    unknown = settings.keys() - MLFLOW.keys() - {"uri"}
    if unknown:
        raise TypeError(f'mlflow has no "{min(unknown)}"; there is uri, {", ".join(MLFLOW)}')
    if "unsent" not in settings:
        state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local/state")
        settings["unsent"] = os.path.join(state, "vitals/unsent")
    return settings


class Exporter:
    """Sends samples, and an account at the end, to servers and files.

        with vitals.Exporter(mlflow="http://127.0.0.1:5000", tensorboard="runs/1") as exporter:
            for snapshot in exporter.sampler():
                exporter.sample(snapshot)

    `mlflow`: the address of a server; True: that of the module mlflow, whose active run is continued,
    or of MLFLOW_TRACKING_URI; or a dict with uri, run_id, new_run, experiment, run_name, prefix,
    interval, samples, max_cpus, max_memory, unsent. `otlp`: a collector, or True: that of
    OTEL_EXPORTER_OTLP_ENDPOINT. `tensorboard`: a folder. `textfile`: a file *.prom.

    A program of its own speaks with the servers, so that no call here waits for a network. It is
    started here, and ended by close().
    """

    def __init__(self, *, mlflow: Destination = None, otlp: bool | str | None = None,
                 tensorboard: Path | None = None, textfile: Path | None = None, interval: float = 1.0,
                 argv: Sequence[Path] | None = None, pid: int = 0, name: str | None = None,
                 command_line: str = "off", expected_cores: float = 0.0, timeout: float = 5.0,
                 env: Mapping[str, str] | None = None) -> None:
        """`timeout`: how many seconds close() waits for what is still to be sent. `env`: the environment
        of the exporter, with the logins of servers; None: ours."""
        options = ffi.new("vitals_exporter_options *")
        lib.vitals_exporter_options_init(options, ffi.sizeof("vitals_exporter_options"))
        kept: list[Any] = []

        def text(value: Path) -> Pointer:
            kept.append(ffi.new("char[]", _core.encode(value)))
            return kept[-1]

        settings = {} if mlflow is None or mlflow is False else _mlflow(mlflow)
        self.mlflow_uri = ""  # that of the environment
        if settings:
            self.mlflow_uri = settings.pop("uri", "")
            options.mlflow = text(self.mlflow_uri)
        for key, value in settings.items():
            if value is not None:
                setattr(options, MLFLOW[key], nanoseconds(value) if key == "interval"
                        else text(value) if isinstance(value, (str, os.PathLike)) else value)
        if otlp is not None and otlp is not False:
            options.otlp = text("" if otlp is True else otlp)
        for key, path in (("tensorboard", tensorboard), ("textfile", textfile), ("name", name), ("user", _user())):
            if path is not None:
                setattr(options, key, text(path))
        if argv is not None:
            kept.append(_core.strings(argv))
            options.argv = kept[-1][0]
        if env is not None:
            kept.append(_core.strings(f"{name}={value}" for name, value in env.items()))
            options.environment = kept[-1][0]
        options.program, options.command_line = text(_program()), text(command_line)
        options.interval_ns, options.patience_ns = nanoseconds(interval), nanoseconds(timeout)
        options.pid, options.expected_cores = pid, expected_cores
        self.interval, self._timeout = interval, timeout
        self._wanted = [target for target in TARGETS if getattr(options, target)]
        self._pointer: Pointer | None = _core.owned(
            _core.create("vitals_exporter", lib.vitals_exporter_open, options), _drop)

    @property
    def pointer(self) -> Pointer:
        if self._pointer is None:
            raise VitalsError("the exporter is closed")
        return self._pointer

    def sampler(self, *what: str, context: Context | None = None) -> Sampler:
        """A sampler of what is exported, and of `what` besides, at our interval."""
        return Sampler(*(what or ("machine", "gpus")), interval=self.interval, rows="gpu_users", context=context,
                       more=lambda request: _core.call(lib.vitals_exporter_request, self.pointer, request))

    def sample(self, snapshot: Snapshot) -> bool:
        """Sends the machine and its devices, as a snapshot of sampler() has them: False if the exporter
        did not take it in time, and it was dropped."""
        return _core.call(lib.vitals_exporter_sample, self.pointer, snapshot.pointer, ffi.NULL) > 0

    def account(self, account: Any) -> bool:
        """Sends an account, once, at the end."""
        return _core.call(lib.vitals_exporter_account, self.pointer, account.pointer) > 0

    def file(self, path: Path) -> bool:
        """Sends a file as an artifact of the MLflow run, behind the account; it must stay until close()."""
        return _core.call(lib.vitals_exporter_file, self.pointer, _core.encode(path)) > 0

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until each destination works or has failed: False if the time was over before."""
        def look(slice_ns: int) -> bool:
            if _core.call(lib.vitals_exporter_wait, self.pointer, slice_ns) > 0:
                return True
            raise _core.TimedOutError("not reached yet")
        try:
            return bool(sliced(look, timeout))
        except _core.TimedOutError:
            return False

    def _look(self) -> Pointer:
        try:
            _core.call(lib.vitals_exporter_wait, self.pointer, 0)
        except _core.GoneError:
            pass
        return self.pointer

    @property
    def state(self) -> dict[str, str]:
        """Of each destination: "starting", "works" or "failed"."""
        pointer = self._look()
        return {name: STATES[lib.vitals_exporter_state(pointer, TARGETS[name])] for name in self._wanted}

    @property
    def message(self) -> str:
        """The last message of the exporter, or ""."""
        return _core.string(lib.vitals_exporter_message(self._look()))

    @property
    def run_id(self) -> str | None:
        """The run of MLflow, or None as long as there is none."""
        return _core.string(lib.vitals_exporter_run_id(self._look())) or None

    @property
    def run_page(self) -> str | None:
        """The address of the run of MLflow, or None."""
        return _core.string(lib.vitals_exporter_run_page(self._look())) or None

    @property
    def pid(self) -> int:
        """The exporter's process."""
        return int(lib.vitals_exporter_pid(self.pointer))

    @property
    def dropped(self) -> int:
        """How many samples and accounts were dropped."""
        return int(lib.vitals_exporter_dropped(self.pointer))

    def observer(self, also: Pointer) -> Pointer:
        out = ffi.new("vitals_run_observer const **")
        _core.call(lib.vitals_exporter_observer, self.pointer, also, out)
        return out[0]

    def close(self, timeout: float | None = None) -> None:
        """Waits until all is sent. Raises VitalsError if something was not."""
        if self._pointer is None:
            return
        pointer, self._pointer = self._pointer, None
        ffi.gc(pointer, None)
        _core.call(lib.vitals_exporter_close, pointer, nanoseconds(self._timeout if timeout is None else timeout))

    def __enter__(self) -> Exporter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _drop(pointer: Pointer) -> None:
    lib.vitals_exporter_close(pointer, 0, ffi.NULL)


def _user() -> str | None:
    import getpass
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


class RunExport:
    """The exporter of a run: what its command finds in its environment, and what is sent at its end. A
    failure there is a warning, and never changes what the run returns."""

    def __init__(self, argv: Sequence[Path] | None, pid: int, interval: float, settings: dict[str, Any]) -> None:
        self.exporter = Exporter(argv=argv, pid=pid, interval=interval, **settings)
        self.mlflow = "mlflow" in self.exporter._wanted
        self._settings = settings["mlflow"] if isinstance(settings.get("mlflow"), Mapping) else {}
        self._timeout = self.exporter._timeout

    def environment(self, env: Mapping[str, str] | None) -> Mapping[str, str] | None:
        """Of a command, which continues the run of MLflow that is made here."""
        if not self.mlflow:
            return env
        made = dict(os.environ if env is None else env)
        if self.exporter.mlflow_uri:
            made["MLFLOW_TRACKING_URI"] = self.exporter.mlflow_uri
        if self._settings.get("experiment"):
            made.pop("MLFLOW_EXPERIMENT_ID", None)
            made["MLFLOW_EXPERIMENT_NAME"] = self._settings["experiment"]
        if self._settings.get("new_run"):
            made.pop("MLFLOW_RUN_ID", None)
        try:
            self.exporter.wait(self._timeout)
        except _core.GoneError as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=5)
        run_id = self.exporter.run_id or self._settings.get("run_id")
        if run_id is None:
            warnings.warn(f"vitals: mlflow: there is no run within {self._timeout:g} s, and the command begins "
                          f"without MLFLOW_RUN_ID: {self.exporter.message}", RuntimeWarning, stacklevel=5)
            return made
        made["MLFLOW_RUN_ID"] = run_id
        return made

    def end(self, account: Any) -> None:
        """Sends the account, to MLflow also the report, and waits until all is sent."""
        import tempfile
        with tempfile.TemporaryDirectory(prefix="vitals-") as folder:
            try:
                if account is not None:
                    self.exporter.account(account)
                    if self.mlflow:
                        page = pathlib.Path(folder, "report.html")
                        page.write_text(account.report("html", for_others=True), encoding="utf-8")
                        self.exporter.file(page)
                self.exporter.close()
            except (VitalsError, OSError) as error:
                warnings.warn(f"vitals: {error}", RuntimeWarning, stacklevel=4)
