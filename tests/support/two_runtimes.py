# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX models from text, and runs a file with Halftone and with ONNX Runtime."""

import pathlib
import subprocess

from harness import Failure, program


def has_vnni():
    """Whether the CPU has VNNI: int8 dot products that accumulate in int32."""
    return bool({"avx512_vnni", "avx_vnni"} & set(pathlib.Path("/proc/cpuinfo").read_text().split()))


def write_model(t, name, signature, consts, body):
    """`consts`: arrays by name, of float32 or int8."""
    kinds = {"float32": "float", "int8": "int8"}
    texts = [f"{kinds[str(a.dtype)]}[{','.join(map(str, a.shape))}] {n} = {{{','.join(f'{v:.7g}' for v in a.ravel())}}}" for n, a in consts.items()]
    head = f'### {name}\n<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\nagraph {signature}\n'
    (t.folder / "model.txt").write_text(f"{head}<{', '.join(texts)}>\n{{ {body} }}\n")
    run = subprocess.run([program("text_to_onnx"), t.folder / "model.txt", t.folder], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(run.stderr)
    return t.folder / f"{name}.onnx"


def ours(t, path, x):
    import numpy
    numpy.save(t.folder / "x.npy", x)
    run = t.halftone("run", path, "--fuse", "--input", f"x={t.folder / 'x.npy'}", "--out", t.folder / "outputs", "--quiet")
    t.equal(run.returncode, 0, run.stderr)
    return numpy.load(run.stdout.split()[0])


def theirs(path, x):
    """The output of ONNX Runtime, and the operators that it ran."""
    import json
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.enable_profiling = True
    options.profile_file_prefix = str(path.with_suffix(".profile"))
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    (output,) = session.run(None, {"x": x})
    events = json.loads(pathlib.Path(session.end_profiling()).read_text())
    return output, {e["args"]["op_name"] for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")}


def agree(t, path, x, within):
    """Checks that the outputs of ONNX Runtime and Halftone agree. Returns the operators that ONNX Runtime ran."""
    import numpy
    output, ran = theirs(path, x)
    worst = numpy.abs(output - ours(t, path, x)).max()
    t.check(worst < within, f"ONNX Runtime and Halftone differ by {worst}")
    return ran
