"""The usual main screen: what it looks like, that it stands still, what its colors mean, its keys.

The stored ones stand in tests/fixtures/screens_usual.txt. After a change that is meant to be seen:

    VITALS_WRITE_GOLDEN=1 VITALS=build/vitals VITALS_SOURCE=. python3 tests/command/test_monitor_usual.py Golden

The tests of the other screens run with `--layout nvitop`, whose pictures are stored apart."""

import base64
import itertools
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time
import unittest

import screens
from harness import FIXTURES, VITALS, reads_json, vitals
from input_events import BUILT, CODES, Events
from test_monitor_golden import machines

STORED = FIXTURES / "screens_usual.txt"
SIZES = tuple(itertools.product((40, 60, 79, 80, 100, 123, 160, 250), (5, 10, 24, 50)))

# devices, processes, kind, size, arguments; VITALS_MONITOR
CASES = (
    (0, 40, "plain", "80x24", (), "auto"),
    (0, 40, "plain", "120x40", (), "auto"),
    (0, 40, "plain", "40x12", ("--ascii",), "auto"),
    (1, 3, "plain", "80x24", (), "auto"),
    (2, 6, "plain", "60x20", ("--ascii",), "auto"),
    (4, 16, "plain", "120x40", (), "auto"),
    (8, 32, "plain", "80x24", (), "auto"),
    (8, 32, "plain", "120x40", (), "compact"),
    (8, 32, "plain", "200x60", (), "auto"),
    (16, 300, "plain", "160x50", (), "full"),
    (9, 3, "troubled", "80x24", (), "auto"),
    (9, 3, "troubled", "123x50", (), "auto"),
    (3, 6, "parts", "123x30", (), "auto"),
    (3, 5, "missing", "100x40", (), "auto"),
    (2, 5, "wide", "80x30", (), "auto"),
    (2, 10, "hostile", "80x30", (), "auto"),
    *((9, 3, "troubled", "80x16", ("--force-color", "--theme", theme), "auto")
      for theme in ("dark", "light", "contrast", "mono")),
)
DEMO = ("40x12", "80x24", "120x40", "200x60", "100x30:process-threads", "100x10:process-sockets",
        "100x10:process-environ", "100x36:signal")

STORY = ("80x24:alerts", "120x40:alerts", "80x24:device", "80x24:process", "80x24:signal")

TROUBLE = "38;5;203"  # of the theme dark


def picture(path, width, height, arguments=(), **changes):
    return screens.picture(path, width, height, "main", arguments, VITALS_LAYOUT=None, **changes)


def title_row(text):
    """The row of the list's title."""
    return next(row for row, line in enumerate(text.splitlines()) if line.startswith(" Processes"))


