"""vitals run, track, serve and send, and the program that they start: what it is asked for, fed with and
says. It is a script here, which writes down, hangs, dies or floods, as each test has it; what the real
one does is tested beside each publisher."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import textwrap
import time
import unittest

from harness import VITALS, environment, started, vitals, wait_until

PATIENCE = 60  # seconds: a busy machine
LOOKS = 100 * PATIENCE  # of a job, twenty a second: some minutes

# Writes every line into lines, and what an artifact begins with into artifacts.
TELLER = """\
#!/usr/bin/env python3
import json, os, signal, sys, time
folder = os.path.dirname(os.path.abspath(__file__))
def say(**line):
    print(json.dumps(line), flush=True)
open(folder + "/pid", "w").write(str(os.getpid()))
lines = open(folder + "/lines", "wb", buffering=0)
first = sys.stdin.buffer.readline()
lines.write(first)
hello = json.loads(first)
{first}
for line in sys.stdin.buffer:
    lines.write(line)
    for path in json.loads(line)["artifacts"] if line.startswith(b'{"artifacts":') else []:
        open(folder + "/artifact", "wb").write(open(path, "rb").read())
        open(folder + "/artifact_path", "w").write(path)
{last}
open(folder + "/ended", "w").close()
say(done=True)
"""


class Teller:
    """A program in place of libexec/vitals/tell, of which `first` and `last` are Python."""

    def __init__(self, first="", last="", first_of_all=""):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vitals-teller-"))
        self.program = self.folder / "tell"
        first = textwrap.dedent(first_of_all) + textwrap.dedent(first)
        self.program.write_text(TELLER.replace("{first}", first)
                                .replace("{last}", textwrap.dedent(last)))
        self.program.chmod(0o700)

    def environment(self, **changes):
        return {"VITALS_TELL": self.program, "TMPDIR": self.folder, **changes}

    def run(self, *arguments, **options):
        env = self.environment(**options.pop("env", {}))
        return vitals(*arguments, env=env, timeout=PATIENCE, **options)

    def start(self, *arguments, **options):
        return started([VITALS, *map(str, arguments)], env=environment(**self.environment()),
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, **options)

    def raw(self):
        place = self.folder / "lines"
        return place.read_bytes().split(b"\n")[:-1] if place.exists() else []

    def lines(self):
        """Every line; None for one that is no JSON."""
        result = []
        for line in self.raw():
            if line:
                try:
                    result.append(json.loads(line))
                except ValueError:
                    result.append(None)
        return result

    def hello(self):
        return self.lines()[0]

    def having(self, member):
        return [line[member] for line in self.lines() if line and member in line]

    def ended(self):
        wait_until((self.folder / "ended").exists, "the end of the program", PATIENCE)
        return self

    def lives(self):
        try:
            return pathlib.Path(f"/proc/{self.pid()}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def pid(self):
        wait_until(lambda: (self.folder / "pid").exists() and (self.folder / "pid").read_text(),
                   "its start", PATIENCE)
        return int((self.folder / "pid").read_text())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)
        except (OSError, ValueError):
            pass
        for path in self.folder.rglob("*"):
            if not path.is_dir():
                path.unlink()
        for path in sorted(self.folder.rglob("*"), reverse=True):
            path.rmdir()
        self.folder.rmdir()


MLFLOW = 'say(opened="mlflow", run_id="0123abc")'


def said(done):
    """What vitals said, without the lines of an account."""
    return [line for line in done.stderr.splitlines()
            if line.startswith("vitals: ") and " finished in " not in line and ": next time: " not in line]


class TellingOfARun(unittest.TestCase):
    def test_what_it_is_asked_for(self):
        with Teller(MLFLOW) as teller:
            done = teller.run("run", "--mlflow=http://127.0.0.1:5000", "--mlflow-experiment", "a \"b\"",
                              "--mlflow-name", "n", "--mlflow-interval", "2s", "--mlflow-samples", 3,
                              "--max-memory", "2GiB", "--max-cpus", 4, "--otlp", "--tensorboard", "/t b",
                              "--tell-wait", "20s", "--", "true")
            self.assertEqual(done.returncode, 0, done.stderr)
            hello = teller.ended().hello()
        self.assertEqual(hello["tell"], 1)
        self.assertEqual(hello["program"], "run")
        self.assertEqual(hello["patience_seconds"], 20)
        mlflow = hello["mlflow"]
        self.assertEqual(mlflow["uri"], "http://127.0.0.1:5000")
        self.assertEqual(mlflow["experiment"], 'a "b"')
        self.assertEqual(mlflow["run_name"], "n")
        self.assertEqual(mlflow["prefix"], "system/process/")
        self.assertEqual(mlflow["interval_seconds"], 2)
        self.assertEqual(mlflow["samples"], 3)
        self.assertEqual(mlflow["max_memory_bytes"], 2 << 30)
        self.assertEqual(mlflow["max_cpus"], 4)
        self.assertEqual(hello["otlp"], {})
        self.assertEqual(hello["tensorboard"], {"folder": "/t b"})

    def test_samples_usage_and_the_account_arrive(self):
        with Teller() as teller:
            done = teller.run("run", "--otlp", "--interval", "100ms", "-q", "--", "sh", "-c",
                              "sleep 0.5; exit 7")
            self.assertEqual((done.returncode, done.stdout), (7, ""))
            lines = teller.ended().lines()
            self.assertNotIn(None, lines)
            usages, accounts = map(teller.having, ("usage", "account"))
            snapshots = [line for line in lines if "schema" in line]
        self.assertGreater(len(snapshots), 2)
        self.assertEqual(len(usages), len(snapshots))
        self.assertIn("gpu", snapshots[-1]["tables"])
        for usage, snapshot in zip(usages, snapshots):
            self.assertEqual(usage["realtime_ns"], snapshot["realtime_ns"])
        self.assertTrue(any(value[:3] == ["tree", "", "memory_resident_bytes"] and value[4] > 0
                            for usage in usages for value in usage["values"] if value[4] is not None))
        self.assertEqual(len(accounts), 1)
        self.assertEqual(accounts[0]["exit_code"], 7)
        self.assertEqual(lines[-1]["status"], {"state": "exited", "code": 7, "signal": 0})

    def test_how_it_ended(self):
        for script, options, status in (
                ("kill -9 $$", (), {"state": "signaled", "code": 137, "signal": 9}),
                ("sleep 100", ("--limit-time", "200ms"), {"state": "limit", "signal": 15})):
            with self.subTest(script=script), Teller() as teller:
                teller.run("run", "--otlp", "-q", *options, "--", "sh", "-c", script)
                told = teller.ended().lines()[-1]["status"]
                self.assertEqual({key: told[key] for key in status}, status)

    def test_the_command_finds_its_run(self):
        with Teller(MLFLOW) as teller:
            done = teller.run("run", "-q", "--mlflow=http://h:1", "--", "sh", "-c",
                              'echo "$MLFLOW_RUN_ID $MLFLOW_TRACKING_URI"; env | grep -c ^MLFLOW_RUN_ID',
                              env={"MLFLOW_RUN_ID": "another"})
            self.assertEqual(done.stdout, "0123abc http://h:1\n1\n", done.stderr)
        with Teller(MLFLOW) as teller:
            done = teller.run("run", "-q", "--mlflow", "--", "sh", "-c", 'echo "$MLFLOW_TRACKING_URI"',
                              env={"MLFLOW_TRACKING_URI": "http://own:2"})
            self.assertEqual(done.stdout, "http://own:2\n", done.stderr)
            self.assertNotIn("uri", teller.ended().hello()["mlflow"])

    def test_the_page_is_an_artifact_and_no_trace_of_it_stays(self):
        for record in ((), ("--record",)):
            with self.subTest(record=record), Teller(MLFLOW) as teller:
                where = (*record, teller.folder / "run.db") if record else ()
                teller.run("run", "-q", "--mlflow", *where, "--", "sh", "-c", "echo s3cret > /dev/null")
                teller.ended()
                page = (teller.folder / "artifact").read_text()
                path = pathlib.Path((teller.folder / "artifact_path").read_text())
                self.assertIn("<html", page)
                self.assertNotIn("s3cret", page)
                self.assertNotIn(str(teller.folder), page)
                self.assertEqual(path.name, "report.html")
                self.assertFalse(path.parent.exists())

    def test_no_command_line_leaves_unless_asked(self):
        secret = "s3cret-argument"
        for policy, leaves in ((None, False), ("off", False), ("argv0", False), ("full", True)):
            with self.subTest(policy=policy), Teller(MLFLOW) as teller:
                done = teller.run("run", "-q", "--mlflow", *(("--cmdline", policy) if policy else ()),
                                  "--", "sh", "-c", f"sleep 0.2; : {secret}")
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = teller.ended().raw()
                if policy == "argv0":  # those of processes are cut by whoever tells of them
                    lines = [line for line in lines if not line.startswith(b'{"schema"')]
                self.assertEqual(secret.encode() in b"\n".join(lines), leaves)
                self.assertEqual(secret in (teller.folder / "artifact").read_text(), leaves)

    def test_what_it_says_is_read(self):
        with Teller('say(say="a\\x1b[31m word"); say(failed="otlp", message="no such\\nhost")',
                    'say(say="2 points are kept")') as teller:
            done = teller.run("run", "-q", "--otlp", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("\x1b", done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 3, done.stderr)
        self.assertTrue(lines[1].startswith("vitals: otlp: no such"), lines)
        self.assertEqual(lines[2], "vitals: 2 points are kept")

    def test_a_recording_goes_on_beside(self):
        with Teller() as teller:
            database = teller.folder / "run.db"
            done = teller.run("run", "-q", "--otlp", "--record", database, "--", "sleep", "0.3")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertGreater(len(teller.ended().having("usage")), 1)
            self.assertEqual(vitals("report", database).returncode, 0)


def catches(pid, number):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1


def watcher_of(launcher):
    """The sampler's process: the child of a launcher that is vitals too."""
    children = pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    return next(int(pid) for pid in children
                if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "vitals")


