# SPDX-License-Identifier: Apache-2.0
"""The models of the folder of shared data (its INDEX.md) that precision_tables.py measures. All of it is data.

A target holds for the bf16 file against the fused fp32 file on real samples: the share of samples that may change their class, and the
least SQNR of the worst output.
"""

import dataclasses
import os
import pathlib


@dataclasses.dataclass(frozen=True)
class Target:
    changed_share: float | None = None  # of the samples; 0: none may change
    sqnr_db: float | None = None


NO_TARGET = Target()


@dataclasses.dataclass(frozen=True)
class ZooModel:
    file: str      # under data/models
    family: str    # of FAMILIES: the table it is in
    samples: str   # a function of zoo_samples.py
    arguments: tuple = ()  # for it
    classes: bool = False  # a classifier: the samples have labels
    target: Target = NO_TARGET

    @property
    def name(self):
        return self.file


IMAGENET, DIGITS, KEYWORDS, PICTURES, SEQUENCES = "ImageNet classifiers", "digits", "keywords", "pictures", "sequences"
FAMILIES = {
    IMAGENET: "100 labelled images; at most 2 may change their class.",
    DIGITS: "The 10 000 test digits of MNIST, the unrolled recurrent nets the first 1000. At most 0.1 % may change their class in mnist_cnn.",
    KEYWORDS: "Four clips each, labelled by the outputs that came with the models. Recurrent ones: no clip may change its label, at least 30 dB.",
    PICTURES: "Super-resolution and detection on real images; no labels.",
    SEQUENCES: "A sentence splitter on English text, speech enhancement (recurrent: at least 30 dB) on spectra of speech.",
}

NCHW, NHWC = "NCHW", "NHWC"
TWO_OF_100, ONE_OF_1000, CLIPS = Target(changed_share=0.02), Target(changed_share=0.001), Target(changed_share=0, sqnr_db=30)


def imagenet(file, net, layout, name=None):
    return ZooModel(f"imagenet/{file}", IMAGENET, "imagenet", (net, layout, name), classes=True, target=TWO_OF_100)


def digits(file, name, shape, scale, first, target=NO_TARGET, **more):
    return ZooModel(file, DIGITS, "digits", (name, shape, scale, first, tuple(more.items())), classes=True, target=target)


def keywords(net, target=NO_TARGET):
    return ZooModel(f"audio/{net}_mfcc.pb", KEYWORDS, "clips", (net,), classes=True, target=target)


MODELS = {m.name: m for m in [
    imagenet("mobilenet_v2_fp32_dequantized.onnx", "mobilenet_v2", NCHW),
    imagenet("mobilenet_v2_fp32_dequantized.pb", "mobilenet_v2", NHWC),
    imagenet("squeezenet_fp32_from_fp16.onnx", "squeezenet", NCHW),
    imagenet("squeezenet_fp32_from_fp16.pb", "squeezenet", NHWC),
    imagenet("tiny_darknet_imagenet.onnx", "tiny_darknet", NCHW),
    imagenet("tiny_darknet_imagenet.pb", "tiny_darknet", NHWC),
    digits("mnist/mnist_cnn.onnx", None, "1,28,28", 1, 10000, ONE_OF_1000),
    digits("mnist/mnist_fc.pb", None, "784", 255, 10000),
    digits("rnn/mnist_lstm.pb", "X", "784", 255, 1000, keep_prob=1.0),
    digits("rnn/mnist_gru.pb", "X", "784", 255, 1000, keep_prob=1.0),
    keywords("DS_CNN_S"),
    keywords("CNN_S"),
    keywords("GRU_S", CLIPS),
    keywords("LSTM_S", CLIPS),
    ZooModel("savedmodel/kws_ref_model", KEYWORDS, "random"),
    ZooModel("superres/super_resolution.onnx", PICTURES, "luminance", (224,)),
    ZooModel("superres/ESPCN_x2.pb", PICTURES, "npz", ("superres/ESPCN_x2.npz", "in_")),
    ZooModel("superres/FSRCNN_x2.pb", PICTURES, "npz", ("superres/FSRCNN_x2.npz", "in_")),
    ZooModel("detect/yolox_nano.onnx", PICTURES, "photographs", (416, 416, "BGR", 0, 1)),
    ZooModel("detect/yunet_n_320_320.onnx", PICTURES, "photographs", (320, 320, "BGR", 0, 1)),
    ZooModel("detect/version-RFB-320.onnx", PICTURES, "photographs", (240, 320, "RGB", 127, 128)),
    ZooModel("rnn/nnsplit_en.onnx", SEQUENCES, "sentences", (64,)),
    ZooModel("rnn/gtcrn_simple.onnx", SEQUENCES, "spectra", (), target=Target(sqnr_db=30)),
    ZooModel("savedmodel/half_plus_two", SEQUENCES, "random"),
    ZooModel("savedmodel/half_plus_two_tf2", SEQUENCES, "random"),
]}
PLANNERS = ("lists", "placement")


def shared(*parts):
    """A path of the folder of shared data."""
    return pathlib.Path(os.environ.get("HALFTONE_SHARED", ""), "data", *parts)


def model_path(model):
    return shared("models", model.file)
