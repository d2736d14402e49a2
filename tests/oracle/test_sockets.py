"""Sockets: of a process, of the machine, of other network namespaces; against psutil and ss."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import api
import compare
import psutil
import scene
import theirs
from harness import environment, in_most_of

# psutil's kinds by ours: family and protocol.
KINDS = {
    "all": lambda f, p: p in ("tcp", "udp", "unix"),
    "tcp": lambda f, p: p == "tcp", "tcp4": lambda f, p: (f, p) == ("inet", "tcp"),
    "tcp6": lambda f, p: (f, p) == ("inet6", "tcp"), "udp": lambda f, p: p == "udp",
    "udp4": lambda f, p: (f, p) == ("inet", "udp"), "udp6": lambda f, p: (f, p) == ("inet6", "udp"),
    "unix": lambda f, p: f == "unix", "inet": lambda f, p: f != "unix" and p in ("tcp", "udp"),
    "inet4": lambda f, p: f == "inet" and p in ("tcp", "udp"),
    "inet6": lambda f, p: f == "inet6" and p in ("tcp", "udp"),
}


def sockets_of(pid):
    return api.Context().open(pid).rows("socket")


def chosen(rows, kind):
    return {compare.socket_tuple(row) for row in rows
            if KINDS[kind](row["family"].decode(), row["protocol"].decode())}


class OfAProcess(unittest.TestCase):
    """Checks 7, 8 and 10."""

    def test_kinds(self):
        pid = scene.one(self, scene.SOCKETS)
        rows, process = sockets_of(pid), psutil.Process(pid)
        self.assertGreater(len(rows), 5)
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.assertEqual(chosen(rows, kind), theirs.connections(process, kind))
        for family, protocol in (("inet", "tcp"), ("inet", "udp"), ("inet6", "tcp"),
                                 ("unix", "unix")):
            self.assertIn((family, protocol),
                          {(row["family"].decode(), row["protocol"].decode()) for row in rows})

    def test_unconnected(self):
        """Each family and type, bound and not."""
        pid = scene.one(self, """
import socket
kept = []
for family in (socket.AF_INET, socket.AF_INET6):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        one = socket.socket(family, kind); one.bind(('127.0.0.1' if family == 2 else '::1', 0))
        kept += [one, socket.socket(family, kind)]
kept[0].listen(5)
print(*[k.fileno() for k in kept], *[k.getsockname()[1] for k in kept], os.getpid(), flush=True)
stay()
""")
        rows = {row["descriptor"]: row for row in sockets_of(pid)}
        their = {one[0]: one for one in theirs.connections(psutil.Process(pid))}
        ours = {number: compare.socket_tuple(row) for number, row in rows.items()
                if row["family"] in (b"inet", b"inet6")}
        for number, one in their.items():
            self.assertEqual(ours[number], one)
        # A stream that was never bound stands in no table of the kernel, but is held.
        for row in rows.values():
            self.assertEqual(row["pid"], pid)
            self.assertEqual(row["inode"],
                             os.stat(f"/proc/{pid}/fd/{row['descriptor']}").st_ino)

    def test_connected(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        client = socket.create_connection(server.getsockname())
        self.addCleanup(client.close)
        accepted, _ = server.accept()
        self.addCleanup(accepted.close)
        rows = {row["descriptor"]: row for row in sockets_of(os.getpid())}
        for one, other in ((client, accepted), (accepted, client)):
            row = rows[one.fileno()]
            self.assertEqual((row["local_address"], row["local_port"]),
                             (one.getsockname()[0].encode(), one.getsockname()[1]))
            self.assertEqual((row["remote_address"], row["remote_port"]),
                             (other.getsockname()[0].encode(), other.getsockname()[1]))
            self.assertEqual(row["state"], b"established")
        self.assertEqual(rows[server.fileno()]["state"], b"listen")
        accepted.close()
        scene.until(lambda: {row["descriptor"]: row for row in sockets_of(os.getpid())}
                    [client.fileno()]["state"] == b"close_wait", "close_wait")

    def test_queues(self):
        a, b = socket.socketpair()
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        for one in (a, b, server, client, accepted):
            self.addCleanup(one.close)
        client.sendall(b"x" * 777)
        scene.until(lambda: {row["descriptor"]: row for row in sockets_of(os.getpid())}
                    [accepted.fileno()]["receive_queue_bytes"] == 777, "777 bytes that wait")

    def test_unix_paths(self):
        """A path with a space (psutil: "", its defect 7), an abstract name with a NUL, any bytes."""
        folder = tempfile.mkdtemp().encode()
        self.addCleanup(shutil.rmtree, folder)
        paths = [os.path.join(folder, name) for name in (b"plain", b"two words", b"caf\xc3\xa9")]
        kept = []
        for path in [*paths, b"\0vitals-a\0b-%d" % os.getpid()]:
            one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            one.bind(path)
            one.listen(1)
            kept.append(one)
            self.addCleanup(one.close)
        rows = {row["descriptor"]: row for row in sockets_of(os.getpid())}
        for one, path in zip(kept, paths):
            self.assertEqual(rows[one.fileno()]["local_address"], path)
            self.assertEqual(rows[one.fileno()]["state"], b"listen")
        name = rows[kept[3].fileno()]["local_address"]
        self.assertTrue(name.startswith(b"@vitals-a"), name)
        self.assertTrue(name.endswith(b"b-%d" % os.getpid()), name)
        their = {one.fd: one for one in psutil.Process().net_connections("unix")}
        self.assertEqual(their[kept[0].fileno()].laddr, os.fsdecode(paths[0]))
        self.assertEqual(their[kept[1].fileno()].laddr, "", "psutil loses it")

    def test_duplicates(self):
        """One row for each descriptor; psutil gives only the first (defect 7)."""
        one = socket.create_server(("127.0.0.1", 0))
        again = socket.socket(fileno=os.dup(one.fileno()))
        self.addCleanup(again.close)
        self.addCleanup(one.close)
        port = one.getsockname()[1]
        numbers = {row["descriptor"] for row in sockets_of(os.getpid())
                   if row["local_port"] == port}
        self.assertEqual(numbers, {one.fileno(), again.fileno()})
        self.assertEqual(len([c for c in psutil.Process().net_connections("tcp")
                              if c.laddr.port == port]), 1)

    def test_another_network_namespace(self):
        """psutil looks in its own and finds nothing (defect 7)."""
        words = scene.place_or_skip(self, "net_namespace")
        popen, pid = scene.program(self, """
