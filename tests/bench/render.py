"""The results of dev bench as text for a terminal and as a Markdown page."""


def interval(ratio, digits=2):
    value, low, high = ratio
    return f"{value:.{digits}f}" if low is None else f"{value:.{digits}f} ({low:.{digits}f} .. {high:.{digits}f})"


def cells(model):
    for row in model["rows"]:
        yield [row["side"], f"{row['median_ms']:.2f}", f"{row['min_round_ms']:.2f} .. {row['max_round_ms']:.2f}", interval(row["speedup"]),
               f"{row['file_bytes'] / 1e6:.1f}"]


HEAD = ["side", "median ms", "rounds, ms", "speed-up over ONNX Runtime (95 %)", "file MB"]


def verdicts(model):
    for bar in model["bars"]:
        yield f"{'PASS' if bar['passed'] else 'FAIL'} {bar['bar']}: {interval((bar['value'], bar['low'], bar['high']))}"


def disturbances(model):
    if model["thrown_away"]:
        yield f"{len(model['thrown_away'])} disturbed rounds were thrown away and done again, e.g. {model['thrown_away'][0][0]}"
    if model["disturbed"]:
        yield f"{len(model['disturbed'])} remarks on disturbed rounds that count, e.g. {model['disturbed'][0]}"
    else:
        yield "no round that counts was disturbed"


def table(model):
    lines = [HEAD, *cells(model)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    text = [f"{model['model']}, batch 1, one thread"]
    text += ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))) for line in lines]
    text += [f"bf16 against fp32 on seeded random inputs: SQNR {model['bf16_sqnr_db']:.1f} dB"]
    return "\n".join(text + list(disturbances(model)) + list(verdicts(model)))


def model_section(model, cpu):
    environment = model["environment"]
    lines = [f"## {model['model']}, batch 1, one thread", ""]
    lines += ["| " + " | ".join(HEAD) + " |", "|---" + "|--:" * (len(HEAD) - 1) + "|"]
    lines += ["| " + " | ".join(line) + " |" for line in cells(model)]
    lines += ["", f"bf16 against fp32 on seeded random inputs: SQNR {model['bf16_sqnr_db']:.1f} dB. The weights are random, so there is no "
              "accuracy to tell.", ""]
    lines += [f"* {line}" for line in verdicts(model)]
    lines += [f"* {line[0].upper()}{line[1:]}." for line in disturbances(model)]
    lines += ["", f"CPU: {cpu}; {environment['cores']} cores, oneDNN's instruction set {environment['isa']}, "
              f"kernel {environment['kernel']}. " + "; ".join(dict.fromkeys(row["version"] for row in model["rows"])) + "."]
    return "\n".join(lines)


def markdown(result):
    models = ",".join(model["model"] for model in result["models"])
    command = f"./dev bench --models {models} --rounds {result['rounds']} --round-seconds {result['round_seconds']:g}"
    intro = f"""# Benchmarks

Measured on {result['date']} by `{command} --markdown docs/BENCHMARKS.md`, which wrote this page: do not edit it.
How it is measured: [BENCHMARK_METHOD.md](BENCHMARK_METHOD.md).

{result['rounds']} rounds. In each round every side runs once, in random order, in fresh processes on the same core, for
{result['round_seconds']:g} s after warm-up. Scheduling: {result['scheduling']}. "median ms" is the median over rounds of a round's
median inference. A speed-up is the median over rounds of the ratio within the round, with its 95 % bootstrap interval; above 1 is
faster.
"""
    return intro + "\n" + "\n\n".join(model_section(m, result['cpu']) for m in result["models"]) + "\n"
