#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""INT8 against ONNX Runtime: speed of our int8 files beside ONNX Runtime in fp32 and with the files of its own quantizer.

    dev bench --int8 [--models NAME,...] [--preset quick|standard] [--rounds N] [--round-seconds S] [--resume]
                     [--markdown results/DATE-CPU-int8.md --json results/DATE-CPU-int8.json]
    dev bench --int8 --list          models, targets, the candidate files of ONNX Runtime's quantizer
    dev bench --int8-accuracy ...    accuracy on real samples (int8_accuracy.py; --int8-accuracy --help)
    dev bench --int8-table ...       one small network in detail (int8_table.py; --int8-table --help)

One thread, batch 1. ONNX Runtime's quantizer makes QDQ and QOperator files with u8 and s8 activations and per-channel weights from the same
calibration samples as ours. The fastest of them is measured. Rounds are those of dev bench: all sides once, in random order, each in a fresh
process. Exit code 1 where a target is missed or a model could not be measured. Nothing else should run on the machine.
"""

import argparse
import os
import pathlib
import re
import sys

import int8_accuracy
import int8_table
from cores import describe_scheduling
from evaluation import cpu_facts, describe_cpu, missed
from files import our_build
from int8_document import add_files, command_of, common, write
from int8_files import Int8Files
from int8_evaluation import INT8, ORT_INT8, evaluate_speed
from int8_models import NETS, OVER_ORT_INT8, candidates, speed_nets
from int8_page import speed_cells
from intervals import median
from measure import measure, say, wait_for_quiet
from outputs import fidelity
from programs import HERE, BenchError
from sides import FP32, ORT, Side, halftone, onnx_runtime
from state import State

# rounds, seconds of timed inference in one, disturbed rounds that are repeated
PRESETS = {"quick": (5, 1.0, 3), "standard": (10, 2.0, 10)}
CANDIDATE_ROUNDS, CANDIDATE_SECONDS = 2, 0.3  # per file of ONNX Runtime's quantizer
TOO_SLOW = 2.0  # times the fastest so far: no second round


def parse(arguments):
    parser = argparse.ArgumentParser(prog="dev bench --int8", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="", help=f"comma-separated, of {', '.join(n.name for n in speed_nets([]))} (default: all)")
    parser.add_argument("--preset", choices=PRESETS, default="quick", help="quick: 5 rounds of 1 s; standard: 10 of 2 s (default: quick)")
    parser.add_argument("--rounds", type=int, help="overrides the number of the preset")
    parser.add_argument("--round-seconds", type=float, help="overrides the preset: seconds of timed inference per side and round")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the sides and the intervals (default: 1)")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run of the same kind has measured")
    parser.add_argument("--state", type=pathlib.Path, help="the file that --resume reads (default: in the cache)")
    parser.add_argument("--list", action="store_true", help="print models and targets, measure nothing")
    add_files(parser)
    options = parser.parse_args(arguments)
    rounds, seconds, options.again = PRESETS[options.preset]
    options.rounds, options.round_seconds = options.rounds or rounds, options.round_seconds or seconds
    options.models = [name for name in options.models.split(",") if name]
    for name in options.models:
        if name not in NETS or not NETS[name].speed:
            parser.error(f"no model '{name}'; there are {', '.join(n.name for n in speed_nets([]))}")
    if options.rounds < 3:
        parser.error("--rounds: an interval needs at least 3")
    return options


def list_targets(nets):
    for net in nets:
        limit = f" (limit {net.speed.limit:g})" if net.speed.limit else ""
        files = ", ".join(f"{quant_format} {t}" for quant_format, t in candidates(net))
        print(f"{net.name:20} >= {net.speed.fp32:g} x ONNX Runtime fp32{limit}, >= {OVER_ORT_INT8:g} x the fastest of {files}")


def side_of_quantizer(file):
    return Side(ORT_INT8, [sys.executable, HERE / "onnxruntime_round.py"], file)


def fastest(net, files, samples):
    """(side, "quant format and activation type", {that: ms, or the error})"""
    found, times = {}, {}
    for quant_format, activations in candidates(net):
        name = f"{quant_format} {activations}"
        try:
            side = side_of_quantizer(files.of_quantizer(net, quant_format, activations))
            milliseconds = side.round(net.scenario, samples, CANDIDATE_SECONDS)[0]
            if all(milliseconds < TOO_SLOW * times[other] for other in found):
                milliseconds = min([milliseconds] + [side.round(net.scenario, samples, CANDIDATE_SECONDS)[0] for _ in range(CANDIDATE_ROUNDS - 1)])
        except BenchError as error:
            times[name] = re.sub(r"(?<=\s)/\S*/", "", str(error).splitlines()[-1])  # the error without paths of this machine
            say(f"  {name}: {times[name]}")
            continue
        times[name] = milliseconds
        found[name] = side
        say(f"  {name}: {milliseconds:.3f} ms")
    if not found:
        raise BenchError(f"ONNX Runtime runs no file of its quantizer: {times}")
    best = min(found, key=times.get)
    return found[best], best, times


def bench(net, options, files, facts):
    samples = files.timed(net)
    ours = files.ours(net)
    wait_for_quiet()
    side, best, candidate_ms = fastest(net, files, samples)
    sides = [onnx_runtime(files.source(net)), side, halftone(FP32, ours["fp32"]), halftone(INT8, ours["file"])]
    sqnr = fidelity(files.source(net), [ours["file"]], samples, net.scenario)[0]
    times, discarded, disturbed = measure(net.scenario, sides, samples, options)
    return {"model": net.name, "trained": net.trained, "scheduling": describe_scheduling(), "ms": {name: median(rounds) for name, rounds in times.items()}, "fastest": best, "candidate_ms": candidate_ms,
            "checks": evaluate_speed(net, times, sqnr, options.seed, facts, len(disturbed)), "sqnr_db": sqnr, "int8_share": ours["int8_share"],
            "summary": ours["summary"], "plan_ms": sides[-1].facts["plan_ms"], "discarded_rounds": len(discarded), "disturbed": disturbed,
            "round_medians_ms": times, "file_bytes": {"original": os.path.getsize(files.source(net)), "int8": os.path.getsize(ours["file"])}}


def run_all(options, files, state, facts):
    results, skipped = [], []
    todo = speed_nets(options.models)
    for i, net in enumerate(todo):
        if net.name not in state.results or noisy(state.results[net.name]):
            say(f"{i + 1} of {len(todo)}: {net.name}")
            try:
                state.add(net.name, bench(net, options, files, facts))
            except BenchError as error:
                skipped.append(f"{net.name}: {' '.join(str(error).split())[:300]}")
                say(f"not measured: {skipped[-1]}")
                continue
            say("  " + "  ".join(speed_cells(state.results[net.name])))
        results.append(state.results[net.name])
    return results, skipped


def noisy(result):
    return any(v["status"] == "NOISY" for v in result["checks"].values())


def main(arguments):
    options = parse(arguments)
    if options.list:
        list_targets(speed_nets(options.models))
        return 0
    if options.page:
        write(options, {})
        return 0
    facts = cpu_facts()
    folder = pathlib.Path(os.environ.get("HALFTONE_CACHE", pathlib.Path.home() / ".cache/halftone")) / "bench"
    key = {"the programs": our_build(), "rounds": options.rounds, "seconds of a round": options.round_seconds, "seed": options.seed,
           "the CPU": describe_cpu(facts)}
    state = State(options.state or folder / "int8.json", key, options.resume)
    if state.why_new:
        say(state.why_new)
    results, skipped = run_all(options, Int8Files(folder), state, facts)
    part = {**common(command_of("--int8", arguments), results, skipped, facts), "rounds": options.rounds, "round_seconds": options.round_seconds,
            "seed": options.seed}
    write(options, {"speed": part})
    return 1 if skipped or any(missed(v) for r in results for v in r["checks"].values()) else 0


MODES = {"--int8": main, "--int8-accuracy": int8_accuracy.main, "--int8-table": int8_table.main}

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BenchError as error:
        sys.exit(f"int8.py: {error}")
