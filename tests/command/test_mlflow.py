"""What a server of MLflow is told: against one of ours that answers what a test wants. test_mlflow_server.py
asks the real one, test_mlflow_away.py one that fails."""

import base64
import errno
import json
import os
import re
import resource
import shutil
import ssl
import subprocess
import unittest

from harness import vitals
from mlflow_server import BEGIN_NS, GAUGES, Stub, account, end, free_port, kept_spool, usage
from mlflow_told import BEGIN_MS, Case, check_all_sent
from tell_program import TELL


class Points(Case):
    """Means, peaks and counts over a window, at the time of its last sample."""

    def told(self, seconds, **config):
        with Stub() as stub:
            with self.tell(stub.url, **config) as tell:
                tell.hear("opened")
                for second in range(seconds):
                    tell.write(usage(second))
                tell.write(end())
                tell.end()
            return stub

    def test_a_window_is_a_point_and_the_rest_is_one(self):
        stub = self.told(24)
        process = "system/process/"
        self.assertEqual(self.points(stub, process + "memory_rss_megabytes"),
                         [(0, 0, 100), (10000, 1, 105.5), (20000, 2, 115.5), (23000, 3, 122)])
        self.assertEqual(self.points(stub, process + "memory_rss_megabytes_max"),
                         [(0, 0, 100), (10000, 1, 110), (20000, 2, 120), (23000, 3, 123)])
        self.assertEqual(self.points(stub, process + "cpu_usage_percentage"),
                         [(10000, 1, 50), (20000, 2, 50), (23000, 3, 50)])
        self.assertEqual(self.points(stub, process + "cpu_usage_percentage_max"),
                         [(10000, 1, 75), (20000, 2, 75), (23000, 3, 75)])
        self.assertEqual(self.points(stub, process + "io_read_megabytes"),
                         [(0, 0, 0), (10000, 1, 10), (20000, 2, 20), (23000, 3, 23)])
        self.assertEqual(self.points(stub, process + "minor_faults")[-1], (23000, 3, 161))

    def test_what_was_not_read_anew_is_in_no_mean(self):
        """A device that answers in the first of three seconds, and in none of the next three."""
        with Stub() as stub:
            with self.tell(stub.url, interval_seconds=3) as tell:
                tell.hear("opened")
                for second in range(8):
                    line = usage(second)
                    for value in line["usage"]["values"]:
                        if value[2] == "device_power_watts":
                            value[3:] = ["have", 40.0 * second] if second in (0, 1, 7) else ["stale", 40.0]
                    tell.write(line)
                tell.write(end())
                tell.end()
            self.assertEqual(self.points(stub, "system/gpu_0_power_usage_watts"), [(0, 0, 0), (3000, 1, 40), (7000, 3, 280)])

    def test_names_and_units_are_those_of_mlflow_and_of_the_original(self):
        stub = self.told(2)
        wanted = {
            "system/cpu_utilization_percentage": 25, "system/system_memory_usage_megabytes": 1000,
            "system/system_memory_usage_percentage": 25, "system/network_receive_megabytes": 1,
            "system/gpu_0_utilization_percentage": 50, "system/gpu_0_memory_usage_megabytes": 2000,
            "system/gpu_0_memory_usage_percentage": 25, "system/gpu_0_power_usage_watts": 100,
            "system/process/num_threads": 3, "system/process/gpu_0_memory_bytes": 5e6,
            "system/process/memory_rss_megabytes": 101,
            "system/process/memory_usage_percentage": 101 * 2**20 * 100 / 2**30,
        }
        for key, value in wanted.items():
            with self.subTest(key):
                self.assertAlmostEqual(self.points(stub, key)[-1][2], value)
        told = {point["key"] for batch in stub.batches() for point in batch}
        self.assertNotIn("system/process/memory_uss_megabytes", told)  # it was denied: no zero, no other value

    def test_prefix_interval_samples_node_and_limits(self):
        stub = self.told(9, prefix="process/", interval_seconds=2, samples=2, max_memory_bytes=2**28, max_cpus=2,
                         env={"MLFLOW_SYSTEM_METRICS_NODE_ID": "a7"})
        self.assertEqual([(ms, step) for ms, step, _ in self.points(stub, "process/num_threads")],
                         [(0, 0), (4000, 1), (8000, 2)])
        self.assertEqual(self.points(stub, "process/cpu_usage_percentage"), [(4000, 1, 25), (8000, 2, 25)])
        self.assertAlmostEqual(self.points(stub, "process/memory_usage_percentage_max")[-1][2], 108 / 256 * 100)
        self.assertTrue(self.points(stub, "system/a7/cpu_utilization_percentage"))

    def test_a_clock_put_back_gives_no_time_twice(self):
        with Stub() as stub:
            with self.tell(stub.url, interval_seconds=1) as tell:
                tell.hear("opened")
                for second in range(4):
                    line = usage(second)
                    line["usage"]["realtime_ns"] = str(BEGIN_NS - second * 10**9)
                    tell.write(line)
                tell.end()
            times = [ms for ms, _, _ in self.points(stub, "system/process/num_threads")]
        self.assertEqual(times, sorted(set(times)))
        self.assertEqual(len(times), 4)

    def test_values_that_are_none_and_lines_that_are_none(self):
        with Stub() as stub:
            with self.tell(stub.url, interval_seconds=1) as tell:
                tell.hear("opened")
                for bad in ({"usage": None}, {"usage": {"values": 3}}, {"usage": {"monotonic_ns": "x", "values": []}},
                            {"usage": {"realtime_ns": "5", "monotonic_ns": "7", "values": [None, [], [1, 2, 3, 4, 5]]}},
                            b'{"usage":{"realtime_ns":"5","monotonic_ns":"8","values":[["tree","","threads","have",1e999]]}}',
                            usage(1)):
                    tell.write(bad)
                tell.write(end())
                tell.end()
            self.assertEqual([value for _, _, value in self.points(stub, "system/process/num_threads")], [3])


