"""Where things are: the run that a person is pointed to, a server that has moved, what a tracked process is
called, and addresses that can be meant in two ways. Against a server of ours (mlflow_server.py)."""

import base64
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from harness import started, vitals
from mlflow_server import Stub, free_port, kept_spool
from mlflow_told import check_all_sent

RUN = "r" * 32
PAGE = f"/#/experiments/7/runs/{RUN}"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-places-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_vitals(self, *arguments, env=None):
        variables = {name: None for name in os.environ if name.startswith("MLFLOW_")}
        variables |= {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder)} | (env or {})
        return vitals(*arguments, env=variables, timeout=120)


class Page(Case):
    """One line at the end, of who made a run or went on with one."""

    def said(self, stub, *options, login="", path="", env=None, command="run"):
        url = stub.url.replace("//", "//" + login) + path
        result = self.run_vitals(command, *options, "--mlflow=" + url, "--tell-wait", "60", "--", "true", env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stderr.splitlines()
        return [line.removeprefix("vitals: mlflow: the run is at ") for line in lines if "the run is at" in line], lines

    def test_once_at_the_end_and_with_verbose_at_the_begin(self):
        with Stub() as stub:
            said, lines = self.said(stub)
            self.assertEqual(said, [stub.url + PAGE])
            self.assertIn("the run is at", lines[-1])
            said, lines = self.said(stub, "--verbose")
            self.assertEqual(said, [stub.url + PAGE] * 2)
            first = [index for index, line in enumerate(lines) if "the run is at" in line][0]
            self.assertLess(first, [index for index, line in enumerate(lines) if "exit" in line.split()][0])
            self.assertEqual(self.said(stub, "--quiet"), ([], []))

    def test_nothing_that_logs_in_is_shown(self):
        with Stub() as stub:
            for login in ("eve:s3cret@", "eve:s3%40%2Fcret@", "s3cret@"):
                with self.subTest(login):
                    said, lines = self.said(stub, login=login)
                    self.assertEqual(said, [stub.url + PAGE])
                    self.assertNotIn("s3", "".join(lines).replace(stub.url, ""))
            # Half of a password, or a path: who cannot know says nothing.
            self.assertEqual(self.said(stub, path="/s3@cret")[0], [])

    def test_of_a_server_below_a_path_and_of_a_workspace(self):
        with Stub() as stub:
            self.assertEqual(self.said(stub, path="/mlflow/")[0], [stub.url + "/mlflow" + PAGE])
            self.assertEqual(self.said(stub, env={"MLFLOW_WORKSPACE": "a b/c"})[0],
                             [stub.url + PAGE + "?workspace=a%20b%2Fc"])
            self.assertEqual(self.said(stub, env={"MLFLOW_WORKSPACE": "default"})[0], [stub.url + PAGE])

    def test_a_run_that_was_named_has_one_too(self):
        with Stub() as stub:
            self.assertEqual(self.said(stub, "--mlflow-run", RUN)[0], [stub.url + PAGE])

    def test_a_hostile_server_writes_no_line_of_its_own(self):
        ids = {"run_id": "a\x1b[31m\nvitals: b", "experiment_id": "../\x07\"' ", "artifact_uri": "", "status": "RUNNING"}

        def hostile(_method, path, _body, _headers):
            return (200, {}, json.dumps({"run": {"info": ids, "data": {}}}).encode()) if "runs/create" in path else None
        with Stub(hostile) as stub:
            said, lines = self.said(stub)
            self.assertEqual(said, [stub.url + "/#/experiments/..%2F%07%22%27%20/runs/a%1B%5B31m%0Avitals%3A%20b"])
        ids["experiment_id"] = "7" * 2000  # longer than anybody's
        with Stub(hostile) as stub:
            self.assertEqual(self.said(stub)[0], [])

    def test_no_run_has_no_page(self):
        with Stub(lambda *_: (401, {}, b'{"message":"no"}')) as stub:
            self.assertEqual(self.said(stub)[0], [])


class Moved(Case):
    """vitals send --mlflow=URI."""

    def kept(self):
        """What waits for a server that nobody runs any more."""
        self.run_vitals("run", "-q", f"--mlflow=http://127.0.0.1:{free_port()}", "--tell-wait", "0.5", "--", "true")
        return kept_spool(self.folder)

    def test_it_goes_where_it_is_told_with_the_login_of_now(self):
        spool = self.kept()
        with Stub() as stub:
            sent = self.run_vitals("send", "--mlflow=" + stub.url, spool, env={"MLFLOW_TRACKING_TOKEN": "of-now"})
            check_all_sent(self, sent, spool, stub.url)
            self.assertIn(("POST", "update"), stub.paths())
            self.assertEqual(stub.requests[0][3]["Authorization"], "Bearer of-now")
        self.assertFalse(spool.exists())

    def test_a_login_in_the_address_or_of_the_same_address_counts(self):
        for option, variable in (("eve:s3cret@", None), ("", "eve:s3cret@")):
            with self.subTest(option), Stub() as stub:
                login = {name: stub.url.replace("//", "//" + who) for name, who in (("MLFLOW_TRACKING_URI", variable),) if who}
                spool = self.kept()
                sent = self.run_vitals("send", "--mlflow=" + stub.url.replace("//", "//" + option), spool, env=login)
                check_all_sent(self, sent, spool, stub.url)
                self.assertEqual(stub.requests[0][3]["Authorization"], "Basic " + base64.b64encode(b"eve:s3cret").decode())

    def test_an_address_that_can_never_work_sends_nothing(self):
        spool = self.kept()
        for uri, word in (("sqlite:///x.db", "a database"), ("http://", "not an address"), ("http://h:0", "not an address"), ("databricks", "Databricks")):
            with self.subTest(uri):
                sent = self.run_vitals("send", "--mlflow=" + uri, spool)
                self.assertEqual(sent.returncode, 2, sent.stderr)
                self.assertIn(word, sent.stderr.splitlines()[0])
        self.assertTrue(spool.exists())

    def begun(self):
        """What waits for a server that has made the run, and took nothing else. That, too."""
        with Stub() as stub:
            made = self.folder / "made"

            def half(_method, path, _body, _headers):
                if "runs/create" not in path:
                    made.touch()  # it has read the answer to that
                    return (503, {}, b"")
            stub.answer = half
            self.run_vitals("run", "-q", "--mlflow=" + stub.url, "--tell-wait", "0.5", "--interval", "20ms",
                            "--mlflow-interval", "1s", "--", "sh", "-c", f"while [ ! -e {made} ]; do sleep 0.05; done")
            spool = kept_spool(self.folder)
            self.assertRegex(spool.read_bytes(), rb"(?m)^@\w+ run ")
        return spool, stub

    def test_without_a_whole_target_it_is_sent_where_it_is_told(self):
        spool, home = self.begun()
        damaged = spool.read_bytes().replace(b'"mark"', b'"Mark"', 1)
        spool.write_bytes(damaged)
        batches = len(re.findall(rb"^@\w+ batch ", damaged, re.M))
        sent = self.run_vitals("send", spool)
        self.assertEqual(sent.returncode, 1, sent.stderr)
        self.assertIn(f"vitals send --mlflow=URI {spool}", sent.stderr)
        self.assertNotIn("send it again", sent.stderr)
        self.assertEqual(spool.read_bytes(), damaged)
        with Stub(port=home.port) as stub:
            sent = self.run_vitals("send", "--mlflow=" + stub.url, spool)
            self.assertEqual(sent.returncode, 1, sent.stderr)
            self.assertIn(f"the file is kept as {spool}.damaged", sent.stderr)
            self.assertEqual(len(stub.batches("run_id")), batches)
            self.assertIn(("POST", "update"), stub.paths())
            self.assertNotIn(("POST", "create"), stub.paths())
        self.assertFalse(spool.exists())

    def test_without_a_whole_target_a_server_that_has_moved_is_asked_for_the_run(self):
        spool, _ = self.begun()
        spool.write_bytes(spool.read_bytes().replace(b'"mark"', b'"Mark"', 1))
        with Stub() as other:
            sent = self.run_vitals("send", "--mlflow=" + other.url, spool)
            self.assertIn(f"the file is kept as {spool}.damaged", sent.stderr)
            self.assertIn(("POST", "update"), other.paths())
            self.assertNotIn(("POST", "create"), other.paths())

    def test_with_neither_target_nor_run_it_says_so(self):
        spool = self.kept()
        spool.write_bytes(spool.read_bytes().replace(b'"mark"', b'"Mark"', 1))
        with Stub() as stub:
            sent = self.run_vitals("send", "--mlflow=" + stub.url, spool)
            self.assertEqual(sent.returncode, 1, sent.stderr)
            self.assertIn("the file does not say which run it is of", sent.stderr)
            self.assertNotIn("send it again", sent.stderr)
            self.assertEqual(stub.requests, [])
        self.assertTrue(spool.exists())

    def test_a_run_that_is_not_there_keeps_the_file(self):
        """Begun on one server, sent to another that does not know its run."""
        spool, _ = self.begun()
        missing = json.dumps({"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no run"}).encode()
        with Stub(lambda *_: (404, {}, missing)) as other:
            sent = self.run_vitals("send", "--mlflow=" + other.url, spool)
            self.assertEqual(sent.returncode, 1, sent.stderr)
            self.assertEqual(sent.stderr.count("\n"), 1, sent.stderr)
        self.assertTrue(spool.exists())


class Tracked(Case):
    def name_of(self, stub):
        (body,) = [json.loads(body) for _, path, body, _ in stub.requests if path.endswith("runs/create")]
        return {tag["key"]: tag["value"] for tag in body["tags"]}["mlflow.source.name"]

    def test_what_is_tracked_gives_the_run_its_source(self):
        long = self.folder / "a-training-with-a-long-name"
        shutil.copy(shutil.which("sleep"), long)
        for program, name in (("sleep", "sleep"), (str(long), long.name)):
            with self.subTest(name), Stub() as stub, started([program, "600"]) as process:
                def end_it(_method, path, _body, _headers, process=process):
                    if "runs/create" in path:
                        process.kill()
                stub.answer = end_it
                result = self.run_vitals("track", "-q", "--mlflow=" + stub.url, "--tell-wait", "60", process.pid)
                process.kill()
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(self.name_of(stub), name)


class Addresses(Case):
    def test_where_a_login_ends_is_never_guessed(self):
        for uri in ("http://me:s3@cret@127.0.0.1:5000", "http://me:s3/cret@127.0.0.1", "http://me:s3?cret@h", "http://@me:s3cret@h"):
            for option in ("--mlflow=", "--otlp="):
                with self.subTest(option + uri):
                    result = self.run_vitals("run", option + uri, "--", "echo", "ran")
                    self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                    self.assertIn("%40 for @", result.stderr)
                    self.assertNotIn("cret", result.stderr)

    def test_a_path_may_hold_an_at_sign(self):
        with Stub() as stub:
            result = self.run_vitals("run", "-q", f"--mlflow={stub.url}/a@b", "--tell-wait", "60", "--", "true")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertTrue(all(path.startswith("/a@b/api/") for _, path, _, _ in stub.requests))
            self.assertTrue(stub.requests)


if __name__ == "__main__":
    unittest.main()
