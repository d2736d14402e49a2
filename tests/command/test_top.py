"""`vitals top`: real `vitals serve` on loopback beside machines that are dead, hang, babble, lie and ask
for a login."""

import collections
import contextlib
import copy
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

import jsonschema
from harness import BUILD, SOURCE, VITALS, environment, for_every_user, vitals, wait_until
from input_events import BUILT, Events
from served import Server, certificate
from stranger import Stranger, demo, endless, hangs, machine, says, stop

TELLS = f"env VITALS_TELL={for_every_user(BUILD.resolve() / 'tell')}"  # it is not beside the program of events
DEVICES = 5  # of the demo, two of them parts of one
LIMIT = 1024 * 1024  # POLL_ANSWER_MAX
FORM = jsonschema.Draft202012Validator(json.loads((SOURCE / "docs/schema/fleet.json").read_text()))


def hostile():
    """A snapshot of the demo whose users, devices and jobs have names that no terminal should get."""
    document = demo()
    for process in document["tables"]["process"]:
        process.get("availability", {}).pop("user", None)
        process["user"] = "eve\x1b[2J\n\u202e"
    for gpu in document["tables"]["gpu"]:
        gpu["name"] = "\x1b]0;owned\x07 GPU"
    return json.dumps(document).encode()


def rows(count, **values):
    return [{"key": key, "parent": None, "label": "", "age_ns": 0} | values for key in range(1, count + 1)]


def snapshot(**tables):
    """A document with these tables and no column but those that are given: NAME=(columns, rows)."""
    whole = demo()
    whole["columns"] = {name: columns for name, (columns, _) in tables.items()}
    whole["tables"] = {name: rows for name, (_, rows) in tables.items()}
    return json.dumps(whole, separators=(",", ":")).encode()


def read_document(text):
    """What `--json` printed, whose form is checked: of rows that are thousands, the first and the last."""
    document = json.loads(text)
    FORM.validate(document | {"rows": document["rows"][:50] + document["rows"][-5:]})
    return document


