#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cost of calibration: its time against fp32 inference over the same samples, and peak memory of a job with few and with many samples.

    dev bench --calibration [--models resnet50,mobilenet_v2] [--threads N] [--repetitions N]

Time: per sample, both interleaved in one process, without one-time work; the median of the ratios (tests/calibrate/calibration_cost.cc).
Memory: the peak resident set (VmHWM) of the worker of `halftone optimize --precision int8`, for a job with 10 samples and for the same job
with 1000. Exit code 1 where a target is missed. Nothing else should run on the machine.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

from evaluation import cpu_facts, describe_cpu
from files import SEED, Files, draw
from int8_evaluation import at_most
from measure import say, wait_for_quiet
from programs import BenchError, program, run
from scenarios import MODELS

FEW, MANY = 10, 1000
MEMORY_GROWTH = 1.05  # target: peak with MANY samples / peak with FEW
LOOK_SECONDS = 0.02


@dataclasses.dataclass(frozen=True)
class Net:
    name: str
    cost: float  # target: time of calibration / time of fp32 inference
    memory: bool = False

    @property
    def model(self):
        return MODELS[self.name]


NETS = {n.name: n for n in (Net("resnet50", 1.25), Net("mobilenet_v2", 2.0, memory=True))}


def write_floats(files, net):
    """FEW float samples, for the time."""
    def make(made):
        generator = numpy.random.default_rng(SEED)
        numpy.savez(made / "samples.npz", **{i.name: draw(generator, i, (FEW, *i.dims[1:])) for i in net.model.inputs})
    return files.made(f"calibration/{net.name}-{FEW}", make) / "samples.npz"


def write_uint8(files, net, count):
    """`count` images as uint8, which take a quarter of the space."""
    def make(made):
        generator = numpy.random.default_rng(SEED)
        numpy.savez(made / "samples.npz", **{i.name: generator.integers(0, 256, (count, *i.dims[1:]), numpy.uint8) for i in net.model.inputs})
    return files.made(f"calibration/{net.name}-{count}-uint8", make) / "samples.npz"


def processes():
    """{process: (its parent, name)}"""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            before, _, after = path.read_text().rpartition(")")
        except OSError:  # it has ended
            continue
        found[int(path.parent.name)] = (int(after.split()[1]), before.partition("(")[2])
    return found


def descendants(root, parents):
    """Those of `parents`, {process: (its parent, name)}, that `root` has started, and what these have."""
    found, work = [], [root]
    while work:
        children = [child for child, (parent, _) in parents.items() if parent == work[-1]]
        work.pop()
        found += children
        work += children
    return found


def peak_of_worker(process):
    """Bytes, of a worker below `process` that does a whole job; 0: there is none now."""
    peak, known = 0, processes()
    for pid in descendants(process, known):
        if known[pid][1] != "halftone-worker":
            continue
        try:
            if b"--child" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():  # a piece of a job
                continue
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        peak = max([peak, *(1024 * int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))])
    return peak


def peak_of_job(source, calibration, evaluation):
    with tempfile.TemporaryDirectory(prefix="calibration-") as folder:
        command = [program("halftone"), "optimize", source, "--no-bench", "--precision", "int8", "--calibration", calibration, "--no-ranges-cache",
                   "--eval", evaluation, "--out", folder, "--quiet"]
        process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        peak = 0
        while process.poll() is None:
            peak = max(peak, peak_of_worker(process.pid))
            time.sleep(LOOK_SECONDS)
        if process.returncode != 0:
            raise BenchError(f"halftone optimize {source.name}: exit code {process.returncode}\n{process.stderr.read()[-2000:]}")
    return peak


def measure(net, files, options):
    """What calibration_cost says, and "peaks": {samples: bytes}."""
    source = files.model(net.model)
    wait_for_quiet()
    words = [program("calibration_cost"), source, "--samples", write_floats(files, net), "--threads", options.threads, "--repetitions",
             options.repetitions, "--json"]
    found = json.loads(run(words, f"calibration_cost {net.name}"))
    found["peaks"] = {}
    if net.memory:
        few = write_uint8(files, net, FEW)
        found["peaks"] = {count: peak_of_job(source, write_uint8(files, net, count), few) for count in (FEW, MANY)}
    return found


def evaluate(net, found):
    checks = [at_most("time, of fp32 inference", found["ratio"], net.cost)]
    if found["peaks"]:
        few, many = (found["peaks"][count] for count in (FEW, MANY))
        checks.append(at_most(f"memory with {MANY} samples, of that with {FEW}", many / few if few else None, MEMORY_GROWTH))
    return checks


def lines(net, found, checks):
    yield f"{net.name}: fp32 inference {found['plain_ms']:.2f} ms, calibration {found['calibrating_ms']:.2f} ms per sample; {found['values']} tensors"
    for count, peak in found["peaks"].items():
        yield f"  {count} samples: peak memory of the worker {peak / 2**20:.1f} MB"
    for v in checks:
        value = "not seen" if v["value"] is None else f"{v['value']:.3f}"
        yield f"  {'met' if v['met'] else 'MISSED':7} {v['what']}: {value}, target {v['target']}"


def parse(arguments):
    parser = argparse.ArgumentParser(prog="dev bench --calibration", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(NETS), help=f"comma-separated, of {', '.join(NETS)} (default: all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=7, help="turns of the timing (default: 7)")
    options = parser.parse_args(arguments)
    options.models = [name for name in options.models.split(",") if name]
    for name in options.models:
        if name not in NETS:
            parser.error(f"no model '{name}'; there are {', '.join(NETS)}")
    return options


def main(arguments):
    options = parse(arguments)
    files = Files(pathlib.Path(os.environ.get("HALFTONE_CACHE", pathlib.Path.home() / ".cache/halftone")) / "bench")
    say(describe_cpu(cpu_facts()))
    met = True
    for name in options.models:
        found = measure(NETS[name], files, options)
        checks = evaluate(NETS[name], found)
        met = met and all(v["met"] for v in checks)
        print("\n".join(lines(NETS[name], found, checks)), flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BenchError as error:
        sys.exit(f"calibration_cost.py: {error}")
