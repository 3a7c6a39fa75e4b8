"""Small kernels for statements, expressions, types, files and rules: each is a file of its own, run on one program unless a
grid is given, and what it leaves in y (or prints, or is refused with) is written beside it. The kernel's parameters are
y (8 zeros), x = 0, 1, 2, … (int32), n = 5, f = 1.5 and C = 4 (constexpr)."""


class Snippet:
    """covers: names of rows. want: the first elements of y, as text or numbers. out, err: regular expressions that standard
    output or error must hold; err makes the run a refusal, which must not crash; note is expected beside success. cpu: only the cpu device does
    it so: it counts clocks, packs neighbours whatever a thread holds, and says what a device_assert says."""

    def __init__(self, covers, body, want=None, top="", y="i32", x="arange:i32[16]", out=None, err=None, args="",
                 grid="1", files=None, signature=None,
                 params="", cpu=False, note=None):
        self.covers = [covers] if isinstance(covers, str) else covers
        self.body, self.want, self.top, self.y, self.x = body, want, top, y, x
        self.out, self.err, self.args, self.grid, self.files, self.params = out, err, args, grid, files or {}, params
        self.signature, self.cpu, self.note = signature, cpu, note


    def but(self, part, other):
        """With one part of the body replaced."""
        self.body = self.body.replace(part, other)
        return self


def S(covers, body, want=None, **more):
    return Snippet(covers, body, want, **more)


JIT = "@triton.jit\n"

