"""`vitals top --prometheus`: a real Prometheus that scrapes real `vitals serve` and a target that is down."""

import json
import tempfile
import unittest

from exposed import PROMETHEUS, await_prometheus, free_port, shipped_config, start_prometheus
from harness import vitals
from served import Server



@unittest.skipUnless(PROMETHEUS, "no prometheus")
class Top(unittest.TestCase):
    def test_it_shows_what_the_machines_say(self):
        """The same rows as by asking the machines."""
        with tempfile.TemporaryDirectory() as folder, Server() as server, Server() as other:
            down = f"127.0.0.1:{free_port()}"
            names = [f"127.0.0.1:{server.port}", f"127.0.0.1:{other.port}"]
            port = start_prometheus(self.addCleanup, folder, shipped_config(*names, down))
            await_prometheus(port, 'count(vitals_gpu_info) >= 8')
            await_prometheus(port, f'up{{instance="{down}"}} == 0')

            def document(*arguments):
                done = vitals("top", "--json", "--host-timeout", "20", *arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                return json.loads(done.stdout)
            asked = document("--hosts", ",".join(names))
            for hosts in ((), ("--hosts", ",".join([*names, down, "127.0.0.1:1"]))):
                with self.subTest(hosts):
                    known = document("--prometheus", f"http://127.0.0.1:{port}", *hosts)
                    states = {one["host"]: one["state"] for one in known["machines"]}
                    self.assertEqual(states.pop("127.0.0.1:1", "other"), "other")
                    self.assertEqual(states, dict.fromkeys(names, "answers") | {down: "silent"})
                    wanted, got = ([{name: row[name] for name in ("host", "memory_used_bytes", "memory_total_bytes")}
                                    for row in rows if row["host"] in names]
                                   for rows in (asked["rows"], known["rows"]))
                    order = [sorted(rows, key=json.dumps) for rows in (wanted, got)]
                    self.assertEqual(*order)
                    whole = {(row["host"], row["gpu"]): row for row in asked["rows"]}
                    for row in known["rows"]:
                        one = whole.get((row["host"], row["gpu"]))
                        if one is not None:
                            self.assertEqual([row[name] for name in ("name", "power_watts", "temperature_celsius")],
                                             [one[name] for name in ("name", "power_watts", "temperature_celsius")])
                            self.assertIsNotNone(row["age_seconds"])
            self.doCleanups()


if __name__ == "__main__":
    unittest.main()
