#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dev bench: Halftone against ONNX Runtime on the same models, cores and threads.

    dev bench [--models resnet50,...] [--batch N] [--threads N] [--preset quick|standard] [--rounds N] [--resume] [--json FILE]
              [--markdown FILE]
    dev bench --list         scenarios and targets, and the microbenchmarks of --kernels and --fusions
    dev bench --kernels      microbenchmarks of kernels: all kernels that support a node, ours and oneDNN's
    dev bench --fusions      microbenchmarks of fusions: each fused node against the nodes that it replaces
    dev bench --passes       time of the passes on graphs of 10 000 and 100 000 nodes, beside ONNX Runtime's optimization of the same files
    dev bench --precision    bf16 on every real model, with both planners (precision_tables.py; --precision --help)
    dev bench --headline     the networks of Paddle's and TensorFlow's published tables in fp32 and bf16 (precision_tables.py)
    dev bench --int8         int8 beside ONNX Runtime in fp32 and with the files of its own quantizer (int8.py; --int8 --help);
                             --int8-accuracy: accuracy on real samples; --int8-table: a small network layer by layer
    dev bench --calibration  time and memory of calibration (calibration_cost.py; --calibration --help)
    dev bench --plot         the speed-ups of results/ as results/speedups.svg (plot.py; --plot --help); measures nothing

