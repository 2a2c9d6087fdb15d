#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`halftone` as a user runs it: files, table, report.json, gates, exit codes."""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, case, main, program, variant  # noqa: E402

QUICK = ("--rounds", "3", "--round-seconds", "0.05")
ONNX, ONNX_EVAL = DEMO / "digits.onnx", DEMO / "digits_nchw.npz"
PB, PB_EVAL = DEMO / "digits.pb", DEMO / "digits_nhwc.npz"


def check_report(t, report, out, extension):
    t.equal([v["precision"] for v in report["variants"]], ["original", "fp32", "bf16"])
    for v in report["variants"]:
        t.check(v["benchmark"]["median_ms"] > 0, "no time was measured")
        t.check(abs(v["top1_accuracy"] - 0.976) < 0.01, f"accuracy {v['top1_accuracy']}")
        t.equal(v["labelled_samples"], 500)
        t.check(v["nodes"] and all(n["kernel"] and n["reason"] for n in v["nodes"]), "a node without kernel or reason")
    fp32, bf16 = variant(report, "fp32"), variant(report, "bf16")
    t.check(fp32["fidelity"][0]["top1_agreement"] == 1, "fp32 differs from itself")
    t.check(bf16["fidelity"][0]["sqnr_db"] > 30, f"SQNR {bf16['fidelity']}")
    t.check(bf16["fidelity"][0]["top1_agreement"] >= 0.98, f"{bf16['fidelity']}")
    t.check(bf16["artifact"]["size_bytes"] < 0.55 * fp32["artifact"]["size_bytes"], "the bf16 file is not half as large")
    t.check(fp32["rewrites"] and all(r["pass"] and r["node"] and r["reason"] for r in fp32["rewrites"]), "no rewrites")
    for v in (fp32, bf16):
        t.equal(pathlib.Path(v["artifact"]["path"]).stat().st_size, v["artifact"]["size_bytes"])
    t.equal(sorted(p.name for p in out.iterdir()), sorted([f"digits.bf16{extension}", f"digits.fp32{extension}", "report.json"]))
    t.check(any("bf16" in n["src_type"] for n in bf16["nodes"]), "no node ran in bf16")
    t.check(report["environment"]["onednn_version"] and report["environment"]["isa"], "no environment")


GRAPHDEF_TEXT = """node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } } } } }
node { name: "y" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
"""


@case("an ONNX file is written fused and as bf16, and the report's numbers are those of the files")
def _(t):
    report, out = t.optimize(ONNX, "--eval", ONNX_EVAL, "--allow-emulation", *QUICK)
    check_report(t, report, out, ".onnx")
    t.contains(" ".join(variant(report, "bf16")["refused_by"]), "does not load the file: it has no bf16 kernel")  # a footnote of the table


@case("a GraphDef is written fused and as bf16, and the report's numbers are those of the files")
def _(t):
    report, out = t.optimize(PB, "--eval", PB_EVAL, "--allow-emulation", *QUICK)
    check_report(t, report, out, ".pb")


@case("a short last batch is padded and the padding is not counted")
def _(t):
    report, _ = t.optimize(ONNX, "--eval", ONNX_EVAL, "--batch", "48", "--no-bench")
    t.equal(variant(report, "fp32")["labelled_samples"], 500)
    t.check(abs(variant(report, "fp32")["top1_accuracy"] - 0.976) < 1e-9, "another accuracy")
    t.equal(variant(report, "fp32")["fidelity"][0]["rows"], 500)


@case("--json prints exactly the report")
def _(t):
    run = t.halftone("optimize", ONNX, "--json", "--out", t.folder, *QUICK)
    t.equal(run.returncode, 0, run.stderr)
    report = json.loads(run.stdout)
    t.equal(report, json.loads((t.folder / "report.json").read_text()))
    t.check(any("no samples" in w for w in report["warnings"]), f"no warning about random inputs: {report['warnings']}")
    for field in ("model", "environment", "warnings", "variants", "evaluation_samples", "seed"):
        t.check(field in report, f"no {field}")


@case("gates fail with exit code 4 and say by how much")
def _(t):
    run = t.halftone("optimize", ONNX, "--eval", ONNX_EVAL, "--out", t.folder, "--min-speedup", "bf16=50", "--min-sqnr", "bf16=1", *QUICK)
    t.equal(run.returncode, 4, run.stderr)
    t.contains(run.stdout + run.stderr, "FAIL")
    t.contains(run.stdout + run.stderr, "PASS")


