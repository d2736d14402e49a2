"""The devices: physical ones, MIG instances of them, and both by CUDA's numbers.

A method reads now, through readings.py; within `oneshot()` each group of metrics is read once. What the driver does not
tell is NA.
"""

from __future__ import annotations

import contextlib
import functools
import threading

from vitals.compat.nvitop import cuda_visible, libnvml, readings
from vitals.compat.nvitop.cuda_visible import normalize_cuda_visible_devices, parse_cuda_visible_devices
from vitals.compat.nvitop.links import Links, scaled
from vitals.compat.nvitop.process import GpuProcess
from vitals.compat.nvitop.utils import NA, Snapshot, bytes2human

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, Callable, ClassVar, Iterable, Iterator, List, NamedTuple

    from vitals.compat.nvitop.readings import Index, Reading
    from vitals.compat.nvitop.utils import Int, NaType
else:
    from vitals.compat.nvitop.named_tuple import NamedTuple

__all__ = ["CudaDevice", "CudaMigDevice", "Device", "MigDevice", "PhysicalDevice", "normalize_cuda_visible_devices",
           "parse_cuda_visible_devices"]


class MemoryInfo(NamedTuple):
    """In bytes."""

    total: Int
    free: Int
    used: Int
    reserved: Int = NA


class ClockInfos(NamedTuple):
    """In MHz."""

    graphics: Int
    sm: Int
    memory: Int
    video: Int


class ClockSpeedInfos(NamedTuple):
    current: ClockInfos
    max: ClockInfos


class UtilizationRates(NamedTuple):
    """In percent of the driver's last sample period."""

    gpu: Int
    memory: Int
    encoder: Int
    decoder: Int


def _or_na(value: Any) -> Any:
    return NA if value is None else value


def _percent(info: MemoryInfo) -> float | NaType:
    if isinstance(info.used, int) and isinstance(info.total, int) and info.total > 0:
        return round(100.0 * info.used / info.total, 1)
    return NA


class _UuidPattern:
    """Of a device, of a MIG device, and of one before driver 470; compiled when it is first looked at."""

    def __get__(self, thing: object, owner: type) -> re.Pattern[str]:
        import re
        uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
        return re.compile(rf"(?:GPU-{uuid}|MIG-{uuid}|MIG-GPU-{uuid}/\d+/\d+)$")


_MEMORY = tuple(f"gpu.memory_{name}_bytes" for name in ("total", "free", "used", "reserved"))
_CLOCKS = ("graphics", "sm", "memory", "video")
_COMPUTE_MODES = {"default": "Default", "exclusive_thread": "Exclusive Thread", "prohibited": "Prohibited",
                  "exclusive_process": "Exclusive Process"}
_SWITCH = {0: "Disabled", 1: "Enabled"}
_MOST_PARTS = 7  # of all devices that there are
_LOADS = ("utilization_ratio", "memory_busy_ratio", "encoder_ratio", "decoder_ratio")
_OF_PROCESS = ("pid", "type", "memory_used_bytes", "gpu_instance_id", "compute_instance_id", *_LOADS)
_GROUPS_OF_SNAPSHOT = ("identity", "memory", "utilization", "clocks", "board", "state", "pcie", "snapshot")
# Of these others are made.
_PARTED = ("memory_info", "memory_used_human", "memory_total_human", "utilization_rates", "clock_infos",
           "max_clock_infos", "pcie_throughput")


class _Values:
    """The values of a device's snapshot, each made of its reading when it is looked at."""

    __slots__ = ("_frozen", "_keys")

    def __init__(self, frozen: Device, keys: dict[str, None]) -> None:
        self._frozen, self._keys = frozen, keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def get(self, name: str) -> Callable[[], Any] | None:
        if name not in self._keys:
            return None
        value = getattr(self._frozen, name)
        return value if callable(value) else lambda: value

    def everything(self, made: dict[str, Any]) -> dict[str, Any]:
        """All values, but those that are made."""
        frozen = self._frozen
        for name in _PARTED:
            value = getattr(frozen, name)()
            frozen.__dict__[name] = functools.partial(_same, value)
        found = {}
        for name in self._keys:
            if name not in made:
                value = getattr(frozen, name)
                found[name] = value() if callable(value) else value
        return found


