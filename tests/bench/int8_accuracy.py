#!/usr/bin/env python3
"""What INT8 answers on real samples: our file, run by our engine and by ONNX Runtime, beside the files of ONNX Runtime's quantizer.

    dev bench --int8-accuracy [--models NAME,...] [--peers-only] [--markdown results/2026-11-25-zen4-int8.md --json results/2026-11-25-zen4-int8.json] [-- FLAG...]

Networks with trained weights are calibrated on one set of samples and judged on another. ONNX Runtime's quantizer (pairs, weights per
channel, activations of u8 and of s8) takes the same samples with each of its three methods. Counted are right answers, and the share of
samples that have the class of the fp32 model. FLAG...: further ones of `halftone optimize`. No times are taken: the machine need not be
quiet. Exit code 1 where a bar is missed or a network could not be measured.
"""

import argparse
import json
import os
import pathlib
import sys

from files import digest
from int8_document import add_files, command_of, common, write
from int8_files import Int8Files
from int8_judge import agreement, judge_accuracy, right_answers
from int8_models import METHODS, NETS, TYPES, trained_nets
from judge import cpu_facts
from measure import say
from programs import HERE, BenchError, program, run

MODE = "--int8-accuracy"
FOR_RUNTIME = ("--target-runtime", "onnxruntime")


def parse(arguments):
    own, flags = (arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]) if "--" in arguments else (arguments, [])
    parser = argparse.ArgumentParser(prog=f"dev bench {MODE}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="", help=f"comma-separated, of {', '.join(n.name for n in trained_nets([]))} (default: all)")
    parser.add_argument("--peers-only", action="store_true", help="only make ONNX Runtime's files and count their answers")
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
    return json.loads(run([sys.executable, HERE / "onnxruntime_answers.py", file, samples, *flags], f"ONNX Runtime's answers of {file.name}"))


def of_engine(file, samples):
    out = json.loads(run([program("halftone_answers"), file, samples, "--threads", "1"], f"halftone_answers {file.name}"))
    return out["outputs"][0]["classes"]


def kept(files, name, sources, compute):
    """What was computed from `sources` before is not computed again."""
    key = "-".join([digest(HERE / "onnxruntime_answers.py"), *(str(os.stat(source).st_mtime_ns) for source in sources)])
    folder = files.made(f"int8/answers/{name}-{key}", lambda made: (made / "answers.json").write_text(json.dumps(compute())))
    return json.loads((folder / "answers.json").read_text())


def of_peers(net, files, samples):
    """{"minmax u8": classes, ...}, {"...": why there is none}"""
    found, failed = {}, {}
    for method in METHODS:
        for activations in TYPES:
            name = f"{method} {activations}"
            try:
                file = files.of_quantizer(net, "qdq", activations, method)
                found[name] = kept(files, f"{net.name}-{method}-{activations}", [file, samples], lambda: of_onnx_runtime(file, samples))["classes"]
            except BenchError as error:
                failed[name] = " ".join(str(error).split())[-300:]
                say(f"  {name}: {failed[name]}")
    return found, failed


def elsewhere(file, samples):
    """Our file in ONNX Runtime: (classes, nodes by type, ""), or (None, {}, why it does not run)."""
    try:
        out = of_onnx_runtime(file, samples)
        return out["classes"], out["nodes"], ""
    except BenchError as error:
        return None, {}, " ".join(str(error).split())[-300:]


def own_spread(file, samples, classes):
    """How many samples ONNX Runtime gives another class without its graph optimizations; None where it does not run the file."""
    if classes is None:
        return None
    return sum(a != b for a, b in zip(classes, of_onnx_runtime(file, samples, "--as-written")["classes"], strict=True))


def measure(net, files, options):
    source, samples = files.source(net), files.judged(net)
    reference = kept(files, f"{net.name}-fp32", [source, samples], lambda: of_onnx_runtime(source, samples))
    labels, fp32 = reference["labels"], reference["classes"]
    peers, failed = of_peers(net, files, samples) if net.beat_quantizer else ({}, {})
    found = {"labels": labels, "fp32": fp32, "peers": peers}
    if not options.peers_only:
        ours = files.ours(net, *options.flags)
        classes, nodes, why = elsewhere(ours["file"], samples)
        failed |= {"our file in ONNX Runtime": why} if why else {}
        file_for_runtime = files.ours(net, *FOR_RUNTIME, *options.flags)["file"]
        classes_for_runtime, nodes_for_runtime, why = elsewhere(file_for_runtime, samples)
        failed |= {f"our file of {' '.join(FOR_RUNTIME)} in ONNX Runtime": why} if why else {}
        found |= {"engine": of_engine(ours["file"], samples), "engine_fp32": of_engine(ours["fp32"], samples), "elsewhere": classes,
                  "engine_for_runtime": of_engine(file_for_runtime, samples), "elsewhere_for_runtime": classes_for_runtime,
                  "int8_share": ours["int8_share"]}
        spread = {"": own_spread(ours["file"], samples, classes),
                  f", {' '.join(FOR_RUNTIME)}": own_spread(file_for_runtime, samples, classes_for_runtime)}
    rows = [row("fp32", "ONNX Runtime", found, fp32)]
    if not options.peers_only:
        rows += [row("fp32, fused", "Halftone", found, found["engine_fp32"]), row("int8", "Halftone", found, found["engine"])]
        rows += [row("int8", "ONNX Runtime", found, found["elsewhere"])] if found["elsewhere"] else []
        named = f"int8, {' '.join(FOR_RUNTIME)}"
        rows.append(row(named, "Halftone", found, found["engine_for_runtime"]))
        rows += [row(named, "ONNX Runtime", found, found["elsewhere_for_runtime"])] if found["elsewhere_for_runtime"] else []
    rows += [row(f"int8 of its quantizer, {name}", "ONNX Runtime", found, classes) for name, classes in peers.items()]
    result = {"model": net.name, "samples": len(labels), "rows": rows, "failed": failed, "verdicts": []}
    if not options.peers_only:
        result |= {"verdicts": judge_accuracy(net, found), "int8_share": ours["int8_share"], "summary": ours["summary"],
                   "nodes_elsewhere": nodes, "nodes_for_runtime": nodes_for_runtime,
                   "own_spread": spread,
                   "calibration": {key: ours["calibration"].get(key) for key in ("samples", "calibrator", "source")}}
    return result


def row(file, engine, found, classes):
    return {"file": file, "engine": engine, "right": right_answers(found["labels"], classes), "agreement": agreement(found["fp32"], classes)}


def lines(result):
    for r in result["rows"]:
        yield f"  {r['file']:40} {r['engine']:14} {r['right']:5} of {result['samples']} right, agreement {r['agreement']:.4f}"
    for v in result["verdicts"]:
        yield f"  {'met' if v['met'] else 'MISSED':7} {v['what']}: {v['value']}, bar {v['bar']}"


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
    return 1 if skipped or not all(v["met"] for r in results for v in r["verdicts"]) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BenchError as error:
        sys.exit(f"int8_accuracy.py: {error}")
