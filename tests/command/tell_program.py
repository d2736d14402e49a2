"""What the tests of libexec/vitals/tell share: the program, fed with lines as the command feeds it."""

import json
import os
import pathlib
import queue
import subprocess
import threading
import time

from harness import environment, vitals

TELL = pathlib.Path(os.environ["VITALS_BUILD"]) / "tell"
PATIENCE = 60  # seconds: a busy machine


class Tell:
    """The program with its first line told. Use as a context: it is ended with it."""

    def __init__(self, env=None, **hello):
        self.process = subprocess.Popen([TELL], env=environment(**(env or {})), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.heard = []
        self.lines = queue.Queue()
        threading.Thread(target=self._hear, daemon=True).start()
        self.write({"tell": 1, **hello})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def _hear(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def write(self, line):
        """A line: bytes or text as they are, anything else as JSON."""
        if not isinstance(line, (bytes, str)):
            line = json.dumps(line, separators=(",", ":"))
        if isinstance(line, str):
            line = line.encode()
        self.process.stdin.write(line.rstrip(b"\n") + b"\n")
        self.process.stdin.flush()

    def hear(self, *keys, seconds=PATIENCE):
        """The next reply that has all these members; those before it are in `heard` too."""
        until = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"never {keys}; heard {self.heard}") from None
            if line is None:
                raise AssertionError(f"it ended without {keys}; heard {self.heard}")
            self.heard.append(line)
            if all(key in line for key in keys):
                return line

    def end(self, seconds=PATIENCE):
        """Closes its pipe and waits for its end; what it said, and what it wrote on stderr."""
        self.process.stdin.close()
        self.process.wait(timeout=seconds)
        while (line := self.lines.get(timeout=seconds)) is not None:
            self.heard.append(line)
        assert self.process.returncode == 0, self.process.returncode
        return self.heard, self.process.stderr.read().decode()


def snapshots(*arguments):
    """Lines of `vitals --json`."""
    done = vitals("--json", *arguments)
    assert done.returncode == 0 and done.stdout, done
    return done.stdout.splitlines()
