"""The server's configuration (--web-config): passwords, TLS, client certificates, headers, rates, and
what becomes of it when it changes."""

import base64
import contextlib
import os
import pathlib
import shutil
import socket
import ssl
import tempfile
import threading
import time
import unittest

from harness import SANITIZED, in_one_of, wait_until
from served import Server, TLSClient, bcrypt, certificate, read_all
from tell_program import Tell


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Configured(unittest.TestCase):
    """With a folder for it, that whoever the server becomes can read."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-serve-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.file = self.folder / "web.yml"

    def write(self, text):
        fresh = self.folder / "fresh"
        fresh.write_text(text)
        fresh.rename(self.file)

    def serve(self, text, **options):
        self.write(text)
        return Server(web_config=str(self.file), samples=False, **options)

    def refused(self, text, **serve):
        self.write(text)
        with Tell(serve={"listen": ["127.0.0.1:0"], "web_config": str(self.file), **serve}) as tell:
            message = tell.hear("failed")["message"]
            tell.end()
        self.assertNotIn("\n", message)
        return message


class Passwords(Configured):
    def test_who_has_none_learns_nothing(self):
        with self.serve(f"basic_auth_users:\n  alice: {bcrypt('right')}\n  bob: {bcrypt('other')}\n") as server:
            refused = [{}, *({"authorization": value} for value in (
                basic("alice", "wrong"), basic("alice", ""), basic("alice", "right "), basic("bob", "right"),
                basic("alice", "right\0"), basic("mallory", "right"), basic("", ""), basic("Alice", "right"),
                basic("alice", "x" * 2000), "Basic", "Basic !!!", "Bearer right", basic("alice", "righ"),
                "Basic " + "A" * 5000))]
            for path in ("/metrics", "/", "/nothing", "/-/healthy", "/api/v1/stream"):
                for headers in refused[:3]:
                    with self.subTest(path=path, headers=headers):
                        status, got, body = server.get(path, **headers)
                        self.assertEqual(status, 401)
                        self.assertEqual(got["www-authenticate"], 'Basic realm="vitals", charset="UTF-8"')
                        self.assertNotIn(b"vitals_", body)
            for headers in refused:
                with self.subTest(headers=headers):
                    self.assertEqual(server.get("/metrics", **headers)[0], 401)
            for _ in range(3):  # compared, and known afterwards
                self.assertEqual(server.get("/metrics", authorization=basic("alice", "right"))[0], 200)
            self.assertEqual(server.get("/metrics", authorization=basic("bob", "other"))[0], 200)
            self.assertEqual(server.get("/metrics", authorization=basic("bob", "right"))[0], 401)

    def test_a_password_is_hashed_once(self):
        with self.serve(f"basic_auth_users:\n  alice: {bcrypt('right', cost=10)}\n") as server:
            ask = {"authorization": basic("alice", "right")}
            before = server.seconds()
            self.assertEqual(server.get("/metrics", **ask)[0], 200)
            once = server.seconds() - before
            for _ in range(20):
                self.assertEqual(server.get("/metrics", **ask)[0], 200)
            self.assertLess(server.seconds() - before, 10 * max(once, 0.03))

    def test_guessing_keeps_nobody_out(self):
        """Many guesses at once are bounded, and who is known is answered meanwhile."""
        with self.serve(f"basic_auth_users:\n  alice: {bcrypt('right', cost=10)}\n") as server:
            self.assertEqual(server.get("/metrics", authorization=basic("alice", "right"))[0], 200)
            statuses = []

            def guess(number):
                statuses.append(server.get("/metrics", authorization=basic("eve", str(number)))[0])

            guesses = [threading.Thread(target=guess, args=(i,)) for i in range(60)]
            for thread in guesses:
                thread.start()
            for _ in range(10):
                self.assertEqual(server.get("/metrics", authorization=basic("alice", "right"))[0], 200)
            for thread in guesses:
                thread.join()
            self.assertLessEqual(set(statuses), {401, 503})
            self.assertIn(401, statuses)

    def test_the_end_comes_while_passwords_are_compared(self):
        with self.serve(f"basic_auth_users:\n  alice: {bcrypt('right', cost=12)}\n") as server:
            clients = [server.connect() for _ in range(8)]
            for client in clients:
                client.sendall(f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: {basic('a', 'b')}"
                               "\r\n\r\n".encode())
            self.assertEqual(server.get("/")[0], 401)
            self.assertEqual(server.end()[0][-1], {"done": True})
            for client in clients:
                client.close()

    def test_the_end_comes_while_guesses_come(self):
        """What is asked behind a guess that the end refuses is not looked at any more."""
        def drain(client):
            with contextlib.suppress(OSError):
                read_all(client)

        guesses = f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: {basic('a', 'b')}\r\n\r\n" * 200
        for _ in range(12):
            with self.serve(f"basic_auth_users:\n  alice: {bcrypt('right')}\n") as server:
                stop = threading.Event()

                def guess(server=server, stop=stop):
                    with contextlib.suppress(OSError), server.connect() as client:
                        threading.Thread(target=drain, args=(client,), daemon=True).start()
                        while not stop.is_set():
                            client.sendall(guesses.encode())

                threads = [threading.Thread(target=guess) for _ in range(8)]
                for thread in threads:
                    thread.start()
                time.sleep(0.2)
                try:
                    self.assertEqual(server.end()[0][-1], {"done": True})
                finally:
                    stop.set()
                    for thread in threads:
                        thread.join()

    def test_guesses_of_one_address_leave_room_for_another(self):
        with self.serve(f"basic_auth_users:\n  alice: {bcrypt('right', cost=10)}\n") as server:
            def ask(user, password):
                return (f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: {basic(user, password)}\r\n"
                        "Connection: close\r\n\r\n").encode()

            stop = threading.Event()

            def flood():
                while not stop.is_set():
                    with contextlib.suppress(OSError), server.connect(source="127.0.0.2") as client:
                        client.sendall(ask("a", "b"))
                        client.recv(4096)

            threads = [threading.Thread(target=flood) for _ in range(30)]
            for thread in threads:
                thread.start()
            try:
                time.sleep(0.5)
                # a comparison may take longer on a busy machine than the 10 s that an answer has
                in_one_of(5, lambda: self.assertIn(b" 200 ", server.raw(ask("alice", "right"))[:16]))
            finally:
                stop.set()
                for thread in threads:
                    thread.join()

    def test_what_is_missing_is_named(self):
        self.assertIn("needs TLS besides the passwords of web.yml, or --allow-insecure",
                      self.refused(f"basic_auth_users:\n  alice: {bcrypt('right')}\n", listen=["0.0.0.0:0"]))
        self.assertIn("which are not in web.yml", self.refused("rate_limit: {interval: 1s}\n", listen=["0.0.0.0:0"]))

    def test_passwords_are_not_enough_beyond_the_loopback(self):
        message = self.refused(f"basic_auth_users:\n  alice: {bcrypt('right')}\n", listen=["0.0.0.0:0"])
        self.assertIn("needs TLS", message)


class Configuration(Configured):
    def test_a_mistake_is_one_line(self):
        for text, says in (("tls_serverconfig: {}\n", 'line 1: "tls_serverconfig" is not a known key'),
                           ("basic_auth_users:\n  alice: secret\n", "line 2"),
                           ("a: b: c", "line 1"),
                           ("tls_server_config: {cert_file: no.crt, key_file: no.key}\n", "web.yml: line 1: "),
                           ("\ntls_server_config:\n  key_file: no.key\n  cert_file: no.crt\n", "no.crt: No such file"),
                           ("\ntls_server_config:\n  key_file: no.key\n  cert_file: no.crt\n", "web.yml: line 4: "),
                           ("tls_server_config: {cert_file: /dev/zero, key_file: no.key}\n", "/dev/zero: not a regular file")):
            with self.subTest(text=text):
                message = self.refused(text)
                self.assertIn(says, message)
                self.assertNotIn("secret", message)
        self.file.unlink()
        with Tell(serve={"web_config": str(self.file)}) as tell:
            self.assertIn("web.yml: No such file", tell.hear("failed")["message"])

    def test_certificates_that_cannot_be_used(self):
        certificate(self.folder, "one")
        certificate(self.folder, "two")
        text = "tls_server_config: {{cert_file: {}, key_file: {}}}\n"
        self.assertIn("one.crt: cannot be used with its key", self.refused(text.format("one.crt", "two.key")))
        (self.folder / "bad.crt").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        if not SANITIZED:  # GnuTLS itself leaks 168 bytes of such a certificate
            self.assertIn("bad.crt", self.refused(text.format("bad.crt", "one.key")))
        (self.folder / "empty.crt").write_text("")
        self.assertIn("empty.crt", self.refused(text.format("empty.crt", "one.key")))
        if os.geteuid() != 0:
            (self.folder / "one.key").chmod(0)
            self.assertIn("one.key: Permission denied", self.refused(text.format("one.crt", "one.key")))

    def test_its_headers_replace_ours(self):
        text = ("http_server_config:\n  headers:\n    X-Frame-Options: SAMEORIGIN\n"
                "    Strict-Transport-Security: max-age=5\n")
        with self.serve(text) as server:
            _, got, _ = server.get("/metrics")
            self.assertEqual(got["x-frame-options"], "SAMEORIGIN")
            self.assertEqual(got["strict-transport-security"], "max-age=5")
            self.assertEqual(got["x-content-type-options"], "nosniff")

    def test_a_rate_is_kept(self):
        with self.serve("rate_limit: {interval: 1h, burst: 3}\n") as server:
            statuses = [server.get("/-/healthy")[0] for _ in range(5)]
            self.assertEqual(statuses, [200, 200, 200, 429, 429])
            self.assertEqual(server.get("/-/healthy")[1]["retry-after"], "1")

    def test_it_is_read_again_when_it_changes(self):
        old, new = ({"authorization": basic("alice", word)} for word in ("old", "new"))
        with self.serve(f"basic_auth_users:\n  alice: {bcrypt('old')}\n") as server:
            self.assertEqual(server.get("/metrics", **old)[0], 200)
            self.write("nonsense: {}\n")
            while True:  # it looks at times when somebody is there
                self.assertEqual(server.get("/metrics", **old)[0], 200)
                if not server.lines.empty():
                    break
            said = server.hear("say")["say"]
            self.assertIn('"nonsense" is not a known key', said)
            self.assertIn("the former configuration stays", said)
            self.write(f"basic_auth_users:\n  alice: {bcrypt('new')}\n")
            wait_until(lambda: server.get("/metrics", **new)[0] == 200, "the new password")
            self.assertEqual(server.get("/metrics", **old)[0], 401)

    def test_who_was_let_in_must_come_again(self):
        """What is taken away from somebody is not his any more on a connection that he has kept."""
        old = basic("alice", "old")
        request = f"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nAuthorization: {old}\r\n\r\n".encode()
        with self.serve(f"basic_auth_users:\n  alice: {bcrypt('old')}\n") as server, server.connect() as kept, \
                server.connect() as stream:
            kept.sendall(request)
            self.assertIn(b"200 OK", kept.recv(4096))
            stream.sendall(request.replace(b"/-/healthy", b"/api/v1/stream"))
            self.assertIn(b"200 OK", stream.recv(4096))
            self.write(f"basic_auth_users:\n  alice: {bcrypt('new')}\n")
            wait_until(lambda: server.get("/", authorization=basic("alice", "new"))[0] != 401, "the new password")
            for client in (kept, stream):
                try:
                    client.sendall(request)
                    self.assertNotIn(b"200 OK", client.recv(4096))
                except OSError:
                    pass
            server.sample()
            self.assertLess(server.descriptors(), 14)


    def test_what_stands_behind_an_answer_is_asked_too_late(self):
        """Behind an answer on its way wait another request and a stream, when their user is taken away."""
        old, new = basic("alice", "old"), basic("alice", "new")
        request = "GET {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + old + "\r\n\r\n"
        with self.serve(f"basic_auth_users:\n  alice: {bcrypt('old')}\n") as server, \
                contextlib.ExitStack() as stack:
            server.sample()
            self.assertEqual(server.get("/metrics", authorization=old)[0], 200)
            clients = []
            for count in range(2, 40):
                client = stack.enter_context(socket.socket())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                client.settimeout(20)
                client.connect(server.address)
                client.sendall((request.format("/api/v1/snapshot") * count +
                                request.format("/api/v1/stream")).encode())
                clients.append(client)
            time.sleep(0.5)
            self.write(f"basic_auth_users:\n  alice: {bcrypt('new')}\n")

            def is_new():
                with contextlib.suppress(IndexError):  # cut off, having come just before the change
                    return server.get("/", authorization=new)[0] != 401
                return False

            wait_until(is_new, "the new password")
            for client in clients:  # each comes to its end, though a stream would have none
                with contextlib.suppress(ConnectionError):
                    read_all(client)
            self.assertEqual(server.end()[0][-1], {"done": True})

    def test_a_password_stays_known_where_nothing_of_it_changed(self):
        users = f"basic_auth_users:\n  alice: {bcrypt('right', cost=13)}\n"
        with self.serve(users) as server:
            ask = {"authorization": basic("alice", "right")}
            before = server.seconds()
            self.assertEqual(server.get("/metrics", **ask)[0], 200)
            once = server.seconds() - before
            before = server.seconds()
            self.write(users + "http_server_config: {headers: {X-Frame-Options: SAMEORIGIN}}\n")

            def has_changed():
                time.sleep(0.1)
                with contextlib.suppress(IndexError):  # cut off, having come just before the change
                    return server.get("/metrics", **ask)[1]["x-frame-options"] == "SAMEORIGIN"
                return False

            wait_until(has_changed, "the change")
            self.assertLess(server.seconds() - before, once / 2)

    def test_a_protection_is_never_lost_in_silence(self):
        """A file that is being rewritten is empty or cut for a while."""
        users = f"basic_auth_users:\n  alice: {bcrypt('right')}\n"
        headers = "http_server_config: {headers: {X-Frame-Options: SAMEORIGIN}}\n"
        for text in ("", headers, "# nothing\n"):
            with self.subTest(text), self.serve(users + headers) as server:
                self.assertEqual(server.get("/-/healthy")[0], 401)
                self.file.write_text(text)
                while server.lines.empty():  # it looks when somebody asks
                    self.assertEqual(server.get("/-/healthy")[0], 401)
                said = server.hear("say")["say"]
                self.assertIn("web.yml: no longer has TLS, passwords or client certificates", said)
                self.assertIn("the former configuration stays; restart to use the new one", said)
                self.assertEqual(server.get("/-/healthy")[0], 401)
                self.assertEqual(server.get("/-/healthy", authorization=basic("alice", "right"))[0], 200)

    def test_brackets_without_end_are_refused_at_once(self):
        before = os.times()
        self.assertIn("nested too deeply", self.refused("[" * 200000))
        self.assertLess(os.times().children_user - before.children_user, 5)

    def test_brackets_in_a_comment_or_a_text_are_none(self):
        many = "[{" * 40
        text = f"# {many}\nhttp_server_config:\n  headers:\n    Content-Security-Policy: \"{many}\"\n"
        with self.serve(text) as server:
            self.assertEqual(server.get("/-/healthy")[1]["content-security-policy"], many)

    def test_what_only_root_can_read_keeps_no_rights(self):
        if os.geteuid() != 0:
            self.skipTest("not root")
        self.write(f"basic_auth_users:\n  alice: {bcrypt('old')}\n")
        self.file.chmod(0o600)
        with Server(web_config=str(self.file), samples=False) as server:
            self.assertIn("only root can read", server.heard[0]["say"])
            self.assertRegex(pathlib.Path(f"/proc/{server.process.pid}/status").read_text(), r"Uid:\t65534\t")
            self.assertEqual(server.get("/-/healthy", authorization=basic("alice", "old"))[0], 200)
            fresh = self.folder / "secret"
            fresh.write_text(f"basic_auth_users:\n  alice: {bcrypt('new')}\n")
            fresh.chmod(0o600)
            fresh.rename(self.file)
            while server.lines.empty():
                self.assertEqual(server.get("/-/healthy", authorization=basic("alice", "old"))[0], 200)
            self.assertIn("restart to use the new one", server.hear("say")["say"])


class TLS(Configured):
    def setUp(self):
        super().setUp()
        certificate(self.folder, "authority")
        certificate(self.folder, "server", "authority")
        for file in self.folder.glob("*.key"):
            file.chmod(0o644)
        self.authority = self.folder / "authority.crt"

    def text(self, **more):
        lines = {"cert_file": "server.crt", "key_file": "server.key", **more}
        return "tls_server_config:\n" + "".join(f"  {k}: {v}\n" for k, v in lines.items())

    def test_it_speaks_tls_and_nothing_else(self):
        with self.serve(self.text()) as server:
            self.assertTrue(server.urls[0].startswith("https://127.0.0.1:"))
            client = TLSClient(server.port, self.authority)
            for _ in range(3):
                self.assertEqual(client.get("/-/healthy"), 200)
            self.assertEqual(client.get("/-/healthy", host="evil.example"), 403)
            self.assertNotIn(b"200 OK", server.raw(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            with self.assertRaises(ssl.SSLError):
                TLSClient(server.port, None).get()

    def test_old_versions_are_refused(self):
        with self.serve(self.text(min_version="TLS13")) as server:
            self.assertEqual(TLSClient(server.port, self.authority).get("/-/healthy"), 200)
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                TLSClient(server.port, self.authority, newest=ssl.TLSVersion.TLSv1_2).get()
        with self.serve(self.text()) as server:
            two = TLSClient(server.port, self.authority, newest=ssl.TLSVersion.TLSv1_2)
            self.assertEqual(two.get("/-/healthy"), 200)

    def test_certificates_of_clients(self):
        certificate(self.folder, "known", "authority", names="DNS:scraper.example")
        certificate(self.folder, "other", "authority", names="DNS:other.example")
        certificate(self.folder, "stranger")
        certificate(self.folder, "fit", "authority", purpose="clientAuth")
        certificate(self.folder, "unfit", "authority", purpose="serverAuth")
        clients = {None: None, **{name: self.folder / name
                                  for name in ("known", "other", "stranger", "fit", "unfit")}}
        for kind, more, let_in in (
                ("NoClientCert", {}, set(clients)),
                ("RequestClientCert", {}, set(clients)),
                ("RequireAnyClientCert", {}, set(clients) - {None}),
                ("VerifyClientCertIfGiven", {"client_ca_file": "authority.crt"}, {None, "known", "other", "fit"}),
                ("RequireAndVerifyClientCert", {"client_ca_file": "authority.crt"}, {"known", "other", "fit"}),
                ("RequireAndVerifyClientCert", {"client_ca_file": "authority.crt",
                                                "client_allowed_sans": "[scraper.example]"}, {"known"})):
            with self.subTest(kind=kind, more=more), \
                    self.serve(self.text(client_auth_type=kind, **more)) as server:
                got = set()
                for name, own in clients.items():
                    try:
                        if TLSClient(server.port, self.authority, own).get("/-/healthy") == 200:
                            got.add(name)
                    except (ssl.SSLError, ConnectionError):
                        pass
                self.assertEqual(got, let_in)

    def test_beyond_the_loopback_with_both(self):
        users = f"basic_auth_users:\n  alice: {bcrypt('right')}\n"
        self.assertIn("needs passwords or client certificates besides the TLS of web.yml, or --allow",
                      self.refused(self.text(), listen=["0.0.0.0:0"]))
        with self.serve(self.text() + users, listen=["0.0.0.0:0"]) as server:
            client = TLSClient(server.port, self.authority)
            self.assertEqual(client.get("/-/healthy"), 401)
            self.assertEqual(client.get("/-/healthy", authorization=basic("alice", "right")), 200)
            self.assertEqual(client.get("/-/healthy", host="proxy.example",
                                        authorization=basic("alice", "right")), 200)
            self.write(self.text())  # would leave it open
            while server.lines.empty():
                self.assertEqual(client.get("/-/healthy", authorization=basic("alice", "right")), 200)
            self.assertIn("no longer protects the server", server.hear("say")["say"])
            self.assertEqual(client.get("/-/healthy"), 401)

    def test_a_new_certificate_is_taken(self):
        certificate(self.folder, "next-authority")
        certificate(self.folder, "next", "next-authority")
        (self.folder / "next.key").chmod(0o644)
        with self.serve(self.text()) as server:
            self.assertEqual(TLSClient(server.port, self.authority).get("/-/healthy"), 200)
            for kind in ("crt", "key"):
                shutil.copy(self.folder / f"next.{kind}", self.folder / f"fresh.{kind}")
                (self.folder / f"fresh.{kind}").rename(self.folder / f"server.{kind}")

            def is_new():
                try:
                    return TLSClient(server.port, self.folder / "next-authority.crt").get("/-/healthy") == 200
                except ssl.SSLError:
                    return False

            wait_until(is_new, "the new certificate")
            self.assertLess(server.descriptors(), 20)

    def test_tls_is_turned_on_and_stays(self):
        """On the same socket, with a stream and a password that is compared under way."""
        users = f"basic_auth_users:\n  alice: {bcrypt('right', cost=10)}\n"
        ask = {"authorization": basic("alice", "right")}
        stream = f"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: {ask['authorization']}\r\n\r\n"
        guess = f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: {basic('alice', 'left')}\r\n\r\n"
        with self.serve(users) as server, server.connect() as listener, server.connect() as guesser:
            self.assertEqual(server.get("/-/healthy", **ask)[0], 200)
            listener.sendall(stream.encode())
            self.assertIn(b"200 OK", listener.recv(4096))
            self.write(self.text() + users)
            guesser.sendall(guess.encode())
            client = TLSClient(server.port, self.authority)

            def is_on():
                with contextlib.suppress(OSError):
                    return client.get("/-/healthy", **ask) == 200
                return False

            wait_until(is_on, "TLS")
            self.assertNotIn(b"200 OK", read_all(listener))
            self.assertNotIn(b"200 OK", server.raw(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            self.write(users)  # which only a restart takes
            while server.lines.empty():
                self.assertEqual(client.get("/-/healthy", **ask), 200)
            self.assertIn("no longer has TLS", server.hear("say")["say"])
            self.assertEqual(client.get("/-/healthy", **ask), 200)
            self.assertEqual(server.end()[0][-1], {"done": True})

    def test_what_is_no_handshake_does_no_harm(self):
        with self.serve(self.text()) as server:
            for sent in (b"", b"\x16\x03\x01", b"\x16\x03\x01\xff\xff" + b"x" * 100000, os.urandom(5000),
                         b"GET / HTTP/1.1\r\n\r\n", b"\x80\x2e\x01\x00\x02"):
                with server.connect() as client:
                    try:
                        client.sendall(sent)
                    except OSError:
                        pass
            begun = time.monotonic()
            self.assertEqual(TLSClient(server.port, self.authority).get("/-/healthy"), 200)
            self.assertLess(time.monotonic() - begun, 20)


if __name__ == "__main__":
    unittest.main()
