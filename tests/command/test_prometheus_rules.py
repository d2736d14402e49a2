"""What we ship for Prometheus and Grafana: rules that fire, a configuration that loads, and no name in
any of it that vitals does not have."""

import json
import re
import shutil
import subprocess
import unittest

from exposed import PROMTOOL
from harness import SOURCE

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

    def test_the_configuration_loads(self):
        code, said = promtool("check", "config", "prometheus.yml")
        self.assertEqual(code, 0, said)


class Names(unittest.TestCase):
    def test_all_are_told(self):
        known = families()
        self.assertGreater(len(known), 80)
        for path in sorted(SHIPPED.iterdir()):
            # A recorded series has a colon in its name; that is none of ours.
            text = re.sub(r"\w+:vitals\w*:\w+", "", path.read_text())
            used = set(re.findall(r"\bvitals_(?:build|collector|gpu|host|http|process|run|series|workload)_\w+", text))
            used = {name for name in used if not name.endswith("_")}
            with self.subTest(path.name):
                self.assertEqual(used - known, set())

    def test_the_dashboard_is_one(self):
        board = json.loads((SHIPPED / "dashboard.json").read_text())
        panels = board["panels"]
        self.assertGreater(len(panels), 8)
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        for panel in panels:
            for target in panel.get("targets", []):
                with self.subTest(panel["title"]):
                    self.assertIn("vitals_", target["expr"])

    @unittest.skipUnless(shutil.which("promtool"), "no promtool")
    def test_the_dashboard_asks_what_can_be_answered(self):
        board = json.loads((SHIPPED / "dashboard.json").read_text())
        groups = [{"record": f"panel:vitals:{number}", "expr": target["expr"].replace("$__rate_interval", "5m")}
                  for number, target in enumerate(t for p in board["panels"] for t in p.get("targets", []))]
        rules = json.dumps({"groups": [{"name": "panels", "rules": groups}]})  # JSON is YAML too
        done = subprocess.run([PROMTOOL, "check", "rules", "/dev/stdin"], input=rules, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
