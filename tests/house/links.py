"""Every link of README.md and docs/ to another file of the tree leads somewhere, and every test that
docs/verified/findings.md names is there."""

import functools
import os
import pathlib
import re
import unittest
import urllib.parse

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))

# What looks like a link inside of these is none.
CODE = re.compile(r"^(```|~~~).*?^\1|^(?: {4}|\t).*?$", re.MULTILINE | re.DOTALL)
LINK = re.compile(
    r"""\]\(\s*<?([^)>\s]+)                  # [text](target)
      | ^\ {0,3}\[[^\]]+\]:\s*<?([^>\s]+)    # [text]: target
      | (?:src|href)\s*=\s*["']([^"']+)      # <img src="target">""",
    re.MULTILINE | re.VERBOSE,
)


def links(text):
    """The files that a page links to, as it names them."""
    for found in LINK.finditer(CODE.sub("", text)):
        target = urllib.parse.urlsplit(next(filter(None, found.groups())))
        if not target.scheme and not target.netloc and target.path:
            yield urllib.parse.unquote(target.path)


def broken(pages, root):
    """"page: target" for each link to a file that is not there, or not in the tree."""
    lines = []
    for page in pages:
        for target in links(page.read_text(encoding="utf-8")):
            file = (page.parent / target).resolve()
            if not file.exists() or not file.is_relative_to(root.resolve()):
                lines.append(f"{page.relative_to(root)}: {target}")
    return lines


def named_tests(text):
    """(program, case) for "`program`: case, case" in the last column of a table; what stands in brackets
    explains."""
    for row in re.findall(r"^\|.*\|([^|]+)\|$", text, re.MULTILINE):
        for program, cases in re.findall(r"`([\w-]+)`: ([^;`]+)", re.sub(r"\([^()]*\)", "", row)):
            for case in cases.split(","):
                yield program, case.strip()


@functools.cache
def texts(folder, pattern):
    return "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "tests" / folder).glob(pattern))


def is_test(program, case):
    """A case of a program of tests/, a file of a room of unit tests, or a sentence in one."""
    if not program.startswith("unit-"):
        places = (("command", f"test_{program}.py"), ("house", f"{program}.py"),
                  ("oracle", f"test_{program.removeprefix('oracle_')}.py"))
        return any(f"def test_{case}(" in texts(*place) for place in places)
    room = "unit/" + program.removeprefix("unit-").replace("-", "_")
    return (SOURCE / "tests" / room / f"test_{case}.c").exists() or f'{{"{case}"' in texts(room, "*.c")


class Findings(unittest.TestCase):
    def test_every_test_that_is_named_is_there(self):
        named = list(named_tests((SOURCE / "docs" / "verified" / "findings.md").read_text(encoding="utf-8")))
        self.assertGreater(len(named), 60)
        self.assertEqual([one for one in named if not is_test(*one)], [])


class Links(unittest.TestCase):
    def test_every_one_leads_somewhere(self):
        pages = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]
        self.assertGreater(len(list(links(pages[0].read_text(encoding="utf-8")))), 5)
        self.assertEqual(broken(pages, SOURCE), [])

    def test_every_form_of_a_link_is_seen(self):
        text = """[a](one.md) ![b](two.svg "title") [c](three.md#part) [`d`](<four.md>)
[e](https://example.org/five) [f](#six) [g](mailto:seven@example.org)
<img src="eight.png">

[nine]: nine.md

    [not](ten.md)

```c
[](eleven.md)
```
[h](twelve%20words.md)
"""
        self.assertEqual(
            list(links(text)),
            ["one.md", "two.svg", "three.md", "four.md", "eight.png", "nine.md", "twelve words.md"],
        )

    def test_a_broken_one_is_named(self):
        page = SOURCE / "README.md"
        there, gone = page.name, "there/is/no-such-file"
        self.assertFalse((SOURCE / gone).exists())

        class Page(type(page)):
            def read_text(self, *_, **__):
                return f"[x]({there}) [y]({gone}) [z](../..)"

        self.assertEqual(broken([Page(page)], SOURCE), [f"README.md: {gone}", "README.md: ../.."])


if __name__ == "__main__":
    unittest.main()
