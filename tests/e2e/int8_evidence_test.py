#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Evidence for an int8 variant: overflow checks, the SQNR with one int8 node, ranges from the server's cache, its profile."""

import json
import pathlib
import re
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import DEMO, Failure, case, main, variant  # noqa: E402

ONNX = DEMO / "digits.onnx"
NUMPY = ("numpy",)
INT8 = ("--precision", "int8", "--no-bench")
SATURATIONS = {"safe", "7 bits", "16 bits", "may saturate", "s8 activations"}


def samples(t, first, end):
    import numpy
    data = numpy.load(DEMO / "digits_nchw.npz")
    path = t.folder / f"samples_{first}_{end}.npz"
    numpy.savez(path, **{name: data[name][first:end] for name in data.files if name != "labels"})
    return path


@case("every int8 layer has an overflow check, in the report, in --details and in --explain-precision", needs=NUMPY)
def _(t):
    run = t.halftone("optimize", ONNX, *INT8, "--calibration", samples(t, 0, 50), "--out", "out", "--details", "--explain-precision")
    t.equal(run.returncode, 0, run.stderr)
    int8 = variant(json.loads((t.folder / "out" / "report.json").read_text()), "int8")
    layers = [d for d in int8["decisions"] if d["rule"] == "int8.contraction"]
    t.equal(len(int8["saturation"]), len(layers), f"{int8['saturation']}")
    for layer in int8["saturation"]:
        t.check(layer["saturation"] in SATURATIONS, layer)
        fits = layer["least"] >= -32768 and layer["most"] <= 32767
        t.equal(fits, layer["saturation"] in ("safe", "7 bits"), layer)
        t.check(re.search(rf"{re.escape(layer['saturation'])} +{re.escape(layer['node'])} +{layer['least']} \.\. {layer['most']}", run.stdout),
                f"{layer} is not in\n{run.stdout}")
    t.contains(run.stdout, "int8: int16 saturation: ")
    # --explain-precision measures what it shows, where there are samples; nothing else does unasked.
    table = run.stdout[run.stdout.index("precision of each node of int8:"):].splitlines()
    for layer in layers:
        t.check("sqnr_alone_db" in layer and "result_min" in layer and "result_max" in layer, layer)
        decibels = "exact" if layer["sqnr_alone_db"] == 999 else f"{layer['sqnr_alone_db']:.1f} dB"
        interval = f"[{layer['result_min']:.4g}, {layer['result_max']:.4g}]"
        line = rf"  int8 +{re.escape(layer['node'])} +{layer['op']} +{re.escape(interval)} +{decibels} +int8.contraction  "
        t.check(any(re.match(line, row) for row in table), f"{line} is not in\n{run.stdout}")
    report, _ = t.optimize(ONNX, *INT8, "--calibration", samples(t, 0, 50))
    quiet = variant(report, "int8")
    t.check(not any("sqnr_alone_db" in d for d in quiet["decisions"]), "measured unasked")
    t.equal(quiet["artifact"]["sha256"], int8["artifact"]["sha256"], "explaining changed the file")
    random = t.halftone("optimize", ONNX, *INT8, "--out", "random", "--explain-precision")
    t.equal(random.returncode, 0, random.stderr)
    t.check(re.search(r"  -  +int8\.contraction  ", random.stdout), f"measured on random inputs:\n{random.stdout}")


