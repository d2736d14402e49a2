"""Tables for notebooks. Everything in them is escaped."""

from __future__ import annotations

from html import escape
from typing import Iterable, Sequence

MOST_ROWS = 60
STYLE = "border-collapse:collapse;font:13px/1.4 system-ui,sans-serif"
CELL = "padding:2px 10px;text-align:left;border-bottom:1px solid #8884;white-space:nowrap"


def _cells(tag: str, values: Iterable[str]) -> str:
    return "".join(f"<{tag} style='{CELL}'>{escape(value)}</{tag}>" for value in values)


def rows(title: str, names: Sequence[str], lines: Iterable[Sequence[str]], count: int) -> str:
    """A table with a line for each row; of a long one the first rows."""
    body = []
    for number, line in enumerate(lines):
        if number == MOST_ROWS:
            body.append(f"<tr><td style='{CELL}' colspan='{len(names)}'>… {count - MOST_ROWS} more</td></tr>")
            break
        body.append(f"<tr>{_cells('td', line)}</tr>")
    return (f"<table style='{STYLE}'><caption style='text-align:left;font-weight:600'>{escape(title)}</caption>"
            f"<thead><tr>{_cells('th', names)}</tr></thead><tbody>{''.join(body)}</tbody></table>")


def pairs(title: str, values: dict[str, str]) -> str:
    """A table of names and values."""
    body = "".join(f"<tr>{_cells('th', [name])}{_cells('td', [value])}</tr>" for name, value in values.items())
    return (f"<table style='{STYLE}'><caption style='text-align:left;font-weight:600'>{escape(title)}</caption>"
            f"<tbody>{body}</tbody></table>")
