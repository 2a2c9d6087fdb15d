#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no retired word stands in the repository: files use the terms of oneDNN, ONNX Runtime and OpenVINO.

    retired_words.py ROOT LIST

Searches the paths and lines of all text files that git tracks, except CHANGELOG.md, LIST and recorded results. An entry of LIST:

    WORD  TERM                  the retired word and, after two spaces, the term that replaces it
        find PATTERN            what to search for
        except PATTERN  REASON  a line (with its path in front) that matches this is right

Patterns are regular expressions that ignore case unless they say (?-i:...). Prints PATH:LINE: "FOUND": TERM for each hit, then the
counts. Exit code 1 if there is a hit.
"""

import pathlib
import re
import subprocess
import sys

LEFT_OUT = re.compile(r"(^|/)CHANGELOG\.md$|\.(json|npz|npy|onnx|pb|svg|png)$")  # JSON, SVG: recorded results


class Entry:
    def __init__(self, line):
        self.word, self.term = re.split(r"\s\s+", line, maxsplit=1)
        self.patterns, self.exceptions, self.hits = [], [], []

    def search(self, path, number, line):
        for pattern in self.patterns:
            found = pattern.search(line)
            if found and not any(e.search(f"{path}: {line}") for e in self.exceptions):
                self.hits.append(f'{path}:{number}: "{found[0].strip()}": {self.term}')
                return


def read_list(path):
    entries = []
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            entries.append(Entry(line))
            continue
        keyword, pattern = line.split(None, 1)
        into = {"find": entries[-1].patterns, "except": entries[-1].exceptions}.get(keyword)
        if into is None:
            raise SystemExit(f"{path}: '{keyword}' should be 'find' or 'except'")
        into.append(re.compile(re.split(r"\s\s+", pattern)[0], re.IGNORECASE))
    return entries


def tracked_files(root):
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"], capture_output=True, check=True).stdout.decode()
    return [path for path in listed.split("\0") if path and not LEFT_OUT.search(path)]


def main():
    root, list_path = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    entries = read_list(list_path)
    any_word = re.compile("|".join(f"(?:{p.pattern})" for e in entries for p in e.patterns), re.IGNORECASE)
    files = 0
    for path in tracked_files(root):
        if not (root / path).is_file() or (root / path).samefile(list_path):
            continue
        try:
            text = (root / path).read_text()
        except UnicodeDecodeError:
            continue
        files += 1
        for number, line in [(0, path), *enumerate(text.splitlines(), 1)]:
            if any_word.search(line):
                for entry in entries:
                    entry.search(path, number, line)
    for entry in entries:
        print("".join(hit + "\n" for hit in entry.hits), end="")
    failed = sum(len(e.hits) for e in entries)
    print(f"{len(entries)} retired words, {failed} hits in {files} files")
    sys.exit(1 if failed else 0)


main()
