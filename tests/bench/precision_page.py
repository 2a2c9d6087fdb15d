# SPDX-License-Identifier: Apache-2.0
"""The page of dev bench --precision and --headline out of its JSON. Pure."""

from headline_numbers import CLAIMS, claim_text
from precision_rows import EQUAL_DB, NONE_DB, counted, missed
from render import disturbed_rounds, markdown_table, schedulings
from zoo import FAMILIES, MODELS

HEAD = ["model", "planner", "bf16 nodes", "casts", "fp32 ms", "bf16 ms", "speed-up (95 %)", "SQNR dB", "cosine", "top-1", "changed", "target"]
SCORE_HEAD = ["model", "file", "samples", "accuracy", "precision", "recall", "F1"]
HEADLINE_HEAD = ["net", "batch", "threads", "fp32 fps", "bf16 fps", "bf16 / fp32 (95 %)", "SQNR dB", "published"]


def number(x, digits=3):
    return "-" if x is None else f"{x:.{digits}g}" if abs(x) < 100 else f"{x:.0f}"


def decibel(x):
    return "-" if x is None else "exact" if x >= EQUAL_DB else "none" if x <= NONE_DB else f"{x:.1f}"


def ratio(s):
    """With its interval; INVALID where the measurement was disturbed."""
    if s is None or not s["median"]:
        return "-"
    text = f"{s['median']:.2f}" + (f" ({s['low']:.2f} .. {s['high']:.2f})" if s.get("low") else "")
    return text if s.get("valid", True) else text + " INVALID"


def casts(c):
    """Planned, in the file, run as separate steps."""
    return " / ".join("?" if c[key] is None else str(c[key]) for key in ("planned", "in_file", "run"))


def top1(t):
    return "-" if t is None else f"{t['fp32']:.4g} -> {t['bf16']:.4g}"


def targets(checks):
    """Each target with its number."""
    def one(v):
        sign = "<=" if v["what"] == "changed classes" else ">="
        return f"{'met' if v['met'] else 'MISSED'} ({sign} {v['target']}{' dB' if 'SQNR' in v['what'] else ''})"
    return ", ".join(map(one, checks)) or "-"


def cells(result):
    r = result["row"]
    fidelity = r["fidelity"] or {"sqnr_db": None, "cosine": None}
    changed = "-" if r["changed"] is None else f"{r['changed']} of {r['samples']}"
    return [result["model"], r["planner"] + (" (emulated)" if r["emulated"] else ""), f"{r['bf16_nodes']} of {r['decided_nodes']}", casts(r["casts"]),
            number(r["fp32_ms"]), number(r["bf16_ms"]), ratio(r["speed"]), decibel(fidelity["sqnr_db"]),
            "-" if fidelity["cosine"] is None else f"{fidelity['cosine']:.6f}", top1(r["top1"]), changed, targets(result["checks"])]


def family(name, results):
    chosen = [r for r in results if MODELS[r["model"]].family == name]
    return f"### {name}\n\n{FAMILIES[name]}\n\n{markdown_table(HEAD, map(cells, chosen))}\n" if chosen else ""


def score_rows(results):
    """fp32 once per model, bf16 once per planner."""
    seen = set()
    for r in results:
        scores = r["row"]["scores"]
        if scores is None:
            continue
        files = [("fp32", scores["fp32"])] if r["model"] not in seen else []
        seen.add(r["model"])
        for name, s in files + [(f"bf16, {r['planner']}", scores["bf16"])]:
            yield [r["model"], name, str(r["row"]["samples"]), *(f"{s[key]:.4f}" for key in ("accuracy", "precision", "recall", "f1"))]


def classifiers(results):
    rows = list(score_rows(results))
    if not rows:
        return ""
    return ("### Precision, recall and F1\n\nMacro averages over the classes that occur among labels or predictions.\n\n" +
            markdown_table(SCORE_HEAD, rows) + "\n")


def target_lines(results):
    met, asked = counted(results)
    lines = [f"* **{met} of {asked} targets are met.**"] if asked else []
    return lines + [f"* MISSED: {line}" for line in missed(results)]


def models_part(part):
    results = part["results"]
    lines = ["## Models with trained weights", "",
             f"Measured on {part['date']} by `{part['command']}`, preset {part['preset']}, {part['threads']} thread(s), batch 1.", "",
             "bf16 nodes: of the nodes that the planner decided. Casts: planned, in the file, run as separate steps (primitives absorb the others). "
             "Times: median per inference of the fused fp32 file and of the bf16 file; the speed-up is the median over rounds with its 95 % interval. "
             "SQNR and cosine: bf16 outputs against fp32, the worst output. Changed: samples with another class than fp32.", "",
             f"* {part['cpu']}; {part['versions']}.", *target_lines(results), *(f"* Not measured: {line}" for line in part["skipped"]), ""]
    lines += [text for name in FAMILIES if (text := family(name, results))]
    return "\n".join(lines + [classifiers(results)])


# --- The headline table.


def headline_cells(result):
    r = result["ratio"]
    published = [claim_text(c) for c in CLAIMS if c.net == result["net"] and c.fits(result["batch"], result["threads"])]
    return [result["net"], str(result["batch"]), str(result["threads"]), number(result["fps"]["fp32"], 4), number(result["fps"]["bf16"], 4), ratio(r),
            decibel(result["sqnr_db"]), "; ".join(published) or "-"]


def headline_setting(result):
    return f"batch {result['batch']}, {result['threads']} thread" + ("s" if result["threads"] > 1 else "")


def headline_name(result):
    return f"{result['net']}, {headline_setting(result)}"


def headline_part(part):
    claims = markdown_table(["net", "source", "bf16 / fp32", "conditions", "accuracy"],
                            [[c.net, c.who, c.ratio_text(), c.conditions, c.accuracy or "-"] for c in CLAIMS])
    return "\n".join([
        "## Networks of published tables", "",
        f"Measured on {part['date']} by `{part['command']}`: {part['rounds']} rounds of {part['round_seconds']:g} s, planner {part['planner']}. "
        "Networks as PyTorch exports them, with seeded random weights: for speed, not for accuracy. fps: samples per second. "
        f"SQNR: bf16 outputs against ONNX Runtime's; {schedulings(part['results'], headline_setting)}.", "",
        f"* {part['cpu']}; {part['versions']}.", *(f"* Not measured: {line}" for line in part["skipped"]),
        f"* INVALID: more than a third of the rounds were disturbed. {disturbed_rounds(part['results'], headline_name)}", "",
        markdown_table(HEADLINE_HEAD, map(headline_cells, part["results"])), "",
        "Published numbers. CPUs and frameworks differ: compare only ratios, and only where batch size and threads are equal.", "",
        claims, ""])


def page(document):
    """`document`: {"models": ..., "headline": ...}, either may be missing."""
    parts = ["# bfloat16 on real models", "",
             "Written by `./dev bench --precision` and `--headline`: do not edit it. How times are measured: [benchmark "
             "method](../docs/design/benchmark_method.md). Planners: [policy](../docs/reference/policy.md). Rounding: [numerics](../docs/reference/numerics.md).", ""]
    parts.append(models_part(document["models"]) if document.get("models") else "## Models with trained weights\n\nNot measured yet.\n")
    parts.append(headline_part(document["headline"]) if document.get("headline") else "## Networks of published tables\n\nNot measured yet.\n")
    return "\n".join(parts).rstrip("\n") + "\n"
