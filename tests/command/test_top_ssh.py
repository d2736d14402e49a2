"""`vitals top --ssh` with a real ssh and an sshd of our own on the loopback, and with scripts in the place of
ssh for what it may say."""

import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
import unittest

import test_monitor_places as places
from harness import VITALS, vitals

SSH = shutil.which("ssh")


@unittest.skipIf(places.SSHD is None or SSH is None, "no ssh server to try it with (openssh-server)")
class OverSsh(unittest.TestCase):
    serve = places.OverSsh.serve

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        if not os.access(pwd.getpwuid(os.getuid()).pw_shell, os.X_OK):
            self.skipTest("this user has no shell to log in to")
        if os.getuid() == 0 and not places.EMPTY.is_dir():  # as its service makes it
            places.EMPTY.mkdir(mode=0o755)
            self.addCleanup(places.EMPTY.rmdir)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True,
                           stdin=subprocess.DEVNULL)
        for _ in range(4):  # another program may have got the port
            self.port = places.free_port()
            if self.serve():
                break
        else:
            self.skipTest("sshd does not start: " + (self.folder / "log").read_text()[-300:])
        # The program of the build, with its demo, on the other side.
        wrapper = self.folder / "ssh"
        wrapper.write_text(f"""#!/bin/bash
exec {SSH} -F none -i {self.folder}/user -o IdentitiesOnly=yes -o UserKnownHostsFile={self.folder}/known \\
    -o GlobalKnownHostsFile=none -o StrictHostKeyChecking=yes "${{@:1:$#-1}}" \\
    "PATH={pathlib.Path(VITALS).resolve().parent}:$PATH; ${{@:$#}} --demo"
""")
        wrapper.chmod(0o755)

    def test_a_machine_and_one_that_is_not_trusted(self):
        known, unknown = f"127.0.0.1:{self.port}", f"localhost:{self.port}"
        done = vitals("top", "--json", "--ssh", "--hosts", f"{known},{unknown}", "--host-timeout", "6",
                      env={"PATH": f"{self.folder}:{os.environ['PATH']}"}, timeout=200)
        document = json.loads(done.stdout)
        found = {one["host"]: one for one in document["machines"]}
        self.assertEqual(found[known]["state"], "answers", (found, (self.folder / "log").read_text()[-1000:]))
        self.assertEqual((found[unknown]["state"], found[unknown]["why"]), ("silent", "Host key verification failed."))
        self.assertGreaterEqual(len([row for row in document["rows"] if row["memory_total_bytes"]]), 5)


class Said(unittest.TestCase):
    SCRIPT = f"""#!/bin/bash
case "${{@:$#-1:1}}" in
good) exec {VITALS} --json --demo;;
endless) head -c 5000000 /dev/zero | tr '\\0' x; exec sleep 1000;;
banner) printf 'Welcome\\n\\033[2Jno shell here\\n'; exit 1;;
refused) printf 'debug\\nlast \\033[31mwords\\n' >&2; exit 255;;
esac
"""

    def test_each_says_what_is_wrong_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            wrapper = pathlib.Path(folder, "ssh")
            wrapper.write_text(self.SCRIPT)
            wrapper.chmod(0o755)
            done = vitals("top", "--json", "--ssh", "--hosts", "good,endless,banner,refused", "--host-timeout", "6",
                          env={"PATH": f"{folder}:{os.environ['PATH']}"}, timeout=200)
        found = {one["host"]: (one["state"], one["why"]) for one in json.loads(done.stdout)["machines"]}
        self.assertEqual(found["good"], ("answers", None))
        self.assertEqual(found["endless"], ("oversized", "its answer is above 4 MiB: run vitals there, or press Enter"))
        self.assertEqual(found["banner"][0], "other")
        self.assertRegex(found["banner"][1], r"^no JSON of vitals: .*no shell here$")
        self.assertEqual(found["refused"][0], "silent")
        self.assertRegex(found["refused"][1], r"^last .*words$")
        self.assertTrue(all((why or "").isprintable() for _, why in found.values()), found)


if __name__ == "__main__":
    unittest.main()