def _same(value: Any) -> Any:
    return value


class Device(Links):
    """A device as it is now. Device(0) and Device(bus_id=…) are a PhysicalDevice, Device((0, 1)) is a MigDevice, and of
    a uuid that says which; exactly one of them is given.

    Raises NVMLError_InvalidArgument or NVMLError_NotFound where there is no such device, NVMLError_LibraryNotFound and
    its like where there is no driver, TypeError for another number of arguments.
    """

    UUID_PATTERN = _UuidPattern()
    GPU_PROCESS_CLASS: ClassVar[type[GpuProcess]] = GpuProcess
    cuda: ClassVar[type[CudaDevice]]

    _nvml_index: Any

    # --- which there are ---

    @classmethod
    def is_available(cls) -> bool:
        try:
            return cls.count() > 0
        except libnvml.NVMLError:
            return False

    @staticmethod
    def _of_the_driver(name: str) -> Any:
        reading = readings.take("identity")
        readings.check(reading)
        known = (reading.value(index, name) for index in reading.rows)
        return _or_na(next((value for value in known if value is not None), None))

    @staticmethod
    def driver_version() -> str | NaType:
        version = Device._of_the_driver("gpu.driver_version")
        return readings.driver_in_words() if version is NA else version

    @staticmethod
    def cuda_driver_version() -> str | NaType:
        """The newest CUDA that the driver serves."""
        return Device._of_the_driver("gpu.cuda_version")  # type: ignore[no-any-return]

    max_cuda_version = cuda_driver_version
    cuda_version = cuda_driver_version  # as nvitop 0.5 calls it

    @staticmethod
    def cuda_runtime_version() -> str | NaType:
        """Of libcudart.so, if there is one."""
        from vitals.compat.nvitop import libcudart
        try:
            return libcudart.cudaRuntimeGetVersion()
        except libcudart.cudaError:
            return NA

    cudart_version = cuda_runtime_version

    @classmethod
    def count(cls) -> int:
        """How many physical devices there are."""
        reading = readings.take("identity")
        readings.check(reading)
        return sum(isinstance(index, int) for index in reading.rows)

    @classmethod
    def all(cls) -> list[Any]:
        """All physical devices; none where there is no driver. NVMLError_Timeout from one that does not list them."""
        return cls.from_indices()

    @classmethod
    def from_indices(cls, indices: int | Iterable[Index] | None = None) -> list[Any]:
        with readings.together():
            if indices is None:
                try:
                    indices = range(Device.count())
                except libnvml.NVMLError as error:
                    if error.value == 10:  # a partial list is no list
                        raise
                    return []
            return [cls(index) for index in ([indices] if isinstance(indices, int) else indices)]

    @staticmethod
    def from_cuda_visible_devices() -> list[CudaDevice]:
        """The devices that a CUDA program started here would see."""
        with readings.together():
            return [CudaDevice(number, nvml_index=index) for number, index in enumerate(parse_cuda_visible_devices())]

    @staticmethod
    def from_cuda_indices(cuda_indices: int | Iterable[int] | None = None) -> list[CudaDevice]:
        """Those with CUDA's numbers. RuntimeError for a number that is none."""
        visible = Device.from_cuda_visible_devices()
        if cuda_indices is None:
            return visible
        chosen = [cuda_indices] if isinstance(cuda_indices, int) else list(cuda_indices)
        for number in chosen:
            if not 0 <= number < len(visible):
                raise RuntimeError(f"CUDA Error: invalid device ordinal: {number!r}.")
        return [visible[number] for number in chosen]

    @staticmethod
    def parse_cuda_visible_devices(cuda_visible_devices: str | None = cuda_visible.OMITTED) -> list[Any]:
        return parse_cuda_visible_devices(cuda_visible_devices)

    @staticmethod
    def normalize_cuda_visible_devices(cuda_visible_devices: str | None = cuda_visible.OMITTED) -> str:
        return normalize_cuda_visible_devices(cuda_visible_devices)

    # --- which one it is ---

    def __new__(cls, index: Any = None, *, uuid: str | None = None, bus_id: str | None = None) -> Device:
        if (index, uuid, bus_id).count(None) != 2:
            raise TypeError("Device(index=None, uuid=None, bus_id=None) takes 1 non-None arguments but "
                            f"(index, uuid, bus_id) = {(index, uuid, bus_id)!r} were given")
        if cls is not Device:
            return super().__new__(cls)
        name = index if isinstance(index, str) else uuid
        found = cls.UUID_PATTERN.match(name) if isinstance(name, str) else None
        if isinstance(index, str) and found is None:
            raise TypeError("index must be an integer, or a tuple of two integers, or a valid UUID string, "
                            f"but index = {index!r} was given")
        if index is not None and not isinstance(index, (int, str)):
            if not isinstance(index, tuple):
                raise TypeError("index must be an integer, or a tuple of two integers, or a valid UUID string, "
                                f"but index = {index!r} was given")
            if not (len(index) == 2 and all(isinstance(number, int) for number in index)):
                raise TypeError("index for MIG device must be a tuple of two integers "
                                f"but index = {index!r} was given")
            return super().__new__(MigDevice)
        return super().__new__(MigDevice if isinstance(name, str) and name.startswith("MIG-") else PhysicalDevice)

    def __init__(self, index: Any = None, *, uuid: str | None = None, bus_id: str | None = None) -> None:
        self._lock = threading.RLock()
        self._fixed: dict[str, Reading] | None = None
        self._kept: dict[str, Any] = {}
        self._links: Reading | None = None
        self._cuda_index: int | None = None
        reading = readings.take("identity")
        readings.check(reading)
        if isinstance(index, str):
            index, uuid = None, index
        self._nvml_index = index if index is not None else self._find(reading, uuid or bus_id or "")
        if self._nvml_index not in reading.rows:
            raise self._no_such()
        self._lost = reading.value(self._nvml_index, "gpu.name") is None and (
            reading.value(self._nvml_index, "gpu.uuid") is None)
        if self._lost:
            self._kept["name"] = "ERROR: GPU is Lost"
        self._keep_identity(reading)
        self._ident: tuple[Any, Any] = (self.index, self.uuid())
        self._hash: int | None = None

    def _no_such(self) -> Exception:
        """NVML's error for an index that none has."""
        if not isinstance(self._nvml_index, tuple):
            return libnvml.NVMLError(2)
        device, part = self._nvml_index
        reading = readings.take("state")
        if device in reading.rows and reading.value(device, "gpu.mig_mode") is None:
            return libnvml.NVMLError(3)
        return libnvml.NVMLError(6 if device in reading.rows and 0 <= part < _MOST_PARTS else 2)

    @staticmethod
    def _find(reading: Reading, name: str) -> Index:
        index = cuda_visible.find(reading, name)
        if index is None:
            raise libnvml.NVMLError(6)
        return index

    def _keep_identity(self, reading: Reading) -> None:
        for key, name in (("name", "gpu.name"), ("uuid", "gpu.uuid"), ("bus_id", "gpu.pci_bus_id")):
            value = reading.value(self._nvml_index, name)
            if value is not None:
                self._kept[key] = value

    def __repr__(self) -> str:
        return (f"{type(self).__name__}(index={self.index}, name={self.name()!r}, "
                f"total_memory={self.memory_total_human()})")

    def __eq__(self, other: object) -> bool:
        return self._ident == other._ident if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._ident)
        return self._hash

    def __getattr__(self, name: str) -> Any:
        """A getter of NVML's that has no method here: device.nvml_name() is nvmlDeviceGetNvmlName."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self._lost:
            return lambda: NA
        import re
        word, version, number = re.fullmatch(r"(\w+?)((?:_v(\d+))?)", name).group(1, 2, 3)  # type: ignore[union-attr]
        del number
        spelled = ("".join(part.title() for part in word.split("_")),
                   "".join(part[:1].upper() + part[1:] for part in word.split("_")))
        for pascal in spelled:
            function = getattr(libnvml, f"nvmlDeviceGet{pascal}{version}", None)
            if function is not None:
                break
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def attribute(*arguments: Any, **named: Any) -> Any:
            try:
                return libnvml.nvmlQuery(function, self.handle, *arguments, **named, ignore_errors=False)
            except libnvml.NVMLError as error:
                if error.value != 3:
                    raise
                return NA
        attribute.__name__ = name
        self.__dict__[name] = attribute
        return attribute

    def __reduce__(self) -> Any:
        return type(self), (self._nvml_index,)

    @property
    def index(self) -> Any:
        """NVML's number; of a MIG device that of its device and its own."""
        return self._nvml_index

    @property
    def nvml_index(self) -> Any:
        return self._nvml_index

    @property
    def physical_index(self) -> int:
        return self._nvml_index  # type: ignore[no-any-return]

    @property
    def handle(self) -> Any:
        """For functions of nvidia-ml-py; None of a device that was lost."""
        if self._lost:
            return None
        if "handle" not in self._kept:
            self._kept["handle"] = libnvml.nvmlQuery("nvmlDeviceGetHandleByUUID", self.uuid().encode(),
                                                     ignore_errors=False)
        return self._kept["handle"]

    @property
    def cuda_index(self) -> int:
        """Its number for CUDA programs. RuntimeError if they do not see it."""
        if self._cuda_index is None:
            try:
                self._cuda_index = parse_cuda_visible_devices().index(self.index)
            except ValueError:
                raise RuntimeError(f"CUDA Error: Device(index={self.index}) is not visible to CUDA "
                                   "applications") from None
        return self._cuda_index

    def name(self) -> str | NaType:
        return self._kept.get("name", NA)  # type: ignore[no-any-return]

    def uuid(self) -> str | NaType:
        return self._kept.get("uuid", NA)  # type: ignore[no-any-return]

    def bus_id(self) -> str | NaType:
        """As "00000000:17:00.0"."""
        return self._kept.get("bus_id", NA)  # type: ignore[no-any-return]

    def serial(self) -> str | NaType:
        return self._value("serial", "gpu.serial")  # type: ignore[no-any-return]

    # --- reading ---

    def _take(self, group: str) -> Reading:
        fixed = self._fixed
        if fixed is None:
            return readings.take(group)
        if group not in fixed:
            fixed[group] = readings.take(group)
        return fixed[group]

    def _value(self, group: str, name: str) -> Any:
        return _or_na(self._take(group).value(self._nvml_index, name))

    @contextlib.contextmanager
    def oneshot(self) -> Iterator[None]:
        """Within, each group of values is read once."""
        with self._lock:
            if self._fixed is not None:
                yield
                return
            self._fixed = {}
            try:
                yield
            finally:
                self._fixed = None

    def memory_info(self) -> MemoryInfo:
        """Of a device without memory of its own the machine's."""
        reading, index = self._take("memory"), self._nvml_index
        return reading.once((index, "memory_info"), lambda: MemoryInfo(*(  # type: ignore[no-any-return]
            _or_na(reading.value(index, name)) for name in _MEMORY)))

    def memory_total(self) -> Int:
        """In bytes, as everything that has no unit in its name."""
        if "memory_total" not in self._kept:
            total = self.memory_info().total
            if total is NA:
                return NA
            self._kept["memory_total"] = total
        return self._kept["memory_total"]  # type: ignore[no-any-return]

    def memory_used(self) -> Int:
        return self.memory_info().used

    def memory_free(self) -> Int:
        return self.memory_info().free

    def memory_total_human(self) -> str | NaType:
        return bytes2human(self.memory_total())

    def memory_used_human(self) -> str | NaType:
        return bytes2human(self.memory_used())

    def memory_free_human(self) -> str | NaType:
        return bytes2human(self.memory_free())

    def memory_percent(self) -> float | NaType:
        return _percent(self.memory_info())

    def memory_usage(self) -> str:
        """As "8172MiB / 11.02GiB"."""
        return f"{self.memory_used_human()} / {self.memory_total_human()}"

    def bar1_memory_info(self) -> MemoryInfo:
        pool = self._take("bar1").child_values(self._nvml_index, "gpu_pool").get("bar1", {})
        total, used = (pool.get(f"gpu_pool.{name}_bytes") for name in ("total", "used"))
        free = None if total is None or used is None else total - used
        return MemoryInfo(_or_na(total), _or_na(free), _or_na(used))

    def bar1_memory_total(self) -> Int:
        return self.bar1_memory_info().total

    def bar1_memory_used(self) -> Int:
        return self.bar1_memory_info().used

    def bar1_memory_free(self) -> Int:
        return self.bar1_memory_info().free

    def bar1_memory_total_human(self) -> str | NaType:
        return bytes2human(self.bar1_memory_total())

    def bar1_memory_used_human(self) -> str | NaType:
        return bytes2human(self.bar1_memory_used())

    def bar1_memory_free_human(self) -> str | NaType:
        return bytes2human(self.bar1_memory_free())

    def bar1_memory_percent(self) -> float | NaType:
        return _percent(self.bar1_memory_info())

    def bar1_memory_usage(self) -> str:
        return f"{self.bar1_memory_used_human()} / {self.bar1_memory_total_human()}"

    def utilization_rates(self) -> UtilizationRates:
        reading, index = self._take("utilization"), self._nvml_index

        def make() -> UtilizationRates:
            engines = reading.child_values(index, "gpu_engine", ("encoder", "decoder"))
            return UtilizationRates(*(scaled(ratio, 100) for ratio in (
                reading.value(index, "gpu.utilization_ratio"), reading.value(index, "gpu.memory_busy_ratio"),
                *(engines.get(name, {}).get("gpu_engine.utilization_ratio") for name in ("encoder", "decoder")))))
        return reading.once((index, "utilization_rates"), make)  # type: ignore[no-any-return]

    def gpu_utilization(self) -> Int:
        """Percent of the driver's last sample period in which a kernel ran."""
        return self.utilization_rates().gpu

    gpu_percent = gpu_utilization

    def memory_utilization(self) -> Int:
        """Percent of that time in which device memory was read or written."""
        return self.utilization_rates().memory

    def encoder_utilization(self) -> Int:
        return self.utilization_rates().encoder

    def decoder_utilization(self) -> Int:
        return self.utilization_rates().decoder

    def _clocks(self, name: str) -> ClockInfos:
        reading, index = self._take("clocks"), self._nvml_index

        def make() -> ClockInfos:
            clocks = reading.child_values(index, "gpu_clock", _CLOCKS)
            return ClockInfos(*(scaled(clocks.get(kind, {}).get(name), 1e-6) for kind in _CLOCKS))
        return reading.once((index, "clocks", name), make)  # type: ignore[no-any-return]

    def clock_infos(self) -> ClockInfos:
        return self._clocks("gpu_clock.frequency_hertz")

    clocks = clock_infos

    def max_clock_infos(self) -> ClockInfos:
        return self._clocks("gpu_clock.frequency_max_hertz")

    max_clocks = max_clock_infos

    def clock_speed_infos(self) -> ClockSpeedInfos:
        return ClockSpeedInfos(self.clock_infos(), self.max_clock_infos())

    def graphics_clock(self) -> Int:
        """In MHz."""
        return self.clock_infos().graphics

    def sm_clock(self) -> Int:
        return self.clock_infos().sm

    def memory_clock(self) -> Int:
        return self.clock_infos().memory

    def video_clock(self) -> Int:
        return self.clock_infos().video

    def max_graphics_clock(self) -> Int:
        return self.max_clock_infos().graphics

    def max_sm_clock(self) -> Int:
        return self.max_clock_infos().sm

    def max_memory_clock(self) -> Int:
        return self.max_clock_infos().memory

    def max_video_clock(self) -> Int:
        return self.max_clock_infos().video

    def fan_speed(self) -> Int:
        """In percent of its maximum, intended; may exceed 100."""
        return scaled(self._take("board").value(self._nvml_index, "gpu.fan_ratio"), 100)

    def temperature(self) -> Int:
        """In degrees Celsius."""
        return scaled(self._take("board").value(self._nvml_index, "gpu.temperature_celsius"), 1)

    def power_usage(self) -> Int:
        """In mW."""
        return scaled(self._take("board").value(self._nvml_index, "gpu.power_watts"), 1000)

    power_draw = power_usage

    def power_limit(self) -> Int:
        """In mW, as it was set."""
        return scaled(self._take("board").value(self._nvml_index, "gpu.power_limit_set_watts"), 1000)

    def power_status(self) -> str:
        """As "312W / 700W"."""
        return " / ".join(f"{round(power / 1000)}W" if isinstance(power, int) else NA
                          for power in (self.power_usage(), self.power_limit()))

    # --- state ---

    def _switch(self, name: str) -> str | NaType:
        return _SWITCH.get(self._take("state").value(self._nvml_index, name), NA)

    def display_active(self) -> str | NaType:
        """Enabled where a display is initialised on it, else Disabled."""
        return self._switch("gpu.display_active")

    def display_mode(self) -> str | NaType:
        """Enabled where a monitor is connected."""
        return self._switch("gpu.display_attached")

    def current_driver_model(self) -> str | NaType:
        """WDDM, WDM or MCDM, on Windows."""
        model = self._value("state", "gpu.driver_model")
        return NA if model is NA else str(model).upper()

    driver_model = current_driver_model

    def persistence_mode(self) -> str | NaType:
        return self._switch("gpu.persistence_mode")

    def performance_state(self) -> str | NaType:
        """P0 is the fastest."""
        state = self._value("state", "gpu.performance_state")
        return NA if state is NA else f"P{state}"

    def total_volatile_uncorrected_ecc_errors(self) -> Int:
        return self._value("state", "gpu.ecc_errors_uncorrected")  # type: ignore[no-any-return]

    def compute_mode(self) -> str | NaType:
        return _COMPUTE_MODES.get(self._value("state", "gpu.compute_mode"), NA)

    def cuda_compute_capability(self) -> tuple[int, ...] | NaType:
        """As (9, 0)."""
        version = self._take("identity").value(self._nvml_index, "gpu.compute_capability")
        return NA if version is None else tuple(map(int, version.split(".")))

    # --- partitions ---

    def is_mig_device(self) -> bool:
        return isinstance(self._nvml_index, tuple)

    def mig_mode(self) -> str | NaType:
        return NA if self.is_mig_device() else self._switch("gpu.mig_mode")

    def is_mig_mode_enabled(self) -> bool:
        return self.mig_mode() == "Enabled"

    def max_mig_device_count(self) -> int:
        """How many MIG devices it can be divided into; 0 where it cannot."""
        return 0

    def mig_devices(self) -> list[MigDevice]:
        """The MIG devices that it is divided into."""
        return []

    def is_leaf_device(self) -> bool:
        """Whether it is not divided."""
        return self.is_mig_device() or not self.is_mig_mode_enabled()

    def to_leaf_devices(self) -> List[Any]:
        """Itself, or the MIG devices that it is divided into. A CUDA device is not divided."""
        return [self] if isinstance(self, CudaDevice) or self.is_leaf_device() else self.mig_devices()

    # --- processes and snapshots ---

    def processes(self) -> dict[int, GpuProcess]:
        """The processes on it, by pid."""
        reading = self._take("processes")
        indices = [index for index in reading.rows
                   if index == self._nvml_index or (isinstance(index, tuple) and index[0] == self._nvml_index)]
        listed = [{name: row[f"gpu_process.{name}"] for name in _OF_PROCESS}
                  for index in indices for row in reading.child_values(index, "gpu_process").values()]
        # A driver that does not tell memory tells no load of processes either, where it has none to tell.
        silent = any(process["memory_used_bytes"] is None for process in listed)
        found = {}
        for process in listed:
            loads = [scaled(process[name], 100) for name in _LOADS]
            made = found[process["pid"]] = self.GPU_PROCESS_CLASS(
                process["pid"], self, gpu_memory=_or_na(process["memory_used_bytes"]),
                gpu_instance_id=_or_na(process["gpu_instance_id"]),
                compute_instance_id=_or_na(process["compute_instance_id"]),
                type=str(process["type"]).replace("M", "C"))
            made.set_gpu_utilization(*([NA] * 4 if silent and not any(loads) else loads))
        return found

    def as_snapshot(self) -> Snapshot:
        """What it is and does at one moment: the attributes of SNAPSHOT_KEYS."""
        reading, pcie = readings.take("snapshot"), self._fresh_pcie()
        frozen = object.__new__(type(self))
        frozen.__dict__.update(self.__dict__)
        frozen._fixed = dict.fromkeys(_GROUPS_OF_SNAPSHOT, reading)
        frozen._fixed["pcie"] = pcie
        keys = _keys_of((*self._MORE_KEYS, *self.SNAPSHOT_KEYS))
        return Snapshot._of(self, _Values(frozen, keys))

    SNAPSHOT_KEYS: ClassVar[list[str]] = [
        "name", "uuid", "bus_id", "memory_info", "memory_used", "memory_free", "memory_total", "memory_used_human",
        "memory_free_human", "memory_total_human", "memory_percent", "memory_usage", "utilization_rates",
        "gpu_utilization", "memory_utilization", "encoder_utilization", "decoder_utilization", "clock_infos",
        "max_clock_infos", "clock_speed_infos", "sm_clock", "memory_clock", "fan_speed", "temperature", "power_usage",
        "power_limit", "power_status", "pcie_throughput", "pcie_tx_throughput", "pcie_rx_throughput",
        "pcie_tx_throughput_human", "pcie_rx_throughput_human", "display_active", "display_mode",
        "current_driver_model", "persistence_mode", "performance_state", "total_volatile_uncorrected_ecc_errors",
        "compute_mode", "cuda_compute_capability", "mig_mode"]
    _MORE_KEYS: ClassVar[tuple[str, ...]] = ("index", "physical_index")


