/* What mutants are made with: pieces of the language, right and wrong. */
#ifndef TKC_FUZZ_KERNELS_PIECES_H
#define TKC_FUZZ_KERNELS_PIECES_H

static const char *const constants[] = {
    "0", "1", "-1", "2", "3", "7", "8", "16", "64", "781", "1024", "65536", "1048576", "2147483647",
    "2147483648", "-2147483648", "4294967296", "9223372036854775807", "18446744073709551616",
    "1e400", "0.0", "-0.0", "0.5", "1e-45", "1e38", "3.5", "True", "False", "None", "'text'", "''",
    "()", "(1, 2)", "(4,)", "[8, 8]", "(x, 0)", "tl.float16", "tl.int64", "tl.float8e5", "tl.int1",
    "tl.uint8", "tl.bfloat16", "float('inf')", "float('nan')", "tl", "len", "tl.arange(0, 8)",
    "tl.arange(0, 5)[:, None]", "tl.zeros((4, 6), tl.float32)", "tl.zeros((1,), tl.int32)",
    "tl.full((2, 3, 4), 1, tl.int8)", "tl.program_id(0)", "(lambda x: x)", "tl.constexpr(4)",
    "[i for i in (1, 2, 3)]", "tl.full((), 1.5, tl.float16)", "tl.arange(0, 16).to(tl.float8e4nv)",
};

static const char *const operators[] = {
    "+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==",
    "!=", "=", "+=", "//=", " and ", " or ", " in ", " is ", " is not ", " not in ",
    " if True else ", ",", ".", ":=", "@",
};

static const char *const names[] = {
    "tl.load", "tl.store", "tl.sum", "tl.max", "tl.argmax", "tl.where", "tl.dot", "tl.trans",
    "tl.reshape", "tl.broadcast_to", "tl.expand_dims", "tl.cat", "tl.join", "tl.split", "tl.cumsum",
    "tl.associative_scan", "tl.reduce", "tl.sort", "tl.topk", "tl.histogram", "tl.gather",
    "tl.flip", "tl.atomic_add", "tl.atomic_cas", "tl.rand", "tl.randint4x", "tl.exp", "tl.log",
    "tl.sqrt", "tl.abs", "tl.maximum", "tl.clamp", "tl.fma", "tl.cdiv", "tl.interleave",
    "tl.permute", "tl.view", "tl.ravel", "tl.make_block_ptr", "tl.advance",
    "tl.make_tensor_descriptor", "tl.static_assert", "tl.static_print", "tl.device_print",
    "tl.device_assert", "tl.multiple_of", "tl.assume", "tl.inline_asm_elementwise",
    "tl.map_elementwise", "tl.softmax", "tl.sigmoid", "tl.umulhi", "tl.div_rn", "tl.static_range",
    "tl.range", "range", "tl.cast", "tl.zeros_like", "tl.swizzle2d", "tl.dot_scaled",
    "tl.debug_barrier", "tl.to_tensor", "tl.xor_sum", "tl.cumprod", "min", "max", "int", "float",
    "isinstance", "len", "print", "tl.philox", "tl.squeeze", "tl.reduce_or",
};

static const char *const methods[] = {
    ".to(tl.float16)", ".to(tl.int32, bitcast=True)", ".T", ".dtype", ".shape", "[None, :]",
    "[:, None]", "[0]", "[None]", "[:]", ".sum(0)", ".sum()", ".max(1)", ".reshape(4, 4)",
    ".element_ty", ".dtype.element_ty", ".item()", ".value", ".numel", "(1)",
    ".to(tl.pointer_type(tl.int8))", "[:, :, None]", "[-1]", ".trans(1, 0)", "[1:2]", ".type",
};

static const char *const keywords[] = {
    "axis=0", "axis=1", "axis=-1", "axis=7", "axis=None", "mask=True", "mask=None", "mask=x",
    "other=0", "other=1.5", "keep_dims=True", "return_indices=True", "dtype=tl.int64",
    "sem='relaxed'", "sem='x'", "scope='cta'", "cache_modifier='.cg'", "volatile=True",
    "num_stages=2", "can_reorder=True", "reverse=True", "descending=True", "dim=0",
    "boundary_check=(0,)", "boundary_check=(0, 1)", "padding_option='nan'", "bitcast=True",
    "propagate_nan=tl.PropagateNan.ALL", "input_precision='ieee'", "out_dtype=tl.float16",
    "acc=None", "eviction_policy='evict_last'", "fp_downcast_rounding='rtz'", "*x", "**x", "x=1",
};

static const char *const wrappers[] = {
    "for i in range(3):", "for i in range(n):", "for i in tl.static_range(3):",
    "for i in tl.range(0, 10, 3, num_stages=3):", "for _ in range(5, 0, -2):",
    "if tl.program_id(0) == 0:", "if True:", "if n > 3:", "while n > 0:",
    "while tl.program_id(0) < 0:", "if x is None:", "for i in (1, 2):", "with x:", "def f():",
};

static const char *const lines[] = {
    "return", "pass", "break", "continue", "return x", "tl.debug_barrier()",
    "assert n > 0, 'message'", "tl.device_assert(x > 0)", "x = x + 1", "n = 0", "n -= 1",
    "raise ValueError('no')", "x: tl.constexpr = 3", "x = tl.load(x)", "x, n = n, x",
    "print('x', x)", "x[0] = 1", "else:", "elif n:", "del x", "import os", "global x",
    "tl.static_assert(n)", "tl.atomic_add(x, 1)",
};

#endif
