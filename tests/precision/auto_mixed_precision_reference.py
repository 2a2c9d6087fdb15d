# SPDX-License-Identifier: Apache-2.0
"""An independent implementation of TensorFlow's auto_mixed_precision for bfloat16 on CPUs, written from its description. It shares
no code with Halftone: it has its own reader of GraphDefs (wire.py), op facts (op_facts.py, or a registry as text) and lists. It
plans precisions and does not change graphs.

    plan = Planner(parse_graphdef(data), registry, fetches).run()
    plan.rows       [(node, op, attribute, index, list, "bf16" or "f32"), ...]: every float attribute, in the file's order
    plan.summary    TensorFlow's sentence
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from wire import fields, varints  # noqa: E402

FLOAT, HALF, BFLOAT16, VARIANT, RESOURCE = 1, 19, 14, 21, 20
TYPE_NUMBERS = {"f": 1, "d": 2, "i": 3, "u": 4, "w": 5, "y": 6, "s": 7, "c": 8, "l": 9, "o": 10, "h": 19, "b": 14, "r": 20, "v": 21,
                "q": 11, "Q": 12, "I": 13, "W": 17, "U": 22, "L": 23, "z": 15, "Z": 16, "C": 18}
QUANTIZED = {11, 12, 13, 15, 16}

ALLOW = set("""Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2
DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput MatMul FusedPadConv2D BatchMatMul
BatchMatMulV2 Einsum""".split())
INFER = set("""Add AddN AddV2 AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad BiasAdd BiasAddGrad BiasAddV1 Erf Erfc FusedBatchNormV2
FusedBatchNormGradV2 FusedBatchNormV3 FusedBatchNormGradV3 LeakyRelu LeakyReluGrad Mul Sub Elu EluGrad FloorDiv _FusedBatchNormEx
Inv Log Log1p LogSoftmax Mean Prod RealDiv Reciprocal Rsqrt Selu SeluGrad Sigmoid SigmoidGrad Softmax Softplus SoftplusGrad
Softsign SoftsignGrad Sqrt Square SquaredDifference Sum Tanh TanhGrad""".split())
DENY = set("Exp Expm1 L2Loss Pow SaveV2 SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits".split())
CLEAR = set("""Abs ArgMax ArgMin BatchToSpace BatchToSpaceND BroadcastTo Ceil CheckNumerics ClipByValue Concat ConcatV2 DepthToSpace
DynamicPartition DynamicStitch EnsureShape Enter Equal Exit ExpandDims Fill Floor Gather GatherNd GatherV2 Greater GreaterEqual
Identity IdentityN IsFinite IsInf IsNan Less LessEqual Max Maximum MaxPool MaxPool3D MaxPool3DGrad MaxPoolGrad MaxPoolGradGrad
MaxPoolGradGradV2 MaxPoolGradV2 MaxPoolV2 Merge Min Minimum MirrorPad MirrorPadGrad Neg NextIteration NotEqual OnesLike Pack Pad
PadV2 PreventGradient Rank Relu Relu6 Relu6Grad ReluGrad Reshape ResizeNearestNeighbor ResizeNearestNeighborGrad ResizeBilinear
Reverse ReverseSequence ReverseV2 Round ScatterNd Select SelectV2 Shape ShapeN Sign Slice Snapshot SpaceToBatch SpaceToBatchND
SpaceToDepth Split SplitV Squeeze StatelessWhile StopGradient StridedSlice StridedSliceGrad Switch Tile TopK TopKV2 Transpose Where
While Unpack ZerosLike TensorListConcat TensorListConcatLists TensorListConcatV2 TensorListGather TensorListGetItem
TensorListPopBack TensorListPushBack TensorListPushBackBatch TensorListFromTensor TensorListScatter TensorListScatterV2
TensorListScatterIntoExistingList TensorListSetItem TensorListSplit TensorListStack""".split())
LATE = set("FusedPadConv2D Erf Erfc Inv Mean Rsqrt Square SquaredDifference Sum IdentityN ResizeBilinear ScatterNd StatelessWhile While".split())


def lists_of(variant):
    """(allow, infer, deny, clear) of "tensorflow" or "tensorflow-2.4"."""
    if variant == "tensorflow":
        return set(ALLOW), set(INFER), set(DENY), set(CLEAR)
    return ALLOW - LATE, INFER - LATE, DENY | {"Mean", "Sum"}, CLEAR - LATE


# --- Reading GraphDefs: only what the planner needs.

def packed(wire, value):
    return [value] if wire == 0 else list(varints(value))


class Node:
    def __init__(self):
        self.name = self.op = self.device = ""
        self.inputs = []  # (name, port), data only
        self.types = {}   # attribute -> number, or list of numbers
        self.ints = {}


def parse_attr(data, node):
    key, value = "", b""
    for number, _, content in fields(data):
        if number == 1:
            key = content.decode()
        elif number == 2:
            value = content
    for number, wire, content in fields(value):
        if number == 6:
            node.types[key] = content
        elif number == 3:
            node.ints[key] = content - (1 << 64 if content >> 63 else 0)
        elif number == 1:
            types = [t for n, w, c in fields(content) if n == 6 for t in packed(w, c)]
            if types:
                node.types[key] = types


def parse_node(data):
    node = Node()
    for number, _, content in fields(data):
        if number == 1:
            node.name = content.decode()
        elif number == 2:
            node.op = content.decode()
        elif number == 3:
            text = content.decode()
            if not text.startswith("^"):
                name, _, port = text.partition(":")
                node.inputs.append((name, int(port or 0)))
        elif number == 4:
            node.device = content.decode()
        elif number == 5:
            parse_attr(content, node)
    return node


class OpFacts:
    """inputs, outputs: [(number attribute, type attribute, list attribute, fixed type)]; types: name -> (is list, default, allowed)
    with allowed None for any."""

    def __init__(self):
        self.inputs, self.outputs, self.types = [], [], {}


def parse_function(data):
    name, facts = "", OpFacts()
    for number, _, content in fields(data):
        if number != 1:
            continue
        for n, _, c in fields(content):
            if n == 1:
                name = c.decode()
            elif n in (2, 3):
                arg = {3: 0, 4: b"", 5: b"", 6: b""}
                arg.update({k: v for k, _, v in fields(c)})
                (facts.inputs if n == 2 else facts.outputs).append(
                    (arg[5].decode(), arg[4].decode(), arg[6].decode(), arg[3]))
            elif n == 4:
                attr = {k: v for k, _, v in fields(c)}
                kind = attr.get(2, b"").decode()
                if kind in ("type", "list(type)"):
                    facts.types[attr[1].decode()] = (kind != "type", None, None)
    return name, facts


class GraphDef:
    def __init__(self):
        self.nodes, self.functions = [], {}


def parse_graphdef(data):
    graph = GraphDef()
    for number, _, content in fields(data):
        if number == 1:
            graph.nodes.append(parse_node(content))
        elif number == 2:
            for n, _, c in fields(content):
                if n == 1:
                    name, facts = parse_function(c)
                    graph.functions[name] = facts
    return graph


def parse_registry(text):
    """TensorFlow's registry in text form -> {op: OpFacts}."""
    numbers = {"FLOAT": 1, "DOUBLE": 2, "INT32": 3, "UINT8": 4, "INT16": 5, "INT8": 6, "STRING": 7, "COMPLEX64": 8, "INT64": 9,
               "BOOL": 10, "QINT8": 11, "QUINT8": 12, "QINT32": 13, "BFLOAT16": 14, "QINT16": 15, "QUINT16": 16, "UINT16": 17,
               "COMPLEX128": 18, "HALF": 19, "RESOURCE": 20, "VARIANT": 21, "UINT32": 22, "UINT64": 23}
    number_of = lambda word: numbers[word[3:]]
    lines = iter(text.splitlines())

    def message():
        result = []
        for line in lines:
            line = line.strip()
            if line == "}":
                break
            if line.endswith("{"):
                result.append((line[:-1].strip(), message()))
            elif line:
                key, _, value = line.partition(": ")
                result.append((key, value.strip('"')))
        return result

    registry = {}
    for key, op in message():
        if key != "op":
            continue
        facts, name = OpFacts(), ""
        for k, v in op:
            if k == "name":
                name = v
            elif k in ("input_arg", "output_arg"):
                arg = dict((a, b) for a, b in v if isinstance(b, str))
                fixed = number_of(arg["type"]) if "type" in arg else 0
                port = (arg.get("number_attr", ""), arg.get("type_attr", ""), arg.get("type_list_attr", ""), fixed)
                (facts.inputs if k == "input_arg" else facts.outputs).append(port)
            elif k == "attr":
                attr = dict(v)
                if attr["type"] not in ("type", "list(type)"):
                    continue
                default = dict(attr["default_value"]).get("type") if "default_value" in attr else None
                allowed = None
                if "allowed_values" in attr:
                    allowed = {number_of(b) for a, b in dict(attr["allowed_values"])["list"] if a == "type"}
                facts.types[attr["name"]] = (attr["type"] != "type", default and number_of(default), allowed)
        registry[name] = facts
    return registry


