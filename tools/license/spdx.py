#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the SPDX line of the licence at the head of every source file that Git knows.

    tools/license/spdx.py           adds the line where it is missing
    tools/license/spdx.py --check   changes nothing; lists the files without it, exit code 1 if there are any

The line is the first one, or the second one below "#!". LICENSE has the text. Data has no line: models, golden graphs, tables of cases.
"""

import argparse
import pathlib
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
LINE = "SPDX-License-Identifier: Apache-2.0"
SLASHES = {".h", ".cc", ".proto", ".inc"}
HASHES = {".py", ".sh", ".bzl", ".yml"}
HASH_NAMES = {"BUILD", "WORKSPACE", "Dockerfile"}


def comment_of(path, first_line):
    """How the file writes a comment; None for a file that is no source."""
    if path.suffix in SLASHES:
        return "//"
    if path.suffix in HASHES or path.name in HASH_NAMES or first_line.startswith("#!"):
        return "#"
    return None


def with_line(path, text):
    """The text with the line; the same text where it has one already, or where the file is no source."""
    lines = text.split("\n")
    comment = comment_of(path, lines[0])
    place = 1 if lines[0].startswith("#!") else 0
    if comment is None or (place < len(lines) and lines[place] == f"{comment} {LINE}"):
        return text
    return "\n".join([*lines[:place], f"{comment} {LINE}", *lines[place:]])


def sources(folder):
    """Files that Git knows, without symbolic links and files that are no text."""
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", folder, "ls-files", "-z"], check=True, capture_output=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        path = pathlib.Path(folder, name)
        if path.is_symlink() or not path.is_file():
            continue
        try:
            yield path, path.read_bytes().decode()
        except UnicodeDecodeError:
            continue


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="list the files without the line, change nothing")
    parser.add_argument("--root", type=pathlib.Path, default=REPO, help="the clone (default: this one)")
    options = parser.parse_args(arguments)
    missing = [(path, new) for path, text in sources(options.root) if (new := with_line(path, text)) != text]
    for path, new in missing:
        if options.check:
            print(path.relative_to(options.root))
        else:
            path.write_bytes(new.encode())
    print(f"{len(missing)} files {'have no' if options.check else 'got the'} line '{LINE}'", file=sys.stderr)
    return 1 if options.check and missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
