"""The form that each screen of the monitor keeps, whatever was typed: its frames are closed, its lines
stand in their columns. Texts of others may hold anything and are left out.

`faults` knows a screen by what stands on it, and one that it does not know is a fault."""

import re

import screens

DIALOG = "┌─ Signal "
BRANCH = re.compile(r"[├└]─ ")


def blank(grid, y, begin=0, end=None):
    """Leaves a row out, or a part of it."""
    row = grid[y]
    end = len(row) if end is None else min(end, len(row))
    row[begin:end] = " " * max(0, end - begin)


# ---- each screen; `lines` and `grid` are the same, as text and as cells; the last row says something ----

def main(lines, grid, width):
    listed = False
    for y, line in enumerate(lines):
        if listed and grid[y] and grid[y][0] == "│":
            blank(grid, y, 1, len(grid[y]) - 1)
        listed = listed or "COMMAND" in line
    return screens.open_frames(grid, width)


def process(_, grid, width):
    blank(grid, 2, 1, width - 1)  # the user
    blank(grid, 3, 1, width - 1)  # the command
    return screens.open_frames(grid, width)


def device(lines, _, __):
    """Tiles: charts without a frame."""
    return [] if lines[1].startswith(" Utilization ") else [f"no tile: {lines[1]}"]


def environment(lines, _, width):
    return [] if lines[1] == "─" * width else [f"no rule: {lines[1]}"]


def columns(lines, _, __):
    """A box, and what the column says where the title has it."""
    begin = lines[1].index("what it says")
    wrong = [line for line in lines[2:] if line.strip() and
             not (re.match(r" \[[x ]\] ", line) and line[begin - 2:begin] == "  " and line[begin:begin + 1].strip())]
    return [f"no column: {line}" for line in wrong]


SAID = 20  # where the help says what a key does
HEADING = re.compile(r" [\w .]+ ─")


def help_(lines, _, __):
    wrong = [line for line in lines
             if len(line.rstrip()) > SAID and not HEADING.match(line) and not (line[SAID - 1] == " " and line[SAID].strip())]
    return [f"not in its column: {line}" for line in wrong]


def tree(lines, _, __):
    """Above a branch is its parent, or another branch of it; below one that goes on is the next."""
    head = next(y for y, line in enumerate(lines) if "COMMAND" in line)
    rows, found = [screens.cells(line) for line in lines[head + 1:] if "  q back" not in line], []
    begin = lines[head].index("COMMAND")
    if any(re.match(r"\d+ +(│ +)*[├└]─ ", "".join(filter(None, row[begin:]))) for row in rows):
        return []  # outer levels are a number

    def at(y, x):
        return rows[y][x] if 0 <= y < len(rows) and 0 <= x < len(rows[y]) else " "

    for y, row in enumerate(rows):
        x = begin
        while at(y, x) in "│├└" or (at(y, x) == " " and any(cell in "│├└" for cell in row[x:x + 4])):
            if at(y, x) in "├│" and y + 1 < len(rows) and rows[y + 1] and at(y + 1, x) not in "│├└":
                found.append(f"line {y}, column {x}: nothing below")
            if at(y, x) in "├└│" and y > 0 and at(y - 1, x) not in "│├" and at(y - 1, x) == " ":
                found.append(f"line {y}, column {x}: nothing above")
            if at(y, x) in "├└":
                break
            x += 3
    return found


def alerts(lines, _, __):
    """Titles, and below them a mark and a time."""
    titles = re.match(r"   from +until +for +what$", lines[1].rstrip())
    wrong = [line for line in lines[2:] if line.strip() and not re.match(r" [●▲] (before )?\S|   nothing", line)]
    return [f"no alert: {line}" for line in wrong] + ([] if titles else [f"no titles: {lines[1]}"])


def settings(lines, _, __):
    wrong = [line for line in lines[2:-1] if line.strip() and not re.match(r" \w[\w ]{21} \S", line)]
    return [f"no setting: {line}" for line in wrong]


# By a mark of it, the first that is there.
SCREENS = ((r"^ Settings  ", settings), (r"^ GPU \d.* of \d+$", device), (r"^ Columns of the list", columns), (r"(any other|Any) key goes back", help_),
           (r"^ What needed attention", alerts), (r"^Environment of ", environment), (r"^┌─ Process ", process), (r"^ Tree of processes", tree), (r"rocesses:|^│ VITALS \d", main))


def dialog(grid):
    """Where it lies: top, left, bottom, right; None: there is none. And what is wrong with it."""
    for y, row in enumerate(grid):
        x = "".join(cell or "\0" for cell in row).find(DIALOG)
        if x < 0:
            continue
        right = next((at for at in range(x, len(row)) if row[at] == "┐"), None)
        bottom = next((at for at in range(y + 1, len(grid)) if grid[at][x:x + 1] == ["└"]), None)
        if right is None or bottom is None or grid[bottom][right:right + 1] != ["┘"]:
            return None, ["the dialog has no corner"]
        sides = [at for at in range(y + 1, bottom) if (grid[at][x], grid[at][right]) != ("│", "│")]
        return (y, x, bottom, right), [f"the dialog is open in line {at}" for at in sides]
    return None, []


BESIDE = {"above": (-1, 0), "below": (1, 0), "left": (0, -1), "right": (0, 1)}


def hidden(fault, box):
    """Whether what is missing would stand below the dialog, or is of it."""
    if box is None or isinstance(fault, str):
        return box is not None  # lines of a text are cut by it
    y, x, _, way, _ = fault
    top, left, bottom, right = box
    by, bx = BESIDE[way]
    return top <= y + by <= bottom and left <= x + bx <= right


def faults(text, width, height):
    """What is wrong with a screen, as a list; empty: nothing."""
    lines = text.splitlines()[:height - 1]
    grid = [screens.cells(line) for line in lines]
    long = [f"line {y} has {len(row)} columns" for y, row in enumerate(grid) if len(row) > width]
    look = next((look for mark, look in SCREENS if re.search(mark, text, re.MULTILINE)), None)
    if look is None:
        return [*long, "no screen that is known"]
    box, open_box = dialog(grid)
    return long + open_box + [fault for fault in look(lines, grid, width) if not hidden(fault, box)]
