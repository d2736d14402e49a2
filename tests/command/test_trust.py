"""Files that decide what vitals does, and that another user owns or may write to: root does not follow
them, and `vitals send` sends none of them; nothing is refused without a line."""

import os
import pathlib
import platform
import subprocess
import tempfile
import unittest

from cast import ordinary
from harness import SANITIZED, VITALS, environment, vitals, wait_until
from mlflow_server import Stub, free_port, kept_spool
from mlflow_told import check_all_sent
from tell_program import TELL, Tell

STRANGER = 54321
WRITABLE = "other users may write to it"


class Foreign(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-trust-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)

    def spoiled(self, path):
        """Gives the file to others in each way; the words of the refusal."""
        path.chmod(0o644)
        for mode in (0o664, 0o646):
            path.chmod(mode)
            with self.subTest(path=path.name, mode=oct(mode)):
                yield WRITABLE
        path.chmod(0o644)
        if os.geteuid() == 0:
            os.chown(path, STRANGER, STRANGER)
            with self.subTest(path=path.name, owner=STRANGER):
                yield "it belongs to another user"
            os.chown(path, 0, 0)


@unittest.skipUnless(os.geteuid() == 0, "only root is held to its own files")
class Root(Foreign):
    def test_a_configuration(self):
        path = self.folder / "vitals" / "config.json"
        path.parent.mkdir()
        path.write_text('{"nvml": "/no/such/library.so"}')
        usual = {"XDG_CONFIG_HOME": self.folder}
        self.assertIn("/no/such/library.so", vitals("options", "--settings", env=usual).stdout)
        for words in self.spoiled(path):
            done = vitals("options", "--settings", env=usual)
            self.assertEqual(done.returncode, 0)
            self.assertNotIn("/no/such/library.so", done.stdout)
            self.assertIn(f"{path}: {words}", done.stderr)
            self.assertIn("going on without it", done.stderr)
            done = vitals("options", "--settings", "--config", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"{path}: {words}", done.stderr)

    def test_a_layout(self):
        path = self.folder / "layout.json"
        path.write_text('{"group": "user"}')
        show = ("--screen", "200x40", "--demo", "--layout", path)
        if "by user" not in vitals(*show).stdout:
            self.skipTest("built without the interactive screens")
        for words in self.spoiled(path):
            done = vitals(*show)
            self.assertNotIn("by user", done.stdout)
            self.assertIn(f"{path}: {words}", done.stdout)

    def test_a_file_of_marks(self):
        path = self.folder / "marks"
        path.touch()
        for words in self.spoiled(path):
            done = vitals("mark", "begin", "epoch", env={"VITALS_MARKS": path})
            self.assertEqual(done.returncode, 0)
            self.assertIn(f'{path}: {words}', done.stderr)
            self.assertIn('"epoch" is not marked', done.stderr)
            self.assertEqual(path.read_bytes(), b"")
        vitals("mark", "begin", "epoch", env={"VITALS_MARKS": path})
        self.assertTrue(path.read_bytes().startswith(b"begin\tepoch\t"))

    def test_a_web_configuration(self):
        path = self.folder / "web.yml"
        path.write_text("http_server_config:\n  headers:\n    X-Frame-Options: deny\n")
        for words in self.spoiled(path):
            with Tell(serve={"listen": ["127.0.0.1:0"], "web_config": str(path)}) as tell:
                message = tell.hear("failed")["message"]
                tell.end()
            self.assertIn(f"{path}: {words}", message)


class User(Foreign):
    def test_ones_own_may_be_shared_with_a_group(self):
        """As with a umask of 002: only root is held to its own files."""
        prefix = ordinary(self)
        path = self.folder / "config.json"
        path.write_text('{"interval": 3}')
        path.chmod(0o664)
        done = subprocess.run([*prefix, VITALS, "options", "--settings", "--config", path], env=environment(HOME="/nowhere"),
                              capture_output=True, text=True, check=False)
        self.assertIn('"interval": {"value":3,', done.stdout, done.stderr)


