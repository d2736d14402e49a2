"""What is left of a run is sent to another server than the one that it is for, and home again: whose run that is.
And what logs in, where the same server is written in two ways."""

import base64
import json
import unittest

from mlflow_server import Stub, end, free_port, usage
from mlflow_told import Case

MISSING = 404, {}, b'{"error_code":"RESOURCE_DOES_NOT_EXIST","message":"no such run"}'


class Server:
    """Has the runs that it made, and no other's; takes nothing while it is `full`."""

    def __init__(self, run_id, full=False):
        self.run_id, self.full, self.runs = run_id, full, set()

    def __call__(self, _method, path, body, _headers):
        if path.endswith("runs/create"):
            self.runs.add(self.run_id)
            return self.run(self.run_id)
        if "runs/get?run_id=" in path:
            return self.run(path.rpartition("=")[2])
        if path.endswith("log-batch") and self.full:
            return 503, {}, b"full"
        if path.endswith(("log-batch", "runs/update")) and json.loads(body)["run_id"] not in self.runs:
            return MISSING
        return None

    def run(self, run_id):
        if run_id not in self.runs:
            return MISSING
        info = {"run_id": run_id, "experiment_id": "7", "status": "RUNNING", "lifecycle_stage": "active",
                "artifact_uri": f"mlflow-artifacts:/7/{run_id}/artifacts"}
        return 200, {}, json.dumps({"run": {"info": info, "data": {}}}).encode()


class Elsewhere(Case):
    def keep(self, url, seconds=2, **more):
        """A run of so many seconds that was not, or not wholly, sent to that server."""
        with self.tell(url, patience=2, interval_seconds=1, **more) as tell:
            for second in range(seconds):
                tell.write(usage(second))
            tell.write(end())
            tell.end()
        (spool,) = self.spools()
        return spool

    def send(self, spool, patience=60, **more):
        with self.tell(more.pop("uri", None), spool=None, resume=str(spool), patience=patience, **more) as tell:
            heard, _ = tell.end()
        return heard

    def steps(self, stub):
        return [step for _, step, _ in self.points(stub, "system/process/num_threads")]

    def test_another_that_took_nothing_does_not_keep_the_file_from_its_own(self):
        port = free_port()
        spool = self.keep(f"http://127.0.0.1:{port}")
        with Stub(Server("other", full=True)) as other:
            self.send(spool, patience=2, instead=other.url)
            self.assertEqual(other.paths().count(("POST", "create")), 1)
        self.assertTrue(spool.exists())
        with Stub(Server("home"), port=port) as home:
            heard = self.send(spool)
            self.assertEqual(self.steps(home), [0, 1])
        self.assertFalse(any("failed" in line for line in heard), heard)
        self.assertEqual(self.spools(), [])

    def test_the_same_one_at_another_address_goes_on_with_the_run(self):
        with Stub(Server("home", full=True)) as home:
            spool = self.keep(home.url)
            home.answer.full = False
            heard = self.send(spool, instead=home.url.replace("127.0.0.1", "localhost"))
            self.assertEqual(home.paths().count(("POST", "create")), 1)
            self.assertEqual(self.steps(home), [0, 1])
        self.assertFalse(any("failed" in line for line in heard), heard)
        self.assertEqual(self.spools(), [])

    def test_a_run_that_its_own_server_has_is_not_begun_again_at_another(self):
        with Stub(Server("home", full=True)) as home:
            spool = self.keep(home.url)
            with Stub(Server("other")) as other:
                heard = self.send(spool, instead=other.url)
                self.assertNotIn(("POST", "create"), other.paths())
            self.assertTrue(any("no run home" in line["message"] for line in heard if "failed" in line), heard)
            self.assertTrue(spool.exists())
            home.answer.full = False
            self.send(spool)
            self.assertEqual(home.paths().count(("POST", "create")), 1)
            self.assertEqual(self.steps(home), [0, 1])
        self.assertEqual(self.spools(), [])

    def test_what_logs_in_is_found_where_the_address_is_written_in_another_way(self):
        login = "Basic " + base64.b64encode(b"me:s3cret").decode()
        port = free_port()
        for ours, same in ((f"HTTP://me:s3cret@LocalHost:{port}/", True), (f"http://me:s3cret@localhost:{port}//?a=b", True),
                           (f"http://me:s3cret@localhost:{port}/other", False), (f"http://me:s3cret@localhos:{port}", False),
                           (f"https://me:s3cret@localhost:{port}", False)):
            with self.subTest(ours):
                spool = self.keep(f"http://localhost:{port}", seconds=1)
                self.assertNotIn(b"s3cret", spool.read_bytes())
                with Stub(Server("home"), port=port) as home:
                    self.send(spool, uri=ours)
                    sent = {headers.get("Authorization") for _, _, _, headers in home.requests}
                self.assertEqual(sent, {login if same else None})
                self.assertEqual(self.spools(), [])


if __name__ == "__main__":
    unittest.main()
