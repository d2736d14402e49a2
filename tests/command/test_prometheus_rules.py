"""What we ship for Prometheus and Grafana: rules that fire, a configuration that loads, and no name in
any of it that vitals does not have."""

import json
import pathlib
import re
import runpy
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

from exposed import (PROMETHEUS, PROMTOOL, ask_prometheus, await_prometheus, free_port, series, start_prometheus,
                     start_server)
from harness import SOURCE, VITALS, reads_json
from tell_program import PATIENCE

SHIPPED = SOURCE / "packaging" / "prometheus"


def promtool(*arguments):
    done = subprocess.run([PROMTOOL, *arguments], cwd=SHIPPED, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def families():
    page = (SOURCE / "docs" / "prometheus.md").read_text()
    return set(re.findall(r"^\| `(vitals_\w+)`", page, re.M))


@unittest.skipUnless(PROMTOOL, "no promtool")
class Rules(unittest.TestCase):
    def test_every_alert_fires_and_is_silent(self):
        code, said = promtool("test", "rules", "vitals.rules.test.yml")
        self.assertEqual(code, 0, said)

    def test_every_alert_has_a_test(self):
        rules = (SHIPPED / "vitals.rules.yml").read_text()
        tests = (SHIPPED / "vitals.rules.test.yml").read_text()
        alerts = re.findall(r"- alert: (\w+)", rules)
        self.assertGreater(len(alerts), 10)
        for alert in alerts:
            self.assertIn(f'alertname="{alert}"', tests)

    def test_every_alert_says_what_to_do(self):
        rules = (SHIPPED / "vitals.rules.yml").read_text().split("- alert: ")[1:]
        for rule in rules:
            with self.subTest(rule.split()[0]):
                self.assertRegex(rule, r"\n          runbook: >\n            \w")

    def test_the_configurations_load(self):
        for name in ("prometheus.yml", "prometheus-fleet.yml"):
            code, said = promtool("check", "config", name)
            self.assertEqual(code, 0, said)

    def test_the_blocks_in_comments_load(self):
        """Their "# " is removed, as their comment says."""
        for name, blocks in (("prometheus.yml", ("alerting", "scheme", "tls_config", "basic_auth", "remote_write")),
                             ("prometheus-fleet.yml", ("alerting", "relabel_configs", "remote_write"))):
            text = re.sub(r"(?m)^( *)# ( *(?:- |[a-z_]+:(?: |$)))", r"\1\2", (SHIPPED / name).read_text())
            for block in blocks:
                self.assertRegex(text, rf"(?m)^ *{block}:")
            with tempfile.TemporaryDirectory() as folder, self.subTest(name):
                shutil.copy(SHIPPED / "vitals.rules.yml", folder)
                file = pathlib.Path(folder, name)
                file.write_text(text)
                code, said = promtool("check", "config", file)
                self.assertEqual(code, 0, said)


class Names(unittest.TestCase):
    def test_a_lean_fleet_keeps_what_alerts_and_its_dashboards_need(self):
        lean = (SHIPPED / "prometheus-fleet.yml").read_text()
        dropped = re.compile(re.search(r'regex: "(vitals_http.*)"', lean)[1])
        self.assertTrue(dropped.fullmatch("vitals_gpu_clock_hertz"))
        for name in ("vitals.rules.yml", "dashboards/fleet.json", "dashboards/job.json"):
            used = re.findall(r"\bvitals_\w+", (SHIPPED / name).read_text())
            with self.subTest(name):
                self.assertEqual([one for one in used if dropped.fullmatch(one)], [])

    def test_all_are_told(self):
        known = families()
        self.assertGreater(len(known), 80)
        for path in sorted(path for path in SHIPPED.rglob("*") if path.is_file()):
            # A recorded series has a colon in its name; that is none of ours.
            text = re.sub(r"\w+:vitals\w*:\w+", "", path.read_text())
            used = set(re.findall(r"\bvitals_(?:build|collector|gpu|host|http|process|run|series|workload)_\w+", text))
            used = {name for name in used if not name.endswith("_")}
            with self.subTest(path.name):
                self.assertEqual(used - known, set())


# Where nothing is wrong, these panels are empty.
EMPTY_IF_WELL = ("Machines that do not answer", "Sources that cannot be read", "Alerts", "Machines with free GPUs")


def dashboards():
    return {path.stem: json.loads(path.read_text()) for path in sorted((SHIPPED / "dashboards").iterdir())}


class Dashboards(unittest.TestCase):
    def test_they_are_what_the_table_says(self):
        table = runpy.run_path(str(SHIPPED / "dashboards.py"))
        for name, board in dashboards().items():
            with self.subTest(name):
                self.assertEqual(board, json.loads(table["text"](name)))
        self.assertEqual(sorted(dashboards()), sorted(table["BOARDS"]))

    def test_panels_stand_beside_each_other(self):
        for name, board in dashboards().items():
            places = set()
            for panel in board["panels"]:
                at = panel["gridPos"]
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
                with self.subTest(f"{name}: {panel['title']}"):
                    self.assertFalse(cells & places)
                    self.assertLessEqual(at["x"] + at["w"], 24)
                places |= cells


@unittest.skipUnless(PROMETHEUS, "no prometheus")
@unittest.skipUnless(reads_json(), "built without JSON")
class Panels(unittest.TestCase):
    """Each query of each panel, asked of a Prometheus that scrapes the demo's devices and has our rules."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.target, cls.ailing, cls.lost = (free_port() for _ in range(3))
        config = ("global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
                  f"rule_files: ['{folder.name}/rules.yml']\n"
                  f"scrape_configs: [{{job_name: vitals, static_configs: [{{targets: "
                  f"['127.0.0.1:{cls.target}', '127.0.0.1:{cls.ailing}', '127.0.0.1:{cls.lost}']}}]}}]\n")
        rules = (SHIPPED / "vitals.rules.yml").read_text()
        pathlib.Path(folder.name, "rules.yml").write_text(re.sub(r"(?m)^        for: \S+$", "        for: 0s", rules))
        for port, *options in ((cls.target, "--demo", "--processes", "pid"), (cls.ailing, "--demo=ailing")):
            start_server(cls.addClassCleanup, [VITALS, "serve", *options, "--listen", f"127.0.0.1:{port}"])
        cls.port = start_prometheus(cls.addClassCleanup, folder.name, config)
        await_prometheus(cls.port, "count_over_time(vitals_build_info[1h]) > 2")  # enough for a rate
        with urllib.request.urlopen(f"http://127.0.0.1:{cls.target}/metrics", timeout=PATIENCE) as answer:
            cls.exported = set(series(answer.read().decode()))

    def is_exported(self, query):
        """What this machine lacks, as swap or pressure, has no series; each device of the demo has all."""
        names = set(re.findall(r"\bvitals_\w+", re.sub(r"\w+:vitals\w*:\w+", "", query)))
        return names <= self.exported

    def test_every_query_is_answered(self):
        answered = 0
        for name, board in dashboards().items():
            for panel in board["panels"]:
                for target in panel["targets"]:
                    query = target["expr"].replace("$__rate_interval", "1m")
                    query = query.replace("$instance", ".*").replace("$workload", ".*")
                    with self.subTest(f"{name}: {panel['title']}", query=query):
                        if panel["title"] in EMPTY_IF_WELL or not self.is_exported(query):
                            self.assertIsNotNone(ask_prometheus(self.port, query))
                        else:
                            self.assertTrue(await_prometheus(self.port, query))
                            answered += 1
        self.assertGreater(answered, 40)

    def test_an_ailing_device_fires_alerts(self):
        for alert in ("GpuHot", "GpuThrottled", "GpuXidCritical", "GpuRowRemapPending"):
            with self.subTest(alert):
                fired = await_prometheus(self.port, f'ALERTS{{alertname="{alert}", alertstate="firing"}}')
                self.assertEqual({one["metric"]["instance"] for one in fired}, {f"127.0.0.1:{self.ailing}"})

    def test_a_machine_that_does_not_answer_fires_an_alert(self):
        fired = await_prometheus(self.port, 'ALERTS{alertname="VitalsDown", alertstate="firing"}')
        self.assertEqual([one["metric"]["instance"] for one in fired], [f"127.0.0.1:{self.lost}"])

    def test_the_rules_are_evaluated(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/rules", timeout=PATIENCE) as answer:
            groups = json.load(answer)["data"]["groups"]
        wrong = {rule["name"]: rule.get("lastError") for group in groups for rule in group["rules"]
                 if rule.get("lastError")}
        self.assertEqual(wrong, {})


if __name__ == "__main__":
    unittest.main()
