#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`halftone profile`: steps, reorders as oneDNN counts them, lines that can be repeated."""

import json
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, case, main, program, shared, variant  # noqa: E402

ONNX, PB = DEMO / "digits.onnx", DEMO / "digits.pb"


def profile(t, model, *arguments):
    run = t.halftone("profile", model, "--json", "--quiet", *arguments)
    t.equal(run.returncode, 0, run.stderr)
    return json.loads(run.stdout)


def check_variant(t, v):
    t.check(v["steps"], "no steps")
    t.equal(sorted(s["index"] for s in v["steps"]), list(range(len(v["steps"]))))
    for s in v["steps"]:
        t.check(s["name"] and s["op"] and s["kernel"] and s["src_type"] and s["dst_type"], f"{s}")
        t.check(s["median_us"] > 0 and s["isolated_us"] > 0, f"no time: {s}")
        t.check(abs(s["share"] - s["median_us"] / v["whole_us"]) < 1e-9, f"share of {s}")
        saving = s["median_us"] if s["conversion"] else max(0, s["median_us"] - s["isolated_us"])
        t.check(abs(s["saving_us"] - saving) < 1e-9, f"saving of {s}")
        t.check(s["peak_share"] < 1.3, f"faster than the peak: {s}")
    order = [(s["conversion"], -s["saving_us"]) for s in v["steps"]]
    t.equal(order, sorted(order), "sorted by saving, conversions last")
    t.check(any(s["gflops"] > 0 and s["peak_share"] > 0 for s in v["steps"]), "nothing multiplies")
    t.equal(v["reorders"], v["verbose_reorders"])
    t.equal([c["name"] for c in v["checks"]], ["noise", "sum of steps", "outside compute steps", "reorders", "memory"])
    t.check(v["loss"].endswith("."), v["loss"])
    t.check(v["packed_bytes"] > 0 and v["arena_bytes"] >= v["live_bytes"] > 0 and v["compile_ms"] > 0, f"{v}")


for _model in (ONNX, PB):

    @case(f"each step of {_model.name} has its time, its isolated time and its potential saving")
    def _(t, model=_model):
        report = profile(t, model, "--allow-emulation")
        t.equal([v["precision"] for v in report["variants"]], ["fp32", "bf16"])
        for v in report["variants"]:
            check_variant(t, v)
        t.check(any(s["src_type"] == "bf16" for s in variant(report, "bf16")["steps"]), "no step in bf16")


def exec_lines(text):
    """Of each variant, in order: its lines of executions."""
    parts = re.split(r"^# [^\n]*: one inference\n", text, flags=re.M)[1:]
    return [[line for line in part.splitlines() if line.startswith("onednn_verbose,v1,primitive,exec,")] for part in parts]


def compare_reorders(t, model, *arguments):
    file = t.folder / "lines.txt"
    report = profile(t, model, "--onednn-verbose", file, *arguments)
    for v, lines in zip(report["variants"], exec_lines(file.read_text()), strict=True):
        reorders = [line for line in lines if line.split(",")[5] == "reorder"]
        t.equal(v["reorders"], len(reorders), f"{v['precision']} of {model}: the report and oneDNN's lines")
        t.equal(v["verbose_reorders"], len(reorders))
        t.equal(sum(len(s["primitives"]) for s in v["steps"]), len(lines), "a primitive outside of all steps")


@case("the report has as many reorders as oneDNN's lines of one inference")
def _(t):
    compare_reorders(t, ONNX, "--allow-emulation")
    compare_reorders(t, PB, "--allow-emulation", "--batch", "3")


for _name in ("imagenet/squeezenet_fp32_from_fp16.onnx", "imagenet/tiny_darknet_imagenet.onnx",
              "imagenet/mobilenet_v2_fp32_dequantized.onnx", "mnist/mnist_cnn.onnx", "detect/yunet_n_320_320.onnx",
              "superres/super_resolution.onnx"):

    @case(f"the report has as many reorders as oneDNN's lines of one inference: {_name}", needs_shared=True)
    def _(t, name=_name):
        compare_reorders(t, shared("models", *name.split("/")))


