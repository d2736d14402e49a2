"""vitals serve with a socket that is handed down, as systemd's socket activation does it: descriptors from 3 on,
LISTEN_FDS says how many, LISTEN_PID for whom."""

import contextlib
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from harness import BUILD, VITALS, environment, vitals, wait_until

START = """import os, sys
count, of = int(sys.argv[1]), sys.argv[2]
os.environ["LISTEN_FDS"] = sys.argv[1]
os.environ["LISTEN_PID"] = str(os.getpid()) if of == "ours" else of
os.execv(sys.argv[3], sys.argv[3:])
"""


def listening(family=socket.AF_INET, address=("127.0.0.1", 0), kind=socket.SOCK_STREAM):
    made = socket.socket(family, kind)
    made.bind(address)
    if kind == socket.SOCK_STREAM:
        made.listen(16)
    return made


class Handed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-handed-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.errors = self.folder / "stderr"

    def command(self, count, of, *options):
        return [sys.executable, "-c", START, str(count), of, VITALS, "serve", "--demo", *options]

    @contextlib.contextmanager
    def serving(self, *sockets, of="ours", options=(), count=None):
        """The command with these at 3, 4, …"""
        def place():
            high = [os.dup2(each.fileno(), 100 + index) for index, each in enumerate(sockets)]
            for index, each in enumerate(high):
                os.dup2(each, 3 + index)
        with open(self.errors, "wb") as errors:
            process = subprocess.Popen(self.command(len(sockets) if count is None else count, of, *options), env=environment(),
                                       stdin=subprocess.DEVNULL, stderr=errors, preexec_fn=place,
                                       pass_fds=range(3, 3 + len(sockets)))
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def said(self):
        return self.errors.read_text()

    def wait_listening(self, process, lines=1):
        wait_until(lambda: self.said().count("listening at") >= lines or process.poll() is not None,
                   "that it listens", seconds=60)
        self.assertIsNone(process.poll(), self.said())

    def healthy(self, port):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        with contextlib.closing(client):
            client.request("GET", "/-/healthy")
            return client.getresponse().status

    def test_who_asked_before_it_was_there_is_answered(self):
        with listening() as made:
            port = made.getsockname()[1]
            early = socket.create_connection(("127.0.0.1", port), timeout=60)
            early.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            with self.serving(made) as process:
                self.assertIn(b" 200 ", early.recv(1000))
                self.wait_listening(process)
                self.assertEqual(self.said(), f"vitals: listening at http://127.0.0.1:{port}/\n")
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(60), 0)
            early.close()
            # It was never ours to close: the next one takes it up.
            with self.serving(made) as process:
                self.assertEqual(self.healthy(port), 200)

    def test_a_socket_in_a_folder_stays_there(self):
        place = str(self.folder / "socket")
        with listening(socket.AF_UNIX, place) as made, self.serving(made) as process:
            self.wait_listening(process)
            self.assertIn(f"listening at unix:{place}\n", self.said())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 0)
        self.assertTrue(os.path.exists(place))

    def test_what_was_asked_for_is_listened_at_too(self):
        with listening() as made, self.serving(made, options=("--listen", "127.0.0.1:0")) as process:
            self.wait_listening(process, 2)
            ports = [int(line.rstrip("/").rpartition(":")[2]) for line in self.said().splitlines()]
            self.assertEqual(ports[0], made.getsockname()[1])
            self.assertEqual([self.healthy(port) for port in ports], [200, 200])

    def test_what_is_asked_for_where_the_handed_one_listens_is_not_opened_again(self):
        def of(port):
            return (f"127.0.0.1:{port}", f"localhost:{port}", f"127.0.0.1:{port},127.0.0.1:0")
        for index in range(len(of(0))):
            with listening() as made:
                port = made.getsockname()[1]
                asked = of(port)[index]
                more = index > 0 and (index != 1 or self.has_six())
                with self.subTest(asked), self.serving(made, options=("--listen", asked)) as process:
                    self.wait_listening(process, 1 + more)
                    self.assertIsNone(process.poll(), self.said())
                    self.assertEqual(self.said().count(f"listening at http://127.0.0.1:{port}/\n"), 1, self.said())
                    self.assertEqual(self.said().count("listening at"), 1 + more, self.said())
                    self.assertEqual(self.healthy(port), 200)

    def has_six(self):
        try:
            with listening(socket.AF_INET6, ("::1", 0)):
                return True
        except OSError:
            return False

    def test_a_handed_socket_in_a_folder_is_not_opened_again(self):
        place = str(self.folder / "socket")
        with listening(socket.AF_UNIX, place) as made, self.serving(made, options=("--listen", "unix:" + place)) as process:
            self.wait_listening(process)
            self.assertEqual(self.said(), f"vitals: listening at unix:{place}\n")

    def test_one_that_another_has_is_refused_as_ever(self):
        with listening() as made, listening() as other:
            address = f"127.0.0.1:{other.getsockname()[1]}"
            self.assertIn("another program listens there already", self.refused(made, options=("--listen", address)))

    def test_beyond_this_machine_it_needs_what_it_always_needs(self):
        with listening(address=("0.0.0.0", 0)) as made, self.serving(made) as process:
            self.assertEqual(process.wait(60), 1)
            self.assertIn("--allow-insecure", self.said())

    def refused(self, *sockets, **more):
        with self.serving(*sockets, **more) as process:
            self.assertEqual(process.wait(60), 1)
        self.assertEqual(self.said().count("\n"), 1, self.said())
        return self.said()

    def test_it_takes_exactly_one(self):
        with listening() as one, listening() as two:
            self.assertIn("passes 2 sockets", self.refused(one, two))
            self.assertIn("999 sockets", self.refused(one, count=999))

    def test_what_does_not_listen_is_none(self):
        with listening(kind=socket.SOCK_DGRAM) as made:
            self.assertIn("not a listening socket", self.refused(made))
        with open(self.folder / "file", "wb") as file:
            self.assertIn("not a listening socket", self.refused(file))
        self.assertIn("not a listening socket", self.refused(count=1))

    def test_what_is_for_another_is_left_alone(self):
        with listening() as made:
            for of in ("1", "", "x", "99999999999999999999"):
                with self.subTest(of), self.serving(made, of=of, options=("--listen", "127.0.0.1:0")) as process:
                    self.wait_listening(process)
                    self.assertEqual(self.said().count("listening at"), 1)
                    self.assertNotIn(f":{made.getsockname()[1]}/", self.said())


