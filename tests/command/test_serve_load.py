"""The server under load and under attack: slow, many, malformed and large requests, and ten
thousand scrapes. Whatever is done to it, a scrape is answered."""

import contextlib
import os
import random
import resource
import socket
import time
import unittest

from harness import SANITIZED, wait_until
from served import Server, answers, read_all

SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
SEED = int(os.environ.get("VITALS_FUZZ_SEED", "20261122"))


def scrape(client, request=SCRAPE):
    """One answer on a connection that stays open: its status and its body."""
    client.sendall(request)
    got = b""
    while b"\r\n\r\n" not in got:
        part = client.recv(1 << 18)
        if not part:
            raise ConnectionResetError
        got += part
    status, headers, body = answers(got)
    size = int(headers["content-length"])
    while len(body) < size:
        body += client.recv(1 << 18)
    return status, body


def process_count():
    return sum(name.isdigit() for name in os.listdir("/proc"))


class Load(unittest.TestCase):
    def test_many_scrapes_leave_no_trace(self):
        """Ten thousand, or as many as take a quarter of a minute; bench/serve makes a hundred thousand."""
        processes = process_count()
        with Server() as server:
            with server.connect() as client:
                packed = SCRAPE.replace(b"\r\n\r\n", b"\r\nAccept-Encoding: gzip\r\n\r\n")
                for _ in range(500):
                    scrape(client, packed)
                before, used, count = server.memory(), server.seconds(), 0
                until = time.monotonic() + 15
                while time.monotonic() < until and count < 10000:
                    for _ in range(100):
                        self.assertEqual(scrape(client, packed)[0], 200)
                    count += 100
                used = server.seconds() - used
            for _ in range(500):
                with server.connect() as client:
                    scrape(client)
            if not SANITIZED:
                self.assertLess(server.memory() - before, 1 << 20)
                self.assertLess(used / count, 0.0003)  # of the CPU
                # Of what it holds some 4 KiB belong to each process of this machine.
                self.assertLess(server.memory(), (16 << 20) + max(processes, process_count()) * (8 << 10))

    def test_samples_come_and_go(self):
        """Memory follows the largest machine that was seen; what leaks grows in every turn."""
        grown = []
        with Server() as server, server.connect() as client:
            before = None
            while len(grown) < 6 and (not grown or grown[-1] >= 2 << 20):
                for _ in range(20 if before is None else 40):
                    server.sample()
                    scrape(client)
                after = server.memory()
                if before is not None:
                    grown.append(after - before)
                before = after
        if not SANITIZED:
            self.assertLess(grown[-1], 2 << 20, f"bytes in turns of 40 samples: {grown}")


