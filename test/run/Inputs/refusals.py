"""What Triton has no code for (ops_triton.py). Ours refuses nothing of the language."""


def is_refusal(text):
    return "is not supported on Triton" in text