class WhatGoesWrong(unittest.TestCase):
    def test_no_program(self):
        with Teller() as teller:
            teller.program.unlink()
            done = teller.run("run", "-q", "--mlflow", "--", "sh", "-c", "echo ran; exit 5")
            self.assertEqual((done.returncode, done.stdout), (5, "ran\n"))
            self.assertIn(f"the exporter, {teller.program}: not installed (package vitals-exporter)", done.stderr)
            self.assertEqual(len(said(done)), 1)
            done = teller.run("serve")
            self.assertEqual(done.returncode, 1)
            self.assertIn("not installed", done.stderr)

    def test_it_dies_or_is_none(self):
        for first in ("os._exit(3)", "os.close(1); os.close(2); os.kill(os.getpid(), 9)",
                      "sys.exit('no library')"):
            with self.subTest(first=first), Teller(first) as teller:
                done = teller.run("run", "-q", "--mlflow", "--interval", "50ms", "--", "sh", "-c",
                                  "sleep 0.4; exit 5")
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn(len(said(done)), (1, 2), done.stderr)

    def test_it_hangs(self):
        with Teller("while True: time.sleep(100)") as teller:
            begun = time.monotonic()
            done = teller.run("run", "-q", "--mlflow", "--tell-wait", "300ms", "--interval", "20ms", "--",
                              "sh", "-c", "sleep 0.3; exit 5")
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn("no run yet after 0.3 s", done.stderr)
            self.assertLess(time.monotonic() - begun, PATIENCE / 2)
            os.kill(teller.pid(), 0)  # left behind, and alive

    def test_a_signal_at_the_end_costs_the_waiting_alone(self):
        """What the job gave is given, and nothing stays behind; before the account left, and after."""
        for deaf in (False, True):
            hang = "time.sleep(100000)"
            with self.subTest(deaf=deaf), Teller(f"{MLFLOW}\nif {deaf}: {hang}", hang) as teller:
                mark = teller.folder / "job"
                run = teller.start("run", "-q", "--mlflow", "--tell-wait", "3000s", "--", "sh", "-c",
                                   f"echo $$ > {mark}; exit 7")
                if deaf:
                    wait_until(lambda: catches(run.pid, signal.SIGQUIT), "the last part", PATIENCE)
                else:
                    wait_until(lambda: teller.having("artifacts"), "the page", PATIENCE)
                for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
                    run.send_signal(number)
                _, err = run.communicate(timeout=PATIENCE)
                self.assertEqual(run.returncode, 7, err)
                self.assertIn("was not done in time and goes on alone", err)
                self.assertEqual(list(teller.folder.glob("vitals-??????")), [])
                self.assertEqual(len(teller.having("account")), 0 if deaf else 1)

    def test_an_end_that_nobody_hears_is_said(self):
        for last, wait, told in (("os._exit(1)", "50s", "ended before everything was sent"),
                                 ("while True: time.sleep(100)", "2s", "was not done in time")):
            for options in (("--otlp",), ("--mlflow",)):
                with self.subTest(last=last, options=options), Teller(MLFLOW, last) as teller:
                    done = teller.run("run", "-q", *options, "--tell-wait", wait, "--", "sh", "-c", "exit 5")
                    self.assertEqual(done.returncode, 5)
                    self.assertIn(told, done.stderr)
                    self.assertEqual("vitals send" in done.stderr, "--mlflow" in options, done.stderr)
                    self.assertEqual(len(said(done)), 1, done.stderr)

    def test_what_it_did_not_take_is_counted(self):
        with Teller("while not os.path.exists(folder + '/go'): time.sleep(0.02)") as teller:
            done = teller.run("run", "-q", "--otlp", "--interval", "10ms", "--tell-wait", "50s", "--", "sh", "-c",
                              f"sleep 5; touch {teller.folder}/go; sleep 0.5")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"^vitals: \d+ samples or accounts were not exported")
            self.assertEqual(len(teller.ended().having("account")), 1)

    def test_it_floods(self):
        with Teller("""
                import threading
                def flood():
                    while True:
                        os.write(1, b"x" * 100 + b"\\n")
                os.write(1, (b"y" * 100 + b"\\n") * 200)
                threading.Thread(target=flood, daemon=True).start()
                """) as teller:
            done = teller.run("run", "-q", "--otlp", "--tell-wait", "50s", "--", "sh", "-c", "exit 5")
            self.assertEqual(done.returncode, 5)
            self.assertEqual(len(said(done)), 5, done.stderr[:1000])

    def test_the_job_outlives_all_of_us(self):
        """Whoever of us is killed: the job goes on, and the program sees the end of its pipe."""
        for victim in ("launcher", "watcher", "teller"):
            with self.subTest(victim=victim), Teller() as teller:
                mark = teller.folder / "job"
                # It ends by itself where nobody is left who would tell it to.
                run = teller.start("run", "-q", "--otlp", "--", "sh", "-c",
                                   f"echo $$ > {mark}; left={LOOKS}; while [ ! -e {mark}.end ]; do "
                                   "left=$((left - 1)); [ $left -gt 0 ] || exit 1; sleep 0.05; done; "
                                   f"echo done > {mark}.done")
                wait_until(lambda: teller.having("usage"), "a sample", PATIENCE)
                os.kill({"launcher": lambda: run.pid, "teller": teller.pid,
                         "watcher": lambda: watcher_of(run.pid)}[victim](), signal.SIGKILL)
                if victim == "launcher":
                    run.wait()
                    teller.ended()
                    self.assertEqual(teller.having("account"), [])
                pathlib.Path(f"{mark}.end").touch()
                wait_until(pathlib.Path(f"{mark}.done").exists, "the job's end", PATIENCE)
                run.communicate(timeout=PATIENCE)
                if victim == "watcher":
                    self.assertEqual(len(teller.ended().having("account")), 1)
                self.assertEqual(run.returncode, -signal.SIGKILL if victim == "launcher" else 0)

    def test_it_is_no_process_of_the_job(self):
        with Teller("time.sleep(0.2)") as teller:
            account = teller.folder / "account.json"
            done = teller.run("run", "-q", "--otlp", "--wait", "--json", account, "--", "sleep", "0.3")
            self.assertEqual(done.returncode, 0, done.stderr)
            figures = {figure["name"]: figure for figure in json.loads(account.read_text())["figures"]
                       if not figure.get("subject")}
        self.assertEqual(figures["processes"]["value"], 1)

    def test_usage(self):
        for arguments, said in ((("--repeat", 2, "--otlp"), "--repeat"),
                                (("--mlflow-run", "x"), "--mlflow"),
                                (("--mlflow", "--max-memory", "much"), "--max-memory much"),
                                (("--otlp", "--cmdline", "some"), "off|argv0|redacted|full"),
                                (("--otlp", "--tell-wait", "-1"), "--tell-wait")):
            with self.subTest(arguments=arguments), Teller() as teller:
                done = teller.run("run", *arguments, "--", "sh", "-c", "echo ran")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(said, done.stderr)
                self.assertFalse(teller.lines())