import socket
one = socket.create_server(('127.0.0.1', 0)); two = socket.socket(2, 2); two.bind(('127.0.0.1', 0))
print(one.getsockname()[1], two.getsockname()[1], os.getpid(), flush=True); stay()
""", prefix=words)
        self.assertEqual(psutil.Process(pid).net_connections(), [])
        rows = [row for row in sockets_of(pid) if row["family"] == b"inet"]
        self.assertEqual(sorted((row["protocol"], row["state"]) for row in rows),
                         [(b"tcp", b"listen"), (b"udp", b"none")])
        told = subprocess.run(["nsenter", "--net", "-t", str(pid), "ss", "-Hlntu"],
                              capture_output=True, text=True, check=False)
        if told.returncode == 0:
            ports = sorted(int(re.search(r":(\d+)\s", line.split(maxsplit=4)[4] + " ")[1])
                           for line in told.stdout.splitlines())
            self.assertEqual(sorted(row["local_port"] for row in rows), ports)

    def test_other_families(self):
        """Netlink, raw and packet sockets, which psutil does not know."""
        if os.geteuid() != 0:
            self.skipTest("raw and packet sockets take root")
        pid = scene.one(self, """
import socket
kept = [socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
        socket.socket(socket.AF_INET, socket.SOCK_RAW, 1), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)]
kept[0].bind((0, 0))
ready(); stay()
""")
        kinds = {(row["family"], row["type"]) for row in sockets_of(pid)}
        self.assertLessEqual({(b"netlink", b"raw"), (b"inet", b"raw"), (b"packet", b"raw")}, kinds)


class OfTheMachine(unittest.TestCase):
    """Checks 9 and 11."""

    def test_whose_they_are(self):
        """Many sockets in many processes: each belongs to its own."""
        cast = scene.Cast()
        self.addCleanup(cast.close)
        text = """