class Top(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = [machine() for _ in range(3)]
        cls.names = [name for _, name in cls.machines]
        cls.hosts = ",".join(cls.names)
        for process, _ in cls.machines:
            cls.addClassCleanup(stop, process)
        for name in cls.names:
            wait_until(lambda name=name: cls.document("--hosts", name)["gpus"] == DEVICES, "devices of the demo")

    @staticmethod
    def document(*arguments):
        return read_document(vitals("top", "--json", "--host-timeout", "20", *arguments).stdout)

    @staticmethod
    def until(holds, *arguments):
        """A document with machines that hang, for which it waits as long as others need on a busy machine."""
        for timeout in (2, 10, 50):
            done = vitals("top", "--json", "--host-timeout", timeout, *arguments, timeout=120)
            document = read_document(done.stdout)
            if holds({one["host"]: one for one in document["machines"]}):
                break
        return document

    def stranger(self, answer):
        one = Stranger(answer)
        self.addCleanup(one.close)
        return one

    def test_each_device_has_a_row(self):
        done = vitals("top", "--hosts", self.hosts, "--width", 160, env={"LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertIn(f"3 of 3 machines answer  {3 * DEVICES} GPUs", lines[0])
        self.assertEqual(lines[1], "")
        self.assertEqual(lines[2].split(), ["HOST", "GPU", "NAME", "FREE", "UTIL", "USED", "TOTAL", "USERS",
                                            "POWER", "TEMP", "IDLE", "AGE", "JOBS"])
        self.assertEqual(len(lines), 3 + 3 * DEVICES)
        for name in self.names:
            self.assertEqual(sum(line.startswith(name) for line in lines), DEVICES)
        self.assertRegex(lines[3], r"127\.0\.0\.1:\d+ +0 +H100 80GB HBM3 .* 80\.00GiB .* \d+W +\d+C")

    def test_figures_are_those_of_the_machine(self):
        rows = self.document("--hosts", self.names[0])["rows"]
        own = demo()["tables"]["gpu"]
        self.assertEqual([row["memory_total_bytes"] for row in rows],
                         [gpu["memory_total_bytes"] for gpu in own if gpu["key"] not in {g["parent"] for g in own}])
        self.assertTrue(all(0 <= row["utilization_ratio"] <= 1 for row in rows if row["utilization_ratio"] is not None))

    def test_machines_users_and_jobs_are_sums(self):
        devices = self.document("--hosts", self.hosts)["rows"]
        nodes = self.document("--hosts", self.hosts, "--by", "node")["rows"]
        self.assertEqual([node["host"] for node in nodes], self.names)
        for node in nodes:
            own = [row for row in devices if row["host"] == node["host"]]
            self.assertEqual(node["gpus"], len(own))
            self.assertEqual(node["memory_total_bytes"], sum(row["memory_total_bytes"] or 0 for row in own))

        whole = demo()
        tables = whole["tables"]
        owners = {process["key"]: process for process in tables["process"]}
        for process in tables["process"]:
            for name in ("workload", "user"):
                process.get("availability", {}).pop(name, None)
            process["workload"], process["user"] = f"slurm:{process['key'] % 2}.0", f"user{process['key'] % 2}"
        expected = {}
        for user in tables["gpu_process"]:
            process = owners.get(user["process"])
            own = expected.setdefault(process["user"] if process else "?", [0, set()])
            own[0] += user["memory_used_bytes"]
            own[1].add(user["parent"])
        first, second = (self.stranger(says(json.dumps(whole).encode())) for _ in range(2))
        for by, names in (("user", lambda name: name), ("job", lambda name: name.replace("user", "slurm:") + ".0"
                                                         if name != "?" else name)):
            rows = self.document("--hosts", f"{first.name},{second.name}", "--by", by)["rows"]
            self.assertEqual({row[by]: (row["hosts"], row["gpus"], row["memory_used_bytes"]) for row in rows},
                             {names(name): (2, 2 * len(gpus), 2 * used) for name, (used, gpus) in expected.items()})
            used = [row["memory_used_bytes"] for row in rows]
            self.assertEqual(used, sorted(used, reverse=True))

    def test_rows_are_sorted_and_filtered(self):
        rows = self.document("--hosts", self.hosts, "--sort", "-power")["rows"]
        watts = [row["power_watts"] for row in rows]
        known = [one for one in watts if one is not None]
        self.assertEqual(watts, sorted(known, reverse=True) + [None] * (len(watts) - len(known)))
        rows = self.document("--hosts", self.hosts, "--filter", f"{self.names[1]} H100")["rows"]
        self.assertTrue(rows)
        self.assertTrue(all(row["host"] == self.names[1] and "H100" in row["name"] for row in rows))
        rest = self.document("--hosts", self.hosts, "--filter", f"!{self.names[1]}")["rows"]
        self.assertEqual(len(rest), 2 * DEVICES)

    def test_one_machine_delays_and_spoils_no_other(self):
        with socket.create_server(("127.0.0.1", 0)) as dead:
            closed = f"127.0.0.1:{dead.getsockname()[1]}"
        strangers = {
            "hangs": self.stranger(hangs), "rubbish": self.stranger(says(b"rubbish")),
            "endless": self.stranger(endless), "login": self.stranger(says(b"", "401 Unauthorized")),
            "other": self.stranger(says(b"{}")), "missing": self.stranger(says(b"", "404 Not Found")),
            "banner": self.stranger(lambda _, connection: connection.sendall(b"SSH-2.0-OpenSSH\r\n"))}
        names = {"dead": closed} | {kind: stranger.name for kind, stranger in strangers.items()}
        hosts = ",".join([*names.values(), *self.names])
        expected = {"hangs": ("silent", "no answer in time"), "dead": ("silent", "could not connect"),
                    "rubbish": ("other", "no JSON"), "endless": ("oversized", "above 1 MiB: run vitals there"),
                    "login": ("login", "login"), "other": ("other", "no snapshot of vitals"),
                    "missing": ("other", "404"), "banner": ("silent", "")}
        answer = {names[kind]: state for kind, (state, _) in expected.items()} | dict.fromkeys(self.names, "answers")
        document = self.until(lambda found: {name: one["state"] for name, one in found.items()} == answer,
                              "--hosts", hosts)
        found = {one["host"]: one for one in document["machines"]}
        self.assertEqual([found[name]["state"] for name in self.names], ["answers"] * 3)
        self.assertEqual(len([row for row in document["rows"] if row["memory_total_bytes"]]), 3 * DEVICES)
        for kind, (state, why) in expected.items():
            with self.subTest(kind):
                self.assertEqual(found[names[kind]]["state"], state, found[names[kind]])
                self.assertIn(why, found[names[kind]]["why"])
        # What one machine can make us hold is limited, whatever stands in buffers of sockets.
        self.assertLess(strangers["endless"].sent, LIMIT + 32 * 1024 * 1024)
        for row in document["rows"]:  # what is not known of a machine that does not answer is no zero
            if found[row["host"]]["state"] != "answers":
                self.assertIsNone(row["free"])
        del strangers["hangs"]
        others = ",".join([closed, *(stranger.name for stranger in strangers.values()), *self.names])
        table = vitals("top", "--hosts", others, "--host-timeout", "20", "--width", 200, timeout=120).stdout
        self.assertIn("3 of 10 machines answer", table)
        self.assertIn(f"{closed} (silent, never)", table)
        narrow = vitals("top", "--hosts", closed, "--screen", "80x24").stdout
        self.assertRegex(narrow, rf"(?m)^{re.escape(closed)} +could not connect to {re.escape(closed)}$")
        for row in self.document("--hosts", closed, "--by", "node")["rows"]:
            self.assertEqual({row[name] for name in ("gpus", "free", "utilization_ratio", "memory_used_bytes")}, {None})

    def test_machines_that_send_too_much(self):
        """They are told of, and no other machine loses a row."""
        devices, users = 12000, 6000
        many = self.stranger(says(snapshot(gpu=([], rows(devices)))))
        used = self.stranger(says(snapshot(gpu=([], rows(1)), gpu_process=([], rows(users, parent=1)))))
        hosts = ",".join([many.name, used.name, self.names[0]])
        for by in ("gpu", "node", "user"):
            with self.subTest(by):
                document = self.document("--hosts", hosts, "--by", by)
                self.assertEqual([one["cut"] for one in document["machines"]], [True, True, False])
                self.assertEqual(document["gpus"], devices + 1 + DEVICES)
        rest = self.document("--hosts", hosts)["rows"]
        self.assertEqual(len([row for row in rest if row["host"] == self.names[0]]), DEVICES)
        own = [row for row in rest if row["host"] == many.name]
        self.assertLess(len(own), devices)
        self.assertEqual((own[-1]["name"], own[-1]["free"]), ("too many to show", None))
        table = vitals("top", "--hosts", hosts, "--width", 200, "--host-timeout", "20").stdout
        self.assertIn(f"sent too much: {many.name}  {used.name}", table)

    def test_twenty_machines_that_lie_use_up_no_memory(self):
        liar = snapshot(gpu=([], rows(12000)))
        strangers = [self.stranger(says(liar)) for _ in range(20)]  # 240,000 devices
        done = vitals("top", "--hosts", ",".join([*(one.name for one in strangers), self.names[0]]), "--width", 200,
                      "--host-timeout", "60", timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sum(line.startswith(f"{self.names[0]} ") for line in done.stdout.splitlines()), DEVICES)

    def test_a_list_that_is_too_long_says_so(self):
        users = 60
        process = [one | {"user": f"user{one['key']:03}"} for one in rows(users)]
        uses = [one | {"process": one["key"]} for one in rows(users, parent=1)]
        stranger = self.stranger(says(snapshot(gpu=([], rows(1)), process=(["user"], process),
                                               gpu_process=(["process"], uses))))
        row = self.document("--hosts", stranger.name)["rows"][0]
        self.assertLess(len(row["users"]), users)
        self.assertIn("users", row["lower_bounds"])
        self.assertEqual(len(self.document("--hosts", stranger.name, "--by", "user")["rows"]), users)

    def test_a_mean_is_of_what_is_known(self):
        document = demo()
        for gpu, ratio in zip(document["tables"]["gpu"], (0.5, None, None, None, 1, None)):
            gpu["utilization_ratio"] = ratio
            gpu["availability"] = {name: why for name, why in gpu.get("availability", {}).items()
                                   if name != "utilization_ratio"} | ({} if ratio else {"utilization_ratio": "denied"})
        stranger = self.stranger(says(json.dumps(document).encode()))
        row = self.document("--hosts", stranger.name, "--by", "node")["rows"][0]
        self.assertEqual((row["utilization_ratio"], row["unknown"]["utilization_ratio"]), (0.75, DEVICES - 2))
        self.assertNotIn("utilization_ratio", row["lower_bounds"])
        table = vitals("top", "--hosts", stranger.name, "--by", "node", "--width", 120, "--host-timeout", "20").stdout
        self.assertRegex(table, r" ~75% ")

    @unittest.skipUnless(pathlib.Path("/bin/bash").exists(), "no bash for ulimit")
    def test_more_machines_than_descriptors(self):
        whole = json.dumps(demo()).encode()
        strangers = [self.stranger(says(whole)) for _ in range(80)]
        done = subprocess.run(
            ["/bin/bash", "-c", 'ulimit -n 64; exec "$@"', "top", VITALS, "top", "--json", "--host-timeout", "20",
             "--hosts", ",".join(one.name for one in strangers)],
            env=environment(), capture_output=True, text=True, timeout=300, check=False)
        states = [(one["state"], one["why"]) for one in json.loads(done.stdout)["machines"]]
        self.assertEqual(set(states), {("answers", None)})

    def test_nothing_answers(self):
        stranger = self.stranger(hangs)
        done = vitals("top", "--hosts", stranger.name, "--host-timeout", "50ms")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0 of 1 machines answer", done.stdout)

    def test_no_name_reaches_the_terminal_unescaped(self):
        stranger = self.stranger(says(hostile()))
        for arguments in ((), ("--by", "user"), ("--by", "job"), ("--by", "node"), ("--screen", "150x40")):
            done = vitals("top", "--hosts", stranger.name, "--host-timeout", "20", "--width", 200, *arguments,
                          env={"LC_ALL": "C.UTF-8"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stdout, "[\x00-\x09\x0b-\x1f\u202e]")
        users = self.document("--hosts", stranger.name, "--by", "user")["rows"]
        self.assertTrue(any(row["user"].startswith("eve") for row in users if row["user"]), users)

    def test_a_login_goes_to_its_machine_alone(self):
        needs = says(b"", "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n")
        first, second = self.stranger(needs), self.stranger(needs)
        moved = self.stranger(says(b"", "302 Found", f"Location: http://{second.name}/\r\n"))
        vitals("top", "--hosts", f"http://ana:secret@{first.name},{second.name},http://eve:word@{moved.name}",
               "--host-timeout", "20")
        self.assertRegex(first.requests[0], r"\nAuthorization: Basic YW5hOnNlY3JldA==")
        self.assertNotIn("Authorization", "".join(second.requests))
        self.assertEqual(len(second.requests), 1)  # a redirection is not followed
        done = vitals("top", "--json", "--hosts", f"http://ana:secret@{first.name}")
        self.assertNotIn("secret", done.stdout + done.stderr)

        with tempfile.TemporaryDirectory() as folder:
            netrc = pathlib.Path(folder, "netrc")
            netrc.write_text("machine localhost login bob password hidden\n")
            first.requests.clear()
            vitals("top", "--netrc", netrc, "--hosts", f"localhost:{first.port},{second.name}", "--host-timeout", "20")
            self.assertIn("Authorization: Basic Ym9iOmhpZGRlbg==", "".join(first.requests))
            self.assertNotIn("Authorization", "".join(second.requests))

            netrc.write_text("machine localhost login bob password hidden\ndefault login any password word\n")
            first.requests.clear()
            vitals("top", "--netrc", netrc, "--hosts", f"localhost:{first.port},{second.name}", "--host-timeout", "20")
            self.assertIn("Authorization: Basic Ym9iOmhpZGRlbg==", "".join(first.requests))
            self.assertIn("Authorization: Basic YW55OndvcmQ=", "".join(second.requests))
        self.assertIn("nowhere", vitals("top", "--netrc", "/nowhere", "--hosts", first.name).stderr)

    def test_a_name_that_is_not_the_machines(self):
        """As node01.example where the machine calls itself node01."""
        document = self.document("--hosts", f"a.localhost:{self.names[0].rpartition(':')[2]}")
        self.assertEqual([one["state"] for one in document["machines"]], ["login"])
        self.assertIn("403: its VITALS_ALLOW_HOST (or --allow-host) lacks", document["machines"][0]["why"])

    def test_tls_that_was_not_asked_for_or_is_not_trusted(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate(pathlib.Path(folder), "one")
            config = pathlib.Path(folder, "web.yml")
            config.write_text("tls_server_config: {cert_file: one.crt, key_file: one.key}\n")
            with Server(web_config=str(config)) as server:
                for scheme, words in (("", "(if it uses TLS, write https://)"), ("https://", "see --ca-file: not trusted")):
                    document = self.until(lambda found, words=words: words in next(iter(found.values()))["why"],
                                          "--hosts", f"{scheme}localhost:{server.port}")
                    self.assertIn(words, document["machines"][0]["why"])

    def test_a_real_login(self):
        from served import bcrypt
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "web.yml")
            config.write_text(f"basic_auth_users:\n  ana: {bcrypt('right')}\n")
            with Server(web_config=str(config)) as server:
                def state(login):
                    return self.document("--hosts", f"http://{login}127.0.0.1:{server.port}")["machines"][0]["state"]
                wait_until(lambda: state("ana:right@") == "answers", "its sample")
                self.assertEqual([state(""), state("ana:wrong@")], ["login", "login"])

    def test_an_older_server_gives_the_whole_document(self):
        whole = demo()
        stranger = self.stranger(says(json.dumps(whole, indent=1).encode()))
        self.assertEqual(self.document("--hosts", stranger.name)["gpus"], DEVICES)

    def test_what_is_not_known_is_no_zero(self):
        document = demo()
        rows = document["tables"]["gpu"]
        for row in rows:
            for name in ("power_watts", "memory_used_bytes"):
                row[name] = None
                row.setdefault("availability", {})[name] = "denied"
        half = copy.deepcopy(document)
        half["tables"]["gpu"][0]["power_watts"] = 400
        del half["tables"]["gpu"][0]["availability"]["power_watts"]
        none, some = (self.stranger(says(json.dumps(one).encode())) for one in (document, half))
        nodes = self.document("--hosts", f"{none.name},{some.name}", "--by", "node")
        self.assertEqual([row["power_watts"] for row in nodes["rows"]], [None, 400])
        self.assertEqual(["power_watts" in row["lower_bounds"] for row in nodes["rows"]], [False, True])
        self.assertEqual(nodes["free"], 0)
        table = vitals("top", "--by", "node", "--hosts", f"{none.name},{some.name}", "--ascii", "--width", 160).stdout
        self.assertRegex(table, rf"(?m)^{re.escape(some.name)} .* >400W")
        self.assertRegex(table, rf"(?m)^{re.escape(none.name)} .* N/A ")

    def test_lists_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            lines, discovered = pathlib.Path(folder, "hosts"), pathlib.Path(folder, "targets.json")
            lines.write_text(f"# three\n{self.names[0]}\n{self.names[1]}, {self.names[2]}\n")
            discovered.write_text(json.dumps([{"targets": self.names[:2], "labels": {}}]))
            for arguments, count in (((f"@{lines}",), 3), ((f"@{discovered}",), 2)):
                self.assertEqual(len(self.document("--hosts", *arguments)["machines"]), count)
        self.assertEqual(len(self.document("--hosts", "127.0.0.[1-3]:1")["machines"]), 3)

    def test_mistakes(self):
        for arguments, message in (
                ((), "top needs --hosts"), (("--hosts", ""), "names no machine"),
                (("--hosts", "a,-b"), "--hosts: -b: is no host"), (("--hosts", "n[1-99999]"), "more than 10000"),
                (("--hosts", "a", "--by", "rack"), '"rack" is not accepted; give gpu|node'),
                (("--hosts", "a", "--sort", "utl"), "did you mean util?"),
                (("--hosts", "a", "--sort", "load"), "is no column here"),
                (("--hosts", "a", "--screen", "9"), "--screen needs a size")):
            done = vitals("top", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
        done = vitals("top", "--hosts", self.hosts, env={"VITALS_TELL": "/nowhere/tell"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("not installed", done.stderr)

    def test_the_view_shows_the_same(self):
        done = vitals("-1", "--hosts", self.hosts)
        self.assertEqual(done.returncode, 0)
        self.assertIn("3 of 3 machines answer", done.stdout)
        self.assertEqual(len(json.loads(vitals("--json", "--hosts", self.hosts).stdout)["rows"]), 3 * DEVICES)

    def test_select_names_machines_and_devices(self):
        done = vitals("select", "--hosts", self.hosts, "-n", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split(" ") for line in done.stdout.splitlines()]
        self.assertEqual(sorted(name for name, _ in lines), sorted(self.names))
        self.assertTrue(all(device.isdigit() for _, device in lines), lines)
        done = vitals("select", "--hosts", self.hosts, "-n", 100)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("3 machines answer; too few GPUs qualify on each", done.stderr)
        self.assertEqual(vitals("select", "--hosts", self.hosts, "--wait").returncode, 2)
        self.assertEqual(vitals("select", "--hosts", self.hosts, "--", "true").returncode, 2)
        stranger = self.stranger(hangs)
        for timeout in (2, 10, 50):
            done = vitals("select", "--hosts", f"{stranger.name},{self.names[0]}", "--host-timeout", timeout, timeout=120)
            if done.returncode == 0:
                break
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"{stranger.name}: no answer in time", done.stderr)

    def test_a_screen_is_printed(self):
        lines = vitals("top", "--hosts", self.hosts, "--screen", "100x12").stdout.splitlines()
        self.assertEqual(len(lines), 12)
        self.assertIn("machines answer", lines[0])
        self.assertIn("h help", lines[11])
        self.assertIn("by gpu", lines[11])


def scraped(metric, value=1, ago=10, instance="a:9847", job="vitals", **labels):
    """A series with two samples, the newer one so many seconds old."""
    at = NOW - ago
    return {"metric": {"__name__": metric, "instance": instance, "job": job} | labels,
            "values": [[at - 15, "0.125"], [at, str(value)]]}


def device(number, uuid, used, compute, **where):
    own = {"gpu": str(number), "uuid": uuid} | where
    return [scraped("vitals_gpu_info", name="H100", vendor="NVIDIA", **own),
            scraped("vitals_gpu_memory_total_bytes", "8.589934592e+10", **own),
            scraped("vitals_gpu_memory_used_bytes", used, **own),
            scraped("vitals_gpu_utilization_ratio", 0.5 if compute else 0, **own),
            scraped("vitals_gpu_power_watts", 300, **own),
            scraped("vitals_gpu_temperature_celsius", 61, sensor="gpu", **own),
            scraped("vitals_gpu_temperature_celsius", 90, sensor="memory", **own),
            scraped("vitals_gpu_processes", compute, type="compute", **own)]


def answered(*series):
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": list(series)}}).encode()


NOW = time.time()
GPU = {"gpu": "0", "uuid": "GPU-a"}


def fleet():
    """What is known of three machines now: what is old is forgotten."""
    global NOW
    NOW = time.time()
    return [
        scraped("up"), scraped("vitals_build_info", version="1"), scraped("vitals_host_load1", 2.5),
        *device(0, "GPU-a", 4e10, 2), *device(1, "GPU-b", 0, 0), *device(2, "GPU-c", 0, 1),
        scraped("vitals_gpu_info", ago=25, gpu="3", uuid="GPU-lost", name="H100"),  # not in the newest scrape
        scraped("vitals_workload_gpu_memory_used_bytes", 3e10, workload="slurm:7.0", **GPU),
        scraped("vitals_workload_gpu_utilization_ratio", 0.25, workload="slurm:7.0", **GPU),
        scraped("vitals_workload_gpu_memory_used_bytes", 1e10, workload="other", **GPU),
        scraped("vitals_workload_info", workload="slurm:7.0", user="ana", kind="slurm"),
        {"metric": {"__name__": "up", "instance": "b:9847", "job": "vitals"},
         "values": [[NOW - 60, "1"], [NOW - 45, "0"], [NOW - 30, "0"]]},
        scraped("up", instance="c:9100", job="node"),
    ]


class Prometheus(unittest.TestCase):
    """One that says what we want it to."""

    def top(self, answer, *arguments, code=0):
        self.server = Stranger(answer)
        self.addCleanup(self.server.close)
        done = vitals("top", "--json", "--host-timeout", "20", "--prometheus", f"http://{self.server.name}/", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        document = read_document(done.stdout)
        return document, {one["host"]: one for one in document["machines"]}

    def test_rows_are_those_of_the_newest_scrape(self):
        document, machines = self.top(says(answered(*fleet())))
        self.assertEqual({name: one["state"] for name, one in machines.items()}, {"a:9847": "answers", "b:9847": "silent"})
        rows = {row["gpu"]: row for row in document["rows"] if row["host"] == "a:9847"}
        self.assertEqual(list(rows), ["0", "1", "2"])
        first = rows["0"]
        self.assertEqual((first["name"], first["memory_used_bytes"], first["memory_total_bytes"], first["power_watts"],
                          first["temperature_celsius"], first["utilization_ratio"]),
                         ("H100", 4e10, 85899345920, 300, 61, 0.5))
        self.assertEqual((sorted(first["users"]), first["jobs"]), (["?", "ana"], ["slurm:7.0"]))
        self.assertEqual([row["free"] for row in rows.values()], [0, 1, 0])
        self.assertEqual(rows["2"]["users"], ["?"])  # counted, of no known workload
        self.assertGreaterEqual(first["age_seconds"], 10)
        self.assertLess(first["age_seconds"], time.time() - NOW + 11)
        request = self.server.requests[0]
        self.assertTrue(request.startswith("POST /api/v1/query HTTP/1.1"))
        self.assertEqual(len(self.server.requests), 1)

    def test_machines_that_are_down_or_not_known(self):
        _, machines = self.top(says(answered(*fleet())), "--hosts", "a,b,d")
        self.assertEqual([one["state"] for one in machines.values()], ["answers", "silent", "other"])
        self.assertIn("cannot reach it", machines["b"]["why"])
        self.assertGreaterEqual(machines["b"]["failing_seconds"], 45)
        self.assertIn("does not know it", machines["d"]["why"])
        self.assertEqual(self.top(says(answered()), "--hosts", "a", code=1)[1]["a"]["state"], "other")

    def test_users_and_jobs(self):
        document, _ = self.top(says(answered(*fleet())), "--by", "user")
        self.assertEqual({row["user"]: (row["memory_used_bytes"], row["gpus"]) for row in document["rows"]},
                         {"ana": (3e10, 1), "?": (1e10, 2)})
        document, _ = self.top(says(answered(*fleet())), "--by", "node")
        self.assertEqual(document["rows"][0]["load_1m"], 2.5)

    def test_many_targets_of_two_jobs(self):
        """Each machine is a target of another job too; the last one is down."""
        names = [f"n{number:03}" for number in range(600)]
        series = [one for name in names for one in (
            scraped("up", instance=f"{name}:9100", job="node"), scraped("up", instance=f"{name}:9847", job="gpus"),
            scraped("vitals_build_info", instance=f"{name}:9847", job="gpus"))]
        series[-2:] = [scraped("up", 0, instance=f"{names[-1]}:9847", job="gpus")]
        _, machines = self.top(says(answered(*series)))
        self.assertEqual({name: one["state"] for name, one in machines.items()},
                         {f"{name}:9847": "answers" for name in names[:-1]} | {f"{names[-1]}:9847": "silent"})
        self.assertIn("cannot reach it", machines[f"{names[-1]}:9847"]["why"])

    def test_more_machines_than_are_shown(self):
        most = 10000
        series = [scraped("vitals_build_info", instance=f"n{number}:9847") for number in range(most + 1)]
        for count in (most, most + 1):
            document, machines = self.top(says(answered(*series[:count])))
            self.assertEqual(len(machines), most)
            self.assertEqual(document["cut"], count > most)
            self.assertEqual(document["why"], f"Prometheus knows more than {most} machines: choose some with --hosts"
                             if count > most else None)

    def test_a_load_of_an_older_scrape_is_not_shown(self):
        document, _ = self.top(says(answered(scraped("up"), scraped("vitals_build_info"),
                                             scraped("vitals_host_load1", 9, ago=25))), "--by", "node")
        self.assertEqual([row["load_1m"] for row in document["rows"]], [None])

    def test_a_list_is_asked_for(self):
        self.top(says(answered()), "--hosts", "node[1-2].x,[::1]:80", code=1)
        query = urllib.parse.parse_qs(self.server.bodies[0])["query"][0]
        self.assertIn(r'instance=~"(node1\\.x|node2\\.x|\\[::1\\]:80)(:[0-9]+)?"', query)
        self.assertTrue(query.endswith("}[75s]"))

    def test_what_it_says_is_not_trusted(self):
        evil = {"gpu": "\x1b[2J0", "uuid": "GPU-\n"}
        series = [scraped("up"), scraped("vitals_gpu_info", name="\x1b]0;owned\x07", **evil),
                  scraped("vitals_gpu_memory_used_bytes", "-5", **evil), scraped("vitals_gpu_power_watts", "NaN", **evil),
                  scraped("vitals_gpu_memory_total_bytes", "1e300", **evil),
                  scraped("vitals_workload_gpu_memory_used_bytes", 1, workload="\u202e", **evil),
                  scraped("vitals_workload_info", workload="\u202e", user="eve\x1b[2J"),
                  *(scraped("vitals_gpu_info", instance=name, uuid="1") for name in (
                      "-oProxyCommand=x", "-oX", "[-oX", "[-oX]", "[::1", ".a", "a:b", "a:0", "a b", "a" * 256)),
                  {"metric": {"__name__": "up"}}, {"metric": 5, "values": 5}, 7, None]
        document, machines = self.top(says(answered(*series)))
        self.assertEqual(list(machines), ["a:9847"])
        row = document["rows"][0]
        self.assertEqual([row[name] for name in ("memory_used_bytes", "memory_total_bytes", "power_watts")], [None] * 3)
        for arguments in ((), ("--by", "user"), ("--by", "job"), ("--by", "node")):
            table = vitals("top", "--once", "--prometheus", f"http://{self.server.name}", "--host-timeout", "20", "--width",
                           200, *arguments, env={"LC_ALL": "C.UTF-8"}).stdout
            self.assertNotRegex(table, "[\x00-\x09\x0b-\x1f\u202e]")

    def test_answers_that_are_none(self):
        for answer, state, why in (
                (says(b"rubbish"), "other", "unknown form"), (says(b"[" * 100000), "other", "unknown form"),
                (says(b'{"status":"success","data":{"resultType":"vector","result":[]}}'), "other", "unknown form"),
                (says(b"{}", "422 Unprocessable Entity"), "other", "refuses the query (422)"),
                (says(b"", "401 Unauthorized"), "login", "login"), (endless, "oversized", "above 16 MiB: name fewer machines (--hosts)")):
            with self.subTest(why):
                _, machines = self.top(answer, "--hosts", "a", code=1)
                self.assertEqual(machines["a"]["state"], state)
                self.assertIn("Prometheus: ", machines["a"]["why"])
                self.assertIn(why, machines["a"]["why"])
                document, machines = self.top(answer, code=1)
                self.assertEqual(machines, {})
                self.assertIn(why, document["why"])
                table = vitals("top", "--once", "--prometheus", f"http://{self.server.name}", "--host-timeout", "20").stdout
                self.assertIn(why, table)
        server = Stranger(hangs)
        self.addCleanup(server.close)
        done = vitals("top", "--prometheus", f"http://{server.name}", "--host-timeout", "50ms")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Prometheus: no answer in time", done.stdout)
        for url in ("prom:9090", "ftp://prom", "http://"):
            done = vitals("top", "--prometheus", url)
            self.assertEqual((done.returncode, "HOST:PORT is expected" in done.stderr), (2, True), done.stderr)


SSH = '''#!/bin/sh
while [ $# -gt 1 ] && [ "$1" != -- ]; do said="$said $1"; shift; done
shift
echo "$said -- $*" >> {folder}/asked
case "$said" in *" -t"*) exit 0;; esac
case "$1" in
good*|welcome) [ "$1" != welcome ] || echo Welcome; cat {folder}/document; case "$2" in *interval*) while sleep 0.2; do cat {folder}/document; done;; esac;;
denied) echo "Warning: first" >&2; echo "denied: Permission denied (publickey)." >&2; exit 255;;
missing) echo "sh: vitals: not found" >&2; exit 127;;
rubbish) echo rubbish;;
broken) echo "{{";;
window) echo "$SSH_ASKPASS_REQUIRE|$DISPLAY" >&2; exit 255;;
proxied) sleep 1000 & echo $! >> {folder}/children; wait;;
empty) exit 0;;
evil) printf '\\033[2J\\n' >&2; exit 255;;
hangs*) exec sleep 1000;;
esac
'''


class OverSsh(unittest.TestCase):
    """A stand-in for ssh; test_top_ssh has a real one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "ssh").write_text(SSH.format(folder=self.folder))
        (self.folder / "ssh").chmod(0o755)
        (self.folder / "document").write_text(json.dumps(demo()) + "\n")
        self.path = f"{self.folder}:{os.environ['PATH']}"

    def test_each_machine_says_what_it_can(self):
        hosts = ["good1", "denied", "missing", "rubbish", "broken", "empty", "evil", "window", "good2:2222", "welcome",
                 *(f"good{i}" for i in range(3, 30))]
        done = vitals("top", "--json", "--ssh", "--hosts", ",".join(hosts), "--host-timeout", "20",
                      env={"PATH": self.path, "DISPLAY": ":7"}, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {one["host"]: one for one in json.loads(done.stdout)["machines"]}
        self.assertEqual({name for name, one in found.items() if one["state"] == "answers"},
                         {name for name in hosts if name.startswith(("good", "welcome"))})
        for name, state, why in (("denied", "silent", "denied: Permission denied (publickey)."),
                                 ("missing", "other", "sh: vitals: not found"), ("rubbish", "other", "no JSON of vitals: rubbish"),
                                 ("broken", "other", "no JSON"), ("window", "silent", "never|"),
                                 ("empty", "other", "ended with 0"), ("evil", "silent", "[2J")):
            self.assertEqual(found[name]["state"], state)
            self.assertIn(why, found[name]["why"])
            self.assertNotIn("\x1b", found[name]["why"])
        self.assertEqual(found["window"]["why"], "never|")
        asked = (self.folder / "asked").read_text().splitlines()
        self.assertEqual(len(asked), len(hosts))
        self.assertIn(" -T -o BatchMode=yes -o ConnectTimeout=200 -- good1 vitals --json", asked)
        self.assertIn(" -T -o BatchMode=yes -o ConnectTimeout=200 -p 2222 -- good2 vitals --json", asked)

    def test_one_that_hangs_delays_none(self):
        done = vitals("top", "--json", "--ssh", "--hosts", "hangs,good1", "--host-timeout", "1", env={"PATH": self.path},
                      timeout=120)
        found = {one["host"]: one["state"] for one in json.loads(done.stdout)["machines"]}
        self.assertEqual(found, {"hangs": "silent", "good1": "answers"})

    def test_what_ssh_has_started_ends_with_it(self):
        """As the process of a ProxyCommand."""
        children = self.folder / "children"
        for timeout in ("50ms", 1, 5):  # until ssh has come so far
            vitals("top", "--json", "--ssh", "--hosts", "proxied", "--host-timeout", timeout, env={"PATH": self.path},
                   timeout=120)
            if children.exists() and children.read_text().endswith("\n"):
                break
        pid = int(children.read_text().split()[0])

        def ended():
            with contextlib.suppress(OSError):
                return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
            return True
        try:
            wait_until(ended, "the end of what ssh has started", seconds=20)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def test_a_parent_that_ignores_the_end_of_children(self):
        done = vitals("top", "--json", "--ssh", "--hosts", "denied,good1", "--host-timeout", "20", env={"PATH": self.path},
                      timeout=120, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        found = [(one["state"], one["why"]) for one in json.loads(done.stdout)["machines"]]
        self.assertEqual(found, [("silent", "denied: Permission denied (publickey)."), ("answers", None)])

    def test_mistakes(self):
        self.assertEqual(vitals("top", "--ssh").returncode, 2)
        self.assertEqual(vitals("top", "--ssh", "--hosts", "a", "--prometheus", "http://b").returncode, 2)


class Asking(unittest.TestCase):
    """The process that asks, and its lines."""

    @contextlib.contextmanager
    def lines(self, machines, interval, timeout):
        """The place of a machine and the kind of its answer, line by line."""
        lines, out = os.pipe()
        config = {"tell": 1, "fleet": {"hosts": [f"http://{one.name}" for one in machines], "path": "/",
                                       "interval_seconds": interval, "timeout_seconds": timeout}}
        with subprocess.Popen(["/bin/bash", "-c", f'exec "$0" 4>&{out}', BUILD / "tell"], env=environment(), pass_fds=(out,),
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program, open(lines, "rb") as reader:
            os.close(out)
            program.stdin.write(json.dumps(config).encode() + b"\n")
            program.stdin.flush()
            words = (line.split(b" ", 3) for line in reader)
            yield ((int(word[0]), word[2].decode()) for word in words)
            program.stdin.close()

    def machines(self, *answers):
        machines = [Stranger(answer) for answer in answers]
        for one in machines:
            self.addCleanup(one.close)
        return machines

    def test_a_slow_reader_hides_no_silent_machine(self):
        """It stalls again and again."""
        kinds = []
        with self.lines(self.machines(says(b" " * 500000), hangs), 0.05, 0.3) as lines:
            for _, kind in itertools.islice(lines, 60):
                kinds.append(kind)
                if kind == "silent":
                    break
                time.sleep(0.2)  # longer than a request of the dead one takes, with the next line
        self.assertEqual(kinds[-1], "silent", kinds)

    def test_one_that_sends_too_much_is_asked_less_often(self):
        asked = collections.Counter()
        with self.lines(self.machines(says(b"{}"), says(b" " * (LIMIT + 1))), 0.1, 20) as lines:
            for line in lines:
                asked[line] += 1
                if asked[0, "answer"] >= 40:
                    break
        self.assertEqual(set(asked), {(0, "answer"), (1, "oversized")})
        self.assertLess(asked[1, "oversized"], 20)


@unittest.skipUnless(BUILT, "built without the interactive screens")
class Screen(unittest.TestCase):
    def setUp(self):
        self.process, self.name = machine("--interval", "100ms")
        self.addCleanup(lambda: self.process.poll() is None and stop(self.process))
        self.terminal = Events(140, 14)
        self.addCleanup(self.terminal.close)

    def show(self, *hosts, options=""):
        self.terminal.run(f"{TELLS} {VITALS} top --interval 100ms {options} --hosts {','.join(hosts)}")
        return self.terminal.wait("1 of")

    def test_keys(self):
        self.show(self.name)
        self.terminal.wait("by gpu", "H100")
        for word in ("GPUS", "USER ", "JOB ", "GPU  NAME"):
            self.terminal.type("G")
            self.terminal.wait(word)
        self.terminal.type("h")
        self.terminal.wait("Keys of vitals top")
        self.terminal.type("h")
        self.terminal.type("&", *"H100", "Enter")
        text = self.terminal.wait("filter H100")
        rows = [line for line in text.splitlines() if line.startswith(self.name)]
        self.assertTrue(rows)
        self.assertTrue(all("H100" in row for row in rows))
        self.terminal.type("r")
        self.terminal.wait("by gpu", gone=("filter H100",))
        self.terminal.type("o", "p")
        self.terminal.wait("sorted by power")
        self.terminal.type("p")
        self.terminal.wait("held")
        self.terminal.type("q")

    def test_a_machine_that_dies_and_one_that_comes(self):
        stranger = Stranger(hangs)
        self.addCleanup(stranger.close)
        self.show(self.name, stranger.name, options="--host-timeout 2")
        self.terminal.wait(f"{stranger.name} (silent, never)")
        stop(self.process)
        self.terminal.wait("0 of 2 machines answer", f"{self.name} (silent, ")
        self.terminal.wait(gone=("H100",))  # what is old is not shown
        stranger.answer = says(json.dumps(demo()).encode())
        self.terminal.wait("1 of 2 machines answer", "H100")
        self.terminal.type("q")

    def test_one_connection_serves_all_requests(self):
        stranger = Stranger(says(json.dumps(demo()).encode()))
        self.addCleanup(stranger.close)
        self.show(stranger.name)
        wait_until(lambda: len(stranger.requests) >= 10, "ten requests")
        self.assertEqual(stranger.connections, 1)
        self.assertTrue(all(" /api/v1/snapshot?view=fleet " in request for request in stranger.requests))
        self.terminal.type("q")

    def test_enter_opens_the_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            said = pathlib.Path(folder, "said")
            ssh = pathlib.Path(folder, "ssh")
            ssh.write_text(f"#!/bin/sh\necho \"$@\" > {said}\nexit 7\n")
            ssh.chmod(0o755)
            path = f"PATH={folder}:{os.environ['PATH']}"
            self.terminal.run(f"{TELLS} {path} {VITALS} top --interval 100ms --hosts {self.name}")
            self.terminal.wait("H100")
            self.terminal.type("Enter")
            self.terminal.wait("ended with 7")
            self.assertEqual(said.read_text(), "-t -- 127.0.0.1 vitals\n")
            self.terminal.type("q")

    def test_what_comes_while_a_machine_is_open_grows_not_old(self):
        """Answers are taken meanwhile: more than the pipe holds."""
        stranger = Stranger(says(json.dumps(demo()).encode()))
        self.addCleanup(stranger.close)
        with tempfile.TemporaryDirectory() as folder:
            leave, ssh = pathlib.Path(folder, "leave"), pathlib.Path(folder, "ssh")
            ssh.write_text(f"#!/bin/sh\nwhile [ ! -e {leave} ]; do sleep 0.1; done\nexit 7\n")
            ssh.chmod(0o755)
            path = f"PATH={folder}:{os.environ['PATH']}"
            self.terminal.run(f"{TELLS} {path} {VITALS} top --interval 100ms --host-timeout 20 --hosts {stranger.name}")
            self.terminal.wait("H100")
            typed = threading.Thread(target=self.terminal.type, args=("Enter",))
            typed.start()
            try:
                before = len(stranger.requests)
                wait_until(lambda: len(stranger.requests) > before + 30, "answers that are taken meanwhile")
            finally:
                leave.touch()
                typed.join()
            self.assertIn("H100", self.terminal.wait("ended with 7"))
            self.terminal.type("q")

    def test_the_keys_of_signals_are_those_of_ssh(self):
        with tempfile.TemporaryDirectory() as folder:
            ssh = pathlib.Path(folder, "ssh")
            ssh.write_text("#!/bin/sh\ntrap 'exit 9' INT\nkill -INT $PPID\nkill -QUIT $PPID\nkill -INT $$\n")
            ssh.chmod(0o755)
            path = f"PATH={folder}:{os.environ['PATH']}"
            self.terminal.run(f"{TELLS} {path} {VITALS} top --interval 100ms --host-timeout 20 --hosts {self.name}")
            self.terminal.wait("H100")
            self.terminal.type("Enter")
            self.terminal.wait("ended with 9", "H100")
            self.terminal.type("q")
            self.terminal.wait("rc=0.")

    def test_prometheus(self):
        answers = [answered(*fleet())]
        server = Stranger(lambda own, connection: says(answers[-1])(own, connection))
        self.addCleanup(server.close)
        self.terminal.run(f"{TELLS} {VITALS} top --interval 100ms --host-timeout 20 --prometheus http://{server.name}")
        text = self.terminal.wait("1 of 2 machines answer", "b:9847 (silent,", "H100")
        self.assertRegex(text, r"a:9847 .* 61C ")
        answers.append(b"rubbish")
        self.terminal.wait("unknown form")
        answers.append(answered(*fleet(), *(scraped("vitals_build_info", instance=f"n{number}:9847") for number in range(5))))
        self.terminal.wait("6 of 7 machines answer")
        self.terminal.type("q")
        self.terminal.wait("rc=0.")

    def test_ssh_goes_on(self):
        over = OverSsh()
        over.setUp()
        self.addCleanup(over.doCleanups)
        self.terminal.run(f"PATH={over.path} {VITALS} top --ssh --interval 100ms --host-timeout 20 --hosts good1,denied")
        self.terminal.wait("1 of 2 machines answer", "H100", "Permission denied (publickey)")
        whole = demo()
        whole["tables"]["gpu"][0]["name"] = "Changed"
        (over.folder / "new").write_text(json.dumps(whole) + "\n")
        (over.folder / "new").rename(over.folder / "document")
        self.terminal.wait("Changed")
        self.assertEqual((over.folder / "asked").read_text().count("good1 vitals --json --interval 0.100"), 1)
        self.terminal.type("q")
        self.terminal.wait("rc=0.")

    def start_over_ssh(self, options, wanted):
        over = OverSsh()
        over.setUp()
        self.addCleanup(over.doCleanups)
        self.terminal.run(f"PATH={over.path} {VITALS} top --ssh --interval 100ms {options}")
        self.terminal.wait(*wanted)
        return over

    def test_enter_opens_by_the_port_of_ssh(self):
        over = self.start_over_ssh("--host-timeout 20 --hosts good2:2222", ("H100",))
        self.terminal.type("Enter")
        self.assertIn(" -t -p 2222 -- good2 vitals\n", (over.folder / "asked").read_text())
        self.terminal.type("q")

    def test_machines_that_hang_leave_a_turn_to_others(self):
        self.start_over_ssh("--host-timeout 200ms --hosts hangs[01-48],good1", ("1 of 49 machines answer",))
        self.terminal.type("q")

    def test_a_pause_ends_no_ssh(self):
        """As ^Z: this process does not read for longer than a machine may be silent."""
        hosts = 8
        over = self.start_over_ssh(f"--filter Changed --host-timeout 300ms --hosts good[1-{hosts}]",
                                   (f"{hosts} of {hosts} machines answer",))
        asked = (over.folder / "asked").read_text()
        os.killpg(self.terminal.program.pid, signal.SIGSTOP)
        time.sleep(4.5)
        whole = demo()
        whole["tables"]["gpu"][0]["name"] = "Changed"
        (over.folder / "new").write_text(json.dumps(whole) + "\n")
        (over.folder / "new").rename(over.folder / "document")
        os.killpg(self.terminal.program.pid, signal.SIGCONT)
        wait_until(lambda: len(re.findall(r"(?m)^good.* Changed ", self.terminal.text)) == hosts, "newer documents")
        self.assertEqual((over.folder / "asked").read_text(), asked)
        self.terminal.type("q")

    def test_held_rows_stay(self):
        whole = demo()
        stranger = Stranger(lambda own, connection: says(json.dumps(whole).encode())(own, connection))
        self.addCleanup(stranger.close)
        self.show(stranger.name, options="--host-timeout 20")
        before = self.terminal.wait("H100")
        self.terminal.type("p")
        self.terminal.wait("held")
        whole["tables"]["gpu"][0]["name"] = "Changed"
        asked = len(stranger.requests)
        wait_until(lambda: len(stranger.requests) > asked + 5, "answers")
        self.terminal.type("o", "n")
        # Names and figures; ages go on.
        held, rows = ([line[:60] for line in text.splitlines()[3:8]] for text in (before, self.terminal.screen()))
        self.assertEqual(rows, held)
        self.terminal.type("p")
        self.assertIn("Changed", self.terminal.screen())
        self.terminal.type("q")


if __name__ == "__main__":
    unittest.main()
