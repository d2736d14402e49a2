"""A server of MLflow that refuses, fails, stalls or is away: what is told of it, and that nothing is lost.
Against one of ours that answers what a test wants."""

import contextlib
import json
import socket
import stat
import threading
import time
import unittest

from harness import wait_until
from mlflow_server import Stub, account, end, free_port, usage
from mlflow_told import BEGIN_MS, Case


class Failures(Case):
    def failed(self, url, answer=None, **config):
        with self.tell(url, patience=3, **config) as tell:
            heard = tell.hear("failed", "message")
            tell.write(usage(0))
            tell.write(end())
            tell.end()
        self.assertNotIn("\n", heard["message"])
        return heard["message"]

    def test_addresses_that_are_no_servers(self):
        for uri, word in (("file:///tmp/mlruns", "folder"), ("sqlite:///x.db", "database"), ("./mlruns", "folder"),
                          ("databricks", "Databricks"), ("gopher://x", "http://"), ("http://", "address"),
                          ("postgresql://me:s3cret@db/x", "postgresql://db/x"), ("gopher://me:a/s3cret@db", "gopher://db"),
                          ("me:s3cret@db", "db: not an address")):
            with self.subTest(uri):
                message = self.failed(uri)
                self.assertIn(word, message)
                self.assertNotIn("s3cret", message)
        self.assertEqual(self.failed(None), "no server: --mlflow=URI, or set MLFLOW_TRACKING_URI")

    def test_a_server_that_speaks_no_http(self):
        def answer():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(b"hello\n")

        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        threading.Thread(target=answer, daemon=True).start()
        name = f"127.0.0.1:{listener.getsockname()[1]}"
        self.assertIn(f"no HTTP with {name}", self.failed(f"http://{name}"))

    def test_who_may_not_and_what_is_not(self):
        cases = ((401, {}, "401"), (403, {}, "403"), (404, {"run_id": "nope"}, "no run nope"),
                 (404, {"experiment_id": "77"}, "no experiment 77"), (404, {"experiment": "x", "experiment_id": "7"}, "x"),
                 (302, {}, "302"), (400, {}, "no thanks"))
        for status, config, words in cases:
            with self.subTest(status=status, **config):
                code = "RESOURCE_DOES_NOT_EXIST" if status == 404 else "X"
                body = json.dumps({"error_code": code, "message": "no thanks\nsecond line \033[31m"}).encode()
                answer = (status, {"Location": "http://127.0.0.1:1/"}, body)
                with Stub(lambda *_: answer) as stub:
                    self.assertIn(words, self.failed(stub.url, **config))
                    self.assertEqual(len(stub.requests), 1)
        self.assertEqual(len(self.spools()), len(cases))  # no server has accepted any of it

    def test_what_a_proxy_answers_says_nothing_of_the_run(self):
        for status, headers, body in ((404, {}, b"<html>"), (404, {}, b'{"message":"no route"}'), (200, {}, b"<html>"),
                                      (302, {"Location": "/login"}, b""), (204, {}, b""), (413, {}, b"<html>")):
            with self.subTest(status=status, body=body), Stub(lambda *_: (status, headers, body)) as stub:
                address = stub.url.replace("//", "//me:s3/cret@") + "/wrong"
                before = self.spools()
                self.assertEqual(self.failed(stub.url + "/wrong"),
                                 f"{stub.url}/wrong: no MLflow server answers there ({status})")
                (spool,) = set(self.spools()) - set(before)
                with self.tell(address, spool=None, resume=str(spool), patience=3) as tell:
                    heard, _ = tell.end()
                self.assertTrue(any("failed" in line for line in heard), heard)
                self.assertNotIn("cret", json.dumps(heard))
                self.assertTrue(spool.exists())

    def test_what_does_not_take_a_login_any_more_is_asked_again(self):
        for status, headers, body in ((401, {}, b"{}"), (302, {"Location": "/login"}, b""), (200, {}, b"<html>")):
            with self.subTest(status), Stub() as stub:
                with self.tell(stub.url, interval_seconds=1, patience=2) as tell:
                    tell.hear("opened")
                    tell.write(usage(0))
                    wait_until(lambda: self.points(stub, "system/process/num_threads"), "the first")
                    stub.answer = lambda *_: (status, headers, body)
                    tell.write(usage(1))
                    self.assertIn("nothing is lost", tell.hear("say")["say"])
                    tell.write(end())
                    heard, _ = tell.end()
                self.assertFalse(any("failed" in line for line in heard), heard)
                (spool,) = self.spools()
                stub.answer = None
                stub.requests.clear()
                with self.tell(None, spool=None, resume=str(spool), patience=60) as tell:
                    tell.end()
                self.assertEqual([step for _, step, _ in self.points(stub, "system/process/num_threads")], [1])
                self.assertIn(("POST", "update"), stub.paths())
                self.assertEqual(self.spools(), [])

    def test_a_run_that_is_gone_while_it_is_told_keeps_what_no_server_accepted(self):
        missing = b'{"error_code":"RESOURCE_DOES_NOT_EXIST","message":"gone"}'
        with Stub() as stub:
            with self.tell(stub.url, interval_seconds=1) as tell:
                tell.hear("opened")
                tell.write(usage(0))
                wait_until(lambda: self.points(stub, "system/process/num_threads"), "the first")
                stub.answer = lambda *_: (404, {}, missing)
                tell.write(usage(1))
                self.assertIn("gone", tell.hear("failed")["message"])
                tell.write(usage(2))  # after the server said so
                tell.write(end())
                heard, _ = tell.end()
            (spool,) = self.spools()
            self.assertTrue(any(f"vitals send {spool} " in line.get("say", "") for line in heard), heard)
            stub.answer = None
            stub.requests.clear()
            with self.tell(None, spool=None, resume=str(spool), patience=60) as tell:
                tell.end()
            self.assertEqual([step for _, step, _ in self.points(stub, "system/process/num_threads")], [1, 2])
            self.assertIn(("POST", "update"), stub.paths())
        self.assertEqual(self.spools(), [])

    def test_what_is_damaged_while_it_waits_is_kept_with_the_rest(self):
        """The file is said to be kept, and is, though the run is gone then."""
        with Stub(lambda _method, path, *_: (503, {}, b"") if path.endswith("log-batch") else None) as stub:
            with self.tell(stub.url, interval_seconds=1) as tell:
                tell.hear("opened")
                tell.write(usage(0))
                tell.write(usage(1))
                wait_until(self.spools, "a spool")
                (spool,) = self.spools()
                wait_until(lambda: b'"step":1}' in spool.read_bytes() and spool.read_bytes().endswith(b"]}\n"), "the second")
                with spool.open("r+b") as file:
                    file.seek(spool.read_bytes().index(b'"step":1}'))
                    file.write(b'"stop"')
                stub.answer = lambda _method, path, *_: \
                    (404, {}, b'{"error_code":"RESOURCE_DOES_NOT_EXIST","message":"gone"}') if path.endswith("update") else None
                tell.write(end())
                heard, _ = tell.end()
            self.assertTrue(any(f"{spool} is damaged and is kept" in line.get("say", "") for line in heard), heard)
        self.assertIn(b'"stop":1}', spool.read_bytes())

    def test_a_run_that_is_gone_leaves_the_file_to_who_sends_it(self):
        with Stub(lambda *_: "reset") as stub:
            with self.tell(stub.url, patience=1) as tell:
                tell.write(end())
                tell.end()
        (spool,) = self.spools()
        missing = b'{"error_code":"RESOURCE_DOES_NOT_EXIST","message":"gone"}'
        with Stub(lambda *_: (404, {}, missing), port=stub.port):
            with self.tell(None, spool=None, resume=str(spool), patience=5) as tell:
                self.assertIn("gone", tell.hear("failed")["message"])
                tell.end()
        self.assertTrue(spool.exists())

    def test_answers_that_are_none(self):
        for body in (b"", b"<html>", b"[]", b'{"run":{}}', b'{"run":{"info":{"run_id":7}}}', b"[" * 100000, b"x" * 6_000_000):
            with self.subTest(body[:20]), Stub(lambda *_, body=body: (200, {}, body)) as stub:
                self.failed(stub.url)

    def test_a_part_that_is_refused_does_not_keep_back_the_others(self):
        def answer(_method, path, body, _headers):
            if path.endswith("log-batch") and b'"params"' in body:
                return 400, {}, b'{"error_code":"INVALID_PARAMETER_VALUE","message":"changed"}'
            return None
        with Stub(answer) as stub:
            with self.tell(stub.url) as tell:
                tell.hear("opened")
                for second in range(3):
                    tell.write(usage(second))
                tell.write(end())
                heard, _ = tell.end()
            self.assertTrue(self.points(stub, "system/process/num_threads"))
            self.assertIn(("POST", "update"), stub.paths())
        said = [line["say"] for line in heard if "say" in line]
        self.assertEqual(len(said), 1)
        self.assertIn("changed", said[0])
        self.assertEqual(self.spools(), [])


    def test_what_the_server_fails_over_again_and_again_is_left_out(self):
        tries = []

        def answer(_method, path, body, _headers):
            # The settings; the number of cores comes in a request of its own.
            if path.endswith("log-batch") and b'"params"' in body and b"cpu_usage_cores" not in body:
                tries.append(body)
                return 500, {}, b'{"error_code":"INTERNAL_ERROR","message":"it broke"}'
            return None
        with Stub(answer) as stub:
            with self.tell(stub.url, patience=60) as tell:
                tell.hear("opened")
                tell.write(usage(0))
                tell.write(end())
                heard, _ = tell.end()
            self.assertIn(("POST", "update"), stub.paths())
            self.assertEqual(stub.paths().count(("POST", "set-tag")), 1)
        self.assertEqual(len(tries), 8)
        self.assertEqual(len(set(tries)), 1)
        self.assertTrue(any("it broke" in line.get("say", "") for line in heard), heard)


    def test_what_the_server_fails_over_together_with_all_else_is_kept(self):
        tries = []

        def answer(_method, path, *_):
            tries.append(path.split("/")[-1])
            return None if path.endswith("runs/create") else (500, {}, b'{"error_code":"INTERNAL_ERROR"}')
        with Stub(answer) as stub:
            with self.tell(stub.url, patience=60) as tell:
                tell.hear("opened")
                tell.write(usage(0))
                tell.write(end())
                tell.process.stdin.close()
                wait_until(lambda: tries.count("set-tag") >= 2, "more than it would take", seconds=60)
                tell.process.kill()
                tell.process.wait()
            stub.answer = None
            stub.requests.clear()
            (spool,) = self.spools()
            with self.tell(None, spool=None, resume=str(spool), patience=60) as tell:
                tell.end()
            self.assertEqual([step for _, step, _ in self.points(stub, "system/process/num_threads")], [0])
            self.assertTrue(stub.batches("params"))

    def test_a_patience_of_years_is_not_none(self):
        with Stub(lambda *_: time.sleep(0.5)) as stub:  # longer than an end without patience waits
            with self.tell(stub.url, patience=1e9) as tell:
                tell.write(usage(0))
                tell.write(end())
                tell.end()
            self.assertIn(("POST", "update"), stub.paths())
        self.assertEqual(self.spools(), [])

    def test_artifacts_that_are_not_taken_do_not_keep_back_the_status(self):
        for status in (403, 404, 413, 500, 503):
            with self.subTest(status), Stub(lambda method, *_: (status, {}, b"no") if method == "PUT" else None) as stub:
                with self.tell(stub.url, patience=60) as tell:
                    tell.hear("opened")
                    tell.write(end())
                    heard, _ = tell.end()
                paths = stub.paths()
                self.assertLess(paths.index(("POST", "update")), paths.index(("PUT", "account.json")))
                self.assertEqual(paths.count(("PUT", "account.json")), 3)
                self.assertTrue(any("no artifacts" in line.get("say", "") for line in heard), heard)
                self.assertEqual(self.spools(), [])


