"""Screens of any machine in any form: of all that can be combined, a few hundred by a fixed seed.

test_monitor_golden.py goes through sizes, devices and screens one by one, and keeps some of them
letter by letter; here everything meets everything: arranged lists, panels that are hidden, plain
text, colors, devices in parts, thousands of processes, names that nobody wished for."""

import concurrent.futures
import json
import os
import pathlib
import random
import re
import tempfile
import unittest

import screens
from harness import reads_json, vitals
from test_monitor_golden import CHARSETS, SIZES, machines

PROCESS_COUNTS = (0, 1, 6, 40, 300, 2000)
KINDS = ("plain", "missing", "wide", "hostile", "parts")
LAYOUTS = {
    "usual": {},
    "by user": {"group": "user", "sort": ["gpumem"]},
    "by job": {"group": "job", "list": "all"},
    "percent": {"memory": "percent", "sort": ["-rss", "pid"]},
    "no devices": {"hidden": ["devices"]},
    "no machine": {"hidden": ["host", "graphs"]},
    "plain": {"plain": True},
    "all": {"list": "all", "sort": ["%cpu"]},
    "filter": {"filter": "train", "list": "all"},
    "other columns": {"columns": {"devices": ["pid", "gpumem", "command"], "all": ["pid", "user+4", "rss", "command"]}},
}
LOOKS = ((), ("--colorful",), ("--light",))
SAMPLE = 700
DIMENSIONS = {
    "devices": (0, 1, 2, 8, 16), "processes": PROCESS_COUNTS, "kind": KINDS, "size": SIZES,
    "mode": ("auto", "full", "compact"), "charset": CHARSETS, "layout": tuple(LAYOUTS), "look": LOOKS,
}

# What a screen is about, where there must be one.
ABOUT = {"device": "devices", "process": "processes", "environment": "processes", "signal": "processes"}
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def sample(names):
    """The same every time. Thousands of processes and many devices cost most and come seldom."""
    chance, jobs = random.Random(1117), []
    while len(jobs) < SAMPLE:
        job = {name: chance.choice(values) for name, values in DIMENSIONS.items()}
        job["screen"] = chance.choice(names)
        if job["processes"] == 2000 and chance.random() < 0.7:
            job["processes"] = 40
        jobs.append(job)
    return jobs


