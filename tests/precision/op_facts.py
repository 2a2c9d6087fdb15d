# SPDX-License-Identifier: Apache-2.0
"""Types of the ops that random_graphs.py uses, from TensorFlow's documentation. One op per line:

    Name | inputs | outputs | types | other attributes that the op requires

Ports: T, N*T (N times, an integer attribute), T[] (one per type of the list), or a dot and the letter of a fixed type (.i is
int32). Types: name=letters of the allowed types, * for any, [] after the name for a list, @x for the default x. Letters: f
float, h half, b bfloat16, d double, i int32, l int64, u uint8, y int8, w int16, o bool, s string, c complex64, C complex128, r
resource, v variant, q qint8, Q quint8, I qint32, W uint16, U uint32, L uint64.
"""
from auto_mixed_precision_reference import TYPE_NUMBERS, OpFacts

REAL, WIDE = "hbfd", "hbfdcC"
NUMBERS = "bhfduywlicCqQIWUL"  # numbertype
REALS = "bhfduywilWUL"         # realnumbertype

OPS = f"""
Const | | dtype | dtype=* | value
Placeholder | | dtype | dtype=* |
VariableV2 | | dtype | dtype=* | shape=scalar
VarHandleOp | | .r | dtype=* | shape=scalar
ReadVariableOp | .r | dtype | dtype=* |
NoOp | | | |
Cast | SrcT | DstT | SrcT=* DstT=* |
Conv2D | T T | T | T=hbfdi | strides=ints:1,1,1,1 padding=s:SAME
Conv2DBackpropFilter | T .i T | T | T=hbfd | strides=ints:1,1,1,1 padding=s:SAME
Conv2DBackpropInput | .i T T | T | T=hbfdi | strides=ints:1,1,1,1 padding=s:SAME
Conv3D | T T | T | T=hbfd | strides=ints:1,1,1,1,1 padding=s:SAME
Conv3DBackpropInputV2 | Tshape T T | T | T=hbfd Tshape=il@i | strides=ints:1,1,1,1,1 padding=s:SAME
DepthwiseConv2dNative | T T | T | T=hbfd | strides=ints:1,1,1,1 padding=s:SAME
FusedPadConv2D | T .i T | T | T=hfd | mode=s:REFLECT strides=ints:1,1,1,1 padding=s:SAME
MatMul | T T | T | T=bhfdilcC |
BatchMatMul | T T | T | T=bhfdilcC |
BatchMatMulV2 | T T | T | T=bhfdilcC |
Einsum | N*T | T | T=* | equation=s:ij,jk->ik
Add | T T | T | T=bhfduywilcCs |
AddN | N*T | T | T={NUMBERS}v |
AddV2 | T T | T | T=bhfduywilcC |
AvgPool | T | T | T=hbfd | ksize=ints:1,2,2,1 strides=ints:1,2,2,1 padding=s:SAME
BiasAdd | T T | T | T={NUMBERS} |
BiasAddGrad | T | T | T={NUMBERS} |
Erf | T | T | T=bhfd |
FusedBatchNorm | T T T T T | T T T T T | T=f |
FusedBatchNormV2 | T U U U U | T U U U U | T=hbf U=f |
FusedBatchNormV3 | T U U U U | T U U U U U | T=hbf U=f |
FusedBatchNormGrad | T T T T T | T T T T T | T=f |
FusedBatchNormGradV2 | T T .f U U | T U U U U | T=hbf U=f |
LeakyRelu | T | T | T=hbfd@f |
Mul | T T | T | T=bhfduyWwilcC |
Sub | T T | T | T=bhfduyWwilcCUL |
Elu | T | T | T=hbfd |
FloorDiv | T T | T | T=bhfduyWwilcC |
Inv | T | T | T=bhfdywilcC |
Log | T | T | T=bhfdcC |
LogSoftmax | T | T | T=hbfd |
Mean | T Tidx | T | T={NUMBERS} Tidx=il@i |
Sum | T Tidx | T | T={NUMBERS} Tidx=il@i |
Rsqrt | T | T | T=bhfdcC |
Sigmoid | T | T | T=bhfdcC |
Softmax | T | T | T=hbfd |
SoftplusGrad | T T | T | T=hbfd |
Sqrt | T | T | T=bhfdcC |
Square | T | T | T=bhfdywilcC |
SquaredDifference | T T | T | T=bhfdilcC |
Tanh | T | T | T=bhfdcC |
TanhGrad | T T | T | T=bhfdcC |
Exp | T | T | T=bhfdcC |
Expm1 | T | T | T=bhfdcC |
L2Loss | T | T | T=hbfd |
Pow | T T | T | T=bfhdilcC |
SaveV2 | .s .s .s dtypes[] | | dtypes[]=* |
SoftmaxCrossEntropyWithLogits | T T | T T | T=hbfd |
SparseSoftmaxCrossEntropyWithLogits | T Tlabels | T T | T=hbfd Tlabels=il@l |
Abs | T | T | T=bhfdywil |
ArgMax | T Tidx | output_type | T={NUMBERS} Tidx=il@i output_type=il@l |
BroadcastTo | T Tidx | T | T=* Tidx=il@i |
ClipByValue | T T T | T | T={NUMBERS} |
Concat | .i N*T | T | T=* |
ConcatV2 | N*T Tidx | T | T=* Tidx=il@i |
DepthToSpace | T | T | T=* | block_size=i:2
DynamicPartition | T .i | num_partitions*T | T=* |
DynamicStitch | N*.i N*T | T | T=* |
Equal | T T | .o | T=bhfdWUuLwil*sqcoQIC |
ExpandDims | T Tdim | T | T=* Tdim=il@i |
Fill | index_type T | T | T=* index_type=il@i |
Floor | T | T | T=bhfd |
Gather | Tparams Tindices | Tparams | Tparams=* Tindices=il |
GatherNd | Tparams Tindices | Tparams | Tparams=* Tindices=il |
GatherV2 | Tparams Tindices Taxis | Tparams | Tparams=* Tindices=il Taxis=il |
Greater | T T | .o | T={REALS} |
Identity | T | T | T=* |
IdentityN | T[] | T[] | T[]=* |
IsNan | T | .o | T=bhfd |
Max | T Tidx | T | T={NUMBERS} Tidx=il@i |
MaxPool | T | T | T=hbfdilu*yWwq@f | ksize=ints:1,2,2,1 strides=ints:1,2,2,1 padding=s:SAME
Maximum | T T | T | T=bhfduWwil |
MirrorPad | T Tpaddings | T | T=* Tpaddings=il@i | mode=s:REFLECT
Neg | T | T | T=bhfdywilcC |
OneHot | TI .i T T | T | T=* TI=uil@l |
OnesLike | T | T | T=bhfdyuwWilcCo |
Pack | N*T | T | T=* |
Pad | T Tpaddings | T | T=* Tpaddings=il@i |
PreventGradient | T | T | T=* |
Rank | T | .i | T=* |
Relu | T | T | T={REALS}q |
Relu6 | T | T | T={REALS} |
ReluGrad | T T | T | T={REALS} |
Reshape | T Tshape | T | T=* Tshape=il@i |
ResizeBilinear | T .i | .f | T=yuwWilbhfd |
ResizeNearestNeighbor | T .i | T | T=yuwWilhfd |
Reverse | T .o | T | T=uyWwilohfdcCs |
Round | T | T | T=bhfdywilcC |
ScatterNd | Tindices T Tindices | T | T=* Tindices=il |
Select | .o T T | T | T=* |
SelectV2 | .o T T | T | T=* |
Shape | T | out_type | T=* out_type=il@i |
ShapeN | N*T | N*out_type | T=* out_type=il@i |
Slice | T Index Index | T | T=* Index=il |
Snapshot | T | T | T=* |
Split | .i T | num_split*T | T=* |
Squeeze | T | T | T=* |
StatelessWhile | T[] | T[] | T[]=* | cond=func body=func
While | T[] | T[] | T[]=* | cond=func body=func
StopGradient | T | T | T=* |
StridedSlice | T Index Index Index | T | T=* Index=il |
Tile | T Tmultiples | T | T=* Tmultiples=il@i |
TopKV2 | T .i | T .i | T={REALS} |
Transpose | T Tperm | T | T=* Tperm=il@i |
Unpack | T | num*T | T=* |
Where | T | .l | T={NUMBERS}o@o |
ZerosLike | T | T | T=* |
Div | T T | T | T=bhfduyWwilcC |
RandomUniform | T | dtype | dtype=hbfd T=il |
Bincount | .i .i T | T | T=ilfd |
Enter | T | T | T=* | frame_name=s:loop
Exit | T | T | T=* |
Merge | N*T | T .i | T=* |
NextIteration | T | T | T=* |
Switch | T .o | T T | T=* |
LoopCond | .o | .o | |
TensorListReserve | shape_type .i | .v | element_dtype=* shape_type=il |
EmptyTensorList | shape_type .i | .v | element_dtype=* shape_type=il |
TensorListFromTensor | T_ shape_type | .v | T_=* shape_type=il |
TensorListSetItem | .v .i T_ | .v | T_=* |
TensorListGetItem | .v .i .i | T_ | T_=* |
TensorListStack | .v .i | T_ | T_=* |
TensorListPushBack | .v T_ | .v | T_=* |
TensorListPopBack | .v .i | .v T_ | T_=* |
TensorListConcatLists | .v .v | .v | T_=* |
TensorListGather | .v .i .i | T_ | T_=* |
TensorListScatter | T_ .i shape_type | .v | T_=* shape_type=il |
TensorListSplit | T_ shape_type .l | .v | T_=* shape_type=il |
TensorListLength | .v | .i | |
PartitionedCall | Tin[] | Tout[] | Tin[]=* Tout[]=* | f=func
""".replace("T_", "element_dtype")


