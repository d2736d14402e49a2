"""Machines for `vitals top`: real `vitals serve` on loopback, and servers that answer what a test wants."""

import contextlib
import json
import re
import socket
import subprocess
import threading

from harness import VITALS, environment, vitals


def machine(*options):
    """A process of `vitals serve`, and where it listens."""
    process = subprocess.Popen([VITALS, "serve", "--demo", "--listen", "127.0.0.1:0", *options],
                               env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    url = process.stderr.readline().split()[-1]
    return process, re.match(r"http://([^/]+)/", url)[1]


def stop(process):
    process.terminate()
    process.wait()
    process.stderr.close()


class Stranger:
    """A machine that does what `answer(connection, request)` does with each connection and request."""

    def __init__(self, answer):
        self.answer, self.requests, self.bodies, self.connections, self.sent = answer, [], [], 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.name = f"127.0.0.1:{self.port}"
        self.open = []
        self.threads = [self.begin(self.accept)]

    @staticmethod
    def begin(function, *arguments):
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        thread.start()
        return thread

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection = self.listener.accept()[0]
                self.connections += 1
                self.open.append(connection)
                self.threads.append(self.begin(self.serve, connection))

    def serve(self, connection):
        got = b""
        with contextlib.suppress(OSError):
            while part := connection.recv(65536):
                got += part
                while b"\r\n\r\n" in got:
                    request, _, got = got.partition(b"\r\n\r\n")
                    self.requests.append(request.decode())
                    if length := re.search(rb"(?i)\r\ncontent-length: (\d+)", request):
                        while len(got) < int(length[1]):
                            if not (part := connection.recv(65536)):
                                return
                            got += part
                        self.bodies.append(got[:int(length[1])].decode())
                        got = got[int(length[1]):]
                    self.answer(self, connection)

    def close(self):
        # The threads end before their descriptors are closed: another Stranger may get the same numbers.
        self.shut(self.listener)
        self.threads[0].join()
        for connection in self.open:
            self.shut(connection)
        for thread in self.threads:
            thread.join()
        for one in (self.listener, *self.open):
            one.close()

    @staticmethod
    def shut(one):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def says(body, status="200 OK", more=""):
    def answer(_, connection):
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        connection.sendall(head.encode() + body)
    return answer


def endless(stranger, connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    with contextlib.suppress(OSError):
        while True:
            stranger.sent += connection.send(b" " * 65536)


def hangs(_stranger, _connection):
    pass


def demo():
    """A snapshot of the demo with few of this machine's processes, and no long command line: an answer has a limit.

    The demo's devices are used by this machine's processes, and these may end while they are read.
    """
    while True:
        document = json.loads(vitals("--json", "--demo").stdout)
        used = {user["process"] for user in document["tables"]["gpu_process"]}
        found = [process for process in document["tables"]["process"] if process["key"] in used]
        if found:
            for process in found:
                if process["command_line"]:
                    process["command_line"] = process["command_line"][:1000]
            document["tables"]["process"] = found
            return document
