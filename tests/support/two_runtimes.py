"""Small ONNX models from text, and one file run by us and by ONNX Runtime."""

import pathlib
import subprocess

from harness import Failure, program


def has_vnni():
    """Whether the CPU adds products of bytes in 32 bits."""
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
    run = t.halftone("run", path, "--fuse", "--input", f"x={t.folder / 'x.npy'}", "--out", t.folder / "answers", "--quiet")
    t.equal(run.returncode, 0, run.stderr)
    return numpy.load(run.stdout.split()[0])


def theirs(path, x):
    """The answer of ONNX Runtime, and the operators that it ran."""
    import json
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.enable_profiling = True
    options.profile_file_prefix = str(path.with_suffix(".profile"))
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    (answer,) = session.run(None, {"x": x})
    events = json.loads(pathlib.Path(session.end_profiling()).read_text())
    return answer, {e["args"]["op_name"] for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")}


def agree(t, path, x, within):
    """ONNX Runtime and we answer alike; the operators that it ran."""
    import numpy
    answer, ran = theirs(path, x)
    worst = numpy.abs(answer - ours(t, path, x)).max()
    t.check(worst < within, f"ONNX Runtime and we differ by {worst}")
    return ran
