"""Completion of command lines, asked of the shells themselves. What there is to be completed is what the help of
each command says."""

import collections
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", SOURCE / "build"))
VITALS = os.environ.get("VITALS", str(BUILD / "vitals"))
FOLDER = BUILD / "completions"
DEADLINE = 60

Option = collections.namedtuple("Option", "commands names takes argument values help")


def table():
    rows = []
    for line in (SOURCE / "completions/options").read_text().splitlines():
        fields = line.split("|")
        assert len(fields) == 6, line
        rows.append(Option(fields[0].split(), fields[1].split(), *fields[2:]))
    return rows


COMMANDS = [row.commands[0] for row in table() if not row.names]


def options(command):
    return [row for row in table() if row.names and (command in row.commands or row.commands == ["-"])]


def ask(*words):
    result = subprocess.run([VITALS, *words], capture_output=True, text=True, check=False,
                            stdin=subprocess.DEVNULL, timeout=DEADLINE)
    return result.stdout + result.stderr


def helped(command):
    """Names of options in the help of a command."""
    text = ask(*([] if command == "vitals" else [command]), "--help", "all")
    lines = re.findall(r"^  (?:(-\w+), *)? *(--[\w-]+)(?:, (--[\w-]+))?", text, re.MULTILINE)
    return [name for line in lines for name in line if name]


