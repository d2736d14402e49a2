"""How it is sent to an OpenTelemetry collector: to one that answers well, badly, late or not at all, as
the variables OTEL_… say."""

import re
import time
import unittest

from otlp_collector import SERVE, Collector, demo, disconnect, later, said, send, slow
from tell_program import Tell


class HowItIsSent(unittest.TestCase):
    def test_only_some_refusals_are_tried_again(self):
        for status in (429, 502, 503, 504):
            with self.subTest(status), Collector((status, {}, b""), (200, {}, b"")) as collector:
                requests, heard = send(collector, [demo()[0]])
                self.assertEqual(len(requests), 2)
                self.assertEqual(requests[0].raw, requests[1].raw)
                self.assertFalse([line for line in said(heard) if "did not get there" in line])
        for status in (400, 401, 403, 404, 405, 413, 415, 500, 501):
            with self.subTest(status), Collector((status, {"Content-Type": "text/plain"}, b"no\x1b[2J\nthanks"),
                                                 (200, {}, b"")) as collector:
                requests, heard = send(collector, [demo()[0]])
                self.assertEqual(len(requests), 1)
                self.assertTrue(any(str(status) in line and "no" in line for line in said(heard)), heard)
                self.assertFalse([line for line in said(heard) if "\x1b" in line])
                self.assertTrue(any("1 of 1 documents did not get there" in line for line in said(heard)), heard)

    def test_it_waits_as_long_as_the_collector_asks(self):
        with Collector((503, {"Retry-After": "2"}, b""), (200, {}, b"")) as collector:
            requests, _ = send(collector, [demo()[0]])
        self.assertEqual(len(requests), 2)
        self.assertGreaterEqual(requests[1].when - requests[0].when, 1.9)

    def test_a_lost_connection_is_tried_again(self):
        with Collector(disconnect, disconnect, (200, {}, b"")) as collector:
            requests, heard = send(collector, [demo()[0]])
        self.assertGreaterEqual(len(requests), 3)
        self.assertTrue(any("tried again" in line for line in said(heard)), heard)
        self.assertTrue(any("there again" in line for line in said(heard)), heard)

    def test_one_that_is_too_slow_is_tried_again(self):
        with Collector(slow, (200, {}, b"")) as collector:
            requests, _ = send(collector, [demo()[0]], {"OTEL_EXPORTER_OTLP_TIMEOUT": "500"})
        self.assertEqual(len(requests), 2)

    def test_redirects_are_not_followed(self):
        with Collector() as other, Collector((307, {"Location": other.url + "/v1/metrics"}, b"")) as collector:
            requests, heard = send(collector, [demo()[0]])
            self.assertEqual(len(requests), 1)
            self.assertEqual(other.requests, [])
        self.assertTrue(any("307" in line for line in said(heard)), heard)

    def test_a_partial_success_is_told_once_and_not_tried_again(self):
        partial = bytes([0x0A, 0x09, 0x08, 0x05, 0x12, 0x05]) + b"quota"
        in_json = b'{"partialSuccess":{"rejectedDataPoints":"5","errorMessage":"quota"}}'
        _, document = demo()
        lines = [later(document, n) for n in range(3)]
        for answer in ((200, {}, partial), (200, {"Content-Type": "application/json"}, in_json)):
            with Collector(answer) as collector:
                requests, heard = send(collector, lines, count=3)
            self.assertEqual(len(requests), 3)
            self.assertEqual([line for line in said(heard) if "5 points: quota" in line], said(heard))
            self.assertEqual(len(said(heard)), 1)

    def test_the_newest_are_kept_and_the_rest_is_counted(self):
        _, document = demo()
        lines = [later(document, n, forks=10**9 + n) for n in range(400)]
        with Collector((503, {"Retry-After": "600"}, b"")) as collector:
            requests, heard = send(collector, lines, patience_seconds=2)
        self.assertEqual(len(requests), 1)
        lost = [int(found[1]) for line in said(heard) if (found := re.search(r"(\d+) of \1 documents", line))]
        self.assertEqual(len(lost), 1, heard)
        self.assertGreater(lost[0], 64)  # what the queue holds: a sample a millisecond, and some more at once

    def test_nobody_there_ends_in_time(self):
        with Collector() as collector:
            url = collector.url
        began = time.monotonic()
        with Tell(patience_seconds=1, otlp={"endpoint": url}, serve=SERVE) as tell:
            tell.write(demo()[0])
            heard, _ = tell.end()
        self.assertLess(time.monotonic() - began, 30)
        self.assertTrue(any("did not get there" in line for line in said(heard)), heard)

    def test_a_collector_that_hangs_does_not_hold_up_the_end(self):
        began = time.monotonic()
        with Collector(slow) as collector:
            _, heard = send(collector, [demo()[0]], patience_seconds=1)
        self.assertLess(time.monotonic() - began, 25)
        self.assertTrue(any("did not get there" in line for line in said(heard)), heard)