@case("--sensitivity measures the SQNR with each node alone in int8, without a goal", needs=NUMPY)
def _(t):
    run = t.halftone("optimize", ONNX, *INT8, "--calibration", samples(t, 0, 50), "--out", "out", "--sensitivity", "--explain-precision")
    t.equal(run.returncode, 0, run.stderr)
    int8 = variant(json.loads((t.folder / "out" / "report.json").read_text()), "int8")
    alone = {d["node"]: d["sqnr_alone_db"] for d in int8["decisions"] if "sqnr_alone_db" in d}
    layers = {d["node"] for d in int8["decisions"] if d["rule"] == "int8.contraction"}
    t.check(layers <= set(alone), f"{layers} and {alone}")
    t.equal(int8["goal"]["text"], "")
    table = re.search(r"^per-layer sensitivity: .*, worst first \((\d+) of (\d+)\); precision in the file:\n((?:  .*\n)+)", run.stdout, re.M)
    t.check(table, run.stdout)
    t.equal((int(table.group(1)), int(table.group(2))), (min(10, len(alone)), len(alone)))
    printed = [float(line.split()[0].replace("exact", "999")) for line in table.group(3).splitlines()[:len(alone)]]
    t.equal(printed, sorted(printed))
    t.check(abs(printed[0] - min(alone.values())) < 0.06, f"{printed} and {alone}")
    t.contains(run.stdout, f"  {min(alone.values()):.1f} dB  ")


def counted(server):
    port = re.search(r'"metrics_port":(\d+)', (server.folder / "server.log").read_text())
    if not port:
        raise Failure("the log does not name the port of /metrics")
    text = urllib.request.urlopen(f"http://127.0.0.1:{port.group(1)}/metrics", timeout=10).read().decode()
    return {source: int(float(n)) for source, n in re.findall(r'halftone_int8_ranges_total\{source="(\w+)"\} (\S+)', text)}


@case("a server reuses the ranges of an earlier job with the same model and samples, and reports it", needs=NUMPY)
def _(t):
    ours, others = samples(t, 0, 50), samples(t, 50, 90)
    with t.server("--metrics", "127.0.0.1:0") as server:

        def source(*flags):
            report, out = t.optimize(ONNX, *INT8, "--server", server.address, *flags)
            return report["calibration"]["source"], next(out.glob("*.int8.*")).read_bytes(), (out / "digits.ranges.json").read_bytes()

        first, again = source("--calibration", ours), source("--calibration", ours)
        t.equal((first[0], again[0]), ("samples", "cache"))
        t.equal(first[1:] == again[1:], True, "the files differ")
        t.equal(source("--calibration", ours, "--no-ranges-cache")[0], "samples")
        t.equal(source("--calibration", ours, "--calibration-method", "entropy")[0], "samples")
        t.equal(source("--calibration", others)[0], "samples")
        t.equal(source("--calibration", ours, "--accuracy-goal", "cosine=0.1")[0], "cache", "a goal changes no range")
        t.equal(counted(server), {"samples": 3, "cache": 2})
        t.contains((server.folder / "server.log").read_text(), "ranges from the cache")

        bench = t.halftone("bench", ONNX, "--precision", "int8", "--calibration", ours, "--rounds", "1", "--round-seconds", "0.05",
                           "--allow-noisy", "--server", server.address)
        t.equal(bench.returncode, 0, bench.stderr)
        t.contains(bench.stdout, "ranges from the cache")

        # A stored file of ranges whose digest does not match.
        for path in (server.folder / "data" / "blobs").glob("*/*"):
            if path.read_bytes() == first[2]:
                path.chmod(0o600)
                path.write_bytes(first[2].replace(b"1", b"2"))
        run = t.halftone("optimize", ONNX, *INT8, "--calibration", ours, "--server", server.address, "--out", "out")
        t.equal(run.returncode, 0, run.stderr)
        t.contains(run.stderr, "broken in the server's cache")
        t.equal(json.loads((t.folder / "out" / "report.json").read_text())["calibration"]["source"], "samples")
        t.equal(source("--calibration", ours)[0], "cache", "made again, and kept")


