# SPDX-License-Identifier: Apache-2.0
"""The files of dev bench --int8: samples, the files of ONNX Runtime's quantizer, ours. Kept in the cache as files.py keeps its own."""

import hashlib
import json
import pathlib
import sys

import numpy

from files import SEED, Files, digest, draw, our_build
from int8_models import METHODS
from programs import HERE, BenchError, program, run
from zoo import shared

RANDOM_BATCHES = 8  # of calibration, where weights are random


def short(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


class Int8Files(Files):
    def source(self, net):
        path = self.model(net.model)
        if path is None:
            raise BenchError(f"no {net.model.file} (folder of shared data, HALFTONE_SHARED)")
        return path

    def real(self, arguments):
        """What the shared folder's program makes with these arguments."""
        def make(made):
            run([sys.executable, shared("make_npz.py"), arguments[0], made / "samples.npz", *arguments[1:]], f"make_npz.py {arguments[0]}")
        return self.made(f"int8/samples/{arguments[0]}-{short(repr(arguments))}", make) / "samples.npz"

    def calibration(self, net):
        """Real samples where the net is trained; else random ones, of another seed than those that are timed."""
        if net.calibration:
            return self.real(net.calibration)

        def make(made):
            generator = numpy.random.default_rng(SEED + 1)
            numpy.savez(made / "samples.npz", **{i.name: draw(generator, i, several(i.dims)) for i in net.model.inputs})
        return self.made(f"int8/samples/{net.name}-{short(repr(net.model.inputs))}", make) / "samples.npz"

    def evaluation(self, net):
        return self.real(net.evaluation)

    def timed(self, net):
        """One batch: of a trained net the first sample that is evaluation."""
        if not net.trained:
            return self.samples(net.scenario)
        evaluation = self.evaluation(net)

        def make(made):
            arrays = numpy.load(evaluation)
            numpy.savez(made / "samples.npz", **{key: arrays[key][:1] for key in arrays if key != "labels"})
        return self.made(f"int8/samples/{net.name}-first-{short(str(evaluation))}", make) / "samples.npz"

    def of_quantizer(self, net, quant_format, activations, method=METHODS[0]):
        """The file that ONNX Runtime's quantizer makes."""
        source, samples = self.source(net), self.calibration(net)
        script = HERE / "onnxruntime_quantize.py"

        def make(made):
            run([sys.executable, script, source, samples, made / f"{source.stem}.onnx", "--quant-format", quant_format, "--activations", activations, "--method",
                 method], f"onnxruntime.quantization of {net.name}: {quant_format}, {activations}, {method}")
        name = f"{net.name}-{quant_format}-{activations}-{method}-{digest(script)}-{short(f'{source}{source.stat().st_mtime_ns}{samples}')}"
        return self.made(f"int8/onnxruntime/{name}", make) / f"{source.stem}.onnx"

    def optimized(self, source, calibration, evaluation, *flags):
        """The folder that `halftone optimize --precision int8` of this build fills."""
        def make(made):
            run([program("halftone"), "optimize", source, "--no-bench", "--precision", "int8", "--calibration", calibration, "--eval", evaluation,
                 "--out", made, "--json", "--quiet", *flags], f"halftone optimize {source.name} --precision int8")
        key = short(f"{source.stat().st_mtime_ns}{calibration}{evaluation}{flags}")
        return self.made(f"lowered/{our_build()}/int8-{source.stem}-{key}", make)

    def ours(self, net, *flags):
        """Our file, and its entries of the report."""
        source = self.source(net)
        folder = self.optimized(source, self.calibration(net), self.evaluation(net) if net.trained else self.timed(net), *flags)
        return read_ours(folder, source)


def several(dims):
    """Of RANDOM_BATCHES batches; a few where a batch is many rows."""
    first = RANDOM_BATCHES if dims[0] == "N" else dims[0] * (2 if dims[0] > 1 else RANDOM_BATCHES)
    return (first, *dims[1:])


def read_ours(folder, source):
    """{"file", "fp32", "int8_share", "summary", "calibration", "warnings"}"""
    report = json.loads((folder / "report.json").read_text())
    variant = next((v for v in report["variants"] if v["precision"] == "int8"), None)
    if variant is None:
        raise BenchError(f"halftone optimize {source.name}: the report has no variant INT8: {report.get('warnings', [])[:3]}")
    share = variant.get("int8_share", -1)
    return {"file": pathlib.Path(folder, f"{source.stem}.int8{source.suffix}"), "fp32": pathlib.Path(folder, f"{source.stem}.fp32{source.suffix}"),
            "int8_share": share if share >= 0 else None, "summary": variant.get("summary", ""),
            "calibration": report.get("calibration", {}), "warnings": report.get("warnings", [])}
