"""What dev bench compares. A side runs one round in fresh processes and gives the round's median time and what spoilt it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from intervals import median

HERE = pathlib.Path(__file__).resolve().parent
MAX_SWITCHES_PER_SECOND = 10  # involuntary; the limit of runtime/benchmark.cc


class BenchError(Exception):
    pass


def run(command, what):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"{what}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


class OnnxRuntime:
    """The file as it came, by ONNX Runtime's CPU provider."""

    def __init__(self, name, model):
        self.name, self.model, self.version = name, model, ""

    def round(self, seconds, batch):
        out = json.loads(run([sys.executable, HERE / "onnxruntime_round.py", self.model, seconds, batch], self.name))
        self.version = "ONNX Runtime " + out["version"]
        noise = []
        if out["switches_per_second"] > MAX_SWITCHES_PER_SECOND:
            noise.append(f"{out['switches_per_second']:.0f} involuntary context switches a second")
        return median(out["samples_ms"]), noise


class Halftone:
    """A file that `halftone optimize` wrote, by `halftone bench`: read, fused, planned and run in a fresh process."""

    def __init__(self, name, model):
        self.name, self.model, self.version, self.environment = name, model, "", {}

    def round(self, seconds, batch):
        report = json.loads(run(["halftone", "bench", self.model, "--rounds", 1, "--round-seconds", seconds, "--threads", 1, "--batch",
                                 batch, "--json", "--quiet"], self.name))
        self.environment = report["environment"]
        self.version = f"Halftone {self.environment['halftone_version']}, oneDNN {self.environment['onednn_version']}"
        fused = next(v for v in report["variants"] if v["precision"] == "FP32")["benchmark"]
        # That one round alone has no interval is no fault of the round: bench.py has more of them.
        return fused["median_ms"], [r for r in fused["invalid_reasons"] if "rounds" not in r]


def export(name, folder):
    """The model as ONNX, made once for each version of the exporter."""
    exporter = HERE.parent / "models/export_torch.py"
    path = folder / f"{name}.onnx"
    if not path.exists() or path.stat().st_mtime < exporter.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as new:
            made = pathlib.Path(new) / path.name
            run([sys.executable, exporter, name, made], f"export of {name}")
            os.replace(made, path)
    return path


def lower(model, batch, out):
    """Writes the fused fp32 and the bf16 file; their paths, and how near bf16 is to fp32 on seeded random inputs (dB)."""
    report = json.loads(run(["halftone", "optimize", model, "--no-bench", "--precision", "bf16", "--batch", batch, "--out", out, "--json",
                             "--quiet"], "halftone optimize"))
    bf16 = next(v for v in report["variants"] if v["precision"] == "BF16")
    return out / f"{model.stem}.fp32.onnx", out / f"{model.stem}.bf16.onnx", min(f["sqnr_db"] for f in bf16["fidelity"])
