"""Every CPU of a machine with many of them is on the main screen: as a bar, as a cell, or in a cell of
several, which then says so.

Some screens are stored in tests/fixtures/screens_cpus.txt; after a change that is meant to be seen:

    VITALS_WRITE_GOLDEN=1 VITALS=build/vitals VITALS_SOURCE=. python3 tests/command/test_monitor_cpus.py Golden"""

import json
import pathlib
import re
import tempfile
import unittest

import screens
from harness import FIXTURES, reads_json, vitals

STORED = FIXTURES / "screens_cpus.txt"
COUNTS = (14, 16, 17, 64, 128, 512)
SIZES = ((80, 24), (100, 36), (120, 40), (200, 60))
CELLS = {(): "·▁▂▃▄▅▆▇█", ("--ascii",): "?_.:-=+*#"}
BAR = re.compile(r"(?<![\w:])(\d+): [▏▎▍▌▋▊▉█|]+ +(?:\d+%|MAX)")

# devices, CPUs, size, arguments
GOLDEN = (
    (0, 14, "80x24", ()), (0, 64, "80x24", ()), (0, 128, "80x24", ()), (0, 128, "120x40", ()), (0, 512, "80x24", ()),
    (0, 512, "120x40", ()), (0, 512, "200x60", ()), (0, 512, "120x40", ("--ascii",)), (2, 128, "80x24", ()),
    (2, 128, "120x40", ()), (2, 512, "120x40", ()), (2, 512, "80x24", ("--ascii",)),
)


def level(number, shared=1):
    """The step of 0 to 7 of a CPU of screens.machine, or of the busiest of several."""
    busy = max(n % 101 for n in range(number, number + shared))
    return int(busy * 7 / 100 + 0.5)


def cells(text, charset):
    """What the cells of a screen say: how many CPUs share each, and the rows by the number before them."""
    glyphs = CELLS[charset]
    alone = re.search(r"CPU 0-(\d+), max of (\d+) (.*)", text)
    if alone:
        row = "".join(c for c in alone.group(3) if c in glyphs)
        return int(alone.group(2)), {0: row}
    shared = re.search(r"CPUs; a cell is the busiest of (\d+)", text)
    rows = {}
    for match in re.finditer(rf"(?:CPU|[|│┤+]|^) +(\d+) ([{re.escape(glyphs)}][{re.escape(glyphs)} ]*)", text, re.MULTILINE):
        rows[int(match.group(1))] = match.group(2).replace(" ", "")
    return (int(shared.group(1)) if shared else 1), rows


def proc(folder, numbers):
    """A /proc of a machine with CPUs of these numbers, which stands still."""
    lines = "".join(f"cpu{number} {100 + number} 0 50 90000 0 0 0 0 0 0\n" for number in numbers)
    (folder / "stat").write_text(f"cpu  1000 0 500 900000 0 0 0 0 0 0\n{lines}intr 0\nctxt 1\nbtime 1700000000\n"
                                 "processes 1\nprocs_running 1\nprocs_blocked 0\n")
    (folder / "meminfo").write_text("MemTotal: 1000000 kB\nMemFree: 500000 kB\nMemAvailable: 600000 kB\n"
                                    "SwapTotal: 0 kB\nSwapFree: 0 kB\n")
    (folder / "loadavg").write_text("0.50 0.50 0.50 1/1 1\n")
    (folder / "uptime").write_text("1000.00 1000.00\n")
    return folder


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-cpus-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Recorded(Folder):
    def machine(self, devices, cpus):
        path = self.folder / f"{devices}-{cpus}"
        if not path.exists():
            path.write_bytes(screens.machine(devices, 6, cpus=cpus))
        return path

    def print(self, devices, cpus, size, arguments):
        width, height = size
        done = screens.picture(self.machine(devices, cpus), width, height, arguments=arguments)
        self.assertEqual(screens.faults(done, width, height, "--ascii" in arguments), [], done.stdout.decode())
        return done.stdout.decode()

    def check_all_there(self, text, cpus, charset):
        """Each CPU has a bar, or its cell shows it, and stands where the number of its row says."""
        bars = [int(number) for number in BAR.findall(text)]
        if bars:
            self.assertEqual(bars, list(range(cpus)))
            return 1
        shared, rows = cells(text, charset)
        self.assertEqual("".join(rows.values()),
                         "".join(CELLS[charset][1 + level(n, min(shared, cpus - n))] for n in range(0, cpus, shared)))
        place = 0
        for first, row in rows.items():
            self.assertEqual(first, place * shared)
            place += len(row)
        return shared