class Away(Case):
    """The server is slow, busy, gone, back."""

    def test_what_is_busy_is_asked_again_and_not_before_it_wants(self):
        times = []

        def answer(_method, path, _body, _headers):
            if path.endswith("log-batch"):
                times.append(time.monotonic())
                if len(times) == 1:
                    return 429, {"Retry-After": "2"}, b"{}"
                if len(times) < 4:
                    return 503, {}, b"busy"
            return None
        with Stub(answer) as stub:
            with self.tell(stub.url, interval_seconds=1) as tell:
                tell.hear("opened")
                tell.write(usage(0))
                tell.write(end())
                heard, _ = tell.end()
            self.assertEqual(len(self.points(stub, "system/process/num_threads")), 1)
        self.assertGreaterEqual(times[1] - times[0], 2.0)  # even though there is an end to be sent
        self.assertEqual(self.spools(), [])
        self.assertEqual(sum("say" in line for line in heard), 1)

    def test_nothing_is_lost_and_nothing_is_sent_twice_over_a_gap(self):
        port = free_port()
        with self.tell(f"http://127.0.0.1:{port}", patience=60, interval_seconds=1) as tell:
            for second in range(5):
                tell.write(usage(second))
            self.assertIn("could not connect", tell.hear("say")["say"])
            (spool,) = self.spools()
            self.assertEqual(stat.S_IMODE(spool.stat().st_mode), 0o600)
            self.assertEqual(stat.S_IMODE(self.spool.stat().st_mode), 0o700)
            with Stub(port=port) as first:
                tell.hear("opened")
                wait_until(lambda: len(self.points(first, "system/process/num_threads")) == 5, "what waited")
            for second in range(5, 9):
                tell.write(usage(second))
            with Stub(port=port) as again:
                tell.write(end())
                tell.end()
            points = self.points(first, "system/process/num_threads") + self.points(again, "system/process/num_threads")
        self.assertEqual([step for _, step, _ in points], list(range(9)))
        self.assertNotIn(("POST", "create"), again.paths())
        self.assertEqual(self.spools(), [])

    def test_what_is_left_is_sent_by_another(self):
        port = free_port()
        with self.tell(f"http://127.0.0.1:{port}", patience=0.5, interval_seconds=1) as tell:
            for second in range(3):
                tell.write(usage(second))
            tell.write(end(code=2))
            heard, _ = tell.end()
        (spool,) = self.spools()
        self.assertTrue(any(str(spool) in line.get("say", "") for line in heard), heard)
        with Stub(port=port) as stub:
            with self.tell(None, spool=None, resume=str(spool), patience=60) as tell:
                tell.hear("opened")
                heard, _ = tell.end()
            self.assertEqual([step for _, step, _ in self.points(stub, "system/process/num_threads")], [0, 1, 2])
            created = json.loads(next(body for _, path, body, _ in stub.requests if path.endswith("runs/create")))
            self.assertEqual(created["start_time"], BEGIN_MS)
            self.assertIn(("POST", "update"), stub.paths())
        self.assertFalse(any("failed" in line for line in heard), heard)
        self.assertEqual(self.spools(), [])

    def test_of_one_that_was_killed_the_rest_is_sent_and_the_run_ends(self):
        with Stub() as stub:
            with self.tell(stub.url, interval_seconds=1) as tell:
                tell.hear("opened")
                tell.write(usage(0))
                wait_until(self.spools, "a spool")
                (spool,) = self.spools()
                wait_until(lambda: self.points(stub, "system/process/num_threads") and
                           b" BATCH " in spool.read_bytes() and b" batch " not in spool.read_bytes(), "all sent")
                stub.answer = lambda _method, path, *_: (503, {}, b"") if path.endswith("log-batch") else None
                tell.write(usage(1))
                wait_until(lambda: b'"step":1}' in spool.read_bytes() and spool.read_bytes().endswith(b"]}\n"),
                           "the next one, whole")
                tell.process.kill()
                tell.process.wait()
            stub.answer = None
            stub.requests.clear()
            with self.tell(None, spool=None, resume=str(spool), patience=60) as tell:
                tell.end()
            self.assertEqual([step for _, step, _ in self.points(stub, "system/process/num_threads")], [1])
            self.assertEqual(json.loads(stub.requests[-1][2])["status"], "KILLED")
            self.assertNotIn(("POST", "create"), stub.paths())
        self.assertEqual(self.spools(), [])

    def test_a_server_that_stalls_does_not_hold_up_the_end(self):
        with Stub(lambda *_: "stall") as stub:
            with self.tell(stub.url, patience=2) as tell:
                tell.write(usage(0))
                tell.write(end())
                began = time.monotonic()
                heard, _ = tell.end()
            self.assertLess(time.monotonic() - began, 20)
            self.assertTrue(any("not all was sent" in line.get("say", "") for line in heard), heard)
        self.assertEqual(len(self.spools()), 1)

    def test_a_run_that_was_made_without_an_answer_is_found_again(self):
        made = []

        def answer(_method, path, body, _headers):
            if path.endswith("runs/create"):
                made.append(json.loads(body))
                return "reset"
            if path.endswith("runs/search"):
                mark = next(tag["value"] for tag in made[0]["tags"] if tag["key"] == "vitals.spool")
                assert mark in json.loads(body)["filter"]
                return 200, {}, json.dumps({"runs": [{"info": {"run_id": "found"}, "data": {}}]}).encode()
            return None
        with Stub(answer) as stub:
            with self.tell(stub.url) as tell:
                self.assertEqual(tell.hear("opened")["run_id"], "found")
                tell.write(usage(0))
                tell.end()
            self.assertEqual(len(made), 1)

    def test_files_that_are_no_spools(self):
        for name, content in (("text", b"hello"), ("empty", b""), ("cut", b"vitals-unsent 2 @00"),
                              ("lies", b"vitals-spool 1\ntarget 2\n{}\nbatch 999999999\nx")):
            path = self.folder / name
            path.write_bytes(content)
            with self.subTest(name), self.tell(None, spool=None, resume=str(path), patience=5) as tell:
                heard, _ = tell.end()
                self.assertTrue(any("failed" in line for line in heard), heard)
        with self.tell(None, spool=None, resume="/no/such/spool", patience=5) as tell:
            self.assertIn("/no/such/spool", tell.hear("failed")["message"])

    def test_without_a_folder_nothing_is_promised(self):
        with self.tell(f"http://127.0.0.1:{free_port()}", spool=None, patience=2) as tell:
            self.assertIn("unsent data is kept in memory only", tell.hear("say")["say"])
            tell.write(usage(0))
            away = tell.hear("say")["say"]
            self.assertIn("could not connect", away)
            self.assertNotIn("nothing is lost", away)
            tell.write(end())
            heard, _ = tell.end()
        self.assertTrue(any("are lost" in line.get("say", "") for line in heard), heard)

    def test_a_folder_that_cannot_be_written_loses_nothing_but_what_a_kill_would(self):
        with Stub() as stub:
            with self.tell(stub.url, spool="/proc/no-home/unsent") as tell:
                self.assertIn("unsent data is kept in memory only", tell.hear("say")["say"])
                tell.write(usage(0))
                tell.write(end())
                tell.end()
            self.assertIn(("POST", "update"), stub.paths())


if __name__ == "__main__":
    unittest.main()
