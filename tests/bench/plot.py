# SPDX-License-Identifier: Apache-2.0
"""dev bench --plot: speed-ups over ONNX Runtime fp32 as an SVG.

    dev bench --plot [--speed FILE.json] [--int8 FILE.json] [--svg FILE.svg]

A bar per network and precision with its 95 % interval: fp32 and bf16 of what `dev bench` wrote, int8 of what `dev bench --int8` wrote, at batch 1
with one thread. Hatched: INVALID or NOISY. Defaults: the newest files of results/, and results/speedups.svg. The same JSON gives the same SVG, byte for byte.
"""

import argparse
import json
import math
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "results"
SETTING = "batch 1, one thread"
COLORS = {"fp32": "#8da0cb", "bf16": "#fc8d62", "int8": "#66c2a5"}
UNRELIABLE = ("INVALID", "NOISY")
WIDTH = 0.27  # of a bar, where a network has the width 1


def newest(pattern):
    return max(RESULTS.glob(pattern))  # names begin with the date


def series(speed, int8):
    """{network: {precision: {"speed", "low", "high", "status"}}}, in the order of the results."""
    found = {r["model"]: dict(r["checks"]) for r in speed["results"] if r["setting"] == SETTING}
    for r in int8["speed"]["results"]:
        found.setdefault(r["model"], {})["int8"] = r["checks"]["fp32"]
    return found


def geometric_mean(found, precision):
    speeds = [of[precision]["speed"] for of in found.values() if precision in of]
    return math.exp(sum(map(math.log, speeds)) / len(speeds)), len(speeds)


def draw(axes, found):
    for i, (precision, color) in enumerate(COLORS.items()):
        mean, count = geometric_mean(found, precision)
        for reliable in (True, False):
            places = [(x, of[precision]) for x, of in enumerate(found.values())
                      if precision in of and (of[precision]["status"] not in UNRELIABLE) == reliable]
            if not places:
                continue
            axes.bar([x + (i - 1) * WIDTH for x, _ in places], [c["speed"] for _, c in places], WIDTH, color=color, ecolor="#444444",
                     error_kw={"elinewidth": 0.8}, hatch=None if reliable else "////", edgecolor=color if reliable else "#ffffff",
                     yerr=[[c["speed"] - c["low"] for _, c in places], [c["high"] - c["speed"] for _, c in places]],
                     label=f"{precision}: {mean:.2f} x (geometric mean of {count})" if reliable else None)
    axes.axhline(1, color="#444444", linewidth=0.8)
    axes.set_xticks(range(len(found)), [name.replace("_", " ") for name in found], rotation=30, ha="right")
    axes.set_ylabel("speed-up over ONNX Runtime fp32")
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    axes.set_ylim(0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def write(speed, int8, path):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    # Text stays text, and nothing depends on time, version or machine.
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "halftone", "font.family": "sans-serif", "font.size": 9})
    figure, axes = pyplot.subplots(figsize=(10, 4), layout="tight")
    draw(axes, series(speed, int8))
    cpu = speed["cpu"].removeprefix("CPU: ").split(";")[0]
    figure.suptitle(f"{cpu}; {SETTING}; {speed['date']}, int8 {int8['speed']['date']}; hatched: INVALID or NOISY", fontsize=9)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def main(arguments):
    parser = argparse.ArgumentParser(prog="dev bench --plot", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", type=pathlib.Path, help="the JSON of dev bench (default: the newest of results/)")
    parser.add_argument("--int8", type=pathlib.Path, help="the JSON of dev bench --int8 (default: the newest of results/)")
    parser.add_argument("--svg", type=pathlib.Path, default=RESULTS / "speedups.svg", help="the file to write (default: results/speedups.svg)")
    options = parser.parse_args(arguments)
    speed, int8 = (json.loads(path.read_text()) for path in (options.speed or newest("*-fp32-bf16.json"), options.int8 or newest("*-int8.json")))
    write(speed, int8, options.svg)
    return 0
