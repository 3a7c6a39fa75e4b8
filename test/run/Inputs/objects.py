"""Snippets for objects: aggregates, classes with functions, and assignment to parts of tuples, lists and dicts."""
from snippets import S

PAIR = '''
@tl.core._aggregate
class Pair:
    """Two values."""
    first: tl.tensor
    second: tl.tensor

    @triton.constexpr_function
    def __init__(self, first, second):
        self.first = first
        self.second = second

    @triton.jit
    def unpack(self):
        return self.get_first(), self.second

    @triton.jit
    def get_first(self):
        return self.first

    @triton.jit
    def moved(self, by):
        self.first += by
        return self

    @triton.jit
    def twice(x):
        return Pair(x, x)

    @property
    def total(self):
        return self.first + self.second
'''

SCALED = PAIR + '''
from triton.language.core import _aggregate as aggregate
@aggregate
class Scaled:
    pair: Pair
    scale: tl.constexpr
    def __init__(self, pair, scale=2):
        self.pair = pair
        self.scale = tl.constexpr(scale * 2 if scale > 1 else scale)
    @triton.jit
    def value(self, i):
        return self.pair.total * self.scale + i
'''

DATA = """
from dataclasses import dataclass
from types import SimpleNamespace
@dataclass(frozen=True)
class Base:
    size: int
    name: str = "base"
@dataclass
class Tile(Base):
    dtype: tl.dtype = tl.int32
    half: int = 0
    def __post_init__(self):
        if self.half == 0:
            self.half = self.size // 2
    @property
    def area(self):
        return self.size * self.size
TILE = tl.constexpr(Tile(4, half=1))
SHAPE = tl.constexpr(SimpleNamespace(rows=2, kind="wide"))
@triton.jit
def filled(tile: tl.constexpr, v):
    return tl.full([tile.size], v, tile.dtype) + tile.area + tile.half
"""

DATACLASSES = [
    S("dataclasses", "tl.store(y + tl.arange(0, TILE.size), filled(TILE, n))\nif SHAPE.kind == 'wide' and TILE.name == 'base':\n"
      "    tl.store(y + 4, t.half + SHAPE.rows * 10)\ntl.static_assert(t == Tile(6) and t != TILE)", [22, 22, 22, 22, 23], top=DATA,
      params="t: tl.constexpr = Tile(size=6)"),
    S("dataclasses", "tl.store(y, t.half)", [2], top=DATA, params="t: tl.constexpr", args="-Dt=Tile(5)"),
    S("dataclasses", "t.sise", err=r"a 'Tile' has no 'sise'[^$]*did you mean 'size'", top=DATA, params="t: tl.constexpr = Tile(1)"),
    S("dataclasses", "t.size", err=r"'Tile' is called without 'size'", top=DATA, params="t: tl.constexpr = Tile()"),
    S("dataclasses", "SHAPE.columns", err=r"a 'SimpleNamespace' has no 'columns'", top=DATA),
]

