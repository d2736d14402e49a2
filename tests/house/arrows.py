"""The rules of the source tree that a compiler cannot check.

Which room may include which, and what may be called only in one place. Both are tables here; the
second half of this file feeds a tree that breaks each of them and sees it caught.
Does not parse C: it blanks out comments and strings and reads lines, which is enough for a house
that also keeps its macros few.
"""

import dataclasses
import os
import pathlib
import re
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))

# --- Table 1: the order of the rooms. A room may use itself and every room of a later line. --------

LIBRARY = (
    ("run",),
    ("sampler",),
    ("host", "process", "gpu"),
    ("workload",),
    ("os",),
    ("model",),
    ("util",),
)
COMMAND = (
    ("command",),
    ("fleet",),
    ("record_library",),
    ("monitor", "export"),
    ("report",),
    ("view",),
    ("record",),
    ("feed",),
)

# The room of the library that the command's rooms may include too.
SHARED = "util"

# Folders inside a room that are closed to everybody but themselves and those named here.
CLOSED = {
    "os/linux": (),
    "os/null": (),
    "gpu/nvidia": ("gpu",),
    "gpu/amd": ("gpu",),
    "gpu/intel": ("gpu",),
    "gpu/drm": ("gpu", "gpu/amd", "gpu/intel"),
    "gpu/demo": ("gpu",),
}

# The lowest room that may know a public header. A room of the library, and another public header,
# may include it as if it lay in that room; the rooms of the command may include every one.
PUBLIC = {
    "account.h": "run",
    "availability.h": "util",
    "catalogue.h": "model",
    "clock.h": "util",
    "collector.h": "run",
    "context.h": "util",
    "error.h": "util",
    "export.h": "util",
    "filesystem.h": "host",
    "gpu.h": "gpu",
    "history.h": "model",
    "mark.h": "util",
    "measures.h": "run",
    "metrics.h": "model",
    "process.h": "process",
    "psutil.h": "model",
    "request.h": "model",
    "run.h": "run",
    "sampler.h": "sampler",
    "select.h": "gpu",
    "snapshot.h": "model",
    "sys/account.h": "run",
    "sys/builder.h": "model",
    "table.h": "model",
    "text.h": "util",
    "units.h": "util",
    "usage.h": "run",
    "version.h": "util",
    "vitals.h": "run",
}

# The headers of libvitals-record: of the command's half, of which libvitals knows nothing.
RECORD_HEADER = re.compile(r"record\.h|record/\w+\.h")

# --- Table 2: what may stand only in one place. ----------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Rule:
    what: re.Pattern  # searched in code without comments; strings are kept where `strings` is set
    only_in: tuple  # prefixes of paths where it may stand
    why: str
    within: tuple = ("",)  # prefixes of paths that the rule is about
    strings: bool = False


