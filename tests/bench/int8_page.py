"""results/2026-11-25-zen4-int8.md out of results/2026-11-25-zen4-int8.json. Pure."""

from int8_judge import INT8, ORT_INT8, OTHER_CLASSES, counted
from render import bar, decibel, interval, markdown_table, milliseconds, remarks, schedulings
from sides import FP32, ORT

SPEED_HEAD = ["model", "ORT fp32 ms", "ORT int8 ms", "its form", "fp32 ms", "int8 ms", "x ORT fp32 (95 %)", "bar (limit)", "", "x ORT int8 (95 %)", "bar",
              "", "in int8", "SQNR dB"]
ACCURACY_HEAD = ["model", "file", "run by", "right", "top-1", "agreement with fp32"]
LAYER_HEAD = ["layer", "op", "fp32 us", "int8 us", "speed-up", "types", "fp32 kernel", "int8 kernel"]


def percent(share):
    return "-" if share is None or share < 0 else f"{100 * share:.1f} %"


def speed_cells(result):
    fp32, int8, ms = result["verdicts"]["fp32"], result["verdicts"]["int8"], result["ms"]
    return [result["model"] + (" (trained)" if result["trained"] else ""), milliseconds(ms[ORT]), milliseconds(ms[ORT_INT8]), result["fastest"],
            milliseconds(ms[FP32]), milliseconds(ms[INT8]), interval(fp32), bar(fp32), fp32["word"], interval(int8), bar(int8), int8["word"],
            percent(result["int8_share"]), decibel(result["sqnr_db"])]


def speed_count(results):
    words = [v["word"].rstrip("?") for r in results for v in r["verdicts"].values()]
    return words.count("PASS"), len(words)


def raced(results):
    """Each file of the quantizer, ms."""
    forms = list(dict.fromkeys(form for r in results for form in r["raced"]))
    rows = [[r["model"], *(one_race(r["raced"].get(form)) for form in forms)] for r in results]
    return markdown_table(["model", *forms], rows)


def one_race(found):
    if found is None:
        return "-"
    return milliseconds(found) if not isinstance(found, str) else "none"


def race_failures(results):
    failed = [f"* {r['model']}, {form}: {why[:160]}" for r in results for form, why in r["raced"].items() if isinstance(why, str)]
    return ["", "Not run:", "", *failed] if failed else []


def head_of(part):
    return [f"* {part['cpu']}; {part['versions']}.", *(f"* Not measured: {line}" for line in part["skipped"])]


def speed_part(part):
    results = part["results"]
    passed, asked = speed_count(results)
    return "\n".join([
        "## Speed", "",
        f"Measured on {part['date']} by `{part['command']}`: one thread, batch 1, {part['rounds']} rounds of {part['round_seconds']:g} s, all sides in "
        "turns. ORT int8: the fastest of the files that ONNX Runtime's quantizer makes from the same samples (below). Halftone fp32: fused. \"x\" is "
        "the median over rounds of the ratio within a round. In brackets beside the bar: what oneDNN's primitives alone would reach. In int8: share "
        "of the multiply-adds. SQNR: of our int8 answers against ONNX Runtime's fp32. Trained networks run the file whose accuracy is below; "
        f"{schedulings(results, lambda r: r['model'])}.", "",
        f"* **{passed} of {asked} bars are passed.**", *head_of(part), f"* {remarks(results, lambda r: r['model'])}", "",
        markdown_table(SPEED_HEAD, map(speed_cells, results)), "",
        "The files of ONNX Runtime's quantizer, best of two short rounds, ms:", "", raced(results), *race_failures(results), ""])


# --- Accuracy.


def accuracy_rows(results):
    for r in results:
        for i, row in enumerate(r["rows"]):
            yield [r["model"] if i == 0 else "", row["file"], row["engine"], f"{row['right']} of {r['samples']}",
                   f"{row['right'] / r['samples']:.4f}", f"{row['agreement']:.4f}"]


def number(value):
    return "not known" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def verdict_rows(results):
    for r in results:
        for v in r["verdicts"]:
            sign = "<=" if v["what"].startswith(("images lost", OTHER_CLASSES)) else ">="
            yield [r["model"], v["what"], number(v["value"]), f"{sign} {number(v['bar'])}", "met" if v["met"] else "MISSED"]