class Unit(unittest.TestCase):
    def test_its_one_address_is_the_commands_own(self):
        unit = (BUILD / "packaging" / "systemd" / "vitals.socket").read_text()
        (line,) = [line for line in unit.splitlines() if line.startswith("ListenStream=")]
        self.assertEqual(line, "ListenStream=127.0.0.1:9847")
        self.assertIn("9847", vitals("serve", "--help").stdout)

    def verified(self, text):
        """What systemd-analyze makes of such a vitals.socket: its exit code, what it says of it, and all it says."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("vitals.socket", text), ("vitals.service", "[Service]\nExecStart=/bin/true\n")):
                (pathlib.Path(folder) / name).write_text(content)
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", f"{folder}/vitals.socket"], timeout=60,
                                  capture_output=True, text=True, check=False, env=environment(SYSTEMD_COLORS="0"))
        wrong = [line for line in done.stderr.splitlines() if "vitals.s" in line and "man:" not in line]
        return done.returncode, wrong, done.stderr.strip()

    @unittest.skipIf(shutil.which("systemd-analyze") is None, "no systemd-analyze here")
    def test_systemd_understands_it(self):
        code, wrong, said = self.verified("[Socket]\nListenStream=127.0.0.1:1\n")
        if code != 0 or wrong:
            self.skipTest(f"systemd-analyze takes no unit at all here: {said or code}")
        code, wrong, said = self.verified("[Socket]\nListenStream=127.0.0.1:98470\n")
        if code == 0 or not wrong:
            self.skipTest(f"systemd-analyze refuses no broken unit here: {said or code}")
        code, wrong, said = self.verified((BUILD / "packaging" / "systemd" / "vitals.socket").read_text())
        self.assertEqual((code, wrong), (0, []), said)


if __name__ == "__main__":
    unittest.main()