class Ends(Case):
    def told(self, *lines, **config):
        with Stub() as stub:
            with self.tell(stub.url, **config) as tell:
                tell.hear("opened")
                for line in lines:
                    tell.write(line)
                heard, _ = tell.end()
            self.assertEqual(self.spools(), [])
            return stub, heard

    def update(self, stub):
        return json.loads([body for _, path, body, _ in stub.requests if path.endswith("runs/update")][-1])

    def test_status_is_that_of_the_child(self):
        for status, line in (("FINISHED", end()), ("FAILED", end(code=3)),
                             ("KILLED", end("signaled", 137, 9)), ("KILLED", end("limit", 124))):
            with self.subTest(status):
                stub, _ = self.told(usage(0), line)
                self.assertEqual(self.update(stub), {"run_id": "r" * 32, "status": status, "end_time": BEGIN_MS + 12500})

    def test_an_end_that_nobody_saw(self):
        stub, _ = self.told(usage(0), usage(4))
        self.assertEqual(self.update(stub)["status"], "KILLED")
        self.assertEqual(self.update(stub)["end_time"], BEGIN_MS + 4000)
        self.assertIn("vitals.end", [tag["key"] for tags in stub.batches("tags") for tag in tags])

    def test_of_a_process_that_was_there_before_only_our_own_run_is_ended(self):
        stub, _ = self.told(usage(0), end("unknown"), run_id="r" * 32, program="track")
        self.assertNotIn(("POST", "update"), stub.paths())
        stub, _ = self.told(usage(0), end("unknown"), program="track")
        self.assertEqual(self.update(stub)["status"], "FINISHED")
        self.assertNotIn("only_ours", self.update(stub))

    def test_no_command_line_leaves_by_default(self):
        stub, _ = self.told(usage(0), end())
        sent = b"".join(body for _, _, body, _ in stub.requests)
        self.assertNotIn(b"hunter2", sent)
        self.assertNotIn(b"train", sent)
        self.assertNotIn(b"/home/ann", sent)
        stub, _ = self.told(usage(0), end(), cmdline="redacted")
        sent = b"".join(body for _, _, body, _ in stub.requests)
        self.assertNotIn(b"hunter2", sent)
        self.assertIn(b"/opt/bin/train", sent)

    def test_names_from_outside_are_made_keys_that_mlflow_takes(self):
        names = ["../../x", "a\nb", "/abs", "x//y", "p" * 300, "é", ".", "trail/", "a:b", "a;b"]
        line = usage(0)
        line["usage"]["values"] = [["system", "system", "load_1m", "have", 1]]
        keys = []
        for name in names:
            stub, _ = self.told(line, end(), env={"MLFLOW_SYSTEM_METRICS_NODE_ID": name})
            keys += [metric["key"] for batch in stub.batches() for metric in batch if metric["timestamp"] == BEGIN_MS]
        self.assertEqual(len(keys), len(names))
        self.assertEqual(len(set(keys)), len(keys))
        for key in keys:
            self.assertRegex(key, r"\A[/\w.\- ]{1,250}\Z")
            self.assertEqual(os.path.normpath(key), key)
            self.assertNotIn("..", key.split("/"))

    def test_requests_keep_the_limits(self):
        line = end(attributes={"missing": "é" * 40000})
        sample = usage(0)
        sample["usage"]["values"] = [["gpu", f"GPU-{i}", name, "have", i] for i in range(250) for name in GAUGES]
        stub, _ = self.told(sample, line)
        self.assertEqual([len(batch) for batch in stub.batches()], [1000, 1000, 500, 2])
        for _, path, body, _ in stub.requests:
            self.assertLess(len(body), 1_000_000, path)
        value = next(tag["value"] for tags in stub.batches("tags") for tag in tags if tag["key"] == "vitals.missing")
        self.assertEqual(value, "é" * 2500)

    def test_the_account_is_one_document_and_a_handful_of_metrics(self):
        line = end()
        line["account"]["figures"] += [
            {"name": "memory_peak_bytes", "value": 7, "availability": "have"},
            {"name": "minor_faults", "value": 3, "availability": "have"},
            {"name": "wall_seconds", "subject": "system", "value": 4, "availability": "have"},
            *({"name": "gpu_busy_seconds", "subject": f"GPU-{i}", "value": 2.5, "availability": "have"} for i in range(3)),
            *({"name": f"figure_{i}", "value": i, "availability": "have"} for i in range(200))]
        stub, _ = self.told(usage(0), line)
        sent = {metric["key"]: (metric["value"], metric["timestamp"] - BEGIN_MS)
                for batch in stub.batches() for metric in batch}
        self.assertEqual([key for key in sent if not key.startswith("system/")], [])
        self.assertEqual({key: value for key, value in sent.items() if key.startswith("system/run/")}, {
            "system/run/wall_seconds": (12.5, 12500), "system/run/cpu_seconds": (6.25, 12500),
            "system/run/memory_peak_bytes": (7, 12500), "system/run/gpu_busy_seconds": (7.5, 12500)})
        (document,) = [json.loads(body) for _, path, body, _ in stub.requests if path.endswith("account.json")]
        self.assertEqual(document["figures"], line["account"]["figures"])

    def test_a_missing_device_is_no_part_of_a_sum(self):
        line = end()
        line["account"]["figures"] += [
            {"name": "gpu_busy_seconds", "subject": "GPU-0", "value": 2.5, "availability": "have"},
            {"name": "gpu_busy_seconds", "subject": "GPU-1", "value": None, "availability": "denied"}]
        stub, _ = self.told(usage(0), line)
        self.assertNotIn("system/run/gpu_busy_seconds", [point["key"] for batch in stub.batches() for point in batch])

    def test_artifacts_are_put_or_said_to_be_nowhere(self):
        page = self.folder / "report.html"
        page.write_bytes(b"<p>\0" * 100000)
        stub, _ = self.told(usage(0), end(), artifacts=[str(page), "/no/such/file"])
        puts = {path.split("artifacts/0/")[-1]: body for method, path, body, _ in stub.requests if method == "PUT"}
        self.assertEqual(puts["r/artifacts/vitals/report.html"], page.read_bytes())
        document = json.loads(puts["r/artifacts/vitals/account.json"])
        self.assertEqual(document["figures"], account()["figures"])
        self.assertNotIn("command", document)


