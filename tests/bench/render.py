"""The results of dev bench as text for a terminal and as the page results/2026-11-24-zen4-fp32-bf16.md."""

import math

from judge import missed

HEAD = ["model", "ORT ms", "fp32 ms", "x ORT (95 %)", "bar (limit)", "fp32", "bf16 ms", "x ORT (95 %)", "bar (limit)", "bf16", "SQNR dB"]
MAX_LOSSES = 3  # steps shown of a model


def interval(verdict):
    if verdict["low"] is None:
        return f"{verdict['speed']:.2f}"
    return f"{verdict['speed']:.2f} ({verdict['low']:.2f} .. {verdict['high']:.2f})"


def bar(verdict):
    if verdict["bar"] is None:
        return "-"
    return f"{verdict['bar']:.3g}" + (f" ({verdict['limit']:.3g})" if verdict["limit"] else "")


def decibel(x):
    return f"{x:.0f}" if abs(x) < 999 else "equal" if x > 0 else "none"


def milliseconds(x):
    return f"{x:.3g}" if x < 100 else f"{x:.0f}"


def cells(result):
    fp32, bf16 = result["verdicts"]["fp32"], result["verdicts"]["bf16"]
    return [result["model"], milliseconds(result["ort_ms"]), milliseconds(fp32["ms"]), interval(fp32), bar(fp32), fp32["word"],
            milliseconds(bf16["ms"]), interval(bf16), bar(bf16), bf16["word"], f"{decibel(fp32['sqnr_db'])}, {decibel(bf16['sqnr_db'])}"]


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


def words(results):
    return [v["word"].rstrip("?") for r in results for v in r["verdicts"].values() if v["word"]]


def count(results):
    all_words = words(results)
    return f"{all_words.count('PASS')} of {len(all_words)} bars are passed"


def geometric_means(results):
    def mean(key):
        return math.exp(sum(math.log(r["verdicts"][key]["speed"]) for r in results) / len(results))
    return f"Geometric mean over models: fp32 {mean('fp32'):.2f} x, bf16 {mean('bf16'):.2f} x ONNX Runtime"


def section(setting, results):
    return f"## {setting}\n\n{markdown_table(HEAD, map(cells, results))}\n\n{geometric_means(results)}."


def loss_lines(result, key):
    """One of our files in one scenario that misses its bar."""
    name = f"**{result['model']} {key}, {result['setting']}**"
    if key not in result["profile"]:
        return f"{name}: {result['profile'].get('why_not', 'no profile')}"
    of = result["profile"][key]
    head = (f"{name}: {of['whole_us'] / 1e3:.2f} ms in all, steps {of['steps_us'] / 1e3:.2f} ms, of these changes of layout and type "
            f"{of['conversions_us'] / 1e3:.2f} ms; the others alone {of['alone_us'] / 1e3:.2f} ms.")
    rows = [[s["name"], s["op"], s["kernel"], f"{s['median_us']:.0f}", f"{s['alone_us']:.0f}", f"{s['gain_us']:+.0f}"]
            for s in of["steps"][:MAX_LOSSES]]
    return head + "\n\n" + markdown_table(["step", "op", "kernel", "us", "alone", "loss"], rows)


def losses(results):
    lost = [loss_lines(r, key) for r in results for key in ("fp32", "bf16") if missed(r["verdicts"][key])]
    if not lost:
        return ""
    return "\n## Where a bar is missed\n\nSteps within the model against the same primitives alone, the largest losses first.\n\n" + "\n\n".join(lost) + "\n"


def checks(results):
    """What `halftone profile` says about the engine's promises, in one line for those that hold and one for each other."""
    every = [(r, key, check) for r in results for key in ("fp32", "bf16") for check in r["profile"].get(key, {}).get("checks", [])]
    broken = [f"{r['model']} {key}, {r['setting']}: {check['text']}" for r, key, check in every if not check["ok"]]
    unknown = [r["name"] for r in results if "why_not" in r["profile"]]
    lines = [f"{len(every) - len(broken)} of {len(every)} of the engine's promises are kept (`halftone profile`: sum of steps, time outside "
             "of steps, memory, planning)."] + [f"Not kept: {line}" for line in broken]
    return lines + ([f"Without a profile: {', '.join(unknown)}."] if unknown else [])


def disturbed_rounds(results, name_of):
    kept = [f"{name_of(r)}, round {i}: {reasons[0]}" for r in results for i, reasons in r["disturbed"].items()]
    return f"{len(kept)} disturbed rounds count, e.g. {kept[0]}." if kept else "No round that counts was disturbed."


def remarks(results, name_of=lambda r: r["name"]):
    again = sum(r["thrown_away"] for r in results)
    thrown = f"{again} disturbed rounds were thrown away and done again." if again else "No round was thrown away."
    return f"{thrown} {disturbed_rounds(results, name_of)}"


def schedulings(results, setting_of=lambda r: r["setting"]):
    """How the processes of each setting were scheduled; settings of several runs may differ."""
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
    promises = "\n".join(f"* {line}" for line in checks(results))
    return f"""# Benchmarks

Measured on {run['date']} by `{run['command']}`, which wrote this page: do not edit it. How: [BENCHMARK_METHOD.md](BENCHMARK_METHOD.md).

Halftone's fused fp32 and its bf16 files against ONNX Runtime fp32 (ORT: CPU provider, all optimizations, the same cores and threads).
"x ORT" is a speed: the median over {run['rounds']} rounds of the ratio within a round, with its 95 % interval. In brackets beside the bar: what oneDNN's
primitives alone would reach, computed on a Zen 4. "?": the interval reaches over the bar. NOISY: it does, and too many rounds were disturbed. SQNR: of our fp32 and bf16 answers
against ORT's. Profile {run['profile']}; {schedulings(results)}.

* **{count(results)}.**
* {run['cpu']}; {run['versions']}.
* {run['reference']}
* {remarks(results)}
{promises}{skipped}

{tables}
{losses(results)}"""
