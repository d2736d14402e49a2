"""Every screen over the whole matrix of sizes, devices and processes: what must hold of each, and a few
of them letter by letter.

The stored ones stand in tests/fixtures/screens*.txt, one below the other. After a change that is meant
to be seen:

    VITALS_WRITE_GOLDEN=1 VITALS=build/vitals VITALS_SOURCE=. python3 tests/command/test_monitor_golden.py Golden

and read the difference before it is committed. test_monitor.py has those of the report's inputs,
test_monitor_matrix.py looks at what stands nowhere here."""

import concurrent.futures
import itertools
import pathlib
import re
import tempfile
import unittest
import zlib

import screens
from harness import FIXTURES, reads_json, vitals

WIDTHS = (40, 79, 80, 100, 123, 160, 250)
HEIGHTS = (10, 24, 50)
SIZES = tuple(itertools.product(WIDTHS, HEIGHTS))
CHARSETS = ((), ("--ascii",))
STORED = FIXTURES / "screens.txt"

# devices, processes, kind, size, screen, arguments; VITALS_MONITOR
CASES = (
    (0, 40, "plain", "80x24", "main", (), "auto"),
    (1, 3, "plain", "40x24", "main", (), "auto"),
    (1, 3, "plain", "79x24", "main", (), "auto"),
    (2, 6, "plain", "100x24", "main", (), "auto"),
    (2, 6, "plain", "100x30", "main", ("--ascii",), "full"),
    (8, 32, "plain", "123x50", "main", (), "auto"),
    (8, 32, "plain", "80x30", "main", (), "compact"),
    (16, 300, "plain", "160x50", "main", (), "auto"),
    (3, 5, "missing", "124x40", "main", (), "full"),
    (2, 5, "wide", "80x30", "main", (), "auto"),
    (2, 10, "hostile", "80x30", "main", (), "auto"),
    (2, 6, "plain", "80x12", "tree", (), "auto"),
    (2, 5, "wide", "60x12", "tree", ("--ascii",), "auto"),
    (2, 6, "plain", "80x24", "process", (), "auto"),
    (2, 6, "plain", "100x30", "device", (), "auto"),
    (3, 5, "missing", "60x30", "device", ("--ascii",), "auto"),
    (2, 6, "plain", "80x30", "columns", (), "auto"),
    (9, 3, "troubled", "80x24", "main", (), "auto"),
    (9, 3, "troubled", "123x50", "main", (), "full"),
    (9, 3, "troubled", "48x30", "main", (), "auto"),
    (9, 3, "troubled", "80x16", "main", ("--force-color",), "compact"),
    (3, 6, "parts", "123x30", "main", (), "full"),
    (3, 6, "parts", "79x24", "main", ("--ascii",), "compact"),
    (2, 6, "hostile", "80x24", "signal", (), "auto"),
    (2, 6, "wide", "60x8", "environment", (), "auto"),
)

# Of the demo, whose machine and moment are invented: size, screen, arguments.
DEMO = (
    ("100x36", "main", ()),
    ("100x12", "tree", ()),
    ("100x24", "process", ()),
    ("100x40", "device", ("-o", "1")),
    ("80x24", "columns", ()),
    ("120x60", "help", ("--ascii",)),
    ("100x12", "environment", ()),
    ("100x36", "signal", ()),
    ("40x10", "signal", ("--ascii",)),
    ("60x20", "main", ("--force-color", "--colorful")),
)
STORED_DEMO = FIXTURES / "screens_demo.txt"

# Of the demos whose devices are in trouble.
ILL = tuple(itertools.product(("broken", "ailing", "hang"), ("80x24", "120x40", "200x60")))
STORED_ILL = FIXTURES / "screens_ill.txt"


# Every screen that asks no process, at every size class: its text, and by theme what its styles are.
SCREENS = ("main", "tree", "process", "device", "columns", "settings", "help", "signal", "alerts")
CLASSES = ("80x24", "120x40", "200x60", "300x80")
THEMES = ("dark", "light", "contrast", "mono")
PANES = tuple(itertools.product(CLASSES, SCREENS, THEMES))
STORED_PANES, STORED_STYLES = FIXTURES / "screens_panes.txt", FIXTURES / "screens_styles.txt"


def styles_of(line):
    """The styles of a line and how many columns each has, as three digits."""
    runs = [part if part.startswith("\x1b") else str(len(part)) for part in re.split(r"(\x1b\[[0-9;]*m)", line)]
    return f"{zlib.crc32(' '.join(runs).encode()) & 0xfff:03x}"


def machines(folder):
    """A function that gives the file of a machine, made once."""
    made = {}

    def give(devices, processes, kind="plain", ticks=2):
        words = devices, processes, kind, ticks
        if words not in made:
            made[words] = folder / "-".join(map(str, words))
            made[words].write_bytes(screens.machine(*words))
        return made[words]

    return give