class TellingOfATrack(unittest.TestCase):
    def test_samples_and_the_account_arrive(self):
        with Teller() as teller, started(["sleep", "1"]) as sleeper:
            done = teller.run("track", "-q", "--otlp", "--interval", "100ms", sleeper.pid)
            self.assertEqual(done.returncode, 0, done.stderr)
            hello = teller.ended().hello()
            usages, accounts = teller.having("usage"), teller.having("account")
            self.assertNotIn(None, teller.lines())
        self.assertEqual((hello["program"], hello["job"]["pid"]), ("track", sleeper.pid))
        self.assertGreater(len(usages), 2)
        self.assertEqual(len(accounts), 1)

    def test_nobody_is_told_of_a_pid_that_is_nobodys(self):
        with Teller(MLFLOW) as teller:
            done = teller.run("track", "--mlflow", 4194304)
            self.assertEqual(done.returncode, 1)
            self.assertFalse(teller.lines())


class TellingOfARecording(unittest.TestCase):
    def test_samples_and_the_account_arrive(self):
        with Teller(MLFLOW) as teller:
            database = teller.folder / "machine.db"
            done = teller.run("record", "--mlflow", "--interval", "100ms", "--count", 4, database)
            self.assertEqual(done.returncode, 0)
            # On a busy machine a reading may take longer than the interval, which is said.
            self.assertRegex(done.stderr, r"^(vitals: \d+ of \d+ samples were missed.*\n)?$")
            hello, lines = teller.ended().hello(), teller.lines()
            self.assertNotIn(None, lines)
            self.assertEqual(hello["program"], "record")
            self.assertEqual(len(teller.having("usage")), 4)
            self.assertEqual(len(teller.having("account")), 1)
            self.assertEqual(teller.having("status")[0]["state"], "unknown")
            self.assertIn("<html", (teller.folder / "artifact").read_text())

    def test_the_end_of_one_that_fails_is_told(self):
        with Teller() as teller:
            with open("/dev/full", "w", encoding="ascii") as full:
                record = started([VITALS, "record", "--otlp", "--format", "csv", "--interval", "50ms", "-"],
                                 env=environment(**teller.environment()), stdout=full, stderr=subprocess.PIPE,
                                 text=True)
            _, err = record.communicate(timeout=PATIENCE)
            self.assertEqual(record.returncode, 1, err)
            self.assertIn("No space left", err)
            self.assertEqual(len(teller.ended().having("account")), 1)


