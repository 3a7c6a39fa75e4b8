"""softmax_reference.py DIR: what ./dev run computes with, and what must come out.

DIR/x.npy holds 4096 rows of 781 numbers, 784 apart; the three after each row are NaN and must not be read.
DIR/expected.npy holds their softmax, computed in double precision, with zeros between the rows.
"""
import os
import sys

import numpy as np

ROWS, WIDTH, STRIDE = 4096, 781, 784


def main():
    folder = sys.argv[1]
    x = np.full((ROWS, STRIDE), np.nan, np.float32)
    x[:, :WIDTH] = np.random.default_rng(1).standard_normal((ROWS, WIDTH)) * 4
    row = x[:, :WIDTH].astype(np.float64)
    e = np.exp(row - row.max(axis=1, keepdims=True))
    expected = np.zeros((ROWS, STRIDE), np.float32)
    expected[:, :WIDTH] = e / e.sum(axis=1, keepdims=True)
    np.save(os.path.join(folder, "x.npy"), x)
    np.save(os.path.join(folder, "expected.npy"), expected)


main()
