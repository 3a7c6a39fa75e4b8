"""How many times its time a run may take: TKC_TEST_SLOWNESS, which sanitized.py sets."""
import os

SLOWNESS = int(os.environ.get("TKC_TEST_SLOWNESS", "1"))


def is_slow(device):
    """Whether sizes are to be small."""
    return device == "simt" or SLOWNESS > 1