class Table(unittest.TestCase):
    def test_has_the_options_of_each_help_once(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                names = [name for row in options(command) for name in row.names]
                self.assertEqual(len(names), len(set(names)))
                said = helped(command)
                self.assertGreater(len(said), 0)
                self.assertLessEqual(set(said), set(names))
                rest = [name for row in options(command) if row.commands != ["-"]
                        for name in row.names]
                # Some leave out what goes with every command.
                self.assertLessEqual(set(rest) - {"--interval"}, set(said))

    def test_help_is_one_clause(self):
        for row in table():
            self.assertTrue(0 < len(row.help) <= 75, row)
            self.assertNotRegex(row.help, r"; | (e\.g|i\.e)\.?(\.\.\.)?$|[;:,(]$| default$", row)

    def values(self, command, name):
        return [row.values.split() for row in options(command) if name in row.names][0]

    def test_knows_the_values_that_the_program_names(self):
        for words, command, name, extra in (
                (("--demo=x", "-1"), "vitals", "--demo", []),
                (("--backends=x", "-1"), "vitals", "--backends", ["none"]),
                (("run", "--methods", "x", "--", "true"), "run", "--methods", []),
                (("report", "--memory-unit", "x", "a"), "report", "--memory-unit", []),
                (("report", "--time-unit", "x", "a"), "report", "--time-unit", []),
                (("report", "--format", "x", "a"), "report", "--format", []),
                (("compare", "--format", "x", "a", "b"), "compare", "--format", []),
                (("run", "--brand", "x", "--", "true"), "run", "--brand", []),
                (("serve", "--label-user", "x"), "serve", "--label-user", []),
                (("ps", "--state", "x"), "ps", "--state", None)):
            with self.subTest(name=name, command=command):
                offered = self.values(command, name)
                said = ask(*words).splitlines()[0]
                if extra is None:  # the message names none
                    self.assertGreater(len(offered), 3)
                    continue
                said = re.split(r"there are |it is |give ", said)[1]
                named = [word for word in re.split(r",? or |[, |]+", said) if word]
                self.assertEqual(sorted(offered), sorted(named + extra))

    def test_the_header_and_the_documents_name_the_scenarios(self):
        names = self.values("vitals", "--demo")
        header = (SOURCE / "include/vitals/context.h").read_text()
        said = re.search(r"\n \* demo: (.*?): simulated devices", header, re.DOTALL)[1]
        self.assertEqual(re.findall(r'"(\w+)"', said), names)
        for page in ("docs/options.md", "docs/vitals.1"):
            self.assertIn(f"without a GPU: {', '.join(names)}", (SOURCE / page).read_text())
        self.assertIn(", ".join(names), " ".join(ask("--help").split()))

    def test_offers_nothing_that_is_refused(self):
        for value in self.values("ps", "--sort"):
            self.assertNotIn("no column", ask("ps", "-p", str(os.getpid()), "--sort", value))
        columns = self.values("device", "--columns")
        self.assertNotIn("no column", ask("device", "--demo=idle", "-o", ",".join(columns[:20])))
        for state in self.values("ps", "--state"):
            self.assertNotIn("Try:", ask("ps", "--state", state))
        for name in self.values("kill", "--signal"):
            self.assertNotIn("no signal", ask("kill", "--dry-run", "-s", name, str(os.getpid())))
        with tempfile.TemporaryDirectory() as folder:
            for command, words in (("record", ("-n", "1", "--interval", "10ms", f"{folder}/a")),
                                   ("run", ("--record", f"{folder}/b", "--", "true"))):
                for value in self.values(command, "--format"):
                    said = ask(command, "--overwrite", "--format", value, *words)
                    self.assertNotIn("no such format", said)


# What is typed; what must be offered, and what must not.
CASES = (
    ("vitals r", {"run", "record", "replay", "report"}, {"ps", "track"}),
    ("vitals run --lim", {"--limit-time", "--limit-memory", "--limit-grace"}, {"--record"}),
    ("vitals --col", {"--colorful"}, {"--config"}),
    ("vitals --seed 3 ps --tr", {"--tree", "--trace"}, set()),
    ("vitals -m ", {"auto", "full", "compact"}, set()),
    ("vitals -u run -", {"--once"}, {"--limit-time"}),
    ("vitals report --advice ", {"slurm", "kubernetes"}, {"docs"}),
    ("vitals report --advice=s", {"slurm"}, {"kubernetes"}),
    ("vitals run --format resource-tracker-", {"resource-tracker-system"}, {"vitals-csv"}),
    ("vitals --demo=a", {"ailing"}, {"hang"}),
    ("vitals --backends amd,n", {"nvidia", "none"}, {"amd", "demo"}),
    ("vitals ps -o pid,pp", {"ppid"}, {"pid", "pss"}),
    ("vitals ps --sort pid,-rs", {"rss", "rsz"}, {"pid"}),
    ("vitals kill -s K", {"KILL"}, {"TERM"}),
    ("vitals ps -u roo", {"root"}, {"daemon"}),
    ("vitals mark b", {"begin"}, {"end"}),
    ("vitals device ", set(), {"docs"}),
    ("vitals report LICEN", {"LICENSE"}, set()),
    ("vitals --config LICEN", {"LICENSE"}, set()),
    ("vitals --layout nv", {"nvitop"}, {"LICENSE"}),
    ("vitals --layout LICEN", {"LICENSE"}, {"nvitop"}),
    ("vitals --proc-root exampl", {"examples/", "examples"}, set()),
    (f"vitals info {os.getpid()}", {str(os.getpid())}, set()),
    ("vitals run --limit-time 1 basenam", {"basename"}, {"--limit-time"}),
    ("vitals run -- basenam", {"basename"}, set()),
    ("vitals mark x -- basenam", {"basename"}, set()),
    ("vitals select -i 2,5 basenam", {"basename"}, set()),
    ("vitals select --inherit 2,5 3 -- basenam", {"basename"}, set()),
    ("vitals select -i GPU-0a,MIG-1 --lo", {"--lock", "--lock-folder"}, {"--wait"}),
    ("vitals select -i 2,5 --lo", {"--lock", "--lock-folder"}, {"--wait"}),
    ("vitals select --inherit=2,5 cat LICEN", {"LICENSE"}, set()),
    ("vitals select -i cat LICEN", {"LICENSE"}, {"--lock"}),
    ("vitals select --lock -- basenam", {"basename"}, set()),
    ("vitals run cat LICEN", {"LICENSE"}, set()),
    ("vitals run --quiet basenam", {"basename"}, set()),
    ("vitals run --quiet cat LICEN", {"LICENSE"}, set()),
    ("vitals run true --lim", set(), {"--limit-time"}),
)


class Shell:
    """`offers` gives what the shell shows for a line: words, and the help beside them."""

    def test_cases(self):
        for line, wanted, unwanted in CASES:
            with self.subTest(line=line):
                offered = set(self.offers(line))
                if any(word.endswith("/") for word in wanted):  # with or without its slash
                    self.assertTrue(wanted & offered, offered)
                else:
                    self.assertLessEqual(wanted, offered)
                self.assertFalse(unwanted & offered)

    def test_each_option_is_offered_once(self):
        for command in COMMANDS:
            line = "vitals --" if command == "vitals" else f"vitals {command} --"
            with self.subTest(command=command):
                wanted = [name for row in options(command) for name in row.names
                          if name.startswith("--")]
                self.assertEqual(sorted(self.offers(line)), sorted(wanted))


class Bash(Shell, unittest.TestCase):
    """Without the package bash-completion; readline splits words at "=" too."""

    SCRIPT = """
shopt -u progcomp_alias
source "$1"
compopt() { compopts+=" $*"; }
while IFS= read -r line; do
    # As readline does.
    set -f
    COMP_WORDS=(${line//=/ = })
    set +f
    if [[ $line == *[=\\ ] && $line != *= ]]; then COMP_WORDS+=(''); fi
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) compopts=
    _vitals
    case $compopts in
    *default*) COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")) ;;
    *dirnames*) COMPREPLY+=($(compgen -d -- "${COMP_WORDS[COMP_CWORD]}")) ;;
    esac
    printf '%s\\n' "${COMPREPLY[@]}" END
done
"""

    def setUp(self):
        if shutil.which("bash") is None:
            self.skipTest("no bash here")
        self.shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-c", self.SCRIPT, "bash", FOLDER / "vitals"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=SOURCE)

    def tearDown(self):
        self.shell.stdin.close()
        self.shell.stdout.close()
        self.shell.wait(DEADLINE)

    def offers(self, line):
        self.shell.stdin.write(line + "\n")
        self.shell.stdin.flush()
        words = list(iter(lambda: self.shell.stdout.readline().rstrip("\n"), "END"))
        return [re.split(r"[,]-?", word)[-1] if word else word for word in words if word]

    def test_with_the_package(self):
        package = pathlib.Path("/usr/share/bash-completion/bash_completion")
        if not package.exists():
            self.skipTest("no package bash-completion here")
        script = f"""
source {package}; source {FOLDER}/vitals
_mine() {{ COMPREPLY=(three four); }}; complete -F _mine mine
compopt() {{ :; }}
COMP_WORDS=(vitals run --limit-time 1 mine t) COMP_CWORD=5
COMP_LINE="vitals run --limit-time 1 mine t" COMP_POINT=32
_vitals; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        result = subprocess.run(["bash", "--norc", "--noprofile", "-c", script],
                                capture_output=True, text=True, check=False, timeout=DEADLINE)
        self.assertIn("three", result.stdout.split(), result.stderr)


class Fish(Shell, unittest.TestCase):
    def setUp(self):
        if shutil.which("fish") is None:
            self.skipTest("no fish here")
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)
        self.script = f"source {FOLDER}/vitals.fish; while read -l line; complete -C $line; echo END; end"
        self.shell = subprocess.Popen(
            ["fish", "--no-config", "-c", self.script], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE, cwd=SOURCE,
            env={**os.environ, "HOME": self.home.name, "XDG_CONFIG_HOME": self.home.name})

    def tearDown(self):
        if hasattr(self, "shell"):
            self.shell.stdin.close()
            self.shell.stdout.close()
            self.shell.wait(DEADLINE)

    def lines(self, line):
        self.shell.stdin.write(line + "\n")
        self.shell.stdin.flush()
        return list(iter(lambda: self.shell.stdout.readline().rstrip("\n"), "END"))

    def offers(self, line):
        # An option whose value may be left out is offered with "=" too.
        words = [word for word in (shown.split("\t")[0] for shown in self.lines(line))
                 if not re.fullmatch(r"--[\w-]+=", word)]
        return [re.sub(r"^(--[\w-]+=)?(.*,)?(-(?=rs))?", "", word) for word in words]

    def test_help_stands_beside_options(self):
        for command in COMMANDS[1:]:
            shown = dict(line.split("\t") for line in self.lines(f"vitals {command} --"))
            for row in options(command):
                self.assertEqual(shown[row.names[-1]], row.help)


class Zsh(Shell, unittest.TestCase):
    SETUP = ("stty -echo; PS1='READ''Y>' PS2= RPS1=; unset zle_bracketed_paste; setopt no_list_beep"
             " no_always_last_prompt no_prompt_cr no_prompt_sp; LISTMAX=0;"
             " fpath=({} $fpath); autoload -Uz compinit; compinit -u -D;"
             " bindkey '^G' list-choices; bindkey '^U' kill-whole-line")

    def setUp(self):
        if shutil.which("zsh") is None:
            self.skipTest("no zsh here")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(SOURCE)
            os.environ.update(TERM="dumb", HOME="/nonexistent", PS1="")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, 400, 0, 0))
        self.typed(self.SETUP.format(FOLDER) + "\n")

    def tearDown(self):
        if hasattr(self, "pid"):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.terminal)

    def typed(self, keys, end="READY>"):
        """What the terminal shows until the line editor waits again."""
        os.write(self.terminal, keys.encode())
        shown = ""
        while not shown.rstrip(" \r").endswith(end):
            if not select.select([self.terminal], [], [], DEADLINE)[0]:
                self.fail(f"no answer: {shown!r}")
            shown += os.read(self.terminal, 65536).decode(errors="replace")
        return shown

    def lines(self, line):
        # The list stands between the line and the command that follows it.
        shown = self.typed(f"{line}\x07\x15print -r DO''NE\n")
        return [one.rstrip() for one in re.split(r"\r*\n", shown)[1:]
                if "DO" not in one and "READY>" not in one and not one.startswith(line)]

    def offers(self, line):
        return [word for shown in self.lines(line)
                for word in (re.split(r" +-- ", shown)[0] if shown.startswith("-") or
                             " -- " in shown else shown).split()]

    def test_help_stands_beside_options(self):
        for command in COMMANDS[1:]:
            shown = "\n".join(self.lines(f"vitals {command} --")) + "\n"
            for row in options(command):
                with self.subTest(command=command, option=row.names[-1]):
                    self.assertIn(f" -- {row.help}\n", shown)


if __name__ == "__main__":
    unittest.main()