class Settings(unittest.TestCase):
    def open(self, env, **config):
        with Tell(env=env, patience_seconds=30, otlp=config) as tell:
            return tell.end()[0]

    def test_what_cannot_work_is_one_line_that_names_it(self):
        for env, config, words in (
                ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, {}, ("OTEL_EXPORTER_OTLP_PROTOCOL is grpc", "http/protobuf")),
                ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, {},
                 ("OTEL_EXPORTER_OTLP_PROTOCOL is http/json", "http/protobuf")),
                ({"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, {},
                 ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",)),
                ({"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4317"}, {}, ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317")),
                ({}, {"endpoint": "ftp://x"}, ("--otlp is ftp://x",)),
                ({}, {"endpoint": "http://"}, ("--otlp",)),
                ({}, {"endpoint": "http://a\nb"}, ("--otlp is http://a\\nb",)),
                ({"OTEL_EXPORTER_OTLP_HEADERS": "a=b%0d%0aX-Evil: 1"}, {}, ("OTEL_EXPORTER_OTLP_HEADERS",)),
                ({"OTEL_EXPORTER_OTLP_HEADERS": "a b=c"}, {}, ("OTEL_EXPORTER_OTLP_HEADERS", "a b")),
                ({"OTEL_EXPORTER_OTLP_HEADERS": "secret"}, {}, ("OTEL_EXPORTER_OTLP_HEADERS", "name=value")),
                ({"OTEL_EXPORTER_OTLP_CERTIFICATE": "/no/such/file"}, {},
                 ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/no/such/file", "No such file"))):
            with self.subTest(env=env, config=config):
                heard = self.open(env, **config)
                failed = [line for line in heard if line.get("failed") == "otlp"]
                self.assertEqual(len(failed), 1, heard)
                for word in words:
                    self.assertIn(word, failed[0]["message"])
                self.assertNotIn("secret", str(heard))

    def test_what_is_odd_is_said_and_the_default_stands(self):
        for env in ({"OTEL_METRIC_EXPORT_INTERVAL": "soon"}, {"OTEL_METRIC_EXPORT_INTERVAL": "0"},
                    {"OTEL_METRIC_EXPORT_TIMEOUT": "-5"}, {"OTEL_EXPORTER_OTLP_TIMEOUT": "1e3"},
                    {"OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"},
                    {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta"}):
            heard = self.open(env)
            self.assertEqual(len(said(heard)), 1, heard)
            self.assertIn(next(iter(env)), said(heard)[0])
            self.assertTrue([line for line in heard if line.get("opened") == "otlp"], heard)

    def test_it_can_be_switched_off(self):
        for env in ({"OTEL_SDK_DISABLED": "true"}, {"OTEL_METRICS_EXPORTER": "none"}):
            with Collector() as collector:
                requests, heard = send(collector, [demo()[0]], env)
            self.assertEqual(requests, [])
            self.assertIn(next(iter(env)), said(heard)[0])

    def test_paths(self):
        for env, path in (({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, "/v1/metrics"),
                          ({"OTEL_EXPORTER_OTLP_ENDPOINT": "/"}, "/v1/metrics"),
                          ({"OTEL_EXPORTER_OTLP_ENDPOINT": "/api/otlp"}, "/api/otlp/v1/metrics"),
                          ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "/verbatim"}, "/verbatim"),
                          ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": ""}, "/")):
            with self.subTest(env), Collector() as collector:
                env = {name: collector.url + value for name, value in env.items()}
                with Tell(env=env, patience_seconds=30, otlp={}, serve=SERVE) as tell:
                    tell.write(demo()[0])
                    tell.end()
                self.assertEqual([request.path for request in collector.requests], [path])

    def test_headers_and_no_compression(self):
        env = {"OTEL_EXPORTER_OTLP_HEADERS": "Authorization = Bearer%20abc ,X-Scope-OrgID=7",
               "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
        with Collector() as collector:
            requests, heard = send(collector, [demo()[0]], env)
        self.assertEqual(requests[0].headers["authorization"], "Bearer abc")
        self.assertEqual(requests[0].headers["x-scope-orgid"], "7")
        self.assertNotIn("content-encoding", requests[0].headers)
        self.assertNotIn("abc", str(heard))


if __name__ == "__main__":
    unittest.main()
