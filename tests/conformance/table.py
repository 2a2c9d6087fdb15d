#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's backend tests and prints a table per operator and `N of M pass`.

    ./dev conformance              # exit code 1 if exceptions.txt does not agree with the results
    ./dev conformance --update     # also updates docs/reference/conformance.md and exceptions.txt

exceptions.txt has a row for each test that does not pass: its name, the class of the reason, and details.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
EXCEPTIONS = HERE / "exceptions.txt"
ONNXRUNTIME = HERE / "onnxruntime.txt"
PAGE = HERE.parent.parent / "docs/reference/conformance.md"
DATA = pathlib.Path(os.environ.get("HALFTONE_ONNX_TESTDATA", "/usr/share/libonnx-testdata/data"))
FOLDERS = {
    "node": "one operator per test",
    "simple": "small graphs",
    "pytorch-operator": "exported by PyTorch, one operator per test",
    "pytorch-converted": "exported by PyTorch, one layer per test",
    "light": "whole networks with constant weights",
}
CLASSES = {
    "strings": "text, and tensors of strings",
    "sequences": "inputs or outputs that are sequences of tensors",
    "optionals": "inputs or outputs that may be absent at run time",
    "training": "gradients and optimizers",
    "float8": "8-bit floats",
    "int4": "4-bit integers",
    "random": "random numbers: the expected output is only one of many",
    "images": "decoding of image files",
    "ai.onnx.ml": "classic machine learning",
    "data": "the expected output is doubtful, and not that of ONNX Runtime either",
    "gap": "not supported yet",
}
LINE = re.compile(r"^(PASS|FAIL) ([^\s:]+)(?:: (.*?))?  \[(.*)\]$")


class Result:
    def __init__(self, line):
        outcome, self.name, self.reason, ops = LINE.match(line).groups()
        self.passed = outcome == "PASS"
        self.ops = ops.split()
        self.folder = self.name.split("/")[0]


def program():
    for path in os.environ.get("PROGRAMS", "").split(":"):
        if os.path.basename(path) == "conformance":
            return os.path.abspath(path)
    return shutil.which("conformance") or sys.exit("conformance/table.py: no program 'conformance': call it by ./dev conformance")


def run():
    process = subprocess.run([program(), "--ops"], stdout=subprocess.PIPE, text=True, check=False)
    if process.returncode not in (0, 1):
        raise SystemExit("the program 'conformance' failed")
    return [Result(line) for line in process.stdout.splitlines() if line.startswith(("PASS ", "FAIL "))]


