"""NVML's errors, and its functions where nvidia-ml-py is installed.

The devices here need none of them: the C library reads those. `libnvml.nvmlDeviceGet…`, `Device.handle` and getters of
a device that it has no method for call nvidia-ml-py, which is loaded at the first of them; what it raises is raised
as the errors of this module.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import time
import types

from vitals.compat.nvitop.utils import NA, UINT_MAX, ULONGLONG_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

# --- Errors -----------------------------------------------------------------------------------------

_TEXTS = {
    1: ("UNINITIALIZED", "Uninitialized"), 2: ("INVALID_ARGUMENT", "Invalid Argument"),
    3: ("NOT_SUPPORTED", "Not Supported"), 4: ("NO_PERMISSION", "Insufficient Permissions"),
    5: ("ALREADY_INITIALIZED", "Already Initialized"), 6: ("NOT_FOUND", "Not Found"),
    7: ("INSUFFICIENT_SIZE", "Insufficient Size"), 8: ("INSUFFICIENT_POWER", "Insufficient External Power"),
    9: ("DRIVER_NOT_LOADED", "Driver Not Loaded"), 10: ("TIMEOUT", "Timeout"),
    11: ("IRQ_ISSUE", "Interrupt Request Issue"), 12: ("LIBRARY_NOT_FOUND", "NVML Shared Library Not Found"),
    13: ("FUNCTION_NOT_FOUND", "Function Not Found"), 14: ("CORRUPTED_INFOROM", "Corrupted infoROM"),
    15: ("GPU_IS_LOST", "GPU is lost"), 16: ("RESET_REQUIRED", "GPU requires restart"),
    17: ("OPERATING_SYSTEM", "The operating system has blocked the request."),
    18: ("LIB_RM_VERSION_MISMATCH", "RM has detected an NVML/RM version mismatch."),
    19: ("IN_USE", "GPU is in use"), 20: ("MEMORY", "Insufficient Memory"), 21: ("NO_DATA", "No data"),
    22: ("VGPU_ECC_NOT_SUPPORTED", "The requested vgpu operation is not available on target device, because ECC is "
                                   "enabled"),
    23: ("INSUFFICIENT_RESOURCES", "Insufficient Resources"), 24: ("FREQ_NOT_SUPPORTED", "Frequency Not Supported"),
    25: ("ARGUMENT_VERSION_MISMATCH", "Argument Version Mismatch"), 26: ("DEPRECATED", "Deprecated"),
    27: ("NOT_READY", "Not Ready"), 28: ("GPU_NOT_FOUND", "No GPUs found"), 29: ("INVALID_STATE", "Invalid State"),
    999: ("UNKNOWN", "Unknown Error"),
}
NVML_SUCCESS = 0
_classes: dict[int, type[NVMLError]] = {}


class NVMLError(Exception):
    """A call of NVML failed. NVMLError(code) is of the class of that code; `value` is the code."""

    value = 999

    def __new__(cls, value: int | None = None) -> NVMLError:
        if value is not None and cls is NVMLError:
            cls = _classes.get(value, cls)
        made = super().__new__(cls)
        if value is not None:
            made.value = value
        return made

    def __init__(self, value: int | None = None) -> None:
        super().__init__(self.value)

    def __str__(self) -> str:
        return _TEXTS[self.value][1] if self.value in _TEXTS else f"NVML Error with code {self.value}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NVMLError) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


for _code, (_word, _text) in _TEXTS.items():
    _name = "NVMLError_" + _word.title().replace("_", "")
    globals()[f"NVML_ERROR_{_word}"] = _code
    globals()[_name] = _classes[_code] = type(_name, (NVMLError,), {
        "__doc__": _text, "__module__": __name__, "value": _code})


def nvmlExceptionClass(code: int) -> type[NVMLError]:
    """The class of the errors with a code. ValueError for a code that NVML does not have."""
    if code not in _classes:
        raise ValueError(f"nvmlErrorCode {code} is not valid")
    return _classes[code]


def nvmlCheckReturn(retval: Any, types: type | tuple[type, ...] | None = None, /) -> bool:
    """Whether a result is there, and of one of the types."""
    return bool(retval != NA) and (types is None or isinstance(retval, types))


# --- nvidia-ml-py -----------------------------------------------------------------------------------

_lock = threading.Lock()
_initialized = 0


def _after_fork() -> None:
    """The driver library is to be started anew."""
    global _lock, _initialized
    _lock, _initialized = threading.Lock(), 0


os.register_at_fork(after_in_child=_after_fork)


@functools.lru_cache(maxsize=None)
def _package() -> Any:
    import pynvml
    return pynvml


@contextlib.contextmanager
def _own_errors() -> Any:
    try:
        yield
    except NVMLError:
        raise
    except Exception as error:
        if not isinstance(error, _package().NVMLError):
            raise
        raise NVMLError(error.value) from error


def _translated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        with _own_errors():
            return function(*arguments, **named)
    return call


def nvmlInitWithFlags(flags: int) -> None:
    """Loads and starts the driver library, for the functions of this module."""
    global _initialized
    with _lock, _own_errors():
        _package().nvmlInitWithFlags(flags)
        _initialized += 1


def nvmlInit() -> None:
    nvmlInitWithFlags(0)


def nvmlShutdown() -> None:
    """Takes the last start back. NVMLError_Uninitialized without one."""
    global _initialized
    with _lock, _own_errors():
        _package().nvmlShutdown()
        _initialized = max(0, _initialized - 1)


def nvmlDeviceGetMemoryInfo(handle: Any) -> Any:
    """total, free, used and, where the driver tells it apart, reserved."""
    package = _package()
    with _own_errors():
        try:
            return package.nvmlDeviceGetMemoryInfo(handle, package.nvmlMemory_v2)
        except package.NVMLError_FunctionNotFound:
            return package.nvmlDeviceGetMemoryInfo(handle)


def nvmlQuery(func: Callable[..., Any] | str, /, *args: Any, default: Any = NA, ignore_errors: bool = True,
              ignore_function_not_found: bool = False, **kwargs: Any) -> Any:
    """Calls a function of NVML, by its name too; `default` where it fails. Starts the library if need be."""
    try:
        if not _initialized:
            nvmlInit()
    except ModuleNotFoundError:
        if ignore_errors:
            return default
        raise
    try:
        function = getattr(sys.modules[__name__], func, None) if isinstance(func, str) else func
        if function is None:
            raise NVMLError(13)
        with _own_errors():
            result = function(*args, **kwargs)
    except NVMLError as error:
        if ignore_errors or (ignore_function_not_found and error.value == 13):
            return default
        raise
    return result.decode("utf-8", "replace") if isinstance(result, bytes) else result


_FIELD_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "llVal", "iVal")


def nvmlQueryFieldValues(handle: Any, field_ids: list[int | tuple[int, int]]) -> list[tuple[Any, int]]:
    """Field values with the microsecond of each; NA for one that the device does not have."""
    found = nvmlQuery("nvmlDeviceGetFieldValues", handle, field_ids)
    now = time.time_ns() // 1000
    if found is NA:
        return [(NA, now)] * len(field_ids)
    return [(getattr(one.value, _FIELD_MEMBERS[one.valueType]), one.timestamp)
            if one.nvmlReturn == NVML_SUCCESS and one.valueType < len(_FIELD_MEMBERS) else (NA, now) for one in found]


class _Module(types.ModuleType):
    """The module itself: `with libnvml:` starts the library and stops it."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("nvml", "NVML", "c_nvml")):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            value = getattr(_package(), name)
        except ModuleNotFoundError as error:
            raise AttributeError(f"{name}: nvidia-ml-py is not installed") from error
        if isinstance(value, types.FunctionType):
            value = _translated(value)
        globals()[name] = value
        return value

    def __enter__(self) -> _Module:
        if not _initialized:
            nvmlInit()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(NVMLError):
            nvmlShutdown()


sys.modules[__name__].__class__ = _Module

__all__ = ["NA", "UINT_MAX", "ULONGLONG_MAX", "NVMLError", "nvmlCheckReturn", "nvmlExceptionClass", "nvmlInit",
           "nvmlInitWithFlags", "nvmlQuery", "nvmlQueryFieldValues", "nvmlShutdown",
           *(name for name in globals() if name.startswith(("NVML_ERROR_", "NVMLError_")))]
