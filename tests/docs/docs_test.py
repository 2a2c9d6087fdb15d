#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md, docs/ and results/ are up to date: commands run; flags, paths and links exist. The conventions are in CONTRIBUTING.md."""

import functools
import glob
import itertools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from documents import Document, missing_line  # noqa: E402
from harness import DEMO, REPO, Failure, case, main, program  # noqa: E402

PROGRAMS = ("halftone", "halftoned", "halftone-worker", "graph_opt")
PAGES = [*sorted(REPO.glob("*.md")), *sorted((REPO / "docs").rglob("*.md")), *sorted((REPO / "results").glob("*.md"))]
CHANGELOG = REPO / "CHANGELOG.md"  # names flags and files that are gone
FLAG = re.compile(r"^--[a-z][\w-]*")
SEPARATORS = {"|", "||", "&&", ";", "&", ">", "#"}


def documents():
    """The pages about the current state."""
    return [Document(path) for path in PAGES if path != CHANGELOG]


def name(document):
    return str(document.path.relative_to(REPO))


def fail_with(problems):
    if problems:
        raise Failure("\n".join(sorted(set(problems))))


# --- Commands that run.


def folder_with_models(t, document):
    folder = t.folder / document.path.stem
    shutil.copytree(DEMO, folder)
    programs = t.folder / "bin"
    programs.mkdir(exist_ok=True)
    for each in PROGRAMS:
        if not (programs / each).exists():
            (programs / each).symlink_to(program(each))
    return folder, dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", HALFTONE_HALFTONED=program("halftoned"),
                        HALFTONE_WORKER=program("halftone-worker"), HALFTONE_CACHE=str(folder / "cache"))


for _path in (path for path in PAGES if Document(path).commands()):

    @case(f"the commands of {_path.relative_to(REPO)} work and print what it shows")
    def _(t, path=_path):
        document = Document(path)
        folder, environment = folder_with_models(t, document)
        for command in document.commands():
            run = subprocess.run(["bash", "-c", command.text], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
            where = f"{name(document)}:{command.line}: {command.text}"
            t.equal(run.returncode, 0, f"{where}\n{run.stderr[-2000:]}")
            missing = missing_line(command.output, run.stdout + run.stderr)
            t.check(missing is None, f"{where}: no line like {missing!r} in its place in:\n{run.stdout}{run.stderr}")


# --- Flags and subcommands.


@functools.cache
def help_of(*command):
    run = subprocess.run([program(command[0]), *command[1:], "--help"], capture_output=True, text=True, timeout=60)
    return run.stdout + run.stderr


def has_flag(text, flag):
    return re.search(rf"(^|[\s,(]){re.escape(flag)}($|[\s=,:)])", text, re.M) is not None


def subcommands():
    listed = help_of("halftone").split("Subcommands:")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z]+)", listed, re.M)


def words_of(line):
    try:
        return shlex.split(line, comments=False)
    except ValueError:
        return line.split()


def problem_of(words):
    """Of one use of a program, its words up to the end of the command; "" if all of it exists."""
    used = list(itertools.takewhile(lambda word: word not in SEPARATORS and not word.startswith("2>"), words))
    command = [used[0]]
    if used[0] == "halftone" and len(used) > 1 and re.fullmatch(r"[a-z]+", used[1]):
        if used[1] not in subcommands():
            return f"halftone has no command '{used[1]}'"
        command.append(used[1])
    for word in used[1:]:
        flag = FLAG.match(word)
        if flag and flag.group() != "--help" and not has_flag(help_of(*command), flag.group()):
            return f"{' '.join(command)} has no flag {flag.group()}"
    return ""


@case("every subcommand and flag of our programs that is shown exists")
def _(t):
    problems = []
    for document in documents():
        for line in document.code():
            words = words_of(line)
            for i, word in enumerate(words):
                # "docker run ... halftone halftone": a name of an image is no use of the program.
                is_image = word == "halftone" and i + 1 < len(words) and words[0] in ("docker", "#")
                if word in ("halftone", "halftoned", "graph_opt") and not is_image and (problem := problem_of(words[i:])):
                    problems.append(f"{name(document)}: `{line}`: {problem}")
    fail_with(problems)


@case("every flag that stands alone exists somewhere")
def _(t):
    bench = "".join(script.read_text() for script in (REPO / "tests/bench").rglob("*.py"))
    known = "\n".join([help_of("halftoned"), help_of("graph_opt"), *(help_of("halftone", s) for s in subcommands()),
                       *re.findall(r'"(--[\w-]+)"', bench), "--update", "--child", "--check"])
    fail_with([f"{name(d)}: no program has `{span}`" for d in documents() for span in d.spans()
               if (flag := FLAG.match(span)) and not has_flag(known, flag.group())])


