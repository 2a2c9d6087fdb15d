#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`halftone bench` and `halftone compare` as a user runs them. Measured times are not checked, but what is reported about them."""

import csv
import io
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "bench/method")]
from harness import DEMO, Skip, case, main, variant  # noqa: E402
from noise import burners  # noqa: E402

ONNX, ONNX_EVAL = DEMO / "digits.onnx", DEMO / "digits_nchw.npz"
SHORT = ("--rounds", "3", "--round-seconds", "0.05", "--allow-noisy", "--quiet")


def bench(t, *arguments, out=None, code=0):
    """The report."""
    where = ("--out", out) if out else ("--json",)
    run = t.halftone("bench", ONNX, *arguments, *where)
    t.equal(run.returncode, code, run.stderr)
    return json.loads((out / "report.json").read_text() if out else run.stdout)


def processes(benchmark):
    return [p for r in benchmark["round_data"] for p in r["processes"]]


@case("the report of bench has all samples and settings that its figures are computed from")
def _(t):
    report = bench(t, "--precision", "bf16", "--allow-emulation", "--eval", ONNX_EVAL, *SHORT)
    run = report["benchmark_run"]
    t.equal([v["precision"] for v in report["variants"]], ["original", "fp32", "bf16"])
    t.equal(run["preset"], "custom")
    t.equal((run["rounds"], run["threads"], run["instances"], run["batch"]), (3, 1, 1, 1))
    t.equal([sorted(order.split()) for order in run["order"]], [["again", "bf16", "fp32", "original"]] * 3)
    t.equal(len(run["cores"]), 1)
    t.contains(" ".join(run["variables"]), "OMP_NUM_THREADS=1")
    t.equal(run["test_slow_down"], 0)
    t.equal(len(run["self_check"]["round_data"]), 3)
    for v in report["variants"]:
        b = v["benchmark"]
        t.equal(b["samples"], sum(len(p["samples_ns"]) for p in processes(b)))
        t.equal(b["rounds"], 3)
        t.check(b["min_ms"] <= b["median_ms"] and b["mad_ms"] >= 0 and b["samples_per_second"] > 0, b["median_ms"])
        t.check(b["compile_ms"] > 0 and b["load_ms"] > 0 and b["arena_bytes"] > 0 and b["peak_rss_bytes"] > 1 << 20, "no preparation")
        t.check(all(p["pinned"] and p["tasks"] == 1 and p["timer_ns"] > 0 and p["spin_us"] > 0 for p in processes(b)), "no facts")
        t.equal(len({p["output_hash"] for p in processes(b)}), 1)
        t.check(not any("outputs" in r for r in b["invalid_reasons"]), b["invalid_reasons"])
    environment = report["environment"]
    for field in ("cpu_id", "hypervisor", "cpuset", "cpu_quota", "compiler", "onednn_commit", "build_id"):
        t.check(environment[field], f"no {field}")
    t.check(report["policy_sha256"] and len(report["samples"]) == 1, "no digests")


@case("two threads are pinned to two cores, by OpenMP")
def _(t):
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one core")
    report = bench(t, "--threads", "2", "--wait-policy", "passive", *SHORT)
    t.equal(len(set(report["benchmark_run"]["cores"])), 2)
    t.contains(" ".join(report["benchmark_run"]["variables"]), "OMP_WAIT_POLICY=passive")
    for v in report["variants"]:
        t.check(all(p["pinned"] and p["tasks"] <= 2 for p in processes(v["benchmark"])), "not pinned")


@case("instances run in parallel, each on its own cores")
def _(t):
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise Skip("one core")
    report = bench(t, "--instances", "2", "--cores", ",".join(map(str, cores)), *SHORT)
    t.equal(report["benchmark_run"]["cores"], cores)
    fp32 = variant(report, "fp32")["benchmark"]
    t.equal([len(r["processes"]) for r in fp32["round_data"]], [2, 2, 2])
    t.check(all(p["pinned"] for p in processes(fp32)), "not pinned")
    together = [sum(len(p["samples_ns"]) * p["inferences_per_sample"] / sum(p["samples_ns"]) * 1e9 for p in r["processes"])
                for r in fp32["round_data"]]
    t.check(abs(sorted(together)[1] / fp32["samples_per_second"] - 1) < 1e-9, together)
    run = t.halftone("bench", ONNX, "--instances", "99", *SHORT)
    t.check(run.returncode in (2, 3), run.returncode)
    t.contains(run.stderr, "99 threads need as many cores")


@case("the report shows cold-cache runs")
def _(t):
    report = bench(t, "--cold-cache", "--rounds", "3", "--round-seconds", "0.01", "--allow-noisy", "--quiet")
    t.check(report["benchmark_run"]["cold_cache"], "not cold")
    t.check(all(p["inferences_per_sample"] == 1 for p in processes(variant(report, "fp32")["benchmark"])), "several inferences")


