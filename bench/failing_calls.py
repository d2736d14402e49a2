"""Two attacks of bench/attack: commands of which an allocation fails, or a call into the kernel. The
failures are made by attack_preload.c, as VITALS_ATTACK says."""

import collections
import concurrent.futures
import contextlib
import errno
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

import scene

sys.path.insert(0, str(scene.SOURCE / "tests" / "command"))
os.environ.setdefault("VITALS_BUILD", str(scene.BUILD))
os.environ.setdefault("VITALS", scene.VITALS)

from harness import FIXTURES, environment, wait_until  # noqa: E402: after the paths

RECORDINGS = FIXTURES / "recordings" / "0.1.0"
HANG, HANG_AGAIN = 10, 40
SERVE = "serve --listen 127.0.0.1:0"
LISTENING = re.compile(r"listening at (http://127\.0\.0\.1:(\d+)/)")
ALL = (  # what `calls` attacks
    "--json", "-1 --delay 0", "ps", "info {own}", "doctor", "run -- true", "run --json - -- true",
    "run --record new.db -- true", "track --json - {child}", "record -n 2 --interval 0.05 new.db",
    "-1 --from {demo}", "replay {recordings}/plain.db --screen 120x40", "report {recordings}/run.db",
    "kill --yes --name no-such-name", "--screen 80x24", SERVE)
MORE = (
    "--json --demo", "--json --interval 0.05 --count 3", "--json --from {demo}", "-1 --from {recordings}/plain.db",
    "-1 --demo", "ps --json", "ps --tree -o pid,user,pss,cmd", "info --json {own}", "doctor --json", "topo --json",
    "device --demo", "device --json --demo", "topo --demo", "select --demo", "--screen 120x40:tree --demo",
    "record -n 2 --interval 0.05 -", "report --json {recordings}/account.json",
    "report --html new.html {recordings}/run.db", "compare {recordings}/account.json {recordings}/run.db")
# A kernel that says EINTR or EAGAIN for ever is none, so these come now and then.
ERRNOS = {
    "open": "EACCES EMFILE ENOENT ENOMEM ENOSYS", "read": "EIO ESRCH EINTR EAGAIN", "write": "EIO ENOSPC EINTR",
    "close": "EIO EINTR", "stat": "EACCES ENOENT ENOMEM", "statx": "ENOSYS EACCES", "socket": "EMFILE EACCES",
    "connect": "ECONNREFUSED ENOENT", "send": "ECONNREFUSED ENOBUFS EAGAIN", "recv": "ENOBUFS EIO EINTR EAGAIN",
    "poll": "ENOMEM EINTR", "mmap": "ENOMEM EPERM", "fork": "EAGAIN ENOMEM EPERM", "thread": "EAGAIN EPERM",
    "pidfd": "ENOSYS EMFILE EPERM ESRCH", "readlink": "EACCES ENOENT", "opendir": "EACCES EMFILE ENOMEM",
    "readdir": "EIO ENOENT", "epoll": "EMFILE ENOSPC", "eventfd": "EMFILE ENOMEM", "timerfd": "EMFILE ENOMEM",
    "prctl": "EINVAL EPERM", "socketpair": "EMFILE ENOMEM", "pipe": "EMFILE ENFILE", "signalfd": "EMFILE ENOSYS",
    "perf": "EACCES EMFILE ENOSYS"}
NOW_AND_THEN = ("EINTR", "EAGAIN")
RUN_ALONE = "none 0 0 0"


class Run:
    """A command, while VITALS_ATTACK says which of its calls fail; what is left of it."""

    def __init__(self, command, attack, places, seconds=HANG):
        self.command, self.attack = command, attack
        with tempfile.TemporaryDirectory(prefix="vitals-attack-", ignore_cleanup_errors=True) as name, \
                subprocess.Popen(["sleep", "0.3"] if "{child}" in command else ["true"]) as child:
            self.folder = pathlib.Path(name)
            threading.Thread(target=child.wait, daemon=True).start()  # what is a zombie has not ended
            words = shlex.split(command.format(child=child.pid, **places))
            env = environment(LD_PRELOAD=scene.BUILD / "tests" / "command" / "attack_preload.so", VITALS_ATTACK=attack,
                              VITALS_ATTACK_FOLDER=name, HOME=name, TMPDIR=name, XDG_RUNTIME_DIR=name,
                              XDG_CONFIG_HOME=None, XDG_STATE_HOME=None, LC_ALL="C.UTF-8")
            with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
                program = subprocess.Popen([scene.VITALS, *words], cwd=name, env=env, stdin=subprocess.DEVNULL,
                                           stdout=out, stderr=err, start_new_session=True)
                self.hangs = not self.ends(program, command.startswith("serve"), seconds)
            if self.hangs:
                os.killpg(program.pid, signal.SIGKILL)
            self.code = program.wait()
            self.out = (self.folder / "out").read_bytes()
            self.lines = set(re.sub(r"[\d.,]+", "#", line) for line in self.said().splitlines())
            self.crashes = self.crashes_in((self.folder / "crashes").read_text())
            rows = struct.iter_unpack("16sQQ", (self.folder / "calls").read_bytes())
            self.calls = {family.rstrip(b"\0").decode(): (most, failed) for family, most, failed in rows}

    def said(self):
        return (self.folder / "err").read_text(errors="replace")

    def ends(self, program, serves, seconds):
        try:
            if serves:
                with contextlib.suppress(AssertionError):  # it may not be able to say it
                    wait_until(lambda: LISTENING.search(self.said()) or program.poll() is not None, seconds=seconds)
                program.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    program.wait(1)
                program.terminate()  # the first may be lost in the pipe of signals, if writes fail
            program.wait(seconds)
        except (AssertionError, subprocess.TimeoutExpired):
            return False
        return True

    def crashes_in(self, text):
        """For each: the program or library that is to blame, and the stack."""
        found = [(blame(stack.splitlines()[1:]), stack) for stack in text.split("crash ")[1:]]
        if not found and self.code < 0 and self.code != -signal.SIGTERM and not self.hangs:
            found = [("vitals", f"signal {-self.code}, no stack")]
        return found

    def is_silent(self, plain):
        if self.lines - plain.lines:
            return False
        if self.code != 0:
            return self.code != plain.code and not (self.command.startswith("doctor") and self.out)  # its findings
        if "--json" in self.command and not is_json(self.out):
            return True
        return bool(plain.out) and not self.out