class Crowds(unittest.TestCase):
    SERVED = 300  # more than the server keeps open, whatever is asked of it

    def setUp(self):
        """A crowd is a thousand, or what the limit of descriptors allows to be open beside all else."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = max(soft, 1100 if hard == resource.RLIM_INFINITY else min(1100, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.many = min(1000, limit - 100)
        if self.many < 2 * self.SERVED:
            self.skipTest(f"{limit} descriptors are too few for a crowd")

    @contextlib.contextmanager
    def crowd(self, server, count, sent=b""):
        with contextlib.ExitStack() as open_ones:
            clients = []
            for _ in range(count):
                clients.append(open_ones.enter_context(server.connect()))
                if sent:
                    clients[-1].sendall(sent)
            yield clients

    def scrapes(self, server, count=20):
        for _ in range(count):
            with server.connect() as client:
                self.assertEqual(scrape(client)[0], 200)

    def test_a_thousand_that_say_nothing_whole(self):
        for sent in (b"", b"G", b"GET /metrics HTTP/1.1\r\nHost: local", b"GET /metrics HTTP/1.1\r\nHost: l\r\nX: "):
            with self.subTest(sent=sent), Server() as server:
                with self.crowd(server, self.many, sent) as clients:
                    self.scrapes(server)
                    for client in clients[::7]:
                        with contextlib.suppress(OSError):
                            client.sendall(b"x")
                    self.scrapes(server)
                    self.assertLess(server.descriptors(), self.SERVED)
                    if not SANITIZED:
                        self.assertLess(server.memory(), 24 << 20)

    def test_a_scraper_that_stays_is_not_the_first_to_go(self):
        """Who has been answered last is cut last: only who sends nothing whole makes way."""
        with Server() as server, server.connect() as scraper:
            for _ in range(20):
                self.assertEqual(scrape(scraper)[0], 200)
                before = server.descriptors()
                with self.crowd(server, 50, b"GET /"):
                    pass
                # Else two crowds stand before a slow server at once: more than an address may have.
                wait_until(lambda: server.descriptors() <= before, "the end of the crowd")

    def test_a_thousand_that_ask_at_once(self):
        with Server() as server, self.crowd(server, self.many) as clients:
            asked = []
            for client in clients:
                try:
                    client.sendall(SCRAPE)
                    asked.append(client)
                except OSError:
                    pass
            self.scrapes(server)
            statuses = {scrape_rest(client) for client in asked}
            self.assertLessEqual(statuses, {200, 503, None})
            self.assertIn(200, statuses)

    def test_who_does_not_take_the_answer_is_cut_off(self):
        with Server() as server:
            slow = []
            for _ in range(60):
                client = socket.socket()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                client.connect(server.address)
                self.addCleanup(client.close)
                client.sendall(SCRAPE.replace(b"/metrics", b"/api/v1/snapshot") * 100)
                slow.append(client)
            self.scrapes(server)
            until = time.monotonic() + 60
            while server.descriptors() >= 20 and time.monotonic() < until:
                self.scrapes(server, 1)
            self.assertLess(server.descriptors(), 20)


def scrape_rest(client):
    """The status of what was asked already; None where it was cut off."""
    try:
        client.settimeout(60)
        got = client.recv(12)
        return int(got.split()[1]) if len(got) == 12 else None
    except OSError:
        return None


class Deadlines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())

    def lasts(self, sent, then=b""):
        """How long until the server closes it."""
        with self.server.connect() as client:
            begun = time.monotonic()
            client.sendall(sent)
            client.settimeout(0.2)
            while True:
                try:
                    if not client.recv(65536):
                        break
                except TimeoutError:
                    try:
                        client.sendall(then)
                    except OSError:
                        break
                except OSError:
                    break
                self.assertLess(time.monotonic() - begun, 100)
            return time.monotonic() - begun

    def test_headers_have_two_seconds(self):
        """However busily they come."""
        for sent, then in ((b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n"), (b"GET /", b"x"), (b"\r\n", b"\r\n")):
            with self.subTest(sent=sent):
                self.assertLess(self.lasts(sent, then), 30)

    def test_the_second_request_too(self):
        lasted = self.lasts(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n", b"G")
        self.assertLess(lasted, 30)

    def test_who_says_nothing_has_ten(self):
        self.assertLess(self.lasts(b""), 60)


class Malformed(unittest.TestCase):
    def test_headers_that_are_too_large(self):
        with Server() as server:
            for size, statuses in ((4000, {200}), (9000, {431}), (15000, {431, 413}), (70000, {431, 413}),
                                   (5000000, {431, 413, None})):
                for sent in (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: " + b"y" * size,
                             b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close" + b"\r\nA: b" * (size // 6)):
                    with self.subTest(size=size):
                        got = server.raw(sent + b"\r\n\r\n")
                        many = {431} if b"A: b" in sent else set()  # so many take more room than their bytes
                        self.assertIn(answers(got)[0] if got else None, statuses | many)
            for size, statuses in ((4000, {404}), (9000, {414, 431}), (200000, {414, 431, None})):
                with self.subTest(path=size):
                    got = server.raw(b"GET /" + b"y" * size + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    self.assertIn(answers(got)[0] if got else None, statuses)
            self.assertEqual(server.get("/metrics")[0], 200)

    def mutated(self, chance):
        """A request that was right once."""
        request = bytearray(chance.choice((
            SCRAPE, b"HEAD / HTTP/1.0\r\n\r\n",
            b"GET /api/v1/stream?view=page&processes=all HTTP/1.1\r\nHost: localhost\r\nAccept: a;q=1,b;q=0\r\n\r\n",
            b"GET /page/page.css HTTP/1.1\r\nHost: [::1]:80\r\nIf-None-Match: W/\"x\", *\r\nAccept-Encoding: gzip\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic YTpi\r\nContent-Length: 3\r\n\r\nabc",
            b"GET /%2e%2e/%00/%zz?a=%&b&=c&%3d HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n")))
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(request) + 1)
            kind = chance.randrange(6)
            if kind == 0:
                request[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
            elif kind == 1:
                del request[at:at + chance.randrange(1, 20)]
            elif kind == 2 and at < len(request):
                request[at] = chance.choice(b"\0\r\n :;,%?/\xff\"\t[]-9")
            elif kind == 3:
                request[at:at] = request[:chance.randrange(len(request) + 1)]
            elif kind == 4:
                request[at:at] = chance.choice((b"\r\n", b"\n", b"\r", b" ", b"\r\n ", b"%", b"9" * 40, b"a" * 5000))
            else:
                del request[at:]
        return bytes(request)

    def test_requests_that_were_right_once(self):
        chance = random.Random(SEED)
        with Server() as server:
            until = time.monotonic() + 8
            before = server.memory()
            while time.monotonic() < until:
                sent = self.mutated(chance)
                with server.connect() as client:
                    try:
                        client.sendall(sent)
                        client.shutdown(socket.SHUT_WR)
                        client.settimeout(0.05)
                        got = client.recv(4096)
                    except OSError:
                        got = b""
                self.assertIsNone(server.process.poll(), sent)
                if got:
                    self.assertTrue(got.startswith(b"HTTP/1."), sent)
                    self.assertNotIn(got.split()[1][:1], (b"1", b"") if b"xpect" in sent else (b"",), sent)
            self.assertEqual(server.get("/metrics")[0], 200)
            if not SANITIZED:
                self.assertLess(server.memory() - before, 4 << 20)
            self.assertEqual(server.end()[1], "")

    def test_bytes_of_chance(self):
        chance = random.Random(SEED + 1)
        with Server() as server:
            for _ in range(300):
                with server.connect() as client:
                    try:
                        client.sendall(chance.randbytes(chance.randrange(1, 3000)))
                    except OSError:
                        pass
            self.assertEqual(server.get("/metrics")[0], 200)
            with server.connect() as client:
                client.sendall(SCRAPE * 199 + SCRAPE[:-2] + b"Connection: close\r\n\r\n")  # one behind the other
                self.assertEqual(read_all(client).count(b"HTTP/1.1 200 OK"), 200)


if __name__ == "__main__":
    unittest.main()