class Usual(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-usual-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.machine = machines(self.folder)

    def printed(self, path, width, height, *arguments, **changes):
        done = picture(path, width, height, arguments, **changes)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()


@unittest.skipUnless(reads_json(), "built without jansson")
class Golden(Usual):
    def test_looks_as_it_must(self):
        texts = {}
        for devices, processes, kind, size, arguments, mode in CASES:
            title = " ".join([f"==== {devices} devices, {processes} processes, {kind}: {size}", mode, *arguments])
            path = self.machine(devices, processes, kind, 12)
            texts[title] = self.printed(path, *size.split("x"), *arguments, VITALS_MONITOR=mode).replace("\x1b", "\\e")
        for size in DEMO:
            done = vitals("--demo=many", "--seed", "7", "--screen", size,
                          env={"LC_ALL": "C.UTF-8", "TZ": "UTC", "VITALS_LAYOUT": None})
            self.assertEqual((done.returncode, done.stderr), (0, ""), size)
            texts[f"==== demo: {size}"] = done.stdout
        for size in STORY:
            done = vitals("--demo=story", "--seed", "7", "--screen", size,
                          env={"LC_ALL": "C.UTF-8", "TZ": "UTC", "VITALS_LAYOUT": None})
            self.assertEqual((done.returncode, done.stderr), (0, ""), size)
            texts[f"==== story: {size}"] = done.stdout
        screens.compare(self, STORED, texts)


@unittest.skipUnless(reads_json(), "built without jansson")
class Looks(Usual):
    def test_is_whole_at_every_size(self):
        for devices, processes, kind in ((0, 40, "plain"), (1, 1, "plain"), (8, 32, "plain"), (16, 120, "plain"),
                                         (9, 3, "troubled"), (3, 6, "parts"), (3, 5, "missing"), (2, 10, "hostile"),
                                         (2, 5, "wide")):
            path = self.machine(devices, processes, kind)
            for width, height in SIZES:
                for ascii_only in (False, True):
                    with self.subTest((devices, kind, width, height, ascii_only)):
                        done = picture(path, width, height, ("--ascii",) if ascii_only else ())
                        self.assertEqual(screens.faults(done, width, height, ascii_only), [], done.stdout.decode())

    def test_the_pages_of_a_process_are_whole_at_every_size(self):
        """Of a recording, which has charts alone."""
        for devices, processes, kind in ((0, 40, "plain"), (2, 6, "plain"), (2, 10, "hostile"), (2, 5, "wide")):
            path = self.machine(devices, processes, kind)
            for width, height in SIZES[::3]:
                for ascii_only in (False, True):
                    with self.subTest((devices, kind, width, height, ascii_only)):
                        done = screens.picture(path, width, height, "process", ("--ascii",) if ascii_only else (),
                                               VITALS_LAYOUT=None)
                        self.assertEqual(screens.faults(done, width, height, ascii_only, "process"), [],
                                         done.stdout.decode())

    def test_a_page_that_is_none_is_refused(self):
        for name in ("process-x", "tree-threads"):
            done = vitals("--demo", "--screen", f"80x24:{name}")
            self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_a_wide_list_has_more(self):
        narrow, wide = (self.printed(self.machine(2, 6), width, 40) for width in (139, 140))
        self.assertNotIn("READ/s", narrow)
        self.assertIn("READ/s", wide)
        former = screens.picture(self.machine(2, 6), 200, 40).stdout.decode()
        self.assertNotIn("READ/s", former)

    def test_work_has_its_name(self):
        done = vitals("--demo=many", "--screen", "160x45", env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None})
        self.assertIn("  job 4711.0  python3 train.py", done.stdout)

    def test_the_list_never_loses_its_place(self):
        """Panels follow from the size and the devices alone."""
        for devices in (0, 1, 4, 8):
            for width, height in ((80, 24), (120, 40), (200, 60)):
                rows = set()
                for processes in (0, 1, 6, 300):
                    path = self.machine(devices, processes)
                    for arguments in ((), ("-m", "auto")[:0]):
                        rows.add(title_row(self.printed(path, width, height, *arguments)))
                for layout in ({"list": "all"}, {"group": "user"}, {"filter": "python"}, {"sort": ["pid"]}):
                    file = self.folder / "layout.json"
                    file.write_text(json.dumps(layout))
                    rows.add(title_row(self.printed(self.machine(devices, 6), width, height, "--layout", str(file))))
                with self.subTest((devices, width, height)):
                    self.assertEqual(len(rows), 1, rows)

    def test_the_list_has_room(self):
        for devices, width, height in itertools.product((0, 1, 8, 16), (80, 120), (24, 40, 60)):
            text = self.printed(self.machine(devices, 120), width, height)
            with self.subTest((devices, width, height)):
                self.assertLessEqual(title_row(text) + 6, height, text)

    def test_a_low_screen_without_devices_is_for_processes(self):
        for width, height, least in ((80, 24, 16), (120, 29, 21)):
            text = self.printed(self.machine(0, 120), width, height)
            with self.subTest((width, height)):
                self.assertGreaterEqual(height - title_row(text) - 3, least, text)
        self.assertIn(" ago", self.printed(self.machine(0, 120), 120, 30))
        self.assertIn(" ago", self.printed(self.machine(0, 120), 120, 24, VITALS_MONITOR="full"))

    def test_a_high_screen_gives_devices_higher_charts(self):
        row = {height: title_row(self.printed(self.machine(8, 11), 300, height)) for height in (60, 70, 80, 100)}
        self.assertEqual(sorted(row.values()), list(row.values()))
        self.assertGreaterEqual(row[80], 80 * 0.55)
        self.assertLessEqual(row[80], 80 * 0.6)

    def test_says_first_what_is_wrong(self):
        text = self.printed(self.machine(9, 3, "troubled"), 250, 40)
        line = text.splitlines()[1]
        self.assertLess(line.index("Xid 79"), line.index("throttled: power"), line)
        for words in ("▲ GPU 1 throttled: heat", "● GPU 0 throttled: power", "GPU 4 ECC 2 uncorrected, Xid 79"):
            self.assertIn(words, line)
        wide = self.printed(self.machine(9, 3, "troubled"), 500, 40).splitlines()[1]
        self.assertIn("GPU 4 ECC 2 uncorrected, Xid 79 (4: details)", wide)
        narrow = self.printed(self.machine(9, 3, "troubled"), 80, 24).splitlines()[1]
        self.assertRegex(narrow, r"^ ▲ .*\+\d more$")
        self.assertNotIn("details", narrow)  # nothing is left out for it
        calm = self.printed(self.machine(2, 6), 80, 24).splitlines()[1]
        self.assertIn("nothing needs attention", calm)

    def test_devices_in_trouble_have_a_line_first(self):
        path = self.machine(16, 3)
        text = self.printed(path, 40, 20)
        self.assertIn("\n   0 H100", text)
        hidden = 16 - int(re.search(r"(\d+) more devices", text)[1])
        lines = []
        for line in path.read_text().splitlines():
            snapshot = json.loads(line)
            snapshot["columns"]["gpu"] += ["throttled_by_temperature"]
            for row in snapshot["tables"]["gpu"]:
                row["throttled_by_temperature"] = int(row["index"] in (12, 15))
            lines.append(json.dumps(snapshot))
        path.write_text("\n".join(lines) + "\n")
        devices = re.findall(r"^ +(\d+) \S.*°C$", self.printed(path, 40, 20), re.MULTILINE)
        self.assertEqual(devices, [*map(str, range(hidden - 2)), "12", "15"])

    def test_devices_in_the_same_trouble_share_its_words(self):
        path = self.machine(4, 3)
        lines = []
        for line in path.read_text().splitlines():
            snapshot = json.loads(line)
            names = ("throttled_by_power", "throttled_by_temperature", "throttled_by_current", "throttled_otherwise")
            snapshot["columns"]["gpu"] += [name for name in names if name not in snapshot["columns"]["gpu"]]
            for number, row in enumerate(snapshot["tables"]["gpu"]):
                row.update(dict.fromkeys(names, 0), throttled_by_power=int(number != 1))
            lines.append(json.dumps(snapshot))
        path.write_text("\n".join(lines) + "\n")
        self.assertIn("GPU 0, 2, 3 throttled: power", self.printed(path, 80, 24).splitlines()[1])

    def test_devices_without_room_are_counted(self):
        path = self.machine(16, 3)
        lines = []
        for line in path.read_text().splitlines():
            snapshot = json.loads(line)
            snapshot["columns"]["gpu"] += ["throttled_by_power"]
            for row in snapshot["tables"]["gpu"]:
                row["throttled_by_power"] = 1
            lines.append(json.dumps(snapshot))
        path.write_text("\n".join(lines) + "\n")
        line = self.printed(path, 160, 40).splitlines()[1]
        named, rest = re.search(r"GPU ([0-9, ]+) and (\d+) more throttled: power", line).groups()
        self.assertEqual(named.split(", "), [str(n) for n in range(16 - int(rest))], line)

    def test_trouble_alone_is_red(self):
        """Sixteen devices at up to 100 % have no red in them."""
        busy = self.printed(self.machine(16, 120), 160, 50, "--force-color")
        self.assertIn("100%", busy)
        self.assertNotIn(TROUBLE, busy)
        self.assertIn(TROUBLE, self.printed(self.machine(9, 3, "troubled"), 160, 50, "--force-color"))
        for code in ("31m", "38;5;9m", "38;5;196m"):
            self.assertNotIn(code, busy)

    def test_what_is_nothing_steps_back(self):
        done = vitals("--demo=story", "--screen", "200x60", "--force-color", "--theme", "dark",
                      env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None})
        soft = "".join(re.findall(r"38;5;246m([^\x1b]*)", done.stdout))
        self.assertEqual(soft.count(" 0B/s"), done.stdout.count(" 0B/s"), done.stdout)
        self.assertGreater(soft.count(" 0B/s"), 0)
        self.assertNotIn("48KiB/s", soft)
        self.assertRegex(self.printed(self.machine(2, 6), 200, 40, "--force-color", "--theme", "dark"), r"38;5;246m +N/A")

    def test_without_color_nothing_is_lost(self):
        path = self.machine(9, 3, "troubled")
        plain = self.printed(path, 100, 30)
        for theme in ("dark", "light", "contrast", "mono"):
            styled = self.printed(path, 100, 30, "--force-color", "--theme", theme)
            bare = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in styled.splitlines()]
            self.assertEqual(bare, plain.splitlines(), theme)
            colors = re.findall(r"\x1b\[0[^m]*;(?:3[0-7]|38;5;\d+)m", styled)
            self.assertEqual(bool(colors), theme != "mono", theme)

    def test_nothing_is_drawn_where_nothing_is_known(self):
        text = self.printed(self.machine(3, 5, "missing"), 100, 40)
        panels = text.splitlines()[2:title_row(text)]
        for sign in ("N/A", "━", "⣿", "%", "nan"):
            self.assertNotIn(sign, "\n".join(panels))

    def test_a_device_without_values_says_so(self):
        texts = [vitals("--demo=broken", "--screen", size, env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None}).stdout
                 for size in ("120x40", "80x24")]
        self.assertIn("GPU 1, 1:0, 1:1, 2, 3 no values (vitals doctor)", texts[0].splitlines()[1])
        self.assertEqual(texts[0].count("no values: vitals doctor"), 5, texts[0])
        self.assertIn(" 0 H100 80GB HBM3 lost ", texts[0])
        self.assertEqual(len(re.findall(r"^ +[\d:]+ no values\b", texts[1], re.MULTILINE)), 5, texts[1])

    def test_every_cpu_has_a_cell(self):
        path = self.folder / "cpus.json"
        path.write_bytes(screens.machine(2, 6, cpus=128))
        for width, height in ((160, 50), (200, 60)):
            text = self.printed(path, width, height)
            cells = [c for line in text.splitlines() if re.match(r" (CPU|   ) +\d+ ", line) for c in line if c in "▁▂▃▄▅▆▇█"]
            self.assertEqual(len(cells), 128, text)

    def test_memory_tells_what_is_cached_and_available(self):
        narrow, middle, wide = (self.printed(self.machine(2, 6), width, 40) for width in (90, 120, 170))
        self.assertNotIn("cached", narrow)
        self.assertIn("mem 32% 20.0/63GiB  cached 0.6GiB", middle)
        self.assertNotIn("available", middle)
        self.assertIn("mem 32% 20.0/63GiB  cached 0.6GiB  available 23.1GiB", wide)

    def test_the_busiest_interfaces_have_their_names(self):
        path, lines = self.machine(2, 6), []
        for tick, line in enumerate(path.read_text().splitlines()):
            snapshot = json.loads(line)
            snapshot["columns"]["network"] = ["name", "counted", "received_bytes", "transmitted_bytes"]
            snapshot["tables"]["network"] = [
                {"key": key, "label": name, "age_ns": 0, "name": name, "counted": int(name != "lo"),
                 "received_bytes": before + tick * step, "transmitted_bytes": 0}
                for key, name, before, step in ((1, "lo", 0, 9 << 20), (2, "eth0", 1 << 40, 1 << 10), (3, "wlan0", 0, 1 << 20))]
            lines.append(json.dumps(snapshot))
        path.write_text("\n".join(lines) + "\n")
        self.assertIn(" Net wlan0 ─", self.printed(path, 120, 40))
        self.assertIn(" Net wlan0 1.00MiB/s  eth0 1KiB/s ─", self.printed(path, 200, 40))

    def test_a_wide_tile_has_clock_and_fan(self):
        narrow, wide = self.printed(self.machine(8, 8), 120, 40), self.printed(self.machine(4, 8), 240, 40)
        self.assertNotRegex(narrow, "MHz|fan")
        self.assertEqual(len(re.findall(r"\d+MHz  fan \d+%  \d+°C  \d+/700W", wide)), 4, wide)

    def device_lines(self, path, width, height, *arguments, **changes):
        """What is above the list: tiles or lines of devices."""
        text = self.printed(path, width, height, *arguments, **changes)
        return "\n".join(text.splitlines()[2:title_row(text)])

    def with_work(self, devices, kind="plain", **values):
        """A machine that reads PCIe traffic and the use of engines of its devices."""
        path, lines = self.machine(devices, 8, kind), []
        pcie = {f"pcie_{way}_bytes_per_second": values.get(way) for way in ("received", "transmitted")}
        for line in path.read_text().splitlines():
            snapshot = json.loads(line)
            snapshot["columns"]["gpu"] += pcie
            for row in snapshot["tables"]["gpu"]:
                row.update(pcie)
                row["availability"] |= {name: "unsupported" for name, value in pcie.items() if value is None}
            for row in snapshot["tables"]["gpu_engine"]:
                row["utilization_ratio"] = values.get(row["label"])
                row["availability"] = {} if row["label"] in values else {"utilization_ratio": "unsupported"}
            lines.append(json.dumps(snapshot))
        file = self.folder / f"work-{devices}-{kind}-{len(values)}"
        file.write_text("\n".join(lines) + "\n")
        return file

    def test_what_goes_over_pcie_is_told_where_there_is_room(self):
        full = {"received": 1.8 * (1 << 30), "transmitted": 0.6 * (1 << 30)}
        path = self.with_work(2, encoder=0.08, decoder=0.12, **full)
        for width, pcie, video in ((80, 0, 2), (120, 2, 0), (160, 2, 2), (200, 2, 2)):
            with self.subTest(width):
                text = self.device_lines(path, width, 40)
                self.assertEqual((text.count(" PCIe in/out 1.8/0.6GiB/s "), text.count(" enc/dec 8/12% ")), (pcie, video), text)
                self.assertEqual((text.count("PCIe"), text.count("enc/dec")), (pcie, video), text)
        text = self.device_lines(path, 160, 40, VITALS_MONITOR="compact")
        self.assertEqual((text.count(" PCIe in/out "), text.count(" 1.8/0.6GiB/s "), text.count("enc/dec 8/12%")), (1, 2, 2), text)
        self.assertNotIn("PCIe", self.device_lines(path, 120, 40, VITALS_MONITOR="compact"))

    def test_what_is_not_known_of_pcie_and_engines_is_not_drawn(self):
        idle = self.with_work(2, encoder=0, decoder=0, received=999.4 * (1 << 20), transmitted=0)
        text = self.device_lines(idle, 200, 40)
        self.assertEqual((text.count("PCIe in/out 999/0MiB/s"), text.count("enc")), (2, 0), text)
        for mode in ("auto", "compact"):
            self.assertNotRegex(self.device_lines(self.with_work(2), 200, 40, VITALS_MONITOR=mode), "PCIe|enc/dec|N/A")

    def test_trouble_comes_before_pcie(self):
        text = self.device_lines(self.with_work(9, "troubled", received=1 << 30, transmitted=0), 250, 60)
        self.assertEqual(text.count("PCIe in/out 1.0/0.0GiB/s"), 1, text)
        self.assertIn("throttled: power", text)

    def test_few_cpus_have_figures(self):
        for count, widths in ((2, (80, 120)), (8, (120, 160)), (16, (160, 200)), (17, ())):
            path = self.folder / f"{count}.json"
            path.write_bytes(screens.machine(2, 6, cpus=count))
            for width in (60, 80, 120, 160, 200):
                line = next(line for line in self.printed(path, width, 40).splitlines() if re.match(r" CPU +\d", line))
                found = re.findall(r"[▁▂▃▄▅▆▇█] +(\d+)%", line)
                with self.subTest((count, width)):
                    if width in widths:
                        self.assertEqual(found, [str(number) for number in range(count)], line)
                    elif count == 17:
                        self.assertEqual(found, [], line)

    def test_the_work_of_cpus_has_parts(self):
        self.assertIn("user 40% sys 10% wait  0%",
                      vitals("--demo=many", "--screen", "120x40", env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None}).stdout)

    def test_the_story_has_troubles(self):
        done = vitals("--demo=story", "--screen", "160x46", env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        line = done.stdout.splitlines()[1]
        for words in ("GPU 2 lost (off the bus: vitals doctor)", "GPU 0 throttled: heat", "GPU 1 idle 2 min, its memory held by pod chat-6f7c9d5b8-x2lqp"):
            self.assertIn(words, line)

    def test_memory_has_one_unit_in_a_column(self):
        """So the longer number is the larger one."""
        text = self.printed(self.machine(8, 64), 160, 60)
        rows = text.splitlines()[title_row(text) + 2:-1]
        self.assertEqual(len({len(re.search(r"\d+\.(\d+)GiB", row)[1]) for row in rows if row.strip()}), 1, text)
        layout = self.folder / "layout.json"
        layout.write_text('{"list": "all"}')
        text = self.printed(self.machine(0, 40), 120, 60, "--layout", str(layout))
        rows = [row for row in text.splitlines()[title_row(text) + 2:-1] if row.strip()]
        self.assertTrue(all(re.search(r" \d+(\.\d)?MiB ", row) for row in rows), text)

    def test_help_begins_with_what_is_needed_every_day(self):
        done = vitals("--demo=many", "--screen", "80x200:help", env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None})
        lines = [line.strip(" ─") for line in done.stdout.splitlines()]
        self.assertLess(lines.index("Every day"), lines.index("What is shown"))
        self.assertIn("The pages of a process", lines)
        self.assertEqual(sum(line.startswith("Before a PID") and "the selected again" in line for line in lines), 1)

    def test_the_page_of_a_device_is_red_for_trouble_alone(self):
        for demo, troubled in (("many", False), ("ailing", True)):
            done = vitals(f"--demo={demo}", "--screen", "120x40:device", "--force-color", env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None})
            self.assertEqual(TROUBLE in done.stdout, troubled, demo)
            for color in ("31", "35"):
                self.assertNotIn(f";{color}m", done.stdout, demo)

    def test_the_chosen_alert_has_one_color(self):
        done = vitals("--demo=story", "--screen", "80x24:alerts", "--force-color", env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None})
        self.assertEqual(re.findall(r"\x1b\[([\d;]*)m", done.stdout.splitlines()[2]), ["0;1;7;36", "0"], done.stdout)

    def test_help_fits_in_two_columns_and_cuts_no_text(self):
        for size in ("120x40", "117x50"):
            done = vitals("--demo=many", "--screen", f"{size}:help", env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None})
            self.assertIn("Any key goes back", done.stdout, size)
            self.assertNotIn("..", done.stdout, size)

    def test_sums_keep_their_distance(self):
        """A number that fills its column loses its fraction rather than the blank before it."""
        layout = self.folder / "layout.json"
        layout.write_text('{"group": "user", "list": "all"}')
        for width in (80, 120, 160):
            done = vitals("--demo=story", "--screen", f"{width}x40", "--layout", str(layout), env={"LC_ALL": "C.UTF-8"})
            text = done.stdout
            self.assertRegex(text, r" 129070M +1862 +25\.0\b")
            if width == 80:
                self.assertIn(" ▼ user 41001 (8) ", text)

    def test_a_theme_is_kept_in_a_layout(self):
        layout, path = self.folder / "layout.json", self.machine(2, 6)
        layout.write_text('{"theme": "light"}')
        light = self.printed(path, 80, 24, "--force-color", "--theme", "light")
        self.assertEqual(self.printed(path, 80, 24, "--force-color", "--layout", str(layout)), light)
        dark = self.printed(path, 80, 24, "--force-color")
        self.assertEqual(self.printed(path, 80, 24, "--force-color", "--layout", str(layout), "--theme", "dark"), dark)
        self.assertNotEqual(light, dark)

    def test_the_report_of_the_story_is_invented_too(self):
        texts = set()
        for _ in range(2):
            done = vitals("-1", "--demo=story", "--seed", "7", env={"LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "120"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            texts.add(done.stdout)
        self.assertEqual(len(texts), 1)
        self.assertIn("python3 train.py --config", texts.pop())

    def test_the_key_that_ends_a_process_is_told(self):
        for width in (80, 120):
            self.assertIn("  T end it  ", self.printed(self.machine(2, 6), width, 24).splitlines()[-1])
            page = screens.picture(self.machine(2, 6), width, 24, "process", VITALS_LAYOUT=None).stdout.decode()
            self.assertIn("  T end it  ", page.splitlines()[-1])

    def test_a_program_is_called_by_its_name(self):
        done = vitals("--demo=many", "--screen", "120x40", env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None})
        self.assertIn("  tritonserver --model-repo", done.stdout)
        self.assertNotIn("/opt/tritonserver", done.stdout)


@unittest.skipUnless(BUILT, "built without the interactive screens")
class Keys(unittest.TestCase):
    def start(self, *arguments, width=120, height=40, variables=""):
        self.monitor = Events(width, height)
        self.addCleanup(self.monitor.close)
        self.monitor.run(f"env -u VITALS_LAYOUT {variables} {VITALS} {' '.join(arguments)}")
        return self.monitor.wait("COMMAND", "quit", *(["of 32"] if "--demo=many" in arguments else []))

    def last(self):
        return self.monitor.screen().splitlines()[-1]

    def test_settings(self):
        self.start("--demo=many")
        self.monitor.type("S")
        for setting, key, before, after in (("Theme", "Right", "", ""), ("Time base", "Right", "6 s", "20 s"),
                                            ("2nd chart", "Right", "memory", "power"), ("Panels", "Left", "fits", "compact"),
                                            ("Devices", "Right", "shown", "hidden"), ("Machine", "Right", "shown", "hidden"),
                                            ("Charts", "Left", "shown", "hidden"), ("List", "Enter", "devices", "all"),
                                            ("Memory", "Right", "bytes", "share"), ("Sort", "Right", "as it comes", "PID"),
                                            ("Its order", "Right", "usual", "reversed"), ("Groups", "Left", "none", "parent"),
                                            ("Plain", "Right", " no ", " yes ")):
            row = next(line for line in self.monitor.screen().splitlines() if line.startswith(f" {setting}"))
            self.assertIn(before, row)
            self.monitor.type(key)
            changed = next(line for line in self.monitor.screen().splitlines() if line.startswith(f" {setting}"))
            self.assertIn(after, changed)
            self.assertNotEqual(changed, row)
            self.monitor.type("Down")
        self.monitor.type("Enter")
        self.monitor.wait("Columns of the list")
        self.monitor.type("q", "q")
        text = self.monitor.wait("by parent", "COMMAND", gone=("Settings",))
        self.assertIn("Processes", text)

    def test_the_second_reading_does_not_wait_for_the_interval(self):
        """%CPU of processes is known long before an hour has passed."""
        self.start("--backends none", "--interval 3600")
        text = self.monitor.wait("Processes", "CPU")
        until = self.monitor
        for _ in range(400):
            rows = text.splitlines()[title_row(text) + 2:-1]
            if rows and re.search(r" \d+\.\d +\d+\.\d +[\d:]+ ", rows[0]):
                return
            with until.news:
                until.news.wait(0.1)
            text = until.screen()
        self.fail(text)

    def test_what_a_key_does_is_said(self):
        self.start("--demo=many")
        for key, words in (("u", "user:NAME"), ("Z", "h lists every key"), ("F7", "nice value"), ("C-c", "q quits")):
            self.monitor.type(key)
            self.assertIn(words, self.last(), key)
        self.monitor.type("Down")
        self.assertIn("q quit", self.last())

    def test_a_line_stands_at_the_time_that_is_shown(self):
        self.start("--demo=story")
        moment = re.search(r"12:0\d:\d\d", self.monitor.wait("llama-70b", "12:00:")).group()
        self.monitor.wait("llama-70b", gone=(moment,))
        self.assertIn("b past  A alerts", self.last())
        self.monitor.type("b")
        while "no earlier reading yet" in self.last():  # a thread keeps them
            self.monitor.type("b")
        text = self.monitor.wait("E or Esc: back to now")
        lines = text.splitlines()
        shown = re.search(r"PAST (12:00:\d\d)\b", lines[0])[1]
        self.assertRegex(lines[-1], rf"E or Esc: back to now  {{ }} a reading  b w a minute  @ go to  {shown}  \d+ s ago")
        self.assertNotIn("q quit", text)  # the keys of the live screen
        at = next(row for row, line in enumerate(lines) if re.search(r"\d+ s ago, 12:00:\d\d│|│\d+ s ago, 12:00:\d\d", line))
        line = [place for place, glyph in enumerate(lines[at]) if glyph == "│"]
        self.assertEqual(len(line), 3, text)  # CPU, disks, networks
        for row in range(at, at + 4):
            self.assertEqual([place for place, glyph in enumerate(lines[row]) if glyph == "│"], line, text)
        self.monitor.type("E")
        self.assertNotIn("│", self.monitor.wait("llama-70b", gone=("back to now",)))

    def test_slash_filters_and_turns_the_order_round(self):
        self.start("--demo=many")
        self.monitor.type("/")
        self.assertIn("Filter: _", self.last())
        self.monitor.type("Escape", "o", "/")
        self.assertIn("▼GPU", self.monitor.screen())
        self.monitor.type("o", "/")
        self.assertIn("▲GPU", self.monitor.screen())

    def test_escape_never_quits(self):
        self.start("--demo=story")
        self.monitor.wait("llama-70b")
        for keys in ([], ["h"], ["0"], ["C"], ["A"], ["Down", "Enter"], ["Down", "Enter", "h"]):
            self.monitor.type(*keys, *["Escape"] * 6)
            self.assertIn("Processes on devices", self.monitor.screen(), keys)
            self.assertIn("q quit", self.last(), keys)

    def test_the_next_theme(self):
        self.start("--demo=many")
        for theme in ("light", "contrast", "mono", "dark"):
            self.monitor.type("v", "c")
            self.assertIn(f"colors: {theme}", self.last())

    def test_a_page_is_a_page(self):
        text = self.start("--demo=many")
        title = text.splitlines()[title_row(text)]
        self.assertRegex(title, r" 1-\d+ of 32$")
        self.monitor.type("PageDown", "PageDown", "PageDown", "PageDown")
        text = self.monitor.screen()
        self.assertRegex(text.splitlines()[title_row(text)], r"-32 of 32$")
        self.monitor.type("PageUp", "PageUp", "PageUp", "PageUp")
        text = self.monitor.screen()
        self.assertRegex(text.splitlines()[title_row(text)], r" 1-\d+ of 32$")

    def test_keys_of_htop(self):
        self.start("--demo=many")
        for key, words, back in (("F1", "Type of process", "x"), ("F2", "Theme", "q"), ("F3", "Search: _", "Escape"),
                                 ("F4", "Filter: _", "Escape"), ("F5", "Tree of", "q"), ("F6", "Sort by", "Escape")):
            self.monitor.type(key)
            self.assertIn(words, self.monitor.screen(), key)
            self.monitor.type(back)
            self.assertIn("q quit", self.last(), key)
        self.monitor.type("F10")
        self.monitor.wait("rc=0.")

    def test_the_charts_have_keys(self):
        self.start("--demo=many")
        for words in ("power", "temperature", "memory"):
            self.monitor.type("y")
            self.assertIn(words, self.last())
        for words, begin in (("20 s", "12 min ago"), ("60 s", "38 min ago"), ("is 2 s", "1 min 16 s ago"),
                             ("s, and 6 s once they are full", " s ago")):  # on a busy machine 2 s already
            self.monitor.type("z")
            self.assertIn(words, self.last())
            self.assertIn(begin, self.monitor.screen())

    def test_a_layout_keeps_the_charts(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-usual-")
        self.addCleanup(folder.cleanup)
        layout = pathlib.Path(folder.name) / "layout.json"
        layout.write_text('{"group": "none"}')
        self.start("--demo=many", f"--layout {layout}")
        self.monitor.type("z", "y", "W")
        self.monitor.wait("the layout is saved in")
        kept = json.loads(layout.read_text())
        self.assertEqual((kept["group"], kept["time_base"], kept["second_chart"]), ("none", "20s", "power"))
        for words in ('"time_base": "7s"', '"second_chart": 1'):
            wrong = pathlib.Path(folder.name) / "wrong.json"
            wrong.write_text("{" + words + "}")
            done = vitals("--demo", "--screen", "120x40", "--layout", str(wrong), env={"VITALS_LAYOUT": None})
            self.assertIn(" must be ", done.stdout.splitlines()[-1])
        done = vitals("--demo=many", "--screen", "120x40:settings", "--layout", str(layout), env={"VITALS_LAYOUT": None})
        self.assertRegex(done.stdout, r"Time base of charts +20 s a column")
        self.assertRegex(done.stdout, r"2nd chart of a device +power")
        self.monitor.type("z", "z", "z", "y", "y", "W")
        self.monitor.wait("the layout is saved in")
        self.assertFalse({"time_base", "second_chart"} & set(json.loads(layout.read_text())))

    def test_the_story_is_live(self):
        """Its processes are invented too; their counters grow by themselves, and nothing of them is left behind."""
        folder = tempfile.TemporaryDirectory(prefix="vitals-usual-")
        self.addCleanup(folder.cleanup)
        self.start("--demo=story", variables=f"TMPDIR={folder.name}")
        text = self.monitor.wait("llama-70b")
        self.assertNotIn("has ended", text)
        moment = re.search(r"12:00:\d\d", text).group()
        self.monitor.wait("llama-70b", gone=(moment,))
        self.monitor.type("q")
        self.monitor.wait("rc=0.")
        self.assertEqual(list(pathlib.Path(folder.name).glob("vitals-demo-*")), [])

    def test_the_story_is_steady(self):
        """The CPU of a process that always does the same does not alternate from reading to reading."""
        self.start("--demo=story", "--interval 2")
        figures, moment = [], ""
        while len(figures) < 8:
            text = self.monitor.wait("llama-70b", gone=(moment,) if moment else ())
            moment = re.search(r"12:\d\d:\d\d", text).group()
            row = next(line for line in text.splitlines() if "llama-70b" in line)
            found = re.search(r" (\d+\.\d) +\d+\.\d +[\d:]+ ", row)  # %CPU %MEM TIME
            figures += [float(found[1])] if found else []
        steps = [abs(after - before) for before, after in zip(figures[2:], figures[3:])]
        self.assertLess(statistics.median(steps), 10, figures)  # a thirtieth; some are larger on a busy machine

    def test_hints_can_be_clicked(self):
        text = self.start("--demo=many")
        x = text.splitlines()[-1].index("h help")
        self.monitor.send((0x110000 + 12, x + 3, 39))
        self.assertIn("Type of process", self.monitor.screen())
        self.monitor.type("q")
        x = self.last().index("q quit")
        self.monitor.send((0x110000 + 12, x, 39))
        self.monitor.wait("rc=0.")

    def test_the_chosen_device_has_a_mark(self):
        for width, height in ((120, 40), (80, 24)):  # tiles, lines
            self.start("--demo=many", width=width, height=height)
            self.monitor.type("d")
            self.assertEqual(re.findall(r"▶ *(\d+) H100", self.monitor.screen()), ["0"])
            self.assertIn("arrow keys choose a device", self.last())
            for key, place in (("Right", "1"), ("Down", "2"), ("Left", "1"), ("Up", "0")):
                self.monitor.type(key)
                self.assertEqual(re.findall(r"▶ *(\d+) H100", self.monitor.screen()), [place], key)
            self.monitor.type("d")
            self.assertNotIn("▶", self.monitor.screen())

    def test_a_device_can_be_clicked(self):
        text = self.start("--demo=many")
        lines = text.splitlines()
        y = next(row for row, line in enumerate(lines) if line.startswith(" 3 "))
        x = lines[y].index(" 4 ")
        for _ in range(2):
            self.monitor.send((0x110000 + 12, x + 5, y + 1))
        self.assertIn("GPU 4", self.monitor.screen())


@unittest.skipUnless(BUILT, "built without the interactive screens")
class Page(unittest.TestCase):
    """The pages of one process, a child of the test."""

    def start(self, command=("sleep", "600"), words="sleep 600"):
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                      env={"PATH": os.environ["PATH"], "PAGE_MARK": "here it is"})
        self.addCleanup(lambda: (self.child.kill(), self.child.wait()))
        self.monitor = Events(120, 40)
        self.addCleanup(self.monitor.close)
        self.monitor.run(f"env -u VITALS_LAYOUT {VITALS} --backends none -p {self.child.pid}")
        self.monitor.wait(str(self.child.pid), words)
        self.monitor.type("Down", "Enter")
        return self.monitor.wait("1 Overview", "working directory", "descriptors")

    def last(self):
        return self.monitor.screen().splitlines()[-1]

    def answer(self, key, words):
        self.monitor.type(key)
        self.assertTrue(self.last().endswith("_"), self.last())
        self.monitor.type("-l", words)
        self.monitor.type("Enter")
        return self.last()

    def asked(self, metric):
        told = subprocess.run([VITALS, "info", "--json", str(self.child.pid)], capture_output=True, check=True)
        return json.loads(told.stdout)["tables"]["process"][0][metric]

    def test_tabs(self):
        text = self.start()
        self.assertRegex(text.splitlines()[0], rf"^ {self.child.pid}  sleep 600$")
        for key, words in (("Tab", "TID"), ("3", "/dev/null"), ("4", "none"), ("Right", "nofile"),
                           ("6", "NAME"), ("Tab", "cgroup namespace"), ("Tab", "working directory"),
                           ("BTab", "cgroup namespace"), ("1", "working directory")):
            self.monitor.type(key)
            self.monitor.wait(words)
        tabs = self.monitor.screen().splitlines()[1]
        self.monitor.send((CODES["Click"], tabs.index("5 Limits") + 2, 1))
        self.monitor.wait("nofile")
        self.monitor.type("q")
        self.monitor.wait("COMMAND", gone=("Overview",))

    def test_lines_are_filtered_and_scrolled(self):
        self.start()
        self.monitor.type("6")
        self.monitor.wait("PAGE_MARK", "PATH")
        self.monitor.type("/")
        self.monitor.type("-l", "page_mark")
        text = self.monitor.screen()
        self.assertIn("here it is", text)
        self.assertNotIn("PATH", text)
        self.monitor.type("Enter", "Escape")
        self.assertIn("PATH", self.monitor.screen())
        self.monitor.type("1")
        before = self.monitor.wait("working directory").splitlines()
        self.monitor.type("End", "PageUp", "PageDown")
        self.assertNotEqual(before[20:38], self.monitor.screen().splitlines()[20:38])
        self.monitor.type("Home")
        self.assertIn("command line", self.monitor.screen())

    def test_what_can_be_changed(self):
        self.start()
        self.assertEqual(self.answer("n", "7").strip(), "nice: 7")
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, self.child.pid), 7)
        self.assertEqual(self.answer("i", "idle").strip(), "I/O priority: idle")
        self.assertEqual(self.asked("io_class"), "idle")
        self.assertEqual(self.answer("i", "best-effort 6").strip(), "I/O priority: best-effort 6")
        self.assertEqual(self.asked("io_level"), 6)
        first = min(os.sched_getaffinity(self.child.pid))
        self.answer("a", str(first))
        self.assertEqual(os.sched_getaffinity(self.child.pid), {first})
        self.answer("a", "all")
        self.assertGreaterEqual(os.sched_getaffinity(self.child.pid), os.sched_getaffinity(0))
        for key, words in (("n", "20"), ("n", "x"), ("i", "idle 8"), ("i", "quick"), ("a", "0-"), ("a", "4000000")):
            self.assertIn("not changed", self.answer(key, words), words)
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, self.child.pid), 7)
        self.monitor.type("n", "Escape")
        self.assertIn("q back", self.last())

    def test_every_thread_is_changed(self):
        self.start(["python3", "-c", "import threading, time\nfor _ in range(5):\n"
                    "    threading.Thread(target=time.sleep, args=(600,)).start()\nprint(end='', flush=True)"],
                   words="python3")
        folder = pathlib.Path(f"/proc/{self.child.pid}/task")
        while len(list(folder.iterdir())) < 6:
            time.sleep(0.01)
        self.assertEqual(self.answer("n", "9").strip(), "nice of 6 threads: 9")
        self.assertEqual({os.getpriority(os.PRIO_PROCESS, int(thread.name)) for thread in folder.iterdir()}, {9})
        first = min(os.sched_getaffinity(self.child.pid))
        self.assertEqual(self.answer("a", str(first)).strip(), f"CPUs of 6 threads: {first}")
        self.assertEqual([os.sched_getaffinity(int(thread.name)) for thread in folder.iterdir()], [{first}] * 6)
        self.assertIn("not changed", self.answer("a", "4000000"))

    def test_a_busy_thread_stands_first(self):
        self.start(["python3", "-c", "import threading, time\nfor _ in range(3):\n"
                    "    threading.Thread(target=time.sleep, args=(600,)).start()\nwhile True: pass"], words="python3")
        self.monitor.type("2")
        text = self.monitor.wait("%CPU")
        while not re.search(r"^ +\d+ \S+ +(?!0\.0 )\d+\.\d ", text, re.MULTILINE):  # a busy machine gives it little
            with self.monitor.news:
                self.monitor.news.wait(0.1)
            text = self.monitor.screen()
        rows = [line.split() for line in text.splitlines() if re.match(r" +\d+ \S+ +\d+\.\d ", line)]
        self.assertEqual(rows[0][0], str(self.child.pid), text)
        self.assertGreater(float(rows[0][2]), 0, text)
        self.assertLessEqual({float(row[2]) for row in rows[1:]}, {0}, text)  # "-": one that is new

    def test_what_its_end_frees(self):
        self.start()
        page = re.search(r"when it ends +frees (about [\d.]+[KM]iB of RAM)", self.monitor.wait("when it ends"))
        self.monitor.type("T")
        self.assertIn(f"Its end frees {page[1]}", self.monitor.screen())

    def test_the_end_of_a_user_of_devices(self):
        """The page and the question say the same, and what its device has free then."""
        page, asked = (vitals("--demo=story", "--seed", "7", "--screen", f"120x40:{screen}",
                              env={"LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None}).stdout for screen in ("process", "signal"))
        frees = re.search(r"when it ends +frees (44\.00GiB of GPU memory, about \d\d\.\d\dGiB of RAM)", page)[1]
        self.assertIn(f"Its end frees {frees} ", asked)
        free = re.search(r"free then +(GPU 0: [\d.]+ of 80GiB)", page)[1]
        self.assertIn(f" {free} free then ", asked)

    def test_any_signal(self):
        self.start()
        self.monitor.type("T", "o", "Down", "Up", "Up", "Down")
        self.assertIn("SIGHUP", self.monitor.screen())
        self.monitor.type("Enter")
        self.monitor.wait("after SIGHUP")
        self.assertEqual(self.child.wait(), -signal.SIGHUP)
        self.monitor.type("Escape")
        self.monitor.wait("this process has ended")

    def test_the_command_line_is_copied(self):
        self.start()
        self.monitor.type("y")
        self.assertIn("clipboard", self.last())
        self.monitor.type("q", "q")
        text = self.monitor.wait("rc=0.")
        self.assertEqual(base64.b64decode(re.search(r"\x1b]52;c;([^\a]*)\a", text)[1]), b"sleep 600")

    def test_a_demo_is_not_changed(self):
        self.monitor = Events(120, 40)
        self.addCleanup(self.monitor.close)
        self.monitor.run(f"env -u VITALS_LAYOUT {VITALS} --demo=story")
        self.monitor.wait("llama-70b")
        self.monitor.type("Down", "Enter")
        self.monitor.wait("1 Overview")
        self.monitor.type("n")
        self.assertIn("this is a demo", self.last())
        self.monitor.type("T")  # which shows how it is done
        text = self.monitor.screen()
        self.assertIn("Signal (demo: nothing is sent)", text)
        self.assertIn("Send a signal to 1 process?", text)
        self.monitor.type("Enter")
        text = self.monitor.screen()
        self.assertIn("What became of it:", text)
        self.assertRegex(text, r"│ +demo: nothing is sent +│")
        self.monitor.type("Escape")
        self.assertNotIn("this process has ended", self.monitor.screen())

    def test_charts_begin_with_what_was_kept(self):
        self.monitor = Events(120, 40)
        self.addCleanup(self.monitor.close)
        self.monitor.run(f"env -u VITALS_LAYOUT {VITALS} --demo=story")
        self.monitor.wait("llama-70b", "12:00:16")
        self.monitor.type("Down", "Enter")
        begun, seen = time.monotonic(), 0
        while seen <= time.monotonic() - begun + 6:  # seconds, six in a column
            text = self.monitor.wait("1 Overview")
            seen = 6 * max(len(re.findall("[\u2801-\u28ff]", line[:40])) for line in text.splitlines()[4:8])
            self.assertLess(time.monotonic(), begun + 60, text)
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