# --- The planner. A type id is (attribute, index, fixed type), a vertex a (node index, type id).

READERS = {"TensorListConcat", "TensorListConcatV2", "TensorListGather", "TensorListGetItem", "TensorListPopBack", "TensorListStack"}
WRITERS = {"TensorListFromTensor", "TensorListPushBack", "TensorListPushBackBatch", "TensorListScatter", "TensorListScatterV2",
           "TensorListScatterIntoExistingList", "TensorListSetItem", "TensorListSplit"}
BORDERS = {"_Arg", "_Retval", "OptionalFromValue", "OptionalGetValue", "PartitionedCall", "Placeholder", "StatefulPartitionedCall"}
VARIABLES = {"AutoReloadVariable", "Variable", "VariableV2", "VarHandleOp", "ReadVariableOp", "_VarHandlesOp", "_ReadVariablesOp"}
DEVICE = re.compile(r"(?:/job:(?:\*|[A-Za-z]\w*)|/replica:(?:\*|\d+)|/task:(?:\*|\d+)|/device:(?P<type>\*|[A-Za-z]\w*)(?::(?P<id>\*|\d+))?"
                    r"|/(?P<old>cpu|gpu|CPU|GPU):(?P<oldid>\*|\d+))", re.ASCII)


def on_cpu(device):
    if not device:
        return True
    kind, number, at = None, None, 0
    while at < len(device):
        found = DEVICE.match(device, at)
        if not found:
            return False
        at = found.end()
        if found["type"]:
            kind, number = (None if found["type"] == "*" else found["type"]), found["id"]
        if found["old"]:
            kind, number = found["old"].upper(), found["oldid"]
    return bool(kind) and number not in (None, "*") and "cpu" in kind.lower()


