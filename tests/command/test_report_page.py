"""The page of `vitals report --html`: that it needs nobody, that nobody's name becomes a part of it,
and, in a real browser, that its charts are there and no script of others runs."""

import base64
import hashlib
import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import browser
import recorded
from harness import reads_json, started, vitals

GOLDEN = pathlib.Path(os.environ["VITALS_SOURCE"]) / "tests" / "fixtures" / "account"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")

# What would run, end an element, end an attribute or open one, had it not been escaped.
MARKUP = ("<script>document.title='pwned'</script>",
          "</script><script>document.title='pwned'</script>",
          "</title></style><img src=x onerror=\"document.title='pwned'\">",
          "\" onmouseover=\"document.title='pwned'\" x=\"",
          "' autofocus onfocus='document.title=1' tabindex=1 '",
          "--></svg><svg onload=document.title='pwned'>",
          "<!--<script>", "]]>&lt;script&gt;", "\u2028\u2029</sc\0ript>\x1b[31m\u202e")
HOSTILE = " ".join(MARKUP)

# What the page itself is made of.
ELEMENTS = set("html head meta title style body header h1 h2 h3 p span b i section div figure "
               "main g figcaption svg line text path rect table thead tbody tr th td details summary pre "
               "footer script".split())


class Reader(html.parser.HTMLParser):
    """Every element with its attributes, and the content of scripts, styles and the data."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.contents, self.text, self.rows = [], [], [], []
        self.inside = None
        self.in_cell = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = (tag, dict(attrs))
        if tag == "tr":
            self.rows.append([])
        self.in_cell = tag in ("td", "th") or self.in_cell
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.inside = None
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside and self.inside[0] in ("script", "style"):
            self.contents.append((*self.inside, data))
        self.text.append(data)
        if self.in_cell and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data

    def attributes(self, tag, name):
        return [attrs[name] for found, attrs in self.elements if found == tag and name in attrs]


@unittest.skipUnless(reads_json(), "built without jansson")
class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def page(self, path, *arguments):
        done = vitals("report", path, "--html", "-", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def training(self, **attributes):
        path = self.folder / "run.csv"
        recorded.write_training(path, **attributes)
        return self.page(path)

    def hostile(self):
        """Everything that can hold a name holds one that would like to be more."""
        path = self.folder / "hostile.csv"
        device = HOSTILE[:60].replace("\0", "")
        made = recorded.account(
            [recorded.figure("wall_seconds", 3, "seconds", source=HOSTILE),
             recorded.figure("gpu_memory_peak_bytes", 5, "bytes", "sampled", HOSTILE, device,
                             HOSTILE[:30])],
            **{name: HOSTILE for name in ("command", "host", "user", "working_directory", "missing",
                                          "rungs", "limit_words", "version")})
        marks = [(recorded.START + i + part, what, name.replace("\0", ""), i)
                 for i, name in enumerate(MARKUP) for part, what in ((0.1, "begin"), (0.8, "end"))]
        rows = [(recorded.START + i, [float(i), float(i)]) for i in range(12)]
        recorded.write(path, ["cpu_cores", "memory_resident_bytes"], rows, marks, made)
        return path



class Markup(Page):
    def test_it_needs_nobody(self):
        page = Reader(self.training())
        for tag, attrs in page.elements:
            self.assertIn(tag, ELEMENTS)
            self.assertNotIn("src", attrs, tag)
            self.assertNotIn("href", attrs, tag)
            self.assertFalse([name for name in attrs if name.startswith("on") or name == "style"])
        for _, _, style in [one for one in page.contents if one[0] == "style"]:
            self.assertNotRegex(style, r"url\(|@import")

    def test_its_policy_allows_its_own_scripts_alone(self):
        page = Reader(self.training())
        (policy,) = [attrs["content"] for tag, attrs in page.elements
                     if attrs.get("http-equiv") == "Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotRegex(policy, "unsafe|https?:|\\*")
        for tag, attrs, content in page.contents:
            if attrs.get("type") == "application/json":
                continue
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertIn(f"'sha256-{digest}'", policy, tag)

    def test_numbers_say_how_they_were_got(self):
        page = Reader(self.training())
        said = page.attributes("span", "data-how")
        self.assertIn("exact, cgroup v2 cpu.stat", said)
        self.assertIn("sampled, driver, every 1 s", said)
        text = "".join(page.text)
        for word in ("exact", "sampled", "estimate", "not available"):
            self.assertIn(word, text)
        self.assertIn("/sys/class/powercap is for root alone", text)

    def test_charts_are_drawn_without_a_script(self):
        page = Reader(self.training())
        drawn = page.attributes("svg", "aria-label")
        for title in ("Phases", "CPUs in use", "Memory of the processes", "Disks", "Network",
                      "GPUs busy", "GPU memory", "Power of GPUs"):
            self.assertIn(title, drawn)
        paths = page.attributes("path", "d")
        self.assertGreater(len(paths), 10)
        for path in paths:
            self.assertRegex(path, r"^[ML0-9. h-]+$")
        self.assertTrue(any(path.count("M") > 1 for path in paths), "a gap breaks the line")

    def test_a_peak_survives_thinning(self):
        path = self.folder / "long.csv"
        rows = [(recorded.START + i, [64.0 if i == 31_003 else 1.0]) for i in range(50_000)]
        recorded.write(path, ["cpu_cores"], rows, made=recorded.account([]))
        text = self.page(path)
        self.assertLess(len(text), 1_000_000)
        self.assertIn("Each point stands for several samples", text)
        found = re.search(r'id="data">(.*?)</script>', text)
        if found:
            (series,) = json.loads(found[1])["charts"][0]["series"]
            self.assertEqual(max(series["values"]), 64)

    def test_what_is_read_seldom_has_no_spikes(self):
        """A counter that is read once a second beside twenty samples: a rate at each moment, never
        all the growth in one of them."""
        path = self.folder / "seldom.csv"
        rows = [(recorded.START + i / 20, [1.0, 1e6 * i / 20 if i % 20 == 0 else None])
                for i in range(101)]
        recorded.write(path, ["cpu_cores", "system.disk_read_bytes"], rows,
                       made=recorded.account([]))
        found = re.search(r'id="data">(.*?)</script>', self.page(path))
        if not found:
            self.skipTest("built without the page's library")
        lines = [line for chart in json.loads(found[1])["charts"] for line in chart["series"]
                 if max((value or 0 for value in line["values"]), default=0) > 1000]
        self.assertEqual(len(lines), 1)
        values = lines[0]["values"]
        self.assertEqual(values[0], None)
        for value in values[1:]:
            self.assertAlmostEqual(value, 1e6, delta=1e4)

    def test_an_account_alone(self):
        path = self.folder / "account.json"
        path.write_text(json.dumps(recorded.training()))
        page = Reader(self.page(path))
        self.assertNotIn("svg", [tag for tag, _ in page.elements])
        self.assertIn("3 h 41 min", "".join(page.text))

    def test_an_empty_account(self):
        path = self.folder / "account.json"
        path.write_text(json.dumps(recorded.account([])))
        self.assertIn("a recorded run", self.page(path))

    def test_nobodys_name_is_markup(self):
        text = self.page(self.hostile())
        page = Reader(text)
        for tag, attrs in page.elements:
            self.assertIn(tag, ELEMENTS)
            self.assertFalse([name for name in attrs if name.startswith("on")], (tag, attrs))
        plain = self.training()
        self.assertEqual(len(page.attributes("script", "id")),
                         len(Reader(plain).attributes("script", "id")))
        self.assertFalse(set(text) & {"\x1b", "\0", "\u202e", "\u2028"})
        found = re.search(r'id="data">(.*?)</script>', text)
        if found:
            self.assertNotIn("<", found[1])
            json.loads(found[1])


    def lines(self, page):
        """What a reader sees of it, a block a line."""
        text = re.sub(r"(?s)<(head|script)\b.*?</\1>", "", page)
        text = re.sub(r"</?(p|h1|h2|tr|div|section|figure|figcaption|text|details|summary|pre|footer)\b[^>]*>", "\n", text)
        text = html.unescape(re.sub(r"<[^>]+>", " ", text))
        return [line for line in (" ".join(line.split()) for line in text.split("\n")) if line]

    def test_its_text(self):
        path = self.folder / "run.csv"
        recorded.write_training(path)
        lines = "\n".join(self.lines(self.page(path))) + "\n"
        lines = re.sub(r"vitals [0-9.]+ of", "vitals VERSION of", lines.replace(str(path), "run.csv"))
        self.assertEqual(lines, (GOLDEN / "training-page.txt").read_text())

    def accounted(self, *figures, **attributes):
        path = self.folder / "account.json"
        path.write_text(json.dumps(recorded.account(
            [recorded.figure("wall_seconds", 420, "seconds"), recorded.figure("cpu_seconds", 126, "seconds"),
             recorded.figure("cpu_cores", 0.3, "cores"), *figures],
            expected_cores="2", system_cores="2", **attributes)))
        return path, self.lines(self.page(path))

    def test_what_mattered_most_comes_first(self):
        others = recorded.figure("cpu_mean_cores", 1.9, "cores", "sampled", subject="system")
        waited = recorded.figure("cpu_pressure_seconds", 287, "seconds", source="cgroup v2 cpu.pressure")
        disks = recorded.figure("io_pressure_seconds", 400, "seconds", source="cgroup v2 io.pressure")
        little = recorded.figure("cpu_pressure_seconds", 30, "seconds", source="cgroup v2 cpu.pressure")
        lost = recorded.figure("cpu_pressure_seconds", None, "seconds", "unsupported")
        killed = recorded.figure("oom_kills", 2)
        for figures, sentence in (((), "It used 0.30 of 2 cores on average"),
                                  ((lost,), "It used 0.30 of 2 cores on average"),
                                  ((little,), "It used 0.30 of 2 cores on average"),
                                  ((waited, others), "It waited for a CPU for 4 min 47 s of 7 min 0 s"),
                                  ((waited, disks), "It waited for I/O for 6 min 40 s of 7 min 0 s"),
                                  ((waited, killed), "Processes killed for want of memory: 2")):
            with self.subTest(sentence=sentence):
                _, lines = self.accounted(*figures)
                self.assertEqual(lines[2], sentence)
        _, lines = self.accounted(waited, others)
        self.assertEqual(lines[3], "It used 0.30 of 2 cores on average, others used 1.60 of the machine's 2")

    def test_devices_that_cannot_be(self):
        busy = [recorded.figure("gpu_busy_ratio", 1.7e306, "ratio", "sampled", "driver", f"GPU-{n}", f"GPU {n}")
                for n in range(12)]
        _, lines = self.accounted(*busy)
        self.assertEqual(lines[2], "It used 0.30 of 2 cores on average")

    def test_advice_knows_contention(self):
        waited = recorded.figure("cpu_pressure_seconds", 287, "seconds", source="cgroup v2 cpu.pressure")
        doubt = "it waited for a CPU for 4 min 47 s of 7 min 0 s"
        for figures, doubted in (((), False), ((waited,), True)):
            path, lines = self.accounted(*figures)
            (cpus,) = [line for line in lines if line.startswith("CPUs 1 ")]
            self.assertEqual(doubt + ", so it may use more" in cpus, doubted)
            slurm = vitals("report", path, "--advice", "slurm").stdout
            self.assertIn("#SBATCH --cpus-per-task=1", slurm)
            self.assertEqual(f"# {doubt}: it may use more CPUs, and less time" in slurm, doubted)

    def test_phases_have_colors_and_names(self):
        page = self.training()
        self.assertIn("epoch × 4 ", "\n".join(self.lines(page)))
        colors = set(re.findall(r'<svg class="p(\d)"', page))
        self.assertEqual(colors, {"0", "1", "2"})  # load data, epoch, evaluate


class Processes(Page):
    def rows_of(self, page):
        """The cells of the table of processes, row by row."""
        rows = [[cell.strip() for cell in row] for row in page.rows]
        first = next(i for i, row in enumerate(rows) if row[:2] == ["pid", "command"])
        return [row for row in rows[first + 1:] if row and row[0].isdigit()]

    def test_programs_are_summed(self):
        path = self.folder / "run.db"
        done = vitals("run", "--backends", "", "--interval", "0.1", "--record", path, "--", "sh", "-c",
                      "for i in 1 2 3 4 5; do sleep 4 & done; wait", timeout=120)
        if "unknown option" in done.stderr or "SQLite" in done.stderr:
            self.skipTest("run records no processes")
        rows = [[cell.strip() for cell in row] for row in Reader(self.page(path)).rows]
        first = next(i for i, row in enumerate(rows) if row[:1] == ["program"])
        programs = [row[0] for row in rows[first + 1:first + 3]]
        self.assertEqual(sorted(programs), ["sh", "sleep × 5"])

    def recorded(self, *arguments):
        """The page of a real recording of processes."""
        path = self.folder / "machine.db"
        done = vitals("record", "--backends", "", "--processes", "--interval", "0.2", *arguments,
                      path, timeout=120)
        if "SQLite" in done.stderr:
            self.skipTest("built without SQLite")
        self.assertEqual(done.returncode, 0, done.stderr)
        return Reader(self.page(path))

    def test_a_table_of_them(self):
        page = self.recorded("--count", "4")
        list_limit = 100
        self.assertLessEqual(sum(tag == "tr" for tag, _ in page.elements), 1000 + list_limit)
        rows = self.rows_of(page)
        self.assertTrue(0 < len(rows) <= list_limit, len(rows))

    def test_one_that_is_called_as_if_it_were_markup(self):
        """Alone in its /proc: beside others it need not be among the hundred that used most."""
        name = MARKUP[2] + MARKUP[0]
        busy = started([name, "-c", "while :; do :; done"], executable="/bin/sh")
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        proc = self.folder / "proc"
        proc.mkdir()
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or entry.name == str(busy.pid):
                (proc / entry.name).symlink_to(entry)
        page = self.recorded("--count", "3", "--proc-root", proc)
        ((pid, command, *_),) = self.rows_of(page)
        self.assertEqual(pid, str(busy.pid))
        self.assertIn("onerror", command)
        for tag, attrs in page.elements:
            self.assertIn(tag, ELEMENTS)
            self.assertFalse([one for one in attrs if one.startswith("on")])

    def test_a_program_is_named_once(self):
        path = self.folder / "run.db"
        done = vitals("run", "--backends", "", "--interval", "0.1", "--record", path, "--", "sleep", "1.5", timeout=120)
        if "unknown option" in done.stderr or "SQLite" in done.stderr:
            self.skipTest("run records no processes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("sleep 1.5", [row[1] for row in self.rows_of(Reader(self.page(path)))])

    def test_of_one_process(self):
        name = MARKUP[0]
        path = self.folder / "run.db"
        program = "import time\nuntil = time.monotonic() + 1.5\nwhile time.monotonic() < until: pass"
        done = vitals("run", "--backends", "", "--interval", "0.1", "--record", path,
                      "--", "python3", "-c", program, name, timeout=120)
        if "unknown option" in done.stderr or "SQLite" in done.stderr:
            self.skipTest("run records no processes")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = Reader(self.page(path))
        commands = [row[1] for row in self.rows_of(page)]
        self.assertTrue([command for command in commands
                         if "time.monotonic()" in command and "document.title=" in command],
                        commands)
        self.assertNotIn("img", [tag for tag, _ in page.elements])


@unittest.skipUnless(BROWSER, "no chromium")
class Browser(Page):
    def see(self, text, *arguments, name="page.html"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage",
             f"--user-data-dir={self.folder / 'profile'}", "--enable-logging=stderr", "--v=0",
             "--virtual-time-budget=4000", *arguments, path.as_uri()],
            capture_output=True, text=True, timeout=120, check=False)
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return done.stdout, said

    def test_charts_that_zoom_take_the_place_of_the_drawn(self):
        text = self.training()
        seen, said = self.see(text, "--dump-dom")
        self.assertEqual(said, [])
        self.assertEqual(seen.count('<canvas class="plotted"'), len(re.findall(r'<figure class="chart" id=', text)))
        self.assertIn('class="js"', seen)

    def test_drag_zooms_all_charts(self):
        """A drag over the first chart, by the events that a mouse makes; the policy of the page
        forbids the script that makes them, so here it is taken out."""
        text = self.training()
        text = re.sub(r"<meta http-equiv[^>]*>", "", text)
        text = text.replace("const made = [];", "const made = window.made = [];")
        text = text.replace("</body>", """<script>
            var over = document.querySelector(".plotted"), box = over.getBoundingClientRect();
            function mouse(name, x, on) {
              on.dispatchEvent(new MouseEvent(name, {bubbles: true, button: 0, view: window, movementX: 9,
                clientX: box.left + x, clientY: box.top + 40}));
            }
            mouse("mousemove", 120, over); mouse("mousedown", 120, over);
            mouse("mousemove", 220, over); mouse("mouseup", 220, document);
            setTimeout(function () {
              document.title = JSON.stringify(made.map((one) => one.range()));
            }, 500);
            </script></body>""")
        seen, _ = self.see(text, "--dump-dom")
        scales = json.loads(re.search(r"<title>(.*?)</title>", seen)[1])
        self.assertGreater(len(scales), 5)
        for low, high in scales:
            self.assertGreater(low, 100)
            self.assertLess(high, 4000)
            self.assertAlmostEqual(low, scales[0][0], delta=20)

    @unittest.skipUnless(browser.AXE.exists(), "no axe-core: scripts/setup servers")
    def test_axe_finds_nothing_above_minor(self):
        path = self.folder / "page.html"
        path.write_text(self.training(), encoding="utf-8")
        for width, dark in ((1280, False), (360, True)):
            with self.subTest(width=width), browser.Browser() as page:
                page.open(path.as_uri(), width=width, dark=dark)
                page.wait("document.querySelectorAll('.plotted').length > 5")
                self.assertEqual(page.axe(), [])

    def test_no_script_runs_from_names(self):
        seen, said = self.see(self.page(self.hostile()), "--dump-dom")
        self.assertNotRegex(seen, r"<title>(pwned|1)</title>")
        self.assertEqual(said, [])  # nothing even tried

    def test_the_policy_holds_where_escaping_would_fail(self):
        text = self.training().replace("</header>", MARKUP[0] + MARKUP[2] + "</header>", 1)
        seen, said = self.see(text, "--dump-dom")
        self.assertNotIn("<title>pwned", seen)
        self.assertTrue(any("Content Security Policy" in line for line in said), said)

    def test_it_asks_nobody(self):
        log = self.folder / "net.json"
        self.see(self.training(), "--dump-dom", f"--log-net-log={log}")
        urls = set(re.findall(r'"url":"(https?://[^"]+)"', log.read_text()))
        self.assertEqual({url for url in urls if "training" in url}, set())

    def test_it_prints(self):
        made = self.folder / "page.pdf"
        self.see(self.training(), "--no-pdf-header-footer", f"--print-to-pdf={made}")
        content = made.read_bytes()
        self.assertTrue(content.startswith(b"%PDF-"))
        self.assertGreater(content.count(b"/Type /Page"), 1)


if __name__ == "__main__":
    unittest.main()
