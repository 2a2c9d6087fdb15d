# SPDX-License-Identifier: Apache-2.0
"""Weights that keep a network's activations near variance 1, so that a network without training runs as a trained one does.

With PyTorch's random initialization, activations of deep networks vanish or explode. Both distort measurements: arithmetic on denormal
numbers is many times slower, and infinities make comparisons of outputs meaningless. So one seeded batch is sent through the network, and
each layer is scaled to its input: a convolution or linear layer to outputs of variance 1, batch norm's
statistics to those of its input. Batch norm's offsets are mostly positive: an untrained deep network whose relus cut off half of all
activations amplifies a rounding error hundredfold, a trained one does not, and correct bf16 outputs would look like wrong ones.
"""
import torch

SCALED = (torch.nn.Conv2d, torch.nn.Linear)
NORMS = (torch.nn.BatchNorm2d,)
SMALLEST_DEVIATION = 1e-3  # outputs with less have no scale of their own (a constant input)


def scale_layer(layer, _, output):
    deviation = output.std().clamp(min=SMALLEST_DEVIATION)
    layer.weight.data.div_(deviation)
    if layer.bias is not None:
        layer.bias.data.div_(deviation)
    return output / deviation


def set_statistics(norm, inputs):
    x = inputs[0].transpose(0, 1).flatten(1)
    spread = x.var(1)
    norm.running_mean.copy_(x.mean(1) + 0.1 * spread.sqrt() * torch.randn_like(spread))
    norm.running_var.copy_(spread.clamp(min=0.1 * spread.mean() + SMALLEST_DEVIATION**2))


@torch.inference_mode()
def settle(net, *inputs):
    """Adapts the weights of `net`, in evaluation mode, to `inputs`. Uses PyTorch's random numbers: seed them before."""
    net.eval()
    hooks = []
    for module in net.modules():
        if isinstance(module, NORMS):
            torch.nn.init.uniform_(module.weight, 0.5, 1.0)
            torch.nn.init.uniform_(module.bias, 0.2, 0.8)
            hooks.append(module.register_forward_pre_hook(set_statistics))
        elif isinstance(module, SCALED):
            hooks.append(module.register_forward_hook(scale_layer))
    net(*inputs)
    for hook in hooks:
        hook.remove()
    return net
