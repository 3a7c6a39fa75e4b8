"""A layer of PyTorch whose work kernels of tkc do, forward and backward, as operators that autograd and torch.compile know: to the compiler
each is opaque, one node of the graph, and what it gives is known by its shape alone. Runs on a GPU where there is one, else on the CPU.

    python3 examples/torch_layer.py [backend of torch.compile, "inductor" unless said]
"""
import sys

import torch

import tkc
import tkc.language as tl


@tkc.jit
def norm_forward(x, weight, y, scale, n, eps, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0)
    s = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(scale + row, s)
    tl.store(y + row * n + i, v * s * tl.load(weight + i, mask=i < n), mask=i < n)


@tkc.jit
def norm_backward(dy, x, weight, scale, dx, dweight, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    s = tl.load(scale + row)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0) * s
    g = tl.load(dy + row * n + i, mask=i < n, other=0.0)
    tl.atomic_add(dweight + i, g * v, mask=i < n)
    g *= tl.load(weight + i, mask=i < n, other=0.0)
    tl.store(dx + row * n + i, (g - v * tl.sum(g * v, 0) / n) * s, mask=i < n)


@torch.library.custom_op("tkc_example::rms_norm", mutates_args=())
def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    rows, n = x.shape
    y, scale = torch.empty_like(x), x.new_empty(rows)
    norm_forward[(rows,)](x, weight, y, scale, n, eps, BLOCK=tkc.next_power_of_2(n))
    return y, scale


@torch.library.custom_op("tkc_example::rms_norm_backward", mutates_args=())
def rms_norm_backward(dy: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, n = x.shape
    dx, dweight = torch.empty_like(x), torch.zeros_like(weight)
    norm_backward[(rows,)](dy, x, weight, scale, dx, dweight, n, BLOCK=tkc.next_power_of_2(n))
    return dx, dweight


@rms_norm.register_fake
def _(x, weight, eps):
    return torch.empty_like(x), x.new_empty(x.shape[0])


@rms_norm_backward.register_fake
def _(dy, x, weight, scale):
    return torch.empty_like(x), torch.empty_like(weight)


def keep(ctx, inputs, output):
    x, weight, _ = inputs
    ctx.save_for_backward(x, weight, output[1])


def backward(ctx, dy, _):
    dx, dweight = rms_norm_backward(dy.contiguous(), *ctx.saved_tensors)
    return dx, dweight, None


rms_norm.register_autograd(backward, setup_context=keep)


class RMSNorm(torch.nn.Module):
    def __init__(self, n, eps=1e-5):
        super().__init__()
        self.weight, self.eps = torch.nn.Parameter(torch.ones(n)), eps

    def forward(self, x):
        return rms_norm(x, self.weight, self.eps)[0]


def main(backend="inductor"):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    x = torch.randn(64, 200, device=device, requires_grad=True)
    layer = RMSNorm(200).to(device)
    with torch.no_grad():
        layer.weight.uniform_(0.5, 1.5)

    def loss(norm):
        return torch.tanh(norm(x)).square().sum()

    def plain(v):
        return torch.nn.functional.rms_norm(v, (200,), layer.weight, layer.eps)

    want = torch.autograd.grad(loss(plain), (x, layer.weight))
    compiled = torch.compile(lambda: loss(layer), fullgraph=True, backend=backend)
    for name, run in (("eager", lambda: loss(layer)), ("compiled", compiled)):
        got = torch.autograd.grad(run(), (x, layer.weight))
        worst = max((a - b).abs().max().item() for a, b in zip(got, want))
        print("%s: gradients agree with torch's: %s" % (name, worst < 1e-4))


if __name__ == "__main__":
    main(*sys.argv[1:])
