"""typing.NamedTuple without the module typing, which takes longer to import than the rest of a light program.

    TYPE_CHECKING = False
    if TYPE_CHECKING:
        from typing import NamedTuple
    else:
        from vitals.compat.nvitop.named_tuple import NamedTuple
"""

from __future__ import annotations

import collections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Maker(type):
    """Makes a collections.namedtuple of a class: its annotations are the fields, their values the defaults."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        fields = list(body["__annotations__"])
        defaults = [body[field] for field in fields if field in body]
        made: Any = collections.namedtuple(name, fields, defaults=defaults, module=body["__module__"])  # type: ignore[misc]
        for key, value in body.items():
            if key not in fields and key not in ("__module__", "__qualname__"):
                setattr(made, key, value)
        return made


class NamedTuple(metaclass=_Maker):
    """The base of the classes."""