@functools.lru_cache(maxsize=16)
def _keys_of(names: tuple[str, ...]) -> dict[str, None]:
    """The keys of a snapshot in their order, to be looked up: one for all snapshots with these names."""
    return dict.fromkeys(names)


class PhysicalDevice(Device):
    """A whole device."""

    def max_mig_device_count(self) -> int:
        """0 also where nvidia-ml-py, which alone tells it, is not installed."""
        if self._lost or self.mig_mode() is NA:
            return 0
        try:
            return int(libnvml.nvmlQuery("nvmlDeviceGetMaxMigDeviceCount", self.handle, default=0))
        except ModuleNotFoundError:
            return 0

    def mig_device(self, mig_index: int) -> MigDevice:
        """The MIG device with a number. NVMLError_NotFound if there is none."""
        return MigDevice((self.index, mig_index))

    def mig_devices(self) -> list[MigDevice]:
        reading = readings.take("identity")
        with readings.together():
            return [MigDevice(index) for index in reading.rows if isinstance(index, tuple) and index[0] == self.index]


class MigDevice(Device):
    """A MIG device: a part of a physical one."""

    @classmethod
    def count(cls) -> int:
        return len(MigDevice.all())

    @classmethod
    def all(cls) -> list[Any]:
        """Those of all physical devices."""
        with readings.together():
            return [part for device in PhysicalDevice.all() for part in device.mig_devices()]

    def __init__(self, index: Any = None, *, uuid: str | None = None) -> None:
        super().__init__(index, uuid=uuid)
        if not isinstance(self._nvml_index, tuple):
            raise libnvml.NVMLError(2)
        self._parent = PhysicalDevice(self._nvml_index[0])
        if "name" in self._kept:
            self._kept["name"] = f"{self._parent.name()} MIG {self._kept['name']}"

    @property
    def physical_index(self) -> int:
        return self._nvml_index[0]  # type: ignore[no-any-return]

    @property
    def mig_index(self) -> int:
        return self._nvml_index[1]  # type: ignore[no-any-return]

    @property
    def parent(self) -> PhysicalDevice:
        return self._parent

    def gpu_instance_id(self) -> Int:
        return _or_na(self._take("identity").value(self._nvml_index, "gpu.gpu_instance_id"))  # type: ignore[no-any-return]

    def compute_instance_id(self) -> Int:
        return _or_na(self._take("identity").value(self._nvml_index, "gpu.compute_instance_id"))  # type: ignore[no-any-return]

    SNAPSHOT_KEYS: ClassVar[list[str]] = [*Device.SNAPSHOT_KEYS, "gpu_instance_id", "compute_instance_id"]
    _MORE_KEYS = (*Device._MORE_KEYS, "mig_index")