def kernels_lines(result):
    """What ONNX Runtime ran of our two files, the most frequent types first."""
    for key, name in (("nodes_elsewhere", result["model"]), ("nodes_for_runtime", f"{result['model']}, --target-runtime onnxruntime")):
        if key in result:
            nodes = sorted(result[key].items(), key=lambda item: (-item[1], item[0]))
            yield f"* {name}: {', '.join(f'{count} {op}' for op, count in nodes) if nodes else 'did not run'}"


def spread_lines(results):
    """Of the bar on other classes: what the order of roundings alone does."""
    known = [f"{r['model']}{file} {others}" for r in results for file, others in r.get("own_spread", {}).items() if others is not None]
    if known:
        yield f"* ONNX Runtime against itself, the same file with its graph optimizations and without, other classes: {'; '.join(known)}."


def accuracy_part(part):
    results = part["results"]
    met, asked = counted([v for r in results for v in r["verdicts"]])
    failures = [f"* {r['model']}, {name}: {why[-200:]}" for r in results for name, why in r["failed"].items()]
    with_flags = f" Flags: `{' '.join(part['flags'])}`." if part["flags"] else ""
    return "\n".join([
        "## Accuracy", "",
        f"Counted on {part['date']} by `{part['command']}`. Calibrated on 50 images (500 digits), judged on 100 others (5000 others).{with_flags} The "
        "files of ONNX Runtime's quantizer: pairs, weights per channel, the same samples, each of its three methods with activations of u8 and s8. "
        "Agreement: the share of samples with the class that ONNX Runtime's fp32 run gives.", "",
        f"* **{met} of {asked} bars are met.**", *head_of(part), *failures, *spread_lines(results), "",
        markdown_table(["model", "what", "value", "bar", ""], verdict_rows(results)), "",
        markdown_table(ACCURACY_HEAD, accuracy_rows(results)), "",
        "What ONNX Runtime ran of our files, by its profile (QLinear: int8 kernels):", "",
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
    rows = [["top-1 of " + str(found["judged"]) + " digits", f"{found['top1']['fp32']:.5f}", f"{found['top1']['int8']:.5f}",
             f"{100 * (found['top1']['int8'] - found['top1']['fp32']):+.2f} points"],
            [f"the {len(paired)} quantized layers, us", f"{before:.1f}", f"{after:.1f}", f"{before / after:.2f} x" if after else "-"]]
    if whole["fp32"] and whole["int8"]:
        rows.append(["the whole network, us", f"{1000 * whole['fp32']:.1f}", f"{1000 * whole['int8']:.1f}",
                     f"{ratio.get('median', 0):.2f} x ({ratio.get('low', 0):.2f} .. {ratio.get('high', 0):.2f})"])
    disturbed = [] if found["valid"] is not False else [f"* INVALID: {'; '.join(found['why_invalid'])}"]
    vnni = {True: "The CPU multiplies bytes and sums in 32 bits in one instruction (VNNI).", False: "The CPU has no VNNI."}.get(found["vnni"], "")
    return "\n".join([
        "## A small network, layer by layer", "",
        f"Measured on {part['date']} by `{part['command']}`, one thread, batch 1: the demo's residual network for digits, calibrated on "
        f"{part['calibrated']} of its digits. {found['int8_convolutions']} of {found['convolutions']} convolutions are int8, {percent(found['int8_share'])} "
        "of the multiply-adds.", "",
        *head_of(part), *disturbed, "", markdown_table(["", "fp32", "int8", "int8 against fp32"], rows), "",
        f"{vnni} oneDNN's kernels name the instructions that they are made for.".strip(), "",
        markdown_table(LAYER_HEAD, map(layer_cells, layers)), ""])


PARTS = (("speed", "Speed", speed_part), ("accuracy", "Accuracy", accuracy_part), ("table", "A small network, layer by layer", table_part))


def page(document):
    """`document`: {"speed": ..., "accuracy": ..., "table": ...}, each may be missing."""
    lines = ["# INT8, measured", "",
             "Written by `tests/bench/int8.py`: do not edit it. How times are measured: [BENCHMARK_METHOD.md](BENCHMARK_METHOD.md). How int8 files are "
             "made: [int8.md](int8.md).", ""]
    for key, title, part in PARTS:
        lines.append(part(document[key]) if document.get(key) else f"## {title}\n\nNot measured yet.\n")
    return "\n".join(lines).rstrip("\n") + "\n"
