"""triton.set_allocator and what resets it: kernels of tkc need no memory beside their arguments."""


class NullAllocator:
    def __call__(self, size, alignment, stream):
        raise RuntimeError("kernels of tkc need no memory beside their arguments")


def set_allocator(allocator):
    """The allocator is never called."""
