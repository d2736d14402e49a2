"""`vitals ps`: what it lists against ps(1), what it chooses and how it sorts, and that nothing that a
process calls itself can disturb a table."""

import contextlib
import csv
import datetime
import io
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unicodedata
import unittest

import jsonschema
from cast import ordinary, state_of, unshared
from harness import NO_HOME, SOURCE, VITALS, environment, in_most_of, reads_json, vitals, wait_until

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "snapshot.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
PS = shutil.which("ps")
TITLES = "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND".split()


def rows_of(*arguments, **options):
    """The rows of --csv, as dictionaries."""
    result = vitals("ps", "--csv", *arguments, **options)
    assert result.returncode == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout, newline="")))


def setUpModule():
    """A container may have no process but ours: tests of many need some."""
    sleepers = [subprocess.Popen(["sleep", "600"]) for _ in range(8)]
    for sleeper in sleepers:
        unittest.addModuleCleanup(sleeper.wait)
        unittest.addModuleCleanup(sleeper.kill)


def ps_values(names):
    """What ps(1) says of every process: pid -> the words of the columns."""
    words = [word for name in names for word in ("-o", f"{name}=")]
    for _ in range(5):
        done = subprocess.run([PS, "-e", "-o", "pid=", *words], capture_output=True, text=True,
                              env=environment(LC_ALL="C"))
        if done.returncode != -signal.SIGSEGV:  # procps 4.0.2 may end so if a process ends meanwhile
            break
    done.check_returncode()
    lines = (line.split() for line in done.stdout.splitlines())
    return {int(line[0]): line[1:] for line in lines}


@contextlib.contextmanager
def family(depth=2):
    """A sleeper with a child with a child, and so on: the pids from the top."""
    code = ("import os, sys, time\n"
            "depth = int(sys.argv[1])\n"
            "for _ in range(depth):\n"
            "    print(os.getpid(), flush=True)\n"
            "    if os.fork() != 0:\n"
            "        sys.stdin.read(); os._exit(0)\n"
            "print(os.getpid(), flush=True)\n"
            "sys.stdin.read()\n")
    child = subprocess.Popen(["python3", "-c", code, str(depth)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    try:
        yield [int(child.stdout.readline()) for _ in range(depth + 1)]
    finally:
        child.stdin.close()
        child.wait(timeout=30)
        child.stdout.close()


@contextlib.contextmanager
def named(*names):
    """Sleepers whose first argument is a name of bytes: their pids."""
    children = [subprocess.Popen([name, b"600"], executable="/bin/sleep") for name in names]
    try:
        for child in children:
            wait_until(lambda pid=child.pid: state_of(pid) == "S")
        yield [child.pid for child in children]
    finally:
        for child in children:
            child.kill()
            child.wait()


FOLDER = SOURCE / "tests" / "fixtures" / "ps"
REPORTS = SOURCE / "tests" / "fixtures" / "report"
WRITE = os.environ.get("VITALS_WRITE_GOLDEN") == "1"

# the snapshot, arguments
GOLDEN = (
    ("host", "--width 79"),
    ("host", "--width 200"),
    ("host", "--width 79 --sort -rss -n 3 --force-color"),
    ("host", "--csv -o pid,user,%mem,rss,start,time,cmd"),
    ("host", "-u ana -o user,pid,rss,vsz,comm --bytes --no-header"),
    ("devices", "--width 100 --gpu --sort -gpumem -o pid,user,gpu,gpu%,gpumem,rss,age,cmd"),
    ("hostile", "--width 100 -o pid,user,nlwp,rss,lstart,cmd"),
    ("hostile", "--width 100 -o pid,user,nlwp,rss,lstart,cmd --ascii"),
    ("hostile", "-o pid=,cmd="),
)


@unittest.skipUnless(reads_json(), "built without reading JSON")
class Golden(unittest.TestCase):
    """What a table must look like, of snapshots in files. After a change that is meant to be seen:

        VITALS_WRITE_GOLDEN=1 VITALS=build/vitals VITALS_SOURCE=. python3 tests/command/test_ps.py
    """

    maxDiff = None

    def test_looks_as_it_must(self):
        for name, words in GOLDEN:
            with self.subTest(name=name, words=words):
                done = vitals("ps", "--from", REPORTS / f"{name}.json", *words.split(),
                              env={"TZ": "UTC", "LC_ALL": "C.UTF-8"}, errors="strict")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                label = re.sub(r"[^a-z0-9]+", "-", f"{name} {words}".lower()).strip("-")
                golden = FOLDER / f"{label}.txt"
                if WRITE:
                    FOLDER.mkdir(exist_ok=True)
                    golden.write_text(done.stdout)
                self.assertEqual(done.stdout, golden.read_text())


class Table(unittest.TestCase):
    def test_looks_as_ps_aux(self):
        lines = vitals("ps").stdout.splitlines()
        self.assertEqual(lines[0].split(), TITLES)
        own = next(line for line in lines if line.split()[1] == str(os.getpid()))
        self.assertIn("python", own)
        pids = [int(line.split()[1]) for line in lines[1:]]
        self.assertEqual(pids, sorted(pids))

    def test_titles_stand_over_their_columns(self):
        lines = vitals("ps", "-o", "pid,rss,user,comm").stdout.splitlines()
        ends = lines[0].index("RSS") + 3
        for line in lines[1:]:
            self.assertRegex(line[:ends], r"[0-9A-Z]$")
            self.assertEqual(line[ends], " ")

    def test_titles_can_be_changed_and_left_out(self):
        pid = str(os.getpid())
        for words, first in (
            (("-o", "pid=NUMBER,rss=MEM"), "NUMBER MEM"),
            (("-o", "pid=,comm="), pid),
            (("-o", "pid", "--no-header"), pid),
            (("-o", "PID"), "PID"),
        ):
            with self.subTest(words):
                line = vitals("ps", "-p", pid, *words).stdout.splitlines()[0]
                self.assertEqual(" ".join(line.split()[:len(first.split())]), first)

    def test_a_terminal_gets_no_line_that_is_too_wide(self):
        if shutil.which("script") is None:
            self.skipTest("no script(1)")
        with named(b"wide " + b"x" * 500, "漢字".encode() * 100):
            for width in (79, 200):
                for more in ("", "--ascii", "--tree"):
                    command = f"stty cols {width}; {VITALS} ps {more}"
                    done = subprocess.run(["script", "-qec", command, "/dev/null"],
                                          capture_output=True, timeout=60, check=False,
                                          stdin=subprocess.DEVNULL,
                                          env=environment(TERM="xterm", LC_ALL="C.UTF-8"))
                    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode())
                    self.assertIn("COMMAND", text)
                    for line in text.splitlines():
                        wide = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
                                   for c in line)
                        self.assertLessEqual(wide, width, line)

    def test_a_narrow_terminal_gets_none_either(self):
        for width in (20, 31, 40, 60, 78):
            text = vitals("ps", "--width", width).stdout
            self.assertGreater(len(text.splitlines()), 1)
            for line in text.splitlines():
                self.assertLessEqual(len(line), width, line)
        self.assertEqual(vitals("ps", "--width", 19).returncode, 2)
        lines = vitals("ps", "--width", 20, "-p", os.getpid(), "-o", "pid,args").stdout.splitlines()
        self.assertEqual(lines[1].split()[0], str(os.getpid()))
        self.assertTrue(lines[1].endswith(".."), lines)

    def test_a_pipe_gets_whole_commands(self):
        with named(b"long " + b"y" * 3000) as pids:
            text = vitals("ps", "-p", pids[0], env={"COLUMNS": "80"}).stdout
            self.assertIn("y" * 3000, text)
            text = vitals("ps", "-p", pids[0], "--width", "100").stdout
            self.assertEqual({len(line) <= 100 for line in text.splitlines()}, {True})

    def test_a_long_command_pads_no_other_row(self):
        """Whoever has a long one would make each row of all users as long."""
        with named(b"long " + b"y" * 100000) as pids:
            wide = vitals("ps", "-o", "pid,rss,cmd").stdout
            middle = vitals("ps", "-o", "pid,cmd,rss").stdout
            line = next(line for line in middle.splitlines() if line.split()[0] == str(pids[0]))
            self.assertIn("y" * 100000, line)
            self.assertTrue(line.split()[-1].replace(".", "").rstrip("KMGTiB").isdigit(), line[-80:])
            rows = len(middle.splitlines())
            self.assertGreater(rows, 2)
            self.assertLess(len(middle), len(wide) + rows * 400)

    def test_color_says_nothing_that_the_text_does_not(self):
        with named(b"vitals-color") as pids:
            words = ("ps", "-o", "pid,stat,comm,args", "-p", pids[0])
            plain, colored = vitals(*words).stdout, vitals(*words, "--force-color").stdout
        self.assertIn("\x1b[", colored)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", colored), plain)

    def test_bytes_may_be_exact(self):
        pid = os.getpid()
        short = vitals("ps", "-o", "vsz=", "-p", pid).stdout.strip()
        exact = vitals("ps", "-o", "vsz=", "-p", pid, "--bytes").stdout.strip()
        self.assertRegex(short, r"^[0-9.]+[KMG]$")
        self.assertEqual(int(exact) % 4096, 0)