class Sending(unittest.TestCase):
    def test_each_file(self):
        with Teller() as teller:
            done = teller.run("send", teller.folder / "a")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(teller.ended().hello()["mlflow"],
                             {"resume": str(teller.folder / "a"), "away_seconds": 30})

    def test_what_cannot_be_sent(self):
        for first, code in (('say(failed="mlflow", message="no server")', 1), ("os._exit(0)", 1)):
            with self.subTest(first=first), Teller(first) as teller:
                done = teller.run("send", "/nowhere")
                self.assertEqual(done.returncode, code)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(vitals("send").returncode, 2)


SERVE = 'say(opened="serve", url="http://127.0.0.1:1/")'


class Serving(unittest.TestCase):
    def serve(self, teller, *arguments):
        return teller.start("serve", "--demo", "--interval", "100ms", *arguments)

    def stop(self, server, number=signal.SIGTERM):
        server.send_signal(number)
        out, err = server.communicate(timeout=PATIENCE)
        return server.returncode, out, err

    def test_what_it_is_asked_for(self):
        with Teller(SERVE) as teller:
            server = self.serve(teller, "--listen", "0.0.0.0,[::1]:80,::1,unix:/x", "--port", 12, "--web-config",
                                "w.yml", "--allow-host", "a,b", "--processes", "pid", "--label-user",
                                "hash", "--compat", "nvitop-exporter", "--textfile", "/x.prom", "--otlp=http://u")
            wait_until(lambda: len(teller.lines()) > 2, "samples", PATIENCE)
            code, out, err = self.stop(server)
            self.assertEqual((code, out, err), (0, "", "vitals: listening at http://127.0.0.1:1/\n"))
            hello = teller.ended().hello()
            snapshots = [line for line in teller.lines() if "schema" in line]
        serve = hello["serve"]
        self.assertEqual(serve["listen"], ["0.0.0.0:12", "[::1]:80", "[::1]:12", "unix:/x"])
        self.assertEqual((serve["web_config"], serve["hosts"], serve["allow_insecure"]),
                         ("w.yml", ["a", "b"], False))
        for member in (serve, hello["textfile"]):
            self.assertEqual((member["processes"], member["label_user"], member["compat"]),
                             ("pid", "hash", "nvitop-exporter"))
        self.assertEqual(hello["otlp"], {"endpoint": "http://u"})
        pids = {row["pid"] for row in snapshots[-1]["tables"]["process"]}
        self.assertIn(os.getpid(), pids)  # --processes pid: every one
        self.assertNotIn("command_line", snapshots[-1]["columns"]["process"])

    def test_every_process_only_while_it_is_wanted(self):
        with Teller(SERVE, first_of_all="""
                import threading
                def want():
                    while not os.path.exists(folder + "/want"): time.sleep(0.02)
                    say(want="processes")
                    while not os.path.exists(folder + "/enough"): time.sleep(0.02)
                    say(want="few")
                threading.Thread(target=want, daemon=True).start()
                """) as teller:
            # Without devices: those of a demo have whoever lives for users.
            server = teller.start("serve", "--backends", "none", "--interval", "100ms")

            def listed():
                return [line["processes"] for line in teller.lines() if line and "processes" in line]

            def samples():
                return [line for line in teller.lines() if line and "schema" in line]

            wait_until(lambda: len(samples()) > 2, "samples", PATIENCE)
            self.assertEqual(listed(), [])
            (teller.folder / "want").touch()
            wait_until(lambda: len(listed()) > 2, "every process", PATIENCE)
            (teller.folder / "enough").touch()

            def few_again():
                return [line and next(iter(line)) for line in teller.lines()][-3:] == ["schema"] * 3

            wait_until(few_again, "few again", PATIENCE)
            self.assertEqual(self.stop(server)[0], 0)
            teller.ended()
            every, snapshots = listed(), samples()
        # The one that counts goes on as it was; the other has nothing but processes.
        self.assertEqual(len({line["stream"] for line in snapshots}), 1)
        numbers = [line["sequence"] for line in snapshots]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(len({line["stream"] for line in every} - {snapshots[0]["stream"]}), 1)
        for line in every:
            self.assertIn(os.getpid(), {row["pid"] for row in line["tables"]["process"]})
            self.assertEqual(set(line["tables"]), {"process"})
            self.assertNotIn("command_line", line["columns"]["process"])
            self.assertIn("workload", line["columns"]["process"])
        for line in snapshots:
            self.assertNotIn(os.getpid(), {row["pid"] for row in line["tables"]["process"]})

    def test_nothing_of_processes_where_they_are_off(self):
        with Teller(SERVE, 'say(want="processes")') as teller:
            server = self.serve(teller, "--processes", "off")
            wait_until(lambda: len(teller.lines()) > 4, "samples", PATIENCE)
            self.assertEqual(self.stop(server)[0], 0)
            lines = teller.ended().lines()[1:]
        for line in filter(None, lines):
            self.assertIn("gpu", line["tables"])
            for table in ("process", "gpu_process", "workload"):
                self.assertNotIn(table, line["tables"])

    def test_the_limits_of_our_own_service_are_not_the_machines(self):
        with Teller(SERVE) as teller:
            server = self.serve(teller)
            wait_until(lambda: len(teller.lines()) > 1, "a sample", PATIENCE)
            self.assertEqual(self.stop(server)[0], 0)
            columns = teller.ended().lines()[1]["columns"]["host"]
        self.assertIn("memory_total_bytes", columns)
        self.assertEqual([name for name in columns if name.startswith("cgroup_")], [])

    def test_who_hangs_does_not_keep_the_port(self):
        with Teller(SERVE, "while True: time.sleep(100)") as teller:
            server = self.serve(teller)
            wait_until(lambda: len(teller.lines()) > 1, "a sample", PATIENCE)
            self.assertEqual(self.stop(server)[0], 0)
            wait_until(lambda: not teller.lives(), "its end", PATIENCE)

    def test_it_cannot(self):
        for first, said in (('say(failed="serve", message="127.0.0.1:9847: in use")',
                             "vitals: 127.0.0.1:9847: in use\n"),
                            ("os._exit(0)", "the exporter ended")):
            with self.subTest(first=first), Teller(first) as teller:
                server = self.serve(teller)
                out, err = server.communicate(timeout=PATIENCE)
                self.assertEqual((server.returncode, out), (1, ""))
                self.assertIn(said, err)
                # On a busy machine a sample may come while the exporter ends.
                lines = [line for line in err.splitlines() if "dropped: not taken in time" not in line]
                self.assertEqual(len(lines), 1, err)

    def test_who_does_not_read_loses_samples_and_stops_nothing(self):
        with Teller(SERVE + "\nwhile not os.path.exists(folder + '/go'): time.sleep(0.02)") as teller:
            server = self.serve(teller, "--processes", "pid")
            time.sleep(3)  # that much does not fit into the pipe
            (teller.folder / "go").touch()
            wait_until(lambda: len(teller.lines()) > 5, "samples", PATIENCE)
            code, _, err = self.stop(server, signal.SIGINT)
            self.assertEqual(code, 0, err)
            self.assertNotIn(None, teller.ended().lines())

    def test_usage(self):
        for arguments in (("--processes", "some"), ("--label-user", "x"), ("--compat", "y"),
                          ("--cmdline", ""), ("--interval", "0"), ("--max-processes", "0"), ("word",)):
            with self.subTest(arguments=arguments), Teller() as teller:
                done = teller.run("serve", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertFalse(teller.lines())

    def test_a_port_alone_is_no_address(self):
        with Teller() as teller:
            done = teller.run("serve", "--listen", "9848")
            self.assertEqual((done.returncode, teller.lines()), (2, []), done.stderr)
            self.assertIn("--listen 9848: a number is not an address; did you mean --port 9848?", done.stderr)


if __name__ == "__main__":
    unittest.main()
