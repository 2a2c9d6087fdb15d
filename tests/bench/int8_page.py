# SPDX-License-Identifier: Apache-2.0
"""The page of dev bench --int8 out of its JSON. Pure."""

from int8_evaluation import INT8, ORT_INT8, DIFFERENT_CLASSES, counted
from render import target, decibel, interval, markdown_table, milliseconds, remarks, schedulings
from sides import FP32, ORT

SPEED_HEAD = ["model", "ORT fp32 ms", "ORT int8 ms", "quant format", "fp32 ms", "int8 ms", "x ORT fp32 (95 %)", "target (limit)", "", "x ORT int8 (95 %)", "target",
              "", "in int8", "SQNR dB"]
ACCURACY_HEAD = ["model", "file", "engine", "correct", "top-1", "agreement with fp32"]
LAYER_HEAD = ["layer", "op", "fp32 us", "int8 us", "speed-up", "types", "fp32 kernel", "int8 kernel"]


def percent(share):
    return "-" if share is None or share < 0 else f"{100 * share:.1f} %"


def speed_cells(result):
    fp32, int8, ms = result["checks"]["fp32"], result["checks"]["int8"], result["ms"]
    return [result["model"] + (" (trained)" if result["trained"] else ""), milliseconds(ms[ORT]), milliseconds(ms[ORT_INT8]), result["fastest"],
            milliseconds(ms[FP32]), milliseconds(ms[INT8]), interval(fp32), target(fp32), fp32["status"], interval(int8), target(int8), int8["status"],
            percent(result["int8_share"]), decibel(result["sqnr_db"])]


def speed_count(results):
    statuses = [v["status"].rstrip("?") for r in results for v in r["checks"].values()]
    return statuses.count("PASS"), len(statuses)


def candidate_table(results):
    """ms of each file of the quantizer."""
    names = list(dict.fromkeys(name for r in results for name in r["candidate_ms"]))
    rows = [[r["model"], *(candidate_cell(r["candidate_ms"].get(name)) for name in names)] for r in results]
    return markdown_table(["model", *names], rows)


def candidate_cell(found):
    if found is None:
        return "-"
    return milliseconds(found) if not isinstance(found, str) else "none"


def candidate_failures(results):
    failed = [f"* {r['model']}, {name}: {error[:160]}" for r in results for name, error in r["candidate_ms"].items() if isinstance(error, str)]
    return ["", "Not run:", "", *failed] if failed else []


def head_of(part):
    return [f"* {part['cpu']}; {part['versions']}.", *(f"* Not measured: {line}" for line in part["skipped"])]


def speed_part(part):
    results = part["results"]
    passed, asked = speed_count(results)
    return "\n".join([
        "## Speed", "",
        f"Measured on {part['date']} by `{part['command']}`: one thread, batch 1, {part['rounds']} rounds of {part['round_seconds']:g} s, interleaved. "
        "ORT int8: the fastest of the files that ONNX Runtime's quantizer makes from the same samples (below). fp32: our fused file. x ORT: "
        "speed-up, the median over rounds of the ratio within a round. Limit: the speed-up that oneDNN's primitives alone would reach. In int8: share "
        "of the MACs. SQNR: our int8 outputs against ONNX Runtime's fp32 outputs. Trained networks run the file whose accuracy is below; "
        f"{schedulings(results, lambda r: r['model'])}.", "",
        f"* **{passed} of {asked} targets are met.**", *head_of(part), f"* {remarks(results, lambda r: r['model'])}", "",
        markdown_table(SPEED_HEAD, map(speed_cells, results)), "",
        "The files of ONNX Runtime's quantizer, best of two short rounds, ms:", "", candidate_table(results), *candidate_failures(results), ""])


# --- Accuracy.


def accuracy_rows(results):
    for r in results:
        for i, row in enumerate(r["rows"]):
            yield [r["model"] if i == 0 else "", row["file"], row["engine"], f"{row['correct']} of {r['samples']}",
                   f"{row['correct'] / r['samples']:.4f}", f"{row['agreement']:.4f}"]


def number(value):
    return "not known" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def check_rows(results):
    for r in results:
        for v in r["checks"]:
            sign = "<=" if v["what"].startswith(("correct predictions lost", DIFFERENT_CLASSES)) else ">="
            yield [r["model"], v["what"], number(v["value"]), f"{sign} {number(v['target'])}", "met" if v["met"] else "MISSED"]


def kernels_lines(result):
    """The op types that ONNX Runtime ran for our two files, the most frequent first."""
    for key, name in (("nodes_in_onnxruntime", result["model"]), ("nodes_for_runtime", f"{result['model']}, --target-runtime onnxruntime")):
        if key in result:
            nodes = sorted(result[key].items(), key=lambda item: (-item[1], item[0]))
            yield f"* {name}: {', '.join(f'{count} {op}' for op, count in nodes) if nodes else 'did not run'}"