@unittest.skipUnless(reads_json(), "built without jansson")
class Screens(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-screens-")
        self.addCleanup(folder.cleanup)
        self.machine = machines(pathlib.Path(folder.name))


class Matrix(Screens):
    def look(self, path, sizes=SIZES, names=("main",), modes=("auto",)):
        """Prints them all, several at a time, and tells what is wrong with any."""
        jobs = [(size, name, mode, charset) for size in sizes for name in names for mode in modes
                for charset in CHARSETS]

        def one(job):
            (width, height), name, mode, charset = job
            done = screens.picture(path, width, height, name, charset, VITALS_MONITOR=mode)
            return job, done.stdout.decode(), screens.faults(done, width, height, bool(charset), name)

        printed = {}
        with concurrent.futures.ThreadPoolExecutor(4) as several:
            for job, text, faults in several.map(one, jobs):
                printed[job] = text
                with self.subTest(job):
                    self.assertEqual(faults, [], text)
        return printed

    def test_of_any_number_of_devices(self):
        for devices, processes in ((0, 0), (0, 40), (1, 1), (2, 6), (8, 32), (16, 120)):
            with self.subTest(devices=devices, processes=processes):
                self.look(self.machine(devices, processes))

    def test_of_every_screen(self):
        self.assertIn("tree", screens.names())
        self.look(self.machine(2, 6), names=[name for name in screens.names() if name != "main"])

    def test_of_every_mode(self):
        self.look(self.machine(8, 32), modes=("full", "compact"), sizes=[(w, h) for w, h in SIZES if h != 10])

    def test_where_nothing_is_known(self):
        printed = self.look(self.machine(3, 20, "missing"), names=[name for name in screens.names() if name != "help"])
        for (_, name, *_), text in printed.items():
            if name == "main":
                self.assertIn("N/A", text)
                self.assertNotRegex(text, r"\bN\b(?!/)")

    def test_of_hostile_and_wide_names(self):
        for kind in ("hostile", "wide"):
            self.look(self.machine(2, 10, kind), names=[name for name in screens.names() if name != "help"])

    def test_of_devices_in_trouble(self):
        """In every form of the panel that has a line for each."""
        path = self.machine(9, 3, "troubled")
        self.look(path, modes=("auto", "full", "compact"), sizes=SIZES[::2])
        printed = self.look(path, modes=("full", "compact"), sizes=((80, 50), (160, 50)))
        for job, text in printed.items():
            for words in ("throttled: heat", "throttled: power", "power brake", "ECC 12", "ECC 2, Xid 79",
                          "Xid 63, too hot", "5 s old", "2 min old"):
                with self.subTest((job, words)):
                    self.assertIn(words, text)

    def test_the_report_has_the_same_words_in_the_same_cells(self):
        path = self.machine(9, 3, "troubled")
        full = screens.picture(path, 79, 60, VITALS_MONITOR="full").stdout.decode().splitlines()
        end = 6 + 3 * 9  # where the rule below the last device is, which joins the next panel here
        self.assertIn("100%      Default", full[end - 1])
        done = vitals("-1", "--from", str(path), env={"LC_ALL": "C.UTF-8", "COLUMNS": "79"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # But for bars, which have a track in the report.
        words = [[re.sub(r"[█▉▊▋▌▍▎▏░·]+", " ", line.replace("MAX ", "100%")).split() for line in lines]
                 for lines in (full[1:end], done.stdout.splitlines()[1:end])]
        self.assertEqual(*words)

    def test_of_two_thousand_processes(self):
        for devices in (0, 16):
            self.look(self.machine(devices, 2000), sizes=((40, 10), (123, 50)), names=("main", "tree"))

    def test_ascii_has_the_same_words_in_the_same_places(self):
        """But for bars and graphs, which are drawn with other characters."""
        printed = self.look(self.machine(2, 6), sizes=SIZES[1::4], names=("main", "process"))
        for (size, name, mode, charset), text in printed.items():
            if charset:
                continue
            other = printed[size, name, mode, CHARSETS[1]].splitlines()
            for line, as_ascii in zip(text.splitlines(), other):
                words = {(match, found) for found, match in enumerate(line) if match.isascii() and match.isalnum()}
                missing = [(word, place) for word, place in words if as_ascii[place:place + 1] != word]
                self.assertEqual(missing, [], f"{size} {name}\n{line}\n{as_ascii}")

    def test_colors_change_no_character(self):
        """What is printed with styles is the same text, each line of which ends as it began."""
        for devices, kind in ((8, "plain"), (2, "hostile")):
            path = self.machine(devices, 10, kind)
            for width, height in SIZES[1::4]:
                for more in ((), ("--colorful",), ("--light",)):
                    with self.subTest((kind, width, height, more)):
                        plain = screens.picture(path, width, height).stdout.decode()
                        styled = screens.picture(path, width, height, "main", ("--force-color", *more)).stdout.decode()
                        self.assertNotEqual(styled, plain)
                        # What is underlined or reversed is printed to its end, blanks too.
                        bare = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in styled.split("\n")]
                        self.assertEqual(bare, [line.rstrip() for line in plain.split("\n")])
                        for line in styled.split("\n"):
                            codes = re.findall(r"\x1b\[([0-9;]*)m", line)
                            self.assertIn(codes[-1] if codes else "0", ("0", ""), line)

    def test_a_checker_that_finds_nothing_is_none(self):
        """What the checks above are for, each once."""
        for line, wrong in (("│ 53.", ["53."]), ("12.50Gi", ["2.50Gi"]), ("a N/ b", ["N/"]), ("70%Default", ["0%D"]),
                            ("MEM: 5.0% 12.00GiB 63C 0:12 N/A 16 / 80.00GiB ..", [])):
            self.assertEqual(screens.cut_values(line), wrong, line)
        whole = ["╒══╤═╕", "│  │ │", "├──┴─┤", "│    │", "└────┘"]
        self.assertEqual(screens.open_frames([screens.cells(line) for line in whole], 6), [])
        for y, x in ((0, 3), (1, 0), (2, 5), (3, 0)):
            broken = [line if row != y else line[:x] + "x" + line[x + 1:] for row, line in enumerate(whole)]
            self.assertNotEqual(screens.open_frames([screens.cells(line) for line in broken], 6), [], (y, x))


class Golden(Screens):
    maxDiff = None

    @staticmethod
    def title(case):
        devices, processes, kind, size, name, arguments, mode = case
        return " ".join([f"==== {devices} devices, {processes} processes, {kind}: {size}:{name}", mode, *arguments])

    def printed(self, case):
        devices, processes, kind, size, name, arguments, mode = case
        path = self.machine(devices, processes, kind, 12 if name in ("process", "device") else 2)
        done = screens.picture(path, *size.split("x"), name, arguments, VITALS_MONITOR=mode)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def test_looks_as_it_must(self):
        texts = {self.title(case): self.printed(case).replace("\x1b", "\\e") for case in CASES}
        self.assertEqual(len(texts), len(CASES))
        screens.compare(self, STORED, texts)


class GoldenDemo(unittest.TestCase):
    maxDiff = None

    def printed(self, demo, screen, *arguments):
        done = vitals(f"--demo={demo}", "--seed", "7", "--screen", screen, *arguments,
                      env={"LC_ALL": "C.UTF-8", "TZ": "UTC"})
        self.assertEqual((done.returncode, done.stderr), (0, ""), screen)
        return done.stdout.replace("\x1b", "\\e")

    def test_looks_as_it_must(self):
        texts = {" ".join(["==== demo:", f"{size}:{name}", *arguments]): self.printed("default", f"{size}:{name}", *arguments)
                 for size, name, arguments in DEMO}
        screens.compare(self, STORED_DEMO, texts)

    def test_says_what_is_wrong(self):
        texts = {f"==== demo {demo}: {size}": self.printed(demo, size) for demo, size in ILL}
        screens.compare(self, STORED_ILL, texts)


class GoldenPanes(Screens):
    """The usual layout."""
    maxDiff = None

    def printed(self, case):
        size, pane, theme = case
        done = screens.picture(self.path, *size.split("x"), pane, ("--force-color", "--theme", theme), VITALS_LAYOUT=None)
        return (done.returncode, done.stderr), done.stdout.decode()

    def test_every_pane_looks_as_it_must_at_every_size(self):
        """Of the styles of each line a sum is stored: the first line that differs is told."""
        self.assertEqual({"environment", *SCREENS}, set(screens.names()))
        self.path = self.machine(9, 40, "troubled", 30)
        with concurrent.futures.ThreadPoolExecutor(4) as several:
            done = dict(zip(PANES, several.map(self.printed, PANES)))
        self.assertEqual({how for how, _ in done.values()}, {(0, b"")})
        lines = {case: text.splitlines() for case, (_, text) in done.items()}
        bare = {case: [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in own] for case, own in lines.items()}
        screens.compare(self, STORED_PANES, {
            f"==== {size}:{pane}": "".join(f"{line}\n" for line in bare[size, pane, theme])
            for size, pane, theme in PANES if theme == THEMES[0]})

        sums = {case: [styles_of(line) for line in own] for case, own in lines.items()}
        if screens.WRITE:
            STORED_STYLES.write_text("".join(f"{' '.join(case)} {' '.join(own)}\n" for case, own in sums.items()))
        stored = {tuple(words[:3]): words[3:] for words in map(str.split, STORED_STYLES.read_text().splitlines())}
        self.assertEqual(list(stored), list(PANES))
        for case, own in sums.items():
            with self.subTest(case):
                self.assertEqual(len(own), len(stored[case]))
                first = next((row for row, now in enumerate(own) if now != stored[case][row]), None)
                self.assertIsNone(first, first is not None and f"line {first + 1}: {lines[case][first]!r}")


if __name__ == "__main__":
    unittest.main()
