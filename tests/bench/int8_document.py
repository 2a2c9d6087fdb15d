"""results/2026-11-25-zen4-int8.json and the page made of it: speed, accuracy and the small net are measured by programs of their own, each replaces its part."""

import datetime
import json

from int8_page import page
from judge import describe_cpu
from programs import program, run


def common(command, results, skipped, facts):
    """What every part says about its measurement."""
    return {"date": datetime.date.today().isoformat(), "command": command, "cpu": describe_cpu(facts), "skipped": skipped,
            "versions": run([program("halftone"), "version"], "halftone version").strip(), "results": results}


def command_of(mode, arguments):
    """As somebody else would give it: without what only says where things are kept."""
    shown, skip = [], False
    for argument in arguments:
        if skip or argument == "--resume" or argument.startswith("--state"):
            skip = argument == "--state"
            continue
        shown.append(argument)
    return " ".join(["./dev bench", mode, *shown])


def add_files(parser):
    parser.add_argument("--json", metavar="FILE", help="write everything measured to this file, beside what it has of the other parts")
    parser.add_argument("--markdown", metavar="FILE", help="write the page to this file (default: print it)")
    parser.add_argument("--page", action="store_true", help="measure nothing: the page again, from --json")


def read(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, TypeError):
        return {}


def write(options, new):
    """`new`: the parts that were measured; the others stay."""
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
