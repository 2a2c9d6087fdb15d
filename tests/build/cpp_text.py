# SPDX-License-Identifier: Apache-2.0
"""C++ source as text, for the checks of this folder: sources are found, comments and strings are blanked."""

import pathlib
import re

# Comments, raw strings, strings and characters (but not the separator in 1'000).
LITERALS = r"""//(?:\\\n|[^\n])*|/\*.*?\*/|\bu?8?R"(?P<end>[^()\s\\]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"""
DIRECTIVES = r"^[ \t]*\#(?:\\\n|[^\n])*"
INCLUDES = r"^[ \t]*\#[ \t]*include[^\n]*"

SKIP_WITH_DIRECTIVES = re.compile(f"{LITERALS}|{DIRECTIVES}", re.S | re.M)
SKIP_WITH_INCLUDES = re.compile(f"{LITERALS}|{INCLUDES}", re.S | re.M)


def blank(text, skipped=SKIP_WITH_DIRECTIVES):
    """`text` with everything that matches `skipped` replaced by spaces. Line numbers do not change."""
    return skipped.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def sources(root, folders):
    """(path, text) of each C++ file below `folders` of `root`."""
    root = pathlib.Path(root)
    files = []
    for folder in folders:
        files += [(str(p.relative_to(root)), p.read_text()) for s in ("*.h", "*.cc", "*.inc") for p in sorted((root / folder).rglob(s))]
    if not files:
        raise SystemExit(f"{root}: no sources in {' '.join(folders)}")
    return files
