"""Libraries of CUDA that are opened when a function of them is first called, and errors by their codes."""

from __future__ import annotations

import os
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable


def error_codes(words: str) -> dict[str, int]:
    """Of "NAME=CODE NAME=CODE …"."""
    return {name: int(code) for name, _, code in (word.partition("=") for word in words.split())}


class CudaCallError(Exception):
    """A call failed; `value` is the code. The base of all errors of one library makes the class of a code."""

    value = 999
    _classes: dict[int, type[CudaCallError]] = {}
    _names: dict[int, str] = {}
    _class_of: Callable[[int], type[CudaCallError]]
    _describe: Callable[[int], str] = staticmethod(lambda code: "")

    def __new__(cls, value: int | None = None) -> CudaCallError:
        if value is not None and "value" not in vars(cls):
            cls = cls._class_of(value) if value in cls._names else cls
        made = super().__new__(cls)
        if value is not None:
            made.value = value
        return made

    def __init__(self, value: int | None = None) -> None:
        super().__init__(self.value)

    def __str__(self) -> str:
        name = self._names.get(self.value)
        if name is None:
            return f"CUDA Error with code {self.value}."
        try:
            text = type(self)._describe(self.value)
        except CudaCallError:
            text = ""
        return f"{text.rstrip('.').capitalize() or name}. Code: {name} ({self.value})."

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CudaCallError) and (self._names, self.value) == (other._names, other.value)

    def __hash__(self) -> int:
        return hash(self.value)


def error_names(base: type[CudaCallError], prefix: str, codes: dict[str, int], named: Callable[[str], str],
                module: str) -> dict[str, Any]:
    """A constant for each code. The classes of errors are made with their first use: by a code, or by `__getattr__`,
    which is to be the module's."""
    base._names = {code: prefix + name for name, code in codes.items()}
    spelled = {named(name): code for name, code in codes.items()}
    by_code = {code: name for name, code in spelled.items()}

    def class_of(code: int) -> type[CudaCallError]:
        if code not in base._classes:
            base._classes[code] = type(by_code[code], (base,), {"value": code, "__module__": module,
                                                                "__doc__": f"The code {code}."})
        return base._classes[code]

    def getter(name: str) -> Any:
        if name not in spelled:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return class_of(spelled[name])
    base._classes, base._class_of = {}, staticmethod(class_of)
    return {**{prefix + name: code for name, code in codes.items()}, "__getattr__": getter}


def exception_class(base: type[CudaCallError], code: int) -> type[CudaCallError]:
    """The class of the errors with a code. ValueError for a code that is none."""
    if code not in base._names:
        raise ValueError(f"cudaErrorCode {code} is not valid.")
    return base._class_of(code)


class CudaLibrary:
    """`call(name, *arguments)` raises what `fail` makes of a code that is not 0."""

    def __init__(self, files: Callable[[], Iterable[str]], fail: Callable[[int], Exception], absent: int,
                 unknown: int) -> None:
        self._files, self._fail, self._absent, self._unknown = files, fail, absent, unknown
        self._opened: Any = None
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def function(self, name: str) -> Any:
        import ctypes
        with self._lock:
            for file in self._files() if self._opened is None else ():
                try:
                    self._opened = ctypes.CDLL(file)
                    break
                except OSError:
                    pass
        if self._opened is None:
            raise self._fail(self._absent)
        try:
            return getattr(self._opened, name)
        except AttributeError:
            raise self._fail(self._unknown) from None

    def call(self, name: str, *arguments: Any) -> None:
        code = self.function(name)(*arguments)
        if code != 0:
            raise self._fail(code)

    def number(self, name: str, *arguments: Any, kind: str = "c_int") -> Any:
        """What the function writes through its first parameter."""
        import ctypes
        out = getattr(ctypes, kind)(0)
        self.call(name, ctypes.byref(out), *arguments)
        return out.value

    def text(self, name: str, *arguments: Any) -> str:
        """What it writes into the buffer that is its first parameter."""
        import ctypes
        out = ctypes.create_string_buffer(256)
        self.call(name, out, 256, *arguments)
        return out.value.decode("utf-8", "replace")

    def version(self, name: str) -> str:
        number = self.number(name)
        return f"{number // 1000}.{number % 1000 // 10}"
