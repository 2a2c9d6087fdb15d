# SPDX-License-Identifier: Apache-2.0
"""Models, targets and samples of dev bench --int8. All of it is data.

A target is a speed-up of our int8 file over ONNX Runtime: over its fp32, and over the fastest file that its own quantizer makes. The limit
of the first is what oneDNN's primitives alone reach on the reference machine (scenarios.py).
"""

import dataclasses

from scenarios import MODELS, Model, Scenario, image

OVER_ORT_INT8 = 1.1  # target: speed-up over the fastest file of ONNX Runtime's quantizer
LEAST_SQNR_DB = 10.0  # of networks with random weights, against ONNX Runtime fp32: below that the outputs are wrong
MOST_DIFFERENT_CLASSES = 0.01  # of the samples: our file in ONNX Runtime against our engine
INT8_SHARE = 0.9  # of the MACs

IMAGENET = "models/imagenet/"


@dataclasses.dataclass(frozen=True)
class SpeedTarget:
    fp32: float  # multiple of ONNX Runtime fp32
    limit: float | None = None


@dataclasses.dataclass(frozen=True)
class Net:
    """`calibration`, `evaluation`: arguments of make_npz.py in the folder of shared data; None: random numbers."""
    model: Model
    speed: SpeedTarget | None = None
    calibration: tuple | None = None
    evaluation: tuple | None = None
    top1_drop: float = 0.0  # share of the evaluation samples that int8 may predict worse than fp32
    beat_quantizer: bool = True  # agreement with fp32 must reach the best of the three methods of ONNX Runtime's quantizer
    quant_formats: tuple = ("qdq", "qoperator")

    @property
    def name(self):
        return self.model.name

    @property
    def trained(self):
        return self.evaluation is not None

    @property
    def scenario(self):
        return Scenario(self.model)


def imagenet(name, of, file, input_name, speed):
    """Calibrated on 50 images, evaluated on 100 others, of which one may be lost."""
    model = dataclasses.replace(MODELS[of], name=name, file=IMAGENET + file, inputs=image(name=input_name, first=1))
    return Net(model, speed, (name, "--input", input_name, "--set", "images_calibration"), (name, "--input", input_name), top1_drop=0.01)


def random(name, speed, **more):
    return Net(MODELS[name], speed, **more)


MNIST = Model("mnist_cnn", image(), 30, None, {}, file="models/mnist/mnist_cnn.onnx")
DIGITS = ("mnist", "--input", "Input3", "--shape", "1,28,28", "--scale", "1")

NETS = {n.name: n for n in [
    random("resnet50", SpeedTarget(3.7, 4.04)),
    random("vgg16", SpeedTarget(3.6)),
    random("bert_base", SpeedTarget(3.8, 4.25)),
    imagenet("mobilenet_v2", "mobilenet_v2", "mobilenet_v2_fp32_dequantized.onnx", "input", SpeedTarget(2.5, 2.57)),
    imagenet("squeezenet", "squeezenet", "squeezenet_fp32_from_fp16.onnx", "data_0", SpeedTarget(3.1, 3.4)),
    imagenet("tiny_darknet", "tiny_darknet", "tiny_darknet_imagenet.onnx", "image", SpeedTarget(3.1, 3.1)),
    random("shufflenet_v2_x1_0", SpeedTarget(3.2)),
    random("lstm", SpeedTarget(3.2), quant_formats=("qdq", "qoperator", "dynamic")),  # only "dynamic" quantizes an LSTM
    Net(MNIST, None, (*DIGITS, "--first", "500"), (*DIGITS, "--skip", "5000", "--first", "5000"), top1_drop=0.002, beat_quantizer=False),
]}
TYPES = ("u8", "s8")  # of activations
METHODS = ("minmax", "entropy", "percentile")


def speed_nets(names):
    return [n for n in NETS.values() if n.speed and (not names or n.name in names)]


def trained_nets(names):
    return [n for n in NETS.values() if n.trained and (not names or n.name in names)]


def candidates(net):
    """(quant format, activation type) of each file of ONNX Runtime's quantizer that is timed."""
    return [(quant_format, t) for quant_format in net.quant_formats for t in (TYPES if quant_format != "dynamic" else ("u8",))]
