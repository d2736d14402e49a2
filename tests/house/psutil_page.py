"""docs/psutil.md names what there is: each column, table and function that it leads to exists, and
where psutil is installed, each of its methods and functions stands in it."""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))

METRIC = re.compile(r"^METRIC\((\w+), \d+, (\w+),", re.MULTILINE)
FUNCTION = re.compile(r"\b(vitals_\w+)\(")
WORD = re.compile(r"`([^`]+)`")
COLUMN = re.compile(r"^([a-z][a-z_]*)\.([a-z0-9_]+)(…?)$")
PLAIN = re.compile(r"^[a-z][a-z0-9_]*$")

# Reasons why a value is missing.
OTHER = {"gone", "denied"}


def catalogue():
    """table → its columns."""
    tables = {}
    for entity, name in METRIC.findall((SOURCE / "src/model/metrics.def").read_text()):
        tables.setdefault(entity.lower(), set()).add(name)
    return tables


def functions():
    headers = (SOURCE / "include/vitals").rglob("*.h")
    return {name for header in headers for name in FUNCTION.findall(header.read_text())}


def cells(page):
    """The second cell of each row of a table, without the heading."""
    for line in page.splitlines():
        parts = line.split(" | ")
        if line.startswith("| ") and len(parts) >= 2 and not line.startswith("| psutil |"):
            yield parts[1]


def unknown(cell, tables, known):
    """The names in a cell that lead nowhere. After `process.uid`, `gid` is of process too."""
    found, table = [], None
    for word in WORD.findall(cell):
        column = COLUMN.match(word)
        if column is not None:
            table, name, open_end = column[1], column[2], column[3]
            there = tables.get(table, set())
            if name not in there and not (open_end and any(n.startswith(name) for n in there)):
                found.append(word)
        elif word.startswith("vitals_") and word not in known:
            found.append(word)
        elif PLAIN.match(word) and not word.startswith("vitals_") and word not in OTHER:
            if word not in tables and word not in tables.get(table, set()):
                if not re.search(rf"rows of type `{word}`", cell):
                    found.append(word)
    return found


class ThePage(unittest.TestCase):
    PAGE = (SOURCE / "docs/psutil.md").read_text(encoding="utf-8")

    def test_leads_somewhere(self):
        tables, known = catalogue(), functions()
        found = [word for cell in cells(self.PAGE) for word in unknown(cell, tables, known)]
        self.assertEqual(found, [])
        self.assertGreater(len(list(cells(self.PAGE))), 60)

    def test_finds_what_leads_nowhere(self):
        tables, known = {"process": {"uid", "gid"}, "thread": {"tid"}}, {"vitals_process_ask"}
        for cell, expected in (
            ("`process.uid`, `gid`", []),
            ("`process.uid`, `tid`", ["tid"]),
            ("table `thread`", []),
            ("table `threads`", ["threads"]),
            ("`vitals_process_ask`, `vitals_process_tell`", ["vitals_process_tell"]),
            ("`process.name`", ["process.name"]),
        ):
            with self.subTest(cell):
                self.assertEqual(unknown(cell, tables, known), expected)

    def test_names_all_of_psutil(self):
        try:
            import psutil
        except ImportError:
            self.skipTest("psutil is not installed")
        public = {name for name in dir(psutil.Process) if not name.startswith("_")}
        public |= {name for name in psutil.__all__
                   if name[0].islower() and callable(getattr(psutil, name))}
        named = set(re.findall(r"`(\w+)(?:\(|`)", self.PAGE))
        self.assertEqual(sorted(public - named), [])


if __name__ == "__main__":
    unittest.main()
