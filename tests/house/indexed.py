"""Tables that are indexed by an enum have a row for each of its constants.

A constant that was added without its row reads a NULL or a 0, or what lies behind the table, and a static
assertion sees no gap. Comments and strings are blanked out; a table begins with a designator that a constant is
in, as `static const char *const WORDS[] = {[KIND_NONE] = …`.
"""

import functools
import os
import pathlib
import re
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))

# Tables that lack rows on purpose: file and name, and why a missing row is right.
SPARSE = {
    ("src/export/prometheus/family_writers.c", "WRITERS"): "families of a run are written elsewhere; they are NULL",
    ("src/export/prometheus/nvitop_page.c", "NAMES"): "the others have no name; they are NULL",
    ("src/export/server/serve_request.c", "REFUSALS"): "two are answered elsewhere",
    ("src/export/usage_line.c", "SCOPES"): "single processes are not sent; the size is checked",
    ("src/gpu/clients.c", "LABELS"): "other engines have names of their own",
    ("src/model/rate.c", "RANKS"): "of values alone; of missing ones the number counts",
    ("src/os/linux/diagnosis/table_diagnosis_rights.c", "HIDDEN"): "what hides nothing is not told",
    ("src/os/linux/sockets/parse_net.c", "FILES"): "Unix sockets are parsed by another function",
    ("src/process/live.c", "LEVEL_MAX"): "without a class there is the level 0 alone",
    ("src/run/usage/usage.c", "SCOPES"): "a pass has no subjects for single processes",
}

BLANK = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
ENUM = re.compile(r"\benum\b\s*\w*\s*\{([^{}]*)\}")
TABLE = re.compile(r"(\w+)\[(\w*)\](?:\[[^\]\n]*\])*\s*=\s*(\{)\s*\[([A-Z]\w*)\]\s*=")
ROW = re.compile(r"[{}()]|\[(\w+)\]\s*=(?!=)")


def blanked(text):
    return BLANK.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def rows_of(text, begin):
    """The constants that have a row in the braces that open at `begin`."""
    depth, rows = 0, set()
    for found in ROW.finditer(text, begin):
        if found[0] in "{(":
            depth += 1
        elif found[0] in "})":
            depth -= 1
            if depth == 0:
                break
        elif depth == 1:
            rows.add(found[1])
    return rows


@functools.lru_cache
def read(root):
    return {str(path.relative_to(root)): blanked(path.read_text())
            for folder in ("src", "include") for path in sorted((root / folder).rglob("*.[ch]"))}


def gaps(root, sparse):
    """(file, table) of each table with an enum's constant missing, and the constants; and how many were seen."""
    texts = read(root)
    enums, sizes = {}, set()
    for file, text in texts.items():
        sizes.update(re.findall(r"\[([A-Z]\w*)\]", text))
        for found in ENUM.finditer(text):
            members = [one.strip() for one in found[1].split(",") if one.strip()]
            for member in members:
                enums.setdefault(member.split()[0], {})[file] = members
    missing, seen = {}, 0
    for file, text in texts.items():
        for found in TABLE.finditer(text):
            known = enums.get(found[4], {})
            members = known.get(file) or next(iter(known.values()), None)
            if members is None:
                continue  # numbers of the kernel's or a driver's header
            seen += 1
            last, *alias = members[-1].split(" = ")
            number = last in sizes or last.endswith(("_COUNT", "KINDS")) or "".join(alias) in members  # of the others
            wanted = [one.split()[0] for one in (members[:-1] if number else members)]
            rows = rows_of(text, found.start(3))
            lost = [one for one in wanted if one not in rows]
            if lost and (file, found[1]) not in sparse:
                missing[file, found[1]] = lost
    return missing, seen


class Indexed(unittest.TestCase):
    maxDiff = None

    def test_every_constant_has_its_row(self):
        missing, seen = gaps(SOURCE, SPARSE)
        self.assertEqual(missing, {})
        self.assertGreater(seen, 40)

    def test_the_list_of_exceptions_is_true(self):
        missing, _ = gaps(SOURCE, {})
        self.assertEqual(set(missing), set(SPARSE))

    def test_a_lost_row_is_seen(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "src").mkdir()
            (root / "include").mkdir()
            (root / "include/kinds.h").write_text("enum kind { KIND_A, /* KIND_X, */ KIND_B = 4, KIND_C, KINDS };\n")
            (root / "src/words.c").write_text(
                'static const char *const WORDS[KINDS] = {[KIND_A] = "[KIND_B] =", [KIND_C] = "c"};\n'
                'static const char *const WHOLE[] = {[KIND_A] = "a", [KIND_B] = "b", [KIND_C] = "c"};\n')
            self.assertEqual(gaps(root, {}), ({("src/words.c", "WORDS"): ["KIND_B"]}, 2))


if __name__ == "__main__":
    unittest.main()