def calls(*names):
    return re.compile(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(")


INSIDE = tuple(f"src/{room}/" for level in LIBRARY for room in level)
MACHINE = ("src/os/", "src/command/main.c", "src/export/main.c")

RULES = (
    Rule(re.compile(r'"/(proc|sys)\b'), MACHINE, strings=True,
         why="paths of the machine belong to src/os; readers get a root to open below"),
    Rule(calls("clock_gettime", "gettimeofday", "time", "clock", "nanosleep", "clock_nanosleep",
               "usleep", "sleep"), MACHINE,
         why="time comes from the clock in the context, so that a test can run a day in a second"),
    Rule(calls("getenv", "secure_getenv", "setenv", "putenv"),
         ("src/command/main.c", "src/export/main.c"),
         why="the environment is handed over in options"),
    Rule(calls("sysconf"), MACHINE, why="what the system says of itself belongs to src/os"),
    Rule(calls("malloc", "calloc", "realloc", "reallocarray", "free", "strdup", "strndup",
               "asprintf", "vasprintf", "aligned_alloc", "posix_memalign", "getline",
               "open_memstream"), ("src/util/memory.c",), within=INSIDE,
         why="memory comes from util/memory.h, which a test can count and let fail"),
    Rule(calls("printf", "fprintf", "vprintf", "vfprintf", "puts", "fputs", "putchar", "perror",
               "exit"), (), within=INSIDE,
         why="the library never prints and never ends its process"),
    Rule(calls("abort"), ("src/model/snapshot.c",), within=INSIDE,
         why="the library ends its process for one thing alone: a snapshot that is released twice"),
    Rule(calls("atoi", "atol", "atoll", "atof", "strtod", "strtof", "strtold", "strtol", "strtoll",
               "strtoul", "strtoull", "strtoimax", "strtoumax", "sscanf", "fscanf"),
         ("src/util/number.c",),
         within=INSIDE,
         why="numbers are read by util/number.h, whatever the locale"),
    Rule(calls("popen", "system"), (), why="no shell and no helper tools"),
    Rule(calls("statx", "getrandom", "close_range"), (),
         why="glibc 2.17 lacks it: src/os calls the kernel by its number (linux_statx)"),
    Rule(re.compile(r'#\s*include\s*[<"]n?curses'),
         ("src/monitor/terminal.c",), strings=True,
         why="terminal.c alone knows ncurses"),
)

# --- How they are checked --------------------------------------------------------------------------

TOKEN = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""",
    re.DOTALL | re.VERBOSE,
)
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"(?P<own>[^"]+)"|<vitals/(?P<public>[^>]+)>)')


def code_of(text, strings):
    """The text without comments, and without the content of strings unless they are asked for.
    Lines keep their numbers."""

    def blank(match):
        token = match[0]
        if token[0] == "/":
            return re.sub(r"[^\n]", " ", token)
        return token if strings else token[0] + token[-1]

    return TOKEN.sub(blank, text)


def level(room):
    """(which half, how far up) of a room; None for a folder that is in no table."""
    for half in (LIBRARY, COMMAND):
        for height, rooms in enumerate(half):
            if room in rooms:
                return half, height
    return None


def closed_folder(path):
    """The closed folder that a path below src/ lies in, or None."""
    return next((folder for folder in CLOSED if path.startswith(folder + "/")), None)


def room_of(path):
    return path.split("/")[0]


def may_use_room(user, used):
    if user == used or (used == SHARED and level(user) and level(user)[0] is COMMAND):
        return True
    above, below = level(user), level(used)
    if above is None or below is None:
        return False
    return above[0] is below[0] and above[1] < below[1]


def may_include(user, used):
    """Whether src/`user` may include src/`used`."""
    folder = closed_folder(used)
    if folder is not None:
        own = closed_folder(user)
        return own == folder or (own or room_of(user)) in CLOSED[folder]
    return may_use_room(room_of(user), room_of(used))


def may_include_public(user, header):
    """Whether a file in the room `user` may include <vitals/`header`>."""
    if level(user) and level(user)[0] is COMMAND:
        return True
    if RECORD_HEADER.fullmatch(header):
        return False
    return may_use_room(user, PUBLIC[header])


def check_includes(root, path):
    """The arrows of one file that run back. `path` is relative to `root`."""
    relative = path.relative_to("src" if path.parts[0] == "src" else "include/vitals").as_posix()
    is_public = path.parts[0] == "include"
    text = code_of((root / path).read_text(errors="replace"), strings=True)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match is None:
            continue
        where = f"{path.as_posix()}:{number}"
        if match["public"] is not None:
            header = match["public"]
            user = room_of(relative)
            if is_public:
                user = "record_library" if RECORD_HEADER.fullmatch(relative) else PUBLIC.get(relative)
            known = header in PUBLIC or RECORD_HEADER.fullmatch(header)
            if not known or user is None:
                unknown = relative if known else header
                yield f"{where}: say in PUBLIC of tests/house/arrows.py whose <vitals/{unknown}> is"
            elif not may_include_public(user, header):
                yield (f"{where}: {user} may not include <vitals/{header}>,"
                       f" which belongs to {PUBLIC[header]}")
        elif is_public:
            yield f"{where}: a public header includes public headers as <vitals/…> and no others"
        elif (root / "src" / match["own"]).exists() and not may_include(relative, match["own"]):
            yield f"{where}: {os.path.dirname(relative)} may not include {match['own']}"


def check_rules(root, path):
    text = (root / path).read_text(errors="replace")
    name = path.as_posix()
    views = {strings: code_of(text, strings).splitlines() for strings in (False, True)}
    for rule in RULES:
        if not name.startswith(rule.within) or (rule.only_in and name.startswith(rule.only_in)):
            continue
        for number, line in enumerate(views[rule.strings], 1):
            match = rule.what.search(line)
            if match is not None:
                yield f"{name}:{number}: {match[0].strip()}: {rule.why}"


def check_tree(root):
    """Every breach of the tables below a source tree, in the order of the files."""
    found = []
    for folder in ("include/vitals", "src"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            path = path.relative_to(root)
            found += check_includes(root, path)
            if folder == "src":
                found += check_rules(root, path)
                if level(room_of(path.relative_to("src").as_posix())) is None:
                    found.append(f"{path.as_posix()}: its folder is no room of tests/house/arrows.py")
    return found


# --- The tree, and the checks themselves -----------------------------------------------------------


class TheTree(unittest.TestCase):
    def test_keeps_the_rules(self):
        found = check_tree(SOURCE)
        if found:
            self.fail("\n" + "\n".join(found))


class TheChecks(unittest.TestCase):
    """Each case: what stands in which file, and whether it must be caught."""

    NEIGHBOURS = ("src/util/text.h", "src/gpu/gpu.h", "src/gpu/nvidia/nvml.h", "src/os/os.h",
                  "src/os/linux/procfs.h", "src/run/run.h", "src/feed/feed.h", "src/host/host.h",
                  "src/monitor/screens/screen.h")
    CASES = (
        # file, content, the words of the complaint (None: none)
        ("src/util/a.c", '#include "run/run.h"', "util may not include run/run.h"),
        ("src/run/a.c", '#include "util/text.h"', None),
        ("src/host/a.c", '#include "gpu/gpu.h"', "host may not include gpu/gpu.h"),
        ("src/host/a.c", '#include "os/os.h"', None),
        ("src/host/a.c", '#include "os/linux/procfs.h"', "may not include os/linux/procfs.h"),
        ("src/os/linux/a.c", '#include "os/linux/procfs.h"', None),
        ("src/gpu/registry.c", '#include "gpu/nvidia/nvml.h"', None),
        ("src/gpu/demo/a.c", '#include "gpu/nvidia/nvml.h"', "may not include gpu/nvidia/nvml.h"),
        ("src/gpu/demo/a.c", '#include "gpu/gpu.h"', None),
        ("src/sampler/a.c", '#include "gpu/nvidia/nvml.h"', "may not include gpu/nvidia/nvml.h"),
        ("src/command/a.c", '#include "feed/feed.h"', None),
        ("src/feed/a.c", '#include "monitor/screens/screen.h"', "feed may not include monitor/screens/screen.h"),
        ("src/command/a.c", '#include "util/text.h"', None),
        ("src/command/a.c", '#include "host/host.h"', "command may not include host/host.h"),
        ("src/util/a.c", '#include "feed/feed.h"', "util may not include feed/feed.h"),
        ("src/util/a.c", "#include <vitals/vitals.h>", "util may not include <vitals/vitals.h>"),
        ("src/util/a.c", "#include <vitals/error.h>", None),
        ("src/feed/a.c", "#include <vitals/vitals.h>", None),
        ("src/util/a.c", "#include <vitals/news.h>", "say in PUBLIC"),
        ("include/vitals/error.h", "#include <vitals/vitals.h>", "may not include <vitals/vitals"),
        ("include/vitals/error.h", '#include "text.h"', "public header"),
        ("src/cellar/a.c", "", "no room"),
        ("src/util/a.c", '// #include "run/run.h"', None),
        ("src/host/a.c", 'open("/proc/stat");', '"/proc'),
        ("src/host/a.c", 'const char *s = "/sys";', '"/sys'),
        ("src/host/a.c", 'help("see /proc/stat");', None),
        ("src/host/a.c", '/* "/proc/stat" */', None),
        ("src/os/linux/a.c", 'open("/proc/stat");', None),
        ("src/sampler/a.c", "clock_gettime(0, &t);", "clock_gettime"),
        ("src/sampler/a.c", "context->clock (0);", None),
        ("src/sampler/a.c", "read_time(now);", None),
        ("src/command/main.c", 'getenv("HOME");', None),
        ("src/os/linux/a.c", 'getenv("HOME");', "getenv"),
        ("src/command/processes/ps.c", 'getenv("HOME");', "getenv"),
        ("src/host/a.c", "long n = sysconf(1);", "sysconf"),
        ("src/host/a.c", "p = malloc(3);", "malloc"),
        ("src/host/a.c", "free (p);", "free"),
        ("src/host/a.c", "memory_free(p); arena.free(p); a->free(p);", None),
        ("src/util/memory.c", "free(p);", None),
        ("src/command/a.c", "free(p);", None),
        ("src/util/a.c", 'printf("x");', "printf"),
        ("src/util/a.c", 'snprintf(b, 3, "printf(");', None),
        ("src/util/a.c", "_exit(1);", None),
        ("src/util/a.c", "strtod(s, &e);", "strtod"),
        ("src/command/a.c", 'popen("ls", "r");', "popen"),
        ("src/os/linux/a.c", "statx(fd, path, 0, 0, &status);", "statx"),
        ("src/os/linux/a.c", "linux_statx(fd, path, 0, 0, &status); syscall(SYS_statx, 1);", None),
        ("src/monitor/screen.c", "#include <ncurses.h>", "ncurses"),
        ("src/monitor/screen.c", "#include <curses.h>", "ncurses"),
        ("src/monitor/terminal.c", "#include <ncurses.h>", None),
    )

    def complaints(self, file, content):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in (*self.NEIGHBOURS, "include/vitals/vitals.h", file):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content + "\n" if name == file else "")
            return check_tree(root)

    def test_catch_what_they_must_and_nothing_else(self):
        for file, content, words in self.CASES:
            with self.subTest(file=file, content=content):
                found = self.complaints(file, content)
                if words is None:
                    self.assertEqual(found, [])
                else:
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(words, found[0])
                    self.assertTrue(found[0].startswith(file), found[0])

    def test_a_line_number_survives_a_long_comment(self):
        found = self.complaints("src/host/a.c", '/* a\n * b\n */\n"c"\nmalloc(1);')
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("src/host/a.c:5:"), found)


if __name__ == "__main__":
    unittest.main()
