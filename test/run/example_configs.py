#!/usr/bin/env python3
# Every configuration that an example lists compiles for both generations of matrix units: example_configs.py TKC [spread=N] [NAME...]
# RUN: %python %s %build/tkc spread=9 | FileCheck %s
# RUN: %if long && !asan %{ %python %s %build/tkc | FileCheck %s %}
# CHECK: {{^[1-9][0-9]* configurations of [1-9][0-9]* kernels, 0 failed$}}
"""Where there is a ptxas it assembles what comes out, and must not spill or complain of wgmma. A NAME picks the kernels whose name holds it;
`spread=N` takes every N-th compilation."""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

EXAMPLES = os.path.join(HERE, "..", "..", "examples")
ARCHS = ("sm_80", "sm_90a")


def signature(types, numbers, odd=""):
    """Pointers and numbers as a launcher finds them in practice: multiples of 16, but for the names in `odd`."""
    typed = [f"{n}=*{t}:16" for n, t in types.items()] + [f"{n}={'i64' if n.endswith('_batch') else 'i32'}:16" for n in numbers.split()]
    return ",".join(typed + [f"{n}=i32" for n in odd.split()])


HALVES = lambda names: dict.fromkeys(names.split(), "fp16")
FORTH, BACK = {**HALVES("q k v o"), "lse": "fp32"}, {**HALVES("q k v do"), "lse": "fp32", "delta": "fp32"}
# kernel: (file, signature, constexprs) of what the list of configurations leaves open
KERNELS = {
    "matmul": [("matmul", signature(HALVES("a b c"), "n k a_row b_row c_row", "m"), {})],
    "matmul_act": [("matmul_epilogue", signature({**HALVES("a b residual c"), "bias": "fp32"}, "n k a_row b_row c_row", "m"), {"ACTIVATION": "'gelu'"})],
    "matmul_descriptors": [("matmul_persistent", signature(HALVES("a b c"), "n k", "m"), {})],
    "matmul_persistent": [("matmul_persistent", signature(HALVES("a b c"), "n k", "m"), {}),
                          ("matmul_persistent", signature({"a": "i8", "b": "i8", "c": "i32"}, "n k", "m"), {})],
    "split_k_atomic": [("matmul_split_k", signature({**HALVES("a b"), "c": "fp32"}, "n k", "m"), {})],
    "split_k_parts": [("matmul_split_k", signature({**HALVES("a b"), "parts": "fp32"}, "n k", "m"), {})],
    "matmul_batched": [("matmul_batched", signature(HALVES("a b c"), "n k a_row b_row a_batch b_batch", "m"), {})],
    "matmul_many": [("matmul_batched", signature({**HALVES("a b c"), "sizes": "i32", "starts": "i64"}, "", "count"), {"EVEN": 8})],
    "experts": [("matmul_batched", signature({**HALVES("x weights y"), "order": "i32", "expert": "i32"}, "n k", "tokens"), {})],
    "matmul_int8": [("matmul_quantized", signature({**HALVES("x y"), "w": "i8", "scales": "fp32"}, "n k", "m"), {})],
    "matmul_int4": [("matmul_quantized", signature({**HALVES("x scales y"), "packed": "u8"}, "n k w_row", "m"), {})],
    "matmul_fp8": [("matmul_quantized", signature({"x": "fp8e4nv", "w": "fp8e4nv", "y": "fp16", "x_scales": "fp32", "w_scales": "fp32"}, "n k", "m"), {})],
    "decode_row": [("matmul_decode", signature(HALVES("x w y"), "n k"), {})],
    "decode_row_int4": [("matmul_decode", signature({**HALVES("x scales y"), "packed": "u8"}, "n k w_row"), {})],
    "decode_rows": [("matmul_decode", signature({**HALVES("x w"), "y": "fp32"}, "n k", "m"), {})],
    "decode_rows_int4": [("matmul_decode", signature({**HALVES("x scales"), "packed": "u8", "y": "fp32"}, "n k w_row", "m"), {})],
    "attention": [("attention", signature(FORTH, "heads", "n n_k"), {"D": d, "CAUSAL": c, "WINDOW": w})
                  for d in (64, 128) for c, w in ((False, 0), (True, 0), (True, 1024))],
    "attention_dkv": [("attention_backward", signature({**BACK, **HALVES("dk dv")}, "", "n"), {"D": 64, "CAUSAL": c}) for c in (False, True)],
    "attention_dq": [("attention_backward", signature({**BACK, "dq": "fp16"}, "", "n"), {"D": 64, "CAUSAL": c}) for c in (False, True)],
    "decode": [("attention_paged", signature({**HALVES("q k_pages v_pages"), **dict.fromkeys(("acc", "top", "total"), "fp32"), "table": "i32", "lengths": "i32"}, "table_stride"),
                {"HEADS": 32, "GROUP": g, "D": 128, "PAGE": 64, "PART": 512}) for g in (4, 8)],
    "decayed_attention": [("linear_attention", signature({**HALVES("q k v o"), "g": "fp32"}, "", "n"), {"D": d, "E": d}) for d in (64, 128)],
}


def configurations(tkc, path, kernel):
    listed = subprocess.run([tkc, "-list", path, "-k", kernel], capture_output=True, text=True, check=True).stdout
    for words in re.findall(r"^ *configuration \d+ (.*)$", listed, re.MULTILINE):
        values = dict(w.split("=") for w in words.split())
        yield [f"-num-{n[4:]}={values.pop(n)}" for n in ("num_warps", "num_stages") if n in values] + [f"-D{n}={v}" for n, v in values.items()]


def problem_of(tkc, command, arch):
    from ptxas_check import assemble, complaint
    done = subprocess.run([*command, "-arch=" + arch, "-o", "-"], capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    ptxas = shutil.which("ptxas")
    if not ptxas:
        return None
    result = assemble(ptxas, arch, done.stdout)
    said = complaint(result)
    return f"{said}\n{result.stderr}" if said else None


def main():
    tkc, names = os.path.abspath(sys.argv[1]), [n for n in sys.argv[2:] if "=" not in n]
    spread = next((int(n[7:]) for n in sys.argv[2:] if n.startswith("spread=")), 1)
    count = seen = failed = 0
    chosen = [k for k in KERNELS if all(n in k for n in names)]
    for kernel in chosen:
        for file, sig, defines in KERNELS[kernel]:
            path = os.path.join(EXAMPLES, file + ".tk")
            listed = list(configurations(tkc, path, kernel))
            if not listed:
                print(f"FAILED {kernel} lists no configuration")
                failed += 1
            for config in listed:
                for arch in ARCHS:
                    command = [tkc, path, "-k", kernel, "-sig", sig, *config, *[f"-D{n}={v}" for n, v in defines.items()]]
                    seen += 1
                    if seen % spread:
                        continue
                    count += 1
                    problem = problem_of(tkc, command, arch)
                    if problem:
                        print(f"FAILED {' '.join(command)} -arch={arch}\n{problem}", flush=True)
                        failed += 1
    print(f"{count} configurations of {len(chosen)} kernels, {failed} failed")
    sys.exit(failed != 0 or not chosen)


if __name__ == "__main__":
    main()
