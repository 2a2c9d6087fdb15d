# SPDX-License-Identifier: Apache-2.0
"""Random GraphDefs of the ops of op_facts.py: layers with other ops between them, loops, tensor lists, devices, variables, casts and
functions. Types are consistent, shapes are not.

    data, fetches = random_graph(seed)      bytes of a GraphDef, names of fetched nodes
"""
import random
import struct

from op_facts import REGISTRY, REQUIRED

FLOAT, INT32, STRING, INT64, BOOL, HALF, BFLOAT16, DOUBLE, VARIANT, RESOURCE = 1, 3, 7, 9, 10, 19, 14, 2, 21, 20
DEVICES = [""] * 24 + ["/device:CPU:0", "/cpu:0", "/device:GPU:0", "/job:worker/replica:0/task:0/device:CPU:1", "/job:worker",
                       "/device:CPU:*", "/job:cpu_pool/device:GPU:1", "/job:localhost/replica:0/task:0/device:XLA_CPU:0"]
LAYERS = "Conv2D Conv3D DepthwiseConv2dNative FusedPadConv2D MatMul BatchMatMul BatchMatMulV2 Einsum Conv2DBackpropInput Conv2DBackpropFilter".split()
SPECIAL = set("""Const Placeholder VariableV2 VarHandleOp ReadVariableOp NoOp Enter Exit Merge NextIteration Switch LoopCond While StatelessWhile
PartitionedCall""".split())
SPECIAL |= {name for name in REGISTRY if "TensorList" in name}
BETWEEN = [name for name in REGISTRY if name not in SPECIAL and name not in LAYERS and name != "IdentityN"]


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


