"""The web page, in a real browser: that it shows what is so, moves, sorts, searches, asks nobody else,
and that nobody's name becomes a part of it."""

import contextlib
import json
import threading
import time
import unittest
import urllib.error
import urllib.request

import page_scene
from browser import AXE, CHROMIUM, Browser
from tell_program import Tell

READY = "document.querySelectorAll('#process-table tbody tr').length > 0"


class Served:
    """The server with a machine behind it that goes on, a moment every so often; with `past` seconds
    behind it."""

    def __init__(self, machine, every=0.2, step=1.0, past=0, **hello):
        self.machine, self.every, self.step, self.past, self.hello = machine, every, step, past, hello
        self.stopped, self.held = threading.Event(), threading.Event()
        self.seconds = 100.0 + past

    def __enter__(self):
        self.tell = Tell(serve={"listen": ["127.0.0.1:0"]}, interval_seconds=1, **self.hello)
        self.url = self.tell.hear("opened", "url")["url"]
        for ago in range(self.past, 0, -5):
            self.tell.write(self.machine.line(self.seconds - ago))
        self.write()
        self.write()
        self.thread = threading.Thread(target=self.go_on, daemon=True)
        self.thread.start()
        return self

    def write(self):
        self.seconds += self.step
        self.tell.write(self.machine.line(self.seconds))

    def go_on(self):
        while not self.stopped.wait(self.every):
            if not self.held.is_set():
                self.write()

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        self.tell.__exit__()

    def get(self, path):
        with urllib.request.urlopen(self.url + path.lstrip("/"), timeout=60) as answer:
            return answer.headers, answer.read()


def column(browser, table, name, rows=50):
    """What stands in a column, from the top."""
    return browser.run(f"""(() => {{
        const heads = [...document.querySelectorAll('#{table} th')].map((one) => one.textContent), at = heads.indexOf({json.dumps(name)});
        return [...document.querySelectorAll('#{table} tbody tr')].slice(0, {rows}).map((row) => row.cells[at].textContent);
    }})()""")


def press(browser, table, name):
    browser.run(f"[...document.querySelectorAll('#{table} th button')].find((one) => one.textContent === {json.dumps(name)}).click()")


def choose(browser, place, title):
    browser.run(f"[...document.querySelectorAll('#{place} button')].find((one) => one.textContent === {json.dumps(title)}).click()")


