"""What the tests of the server share: the program with a server in it, and clients that can do what
no proper client does."""

import contextlib
import ctypes
import http.client
import os
import socket
import ssl
import subprocess
import time
import urllib.parse

from tell_program import PATIENCE, Tell, snapshots


def answers(raw):
    """The status, the headers (names in small letters) and the body of what was read to its end."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return int(first.split()[1]), headers, body


class Server(Tell):
    """The program, listening at a port of its own. Use as a context. A sample is fresh until the next
    one comes, however long that takes, unless `hello` has an interval."""

    def __init__(self, samples=True, listen=("127.0.0.1:0",), hello=None, env=None, **serve):
        hello = {"interval_seconds": 3600} | (hello or {})
        super().__init__(env=env, serve={"listen": list(listen), **serve}, **hello)
        try:
            self.urls = [self.hear("opened", "url")["url"] for _ in listen]
        except AssertionError:
            self.__exit__()
            raise
        parts = urllib.parse.urlsplit(self.urls[0])
        self.address = (parts.hostname, parts.port)
        self.port = parts.port
        if samples:
            self.sample()

    def sample(self, *arguments):
        """One sample of the simulated machine, or of the arguments, that the server has then."""
        for line in snapshots("--demo", *arguments):
            self.write(line)
        if self.urls[0].startswith("http:"):
            self.wait_ready()

    def wait_ready(self):
        """Until it has a sample. Without one, as of a command that wrote none, this would never end."""
        until = time.monotonic() + PATIENCE
        while self.get("/-/ready")[0] == 503:
            assert self.process.poll() is None, "the server has ended"
            assert time.monotonic() < until, "the server never had a sample"
            time.sleep(0.001)

    def connect(self, timeout=PATIENCE, source=None):
        return socket.create_connection(self.address, timeout=timeout,
                                        source_address=(source, 0) if source else None)

    def raw(self, sent, timeout=PATIENCE):
        """What comes back on a connection of its own until it is closed."""
        with self.connect(timeout) as client:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(sent)
            return read_all(client)

    def get(self, path="/", method="GET", **headers):
        """Status, headers and body, on a connection of its own. Names of headers with _ for -."""
        headers = {name.replace("_", "-").lower(): value for name, value in headers.items()}
        headers.setdefault("host", f"127.0.0.1:{self.port}")
        lines = [f"{method} {path} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items()),
                 "Connection: close", "", ""]
        request = "\r\n".join(lines).encode("latin-1")
        # A server that takes a new configuration just then closes what it has not answered: ask once more.
        return answers(self.raw(request) or self.raw(request))

    def memory(self):
        """Its resident set, in bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def seconds(self):
        """What it has used of the CPU."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def read_all(client):
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while part := client.recv(65536):
            got += part
    return got


def bcrypt(password, cost=4):
    """A hash of it by the system's own libcrypt."""
    library = ctypes.CDLL("libcrypt.so.1")
    library.crypt.restype = ctypes.c_char_p
    made = library.crypt(password.encode(), f"$2b${cost:02}$abcdefghijklmnopqrstuu".encode())
    return made.decode()


def certificate(folder, name, authority=None, names="DNS:localhost,IP:127.0.0.1", purpose=None):
    """folder/name.crt and .key, signed by folder/authority.crt, or by itself and an authority then."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
               "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key",
               "-out", folder / f"{name}.crt"]
    # Strict verifiers ask an authority for its right to sign.
    command += ["-addext", "keyUsage=critical,digitalSignature" + ("" if authority else ",keyCertSign")]
    if authority:
        command += ["-CA", folder / f"{authority}.crt", "-CAkey", folder / f"{authority}.key",
                    "-addext", f"subjectAltName={names}",
                    "-addext", "basicConstraints=critical,CA:FALSE"]
    if purpose:
        command += ["-addext", f"extendedKeyUsage={purpose}"]
    subprocess.run(command, check=True, capture_output=True)


class TLSClient:
    """HTTPS with an authority that is believed, and a certificate of its own where one is given."""

    def __init__(self, port, authority, own=None, newest=None):
        self.port = port
        self.context = ssl.create_default_context(cafile=authority)
        if own:
            self.context.load_cert_chain(own.with_suffix(".crt"), own.with_suffix(".key"))
        if newest:
            self.context.maximum_version = newest

    def get(self, path="/metrics", **headers):
        """The status; raises what the handshake raises."""
        client = http.client.HTTPSConnection("localhost", self.port, context=self.context,
                                             timeout=PATIENCE)
        try:
            client.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            answer = client.getresponse()
            answer.read()
            return answer.status
        finally:
            client.close()
