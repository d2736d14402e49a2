"""The monitor as a person has arranged it: columns, sorts, groups, hidden panels, plain text, and the
file that all of it is kept in.

The golden texts are the specification. After a change that is meant to be seen:

    VITALS_WRITE_GOLDEN=1 VITALS=build/vitals VITALS_SOURCE=. python3 tests/command/test_monitor_arrange.py

and read the difference before it is committed."""

import json
import os
import pathlib
import tempfile
import unittest

import screens
from harness import FIXTURES, VITALS, environment, reads_json, vitals
from input_events import BUILT, Events
from terminal import TMUX, Terminal

STORED = FIXTURES / "monitor_arranged.txt"

# Where processes belong, in turns.
PLACES = [
    {"slurm_job": "4711", "unit": "slurmstepd.scope"},
    {"container": "5d1f0c6be2a9" * 5 + "abcd", "unit": "docker.scope"},
    {"container": "a" * 64, "container_name": "server", "pod": "0f3", "pod_name": "chat-0", "pod_namespace": "research",
     "unit": "kubepods.slice"},
    {"unit": "ssh.service"},
    None,  # nobody could say
]
WORKLOAD = ["container", "container_name", "unit", "pod", "pod_name", "pod_namespace", "slurm_job"]

DETAILS = ["pid", "user", "ppid", "thr", "gpumem", "res+2", "%cpu", "read/s", "swap", "container", "job", "unit"]
LAYOUTS = {
    "user": {"group": "user", "sort": ["gpumem"]},
    "container": {"group": "container"},
    "job": {"group": "job", "sort": ["%cpu", "-pid"]},
    "service": {"group": "service", "sort": ["res"]},
    "parent": {"group": "parent", "list": "all"},
    "columns": {"columns": {"devices": DETAILS, "all": DETAILS}, "sort": ["user", "gpumem", "-pid"]},
    "percent": {"memory": "percent", "columns": {"devices": ["gpu", "pid", "gpumem", "res", "swap"]}, "group": "user"},
    "filter": {"filter": "user:ana !job:4711", "list": "all"},
    "nobody": {"filter": "user:nobody"},
    "devices": {"hidden": ["devices"], "panels": "full"},
    "host": {"hidden": ["host"]},
    "graphs": {"hidden": ["graphs"]},
    "panels": {"hidden": ["devices", "host", "graphs"]},
    "plain": {"plain": True},
    "traffic": {"traffic": "always", "list": "all"},
    "no traffic": {"traffic": "never"},
    "everything": {"plain": True, "group": "user", "memory": "percent", "hidden": ["graphs"], "list": "all",
                   "columns": {"all": DETAILS}, "sort": ["res", "user"]},
}
CASES = [(name, "130x46:main", []) for name in LAYOUTS]
CASES += [("user", "60x30:main", ["--ascii"]), ("columns", "100x70:columns", []), ("plain", "80x30:main", ["--ascii"]),
          ("columns", "200x40:main", ["--ascii"]), ("panels", "40x12:main", []), ("host", "160x50:main", ["--force-color"])]


def lines_of(devices, processes, kind="plain"):
    """A machine whose processes belong to something."""
    lines = []
    for tick, line in enumerate(screens.machine(devices, processes, kind).splitlines()):
        snapshot = json.loads(line)
        snapshot["columns"]["process"] += [*WORKLOAD, "swapped_bytes", "read_bytes"]
        for number, row in enumerate(snapshot["tables"]["process"]):
            place = PLACES[number % len(PLACES)]
            row.update({name: place.get(name, "") if place is not None else None for name in WORKLOAD})
            row.update(swapped_bytes=number << 20, read_bytes=tick * number * 4096)
            if number == processes - 1 and kind == "plain":
                row.update(state="zombie", resident_bytes=1 << 38)
            if place is None:
                row.setdefault("availability", {}).update({name: "denied" for name in WORKLOAD})
        lines.append(json.dumps(snapshot))
    return "\n".join(lines) + "\n"


