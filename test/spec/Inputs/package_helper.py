import torch
import triton
import triton.language as tl
from .package_user import LIMIT  # the files import each other

FACTOR = 3


@triton.jit
def scale(x):
    return x * FACTOR + LIMIT


def launch(x):
    return torch.empty_like(x)