STATEMENTS = [
    S("assignment", "a = 3\nb = a\nc = d = b + 1\ntl.store(y, b)\ntl.store(y + 1, c)\ntl.store(y + 2, d)", [3, 4, 4]),
    S("assignment of tuples", "a, b = n, 7\na, b = b, a\n(c, d), e = (1, 2), 3\ntl.store(y, a)\ntl.store(y + 1, b)\n"
      "tl.store(y + 2, c + d + e)", [7, 5, 6]),
    S("assignment of tuples", "a, *b, c = 1, 2, 3, 4\ntl.store(y, a + c)\ntl.store(y + 1, len(b))\n"
      "tl.store(y + 2, b[1])", [5, 2, 3]),
    S("assignment to a parameter", "n = n * 2\nn += 1\ny += 1\ntl.store(y, n)", [0, 11]),
    S("augmented assignment", "a = n\na += 3\na -= 1\na *= 4\na //= 3\na %= 7\ntl.store(y, a)\nb = n\nb <<= 2\n"
      "b >>= 1\nb |= 1\nb &= 7\nb ^= 2\ntl.store(y + 1, b)\n"
      "c = f\nc /= 0.5\ntl.store(y + 2, c.to(tl.int32))", [(7 * 4 // 3) % 7, ((10 | 1) & 7) ^ 2, 3]),
    S("annotated assignment", "k: tl.constexpr = C * 2\nz = tl.zeros([k], tl.int32) + k\n"
      "tl.store(y + tl.arange(0, k), z)", [8] * 8),
    S("annotated assignment", "a: tl.int32 = n\ntl.store(y, a)", [5]),
    S(["constant arithmetic", "-x"], "a = -float('nan')\nb = -a\nk: tl.constexpr = -float('nan')\nc = float('inf') - float('inf')\n"
      "v = tl.full((1,), k, tl.float32)\ntl.store(y, a.to(tl.int32, bitcast=True))\ntl.store(y + 1, b.to(tl.int32, bitcast=True))\n"
      "tl.store(y + 2, v.item().to(tl.int32, bitcast=True))\ntl.store(y + 3, c.to(tl.int32, bitcast=True))",
      [-4194304, 2143289344, -4194304, 2143289344]),
    S("walrus", "if (a := n + 1) > 5:\n    tl.store(y, a)", [6]),
    S("annotated assignment", "k: tl.constexpr = C\nfor i in tl.static_range(3):\n    k: tl.constexpr = k + i\n    tl.store(y + i, k)", [4, 5, 7]),
    S("if on constexpr", "if C == 4:\n    a = 1\nelse:\n    a = undefined_name(n, 'never looked at')\ntl.store(y, a)",
      [1]),
    S("if on constexpr", "if C > 8:\n    a = 1\nelif C > 3:\n    a = 2\nelse:\n    a = 3\ntl.store(y, a)", [2]),
    S("if on constexpr", "if C == 4:\n    v = tl.arange(0, 4)\nelse:\n    v = 0.5\ntl.store(y + tl.arange(0, 4), v)",
      [0, 1, 2, 3]),
    S("if at run time", "a = 1\nif n > 3:\n    a = n * 2\n    b = 7\nelse:\n    b = 8\ntl.store(y, a)\n"
      "tl.store(y + 1, b)", [10, 7]),
    S("if at run time", "if n > 30:\n    a = 1\nelif n > 3:\n    a = 2\nelse:\n    a = 3\ntl.store(y, a)", [2]),
    S("if at run time", "v = tl.zeros((2, 4), tl.int32)\nif n == 5:\n    v += tl.arange(0, 8).reshape(2, 4)\n"
      "tl.store(y + tl.arange(0, 8).reshape(2, 4), v)", [0, 1, 2, 3, 4, 5, 6, 7]),
    S("if at run time", "if n > 3:\n    if n > 4:\n        a = 1\n    else:\n        a = 2\nelse:\n    a = 3\n"
      "tl.store(y, a)", [1]),
    S("if at run time", "p = y\nif n > 3:\n    p = y + 2\ntl.store(p, 9)", [0, 0, 9]),
    S("if at run time", "a = 1\nif n:\n    a = 2\nif n - 5:\n    a = 3\ntl.store(y, a)", [2]),
    S("if on constexpr", "if C == 4:\n    a = n\nif C == 4:\n    tl.store(y, a)\nif C != 4:\n    b = 1\nelse:\n"
      "    c = 2\n    tl.store(y + 1, c)", [5, 2]),
    S("conditional expression", "a = 1 if C == 4 else undefined_name\nb = n if n > 7 else 7\ntl.store(y, a)\n"
      "tl.store(y + 1, b)", [1, 7]),
    S("for over range", "s = 0\nfor i in range(5):\n    s += i\ntl.store(y, s)", [10]),
    S("for over range", "s = 0\nfor i in range(2, n):\n    s += i\ntl.store(y, s)\nt = 0\nfor i in range(0, n, 2):\n"
      "    t = t * 10 + i\ntl.store(y + 1, t)", [9, 24]),
    S("for over range", "s = 0\nfor i in range(n, 0, -1):\n    s = s * 10 + i\ntl.store(y, s)\n"
      "for i in range(10, 0, -4):\n    s = i\ntl.store(y + 1, s)", [54321, 2]),
    S("for over range", "s = 7\nfor i in range(n, n):\n    s = 1\nfor i in range(5, 2):\n    s = 2\ntl.store(y, s)",
      [7]),
    S("for over range", "s = 0\nfor i in range(0, n):\n    for j in range(i, n):\n        s += j - i\ntl.store(y, s)",
      [sum(j - i for i in range(5) for j in range(i, 5))]),
    S("for over range", "s = tl.zeros([4], tl.int32)\np = x\nfor _ in range(0, 3):\n"
      "    s += tl.load(p + tl.arange(0, 4))\n    p += 4\ntl.store(y + tl.arange(0, 4), s)", [12, 15, 18, 21]),
    S("for over range", "a, b = 0, 1\nfor i in range(n + 5):\n    a, b = b, a + b\ntl.store(y, a)", [55]),
    S("for over range", "last = 0\nfor i in range(0, 10, step=3):\n    last = i\ntl.store(y, last)", [9]),
    S("for variable's type", "i64 = n.to(tl.int64)\nfor i in range(0, i64):\n"
      "    tl.static_assert(i.dtype == tl.int64)\nfor i in range(0, n):\n    tl.static_assert(i.dtype == tl.int32)\n"
      "tl.store(y, 1)", [1]),
    S("tl.range", "s = 0\nfor i in tl.range(0, n, num_stages=3, loop_unroll_factor=2, warp_specialize=False, flatten=True, disallow_acc_multi_buffer=True, disable_licm=True):\n    s += i\n"
      "for i in tl.range(n):\n    s += 1\nfor i in tl.range(1, n, 2):\n    s += 100\n"
      "for i in tl.range(arg1=0, arg2=4, step=2):\n    s += 1000\ntl.store(y, s)", [10 + 5 + 200 + 2000]),
    S("tl.static_range", "s = tl.zeros([1], tl.int32)\nfor i in tl.static_range(3):\n"
      "    s += tl.full((1,), i + 1, tl.int32)\nfor i in tl.static_range(2, 8, 3):\n"
      "    tl.static_assert(i == 2 or i == 5)\n    s += i\n"
      "for i in tl.static_range(3, 0, -1):\n    s += i\nfor i in tl.static_range(0, C):\n    s += 100\n"
      "tl.store(y + tl.arange(0, 1), s)", [6 + 7 + 6 + 400]),
    S("tl.static_range", "s = 0\nfor i in tl.static_range(arg1=0, arg2=6, step=2):\n    s += i\ntl.store(y, s)", [6]),
    S("while", "i = n\ns = 0\nwhile i > 0:\n    s += i\n    i -= 2\ntl.store(y, s)", [9]),
    S("while", "i = 0\nwhile tl.condition(i < n, disable_licm=True):\n    i += 2\ntl.store(y, i)", [6]),
    S("while", "a = n\nb = 35\nwhile b != 0:\n    a, b = b, a % b\ntl.store(y, a)", [5]),
    S("while", "i = 0\nwhile i < n and tl.load(x + i) < 3:\n    i += 1\ntl.store(y, i)", [3]),
    S("while", "v = tl.arange(0, 8)\nwhile tl.max(v, 0) < 50:\n    v = v * 2\ntl.store(y + tl.arange(0, 8), v)",
      [0, 8, 16, 24, 32, 40, 48, 56]),
    S("while", "while tl.load(x) == 0:\n    pass\ntl.store(y, 1)", [1]),
    S("while", "i = 0\nwhile tl.load(x) == 0:\n    i += 1\ntl.store(y, 1)", [1]),
    S("while", "i = 0\nwhile i != n:\n    i += 2\ntl.store(y, 1)", [1]),
    S("while", "while tl.load(x + 1, volatile=True) == 0:\n    pass\nwhile tl.atomic_add(x + 1, 1) < 7:\n    pass\n"
      "tl.store(y, tl.load(x + 1))", [8]),
    S("return", "if n > 3:\n    tl.store(y, 1)\n    return\ntl.store(y, 2)", [1]),
    S("return", "pid = tl.program_id(0)\nif pid >= 3:\n    return\nif pid == 1:\n    tl.store(y + pid, 10)\n"
      "    return\ntl.store(y + pid, pid + 1)", [1, 10, 3, 0, 0], grid="6"),
    S("return of a value", "tl.store(y, pick(n))\ntl.store(y + 1, pick(-n))\nq, r = both(17, n)\ntl.store(y + 2, q)\n"
      "tl.store(y + 3, r)", [10, 5, 3, 2],
      top=JIT + "def pick(v):\n    if v > 0:\n        return v * 2\n    return -v\n" + JIT + "def both(a, b):\n"
      "    return a // b, a % b\n"),
    S("return of a value", "tl.store(y, grade(n))\ntl.store(y + 1, grade(n * 10))\ntl.store(y + 2, grade(-n))",
      [2, 1, 3],
      top=JIT + "def grade(v):\n    if v > 20:\n        return 1\n    else:\n        if v > 0:\n            return 2\n"
      "        else:\n            v = 3\n    return v\n"),
    S("pass and docstrings", '"""What it does."""\npass\n"a stray string"\nif n > 0:\n    pass\n...\ntl.store(y, 1)',
      [1]),
    S("assert", 'assert n == 5, "n is five"\nassert C == 4\ntl.store(y, 1)', [1]),
    S("assert", 'assert n == 6, "n is not six"', err=r"n is not six|CUDA_ERROR"),
    S("device_assert", 'tl.device_assert(tl.arange(0, 4) < 3, "too large", mask=tl.arange(0, 4) < 3)\n'
      'tl.device_assert(n > 0, msg="positive")\ntl.store(y, 1)', [1]),
    S("device_assert", 'tl.device_assert(tl.load(x + tl.arange(0, 4)) < 3, "too large")', err=r"too large|CUDA_ERROR"),
    S("store", "(y + 1 + tl.arange(0, 3)).store(n, mask=tl.arange(0, 3) < 2)\ny.store(7)", [7, 5, 5, 0]),
    S("expect_zero", "v = tl.load(x + tl.arange(0, 4))\nr = tl.expect_zero(v, v < 1)\ntl.store(y + tl.arange(0, 4), r)\n"
      "tl.store(y + 4, tl.expect_zero(n, mask=n < 5))\ntl.store(y + 5, tl.expect_zero(tl.zeros([4, 1], tl.float32), v > 0).shape[0])",
      [0, 1, 2, 3, 5, 4]),
    S("expect_zero", "v = tl.load(x + tl.arange(0, 4)) * 0.5\ntl.store(y + tl.arange(0, 4), tl.expect_zero(v, v < 1).to(tl.int32))",
      err=r"expected to be 0|CUDA_ERROR"),
    S("print", 'print("n is", n)\nprint("C", C, sep=" ", end="", flush=True)', out=r"n is.*5"),
    S("device_print", 'tl.device_print("v =", tl.arange(0, 4) * n)\ntl.device_print("hex", n, hex=True)',
      out=r"v =[\s\S]*15"),
    S("device_print", 'pid = tl.program_id(0)\nif pid == 1:\n    tl.device_print("pid", pid)', out=r"pid.*1", grid="3"),
    S("static_print", 'tl.static_print("C is", C, sep=" ", end="", flush=True)', [0], note=r"C is 4"),
    S("static_assert", 'tl.static_assert(C == 4, "C is four")\ntl.static_assert(cond=C < 5, msg="small")\n'
      'tl.store(y, 1)', [1]),
    S("static_assert", 'tl.static_assert(C == 5, f"C is {C}")', err=r"static assertion failed.*C is 4"),
    S("raise", 'if C == 5:\n    raise ValueError("never")\ntl.store(y, 1)', [1]),
    S("jn", "libdevice.jn(2, f)", err=r"jn is not in the library; the orders 0 and 1 are: j0, j1"),
    S("yn", "tl.math.yn(2, f)", err=r"yn is not in the library; the orders 0 and 1 are: y0, y1"),
    S("jn", "tl.math.jn(n, f)", err=r"jn is not in the library"),
    S("yn", "libdevice.yn(n, f)", err=r"yn is not in the library"),
    S("raise", 'if C == 4:\n    raise ValueError("four is refused")', err=r"four is refused"),
    S("refused statements", "with open('x') as g:\n    pass", err=r"with"),
    S("refused statements", "try:\n    a = 1\nexcept ValueError:\n    a = 2", err=r"try"),
    S("refused statements", "def inner(a):\n    return a\ntl.store(y, inner(n))", err=r"def|function"),
    S("refused statements", "for i in range(0, n):\n    if i == 2:\n        break", err=r"break"),
    S("refused statements", "i = 0\nwhile i < n:\n    i += 1\n    continue", err=r"continue"),
    S("refused statements", "a = {n: 2}[1]", err=r"dict"),
    S("refused statements", "tl.store(y, up(n))", err=r"recurs", top=JIT + "def up(a):\n    return up(a - 1) + 1\n"),
    S("refused statements", "class Inner:\n    pass", err=r"class"),
    S("refused statements", "i = 0\nwhile i < n:\n    i += 1\n    break", err=r"break"),
    S("refused statements", "if tl.arange(0, 4) > 2:\n    tl.store(y, 1)", err=r"condition[\s\S]*block<4xint1>"),
    S("refused statements", "if n > 3:\n    a = 1\ntl.store(y, a)", err=r"'a'"),
    S("refused statements", "for i in range(0, n):\n    a = i\ntl.store(y, a)", err=r"'a'"),
    S("refused statements", "if n > 3:\n    a = 1\nelse:\n    a = 0.5\ntl.store(y, a)",
      err=r"Mismatched type for a: [\s\S]*fp32"),
    S("refused statements", "if C == 5:\n    with open('x') as g:\n        pass\n    try:\n        pass\n    finally:\n"
      "        pass\n    a = {1: 2}\ntl.store(y, 1)", [1]),
    S("break at compile time", "s = 0\nfor i in tl.static_range(10):\n    if i == 3:\n        break\n    if i == 1:\n"
      "        continue\n    s += i\ntl.store(y, s)", [2]),
]

# What runs while compiling, here and there.
TELLS = """import itertools
import math
@triton.constexpr_function
def told(c):
    t = [c, 9]
    d = dict(a=2, **{"b": c})
    numbers = math.gcd(c, 6) + math.lcm(c, 6) + math.isqrt(c) + math.factorial(c) + math.comb(c, 2) + math.prod(t, start=2)
    reals = round(math.degrees(math.radians(c))) + math.trunc(2.5)
    chosen = sorted(t, key=lambda v: v, reverse=True)[0] + divmod(c, 3)[1] + pow(c, 2)
    items = sum(map(abs, t)) + t.index(9) + t.count(9) + d.get("a") + len(d.keys()) + sum(d.values()) + list(d.items())[0][1]
    items += len(list(filter(lambda v: v[0] < v[1], itertools.product(t, repeat=2))))
    text = "-".join([" 1", repr(0.5)])
    text = text.replace("0.", "x")
    text = text.strip()
    text = text.lstrip("1")
    text = text.rstrip("5")
    return (numbers, reals, chosen, items, (1000 if text == "-x" else 0) + 10 * c.bit_length() + c.bit_count())
"""
TOLD = [118, 6, 26, 28, 1031]

EXPRESSIONS = [
    S("comparison chains", "tl.store(y, (n > 1 & n < 9).to(tl.int32))", err=r"'&' binds more tightly than '>'"),
    S("comparison chains", "tl.store(y, ((n > 1) & (n < 9)).to(tl.int32))\ntl.store(y + 1, (0 < (n & 4) < 6).to(tl.int32))", [1, 1]),
    S("comparison chains", "a = 0 < n < 6\nb = 0 < n <= 4\ntl.store(y, a.to(tl.int32))\n"
      "tl.store(y + 1, b.to(tl.int32))\ntl.store(y + 2, 1 if 1 < C < 9 else 0)", [1, 0, 1]),
    S("and, or, not", "a = n > 3 and n < 10\nb = n > 7 or n == 5\nc = not n > 7\n"
      "tl.store(y, a.to(tl.int32) + 10 * b.to(tl.int32) + 100 * c.to(tl.int32))\n"
      "tl.store(y + 1, 1 if (C == 4 and not C == 5) or C else 0)", [111, 1]),
    S("and, or, not", "a = C and n\nb = 0 or n\nc = None or 7\ntl.store(y, a)\ntl.store(y + 1, b)\ntl.store(y + 2, c)",
      [5, 5, 7]),
    S("and, or, not", "v = tl.arange(0, 8)\nm = (v > 2) and (v < 6)\ntl.store(y + v, m.to(tl.int32))",
      [0, 0, 0, 1, 1, 1, 0, 0]),
    S("and, or, not", "a = n and n", err=r"int1"),
    S("is None", "a = None\nif a is None:\n    tl.store(y, 1)\nif n is not None:\n    tl.store(y + 1, 2)\n"
      "if C is None:\n    tl.store(y + 2, undefined_name)", [1, 2]),
    S("in", "if C in (1, 2, 4):\n    tl.store(y, 1)\nif C not in [3, 5]:\n    tl.store(y + 1, 2)\nif 'ab' in 'cabd':\n"
      "    tl.store(y + 2, 3)\nif x.dtype.element_ty in (tl.int32, tl.int64):\n    tl.store(y + 3, 4)", [1, 2, 3, 4]),
    S("strings", 'a = "relu" + "6"\nif a == "relu6":\n    tl.store(y, 1)\nif a != \'relu\':\n'
      '    tl.store(y + 1, len(a))\nif f"{C}-{a}" == "4-relu6":\n    tl.store(y + 2, 3)\n'
      'if a.startswith("re") and a.endswith("6") and a.upper() == "RELU6" and "AB".lower() == "ab":\n'
      '    tl.store(y + 3, 4)',
      [1, 5, 3, 4]),
    S("strings", 'if "{}, {1}".format(C, "b") == "4, b" and "a.b.c".split(".")[2] == "c" and "a".split(sep=".")[0] == "a":\n    tl.store(y, 1)',
      [1]),
    S("strings", 'if f"{C:03d}|{1.5:.2f}|{\'a\':>3}|{C!r}" == "004|1.50|  a|4":\n    tl.store(y, 1)', [1]),
    S("strings", "tl.static_assert('%s-%d%%' % ('ab', C) == 'ab-4%' and '%d' % 7.9 == '7' and '%5.2f|%-4s|%04x' % (1.5, 'a', 255) == ' 1.50|a   |00ff')\n"
      "tl.static_assert('%r %+d' % ('q', 3) == \"'q' +3\" and '%3s' % None == 'None')\ntl.store(y, 1)", [1]),
    S("strings", "a: tl.constexpr = '%d and %d' % (C,)", err=r"formats more than 1 value"),
    S("strings", "a: tl.constexpr = '%d' % (C, C)", err=r"formats 1 value, but 2 are given"),
    S("strings", "a: tl.constexpr = '%y' % C", err=r"a '%' of this string"),
    S("strings", "a: tl.constexpr = '%d' % 'text'", err=r"is not a format"),
    S("tuples", "t = (1, n, 3)\ntl.store(y, t[1])\ntl.store(y + 1, len(t))\ntl.store(y + 2, t[-1])\nu = t + (7, 8)\n"
      "tl.store(y + 3, u[3] + len(u[1:]))\nv = (2,) * 3\ntl.store(y + 4, v[0] + v[1] + v[2])", [5, 3, 3, 11, 6]),
    S("tuples", "s = 0\nfor v in (1, n, 30):\n    s += v\nfor i, v in enumerate([10, 20]):\n    s += i * v\n"
      "for a, b in zip((1, 2), (3, 4)):\n    s += a * b\nfor a in reversed((100, 200)):\n    s += a\ntl.store(y, s)",
      [36 + 20 + 11 + 300]),
    S("comprehensions", "t = [i * n for i in range(4) if i != 2]\ntl.store(y, t[0] + t[1] + t[2])\n"
      "u = tuple(a + b for a, b in ((1, 2), (3, 4)))\ntl.store(y + 1, u[0] * u[1])", [20, 21]),
    S("comprehensions", "k: tl.constexpr = [i for i in tl.static_range(3)]\ntl.store(y, k[2])", [2]),
    S("lambda", "g = lambda a, b=2: a * b + C\ntl.store(y, g(n))\ntl.store(y + 1, g(n, b=3))\n"
      "tl.store(y + 2, (lambda: 7)())", [14, 19, 7]),
    S("functions as values", "tl.store(y, apply(double, n))\ntl.store(y + 1, apply(tl.abs, -n))\ng = double\n"
      "tl.store(y + 2, g(n))\ntl.store(y + 3, apply(lambda v: v + 1, n))", [10, 5, 10, 6],
      top=JIT + "def double(a):\n    return a * 2\n" + JIT + "def apply(fn, v):\n    return fn(v)\n"),
    S("functions as values", "tl.store(y, run(n, ACT))\ntl.store(y + 1, run(n, None))", [25, 5],
      top=JIT + "def square(a):\n    return a * a\nACT = square\n" + JIT + "def run(v, act: tl.constexpr):\n"
      "    if act is not None:\n        v = act(v)\n    return v\n"),
    S("helper arguments", "tl.store(y, h(n))\ntl.store(y + 1, h(n, 2))\ntl.store(y + 2, h(a=n, c=1))\n"
      "tl.store(y + 3, h(*(n, 2, 3)))\nt = (2, 3)\ntl.store(y + 4, h(n, *t))\ntl.store(y + 5, h(n, K=8))",
      [4512, 4522, 4511, 4523, 4523, 8512],
      top=JIT + "def h(a, b=1, c=2, K: tl.constexpr = 4):\n    return K * 1000 + a * 100 + b * 10 + c\n"),
    S("helper arguments", "f2(y, n, C=3)\nf2(y + 1, n, 9)", [8, 14],
      top=JIT + "def f2(p, v, C: tl.constexpr):\n    tl.store(p, v + C)\n"),
    S("dicts and sets at compile time", "tl.store(y, g(**{'a': 1}))", [1], top=JIT + "def g(a):\n    return a\n"),
    S("helpers", "tl.store(y, a3(n))\ntl.store(y + 1, a3(f).to(tl.int32))\nv = a3(tl.arange(0, 2))\n"
      "tl.store(y + 2 + tl.arange(0, 2), v)", [8, 4, 3, 4],
      top=JIT + "def a1(v):\n    return v + 1\n" + JIT + "def a2(v):\n    w = a1(v)\n"
      "    return a1(w)\n" + JIT + "def a3(v):\n    return a1(a2(v))\n"),
    S("helpers", "a = 1\nset_a(a)\ntl.store(y, a)", [1], top=JIT + "def set_a(a):\n    a = 2\n    return a\n"),
    S("x[:, None]", "v = tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :]\ntl.static_assert(v.shape == (2, 4))\n"
      "tl.store(y + v, v[:, :])\nw = tl.arange(0, 4)[None]\ntl.static_assert(w.shape == (1, 4))", list(range(8))),
    S("Python's builtins", "tl.store(y, min(n, 3) + max(n, 7) + abs(-n))\n"
      "tl.store(y + 1, int(2.9) + len((1, 2)) + max(1, C) + min(C, 2, 3))\n"
      "tl.store(y + 2, (float(n) * 0.5 * 2).to(tl.int32))\ntl.store(y + 3, sum([i for i in range(4)]))\n"
      "if isinstance(C, int) and isinstance(n, tl.tensor) and not isinstance(1.5, int):\n    tl.store(y + 4, 1)\n"
      "if bool(C) and any((0, 1)) and all([1, 2]) and str(C) == '4' and round(2.5) == 2 and round(2.25, 1) == 2.2:\n"
      "    tl.store(y + 5, 1)\n"
      "if float('inf') > 1e300 and type(C) == int:\n    tl.store(y + 6, tuple([7])[0] + list((1,))[0])\n"
      "tl.store(y + 7, int(float(C)))", [15, 10, 5, 6, 1, 1, 8, 4]),
    S("Python's builtins", "if int(x=2.5) == 2 and float(x=1) == 1.0 and bool(x=1) and str(x=5) == '5' and round(2.25, ndigits=1) == 2.2 and sum([1], start=2) == 3:\n    tl.store(y, 1)\n"
      "if tuple(items=[1]) == (1,) and len(list(items=(1, 2))) == 2 and [i for i, _ in enumerate((7, 8), start=3)][1] == 4 and 'AB'.lower() == 'ab':\n    tl.store(y + 1, 1)", [1, 1]),
    S("constant arithmetic", "a: tl.constexpr = 7 // 2 + (-7) // 2 + (-7) % 3 + 2 ** 5 + (1 << 4) + (7 ^ 2) + (6 & 3) + (6 | 1) + ~0\ntl.store(y, a)\nb: tl.constexpr = 7 / 2\ntl.store(y + 1, int(b * 2))\n"
      "tl.store(y + 2, -7 // 2 + tl.zeros([1], tl.int32).sum(0))\nm = -n - 2\ntl.store(y + 3, m // 2)\n"
      "tl.store(y + 4, m % 3)", [3 - 4 + 2 + 32 + 16 + 5 + 2 + 7 - 1, 7, -4, -3, -1]),
    S("Python's builtins", "import_free = getattr(tl, 'arange')\ntl.store(y + import_free(0, 2), getattr(n, 'nothing', C))\n"
      "if hasattr(n, 'dtype') and not hasattr(n, 'nothing') and hasattr(tl, 'gather') and not hasattr(tl, 'nothing'):\n"
      "    for i in builtins.range(2):\n        tl.store(y + 2 + i, builtins.max(i, builtins.len((1, 2))))\n"
      "if isinstance(y.type, tl.pointer_type) and isinstance(import_free(0, 2).type, tl.block_type) and isinstance(y.type, tl.dtype):\n"
      "    tl.store(y + 4, 1)", [4, 4, 2, 2, 1], top="import builtins\n"),
    S("Python's builtins", "getattr(n, 'nothing')", err=r"has no attribute 'nothing'"),
    S("Python's builtins", "tl.store(y, 1 if hasattr(tl.math, '') else 2)", [2]),
    S("Python's builtins", "hasattr(n, 3)", err=r"a string"),
    S(["Python's builtins", "constexpr_function"], "for i in tl.static_range(5):\n    tl.store(y + i, told(C)[i])", TOLD, top=TELLS),
    S("Python's builtins", "getattr(n, 3)", err=r"a string"),
    S("Python's builtins", "getattr(n, 'dtype', 1, 2)", err=r"getattr takes at most 3 arguments"),
    S("constant arithmetic", "a: tl.constexpr = 1 // 0", err=r"zero"),
    S("reflection", "v = tl.zeros((2, 4), tl.float16)\n"
      "tl.static_assert(v.dtype == tl.float16 and v.type.element_ty == tl.float16 and v.shape == (2, 4) and v.numel == 8)\n"
      "tl.static_assert(x.dtype.element_ty == tl.int32 and x.type.element_ty.is_int() and x.dtype.is_ptr())\n"
      "tl.static_assert(v.dtype.is_floating() and v.dtype.is_fp16() and not v.dtype.is_bf16() and v.dtype.primitive_bitwidth == 16)\n"
      "tl.static_assert(n.dtype.is_int_signed() and n.dtype.int_bitwidth == 32 and tl.uint8.is_int_unsigned() and tl.float32.is_fp32() and tl.float64.is_fp64() and tl.bfloat16.is_bf16())\n"
      "tl.static_assert(v.shape[1] == 4 and len(v.shape) == 2 and C == 4)\nc: tl.constexpr = 6\n"
      "tl.store(y, c.value + v.shape[0])", [8]),
    S("reflection", "p = tl.pointer_type(tl.float32, address_space=1, const=False)\n"
      "tl.static_assert(p.is_ptr() and p.element_ty == tl.float32)\nb = tl.block_type(tl.int8, [4, 4])\n"
      "tl.static_assert(b.is_block() and b.shape == (4, 4) and b.numel == 16 and b.get_block_shapes() == (4, 4))\n"
      "tl.static_assert(tl.int1.is_int1() and tl.int1.is_bool() and tl.int8.is_int8() and tl.int16.is_int16() and tl.int32.is_int32() and tl.int64.is_int64())\n"
      "tl.static_assert(tl.uint8.is_uint8() and tl.uint16.is_uint16() and tl.uint32.is_uint32() and tl.uint64.is_uint64() and tl.float8e4nv.is_fp8() and tl.float8e4nv.is_fp8e4nv() and tl.float8e5.is_fp8e5())\n"
      "tl.static_assert(not tl.float8e5.is_fp8e4b8() and not tl.float8e5.is_fp8e4b15() and not tl.float8e5.is_fp8e5b16() and tl.float32.is_standard_floating() and tl.int32.is_integer() and not tl.int32.is_block() and not tl.int32.is_void() and not tl.int32.is_const() and tl.int32.is_dtype())\n"
      "tl.static_assert(tl.int8.get_int_min_value() == -128 and tl.uint16.get_int_max_value() == 65535 and tl.int64.get_int_max_value() == 9223372036854775807)\n"
      "tl.static_assert(tl.float32.name == 'fp32' and tl.dtype('fp16') == tl.float16 and tl.float32.itemsize == 4)\n"
      "tl.store(y, 1)", [1]),
    S("reflection", "tl.static_assert(x.dtype.element_ty.kind() == tl.dtype.KIND.INTEGRAL and f.dtype.kind() == tl.dtype.KIND.FLOATING)\n"
      "tl.static_assert((n > 0).dtype.kind() == tl.dtype.KIND.BOOLEAN and tl.int8.kind().value < tl.float16.kind().value)\n"
      "tl.static_assert(tl.int8.int_signedness == tl.dtype.SIGNEDNESS.SIGNED and tl.int1.int_signedness == tl.dtype.SIGNEDNESS.UNSIGNED)\n"
      "t: tl.constexpr = (x + tl.arange(0, 4)[:, None] + tl.arange(0, 2)).type.with_element_ty(element_ty=tl.int8)\n"
      "tl.static_assert(t == tl.block_type(tl.int8, [4, 2]) and n.type.with_element_ty(tl.int64) == tl.int64)\ntl.store(y, 1)", [1]),
    S("reflection", "x.dtype.kind()", err=r"'self' of .kind must be a number's type, found the type \*int32"),
    S("reflection", "tl.dtype.KINDS", err=r"has no attribute 'KINDS'"),
    S("reflection", "n.type.with_element_ty(3)", err=r"'element_ty' of .with_element_ty must be a type such as tl.float32"),
    S("call of a dtype", "a = tl.float32(n)\nb = tl.int64(3)\n"
      "tl.static_assert(a.dtype == tl.float32 and b.dtype == tl.int64)\ntl.store(y, (a * 2).to(tl.int32))", [10]),
    S("item", "v = tl.arange(0, 1) + n\ntl.store(y, v.item())", [5]),
    S("dicts and sets at compile time", "d = {'a': 1, 'b': n}\ntl.store(y, d['a'] + d['b'])\n"
      "tl.store(y + 1, 1 if C in {1, 4} else 0)", [6, 1]),
    S("dicts and sets at compile time", "tl.store(y, pick(C))\nd = {tl.int8: 3, (1, 'a'): n}\n"
      "tl.store(y + 1, d[tl.int8] + d[1, 'a'])", [27, 8],
      top="@triton.constexpr_function\ndef pick(c):\n    t = {4: 'a', 8: 'b', True: 1, 1.0: 2, None: 3, '4': 4}\n"
      "    assert c in t and 'a' not in t and 3 not in t\n    t[64] = 10\n    t[64] += 8\n"
      "    return t[64] + t[1] + t[None] + t['4'] if t[c] == 'a' else 0\n"),
    S("lists", "s = [n, 2]\ns2 = s + [3]\ntl.store(y, s2[0] + s2[1] + s2[2] + len(s2))", [13]),
]

COMPILE_TIME = [
    S("triton.cdiv", "a: tl.constexpr = triton.cdiv(7, 2)\ntl.store(y, a)\ntl.store(y + 1, tl.cdiv(n, 2))\n"
      "tl.store(y + 2, triton.next_power_of_2(C + 1))\ntl.store(y + 3, triton.next_power_of_2(1))\n"
      "tl.store(y + 4, triton.constexpr_next_power_of_2(9) + tl.constexpr_next_power_of_2(3))",
      [4, 3, 8, 1, 20]),
    S("triton.cdiv", "tl.static_assert(tl._log2(8) == 3 and tl._is_power_of_two(8) and not tl._is_power_of_two(6))\n"
      "tl.store(y, 1)", [1]),
    S("constexpr", "a = tl.constexpr(6)\nv = tl.zeros([a], tl.int32) + a\ntl.store(y + tl.arange(0, a), v)\n"
      "tl.static_assert(tl.constexpr(value=3) == 3)", [6] * 6),
    S("get_int_dtype", "t: tl.constexpr = tl.get_int_dtype(16, True)\ntl.static_assert(t == tl.int16)\n"
      "tl.static_assert(tl.get_int_dtype(bitwidth=64, signed=False) == tl.uint64)\ntl.store(y, n.to(t))", [5]),
    S("tuple", "t = tl.tuple((1, n))\nu = tl.tuple(args=(2,))\ntl.store(y, t[1] + len(t) - 2 + u[0])", [7]),
    S("target_info", "if tl.target_info.is_cuda() and not tl.target_info.is_hip() and not tl.target_info.is_hip_cdna3() and not tl.target_info.is_hip_cdna4() and not tl.target_info.is_hip_gfx1250():\n    tl.store(y, 1)\nif tl.target_info.cuda_capability_geq(7, 0) and tl.target_info.cuda_capability_geq(major=7, minor=5) and not tl.target_info.cuda_capability_geq(99):\n    tl.store(y + 1, 1)\n"
      "if tl.target_info.current_target().backend == 'cuda':\n    tl.store(y + 2, 1)", [1, 1, 1]),
    S("extra", "tl.store(y, tl.extra.cuda.num_warps())\ntl.store(y + 1, tl.extra.cuda.num_threads())", [8, 256],
      args="-num-warps=8"),
    S("hints", "v = tl.multiple_of(tl.arange(0, 8), 8)\nv = tl.max_contiguous(v, [8])\n"
      "w = tl.max_constancy(v // 8, values=8)\ntl.assume(n > 0)\nm = tl.multiple_of(input=n * 8, values=8)\n"
      "tl.store(y + v, v + w + m)", [40 + i for i in range(8)]),
    S("debug_barrier", "tl.store(y, 1)\ntl.debug_barrier()\ntl.store(y + 1, 2)", [1, 2]),
    S("swizzle2d", "for k in range(0, 6):\n    i, j = tl.swizzle2d(k // 2, k % 2, 3, 2, 2)\n"
      "    tl.store(y + i * 2 + j, k)", [0, 2, 1, 3, 4, 5]),
    S("program_id", "p = tl.program_id(0) + 2 * tl.program_id(1) + 4 * tl.program_id(axis=2)\n"
      "tl.static_assert(p.dtype == tl.int32)\ntl.store(y + p, 1 + tl.program_id(0) + 10 * tl.program_id(1) + 100 * tl.program_id(2))", [1, 2, 11, 12, 101, 102, 111, 112], grid="2,2,2"),
    S("num_programs", "if tl.program_id(0) == 1 and tl.program_id(1) == 2:\n    tl.store(y, tl.num_programs(0))\n"
      "    tl.store(y + 1, tl.num_programs(axis=1))\n    tl.store(y + 2, tl.num_programs(2))", [2, 3, 1], grid="2,3"),
    S("map_elementwise", "v = tl.map_elementwise(step, tl.arange(0, 8), n)\ntl.store(y + tl.arange(0, 8), v)\n"
      "a, b = tl.map_elementwise(two, tl.arange(0, 4), pack=1)\ntl.store(y + tl.arange(0, 4), a + b)",
      [1, 3, 5, 7, 9, 10, 11, 12],
      top=JIT + "def step(a, b):\n    return a + b\n" + JIT + "def two(a):\n    return a, a + 1\n"),
    S("map_elementwise", "q, r = tl.map_elementwise(both, tl.arange(0, 4), n, pack=2)\ntl.store(y + tl.arange(0, 4), q)\n"
      "tl.store(y + 4 + tl.arange(0, 4), r)",
      top="@triton.jit\ndef both(a0, a1, n0, n1):\n    return a0 + n0, a1 * n1 if a1 > 2 else 0, a1 % 2, a0\n", want=[5, 0, 7, 15, 1, 0, 1, 2]),
    S("map_elementwise", "(v,) = tl.map_elementwise(back, tl.arange(0, 6).reshape(2, 3) , pack=2)\n"
      "tl.store(y + tl.arange(0, 6).reshape(2, 3), v)",
      top="@triton.jit\ndef back(a, b):\n    return b, a\n", want=[1, 0, 3, 2, 5, 4]),
    S("map_elementwise", "tl.map_elementwise(lambda a, b: a + b, tl.arange(0, 6), pack=2)", err="gives 2 values for each result, found 1"),
    S("map_elementwise", "tl.map_elementwise(lambda a, b, c, d: (a, b, c, d), tl.arange(0, 6), pack=4)",
      err="'pack' of tl.map_elementwise must be a divisor of the 6 elements"),
    S("map_elementwise", "tl.map_elementwise(lambda a, b: (a, b + 0.5), tl.arange(0, 6), pack=2)",
      err="the 2 elements of a result must have one type, found int32 and fp32"),
    S("map_elementwise", "tl.map_elementwise(lambda a: a, tl.arange(0, 6), pack=3)", err="must be 1, 2, 4, 8 or 16"),
    S("device_assert", "v = tl.load(x + tl.arange(0, 5))\ntl.store(y, tl.reduce(v, 0, checked))",
      top="@triton.jit\ndef checked(a, b):\n    tl.device_assert(a > 0, 'small')\n    return a + b\n", x="zeros:i32[8]", err="device-side assert failed: small", cpu=True),
    S("device_assert", "v = tl.arange(0, 5) + 1\ntl.store(y, tl.reduce(v, 0, checked))\n"
      "tl.store(y + 1 + tl.arange(0, 5), tl.associative_scan(v, 0, checked))",
      top="@triton.jit\ndef checked(a, b):\n    tl.device_assert(a > 0, 'small')\n    assert b < 16\n    return a + b\n",
      want=[15, 1, 3, 6, 10, 15]),
    S("map_elementwise", "v = tl.map_elementwise(collatz, tl.arange(0, 8))\ntl.store(y + tl.arange(0, 8), v)",
      [0, 4, 1, 10, 2, 16, 3, 22],
      top=JIT + "def collatz(a):\n    if a % 2 == 0:\n        return a // 2\n    else:\n        return 3 * a + 1\n"),
    S("inline_asm_elementwise", 'v = tl.inline_asm_elementwise(asm="add.s32 $0, $1, $2;", constraints="=r,r,r", args=[tl.arange(0, 8), n], dtype=tl.int32, is_pure=True, pack=1)\ntl.store(y + tl.arange(0, 8), v)', list(range(5, 13))),
    S("chip", "tl.extra.cuda.gdc_wait()\ntl.extra.cuda.gdc_launch_dependents()\ntl.store(y, 1)", [1]),
    S("chip", "a = tl.extra.cuda.globaltimer()\nb = tl.extra.cuda.smid()\n"
      "tl.store(y, (a > 0).to(tl.int32) + (b >= 0).to(tl.int32))", [2]),
]

SEMANTICS = [
    S("constants become typed", "s = 0.5\nv = tl.zeros([4], tl.bfloat16) + 3.0\n"
      "tl.static_assert(v.dtype == tl.bfloat16)\ntl.static_assert((v * s).dtype == tl.float32)\n"
      "tl.static_assert((v * 0.5).dtype == tl.bfloat16)\nk: tl.constexpr = 0.5\n"
      "tl.static_assert((v * k).dtype == tl.bfloat16)\n"
      "tl.static_assert(scale(v, 0.5).dtype == tl.bfloat16)\ni = 1\nw = tl.zeros([4], tl.int8)\n"
      "tl.static_assert((w + i).dtype == tl.int32 and (w + 1).dtype == tl.int8)\nfor j in tl.static_range(2):\n"
      "    tl.static_assert((w + j).dtype == tl.int8)\n"
      "b = True\ntl.static_assert((w + b).dtype == tl.int8)\ntl.store(y, 1)", [1],
      top=JIT + "def scale(v, s):\n    return v * s\n"),
    S("constants become typed", "b = 8\nv = tl.arange(0, b)\nif b == 8:\n    tl.store(y + v, v)", list(range(8))),
    S("an argument equal to 1", "tl.static_assert(n.dtype == tl.int32)\nn += 1\ntl.store(y, n)", [2], args="n=1"),
    S("constants out of range", "v = tl.zeros([4], tl.int8) + 300", err=r"300"),
    S("constants out of range", "v = tl.zeros([4], tl.uint8) + (-1)", err=r"-1"),
    S("operators that are refused", "a = n // n.to(tl.uint32)", err=r"sign"),
    S("operators that are refused", "a = n % n.to(tl.uint32)", err=r"sign"),
    S("operators that are refused", "a = n / n.to(tl.uint32)", err=r"sign"),
    S("operators that are refused", "a = f // 2.0", err=r"floor|integers"),
    S("operators that are refused", "a = f & 1", err=r"integers"),
    S("operators that are refused", "a = tl.zeros([4], tl.float8e5) + tl.arange(0, 4)", err=r"fp8"),
    S("operators that are refused", "a = n ** 2", err=r"\*\*"),
    S("operators that are refused", "a = tl.clamp(n, 0, 3)", err=r"float"),
    S("wrapping", "a = tl.load(x) + 2147483647\ntl.store(y, a + 1)\nb = (tl.load(x + 3) + 253).to(tl.uint8)\n"
      "tl.store(y + 1, b + 1)", [-2147483648, 1]),
    S("edges of // and %", "z = tl.load(x)\ntl.store(y, n // z)\ntl.store(y + 1, n % z)\nm = z - 2147483647 - 1\n"
      "tl.store(y + 2, m // (z - 1))\ntl.store(y + 3, m % (z - 1))\ntl.store(y + 4, (z - 7) // 2)\n"
      "tl.store(y + 5, (z - 7) % 2)", [0, 5, -2147483648, 0, -3, -1]),
    S("edges of shifts", "w = tl.load(x + 8) * 4\ntl.store(y, n << w)\ntl.store(y + 1, n >> w)\n"
      "tl.store(y + 2, (0 - n) >> w)\ntl.store(y + 3, (0 - n) >> 1)\n"
      "tl.store(y + 4, ((0 - n).to(tl.uint32, bitcast=True) >> 31).to(tl.int32))", [0, 0, -1, -3, 1]),
    S("edges of casts", "z = tl.load(x).to(tl.float32)\ntl.store(y, (z / z).to(tl.int32))\n"
      "tl.store(y + 1, (z + 1e20).to(tl.int32))\ntl.store(y + 2, (z - 1e20).to(tl.int32))\n"
      "tl.store(y + 3, (z - 1.9).to(tl.int32))\ntl.store(y + 4, (z + 300.0).to(tl.uint8).to(tl.int32))\n"
      "tl.store(y + 5, (z + 0.5).to(tl.int1).to(tl.int32))",
      [0, 2147483647, -2147483648, -1, 255, 1]),
    S("masked loads read 0", "v = tl.load(x + tl.arange(0, 8), mask=tl.arange(0, 8) < 3)\n"
      "tl.store(y + tl.arange(0, 8), v + 1)", [1, 2, 3, 1, 1, 1, 1, 1]),
    S("load arguments that are refused", "v = tl.load(x + tl.arange(0, 8), other=1)", err=r"mask"),
    S("load arguments that are refused", "v = tl.load(x, boundary_check=(0,))", err=r"block pointer"),
    S("load arguments that are refused", 'v = tl.load(x, padding_option="zero")', err=r"block pointer"),
    S("where casts its condition", "v = tl.where(tl.arange(0, 4) - 2, 1, 0)\ntl.store(y + tl.arange(0, 4), v)",
      [1, 1, 0, 1]),
    S("atomics that are refused", "tl.atomic_xchg(y.to(tl.pointer_type(tl.float16)), 1.0)", err=r"fp16"),
    S("atomics that are refused", 'tl.atomic_add(y, 1, sem="sequential")', err=r"sem"),
    S("dot that is refused", "a = tl.zeros((16, 16), tl.uint8)\nb = tl.dot(a, a)", err=r"uint8|int8"),
    S("dot that is refused", "a = tl.zeros((16, 16), tl.float16)\nb = tl.dot(a, a, out_dtype=tl.bfloat16)",
      err=r"bfloat16|bf16"),
    S("dot that is refused", "a = tl.zeros((16, 16), tl.float16)\nb = tl.dot(a, a.to(tl.float32))", err=r"one type"),
    S("fp contraction", "a = f * f + f\ntl.store(y, a)", ["3.75"], y="fp32", args="-ffp-contract=off"),
    S("any block size", "v = tl.arange(0, 7)\nw = tl.load(x + v)\ntl.store(y, tl.sum(w, 0))\n"
      "tl.store(y + 1 + v, w, mask=v < 3)\nu = tl.zeros((3, 5), tl.int32) + 1\n"
      "tl.store(y + 4, tl.sum(tl.sum(u, 1), 0))", [21, 0, 1, 2, 15]),
    S("out of bounds is reported", "v = tl.load(x + tl.arange(0, 32))\ntl.store(y, tl.sum(v, 0))",
      err=r"x|bounds|outside", cpu=True),
]

EXTENTS = [
    S("declared extents", "i = tl.arange(0, 4)[:, None]\nj = tl.arange(0, 4)[None, :]\nv = m[i, j]\n"
      "tl.store(y + tl.arange(0, 4), tl.sum(v, 1))", [3, 12, 21, 0], params='m: "*i32[M, N]", M: "i32", N: "i32"',
      args="m=arange:i32[3,3] M=3 N=3"),
    S("declared extents", "i = tl.arange(0, 4)\nv = m[i, 1]\ntl.store(y + i, v)\nw = m[2, i - 1]\n"
      "tl.store(y + 4 + i, w)", [1, 4, 7, 0, 0, 6, 7, 8], params='m: "*i32[M, N]", M: "i32", N: "i32"',
      args="m=arange:i32[3,3] M=3 N=3"),
    S("declared extents", "i = tl.arange(0, 8)\nm[i] = m[i] + 100\nv = tl.load(m + tl.arange(0, 6))\n"
      "tl.store(y + tl.arange(0, 6), v)", [100, 101, 102, 103, 104, 105], params='m: "*i32[M]", M: "i32"',
      args="m=arange:i32[6] M=6"),
    S("declared extents", "i = tl.arange(0, 2)[:, None]\nj = tl.arange(0, 4)[None, :]\n"
      "tl.store(y + i * 4 + j, m[i, j])", [0, 1, 2, 0, 4, 5, 6, 0],
      params='m: "*i32[M:s, N:1]", M: "i32", N: "i32", s: "i32"', args="m=arange:i32[8] M=2 N=3 s=4"),
    S("declared extents", "m[n, n] = 1.5", err=r"fp32|int32|dimension|index", params='m: "*i32[M]", M: "i32"',
      args="m=arange:i32[6] M=6"),
    S("declared extents", "tl.store(y, x[0])", err=r"extents|subscript|index"),
    S("descriptor arguments", "tl.store(y + tl.arange(0, 8), d.load([2]))", [2, 3, 4, 5, 0, 0, 0, 0],
      params='d: "tensordesc<i32[8]>"', args="d=arange:i32[6]"),
    S("descriptor arguments", "v = d.load([1, -1])\nd.store([-1, 0], v.to(d.dtype))\n"
      "tl.store(y + tl.arange(0, 8), tl.ravel(tl.where(v != v, -1, v).to(tl.int32)))", [-1, 8, 9, 10, -1, 16, 17, 18],
      params="d", args="-sig d=tensordesc<fp16[2,4],padding=nan> d=arange:f16[3,8]"),
    S("descriptor arguments", "tl.static_assert(isinstance(d, tl.tensor_descriptor))\ntl.static_assert(d.block_shape == [2, 4])\n"
      "tl.static_assert(d.shape[0].dtype == tl.int32 and d.strides[0].dtype == tl.int64)\n"
      "tl.store(y, d.shape[0])\ntl.store(y + 1, d.shape[1])\ntl.store(y + 2, d.strides[0])\ntl.store(y + 3, d.strides[1])\n"
      "tl.store(y + 4, tl.load(d.base + 5))", [3, 8, 8, 1, 5], params='d: "tensordesc<i32[2, 4]>"', args="d=arange:i32[3,8]"),
    S("descriptor arguments", "tl.store(y, 5 if d is None else 6)", [5], params='d: "tensordesc<i32[8]>" = None'),
    S("descriptor arguments", "d.store([0, 0], d.load([0, 0]) + 1)", err=r"multiple of 4 elements, which are 16 bytes",
      params='d: "tensordesc<i32[2, 4]>"', args="d=arange:i32[3,7]"),
]

FILES = [
    S("module constants", "tl.store(y, N)\ntl.store(y + 1, M)\ntl.store(y + 2, K[1])\nif NAME == 'abc':\n"
      "    tl.store(y + 3, 4)\ntl.store(y + 4, n.to(T).to(tl.int32))\ntl.store(y + 5, ex2(3.0).to(tl.int32))\n"
      "tl.store(y + 6, P)", [4, 5, 7, 4, 5, 8, 9],
      top='N = 4\nM: tl.constexpr = 5\nK = (6, 7)\nNAME = "abc"\nT = tl.float32\nex2 = tl.exp2\n'
      'P = tl.constexpr(N + 5)\n'),
    S("module constants", "tl.store(y, int(math.pi * 100))\ntl.store(y + 1, int(LOG2E * 1000))", [314, 1442],
      top="import math\nLOG2E = 1 / math.log(2)\n"),
    S("imports", "tl.store(y, L.cdiv(n, 2))\ntl.store(y + 1, tl.abs(-n))\ntl.store(y + 2, cdiv(n, 3))\n"
      "tl.store(y + 3, libdevice.rint(f).to(tl.int32))\ntl.store(y + 4, exp2(f * 0.0).to(tl.int32))\n"
      "tl.store(y + 5, triton.language.abs(-n))", [3, 5, 2, 2, 1, 5],
      top="import triton.language as L\nfrom triton.language import cdiv\n"
      "from triton.language.extra.cuda import libdevice\nfrom triton.language.math import exp2\n"),
    S("imports", "a = tl.extra.cuda.libdevice.rint(f)\nb = tl.extra.libdevice.rint(f)\nc = tl.math.rint(f)\n"
      "tl.store(y, (a + b + c).to(tl.int32))", [6]),
    S("imports of one tree", "tl.store(y, twice(n))\ntl.store(y + 1, deep.thrice(n))\ntl.store(y + 2, FACTOR)\n"
      "tl.store(y + 3, h.twice(n) + h.FACTOR)", [10, 15, 2, 12],
      top="from .helper import twice, FACTOR\nfrom pkg import deep\nfrom . import helper as h\n",
      files={"helper.py": "import triton\nFACTOR = 2\n@triton.jit\ndef twice(v):\n    return v * FACTOR\n",
             "pkg/__init__.py": "", "pkg/deep.py": "import triton\nfrom ..helper import twice\n@triton.jit\n"
             "def thrice(v):\n    return twice(v) + v\n"}),
    S("module-level if, try, with", "tl.store(y, a(n))\ntl.store(y + 1, b(n))\ntl.store(y + 2, c(n))", [6, 7, 8],
      top="import torch\ntry:\n    import nothing\n    " + JIT + "    def a(v):\n        return v + 1\n"
      "except ImportError:\n    pass\nif True:\n    " + JIT + "    def b(v):\n        return v + 2\nelse:\n"
      "    " + JIT + "    def b(v):\n        return v + 9\nwith torch.no_grad():\n    " + JIT + "    def c(v):\n"
      "        return v + 3\n"),
    S("host code is skipped", "tl.store(y, 1)", [1], top="import os, torch\nclass Model(torch.nn.Module):\n"
      "    def forward(self, x):\n        return [i async for i in x] if x else {**x}\nasync def host(a, /, b, *, c):\n"
      "    yield a\nfor q in range(3):\n    print(q)\nlambda: (yield)\n"
      "assert os\ndef launch(x):\n    kernel[(1,)](x)\nmatch 3:\n    case 3:\n        pass\n"
      "global_table = {'a': [1, 2]}\n"),
    S("host code is skipped", "tl.store(y, table[0])", err=r"table", top="import json\ntable = json.load(open('t'))\n"),
    S("decorators", "tl.store(y, BLOCK)\ntl.store(y + 1, EVEN)", [64, 0],
      top="import functools\n@functools.cache\ndef host():\n    pass\n",
      params="BLOCK: tl.constexpr, EVEN: tl.constexpr", args="-DBLOCK=64 -DEVEN=0",
      signature="@triton.autotune(configs=[triton.Config({'BLOCK': 64}, num_warps=4, num_stages=2), triton.Config({'BLOCK': 128})], key=['n'])\n@triton.heuristics({'EVEN': lambda args: args['n'] % 2 == 0})\n@triton.jit(do_not_specialize=['n'])\n"),
    S("decorators", "tl.store(y, TWICE)\ntl.store(y + 1, ODD)", [8, 0], params="TWICE: tl.constexpr, ODD: tl.constexpr",
      args="-DODD=0",
      signature="@triton.heuristics({'TWICE': lambda args: args['C'] * 2})\n@triton.jit\n"),
    S("decorators", "tl.store(y, TWICE)\ntl.store(y + 1, SIZE)", [8, 5], params="TWICE: tl.constexpr, SIZE: tl.constexpr",
      signature="@triton.heuristics({'TWICE': lambda args: args.get('C') * 2, 'SIZE': lambda args: args['x'].element_size() + ('C' in args.keys())})\n@triton.jit\n"),
    S("decorators", "tl.store(y, ALL)", err="all that a launch gives", params="ALL: tl.constexpr",
      signature="@triton.heuristics({'ALL': lambda args: len(args.items()) + len(args.values())})\n@triton.jit\n"),
    S("decorators", "tl.store(y, 1)", [1], signature="import something\n@something.else_of(n=3)\n@triton.jit\n"),
    S("decorators", "tl.store(y, 1)", [1], signature="@triton.jit(noinline=True, debug=False)\n"),
    S("decorators", "tl.store(y, 1)", [1], signature="import tkc\n@tkc.jit\n"),
    S("decorators", "tl.store(y, 1)", [1], signature="from triton import jit\n@jit\n"),
    S("parameters", "tl.store(y, a + b.to(tl.int32))\nv = tl.load(p + 1)\n"
      "tl.static_assert(p.dtype.element_ty == tl.float32)\ntl.store(y + 1, v.to(tl.int32))\n"
      "tl.static_assert(b.dtype == tl.int64)", [10, 1],
      params='a, b: "i64", p: tl.pointer_type(tl.float32), q: int = 3, unused: float = 0.5',
      args='-sig a=i32 a=3 b=7 p=arange:f32[4]'),
    S("parameters", "tl.static_assert(a.dtype == tl.int32 and b.dtype == tl.float32 and c.dtype == tl.int64 and p.dtype.element_ty == tl.float16)\n"
      "tl.store(y, a)\ntl.store(y + 1, (b * 2).to(tl.int32))\ntl.store(y + 2, c)\ntl.store(y + 3, tl.load(p + 3).to(tl.int32))", [3, 5, 7, 3],
      params="a: tl.int64, b: int, c: tl.float32, p: tl.pointer_type(tl.float32)",
      args="-sig a=i32,b=fp32,c=i64,p=*fp16 a=3 b=2.5 c=7 p=arange:f16[4]"),
    S("parameters", "tl.store(y, a)", err="argument 'a': expected i32, found a float", params="a: tl.float32", args="-sig a=i32 a=2.5"),
    S("parameters", "tl.store(y, 1 if p.to(tl.int64) == 0 else 2)", [1], params="p", args="-sig p=*fp16 p=0"),
    S("parameters", "tl.store(y, 1)", err="says i32; leave one of them out", params='a: "i32"', args="-sig a=i64 a=2"),
    S("parameters", "tl.store(y, tl.sum(tl.load(p + tl.arange(0, 4)), 0).to(tl.int32))", [6], params='p: "*fp16:16"',
      args="p=arange:f16[4]"),
    S("parameters", "tl.store(y, 1)", err=r"-DK=|-D K|K", params="K: tl.constexpr, J: tl.constexpr"),
    S("parameters", "tl.store(y, K)\nif DT == tl.float16 and FLAG and TEXT == 'ab' and NONE is None and W == 0.5:\n"
      "    tl.store(y + 1, 1)", [3, 1], params="K: tl.constexpr, DT: tl.constexpr, FLAG: tl.constexpr, TEXT: tl.constexpr, NONE: tl.constexpr, W: tl.constexpr",
      args="-DK=3 -DDT=tl.float16 -DFLAG=True -DTEXT='ab' -DNONE=None -DW=0.5"),
    S("plain Python functions at compile time", "v = tl.zeros([width(C)], tl.int32) + 1\ntl.store(y, tl.sum(v, 0))",
      err="'width' is a Python function", top="def width(c):\n    return c\n"),
    S("plain Python functions at compile time", "v = tl.zeros([width(C)], tl.int32) + 1\ntl.store(y, tl.sum(v, 0))",
      [8], top="@triton.constexpr_function\ndef width(c):\n    if c > 3:\n        return c * 2\n    return c\n"),
    S("constexpr_function", "tl.store(y, half(C))", [2],
      top="@triton.constexpr_function\ndef half(c):\n    return c // 2\n"),
    S("named tuples", "p = Pair(n, 7)\ntl.store(y, p.a + p.b)\ntl.store(y + 1, p[1])", [12, 7],
      top="from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: tl.tensor\n    b: tl.tensor\n"),
    S("named tuples", "p = Pair(n, 7)\nq = Pair(a=1, b=p.a)\ntl.store(y, p.b + q.b)", [12],
      top="from collections import namedtuple\nPair = namedtuple('Pair', ['a', 'b'])\n"),
]

TYPES = [S("element types", f"v = tl.load(p + tl.arange(0, 4))\n"
           f"tl.static_assert(p.dtype.element_ty == tl.{name} and v.dtype == tl.{name})\n"
           f"tl.store(y + tl.arange(0, 4), v.to(tl.int32))", [0, 1, 2, 3] if short != "i1" else [0, 1, 1, 1],
           params=f'p: "*{short}"', args=f"p=arange:{short}[4]")
         for name, shorts in (("int1", ("i1",)), ("int8", ("i8",)), ("int16", ("i16",)), ("int32", ("i32",)),
                              ("int64", ("i64",)), ("uint8", ("u8",)), ("uint16", ("u16",)), ("uint32", ("u32",)),
                              ("uint64", ("u64",)), ("float8e4nv", ("fp8e4nv",)), ("float8e5", ("fp8e5",)),
                              ("float16", ("fp16", "f16")), ("bfloat16", ("bf16",)), ("float32", ("fp32", "f32")),
                              ("float64", ("fp64", "f64")))
         for short in shorts]
TYPES += [
    S("tuples as values", "t = pair(tl.arange(0, 4), n)\na, b = t\ntl.store(y + tl.arange(0, 4), a + b + t[1])",
      [10, 11, 12, 13], top=JIT + "def pair(a, b):\n    return (a, b)\n"),
    S("tuples as values", "t = (n, 2)\ntl.store(y, t.values[0] + len(t.values) * 10 + len([*t.values, 1]) * 100)", [325]),
    S("tuples as values", "s = (0, tl.zeros([4], tl.int32))\na, b = s\nfor i in range(0, n):\n"
      "    a, b = a + i, b + tl.arange(0, 4)\ntl.store(y + tl.arange(0, 4), a + b)", [10, 15, 20, 25]),
    S("pointers to pointers", "q = p.to(tl.pointer_type(tl.int64))\na = x.to(tl.int64)\ntl.store(q, a)\n"
      "b = tl.load(q).to(tl.pointer_type(tl.int32))\ntl.store(y, tl.load(b + 3))", [3], params='p: "*i64"',
      args="p=zeros:i64[1]"),
]

DIAGNOSTICS = [
    S("a misspelt name", "tl.store(y, tl.arrange(0, 4))", err=r"arange"),
    S("a missing tl.", "tl.store(y, arange(0, 1))", err=r"tl\.arange"),
    S("shapes that do not go together", "a = tl.arange(0, 4) + tl.arange(0, 8)",
      err=r"block<4xint32>[\s\S]*block<8xint32>|4[\s\S]*8"),
    S("notes through calls", "outer(n)", err=r"outer|called",
      top=JIT + "def inner(v):\n    return v + undefined\n" + JIT + "def outer(v):\n    return inner(v)\n"),
    S("several errors in one run", "a = undefined1\nb = undefined2", err=r"undefined1[\s\S]*undefined2"),
    S("a loop that changes a type", "s = 0\nfor i in range(0, n):\n    s = s + 0.5\ntl.store(y, s)", err=r"s"),
    S("budgets", "s = 0\nfor i in tl.static_range(100000):\n    s += i\ntl.store(y, s)", err=r"steps|budget|-fmax",
      args="-fmax-steps=1000"),
]



def ASM(text, want=None, constraints="=r,r", args="tl.arange(0, 8)", dtype="tl.int32", pack=1, **more):
    """One instruction or more on 0, 1, 2, …"""
    return S("inline_asm_elementwise", f'v = tl.inline_asm_elementwise("""{text}""", "{constraints}", [{args}], {dtype}, False, {pack})\n'
             "tl.store(y + tl.arange(0, 8), v)", want, **more)


ASSEMBLY = [
    # what is written in another way
    ASM("add.s32 $0, $1, 0x10; // 16", range(16, 24)), ASM("add.s32 $0, ${1}, 020;", range(16, 24)),
    ASM("/* and */ add.s32 $0,$1,0b10000;", range(16, 24)), ASM("add.u32 $0, $1, 16U;", range(16, 24)),
    ASM("add.s32 $0, $1, -1;", range(-1, 7)), ASM("add.s32.sat $0, $1, WARP_SZ;", range(32, 40)),
    ASM("{\n .reg .f32 a, b;\n cvt.rn.f32.s32 a, $1;\n add.f32 b, a, 0f3F800000;\n mul.f32 b, b, 1.5;\n sub.f32 b, b, -2e-1;\n"
        " fma.rn.f32 b, b, 0d4000000000000000, 0f00000000;\n cvt.rmi.s32.f32 $0, b;\n}", [3, 6, 9, 12, 15, 18, 21, 24]),
    ASM("{ .reg .pred p; setp.lt.s32 p, $1, 3; @p mov.u32 $0, 1; @!p mov.u32 $0, 2; }", [1, 1, 1, 2, 2, 2, 2, 2]),
    ASM("{ .reg .b32 t<12>; mov.b32 t10, $1; { .reg .b32 t10; mov.b32 t10, 5; } mov.b32 t1, t10; mov.b32 $0, t1; }", range(8)),
    ASM("{ .reg .b32 %r, t; mov.b32 %r, $1; add.s32 t, %r, %r; mov.b32 $0, t; }", range(0, 16, 2)),
    ASM("mov.b32 $0, 0f3F800000;", [1065353216] * 8),
    # registers that are not the block's
    ASM("{ .reg .u32 a, b; mov.u32 a, %ctaid.x; mov.u32 b, %nctaid.y; add.u32 $0, a, b; }", [1] * 8, constraints="=r", args="",
        dtype="tl.int32"),
    ASM("mov.u32 $0, %clock;", range(1, 9), cpu=True), ASM("mov.u32 $0, %smid;", [0] * 8, cpu=True),
    ASM("{ .reg .b64 t; mov.u64 t, %globaltimer; mov.u64 t, %clock64; cvt.u32.u64 $0, t; }", range(2, 17, 2), cpu=True),
    ASM("add.s32 $0, $0, $2;", range(5, 13), constraints="=r,0,r", args="n, tl.arange(0, 8)"),
    ASM("griddepcontrol.wait; mov.b32 $0, $1;", range(8)),
    # elements that share a run
    S("inline_asm_elementwise", "lo, hi = tl.inline_asm_elementwise('mov.b32 {$0, $1}, $2;', '=h,=h,r', [tl.arange(0, 8) + 0x30000], "
      "(tl.int16, tl.int16), True, 1)\ntl.store(y + tl.arange(0, 8), lo * 10 + hi)", range(3, 80, 10)),
    ASM("prmt.b32 $0, $1, $1, 0x1032;", [1, 0, 3, 2, 5, 4, 7, 6], args="tl.arange(0, 8).to(tl.int16)", dtype="tl.int16", pack=2, cpu=True),
    ASM("prmt.b32 $0, $1, $1, 0x0123;", [3, 2, 1, 0, 7, 6, 5, 4], args="tl.arange(0, 8).to(tl.int8)", dtype="tl.int8", pack=4, cpu=True),
    ASM("prmt.b32 $0, $1, $1, 0x1032;", [0, 5], args="(tl.arange(0, 1) + 5).to(tl.int16)", dtype="tl.int16", pack=2).but(
        "tl.store(y + tl.arange(0, 8), v)", "tl.store(y + 1 + tl.arange(0, 1), 5 - v)"),
    ASM("{ sub.s32 $0, $2, $3; sub.s32 $1, $3, $2; }", [-1, 1, -1, 1, -1, 1, -1, 1], constraints="=r,=r,r,r", pack=2, cpu=True),
    ASM("{ .reg .b64 a, b; mov.b64 a, {$2, $3}; mov.b64 b, {0f40000000, 0f40400000}; fma.rn.f32x2 a, a, b, b; mov.b64 {$0, $1}, a; }",
        [2, 6, 6, 12, 10, 18, 14, 24], constraints="=f,=f,f,f", args="tl.arange(0, 8).to(tl.float32)", dtype="tl.float32", pack=2,
        y="fp32", cpu=True),
    ASM("neg.s32 $0, $1;", [-28], args="tl.arange(0, 8)").but("tl.store(y + tl.arange(0, 8), v)", "tl.store(y, tl.sum(v, 0))"),
    S("inline_asm_elementwise", "v = tl.reduce(tl.arange(0, 8).to(tl.int16), 0, join)\ntl.store(y, v)", [28],
      top=JIT + "def join(a, b):\n    return tl.inline_asm_elementwise('add.u16x2 $0, $1, $2;', '=r,r,r', [a, b], tl.int16, True, 2)\n"),

    # what every assembler refuses
    *(ASM(text, err=err) for text, err in (
        ("{ mov.b32 $0, $1;; }", r"expected an instruction, found ';'|[Pp]arsing error near ';'"),
        ("{ mov.b32 $0, $1; };", r"expected an instruction, found ';'|[Pp]arsing error near ';'"),
        ("{ .reg .b32 _; mov.b32 $0, $1; }", r"expected the name of a register, found '_'|[Pp]arsing error near '_'"),
        ("{ .reg .b32 a1; .reg .b32 a<2>; mov.b32 $0, $1; }", r"the register 'a' is declared twice|Duplicate definition of variable 'a1'"),
    )),
    # what the cpu device refuses
    *(ASM(text, err=err, cpu=True) for text, err in (
        ("add.s32 $0, $1, 1", r"';' is missing at the end"),
        ("{ add.s32 $0, $1, 1;", r"'}' is missing at the end"),
        ("add.s32 $0, $1, 1; }", r"'}' closes nothing"),
        ("add.s32 $0 $1, 1;", r"expected ',', found '\$1'"),
        ("add.s32 $0, $1, 1, 2;", r"expected ';', found ','"),
        ("frobnicate.s32 $0, $1;", r"kernel.py:6:\d+: error: .*the instruction 'frobnicate.s32' is not known here"),
        ("ld.global.b32 $0, [$1];", r"the instruction 'ld.global.b32' is not known here"),
        ("vote.sync.any.pred $0, $1;", r"the instruction 'vote.sync.any.pred' is not known here"),
        ("add.f8 $0, $1, $1;", r"'add.f8' is no form of the instruction that is known here"),
        ("mul.s32 $0, $1, $1;", r"'mul.s32' is no form"),
        ("fma.f32 $0, $1, $1, $1;", r"'fma.f32' is no form"),
        ("add.rn.rz.f32 $0, $1, $1;", r"'add.rn.rz.f32' is no form"),
        ("{ .reg .b32 5; mov.b32 $0, $1; }", r"expected the name of a register, found '5'"),
        ("{ .reg .b32 a, a; mov.b32 $0, $1; }", r"the register 'a' is declared twice"),
        ("{ .reg .b32 a<0>; mov.b32 $0, $1; }", r"'a<' needs a number of 1 to 4096"),
        ("{ .reg .b32 a<4000>, b<4000>; mov.b32 $0, $1; }", r"too many registers"),
        ("{ .reg b32 a; mov.b32 $0, $1; }", r"expected the type of registers, found 'b32'"),
        ("{ .reg .b32 a<4>; mov.b32 $0, a4; }", r"'a4' names no register"),
        ("{ { .reg .b32 a; } mov.b32 $0, a; }", r"'a' names no register"),
        ("add.s64 $0, $1, 1;", r"'\$0' is no register for the s64 that 'add.s64' takes there"),
        ("{ .reg .f32 a; mov.b32 a, $1; add.s32 $0, a, 1; }", r"'a' is no register for the s32"),
        ("@$1 mov.b32 $0, 1;", r"'\$1' is no register for the pred"),
        ("add.f32 $0, $1, 1;", r"'1' is no number for the f32"),
        ("add.s32 $0, $1, 1.5;", r"'1.5' is no number for the s32"),
        ("add.f16x2 $0, $1, 0x3c003c00;", r"'0x3c003c00' is no number for the f16x2"),
        ("add.s32 $0, $1, 09;", r"'09' is no number"),
        ("add.f32 $0, $1, 0f12;", r"'0f12' is no number"),
        ("add.s32 $0, $1, 99999999999999999999;", r"'99999999999999999999' is no number"),
        ("add.s32 $0, $1, -$1;", r"'\$1' cannot be negated"),
        ("add.s32 $0, $1, !$1;", r"'\$1' cannot be negated"),
        ("mov.u32 $0, %laneid;", r"the register '%laneid' cannot be read by 'mov.u32' here"),
        ("add.u32 $0, $1, %smid;", r"the register '%smid' cannot be read by 'add.u32' here"),
        ("mov.b32 $0, {$1, $1, $1};", r"3 registers do not make one of 'mov.b32'"),
        ("{ .reg .pred p; setp.eq.f16x2 p, $1, $1; mov.b32 $0, 1; }", r"'setp.eq.f16x2' has two predicates p|q"),
        ("lop3.b32 $0, $1, $1, $1, 256;", r"the last operand of 'lop3.b32' is a number of 0 to 255"),
        ("lop3.b32 $0, $1, $1, $1, $1;", r"the last operand of 'lop3.b32' is a number of 0 to 255"),
        ("again: mov.b32 $0, $1;", r"the label 'again:' has no use on the cpu device"),
        ("$0 = $1;", r"expected an instruction, found '\$0'"),
        ("{ .reg .b32 a; mov.b32 a, $1; }", r"no instruction writes the output '\$0'"),
    )),
    S("inline_asm_elementwise", "tl.store(y, f2(n))", err=r"'bra' is not known here[\s\S]*called from here", cpu=True,
      top=JIT + "def f2(a):\n    return tl.inline_asm_elementwise('bra $0;', '=r,r', [a], tl.int32, False, 1)\n"),
]

ALL = ASSEMBLY + STATEMENTS + EXPRESSIONS + COMPILE_TIME + SEMANTICS + EXTENTS + FILES + TYPES + DIAGNOSTICS
