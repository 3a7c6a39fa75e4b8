# Python that runs while compiling gives what Python gives, and is refused where Python raises.
# RUN: %python %s %build/tkc %t | FileCheck %s
# CHECK: {{^[0-9]+ values, [0-9]+ errors, 0 wrong$}}
"""Each expression is worked out in a @triton.constexpr_function, in a constant of the file, and in a kernel, where n is a
tl.constexpr; what is printed there is what str() of Python's own value is."""
import itertools
import math
import re
import subprocess
import sys

TKC, PREFIX = sys.argv[1], sys.argv[2]
N = 64
SHOWN = 16  # less than the errors that tkc says at a time

VALUES = """
n.bit_length(), (n - 1).bit_length(), (0).bit_length(), (-n).bit_length(), (1 << 100).bit_length(), True.bit_length()
n.bit_count(), (n - 1).bit_count(), (-7).bit_count()
math.gcd(n, 48), math.gcd(-n, 6), math.gcd(), math.gcd(n), math.gcd(0, 0), math.gcd(n, 24, 36)
math.lcm(n, 48), math.lcm(), math.lcm(0, n), math.lcm(-4, 6), math.lcm(4, 6, 10), math.lcm(2**40, 2**41 - 1), math.lcm(0, 0), math.lcm(n, 0)
math.isqrt(n), math.isqrt(n - 1), math.isqrt(0), math.isqrt(2**62 - 1), math.isqrt(9223372036854775807)
math.prod([2, n]), math.prod([]), math.prod((1.5, n), start=2), math.prod(range(1, 6))
math.factorial(0), math.factorial(1), math.factorial(20), math.factorial(33)
math.comb(n, 3), math.comb(3, 5), math.comb(n, n), math.comb(120, 60), math.comb(2**40, 2), math.comb(0, 0), math.comb(2**40, 2**40 - 2)
math.sqrt(n), math.cbrt(n), math.exp(1), math.exp2(0.5), math.expm1(1e-9), math.log2(n), math.log10(n), math.log1p(1e-9)
math.log(n), math.log(n, 2), math.log(n, 3.5), math.fabs(-n), math.pow(n, 0.5), math.fmod(-7, 3), math.hypot(n, 48)
math.sin(n), math.cos(n), math.tan(n), math.asin(0.5), math.acos(0.5), math.atan(n), math.atan2(-1, -n), math.atan2(0.0, -0.0)
math.sinh(2), math.cosh(2), math.tanh(0.3), math.asinh(n), math.acosh(n), math.atanh(0.25), math.erf(0.3), math.erfc(0.3)
math.copysign(n, -0.0), math.degrees(n), math.radians(n), math.hypot(math.inf, math.nan)
math.ceil(n / 3), math.floor(-2.5), math.trunc(-2.5), math.ceil(2**60 + 1), math.floor(True), math.ceil(-0.5)
math.isinf(-math.inf), math.isnan(math.nan), math.isnan(n), math.isfinite(n), math.isfinite(math.nan), math.exp(-math.inf), math.sqrt(math.inf)
sorted((n, 3, 7)), sorted([n, 3, 7], reverse=True), sorted("bca" for _ in range(2)), sorted(range(5, 0, -2))
sorted([(1, "b"), (0, "c"), (1, "a"), (0, "d")], key=lambda v: v[0]), sorted((3, -1, 2), key=abs, reverse=True)
sorted([(1, "b"), (0, "c"), (1, "a"), (0, "d")], key=lambda v: v[0], reverse=True), sorted(["b", "a"]), sorted([])
divmod(n, 7), divmod(-n, 7), divmod(n, -7), pow(2, 5), pow(n, 0.5), pow(2, -1), repr("a"), repr(0.5)
list(map(lambda a, b: a * b, (1, 2), (3, n))), list(map(abs, (-1, 2))), list(map(str, (1, 2.5))), sum(map(int, "1,2".split(",")))
{1: 2}.get(n, 7), {"a": 1}.get("a"), {"a": 1}.get("b"), {n: 3}.get(64.0), list({"a": 1, 2: n}.items())
list({5: 100, 7: 200}), sum({5: 100, 7: 200}), list({"a": 1, (1, n): 2}.keys()), sum({"a": 1, 2: n}.values()), len({1: 2, 1.0: 3})
dict(a=n)["a"], dict(zip(("a", "b"), (1, n)))["b"], list(dict({1: 2}, b=3).items()), len(dict()), dict([(1, 2), (1, 3)])[1], dict(items=n)["items"]
list({k: k * 2 for k in (1, 2, n)}.items()), {v: k for k, v in {"a": 1, "b": 2}.items()}[2], {k: 1 for k in (1, 1.0)}.get(1)
n in range(100), n in range(0, 100, 3), n in range(64), 64.0 in range(65), 0.5 in range(9), "a" in range(3), 3 in range(5, 0, -1), 0 not in range(5, 0, -1)
"abcb".replace("b", "xy"), "abcb".replace("b", ""), "abc".replace("d", "e"), "aaa".replace("aa", "b"), "torch.float16".replace("torch.", "tl.")
" a b ".strip() + "|", "xxaxx".strip("x"), "xyaxy".lstrip("yx"), "xyaxy".rstrip("yx"), len("\\t a\\n".lstrip()), "  ".strip() + "|", "abc".strip("") + "|"
"-".join(["a", "b"]), "".join(("a", "b", "c")), ", ".join([]) + "|", "-".join(str(i) for i in range(3)), "-".join({"a": 1, "b": 2})
list(filter(None, [0, n, 1, 0.0])), list(filter(lambda v: v > 3, (1, n, 5))), list(filter(abs, [])), {**{"a": n}, "b": 1, **{"a": 2}}["a"], len({**{}, 1: 2})
list(itertools.product((1, 2), [n, 3])), list(itertools.product((1, n), repeat=2)), list(itertools.product()), list(itertools.product((), (1,))), list(itertools.product((n,), repeat=0))
"a,b,,c".split(","), "abc".split("abc"), (1, 2, n).index(n), [1, 1, 2].count(1), (1, 1.0, True).count(1), ["a", "b"].index("b"), (1,).count(2)
"""

