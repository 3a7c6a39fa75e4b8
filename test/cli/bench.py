# -bench: what it prints, writes and draws is the same, and is what was asked for: each line, each value of the sweep.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s tkc %S/Inputs/scale.tk %t | FileCheck %s
# CHECK: all agree
import csv
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

tkc, file, folder = sys.argv[1:]
SVG = "{http://www.w3.org/2000/svg}"


def bench(*words, device="cpu"):
    """The words of the table's lines, and what was said beside it."""
    command = [tkc, "-bench", "-device", device, "-warmup", "1", "-time", "1", file, *words]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, (command, run.stderr)
    return [line.split() for line in run.stdout.splitlines()], run.stderr


def read(name):
    with open(os.path.join(folder, name), newline="") as table:
        return list(csv.DictReader(table))


def near(a, b, relative=1e-3):
    return math.isclose(a, b, rel_tol=relative)


def check_times(row):
    least, p20, median, p80, most = (float(row[n]) for n in ("min_ms", "p20_ms", "median_ms", "p80_ms", "max_ms"))
    assert 0 < least <= p20 <= median <= p80 <= most and least <= float(row["mean_ms"]) <= most, row
    assert int(row["runs"]) >= 3


# One kernel, with a rate in GB/s, of sizes of arrays and numbers.
table, said = bench("-k", "scale", "-DBLOCK=64", "-grid", "cdiv(n,BLOCK)", "n=1000", "x=ones:f32[1000]", "-bytes", "2*x.bytes-n+n",
                    "-csv", folder + "/one.csv")
assert said.startswith("tkc: times in ms on cpu ("), said
assert table[0] == ["median", "20", "%", "80", "%", "least", "runs", "GB/s"], table
(row,) = read("one.csv")
check_times(row)
assert row["line"] == "scale" and near(float(row["GB/s"]), 8000 / float(row["median_ms"]) * 1e-6)
for at, name in enumerate(("median_ms", "p20_ms", "p80_ms", "min_ms", "runs", "GB/s")):
    assert near(float(table[1][1 + at]), float(row[name])), (table, row)

# Configurations of the source, a kernel of its own (whose arguments the others do not have), and a label with marks; swept.
lines = ["-line", "@autotune", "-line", "a < b & \"c\": -k fill -DBLOCK=next_power_of_2(N) v=2.5"]
for device in "cpu", "simt":
    table, said = bench("-k", "scale", "-grid", "cdiv(n,BLOCK)", "x=ones:f32[2*N]", "n=2*N", "-sweep", "N=2^5..2^10", "-flops", "n",
                        "-csv", folder + "/swept.csv", "-plot", folder + "/swept.svg", *lines, device=device)
    labels = ["BLOCK=32 num_warps=2", "BLOCK=128 num_stages=2", "a < b & \"c\""]
    values = [32, 64, 128, 256, 512, 1024]
    assert re.match(r"tkc: TFLOP/s on %s \(.*\), of the median of the runs\n" % device, said), said
    rows = read("swept.csv")
    assert [(int(r["N"]), r["line"]) for r in rows] == [(n, label) for n in values for label in labels]
    assert [int(line[0]) for line in table[1:]] == values and table[0][0] == "N"
    for r in rows:
        check_times(r)
        assert near(float(r["TFLOP/s"]), 2 * int(r["N"]) / float(r["median_ms"]) * 1e-9)
    figures = [float(r["TFLOP/s"]) for r in rows]
    assert all(near(float(word), f) for word, f in zip([w for line in table[1:] for w in line[1:]], figures))
    # The plot: higher is more, points lie as their numbers do, x by its logarithm.
    root = xml.etree.ElementTree.parse(folder + "/swept.svg").getroot()
    curves = [[tuple(map(float, p.split(","))) for p in c.get("points").split()] for c in root.iter(SVG + "polyline")]
    texts = ["".join(t.itertext()) for t in root.iter(SVG + "text")]
    assert len(curves) == 3 and all(label in texts for label in labels), texts
    assert "N" in texts and "TFLOP/s" in texts and "32" in texts and "210" in texts, texts
    assert any(t.startswith("scale on %s (" % device) for t in texts), texts
    ticks = sorted(float(re.match(r"M[\d.]+ ([\d.]+)h-5", p.get("d")).group(1)) for p in root.iter(SVG + "path") if "h-5" in p.get("d"))
    assert len(ticks) >= 4 and ticks[-1] == 420 and ticks[0] >= 50
    steps = {round(x2 - x1, 0) for c in curves for (x1, _), (x2, _) in zip(c, c[1:])}
    assert steps == {124}, steps
    tall = max(figures)
    top = 420 - min(y for c in curves for _, y in c)
    for i, curve in enumerate(curves):
        assert len(curve) == len(values) and curve[0][0] == 80 and curve[-1][0] == 700
        for (_, y), figure in zip(curve, figures[i::3]):
            assert abs((420 - y) - top * figure / tall) < 0.2, (y, figure)

# A sweep of a parameter, by steps and by a list, on a linear axis; -D that follows it; times where nothing says how much a run does.
table, _ = bench("-k", "scale", "-grid", "1", "x=ones:f32[256]", "-DBLOCK=2^5".replace("2^5", "32"), "-sweep", "n=64..256+64",
                 "-plot", folder + "/linear.svg", "-csv", folder + "/linear.csv")
assert [line[0] for line in table] == ["n", "64", "128", "192", "256"], table
assert all(near(float(line[1]), float(r["median_ms"])) for line, r in zip(table[1:], read("linear.csv")))
curve = next(xml.etree.ElementTree.parse(folder + "/linear.svg").getroot().iter(SVG + "polyline"))
assert [round(float(p.split(",")[0])) for p in curve.get("points").split()] == [80, 287, 493, 700]
table, _ = bench("-k", "scale", "-grid", "1", "x=ones:f32[256]", "n=256", "-sweep", "BLOCK=32,2^6,256,4..16*4", "-line", "warps: -num-warps=1",
                 "-line", "n=100 -num-stages=1")
assert [line[0] for line in table] == ["BLOCK", "32", "64", "256", "4", "16"], table
assert table[0][1:] == ["warps", "n=100", "-num-stages=1"], table
print("all agree")