def is_json(data):
    try:
        return bool([json.loads(line) for line in data.splitlines()])
    except ValueError:
        try:
            return bool(json.loads(data))
        except ValueError:
            return False


def blame(frames):
    """Of lines as "FILE(SYMBOL+OFFSET) [ADDRESS]", the newest first."""
    for frame in frames:
        file, _, symbol = frame.partition("(")
        name = pathlib.Path(file).name
        if re.match(r"(__)?(nss|get(pw|gr|spnam|host))", symbol):
            return "libc's NSS"
        if not re.match(r"attack_preload|libc[.-]|libpthread|ld-linux|linux-vdso", name):
            return "vitals" if name in ("vitals", "vitals-full", "tell") else name
    return "libc"


def attack(tasks, plain, arguments, places):
    """Runs (command, attack) until the time is over; prints and counts. The number of what must not be."""
    counts, blamed, until = collections.Counter(), collections.Counter(), time.monotonic() + arguments.seconds
    random.Random(arguments.seed).shuffle(tasks)

    def one(task):
        if time.monotonic() > until:
            return None
        run = Run(*task, places)
        return Run(*task, places, HANG_AGAIN) if run.hangs else run

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for run in filter(None, pool.map(one, tasks)):
            counts["runs"] += 1
            counts["with a failure"] += run.calls[run.attack.split()[0]][1] > 0
            blamed.update(set(culprit for culprit, _ in run.crashes))
            is_silent = not run.crashes and not run.hangs and run.is_silent(plain[run.command])
            counts["hangs"] += run.hangs
            counts["silent failures"] += is_silent
            if run.hangs or is_silent or any(culprit == "vitals" for culprit, _ in run.crashes):
                stack = "\n".join(stack for culprit, stack in run.crashes if culprit == "vitals")
                print(f"{'hangs' if run.hangs else 'silent' if is_silent else 'crashes'}: vitals {run.command}: "
                      f"{run.attack}, exit {run.code} {stack}", flush=True)
    print(f"  {counts['runs']} of {len(tasks)} runs, {counts['with a failure']} with a failure, crashes: "
          f"{dict(blamed) or 0}, hangs: {counts['hangs']}, silent failures: {counts['silent failures']}")
    return blamed["vitals"] + counts["hangs"] + counts["silent failures"]


@contextlib.contextmanager
def prepared(commands):
    """The files that the commands need, and each of them run without a failure."""
    with tempfile.TemporaryDirectory(prefix="vitals-attack-") as name:
        demo, recordings = pathlib.Path(name, "demo.json"), pathlib.Path(name, "recordings")
        with open(demo, "wb") as out:
            subprocess.run([scene.VITALS, "--json", "--demo"], stdout=out, stdin=subprocess.DEVNULL, env=environment(),
                           check=True)
        shutil.copytree(RECORDINGS, recordings)
        places = {"own": os.getpid(), "demo": demo, "recordings": recordings}
        plain = {command: Run(command, RUN_ALONE, places, 60) for command in commands}
        for command, run in plain.items():
            if run.hangs or run.crashes or run.is_silent(run) or (run.code != 0 and not run.lines):
                raise SystemExit(f"vitals {command}: exit {run.code} without any attack: {run.lines}")
        yield places, plain


def malloc(arguments):
    chance, tasks = random.Random(arguments.seed), []
    with prepared(ALL + MORE) as (places, plain):
        for command, run in plain.items():
            count = run.calls["malloc"][0]
            for every, most in ((0, 400), (1, 70)):
                for n in chance.sample(range(1, count + 1), min(count, most)):
                    tasks.append((command, f"malloc {n} {every} {errno.ENOMEM}"))
        print(f"malloc: {len(plain)} commands, {sum(run.calls['malloc'][0] for run in plain.values())} allocations")
        return attack(tasks, plain, arguments, places)


def calls(arguments):
    tasks = []
    with prepared(ALL) as (places, plain):
        for command, run in plain.items():
            for family, names in ERRNOS.items():
                count = run.calls[family][0]
                patterns = [(n, 0) for n in (1, 2, 3, 5, 8, 13, 21, 55, 144)] + [(n, 1) for n in (1, 2, 5, 21)]
                patterns += [(k, k) for k in (2, 3, 7)]
                tasks += [(command, f"{family} {n} {every} {getattr(errno, name)}") for name in names.split()
                          for n, every in patterns if n <= count and (every != 1 or name not in NOW_AND_THEN)]
        print(f"calls: {len(plain)} commands, {len(ERRNOS)} families of calls")
        return attack(tasks, plain, arguments, places)
