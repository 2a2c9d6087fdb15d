"""Weights that keep a network's activations near variance 1, so that a network without training runs as a trained one does.

Random weights as PyTorch initializes them let activations of deep networks die out or grow. Both falsify times: arithmetic on denormal
numbers is many times slower, and infinities make every comparison of answers void. So one seeded batch is sent through the network,
and on its way every layer is scaled to what it just saw: a convolution or linear layer to outputs of variance 1, batch norm's
statistics to those of its input. Batch norm's offsets are mostly positive: a deep network without training that cuts off half of
everything amplifies a rounding error hundredfold, one with training does not, and answers in bf16 could not be told from wrong ones.
"""
import torch

SCALED = (torch.nn.Conv2d, torch.nn.Linear)
NORMS = (torch.nn.BatchNorm2d,)
SMALLEST_DEVIATION = 1e-3  # outputs with less have no scale of their own (a constant input)


def scale_layer(layer, _, answer):
    deviation = answer.std().clamp(min=SMALLEST_DEVIATION)
    layer.weight.data.div_(deviation)
    if layer.bias is not None:
        layer.bias.data.div_(deviation)
    return answer / deviation


def set_statistics(norm, inputs):
    x = inputs[0].transpose(0, 1).flatten(1)
    spread = x.var(1)
    norm.running_mean.copy_(x.mean(1) + 0.1 * spread.sqrt() * torch.randn_like(spread))
    norm.running_var.copy_(spread.clamp(min=0.1 * spread.mean() + SMALLEST_DEVIATION**2))


@torch.inference_mode()
def settle(net, *inputs):
    """Makes the weights of `net`, in evaluation mode, fit `inputs`. Uses PyTorch's random numbers: seed them before."""
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