class CudaDevice(Device):
    """A device by CUDA's number, which depends on CUDA_VISIBLE_DEVICES: CudaDevice(0), or by NVML's index or its uuid.
    CudaDevice() of a MIG device is a CudaMigDevice. RuntimeError for a device that is not visible."""

    @classmethod
    def is_available(cls) -> bool:
        return cls.count() > 0

    @classmethod
    def count(cls) -> int:
        return len(parse_cuda_visible_devices())

    @classmethod
    def all(cls) -> list[Any]:
        return cls.from_indices()

    @classmethod
    def from_indices(cls, indices: int | Iterable[Any] | None = None) -> list[Any]:
        """All that are visible, or those with CUDA's numbers."""
        return Device.from_cuda_indices(indices)

    @staticmethod
    def _nvml_of(cuda_index: int) -> Any:
        seen = parse_cuda_visible_devices()
        if not isinstance(cuda_index, int) or not 0 <= cuda_index < len(seen):
            raise RuntimeError(f"CUDA Error: invalid device ordinal: {cuda_index!r}.")
        return seen[cuda_index]

    def __new__(cls, cuda_index: int | None = None, *, nvml_index: Any = None,
                uuid: str | None = None) -> CudaDevice:
        if nvml_index is not None and uuid is not None:
            raise TypeError("CudaDevice(cuda_index=None, nvml_index=None, uuid=None) takes 1 non-None arguments but "
                            f"(cuda_index, nvml_index, uuid) = {(cuda_index, nvml_index, uuid)!r} were given")
        if cuda_index is not None and nvml_index is None and uuid is None:
            nvml_index = cls._nvml_of(cuda_index)
        of_part = (nvml_index is not None and not isinstance(nvml_index, int)) or is_mig_device_uuid(uuid)
        kind = CudaMigDevice if cls is CudaDevice and of_part else cls
        return super().__new__(kind, index=nvml_index, uuid=uuid)  # type: ignore[return-value]

    def __init__(self, cuda_index: int | None = None, *, nvml_index: Any = None, uuid: str | None = None) -> None:
        if cuda_index is not None and nvml_index is None and uuid is None:
            nvml_index = self._nvml_of(cuda_index)
        super().__init__(nvml_index, uuid=uuid)
        self._cuda_index = cuda_index if cuda_index is not None else self.cuda_index
        self._ident = ((self._cuda_index, self.index), self.uuid())

    def __repr__(self) -> str:
        return (f'{type(self).__name__}(cuda_index={self.cuda_index}, nvml_index={self.index}, name="{self.name()}", '
                f"total_memory={self.memory_total_human()})")

    def __reduce__(self) -> Any:
        return type(self), (self._cuda_index,)

    _MORE_KEYS = (*Device._MORE_KEYS, "cuda_index")


Device.cuda = CudaDevice


class CudaMigDevice(CudaDevice, MigDevice):
    """A MIG device by CUDA's number."""

    _MORE_KEYS = (*MigDevice._MORE_KEYS, "cuda_index")


def is_mig_device_uuid(uuid: str | None) -> bool:
    return isinstance(uuid, str) and uuid.startswith("MIG-")