class Logins(Case):
    def sent(self, env=None):
        with Stub() as stub:
            with self.tell(stub.url, env=env) as tell:
                tell.hear("opened")
                tell.end()
            return stub.requests[0][3]

    def test_names_go_before_tokens(self):
        token = {"MLFLOW_TRACKING_TOKEN": "t0"}
        both = {"MLFLOW_TRACKING_USERNAME": "ann", "MLFLOW_TRACKING_PASSWORD": "p:w"} | token
        self.assertEqual(self.sent(token)["Authorization"], "Bearer t0")
        self.assertEqual(self.sent(both)["Authorization"], "Basic " + base64.b64encode(b"ann:p:w").decode())
        self.assertNotIn("Authorization", self.sent())
        long = {"MLFLOW_TRACKING_USERNAME": "ann", "MLFLOW_TRACKING_PASSWORD": "p" * 3000}
        self.assertEqual(self.sent(long)["Authorization"],
                         "Basic " + base64.b64encode(b"ann:" + b"p" * 3000).decode())

    def test_the_file_of_credentials_and_the_workspace(self):
        (self.folder / ".mlflow").mkdir()
        (self.folder / ".mlflow" / "credentials").write_text(
            "[other]\nmlflow_tracking_username = no\n[mlflow]\nmlflow_tracking_username = eve\r\n"
            "mlflow_tracking_password=x = y\n")
        headers = self.sent({"MLFLOW_WORKSPACE": "lab"})
        self.assertEqual(headers["Authorization"], "Basic " + base64.b64encode(b"eve:x = y").decode())
        self.assertEqual(headers["X-Mlflow-Workspace".upper()], "lab")
        self.assertEqual(self.sent({"MLFLOW_TRACKING_USERNAME": "ann"})["Authorization"],
                         "Basic " + base64.b64encode(b"ann:x = y").decode())

    def test_a_password_in_the_url_is_sent_and_never_shown(self):
        def denied(*_):
            return 401, {}, b"{}"
        with Stub(denied) as stub:
            with self.tell(stub.url.replace("//", "//eve:s3cret@")) as tell:
                tell.hear("failed")
                heard, errors = tell.end()
            self.assertEqual(stub.requests[0][3]["Authorization"], "Basic " + base64.b64encode(b"eve:s3cret").decode())
        self.assertNotIn("s3cret", json.dumps(heard) + errors)

    def test_a_token_with_a_line_in_it_is_no_header(self):
        self.assertNotIn("Authorization", self.sent({"MLFLOW_TRACKING_TOKEN": "a\r\nX-Evil: 1"}))