AGGREGATES = [
    S("aggregates", "p = Pair(n, 7)\na, b = p.unpack()\ntl.store(y, a)\ntl.store(y + 1, b)\ntl.store(y + 2, p.total)\n"
      "q = Pair.twice(C)\ntl.store(y + 3, q.total)\ntl.static_assert(isinstance(p, Pair) and not isinstance(n, Pair))", [5, 7, 12, 8], top=PAIR),
    S("aggregates", "p = Pair(n, 7)\nq = p.moved(1)\ntl.store(y, p.first)\ntl.store(y + 1, q.first)", [5, 6], top=PAIR),
    S("aggregates", "p = Pair(0, 1)\nfor i in range(n):\n    p = p.moved(i)\n    p.second *= 2\nif n > 3:\n    p.first = p.first + 100\n"
      "else:\n    p = Pair.twice(n)\ntl.store(y, p.first)\ntl.store(y + 1, p.second)", [110, 32], top=PAIR),
    S("aggregates", "s = Scaled(Pair(n, 1))\ntl.store(y, s.value(3))\ntl.store(y + 1, Scaled(scale=1, pair=s.pair).value(i=0))\n"
      "s.pair.first = 10\ntl.store(y + 2, s.value(0))\ntl.static_assert(s.scale == 4)\ntl.zeros([s.scale], tl.int32)", [27, 6, 44], top=SCALED),
    S("aggregates", "s = Scaled(Pair(n, 1))\nfor i in range(n):\n    s = Scaled(s.pair.moved(i), s.scale // 2)\n    tl.zeros([s.scale], tl.int32)\n"
      "tl.store(y, s.value(0))\ntl.static_assert(s.scale == 4)", [64], top=SCALED),
    S("aggregates", "s = Scaled(Pair(n, 1))\nfor i in range(n):\n    s = Scaled(s.pair, s.scale)", err=r"a 'Scaled' of scale=8 here, but a 'Scaled' of scale=4", top=SCALED),
    S("aggregates", "p = Pair(n, 1)\nq = p\nq.first = 9\nt = (p, 1)\nt[0].second = 4\ntl.store(y, p.first)\ntl.store(y + 1, p.second)", [9, 4], top=PAIR),
    S("aggregates", "p = Pair(n)", err=r"'__init__' is called without 'second'", top=PAIR),
    S("aggregates", "p = Pair(n, 1)\np.frist = 1", err=r"has no field 'frist'[\s\S]*did you mean 'first'", top=PAIR),
    S("aggregates", "p = Pair(n, 1)\nn.first = 1", err=r"has no fields to assign", top=PAIR),
    S("aggregates", "p = Half(n)", err=r"'Half.__init__' gives no value to 'b'", top="@tl.core._aggregate\nclass Half:\n    a: tl.tensor\n    b: tl.tensor\n"
      "    def __init__(self, a):\n        self.a = a\n"),
    S("aggregates", "p = Half(n)", err=r"'b' of 'Half' has no value yet", top="@tl.core._aggregate\nclass Half:\n    a: tl.tensor\n    b: tl.tensor\n"
      "    def __init__(self, a):\n        self.a = self.b\n"),
    S("aggregates", "p = Plain(n)", err=r"'Plain' cannot be made in a kernel", top="class Plain:\n    a: int\n"),
    S("aggregate_replace", "p = Pair(n, 7)\nq = tl.core.aggregate_replace(p, second=2)\ntl.store(y, q.total)\ntl.store(y + 1, p.total)\n"
      "r = triton.aggregate_replace(instance=q, first=1, second=q.first)\ntl.store(y + 2, r.moved(3).total)\ntl.static_assert(isinstance(r, Pair))\n"
      "tl.store(y + 3, tl.aggregate_replace(q).total)", [7, 12, 9, 7], top=PAIR),
    S("aggregate_replace", "p = Pair(0, 1)\nfor i in range(n):\n    p = p.added(i)\ntl.store(y, p.first)\ntl.store(y + 1, p.second)", [10, 1],
      top="from triton import aggregate\nfrom triton.language import aggregate_replace\n@aggregate\nclass Pair:\n    first: tl.tensor\n    second: tl.tensor\n"
      "    @triton.jit\n    def added(self, by):\n        return aggregate_replace(self, first=self.first + by)\n"),
    S("aggregates", "p = Tile(n)\ntl.store(y, p.size + p.step)\nq = Tile(n, size=8)\ntl.store(y + 1, q.at + q.size)\n"
      "w = Wide(n)\ntl.store(y + 2, w.at + w.size + w.step + w.more)", [6, 13, 15],
      top="@triton.aggregate\nclass Tile:\n    at: tl.tensor\n    size: tl.constexpr = 4\n    step: tl.constexpr = 2\n"
      "@triton.aggregate\nclass Wide(Tile):\n    more: tl.constexpr = 3\n    def __init__(self, at):\n        self.at = at\n        self.size = 5\n"),
    S("named tuples", "p = Line(n, 3)\ntl.store(y, p.at(2))\ntl.store(y + 1, Line.SIZE + Mode.B.value)", [11, 9],
      top="from typing import NamedTuple\nfrom enum import Enum\nclass Line(NamedTuple):\n    a: tl.tensor\n    b: tl.tensor\n    SIZE = 8\n"
      "    @triton.jit\n    def at(self, x):\n        return self.a + self.b * x\nclass Mode(Enum):\n    A = 0\n    B = 1\n"),
    S("named tuples", "Mode.C", err=r"class 'Mode' has no 'C'", top="from enum import Enum\nclass Mode(Enum):\n    A = 0\n"),
]