@unittest.skipUnless(CHROMIUM, "no Chromium here")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, machine, width=1280, dark=False, ready=READY, **served):
        """A page of a server of its own, which is another origin: nothing is kept from one to the next."""
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.served = stack.enter_context(Served(machine, **served))
        stack.callback(self.leave)
        self.leave()
        self.browser.open(self.served.url, width=width, dark=dark)
        self.browser.wait(ready)
        return self.browser

    def leave(self):
        self.browser.tell("Page.navigate", url="about:blank")
        self.browser.wait("location.href === 'about:blank' && document.readyState === 'complete'")
        self.browser.requests.clear()
        self.browser.complaints.clear()

    def calm(self):
        self.assertEqual(self.browser.complaints, [])
        for url in self.browser.requests:
            self.assertTrue(url.startswith(self.served.url) or url == "about:blank", url)

    def test_it_shows_what_the_samples_say(self):
        machine = page_scene.Machine()
        browser = self.open(machine)
        self.served.held.set()
        time.sleep(0.5)
        browser.wait("document.getElementById('host').textContent === 'node17'")
        self.assertEqual(browser.run("document.querySelectorAll('#cards .card').length"), 8)
        document = json.loads(self.served.get("/api/v1/snapshot")[1])
        host = document["tables"]["host"][0]
        memory = browser.wait("document.querySelector('#tile-memory .more').textContent")
        self.assertIn(f"{host['memory_used_bytes'] / 2**30:.0f} of 1008 GiB".split(" of")[0], memory)
        heat = browser.run("[...document.querySelectorAll('.heat')].map((one) => one.textContent)")
        self.assertEqual(heat, [f"{row['temperature_celsius']} °C" for row in document["tables"]["gpu"] if row["parent"] is None])
        self.assertIn("held back: hw thermal slowdown", browser.run("document.querySelectorAll('.card')[2].textContent"))
        self.assertIn("5:0 3g.71gb", browser.run("document.querySelectorAll('.card')[5].textContent"))
        self.assertIn("/dev/kfd: permission denied", browser.run("document.getElementById('notes').textContent"))
        self.calm()

    def test_what_is_missing_says_why_and_is_never_zero(self):
        machine = page_scene.Machine()
        machine.gone[("gpu", 10, "power_watts")] = "timed_out"
        machine.gone[("gpu", 10, "temperature_celsius")] = "denied"
        browser = self.open(machine)
        card = "document.querySelectorAll('#cards .card')[0]"
        self.assertEqual(browser.wait(f"{card}.querySelector('.heat').textContent"), "N/A")
        browser.wait(f"{card}.querySelector('.heat span').dataset.how === 'denied: no permission'")
        power = browser.run(f"{card}.querySelectorAll('.meter')[2].textContent")
        self.assertIn("N/A", power)
        self.assertNotIn("0 ", power)
        browser.run(f"{card}.querySelector('.heat span').focus()")
        browser.wait("document.querySelector('.tip:not([hidden])') !== null")
        self.assertEqual(browser.run("document.querySelector('.tip').textContent"), "denied: no permission")
        # The device whose utilization nobody can tell has no line, and no line at zero.
        self.assertEqual(browser.run("[...document.querySelectorAll('#chart-gpu-use .key span')].map((one) => one.textContent)"),
                         ["0", "1", "2", "3", "4", "6", "7"])
        self.calm()

    def test_its_charts_move(self):
        browser = self.open(page_scene.Machine(), ready="document.querySelector('#chart-cpu canvas') !== null", past=1200)
        browser.run("document.getElementById('history').scrollIntoView()")
        look = "document.querySelector('#chart-cpu canvas').toDataURL()"
        first, figure = browser.run(look), browser.run("document.querySelector('#chart-cpu .figure').textContent")
        browser.wait(f"{look} !== {json.dumps(first)}")
        browser.wait(f"document.querySelector('#chart-cpu .figure').textContent !== {json.dumps(figure)}")
        path = "document.querySelector('#tile-cpu .stroke').getAttribute('d')"
        before = browser.run(path)
        browser.wait(f"{path} !== {json.dumps(before)}")
        # Paused, it stands still.
        browser.run("document.getElementById('pause').click()")
        sequence = self.served.machine.sequence
        still = browser.run("document.getElementById('tiles').textContent")
        while self.served.machine.sequence < sequence + 5:
            time.sleep(0.1)
        self.assertEqual(browser.run("document.getElementById('tiles').textContent"), still)
        self.calm()

    def test_each_chart_is_as_wide_as_its_place(self):
        browser = self.open(page_scene.Machine(), ready="document.querySelectorAll('.chart canvas').length === 9")
        for width in (1280, 800, 400):
            browser.size(width)
            browser.wait("[...document.querySelectorAll('.chart:not([hidden]) .plot')].every((one) => one.clientWidth === one.querySelector('canvas').offsetWidth)")
        self.calm()

    def test_its_table_sorts_and_searches(self):
        browser = self.open(page_scene.Machine(processes=60))
        self.assertEqual(len(column(browser, "process-table", "PID")), 13, "users of devices, one of them of another namespace")
        choose(browser, "which", "All")
        browser.wait("document.querySelectorAll('#process-table tbody tr').length === 73")
        self.served.held.set()
        time.sleep(0.5)
        press(browser, "process-table", "PID")
        self.assertEqual(column(browser, "process-table", "PID", 4), ["777", "4000", "4001", "4002"])
        press(browser, "process-table", "PID")
        self.assertEqual(column(browser, "process-table", "PID", 2), ["4071", "4070"])
        self.assertEqual(browser.run("document.querySelector('#process-table th[aria-sort]').getAttribute('aria-sort')"), "descending")
        press(browser, "process-table", "Name")
        names = column(browser, "process-table", "Name", 73)
        self.assertEqual(names[-1], "N/A", "what is missing is at the end")
        self.assertEqual(names[0], "jupyter-lab")
        self.search(browser, "worker-3 grace")
        self.assertEqual(set(column(browser, "process-table", "User")), {"grace"})
        self.assertEqual(browser.run("document.getElementById('found').textContent"), f"{len(column(browser, 'process-table', 'PID'))} of 73")
        self.search(browser, "nothing is called so")
        self.assertEqual(column(browser, "process-table", "PID"), [])
        self.assertEqual(browser.run("document.getElementById('none').textContent"), "Nothing here matches.")
        self.calm()

    def search(self, browser, words):
        browser.run("(() => { const field = document.getElementById('search'); field.value = "
                    + json.dumps(words) + "; field.dispatchEvent(new Event('input')); })()")

    def test_every_process_is_asked_for_only_while_somebody_looks(self):
        browser = self.open(page_scene.Machine())
        self.assertNotIn({"want": "processes"}, self.served.tell.heard)
        choose(browser, "which", "All")
        self.served.tell.hear("want")
        self.assertIn({"want": "processes"}, self.served.tell.heard)
        choose(browser, "which", "On devices")
        while self.served.tell.hear("want")["want"] != "few":
            pass
        self.calm()

    def test_it_comes_back_after_an_answer_that_is_no_stream(self):
        browser = self.open(page_scene.Machine(processes=3))
        self.leave()
        with contextlib.ExitStack() as stack:
            def listen():
                return stack.enter_context(urllib.request.urlopen(self.served.url + "api/v1/stream", timeout=60))

            with contextlib.suppress(urllib.error.HTTPError):
                for _ in range(100):  # until it has no room for more: 503
                    listen()
            browser.open(self.served.url)
            browser.wait("typeof EventSource === 'function' && document.readyState === 'complete'")
            time.sleep(1)
            self.assertNotEqual(browser.run("document.getElementById('state').textContent"), "live")
        browser.wait("document.getElementById('state').textContent === 'live'")

    def test_without_processes_there_is_no_table_of_them(self):
        machine = page_scene.Machine(gpus=0, processes=3)
        whole = machine.line

        def line(seconds):
            sample = json.loads(whole(seconds))
            for part in ("tables", "columns"):
                for name in ("process", "gpu_process", "workload"):
                    sample[part].pop(name, None)
            return json.dumps(sample, separators=(",", ":"))

        machine.line = line
        browser = self.open(machine, ready="(document.getElementById('host') || {}).textContent === 'node17'")
        self.assertTrue(browser.run("document.getElementById('processes').hidden"))
        self.assertNotIn({"want": "processes"}, self.served.tell.heard)
        self.calm()

    def test_a_clock_put_back_begins_anew(self):
        script = """(async () => {
            const past = await import("/page/past.js?alone");
            const add = (stream, seconds, value) => past.add(stream, seconds, [["gpu", "power_watts", 1, "0", value]]);
            const anew = [add(1, 100, 1), add(1, 101, 2), add(1, 101, 3), add(1, 40, 4), add(1, 45, 5)];
            const back = [...past.times, ...past.find("gpu", "power_watts", 1).values];
            anew.push(add(2, 42, 6));
            return JSON.stringify([anew, back, past.times]);
        })()"""
        browser = self.open(page_scene.Machine(processes=3))
        browser.run(script + ".then((found) => { window.found = found; })")
        found = json.loads(browser.wait("window.found"))
        self.assertEqual(found, [[True, False, False, True, False, True], [40, 45, 4, 5], [42]])

    def test_a_machine_without_devices_shows_its_processes(self):
        browser = self.open(page_scene.Machine(gpus=0, processes=30))
        self.assertTrue(browser.run("document.getElementById('devices').hidden"))
        browser.wait("document.querySelectorAll('#process-table tbody tr').length === 42")
        self.assertFalse(browser.run("[...document.querySelectorAll('.chart')].some((one) => /Device/.test(one.textContent) && !one.hidden)"))
        # No column of devices, and the table is sorted by what it shows.
        heads = browser.run("[...document.querySelectorAll('#process-table th:not([hidden])')].map((one) => one.textContent)")
        self.assertEqual([head for head in heads if "GPU" in head], [])
        self.assertEqual(browser.run("document.querySelector('#process-table th[aria-sort]').textContent"), "CPU")
        self.assertEqual(browser.run("document.querySelectorAll('#process-table tbody tr:first-child td:not([hidden])').length"), len(heads))
        self.calm()

    def test_a_process_has_an_address(self):
        browser = self.open(page_scene.Machine(processes=5), cmdline="redacted")
        address = browser.run("[...document.querySelectorAll('#process-table tbody a')].find((one) => one.textContent === '4001').getAttribute('href')")
        self.assertRegex(address, r"^#process=4001\b")
        # A colleague opens it.
        browser.open("about:blank")
        browser.wait("location.href === 'about:blank'")
        browser.open(self.served.url + address)
        browser.wait("(document.getElementById('one-title') || {}).textContent === 'train.py 4001'")
        facts = browser.run("[...document.querySelectorAll('#one-facts > div:not([hidden])')].map((one) => one.innerText.replace('\\n', ': '))")
        for fact in ("User: grace", "Workload: slurm:1701.0", "Command line: secret --password '***'"):
            self.assertIn(fact, facts)
        self.assertTrue(browser.run("document.getElementById('devices').offsetParent === null && document.getElementById('tiles').offsetParent === null"))
        browser.wait("!document.getElementById('chart-process-cpu').hidden && document.getElementById('chart-cpu').hidden")
        browser.run("document.querySelector('.back').click()")
        browser.wait("document.getElementById('one').hidden && !document.getElementById('chart-cpu').hidden && document.getElementById('chart-process-cpu').hidden")
        browser.run("location.hash = '#process=4999'")
        browser.wait("/There is no such process here/.test(document.getElementById('one-gone').textContent)")
        self.calm()

    def test_a_device_has_an_address(self):
        browser = self.open(page_scene.Machine(), past=300)
        browser.run("[...document.querySelectorAll('#cards h3 a')][2].click()")
        browser.wait("document.getElementById('one-title').textContent === 'GPU 2'")
        self.assertEqual(browser.run("location.hash"), "#gpu=GPU-0002")
        self.assertIn("hw thermal slowdown", browser.run("document.getElementById('one-facts').innerText"))
        browser.wait("document.querySelectorAll('.chart:not([hidden])').length === 4")
        self.assertEqual(browser.run("[...document.querySelectorAll('.chart:not([hidden]) .key span')].map((one) => one.textContent)"), ["2"] * 4)
        self.assertEqual({one for gpus in column(browser, "process-table", "GPU") for one in gpus.split() if one == "2"}, {"2"})
        self.assertLess(len(column(browser, "process-table", "GPU")), 13)
        self.calm()

    def test_command_lines_are_shown_where_they_are_told(self):
        for form, shown in (("off", None), ("argv0", "secret"), ("redacted", "secret --password '***'"), ("full", "secret --password hunter2")):
            with self.subTest(form=form):
                browser = self.open(page_scene.Machine(processes=3), cmdline=form)
                hidden = browser.run("[...document.querySelectorAll('#process-table th')].find((one) => one.textContent === 'Command line').hidden")
                self.assertEqual(hidden, shown is None)
                if shown:
                    self.assertIn(shown, column(browser, "process-table", "Command line"))
                self.calm()

    def test_a_chart_out_of_sight_goes_on(self):
        browser = self.open(page_scene.Machine(), ready="document.querySelectorAll('.chart canvas').length === 9", past=600)
        browser.size(1280, 300)
        look = "document.querySelector('#chart-pressure canvas').toDataURL()"
        first = browser.run(look)
        browser.wait(f"{look} !== {json.dumps(first)}")
        self.calm()

    def test_a_drag_zooms_all_charts(self):
        browser = self.open(page_scene.Machine(), ready="document.querySelectorAll('.chart canvas').length === 9", past=1200)
        browser.wait("document.getElementById('whole').hidden")
        before = browser.run("document.querySelector('#chart-disk canvas').toDataURL()")
        browser.run("""(() => { const canvas = document.querySelector('#chart-cpu canvas'), box = canvas.getBoundingClientRect();
            const at = (name, x, on) => on.dispatchEvent(new MouseEvent(name, { clientX: box.left + x, clientY: box.top + 50, bubbles: true }));
            at('mousedown', 120, canvas); at('mousemove', 200, canvas); at('mouseup', 200, document); })()""")
        low, high = browser.run("plot.part()")
        self.assertTrue(0 < high - low < 600, (low, high))
        self.assertNotEqual(browser.run("document.querySelector('#chart-disk canvas').toDataURL()"), before)
        browser.run("document.getElementById('whole').click()")
        self.assertEqual(browser.run("[plot.part(), document.getElementById('whole').hidden]"), [None, True])
        # With the keyboard: a chart is a slider along the time.
        browser.run("document.querySelector('#chart-cpu canvas').focus()")
        browser.key("ArrowLeft", number=37)
        self.assertRegex(browser.run("document.activeElement.getAttribute('aria-valuetext')"), r"^\d\d:\d\d:\d\d: busy [\d.]+, waiting for disks [\d.]+$")
        browser.key("+", text="+")
        browser.wait("plot.part() !== null")
        browser.key("Escape", number=27)
        browser.wait("plot.part() === null")
        self.calm()

    def test_history_and_samples_have_one_resolution(self):
        script = """(async () => {
            const past = await import("/page/past.js?alone");
            const add = (seconds, value) => past.add(1, seconds, [["gpu", "power_watts", 1, "0", value]]);
            for (let at = 0; at < 12; at++) add(100 + at, at === 3 ? null : at);
            return JSON.stringify([past.times, past.find("gpu", "power_watts", 1).values]);
        })()"""
        browser = self.open(page_scene.Machine(processes=3))
        browser.run(script + ".then((found) => { window.found = found; })")
        self.assertEqual(json.loads(browser.wait("window.found")), [[104, 109, 111], [(0 + 1 + 2 + 4) / 4, 7, 10.5]])

    def test_cores_have_their_numbers(self):
        browser = self.open(page_scene.Machine(processes=3))
        numbers = browser.wait("(() => { const found = [...document.querySelectorAll('#cpus span')].map((one) => one.dataset.number).filter((one) => one); return found.length && found; })()")
        self.assertEqual(numbers, [str(cpu) for cpu in range(0, 64, 4)])
        self.assertRegex(browser.run("document.getElementById('cpus').getAttribute('aria-label')"), r"^64 CPUs, the busiest is CPU \d+ with \d+ %$")

    @unittest.skipUnless(AXE.exists(), "no axe-core: scripts/setup servers")
    def test_axe_finds_nothing_above_minor(self):
        machine = page_scene.Machine()
        machine.gone[("gpu", 10, "power_watts")] = "timed_out"
        browser = self.open(machine, past=300)
        for address in ("", "#gpu=GPU-0002", "#process=4001"):
            for dark in (False, True):
                with self.subTest(address=address, dark=dark):
                    browser.size(1280, dark=dark)
                    browser.run(f"location.hash = {json.dumps(address)}")
                    browser.wait(f"document.getElementById('one').hidden === {json.dumps(not address)}")
                    self.assertEqual(browser.axe(), [])

    def test_hostile_names_are_text(self):
        browser = self.open(page_scene.Machine(processes=60, hostile=True))
        choose(browser, "which", "All")
        browser.wait("document.querySelectorAll('#process-table tbody tr').length === 73")
        names = set(column(browser, "process-table", "Name", 80))
        for name in ("<img src=x onerror=\"document.title='pwned'\">", "<script>document.title='pwned'</script>", "\\u{202e}gnp.exe\\u{202c}", "a\\nb\\e[31m\\x07"):
            self.assertIn(name, names)
        self.assertEqual(browser.run("document.querySelectorAll('main img, main script, main [onmouseover]').length"), 0)
        self.assertEqual(browser.run("document.title"), "node17 · vitals")
        self.assertFalse(browser.run("/hunter2|--password/.test(document.documentElement.textContent)"))
        # A long name does not push the page out of shape.
        self.assertEqual(browser.run("document.documentElement.scrollWidth"), 1280)
        self.calm()

    def test_it_fits_a_phone(self):
        for dark in (False, True):
            with self.subTest(dark=dark):
                browser = self.open(page_scene.Machine(hostile=True), width=360, dark=dark)
                self.assertEqual(browser.run("document.documentElement.scrollWidth"), 360)
                page = browser.run("getComputedStyle(document.body).backgroundColor")
                self.assertEqual(page, "rgb(20, 23, 26)" if dark else "rgb(251, 251, 250)")
                # The switch: as the system has it, light, dark.
                browser.run("document.getElementById('theme').click()")
                self.assertEqual(browser.run("getComputedStyle(document.body).backgroundColor"), "rgb(251, 251, 250)")
                browser.run("document.getElementById('theme').click()")
                self.assertEqual(browser.run("getComputedStyle(document.body).backgroundColor"), "rgb(20, 23, 26)")
                self.assertEqual(browser.run("document.getElementById('theme').textContent"), "Dark")
                self.calm()

    def test_the_keyboard_reaches_everything(self):
        browser = self.open(page_scene.Machine(processes=5))
        browser.key("/", "Slash", 191, "/")
        self.assertEqual(browser.run("document.activeElement.id"), "search")
        reached = set()
        browser.run("document.getElementById('pause').focus()")
        for _ in range(60):
            reached.add(browser.run("(document.activeElement.id || document.activeElement.textContent.slice(0, 20))"))
            browser.key("Tab", number=9)
        self.assertLessEqual({"pause", "theme", "5 min", "1 h", "On devices", "All", "search", "PID", "GPU memory"}, reached)
        self.calm()

    def test_the_pointer_shows_a_moment_in_all_charts(self):
        browser = self.open(page_scene.Machine(), ready="document.querySelectorAll('.chart canvas').length === 9", past=600)
        browser.run("""(() => { const canvas = document.querySelector('#chart-cpu canvas'), box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new MouseEvent('mousemove', { clientX: box.left + box.width / 2, clientY: box.top + 50 })); })()""")
        browser.wait("new Set([...document.querySelectorAll('.chart:not([hidden]) .when')].map((one) => one.textContent)).size === 1")
        self.assertRegex(browser.run("document.querySelector('#chart-disk .when').textContent"), r"^\d\d:\d\d:\d\d$")
        browser.run("document.querySelector('#chart-cpu canvas').dispatchEvent(new MouseEvent('mouseleave'))")
        browser.wait("[...document.querySelectorAll('.chart:not([hidden]) .when')].every((one) => one.textContent === '')")
        self.calm()

    def test_without_scripts_it_says_where_the_figures_are(self):
        with Served(page_scene.Machine()) as served, Browser() as browser:
            browser.tell("Emulation.setScriptExecutionDisabled", value=True)
            browser.open(served.url)
            text = browser.wait("document.readyState === 'complete' && document.body.innerText")
            self.assertIn("This page draws with JavaScript, which is turned off.", text)
            for gone in ("Pause", "Processes", "Waiting"):
                self.assertNotIn(gone, text)

    def test_it_comes_back_when_the_server_does(self):
        browser = self.open(page_scene.Machine())
        self.served.stopped.set()
        self.served.thread.join()
        self.served.tell.process.kill()
        browser.wait("document.getElementById('state').dataset.state === 'off'")
        browser.wait("/^Not connected since .*: these figures are of that time/.test(document.getElementById('lost').innerText)")
        port = self.served.url.rstrip("/").rpartition(":")[2]
        with Tell(serve={"listen": [f"127.0.0.1:{port}"]}, interval_seconds=1) as again:
            again.hear("opened")
            for _ in range(600):
                self.served.seconds += 1
                again.write(self.served.machine.line(self.served.seconds))
                if browser.run("document.getElementById('state').dataset.state") == "live":
                    self.assertTrue(browser.run("document.getElementById('lost').hidden"))
                    break
                time.sleep(0.2)
            else:
                self.fail("it never came back")