@unittest.skipUnless(shutil.which("openssl"), "no openssl to make certificates with")
class Certificates(Case):
    """TLS by MLflow's own variables."""

    def setUp(self):
        super().setUp()
        self.key, self.certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", self.key, "-out", self.certificate], check=True, capture_output=True)

    def first(self, env, ask_client=False):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        if ask_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.certificate)
        with Stub(tls=context) as stub, self.tell(stub.url, env=env, patience=2) as tell:
            while True:
                line = tell.hear()
                if "opened" in line or "failed" in line or "say" in line:
                    tell.end()
                    return line

    def test_a_certificate_that_nobody_vouches_for_is_refused(self):
        self.assertIn("not trusted", self.first({})["message"])

    def test_authorities_and_looking_away(self):
        self.assertIn("opened", self.first({"MLFLOW_TRACKING_SERVER_CERT_PATH": self.certificate}))
        self.assertIn("opened", self.first({"MLFLOW_TRACKING_INSECURE_TLS": "true"}))
        self.assertIn("/no/such/file", self.first({"MLFLOW_TRACKING_SERVER_CERT_PATH": "/no/such/file"})["message"])

    def test_a_certificate_of_ours(self):
        both = self.folder / "both.pem"
        both.write_bytes(self.certificate.read_bytes() + self.key.read_bytes())
        authority = {"MLFLOW_TRACKING_SERVER_CERT_PATH": self.certificate}
        self.assertIn("opened", self.first(authority | {"MLFLOW_TRACKING_CLIENT_CERT_PATH": both}, ask_client=True))
        self.assertNotIn("opened", self.first(authority, ask_client=True))


