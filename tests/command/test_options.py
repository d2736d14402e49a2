"""Options: every flag of nvitop that concerns a report, row by row, from the command line, from the
environment and from the configuration; and that a mistake is told on stderr alone, with exit 2.

What an option came to is asked of `vitals options --settings`, which parses as `vitals` does."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from cast import NOBODY, as_user
from harness import VITALS, environment, reads_json, vitals

DEFAULTS = {
    "once": False, "json": False, "count": 0, "from": None, "delay": 0.1, "readonly": False,
    "colorful": False, "force-color": False, "light": False, "gpu-util-thresh": [10, 75],
    "mem-util-thresh": [10, 80], "only": [], "only-visible": False, "compute": False,
    "only-compute": False, "graphics": False, "only-graphics": False, "user": [], "pid": [],
    "interval": 0, "ascii": False, "config": None, "trace": False, "demo": None, "seed": 0,
    "backends": None, "proc-root": None, "sys-root": None, "dev-root": None, "nvml": None,
}

# arguments, what they change
GOOD = (
    ("", {}),
    # nvitop's flags, in the order of its own help
    ("-1", {"once": True}),
    ("--once", {"once": True}),
    ("-m", {"monitor": "auto"}),
    ("--monitor full", {"monitor": "full"}),
    ("-m compact", {"monitor": "compact"}),
    ("-mfull", {"monitor": "full"}),
    ("--monitor=auto -U", {"monitor": "auto", "ascii": True}),
    ("--interval 2", {"interval": 2}),
    ("--interval=0.25", {"interval": 0.25}),
    ("--interval 100ms", {"interval": 0.1}),
    ("--interval 1min", {"interval": 60}),
    ("--interval 0.01", {"interval": 0.01}),
    ("--interval 86400", {"interval": 86400}),
    ("-U", {"ascii": True}),
    ("--ascii", {"ascii": True}),
    ("--no-unicode", {"ascii": True}),
    ("--ascii=no", {}),
    ("--readonly", {"readonly": True}),
    ("--colorful", {"colorful": True}),
    ("--force-color", {"force-color": True}),
    ("--light", {"light": True}),
    ("--light=no", {}),
    ("--gpu-util-thresh 5 50", {"gpu-util-thresh": [5, 50]}),
    ("--gpu-util-thresh 50 5", {"gpu-util-thresh": [5, 50]}),
    ("--gpu-util-thresh 5,50", {"gpu-util-thresh": [5, 50]}),
    ("--gpu-util-thresh=50,5", {"gpu-util-thresh": [5, 50]}),
    ("--gpu-util-thresh 1 99", {"gpu-util-thresh": [1, 99]}),
    ("--gpu-util-thresh 7 7", {"gpu-util-thresh": [7, 7]}),
    ("--mem-util-thresh 20 30 -1", {"mem-util-thresh": [20, 30], "once": True}),
    ("-o 0", {"only": [0]}),
    ("-o 0 1", {"only": [0, 1]}),
    ("-o 0,1", {"only": [0, 1]}),
    ("-o0,1", {"only": [0, 1]}),
    ("--only=0,1", {"only": [0, 1]}),
    ("--only 0 1 -1", {"only": [0, 1], "once": True}),
    ("-o 0,1 3", {"only": [0, 1, 3]}),
    ("-o 0 -o 1", {"only": [0, 1]}),
    ("-o 0 1 --", {"only": [0, 1]}),
    ("-ov", {"only-visible": True}),
    ("--only-visible", {"only-visible": True}),
    ("-ov -o 1", {"only-visible": True, "only": [1]}),
    ("-c", {"compute": True}),
    ("--compute", {"compute": True}),
    ("-C", {"only-compute": True}),
    ("--only-compute", {"only-compute": True}),
    ("-g", {"graphics": True}),
    ("--graphics", {"graphics": True}),
    ("-G", {"only-graphics": True}),
    ("--only-graphics", {"only-graphics": True}),
    ("-1cU", {"once": True, "compute": True, "ascii": True}),
    ("-u", {"user": []}),
    ("-u ana", {"user": ["ana"]}),
    ("-u ana bob", {"user": ["ana", "bob"]}),
    ("--user ana,bob -1", {"user": ["ana", "bob"], "once": True}),
    ("-u -1", {"user": [], "once": True}),
    ("-p 42", {"pid": [42]}),
    ("-p 42 43", {"pid": [42, 43]}),
    ("--pid=42,43", {"pid": [42, 43]}),
    # ours
    ("--json", {"json": True}),
    ("--json --count 3", {"json": True, "count": 3}),
    ("--from x", {"from": "x"}),
    ("--from -", {"from": "-"}),
    ("--delay 0", {"delay": 0}),
    ("--delay 1s", {"delay": 1}),
    ("--demo", {"demo": "default"}),
    ("--demo=mixed --seed 7", {"demo": "mixed", "seed": 7}),
    ("--backends nvidia,demo", {"backends": "nvidia,demo"}),
    ("--proc-root /a --sys-root /b --dev-root /c --nvml /d",
     {"proc-root": "/a", "sys-root": "/b", "dev-root": "/c", "nvml": "/d"}),
    ("--trace", {"trace": True}),
)

# arguments, what the message must name
BAD = (
    ("run --mlflow http://x -- true", ("value of --mlflow as --mlflow=http://x",)),
    ("serve --otlp http://x", ("value of --otlp as --otlp=http://x",)),
    ("--interval 0", ("--interval", '"0"', "0.01 to 86400")),
    ("--interval -1", ("--interval", '"-1"', "0.01 to 86400")),
    ("--interval -0.5", ("--interval", '"-0.5"')),
    ("--interval nan", ("--interval", '"nan"', "0.01 to 86400")),
    ("--interval inf", ("--interval", '"inf"')),
    ("--interval 2x", ("--interval", '"2x"')),
    ("--interval 0.001", ("--interval", '"0.001"')),
    ("--interval 1e9", ("--interval", '"1e9"')),
    ("--interval=", ("--interval", '""')),
    ("--interval", ("--interval", "needs a value")),
    ("--interval --json", ("--interval", "needs a value")),
    ("-1 -m", ("--once", "--monitor", "cannot be used together")),
    ("-m --json", ("--json", "--monitor", "cannot be used together")),
    ("-m tiny", ("--monitor takes", "auto, full or compact", '"tiny"', "Try: vitals --help")),
    ("--interval 1", ("--interval", "--json", "Try: vitals --help")),
    ("info", ("info: no pid", "Try: vitals info --help")),
    ("kill", ("needs a pid", "Try: vitals kill --help")),
    ("ps -o nosuch", ('"nosuch"', "Try: vitals ps --help")),
    ("ps -o pid,,comm", ('"pid,,comm"', "empty")),
    ("help nosuch", ('unknown command "nosuch"',)),
    ("--monitor=tiny", ("--monitor", '"tiny"', "auto, full or compact")),
    ("--gpu-util-thresh", ("--gpu-util-thresh", "needs a value")),
    ("--gpu-util-thresh 10", ("--gpu-util-thresh", '"10"', "two whole numbers from 1 to 99")),
    ("--gpu-util-thresh 0 10", ("--gpu-util-thresh", '"0 10"', "1 to 99")),
    ("--gpu-util-thresh 10 100", ("--gpu-util-thresh", '"10 100"', "1 to 99")),
    ("--gpu-util-thresh 10 x", ("--gpu-util-thresh", '"10 x"')),
    ("--gpu-util-thresh 1,2,3", ("--gpu-util-thresh", '"1,2,3"')),
    ("--mem-util-thresh -5 10", ("--mem-util-thresh", '"-5 10"')),
    ("-o", ("-o", "needs a value")),
    ("-o x", ("-o", '"x"', "whole numbers")),
    ("-o 0,,1", ("-o", '"0,,1"')),
    ("-o 1.5", ("-o", '"1.5"')),
    ("-p 0", ("-p", '"0"', "from 1")),
    ("-p -5", ("-p", '"-5"')),
    ("--pid 99999999999999999999", ("--pid", "99999999999999999999")),
    ("--json --count 0", ("--count", '"0"', "from 1")),
    ("--count 3", ("--count", "--json")),
    ("--light=maybe", ("--light", '"maybe"', "yes or no")),
    ("--seed -1", ("--seed", '"-1"')),
    ("--demo mixed", ('"mixed"', "--demo=mixed")),
    ("--inter 2", ("unknown option --inter", "did you mean --interval")),
    ("--onec", ("unknown option --onec", "did you mean --once")),
    ("--asci", ("--ascii",)),
    ("-x", ("unknown option -x",)),
    ("-cx", ("unknown option -cx",)),
    ("rnu", ('unknown command "rnu"', "did you mean run")),
    ("metric", ('unknown command "metric"', "did you mean metrics")),
    ("frobnicate", ('unknown command "frobnicate"',)),
    ("--wait", ("--wait", "vitals run")),
    ("metrics --wait", ("--wait", "vitals metrics", "vitals run")),
    ("-1 metrics", ("--once", "metrics")),
    ("--json metrics", ("--json", "metrics")),
    ("metrics gpu", ("metrics", '"gpu"')),
    ("run", ("run", "command")),
    ("run --", ("run", "command")),
    ("run --once x", ("--once", "vitals run")),
    ("-- x", ('"x"',)),
)


def settings(*arguments, **options):
    result = vitals("options", "--settings", *arguments, **options)
    if result.returncode != 0:
        raise AssertionError(f"{arguments}: {result.stderr}")
    return json.loads(result.stdout)


class Place:
    """A home folder that holds a configuration, or none."""

    def __init__(self, text=None):
        self.folder = tempfile.TemporaryDirectory()
        self.home = pathlib.Path(self.folder.name)
        self.file = self.home / "vitals" / "config.json"
        self.file.parent.mkdir()
        if text is not None:
            self.file.write_text(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def env(self, **more):
        return {"XDG_CONFIG_HOME": self.home, "LC_ALL": "C.UTF-8", **more}


class Flags(unittest.TestCase):
    def test_each_row(self):
        with Place() as place:
            for arguments, changes in GOOD:
                with self.subTest(arguments=arguments):
                    found = settings(*arguments.split(), env=place.env())
                    for name, default in DEFAULTS.items():
                        self.assertEqual(found[name]["value"], changes.get(name, default), name)
                    self.assertEqual(found["monitor"]["value"], changes.get("monitor", "auto"))
                    self.assertEqual(found["monitor"]["given"], "monitor" in changes)

    def test_go_before_the_command_too(self):
        before = vitals("--interval", "3", "-U", "--demo=mixed", "options", "--settings")
        found = json.loads(before.stdout)
        self.assertEqual(found["interval"]["value"], 3)
        self.assertTrue(found["ascii"]["value"])
        self.assertEqual(found["demo"]["value"], "mixed")

    def test_visible_with_only_stays_one_option(self):
        self.assertEqual(settings("-ov")["only"]["value"], [])

    def test_the_command_of_run_is_left_alone(self):
        result = vitals("run", "--", "printf", "%s.", "-1", "--help", "--", "-ov")
        self.assertEqual(result.stdout, "-1.--help.--.-ov.")
        result = vitals("run", "printf", "%s.", "--version")
        self.assertEqual(result.stdout, "--version.")


class Mistakes(unittest.TestCase):
    def check(self, result, words):
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("vitals: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_each_is_named_and_ends_with_2(self):
        for arguments, words in BAD:
            with self.subTest(arguments=arguments):
                self.check(vitals(*arguments.split()), words)

    def test_what_is_near_to_no_word_gets_no_suggestion(self):
        for word in ("monitor", "watch", "version", "--frobnicate"):
            result = vitals(word)
            self.check(result, (word,))
            self.assertNotIn("did you mean", result.stderr)

    def test_what_logs_in_is_not_said(self):
        cases = (("run --mlflow {} -- true", "write the value of --mlflow as --mlflow=http://127.0.0.1:1/x"),
                 ("run --mlfow={} -- true", "unknown option --mlfow=http://127.0.0.1:1/x"),
                 ("serve {}", 'serve takes no "http://127.0.0.1:1/x"'), ("{}", 'unknown command "http://127.0.0.1:1/x"'))
        for address in ("http://me:s3cret@127.0.0.1:1/x", "http://me:s3cret/a@127.0.0.1:1/x", "http://127.0.0.1:1/x?key=s3cret"):
            for arguments, words in cases:
                with self.subTest(arguments=arguments, address=address):
                    result = vitals(*arguments.format(address).split())
                    self.check(result, (words,))
                    self.assertNotIn("s3cret", result.stderr)

    def test_in_our_variables_count(self):
        for variable, value in (("VITALS_INTERVAL", "0"), ("VITALS_ASCII", "perhaps"),
                                ("VITALS_GPU_UTIL_THRESH", "10"), ("VITALS_WIDTH", "-3"),
                                ("VITALS_MONITOR", "tiny")):
            with self.subTest(variable=variable):
                result = vitals("-1", env={variable: value})
                self.check(result, (variable, f'"{value}"'))

    def test_from_outside_are_printed_safely(self):
        result = vitals("--\x1b[31mred\n", errors="strict")
        self.check(result, ("unknown option",))
        self.assertNotIn("\x1b", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 2)

    def test_the_monitor_needs_a_terminal(self):
        result = vitals("-m")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(len(result.stderr.splitlines()), 1)


class Environment(unittest.TestCase):
    def test_of_ours(self):
        with Place() as place:
            found = settings(env=place.env(
                VITALS_INTERVAL="500ms", VITALS_ASCII="1", VITALS_READONLY="yes",
                VITALS_GPU_UTIL_THRESH="30,20", VITALS_MONITOR="full", VITALS_DEMO="yes",
                VITALS_BACKENDS="nvidia", VITALS_LIGHT="", VITALS_SEED="9"))
            self.assertEqual(found["interval"], {"value": 0.5, "origin": "environment"})
            self.assertTrue(found["ascii"]["value"])
            self.assertTrue(found["readonly"]["value"])
            self.assertEqual(found["gpu-util-thresh"]["value"], [20, 30])
            self.assertEqual(found["demo"]["value"], "default")
            self.assertEqual(found["backends"]["value"], "nvidia")
            self.assertEqual(found["seed"]["value"], 9)
            self.assertEqual(found["light"], {"value": False, "origin": "default"})
            self.assertEqual(found["monitor"],
                             {"value": "full", "given": False, "origin": "environment"})

    def test_of_nvitop(self):
        # NVITOP_MONITOR_MODE, monitor, colorful, light, readonly
        rows = (
            ("full", "full", False, False, False),
            ("FULL,Colorful", "full", True, False, False),
            ("auto,full", "auto", False, False, False),
            ("compact, light, readonly", "compact", False, True, True),
            ("plain,colorful", "auto", False, False, False),
            ("dark,light", "auto", False, False, False),
            ("whatever,readonly,", "auto", False, False, True),
            ("", "auto", False, False, False),
        )
        for value, monitor, colorful, light, readonly in rows:
            with self.subTest(value=value), Place() as place:
                found = settings(env=place.env(NVITOP_MONITOR_MODE=value))
                self.assertEqual(found["monitor"]["value"], monitor)
                self.assertEqual(found["colorful"]["value"], colorful)
                self.assertEqual(found["light"]["value"], light)
                self.assertEqual(found["readonly"]["value"], readonly)

    def test_the_older_theme_of_nvitop(self):
        for changes, light in (({"NVITOP_MONITOR_THEME": "light"}, True),
                               ({"NVITOP_MONITOR_THEME": "dark"}, False),
                               ({"NVITOP_MONITOR_THEME": "light", "NVITOP_MONITOR_MODE": "dark"}, False),
                               ({"NVITOP_MONITOR_THEME": "light", "VITALS_LIGHT": "no"}, False)):
            with self.subTest(changes), Place() as place:
                found = settings(env=place.env(**changes))
                self.assertEqual(found["light"]["value"], light)

    def test_what_nvitop_says_no_to_wins_over_the_configuration(self):
        for changes, light, colorful in (({}, True, True),
                                         ({"NVITOP_MONITOR_MODE": "dark"}, False, True),
                                         ({"NVITOP_MONITOR_MODE": "plain"}, True, False),
                                         ({"NVITOP_MONITOR_MODE": "full,plain,dark"}, False, False),
                                         ({"NVITOP_MONITOR_THEME": "Dark"}, False, True),
                                         ({"NVITOP_MONITOR_THEME": "dark", "NVITOP_MONITOR_MODE": "light"}, True, True),
                                         ({"NVITOP_MONITOR_THEME": "gray"}, True, True)):
            with self.subTest(changes), Place() as place:
                place.file.write_text('{"light": true, "colorful": true}')
                found = settings(env=place.env(**changes))
                self.assertEqual((found["light"]["value"], found["colorful"]["value"]), (light, colorful))

    def test_thresholds_of_nvitop_are_passed_over_where_they_are_bad(self):
        for value, expected in (("5,50", [5, 50]), ("50,5", [5, 50]), ("5", [10, 75]),
                                ("0,50", [10, 75]), ("a,b", [10, 75])):
            with self.subTest(value=value), Place() as place:
                found = settings(env=place.env(NVITOP_GPU_UTILIZATION_THRESHOLDS=value))
                self.assertEqual(found["gpu-util-thresh"]["value"], expected)
        with Place() as place:
            found = settings(env=place.env(NVITOP_MEMORY_UTILIZATION_THRESHOLDS="1,2",
                                           VITALS_MEM_UTIL_THRESH="3,4"))
            self.assertEqual(found["mem-util-thresh"]["value"], [3, 4])

    def test_columns_and_colors(self):
        # environment, arguments, what was found
        rows = (
            ({"COLUMNS": "120"}, "", {"width": 120, "color": False}),
            ({"COLUMNS": "x"}, "", {"width": 79}),
            ({"COLUMNS": "120"}, "--width 100", {"width": 100}),
            ({"FORCE_COLOR": "1"}, "", {"color": True}),
            ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "", {"color": False}),
            ({"NO_COLOR": "1"}, "--force-color", {"color": True}),
            ({"LC_ALL": "C"}, "", {"ascii": True}),
            ({"LC_ALL": "C"}, "--ascii=no", {"ascii": False}),
            ({"LC_ALL": "C.UTF-8"}, "", {"ascii": False}),
        )
        for variables, arguments, expected in rows:
            with self.subTest(variables=variables, arguments=arguments), Place() as place:
                found = settings(*arguments.split(), env=place.env(**variables))["found"]
                self.assertEqual({name: found[name] for name in expected}, expected)


@unittest.skipUnless(reads_json(), "built without reading JSON")
class Configuration(unittest.TestCase):
    def test_is_below_the_environment_which_is_below_flags(self):
        with Place('{"interval": 7, "ascii": true, "gpu-util-thresh": [90, 20],\n'
                   ' "backends": ["nvidia", "demo"], "demo": true, "delay": "20ms"}') as place:
            found = settings(env=place.env())
            self.assertEqual(found["interval"], {"value": 7, "origin": "configuration"})
            self.assertEqual(found["gpu-util-thresh"]["value"], [20, 90])
            self.assertEqual(found["backends"]["value"], "nvidia,demo")
            self.assertEqual(found["demo"]["value"], "default")
            self.assertEqual(found["delay"]["value"], 0.02)
            found = settings(env=place.env(VITALS_INTERVAL="8"))
            self.assertEqual(found["interval"], {"value": 8, "origin": "environment"})
            found = settings("--interval", "9", "--ascii=no", env=place.env(VITALS_INTERVAL="8"))
            self.assertEqual(found["interval"], {"value": 9, "origin": "flag"})
            self.assertEqual(found["ascii"], {"value": False, "origin": "flag"})

    def test_stands_in_the_home_folder_otherwise(self):
        with Place() as place:
            folder = place.home / ".config" / "vitals"
            folder.mkdir(parents=True)
            (folder / "config.json").write_text('{"interval": 3}')
            found = settings(env={"HOME": place.home, "XDG_CONFIG_HOME": None})
            self.assertEqual(found["interval"]["value"], 3)

    # text, where the message must point, what it must say
    MISTAKES = (
        ('{"interval": 1,\n "ascii" true}', ":2:", "':' expected"),
        ('{"interval": 1,\n   "intervall": 2}', ":2:4:", 'did you mean "interval"'),
        ('{\n  "trace": true,\n  "interval": 0}', ":3:3:", '"0" is not accepted'),
        ('{"interval": 1, "interval": 2}', ":1:", "duplicate"),
        ('{"x": "interval", "interval": [[1]]}', ":1:", "unknown key"),
        ('{"interval": {"a": 1}}', ":1:2:", "no text, number"),
        ('{"gpu-util-thresh": [1]}', ":1:2:", "two whole numbers"),
        ('{"config": "other.json"}', ":1:2:", "unknown key"),
        ("[1]", ":1:1:", "one JSON object"),
        ("", ":1:", ""),
    )

    def test_a_mistake_is_told_with_its_place_and_vitals_goes_on(self):
        for text, where, what in self.MISTAKES:
            with self.subTest(text=text), Place(text) as place:
                result = vitals("options", "--settings", env=place.env())
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"config.json{where}", result.stderr)
                self.assertIn(what, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1)
                found = json.loads(result.stdout)
                self.assertEqual(found["interval"], {"value": 0, "origin": "default"})
                self.assertEqual(found["trace"], {"value": False, "origin": "default"})

    def test_a_named_one_must_be_right(self):
        for text, where, what in self.MISTAKES:
            with self.subTest(text=text), Place(text) as place:
                result = vitals("-1", "--config", place.file, env={"XDG_CONFIG_HOME": "/nowhere"})
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(f"config.json{where}", result.stderr)
                self.assertIn(what, result.stderr)
        result = vitals("-1", "--config", "/nowhere/at/all.json")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("/nowhere/at/all.json", result.stderr)

    def test_one_that_never_ends_is_refused(self):
        result = vitals("-1", "--config", "/dev/zero")
        self.assertEqual((result.returncode, result.stdout), (2, ""))


class Help(unittest.TestCase):
    COMMANDS = ((), ("run",), ("metrics",), ("options",))

    def test_of_every_command(self):
        for command in self.COMMANDS:
            with self.subTest(command=command):
                result = vitals(*command, "--help", "all")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                lines = result.stdout.splitlines()
                self.assertTrue(lines[0].startswith(" ".join(("usage: vitals", *command))))
                self.assertIn("Examples:", lines)
                self.assertIn("Exit codes:", lines)
                self.assertTrue(result.stdout.isascii())
                self.assertEqual([line for line in lines if len(line) > 80], [])
                self.assertEqual(vitals(*command, "-h", "all").stdout, result.stdout)
                self.assertEqual(vitals(*command, "-h").stdout, vitals(*command, "--help").stdout)

    def test_of_a_run_fits_on_a_screen(self):
        """What people need first, a clause each; all of it in the same words."""
        short, whole = (vitals("run", "--help", *words).stdout for words in ((), ("all",)))
        self.assertLess(short.count("\n"), 45)
        self.assertTrue(whole.startswith(short[:short.index("Common options:")]))
        names = re.findall(r"--[a-z-]+", short.partition("Common options:")[2])
        self.assertLessEqual({"--record", "--json", "--verbose", "--interval", "--limit-memory", "--gpus"}, set(names))
        known = set(re.findall(r"--[a-z-]+", whole))
        self.assertEqual([name for name in names if name not in known], [])
        self.assertIn("vitals run --help all\n", short)
        done = vitals("run", "--help", "some")
        self.assertEqual((done.returncode, done.stdout), (0, short))

    def test_is_a_command_too(self):
        self.assertEqual(vitals("help").stdout, vitals("--help").stdout)
        self.assertEqual(vitals("help", "ps").stdout, vitals("ps", "--help").stdout)

    def test_names_every_option_of_nvitop(self):
        text = vitals("--help").stdout
        for name in DEFAULTS:
            self.assertIn(f"--{name}", text)

    def test_needs_no_configuration(self):
        with Place("{") as place:
            for flag in ("--help", "--version"):
                result = vitals(flag, env=place.env(VITALS_INTERVAL="0"))
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_version(self):
        result = vitals("-V")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"\Avitals \d+\.\d+\.\d+\n")
        self.assertRegex(result.stdout, r"(?m)^linked with    libm( jansson/\d\S+)?( zlib/\d\S+)?$")
        self.assertIn("reading JSON", result.stdout)


class AnotherHome(unittest.TestCase):
    """A configuration that is not ours and that we may not read, as after su -m, is no news."""

    def test_no_word_of_it(self):
        words, why_not = as_user(NOBODY.pw_uid, NOBODY.pw_gid)
        if why_not:
            self.skipTest(why_not)
        with tempfile.TemporaryDirectory() as home:
            folder = pathlib.Path(home) / ".config" / "vitals"
            folder.mkdir(parents=True)
            (folder / "config.json").write_text("{}")
            os.chmod(home, 0o700)
            env = environment(HOME=home)
            env.pop("XDG_CONFIG_HOME", None)
            done = subprocess.run([*words, VITALS, "ps", "-o", "pid"], env=env, text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            # One's own is told of.
            os.chown(home, NOBODY.pw_uid, NOBODY.pw_gid)
            done = subprocess.run([*words, VITALS, "ps", "-o", "pid"], env=env, text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            os.chmod(folder, 0o700)  # of root, in a home of ours
            done = subprocess.run([*words, VITALS, "ps", "-o", "pid"], env=env, text=True,
                                  capture_output=True, check=False)
            self.assertEqual(done.stderr.count("Permission denied; going on without it"), 1)


class TwoPrograms(unittest.TestCase):
    """`vitals` executes vitals-full where SQLite or ncurses is needed: nobody notices."""

    @unittest.skipUnless(reads_json(), "built without jansson")
    def test_a_configuration_is_read_once(self):
        done = vitals("--config", "-", "--demo", "record", "-n", "1", "--format", "csv", "-", stdin=None,
                      input='{"ascii": true}')
        self.assertEqual((done.returncode, done.stderr.count("configuration")), (0, 0), done.stderr)
        with tempfile.TemporaryDirectory() as home:
            (pathlib.Path(home) / "vitals").mkdir()
            (pathlib.Path(home) / "vitals/config.json").write_text("bad")
            done = vitals("compare", "/none", "/neither", env={"XDG_CONFIG_HOME": home})
            self.assertEqual(done.stderr.count("going on without it"), 1, done.stderr)

    @unittest.skipUnless((pathlib.Path(VITALS).parent / "vitals-full").exists(), "built without SQLite and ncurses")
    def test_the_name_stays(self):
        """Users look for it under this name."""
        process = subprocess.Popen([VITALS, "--demo", "record", "--interval", "10", "-"], env=environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            place, seen, until = pathlib.Path(f"/proc/{process.pid}"), None, time.monotonic() + 20
            while seen != ("vitals-full", "vitals"):
                self.assertLess(time.monotonic(), until, seen)
                seen = os.path.basename(os.readlink(place / "exe")), (place / "comm").read_text().strip()
        finally:
            process.kill()
            process.wait()


class Output(unittest.TestCase):
    def test_that_cannot_be_written_is_told(self):
        for arguments in (("--version",), ("--help",), ("metrics",), ("--json", "--demo")):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                result = subprocess.run([VITALS, *arguments], stdout=full, stderr=subprocess.PIPE,
                                        env=environment(), text=True, check=False, timeout=30)
                self.assertEqual(result.returncode, 1)
                self.assertIn("No space left on device", result.stderr)

    def test_that_nobody_reads_is_no_mistake(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([VITALS, "metrics"], stdout=writer, stderr=subprocess.PIPE,
                                env=environment(), check=False, timeout=30)
        os.close(writer)
        self.assertEqual((result.returncode, result.stderr), (0, b""))

    def test_that_is_closed_is_told(self):
        result = subprocess.run(f"exec '{VITALS}' metrics >&-", shell=True, env=environment(),
                                stderr=subprocess.PIPE, text=True, check=False, timeout=30)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot be written", result.stderr)


if __name__ == "__main__":
    unittest.main()