@case("nodes that a policy keeps in fp32 stay fp32")
def _(t):
    policy = t.folder / "policy.yaml"
    policy.write_text("planner: lists\nnodes:\n  - match: .*block1.*\n    precision: fp32\nallow_emulation: true\n")
    run = t.halftone("inspect", PB, "--precision-plan", "lists", "--policy", policy, "--json")
    t.equal(run.returncode, 0, run.stderr)
    rows = {r["node"]: r for r in json.loads(run.stdout)["rows"]}
    t.equal(rows["block1/conv1"]["planned_type"], "f32", rows["block1/conv1"])
    t.equal(rows["block2/conv1"]["planned_type"], "bf16", rows["block2/conv1"])
    for key in ("node", "op", "type_attr", "index", "list", "planned_type", "step"):
        t.check(key in rows["conv"], f"no {key}")


@case("TensorFlow's environment variables edit the lists")
def _(t):
    run = t.halftone("inspect", PB, "--precision-plan", "lists",
                     env={"TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_REMOVE": "Conv2D,MatMul"})
    t.equal(run.returncode, 0, run.stderr)
    t.contains(run.stdout, "No allowlist ops found, nothing to do")


@case("exit code 2: flags and policies")
def _(t):
    bad = t.folder / "bad.yaml"
    bad.write_text("planner: lists\nprecsions: [bf16]\n")
    for arguments, part in ((("optimize",), "MODEL"), (("optimize", ONNX, "--threads", "many"), "--threads"), (("frobnicate",), "frobnicate"),
                            (("optimize", ONNX, "--policy", bad), "bad.yaml:2:1"), (("optimize", ONNX, "--min-speedup", "bf17=1"), "bf17")):
        run = t.halftone(*arguments)
        t.equal(run.returncode, 2, (arguments, run.stderr))
        t.contains(run.stderr + run.stdout, part)


@case("exit code 3: samples that do not fit name file, array and input")
def _(t):
    run = t.halftone("optimize", PB, "--eval", ONNX_EVAL, "--out", t.folder / "out", *QUICK)
    t.equal(run.returncode, 3, run.stderr)
    for part in ("failed with SAMPLES_INVALID", "digits_nchw.npz", "'image'", "[500,1,32,32]"):
        t.contains(run.stderr, part)
    t.check(not (t.folder / "out").exists() or not list((t.folder / "out").iterdir()), "files were left behind")


@case("samples: integers for a float input are an error, an array named like 'labels' gives a warning", needs=("numpy",))
def _(t):
    import numpy
    image = numpy.load(ONNX_EVAL)["image"][:4]
    numpy.savez(t.folder / "pixels.npz", image=(image * 255).astype(numpy.uint8))
    run = t.halftone("optimize", ONNX, "--eval", t.folder / "pixels.npz", *QUICK)
    t.equal(run.returncode, 3, run.stderr)
    t.contains(run.stderr, "array 'image' is u8 where the input is f32")
    numpy.savez(t.folder / "label.npz", image=image, label=numpy.arange(4))
    report, _ = t.optimize(ONNX, "--eval", t.folder / "label.npz", "--no-bench")
    t.contains(" ".join(report["warnings"]), "unused arrays in the samples, no input has their name: label; did you mean 'labels'")
    numpy.savez(t.folder / "classes.npz", image=image, labels=numpy.arange(4) + 7)
    run = t.halftone("optimize", ONNX, "--eval", t.folder / "classes.npz", "--no-bench")
    t.equal(run.returncode, 3, run.stderr)
    t.contains(run.stderr, "failed with SAMPLES_INVALID")
    t.contains(run.stderr, "labels: label 10 is not one of the 10 classes")


def relu(t, name, dims):
    return t.onnx(name, f"g (float[{dims}] x) => (float[{dims}] y) {{ y = Relu(x) }}")


def samples_per_second(benchmark):
    """Of one instance, as it is defined: inferences times batch, the median over rounds."""
    runs = [r["processes"][0] for r in benchmark["round_data"]]
    return statistics.median(len(p["samples_ns"]) * p["inferences_per_sample"] * benchmark["batch"] / sum(p["samples_ns"]) * 1e9 for p in runs)


