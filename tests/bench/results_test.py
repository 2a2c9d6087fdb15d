#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""results/: each page and the plot are what the programs make of the committed JSON. Names have date, CPU and topic."""

import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import fusions  # noqa: E402
import int8_page  # noqa: E402
import plot  # noqa: E402
import precision_page  # noqa: E402
import render  # noqa: E402
from harness import REPO, case, main  # noqa: E402

RESULTS = REPO / "results"
NAME = re.compile(r"\d{4}-\d\d-\d\d-[a-z0-9]+-([a-z0-9-]+)")
PAGES = {"fp32-bf16": render.markdown, "int8": int8_page.page, "bf16-models": precision_page.page, "fusions": fusions.page}


@case("each page is what its program makes of the JSON beside it")
def _(t):
    files = sorted(RESULTS.glob("*.json"))
    t.check(len(files) >= 5, f"only {files}")
    for file in files:
        topic = NAME.fullmatch(file.stem)
        t.check(topic and topic[1] in PAGES, f"{file.name}: not DATE-CPU-TOPIC with a topic of {sorted(PAGES)}")
        page = PAGES[topic[1]](json.loads(file.read_text()))
        t.check(file.with_suffix(".md").read_text() == page, f"{file.stem}.md differs: write it with --page --json results/{file.name} --markdown")


@case("results/README.md lists every page")
def _(t):
    text = (RESULTS / "README.md").read_text()
    for page in RESULTS.glob("*.md"):
        t.check(page.name == "README.md" or f"({page.name})" in text, f"{page.name} is not listed")


@case("the plot is what `dev bench --plot` makes of the JSON", needs=("matplotlib",))
def _(t):
    with tempfile.TemporaryDirectory(prefix="halftone-plot-") as folder:
        svg = pathlib.Path(folder, "speedups.svg")
        plot.main(["--svg", str(svg)])
        t.check(svg.read_text() == (RESULTS / "speedups.svg").read_text(), "results/speedups.svg differs: run ./dev bench --plot")


@case("the plot has one setting; int8 is drawn by its speed-up over fp32")
def _(t):
    def check(speed, status="PASS"):
        return {"speed": speed, "low": speed - 0.1, "high": speed + 0.1, "status": status}
    speed = {"results": [{"model": "a", "setting": plot.SETTING, "checks": {"fp32": check(1.0), "bf16": check(2.0, "INVALID")}},
                         {"model": "a", "setting": "batch 16, one thread", "checks": {"fp32": check(9.0), "bf16": check(9.0)}},
                         {"model": "b", "setting": plot.SETTING, "checks": {"fp32": check(4.0), "bf16": check(8.0)}}]}
    found = plot.series(speed, {"speed": {"results": [{"model": "a", "checks": {"fp32": check(3.0), "int8": check(1.1)}}]}})
    t.equal({name: {precision: c["speed"] for precision, c in of.items()} for name, of in found.items()},
            {"a": {"fp32": 1.0, "bf16": 2.0, "int8": 3.0}, "b": {"fp32": 4.0, "bf16": 8.0}})
    mean, count = plot.geometric_mean(found, "bf16")
    t.check(abs(mean - 4) < 1e-9 and count == 2, f"{mean} of {count}")


main()
