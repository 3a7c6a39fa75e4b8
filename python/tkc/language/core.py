"""`from tkc.language.core import …`: the same names that tkc.language has."""
from .. import language as _language


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_language, name)