@case("programs on the same cores are noise; exit code 9 exactly where the interval does not decide")
def _(t):
    flags = ("--rounds", "3", "--round-seconds", "0.2", "--quiet", "--json")
    with burners():
        run = t.halftone("bench", ONNX, *flags)
        tolerant = t.halftone("bench", ONNX, *flags, "--noise-limit", "context-switches=1e9,load=1e9,steal=1,frequency=9")
    report = json.loads(run.stdout)
    noise = variant(report, "fp32")["benchmark"]["noise"]
    t.check(any("context switches" in r or "running tasks" in r for r in noise), noise)
    t.equal(run.returncode, 0 if report["benchmark_run"]["valid"] else 9, run.stderr)
    limited = [r for v in json.loads(tolerant.stdout)["variants"] for r in v["benchmark"]["noise"] if "A/A test" not in r]
    t.equal(limited, [], "the limits were raised")


@case("the self-check detects a slow-down of one of two equal variants: INVALID")
def _(t):
    os.environ["HALFTONE_TEST_SLOW_SELF_CHECK"] = "50"
    try:
        report = bench(t, "--rounds", "5", "--round-seconds", "0.1", "--allow-noisy", "--quiet")
    finally:
        del os.environ["HALFTONE_TEST_SLOW_SELF_CHECK"]
    t.equal(report["benchmark_run"]["test_slow_down"], 0.5)
    t.equal(report["benchmark_run"]["self_check"]["speedup"]["verdict"], "slower")
    t.check(any("against itself" in r for r in report["benchmark_run"]["noise"]), report["benchmark_run"])
    t.equal(report["benchmark_run"]["valid"], False)
    t.contains(" ".join(report["environment"]["variables"]), "HALFTONE_TEST_SLOW_SELF_CHECK=50")


@case("compare is reproducible bit by bit, and refuses a changed file")
def _(t):
    bench(t, *SHORT, out=t.folder / "a")
    path = t.folder / "a/report.json"
    run = t.halftone("compare", path, path, "--allow-noisy", "--json")
    t.equal(run.returncode, 0, run.stderr)
    t.equal([v["speedup"]["median"] for v in json.loads(run.stdout)["variants"]], [1, 1])
    t.equal(json.loads(run.stdout)["warnings"], [])
    t.equal(t.halftone("compare", path, path, "--allow-noisy", "--json").stdout, run.stdout)

    report = json.loads(path.read_text())
    report["variants"][0]["benchmark"]["round_data"][1]["processes"][0]["samples_ns"][0] += 1
    report["variants"][0]["benchmark"]["speedup"]["low"] *= 1.0000000001
    (t.folder / "changed.json").write_text(json.dumps(report))
    run = t.halftone("compare", path, t.folder / "changed.json", "--allow-noisy")
    t.equal(run.returncode, 3, run.stdout)
    t.contains(run.stderr, "its figures are not those of its samples")


@case("compare is a gate: --max-slowdown")
def _(t):
    for batch in ("1", "16"):
        bench(t, "--batch", batch, *SHORT, out=t.folder / batch)
    small, large = t.folder / "1/report.json", t.folder / "16/report.json"
    run = t.halftone("compare", small, large, "--max-slowdown", "0.05", "--allow-noisy")
    t.equal(run.returncode, 4, run.stderr)
    t.contains(run.stdout, "slower")
    t.contains(run.stderr, "FAIL max-slowdown fp32")
    t.contains(run.stderr, "benchmark batch: 1 and 16")
    run = t.halftone("compare", large, small, "--max-slowdown", "0.05", "--allow-noisy")
    t.equal(run.returncode, 0, run.stderr)
    t.contains(run.stdout, "faster")


@case("exports have the formats of other tools")
def _(t):
    run = t.halftone("bench", ONNX, *SHORT, "--export", "csv", "--export", f"google-benchmark={t.folder / 'g.json'}", "--export",
                     f"prometheus={t.folder / 'm.prom'}")
    t.equal(run.returncode, 0, run.stderr)
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    t.equal([r["variant"] for r in rows], ["original", "fp32"])
    t.check(float(rows[1]["median_ms"]) > 0 and rows[1]["p999_ms"] == "", rows[1])
    google = json.loads((t.folder / "g.json").read_text())
    t.equal([b["run_type"] for b in google["benchmarks"]], (["iteration"] * 3 + ["aggregate"] * 3) * 2)
    t.contains((t.folder / "m.prom").read_text(), 'halftone_bench_valid{model="digits.onnx",variant="fp32"')


@case("several models: a report each and geometric means")
def _(t):
    run = t.halftone("bench", ONNX, DEMO / "digits.pb", *SHORT, "--out", t.folder)
    t.equal(run.returncode, 2, "digits.onnx and digits.pb have one name")
    other = t.folder / "other.pb"
    other.write_bytes((DEMO / "digits.pb").read_bytes())
    run = t.halftone("bench", ONNX, other, *SHORT, "--out", t.folder)
    t.equal(run.returncode, 0, run.stderr)
    t.contains(run.stdout, "geometric mean of the speed-ups of 2 models, original over fp32")
    t.check((t.folder / "digits/report.json").exists() and (t.folder / "other/report.json").exists(), "no reports")


main()
