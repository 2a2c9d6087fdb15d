#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes some hundred models of one node with random attributes, as backend tests of ONNX.

    peer_models.py write FOLDER     # models and inputs; needs onnx and numpy
    peer_models.py run FOLDER       # outputs of ONNX Runtime; needs onnxruntime and numpy (it cannot share a process with onnx)
    peer_models.py finish FOLDER    # outputs as files of a backend test; needs onnx and numpy

The models are transposed convolutions, pools, normalizations, image ops and detection ops. The seed is fixed, so the models are
always the same.
"""

import pathlib
import shutil
import sys

import numpy as np

RANDOM = np.random.default_rng(5)


def floats(*dims):
    return RANDOM.standard_normal(dims).astype(np.float32)


def ints(low, high, count):
    return [int(v) for v in RANDOM.integers(low, high, count)]


def chance(words):
    return words[int(RANDOM.integers(0, len(words)))]


def conv_transpose(k):
    spatial, group = int(RANDOM.integers(1, 4)), chance([1, 1, 2, 3])
    inputs, outputs = group * int(RANDOM.integers(1, 4)), int(RANDOM.integers(1, 4))
    size, kernel, strides, dilations = ints(3, 7, spatial), ints(1, 4, spatial), ints(1, 4, spatial), ints(1, 3, spatial)
    reach = [(n - 1) * s + (t - 1) * d + 1 for n, t, s, d in zip(size, kernel, strides, dilations)]
    how = [{}, {"pads": ints(0, 2, 2 * spatial)}, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"},
           {"output_padding": [int(RANDOM.integers(0, s)) for s in strides]},
           {"output_shape": [max(1, r - int(RANDOM.integers(0, 3))) for r in reach]}]
    values = [("x", floats(2, inputs, *size)), ("w", floats(inputs, outputs, *kernel))] + ([("b", floats(outputs * group))] if k % 2 else [])
    return 11, "ConvTranspose", values, dict(strides=strides, dilations=dilations, group=group, **chance(how)), {"w"} if k % 3 else set()


def pool(k):
    spatial, op = int(RANDOM.integers(1, 4)), ["MaxPool", "AveragePool", "LpPool"][k % 3]
    kernel = ints(1, 4, spatial)
    attrs = dict(kernel_shape=kernel, strides=ints(1, 4, spatial))
    how = chance(["pads", "SAME_UPPER", "SAME_LOWER", "none"])
    if how.startswith("SAME"):
        # Unlike the ONNX standard, ONNX Runtime uses negative pads where a stride is longer than the window, and does not count
        # the pads at the end for count_include_pad.
        attrs.update(auto_pad=how, strides=[min(s, n) for s, n in zip(attrs["strides"], kernel)])
    else:
        attrs["dilations"] = ints(1, 3, spatial)
        if op == "AveragePool":
            attrs["count_include_pad"] = k % 2
        if op != "LpPool":
            attrs["ceil_mode"] = chance([0, 1])
        if how == "pads":
            attrs["pads"] = [int(RANDOM.integers(0, n)) for n in kernel] * 2
    if op == "LpPool":
        attrs["p"] = 1 + k % 3
    if op == "MaxPool":
        attrs["storage_order"] = chance([0, 1])
    return 19, op, [("x", floats(2, 3, *ints(6, 11, spatial)))], attrs, set(), 2 if op == "MaxPool" else 1


def resize(k):
    mode = ["nearest", "linear", "cubic"][k % 3]
    place = chance(["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"])
    attrs = dict(mode=mode, coordinate_transformation_mode=place)
    if mode == "nearest":
        attrs["nearest_mode"] = chance(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic":
        attrs.update(exclude_outside=chance([0, 1]), cubic_coeff_a=chance([-0.5, -0.75]))
    if mode != "nearest" and place == "half_pixel":
        attrs["antialias"] = chance([0, 1])
    x, wanted = floats(2, 3, *ints(2, 8, 2)), ints(1, 14, 2)
    if chance([True, False]):
        return 19, "Resize", [("x", x), None, None, ("sizes", np.array([2, 3, *wanted], np.int64))], attrs, {"sizes"}
    # With align_corners, runtimes differ if scale * length is not an integer.
    scales = [n / d for n, d in zip(wanted, x.shape[2:])] if place == "align_corners" else list(RANDOM.uniform(0.4, 2.6, 2))
    return 19, "Resize", [("x", x), None, ("scales", np.array([1, 1, *scales], np.float32))], attrs, {"scales"}


def old_resize(k):
    x, grows = floats(1, 2, 5, 6), k % 4 < 2
    scales = np.array([1, 1, 1.7, 2] if grows else [1, 1, 0.6, 0.5], np.float32)
    mode = dict(mode=["nearest", "linear"][k % 2])
    if k % 3 == 0 and grows:
        return 7, "Upsample", [("x", x)], dict(scales=[float(s) for s in scales], **mode), set()
    if k % 3 == 1 and grows:
        return 9, "Upsample", [("x", x), ("scales", scales)], mode, {"scales"}
    return 10, "Resize", [("x", x), ("scales", scales)], mode, {"scales"}


def cropped_resize(k):
    values = [("x", floats(1, 2, 5, 6)), ("roi", np.array([0, 0, 0.2, -0.1, 1, 1, 0.9, 1.1], np.float32)),
              ("scales", np.array([1, 1, 1.5, 0.8], np.float32))]
    attrs = dict(mode=["nearest", "linear"][k % 2], coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=2.5)
    return 11, "Resize", values, attrs, {"roi", "scales"}


def grid_sample(k):
    spatial = 3 if k % 4 == 3 else 2
    old = spatial == 2 and k % 2 == 0
    modes = ["nearest", "bilinear" if old else "linear"] + ([] if spatial == 3 else ["bicubic" if old else "cubic"])
    grid = RANDOM.uniform(-1.6, 1.6, [2, *ints(2, 6, spatial), spatial]).astype(np.float32)
    attrs = dict(mode=chance(modes), padding_mode=chance(["zeros", "border", "reflection"]), align_corners=chance([0, 1]))
    return 16 if old else 20, "GridSample", [("x", floats(2, 3, *ints(2, 7, spatial))), ("g", grid)], attrs, set()


def norm(k):
    kind, k = k % 10, k // 10
    x = floats(2, 6, 4, 5)
    if kind == 0:
        return chance([7, 13, 22]), "InstanceNormalization", [("x", x), ("s", floats(6)), ("b", floats(6))], dict(epsilon=1e-3), {"s"}
    if kind == 1:
        return 13, "LpNormalization", [("x", x)], dict(axis=k % 8 - 4, p=1 + k % 2), set()
    if kind == 2:
        return 13, "LRN", [("x", x)], dict(size=[1, 3, 5, 9][k % 4], alpha=0.01 * (k + 1), beta=chance([0.5, 0.75]), bias=1.0 + k), set()
    if kind == 3:
        axis = k % 4
        values = [("x", x), ("s", floats(*x.shape[axis:])), ("b", floats(*x.shape[axis:]))]
        return 17, "LayerNormalization", values, dict(axis=chance([axis, axis - 4]), epsilon=1e-2), {"s", "b"}, chance([1, 3])
    if kind == 4:
        return 18, "GroupNormalization", [("x", x), ("s", floats(3)), ("b", floats(3))], dict(num_groups=3), {"s", "b"}
    if kind == 5:
        return 21, "GroupNormalization", [("x", x), ("s", floats(6)), ("b", floats(6))], dict(num_groups=[1, 2, 3, 6][k % 4]), set()
    if kind == 6:
        return 17, "SimplifiedLayerNormalization", [("x", x), ("s", floats(5))], dict(axis=-1, epsilon=1e-3), {"s"}
    if kind == 7:
        return chance([9, 11, 13]), chance(["LogSoftmax", "Hardmax", "Softmax"]), [("x", x)], dict(axis=k % 4), set()
    if kind == 8:
        return 13, "MeanVarianceNormalization", [("x", x)], dict(axes=[[0, 2, 3], [2, 3], [1, 2, 3], [0, 1, 2]][k % 4]), set()
    values = [("x", x)] + [(name, np.abs(floats(6))) for name in "sbmv"]
    return 15, "BatchNormalization", values, dict(training_mode=1, momentum=0.8), set(), 3


def region(k):
    kind, k = k % 4, k // 4
    x = floats(2, 3, 9, 8)
    if kind == 0:
        rois = np.array([[0, 0, 0, 5, 6], [1, 2, 1, 7, 7], [0, 3, 3, 3, 4]], np.float32)
        return 13, "MaxRoiPool", [("x", x), ("r", rois)], dict(pooled_shape=[2, 3], spatial_scale=chance([1.0, 0.6])), set()
    if kind == 1:
        corners = RANDOM.uniform(-2, 6, (5, 2))
        rois = np.concatenate([corners, corners + RANDOM.uniform(0.2, 7, (5, 2))], 1).astype(np.float32)
        attrs = dict(output_height=2, output_width=3, sampling_ratio=k % 3, spatial_scale=chance([1.0, 0.7]), mode=chance(["avg", "max"]))
        return chance([10, 16]), "RoiAlign", [("x", x), ("r", rois), ("i", np.array([0, 1, 1, 0, 1], np.int64))], attrs, set()
    if kind == 2:
        start = RANDOM.uniform(0, 1, (2, 12, 2))
        boxes = np.concatenate([start, start + RANDOM.uniform(0.1, 0.6, (2, 12, 2))], -1).astype(np.float32)
        limits = [("n", np.array([4], np.int64)), ("iou", np.array([0.2 + 0.05 * (k % 10)], np.float32)), ("t", np.array([0.3], np.float32))]
        scores = RANDOM.uniform(0, 1, (2, 3, 12)).astype(np.float32)
        return 11, "NonMaxSuppression", [("boxes", boxes), ("scores", scores), *limits], dict(center_point_box=k % 2), set()
    return 18, "Col2Im", [("x", floats(2, 12, 16)), ("s", np.array([5, 6], np.int64)), ("b", np.array([2, 3], np.int64))], {}, {"s", "b"}


FAMILIES = [(conv_transpose, 40), (pool, 60), (resize, 120), (old_resize, 12), (cropped_resize, 4), (grid_sample, 36), (norm, 100),
            (region, 40)]


def write(folder):
    import onnx
    from onnx import helper, numpy_helper
    for family, count in FAMILIES:
        for k in range(count):
            opset, op, values, attrs, constants, *outputs = family(k)
            names = [f"y{i}" for i in range(outputs[0] if outputs else 1)]
            node = helper.make_node(op, [value[0] if value else "" for value in values], names, **attrs)
            given = [value for value in values if value]
            fed = [value for value in given if value[0] not in constants]
            inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in fed]
            weights = [numpy_helper.from_array(v, n) for n, v in given if n in constants]
            made = [onnx.ValueInfoProto(name=n) for n in names]
            for i, info in enumerate(made):
                whole = op == "NonMaxSuppression" or (op == "MaxPool" and i == 1)
                info.type.tensor_type.elem_type = onnx.TensorProto.INT64 if whole else onnx.TensorProto.FLOAT
            graph = helper.make_graph([node], "peer", inputs, made, weights)
            test = folder / "node" / f"test_{family.__name__}_{k}"
            data = test / "test_data_set_0"
            data.mkdir(parents=True)
            version = 10 if opset > 20 else 8
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=version), test / "model.onnx")
            for i, (name, value) in enumerate(fed):
                (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
                np.save(test / f"input_{i}.npy", value)


def run(folder):
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    for test in sorted((folder / "node").iterdir()):
        session = onnxruntime.InferenceSession(str(test / "model.onnx"), providers=["CPUExecutionProvider"])
        feeds = {value.name: np.load(test / f"input_{i}.npy") for i, value in enumerate(session.get_inputs())}
        for i, value in enumerate(session.run(None, feeds)):
            np.save(test / f"output_{i}.npy", value)


def finish(folder):
    from onnx import numpy_helper
    for path in sorted(folder.glob("node/*/*.npy")):
        if path.stem.startswith("output_"):
            tensor = numpy_helper.from_array(np.load(path), path.stem.replace("output_", "y"))
            (path.parent / "test_data_set_0" / f"{path.stem}.pb").write_bytes(tensor.SerializeToString())
        path.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "run", "finish"):
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "write":
        shutil.rmtree(target / "node", ignore_errors=True)
    {"write": write, "run": run, "finish": finish}[sys.argv[1]](target)