@case("without a server, ranges of an earlier command are taken from the user's cache", needs=NUMPY)
def _(t):
    ours, cache = samples(t, 0, 50), t.folder / "of_the_user"

    def source(*flags):
        report, out = t.optimize(ONNX, *INT8, "--calibration", ours, *flags, env={"HALFTONE_CACHE": str(cache)})
        return report["calibration"]["source"], next(out.glob("*.int8.*")).read_bytes(), (out / "digits.ranges.json").read_bytes()

    t.equal(source("--no-ranges-cache")[0], "samples")
    t.check(not cache.exists(), "kept, although it was not to be")
    first, again = source(), source()
    t.equal((first[0], again[0]), ("samples", "cache"))
    t.equal(first[1:] == again[1:], True, "the files differ")
    t.equal(source("--no-ranges-cache")[0], "samples")
    (entry,) = (path for path in (cache / "ranges").rglob("*") if path.is_file())
    t.equal((entry.stat().st_mode & 0o777, entry.parent.stat().st_mode & 0o777), (0o600, 0o700), "others may read it")

    entry.write_bytes(entry.read_bytes().replace(b"1", b"2"))
    run = t.halftone("profile", ONNX, "--precision", "int8", "--calibration", ours, env={"HALFTONE_CACHE": str(cache)})
    t.equal(run.returncode, 0, run.stderr)
    t.contains(run.stderr, "broken in the server's cache")
    t.contains(run.stdout, "calibration: 50 samples; min-max")
    t.equal(source()[0], "cache", "made again, and kept")

    # A folder that cannot be written costs the cache, not the job.
    (t.folder / "file").write_text("")
    report, _ = t.optimize(ONNX, *INT8, "--calibration", ours, env={"HALFTONE_CACHE": str(t.folder / "file")})
    t.equal(report["calibration"]["source"], "samples")


@case("profile shows the time of each int8 step", needs=NUMPY)
def _(t):
    ours = samples(t, 0, 50)
    run = t.halftone("profile", ONNX, "--precision", "fp32,int8", "--calibration", ours, "--json", "--quiet")
    t.equal(run.returncode, 0, run.stderr)
    report = json.loads(run.stdout)
    t.equal([v["precision"] for v in report["variants"]], ["fp32", "int8"])
    int8 = variant(report, "int8")
    steps = [s for s in int8["steps"] if s["op"].startswith("conv") and s["src_type"] in ("u8", "s8")]
    t.check(steps, f"no int8 convolution: {[(s['op'], s['src_type']) for s in int8['steps']]}")
    t.contains(int8["summary"], "to int8")
    t.check(not any("RANDOM" in w for w in report["warnings"]), report["warnings"])

    optimized, _ = t.optimize(ONNX, *INT8, "--calibration", ours, "--no-ranges-cache")
    found, wanted = report["calibration"], optimized["calibration"]
    t.equal((found["source"], found["samples"], found["calibration_method"]), ("samples", 50, "min-max"))
    for key in ("always_zero_channels", "not_converged", "inputs"):
        t.equal(found[key], wanted[key], key)
    t.equal((found["file"]["sha256"], found["file"]["path"]), (wanted["file"]["sha256"], ""))

    random = t.halftone("profile", ONNX, "--precision", "int8", "--top", "5")
    t.equal(random.returncode, 0, random.stderr)
    t.contains(random.stderr, "RANDOM inputs")
    t.contains(random.stdout, "calibration: RANDOM DATA")
    fp32 = t.halftone("profile", ONNX, "--precision", "fp32", "--json", "--quiet")
    t.equal(json.loads(fp32.stdout)["calibration"]["source"], "")


@case("the same samples for calibration and evaluation give a warning", needs=NUMPY)
def _(t):
    ours, others = samples(t, 0, 50), samples(t, 50, 100)
    warned = lambda *flags: any("calibrated on" in w for w in t.optimize(ONNX, *INT8, *flags)[0]["warnings"])
    t.check(warned("--calibration", ours, "--eval", ours), "no warning")
    t.check(warned("--calibration", ours), "no warning where --calibration is used for both")
    t.check(not warned("--calibration", ours, "--eval", others), "a warning")


main()