Without arguments: all scenarios, preset quick. Each round runs every side once, in random order, each in a fresh process: ONNX
Runtime (fp32), Halftone's fused fp32 file, Halftone's bf16 file. The time of a side in a round is the median of its inferences; times are
compared within rounds, and the 95 % interval of a ratio is bootstrapped over rounds. Outputs are compared too. Exit code 1 when a target is
missed. Nothing else should run on the machine: disturbed rounds are repeated. Results are saved scenario by scenario, and --resume continues
an interrupted run. Each result has the scheduling of its processes, so one page may be measured in two runs: `chrt -f 1 ./dev bench --threads 1`,
then `./dev bench --resume` for the scenarios that use all cores.
"""

import argparse
import datetime
import json
import os
import pathlib
import sys
import time

import calibration_cost
import fusions
import int8
import kernels
import passes
import plot
import precision_tables
from cores import describe_scheduling
from evaluation import cpu_facts, describe_cpu, evaluate, has_bf16, is_noisy, is_reference_cpu, missed
from files import Files, forget_old_builds, our_build
from intervals import median
from losses import profile
from measure import measure, say
from outputs import fidelity
from programs import BenchError, program, run
from render import count, markdown, target, text, text_table
from scenarios import MODELS, REFERENCE_SLACK, Scenario, all_scenarios
from sides import BF16, FP32, ORT, halftone, onnx_runtime
from state import State

# rounds, seconds of timed inference in one, disturbed rounds that are repeated
PRESETS = {"quick": (5, 1.0, 3), "standard": (10, 2.0, 10)}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="dev bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="", help=f"comma-separated, of {', '.join(MODELS)} (default: all)")
    parser.add_argument("--batch", type=int, help="only this batch (default: 1, and 16 for two models)")
    parser.add_argument("--threads", type=int, help="only with so many threads (default: 1 and 2)")
    parser.add_argument("--preset", choices=PRESETS, default="quick", help="quick: 5 rounds of 1 s; standard: 10 of 2 s (default: quick)")
    parser.add_argument("--rounds", type=int, help="overrides the number of the preset")
    parser.add_argument("--round-seconds", type=float, help="overrides the preset: seconds of timed inference per side and round")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the sides and the intervals (default: 1)")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run of the same kind has measured")
    parser.add_argument("--state", type=pathlib.Path, help="the file that --resume reads (default: in the cache)")
    parser.add_argument("--json", type=pathlib.Path, help="write everything measured to this file")
    parser.add_argument("--markdown", type=pathlib.Path, help="write a page with the results to this file")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page of --json (with --fusions: that of fusions)")
    parser.add_argument("--list", action="store_true", help="print the scenarios and their targets, measure nothing")
    parser.add_argument("--kernels", nargs="?", const="", metavar="WORDS", help="microbenchmarks of kernels (those whose names contain WORDS), no models")
    parser.add_argument("--fusions", nargs="?", const="", metavar="WORDS", help="microbenchmarks of fusions (those whose patterns contain WORDS), no models")
    parser.add_argument("--passes", action="store_true", help="time the passes on large synthetic graphs, no models")
    options = parser.parse_args(arguments)
    rounds, seconds, options.again = PRESETS[options.preset]
    options.rounds = options.rounds or rounds
    options.round_seconds = options.round_seconds or seconds
    options.models = [name for name in options.models.split(",") if name]
    for name in options.models:
        if name not in MODELS:
            parser.error(f"no model '{name}'; there are {', '.join(MODELS)}")
    if options.rounds < 3:
        parser.error("--rounds: an interval needs at least 3")
    if options.page and not options.json:
        parser.error("--page needs --json")
    if options.resume and options.seed != 1 and not options.state:
        parser.error("--resume with --seed needs --state")
    return options


def scenarios(options):
    """The scenarios of the table that the flags select; for a model without any, the setting that the flags name."""
    chosen = [s for s in all_scenarios(options.models)
              if options.batch in (None, s.batch) and options.threads in (None, s.threads)]
    listed = {s.model.name for s in chosen}
    return chosen + [Scenario(MODELS[name], options.batch or 1, options.threads or 1) for name in options.models if name not in listed]


def describe_reference(facts):
    if is_reference_cpu(facts):
        return f"The reference CPU: a result is INVALID where ONNX Runtime is more than {REFERENCE_SLACK:.0%} slower than its reference time."
    return (f"Not the reference CPU (family 25, Zen 4) but family {facts.get('cpu family')}, model {facts.get('model')}: ONNX Runtime's times are not "
            "checked against reference times.")


def versions(result):
    return f"ONNX Runtime {result['ort_version']}; {run([program('halftone'), 'version'], 'halftone version').strip()}"


def bench(scenario, options, files, facts):
    model, samples = files.model(scenario.model), files.samples(scenario)
    fp32_file, bf16_file = files.lowered(scenario)
    sqnr = dict(zip(("fp32", "bf16"), fidelity(model, (fp32_file, bf16_file), samples, scenario)))
    sides = [onnx_runtime(model), halftone(FP32, fp32_file), halftone(BF16, bf16_file)]
    times, discarded, disturbed = measure(scenario, sides, samples, options)
    checks = evaluate(scenario, times, sqnr, options.seed, facts, len(disturbed))
    # With one thread always, for the engine checks; else where a target is missed, to find the slow steps.
    wanted = scenario.threads == 1 or any(map(missed, checks.values()))
    profiled = profile(model, samples, scenario) if wanted else {}
    return {"name": scenario.name, "model": scenario.model.name, "setting": scenario.setting, "scheduling": describe_scheduling(), "ort_ms": median(times[ORT]),
            "ort_version": sides[0].facts["version"], "plan_ms": {s.name: s.facts["plan_ms"] for s in sides[1:]}, "checks": checks, "profile": profiled, "discarded_rounds": len(discarded), "disturbed": disturbed,
            "round_medians_ms": times, "file_bytes": {s.name: os.path.getsize(s.model) for s in sides}}


def list_targets(options):
    for s in scenarios(options):
        targets = "no target" if s.target is None else "fp32 {} bf16 {}".format(*(
            target({"target": getattr(s.target, key), "limit": getattr(s.target, key + "_limit")}).ljust(12) for key in ("fp32", "bf16")))
        print(f"{s.name:28} {s.setting:22} {targets}")


def run_all(options):
    facts, skipped, start = cpu_facts(), [], time.monotonic()
    cache = pathlib.Path(os.environ.get("HALFTONE_CACHE", pathlib.Path.home() / ".cache/halftone")) / "bench"
    files = Files(cache)
    forget_old_builds(cache)
    key = {"the programs": our_build(), "rounds": options.rounds, "seconds of a round": options.round_seconds, "seed": options.seed,
           "the CPU": describe_cpu(facts)}
    state = State(options.state or cache / "state.json", key, options.resume)
    if state.why_new:
        say(state.why_new)
    say(describe_reference(facts))
    todo, results = scenarios(options), []
    for i, scenario in enumerate(todo):
        if files.model(scenario.model) is None:
            skipped.append(f"{scenario.name}: no {scenario.model.file} (folder of shared data, HALFTONE_SHARED)")
            say(f"skipped: {skipped[-1]}")
            continue
        if scenario.name not in state.results or is_noisy(state.results[scenario.name]):
            say(f"{i + 1} of {len(todo)}: {scenario.name}, {(time.monotonic() - start) / 60:.1f} minutes so far")
            state.add(scenario.name, bench(scenario, options, files, facts))
            say(text_table([state.results[scenario.name]]))
        results.append(state.results[scenario.name])
        write(options, results, skipped, facts)
    return results, skipped


def write(options, results, skipped, facts):
    """Called after every scenario, so that an interrupted run leaves what it measured."""
    arguments = [f"--models {','.join(options.models)}"] if options.models else []
    arguments += [f"--{name} {value}" for name in ("batch", "threads") if (value := getattr(options, name))]
    arguments += [f"--preset {options.preset}"]
    if (options.rounds, options.round_seconds) != PRESETS[options.preset][:2]:
        arguments += [f"--rounds {options.rounds} --round-seconds {options.round_seconds:g}"]
    page = {"date": datetime.date.today().isoformat(), "command": " ".join(["./dev bench", *arguments]), "cpu": describe_cpu(facts),
            "reference": describe_reference(facts), "versions": versions(results[0]),
            "preset": options.preset, "rounds": options.rounds, "round_seconds": options.round_seconds, "seed": options.seed,
            "skipped": skipped, "results": results}
    save(options, page, markdown)


def save(options, document, page_of):
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(page_of(document))


def main():
    if sys.argv[1:2] == ["--precision"]:
        return precision_tables.main(sys.argv[2:])
    if sys.argv[1:2] == ["--headline"]:
        return precision_tables.main(sys.argv[1:])
    if sys.argv[1:] and sys.argv[1] in int8.MODES:
        return int8.MODES[sys.argv[1]](sys.argv[2:])
    if sys.argv[1:2] == ["--calibration"]:
        return calibration_cost.main(sys.argv[2:])
    if sys.argv[1:2] == ["--plot"]:
        return plot.main(sys.argv[2:])
    options = parse(sys.argv[1:])
    if options.list:
        list_targets(options)
        print()
        kernels.listed()
        print()
        fusions.listed()
        return 0
    if options.page:
        save(options, json.loads(options.json.read_text()), markdown if options.fusions is None else fusions.page)
        return 0
    if options.kernels is not None:
        return 0 if kernels.run_all(options.round_seconds, options.seed, options.kernels, has_bf16(cpu_facts())) else 1
    if options.fusions is not None:
        rows, skipped = fusions.run_all(options.round_seconds, options.seed, options.fusions, has_bf16(cpu_facts()))
        command = f"./dev bench --fusions --round-seconds {options.round_seconds:g}"
        save(options, fusions.document(rows, command, describe_cpu(cpu_facts()), skipped), fusions.page)
        return 1 if fusions.slow(rows) else 0
    if options.passes:
        return 0 if passes.measure_all() else 1
    results, skipped = run_all(options)
    print(text(results))
    for line in skipped:
        print(f"SKIP {line}")
    print(count(results) if results else "nothing was measured")
    return 1 if any(missed(v) for r in results for v in r["checks"].values()) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"dev bench: {error}")
