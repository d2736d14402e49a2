"""A collector of our own for tests: answers as it is told, and keeps what it was sent.

What it was sent is read by the opentelemetry-proto package, in the Python that has it
($VITALS_SERVERS_PYTHON); tests that need that skip where there is none.
"""

import functools
import gzip
import http.server
import json
import os
import subprocess
import tempfile
import threading
import time
import unittest

from tell_program import Tell, snapshots

SERVERS_PYTHON = os.environ.get("VITALS_SERVERS_PYTHON", "")

# Run by that Python: paths of documents as lines in, one JSON of all their points out.
READER = r"""
import json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

def attributes(list_):
    kinds = [(a.key, a.value.WhichOneof("value"), a.value) for a in list_]
    assert len({key for key, _, _ in kinds}) == len(kinds), kinds
    return {key: getattr(value, kind) for key, kind, value in kinds}

documents = []
for line in sys.stdin:
    document = ExportMetricsServiceRequest()
    document.ParseFromString(open(line.rstrip("\n"), "rb").read())
    assert document.SerializeToString() != b""
    assert not json_format.MessageToDict(document).get("unknown")
    points = []
    for resource_metrics in document.resource_metrics:
        for scope in resource_metrics.scope_metrics:
            assert scope.metrics
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                data = getattr(metric, kind)
                assert data.data_points, metric.name
                for point in data.data_points:
                    points.append({
                        "name": metric.name, "unit": metric.unit, "help": metric.description, "kind": kind,
                        "monotonic": kind == "sum" and data.is_monotonic,
                        "temporality": data.aggregation_temporality if kind == "sum" else 0,
                        "start": point.start_time_unix_nano, "time": point.time_unix_nano,
                        "type": point.WhichOneof("value"), "value": getattr(point, point.WhichOneof("value")),
                        "attributes": attributes(point.attributes)})
    first = document.resource_metrics[0]
    assert len(document.resource_metrics) == 1 and len(first.scope_metrics) == 1
    documents.append({"resource": attributes(first.resource.attributes), "schema": first.schema_url,
                      "scope": [first.scope_metrics[0].scope.name, first.scope_metrics[0].scope.version],
                      "points": points})
json.dump(documents, sys.stdout)
"""


# Likewise: name to instrument and unit, of every metric of opentelemetry-semantic-conventions.
CONVENTIONS = r"""
import importlib, inspect, json, pkgutil, re, sys
import opentelemetry.semconv._incubating.metrics as metrics
found = {}
for module in pkgutil.iter_modules(metrics.__path__):
    source = inspect.getsource(importlib.import_module(metrics.__name__ + "." + module.name))
    for constant in re.split(r"(?=^[A-Z0-9_]+: Final)", source, flags=re.M)[1:]:
        name = re.search(r'"([a-z0-9_.]+)"', constant)
        words = re.search(r"Instrument: (\w+)\s+Unit: (\S+)", constant)
        if name and words:
            found[name[1]] = [words[1], words[2]]
json.dump(found, sys.stdout)
"""


def needs_reader(test):
    """A test that reads what was sent."""
    return unittest.skipUnless(SERVERS_PYTHON, "no Python with opentelemetry-proto (VITALS_SERVERS_PYTHON)")(test)


def read(requests):
    """What requests of the collector hold."""
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for number, request in enumerate(requests):
            path = f"{folder}/{number}"
            with open(path, "wb") as file:
                file.write(request.body)
            assert request.headers["content-type"] == "application/x-protobuf"
            lines.append(f"{path}\n")
        done = subprocess.run([SERVERS_PYTHON, "-c", READER], input="".join(lines), capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)


def read_conventions():
    """What the published conventions say, or a skip."""
    done = subprocess.run([SERVERS_PYTHON, "-c", CONVENTIONS], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise unittest.SkipTest("no opentelemetry-semantic-conventions package")
    return json.loads(done.stdout)


def only(points, name, **attributes):
    """The one point of that name whose attributes are, among others, these (dots as __)."""
    wanted = {key.replace("__", "."): value for key, value in attributes.items()}
    found = [point for point in points if point["name"] == name and wanted.items() <= point["attributes"].items()]
    assert len(found) == 1, (name, wanted, found)
    return found[0]


class Request:
    """One that came."""

    def __init__(self, method, path, headers, raw):
        self.method, self.path, self.raw = method, path, raw
        self.headers = {name.lower(): value for name, value in headers}
        self.body = gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw
        self.when = time.monotonic()


class Collector:
    """Listens on loopback. `answers` are given one after another, and the last one for ever after:
    (status, headers, body), or a function of the handler that does what it likes."""

    def __init__(self, *answers):
        self.answers = list(answers) or [(200, {}, b"")]
        self.requests = []
        self.changed = threading.Condition()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                with outer.changed:
                    outer.requests.append(Request(self.command, self.path, self.headers.items(), raw))
                    answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                    outer.changed.notify_all()
                if callable(answer):
                    answer(self)
                    return
                status, headers, body = answer
                self.send_response(status)
                for name, value in {"Content-Type": "application/x-protobuf", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a client that has gone is what some tests are about

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def wait(self, count, seconds=60):
        """The first requests, once there are so many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.requests) >= count, seconds), len(self.requests)
            return self.requests[:count]


def disconnect(handler):
    """An answer: none."""
    handler.close_connection = True
    handler.connection.shutdown(2)


def slow(handler):
    """An answer that comes too late for anybody."""
    time.sleep(30)
    disconnect(handler)


# --- the program, and what it is fed with ---

SERVE = {"listen": ["127.0.0.1:0"], "processes": "pid"}
EVERY_MS = {"OTEL_METRIC_EXPORT_INTERVAL": "1"}  # each sample is sent


@functools.cache
def demo_line():
    return snapshots("--demo", "--count", "1", "--interval", "1")[0]


def demo():
    """A line of a machine with GPUs, and the document that it is."""
    return demo_line(), json.loads(demo_line())


def send(collector, lines, env=None, patience_seconds=30, count=None, **hello):
    """The requests that came of the lines, and what was said."""
    if "job" not in hello:
        hello.setdefault("serve", SERVE)
    with Tell(env={**EVERY_MS, **(env or {})}, patience_seconds=patience_seconds, otlp={"endpoint": collector.url},
              **hello) as tell:
        for number, line in enumerate(lines, 1):
            tell.write(line)
            if count is not None:
                collector.wait(min(number, count))
        heard, stderr = tell.end()
    assert stderr == "", stderr
    return collector.requests, heard


def said(heard):
    return [line["say"] for line in heard if "say" in line]


def later(document, seconds, **host):
    copy = json.loads(json.dumps(document))
    for clock in ("realtime_ns", "boottime_ns", "monotonic_ns"):
        copy[clock] = str(int(copy[clock]) + int(seconds * 1e9))
    copy["sequence"] += 1
    copy["tables"]["host"][0].update(host)
    return json.dumps(copy, separators=(",", ":"))
