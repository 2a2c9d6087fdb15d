#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds violations of the one definition rule: a class, struct, union or enum of a named namespace that two files define.

    one_definition.py ROOT [FOLDER...]     folders below ROOT; default: those of the product

Two definitions of one name are undefined behaviour that neither compiler nor linker has to report: usually the constructors and
destructors of one type run for the other. Types in an anonymous namespace, in another type or in a function do not count. A test
(*_test.cc) is a program of its own: it is compared with the product, not with other tests. Prints one line per violation:
NAME: FILE:LINE, FILE:LINE. Exit code 1 if there is any.
"""

import collections
import re
import sys

from cpp_text import blank, sources

FOLDERS = ("base", "ir", "passes", "formats", "runtime", "optimizer", "server", "client", "report")

NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b\s*((?:\w+(?:\s*::\s*\w+)*)?)\s*$")
# "class Name final : public Base"; not Name<...>, which is a specialization, nor Outer::Name.
TYPE = re.compile(r"(?:^|[\s>])(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:(?:alignas\s*\([^()]*\)|\[\[[^\]]*\]\]|ABSL_\w+(?:\([^()]*\))?)\s+)*"
                  r"(\w+)\s*(?:final\s*)?(?::(?!:)[^;()=]*)?$")


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


def violations(files):
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
    files = sources(sys.argv[1], sys.argv[2:] or FOLDERS)
    lines = list(violations(files))
    print("\n".join(lines) or f"{sum(1 for _, text in files for _ in definitions(text))} types in {len(files)} files")
    sys.exit(1 if lines else 0)


main()
