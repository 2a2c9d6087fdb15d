#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the graph, the passes and the runtime do not know file formats: no identifier and no string in them names one.

    file_formats.py ROOT EXCEPTIONS FOLDER...     folders below ROOT; EXCEPTIONS: see file_formats.txt

The attributes of an op define its meaning, and a FileDialect (ir/file_dialect.h), which formats/ implements, tells what a file can
hold. Comments may cite the origin of something. Prints one line per hit: FILE:LINE: the line. Exit code 1 if there is any, or if an
exception is not needed.
"""

import pathlib
import re
import sys

# Also names that importers and exporters give to what they keep ("tf.absent" in Node::extra), and reading the format's name.
FORMAT = re.compile(r"(?i:onnx|graph_?def|tensor_?flow|saved_?model|GraphFormat|ModelFormat)|ITEX|Itex|\bitex|\"tf\.|kHeaderFormat")
# Comments, but not text inside of a string or a character that looks like one.
COMMENT = re.compile(r"""(?P<kept>\bu?8?R"(?P<end>[^()\s\\]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')|//(?:\\\n|[^\n])*|/\*.*?\*/""", re.S)


def code(text):
    """`text` without its comments. Line numbers do not change."""
    return COMMENT.sub(lambda found: found[0] if found["kept"] else re.sub(r"[^\n]", "", found[0]), text)


def exceptions(path):
    """(pattern of files, pattern of lines) -> reason."""
    rows = [line.split(None, 2) for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return {(file, line): reason for file, line, reason in rows}


def main():
    root, allowed = pathlib.Path(sys.argv[1]), exceptions(pathlib.Path(sys.argv[2]))
    used, hits = set(), []
    for file in sorted(p for folder in sys.argv[3:] for s in ("*.h", "*.cc", "*.inc") for p in (root / folder).rglob(s)):
        name = str(file.relative_to(root))
        for number, line in enumerate(code(file.read_text()).splitlines(), 1):
            if not FORMAT.search(line):
                continue
            excepted = [row for row in allowed if re.fullmatch(row[0], name) and not FORMAT.search(re.sub(row[1], "", line))]
            used.update(excepted)
            if not excepted:
                hits.append(f"{name}:{number}: {line.strip()}")
    hits += [f"the exception is not needed: {file} {line}" for file, line in allowed if (file, line) not in used]
    print("\n".join(hits))
    sys.exit(1 if hits else 0)


main()
