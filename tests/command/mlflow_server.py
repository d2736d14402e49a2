"""The servers that the tests of MLflow tell: the real one, in its own Python environment, and one of ours
that answers whatever a test wants."""

import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from harness import wait_until

SERVERS_PYTHON = os.environ.get("VITALS_SERVERS_PYTHON", "")
START_SECONDS = 240  # it imports for half a minute where others have the CPUs


def needs_servers(test):
    return unittest.skipUnless(SERVERS_PYTHON and os.path.exists(SERVERS_PYTHON),
                               "no Python with mlflow (VITALS_SERVERS_PYTHON)")(test)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def kept_spool(folder):
    """The spool below a folder, once it is complete and unlocked: the program that fills it may outlive
    `vitals run`, which waits for --tell-wait."""
    def is_done():
        for spool in folder.rglob("*.spool"):
            with spool.open("rb") as file, contextlib.suppress(BlockingIOError):
                if re.search(rb"^@\w+ end ", file.read(), re.I | re.M):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
        return False

    wait_until(is_done, "a spool that is done")
    (spool,) = folder.rglob("*.spool")
    return spool


class MlflowServer:
    """`mlflow server` with SQLite and artifacts through it, on loopback; can be stopped and begun again."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vitals-mlflow-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        log = open(self.folder / "log", "ab")
        variables = {name: value for name, value in os.environ.items()
                     if not name.startswith(("MLFLOW_", "VITALS"))}
        variables |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "GIT_PYTHON_REFRESH": "quiet",
                      "HOME": str(self.folder), "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
        self.process = subprocess.Popen(
            [SERVERS_PYTHON, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(self.port),
             "--workers", "1", "--backend-store-uri", f"sqlite:///{self.folder}/mlflow.db",
             "--artifacts-destination", str(self.folder / "artifacts")],
            stdout=log, stderr=log, env=variables, start_new_session=True)
        log.close()
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen(self.url + "/health", timeout=5).read()
                return
            except OSError:
                time.sleep(0.2)
        raise AssertionError("mlflow server did not come up: " + (self.folder / "log").read_text()[-2000:])

    def stop(self):
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def done(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, path, body=None, raw=False):
        request = urllib.request.Request(
            self.url + path, data=json.dumps(body).encode() if body is not None else None,
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            data = answer.read()
        return data if raw else json.loads(data)

    def call(self, path, body=None, **query):
        return self.ask("/api/2.0/mlflow/" + path + ("?" + urllib.parse.urlencode(query) if query else ""), body)

    def run(self, run_id):
        return self.call("runs/get", run_id=run_id)["run"]

    def history(self, run_id, key):
        """All points of a metric: (ms, step, value), by step."""
        points, token = [], None
        while True:
            query = {"run_id": run_id, "metric_key": key} | ({"page_token": token} if token else {})
            answer = self.call("metrics/get-history", **query)
            points += [(int(p["timestamp"]), int(p["step"]), p["value"]) for p in answer.get("metrics", [])]
            token = answer.get("next_page_token")
            if not token:
                return sorted(points, key=lambda point: (point[1], point[0]))

    def artifact(self, run, name):
        path = run["info"]["artifact_uri"].removeprefix("mlflow-artifacts:/")
        return self.ask(f"/api/2.0/mlflow-artifacts/artifacts/{path}/{name}", raw=True)


class Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Whoever is killed leaves a connection open: no news here."""


