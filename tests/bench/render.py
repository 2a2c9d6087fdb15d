# SPDX-License-Identifier: Apache-2.0
"""The results of dev bench as text for a terminal and as a page in Markdown. Pure."""

import math

from evaluation import missed

HEAD = ["model", "ORT ms", "fp32 ms", "x ORT (95 %)", "target (limit)", "fp32", "bf16 ms", "x ORT (95 %)", "target (limit)", "bf16", "SQNR dB"]
MAX_LOSSES = 3  # steps shown of a model


def interval(check):
    if check["low"] is None:
        return f"{check['speed']:.2f}"
    return f"{check['speed']:.2f} ({check['low']:.2f} .. {check['high']:.2f})"


def target(check):
    if check["target"] is None:
        return "-"
    return f"{check['target']:.3g}" + (f" ({check['limit']:.3g})" if check["limit"] else "")


def decibel(x):
    return f"{x:.0f}" if abs(x) < 999 else "equal" if x > 0 else "none"


def milliseconds(x):
    return f"{x:.3g}" if x < 100 else f"{x:.0f}"


def cells(result):
    fp32, bf16 = result["checks"]["fp32"], result["checks"]["bf16"]
    return [result["model"], milliseconds(result["ort_ms"]), milliseconds(fp32["ms"]), interval(fp32), target(fp32), fp32["status"],
            milliseconds(bf16["ms"]), interval(bf16), target(bf16), bf16["status"], f"{decibel(fp32['sqnr_db'])}, {decibel(bf16['sqnr_db'])}"]


def settings_of(results):
    return list(dict.fromkeys(r["setting"] for r in results))


def text_table(results):
    lines = [HEAD, *map(cells, results)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    return "\n".join("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))) for line in lines)


def text(results):
    return "\n\n".join(f"{setting}\n" + text_table([r for r in results if r["setting"] == setting]) for setting in settings_of(results))


def markdown_table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|", *("| " + " | ".join(row) + " |" for row in rows)])


def statuses(results):
    return [v["status"].rstrip("?") for r in results for v in r["checks"].values() if v["status"]]


def count(results):
    found = statuses(results)
    return f"{found.count('PASS')} of {len(found)} targets are met"


def geometric_means(results):
    def mean(key):
        return math.exp(sum(math.log(r["checks"][key]["speed"]) for r in results) / len(results))
    return f"Geometric mean over models: fp32 {mean('fp32'):.2f} x, bf16 {mean('bf16'):.2f} x ONNX Runtime"


def section(setting, results):
    return f"## {setting}\n\n{markdown_table(HEAD, map(cells, results))}\n\n{geometric_means(results)}."


def loss_lines(result, key):
    """The slowest steps of one file that misses its target in one scenario."""
    name = f"**{result['model']} {key}, {result['setting']}**"
    if key not in result["profile"]:
        return f"{name}: {result['profile'].get('why_not', 'no profile')}"
    of = result["profile"][key]
    head = (f"{name}: {of['whole_us'] / 1e3:.2f} ms per inference, steps {of['steps_us'] / 1e3:.2f} ms, of these "
            f"reorders and casts {of['conversions_us'] / 1e3:.2f} ms; the other steps in isolation {of['isolated_us'] / 1e3:.2f} ms.")
    rows = [[s["name"], s["op"], s["kernel"], f"{s['median_us']:.0f}", f"{s['isolated_us']:.0f}", f"{s['saving_us']:+.0f}"]
            for s in of["steps"][:MAX_LOSSES]]
    return head + "\n\n" + markdown_table(["step", "op", "kernel", "us", "isolated us", "loss us"], rows)


def losses(results):
    lost = [loss_lines(r, key) for r in results for key in ("fp32", "bf16") if missed(r["checks"][key])]
    if not lost:
        return ""
    return "\n## Where a target is missed\n\nTime of steps within the model against the same primitives in isolation, the largest losses first.\n\n" + "\n\n".join(lost) + "\n"


def engine_checks(results):
    """Checks of `halftone profile`: one line with the number that passed, and one line for each that failed."""
    every = [(r, key, check) for r in results for key in ("fp32", "bf16") for check in r["profile"].get(key, {}).get("checks", [])]
    broken = [f"{r['model']} {key}, {r['setting']}: {check['text']}" for r, key, check in every if not check["ok"]]
    unknown = [r["name"] for r in results if "why_not" in r["profile"]]
    lines = [f"{len(every) - len(broken)} of {len(every)} engine checks passed (`halftone profile`: sum of steps, time outside of steps, memory, "
             "planning)."] + [f"Failed: {line}" for line in broken]
    return lines + ([f"No profile: {', '.join(unknown)}."] if unknown else [])


def disturbed_rounds(results, name_of):
    kept = [f"{name_of(r)}, round {i}: {reasons[0]}" for r in results for i, reasons in r["disturbed"].items()]
    return f"{len(kept)} disturbed rounds are in the results, e.g. {kept[0]}." if kept else "No round in the results was disturbed."


def remarks(results, name_of=lambda r: r["name"]):
    again = sum(r["discarded_rounds"] for r in results)
    repeated = f"{again} disturbed rounds were discarded and repeated." if again else "No round was discarded."
    return f"{repeated} {disturbed_rounds(results, name_of)}"


def schedulings(results, setting_of=lambda r: r["setting"]):
    """The scheduling of each setting: runs of different settings may differ in it."""
    settings = {}
    for r in results:
        names = settings.setdefault(r["scheduling"], [])
        if setting_of(r) not in names:
            names.append(setting_of(r))
    if len(settings) == 1:
        return f"scheduling {next(iter(settings))}"
    return "scheduling " + ", ".join(f"{how}: {'; '.join(names)}" for how, names in settings.items())


def markdown(run):
    results = run["results"]
    tables = "\n\n".join(section(setting, [r for r in results if r["setting"] == setting]) for setting in settings_of(results))
    skipped = "".join(f"\n* Not measured: {line}" for line in run["skipped"])
    engine = "\n".join(f"* {line}" for line in engine_checks(results))
    return f"""# Benchmarks

Measured on {run['date']} by `{run['command']}`, which wrote this page: do not edit it. How: [benchmark method](../docs/design/benchmark_method.md).

Halftone's fused fp32 and bf16 files against ONNX Runtime fp32 (ORT: CPU execution provider, all graph optimizations, the same cores and threads).
x ORT: speed-up, the median over {run['rounds']} rounds of the ratio within a round, with its 95 % interval. Limit: the speed-up that oneDNN's
primitives alone would reach, computed on a Zen 4. "?": the interval contains the target. NOISY: it does, and too many rounds were disturbed. INVALID:
ONNX Runtime was slower than its reference time. SQNR: our fp32 and bf16 outputs against ORT's. Preset {run['preset']}; {schedulings(results)}.

* **{count(results)}.**
* {run['cpu']}; {run['versions']}.
* {run['reference']}
* {remarks(results)}
{engine}{skipped}

{tables}
{losses(results)}"""