class Planner:
    def __init__(self, graph, registry, fetches, variant="tensorflow", infer_after=False, edits=None, target=BFLOAT16):
        """`fetches`: names of nodes; `edits`: [(list name, ops to add, ops to remove)]."""
        self.graph, self.registry, self.infer_after, self.target = graph, registry, infer_after, target
        self.lists = dict(zip(("allow", "infer", "deny", "clear"), lists_of(variant)))
        for name, add, remove in edits or []:
            self.lists[name] |= set(add)
            self.lists[name] -= set(remove)
        feeds = {n.name for n in graph.nodes if n.op == "Placeholder"}
        self.preserved = set(fetches) | feeds

    def run(self):
        self.prepare()
        self.view()
        self.allow, self.deny = set(), set()
        clusters = self.tensor_list_clusters()
        for cluster in clusters:
            self.tie_through_lists(cluster)
        for v in self.vertices:
            if self.processed[v[0]] and self.on("allow", v):
                self.allow.add(v)
        if not self.allow:
            self.deny = set()
            return self.result("No allowlist ops found, nothing to do")
        self.propagate_deny()
        for cluster in clusters:
            self.force_one_type(cluster)
        self.between_allow()
        if self.infer_after:
            self.follow_allow()
        self.through_clear()
        for v in self.vertices:
            if v in self.allow and self.on("allow", v) and (not self.may_be_target(v) or self.is_quantized(v)):
                self.allow.remove(v)
        for cluster in clusters:
            self.force_one_type(cluster)
        self.loops()
        self.casts()
        return self.result(None)

    # Preparation.

    def prepare(self):
        self.nodes = self.graph.nodes
        self.processed = [n.name not in self.preserved and on_cpu(n.device) for n in self.nodes]
        self.ops, self.types = [], []
        for node, processed in zip(self.nodes, self.processed):
            op, types = node.op, dict(node.types)
            if processed and op in ("FusedBatchNorm", "FusedBatchNormGrad"):
                op += "V2"
                types["U"] = FLOAT
            facts = self.facts(op)
            for name, (is_list, default, _) in (facts.types if facts else {}).items():
                if name not in types and default is not None and not is_list:
                    types[name] = default
            self.ops.append(op)
            self.types.append(types)

    def facts(self, op):
        return self.registry.get(op) or self.graph.functions.get(op)

    def ports(self, index, args):
        result = []
        for number, attribute, list_attribute, fixed in args:
            if list_attribute:
                for k in range(len(self.types[index].get(list_attribute, []))):
                    result.append((list_attribute, k, 0))
                continue
            repeat = self.nodes[index].ints.get(number, 1) if number else 1
            result += [(attribute, -1, 0) if attribute else ("", -1, fixed)] * repeat
        return result

    def view(self):
        by_name = {n.name: i for i, n in enumerate(self.nodes)}
        self.inputs, self.outputs, self.ids = [], [], []
        for i, node in enumerate(self.nodes):
            facts = self.facts(self.ops[i])
            ids = set()
            if facts:
                ins, outs = self.ports(i, facts.inputs), self.ports(i, facts.outputs)
                for name, value in self.types[i].items():
                    if name.startswith("_") or name not in facts.types:
                        continue
                    ids |= {(name, k, 0) for k in range(len(value))} if isinstance(value, list) else {(name, -1, 0)}
            else:  # an op without facts: TensorFlow knows its registration, we only its attributes
                ins, outs = [("", -1, -1)] * len(node.inputs), [("", -1, -1)] * 256
                for name, value in self.types[i].items():
                    if not name.startswith("_"):
                        ids |= {(name, k, 0) for k in range(len(value))} if isinstance(value, list) else {(name, -1, 0)}
            self.inputs.append(ins)
            self.outputs.append(outs)
            self.ids.append(sorted(ids | set(ins) | set(outs)))
        self.vertices = [(i, t) for i, ids in enumerate(self.ids) for t in ids]
        self.fanin = {v: set() for v in self.vertices}
        self.fanout = {v: set() for v in self.vertices}
        self.readers = {}  # (node, port) -> [(node, port)]
        self.sources = [[(by_name[name], port) for name, port in n.inputs] for n in self.nodes]
        for i, sources in enumerate(self.sources):
            for k, (source, port) in enumerate(sources):
                a, b = (source, self.outputs[source][port]), (i, self.inputs[i][k])
                self.fanout[a].add(b)
                self.fanin[b].add(a)
                self.readers.setdefault((source, port), []).append((i, k))

    # Facts of vertices.

    def on(self, name, v):
        return self.ops[v[0]] in self.lists[name]

    def data_type(self, v):
        attribute, index, fixed = v[1]
        if not attribute:
            return fixed
        value = self.types[v[0]].get(attribute)
        return value[index] if isinstance(value, list) else value

    def is_float(self, v):
        return self.data_type(v) == FLOAT

    def may_be_target(self, v):
        attribute, _, fixed = v[1]
        if not attribute:
            return fixed == self.target
        facts = self.registry.get(self.ops[v[0]]) or self.graph.functions.get(self.ops[v[0]])
        if facts is None or attribute not in facts.types:
            return False
        allowed = facts.types[attribute][2]
        return allowed is None or self.target in allowed

    def is_quantized(self, v):
        values = self.types[v[0]].values()
        return any(t in QUANTIZED for value in values for t in (value if isinstance(value, list) else [value]))

    def reads_variable(self, i):
        op = self.ops[i]
        if op not in ("Identity", "Enter") or not self.sources[i]:
            return False
        before = self.sources[i][0][0]
        if op == "Identity":
            return self.ops[before] in ("Variable", "VariableV2")
        return self.reads_variable(before)

    def walk(self, root, directions, enter, visit):
        """Depth-first search in pre-order from the root, through vertices for which `enter` is true."""
        stack, done = [root], set()
        while stack:
            v = stack.pop()
            if v in done or (v != root and not enter(v)):
                continue
            done.add(v)
            visit(v)
            for edges in directions:
                stack.extend(edges[v])

    # Tensor lists.

    def list_type(self, i):
        if "TensorList" not in self.ops[i]:
            return None
        for t in self.ids[i]:
            if t[0] and t[1] < 0 and self.is_float((i, t)):
                return (i, t)
        return None

    def tensor_list_clusters(self):
        clusters = []
        for root in self.vertices:
            i = root[0]
            if not self.processed[i] or root[1] != ("", -1, VARIANT) or not self.list_type(i):
                continue
            cluster, safe = {i}, [True]

            def visit(v):
                if self.list_type(v[0]):
                    cluster.add(v[0])
                    safe[0] &= self.processed[v[0]]
                elif self.ops[v[0]] in BORDERS or self.ops[v[0]] in self.graph.functions:
                    safe[0] = False

            self.walk(root, (self.fanin, self.fanout), lambda v: True, visit)
            if not safe[0]:
                self.deny.add(self.list_type(i))
            clusters.append(cluster)
        return clusters

    def tie_through_lists(self, cluster):
        extra = []
        for i in cluster:
            if self.ops[i] not in READERS or not self.processed[i]:
                continue

            def visit(v, reader=i):
                if self.ops[v[0]] in WRITERS and self.list_type(v[0]):
                    extra.append((self.list_type(v[0]), self.list_type(reader)))

            self.walk((i, ("", -1, VARIANT)), (self.fanin,), lambda v: self.processed[v[0]], visit)
        for a, b in extra:
            self.fanout[a].add(b)
            self.fanin[b].add(a)

    def force_one_type(self, cluster):
        types = [self.list_type(i) for i in cluster]
        if any(t in self.deny for t in types):
            self.deny.update(types)
            self.allow.difference_update(types)
        elif any(t in self.allow for t in types):
            self.allow.update(types)

    # The passes.

    def propagate_deny(self):
        upstream = set()
        for root in self.vertices:
            if self.on("deny", root) or self.on("infer", root):
                self.walk(root, (self.fanin,), lambda v: v not in upstream and self.on("clear", v), upstream.add)
        for root in self.vertices:
            if root not in self.deny and self.on("deny", root):
                self.walk(root, (self.fanout,), lambda v: v not in self.deny and v in upstream, self.deny.add)

    def enterable(self, v):
        return v not in self.deny and self.processed[v[0]] and self.is_float(v) and self.may_be_target(v)

    def between_allow(self):
        downstream, upstream = set(), set()
        roots = [v for v in self.vertices if self.processed[v[0]] and self.on("allow", v)]
        for root in roots:
            self.walk(root, (self.fanout,),
                      lambda v: v not in downstream and not self.on("allow", v) and self.enterable(v) and
                      (self.on("clear", v) or self.on("infer", v)), downstream.add)
        for root in roots:
            if root not in upstream:
                self.walk(root, (self.fanin,), lambda v: v not in upstream and v in downstream, upstream.add)
        self.allow |= upstream

    def follow_allow(self):
        for v in self.vertices:
            if not self.enterable(v) or v in self.allow or not self.on("infer", v):
                continue
            if not self.fanin[v] & self.deny and self.fanin[v] & self.allow:
                self.allow.add(v)

    def through_clear(self):
        seen = set()
        for root in self.vertices:
            if self.processed[root[0]] and root not in seen and root in self.allow:
                new = []
                self.walk(root, (self.fanin, self.fanout),
                          lambda v: v not in self.allow and self.enterable(v) and self.on("clear", v) and
                          not self.reads_variable(v[0]), lambda v: (seen.add(v), new.append(v)))
                self.allow.update(new)

    def loops(self):
        for i, op in enumerate(self.ops):
            if op != "NextIteration":
                continue
            merges = [(r, ("T", -1, 0)) for r, _ in self.readers.get((i, 0), []) if self.ops[r] == "Merge"]
            if all(m in self.allow for m in merges):
                self.allow.add((i, ("T", -1, 0)))
            else:
                self.allow.difference_update(merges + [(i, ("T", -1, 0))])

    def casts(self):
        for i, op in enumerate(self.ops):
            readers = self.readers.get((i, 0), [])
            if op == "Cast" and self.is_float((i, ("DstT", -1, 0))) and readers:
                if all((r, self.inputs[r][k]) in self.allow for r, k in readers):
                    self.allow.add((i, ("DstT", -1, 0)))

    # The result.

    def result(self, summary):
        self.rows, changed, casts = [], 0, 0
        for i, t in self.vertices:
            v = (i, t)
            if not self.is_float(v):
                continue
            marked = v in self.allow
            if t[0]:
                on = [name for name in self.lists if self.on(name, v)]
                self.rows.append((self.nodes[i].name, self.ops[i], t[0], t[1], on[0] if on else "", "bf16" if marked else "f32"))
                changed += marked
            free = self.ops[i] == "Const" or self.ops[i] in VARIABLES or self.reads_variable(i)
            for port, out in enumerate(self.outputs[i]):
                readers = self.readers.get((i, port), [])
                if out == t and not marked and not free and any((r, self.inputs[r][k]) in self.allow for r, k in readers):
                    casts += 1
        self.summary = summary or (f"Converted {changed}/{len(self.nodes)} nodes to bfloat16 precision using {casts} cast(s) to "
                                   "bfloat16 (excluding Const and Variable casts)")
        return self