import socket
kept = [socket.create_server(('127.0.0.1', 0)) for _ in range(10)]
print(*[one.getsockname()[1] for one in kept], os.getpid(), flush=True); stay()
"""
        for n in range(8):
            cast.add(str(n), text)
        rows = api.Context().take("socket").rows("socket")
        their = {}
        for one in psutil.net_connections("tcp4"):
            if one.status == psutil.CONN_LISTEN:
                their[one.laddr.port] = (one.pid, one.fd)
        found = {}
        for row in rows:
            if (row["family"], row["state"]) == (b"inet", b"listen"):
                found[row["local_port"]] = (row["pid"], row["descriptor"])
        pids = set(cast.pids.values())
        ours = {port: pair for port, pair in found.items() if pair[0] in pids}
        self.assertEqual(len(ours), 80)
        self.assertEqual(ours, {port: pair for port, pair in their.items() if pair[0] in pids})

    def test_everything(self):
        """All of the machine's sockets, with ours between two readings of psutil's."""
        scene.one(self, scene.SOCKETS)
        shared = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(shared.close)
        shared.bind(b"\0vitals-shared-%d" % os.getpid())
        heir = subprocess.Popen(["sleep", "600"], pass_fds=[shared.fileno()])
        self.addCleanup(heir.wait)
        self.addCleanup(heir.kill)
        context, missing, extra = api.Context(), None, None
        for _ in range(8):
            before = self.theirs()
            rows = context.take("socket").rows("socket")
            after = self.theirs()
            ours, holders = set(), {}
            for row in rows:
                if row["protocol"] in compare.PSUTIL_PROTOCOLS:
                    one = (*compare.socket_tuple(row)[1:], row["pid"])
                    # psutil loses a unix path with a space.
                    one = (*one[:2], b"" if one[0] == "unix" and b" " in one[2] else one[2], *one[3:])
                    ours.add(one)
                    holders.setdefault(row["inode"], []).append((one, row["descriptor"]))
            self.assertLessEqual({os.getpid(), heir.pid},
                                 {one[-1] for one, _ in holders[os.fstat(shared.fileno()).st_ino]})
            # What never agrees is wrong.
            unseen, alone = (before & after) - ours, ours - (before | after)
            # Of the processes that hold one socket psutil names a single one.
            for inode, several in holders.items():
                if any(one in before | after for one, _ in several):
                    alone -= {one for one, number in several if self.holds(one[-1], number, inode)}
            missing = unseen if missing is None else missing & unseen
            extra = alone if extra is None else extra & alone
            if not missing and not extra:
                return
        self.assertEqual((missing, extra), (set(), set()))

    @staticmethod
    def holds(pid, number, inode):
        """Whether the kernel says so."""
        try:
            return os.readlink(f"/proc/{pid}/fd/{number}") == f"socket:[{inode}]"
        except OSError:
            return False

    @staticmethod
    def theirs():
        found = set()
        for one in psutil.net_connections("all"):
            unix = one.family == socket.AF_UNIX
            found.add((one.family.name[3:].lower(),
                       {1: "stream", 2: "datagram", 5: "seqpacket"}[int(one.type)],
                       theirs.endpoint(one.laddr, unix),
                       b"" if unix else theirs.endpoint(one.raddr, unix),
                       one.status.lower().replace("syn_recv", "syn_received"), one.pid))
        return found

    def listening(self, prefix=()):
        text = subprocess.run([*prefix, "ss", "-Hlnt"], capture_output=True, text=True, check=True,
                              env=environment(LC_ALL="C")).stdout
        return {int(line.split()[3].rpartition(":")[2]) for line in text.splitlines()}

    def test_against_ss(self):
        if shutil.which("ss") is None:
            self.skipTest("no ss")
        scene.one(self, scene.SOCKETS)

        def compare():
            """Ours is read between two readings of ss, as other programs open and close sockets meanwhile."""
            before = self.listening()
            ours = {row["local_port"] for row in api.Context().take("socket").rows("socket")
                    if row["state"] == b"listen" and row["protocol"] == b"tcp"}
            after = self.listening()
            self.assertLessEqual(before & after, ours)
            self.assertLessEqual(ours, before | after)
            self.assertGreater(len(ours), 1)

        in_most_of(8, compare)

    def test_three_thousand(self):
        pid = scene.one(self, """
import resource, socket, struct
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8000), hard))
server = socket.create_server(('127.0.0.1', 0), backlog=4096)
kept = []
for _ in range(1500):
    kept.append(socket.create_connection(server.getsockname())); kept.append(server.accept()[0])
for one in kept:  # closed at once: in TIME_WAIT they would be the machine's for a minute
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
print(server.getsockname()[1], os.getpid(), flush=True); stay()
""")
        rows = [row for row in sockets_of(pid) if row["family"] == b"inet"]
        self.assertEqual(len(rows), 3001)
        self.assertEqual({row["state"] for row in rows}, {b"established", b"listen"})
        self.assertEqual(len({row["descriptor"] for row in rows}), 3001)

    def test_as_nobody(self):
        """Everybody's sockets are seen; whose they are only of one's own. The table says so."""
        words = scene.place_or_skip(self, "nobody")
        pid = scene.one(self, scene.SOCKETS)
        port = min(row["local_port"] for row in sockets_of(pid) if row["state"] == b"listen")
        found = scene.run_there(words, "listeners.py", port)
        self.assertEqual(found["listening"], [[None, None]])
        self.assertEqual(found["state"], "lower_bound")


if __name__ == "__main__":
    unittest.main()
