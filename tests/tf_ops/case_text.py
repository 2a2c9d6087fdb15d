# SPDX-License-Identifier: Apache-2.0
"""Shared code of make_*cases.py: the types in TensorFlow's registry, the inputs of tf_ops_test.cc, a case as text."""
import itertools
import math
import os
import re
import numpy as np

FLOATS = ["f32", "f64", "f16", "bf16"]
SIGNED = ["s8", "s16", "s32", "s64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
DT = {"f32": "FLOAT", "f64": "DOUBLE", "f16": "HALF", "bf16": "BFLOAT16", "s8": "INT8", "s16": "INT16", "s32": "INT32",
      "s64": "INT64", "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "u64": "UINT64", "bool": "BOOL"}
FROM_DT = {v: k for k, v in DT.items()}


def registry(path):
    """op -> attribute -> allowed types (None: all)."""
    text = open(path).read()
    ops = {}
    for op in re.finditer(r"^op \{\n(.*?)^\}", text, re.S | re.M):
        attrs = {}
        for attr in re.finditer(r"^  attr \{\n(.*?)^  \}", op.group(1), re.S | re.M):
            name = re.search(r'name: "([^"]+)"', attr.group(1)).group(1)
            allowed = re.search(r"allowed_values \{(.*?)^    \}", attr.group(1), re.S | re.M)
            attrs[name] = re.findall(r"type: DT_(\w+)", allowed.group(1)) if allowed else None
        ops[re.search(r'name: "([^"]+)"', op.group(1)).group(1)] = attrs
    return ops


REGISTRY = registry(os.environ["HALFTONE_SHARED"] + "/data/tensorflow_ops.pbtxt")


def fill(cls, how, k, dims):
    """Input k, with the same numbers as in tf_ops_test.cc."""
    n = int(np.prod(dims)) if dims else 1
    i = (np.arange(n) * 37 + k * 11) % 17
    if cls == "bool":
        return ((np.arange(n) * 37 + k * 11) % 3 == 0).reshape(dims)
    if cls == "uint":
        v = i % 7 + (1 if how == "positive" else 0)
    elif cls == "int":
        v = i % 7 + 1 if how == "positive" else i % 7 - 3
    else:
        v = (i + 1) / 4 if how == "positive" else (i - 8) / 16 if how == "unit" else (i - 8) / 4
    return np.array(v, dtype=np.float64 if cls == "float" else np.int64).reshape(dims)


def class_of(t):
    return "float" if t in FLOATS else "int" if t in SIGNED else "uint" if t in UNSIGNED else "bool"


def number(v):
    if isinstance(v, (bool, np.bool_)):
        return str(int(v))
    v = float(v)
    if math.isnan(v) or math.isinf(v):
        return "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"
    return str(int(v)) if v == int(v) and abs(v) < 1e15 else "%.9g" % v


def fits(array, t):
    bits = int(t[1:])
    low, high = (0, 2**bits - 1) if t in UNSIGNED else (-2**(bits - 1), 2**(bits - 1) - 1)
    return low <= int(array.min()) and int(array.max()) <= high


COUNT = [0]


def case(op, inputs, attrs, fn, note="", attr="T", types=None, skip=(), only=None):
    """inputs: ("in", fill, dims[, type]) or ("const", type, array); fn(cls, *arrays) -> one array or a list."""
    allowed = REGISTRY[op].get(attr)
    if types is None:
        types = [FROM_DT[t] for t in allowed if t in FROM_DT] if allowed else FLOATS + SIGNED + UNSIGNED + ["bool"]
        types = sorted(set(types), key=list(DT).index)
    types = [t for t in types if t not in skip]
    for cls, group in itertools.groupby(types, class_of):
        group = list(group)
        if only and cls not in only:
            continue
        arrays, lines = [], []
        for k, x in enumerate(inputs):
            if x[0] == "in":
                t = x[3] if len(x) > 3 else "$T"
                arrays.append(fill(cls if t == "$T" else class_of(t), x[1], k, x[2]))
                lines.append("in %s %s %s" % (t, x[1], " ".join(map(str, x[2]))))
            else:
                value = np.array(x[2])
                arrays.append(value)
                lines.append("const %s %s | %s" % (x[1], " ".join(map(str, value.shape)),
                                                   " ".join(number(v) for v in value.ravel())))
        with np.errstate(all="ignore"):
            result = fn(cls, *arrays)
        outputs = result if isinstance(result, list) else [result]
        outputs = [np.array(o) for o in outputs]
        if cls in ("int", "uint") and any(o.size and o.dtype.kind in "iu" and not all(fits(o, t) for t in group)
                                          for o in outputs):
            raise SystemExit("%s %s: numbers that do not fit every type" % (op, note))
        COUNT[0] += 1
        print("\ncase %s %s%s" % (op, cls, " " + note if note else ""))
        print("op", op)
        print("types", ",".join(group))
        for line in lines:
            print(line)
        if attr and attr in REGISTRY[op]:
            print("attr %s type $T" % attr)
        for name, (kind, value) in attrs.items():
            print("attr", name, kind, " ".join(map(str, value)) if isinstance(value, (list, tuple)) else value)
        for o in outputs:
            print("expect", " ".join(map(str, o.shape)), "|", " ".join(number(v) for v in o.ravel()))


def X(*dims, how="signed", t=None):
    return ("in", how, list(dims)) + ((t,) if t else ())


def P(*dims):
    return X(*dims, how="positive")


def U(*dims):
    return X(*dims, how="unit")


def I32(v):
    return ("const", "s32", v)


def I64(v):
    return ("const", "s64", v)


I = lambda v: ("i", v)
F = lambda v: ("f", v)
B = lambda v: ("b", int(v))
S = lambda v: ("s", v)
L = lambda *v: ("ints", v)
TY = lambda v: ("type", v)
S32 = {"Tidx": TY("s32")}