def spread_lines(results):
    """How many classes change by the order of roundings alone: the scale for the target on different classes."""
    known = [f"{r['model']}{file} {count}" for r in results for file, count in r.get("onnxruntime_spread", {}).items() if count is not None]
    if known:
        yield f"* Different classes in ONNX Runtime with and without its graph optimizations, same file: {'; '.join(known)}."


def accuracy_part(part):
    results = part["results"]
    met, asked = counted([v for r in results for v in r["checks"]])
    failures = [f"* {r['model']}, {name}: {why[-200:]}" for r in results for name, why in r["failed"].items()]
    with_flags = f" Flags: `{' '.join(part['flags'])}`." if part["flags"] else ""
    return "\n".join([
        "## Accuracy", "",
        f"Measured on {part['date']} by `{part['command']}`. Calibrated on 50 images (500 digits), evaluated on 100 others (5000 others).{with_flags} The "
        "files of ONNX Runtime's quantizer: QDQ, per-channel weights, the same samples, each of its three methods with u8 and s8 activations. "
        "Agreement: the share of samples with the class that ONNX Runtime predicts in fp32.", "",
        f"* **{met} of {asked} targets are met.**", *head_of(part), *failures, *spread_lines(results), "",
        markdown_table(["model", "what", "value", "target", ""], check_rows(results)), "",
        markdown_table(ACCURACY_HEAD, accuracy_rows(results)), "",
        "Nodes that ONNX Runtime ran for our files, by its profile (QLinear...: int8 kernels):", "",
        *(line for r in results for line in kernels_lines(r)), ""])


# --- The small network.


def layer_cells(layer):
    before = layer["fp32_us"]
    return [layer["name"], layer["op"], "-" if not before else f"{before:.1f}", f"{layer['int8_us']:.1f}",
            f"{before / layer['int8_us']:.2f}" if before and layer["int8_us"] else "-", layer["types"], f"`{layer['fp32_kernel']}`", f"`{layer['int8_kernel']}`"]


def table_part(part):
    found = part["results"][0]
    layers, whole, ratio = found["layers"], found["whole_ms"], found["speedup"] or {}
    paired = [layer for layer in layers if layer["fp32_us"]]
    before, after = sum(layer["fp32_us"] for layer in paired), sum(layer["int8_us"] for layer in paired)
    rows = [["top-1 of " + str(found["evaluated"]) + " digits", f"{found['top1']['fp32']:.5f}", f"{found['top1']['int8']:.5f}",
             f"{100 * (found['top1']['int8'] - found['top1']['fp32']):+.2f} points"],
            [f"the {len(paired)} quantized layers, us", f"{before:.1f}", f"{after:.1f}", f"{before / after:.2f} x" if after else "-"]]
    if whole["fp32"] and whole["int8"]:
        rows.append(["the whole network, us", f"{1000 * whole['fp32']:.1f}", f"{1000 * whole['int8']:.1f}",
                     f"{ratio.get('median', 0):.2f} x ({ratio.get('low', 0):.2f} .. {ratio.get('high', 0):.2f})"])
    disturbed = [] if found["valid"] is not False else [f"* INVALID: {'; '.join(found['why_invalid'])}"]
    vnni = {True: "The CPU has VNNI.", False: "The CPU has no VNNI."}.get(found["vnni"], "")
    return "\n".join([
        "## A small network, layer by layer", "",
        f"Measured on {part['date']} by `{part['command']}`, one thread, batch 1: the demo's residual network for digits, calibrated on "
        f"{part['calibrated']} of its digits. {found['int8_convolutions']} of {found['convolutions']} convolutions are int8, {percent(found['int8_share'])} "
        "of the MACs.", "",
        *head_of(part), *disturbed, "", markdown_table(["", "fp32", "int8", "int8 against fp32"], rows), "",
        f"{vnni} The names of oneDNN's kernels contain their instruction set.".strip(), "",
        markdown_table(LAYER_HEAD, map(layer_cells, layers)), ""])


PARTS = (("speed", "Speed", speed_part), ("accuracy", "Accuracy", accuracy_part), ("table", "A small network, layer by layer", table_part))


def page(document):
    """`document`: {"speed": ..., "accuracy": ..., "table": ...}. Each may be missing."""
    lines = ["# INT8, measured", "",
             "Written by `./dev bench --int8`: do not edit it. How times are measured: [benchmark method](../docs/design/benchmark_method.md). How "
             "int8 files are made: [INT8](../docs/design/int8.md).", ""]
    for key, title, part in PARTS:
        lines.append(part(document[key]) if document.get(key) else f"## {title}\n\nNot measured yet.\n")
    return "\n".join(lines).rstrip("\n") + "\n"