class Builder:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.values, self.count = [], {}, 0  # values: type -> [name of a tensor]
        self.fetchable = []

    def name(self, op):
        self.count += 1
        return f"{op.strip('_').lower()}_{self.count}"

    def node(self, op, inputs, types=(), ints=(), extra=None, outputs=(), device=None, control=(), name=None):
        """Adds a node; `types` {attribute: number or list}; returns the names of its outputs, which have the types `outputs`."""
        name = name or self.name(op)
        text = field(1, name) + field(2, op) + b"".join(field(3, i) for i in inputs) + b"".join(field(3, "^" + c) for c in control)
        device = self.random.choice(DEVICES) if device is None else device
        if device:
            text += field(4, device)
        for key, value in dict(types).items():
            packed = b"".join(varint(t) for t in value) if isinstance(value, list) else b""
            text += self.attr(key, field(1, field(6, packed)) if isinstance(value, list) else field(6, value))
        for key, value in dict(ints).items():
            text += self.attr(key, field(3, value))
        for key, value in (extra or {}).items():
            text += self.attr(key, value)
        self.nodes.append(text)
        self.fetchable.append(name)
        tensors = [name if k == 0 else f"{name}:{k}" for k in range(len(outputs))]
        for tensor, kind in zip(tensors, outputs):
            self.values.setdefault(kind, []).append(tensor)
        return tensors

    @staticmethod
    def attr(key, value):
        return field(5, field(1, key) + field(2, value))

    def required(self, op):
        extra = {}
        for key, text in REQUIRED[op].items():
            kind, _, value = text.partition(":")
            if kind == "ints":
                extra[key] = field(1, field(3, b"".join(varint(int(v)) for v in value.split(","))))
            elif kind == "s":
                extra[key] = field(2, value)
            elif kind == "i":
                extra[key] = field(3, int(value))
            elif kind == "func":
                extra[key] = field(10, field(1, "missing_function"))
            elif kind == "scalar":
                extra[key] = field(7, b"")
        return extra

    def const(self, kind):
        values = {FLOAT: field(5, struct.pack("<f", 0.5)), DOUBLE: field(6, struct.pack("<d", 0.5)), INT32: field(7, varint(1)),
                  INT64: field(10, varint(1)), BOOL: field(11, varint(1)), STRING: field(8, b"x"), HALF: field(13, varint(15360)),
                  BFLOAT16: field(13, varint(16256))}
        tensor = field(1, kind) + field(2, b"") + values.get(kind, field(7, varint(1)))
        return self.node("Const", [], {"dtype": kind}, extra={"value": field(8, tensor)}, outputs=[kind])[0]

    def value(self, kind):
        """A tensor of this type: mostly an existing one, preferably a recent one."""
        there = self.values.get(kind, [])
        if kind == VARIANT and not there:
            return self.list_op("TensorListReserve", FLOAT)[0]
        if kind == RESOURCE and not there:
            return self.node("VarHandleOp", [], {"dtype": FLOAT}, extra=self.required("VarHandleOp"), outputs=[RESOURCE])[0]
        if there and (kind in (VARIANT, RESOURCE) or self.random.random() < 0.93):
            return self.random.choice(there[-8:] if self.random.random() < 0.8 else there)
        if kind == FLOAT and self.random.random() < 0.3:
            return self.node("Placeholder", [], {"dtype": kind}, outputs=[kind])[0]
        if kind == FLOAT and self.random.random() < 0.3:
            variable = self.node("VariableV2", [], {"dtype": kind}, extra=self.required("VariableV2"), outputs=[])
            name = self.fetchable[-1]
            return self.node("Identity", [name], {"T": kind}, outputs=[kind])[0]
        return self.const(kind)

    def choose_type(self, op, attribute):
        is_list, default, allowed = REGISTRY[op].types[attribute]
        kinds = [k for k in (FLOAT, INT32, INT64, BOOL, HALF, DOUBLE) if allowed is None or k in allowed]
        if attribute in ("T", "U", "Tparams", "DstT", "dtype", "element_dtype") and FLOAT in kinds and self.random.random() < 0.9:
            return FLOAT
        return self.random.choice(kinds)

    def op(self, op, first=None, types=None):
        """A node of this op on existing values; `first`: the input of its first float port."""
        facts = REGISTRY[op]
        types = dict(types or {})
        for attribute, (is_list, default, _) in facts.types.items():
            if attribute not in types:
                kind = self.choose_type(op, attribute)
                types[attribute] = [self.choose_type(op, attribute) for _ in range(self.random.randint(1, 3))] if is_list else kind
        counts, inputs = {}, []
        for number, *_ in facts.inputs + facts.outputs:
            if number:
                counts.setdefault(number, 2 if op == "Einsum" else self.random.randint(1 if number != "N" or op not in ("ConcatV2", "Concat") else 2, 3))
        for kind in self.kinds(facts.inputs, types, counts):
            if first is not None and kind == FLOAT:
                inputs.append(first)
                first = None
            else:
                inputs.append(self.value(kind))
        outputs = self.kinds(facts.outputs, types, counts)
        written = dict(types)
        for attribute, (is_list, default, _) in facts.types.items():
            if default is not None and written[attribute] == default and self.random.random() < 0.3:
                del written[attribute]
        return self.node(op, inputs, written, counts, self.required(op), outputs)

    @staticmethod
    def kinds(args, types, counts):
        kinds = []
        for number, attribute, list_attribute, fixed in args:
            if list_attribute:
                kinds += types[list_attribute]
            else:
                kinds += [types[attribute] if attribute else fixed] * (counts[number] if number else 1)
        return kinds

    # Larger pieces.

    def list_op(self, op, element, handle=None):
        facts = REGISTRY[op]
        types = {a: (element if a == "element_dtype" else INT32) for a in facts.types}
        inputs = []
        for kind in self.kinds(facts.inputs, types, {}):
            inputs.append(handle if kind == VARIANT and handle is not None else self.value(kind))
            if kind == VARIANT:
                handle = None
        return self.node(op, inputs, types, {}, {}, self.kinds(facts.outputs, types, {}))

    def tensor_list(self):
        element = FLOAT if self.random.random() < 0.9 else INT32
        handle = self.list_op(self.random.choice(["TensorListReserve", "EmptyTensorList", "TensorListFromTensor", "TensorListSplit",
                                                  "TensorListScatter"]), element)[0]
        for _ in range(self.random.randint(1, 6)):
            kind = self.random.random()
            if kind < 0.15:
                handle = self.node("Identity", [handle], {"T": VARIANT}, outputs=[VARIANT])[0]
            elif kind < 0.2:
                handle = self.node("IdentityN", [handle, self.value(FLOAT)], {"T": [VARIANT, FLOAT]}, outputs=[VARIANT, FLOAT])[0]
            elif kind < 0.24:
                handle = self.call([handle], [VARIANT])[0]
            elif kind < 0.27:
                handle = self.node("list_passes", [handle], outputs=[VARIANT])[0]
            elif kind < 0.5:
                handle = self.list_op(self.random.choice(["TensorListSetItem", "TensorListPushBack", "TensorListConcatLists"]), element, handle)[0]
            elif kind < 0.6:
                handle = self.list_op("TensorListPopBack", element, handle)[0]
            elif kind < 0.65:
                self.list_op("TensorListLength", element, handle)
            else:
                self.list_op(self.random.choice(["TensorListGetItem", "TensorListStack", "TensorListGather"]), element, handle)

    def call(self, inputs, kinds):
        return self.node("PartitionedCall", inputs, {"Tin": kinds, "Tout": kinds}, extra=self.required("PartitionedCall"), outputs=kinds)

    def loop(self):
        frame = {"frame_name": field(2, f"frame_{self.count}")}
        kinds = [self.random.choice([FLOAT, FLOAT, FLOAT, VARIANT, INT32]) for _ in range(self.random.randint(1, 3))]
        switches = []
        condition = self.node("LoopCond", [self.value(BOOL)], outputs=[BOOL])[0]
        merges = []
        for kind in kinds:
            enter = self.node("Enter", [self.value(kind)], {"T": kind}, extra=frame, outputs=[kind])[0]
            merge = self.name("Merge")
            after = self.name("NextIteration")
            merges.append((merge, after))
            self.node("Merge", [enter, after], {"T": kind}, {"N": 2}, outputs=[kind, INT32], name=merge)
            switches.append(self.node("Switch", [merge, condition], {"T": kind}, outputs=[kind, kind]))
        bodies = []
        for kind, (_, inside) in zip(kinds, switches):
            at = inside
            for _ in range(self.random.randint(0, 4)):
                if kind == FLOAT:
                    outputs = self.op(self.random.choice(LAYERS + BETWEEN), first=at, types=None)
                    if self.random.random() < 0.8 and outputs and outputs[0] in self.values.get(FLOAT, []):
                        at = outputs[0]
                elif kind == VARIANT and self.random.random() < 0.6:
                    at = self.list_op(self.random.choice(["TensorListSetItem", "TensorListPushBack"]), FLOAT, at)[0]
            bodies.append(at)
        for kind, at, (merge, after), (outside, _) in zip(kinds, bodies, merges, switches):
            self.node("NextIteration", [at], {"T": kind}, outputs=[kind] if self.random.random() < 0.05 else [], name=after)
            self.node("Exit", [outside], {"T": kind}, outputs=[kind])

    def chain(self):
        at = None
        for _ in range(self.random.randint(2, 7)):
            op = self.random.choice(LAYERS if self.random.random() < 0.35 else BETWEEN)
            outputs = [o for o in self.op(op, first=at) if o in self.values.get(FLOAT, [])]
            at = self.random.choice(outputs) if outputs and self.random.random() < 0.85 else None

    def odd(self):
        kind = self.random.random()
        if kind < 0.3:
            kinds = [self.random.choice([FLOAT, FLOAT, INT32]) for _ in range(self.random.randint(1, 4))]
            self.node("IdentityN", [self.value(k) for k in kinds], {"T": kinds}, outputs=kinds)
        elif kind < 0.5:
            kinds = [self.random.choice([FLOAT, FLOAT, INT32, VARIANT]) for _ in range(self.random.randint(1, 3))]
            op = self.random.choice(["While", "StatelessWhile"])
            self.node(op, [self.value(k) for k in kinds], {"T": kinds}, extra=self.required(op), outputs=kinds)
        elif kind < 0.6:
            self.call([self.value(FLOAT)], [FLOAT])
        elif kind < 0.7:
            self.node("float_passes", [self.value(FLOAT)], outputs=[FLOAT])
        elif kind < 0.8:
            self.node("ReadVariableOp", [self.value(RESOURCE)], {"dtype": FLOAT}, outputs=[FLOAT])
        elif kind < 0.9:
            self.node("UnknownOp", [self.value(FLOAT), self.value(INT32)], {"T": FLOAT, "Tlist": [FLOAT, INT32]}, outputs=[FLOAT])
        else:
            variable = self.fetchable[-1] if self.node("VariableV2", [], {"dtype": FLOAT}, extra=self.required("VariableV2")) == [] else ""
            read = self.node("Identity", [variable], {"T": FLOAT}, outputs=[FLOAT])[0]
            enter = self.node("Enter", [read], {"T": FLOAT}, extra=self.required("Enter"), outputs=[FLOAT])[0]
            self.op("MatMul", first=enter, types={"T": FLOAT})