class Data(unittest.TestCase):
    """What the page is made of, without a browser."""

    def wait_for(self, served, path, good):
        until = time.monotonic() + 60
        while True:
            with contextlib.suppress(urllib.error.HTTPError):
                if good(served.get(path)[1]):
                    return
            self.assertLess(time.monotonic(), until)
            time.sleep(0.2)

    def test_the_policy_lets_nothing_else_run(self):
        with Served(page_scene.Machine()) as served:
            for path in ("/", "/page/page.js", "/page/page.css"):
                headers, content = served.get(path)
                policy = headers["Content-Security-Policy"]
                self.assertIn("default-src 'none'", policy)
                self.assertNotIn("unsafe", policy)
                self.assertNotIn("http", policy)
                self.assertNotRegex(content.decode(), r"https?://(?!www\.w3\.org/)")
            page = served.get("/")[1].decode()
            self.assertNotRegex(page, r"<script(?![^>]*\bsrc=)|\bon\w+=|\bstyle=|javascript:")
            self.assertIn("<noscript>", page)

    def test_command_lines_go_as_far_as_they_are_let(self):
        for form, told in ((None, ""), ("off", ""), ("argv0", "secret\0"), ("redacted", "secret --password ***\0"),
                           ("full", "secret\0--password\0hunter2\0")):
            hello = {"cmdline": form} if form else {}
            with self.subTest(form=form), Served(page_scene.Machine(processes=3), **hello) as served:
                self.wait_for(served, "/-/ready", bool)
                for process in json.loads(served.get("/api/v1/snapshot")[1])["tables"]["process"]:
                    self.assertEqual(process["command_line"], told)
                with urllib.request.urlopen(served.url + "api/v1/stream", timeout=60) as stream:
                    line = next(line for line in stream if line.startswith(b"data: "))
                self.assertEqual({row["command_line"] for row in json.loads(line[6:])["tables"]["process"]}, {told})
                with urllib.request.urlopen(served.url + "api/v1/stream?view=page&processes=all", timeout=60) as stream:
                    view = next(line for line in stream if line.startswith(b"data: "))
                self.assertEqual(b"secret" in view, bool(told))
                self.assertEqual(b"hunter2" in view, form == "full")

    def test_the_history_is_thin_and_the_view_small(self):
        with Served(page_scene.Machine(processes=100), every=0.5, past=4000) as served:
            self.wait_for(served, "/api/v1/history", lambda text: json.loads(text)["realtime_ms"][-1] > (page_scene.BEGAN / 1e6 + 4095000))
            headers, history = served.get("/api/v1/history")
            self.assertEqual(headers.get_content_type(), "application/json")
            history = json.loads(history)
            self.assertLessEqual(len(history["realtime_ms"]), 720)
            self.assertGreater(history["realtime_ms"][-1] - history["realtime_ms"][0], 3590000)
            self.assertEqual(json.loads(served.get("/api/v1/snapshot")[1])["host"]["name"], "node17")
            with urllib.request.urlopen(served.url + "api/v1/stream?view=page", timeout=60) as stream:
                line = next(line for line in stream if line.startswith(b"data: "))
            self.assertLess(len(line), 20000, "with 112 processes, of which few are on a device")
            self.assertNotIn(b"hunter2", line)


if __name__ == "__main__":
    unittest.main()
