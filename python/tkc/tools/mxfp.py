"""Elements of OCP's microscaling formats as torch tensors of bytes, for hosts that make operands of tl.dot_scaled: E2M1 in 4 bits, and
E8M0, a power of two, of scales."""
import math

import torch

MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # of E2M1, by the three bits below the sign
BIAS, NAN = 127, 255  # of E8M0


def _shape(size):
    return tuple(size) if isinstance(size, (tuple, list, torch.Size)) else (size,)


class _Tensor:
    """`data`: the bytes, of float32 numbers; or of a size, once .random() has been called."""

    def __init__(self, data=None, size=None, device=None):
        if data is None and size is None:
            raise ValueError("%s takes data, a torch tensor, or a size" % type(self).__name__)
        if data is None:
            self.size, self.device = _shape(size), device
        else:
            assert isinstance(data, torch.Tensor), "data is a torch tensor, not an object of type %s" % type(data).__name__
            self.size, self.device, self.data = tuple(data.shape), data.device, self._from_float(data)

    def to(self, dtype):
        """The numbers, as float32."""
        assert dtype == torch.float32, "%s becomes torch.float32, not %s" % (type(self).__name__, dtype)
        return self._to_float()


class MXFP4Tensor(_Tensor):
    """E2M1, an element a byte; packed, two: the first in the lower half."""

    def random(self):
        self.data = torch.randint(0, 16, self.size, dtype=torch.uint8, device=self.device)
        return self

    def _to_float(self):
        signed = MAGNITUDES + tuple(-m for m in MAGNITUDES)
        return torch.tensor(signed, dtype=torch.float32, device=self.data.device)[self.data.long()]

    @staticmethod
    def _from_float(values):
        """To the nearest, of two the even one; what is too large, infinities and NaNs to 6."""
        middles = torch.tensor([(a + b) / 2 for a, b in zip(MAGNITUDES, MAGNITUDES[1:])], dtype=torch.float32, device=values.device)
        size = values.float().abs().contiguous()
        low, high = torch.bucketize(size, middles), torch.bucketize(size, middles, right=True)
        code = torch.where(low % 2 == 0, low, high).masked_fill(size.isnan(), len(MAGNITUDES) - 1)
        return (code + 8 * torch.signbit(values)).to(torch.uint8)

    def to_packed_tensor(self, dim):
        assert 0 <= dim < self.data.ndim, "dimension %d of a tensor of %d dimensions cannot be packed" % (dim, self.data.ndim)
        data = self.data.movedim(dim, -1)
        if data.shape[-1] % 2:
            data = torch.nn.functional.pad(data, (0, 1))
        return (data[..., 0::2] | data[..., 1::2] << 4).movedim(-1, dim).contiguous()

    def unpack_packed_tensor(self, packed_tensor, dim, original_shape):
        data = packed_tensor.movedim(dim, -1)
        both = torch.stack((data & 15, data >> 4), dim=-1).flatten(-2)
        return both[..., :original_shape[dim]].movedim(-1, dim).contiguous()


class MXScaleTensor(_Tensor):
    """E8M0."""

    def random(self, low=None, high=None):
        """Powers of two between the two, as far as they are given."""
        first, last = (otherwise if bound is None else min(max(int(math.log2(bound)) + BIAS, 0), NAN - 1)
                       for bound, otherwise in ((low, 0), (high, NAN - 1)))
        assert first <= last, "low is at most high"
        self.data = torch.randint(first, last + 1, self.size, dtype=torch.uint8, device=self.device)
        return self

    def _to_float(self):
        return torch.ldexp(torch.ones_like(self.data, dtype=torch.float32), self.data.int() - BIAS).masked_fill(self.data == NAN, math.nan)

    @staticmethod
    def _from_float(values):
        """The power of two that is not above; NaN for what is not positive and finite."""
        numbers = values.float()
        bad = ~(numbers.isfinite() & (numbers > 0))
        exponent = torch.frexp(numbers.masked_fill(bad, 1.0))[1] - 1
        return (exponent + BIAS).clamp(0, NAN - 1).masked_fill(bad, NAN).to(torch.uint8)