@case("each line of oneDNN has a halftone-worker command that runs the same kernel")
def _(t):
    file = t.folder / "lines.txt"
    # Where bf16 is emulated kernels run that are not covered.
    native = "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()
    profile(t, ONNX, "--precision", "fp32,bf16" if native else "fp32", "--allow-emulation", "--onednn-verbose", file)
    commands = [line[1:].strip() for line in file.read_text().splitlines() if re.match(r"#\s+halftone-worker ", line)]
    t.equal(len(commands), sum(map(len, exec_lines(file.read_text()))), "a line without a command")
    for command in commands:
        words = shlex.split(command)
        run = subprocess.run([program(words[0]), *words[1:]], capture_output=True, text=True, timeout=60)
        t.equal(run.returncode, 0, f"{command}\n{run.stderr}")
        t.check(re.search(r": best [\d.]+ us, median [\d.]+ us of \d+ runs", run.stdout), run.stdout)
        t.check("note:" not in run.stdout, run.stdout)


@case("an invalid or unsupported line is refused with the reason")
def _(t):
    worker = program("halftone-worker")
    run = subprocess.run([worker, "--threads", "1", "--repeat-primitive", "hello"], capture_output=True, text=True)
    t.equal(run.returncode, 2)
    t.contains(run.stderr, "not a line of oneDNN")
    line = ("onednn_verbose,v1,primitive,exec,cpu,lrn,jit:avx2,forward_inference,data:f32::blocked:abcd::f0,,"
            "alg:lrn_across_channels,mb2ic16ih8iw8ls5beta0.75,0.01")
    run = subprocess.run([worker, "--threads", "1", "--repeat-primitive", line], capture_output=True, text=True)
    t.equal(run.returncode, 3)
    t.contains(run.stderr, "primitive 'lrn' is not covered")


@case("the table has the requested number of steps, and one sentence at the end")
def _(t):
    run = t.halftone("profile", ONNX, "--precision", "fp32", "--top", "2", "--quiet")
    t.equal(run.returncode, 0, run.stderr)
    t.contains(run.stdout, "digits.onnx fp32, batch 1, 1 thread: ")
    t.check(re.search(r"^and \d+ more steps$", run.stdout, re.M), run.stdout)
    t.check(re.match(r"(Of|Nothing|The times) .*\.$", run.stdout.splitlines()[-1]), run.stdout)
    t.check("bf16" not in run.stdout, "bf16 was not asked for")


@case("a profile that a server made can be fetched later")
def _(t):
    with t.server() as server:
        first = t.halftone("profile", ONNX, "--precision", "fp32", "--json", "--quiet", "--server", server.address)
        t.equal(first.returncode, 0, first.stderr)
        jobs = json.loads(t.halftone("jobs", "list", "--json", "--server", server.address).stdout)["jobs"]
        again = t.halftone("jobs", "watch", jobs[0]["name"], "--json", "--quiet", "--server", server.address)
        t.equal(again.returncode, 0, again.stderr)
        t.equal(again.stdout, first.stdout)


@case("wrong flags and models have the exit codes of the other commands")
def _(t):
    t.equal(t.halftone("profile", ONNX, "--precision", "fp12").returncode, 2)
    t.equal(t.halftone("profile", ONNX, "--precision", "original").returncode, 2)
    t.equal(t.halftone("profile", ONNX, "--top", "-1").returncode, 2)
    t.equal(t.halftone("profile", t.folder / "none.onnx").returncode, 3)
    (t.folder / "bad.onnx").write_bytes(b"\xff" * 100)
    t.equal(t.halftone("profile", t.folder / "bad.onnx", "--quiet").returncode, 3)


main()