def read_exceptions():
    """name -> (class, detail), in the order of the file."""
    rows = {}
    for number, line in enumerate(EXCEPTIONS.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        name, kind, *detail = line.split(None, 2)
        where = f"{EXCEPTIONS.name}:{number}"
        if kind not in CLASSES:
            raise SystemExit(f"{where}: class '{kind}' is not one of {', '.join(CLASSES)}")
        if name in rows:
            raise SystemExit(f"{where}: '{name}' is listed twice")
        if kind == "gap" and not detail:
            raise SystemExit(f"{where}: a gap needs its reason")
        rows[name] = (kind, detail[0] if detail else "")
    return rows


def read_onnxruntime():
    return set(ONNXRUNTIME.read_text().split())


def problems(results, exceptions):
    """The differences between exceptions.txt and the results, one line each."""
    found = []
    names = set()
    for result in results:
        names.add(result.name)
        if result.passed and result.name in exceptions:
            found.append(f"{result.name} passes: remove its row from exceptions.txt")
        if not result.passed and result.name not in exceptions:
            found.append(f"{result.name} does not pass and is not in exceptions.txt: {result.reason}")
    found += [f"exceptions.txt lists {name}, which does not exist" for name in exceptions if name not in names]
    return found


def class_of(result, onnxruntime):
    """A guess for a new row, to be reviewed."""
    reason, name = result.reason, result.name.lower()
    for kind, pattern in (("strings", r"string|regex|tfidf|strnorm"), ("sequences", r"sequence"), ("optionals", r"optional"),
                          ("float8", r"float8"), ("int4", r"int4"), ("training", r"gradient|adagrad|adam|momentum"),
                          ("ai.onnx.ml", r"ai_onnx_ml"), ("images", r"image_decoder"),
                          ("random", r"bernoulli|random|training_dropout")):
        if re.search(pattern, name) or re.search(pattern, reason.lower()):
            return kind, ""
    if result.name not in onnxruntime:
        return "data", reason[:100]
    return "gap", reason[:100]


def update_exceptions(results, exceptions, onnxruntime):
    kept = [line for line in EXCEPTIONS.read_text().splitlines() if line.startswith("#") or not line]
    rows = []
    for result in results:
        if not result.passed:
            kind, detail = exceptions.get(result.name) or class_of(result, onnxruntime)
            rows.append(f"{result.name} {kind} {detail}".rstrip())
    EXCEPTIONS.write_text("\n".join(kept + sorted(rows)) + "\n")


def ops_of(results):
    """The operators of each node test; of one that ONNX expanded from a function, those of the function's test."""
    plain = {result.name: result.ops for result in results}
    return {result.name: plain.get(re.sub(r"_expanded.*", "", result.name), result.ops) for result in results}


def by_op(results):
    """op -> [passed, all]. A test of two operators counts for the first."""
    counts = collections.defaultdict(lambda: [0, 0])
    ops = ops_of(results)
    for result in results:
        if result.folder == "node":
            op = (ops[result.name] or ["?"])[0]
            counts[op][0] += result.passed
            counts[op][1] += 1
    return dict(sorted(counts.items(), key=lambda item: item[0].lower()))


def render(results, exceptions, onnxruntime):
    passed = sum(result.passed for result in results)
    lines = [
        "# Conformance",
        "",
        "ONNX's own backend tests (Debian's package `libonnx-testdata`), run in five ways: the engine on the imported graph,",
        "the reference functions, the engine after the optimizer, after export and import (bit-exact), and after optimizer, export,",
        "import and optimizer, as a client gets the file. A test passes if all five give the expected outputs: type, shape, and values",
        "within 1e-3 relative and 1e-7 absolute (more only where the op's row in `ir/ops.cc` says so; integers are exact).",
        "",
        "`./dev conformance` runs them and prints this page; `./dev conformance --update` writes it. `dev test` fails where this page or",
        "`tests/conformance/exceptions.txt` differs from the result: a listed test must fail, all others must pass.",
        "`tests/conformance/onnxruntime.txt` lists the tests that ONNX Runtime 1.21 passes by the same rules",
        "(without tests whose files have strings, sequences, optionals, bfloat16 or smaller types).",
        "",
        f"**{passed} of {len(results)} pass**",
        "",
        "| folder | | pass | of | ONNX Runtime |",
        "|---|---|---:|---:|---:|",
    ]
    for folder, meaning in FOLDERS.items():
        some = [result for result in results if result.folder == folder]
        theirs = sum(name.startswith(folder + "/") for name in onnxruntime)
        lines.append(f"| {folder} | {meaning} | {sum(r.passed for r in some)} | {len(some)} | {theirs or ''} |")
    lines += ["", "## Tests that do not pass", ""]
    for kind, meaning in CLASSES.items():
        names = [name for name, (its_kind, _) in exceptions.items() if its_kind == kind]
        if not names:
            continue
        lines.append(f"**{kind}** ({len(names)}): {meaning}.")
        plain = [name for name in names if not exceptions[name][1]]
        if plain:
            lines += ["", " ".join(f"`{name.replace('/test_', '/')}`" for name in plain)]
        detailed = [name for name in names if exceptions[name][1]]
        if detailed:
            lines += ["", *(f"* `{name.replace('/test_', '/')}`: {exceptions[name][1]}" for name in detailed)]
        lines.append("")
    lines += ["## Node tests by operator", "", "| operator | pass | of |", "|---|---:|---:|"]
    lines += [f"| {op} | {good} | {all_} |" for op, (good, all_) in by_op(results).items()]
    return "\n".join(lines) + "\n"


def main():
    if not DATA.is_dir():
        sys.exit(f"no backend tests in {DATA} (package libonnx-testdata; HALFTONE_ONNX_TESTDATA names another folder)")
    results = run()
    exceptions, onnxruntime = read_exceptions(), read_onnxruntime()
    if "--update" in sys.argv[1:]:
        update_exceptions(results, exceptions, onnxruntime)
        exceptions = read_exceptions()
        PAGE.write_text(render(results, exceptions, onnxruntime))
    print(f"{'operator':40} {'pass':>5} {'of':>5}")
    for op, (good, all_) in by_op(results).items():
        print(f"{op:40} {good:5} {all_:5}")
    print(f"\n{'folder':40} {'pass':>5} {'of':>5}")
    for folder in FOLDERS:
        some = [result for result in results if result.folder == folder]
        print(f"{folder:40} {sum(r.passed for r in some):5} {len(some):5}")
    wrong = problems(results, exceptions)
    for line in wrong:
        print(line)
    print(f"{sum(result.passed for result in results)} of {len(results)} pass")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
