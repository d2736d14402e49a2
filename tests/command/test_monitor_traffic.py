"""Disks and networks on the main screen where there are devices: where the list leaves rows empty, or
where somebody wants them, and whole at every width."""

import json
import pathlib
import re
import tempfile
import unittest

import screens
from harness import VITALS, reads_json
from input_events import BUILT, Events

RATE = r"(\d+(\.\d+)?[KMGT]?i?B/s|N/A)"
LONG = re.compile(rf"Disk read {RATE}, written {RATE}(; Net|\W+Network) in {RATE}, out {RATE}")
SHORT = re.compile(rf"Disk R {RATE}, W {RATE}\W+Net in {RATE}, out {RATE}")


@unittest.skipUnless(reads_json(), "built without jansson")
class Printed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-traffic-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def machine(self, devices, processes, kind="plain", busy=0):
        """Two readings a second apart; with `busy`, so many bytes of each counter between them."""
        path = self.folder / f"{devices}-{processes}-{kind}-{busy}"
        lines = screens.machine(devices, processes, kind).splitlines()
        for place, line in enumerate(lines):
            snapshot = json.loads(line)
            for name in ("disk_read_bytes", "disk_written_bytes", "network_received_bytes", "network_transmitted_bytes"):
                if busy:
                    snapshot["tables"]["host"][0][name] = 1000 + place * busy
            lines[place] = json.dumps(snapshot).encode()
        path.write_bytes(b"\n".join(lines) + b"\n")
        return path

    def draw(self, path, width, height, when=None, **changes):
        arguments = ()
        if when is not None:
            layout = self.folder / "layout.json"
            layout.write_text(json.dumps({"screen": "nvitop", "traffic": when}))
            arguments = ("--layout", str(layout))
        return screens.picture(path, width, height, "main", arguments, **changes)

    def printed(self, path, width, height, when=None, **changes):
        done = self.draw(path, width, height, when, **changes)
        self.assertEqual(screens.faults(done, width, height), [], done.stdout.decode())
        return done.stdout.decode()

    def test_where_the_list_leaves_rows(self):
        few, many = self.machine(2, 4), self.machine(2, 8)
        for mode in ("auto", "compact", "full"):
            with self.subTest(mode):
                text = self.printed(few, 120, 60, VITALS_MONITOR=mode)
                self.assertRegex(text, LONG)
                # Of a list that would lose a line nothing is taken.
                heights = [height for height in range(20, 60) if "Disk" in self.printed(few, 120, height, VITALS_MONITOR=mode)]
                self.assertTrue(heights)
                for height in heights:
                    shown = self.printed(few, 120, height, VITALS_MONITOR=mode)
                    self.assertEqual(len(re.findall(r"(?m)^│ +\d+ +\d+ [CGX] ", shown)), 4, shown)
        self.assertNotIn("Disk", self.printed(many, 120, 22))

    def test_where_somebody_wants_them_or_not(self):
        path = self.machine(2, 8)
        for width in (40, 79, 80, 100, 160):
            for mode in ("auto", "compact", "full"):
                with self.subTest(width=width, mode=mode):
                    for height in (24, 50):
                        text = self.printed(path, width, height, "always", VITALS_MONITOR=mode)
                        if height == 50:
                            self.assertIn("Disk", text)
                        self.assertNotIn("Disk", self.printed(path, width, height, "never", VITALS_MONITOR=mode))

    def test_no_value_is_cut(self):
        """The longest that there are, where there is room for the host at all."""
        path = self.machine(1, 2, busy=15_766 << 20)
        for width in range(40, 131):
            for mode in ("compact", "full"):
                with self.subTest(width=width, mode=mode):
                    text = self.printed(path, width, 50, "always", VITALS_MONITOR=mode)
                    self.assertEqual(text.count("15766MiB/s"), 4, text)
                    self.assertTrue(LONG.search(text) or SHORT.search(text), text)

    def test_on_a_terminal_of_a_few_columns(self):
        for devices in (0, 1):
            path = self.machine(devices, 2)
            for width in (1, 2, 3, 4, 5, 12, 39):
                for mode in ("auto", "compact", "full"):
                    with self.subTest(devices=devices, width=width, mode=mode):
                        done = self.draw(path, width, 40, "always", VITALS_MONITOR=mode)  # values are cut there
                        self.assertEqual((done.returncode, done.stderr), (0, b""))
                        lines = done.stdout.decode().splitlines()
                        self.assertEqual((len(lines), max(map(len, lines)) <= width), (40, True))

    def test_of_what_nothing_is_known(self):
        for when in (None, "always"):
            self.assertNotIn("Disk", self.printed(self.machine(2, 3, "missing"), 120, 60, when))


@unittest.skipUnless(BUILT, "built without the interactive screens")
class Typed(unittest.TestCase):
    def setUp(self):
        self.terminal = Events(120, 56)
        self.addCleanup(self.terminal.close)

    def start(self, words):
        """With the devices of a demo, which are not in the first picture."""
        self.terminal.run(f"{VITALS} {words}")
        self.terminal.wait("Press h for help", "COMMAND", *(["Default"] if "--demo" in words else []))

    def turn(self):
        self.terminal.type("v")
        self.terminal.wait("t disks and networks")
        self.terminal.type("t")

    def turned(self, demo, first, *stored):
        """Begins as a layout says; after each turn what is seen is the other thing, and W stores this."""
        terminal, layout, shown = self.terminal, self.terminal.home / "layout.json", first == "always"
        layout.write_text(json.dumps({"screen": "nvitop", "traffic": first}))
        self.start(f"{demo} --layout {layout}")
        if shown:
            terminal.wait("Disk read")  # a rate, so with the second reading
        else:
            self.assertNotIn("Disk read", terminal.still())
        for when in stored:
            self.turn()
            shown = not shown
            if shown:
                terminal.wait("COMMAND", "Disk read", gone=("t disks",))
            else:
                terminal.wait("COMMAND", gone=("Disk read", "t disks"))
            terminal.type("W")
            terminal.wait("layout.json")
            self.assertEqual(json.loads(layout.read_text()).get("traffic", "auto"), when)
            terminal.type("Escape")
            terminal.wait("COMMAND", gone=("layout.json",))
        terminal.type("r")  # as it was at the start
        if first == "always":
            terminal.wait("COMMAND", "Disk read")
        else:
            terminal.wait("COMMAND", gone=("Disk read",))
        terminal.type("q")
        terminal.wait("rc=0.")

    @unittest.skipUnless(reads_json(), "built without jansson")
    def test_a_key_turns_what_is_seen_round_where_there_is_room(self):
        self.turned("--demo", "never", "auto", "never", "auto")

    @unittest.skipUnless(reads_json(), "built without jansson")
    def test_a_key_turns_what_is_seen_round_where_the_list_needs_the_room(self):
        self.turned("--demo=many", "always", "auto", "always", "auto")

    def test_without_a_device_they_are_there_anyway(self):
        self.start("--backends none")
        self.terminal.wait("Disk read")
        self.turn()
        self.terminal.wait("are shown with the host", "Disk read")
        self.terminal.type("q")
        self.terminal.wait("rc=0.")

    def test_with_the_host_hidden_that_is_said(self):
        self.start("--demo")
        self.terminal.wait("H100")
        self.terminal.type("v", "h")
        self.terminal.wait("H100", gone=("Disk read", "Load Average"))
        self.turn()
        self.terminal.wait("v h shows it")
        self.terminal.type("q")
        self.terminal.wait("rc=0.")


if __name__ == "__main__":
    unittest.main()
