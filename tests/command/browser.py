"""A headless Chromium for tests and for pictures, spoken to over a pipe: no port, no driver, no package.

    with Browser() as browser:
        browser.open("http://127.0.0.1:9847/", width=1280)
        browser.wait("document.title !== ''")
        browser.picture("page.png")

What it was asked for, what it complained of and what it wrote on its console are kept: `requests`,
`complaints`."""

import base64
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# scripts/setup servers installs it, if there is npm.
AXE = pathlib.Path(__file__).resolve().parents[2] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 60  # seconds: a busy machine


def pipe():
    """Both ends above those that the browser knows by their numbers."""
    ends = []
    for low in os.pipe():
        ends.append(fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 10))
        os.close(low)
    return ends


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        (theirs_in, self.out), (self.into, theirs_out) = pipe(), pipe()
        # They listen at 3 and speak at 4.
        words = [sys.executable, "-c", "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
                 "os.execvp(sys.argv[3], sys.argv[3:])", str(theirs_in), str(theirs_out),
                 CHROMIUM, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--hide-scrollbars", f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(words, pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.rest = 0, b""
        self.requests, self.complaints = [], []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.tell(f"{domain}.enable")
        self.tell("Emulation.setFocusEmulationEnabled", enabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        for _ in range(50):  # its children may still write there
            try:
                self.folder.cleanup()
                return
            except OSError:
                time.sleep(0.1)

    # ---- the pipe ----

    def _hear(self):
        while b"\0" not in self.rest:
            piece = os.read(self.into, 1 << 16)
            if not piece:
                raise EOFError("the browser has gone")
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(one.get("value", one.get("description"))) for one in params["args"]))

    def ask(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._hear()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def tell(self, method, **params):
        """Asks the page, not the browser."""
        return self.ask(method, session=self.session, **params)

    # ---- what a test does ----

    def size(self, width, height=900, dark=False):
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url, width=1280, height=900, dark=False):
        self.size(width, height, dark)
        self.tell("Page.navigate", url=url)

    def run(self, script):
        """The value of an expression of the page's."""
        result = self.tell("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, script, seconds=PATIENCE):
        """Until the expression is true; its value."""
        until = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > until:
                raise TimeoutError(f"never: {script}; complaints: {self.complaints[:5]}")
            time.sleep(0.1)

    def axe(self):
        """What axe-core has against the page, worse than minor: its rules with the elements."""
        self.run(AXE.read_text() + ";0")
        self.run("axe.run().then((found) => { window.axeFound = JSON.stringify(found.violations); }); 0")
        found = json.loads(self.wait("window.axeFound"))
        return [(one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]]) for one in found if one["impact"] != "minor"]

    def key(self, key, code=None, number=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.tell("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def picture(self, path, whole=True):
        result = self.tell("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(result["data"]))