@case("a batch that the model does not have is refused; the report has the batch that ran; --dim binds by name")
def _(t):
    fixed, dynamic = relu(t, "fixed", "4,3"), relu(t, "dynamic", "N,T,3")
    flags = ("--precision", "fp32", *QUICK, "--allow-noisy")
    run = t.halftone("optimize", fixed, "--batch", "8", *flags)
    t.equal(run.returncode, 3, run.stderr)
    for part in ("batch 8", "'x' [4,3]", "static"):
        t.contains(run.stderr, part)
    b = variant(t.optimize(fixed, *flags)[0], "fp32")["benchmark"]
    t.equal(b["batch"], 4)
    t.check(abs(b["samples_per_second"] / samples_per_second(b) - 1) < 1e-9, (b["samples_per_second"], samples_per_second(b)))
    run = t.halftone("optimize", dynamic, *flags)
    t.equal(run.returncode, 3, run.stderr)
    for part in ("'x' [1,T,3]", "--eval", "--dim"):
        t.contains(run.stderr, part)
    report, _ = t.optimize(dynamic, "--dim", "T=5", "--batch", "2", *flags)
    t.equal(variant(report, "fp32")["benchmark"]["batch"], 2)
    for more, batch in ((("--dim", "N=7"), 7), ((), 1)):
        run = t.halftone("profile", dynamic, "--precision", "fp32", "--dim", "T=5", *more, "--json", "--quiet")
        t.equal(run.returncode, 0, run.stderr)
        t.equal(variant(json.loads(run.stdout), "fp32")["batch"], batch)
    run = t.halftone("profile", fixed, "--precision", "fp32", "--quiet")
    t.contains(run.stdout, "fixed.onnx fp32, batch 4, ")
    t.contains(t.halftone("optimize", dynamic, "--dim", "L=5", *flags).stderr, "no input has a dynamic dimension 'L'; there are N, T")


@case("a GraphDef in text form is read whatever its file extension")
def _(t):
    (t.folder / "net.pb").write_text(GRAPHDEF_TEXT)
    run = t.halftone("inspect", t.folder / "net.pb")
    t.equal(run.returncode, 0, run.stderr)


@case("exit code 5: the job timed out")
def _(t):
    run = t.halftone("optimize", ONNX, "--timeout", "0.5", "--rounds", "50", "--out", t.folder / "out")
    t.equal(run.returncode, 5, run.stderr)


@case("exit code 6: server unreachable")
def _(t):
    run = t.halftone("health", "--server", "127.0.0.1:9", "--timeout", "2")
    t.equal(run.returncode, 6, run.stderr)


@case("exit code 130: Ctrl-C ends the private server too")
def _(t):
    environment = dict(os.environ, HALFTONE_HALFTONED=program("halftoned"), HALFTONE_WORKER=program("halftone-worker"))
    process = subprocess.Popen([program("halftone"), "optimize", str(ONNX), "--rounds", "100", "--out", str(t.folder / "out")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    t.equal(process.returncode, 130, errors)
    t.check(not (t.folder / "out").exists() or not list((t.folder / "out").iterdir()), "files were left behind")


@case("run writes each output as .npy, the same fused as unfused")
def _(t):
    import numpy
    image = numpy.load(ONNX_EVAL)["image"][:3]
    numpy.save(t.folder / "x.npy", image)
    for flags, folder in (((), "plain"), (("--fuse",), "fused")):
        run = t.halftone("run", ONNX, "--input", f"image={t.folder / 'x.npy'}", "--out", t.folder / folder, *flags)
        t.equal(run.returncode, 0, run.stderr)
    plain, fused = (numpy.load(t.folder / f / "scores.npy") for f in ("plain", "fused"))
    t.equal(plain.shape, (3, 10))
    t.check(numpy.abs(plain - fused).max() <= 1e-4 * numpy.abs(plain).max(), "fusion changed the output")
    run = t.halftone("run", ONNX, "--out", t.folder)
    t.equal(run.returncode, 3, run.stderr)
    t.contains(run.stderr, "'image'")


@case("inspect prints the graph's text, which our own parser reads")
def _(t):
    run = t.halftone("inspect", PB, "--text")
    t.equal(run.returncode, 0, run.stderr)
    t.contains(run.stdout, "graph format=graphdef layout=channels_last")
    t.contains(run.stdout, "batch_norm")


@case("capabilities and version")
def _(t):
    run = t.halftone("capabilities", "--json")
    t.equal(run.returncode, 0, run.stderr)
    capabilities = json.loads(run.stdout)
    t.check("conv" in capabilities["ops"] and capabilities["limits"]["max_message_bytes"] <= 1 << 21, capabilities)
    t.equal(t.halftone("version").returncode, 0)


main()
