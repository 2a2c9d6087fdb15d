# SPDX-License-Identifier: Apache-2.0
"""The JSON of dev bench --int8 and the page made of it. Speed, accuracy and the small net are parts; a program measures and replaces one part."""

import datetime
import json

from int8_page import page
from evaluation import describe_cpu
from programs import program, run


def common(command, results, skipped, facts):
    """Fields that every part has."""
    return {"date": datetime.date.today().isoformat(), "command": command, "cpu": describe_cpu(facts), "skipped": skipped,
            "versions": run([program("halftone"), "version"], "halftone version").strip(), "results": results}


def command_of(mode, arguments):
    """The command that repeats the measurement: without flags that say where files are."""
    shown, skip = [], False
    for argument in arguments:
        if skip or argument == "--resume" or argument.startswith("--state"):
            skip = argument == "--state"
            continue
        shown.append(argument)
    return " ".join(["./dev bench", mode, *shown])


def add_files(parser):
    parser.add_argument("--json", metavar="FILE", help="write the measured part to this file; its other parts stay")
    parser.add_argument("--markdown", metavar="FILE", help="write the page to this file (default: print it)")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page of --json")


def read(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, TypeError):
        return {}


def write(options, new):
    """`new`: the measured parts; the other parts stay."""
    document = {**read(options.json), **new}
    if options.json:
        with open(options.json, "w") as file:
            file.write(json.dumps(document, indent=1) + "\n")
    text = page(document)
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write(text)
    else:
        print(text)
