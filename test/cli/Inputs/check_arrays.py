"""Arrays for run-check.test: what a result is compared with, near it and far from it."""
import sys

import numpy as np


def save(name, array, dtype):
    np.save("%s/%s.npy" % (sys.argv[1], name), np.asarray(array, dtype))


def changed(array, at, by):
    out = array.copy()
    out[at] += by
    return out


def bf16(array):
    return (np.asarray(array, "f4").view("u4") >> 16).astype("u2")


f16 = np.arange(6, dtype="f2").reshape(3, 2) / 2
save("f16", f16, "f2")
save("f16_near", changed(f16, (2, 0), 1 / 512), "f2")
save("f16_far", changed(f16, (2, 0), 3 / 512), "f2")
b = np.arange(1, 9, dtype="f4")
save("bf16", bf16(b), "u2")
save("bf16_near", bf16(changed(b, 5, 1 / 32)), "u2")
save("bf16_far", bf16(changed(b, 5, 1 / 8)), "u2")
save("bf16_f32", changed(b, 5, 1 / 16), "f4")
f32 = np.arange(12, dtype="f4").reshape(2, 2, 3) - 3
save("f32", f32, "f4")
save("f32_near", changed(f32, (1, 0, 1), 2e-6), "f4")
save("f32_far", changed(changed(f32, (1, 0, 1), 0.5), (1, 1, 2), -3), "f4")
save("f32_two", [2, 2], "f4")
f64 = np.arange(3) / 7
save("f64", f64, "f8")
save("f64_near", changed(f64, 1, 1e-12), "f8")
save("f64_far", changed(f64, 1, 1e-6), "f8")
i64 = np.array([0, 2**62, -1])
save("i64", i64, "i8")
save("i64_far", changed(i64, 1, 1), "i8")
save("u64", np.array([0, 2**62, 2**64 - 1], "u8"), "u8")
odd = np.zeros(2000, "f4")
odd[1500:1504] = [np.nan, np.inf, -np.inf, np.nan]
save("odd", odd, "f4")
odd[1500] = 0
odd[1502:1504] = [np.inf, 1]
save("odd_other", odd, "f4")
save("ones", np.ones((2, 4)), "f4")
save("pattern", np.full(8, 0xA5A5A5A5, "u4").view("f4"), "f4")