# Statements of a function, which returns a value.
BODIES = """
t = [5, 1, 2, n]; t.extend([7]); return t.index(2)
from math import log2, gcd as g; return (int(log2(n)), g(n, 6))
import math as m, math; import os.path; return m.gcd(n, 10) + math.gcd(n, 12)
def add(v, by=2): return v + by; return add(add(n), by=n)
def fact(v): return 1 if v < 2 else v * fact(v - 1); return fact(5)
def outer(v): return inner(v); def inner(v): return (lambda u: u + v + n)(1); return outer(2)
d = {}; d[n] = 1; d["a"] = 2; d[n] = 3; return list(d.items())
d = {"a": 1}; d[2.5] = n; return sorted(d.values()) + [k for k in d]
def f(**d): return list(d.keys()) + list(dict(d, c=n).values()); return f(a=1, b=2)
a, b = {"x": 1, "y": 2}; return (a, b)
g = lambda v, w=n: (v, w); n = 3; return (g(n), [f() for f in [lambda i=i: i * n for i in range(3)]])
def g(v, w=n): return v + w + n; n = 3; return g(n)
"""

ERRORS = """
math.sqrt(-n), math.log(0), math.log(-1), math.log(n, 1), math.exp(1000), math.acos(n), math.fmod(1, 0), math.fmod(math.inf, 1)
math.pow(0.0, -1), math.pow(-8, 0.5), math.atanh(1), math.sqrt("a"), math.sqrt(), math.sqrt(1, 2)
math.gcd(1.5, 2), math.gcd("a"), math.lcm(None), math.isqrt(-1), math.isqrt(4.0), math.factorial(-1), math.factorial(2.5)
math.comb(-1, 2), math.comb(3, -1), math.comb(3), math.prod(3), math.ceil(math.inf), math.floor("a"), math.hypot("a")
sorted(3), sorted([1, "a"]), sorted([1], key=3), divmod(n, 0), divmod(n, "a"), pow("a", 2), pow(0, -1), map(abs, 3)
list(filter(3, [1])), filter(None, 3), itertools.product(3), itertools.product((1,), repeat=-1), {**3}, {**None}
max([]), max(3), max((1, "a")), max(1, 2, kee=3), (1, 2).index(3), {1: 2}[3]
dict(3), dict([1]), dict([(1, 2, 3)]), dict({}, {}), {[1]: 2}, n in range(0, 3, 0), 1 in 5
"abc".join([1]), "abc".join(3), "abc".replace("a"), "abc".replace("a", 1), "abc".strip(1), "abc".split("")
n.bit_length(1), n.bit_lenght(), (1.5).bit_length(), "a".bit_length(), None.get, {}.got(1), {}.get()
math.log(n, base=2), "a".strip(chars="b"), {1: 2}.get(1, default=3)
"""


