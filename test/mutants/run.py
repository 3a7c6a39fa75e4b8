#!/usr/bin/env python3
"""Do the tests notice? Changes the compiler as each patch of this folder says, one at a time, and fails when one survives.

run.py BUILD [-minutes N] [-fuzz SECONDS] [-workers N] [-tested] [NAME...]   a NAME picks the patches whose name holds it

-tested: the tests have just passed without a change; else those that are named are run so first, and must pass: a test that fails by itself
notices nothing.
-fuzz: which of them do random kernels notice in so many seconds (test/fuzz/agree.py), whatever tests they name?

A patch is what a tired person does: it compiles, and is wrong. Before its first `---` line it says in words what it is, then which
tests must notice, in lines `by: KIND WORDS`; they are run in order until one fails:

    by: ops sum i64         cases of test/run/ops.py, on the device simt, whose names hold all the words
    by: kernels softmax     the same of test/run/kernels.py; models, too
    by: unit convert_test   a program of test/unit
    by: lit lower/reduce    lit tests whose names match
    by: fuzz 60             random kernels for so many seconds

BUILD gets a copy of the tree and its build for each of the workers, and keeps them for the next time."""
import argparse
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import time

os.environ["TKC_CACHE_DIR"] = ""  # a wrong kernel is not kept
os.environ.pop("TKC_TEST_LONG", None)  # the quick part of a test is what notices
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TEST_SECONDS = 300  # a test that takes longer has noticed: it hangs


class Mutant:
    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)[:-len(".patch")]
        with open(path) as patch:
            text = patch.read()
        head = text[:text.index("\n--- ")]
        self.tests = re.findall(r"^by: (.+)$", head, re.M)
        self.files = re.findall(r"^\+\+\+ b/(.+)$", text, re.M)
        if not self.tests or not self.files or head.startswith("by:"):
            sys.exit(f"{path}: it must say what it is, which tests notice, and change something")


