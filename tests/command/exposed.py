"""What the tests of Prometheus' documents share: reading them, and who else reads them."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from harness import SOURCE, environment
from tell_program import PATIENCE

SERVERS_PYTHON = os.environ.get("VITALS_SERVERS_PYTHON", "")
PROMTOOL = shutil.which("promtool")
PROMETHEUS = shutil.which("prometheus")

SAMPLE = re.compile(r'([a-zA-Z_]\w*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

# The reference implementation's own parsers, in the interpreter that has them.
PARSE = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as text
read = openmetrics if sys.argv[1] == "openmetrics" else text
json.dump([[f.name, f.type, f.unit, f.documentation,
            [[s.name, s.labels, s.value] for s in f.samples]] for f in read(sys.stdin.read())], sys.stdout)
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def start_server(add_cleanup, command, **env):
    """Starts a program; `add_cleanup` (of a case, or of a class) gets what ends it."""
    process = subprocess.Popen(command, env=environment(**env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    add_cleanup(process.wait)
    add_cleanup(process.kill)


def start_prometheus(add_cleanup, folder, config):
    """Starts a Prometheus with a configuration, its files in `folder`; returns its port."""
    file, port = pathlib.Path(folder, "prometheus.yml"), free_port()
    file.write_text(config)
    start_server(add_cleanup, [PROMETHEUS, f"--config.file={file}", f"--storage.tsdb.path={folder}/data",
                               f"--web.listen-address=127.0.0.1:{port}"])
    return port


def shipped_config(*targets):
    """The packaged configuration, without rules, for these targets, asked once a second."""
    text = (SOURCE / "packaging" / "prometheus" / "prometheus.yml").read_text()
    for shipped, ours in (('targets: ["localhost:9847"]', f"targets: {json.dumps(targets)}"), ("15s", "1s"),
                          ("rule_files:\n  - vitals.rules.yml\n", "")):
        assert shipped in text, f"the packaged prometheus.yml lacks {shipped!r}"
        text = text.replace(shipped, ours)
    return text


def ask_prometheus(port, query):
    """What a Prometheus answers to a query; None while it does not listen or is not ready."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]["result"]
    except urllib.error.HTTPError as refused:
        if refused.code != 503:
            raise AssertionError(f"{query}: {refused.read()[:200]}") from refused
    except OSError:
        pass
    return None


def await_prometheus(port, query):
    """The same, once the answer is not empty."""
    until = time.monotonic() + PATIENCE
    while not (found := ask_prometheus(port, query)):
        assert time.monotonic() < until, f"never: {query}"
        time.sleep(0.1)  # it reads its targets once a second
    return found


def has_module(name):
    return bool(SERVERS_PYTHON) and subprocess.run(
        [SERVERS_PYTHON, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def needs_promtool(test):
    return unittest.skipUnless(PROMTOOL, "no promtool")(test)


def needs_client(test):
    return unittest.skipUnless(has_module("prometheus_client"),
                               "no Python with prometheus-client (VITALS_SERVERS_PYTHON)")(test)


def series(text):
    """Name -> labels (a sorted tuple of pairs) -> value, of a document."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            found.setdefault(name, {})[tuple(sorted(LABEL.findall(labels or "")))] = float(value)
    return found


def lint(text):
    """What promtool has to say."""
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=text.encode(), capture_output=True, check=False)
    return (done.returncode, (done.stdout + done.stderr).decode())


def parse(text, form):
    """Families as the reference parser reads them: name, type, unit, help, samples."""
    done = subprocess.run([SERVERS_PYTHON, "-c", PARSE, form], input=text.encode(), capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return json.loads(done.stdout)