@unittest.skipUnless(reads_json(), "built without jansson")
class Arranged(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-arrange-")
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.machine = self.home / "machine.json"
        self.machine.write_text(lines_of(3, 12), encoding="utf-8")

    def layout(self, text):
        path = self.home / "layout.json"
        path.write_text(text if isinstance(text, str) else json.dumps({"screen": "nvitop", **text}), encoding="utf-8")
        return path

    def picture(self, layout, width, height, name="main", arguments=()):
        return screens.picture(self.machine, width, height, name, ["--layout", str(self.layout(layout)), *arguments])


class Golden(Arranged):
    def test_looks_as_it_must(self):
        texts = {}
        for name, size, arguments in CASES:
            shape, _, screen = size.partition(":")
            done = self.picture(LAYOUTS[name], *shape.split("x"), screen, arguments)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            texts[" ".join(["====", name, size, *arguments])] = done.stdout.decode()
        screens.compare(self, STORED, texts)


class Sorted(Arranged):
    """The zombie has the most of everything, and stands last in every order."""

    def pids(self, layout):
        lines = self.picture(layout, 160, 60).stdout.decode().splitlines()
        begin = next(place for place, line in enumerate(lines) if "PID" in line and "COMMAND" in line)
        return [int(line.split()[1]) for line in lines[begin + 2:] if line.split()[1:2] and line.split()[1].isdigit()]

    def test_who_is_dead_stands_last(self):
        zombie, columns = 3_999_011, {"all": ["pid", "res", "command"]}
        for sort in ("res", "-res", "pid", "-pid", "user", "%cpu", "etime", "-etime"):
            with self.subTest(sort):
                pids = self.pids({"list": "all", "columns": columns, "sort": [sort], "hidden": ["devices", "host"]})
                self.assertEqual((len(pids), pids[-1]), (12, zombie), pids)
        pids = self.pids({"list": "all", "columns": columns, "sort": ["-pid"], "hidden": ["devices", "host"]})
        self.assertEqual(pids[:-1], sorted(pids[:-1], reverse=True))

    def test_a_sort_by_devices_where_there_are_none(self):
        self.machine.write_text(lines_of(0, 12), encoding="utf-8")
        usual = self.pids({"columns": {"all": ["pid", "command"]}})
        self.assertEqual(len(usual), 12)
        for sort in ("gpumem", "sm%"):
            self.assertEqual(self.pids({"columns": {"all": ["pid", "command"]}, "sort": [sort]}), usual)

    def test_names_are_those_of_ps(self):
        ours = {"type", "gmbw%", "enc%", "dec%", "held", "job", "peak"}
        lines = self.picture({}, 100, 80, "columns").stdout.decode().splitlines()
        lines += self.picture({"list": "all"}, 100, 80, "columns").stdout.decode().splitlines()
        keys = {line[10:20].strip() for line in lines if line.startswith((" [x]", " [ ]"))}
        self.assertGreater(len(keys), 40)
        known = sorted(key for key in keys if key not in ours and not key.endswith("/s"))
        done = vitals("ps", "--from", str(self.machine), "-o", ",".join(known))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class AnySize(Arranged):
    def test_of_every_layout(self):
        for kind, devices in (("plain", 3), ("missing", 1), ("wide", 2), ("hostile", 0)):
            self.machine.write_text(lines_of(devices, 9, kind), encoding="utf-8")
            for name, layout in LAYOUTS.items():
                for width, height in ((40, 10), (80, 24), (131, 47), (250, 50)):
                    for arguments in ([], ["--ascii"]):
                        done = self.picture(layout, width, height, "main", arguments)
                        with self.subTest(name, kind=kind, size=(width, height), arguments=arguments):
                            found = screens.faults(done, width, height, bool(arguments) and kind != "wide")
                            self.assertEqual(found, [], done.stdout.decode())

    def test_of_the_chooser(self):
        for width, height in ((20, 5), (40, 10), (80, 24), (250, 80)):
            done = self.picture(LAYOUTS["columns"], width, height, "columns")
            self.assertEqual(screens.faults(done, width, height, name="tree"), [])


class Broken(Arranged):
    CASES = (
        ('{"group": "user",\n "sort": ["gpumem", "-nosuch"]}', ':2:21: "-nosuch" is not a column that can be sorted by'),
        ('{"columns": {"devices": ["pid", "nosuch"]}}', ':1:33: "nosuch" is not a column of this list'),
        ('{"columns": {"all": ["gpu"]}}', '"gpu" is not a column of this list'),
        ('{"columns": {"all": ["pid", "pid"]}}', '"pid" is there twice'),
        ('{"columns": {"all": ["pid+99"]}}', '"pid+99" is not a valid width for this column'),
        ('{"columns": {"all": ["pid-"]}}', '"pid-" is not a valid width'),
        ('{"columns": {"all": ["cwd+40"]}}', '"cwd+40" is not a valid width for this column'),
        ('{"columns": {"all": ["command+0"]}}', '"command+0" has no width of its own'),
        ('{"columns": ["pid"]}', '"columns" must be an object'),
        ('{"group": "color"}', '"group" must be none, user, container'),
        ('{"group": 7}', '"group" must be none'),
        ('{"hidden": ["devices", "all"]}', '"hidden" must be a list'),
        ('{"colour": "red"}', ':1:2: "colour" is not a key of a layout'),
        ('{"filter": "\\u001b[31m"}', '"filter" holds characters that cannot be printed'),
        ('{"filter": "' + "x" * 96 + '"}', '"filter" must be a text of less than 96 bytes'),
        ('{"plain": 1}', '"plain" must be true or false'),
        ('{"group": "user"', ":1:16: "),
        ('{"traffic": "sometimes"}', '"traffic" must be auto, always or never'),
        ("[]", ":1:1: a layout is one object"),
        ("", ":1:1: "),
        ("\x00\x01", ":1:1: "),
        (" " * 70000, "larger than 64 KiB"),
    )

    def test_says_where_and_begins_as_usual(self):
        usual = self.picture("{}", 200, 40).stdout.decode().splitlines()
        for text, message in self.CASES:
            with self.subTest(text[:60]):
                done = self.picture(text, 200, 40)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                lines = done.stdout.decode().splitlines()
                self.assertIn(message, lines[-1])
                self.assertEqual(lines[:-1], usual[:-1])

    def test_a_file_that_is_not_there(self):
        done = vitals("--screen", "200x40", "--from", str(self.machine), "--layout", "/nonexistent/layout.json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("/nonexistent/layout.json: No such file or directory", done.stdout)
        done = vitals("--screen", "200x40", "--from", str(self.machine))
        self.assertNotIn("layout.json", done.stdout)

    def test_its_usual_place(self):
        folder = self.home / "vitals"
        folder.mkdir()
        (folder / "layout.json").write_text('{"group": "user"}', encoding="utf-8")
        done = vitals("--screen", "200x40", "--from", str(self.machine), env=environment(XDG_CONFIG_HOME=str(self.home)))
        self.assertIn("by user", done.stdout)


@unittest.skipUnless(BUILT, "built without the interactive screens")
@unittest.skipUnless(reads_json(), "built without jansson")
class Kept(Arranged):
    def test_what_keys_arrange_is_written_and_read(self):
        terminal = Events()
        self.addCleanup(terminal.close)
        path = self.home / "new" / "layout.json"
        command = f"{VITALS} --demo --layout {path}"
        terminal.run(command)
        terminal.wait("COMMAND", "Processes on devices")
        terminal.type("-l", "Gu")
        terminal.wait("by user", "processes")
        terminal.type("-l", "ogOPM")
        terminal.wait("sorted by GPU memory, PID", "%GPU-MEM")
        terminal.type("-l", "C")
        terminal.wait("Columns of the list of processes on devices")
        terminal.type("-l", "d+q")
        terminal.wait("COMMAND", "q quit")
        self.assertFalse(path.exists())
        terminal.type("-l", "W")
        terminal.wait("the layout is saved in")
        kept = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(kept["group"], "user")
        self.assertEqual(kept["sort"], ["gpumem", "-pid"])
        self.assertEqual(kept["columns"]["devices"][:2], ["pid", "gpu+1"])
        self.assertEqual(kept["memory"], "percent")
        self.assertEqual([entry.name for entry in path.parent.iterdir()], ["layout.json"])
        terminal.type("-l", "q")
        terminal.wait("rc=0.")
        terminal.run(command)
        terminal.wait("by user", "sorted by GPU memory, PID", "%GPU-MEM")

    def test_columns_that_cost_more_are_read_once_they_are_shown(self):
        terminal = Events()
        self.addCleanup(terminal.close)
        terminal.run(f"{VITALS} --backends none")
        terminal.wait("Press h for help", "All processes:")
        terminal.type("-l", f"&pid:{terminal.child()}")
        terminal.type("Enter")
        terminal.wait("filter", f"{terminal.child()} ")
        self.assertNotIn("CWD", terminal.screen())
        terminal.type("-l", "C")
        terminal.wait("Columns of the list of all processes")
        terminal.type("End")
        terminal.type("Space")
        terminal.wait("[x]      cwd")
        terminal.type("-l", "q")
        terminal.wait(" CWD ", os.readlink(f"/proc/{terminal.child()}/cwd")[:20])

    def test_a_file_that_could_not_be_read_is_replaced_by_who_asks_twice(self):
        terminal = Events()
        self.addCleanup(terminal.close)
        path = self.layout('{"group": "color"}')
        terminal.run(f"{VITALS} --demo --layout {path}")
        terminal.wait("COMMAND", '"group" must be none')
        terminal.type("-l", "W")
        terminal.wait("this replaces a file that could not be read")
        self.assertEqual(path.read_text(encoding="utf-8"), '{"group": "color"}')
        terminal.type("-l", "W")
        terminal.wait("the layout is saved in")
        self.assertEqual(json.loads(path.read_text(encoding="utf-8"))["group"], "none")

    def test_a_mode_that_is_given_wins_and_the_file_keeps_its_own(self):
        terminal = Events()
        self.addCleanup(terminal.close)
        path = self.layout({"panels": "full"})
        terminal.run(f"{VITALS} --demo -m compact --layout {path}")
        terminal.wait("Press h for help", "Processes:")
        terminal.type("-l", "W")
        terminal.wait("the layout is saved in")
        self.assertEqual(json.loads(path.read_text(encoding="utf-8"))["panels"], "full")
        terminal.type("-l", "aW")
        terminal.wait("the layout is saved in")
        terminal.type("-l", "q")
        terminal.wait("rc=0.")
        self.assertEqual(json.loads(path.read_text(encoding="utf-8"))["panels"], "auto")

    def test_a_pipe_is_no_layout(self):
        path = self.home / "pipe"
        os.mkfifo(path)
        done = vitals("--screen", "200x40", "--from", str(self.machine), "--layout", str(path))
        self.assertIn("pipe: not a regular file", done.stdout)

    def test_a_layout_that_cannot_be_written_says_why(self):
        terminal = Events()
        self.addCleanup(terminal.close)
        terminal.run(f"{VITALS} --demo --layout /proc/nowhere/layout.json")
        terminal.wait("COMMAND", "/proc/nowhere/layout.json: No such file or directory")
        terminal.type("-l", "Gu")
        terminal.wait("by user", gone=("nowhere",))
        terminal.type("-l", "W")
        terminal.wait("by user", "/proc/nowhere/layout.json: No such file or directory")

    @unittest.skipIf(TMUX is None, "no tmux")
    def test_plain_text_leaves_the_mouse_to_the_terminal(self):
        terminal = Terminal()
        self.addCleanup(terminal.close)
        terminal.run(f"{VITALS} --demo")
        terminal.wait("Press h for help", "│")
        self.assertEqual(terminal.state().split()[2], "1")
        terminal.type("-l", "P")
        terminal.wait("Press h for help", gone=("│",))
        self.assertEqual(terminal.state().split()[2], "0")
        terminal.type("-l", "P")
        terminal.wait("Press h for help", "│")
        self.assertEqual(terminal.state().split()[2], "1")


if __name__ == "__main__":
    unittest.main()