@unittest.skipIf(PS is None, "no ps(1)")
class Oracle(unittest.TestCase):
    """Between two readings of ps, for every process that lived through them."""

    def differences(self, ours, theirs, convert, near):
        """pid -> ours and theirs, of those for which ps said the same before and after."""
        before = ps_values([theirs])
        rows = {int(row["pid"]): row for row in rows_of("-o", f"pid,{ours}")}
        key = next(name for name in next(iter(rows.values())) if name != "pid")
        after = ps_values([theirs])
        seen, found = 0, {}
        for pid in set(before) & set(after) & set(rows):
            if len(before[pid]) != 1 or before[pid] != after[pid]:
                continue
            seen += 1
            if (rows[pid][key] == "" or before[pid][0] == "-" or "\\" in rows[pid][key]
                    or not rows[pid][key].isascii()):
                continue  # ps has no word for it, or writes a control or a letter in its own way
            mine = convert(rows[pid][key])
            if mine != before[pid][0] and not (near and abs(int(mine) - int(before[pid][0])) <= near):
                found[pid] = (rows[pid][key], before[pid][0])
        self.assertGreater(seen, 5, theirs)
        return found

    def check(self, ours, theirs, convert=str, near=0):
        """What somebody changes there and back between two readings is right the next time."""
        found = {}
        for _ in range(5):
            now = self.differences(ours, theirs, convert, near)
            found = {pid: now[pid] for pid in now if not found or pid in found}
            if not found:
                return
        self.fail(f"{ours} is not {theirs}: {found}")

    def test_identities(self):
        for ours, theirs in (("ppid", "ppid"), ("pgid", "pgid"), ("sid", "sid"),
                             ("euid", "euid"), ("ruid", "ruid"), ("suid", "suid"),
                             ("egid", "egid"), ("rgid", "rgid"), ("euser", "euser:64"),
                             ("user", "ruser:64"), ("group", "rgroup:64"), ("ni", "ni"),
                             ("pri", "pri"), ("pr", "priority"), ("nlwp", "nlwp"),
                             ("comm", "ucmd:64")):
            with self.subTest(ours):
                self.check(ours, theirs, str)

    def test_terminals(self):
        """ps leaves out the terminal of another mount namespace, which has no file here."""
        self.check("tty", "tty", lambda name: name if os.path.exists(f"/dev/{name}") else "?")

    def test_memory(self):
        self.check("vsz", "vsz", lambda word: str(int(word) // 1024))
        # ps reads it of stat, where the pages that each CPU has not yet added to one of three
        # counters are missing: percpu_counter_batch of each.
        cpus = os.cpu_count()
        lag = 3 * cpus * max(32, 2 * cpus) * os.sysconf("SC_PAGE_SIZE") // 1024
        self.check("rss", "rss", lambda word: str(int(word) // 1024), lag)

    def test_state_letters(self):
        """Of processes that stay as they are. ps adds an L where memory is locked."""
        zombie = subprocess.Popen(["true"])
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        nice = subprocess.Popen(["nice", "-n", "7", "sleep", "600"], start_new_session=True)
        try:
            wait_for_sleeper(nice.pid, "sleep")
            with named(b"vitals-stat", b"vitals-stat") as pids:
                os.kill(pids[0], signal.SIGSTOP)
                os.waitid(os.P_PID, pids[0], os.WSTOPPED | os.WNOWAIT)
                chosen = [*pids, zombie.pid, nice.pid]
                theirs = ps_values(["stat", "s"])
                rows = {int(row["pid"]): row
                        for row in rows_of("-o", "pid,stat,s", "-p", ",".join(map(str, chosen)))}
                for pid in chosen:
                    self.assertEqual(rows[pid]["stat"], theirs[pid][0].replace("L", ""))
                    self.assertEqual(rows[pid]["state_letter"], theirs[pid][1])
            self.assertIn("N", rows[nice.pid]["stat"])
            self.assertEqual(rows[zombie.pid]["state_letter"], "Z")
        finally:
            zombie.wait()
            nice.kill()
            nice.wait()

    def test_who_is_in_the_foreground_of_a_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp("sleep", ["sleep", "600"])
        try:
            wait_for_sleeper(pid, "sleep")
            row = rows_of("-o", "pid,stat,tty", "-p", pid)[0]
            self.assertEqual([row["stat"], row["terminal"]], ps_values(["stat", "tty"])[pid])
            self.assertIn("+", row["stat"])
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(terminal)

    def test_times_lie_between(self):
        names = ["etimes", "cputimes"]
        before = ps_values(names)
        rows = rows_of("-o", "pid,etimes,time")
        after = ps_values(names)
        seen = 0
        for row in rows:
            pid = int(row["pid"])
            if pid not in before or pid not in after or row["age_seconds"] == "":
                continue
            # ps(1) divides an unsigned age where a process began after it had read the uptime.
            if int(before[pid][0]) > 1 << 31:
                continue
            seen += 1
            for key, at, slack in (("age_seconds", 0, 1), ("cpu_seconds", 1, 1)):
                low, high = int(before[pid][at]) - slack, int(after[pid][at]) + 1 + slack
                self.assertTrue(low <= float(row[key]) <= high, (pid, key, row, low, high))
        self.assertGreater(seen, 5)

    def test_percent_of_a_life(self):
        rows = {int(row["pid"]): row for row in rows_of("-o", "pid,%cpu,time,etimes,%mem")}
        row = rows[os.getpid()]
        self.assertAlmostEqual(float(row["cpu_ratio"]),
                               float(row["cpu_seconds"]) / float(row["age_seconds"]), delta=0.01)
        self.assertTrue(0 < float(row["memory_ratio"]) < 1)

    def test_tree_against_ps(self):
        with family(2) as (top, middle, leaf):
            theirs = {}
            for parent in (top, middle):
                done = subprocess.run([PS, "--ppid", str(parent), "-o", "pid="],
                                      capture_output=True, text=True, check=True)
                theirs[parent] = {int(pid) for pid in done.stdout.split()}
            self.assertEqual((theirs[top], theirs[middle]), ({middle}, {leaf}))
            result = vitals("ps", "--tree", "-o", "pid,comm=", "-p", f"{top},{middle},{leaf}",
                            env={"LC_ALL": "C.UTF-8"})
            self.assertEqual([line.split()[0] for line in result.stdout.splitlines()[1:]],
                             [str(top), str(middle), str(leaf)])
            branches = [re.search(r"\d+ (.*?)python", line)[1]
                        for line in result.stdout.splitlines()[1:]]
            self.assertEqual(branches, ["", "└─ ", "   └─ "])
            text = vitals("ps", "--tree", "--ascii", "-o", "pid,comm=", "--children", top).stdout
            self.assertTrue(text.isascii())
            self.assertEqual([line.split()[0] for line in text.splitlines()[1:]],
                             [str(middle), str(leaf)])
            self.assertIn("`- ", text)


# What user, uid and gid name: the effective ones.
EFFECTIVE = {"user": "effective_user", "uid": "effective_uid", "gid": "effective_gid",
             "group": "effective_group"}

PS_NAMES = ("pid ppid user euser ruser group uid %cpu pcpu %mem pmem vsz rss pss uss shr tty tt "
            "stat s start stime lstart etime etimes time times args cmd command comm ni pri nlwp "
            "psr wchan cgroup container gpu gpumem gpu% pgid sid exe cwd fds ruid rgid rgroup "
            "egroup rtprio").split()


class Columns(unittest.TestCase):
    def catalogue(self):
        document = json.loads(vitals("metrics", "--json").stdout)
        table = next(one for one in document["tables"] if one["name"] == "process")
        return [metric["name"] for metric in table["metrics"]]

    def test_every_metric_of_a_process_is_one(self):
        names = self.catalogue()
        for at in range(0, len(names), 30):
            part = names[at:at + 30]
            heads = vitals("ps", "--csv", "-p", os.getpid(), "-o", ",".join(part)).stdout
            self.assertEqual(heads.split("\n")[0].split(","),
                             [EFFECTIVE.get(name, name) for name in part])

    def test_what_csv_says_on_top_names_the_same_columns(self):
        heads = list(rows_of("-p", os.getpid(), "-o", ",".join((*PS_NAMES, *self.catalogue()[:30])))[0])
        self.assertIn("cpu_ratio", heads)
        self.assertEqual(list(rows_of("-p", os.getpid(), "-o", ",".join(heads))[0]), heads)

    def test_user_and_group_are_the_effective_ones(self):
        """As ps(1) has them; of a program whose real ones differ."""
        if os.geteuid() != 0:
            self.skipTest("becoming another user takes root")
        child = subprocess.Popen(
            [sys.executable, "-c", "import os, sys; os.setresgid(0, 65534, 0); "
             "os.setresuid(0, 65534, 0); print(flush=True); sys.stdin.read()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            child.stdout.readline()
            for names in ("user", "uid", "group", "gid", "ruser", "ruid", "rgroup", "rgid", "euser",
                          "egid", "egroup"):
                with self.subTest(names):
                    result = vitals("ps", "-p", child.pid, "-o", f"{names}=")
                    told = subprocess.run(["ps", "-p", str(child.pid), "-o", f"{names}="],
                                          capture_output=True, text=True, check=True).stdout
                    self.assertEqual(result.stdout.strip(), told.strip())
        finally:
            child.communicate()

    def test_csv_has_the_metric_where_a_table_has_a_sign(self):
        with subprocess.Popen(["sleep", "600"], start_new_session=True) as child:
            try:
                row = rows_of("-p", child.pid, "-o", "tty,rtprio")[0]
                self.assertEqual(row, {"terminal": "", "realtime_priority": "0"})
                table = vitals("ps", "-p", child.pid, "-o", "tty=,rtprio=").stdout
                self.assertEqual(table.split(), ["?", "-"])
            finally:
                child.kill()

    def test_ps_names_are_known(self):
        result = vitals("ps", "-p", os.getpid(), "-o", ",".join(PS_NAMES))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_an_unknown_one_suggests_the_nearest(self):
        for word, near in (("rsss", "rss"), ("comand", "command"), ("resident_byte", "resident_bytes"),
                           ("wchn", "wchan")):
            result = vitals("ps", "-o", f"pid,{word}")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertRegex(result.stderr, rf'no column "{word}"; did you mean {near}\?')
        for option, word in (("--sort", "qqqqqqqq"), ("--sort", "zz"), ("-o", "foo")):
            result = vitals("ps", option, word)
            self.assertEqual(result.returncode, 2)
            self.assertIn(word, result.stderr)
            self.assertNotIn("did you mean", result.stderr)

    def test_only_what_is_needed_is_asked_for(self):
        document = json.loads(vitals("ps", "--json", "-o", "pid,rss", "-n", 1).stdout)
        self.assertEqual(document["columns"], {"process": ["pid", "resident_bytes"]})

    def test_a_file_can_be_listed(self):
        if not reads_json():
            self.skipTest("built without reading JSON")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(vitals("ps", "--json").stdout)
            file.flush()
            result = vitals("ps", "--from", file.name, "-p", os.getpid(), "-o", "pid,comm")
            self.assertEqual(result.stdout.split()[2], str(os.getpid()))


class Filters(unittest.TestCase):
    def pids(self, *arguments, code=0):
        for _ in range(8):
            result = vitals("ps", "-o", "pid=", *arguments)
            # Beside a load a process may not be asked in time; then it says so, and is asked again.
            if "not read in time" not in result.stderr:
                break
        self.assertEqual(result.returncode, code, result.stderr)
        return [int(word) for word in result.stdout.split()]

    def test_pid(self):
        self.assertEqual(self.pids("-p", f"{os.getpid()},1"), [1, os.getpid()])
        self.assertEqual(self.pids(1, os.getpid()), [1, os.getpid()])

    def test_user_by_name_and_number(self):
        uid = os.geteuid()
        for word in (uid, self_name()):
            self.assertIn(os.getpid(), self.pids("-u", word))
        self.assertEqual(self.pids("-u", "4294967293", code=1), [])
        result = vitals("ps", "-u", "no-such-user")
        self.assertEqual(result.returncode, 1)
        self.assertIn('this system has no user "no-such-user"', result.stderr)

    def test_name_exact_and_pattern(self):
        with named(b"vitals-ps-name") as pids:
            self.assertEqual(self.pids("--name", "vitals-ps-none", code=1), [])
            self.assertIn(pids[0], self.pids("--name", "sleep"))
            self.assertIn(pids[0], self.pids("--name", "sl?ep"))
            self.assertNotIn(pids[0], self.pids("--name", "slee", code=1))

    def test_a_name_that_the_kernel_cut(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "vitals-ps-a-long-name"
            shutil.copy("/bin/sleep", program)
            child = subprocess.Popen([str(program), "600"])
            try:
                wait_for_sleeper(child.pid, "vitals-ps-a-lon")
                self.assertEqual(self.pids("--name", "vitals-ps-a-long-name"), [child.pid])
                self.assertEqual(self.pids("--name", "vitals-ps-a-lon"), [child.pid])
                self.assertEqual(self.pids("--name", "vitals-ps-a-long-n*"), [child.pid])
            finally:
                child.kill()
                child.wait()

    def test_match(self):
        with named(b"vitals-match-one", b"vitals-match-two") as pids:
            self.assertEqual(self.pids("--match", "vitals-match-(one|two) 600$"), sorted(pids))
            self.assertEqual(self.pids("--match", "^vitals-match-one"), [pids[0]])
        result = vitals("ps", "--match", "(")
        self.assertEqual(result.returncode, 2)
        self.assertIn("regular expression", result.stderr)

    def test_processes_that_end_meanwhile(self):
        """What has ended by the time that its command line is read is no complaint."""
        def quiet():
            text = vitals("ps", "--match", "vitals-no-such-process", "-o", "pid").stderr
            self.assertNotIn("could not be matched", text)

        shells = [subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"]) for _ in range(6)]
        try:
            in_most_of(24, quiet)
        finally:
            for shell in shells:
                shell.kill()
                shell.wait()

    def test_vitals_does_not_match_itself(self):
        self.assertEqual(self.pids("--match", "vitals-nobody-else-says-this", code=1), [])

    def test_state(self):
        with named(b"vitals-state") as pids:
            os.kill(pids[0], signal.SIGSTOP)
            os.waitid(os.P_PID, pids[0], os.WSTOPPED | os.WNOWAIT)
            for word in ("stopped", "T", "running,stopped"):
                self.assertIn(pids[0], self.pids("--state", word))
            self.assertNotIn(pids[0], self.pids("--state", "sleeping"))
        result = vitals("ps", "--state", "sleping")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean sleeping?", result.stderr)

    def test_all_must_hold(self):
        with named(b"vitals-all-a", b"vitals-all-b") as pids:
            self.assertEqual(self.pids("--match", "vitals-all", "-p", pids[1]), [pids[1]])
            self.assertEqual(self.pids("--match", "vitals-all-a", "-p", pids[1], code=1), [])

    def test_children(self):
        with family(2) as (top, middle, leaf):
            self.assertEqual(self.pids("--children", top), sorted([middle, leaf]))
            self.assertEqual(self.pids("--children", middle), [leaf])
            self.assertEqual(self.pids("--children", top, "-p", leaf), [leaf])

    def test_users_of_devices(self):
        document = json.loads(vitals("ps", "--demo", "--gpu", "--json", "-o", "pid,gpu,gpumem").stdout)
        keys = {row["key"] for row in document["tables"]["process"]}
        self.assertEqual(keys, {row["process"] for row in document["tables"]["gpu_process"]})
        self.assertEqual(self.pids("--backends", "none", "--gpu", code=1), [])

    def test_cgroup(self):
        own = rows_of("-p", os.getpid(), "-o", "cgroup")[0]["cgroup"]
        if own == "":
            self.skipTest("no cgroup is told here")
        self.assertIn(os.getpid(), self.pids("--cgroup", own))
        self.assertIn(os.getpid(), self.pids("--cgroup", own[:1] + "*"))
        self.assertEqual(self.pids("--cgroup", "no-such-cgroup", code=1), [])

    def test_what_is_nobodys(self):
        nobody = free_pid()
        result = vitals("ps", "-o", "pid=", "-p", f"{nobody},{os.getpid()}")
        self.assertEqual((result.returncode, result.stdout.strip()), (1, str(os.getpid())))
        self.assertIn(f"no process has the pid {nobody}", result.stderr)

    def test_words_that_are_no_pid(self):
        for word in ("python", "0", "-5", "1x", "4194305", "007 ", "-0"):
            result = vitals("ps", word)
            self.assertEqual((result.returncode, result.stdout), (2, ""), word)
            self.assertIn(f'"{word}" is not a pid; give a whole number from 1 to 4194304',
                          result.stderr)
            result = vitals("ps", f"--pid={word}")
            self.assertEqual((result.returncode, result.stdout), (2, ""), word)
            self.assertIn(f'"{word}" is not accepted; give whole numbers from 1 to 4194304',
                          result.stderr)

    def test_habits_of_ps(self):
        for word in ("-eLf", "axl", "-l", "-d", "-a", "a", "x", "f", "u"):
            result = vitals("ps", word)
            self.assertEqual((result.returncode, result.stdout), (2, ""), word)
            self.assertIn(f"{word}: vitals ps lists all processes already; columns with -o "
                          "(vitals ps --help)", result.stderr)

    def test_habits_that_are_understood(self):
        """As ps(1): everything, the columns of u, those of -f, and f without a dash for the tree."""
        full = "UID PID PPID C STIME TTY TIME CMD".split()
        for words, titles in ((["aux"], TITLES), (["ax"], TITLES), (["-e"], TITLES),
                              (["-A"], TITLES), (["-aux"], TITLES), (["-ef"], full),
                              (["-f"], full), (["-e", "-f"], full), (["auxww"], TITLES)):
            result = vitals("ps", *words)
            self.assertEqual(result.returncode, 0, (words, result.stderr))
            lines = result.stdout.splitlines()
            self.assertEqual(lines[0].split(), titles, words)
            self.assertIn(str(os.getpid()), [line.split()[1] for line in lines])
        if PS:
            theirs = subprocess.run([PS, "-f", "-p", str(os.getpid())], capture_output=True,
                                    text=True, check=True).stdout
            self.assertEqual(theirs.split("\n", 1)[0].split(), full)
        result = vitals("ps", "-ef", "-o", "pid,comm", "-p", str(os.getpid()))
        self.assertEqual(result.stdout.split("\n", 1)[0].split(), ["PID", "NAME"])
        with family() as pids:
            tree = vitals("ps", "axf", "--children", str(pids[0])).stdout
            self.assertRegex(tree, "└─ |`- ")
        result = vitals("ps", "axf", "--json")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(vitals("ps", "-u", "no-such-user-here").returncode, 1)

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_one_pid_opens_one_process(self):
        """However many others there are."""
        pid = str(os.getpid())
        done = subprocess.run(["strace", "-f", "-e", "trace=openat", VITALS, "ps", "-p", pid, "-o",
                               "pid,stat,rss,cmd"], capture_output=True, text=True,
                              env=environment(), timeout=120)
        if done.returncode != 0 and "ptrace" in done.stderr:
            self.skipTest("nothing may be traced here")
        opened = set(re.findall(r'"(?:/proc/)?(\d+)/', done.stderr))
        self.assertEqual(opened - {pid}, set(), done.stderr[-2000:])

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_locked_pages_are_looked_for_if_they_are_asked_for(self):
        """A file of each process for one letter of STAT: only where that is named."""
        def opened(*arguments):
            done = subprocess.run(["strace", "-f", "-e", "trace=openat", VITALS, "ps", *arguments], capture_output=True,
                                  text=True, env=environment(), timeout=120)
            if done.returncode != 0 and "ptrace" in done.stderr:
                self.skipTest("nothing may be traced here")
            return len(re.findall(r'"(?:/proc/)?\d+/status"', done.stderr))
        # The owner of a few is told by that file too.
        self.assertLess(opened() * 4, opened("-o", "pid,stat"))

    def test_direct_children(self):
        with family() as pids:
            self.assertEqual([int(row["pid"]) for row in rows_of("--parent", str(pids[0]))],
                             pids[1:2])
            self.assertEqual([int(row["pid"]) for row in rows_of("-P", f"{pids[0]},{pids[1]}")],
                             sorted(pids[1:3]))
            if shutil.which("pgrep"):
                theirs = subprocess.run(["pgrep", "-P", str(pids[1])], capture_output=True,
                                        text=True, check=True).stdout.split()
                self.assertEqual([row["pid"] for row in rows_of("-P", str(pids[1]))], theirs)

    def test_newest_and_oldest(self):
        with family() as pids:
            chosen = ["--children", str(pids[0])]
            self.assertEqual([int(row["pid"]) for row in rows_of(*chosen, "--newest")], pids[-1:])
            self.assertEqual([int(row["pid"]) for row in rows_of(*chosen, "--oldest")], pids[1:2])
        result = vitals("ps", "--newest", "--oldest")
        self.assertEqual(result.returncode, 2)

    def test_inverse(self):
        every = {row["pid"] for row in rows_of("-o", "pid", "-p", f"1,{os.getpid()}")}
        others = {row["pid"] for row in rows_of("-o", "pid", "-v", "-p", str(os.getpid()))}
        self.assertNotIn(str(os.getpid()), others)
        self.assertIn("1", others)
        self.assertIn(str(os.getpid()), every)
        result = vitals("ps", "-o", "pid", "--inverse", "-p", "4194303")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_exact(self):
        with named(b"exactly-this") as pids:
            for words, expected in ((["exactly-this 600"], pids), (["exactly-this"], [])):
                for option in ("--exact", "-x"):
                    result = vitals("ps", "--csv", "-o", "pid", option, "--match", *words)
                    self.assertEqual([int(pid) for pid in result.stdout.split()[1:]], expected)
            # The expression is the user's own, not a part of another.
            for words, expected in (("(e)xactly-this|exactly-this 600", pids),
                                    ("exactl(y)-this 6(0)\\2", pids), ("this.*", [])):
                result = vitals("ps", "--csv", "-o", "pid", "-x", "--match", words)
                self.assertEqual([int(pid) for pid in result.stdout.split()[1:]], expected, words)
        self.assertIn("not an extended regular expression",
                      vitals("ps", "-x", "--match", "zzz)|(sleep").stderr)
        self.assertEqual(vitals("ps", "--exact").returncode, 2)

    def test_a_pattern_that_looks_like_an_expression(self):
        for pattern in ("^sl", "sleep$", "sl.*"):
            result = vitals("ps", "--name", pattern)
            self.assertEqual((result.returncode, result.stderr),
                             (1, "vitals: no process was chosen; --name takes a pattern of the "
                                 "shell, as 'sl*', and --match a regular expression\n"))

    def test_nobody_is_said(self):
        result = vitals("ps", "--name", "vitals-nobody-is-called-so")
        self.assertEqual((result.returncode, result.stderr),
                         (1, "vitals: no process was chosen\n"))
        master, terminal = os.openpty()
        try:
            code = subprocess.run([VITALS, "ps", "--name", "vitals-nobody-is-called-so"],
                                  stdin=subprocess.DEVNULL, stdout=terminal, check=False,
                                  stderr=subprocess.PIPE, env=environment(TERM="xterm"))
            os.write(terminal, b"end\n")
            self.assertEqual(os.read(master, 4096), b"end\r\n")
            self.assertEqual(code.returncode, 1)
        finally:
            os.close(master)
            os.close(terminal)


def self_name():
    import pwd
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def free_pid():
    """A pid that nobody has: of a child that was reaped a moment ago."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def wait_for_sleeper(pid, name):
    """Until it has the name of its program and does what the program is for."""
    place = pathlib.Path(f"/proc/{pid}/comm")
    wait_until(lambda: place.read_text().strip() == name and state_of(pid) == "S", "its sleep")


class Order(unittest.TestCase):
    def test_by_several_columns(self):
        rows = rows_of("-o", "pid,rss,ni,comm", "--sort", "ni,-rss")
        keys = [(int(row["nice"]), -int(row["resident_bytes"]), int(row["pid"])) for row in rows
                if row["nice"] and row["resident_bytes"]]
        self.assertEqual(keys, sorted(keys))
        self.assertGreater(len(keys), 3)

    def test_text_by_bytes(self):
        names = [row["name"].encode() for row in rows_of("-o", "comm", "--sort", "comm")]
        plain = [name for name in names if b"\\" not in name and name.isascii()]
        self.assertEqual(plain, sorted(plain))
        self.assertGreater(len(plain), 5)

    def test_what_is_missing_stands_last_either_way(self):
        """Kernel threads have no peak of memory; another's disk bytes are denied."""
        for column in ("resident_peak_bytes", "-resident_peak_bytes"):
            rows = rows_of("-o", "pid,resident_peak_bytes", "--sort", column)
            values = [row["resident_peak_bytes"] for row in rows]
            if "" not in values:
                self.skipTest("every process has a peak here")
            first = values.index("")
            self.assertGreater(first, 0)
            self.assertEqual(set(values[first:]), {""})
            known = [int(value) for value in values[:first]]
            self.assertEqual(known, sorted(known, reverse=column.startswith("-")))

    def test_a_limit_takes_the_first(self):
        all_of = [row["pid"] for row in rows_of("-o", "pid", "--sort", "-pid")]
        some = [row["pid"] for row in rows_of("-o", "pid", "--sort", "-pid", "-n", 3)]
        self.assertEqual(len(some), 3)
        self.assertGreaterEqual(int(some[0]), int(all_of[0]))

    def test_circles_in_a_file_end(self):
        if not reads_json():
            self.skipTest("built without reading JSON")
        document = json.loads(vitals("ps", "--json", "-o", "pid,comm", "-n", 6).stdout)
        keys = [row["key"] for row in document["tables"]["process"]]
        for at, row in enumerate(document["tables"]["process"]):
            row["parent"] = keys[(at + 1) % 3] if at < 3 else row["key"]
        result = vitals("ps", "--tree", "--from", "-", "-o", "pid,comm", input=json.dumps(document),
                        stdin=None)
        self.assertEqual(len(result.stdout.splitlines()), 1 + len(keys))

    def test_a_long_chain_in_a_file_ends(self):
        if not reads_json():
            self.skipTest("built without reading JSON")
        document = json.loads(vitals("ps", "--json", "-o", "pid", "-n", 1).stdout)
        row = document["tables"]["process"][0]
        document["tables"]["process"] = [
            {**row, "key": key, "pid": key, "parent": key + 1} for key in range(1, 50001)]
        result = vitals("ps", "--tree", "--from", "-", "-o", "pid=", "--no-header",
                        input=json.dumps(document), stdin=None)
        last = [int(re.sub(r"\D", "", line)) for line in result.stdout.splitlines()]
        self.assertEqual(last, list(range(50000, 0, -1)))


class Hostile(unittest.TestCase):
    NAMES = (b"a\nb", b"\x1b[31mred\x1b]0;title\x07", b"\xff\xfe\x80", b'q",\\', b"--",
             "\u202eright to left".encode(), "漢字😀".encode(), b"=cmd|'/c calc'!A0", b" ")

    def test_a_table_keeps_its_lines(self):
        with named(*self.NAMES) as pids:
            for more in ((), ("--ascii",), ("--tree",), ("--force-color",)):
                result = vitals("ps", "-o", "pid,args", *more, "-p", ",".join(map(str, pids)),
                                env={"LC_ALL": "C.UTF-8"}, errors="strict")
                self.assertEqual(result.returncode, 0)
                lines = re.sub(r"\x1b\[[0-9]*m", "", result.stdout).splitlines()
                self.assertEqual([int(line.split()[0]) for line in lines[1:]], sorted(pids))
                self.assertNotRegex("".join(lines), "[\x00-\x1f\x7f-\x9f\u202a-\u202e]")
                if more == ("--ascii",):
                    self.assertTrue(result.stdout.isascii())

    def test_csv_reads_back(self):
        with named(*self.NAMES) as pids:
            rows = rows_of("-o", "pid,args,comm", "-p", ",".join(map(str, pids)),
                           errors="strict", env={"LC_ALL": "C.UTF-8"})
            self.assertEqual([int(row["pid"]) for row in rows], sorted(pids))
            for row in rows:
                self.assertEqual(set(row), {"pid", "command_line", "name"})
                self.assertIn("600", row["command_line"])
            by_pid = {int(row["pid"]): row["command_line"] for row in rows}
            self.assertIn('q",\\', by_pid[pids[3]])

    def test_json_is_of_the_schema_and_reads_back(self):
        with named(*self.NAMES) as pids:
            text = vitals("ps", "--json", "-p", ",".join(map(str, pids)), errors="strict").stdout
            self.assertEqual(text.count("\n"), 1)
            document = json.loads(text)
            VALIDATOR.validate(document)
            self.assertEqual([row["pid"] for row in document["tables"]["process"]], sorted(pids))
            if reads_json():
                again = vitals("--json", "--from", "-", input=text, stdin=None).stdout
                self.assertEqual(again, text)

    def test_an_ordinary_user_gets_all_rows(self):
        words = ordinary(self)
        done = subprocess.run([*words, VITALS, "ps", "--csv", "-o", "pid,euser,read_bytes,pss"],
                              capture_output=True, text=True, env=environment(HOME=NO_HOME),
                              check=False, timeout=60)
        rows = {int(row["pid"]): row for row in csv.DictReader(io.StringIO(done.stdout))}
        self.assertIn(1, rows)
        self.assertEqual(rows[1]["pss_bytes"], "")
        self.assertEqual(rows[1]["effective_user"], "root")


class Forms(unittest.TestCase):
    def test_csv_has_exact_numbers_and_empty_fields(self):
        rows = rows_of("-o", "pid,rss,tty,start,%cpu,pss", "-p", f"{os.getpid()},{os.getppid()}")
        own = next(row for row in rows if row["pid"] == str(os.getpid()))
        self.assertEqual(int(own["resident_bytes"]) % 4096, 0)
        boot = json.loads(vitals("ps", "--json", "-p", os.getpid()).stdout)
        start = boot["tables"]["process"][0]["start_seconds"]
        self.assertAlmostEqual(float(own["start_seconds"]), start, delta=0.02)

    def test_json_holds_only_these(self):
        document = json.loads(vitals("ps", "--json", "--name", "no-such-name").stdout)
        VALIDATOR.validate(document)
        self.assertEqual(document["tables"]["process"], [])

    def test_options_that_exclude_each_other(self):
        for words in (("--csv", "--json"), ("--tree", "--json"), ("--count", "2")):
            result = vitals("ps", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)

    def test_options_that_need_a_value(self):
        for words in (("-o",), ("--sort",), ("-u", "--tree"), ("--name",), ("-p",), ("-n", "0")):
            result = vitals("ps", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertIn(words[0], result.stderr)

    def test_start_of_today_and_of_old(self):
        text = vitals("ps", "-o", "lstart=", "-p", os.getpid(), env={"TZ": "UTC"}).stdout.strip()
        moment = datetime.datetime.strptime(text, "%a %b %d %H:%M:%S %Y")
        theirs = subprocess.run(["ps", "-o", "lstart=", "-p", str(os.getpid())],
                                capture_output=True, text=True, check=False,
                                env=environment(TZ="UTC", LC_ALL="C")).stdout.strip()
        if theirs:
            other = datetime.datetime.strptime(theirs, "%a %b %d %H:%M:%S %Y")
            self.assertLessEqual(abs((moment - other).total_seconds()), 2)

    def test_the_end_of_a_reader_is_no_failure(self):
        child = subprocess.Popen([VITALS, "ps", "--interval", "0.05"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=environment())
        child.stdout.readline()
        child.stdout.close()
        self.assertEqual(child.wait(timeout=30), 0)
        self.assertEqual(child.stderr.read(), b"")
        child.stderr.close()


class Interval(unittest.TestCase):
    def test_share_is_that_of_the_interval(self):
        spinner = subprocess.Popen(["python3", "-c", "while True: pass"])
        try:
            result = vitals("ps", "--interval", "0.5", "--count", 2, "-o", "pid,%cpu", "-p",
                            spinner.pid)
        finally:
            spinner.kill()
            spinner.wait()
        lines = result.stdout.splitlines()
        self.assertEqual([line.split() for line in lines if "PID" in line], [["PID", "%CPU"]] * 2)
        shares = [float(line.split()[1]) for line in lines if line.split()[:1] == [str(spinner.pid)]]
        self.assertEqual(len(shares), 2)
        for share in shares:
            self.assertTrue(5 < share <= 130, shares)

    def test_a_sleeper_uses_nothing_in_it(self):
        with named(b"vitals-interval") as pids:
            result = vitals("ps", "--interval", "0.3", "--count", 1, "-o", "%cpu=", "-p", pids[0])
            self.assertLess(float(result.stdout), 1)

    def test_ends_between_two_tables(self):
        child = subprocess.Popen([VITALS, "ps", "--interval", "0.05"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=environment(), text=True)
        first = child.stdout.readline()
        child.send_signal(signal.SIGINT)
        rest, errors = child.communicate(timeout=30)
        self.assertEqual((child.returncode, errors), (0, ""))
        self.assertTrue((first + rest).endswith("\n"))

    def test_json_gives_a_line_each(self):
        text = vitals("ps", "--json", "--interval", "0.05", "--count", 3, "-n", 2).stdout
        sequences = [json.loads(line)["sequence"] for line in text.splitlines()]
        self.assertEqual(sequences, [1, 2, 3])

    def test_a_configured_interval_repeats_nothing(self):
        text = vitals("ps", "-o", "pid", env={"VITALS_INTERVAL": "1"}).stdout
        self.assertEqual(text.count("PID"), 1)


class Help(unittest.TestCase):
    def test_names_what_there_is(self):
        for command, words in (("ps", ("--sort", "--columns", "--children", "Examples:")),
                               ("info", ("--environment", "--json")),
                               ("kill", ("--dry-run", "--force-after", "--signal"))):
            text = vitals(command, "--help").stdout
            for word in words:
                self.assertIn(word, text)
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertIn("  ps        ", vitals("--help").stdout)


class HiddenTest(unittest.TestCase):
    """A /proc that hides others' processes: every view says that there are more."""

    def setUp(self):
        hides = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
        self.words = [*unshared(self, "--mount"), "sh", "-c", hides, "sh", *ordinary(self)]

    def run_hidden(self, *arguments):
        done = subprocess.run([*self.words, VITALS, *arguments], capture_output=True, text=True,
                              check=False, timeout=60, env=environment(HOME=NO_HOME))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_the_table_has_a_line_on_stderr(self):
        for arguments in (["ps"], ["ps", "--csv"], ["ps", "--tree"]):
            with self.subTest(arguments):
                done = self.run_hidden(*arguments)
                said = [line for line in done.stderr.splitlines() if "hidepid" in line]
                self.assertEqual(len(said), 1, done.stderr)
                self.assertIn("vitals doctor", said[0])
                self.assertNotIn("hidepid", done.stdout)

    def test_the_report_has_a_line(self):
        said = [line for line in self.run_hidden("-1").stdout.splitlines() if "hidepid" in line]
        self.assertEqual(len(said), 1)

    def test_json_says_that_there_are_more(self):
        shown = json.loads(self.run_hidden("ps", "--json", "-o", "pid").stdout)
        self.assertEqual(shown["states"], {"process": "lower_bound"})
        whole = json.loads(self.run_hidden("--json").stdout)
        VALIDATOR.validate(whole)
        self.assertEqual(whole["states"]["process"], "lower_bound")
        host = whole["tables"]["host"][0]
        self.assertEqual(host["availability"]["processes"], "lower_bound")
        sources = {row["label"]: row for row in whole["tables"]["source"]}
        self.assertIn("hidepid", sources["processes"]["message"])

    def test_nothing_is_said_where_all_are_seen(self):
        done = vitals("ps")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("process", json.loads(vitals("--json").stdout).get("states", {}))


if __name__ == "__main__":
    unittest.main()
