"""What has no code on a GPU yet, by name: the list may only shrink. A refusal of anything else is a failure, and so is a name that
nothing is refused for any more, once everything has been tried."""
import re

PINNED = set()


def refused_op(text):
    """What a GPU's code was refused for, or None: of nothing, or of what is not in the list."""
    found = re.search(r"not yet supported on \w+: (.*?) \(the cpu device runs it\)", text)
    return found.group(1) if found and found.group(1) in PINNED else None


def is_refusal(text):
    return refused_op(text) is not None or "is not supported on Triton" in text


def gone(texts):
    """Names that none of the refusals is for."""
    return sorted(PINNED - {refused_op(text) for text in texts})
