#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds functions that a header declares, but that no file other than the one with their definition uses.

    unused_functions.py ROOT EXCEPTIONS [FOLDER...]     folders below ROOT; default: all with C++ sources

Looks at functions of namespaces and public functions of classes, by name only: a function counts as used if any other file has its
name outside of comments and strings, or if its header has it more often than it declares it. So two functions of one name are found
only if both are unused. A function that only its own .cc file calls belongs into an anonymous namespace there, or is private.

Each line of EXCEPTIONS is a header, a name and a reason. An exception that is not needed is an error.
Prints one line per unused function: HEADER:LINE: NAME: "not used" or "used by FILE only". Exit code 1 if there is any.
"""

import collections
import pathlib
import re
import sys

from cpp_text import SKIP_WITH_INCLUDES, blank, sources

FOLDERS = ("base", "ir", "passes", "formats", "runtime", "optimizer", "server", "client", "report", "tools", "tests")

# Called by the language or by libraries: range-based for, hash tables, printing by GoogleTest and Abseil.
IMPLICIT = {"begin", "end", "swap", "PrintTo", "AbslHashValue", "AbslStringify"}
NO_FUNCTION = {"if", "for", "while", "switch", "return", "sizeof", "decltype", "alignas", "noexcept", "requires", "static_assert", "catch",
               "operator", "explicit", "defined"}

NAMESPACE = re.compile(r"\bnamespace\b[\w\s:]*$")
CLASS = re.compile(r"\b(class|struct|union)\b[^;()=]*?\b(\w+)\s*(?:final\s*)?(?::(?!:)[^;()=]*)?$")
ACCESS = re.compile(r"\b(public|protected|private)\s*:(?!:)")
NAME = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def without_templates(head):
    """`head` without what is inside angle brackets, of the same length."""
    head = head.replace("->", "  ").replace("<<", "  ").replace(">>", "> ") if "operator" in head else head.replace("->", "  ")
    while True:
        shorter = re.sub(r"<[^<>]*>", lambda found: " " * len(found[0]), head)
        if shorter == head:
            return head
        head = shorter


def declared_function(head, scope):
    """The match of the function's name in `head`, the text of a declaration up to its ';' or '{'; None if it is no function."""
    head = without_templates(head)
    if re.search(r"\b(using|typedef|friend|operator|static_assert)\b", head):
        return None
    found = NAME.search(head)
    if found is None or found[1] in NO_FUNCTION or found[1].startswith(("ABSL_", "HALFTONE_")) or found[1] == scope:
        return None
    before = head[:found.start()]
    if "=" in before or "~" in before or not re.search(r"[\w>*&]\s*$", ACCESS.sub("", before)):
        return None
    return found


def declarations(text):
    """(name, line) of the functions of namespaces and of public parts of classes that `text`, a header, declares."""
    text = blank(text)
    scopes, start = [], 0  # a scope: [kind, name, access]; kind: "namespace", "class" or "other"
    for found in re.finditer(r"[{};]", text):
        head = text[start:found.start()]
        if scopes and scopes[-1][0] == "class":
            for label in ACCESS.finditer(head):
                scopes[-1][2] = label[1]
        if found[0] in "{;" and all(kind != "other" and access == "public" for kind, _, access in scopes):
            function = declared_function(head, scopes[-1][1] if scopes else "")
            if function:
                yield function[1], text.count("\n", 0, start + function.start(1)) + 1
        if found[0] == "{":
            named = CLASS.search(without_templates(head).rstrip())
            if NAMESPACE.search(head):
                scopes.append(["namespace", "", "public"])
            elif named and not re.search(r"\benum\b", head):
                scopes.append(["class", named[2], "private" if named[1] == "class" else "public"])
            else:
                scopes.append(["other", "", ""])
        elif found[0] == "}" and scopes:
            scopes.pop()
        start = found.end()


def defines(text, name):
    """Whether `text` defines a function `name` that a header declares: at the start of a line, and not in an expression."""
    return any("=" not in found[1] and "(" not in found[1] for found in re.finditer(rf"^([\w:][^\n]*?)\b{name}\s*\(", text, re.M))


def unused(files):
    """(header, line, name, problem) of each unused function. `files`: (path, text)."""
    texts = dict(files)
    code = {path: blank(text, SKIP_WITH_INCLUDES) for path, text in files}
    counts = {path: collections.Counter(re.findall(r"[A-Za-z_]\w*", text)) for path, text in code.items()}
    mentions = collections.defaultdict(list)  # name -> files
    for path, names in counts.items():
        for name in names:
            mentions[name].append(path)

    def is_definition(path, header, name):
        return f'#include "{header}"' in texts[path] and defines(code[path], name)

    for header in (path for path in texts if path.endswith(".h")):
        lines = collections.defaultdict(list)
        for name, line in declarations(texts[header]):
            lines[name].append(line)
        for name, declared in lines.items():
            others = [path for path in mentions[name] if path != header]
            if name in IMPLICIT or counts[header][name] > len(declared) or len(others) > 1:
                continue
            if others and not is_definition(others[0], header, name):
                continue
            calls = others and counts[others[0]][name] > len(declared)
            yield header, declared[0], name, f"used by {others[0]} only" if calls else "not used"


def read_exceptions(path):
    """The (header, name) of each line."""
    lines = pathlib.Path(path).read_text().splitlines()
    return {tuple(line.split(None, 2)[:2]) for line in lines if line and not line.startswith("#")}


def main():
    exceptions = read_exceptions(sys.argv[2])
    files = sources(sys.argv[1], sys.argv[3:] or FOLDERS)
    found = {(header, name): f"{header}:{line}: {name}: {problem}" for header, line, name, problem in unused(files)}
    lines = [line for key, line in found.items() if key not in exceptions]
    lines += [f"{sys.argv[2]}: {header} {name}: the exception is not needed" for header, name in sorted(exceptions - found.keys())]
    count = sum(1 for path, text in files if path.endswith(".h") for _ in declarations(text))
    print("\n".join(lines) or f"{count} functions, {len(found)} exceptions")
    sys.exit(1 if lines else 0)


main()
