# SPDX-License-Identifier: Apache-2.0
"""Where our files are slow: steps within the model against the same primitives in isolation (`halftone profile`), and engine checks.

Engine checks per model: the sum of steps equals the whole, little time is spent outside of computing steps, the arena is little more than
the live tensors need, planning is short. `halftone profile` measures them.
"""

import json

from programs import BenchError, program, run

PRECISIONS = ("fp32", "bf16")
MOST_STEPS = 8  # kept


def profile(model, samples, scenario):
    """{"fp32": {...}, "bf16": {...}}, or {"why_not": text}."""
    try:
        found = json.loads(run([program("halftone"), "profile", model, "--eval", samples, "--batch", scenario.batch, "--threads",
                                scenario.threads, "--json", "--quiet"], f"halftone profile {model.name}"))
    except BenchError as error:
        return {"why_not": str(error).splitlines()[-1]}
    return {v["precision"]: read(v) for v in found["variants"] if v["precision"] in PRECISIONS}


def read(variant):
    steps = [{"name": step["name"], "op": step["op"], "kernel": step["kernel"], "median_us": step["median_us"], "isolated_us": step["alone_us"],
              "saving_us": step["gain_us"]} for step in variant["steps"]]
    return {"whole_us": variant["whole_us"], "steps_us": variant["steps_us"], "isolated_us": variant["alone_us"],
            "conversions_us": variant["conversions_us"], "loss": variant["loss"], "checks": variant["checks"],
            "steps": sorted(steps, key=lambda step: -step["saving_us"])[:MOST_STEPS]}