@unittest.skipUnless(reads_json(), "built without jansson")
class Matrix(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-matrix-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.machine = machines(self.folder)
        for name, layout in LAYOUTS.items():
            (self.folder / f"{name}.json").write_text(json.dumps({"screen": "nvitop", **layout}))

    def printed(self, job):
        path = self.machine(job["devices"], job["processes"], job["kind"])
        arguments = [*job["charset"], "--layout", str(self.folder / f"{job['layout']}.json")]
        if job["look"]:
            arguments += ["--force-color", *job["look"]]
        return screens.picture(path, *job["size"], job["screen"], arguments, VITALS_MONITOR=job["mode"])

    def faults(self, job):
        """What is wrong with it. Styles end where they began, and are no part of what is looked at."""
        done, (width, height) = self.printed(job), job["size"]
        missing = job["screen"] in ABOUT and job[ABOUT[job["screen"]]] == 0
        if missing or done.returncode == 1:
            said = done.stderr.decode()
            right = done.returncode == 1 and done.stdout == b"" and "cannot be printed: " in said
            about_a_process = ABOUT.get(job["screen"]) == "processes"
            nobody = about_a_process and (job["layout"] in ("filter", "by user", "by job") or job["devices"] == 0)
            return [] if right and (missing or nobody) else [f"exit {done.returncode}: {said}"]
        text, found = done.stdout.decode(), []
        if job["look"]:
            for line in text.split("\n"):
                codes = STYLE.findall(line)
                if codes and codes[-1] not in ("\x1b[0m", "\x1b[m"):
                    found.append(f"a style goes on behind the line: {line!r}")
            done.stdout = STYLE.sub("", text).encode()
        # Without a rule between them a device's two bars stand right above the one bar of a part.
        return found + [one for one in screens.faults(done, width, height, bool(job["charset"]), job["screen"])
                        if not (job["kind"] == "parts" and re.match(r"open frame: \(\d+, (79|[89]\d|\d{3}),", one))]

    def test_everything_meets_everything(self):
        jobs = sample(screens.names())
        for job in jobs:  # made by one thread
            self.machine(job["devices"], job["processes"], job["kind"])
        with concurrent.futures.ThreadPoolExecutor(2) as several:
            for job, faults in zip(jobs, several.map(self.faults, jobs)):
                with self.subTest(**job):
                    self.assertEqual(faults, [])

    def test_the_sample_has_everything(self):
        """Each value of each dimension on each screen, and each pair of values of any two."""
        names = screens.names()
        jobs = sample(names)
        self.assertEqual({"alerts", "environment", "signal", "main", "tree", "process", "device", "columns", "help", "settings"}, set(names))
        for name, values in DIMENSIONS.items():
            if name == "size":
                continue
            for screen in names:
                met = {job[name] for job in jobs if job["screen"] == screen}
                self.assertEqual(met, set(values), f"{name} on the screen {screen}")
        self.assertEqual({job["size"] for job in jobs}, set(SIZES))
        for one in ("kind", "mode", "charset", "layout", "look", "devices"):
            for other in ("kind", "mode", "charset", "layout", "look", "devices"):
                pairs = {(job[one], job[other]) for job in jobs}
                least = len(DIMENSIONS[one]) * (len(DIMENSIONS[other]) if one != other else 1)
                self.assertEqual(len(pairs), least, f"{one} and {other}")


class Frozen(unittest.TestCase):
    """The demo invents its machine and its moment: the same words, the same bytes."""

    ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}

    def screen(self, *arguments, **changes):
        done = vitals("--demo", "--screen", *arguments, env={**self.ENVIRONMENT, **changes})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_same_seed_prints_the_same_screen(self):
        for name in ("main", "tree", "process", "device", "columns", "help", "environment", "signal", "settings"):
            with self.subTest(name):
                first = self.screen(f"100x30:{name}", "--seed", "7")
                self.assertEqual(self.screen(f"100x30:{name}", "--seed", "7"), first)
        self.assertNotEqual(self.screen("100x30", "--seed", "8"), self.screen("100x30", "--seed", "7"))

    def test_nothing_of_this_machine_is_in_it(self):
        text = self.screen("120x50:main")
        self.assertIn("root@demo", text)
        self.assertRegex(text, r"Nov 20 12:00:\d\d 2026")
        self.assertRegex(text, r"\b4786 C .* python3 train\.py")
        self.assertIn("310.0", text)  # %CPU: its counters grow with its clock
        self.assertIn("SLURM_JOB_ID=4711", self.screen("100x30:environment"))
        self.assertRegex(self.screen("100x30:signal"), r"Send a signal to 1 process[^\0]*4786 .* train\.py")

    def test_it_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            self.screen("100x30", TMPDIR=folder)
            self.assertEqual(os.listdir(folder), [])
            done = vitals("--demo", "--screen", "80x24", env={**self.ENVIRONMENT, "TMPDIR": f"{folder}/none"})
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("TMPDIR may name another folder", done.stderr)

    def test_of_every_scenario(self):
        for scenario in ("many", "strangers", "idle", "broken", "ailing", "hotplug", "empty"):
            with self.subTest(scenario):
                words = [f"--demo={scenario}", "--screen", "100x40"]
                first, again = (vitals(*words, env=self.ENVIRONMENT) for _ in range(2))
                self.assertEqual((first.returncode, first.stderr), (0, ""))
                self.assertEqual(first.stdout, again.stdout)


if __name__ == "__main__":
    unittest.main()