class Command(Case):
    """vitals run --mlflow, vitals send."""

    def run_vitals(self, *arguments, env=None, **options):
        variables = {name: None for name in os.environ if name.startswith("MLFLOW_")}
        variables |= {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder)} | (env or {})
        return vitals(*arguments, env=variables, timeout=120, **options)

    def test_an_unreachable_server_costs_the_job_nothing_and_is_told_later(self):
        port = free_port()

        def away(seconds):
            result = self.run_vitals("run", f"--mlflow=http://127.0.0.1:{port}", "--tell-wait", seconds,
                                     "--", "sh", "-c", "echo done; exit 5")
            self.assertEqual((result.returncode, result.stdout), (5, "done\n"), result.stderr)
            return result, kept_spool(self.folder)

        result, spool = away(1)
        if "could not connect" not in result.stderr:  # what says so had not started within a second
            spool.unlink()
            result, spool = away(20)
        self.assertIn("could not connect", result.stderr)
        self.assertIn(f"vitals send {spool}", result.stderr)
        with Stub(port=port) as stub:
            sent = self.run_vitals("send", str(spool))
            check_all_sent(self, sent, spool, stub.url)
            (update,) = [json.loads(body) for _, path, body, _ in stub.requests if path.endswith("runs/update")]
            self.assertEqual(update["status"], "FAILED")
            (page,) = [body for _, path, body, _ in stub.requests if path.endswith("report.html")]
            self.assertIn(b"</html>", page)  # read before vitals run removed it
            self.assertIn("system/run/wall_seconds", {point["key"] for batch in stub.batches() for point in batch})
        self.assertFalse(spool.exists())

    def test_a_program_that_starts_late_keeps_all_that_it_is_told(self):
        late = self.folder / "tell"
        late.write_text(f'#!/bin/sh\nsleep 1\nexec "{TELL}" "$@"\n')
        late.chmod(0o700)
        for _ in range(3):
            result = self.run_vitals("run", "-q", f"--mlflow=http://127.0.0.1:{free_port()}", "--tell-wait", "0.1",
                                     "--", "true", env={"VITALS_TELL": late})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("lost", result.stderr)
            kept_spool(self.folder).unlink()

    def test_no_password_is_kept_and_who_is_away_is_not_waited_for(self):
        port = free_port()
        address = f"http://eve:s3cret@127.0.0.1:{port}"
        result = self.run_vitals("run", "-q", f"--mlflow={address}", "--tell-wait", "1", "--", "true")
        self.assertEqual(result.returncode, 0, result.stderr)
        spool = kept_spool(self.folder)
        self.assertNotIn(b"s3cret", spool.read_bytes())
        sent = self.run_vitals("send", "--tell-wait", "1", str(spool))
        self.assertEqual(sent.returncode, 1, sent.stderr)
        self.assertIn("could not connect", sent.stderr)
        self.assertTrue(spool.exists())
        with Stub(port=port) as stub:
            sent = self.run_vitals("send", str(spool), env={"MLFLOW_TRACKING_URI": address})
            check_all_sent(self, sent, spool, stub.url)
            self.assertEqual(stub.requests[0][3]["Authorization"], "Basic " + base64.b64encode(b"eve:s3cret").decode())

    def test_one_clear_line_and_the_jobs_own_code(self):
        def denied(*_):
            return 401, {}, b'{"message":"You are not authenticated"}'
        with Stub(denied) as stub:
            for uri, words in (("", "MLFLOW_TRACKING_URI"), ("sqlite:///x.db", "a database"), (stub.url, "not authenticated")):
                with self.subTest(uri):  # what a variable says is no mistake of who asked for the job
                    result = self.run_vitals("run", "--mlflow", "--", "sh", "-c", "exit 6",
                                             env={"MLFLOW_TRACKING_TOKEN": "wrong", "MLFLOW_TRACKING_URI": uri or None})
                    self.assertEqual(result.returncode, 6, result.stderr)
                    self.assertEqual(sum(words in line for line in result.stderr.splitlines()), 1, result.stderr)

    def test_an_option_that_can_never_work_ends_before_the_job(self):
        for option, words in (("--mlflow=sqlite:///x.db", "a database"), ("--mlflow=file:///tmp/mlruns", "a folder"),
                              ("--mlflow=postgresql://me:s3cret@db/x", "a database"), ("--mlflow=https://", "not an address"),
                              *((option + "=http://" + place, "not an address") for option in ("--mlflow", "--otlp")
                                for place in ("127.0.0.1:99999", ":80", "localhost:abc", "h:0", "[::1", "me:s3cret@:80")),
                              ("--otlp=grpc://collector:4317", "not an address"), ("--otlp=collector:4318", "not an address"),
                              *(("--mlflow-prefix=" + prefix, "--mlflow-prefix") for prefix in ("/x", "../x/", "a//b", "p:r%/", "./", "x" * 101))):
            with self.subTest(option):
                also = ["--mlflow"] if "prefix" in option else []
                result = self.run_vitals("run", *also, option, "--", "echo", "ran")
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn(words, result.stderr)
                self.assertNotIn("s3cret", result.stderr)

    def test_where_nobody_can_listen_is_a_mistake_of_the_option(self):
        for where in ("foo:bar", "host:80", "127.0.0.1:99999", "::1:x", "unix:relative"):
            with self.subTest(where):
                result = self.run_vitals("serve", "--listen", where)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn("(0.0.0.0 or [::] for all)", result.stderr)

    def kept(self, port):
        """The file of a run whose server was away."""
        self.run_vitals("run", "-q", f"--mlflow=http://127.0.0.1:{port}", "--tell-wait", "0.5", "--", "true")
        return kept_spool(self.folder)

    def test_one_damaged_byte_costs_one_record_and_no_more(self):
        port = free_port()
        spool = self.kept(port)
        whole = spool.read_bytes()
        at = whole.index(b" batch ") + 1
        damaged = whole[:at] + b"B" + whole[at + 1:]
        spool.write_bytes(damaged)
        batches = len(re.findall(rb"^@\w+ batch ", whole, re.M))
        records = len(re.findall(rb"^@\w+ (?:batch|end|artifact) ", whole, re.M))
        with Stub(port=port) as stub:
            sent = self.run_vitals("send", str(spool))
            self.assertEqual(sent.returncode, 1, sent.stderr)
            named, last = sent.stderr.splitlines()
            self.assertRegex(named, rf"^vitals: mlflow: {spool}: \d+ bytes from byte \d+ on are damaged$")
            self.assertIn(f"sent {records - 1} records (", last)
            self.assertIn(f"the file is kept as {spool}.damaged", last)
            self.assertNotIn("missing", last)  # it is told once
            self.assertEqual(len(stub.batches("run_id")), batches - 1)
            self.assertEqual(stub.paths().count(("POST", "update")), 1)
            self.assertEqual(stub.paths().count(("PUT", "account.json")), 1)
        size, place = map(int, re.findall(r"(\d+) bytes from byte (\d+)", named)[0])
        aside = spool.with_name(spool.name + ".damaged")
        self.assertEqual(aside.read_bytes()[place:place + size], damaged[place:place + size])
        self.assertFalse(spool.exists())
        with Stub(port=port) as stub:  # what has arrived is not sent again
            again = self.run_vitals("send", str(aside))
            self.assertEqual(again.returncode, 1, again.stderr)
            self.assertEqual(stub.requests, [])
        self.assertTrue(aside.exists())

    def test_a_damaged_file_that_cannot_be_renamed_is_not_to_be_sent_again(self):
        port = free_port()
        spool = self.kept(port)
        spool.write_bytes(spool.read_bytes().replace(b'"vitals.exit"', b'"vitals.edit"', 1))
        for name in (".damaged", *(f".damaged.{n}" for n in range(1, 10))):
            spool.with_name(spool.name + name).write_text("mine")
        with Stub(port=port) as stub:
            for time in range(2):
                stub.requests.clear()
                sent = self.run_vitals("send", str(spool))
                self.assertEqual(sent.returncode, 1, sent.stderr)
                self.assertIn(f"nothing is left to send, but the file could not be renamed ({os.strerror(errno.EEXIST)})", sent.stderr)
                self.assertNotIn("not all was sent", sent.stderr)
                self.assertNotIn("again", sent.stderr)
                self.assertEqual(stub.requests == [], time == 1)
        spool.with_name(spool.name + ".damaged.3").unlink()
        sent = self.run_vitals("send", str(spool))
        self.assertIn(f"the file is kept as {spool}.damaged.3", sent.stderr)

    def test_what_is_damaged_stays_while_the_server_is_away(self):
        spool = self.kept(free_port())
        damaged = spool.read_bytes().replace(b'"vitals.exit"', b'"vitals.edit"', 1)
        spool.write_bytes(damaged)
        for _ in range(2):
            sent = self.run_vitals("send", "--tell-wait", "1", str(spool))
            self.assertEqual(sent.returncode, 1, sent.stderr)
            self.assertIn("are damaged", sent.stderr)
            self.assertRegex(sent.stderr, r"could not connect.*; sent 0 records .*; \d+ records stay in the file: send it again")
            self.assertEqual(spool.read_bytes(), damaged)

    def test_what_the_server_refuses_stays_in_the_file(self):
        port = free_port()
        spool = self.kept(port)
        refuses = True

        def answer(method, path, body, _headers):
            if refuses and (method == "PUT" or (path.endswith("log-batch") and b'"vitals.exit"' in body)):
                return 400, {}, b'{"error_code":"INVALID_PARAMETER_VALUE","message":"changed"}'
            return None
        with Stub(answer, port=port) as stub:
            sent = self.run_vitals("send", str(spool))
            self.assertEqual((sent.returncode, sent.stderr.count("\n")), (1, 1), sent.stderr)
            self.assertRegex(sent.stderr, rf"{spool}: not all was sent: .*changed; sent \d+ records .*; [1-9]\d* records stay in the file")
            self.assertIn(("POST", "update"), stub.paths())
            self.assertTrue(spool.exists())
            refuses = False
            stub.requests.clear()
            check_all_sent(self, self.run_vitals("send", str(spool)), spool, stub.url)
            self.assertNotIn(("POST", "update"), stub.paths())
            self.assertEqual(len(stub.batches("tags")), 1)
            self.assertIn(("PUT", "account.json"), stub.paths())

    def test_what_cannot_be_marked_as_arrived_ends_it_after_one_record(self):
        def no_file_may_grow():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        if self.run_vitals("--version", preexec_fn=no_file_may_grow).returncode != 0:
            self.skipTest("ThreadSanitizer writes a file when a program starts")
        port = free_port()
        spool = self.kept(port)
        before = spool.read_bytes()
        waiting = len(re.findall(rb"^@\w+ (?:batch|end|artifact) ", before, re.M))
        self.assertGreater(waiting, 2)
        with Stub(port=port) as stub:
            sent = self.run_vitals("send", spool, preexec_fn=no_file_may_grow)
            self.assertEqual(sent.returncode, 1, sent.stderr)
            self.assertIn(f"cannot be noted in the file, and will be sent again: {os.strerror(errno.EFBIG)}", sent.stderr)
            self.assertIn("sent 1 records", sent.stderr)
            self.assertIn(f"{waiting} records stay in the file", sent.stderr)
            self.assertEqual(len(stub.batches("run_id")), 1)
            self.assertEqual(spool.read_bytes(), before)
            check_all_sent(self, self.run_vitals("send", str(spool)), spool, stub.url)

    def test_what_is_no_spool_is_not_sent(self):
        (self.folder / "text").write_text("hello")
        for path in (self.folder / "text", self.folder / "none"):
            result = self.run_vitals("send", str(path))
            self.assertEqual(result.returncode, 1)
            self.assertIn(path.name, result.stderr)

    def test_the_page_is_an_artifact(self):
        with Stub() as stub:
            result = self.run_vitals("run", "--mlflow=" + stub.url, "--tell-wait", "30", "--", "sleep", "0.3")
            self.assertEqual(result.returncode, 0, result.stderr)
            puts = {path.split("/vitals/")[-1]: body for method, path, body, _ in stub.requests if method == "PUT"}
        self.assertEqual(sorted(puts), ["account.json", "report.html"])
        self.assertIn(b"</html>", puts["report.html"])


if __name__ == "__main__":
    unittest.main()
