"""Colors of a terminal, by the names of the package termcolor."""

from __future__ import annotations

import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable

__all__ = ["colored", "cprint"]

_PLAIN = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "light_grey")
_LIGHT = ("dark_grey", "light_red", "light_green", "light_yellow", "light_blue", "light_magenta", "light_cyan", "white")
COLORS = {name: 30 + code for code, name in enumerate(_PLAIN)}
COLORS.update((name, 90 + code) for code, name in enumerate(_LIGHT))
COLORS["grey"] = COLORS["black"]
HIGHLIGHTS = {f"on_{name}": code + 10 for name, code in COLORS.items()}
ATTRIBUTES = {"bold": 1, "dark": 2, "underline": 4, "blink": 5, "reverse": 7, "concealed": 8, "strike": 9}
RESET = "\033[0m"


def _wanted(no_color: bool | None, force_color: bool | None) -> bool:
    """The caller's word first, then the environment's, then whether the output is a terminal."""
    if no_color or force_color:
        return not no_color
    if "ANSI_COLORS_DISABLED" in os.environ or "NO_COLOR" in os.environ:
        return False
    if "FORCE_COLOR" in os.environ:
        return True
    if os.environ.get("TERM") == "dumb" or not hasattr(sys.stdout, "fileno"):
        return False
    try:
        return os.isatty(sys.stdout.fileno())
    except io.UnsupportedOperation:
        return sys.stdout.isatty()


def colored(text: object, /, color: str | None = None, on_color: str | None = None,
            attrs: Iterable[str] | None = None, *, no_color: bool | None = None,
            force_color: bool | None = None) -> str:
    """The text with escape sequences around it. KeyError for a color that is none."""
    result = str(text)
    if not _wanted(no_color, force_color):
        return result
    codes = [COLORS[color]] if color is not None else []
    if on_color is not None:
        codes.append(HIGHLIGHTS[on_color])
    codes.extend(ATTRIBUTES[name] for name in attrs or ())
    return "".join(f"\033[{code}m" for code in reversed(codes)) + result + RESET


def cprint(text: object, /, color: str | None = None, on_color: str | None = None,
           attrs: Iterable[str] | None = None, *, no_color: bool | None = None,
           force_color: bool | None = None, **print_arguments: Any) -> None:
    """Prints it."""
    print(colored(text, color, on_color, attrs, no_color=no_color, force_color=force_color), **print_arguments)
