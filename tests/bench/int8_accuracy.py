#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""INT8 accuracy on real samples: our file in our engine and in ONNX Runtime, beside the files of ONNX Runtime's quantizer.

    dev bench --int8-accuracy [--models NAME,...] [--peers-only] [--markdown results/DATE-CPU-int8.md --json results/DATE-CPU-int8.json] [-- FLAG...]

Networks with trained weights are calibrated on one set of samples and evaluated on another. ONNX Runtime's quantizer (QDQ, per-channel
weights, u8 and s8 activations) calibrates on the same samples with each of its three methods. The page has correct predictions (top-1), and
the share of samples with the class of the fp32 model. FLAG...: more flags of `halftone optimize`. No times are measured: other programs may
run on the machine. Exit code 1 where a target is missed or a network could not be measured.
"""

import argparse
import json
import os
import pathlib
import sys

from evaluation import cpu_facts
from files import digest
from int8_document import add_files, command_of, common, write
from int8_files import Int8Files
from int8_evaluation import agreement, correct_predictions, evaluate_accuracy
from int8_models import METHODS, NETS, TYPES, trained_nets
from measure import say
from programs import HERE, BenchError, program, run

MODE = "--int8-accuracy"
FOR_RUNTIME = ("--target-runtime", "onnxruntime")


def parse(arguments):
    own, flags = (arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]) if "--" in arguments else (arguments, [])
    parser = argparse.ArgumentParser(prog=f"dev bench {MODE}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="", help=f"comma-separated, of {', '.join(n.name for n in trained_nets([]))} (default: all)")
    parser.add_argument("--peers-only", action="store_true", help="only make ONNX Runtime's files and their predictions")
    add_files(parser)
    options = parser.parse_args(own)
    options.flags = flags
    options.models = [name for name in options.models.split(",") if name]
    for name in options.models:
        if name not in NETS or not NETS[name].trained:
            parser.error(f"no model '{name}'; there are {', '.join(n.name for n in trained_nets([]))}")
    return options


def of_onnx_runtime(file, samples, *flags):
    """{"labels", "classes", "nodes": {op: nodes that it ran}}"""
    return json.loads(run([sys.executable, HERE / "onnxruntime_outputs.py", file, samples, *flags], f"ONNX Runtime's outputs of {file.name}"))


def of_engine(file, samples):
    out = json.loads(run([program("halftone_outputs"), file, samples, "--threads", "1"], f"halftone_outputs {file.name}"))
    return out["outputs"][0]["classes"]


def cached(files, name, sources, compute):
    """The cached result for these `sources`, computed where there is none."""
    key = "-".join([digest(HERE / "onnxruntime_outputs.py"), *(str(os.stat(source).st_mtime_ns) for source in sources)])
    folder = files.made(f"int8/outputs/{name}-{key}", lambda made: (made / "outputs.json").write_text(json.dumps(compute())))
    return json.loads((folder / "outputs.json").read_text())


def of_peers(net, files, samples):
    """{"minmax u8": classes, ...}, {"...": error}"""
    found, failed = {}, {}
    for method in METHODS:
        for activations in TYPES:
            name = f"{method} {activations}"
            try:
                file = files.of_quantizer(net, "qdq", activations, method)
                found[name] = cached(files, f"{net.name}-{method}-{activations}", [file, samples], lambda: of_onnx_runtime(file, samples))["classes"]
            except BenchError as error:
                failed[name] = " ".join(str(error).split())[-300:]
                say(f"  {name}: {failed[name]}")
    return found, failed


def in_onnx_runtime(file, samples):
    """Our file in ONNX Runtime: (classes, nodes by type, ""), or (None, {}, error)."""
    try:
        out = of_onnx_runtime(file, samples)
        return out["classes"], out["nodes"], ""
    except BenchError as error:
        return None, {}, " ".join(str(error).split())[-300:]


def onnxruntime_spread(file, samples, classes):
    """The number of samples whose class changes when ONNX Runtime runs without graph optimizations; None where it does not run the file."""
    if classes is None:
        return None
    return sum(a != b for a, b in zip(classes, of_onnx_runtime(file, samples, "--no-optimization")["classes"], strict=True))


def measure(net, files, options):
    source, samples = files.source(net), files.evaluation(net)
    reference = cached(files, f"{net.name}-fp32", [source, samples], lambda: of_onnx_runtime(source, samples))
    labels, fp32 = reference["labels"], reference["classes"]
    peers, failed = of_peers(net, files, samples) if net.beat_quantizer else ({}, {})
    found = {"labels": labels, "fp32": fp32, "peers": peers}
    if not options.peers_only:
        ours = files.ours(net, *options.flags)
        classes, nodes, why = in_onnx_runtime(ours["file"], samples)
        failed |= {"our file in ONNX Runtime": why} if why else {}
        file_for_runtime = files.ours(net, *FOR_RUNTIME, *options.flags)["file"]
        classes_for_runtime, nodes_for_runtime, why = in_onnx_runtime(file_for_runtime, samples)
        failed |= {f"our file of {' '.join(FOR_RUNTIME)} in ONNX Runtime": why} if why else {}
        found |= {"engine": of_engine(ours["file"], samples), "engine_fp32": of_engine(ours["fp32"], samples), "onnxruntime": classes,
                  "engine_for_runtime": of_engine(file_for_runtime, samples), "onnxruntime_for_runtime": classes_for_runtime,
                  "int8_share": ours["int8_share"]}
        spread = {"": onnxruntime_spread(ours["file"], samples, classes),
                  f", {' '.join(FOR_RUNTIME)}": onnxruntime_spread(file_for_runtime, samples, classes_for_runtime)}
    rows = [row("fp32", "ONNX Runtime", found, fp32)]
    if not options.peers_only:
        rows += [row("fp32, fused", "Halftone", found, found["engine_fp32"]), row("int8", "Halftone", found, found["engine"])]
        rows += [row("int8", "ONNX Runtime", found, found["onnxruntime"])] if found["onnxruntime"] else []
        named = f"int8, {' '.join(FOR_RUNTIME)}"
        rows.append(row(named, "Halftone", found, found["engine_for_runtime"]))
        rows += [row(named, "ONNX Runtime", found, found["onnxruntime_for_runtime"])] if found["onnxruntime_for_runtime"] else []
    rows += [row(f"int8 of its quantizer, {name}", "ONNX Runtime", found, classes) for name, classes in peers.items()]
    result = {"model": net.name, "samples": len(labels), "rows": rows, "failed": failed, "checks": []}
    if not options.peers_only:
        result |= {"checks": evaluate_accuracy(net, found), "int8_share": ours["int8_share"], "summary": ours["summary"],
                   "nodes_in_onnxruntime": nodes, "nodes_for_runtime": nodes_for_runtime,
                   "onnxruntime_spread": spread,
                   "calibration": {key: ours["calibration"].get(key) for key in ("samples", "calibration_method", "source")}}
    return result


def row(file, engine, found, classes):
    return {"file": file, "engine": engine, "correct": correct_predictions(found["labels"], classes), "agreement": agreement(found["fp32"], classes)}


def lines(result):
    for r in result["rows"]:
        yield f"  {r['file']:40} {r['engine']:14} {r['correct']:5} of {result['samples']} correct, agreement {r['agreement']:.4f}"
    for v in result["checks"]:
        yield f"  {'met' if v['met'] else 'MISSED':7} {v['what']}: {v['value']}, target {v['target']}"


def main(arguments):
    options = parse(arguments)
    if options.page:
        write(options, {})
        return 0
    folder = pathlib.Path(os.environ.get("HALFTONE_CACHE", pathlib.Path.home() / ".cache/halftone")) / "bench"
    files, results, skipped = Int8Files(folder), [], []
    for net in trained_nets(options.models):
        say(net.name)
        try:
            results.append(measure(net, files, options))
        except BenchError as error:
            skipped.append(f"{net.name}: {' '.join(str(error).split())[:300]}")
            say(f"not measured: {skipped[-1]}")
            continue
        say("\n".join(lines(results[-1])))
    if not options.peers_only:
        write(options, {"accuracy": {**common(command_of(MODE, arguments), results, skipped, cpu_facts()), "flags": options.flags}})
    return 1 if skipped or not all(v["met"] for r in results for v in r["checks"]) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BenchError as error:
        sys.exit(f"int8_accuracy.py: {error}")
