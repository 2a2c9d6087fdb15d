# SPDX-License-Identifier: Apache-2.0
"""The files that the sides run: models (exported once, or of the shared data), samples, and our fused fp32 and bf16 files.

All are kept in the cache under what they were made from, so that a second run only measures.
"""

import hashlib
import os
import pathlib
import shutil
import sys
import tempfile

import numpy

from programs import HERE, program, run
from scenarios import Scenario, shared_file

EXPORTER = [HERE.parent / "models" / name for name in ("export_torch.py", "seeded_weights.py", "bert.py", "mobilenet_v1.py", "resnet_v2.py")]
SEED = 1


def digest(*paths):
    whole = hashlib.sha256()
    for path in paths:
        whole.update(pathlib.Path(path).read_bytes())
    return whole.hexdigest()[:12]


def our_build():
    """Names the programs that are measured."""
    return digest(*(program(name) for name in ("halftone-worker", "halftone_round")))


class Files:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def made(self, name, maker):
        """The folder `name`; where it is not there yet, `maker` fills a new one, which then appears whole."""
        path = self.folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix="new-") as new:
                made = pathlib.Path(new) / "made"
                made.mkdir()
                maker(made)
                if not path.exists():  # else another run was faster
                    os.replace(made, path)
        return path

    def model(self, model):
        """The file as a user has it."""
        if model.file:
            return shared_file(model)
        folder = self.made(f"models/{model.name}-{digest(*EXPORTER)}", lambda made: run(
            [sys.executable, EXPORTER[0], model.name, made / f"{model.name}.onnx"], f"export of {model.name}"))
        return folder / f"{model.name}.onnx"

    def samples(self, scenario):
        """An .npz of one batch. Named by all that decides what is in it."""
        def make(made):
            generator = numpy.random.default_rng(SEED)
            arrays = {i.name: draw(generator, i, dims) for i, dims in scenario.shapes()}
            numpy.savez(made / "samples.npz", **arrays)
        text = repr([(i, dims) for i, dims in scenario.shapes()])
        return self.made(f"samples/{scenario.model.name}-b{scenario.batch}-{hashlib.sha256(text.encode()).hexdigest()[:8]}", make) / "samples.npz"

    def lowered(self, scenario, planner=None):
        """Our fused fp32 and our bf16 file, as `halftone optimize` of this build writes them. `planner`: not the usual one."""
        source = self.model(scenario.model)
        samples = self.samples(Scenario(scenario.model))

        def make(made):
            run([program("halftone"), "optimize", source, "--no-bench", "--precision", "bf16", "--eval", samples, "--out", made, "--json",
                 "--quiet", *(["--planner", planner] if planner else [])], f"halftone optimize {source.name}")
        folder = self.made(f"lowered/{our_build()}/{source.stem}-{source.stat().st_mtime_ns}{'-' + planner if planner else ''}", make)
        return folder / f"{source.stem}.fp32.onnx", folder / f"{source.stem}.bf16.onnx"


def draw(generator, wanted, dims):
    if wanted.fill is not None:
        return numpy.full(dims, wanted.fill, numpy.int64)
    if wanted.below:
        return generator.integers(0, wanted.below, dims, dtype=numpy.int64)
    return generator.standard_normal(dims, dtype=numpy.float32)


def forget_old_builds(folder):
    """Files of other builds than the present one: they are large."""
    for path in pathlib.Path(folder, "lowered").glob("*"):
        if path.name != our_build():
            shutil.rmtree(path, ignore_errors=True)
