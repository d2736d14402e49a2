"""What `vitals run` costs, in counts: system calls of a run that is over at once, of each process of
a tree at each tick, and of a machine full of others, which a tree that is sampled often must not pay
for. Times are no test: bench/overhead prints them.

Upper bounds, above what was found by a part that a busy machine may need; the least of several runs
counts where another process may come between.
"""

import collections
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import scene

VITALS = str(scene.VITALS)

# Of the launcher alone, with every rung that this machine has, but for files that were looked for in
# vain: where libraries are found is the loader's affair. 339 were found, of them 61 to start and 15 to
# know of how many cores its use is, and where others run beside it 30 more to see whether what they left
# is a dead one's.
BRIEF_MOST = 395

# Per process of the tree: to begin and to end, where a busy machine lets a tick come between its fork
# and its exec, so that it is seen anew; and one look at its clock each tick while it rests.
FIRST_SIGHT = 50
EACH_TICK = 1.3

# The same where one file tells that nobody of the tree has run: a look at each now and then.
EACH_TICK_HELD = 0.3

# Lists of /proc in a run of three seconds, whatever its interval, at two or three calls each: the
# first ticks, the one in the end, and one each ten seconds.
LISTS_MOST = 24

# Per process that is not of the tree, of a whole run: seen in the first looks at all, and in those
# that come each some seconds.
STRANGER_MOST = 8

MISSING = scene.strace_missing()
CALL = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)[( ]")


def traced(arguments, beside=0):
    """{pid: Counter of calls}, and every line, of a run beside so many sleeping processes."""
    with tempfile.TemporaryDirectory(prefix="run-counts-") as folder:
        log = pathlib.Path(folder) / "log"
        command = ["strace", "-f", "-o", log, "env", f"XDG_RUNTIME_DIR={folder}",
                   VITALS, "run", "--quiet", *arguments]
        if beside:
            scene.beside(beside, command)
        else:
            subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120,
                           check=True, env={**os.environ, "XDG_STATE_HOME": folder})
        lines = log.read_text(errors="replace").splitlines()
    begin = next(i for i, line in enumerate(lines) if f'execve("{VITALS}"' in line)
    lines = lines[begin:]
    return calls_of(lines), lines


def calls_of(lines):
    calls = collections.defaultdict(collections.Counter)
    for line in lines:
        found = CALL.match(line)
        if found and "resumed>" not in line and "ENOENT" not in line:
            calls[found[1]][found[2]] += 1
    return calls


def a_file_tells_who_rests(lines):
    return any(name in line for name in ('"cpu.stat"', '"cpuacct.usage"') for line in lines)


def watcher_of(lines):
    """Its tick thread: the process that asks to be told of its launcher's death."""
    for line in lines:
        if "PR_SET_PDEATHSIG" in line:
            return line.split()[0]
    return None


def sampling(arguments, beside=0):
    """(calls of the tick thread by name, ticks) of a run."""
    calls, lines = traced(arguments, beside)
    watcher = watcher_of(lines)
    # Each tick ends with a report to the launcher.
    ticks = calls[watcher]["sendto"]
    return calls[watcher], ticks


@unittest.skipIf(MISSING, f"NO SYSTEM CALL WAS COUNTED: {MISSING}")
class Brief(unittest.TestCase):
    """A run that is over before there is anything to see."""

    def least(self):
        """The run with the fewest calls: on a busy machine one may last long enough to be watched."""
        runs = []
        for _ in range(20):
            calls, lines = traced(["/bin/true"])
            launcher = lines[0].split()[0]
            runs.append((watcher_of(lines) is not None, sum(calls[launcher].values()), lines))
            if not runs[-1][0]:
                break
        return min(runs, key=lambda run: run[:2])

    def test_it_has_no_watcher_and_few_calls(self):
        watched, calls, lines = self.least()
        if watched:
            self.skipTest("twenty times /bin/true lasted long enough to be watched")
        self.assertLessEqual(calls, BRIEF_MOST)
        threads = [line for line in lines if "CLONE_THREAD" in line]
        self.assertEqual(threads, [])

    def test_it_loads_no_library_of_the_exporter(self):
        _, lines = traced(["/bin/true"])
        for name in ("libmicrohttpd", "libcurl", "libgnutls", "libyaml", "libcrypt", "libsystemd"):
            opened = [line for line in lines if name in line and "ENOENT" not in line]
            self.assertEqual(opened, [], name)


@unittest.skipIf(MISSING, f"NO SYSTEM CALL WAS COUNTED: {MISSING}")
class Sampling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not scene.apart():
            raise unittest.SkipTest("NO SYSTEM CALL WAS COUNTED: no pid namespace of our own here,"
                                    " and other people's processes come and go")

    @staticmethod
    def each(found, few, many):
        return (sum(found[many][0].values()) - sum(found[few][0].values())) / (many - few)

    @staticmethod
    def resting(lines):
        """The second half of the ticks between the last process's exec and the first one's end."""
        end = next(i for i, line in enumerate(lines) if " kill(" in line and "SIGTERM" in line)
        begin = max(i for i, line in enumerate(lines[:end]) if "execve" in line)
        ticks = [i for i, line in enumerate(lines[:end]) if i > begin and " sendto(" in line]
        return lines[ticks[len(ticks) // 2]:ticks[-1]]

    def test_a_process_that_rests_costs_one_call_a_tick_at_most(self):
        few, many = 20, 120
        rest, others, held = {}, {}, True
        for count in (few, many):
            script = (f"i=0; while [ $i -lt {count} ]; do sleep 60 & pids=\"$pids $!\"; i=$((i+1)); done;"
                      " sleep 4; kill $pids")
            calls, lines = traced(["--interval", "0.1", "--", "sh", "-c", script], 1)
            watcher = watcher_of(lines)
            rest[count] = calls_of(self.resting(lines))[watcher]
            others[count] = calls[watcher] - rest[count]
            held = held and a_file_tells_who_rests(lines)
            self.assertGreater(rest[count]["sendto"], 5)
        per_tick = {count: sum(found.values()) / found["sendto"] for count, found in rest.items()}
        each = (per_tick[many] - per_tick[few]) / (many - few)
        self.assertLessEqual(each, EACH_TICK_HELD if held else EACH_TICK,
                             f"{each:.2f} a tick, a file tells who rests: {held}")
        each = (sum(others[many].values()) - sum(others[few].values())) / (many - few)
        ticks = max(found["sendto"] for found in others.values())
        self.assertLessEqual(each, FIRST_SIGHT + EACH_TICK * ticks,
                             f"{each:.1f} to begin and to end, {ticks} ticks")

    def test_often_is_not_a_look_at_the_whole_machine(self):
        few, many = 20, 1020
        for seconds in ("3", "10", "30"):  # a busy machine makes few ticks of an interval so short
            found = {count: sampling(["--interval", "0.01", "--", "sleep", seconds], count)
                     for count in (few, many)}
            ticks = min(ticks for _, ticks in found.values())
            if ticks > 60:
                break
        each = self.each(found, few, many)
        self.assertGreater(ticks, 60)
        self.assertLessEqual(each, STRANGER_MOST, f"{each:.1f} calls for each other process in "
                                                  f"{ticks} ticks")
        lists = found[many][0]["getdents64"]
        self.assertLessEqual(lists, LISTS_MOST, f"{lists} getdents64 in {ticks} ticks")


if __name__ == "__main__":
    unittest.main()
