"""Where a file that misses its bar loses its time: its steps within the model against the same primitives alone (halftone profile)."""

import json

from programs import BenchError, program, run


def losses(side, file, samples, scenario):
    """What render.loss_lines takes."""
    name = f"{scenario.model.name}, {scenario.setting}, {side}"
    try:
        profile = json.loads(run([program("halftone"), "profile", file, "--eval", samples, "--batch", scenario.batch, "--threads",
                                  scenario.threads, "--json", "--quiet"], f"halftone profile {file.name}"))
    except BenchError as error:
        return {"name": name, "why_not": str(error).splitlines()[-1]}
    return {"name": name, **read(profile)}


def read(profile):
    steps = [{"name": s["name"], "op": s["op"], "kernel": s["kernel"], "us": s["median_us"], "alone_us": s["alone_us"]}
             for s in profile["steps"]]
    steps.sort(key=lambda s: s["alone_us"] - s["us"])
    return {"us": sum(s["us"] for s in steps), "alone_us": sum(s["alone_us"] for s in steps), "steps": steps}