@case("every command of dev that is shown exists")
def _(t):
    known = re.search(r"case \$command in\s+([a-z| -]+)\)", (REPO / "dev").read_text()).group(1).split(" | ")
    fail_with([f"{name(d)}: `{line}`: dev has no command '{word}'" for d in documents() for line in d.code()
               for word in re.findall(r"(?:^|\./)dev ([a-z-]+)", line) if word not in [*known, "help"]])


# --- Paths and links.


def expansions(pattern):
    """a/{b,c}.h -> a/b.h, a/c.h"""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if not braces:
        return [pattern]
    return [e for word in braces.group(1).split(",") for e in expansions(pattern[:braces.start()] + word + pattern[braces.end():])]


@case("every path of this repository that is named exists")
def _(t):
    top = {entry.name for entry in REPO.iterdir()}
    problems = []
    for document in documents():
        for line in document.code():
            for word in re.findall(r"(?<![\w/.:$~-])(?:\./)?([\w.-]+/[\w./*{},-]*)", line):
                if word.split("/")[0] in top and "..." not in word:
                    problems += [f"{name(document)}: no {each}" for each in expansions(word.rstrip(".,")) if not glob.glob(str(REPO / each))]
    fail_with(problems)


@case("every page that a source file names exists")
def _(t):
    command = ["git", "-c", "safe.directory=*", "-C", REPO, "grep", "-InoE", r"\b(docs|results)/[A-Za-z0-9_./-]+\.(md|json|svg)", "--", ".", ":!*.md"]
    found = subprocess.run(command, capture_output=True, text=True)
    t.check(found.stdout, f"nothing found: {found.stderr}")
    problems = []
    for line in found.stdout.splitlines():
        file, number, page = line.split(":", 2)
        if not re.search("DATE|NAME", page) and not (REPO / page).exists():
            problems.append(f"{file}:{number}: no {page}")
    fail_with(problems)


@case("every link leads somewhere")
def _(t):
    problems = []
    for document in map(Document, PAGES):
        for link in document.links():
            if "://" in link:
                continue
            target, _, anchor = link.partition("#")
            path = (document.path.parent / target).resolve() if target else document.path
            if not path.exists():
                problems.append(f"{name(document)}: {link}: no such file")
            elif anchor and anchor not in Document(path).anchors():
                problems.append(f"{name(document)}: {link}: no such heading")
    fail_with(problems)


# --- The front page.


@case("the front page is short: 130 lines; one table of at most 8 rows, at most 3 numbers in a cell")
def _(t):
    text = (REPO / "README.md").read_text()
    t.check(len(text.splitlines()) <= 130, "README.md has more than 130 lines")
    tables = re.findall(r"(?:^\|.*\n)+", text, re.M)
    t.equal(len(tables), 1, "tables")
    rows = tables[0].splitlines()[2:]
    t.check(len(rows) <= 8, f"{len(rows)} rows")
    for cell in (cell for row in rows for cell in row.strip("|").split("|")):
        t.check(len(re.findall(r"(?<![\w.-])\d+(?:\.\d+)?", cell)) <= 3, f"'{cell}' has more than 3 numbers")


# --- References.


def fields_of(proto):
    text = re.sub(r"//.*", "", (REPO / "proto/halftone/v1" / proto).read_text())
    return set(re.findall(r"^\s+(?:repeated )?[\w.]+ (\w+) = \d+;", re.sub(r"enum \w+ \{[^}]*\}", "", text), re.M))


@case("the pages of the policy and the report name every field")
def _(t):
    for page, proto in (("policy.md", "policy.proto"), ("report.md", "report.proto")):
        words = set(re.findall(r"\w+", " ".join(Document(REPO / "docs/reference" / page).spans())))
        fail_with([f"docs/reference/{page} does not name '{field}' of {proto}" for field in fields_of(proto) - words])


@case("the comparison of output ignores numbers, and nothing else")
def _(t):
    t.equal(missing_line(["fp32 1.5 ms", "..."], "noise\nfp32   12 ms\n"), None)
    t.equal(missing_line(["b", "a"], "a\nb\n"), "a")
    t.equal(missing_line(["bf16 half"], "bf16 all\n"), "bf16 half")


main()
