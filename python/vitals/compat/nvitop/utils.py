"""Values and words of nvitop: the value that is not available, sizes, formatters, snapshots.

Nothing here reads anything; a value of a snapshot may be converted only when it is first looked at.
"""

from __future__ import annotations

import math
import operator
import os
import sys
import time
from collections.abc import KeysView

from vitals.compat.nvitop import termcolor

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime
    import re
    from typing import Any, Callable, Iterable, Iterator, Union, final

    _Operation = Callable[[Any, Any], Any]
    Int = Union[int, "NaType"]
    Number = Union[int, float, "NaType"]
else:
    def final(kind):
        return kind

__all__ = [
    "NA", "NaType", "NotApplicable", "NotApplicableType", "UINT_MAX", "ULONGLONG_MAX", "KiB", "MiB", "GiB", "TiB",
    "PiB", "SIZE_UNITS", "bytes2human", "human2bytes", "timedelta2human", "utilization2string", "colored", "set_color",
    "boolify", "Snapshot",
]

# --- What is not available --------------------------------------------------------------------------

def _left(operation: _Operation) -> Callable[[NaType, object], Any]:
    def apply(self: NaType, other: object) -> Any:
        if isinstance(other, (int, float)):
            return operation(math.nan, other)
        return math.nan if other is self else NotImplemented
    return apply


def _right(operation: _Operation) -> Callable[[NaType, object], Any]:
    def apply(self: NaType, other: object) -> Any:
        return operation(other, math.nan) if isinstance(other, (int, float)) else NotImplemented
    return apply


def _compare(operation: _Operation, beside_a_number: bool) -> Callable[[NaType, object], bool]:
    def compare(self: NaType, other: object) -> bool:
        if isinstance(other, (int, float)):
            return beside_a_number
        return bool(operation(str(self), other))
    return compare


@final
class NaType(str):
    """The type of NA: the text "N/A", false, and not a number in arithmetic.

    It sorts behind every number; int() makes 0 of it and float() makes nan.
    """

    __slots__ = ()
    _only: NaType | None = None

    def __new__(cls) -> NaType:
        if cls._only is None:
            cls._only = super().__new__(cls, "N/A")
        return cls._only

    def __reduce__(self) -> str:
        return "NA"

    def __str__(self) -> str:
        return str.__str__(self)

    def __bool__(self) -> bool:
        return False

    def __int__(self) -> int:
        return 0

    def __float__(self) -> float:
        return math.nan

    def __round__(self, ndigits: int | None = None) -> int | float:
        return 0 if ndigits is None else math.nan

    def __format__(self, format_spec: str) -> str:
        try:
            return super().__format__(format_spec)
        except ValueError:
            return format(math.nan, format_spec)

    def __add__(self, other: object) -> Any:
        if isinstance(other, (int, float)) or other is self:
            return math.nan
        return super().__add__(other)  # type: ignore[operator]

    __radd__ = _right(operator.add)
    __sub__, __rsub__ = _left(operator.sub), _right(operator.sub)
    __mul__, __rmul__ = _left(operator.mul), _right(operator.mul)
    __truediv__, __rtruediv__ = _left(operator.truediv), _right(operator.truediv)
    __floordiv__, __rfloordiv__ = _left(operator.floordiv), _right(operator.floordiv)
    __mod__, __rmod__ = _left(operator.mod), _right(operator.mod)

    def __divmod__(self, other: object) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: object) -> Any:
        return other // self, other % self

    def __pos__(self) -> float:
        return math.nan

    __neg__ = __abs__ = __pos__

    __lt__, __le__ = _compare(operator.lt, False), _compare(operator.le, False)
    __gt__, __ge__ = _compare(operator.gt, True), _compare(operator.ge, True)
    __eq__, __ne__, __hash__ = str.__eq__, str.__ne__, str.__hash__


NotApplicableType = NaType
NA = NotApplicable = NaType()

# --- Sizes ------------------------------------------------------------------------------------------

UINT_MAX = 2**32 - 1
ULONGLONG_MAX = 2**64 - 1
KiB, MiB, GiB, TiB, PiB = (1 << shift for shift in (10, 20, 30, 40, 50))
SIZE_UNITS: dict[str | None, int] = {
    None: 1, "": 1, "B": 1, "KiB": KiB, "MiB": MiB, "GiB": GiB, "TiB": TiB, "PiB": PiB,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
}
_BYTES = {unit.lower(): size for name, size in SIZE_UNITS.items() for unit in {name or "", (name or "").rstrip("B")}}

# Below which size it is written how, with how many decimals.
_STEPS = tuple((limit, size, f"%.{digits}f{unit}", digits) for limit, size, unit, digits in (
    (MiB, KiB, "KiB", 0), (100 * MiB, MiB, "MiB", 2), (1000 * MiB, MiB, "MiB", 1), (20 * GiB, MiB, "MiB", 0),
    (100 * GiB, GiB, "GiB", 2), (1000 * GiB, GiB, "GiB", 1), (100 * TiB, TiB, "TiB", 2), (1000 * TiB, TiB, "TiB", 1),
    (100 * PiB, PiB, "PiB", 2), (math.inf, PiB, "PiB", 1)))


def _size_pattern() -> re.Pattern[str]:
    import re
    return re.compile(r"\+?\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[a-zA-Z]*)")


def __getattr__(name: str) -> Any:
    if name != "SIZE_PATTERN":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = pattern = _size_pattern()
    return pattern


