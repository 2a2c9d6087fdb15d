#!/usr/bin/env python3
"""One name, one type: no class, struct, union or enum of a named namespace is defined in two files that may be linked together.

    one_definition.py ROOT [FOLDER...]     folders below ROOT; without any those of the product

Two definitions of one name are undefined behaviour that neither compiler nor linker has to notice: mostly the constructors and
destructors of one are run for the other. What is in an anonymous namespace, or inside another type or a function, is nobody else's.
A test (*_test.cc) is a program of its own: it is compared with the product, not with other tests. Prints a line a clash:
NAME: FILE:LINE, FILE:LINE. Exit code 1 if there is any.
"""

import collections
import pathlib
import re
import sys

FOLDERS = ("base", "ir", "passes", "formats", "runtime", "optimizer", "server", "client", "report")

# What is skipped: comments, raw strings, strings, characters (not the separator in 1'000), lines of the preprocessor.
SKIPPED = re.compile(r"""//(?:\\\n|[^\n])*|/\*.*?\*/|\bu?8?R"(?P<end>[^()\s\\]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"""
                     r"""|^[ \t]*\#(?:\\\n|[^\n])*""", re.S | re.M)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b\s*((?:\w+(?:\s*::\s*\w+)*)?)\s*$")
# "class Name final : public Base"; not Name<...>, which is a specialization, nor Outer::Name.
TYPE = re.compile(r"(?:^|[\s>])(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:(?:alignas\s*\([^()]*\)|\[\[[^\]]*\]\]|ABSL_\w+(?:\([^()]*\))?)\s+)*"
                  r"(\w+)\s*(?:final\s*)?(?::(?!:)[^;()=]*)?$")


def blank(text):
    """`text` with what is skipped in spaces: lines stay where they are."""
    return SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def definitions(text):
    """(qualified name, line) of each type that is defined at the level of a namespace with a name."""
    text = blank(text)
    scopes, start = [], 0  # a scope: the name of a namespace, "" an anonymous one, None anything else
    for found in re.finditer(r"[{};]", text):
        if found[0] == "{":
            head = text[start:found.start()]
            namespace = NAMESPACE.search(head)
            if namespace:
                scopes.append(re.sub(r"\s", "", namespace[1]))
            else:
                named = TYPE.search(head.rstrip())
                if named and scopes and all(scopes):
                    at = start + named.start(1)
                    yield "::".join(scopes + [named[1]]), text.count("\n", 0, at) + 1
                scopes.append(None)
        elif found[0] == "}" and scopes:
            scopes.pop()
        start = found.end()


def clashes(files):
    """`files`: (path, text) -> lines."""
    places = collections.defaultdict(dict)  # name -> path -> line; a test's own name is kept apart
    for path, text in files:
        for name, line in definitions(text):
            places[name].setdefault(path, line)
    for name, found in sorted(places.items()):
        product = [p for p in found if not p.endswith("_test.cc")]
        if len(product) > 1 or product and len(found) > 1:
            yield f"{name}: " + ", ".join(f"{path}:{line}" for path, line in sorted(found.items()))


def main():
    root = pathlib.Path(sys.argv[1])
    files = []
    for folder in sys.argv[2:] or FOLDERS:
        files += [(str(p.relative_to(root)), p.read_text()) for s in ("*.h", "*.cc", "*.inc") for p in sorted((root / folder).rglob(s))]
    if not files:
        sys.exit(f"{root}: no sources in {' '.join(sys.argv[2:] or FOLDERS)}")
    lines = list(clashes(files))
    print("\n".join(lines) or f"{sum(1 for _, text in files for _ in definitions(text))} types in {len(files)} files")
    sys.exit(1 if lines else 0)


main()