class Sent(Foreign):
    LOGIN = {"MLFLOW_TRACKING_USERNAME": "me", "MLFLOW_TRACKING_PASSWORD": "hunter2"}

    def send(self, *arguments, **env):
        home = {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder), "MLFLOW_TRACKING_URI": None}
        return vitals("send", "--tell-wait", "5", *arguments, env=home | self.LOGIN | env, timeout=120)

    def spool(self):
        """What waits for a server that is away, and its port."""
        port = free_port()
        vitals("run", "-q", f"--mlflow=http://127.0.0.1:{port}", "--tell-wait", "0.5", "--", "true", timeout=120,
               env={"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder), "MLFLOW_TRACKING_URI": None})
        return kept_spool(self.folder), port

    def test_a_file_of_others_is_not_sent(self):
        spool, port = self.spool()
        with Stub(port=port) as stub:
            for words in self.spoiled(spool):
                done = self.send(spool)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{spool}: {words}", done.stderr)
            spool.chmod(0o600)
            spool.parent.chmod(0o777)
            done = self.send(spool)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{spool}: its folder: {WRITABLE}", done.stderr)
            self.assertEqual(stub.requests, [])
            spool.parent.chmod(0o700)
            check_all_sent(self, self.send(spool), spool, stub.url)

    def test_a_login_goes_only_where_it_is_for(self):
        """The server of the file is not the one that the environment names, or none is named there."""
        for named in ("https://real.example", None):
            spool, port = self.spool()
            with self.subTest(named), Stub(port=port) as stub:
                check_all_sent(self, self.send(spool, MLFLOW_TRACKING_URI=named), spool, stub.url)
                self.assertEqual({headers.get("Authorization") for *_, headers in stub.requests}, {None})
        spool, port = self.spool()
        with Stub(port=port) as stub:
            check_all_sent(self, self.send(spool, MLFLOW_TRACKING_URI=stub.url), spool, stub.url)
            self.assertEqual({headers.get("Authorization") for *_, headers in stub.requests}, {"Basic bWU6aHVudGVyMg=="})

    def test_who_is_denied_without_a_login_learns_why(self):
        spool, port = self.spool()
        with Stub(lambda *_: (401, {}, b'{"message":"who?"}'), port=port):
            done = self.send(spool)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no login was sent, as only --mlflow=URI or MLFLOW_TRACKING_URI", done.stderr)


class Exporter(Foreign):
    """The program that parses what networks send."""

    def test_gets_no_variable_that_it_does_not_read(self):
        seen, script = self.folder / "seen", self.folder / "tell"
        script.write_text(f'#!/bin/sh\nenv > {seen}.part\nmv {seen}.part {seen}\nexec "{TELL}" "$@"\n')
        script.chmod(0o700)
        done = vitals("run", "-q", f"--mlflow=http://127.0.0.1:{free_port()}", "--tell-wait", "0.5", "--", "true",
                      timeout=120, env={"VITALS_TELL": script, "AWS_SECRET_ACCESS_KEY": "hunter2", "https_proxy": "http://p:1",
                                        "MLFLOW_TRACKING_TOKEN": "t0", "HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        wait_until(seen.exists, "the program")
        names = {line.split("=")[0] for line in seen.read_text().splitlines()}
        self.assertNotIn("AWS_SECRET_ACCESS_KEY", names)
        self.assertLessEqual({"MLFLOW_TRACKING_TOKEN", "HOME", "https_proxy"}, names)

    @unittest.skipIf(SANITIZED, "a sanitizer traces its own process")
    @unittest.skipUnless(platform.machine() in ("x86_64", "aarch64"), "no seccomp filter of ours for this machine")
    def test_is_behind_a_filter_of_system_calls(self):
        if "Seccomp:" not in pathlib.Path("/proc/self/status").read_text():
            self.skipTest("this kernel has no seccomp")
        with Tell(serve={"listen": ["127.0.0.1:0"]}) as tell:
            tell.hear("opened")
            status = pathlib.Path(f"/proc/{tell.process.pid}/status").read_text()
            tell.end()
        self.assertRegex(status, r"(?m)^Seccomp:\t2$")
        self.assertRegex(status, r"(?m)^NoNewPrivs:\t1$")


if __name__ == "__main__":
    unittest.main()
