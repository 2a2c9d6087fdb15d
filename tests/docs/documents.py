# SPDX-License-Identifier: Apache-2.0
"""README.md and docs/ as data: fenced blocks, commands, code spans, links."""

import dataclasses
import re

FENCE = re.compile(r"^```(\w*)\s*$")
SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


@dataclasses.dataclass
class Block:
    language: str
    line: int
    lines: list


@dataclasses.dataclass
class Command:
    """A command of a console block, and the output that is shown below it."""
    text: str
    line: int
    output: list


class Document:
    def __init__(self, path):
        self.path, self.blocks, prose, block = path, [], [], None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            fence = FENCE.match(line.strip())
            if block is None and fence:
                block = Block(fence.group(1), number, [])
            elif block is not None and fence:
                self.blocks.append(block)
                block = None
            elif block is not None:
                block.lines.append(line)
            else:
                prose.append(line)
        if block is not None:
            raise ValueError(f"{path}:{block.line}: the block has no end")
        self.prose = "\n".join(prose)

    def commands(self):
        commands = []
        for block in self.blocks:
            command = None
            for offset, line in enumerate(block.lines if block.language == "console" else [], 1):
                if line.startswith("$ "):
                    command = Command(line[2:], block.line + offset, [])
                    commands.append(command)
                elif command is not None:
                    command.output.append(line)
        return commands

    def spans(self):
        return [" ".join(span.split()) for span in SPAN.findall(self.prose)]

    def code(self):
        """Every line of code: of all blocks, with continued lines joined, and code spans."""
        lines = []
        for block in self.blocks:
            lines += "\n".join(block.lines).replace("\\\n", " ").splitlines()
        return [line.removeprefix("$ ") for line in lines] + self.spans()

    def links(self):
        return LINK.findall(self.prose)

    def anchors(self):
        kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(self.prose))
        return {heading.strip().replace(" ", "-") for heading in kept}


def normal(line):
    """The stable part of a line of output: without numbers, noise of the machine and the width of columns."""
    line = re.sub(r"\bINVALID\b|\bexact\b", " ", line)
    line = re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", line)
    return " ".join(line.replace("-" * 3, "").split())


def missing_line(expected, actual):
    """The first expected line that is not found, in this order; None if all are. "..." matches any lines between."""
    place, lines = 0, [normal(line) for line in actual.splitlines()]
    for line in expected:
        wanted = normal(line)
        if not wanted or wanted == "...":
            continue
        if wanted.endswith("..."):
            found = next((i for i in range(place, len(lines)) if lines[i].startswith(wanted[:-3].rstrip())), None)
        else:
            found = next((i for i in range(place, len(lines)) if lines[i] == wanted), None)
        if found is None:
            return line
        place = found + 1
    return None
