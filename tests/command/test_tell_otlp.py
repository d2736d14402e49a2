"""What is sent to an OpenTelemetry collector, read by the opentelemetry-proto package."""

import json
import re
import unittest

from otlp_collector import (SERVE, Collector, demo, later, needs_reader, only, read, read_conventions, said,
                            send)

CUMULATIVE = 2


def rows(document, table):
    return document["tables"][table]


@needs_reader
class WhatIsSent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        line, cls.document = demo()
        with Collector() as collector:
            requests, _ = send(collector, [line], {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, count=1)
        cls.request = requests[0]
        cls.points = read(requests)[0]["points"]

    def test_it_goes_where_and_how_the_protocol_says(self):
        self.assertEqual(self.request.path, "/v1/metrics")
        self.assertEqual(self.request.headers["content-encoding"], "gzip")
        self.assertRegex(self.request.headers["user-agent"], r"^vitals/\S+ OTel-OTLP-Exporter-C/\S+$")

    def test_no_series_is_sent_twice_and_each_name_stands_together(self):
        series = [(point["name"], json.dumps(point["attributes"], sort_keys=True)) for point in self.points]
        self.assertEqual(len(series), len(set(series)))
        names = [point["name"] for point in self.points]
        self.assertEqual(len(set(names)), sum(a != b for a, b in zip(names, [None, *names])))

    def test_sums_are_cumulative_and_began_before_they_were_read(self):
        for point in self.points:
            with self.subTest(point["name"], **point["attributes"]):
                if point["kind"] == "sum":
                    self.assertEqual(point["temporality"], CUMULATIVE)
                    self.assertGreater(point["start"], 0)
                    self.assertLessEqual(point["start"], point["time"])
                else:
                    self.assertEqual(point["start"], 0)
                self.assertLessEqual(point["time"], int(self.document["realtime_ns"]))

    def test_values_of_the_machine(self):
        host = rows(self.document, "host")[0]
        value = lambda name, **attributes: only(self.points, name, **attributes)["value"]
        for mode, column in (("user", "user"), ("nice", "nice"), ("system", "system"), ("idle", "idle"),
                             ("iowait", "iowait"), ("steal", "steal")):
            self.assertEqual(value("system.cpu.time", cpu__mode=mode), host[f"cpu_{column}_seconds"])
        self.assertEqual(value("system.cpu.time", cpu__mode="interrupt"),
                         host["cpu_irq_seconds"] + host["cpu_softirq_seconds"])
        states = {state: value("system.memory.usage", system__memory__state=state)
                  for state in ("used", "free", "buffers", "cached")}
        self.assertEqual(sum(states.values()), value("system.memory.limit"))
        self.assertEqual(states["free"], host["memory_free_bytes"])
        self.assertEqual(value("system.memory.linux.available"), host["memory_available_bytes"])
        self.assertEqual(value("system.cpu.logical.count"), host["cpus"])
        boot = int(self.document["realtime_ns"]) - int(self.document["boottime_ns"])
        self.assertEqual(only(self.points, "system.cpu.time", cpu__mode="user")["start"], boot)

    def test_values_of_devices(self):
        for gpu in rows(self.document, "gpu"):
            for column, name, attributes in (
                    ("utilization_ratio", "hw.gpu.utilization", {"hw__gpu__task": "general"}),
                    ("memory_used_bytes", "hw.gpu.memory.usage", {}),
                    ("memory_total_bytes", "hw.gpu.memory.limit", {}),
                    ("energy_joules", "hw.energy", {"hw__type": "gpu"}),
                    ("power_watts", "hw.power", {"hw__type": "gpu"}),
                    ("ecc_errors_uncorrected", "hw.errors", {"error__type": "uncorrected"})):
                with self.subTest(gpu=gpu["uuid"], name=name):
                    found = [point for point in self.points if point["name"] == name and
                             {"hw.id": gpu["uuid"], **{k.replace("__", "."): v for k, v in attributes.items()}}.items()
                             <= point["attributes"].items()]
                    if gpu[column] is None:  # missing is no point, and never 0
                        self.assertEqual(found, [])
                        continue
                    self.assertEqual(found[0]["value"], gpu[column])
                    if name.startswith("hw.gpu"):
                        self.assertEqual(found[0]["attributes"]["hw.model"], gpu["name"])
                        self.assertEqual(found[0]["attributes"]["hw.vendor"], gpu["vendor"])
        parents = {gpu["key"]: gpu["uuid"] for gpu in rows(self.document, "gpu")}
        parts = [gpu for gpu in rows(self.document, "gpu") if gpu["parent"]]
        self.assertTrue(parts)
        for part in parts:
            point = only(self.points, "hw.gpu.memory.usage", hw__id=part["uuid"])
            self.assertEqual(point["attributes"]["hw.parent"], parents[part["parent"]])

    def test_a_device_is_in_one_state(self):
        states = {}
        for point in self.points:
            if point["name"] == "hw.status":
                states.setdefault(point["attributes"]["hw.id"], {})[point["attributes"]["hw.state"]] = point["value"]
        self.assertTrue(states)
        for state in states.values():
            self.assertEqual(sorted(state), ["degraded", "failed", "ok", "predicted_failure"])
            self.assertEqual(sum(state.values()), 1)

    def test_sensors_are_hardware_with_a_parent(self):
        devices = {gpu["key"]: gpu["uuid"] for gpu in rows(self.document, "gpu")}
        sensors = [row for row in rows(self.document, "gpu_sensor") if row["temperature_celsius"] is not None]
        self.assertTrue(sensors)
        for sensor in sensors:
            point = only(self.points, "hw.temperature", hw__parent=devices[sensor["parent"]],
                         hw__sensor_location=sensor["label"])
            self.assertEqual(point["value"], sensor["temperature_celsius"])
            if sensor["high_celsius"] is not None:
                point = only(self.points, "hw.temperature.limit", hw__parent=devices[sensor["parent"]],
                             hw__limit_type="throttled")
                self.assertEqual(point["value"], sensor["high_celsius"])

    def test_values_of_processes(self):
        boot = int(self.document["realtime_ns"]) - int(self.document["boottime_ns"])
        for process in rows(self.document, "process")[:50]:
            if process["resident_bytes"] is None:
                continue
            point = only(self.points, "process.memory.usage", process__pid=process["pid"])
            self.assertEqual(point["value"], process["resident_bytes"])
            point = only(self.points, "process.cpu.time", process__pid=process["pid"], cpu__mode="user")
            self.assertEqual(point["value"], process["cpu_user_seconds"])
            self.assertAlmostEqual((point["start"] - boot) / 1e9, process["start_seconds"], places=3)
        self.assertNotIn("process.command_line", str(self.points))

    def test_names_follow_the_conventions(self):
        """Against the published package, where it has them; the rest is ours, under our prefix."""
        conventions = read_conventions()
        seen = {point["name"]: point for point in self.points}
        self.assertGreater(len(seen), 40)
        for name, point in seen.items():
            with self.subTest(name):
                if name.startswith("vitals."):
                    self.assertNotIn(name, conventions)
                    continue
                instrument, unit = conventions[name]
                self.assertEqual(point["unit"], unit)
                ours = "gauge" if point["kind"] == "gauge" else "counter" if point["monotonic"] else "updowncounter"
                self.assertEqual(ours, instrument)

    def test_how_long_a_process_has_run(self):
        up = int(self.document["boottime_ns"]) / 1e9
        for process in rows(self.document, "process"):
            if process["start_seconds"] is not None:
                point = only(self.points, "process.uptime", process__pid=process["pid"])
                self.assertAlmostEqual(point["value"], max(up - process["start_seconds"], 0), places=3)

    def test_the_clock_of_each_processor(self):
        known = {row["index"]: row["frequency_hertz"] for row in rows(self.document, "cpu") if row["frequency_hertz"]}
        told = {point["attributes"]["cpu.logical_number"]: point["value"] for point in self.points
                if point["name"] == "system.cpu.frequency"}
        self.assertEqual(told, known)

    def test_containers_have_the_names_of_the_conventions_too(self):
        work = rows(self.document, "workload")
        for name, ours, metric in (("container.cpu.time", "vitals.workload.cpu", "cpu_seconds"),
                                   ("container.memory.usage", "vitals.workload.memory_used", "memory_used_bytes")):
            told = {point["attributes"]["vitals.workload"]: point["value"] for point in self.points if point["name"] == name}
            every = {point["attributes"]["vitals.workload"]: point["value"] for point in self.points if point["name"] == ours}
            self.assertEqual(told, {id: value for id, value in every.items() if id.startswith(("k8s:", "ctr:"))})
            self.assertTrue(told, [row["id"] for row in work])
            self.assertGreater(len(every), len(told), metric)

    def test_attributes_are_those_of_the_conventions(self):
        keys = {point["name"]: set(point["attributes"]) for point in self.points}
        for name, wanted in {
                "system.cpu.time": {"cpu.mode"},
                "system.disk.io": {"system.device", "disk.io.direction"},
                "system.network.io": {"network.interface.name", "network.io.direction"},
                "system.network.packet.count": {"system.device", "network.io.direction"},
                "system.memory.usage": {"system.memory.state"},
                "system.paging.usage": {"system.paging.state"},
                "system.memory.linux.slab.usage": {"system.memory.linux.slab.state"},
                "hw.gpu.utilization": {"hw.id", "hw.gpu.task"},
                "hw.gpu.memory.usage": {"hw.id", "hw.name", "hw.model", "hw.vendor"},
                "hw.energy": {"hw.id", "hw.type"}, "hw.power": {"hw.id", "hw.type"},
                "hw.errors": {"hw.id", "hw.type", "error.type"}, "hw.status": {"hw.id", "hw.type", "hw.state"},
                "hw.temperature": {"hw.id", "hw.sensor_location", "hw.parent"},
                "hw.temperature.limit": {"hw.id", "hw.limit_type", "hw.parent"},
                "process.cpu.time": {"process.pid", "cpu.mode"},
                "process.paging.faults": {"process.pid", "system.paging.fault.type"}}.items():
            if name in keys or not name.startswith("system."):  # a machine may lack a disk, a network, swap
                self.assertLessEqual(wanted, keys[name], name)

    def test_less_where_less_is_wanted(self):
        line, _ = demo()
        for level in ("off", "workload"):
            with Collector() as collector:
                requests, _ = send(collector, [line], count=1, serve={**SERVE, "processes": level})
            names = {point["name"] for document in read(requests) for point in document["points"]}
            self.assertIn("hw.gpu.utilization", names)
            self.assertFalse([name for name in names if name.startswith(("process.", "vitals.gpu.process."))])

    def test_at_most_so_many_processes(self):
        with Collector() as collector:
            requests, _ = send(collector, [demo()[0]], count=1, serve={**SERVE, "max_processes": 7})
        pids = {point["attributes"]["process.pid"] for document in read(requests) for point in document["points"]
                if point["name"] == "process.memory.usage"}
        self.assertTrue(0 < len(pids) <= 7, pids)  # one may have gone before its memory was read

    def test_users_are_named_as_is_wanted(self):
        _, document = demo()
        document["tables"]["process"] = document["tables"]["process"][:1]
        document["tables"]["gpu_process"] = document["tables"]["gpu_process"][:1]
        process, use = document["tables"]["process"][0], document["tables"]["gpu_process"][0]
        for row, values in ((process, {"user": "ann", "uid": 4711, "workload": "user:ann", "resident_bytes": 1}),
                            (use, {"process": process["key"], "memory_used_bytes": 12})):
            row.update(values)
            for name in values:  # what else is missing on a busy machine keeps its reason
                row.get("availability", {}).pop(name, None)
        for column, table in (("workload", "process"), ("user", "process"), ("uid", "process")):
            if column not in document["columns"][table]:
                document["columns"][table].append(column)
        line = json.dumps(document, separators=(",", ":"))
        for word, owner, workload in (("off", None, r"user:[0-9a-f]{16}$"), ("uid", 4711, r"user:[0-9a-f]{16}$"),
                                      ("hash", r"[0-9a-f]{16}$", r"user:[0-9a-f]{16}$"), ("name", "ann$", "user:ann$")):
            with self.subTest(word), Collector() as collector:
                requests, _ = send(collector, [line], count=1, serve={**SERVE, "label_user": word})
                points = read(requests)[0]["points"]
                found = only(points, "process.memory.usage", process__pid=process["pid"])["attributes"]
                if isinstance(owner, str):
                    self.assertRegex(found["process.owner"], owner)
                else:
                    self.assertEqual(found.get("process.owner"), owner)
                share = only(points, "vitals.workload.gpu_memory_used")
                self.assertEqual(share["value"], 12)
                for attributes in (found, share["attributes"]):
                    self.assertRegex(attributes["vitals.workload"], workload)
                self.assertEqual("ann" in str(points), word == "name")



def with_rows(document, table, **changes):
    """The line of the document with other values in the first row of a table."""
    copy = json.loads(json.dumps(document))
    copy["tables"][table][0].update(changes)
    return json.dumps(copy, separators=(",", ":"))


@needs_reader
class OverTime(unittest.TestCase):
    def test_a_sum_that_runs_backwards_has_begun_anew(self):
        line, document = demo()
        lines = [line, later(document, 5, forks=10), later(document, 10, forks=20)]
        with Collector() as collector:
            requests, _ = send(collector, lines, count=3)
        points = [only(each["points"], "system.process.created") for each in read(requests)]
        self.assertEqual([point["value"] for point in points[1:]], [10, 20])
        self.assertLess(points[0]["start"], points[0]["time"])
        self.assertEqual(points[1]["start"], points[0]["time"])
        self.assertEqual(points[2]["start"], points[1]["start"])

    def test_a_gauge_that_came_late_is_of_when_it_was_read(self):
        """One that was not due at this sample is of now all the same."""
        _, document = demo()
        ages = {"power_watts": 5_000_000_000, "temperature_celsius": 5_000_000_000}
        gpu = rows(document, "gpu")[0]
        line = with_rows(document, "gpu", ages_ns=ages, availability={**gpu["availability"], "power_watts": "stale"})
        with Collector() as collector:
            requests, _ = send(collector, [line], count=1)
        points = read(requests)[0]["points"]
        now = int(document["realtime_ns"])
        late = only(points, "hw.power", hw__id=gpu["uuid"])
        self.assertEqual((late["value"], late["time"]), (gpu["power_watts"], now - 5_000_000_000))
        self.assertEqual({point["time"] for point in points if point["name"] == "hw.temperature"}, {now})

    def test_only_as_often_as_the_interval_says_and_the_last(self):
        line, document = demo()
        lines = [line] + [later(document, n, forks=10**9 + n) for n in range(1, 20)]
        with Collector() as collector:
            requests, _ = send(collector, lines, {"OTEL_METRIC_EXPORT_INTERVAL": "3600000"})
        values = [only(each["points"], "system.process.created")["value"] for each in read(requests)]
        self.assertEqual(values, [rows(document, "host")[0]["forks"], 10**9 + 19])

    def test_hostile_names(self):
        name = 'x"\\\n\r\t\x1b[2J\u202e{}\ud7ff' + "y" * 5000
        _, document = demo()
        gpu = with_rows(document, "gpu", name=name, uuid=name)
        process = with_rows(document, "process", name=name)
        with Collector() as collector:
            requests, _ = send(collector, [gpu, process], count=2)
        for each in read(requests):
            for point in each["points"]:
                for value in point["attributes"].values():
                    self.assertFalse(re.search(r"[\x00-\x1f\x7f\u202e]", str(value)), repr(value))
                    self.assertLessEqual(len(str(value)), 128)

    def test_much_is_sent_in_parts_below_the_limit(self):
        _, document = demo()
        first = rows(document, "process")[0]
        count = 3500
        document["tables"]["process"] = [
            {**first, "key": 100000 + n, "parent": None, "pid": 100000 + n, "label": str(100000 + n),
             "name": f"{n}" + "n" * 100, "start_seconds": 1.5} for n in range(count)]
        document["tables"]["gpu_process"] = []
        line = json.dumps(document, separators=(",", ":"))
        with Collector() as collector:
            requests, heard = send(collector, [line], patience_seconds=120, serve={**SERVE, "max_processes": 100000})
        self.assertEqual(said(heard), [])
        self.assertGreater(len(requests), 1)
        self.assertTrue(all(len(request.body) <= 4 * 1024 * 1024 for request in requests))
        points = [point for each in read(requests) for point in each["points"]]
        pids = [point["attributes"]["process.pid"] for point in points if point["name"] == "process.memory.usage"]
        self.assertEqual(sorted(pids), list(range(100000, 100000 + count)))


@needs_reader
class WhoSpeaks(unittest.TestCase):
    def resource(self, env=None, **hello):
        with Collector() as collector:
            requests, heard = send(collector, [demo()[0]], env, count=1, **hello)
        return read(requests)[0]["resource"], said(heard)

    def test_what_is_known(self):
        _, document = demo()
        resource, _ = self.resource()
        self.assertEqual(resource["service.name"], "vitals")
        self.assertEqual(resource["host.name"], document["host"]["name"])
        self.assertEqual(resource["service.instance.id"], document["host"]["name"])
        self.assertEqual(resource["os.type"], "linux")
        self.assertIn("host.arch", resource)

    def test_what_the_user_says_wins(self):
        resource, heard = self.resource({"OTEL_RESOURCE_ATTRIBUTES": "k8s.cluster.name = a%20b , host.name=other,"
                                                                     "service.name=third,x=%C3%A9",
                                         "OTEL_SERVICE_NAME": "mine"})
        self.assertEqual(resource["k8s.cluster.name"], "a b")
        self.assertEqual(resource["host.name"], "other")
        self.assertEqual(resource["service.name"], "mine")
        self.assertEqual(resource["x"], "é")
        self.assertEqual(heard, [])

    def test_a_mistake_discards_all_of_it_and_is_said(self):
        for wrong in ("a=b,c", "a=b,=c", "a=b,c=%zz", "a=b,,c=d", "a=%00"):
            resource, heard = self.resource({"OTEL_RESOURCE_ATTRIBUTES": wrong})
            self.assertNotIn("a", resource, wrong)
            self.assertEqual(len(heard), 1, wrong)
            self.assertIn("OTEL_RESOURCE_ATTRIBUTES", heard[0])


if __name__ == "__main__":
    unittest.main()
