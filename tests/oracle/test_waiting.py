"""Waiting and signalling: children and strangers, every way to end, to the millisecond."""

import os
import select
import signal
import threading
import time
import unittest

import api
import psutil
import scene
import theirs
from api import Failure

# A grandchild of ours, in a process of its own: it ends as it is told, and its parent reaps it only when
# it is told.
STRANGER = """
read_end, write_end = os.pipe()
child = os.fork()
if child == 0:
    os.close(0); os.close(write_end)
    word = os.read(read_end, 20)
    if word.startswith(b'exit'): os._exit(int(word[4:]))
    os.kill(os.getpid(), int(word[6:]))
os.close(read_end)
print(child, flush=True)
for line in sys.stdin:
    if line.startswith('reap'): os.waitpid(child, 0); print('reaped', flush=True)
    else: os.write(write_end, line.strip().encode())
try: os.kill(child, signal.SIGKILL)
except ProcessLookupError: pass
os._exit(0)
"""


def elapsed(function, *arguments):
    begun = time.monotonic()
    try:
        result = function(*arguments)
    except Failure as failure:
        result = failure.code
    return result, time.monotonic() - begun


class Children(unittest.TestCase):
    """Check 20."""

    def setUp(self):
        self.context = api.Context()

    def child(self, ending):
        pid = os.fork()
        if pid == 0:
            try:
                ending()
            finally:
                os._exit(99)
        return pid

    def wait(self, ending, *before):
        pid = self.child(ending)
        process = self.context.open(pid)
        for function in before:
            function(pid)
        first = process.wait(20)
        self.assertEqual(process.wait(20), first, "asked again, the same")
        self.assertFalse(os.path.exists(f"/proc/{pid}"), "reaped")
        with self.assertRaises(ChildProcessError):
            os.waitpid(pid, 0)
        return first

    def test_codes(self):
        for code in (0, 1, 3, 127, 255):
            self.assertEqual(self.wait(lambda code=code: os._exit(code)), (1, code, 0))

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGUSR1, signal.SIGALRM):
            how = self.wait(lambda: signal.pause(), lambda pid, n=number: os.kill(pid, n))
            self.assertEqual(how, (1, 0, number))

    def test_a_stop_is_no_end(self):
        pid = self.child(signal.pause)
        process = self.context.open(pid)
        process.signal(signal.SIGSTOP)
        scene.until(lambda: scene.state_of(pid) == "T", "its stop")
        self.assertEqual(elapsed(process.wait, 0)[0], "timeout")
        self.assertEqual(process.get("state"), b"stopped")
        process.signal(signal.SIGCONT)
        scene.until(lambda: scene.state_of(pid) == "S", "its going on")
        process.signal(signal.SIGKILL)
        self.assertEqual(process.wait(20), (1, 0, signal.SIGKILL))

    def test_timeouts(self):
        with scene.sleeping_child() as pid:
            process = self.context.open(pid)
            for seconds in (0, 0.001, 0.01, 0.1):
                result, took = elapsed(process.wait, seconds)
                self.assertEqual(result, "timeout")
                self.assertGreaterEqual(took, seconds)
                self.assertLess(took, seconds + 5)
            self.assertTrue(process.is_running())

    def test_reaped_by_somebody_else(self):
        with scene.sleeping_child() as pid:
            process = self.context.open(pid)
        how = process.wait(5)
        # psutil has nothing to say of it; where the kernel tells (6.15), we have.
        if how.known:
            self.assertEqual(how, (1, 0, signal.SIGKILL))
        else:
            self.assertEqual(how, (0, 0, 0))

    def test_a_loop_of_somebody_else_is_woken(self):
        """As asyncio's: its descriptor is readable once it has ended, and looking then sees it."""
        pid = self.child(signal.pause)
        process = self.context.open(pid)
        watched = select.poll()
        watched.register(process.descriptor(), select.POLLIN)
        self.assertEqual(watched.poll(0), [])
        self.assertEqual(process.exit_state(), "not_yet")
        process.signal(signal.SIGUSR2)
        self.assertEqual(len(watched.poll(20000)), 1)
        self.assertEqual(process.exit_state(), "not_yet", "nobody has looked")
        self.assertEqual(process.wait(0), (1, 0, signal.SIGUSR2))
        self.assertEqual(process.exit_state(), "have")

    def test_its_end_is_what_wakes_it(self):
        """Until then it is not woken once; psutil, which polls, is every 40 ms."""
        pid = self.child(signal.pause)
        process, waiting, how = self.context.open(pid), [], []

        def wait():
            waiting.append(threading.get_native_id())
            how.append(process.wait(60))

        thread = threading.Thread(target=wait)
        thread.start()
        scene.until(lambda: waiting and scene.state_of(f"self/task/{waiting[0]}") == "S", "its wait")
        switches = []
        for _ in range(2):
            signal.sigtimedwait([], 0.4)  # the first until it is past the interpreter's own locks
            lines = theirs.status_lines("self", "task", waiting[0])
            switches.append(int(lines["voluntary_ctxt_switches"]))
        process.signal(signal.SIGKILL)
        thread.join()
        self.assertEqual(how, [(1, 0, signal.SIGKILL)])
        self.assertEqual(switches[1], switches[0])