def sh(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def sh_within(command, seconds):
    """None: it took longer, and is no more, with all that it began."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def same(a, b):
    if not os.path.exists(b):
        return False
    with open(a, "rb") as x, open(b, "rb") as y:
        return x.read() == y.read()


def quick_links():
    """Most of what a mutant takes is linking; lld is seven times as fast as the usual one, where it is there."""
    return [f"-DCMAKE_{kind}_LINKER_FLAGS=-fuse-ld=lld" for kind in ("EXE", "SHARED") if shutil.which("ld.lld")]


class Tree:
    """A copy of the sources, and its build."""

    def __init__(self, folder, jobs):
        self.jobs = jobs
        self.source, self.build = os.path.join(folder, "tree"), os.path.join(folder, "build")
        self.tkc = os.path.join(self.build, "tkc")
        self.ops = self.cases = None

    def copy(self, files):
        for name in files:
            to = os.path.join(self.source, name)
            if not same(os.path.join(ROOT, name), to):
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy(os.path.join(ROOT, name), to)

    def prepare(self):
        listed = sh(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True).stdout.split("\n")
        files = {name for name in listed if name and os.path.isfile(os.path.join(ROOT, name))}
        for folder, _, names in os.walk(self.source):
            for path in (os.path.join(folder, name) for name in names):
                if os.path.relpath(path, self.source) not in files:
                    os.remove(path)
        self.copy(files)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            made = sh(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release", "-DTKC_STATIC=OFF",
                       *quick_links()])
            if made.returncode:
                sys.exit(made.stdout + made.stderr)

    def make(self, tests):
        """None, or what the build said."""
        targets = {"tkc", "simt", "simt_old", "simt_unlinked", "tkc_shared", "fake_command", "fake_nvtx", "fake_memory", "fake_disk"} | {"unit_" + test.split()[1] for test in tests if test.startswith("unit ")}
        targets |= {"unit_%s_test" % test[len("lit unit/"):] for test in tests if test.startswith("lit unit/")}
        targets |= {"stores_%s_test" % test[len("lit stores/"):] for test in tests if test.startswith("lit stores/")}
        with open(os.path.join(self.build, "build.ninja")) as rules:  # the short way of launches, where Python has headers
            if any(test.startswith("lit python/") for test in tests) and "tkc_python_fast" in rules.read():
                targets.add("tkc_python_fast")
        built = sh(["ninja", "-C", self.build, "-j", str(self.jobs), *sorted(targets)])
        return None if built.returncode == 0 else built.stdout + built.stderr

    def apply(self, mutant):
        """None, or what git said. Whatever repository is around the copy is not its."""
        alone = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(self.source)}
        applied = sh(["git", "apply", mutant.path], cwd=self.source, env=alone)
        return None if applied.returncode == 0 else applied.stderr

    def command(self, test):
        kind, *words = test.split()
        if kind == "unit":
            return [os.path.join(self.build, "test", "unit", words[0])]
        if kind == "lit":
            package = next(line.split("=", 1)[1] for line in open(os.path.join(self.build, "CMakeCache.txt"))
                           if line.startswith("LLVM_CONFIG:")).strip()
            package = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(package))), "utils", "lit")
            return [sys.executable, os.path.join(self.source, "test", "run_lit.py"), package, os.devnull, "-q", "--filter", words[0],
                    os.path.join(self.build, "test")]
        if kind == "fuzz":
            return [sys.executable, os.path.join(self.source, "test", "fuzz", "agree.py"), self.tkc, "-first", "1", "-seconds", words[0],
                    "-most", "1", "-no-reduce", "-device", "simt", "-out", os.path.join(self.build, "fuzz")]
        if kind in ("kernels", "models"):
            return [sys.executable, os.path.join(self.source, "test", "run", kind + ".py"), self.tkc, "simt", *words]
        sys.exit(f"there is no kind of test '{kind}'")

    def run_ops(self, words):
        """All cases of ops.py are made once: that takes longer than to run a few of them."""
        if not self.ops:
            sys.dont_write_bytecode = True
            sys.path.insert(0, os.path.join(self.source, "test", "run"))
            self.ops = __import__("ops")
            self.cases = list(self.ops.all_cases())
        runner = self.ops.Runner(self.tkc, "simt")
        runner.run_all([case for case in self.cases if all(word in case.name for word in words)])
        return runner.passed > 0 and not runner.failed, "".join(f"{case.name}\n{text}\n" for case, text in runner.failed)

    def passes(self, test):
        """Also that something was tested."""
        if test.startswith("ops "):
            return self.run_ops(test.split()[1:])
        done = sh_within(self.command(test), TEST_SECONDS)
        if not done:
            return False, "it takes too long"
        last = (done.stdout.strip().split("\n") or [""])[-1]
        return done.returncode == 0 and not last.startswith("0 passed"), done.stdout + done.stderr


# ---- workers, each with a tree of its own ----

tree = None


def begin(numbers, folder, jobs, tests):
    """Of a worker: its tree, built with what the tests need."""
    global tree
    tree = Tree(os.path.join(folder, str(numbers.get())), jobs)
    tree.prepare()
    tree.broken = tree.make(tests)


def check(test, is_tested):
    """None, or why a test does not pass while nothing is changed."""
    if tree.broken:
        print(f"{test}: is not built without a change\n{tree.broken[-2000:]}", flush=True)
        return tree.broken
    if is_tested:
        return None
    ok, said = tree.passes(test)
    print(f"{test}: passes without a change" if ok else f"{test}: FAILS without a change\n{said[-2000:]}", flush=True)
    return None if ok else said


def judge(mutant):
    """The test that noticed; else what is wrong."""
    said = tree.apply(mutant)
    if said:
        return None, f"does not apply: {said}"
    said = tree.make(mutant.tests)
    if said:
        return None, f"does not compile: {said[-2000:]}"
    for test in mutant.tests:
        if not tree.passes(test)[0]:
            return test, None
    return None, "survives"


def try_one(mutant, end):
    """True: some test noticed; None: time is up."""
    start = time.monotonic()
    if start > end:
        return None
    noticed, wrong = judge(mutant)
    tree.copy(mutant.files)
    print(f"{mutant.name}: " + (f"noticed by {noticed}" if noticed else f"FAILED, it {wrong}") + f" ({time.monotonic() - start:.0f} s)",
          flush=True)
    return noticed is not None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("-minutes", type=float, default=60)
    parser.add_argument("-fuzz", metavar="SECONDS")
    parser.add_argument("-workers", type=int, default=os.cpu_count())
    parser.add_argument("-tested", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    mutants = [Mutant(os.path.join(HERE, name)) for name in sorted(os.listdir(HERE)) if name.endswith(".patch")]
    mutants = [m for m in mutants if not options.names or any(name in m.name for name in options.names)]
    for mutant in mutants if options.fuzz else []:
        mutant.tests = ["fuzz " + options.fuzz]
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    end, numbers = time.monotonic() + options.minutes * 60, multiprocessing.Queue()
    for i in range(options.workers):
        numbers.put(i)
    jobs = max(os.cpu_count() // options.workers, 1)
    with multiprocessing.Pool(options.workers, begin, (numbers, os.path.abspath(options.build), jobs, tests)) as pool:
        if any(pool.starmap(check, [(test, options.tested) for test in tests], chunksize=1)):
            sys.exit("a test fails, or is not built, without a change")
        found = pool.starmap(try_one, [(mutant, end) for mutant in mutants], chunksize=1)
    late = f", {found.count(None)} not tried: time is up" if None in found else ""
    print(f"{found.count(True)} mutants noticed, {found.count(False)} not{late}")
    sys.exit(found.count(True) < len(mutants) or not mutants)


if __name__ == "__main__":
    main()