@unittest.skipUnless(reads_json(), "built without jansson")
class EveryCpu(Recorded):
    def test_no_cpu_is_left_out(self):
        for cpus in COUNTS:
            for size in SIZES:
                for charset in CELLS:
                    with self.subTest(cpus=cpus, size=size, charset=charset):
                        text = self.print(0, cpus, size, charset)
                        shared = self.check_all_there(text, cpus, charset)
                        if cpus <= 128 or size >= (120, 40):
                            self.assertEqual(shared, 1)

    def test_nor_beside_devices(self):
        for cpus in COUNTS[2:]:
            for size in SIZES:
                with self.subTest(cpus=cpus, size=size):
                    self.check_all_there(self.print(2, cpus, size, ()), cpus, ())

    def test_few_cpus_take_no_room_from_devices(self):
        self.assertEqual(self.print(2, 16, (80, 24), ()), self.print(2, 2, (80, 24), ()))

    def test_a_cpu_is_found_by_its_number(self):
        """Ten cells stand together: 317 is the eighth of a group."""
        line = next(line for line in self.print(0, 512, (120, 40), ()).splitlines() if re.match(r"│ +270 ", line))
        self.assertEqual(line.split()[2 + (317 - 270) // 10][7], CELLS[()][1 + level(317)])


    def test_the_busiest_of_several_is_unknown_where_one_is(self):
        """But not where another is as busy as can be."""
        unknown, full = {1, 2, 3, 20, 48, 49, 50, 51}, 97
        lines = []
        for line in screens.machine(0, 6, cpus=512).splitlines():
            snapshot = json.loads(line)
            for row in snapshot["tables"]["cpu"]:
                if row["index"] in unknown | {full}:
                    row.update(busy_seconds=None, availability={"busy_seconds": "timed_out"})
            lines.append(json.dumps(snapshot) + "\n")
        path = self.folder / "some-unknown"
        path.write_text("".join(lines))
        shared, rows = cells(screens.picture(path, 80, 24).stdout.decode(), ())
        self.assertEqual(shared, 4)
        shown = "".join(rows.values())
        self.assertEqual({place for place, cell in enumerate(shown) if cell == CELLS[()][0]},
                         {number // shared for number in unknown})
        self.assertEqual(shown[full // shared], CELLS[()][-1])


@unittest.skipUnless(reads_json(), "built without jansson")
class Golden(Recorded):
    def test_screens(self):
        texts = {}
        for devices, cpus, size, arguments in GOLDEN:
            width, height = map(int, size.split("x"))
            title = f"==== {devices} devices, {cpus} CPUs, {size} {' '.join(arguments)}".rstrip()
            texts[title] = self.print(devices, cpus, (width, height), arguments)
        screens.compare(self, STORED, texts)


class OfAnotherProc(Folder):
    """Two readings of files that stand still: nothing is known of how busy a CPU is."""

    def print(self, numbers, size, *arguments):
        done = vitals("--proc-root", proc(self.folder, numbers), "--backends", "none", "--delay", "0.01", "--screen",
                      size, *arguments, env={"LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_unknown_is_not_idle(self):
        for cpus, size, charset in ((128, "80x24", ()), (512, "120x40", ()), (512, "200x60", ("--ascii",))):
            with self.subTest(cpus=cpus, size=size):
                shared, rows = cells(self.print(range(cpus), size, *charset), charset)
                self.assertEqual((shared, "".join(rows.values())), (1, CELLS[charset][0] * cpus))

    def test_an_offline_cpu_leaves_its_place_empty(self):
        numbers = [number for number in range(128) if number not in (3, 64)]
        text = self.print(numbers, "80x24")
        self.assertIn("CPU   0 ··· ······ ", text)
        self.assertIn("     60 ···· ····· ", text)

    def test_numbers_that_no_machine_has(self):
        for numbers in ((0, 2 ** 31), (2 ** 64 - 1,), range(0, 9000, 3)):
            with self.subTest(numbers=numbers):
                for size in ("80x24", "40x24", "100x40", "24x30"):
                    self.assertIn("MEM", self.print(numbers, size))


if __name__ == "__main__":
    unittest.main()
