"""Helpers for names.py."""
import tkc
import tkc.language as tl

import more

BY = 100


@tkc.jit
def offset(v):
    return v + BY


@tkc.jit
def halve(v):
    return v / 2.0


@tkc.jit
def broken(v):
    return v + nobody
