"""What the tests of hostile worlds share: whoever chooses the names, whatever stands where files
should be, whatever the limits are, the command ends in time and in little memory, with the exit
code that is documented, and nothing raw reaches its output; what is missing is said to be missing.
"""

import json
import os
import pathlib
import resource
import select
import shutil
import subprocess
import tempfile
import time
import unicodedata
import unittest

import jsonschema
from harness import FIXTURES, MEMORY, NO_HOME, SANITIZED, SOURCE, VITALS, environment

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "snapshot.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
WORLDS = FIXTURES / "hostile"
SCENARIOS = SOURCE / "tests" / "nvml" / "scenarios"
PLAIN = WORLDS / "plain" / "proc"
FILES = sorted(str(path.relative_to(PLAIN)) for path in PLAIN.rglob("*") if path.is_file())
RESERVATIONS = ("have", "stale", "estimate", "lower_bound", "upper_bound", "sampled")

# Bounds that only a defect of reading without end can pass, on a machine with neighbours.
SECONDS = 60
CPU_SECONDS = 30 if SANITIZED else 8
RSS_BYTES = 128 << 20

MODES = {
    "text": ("-1", "--delay", "20ms"),
    "ascii": ("-1", "--delay", "20ms", "--ascii"),
    "json": ("--json",),
    "run": ("run", "--", "/bin/true"),
}


class Result:
    """What is left of a program: how it ended, what it said, what it took."""

    def __init__(self, code, out, err, seconds, usage):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds
        self.cpu_seconds, self.rss = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def start(command, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([*map(str, command)], **options)


def finish(program, seconds):
    """Waits for its end as wait4(2) tells it; kills what does not end. (status or None, usage)"""
    descriptor = os.pidfd_open(program.pid)
    try:
        ended, _, _ = select.select([descriptor], [], [], seconds)
        if not ended:
            program.kill()
        _, status, usage = os.wait4(program.pid, 0)
    finally:
        os.close(descriptor)
    program.returncode = os.waitstatus_to_exitcode(status)
    return (program.returncode if ended else None), usage


def execute(*arguments, prefix=(), env=None, seconds=SECONDS, **options):
    """Runs vitals in a UTF-8 locale, whatever ours is; code is None where it did not end."""
    changes = {"LC_ALL": "C.UTF-8", "COLUMNS": "120", "HOME": NO_HOME,
               "XDG_CONFIG_HOME": None, **(env or {})}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        options.setdefault("stdout", out)
        options.setdefault("stderr", err)
        begun = time.monotonic()
        program = start([*prefix, VITALS, *arguments], env=environment(**changes), **options)
        code, usage = finish(program, seconds)
        took = time.monotonic() - begun
        out.seek(0)
        err.seek(0)
        return Result(code, out.read(), err.read(), took, usage)


def raw(text, ascii_only):
    """The characters of a text that could move a cursor, break a row or turn what follows."""
    for c in set(text):
        if c == "\n":
            continue
        if ascii_only and not " " <= c <= "~":
            yield c
        elif unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            yield c


def no_constant(word):
    raise ValueError(f"{word} is no JSON")


def shape_of(name, value):
    """Of a value in a row, what decides whether it is valid, but for the size of a number."""
    if name == "availability":
        return tuple(value.items())
    if isinstance(value, dict):
        return tuple((key, type(one)) for key, one in value.items())
    return type(value)


def corners(rows):
    """Rows that are valid where all of these are: of each shape the least and the greatest values.
    A damaged file may make ten thousand rows, of which a validator takes a millisecond each."""
    found = {}
    for row in rows:
        shape = tuple((name, shape_of(name, value)) for name, value in row.items())
        least, greatest = found.setdefault(shape, (dict(row), dict(row)))
        for name, value in row.items():
            if isinstance(value, (int, float)):
                least[name], greatest[name] = min(least[name], value), max(greatest[name], value)
    return [row for pair in found.values() for row in pair]


# What the schema says of columns; more, as a pattern, would not be seen in corners.
SAID_OF_COLUMNS = {"description", "type", "minimum", "maximum", "additionalProperties", "x-kind",
                   "x-key-of", "x-unit"}
assert SAID_OF_COLUMNS >= {word for table in SCHEMA["$defs"].values()
                           for column in table.get("properties", {}).values() for word in column}


class Hostile(unittest.TestCase):
    def clean(self, data, ascii_only=False):
        text = data.decode("utf-8")
        self.assertEqual(sorted(set(raw(text, ascii_only))), [], text[:2000])
        return text

    def documents(self, data):
        found = []
        for line in self.clean(data).splitlines():
            self.assertNotIn('"unset"', line)
            one = json.loads(line, parse_constant=no_constant)
            if not SANITIZED:  # the schema says nothing of memory
                VALIDATOR.validate({**one, "tables": {table: corners(rows)
                                                      for table, rows in one["tables"].items()}})
            for table, rows in one["tables"].items():
                self.assertEqual(len({row["key"] for row in rows}), len(rows), table)
                for row in rows:
                    words = row.get("availability", {})
                    for name in one["columns"][table]:
                        there = words.get(name, "have") in RESERVATIONS
                        self.assertEqual(row[name] is not None, there, (table, name))
            found.append(one)
        return found

    def check(self, mode, *arguments, code=0, seconds=SECONDS, **options):
        """One run in one mode, and all that holds of any. Gives the snapshots, or the text."""
        words = MODES[mode]
        if mode == "run":  # its own options stand before the command
            words = ("run", *arguments, *words[1:])
        else:
            words = (*words, *arguments)
        result = execute(*words, seconds=seconds, **options)
        story = f"{words}: {result.err[:1000]!r}"
        self.assertIsNotNone(result.code, f"{words} did not end in {seconds} s")
        self.assertEqual(result.code, code, story)
        self.assertLess(result.seconds, seconds, story)
        self.assertLess(result.cpu_seconds, CPU_SECONDS, story)
        if not SANITIZED:
            # The kernel counts what a child had of us before it became vitals.
            ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            self.assertLess(result.rss, max(RSS_BYTES, ours + (32 << 20)), story)
        self.clean(result.err, ascii_only=mode == "ascii")
        if mode == "json":
            documents = self.documents(result.out)
            self.assertEqual(bool(documents), code == 0)
            return documents
        text = self.clean(result.out, ascii_only=mode == "ascii")
        if mode == "run":
            self.assertEqual(text, "")
            return result.err.decode()
        return text

    def check_all(self, *arguments, **options):
        found = {}
        for mode in MODES:
            with self.subTest(mode=mode):
                found[mode] = self.check(mode, *arguments, **options)
        return found

    def folder(self):
        """A folder that everybody may read, and that goes away even with what is unreadable."""
        path = pathlib.Path(tempfile.mkdtemp(prefix="vitals-hostile-", dir=MEMORY))

        def remove():
            for one in path.rglob("*"):
                if not one.is_symlink() and one.is_dir():
                    one.chmod(0o755)
            shutil.rmtree(path)

        self.addCleanup(remove)
        path.chmod(0o755)
        return path

    def plain(self):
        """A copy of the plain world, to be spoiled."""
        path = self.folder() / "world"
        shutil.copytree(WORLDS / "plain", path)
        for one in (path, *path.rglob("*")):
            one.chmod(0o755 if one.is_dir() else 0o644)
        return path

    @staticmethod
    def roots(world):
        return ("--proc-root", world / "proc", "--sys-root", world / "sys", "--backends", "none")