def expressions(text):
    """The items of each line, which is a tuple."""
    import ast
    for line in text.strip().split("\n"):
        for item in ast.parse(line + ",", mode="eval").body.elts:
            yield ast.unparse(item)


def bodies():
    for line in BODIES.strip().split("\n"):
        yield "".join(f"    {part.strip()}\n" for part in line.split(";"))


HEAD = "import itertools\nimport math\nimport triton\nimport triton.language as tl\n\n"
lines, expected, refused = HEAD.split("\n")[:-1], {}, set()
calls = []


def add_function(body):
    name = f"f{len(calls)}"
    lines.extend(["@triton.constexpr_function", f"def {name}(n):"] + body.rstrip("\n").split("\n"))
    calls.append(f"{name}(B)")
    return name


def python(body):
    scope = {"itertools": itertools, "math": math}
    exec("def f(n):\n" + body, scope)
    return str(scope["f"](N))


def run(path, kernel):
    done = subprocess.run([TKC, path, "-k", kernel, f"-DB={N}", "-arch=sm_90a", "-emit=ir", "-o", "/dev/null"],
                          capture_output=True, text=True)
    return re.findall(r"^\S+?:(\d+):\d+: (note|error): (.*)$", done.stderr, re.M)


def write(path):
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


wrong = values = 0
for e in expressions(VALUES):
    want = python(f"    return {e}\n")
    add_function(f"    return {e}")
    lines.append(f"C{len(calls)} = tl.constexpr({re.sub(r'(?<![a-z_0-9.])n(?![a-z_0-9])', str(N) if not e.startswith('n.') else f'({N})', e)})")
    at_home = " for " not in e and "lambda" not in e and "map(" not in e
    expected[len(calls)] = (e, want, [calls[-1], f"C{len(calls)}"] + ([e] if at_home else []))
for body in bodies():
    want = python(body)
    add_function(body)
    expected[len(calls)] = (body, want, [calls[-1]])
lines += ["", "", "@triton.jit", "def kernel(B: tl.constexpr):", "    n: tl.constexpr = B"]
places = {}
for key, (e, want, forms) in expected.items():
    for form in forms:
        lines.append(f"    tl.static_print({form})")
        places[len(lines)] = (e, want, form)
write(PREFIX + ".py")
found = {}
for line, kind, text in run(PREFIX + ".py", "kernel"):
    if kind == "error":
        print(f"error at {line}: {text}: {lines[int(line) - 1].strip()}")
    found.setdefault(int(line), text)
for line, (e, want, form) in places.items():
    values += 1
    if found.get(line) != want:
        wrong += 1
        print(f"{form} of {e}: {found.get(line)}, Python gives {want}")

lines, calls = HEAD.split("\n")[:-1], []
for e in expressions(ERRORS):
    try:
        python(f"    return {e if 'map' not in e else f'list({e})'}\n")
        print(f"Python takes {e}")
        wrong += 1
    except Exception:
        pass
    add_function(f"    return {e}")
    refused.add(len(lines))
starts = range(0, len(calls), SHOWN)
for start in starts:
    lines += ["", "", "@triton.jit", f"def kernel{start}(B: tl.constexpr):"] + [f"    {call}" for call in calls[start:start + SHOWN]]
write(PREFIX + "-errors.py")
messages = [m for start in starts for m in run(PREFIX + "-errors.py", f"kernel{start}")]
if "-v" in sys.argv:
    for line, kind, text in messages:
        if kind == "error":
            print(f"{lines[int(line) - 1].strip():40} {text}")
for line in sorted(refused - {int(line) for line, kind, _ in messages if kind == "error"}):
    print(f"not refused: {lines[line - 1].strip()}")
    wrong += 1
print(f"{values} values, {len(refused)} errors, {wrong} wrong")
