# SPDX-License-Identifier: Apache-2.0
"""dev bench --fusions: the patterns of fusion_patterns.py, each fused node against the nodes that it replaces (graph_microbenchmark.cc)."""

import dataclasses
import datetime
import json
import os
import random
import subprocess

from cores import choose
from fusion_patterns import FUSIONS, Fusion
from intervals import ratio_of_rounds
from programs import BenchError, program
from render import markdown_table

TIE = 1.02  # within this ratio fused and unfused are equally fast
HEAD = ["pattern", "shapes", "type", "fused ms", "unfused ms", "speed-up (95 %)", "", "kernels"]


def measure(graphs, seconds):
    """What graph_microbenchmark prints."""
    core = int(choose(1))
    done = subprocess.run([program("graph_microbenchmark"), "--seconds", str(seconds)], input="\n---\n".join(graphs), capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1"), preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    if done.returncode != 0:
        raise BenchError(f"graph_microbenchmark: exit code {done.returncode}: {done.stderr.strip()}\n" + "\n---\n".join(graphs))
    return json.loads(done.stdout)


def listed():
    for f in FUSIONS:
        print(f"{f.pattern:52} {f.shapes:30} {', '.join(f.types)}")


@dataclasses.dataclass(frozen=True)
class Row:
    fusion: Fusion
    element: str
    fused: dict  # as graph_microbenchmark prints it
    unfused: dict
    fuses: bool = True  # the passes fuse the unfused graph on this CPU

    def ratio(self, seed=1):
        """Speed-up of the fused node: (median over the turns, low, high)."""
        return ratio_of_rounds(self.unfused["turns_us"], self.fused["turns_us"], seed)

    def status(self):
        """"?": the interval contains the limit, so another run may differ. "kept": the target refuses the fusion."""
        value, low, high = self.ratio()
        if not self.fuses:
            return "kept"
        if value >= TIE:
            return "PASS" if low >= TIE else "PASS?"
        if value >= 1 / TIE:
            return "EVEN"
        return "SLOW" if high < 1 / TIE else "SLOW?"


def document(rows, command, cpu, left_out):
    """What --json writes and the page is made of."""
    return {"date": datetime.date.today().isoformat(), "command": command, "cpu": cpu, "left_out": left_out, "rows": [row_of(row) for row in rows]}


def row_of(row):
    median, low, high = row.ratio()
    return {"pattern": row.fusion.pattern, "shapes": row.fusion.shapes, "type": row.element, "fused_ms": row.fused["us"] / 1000,
            "unfused_ms": row.unfused["us"] / 1000, "speedup": {"median": median, "low": low, "high": high}, "status": row.status(),
            "kernels": [step.split(" ", 1)[1] for step in row.fused["steps"]]}


def cells(row):
    speedup = row["speedup"]
    return [row["pattern"], row["shapes"], row["type"], f"{row['fused_ms']:.4f}", f"{row['unfused_ms']:.4f}",
            interval((speedup["median"], speedup["low"], speedup["high"])), row["status"], ", ".join(row["kernels"])]


def page(document):
    statuses = [row["status"] for row in document["rows"]]
    left = f" {document['left_out']} rows of bfloat16 were left out: this CPU has no bfloat16 instructions." if document["left_out"] else ""
    return "\n".join([
        "# Fused nodes against the nodes they replace", "",
        f"Measured on {document['date']} by `{document['command']}`: one thread, one image or sequence. The two graphs of a row compute the same "
        "function; their runs are interleaved, reorders between their nodes included. Speed-up: the median over the turns with its 95 % interval. The "
        "last column has the kernels of the fused graph. The target refuses a fusion that is slower; the passes then leave the unfused nodes (kept).", "",
        f"* {document['cpu']}.",
        f"* {len(statuses)} rows: {sum(s.startswith('PASS') for s in statuses)} faster, {statuses.count('EVEN')} within {TIE - 1:.0%}, "
        f"{statuses.count('SLOW?')} possibly slower (the interval contains {TIE - 1:.0%}), {statuses.count('SLOW')} slower, "
        f"{statuses.count('kept')} kept.{left}", "",
        markdown_table(HEAD, map(cells, document["rows"])), ""])


def interval(ratio):
    return "{:.2f} ({:.2f} .. {:.2f})".format(*ratio)


def run_all(seconds, seed, only="", bf16=True):
    """(rows in the order of the table, number of rows left out because they need bf16). Prints a line per row."""
    wanted = [(f, element) for f in FUSIONS for element in f.types if only in f.pattern]
    todo = [(f, element) for f, element in wanted if bf16 or element == "f32"]
    times = {}
    for f, element in random.Random(seed).sample(todo, len(todo)):
        times[f, element] = measure(f.graphs(element), seconds)
    print(f"       {'pattern':56} {'shapes':30} type     fused ms unfused ms  speed-up")
    rows = []
    for f, element in todo:
        unfused, fused = times[f, element]["graphs"]
        row = Row(f, element, fused, unfused, times[f, element]["fuses"])
        rows.append(row)
        print(f"{row.status():6} {f.pattern:56} {f.shapes:30} {element:5} {fused['us'] / 1000:11.4f} {unfused['us'] / 1000:10.4f}  {interval(row.ratio()):22} "
              f"{', '.join(fused['steps'])}")
    if len(todo) < len(wanted):
        print(f"left out: {len(wanted) - len(todo)} rows of bfloat16, which this CPU only emulates")
    return rows, len(wanted) - len(todo)


def slow(rows):
    return [row for row in rows if row.status() == "SLOW"]
