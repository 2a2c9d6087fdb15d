# SPDX-License-Identifier: Apache-2.0
"""A report of `halftone optimize` as a row of the precision tables, and its targets. Pure."""

from classify import changed, scores

EQUAL_DB, NONE_DB = 999, -999


def variant(report, precision):
    return next((v for v in report["variants"] if v["precision"] == precision), None)


def bf16_nodes(variant):
    """(nodes in bf16, nodes that the planner decided)"""
    decisions = variant.get("decisions", [])
    return sum(d["precision"] == "bf16" for d in decisions), len(decisions)


def known(count):
    """A count of the report, where -1 means not known; here None."""
    return None if count is None or count < 0 else count


def speed(benchmark):
    if not benchmark or not benchmark.get("samples"):
        return None
    s = benchmark["speedup"]
    return {"median": s["median"], "low": s["low"], "high": s["high"], "valid": benchmark["valid"],
            "why_invalid": benchmark.get("invalid_reasons", [])}


def milliseconds(benchmark):
    return benchmark["median_ms"] if benchmark and benchmark.get("samples") else None


def worst(fidelity):
    """The output with the lowest SQNR."""
    if not fidelity:
        return None
    lowest = min(fidelity, key=lambda f: f["sqnr_db"])
    rows = max((f["rows"] for f in fidelity), default=0)
    return {"sqnr_db": lowest["sqnr_db"], "cosine": min(f["cosine"] for f in fidelity), "outputs": len(fidelity), "rows": rows}


def row(report, planner):
    """All columns of the tables for one model and planner. Errors: ValueError if it is not a report with fp32 and bf16."""
    fp32, bf16 = variant(report, "fp32"), variant(report, "bf16")
    if fp32 is None or bf16 is None:
        raise ValueError(f"no fp32 or no bf16 among {[v['precision'] for v in report['variants']]}")
    in_bf16, decided = bf16_nodes(bf16)
    samples = bf16["labelled_samples"]
    return {
        "planner": planner, "summary": bf16["summary"], "bf16_nodes": in_bf16, "decided_nodes": decided, "emulated": bf16["emulated"],
        "casts": {key: known(bf16.get(f"casts_{key}")) for key in ("planned", "in_file", "run")},
        "fp32_ms": milliseconds(fp32.get("benchmark")), "bf16_ms": milliseconds(bf16.get("benchmark")),
        "speed": speed(bf16.get("benchmark")), "fidelity": worst(bf16["fidelity"]), "samples": report["evaluation_samples"],
        "top1": {"fp32": fp32["top1_accuracy"], "bf16": bf16["top1_accuracy"]} if samples else None,
        "bytes": {"fp32": fp32["artifact"]["size_bytes"], "bf16": bf16["artifact"]["size_bytes"]},
        "changed": changed_by_agreement(bf16["fidelity"]) if samples else None, "scores": None}


def changed_by_agreement(fidelity):
    """Samples with another class, for outputs with one row per sample."""
    first = fidelity[0]
    return round((1 - first["top1_agreement"]) * first["rows"])


def add_predictions(one, labels, fp32, bf16):
    """Counts changed classes by the predictions of the two files, and adds precision, recall and F1."""
    one["changed"] = changed(fp32, bf16)
    one["scores"] = {"fp32": vars(scores(labels, fp32)), "bf16": vars(scores(labels, bf16))}


# --- Targets.


def checks_of(one, target):
    """[{"what", "value", "target", "met"}], empty without targets. What was not measured is not met."""
    checks = []
    if target.changed_share is not None:
        count, samples = one["changed"], one["samples"]
        # Counts are whole: a share that falls between two of them is the lower one.
        most = int(target.changed_share * samples + 1e-9)
        checks.append({"what": "changed classes", "value": count, "target": most, "met": count is not None and samples > 0 and count <= most})
    if target.sqnr_db is not None:
        sqnr = one["fidelity"]["sqnr_db"] if one["fidelity"] else None
        checks.append({"what": "SQNR dB", "value": sqnr, "target": target.sqnr_db, "met": sqnr is not None and sqnr >= target.sqnr_db})
    return checks


def missed(results):
    """A line per missed target: "MODEL, PLANNER: 3 changed classes, at most 2"."""
    lines = []
    for result in results:
        for v in result["checks"]:
            if not v["met"]:
                bound = "at most" if v["what"] == "changed classes" else "at least"
                lines.append(f"{result['model']}, {result['planner']}: {value_text(v['value'])} {v['what']}, {bound} {v['target']}")
    return lines


def value_text(value):
    if value is None:
        return "unknown"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def counted(results):
    checks = [v for r in results for v in r["checks"]]
    return sum(v["met"] for v in checks), len(checks)