def bytes2human(b: Number, /, *, min_unit: int = 1) -> str:
    """A size in words: "512B", "11016MiB", "23.69GiB"; NA of what is no number."""
    if not isinstance(b, int):
        if b == NA:
            return NA
        try:
            b = round(float(b))
        except ValueError:
            return NA
    if b < KiB and min_unit < KiB:
        return f"{b}B"
    for limit, size, form, digits in _STEPS:
        if b < limit and (min_unit <= size or size == PiB):
            return form % round(b / size, digits)
    raise AssertionError("the last step has no limit")


def human2bytes(s: int | str, /) -> int:
    """The bytes of a size in words: "10k" is 10000, "1.5GiB" 1610612736. ValueError for what is none."""
    if isinstance(s, int):
        if s < 0:
            raise ValueError(f"Cannot convert {s!r} to bytes.")
        return s
    found = _size_pattern().fullmatch(s.strip())
    size = _BYTES.get(found["unit"].lower()) if found else None
    if found is None or size is None:
        raise ValueError(f"Cannot convert {s!r} to bytes.")
    return int(float(found["number"]) * size)


# --- Words ------------------------------------------------------------------------------------------

def timedelta2human(dt: Number | datetime.timedelta, /, *, round: bool = False) -> str:
    """A time in words: "1:05", "26:03:59"; from four days on (with `round` from one) "4.3 days"."""
    import datetime
    if isinstance(dt, (int, float)):
        dt = datetime.timedelta(seconds=dt)
    if not isinstance(dt, datetime.timedelta):
        return NA
    if dt.days >= (1 if round else 4):
        return f"{dt.days + dt.seconds / 86400:.1f} days"
    hours, rest = divmod(dt.days * 86400 + dt.seconds, 3600)
    short = f"{rest // 60:02d}:{rest % 60:02d}"
    return f"{hours}:{short}" if hours > 0 else f"{rest // 60}:{rest % 60:02d}"


def utilization2string(utilization: Number, /) -> str:
    """A percentage in words: "12%" of an integer, "12.5%" of another number."""
    if isinstance(utilization, int):
        return f"{utilization}%"
    return f"{utilization:.1f}%" if isinstance(utilization, float) else NA


_TRUE = frozenset(("true", "yes", "on", "enabled", "1"))
_FALSE = frozenset(("false", "no", "off", "disabled", "0"))


def boolify(string: str, /, default: Any = None) -> bool:
    """Whether a word says yes. For another word `default`, or whether it is not empty."""
    word = string.lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    return bool(string if default is None else default)


COLOR = sys.stdout.isatty() if sys.stdout else False


def set_color(value: bool) -> None:
    """Switches colors on or off, also for programs that are started from here."""
    global COLOR
    COLOR = bool(value)
    unset, made = ("NO_COLOR", "FORCE_COLOR") if COLOR else ("FORCE_COLOR", "NO_COLOR")
    os.environ.pop(unset, None)
    os.environ[made] = "1"


def colored(text: Any, /, color: str | None = None, on_color: str | None = None,
            attrs: Iterable[str] | None = None) -> str:
    """The text with escape sequences of a terminal around it, if colors are on."""
    return termcolor.colored(text, color, on_color, attrs) if COLOR else str(text)


# --- Snapshots --------------------------------------------------------------------------------------

class Snapshot:
    """What an object said at one moment: `snapshot.name`, `snapshot["name"]`, `{**snapshot}`.

    What is not in it is asked of the object, now, and kept.
    """

    __slots__ = ("__dict__", "__weakref__", "_later")
    real: Any
    timestamp: float
    _later: Any  # names, and get(name): what makes the value

    def __init__(self, real: Any, **items: Any) -> None:
        object.__setattr__(self, "_later", {})
        self.__dict__.update(real=real, timestamp=time.time(), **items)

    @classmethod
    def _of(cls, real: Any, later: Any) -> Snapshot:
        """One whose values are read but converted only when they are looked at."""
        made = cls(real)
        object.__setattr__(made, "_later", later)
        return made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("real", "timestamp"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        convert = self._later.get(name)
        if convert is not None:
            value = convert()
        else:
            value = getattr(self.real, name)
            value = value() if callable(value) else value
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("real", "timestamp"):
            raise AttributeError(f"{name!r} of a {type(self).__name__!r} cannot be set")
        self.__dict__[name] = value

    def __getitem__(self, name: str) -> Any:
        made = self.__dict__
        if name in made:
            return made[name]
        try:
            return getattr(self, name)
        except AttributeError as error:
            raise KeyError(name) from error

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys(self._later)
        names.update(dict.fromkeys(self.__dict__))
        del names["real"], names["timestamp"]
        return iter(names)

    def keys(self) -> Iterable[str]:
        self.__dict__.update(self._later.everything(self.__dict__) if self._later else {})
        return KeysView(self)

    def __hash__(self) -> int:
        return hash((self.real, self.timestamp))

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        shown = [f"real={self.real!r}"]
        for name in sorted(self):
            word = f"{name}={self[name]!r}"
            shown.append(word.replace("\n", "\n    ") if isinstance(self[name], Snapshot) else word)
        return f"{type(self.real).__name__}{type(self).__name__}(\n    " + ",\n    ".join(shown) + ",\n)"

    def __getstate__(self) -> dict[str, Any]:
        return {"real": self.real, "timestamp": self.timestamp, **{name: self[name] for name in self}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "_later", {})
        self.__dict__.update(state)
