#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bf16 on every real model of the folder of shared data, with both planners; and on the networks of published tables.

    dev bench --precision [--models WORD,...] [--planners lists,placement] [--preset quick|standard|strict] [--resume]
                          [--markdown results/DATE-CPU-bf16-models.md --json results/DATE-CPU-bf16-models.json]
    dev bench --headline  [--nets NAME,...] [--batches 1,128] [--threads 1,2] [--rounds N] [--round-seconds S] [--planner lists] ...

The first reports per model and planner: bf16 nodes, casts, time, speed-up, SQNR, accuracy, and whether the targets are met (exit code 1 where
one is not). The second reports samples per second in fp32 and bf16 beside the numbers that Paddle and TensorFlow publish. Each writes its part
of one page; the other part stays. Without `dev bench`, where only Halftone's own programs are at hand (dev run --tier bench python3
tests/bench/precision_tables.py), precision, recall and F1 are left out.

Results are saved model by model; --resume continues. Nothing else should run on the machine. --page only writes the page again.
"""

import argparse
import datetime
import json
import os
import pathlib
import shutil
import sys
import tempfile

import headline
from evaluation import cpu_facts, describe_cpu
from files import Files, digest
from headline_numbers import BATCHES, NETS, THREADS
from measure import say, wait_for_quiet
from precision_page import cells, page
from precision_rows import add_predictions, checks_of, missed, row
from programs import HERE, BenchError, program, run
from state import State
from zoo import MODELS, PLANNERS, model_path

AGAIN = 2  # repetitions of an INVALID benchmark
SOURCES = ("zoo.py", "zoo_samples.py")


def words(text):
    return [word for word in text.split(",") if word]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="dev bench --precision", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headline", action="store_true", help="the networks of published tables instead of the models")
    parser.add_argument("--models", type=words, default=[], metavar="WORD,...", help="only models whose paths have one of the words")
    parser.add_argument("--planners", type=words, default=list(PLANNERS), help=f"of {', '.join(PLANNERS)} (default: all)")
    parser.add_argument("--preset", default="quick", choices=["quick", "standard", "strict"], help="of the models' benchmarks (default: quick)")
    parser.add_argument("--no-bench", action="store_true", help="no times: nodes, casts, SQNR, accuracy")
    parser.add_argument("--nets", type=words, default=list(NETS), help=f"of {', '.join(NETS)} (default: all)")
    parser.add_argument("--batches", type=words, default=list(BATCHES), help="of the headline table (default: 1,128)")
    parser.add_argument("--threads", type=words, default=None, help="the models': one number (default: 1); the headline table's: (default: 1,2)")
    parser.add_argument("--planner", default="lists", choices=PLANNERS, help="of the headline table (default: lists)")
    parser.add_argument("--rounds", type=int, default=5, help="of the headline table (default: 5)")
    parser.add_argument("--round-seconds", type=float, default=1.0, help="of timed inference, but 3 inferences at least (default: 1)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the files and the intervals (default: 1)")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run of the same kind has measured")
    parser.add_argument("--state", type=pathlib.Path, help="the file that --resume reads (default: in the cache)")
    parser.add_argument("--json", type=pathlib.Path, help="write the measured part to this file; its other part stays")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the page to this file (default: print it)")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page of --json")
    options = parser.parse_args(arguments)
    options.again = 3
    for given, there in ((options.planners, PLANNERS), (options.nets, NETS)):
        unknown = [word for word in given if word not in there]
        if unknown:
            parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(there)}")
    if options.rounds < 3:
        parser.error("--rounds: an interval needs at least 3")
    try:
        options.batches = [int(batch) for batch in options.batches]
        options.threads = [int(t) for t in options.threads or (THREADS if options.headline else (1,))]
    except ValueError:
        parser.error("--batches and --threads are numbers separated by commas")
    return options


# --- One model.


def samples_of(model, path, cache):
    """The .npz of its real samples; None: random numbers."""
    import zoo_samples
    if model.samples == "random":
        return None
    inputs = json.loads(run([program("halftone"), "inspect", path, "--json", "--quiet"], f"halftone inspect {model.file}"))["inputs"]
    name = f"samples/{model.file.replace('/', '_')}-{digest(*(HERE / source for source in SOURCES))}"
    folder = cache.made(name, lambda made: zoo_samples.MAKERS[model.samples](made, inputs, *model.arguments))
    return folder / "samples.npz"


def classes_of(file, samples, threads):
    """(labels, classes of the first output)"""
    out = json.loads(run([program("halftone_outputs"), file, samples, "--threads", threads], f"halftone_outputs {file.name}"))
    return out["labels"], out["outputs"][0]["classes"]


def measure_once(model, planner, samples, options, folder):
    path = model_path(model)
    how = ["--no-bench"] if options.no_bench else ["--preset", options.preset]
    if not options.no_bench:
        wait_for_quiet()
    evaluation = ["--eval", samples] if samples else []
    run([program("halftone"), "optimize", path, "--planner", planner, "--precision", "bf16", "--threads", options.threads[0], "--seed",
         options.seed, "--out", folder, "--quiet", *how, *evaluation], f"halftone optimize {model.file} --planner {planner}")
    report = json.loads((folder / "report.json").read_text())
    one = row(report, planner)
    if model.classes and shutil.which("halftone_outputs"):
        files = [folder / f"{path.stem}.{precision}{path.suffix}" for precision in ("fp32", "bf16")]
        (labels, fp32), (_, bf16) = (classes_of(file, samples, options.threads[0]) for file in files)
        add_predictions(one, labels, fp32, bf16)
    return one, report["environment"]


def measure_model(model, planner, cache, options):
    path = model_path(model)
    if not path.exists():
        raise BenchError(f"no {path} (folder of shared data, HALFTONE_SHARED)")
    samples = samples_of(model, path, cache)
    for _ in range(1 + AGAIN):
        with tempfile.TemporaryDirectory(prefix="halftone-precision-") as folder:
            one, environment = measure_once(model, planner, samples, options, pathlib.Path(folder))
        if options.no_bench or not one["speed"] or one["speed"]["valid"]:
            break
        say(f"  INVALID: {one['speed']['why_invalid'][:1]}")
    return {"model": model.name, "planner": planner, "row": one, "checks": checks_of(one, model.target), "environment": environment}


def run_models(options, cache, state):
    todo = [(m, planner) for m in MODELS.values() if not options.models or any(word in m.name for word in options.models) for planner in options.planners]
    results, skipped = [], []
    for i, (model, planner) in enumerate(todo):
        name = f"{model.name} {planner}"
        if name not in state.results:
            say(f"{i + 1} of {len(todo)}: {name}")
            try:
                state.add(name, measure_model(model, planner, cache, options))
            except BenchError as error:
                skipped.append(f"{name}: {str(error).splitlines()[-1]}")
                say(f"skipped: {skipped[-1]}")
                continue
            say("  " + "  ".join(cells(state.results[name])[2:]))
        results.append(state.results[name])
    return results, skipped


# --- The page.


def command_of(arguments):
    """The command that repeats the measurement: without flags that say where files are."""
    shown, skip = [], False
    for argument in arguments:
        if skip or argument == "--resume" or argument.startswith("--state"):
            skip = argument == "--state"
            continue
        shown.append(argument)
    if "--headline" in shown:
        shown.remove("--headline")
        return " ".join(["./dev bench --headline", *shown])
    return " ".join(["./dev bench --precision", *shown])


def part(options, arguments, results, skipped, facts):
    common = {"date": datetime.date.today().isoformat(), "command": command_of(arguments), "cpu": describe_cpu(facts), "skipped": skipped,
              "versions": run([program("halftone"), "version"], "halftone version").strip(), "results": results, "seed": options.seed}
    if options.headline:
        return {**common, "rounds": options.rounds, "round_seconds": options.round_seconds, "planner": options.planner}
    return {**common, "preset": "none (no times)" if options.no_bench else options.preset, "threads": options.threads[0]}


def write(options, new):
    """`new`: the measured parts; the other parts stay."""
    old = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    document = {**old, **new}
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(page(document))
    else:
        print(page(document))


def main(arguments):
    options = parse(arguments)
    if options.page:
        write(options, {})
        return 0
    facts = cpu_facts()
    folder = pathlib.Path(os.environ.get("HALFTONE_CACHE", pathlib.Path.home() / ".cache/halftone")) / "bench"
    key = {"the programs": digest(program("halftone-worker"), program("halftone")), "the CPU": describe_cpu(facts), "seed": options.seed,
           "threads": 0 if options.headline else options.threads[0], "preset": options.preset, "times": not options.no_bench,
           "rounds": [options.rounds, options.round_seconds], "planner": options.planner, "samples": digest(*(HERE / source for source in SOURCES))}
    kind = "headline" if options.headline else "precision"
    state = State(options.state or folder / f"{kind}.json", key, options.resume)
    if state.why_new:
        say(state.why_new)
    runner = headline.run if options.headline else run_models
    results, skipped = runner(options, Files(folder), state)
    if not results:
        raise BenchError("nothing was measured" + "".join(f"\n{line}" for line in skipped))
    write(options, {"headline" if options.headline else "models": part(options, arguments, results, skipped, facts)})
    return 0 if options.headline or not missed(results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BenchError as error:
        sys.exit(f"precision_tables.py: {error}")