class Stub:
    """A server that looks enough like MLflow, keeps what it was asked, and does what a test says:
    `answer(method, path, body, headers)` gives (status, headers, bytes), None for MLflow's answer, or
    "stall" or "reset"."""

    def __init__(self, answer=None, port=0, tls=None):
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do(self):
                size = int(self.headers.get("Content-Length") or 0)
                stub.serve(self, self.rfile.read(size))

            do_GET = do_POST = do_PUT = do

        self.answer = answer
        self.lock = threading.Lock()
        self.requests = []  # (method, path, body, headers), each as it came
        self.released = threading.Event()
        self.server = Quiet(("127.0.0.1", port), Handler)
        self.port = self.server.server_port
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True,
                                                 do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def serve(self, handler, body):
        with self.lock:
            self.requests.append((handler.command, handler.path, body, dict(handler.headers)))
        answer = self.answer(handler.command, handler.path, body, handler.headers) if self.answer else None
        if answer == "stall":
            self.released.wait(60)
            answer = "reset"
        if answer == "reset":
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        status, headers, data = answer or (200, {}, self.usual(handler.path, body))
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        try:
            handler.wfile.write(data)
        except OSError:
            pass

    @staticmethod
    def usual(path, _body):
        run = {"info": {"run_id": "r" * 32, "experiment_id": "7", "status": "RUNNING", "lifecycle_stage": "active",
                        "artifact_uri": "mlflow-artifacts:/0/r/artifacts"}, "data": {}}
        if path.endswith(("runs/create", "r" * 32)):
            return json.dumps({"run": run}).encode()
        return b"{}"

    def batches(self, part="metrics"):
        """What came in log-batch requests, in their order."""
        with self.lock:
            return [json.loads(body)[part] for _, path, body, _ in self.requests
                    if path.endswith("log-batch") and part in json.loads(body)]

    def paths(self):
        with self.lock:
            return [(method, path.split("/")[-1].split("?")[0]) for method, path, _, _ in self.requests]


def values(second, cores=0.5):
    """What a tree and its machine used by a second, as a usage line has it."""
    return [["tree", "", "cpu_seconds", "have", cores * second],
            ["tree", "", "cpu_cores", "have", cores * (1.5 if second % 2 else 0.5)] if second else
            ["tree", "", "cpu_cores", "not_yet", None],
            ["tree", "", "memory_resident_bytes", "have", 2**20 * (100 + second)],
            ["tree", "", "threads", "have", 3],
            ["tree", "", "disk_read_bytes", "have", 2**20 * second],
            ["tree", "", "minor_faults", "have", 7 * second],
            ["tree", "", "memory_private_bytes", "denied", None],
            ["system", "system", "cpu_ratio", "have", 0.25],
            ["system", "system", "memory_total_bytes", "have", 4e9],
            ["system", "system", "memory_used_bytes", "have", 1e9],
            ["system", "system", "network_received_bytes", "have", 1e6 * second],
            ["gpu", "GPU-1", "gpu_memory_bytes", "sampled", 5e6],
            ["gpu", "GPU-1", "device_utilization_ratio", "have", 0.5],
            ["gpu", "GPU-1", "device_memory_used_bytes", "have", 2e9],
            ["gpu", "GPU-1", "device_memory_total_bytes", "have", 8e9],
            ["gpu", "GPU-1", "device_power_watts", "have", 100]]


# Measures of a device that are gauges.
GAUGES = ("gpu_memory_bytes", "gpu_utilization_ratio", "device_utilization_ratio", "device_power_watts",
          "device_temperature_celsius")

BEGIN_NS = 1_800_000_000 * 10**9  # a moment of its own, so that times can be compared exactly


def usage(second, **more):
    return {"usage": {"realtime_ns": str(BEGIN_NS + second * 10**9), "monotonic_ns": str((1000 + second) * 10**9),
                      "values": values(second, **more)}}


JOB = {"argv": ["/opt/bin/train", "--password=hunter2"], "user": "ann", "started_ns": str(BEGIN_NS), "host": "box",
       "version": "0.1.0", "expected_cores": 2, "memory_limit_bytes": 2**30}


def account(figures=(), code=0, attributes=None):
    return {"schema": 1, "exit_code": code, "signal": 0, "command": JOB["argv"],
            "attributes": {"state": "complete", "command": " ".join(JOB["argv"]), "working_directory": "/home/ann",
                           "started_ns": str(BEGIN_NS), "rungs": "cgroup2 wait4"} | (attributes or {}),
            "figures": [{"name": "wall_seconds", "value": 12.5, "unit": "seconds", "availability": "have"},
                        {"name": "cpu_seconds", "value": 6.25, "unit": "seconds", "availability": "have"},
                        {"name": "package_energy_joules", "subject": "system", "value": None,
                         "unit": "joules", "availability": "denied"}, *figures]}


def end(state="exited", code=0, signal_number=0, **more):
    return {"account": account(code=code, **more), "status": {"state": state, "code": code, "signal": signal_number}}
