"""What dev bench --int8 measures and asks for: models, bars, samples. All of it is data.

A bar is the speed of our int8 file as a multiple: of ONNX Runtime running the model in fp32, and of ONNX Runtime running the fastest file
that its own quantizer makes. The limit beside the first is what oneDNN's primitives alone allow on the reference machine (scenarios.py).
"""

import dataclasses

from scenarios import MODELS, Model, Scenario, image

OVER_OWN_QUANTIZER = 1.1
LEAST_SQNR_DB = 10.0  # of networks with random weights, against ONNX Runtime fp32: below that the answer is another one
MOST_CLASSES_ELSEWHERE = 0.01  # of the samples: our file in ONNX Runtime against our engine
INT8_SHARE = 0.9  # of the multiply-adds

IMAGENET = "models/imagenet/"


@dataclasses.dataclass(frozen=True)
class SpeedBar:
    fp32: float  # multiple of ONNX Runtime fp32
    limit: float | None = None


@dataclasses.dataclass(frozen=True)
class Net:
    """`make_npz`: arguments for the shared folder's program, calibration and judgement; None: random numbers."""
    model: Model
    speed: SpeedBar | None = None
    calibration: tuple | None = None
    judged: tuple | None = None
    top1_drop: float = 0.0  # share of the judged samples that int8 may lose
    beat_quantizer: bool = True  # agreement with fp32 is held against the three methods of ONNX Runtime's quantizer
    forms: tuple = ("qdq", "operators")

    @property
    def name(self):
        return self.model.name

    @property
    def trained(self):
        return self.judged is not None

    @property
    def scenario(self):
        return Scenario(self.model)


def imagenet(name, of, file, input_name, speed):
    """Calibrated on the 50 images kept for that, judged on the 100 others: one may be lost."""
    model = dataclasses.replace(MODELS[of], name=name, file=IMAGENET + file, inputs=image(name=input_name, first=1))
    return Net(model, speed, (name, "--input", input_name, "--set", "images_calibration"), (name, "--input", input_name), top1_drop=0.01)


def random(name, speed, **more):
    return Net(MODELS[name], speed, **more)


MNIST = Model("mnist_cnn", image(), 30, None, {}, file="models/mnist/mnist_cnn.onnx")
DIGITS = ("mnist", "--input", "Input3", "--shape", "1,28,28", "--scale", "1")

NETS = {n.name: n for n in [
    random("resnet50", SpeedBar(3.7, 4.04)),
    random("vgg16", SpeedBar(3.6)),
    random("bert_base", SpeedBar(3.8, 4.25)),
    imagenet("mobilenet_v2", "mobilenet_v2", "mobilenet_v2_fp32_dequantized.onnx", "input", SpeedBar(2.5, 2.57)),
    imagenet("squeezenet", "squeezenet", "squeezenet_fp32_from_fp16.onnx", "data_0", SpeedBar(3.1, 3.4)),
    imagenet("tiny_darknet", "tiny_darknet", "tiny_darknet_imagenet.onnx", "image", SpeedBar(3.1, 3.1)),
    random("shufflenet_v2_x1_0", SpeedBar(3.2)),
    random("lstm", SpeedBar(3.2), forms=("qdq", "operators", "dynamic")),  # only "dynamic" quantizes an LSTM
    Net(MNIST, None, (*DIGITS, "--first", "500"), (*DIGITS, "--skip", "5000", "--first", "5000"), top1_drop=0.002, beat_quantizer=False),
]}
TYPES = ("u8", "s8")  # of activations
METHODS = ("minmax", "entropy", "percentile")


def speed_nets(names):
    return [n for n in NETS.values() if n.speed and (not names or n.name in names)]


def trained_nets(names):
    return [n for n in NETS.values() if n.trained and (not names or n.name in names)]


def candidates(net):
    """(form, activations) of each file of ONNX Runtime's quantizer that is raced."""
    return [(form, t) for form in net.forms for t in (TYPES if form != "dynamic" else ("u8",))]