PARTS = [
    S("parts of sequences", "t = (n, 1, 2)\nt[0] = 7\nt[-1] += 5\ntl.store(y, t[0])\ntl.store(y + 1, t[2])\nl = [n, n]\nl[0], l[1] = 1, l[0]\n"
      "tl.store(y + 2, l[0])\ntl.store(y + 3, l[1])", [7, 7, 1, 5]),
    S("parts of sequences", "a = b = [1, 2]\na[0] = 5\ntl.store(y, b[0])\nt = (1, 2)\nu = t\nu[1] = 7\ntl.store(y + 1, t[1])", [5, 7]),
    S("constants become typed", "v = tl.full([4], 3, tl.bfloat16)\nt = (0.5, [2, 'a', None])\nk: tl.constexpr = (0.5, 2)\n"
      "tl.static_assert((v * t[0]).dtype == tl.float32 and (v * t[1][0]).dtype == tl.float32 and (v * k[0]).dtype == tl.bfloat16)\n"
      "tl.static_assert(t == (0.5, [2, 'a', None]) and t[1][1] == 'a' and t[1][2] is None and 2 in t[1])\n"
      "tl.store(y + tl.arange(0, t[1][0]), 1)", [1, 1]),
    S("parts of sequences", "l = [n, 1]\nfor i in range(n):\n    l[1] += i\n    l[0], l[1] = l[1], l[0]\ntl.store(y, l[0])\ntl.store(y + 1, l[1])", [7, 9]),
    S("parts of sequences", "l = []\nfor i in tl.static_range(3):\n    l.append(n + i)\nl.extend((1, 2))\nl.insert(0, 9)\ntl.store(y, len(l))\n"
      "tl.store(y + 1, l[3])\ntl.store(y + 2, l[0] + l[-1])", [6, 7, 11]),
    S("parts of sequences", "t = (n, 1)\nt[2] = 1", err=r"index 2 is out of range for 2 items"),
    S("parts of sequences", "l = (1, 2)\nl.append(3)", err=r"has no attribute 'append'"),
    S("parts of sequences", "(n, 1)[0] = 2", err=r"no name of the function holds"),
    S("parts of sequences", "a = [n, 1]\nb = a\nfor i in range(n):\n    a[0] += 1\ntl.store(y, b[0])", err=r"shares its value with 'b'"),
    S("parts of sequences", "a = [n, 1]\nt = (a, 2)\nfor i in range(n):\n    t[0][0] += 1\ntl.store(y, a[0])", err=r"shares its value with 'a'"),
    S("parts of sequences", "for i in range(n):\n    a = [n, i]\n    b = a\n    a[0] = 1\n    tl.store(y, b[0])", err=r"several names share"),
    S("parts of sequences", "t = (n, 1)\nt['a'] = 1", err=r"an index"),
    S("parts of sequences", "t = (n, 1)\nt.a = 1", err=r"has no fields to assign"),
    S("constexpr_function", "tl.store(y, odd(n=5))\ntl.static_assert(count((1, 2, 2, 2)) == 3)", [4],
      top="@triton.constexpr_function\ndef odd(n):\n    r = []\n    for i in range(n):\n        if i % 2 == 0:\n            continue\n        r.append(i)\n"
      "    d = {}\n    d['sum'] = 0\n    for i in r:\n        d['sum'] += i\n    return d['sum']\n"
      "@tl.constexpr_function\ndef count(items):\n    n = [0, 0, 0]\n    for i in items:\n        n[i] = n[i] + 1\n    return max(n)\n"),
]

OBJECTS = AGGREGATES + PARTS + DATACLASSES