class Strangers(unittest.TestCase):
    """Check 19: processes that are not our children."""

    def start(self):
        popen, pid = scene.program(self, STRANGER)
        self.popen = popen
        return api.Context().open(pid), psutil.Process(pid)

    def tell(self, line):
        self.popen.stdin.write(line.encode() + b"\n")
        self.popen.stdin.flush()

    def test_its_code_where_the_kernel_tells(self):
        for line, truth in (("exit7", (1, 7, 0)), ("signal15", (1, 0, 15))):
            process, their = self.start()
            self.tell(line)
            scene.until(lambda: theirs.is_zombie(process.pid), "its end")
            self.tell("reap")
            self.assertEqual(self.popen.stdout.readline(), b"reaped\n")
            how = process.wait(20)
            self.assertIn(how, (truth, (0, 0, 0)))
            major, minor = map(int, os.uname().release.split(".")[:2])
            if (major, minor) >= (6, 15):
                self.assertEqual(how, truth, "Linux 6.15 tells of every process")
            self.assertIsNone(their.wait(0.1), "psutil knows nothing of who is not its child")

    def test_a_zombie_has_ended(self):
        """psutil's wait starts its time again for a zombie of somebody else (defect 11)."""
        process, their = self.start()
        self.tell("exit5")
        scene.until(lambda: theirs.is_zombie(process.pid), "its end")
        how, took = elapsed(process.wait, 20)
        self.assertIsInstance(how, api.Exit)
        self.assertLess(took, 5)
        self.assertTrue(process.is_running(), "nobody has reaped it")
        begun = time.monotonic()
        with self.assertRaises(psutil.TimeoutExpired):
            their.wait(0.2)
        self.assertGreater(time.monotonic() - begun, 0.19)

    def test_timeouts(self):
        process, _ = self.start()
        for seconds in (0, 0.01, 0.05):
            result, took = elapsed(process.wait, seconds)
            self.assertEqual(result, "timeout")
            self.assertTrue(seconds <= took < seconds + 5, took)

    def test_while_it_waits(self):
        process, _ = self.start()
        threading.Timer(0.05, self.tell, ["exit3"]).start()
        how = process.wait(20)
        self.assertIn(how, ((1, 3, 0), (0, 0, 0)))


class Several(unittest.TestCase):
    """psutil.wait_procs: several at once, with a callback."""

    def test_all_end(self):
        context, pids = api.Context(), []
        for code in range(5):
            pid = os.fork()
            if pid == 0:
                os._exit(code)
            pids.append(pid)
        processes = [context.open(pid) for pid in pids]
        told = {}
        left = api.wait_for_several(processes, 20, told.__setitem__)
        self.assertEqual(left, 0)
        self.assertEqual(told, {place: (1, place, 0) for place in range(5)})

    def test_some_do_not(self):
        context, told = api.Context(), []
        with scene.sleeping_child() as one, scene.sleeping_child() as other:
            processes = [context.open(pid) for pid in (one, other)]
            processes[1].signal(signal.SIGTERM)
            scene.until(lambda: theirs.is_zombie(other), "its end")
            left = api.wait_for_several(processes, 0.3, lambda *how: told.append(how))
            self.assertEqual(left, 1)
            self.assertEqual(told, [(1, (1, 0, signal.SIGTERM))])
            gone, alive = psutil.wait_procs([psutil.Process(one)], timeout=0.01)
            self.assertEqual((gone, len(alive)), ([], 1))
            # Again: who had ended before is told of again, and only once.
            told.clear()
            self.assertEqual(api.wait_for_several(processes, 0, lambda *how: told.append(how)), 1)
            self.assertEqual([place for place, _ in told], [1])

    def test_who_is_told_stops_it(self):
        context, told = api.Context(), []
        processes = []
        for _ in range(3):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            processes.append(context.open(pid))

        def stop(place, _):
            told.append(place)
            return True

        for left in (2, 2):  # those that had ended before come first
            self.assertEqual(api.wait_for_several(processes, 20, stop), left)
        self.assertEqual(told, [told[0]] * 2)
        self.assertEqual(api.wait_for_several(processes, 20), 0)

    def test_none(self):
        self.assertEqual(api.wait_for_several([], 5, lambda *how: None), 0)

    def test_without_a_callback(self):
        with scene.sleeping_child() as pid:
            self.assertEqual(api.wait_for_several([api.Context().open(pid)], 0), 1)

    def test_a_thousand(self):
        context, processes = api.Context(), []
        for _ in range(300):
            pid = os.fork()
            if pid == 0:
                signal.pause()
            processes.append(context.open(pid))
        for process in processes:
            process.signal(signal.SIGKILL)
        told = []
        self.assertEqual(api.wait_for_several(processes, 20, lambda *how: told.append(how)), 0)
        self.assertEqual(sorted(place for place, _ in told), list(range(300)))


class Signals(unittest.TestCase):
    def test_each_arrives(self):
        popen, pid = scene.program(self, """
for number in (1, 2, 10, 12, 15, 34):
    signal.signal(number, lambda n, _: os.write(1, b'%d\\n' % n))
ready()
while True: signal.pause()
""")
        self.addCleanup(popen.kill)
        process = api.Context().open(pid)
        for number in (1, 2, 10, 12, 15, 34):
            process.signal(number)
            self.assertEqual(popen.stdout.readline(), b"%d\n" % number)
        process.signal(0)

    def test_suspend_and_resume(self):
        pid = scene.one(self, "ready(); stay()")
        process, their = api.Context().open(pid), psutil.Process(pid)
        process.signal(signal.SIGSTOP)
        scene.until(lambda: their.status() == "stopped", "its stop")
        self.assertEqual(process.get("state"), b"stopped")
        their.resume()
        scene.until(lambda: process.get("state") == b"sleeping", "its going on")


if __name__ == "__main__":
    unittest.main()
