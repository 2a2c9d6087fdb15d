#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/fusion_parity.md: each row names a rule that exists and a golden case that runs, or a reason; no rule is left out.

A row: | pattern | ours | shown by |
    ours      `fuse-gelu`, several, or "no meaning: ...", "refused: ..." (no kernel could be faster) or "missing: ..."
    shown by  `fuse-gelu` "title of a case of tests/passes/fuse-gelu.graph", or `path/of/a_test.cc` "name of the test"
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import REPO, Failure, case, main  # noqa: E402

PAGE = REPO / "docs/reference/fusion_parity.md"
GOLDEN = REPO / "tests/passes"
SHOWN = re.compile(r'`([\w./-]+)` "([^"]+)"')
EXCUSES = ("no meaning: ", "refused: ", "missing: ")


def rows():
    """(line, pattern, ours, shown by) of every table row but headings."""
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        cells = [c.strip() for c in line.replace("\\|", "\0").strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and cells[0] != "pattern" and not set(cells[0]) <= set("-: "):
            yield number, *(c.replace("\0", "|") for c in cells)


def fusion_rules():
    text = (REPO / "passes/fusion/rules.cc").read_text() + "".join(p.read_text() for p in (REPO / "passes/fusion").glob("*.cc"))
    return set(re.findall(r'name\(\) const override \{ return "([a-z0-9-]+)"; \}', text))


def problem_of(pattern, ours, shown):
    if ours.startswith(EXCUSES):
        return "" if len(ours.split(": ", 1)[1]) > 10 else "the reason says nothing"
    names = re.findall(r"`([\w-]+)`", ours)
    if not names:
        return "it names neither a rule or pass nor a reason"
    cases = SHOWN.findall(shown)
    if not cases:
        return "it names no test"
    for where, title in cases:
        path = REPO / where if "/" in where else GOLDEN / f"{where}.graph"
        if not path.exists():
            return f"there is no {path.relative_to(REPO)}"
        text = path.read_text()
        if f'case "{title}"' not in text and title not in text:
            return f"{path.relative_to(REPO)} has no '{title}'"
    return ""


@case("every row has a test that exists, or a reason")
def _(t):
    problems = [f"docs/reference/fusion_parity.md:{n}: {pattern}: {p}" for n, pattern, ours, shown in rows() if (p := problem_of(pattern, ours, shown))]
    if problems:
        raise Failure("\n".join(problems))
    t.check(len(list(rows())) > 50, "the table has less than 50 rows: are they still read?")


@case("every fusion rule has a row")
def _(t):
    text = PAGE.read_text()
    left = sorted(rule for rule in fusion_rules() if f"`{rule}`" not in text)
    t.check(not left, f"docs/reference/fusion_parity.md names no {', '.join(left)}")


@case("the count at the top is that of the rows")
def _(t):
    all_rows = list(rows())
    no_meaning, refused, missing = (sum(ours.startswith(word) for _, _, ours, _ in all_rows) for word in EXCUSES)
    wanted = f"**{len(all_rows) - missing - refused - no_meaning} of {len(all_rows) - no_meaning} patterns"
    head = PAGE.read_text()
    t.check(wanted in head, f"docs/reference/fusion_parity.md does not begin with '{wanted}'")
    t.check(wanted.strip("*") in (REPO / "README.md").read_text(), f"README.md does not say '{wanted.strip('*')}'")
    words = {0: "none is missing", 1: "1 is missing and says so"}.get(missing, f"{missing} are missing and say so")
    left = f"{words}; {refused} {'is' if refused == 1 else 'are'} refused"
    t.check(left in head, f"docs/reference/fusion_parity.md does not say '{left}'")


main()
