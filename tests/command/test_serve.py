"""The server of libexec/vitals/tell: what it answers, to whom, and where it listens."""

import gzip
import json
import os
import pathlib
import re
import socket
import stat
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from harness import SANITIZED, VITALS, environment, wait_until
from served import Server, answers, read_all
from tell_program import PATIENCE, Tell, snapshots

OPENMETRICS = "application/openmetrics-text;version=1.0.0"


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(hosts=["watch.example"]))

    def test_the_text_format_is_the_default(self):
        for accept in (None, "*/*", "text/plain;version=0.0.4", "text/html,*/*;q=0.1", "image/png",
                       "application/openmetrics-text;version=9.9.9", f"{OPENMETRICS};q=0", "\x7f;;q=,"):
            with self.subTest(accept=accept):
                headers = {"accept": accept} if accept else {}
                status, got, body = self.server.get("/metrics", **headers)
                self.assertEqual(status, 200)
                self.assertEqual(got["content-type"], "text/plain; version=0.0.4; charset=utf-8")
                self.assertIn(b"\nvitals_build_info{", body)
                self.assertNotIn(b"# EOF", body)

    def test_openmetrics_where_it_is_wanted(self):
        for accept in (OPENMETRICS, f"{OPENMETRICS};q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                       "text/plain, application/openmetrics-text"):
            with self.subTest(accept=accept):
                status, got, body = self.server.get("/metrics", accept=accept)
                self.assertEqual(status, 200)
                self.assertEqual(got["content-type"],
                                 "application/openmetrics-text; version=1.0.0; charset=utf-8")
                self.assertTrue(body.endswith(b"# EOF\n"))

    def test_packed_where_it_is_read(self):
        _, got, plain = self.server.get("/metrics")
        self.assertNotIn("content-encoding", got)
        self.assertEqual(got["vary"], "Accept, Accept-Encoding")
        _, got, packed = self.server.get("/metrics", accept_encoding="br, gzip")
        self.assertEqual(got["content-encoding"], "gzip")
        self.assertLess(len(packed), len(plain) / 2)
        self.assertEqual(gzip.decompress(packed)[:200], plain[:200])
        _, got, _ = self.server.get("/metrics", accept_encoding="gzip;q=0")
        self.assertNotIn("content-encoding", got)

    def test_who_asks_within_a_sample_gets_the_same_bytes(self):
        first = self.server.get("/metrics")[2]
        for _ in range(5):
            self.assertEqual(self.server.get("/metrics")[2], first)

    def test_head_is_get_without_bytes(self):
        for path in ("/metrics", "/-/healthy", "/api/v1/snapshot", "/nothing"):
            with self.subTest(path=path):
                status, got, body = self.server.get(path)
                head, head_got, nothing = self.server.get(path, method="HEAD")
                self.assertEqual((head, nothing), (status, b""))
                self.assertEqual(head_got["content-length"], str(len(body)))
                self.assertEqual(head_got["content-type"], got["content-type"])

    def test_the_snapshot_is_the_line_that_came(self):
        status, got, body = self.server.get("/api/v1/snapshot")
        self.assertEqual(status, 200)
        self.assertTrue(got["content-type"].startswith("application/json"))
        self.assertEqual(json.loads(body)["schema"], 1)

    def test_what_is_not_there(self):
        for path in ("/nothing", "/metrics/", "/metricsx", "/-/", "//metrics", "/api/v1",
                     "/page/../../../../etc/passwd", "/page/%2e%2e/%2e%2e/etc/passwd", "/../etc/passwd",
                     "/page/..%2f..%2fetc%2fpasswd", "/page/%00", "/etc/passwd", "/page//etc/passwd",
                     "http://127.0.0.1/metrics", "/%6detrics%00x/..", "/\xff\xfe", "*"):
            with self.subTest(path=path):
                status, got, body = self.server.get(path)
                self.assertIn(status, (400, 404))
                self.assertNotIn(b"root:", body)

    def test_only_get_and_head(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "X"):
            with self.subTest(method=method):
                status, got, _ = self.server.get("/metrics", method=method)
                self.assertEqual((status, got["allow"]), (405, "GET, HEAD"))
                self.assertEqual(got["connection"].lower(), "close")

    def test_a_body_is_refused(self):
        for framing in ("Content-Length: 5", "Transfer-Encoding: chunked",
                        "Content-Length: 5\r\nExpect: 100-continue"):
            with self.subTest(framing=framing):
                sent = f"GET /metrics HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n"
                got = self.server.raw(sent.encode())
                self.assertEqual(answers(got)[0], 400)
                self.assertEqual(got.count(b"HTTP/1.1 "), 1)

    def test_framing_that_a_proxy_may_read_otherwise_is_refused(self):
        for header in ("Content-Length: 0\r\nContent-Length: 0", "Content-Length: 0\r\nContent-Length: 41",
                       "Content-Length: 41\r\nTransfer-Encoding: chunked", "Transfer-Encoding : chunked",
                       "Content-Length : 41", "X-\0: 1", "X Y: 1"):
            with self.subTest(header=header):
                got = self.server.raw(f"GET /metrics HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n"
                                      "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                self.assertEqual(answers(got)[0], 400)
                self.assertEqual(got.count(b"HTTP/1.1 "), 1)

    def test_a_page_of_another_site_is_refused(self):
        picture = {"sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"}
        link = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
        frame = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"}
        own = f"127.0.0.1:{self.server.port}"
        for headers, status in (({"sec_fetch_site": "cross-site", **picture}, 403),
                                ({"sec_fetch_site": "same-site", **picture}, 403),
                                ({"sec_fetch_site": "cross-site"}, 403),
                                ({"sec_fetch_site": "cross-site", **frame}, 403),
                                ({"sec_fetch_site": "cross-site", **link}, 200),
                                ({"sec_fetch_site": "same-origin", **picture}, 200),
                                ({"sec_fetch_site": "none", **link}, 200),
                                ({"origin": "http://evil.example"}, 403), ({"origin": "null"}, 403),
                                ({"origin": f"http://{own}"}, 200), ({}, 200)):
            for path in ("/metrics", "/api/v1/snapshot", "/"):
                with self.subTest(path=path, **headers):
                    self.assertEqual(self.server.get(path, **headers)[0], status)
        self.assertEqual(self.server.get("/api/v1/stream", sec_fetch_site="cross-site", **picture)[0], 403)

    def test_what_protects_a_browser_stands_on_every_answer(self):
        for path in ("/metrics", "/nothing", "/-/healthy", "/"):
            with self.subTest(path=path):
                _, got, _ = self.server.get(path, origin="http://evil.example")
                self.assertEqual(got["x-content-type-options"], "nosniff")
                self.assertIn("default-src 'none'", got["content-security-policy"])
                self.assertEqual([name for name in got if name.startswith("access-control")], [])

    def test_a_foreign_name_is_refused(self):
        own = socket.gethostname()
        for host in (f"127.0.0.1:{self.server.port}", "localhost", "LOCALHOST.", "[::1]:1", own,
                     "watch.example:443", "127.9.9.9"):
            with self.subTest(host=host):
                self.assertEqual(self.server.get("/metrics", host=host)[0], 200)
        for host in ("evil.example", "evil.example:9847", "localhost.evil.example", "192.0.2.1", "0.0.0.0",
                     "127.0.0.1.evil.example", "localhost@evil.example", "[::ffff:127.0.0.1]", "", ":80", "a b",
                     "x" * 3000):
            with self.subTest(host=host):
                status, _, body = self.server.get("/api/v1/snapshot", host=host)
                self.assertEqual(status, 403)
                self.assertIn(b"--allow-host", body)
        twice = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        self.assertIn(answers(self.server.raw(twice))[0], (400, 403))
        none = b"GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n"
        self.assertEqual(answers(self.server.raw(none))[0], 400)

    def test_a_connection_serves_again(self):
        with self.server.connect() as client:
            for _ in range(3):
                client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
                got = b""
                while not got.endswith(b"vitals is healthy\n"):
                    part = client.recv(4096)
                    self.assertTrue(part)
                    got += part

    def test_it_counts_itself(self):
        with Server() as server:
            for _ in range(3):
                server.get("/nothing")
            server.get("/", host="evil.example")
            server.sample("--count", "1")
            body = server.get("/metrics")[2].decode()
        found = dict(re.findall(r'^(vitals_\w+{[^}]*"(?:404|403|host)"}) (\d+)$', body, re.M))
        self.assertEqual(sorted(found.values()), ["1", "1", "3"], found)


class Streams(unittest.TestCase):
    def follow(self, server, path="/api/v1/stream"):
        client = server.connect()
        self.addCleanup(client.close)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return client

    def read_until(self, client, wanted):
        got = b""
        while not wanted(got):
            part = client.recv(1 << 20)
            self.assertTrue(part, got[:300])
            got += part
        return got

    def test_every_sample_comes(self):
        with Server() as server:
            client = self.follow(server)
            got = self.read_until(client, lambda got: b'"sequence"' in got and got.endswith(b"\n\n\r\n"))
            self.assertIn(b"text/event-stream", got)
            self.assertIn(b"retry: ", got)
            for header in (b"Content-Security-Policy: default-src 'none'", b"X-Frame-Options: DENY",
                           b"Referrer-Policy: no-referrer", b"Cross-Origin-Resource-Policy: same-origin",
                           b"X-Content-Type-Options: nosniff", b"Cache-Control: no-store"):
                self.assertIn(header, got)
            for _ in range(3):
                server.sample()
                got = self.read_until(client, lambda got: got.endswith(b"\n\n\r\n"))
                self.assertIn(b"data: {", got)

    def test_who_does_not_read_is_dropped_from_not_waited_for(self):
        with Server() as server:
            slow = [self.follow(server) for _ in range(4)]
            before = None
            for i in range(60):
                server.sample()
                if i == 20:
                    before = server.memory()
            if not SANITIZED:
                self.assertLess(server.memory() - before, 8 << 20)
            self.assertEqual(server.get("/metrics")[0], 200)
            found = re.search(r'"slow_listener"} (\d+)', server.get("/metrics")[2].decode())
            self.assertGreater(int(found[1]), 0)
            del slow

    def test_so_many_and_no_more(self):
        with Server() as server:
            clients = [self.follow(server) for _ in range(16)]  # of one address
            for client in clients:
                self.assertIn(b"200 OK", client.recv(12 + 200))
            status, got, _ = server.get("/api/v1/stream")
            self.assertEqual((status, got["retry-after"]), (503, "1"))
            self.assertEqual(server.get("/metrics")[0], 200)
            clients.pop().close()

            def again():
                server.sample()
                client = self.follow(server)
                return b"200 OK" in client.recv(200)

            wait_until(again, "room for another")

    def test_one_address_leaves_room_for_others(self):
        """Of 32 places no address has more than half; a socket in a folder has none and is not counted."""
        with tempfile.TemporaryDirectory() as folder, \
                Server(listen=("127.0.0.1:0", f"unix:{folder}/socket")) as server:
            for _ in range(16):
                self.assertIn(b"200 OK", self.follow(server).recv(12 + 200))
            self.assertEqual(server.get("/api/v1/stream")[0], 503)
            for place in range(17):
                with self.subTest(place):
                    client = socket.socket(socket.AF_UNIX)
                    self.addCleanup(client.close)
                    client.settimeout(PATIENCE)
                    client.connect(f"{folder}/socket")
                    client.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    self.assertIn(b"200 OK" if place < 16 else b" 503 ", client.recv(200))

    def test_every_process_is_asked_for_while_somebody_looks(self):
        with Server() as server:
            client = self.follow(server, "/api/v1/stream?view=page&processes=all")
            self.assertEqual(server.hear("want")["want"], "processes")
            begun = time.monotonic()
            client.close()
            while not any(line.get("want") == "few" for line in server.heard):
                self.assertLess(time.monotonic() - begun, PATIENCE, server.heard)
                server.sample()
                if not server.lines.empty():
                    server.hear("want")

    def test_every_process_comes_from_a_sampler_of_its_own(self):
        with Server() as server:
            client = self.follow(server, "/api/v1/stream?view=page&processes=all")
            plain = self.follow(server, "/api/v1/stream?processes=all")
            server.hear("want")
            (line,) = snapshots("--demo")
            other = json.loads(line)
            other["stream"] = 5
            other["tables"] = {"process": [dict(other["tables"]["process"][0], key=77, pid=4194304)]}
            other["columns"] = {"process": other["columns"]["process"]}
            server.write('{"processes":' + json.dumps(other, separators=(",", ":")) + "}")
            server.sample()
            self.read_until(client, lambda got: b"4194304" in got)
            self.read_until(plain, lambda got: b"event: processes\ndata: {" in got and b"4194304" in got)
            for path in ("/api/v1/snapshot", "/metrics"):
                self.assertNotRegex(server.get(path)[2], rb'pid"?[:=]"?4194304\b')  # others may have so many bytes
            self.assertNotEqual(json.loads(server.get("/api/v1/snapshot")[2])["stream"], 5)

    def test_who_looks_at_every_process_changes_nothing_else(self):
        """The whole way: counters count on, and the hour stays."""
        process = subprocess.Popen([VITALS, "serve", "--demo", "--listen", "127.0.0.1:0", "--interval", "100ms"],
                                   env=environment(), stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.wait(PATIENCE))
        self.addCleanup(process.terminate)
        url = process.stderr.readline().split()[-1]

        def get(path):
            with urllib.request.urlopen(url + path, timeout=60) as answer:
                return answer.read().decode()

        def begun():
            try:
                return len(json.loads(get("api/v1/history"))["realtime_ms"]) > 1
            except urllib.error.HTTPError:
                return False

        def counters():
            return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in get("metrics").splitlines()
                    if re.match(r"[a-z0-9_]+_total\{", line)}

        def look():
            return {key: json.loads(get("api/v1/snapshot"))[key] for key in ("stream", "sequence")}

        wait_until(begun, "some history", PATIENCE)
        hour, before, seen = json.loads(get("api/v1/history"))["realtime_ms"], counters(), look()
        with urllib.request.urlopen(url + "api/v1/stream?view=page&processes=all", timeout=60) as stream:
            until = time.monotonic() + PATIENCE
            for line in stream:
                if line.startswith(b"data: "):
                    rows = json.loads(line[6:])["tables"]["process"]
                    if os.getpid() in [row[rows["columns"].index("pid")] for row in rows["rows"]]:
                        break
                self.assertLess(time.monotonic(), until)
            during = look()
        time.sleep(6)  # 5 s after the last viewer it is told that few are enough
        after = look()
        self.assertEqual([during["stream"], after["stream"]], [seen["stream"]] * 2)
        self.assertGreater(after["sequence"], during["sequence"])
        now = json.loads(get("api/v1/history"))["realtime_ms"]
        self.assertGreaterEqual(len(now), len(hour))
        self.assertLess(abs(now[0] - hour[0]), 1000)
        self.assertGreater(len(before), 10)
        for name, value in counters().items():
            self.assertGreaterEqual(value, before.get(name, 0), name)

    def test_nothing_is_listed_where_processes_are_off(self):
        with Server(processes="off") as server:
            for path in ("/api/v1/stream?view=page&processes=all", "/api/v1/stream?processes=all"):
                status, _, body = server.get(path)
                self.assertEqual(status, 403)
                self.assertIn(b"--processes off", body)
            self.assertFalse([line for line in server.heard if "want" in line])

    def test_the_end_of_the_program_ends_them(self):
        with Server() as server:
            client = self.follow(server)
            self.read_until(client, lambda got: b"data: " in got)
            heard, words = server.end()
            self.assertEqual((heard[-1], words), ({"done": True}, ""))
            read_all(client)


class Places(unittest.TestCase):
    def refused(self, **serve):
        with Tell(serve=serve) as tell:
            message = tell.hear("failed")
            self.assertEqual(message["failed"], "serve")
            tell.end()
        return message["message"]

    def test_not_ready_before_a_sample(self):
        with Server(samples=False) as server:
            self.assertEqual(server.get("/-/healthy")[0], 200)
            self.assertEqual(server.get("/-/ready")[0], 503)
            self.assertEqual(server.get("/api/v1/snapshot")[0], 503)
            self.assertEqual(server.get("/metrics")[0], 200)
            server.sample()
            self.assertEqual(server.get("/-/ready")[0], 200)

    def test_a_line_that_is_no_sample_changes_nothing(self):
        with Server() as server:
            for line in ('{"schema":1}', '{"schema":', '{"schema":9,"tables":[]}', "[]", "\xff\xff"):
                server.write(line)
            server.sample()
            self.assertEqual(server.get("/metrics")[0], 200)

    def test_both_loopbacks(self):
        with Server(listen=["localhost:0"]) as server:
            self.assertEqual(server.address[0], "127.0.0.1")
            six = any(line.get("url", "").startswith("http://[::1]:") for line in server.heard)
            if not six and not server.lines.empty():
                six = server.hear("url")["url"] == f"http://[::1]:{server.port}/"
            if not six:
                self.skipTest("this machine has no IPv6")
            with socket.create_connection(("::1", server.port)) as client:
                client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n")
                self.assertEqual(answers(read_all(client))[0], 200)

    def test_a_port_in_use(self):
        with Server(samples=False) as server:
            message = self.refused(listen=[f"127.0.0.1:{server.port}"])
            self.assertIn(f"127.0.0.1:{server.port}: another program listens there already", message)
            self.assertIn("--port", message)

    def test_beyond_the_loopback_only_if_told(self):
        for where in ("0.0.0.0:0", "[::]:0"):
            message = self.refused(listen=[where])
            self.assertIn("--web-config", message)
            self.assertIn("--allow-insecure", message)
        with Server(listen=["0.0.0.0:0"], allow_insecure=True, samples=False) as server:
            server.address = ("127.0.0.1", server.port)
            self.assertEqual(server.get("/-/healthy")[0], 200)

    def test_what_is_no_address(self):
        for where in ("", "9847", ":9847", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:x",
                      "host.example:9847", "::1:9847", "unix:relative", "unix:/" + "x" * 200, "fd:x", "fd:0",
                      "fd:99", "a\nb:1"):
            with self.subTest(where=where):
                message = self.refused(listen=[where])
                self.assertNotIn("\n", message)

    def test_a_socket_in_a_folder_is_its_owners(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "vitals.sock"
            stale = socket.socket(socket.AF_UNIX)
            stale.bind(str(path))
            stale.close()
            with Tell(serve={"listen": [f"unix:{path}"]}) as tell:
                self.assertEqual(tell.hear("opened")["url"], f"unix:{path}")
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(str(path))
                    client.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
                    self.assertEqual(answers(read_all(client))[0], 200)
                self.assertIn("listens there already", self.refused(listen=[f"unix:{path}"]))
                tell.end()
            if os.geteuid() != 0:  # the server of root has given up what it needs for that
                self.assertFalse(path.exists())
            path.unlink(missing_ok=True)
            path.write_text("precious")
            self.assertIn("exists and is not a socket", self.refused(listen=[f"unix:{path}"]))
            self.assertEqual(path.read_text(), "precious")

    def test_half_of_localhost_is_not_enough(self):
        """Where somebody else has the port of ::1, who asks for localhost could be answered by him."""
        with socket.socket(socket.AF_INET6) as squatter:
            try:
                squatter.bind(("::1", 0))
            except OSError:
                self.skipTest("no IPv6")
            squatter.listen()
            self.assertIn("listens there already", self.refused(listen=[f"localhost:{squatter.getsockname()[1]}"]))

    def test_root_gives_up_its_rights(self):
        if os.geteuid() != 0:
            self.skipTest("not root")
        with Server() as server:
            lines = pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
            fields = dict(line.split(":", 1) for line in lines)
            for which in ("Uid", "Gid"):
                self.assertEqual(fields[which].split(), ["65534"] * 4)
            self.assertEqual(int(fields["CapPrm"], 16) | int(fields["CapEff"], 16), 0)
            self.assertEqual(fields["NoNewPrivs"].strip(), "1")
            self.assertEqual(fields["Groups"].split(), [])
        with tempfile.TemporaryDirectory() as folder:
            hello = {"textfile": {"path": f"{folder}/vitals.prom"}}
            with Server(hello=hello) as server:
                text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
                self.assertRegex(text, r"Uid:\t0\t")


if __name__ == "__main__":
    unittest.main()