def function(name, kind):
    """A function that returns its argument."""
    arg = lambda n: field(1, n) + field(3, kind)
    signature = field(1, name) + field(2, arg("x")) + field(3, arg("y"))
    body = field(1, "i") + field(2, "Identity") + field(3, "x") + Builder.attr("T", field(6, kind))
    ret = field(1, "y") + field(2, "i:output:0")
    return field(1, field(1, signature) + field(3, body) + field(4, ret))


def random_graph(seed):
    builder = Builder(seed)
    for _ in range(builder.random.randint(1, 3)):
        builder.node("Placeholder", [], {"dtype": FLOAT}, outputs=[FLOAT])
    for _ in range(builder.random.randint(1, 10)):
        kind = builder.random.random()
        if kind < 0.55:
            builder.chain()
        elif kind < 0.7:
            builder.loop()
        elif kind < 0.85:
            builder.tensor_list()
        else:
            builder.odd()
    fetches = builder.random.sample(builder.fetchable, min(len(builder.fetchable), builder.random.randint(1, 4)))
    has_output = {tensor.partition(":")[0] for tensors in builder.values.values() for tensor in tensors}
    fetches = [name for name in fetches if name in has_output] or [builder.fetchable[0]]
    library = function("float_passes", FLOAT) + function("list_passes", VARIANT)
    order = list(builder.nodes)
    if builder.random.random() < 0.3:
        builder.random.shuffle(order)  # the nodes of a GraphDef may be in any order
    return b"".join(field(1, node) for node in order) + field(2, library) + field(4, field(1, 440)), fetches
