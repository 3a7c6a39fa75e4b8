"""The language, row by row: section, row, and the names under which tests cover it."""

OPERATORS = "+ - * / // % & | ^ << >> == != < <= > >= and or not".split()


def alone(section, names):
    """Rows whose tests bear their own name."""
    return [(section, name, [name]) for name in names.split()]


ROWS = [
    ("files", "import, from … import, of Triton under any name", ["imports"]),
    ("files", "imports of other files of one tree", ["imports of one tree"]),
    ("files", "constants: X = 4, tl.constexpr, aliases, tuples, strings, math", ["module constants"]),
    ("files", "module-level if, try, with are entered", ["module-level if, try, with"]),
    ("files", "host code is skipped; a diagnostic when a kernel needs it", ["host code is skipped"]),
    ("files", "plain Python functions of compile-time values", ["plain Python functions at compile time", "constexpr_function"]),
    ("files", "decorators: jit forms, autotune, heuristics, unknown ones", ["decorators"]),
    ("files", "parameters: annotations, defaults, constexpr, -sig, -D", ["parameters"]),
    ("files", "declared extents", ["declared extents"]),

    ("types", "int1 … float64", ["element types"]),
    ("types", "pointers", ["pointer", "pointers to pointers"]),
    ("types", "tuples", ["tuples as values"]),
    ("types", "named tuples", ["named tuples"]),
    ("types", "tensor descriptors", ["make_tensor_descriptor"]),
    ("types", "block pointers", ["make_block_ptr"]),
    ("types", "blocks of any size", ["any block size"]),

    ("statements", "a = b = …", ["assignment"]),
    ("statements", "a, *b = …", ["assignment of tuples"]),
    ("statements", "assignment to parameters", ["assignment to a parameter"]),
    ("statements", "+= -= *= /= //= %= &= |= ^= <<= >>=", ["augmented assignment"]),
    ("statements", "x: tl.constexpr = …", ["annotated assignment"]),
    ("statements", ":=", ["walrus"]),
    ("statements", "if on constexpr: the other arm is not looked at", ["if on constexpr"]),
    ("statements", "if at run time: values merge", ["if at run time"]),
    ("statements", "for over range", ["for over range"]),
    ("statements", "for over tl.range and its options", ["tl.range"]),
    ("statements", "tl.static_range", ["tl.static_range"]),
    ("statements", "while", ["while"]),
    ("statements", "return, early too", ["return", "return of a value"]),
    ("statements", "pass, docstrings", ["pass and docstrings"]),
    ("statements", "assert", ["assert", "device_assert"]),
    ("statements", "print", ["print"]),
    ("statements", "break and continue at compile time", ["break at compile time"]),
    ("statements", "raise when reached", ["raise"]),
    ("statements", "with, try, def, dict, run-time break, recursion are refused when reached", ["refused statements"]),

    ("expressions", "x if c else y", ["conditional expression"]),
    ("expressions", "comparison chains", ["comparison chains"]),
    ("expressions", "and, or, not", ["and, or, not"]),
    ("expressions", "is None, is not None", ["is None"]),
    ("expressions", "in, not in", ["in"]),
    ("expressions", "strings and f-strings at compile time", ["strings"]),
    ("expressions", "tuples and lists", ["tuples", "lists"]),
    ("expressions", "comprehensions", ["comprehensions"]),
    ("expressions", "lambda", ["lambda"]),
    ("expressions", "functions as values", ["functions as values"]),
    ("expressions", "helper calls: positional, keyword, default, *tuple", ["helper arguments", "helpers"]),
    ("expressions", "x[:, None] and its like", ["x[:, None]", "x[None]", "x[:, :]", "x[None, :, None]", "x[:, None, None]"]),
    ("expressions", "Python's builtins", ["Python's builtins"]),
    ("expressions", "compile-time arithmetic", ["constant arithmetic"]),
    ("expressions", "dtype reflection", ["reflection", "call of a dtype"]),

    ("semantics", "constants become typed when named", ["constants become typed", "constant"]),
    ("semantics", "an argument equal to 1 keeps its type", ["an argument equal to 1"]),
    ("semantics", "promotion", ["promotion"]),
    ("semantics", "constants out of range are refused", ["constants out of range"]),
    ("semantics", "mixed signs in / // %, // of floats, fp8 with integers are refused", ["operators that are refused"]),
    ("semantics", "arithmetic wraps", ["wrapping"]),
    ("semantics", "edges of // and %", ["edges of // and %"]),
    ("semantics", "edges of shifts", ["edges of shifts"]),
    ("semantics", "/ of integers is fp32", ["/ of integers"]),
    ("semantics", "% of floats", ["% of floats"]),
    ("semantics", "pointer arithmetic", ["pointer"]),
    ("semantics", "masked loads read other, or 0", ["masked loads read 0", "load"]),
    ("semantics", "load's arguments that are refused", ["load arguments that are refused"]),
    ("semantics", "boundary checks and padding", ["load boundary_check", "load padding_option", "store boundary_check", "make_tensor_descriptor padding_option"]),
    ("semantics", "out-of-bounds access is reported on cpu", ["out of bounds is reported"]),
    ("semantics", "casts: every pair of types, every narrow number", ["cast", "cast bitcast", "cast fp_downcast_rounding", "edges of casts"]),
    ("semantics", "where casts its condition", ["where casts its condition"]),
    ("semantics", "the type of a for variable", ["for variable's type"]),
    ("semantics", "-ffp-contract=off", ["fp contraction"]),
    ("semantics", "atomics that are refused", ["atomics that are refused"]),
    ("semantics", "dot that is refused", ["dot that is refused"]),
    ("semantics", "broadcasting of operands", ["broadcast of operands"]),

    *[("operators", name, [name]) for name in OPERATORS + ["~", "+x", "-x"]],
    *alone("ids", "program_id num_programs"),
    *alone("creation", "arange full zeros zeros_like cat join split to_tensor item"),
    ("creation", "cast, .to, casts by name of a type", ["cast", "call of a dtype"]),
    *alone("shape", "broadcast broadcast_to expand_dims permute trans ravel reshape view interleave flip squeeze"),
    *alone("memory", "load store make_block_ptr advance make_tensor_descriptor"),
    ("memory", "descriptor.gather, scatter", ["descriptor gather", "descriptor scatter"]),
    ("memory", "descriptor.atomic_*", ["descriptor atomics"]),
    *alone("atomics", "atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor"),
    *alone("math", "abs cdiv ceil clamp cos div_rn erf exp exp2 fdiv floor fma log log2 maximum minimum rsqrt sigmoid sin softmax sqrt sqrt_rn umulhi where"),
    *alone("libdevice", "tanh sinh cosh tan asin acos atan atan2 asinh acosh atanh pow log1p expm1 exp10 log10 cbrt rcbrt hypot isnan isinf isfinited finitef isfinite signbit copysign fdim"),
    *alone("libdevice", "rint nearbyint round trunc llrint llround fmod remainder ffs clz popc brev mulhi div_rz rcp_rn sinpi cospi erfc normcdf gelu_tanh"),
    *alone("libdevice", "fast_expf fast_logf fast_log2f fast_log10f fast_exp10f fast_sinf fast_cosf fast_tanf fast_powf fast_dividef"),
    *alone("libdevice", "float2int_rn float2int_rz float2int_rd float2int_ru float2uint_rn float2uint_rz float2ll_rn int2float_rn uint2float_rn ll2float_rn"),
    *alone("libdevice", "float_as_int float_as_uint int_as_float uint_as_float"),
    *alone("reduction", "sum max min argmax argmin xor_sum reduce_or reduce"),
    ("reduction", "several operands", ["reduce of several"]),
    ("reduction", "return_indices, ties", ["max return_indices", "min return_indices", "max return_indices_tie_break_left", "min return_indices_tie_break_left"]),
    ("reduction", "dtype=", ["sum dtype", "cumsum dtype"]),
    *alone("scan, sort", "cumsum cumprod associative_scan sort topk bitonic_merge histogram gather"),
    ("scan, sort", "histogram(mask=)", ["histogram mask"]),
    *alone("random", "rand randn randint rand4x randn4x randint4x philox philox_impl uint_to_uniform_float pair_uniform_to_normal"),
    *alone("matrix", "dot dot_scaled"),
    ("matrix", "input_precision, allow_tf32", ["dot input_precision"]),
    ("matrix", "out_dtype", ["dot out_dtype"]),
    ("hints", "multiple_of max_contiguous max_constancy assume", ["hints"]),
    ("compile time", "static_range", ["tl.static_range"]),
    *alone("compile time", "static_assert static_print constexpr get_int_dtype pointer_type tuple target_info"),
    ("compile time", "triton.cdiv, next_power_of_2", ["triton.cdiv"]),
    *alone("debug", "device_print device_assert debug_barrier"),
    *alone("escape", "inline_asm_elementwise map_elementwise"),
    ("chip", "gdc_wait gdc_launch_dependents globaltimer smid", ["chip"]),
    ("chip", "num_warps num_threads", ["extra"]),
    *alone("grid", "swizzle2d cdiv"),

    ("diagnostics", "misspelt names, a missing tl.", ["a misspelt name", "a missing tl."]),
    ("diagnostics", "shapes", ["shapes that do not go together"]),
    ("diagnostics", "notes through calls", ["notes through calls"]),
    ("diagnostics", "several errors in one run", ["several errors in one run"]),
    ("diagnostics", "loops that change a type", ["a loop that changes a type"]),
    ("diagnostics", "budgets", ["budgets"]),
]

# What is wrong and known: a piece of the name of the tests that fail (of the body, in language.py), and the reason. A test
# that should fail and does not is an error, so that a row goes when its bug does.
KNOWN_BUGS = {
    "ops": {
        "acosh: ": "a large negative number should give NaN",
        "fdim: ": "x - y that overflows to -inf is multiplied by 0",
    },
    "language": {
        "tl.map_elementwise(collatz": "the function works on blocks as they are, so a run-time `if` in it is refused",
        "Pair(n, 7)": "named tuples made in a kernel",
    },
}

# Forms and keywords of the operations that no kernel needs to spell, with the reason.
NOT_SPELLED = {
    "print file": "Python's parameter, ignored",
    "static_print file": "Python's parameter, ignored",
}