def _args(text):
    args = []
    for item in text.split():
        number, _, item = item.rpartition("*")
        is_list = item.endswith("[]")
        fixed = TYPE_NUMBERS[item[1:]] if item.startswith(".") else 0
        name = "" if fixed else item.removesuffix("[]")
        args.append((number, "" if is_list else name, name if is_list else "", fixed))
    return args


def _parse():
    registry, required = {}, {}
    for line in OPS.strip().splitlines():
        name, inputs, outputs, types, attributes = (part.strip() for part in line.split("|"))
        facts = OpFacts()
        facts.inputs, facts.outputs = _args(inputs), _args(outputs)
        for item in types.split():
            attribute, _, letters = item.partition("=")
            letters, _, default = letters.partition("@")
            allowed = None if letters == "*" else {TYPE_NUMBERS[c] for c in letters if c != "*"}
            facts.types[attribute.removesuffix("[]")] = (attribute.endswith("[]"), TYPE_NUMBERS[default] if default else None, allowed)
        registry[name] = facts
        required[name] = dict(item.partition("=")[::2] for item in attributes.split())
    return registry, required


REGISTRY, REQUIRED = _parse()


def differences(registry):
    """The differences to a registry in ports, defaults, and in which types may be float, bfloat16 or half."""
    found = []
    for name, facts in REGISTRY.items():
        other = registry.get(name)
        if other is None:
            found.append(f"{name}: not in the registry")
            continue
        for what in ("inputs", "outputs"):
            if getattr(facts, what) != getattr(other, what):
                found.append(f"{name}: {what} are {getattr(facts, what)}, the registry says {getattr(other, what)}")
        if set(facts.types) != set(other.types):
            found.append(f"{name}: types {sorted(facts.types)}, the registry says {sorted(other.types)}")
            continue
        for attribute, (is_list, default, allowed) in facts.types.items():
            theirs = other.types[attribute]
            if is_list != theirs[0] or default != theirs[1]:
                found.append(f"{name}.{attribute}: list and default {is_list, default}, the registry says {theirs[:2]}")
            for number in (1, 14, 19):
                if (allowed is None or number in allowed) != (theirs[2] is None or number in theirs[2]):
                    found.append(f"{name}.{attribute}: only one of the two allows type {number}")
    return found
