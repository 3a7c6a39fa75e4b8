"""Every diagnostic once: runs the tests in a build that counts what is executed, then lists each text
for users in grammar/, lib/, runtime/ and src/ that no test made tkc say.

diagnostics.py [-j N | --counted] SOURCE-DIR BUILD-DIR GCOV LIT-PACKAGE-DIR SUMMARY-FILE
--counted runs nothing and looks at what earlier runs left.

What runs is the tests that say what they expect: lit tests and unit tests. The suites that execute
kernels by the thousand, the fuzzers and the long tests do not count: a message that only they meet is
read by nobody.

What must be reached is each call of a reporter, and each string of three words or more (with a space, and not counting an
article, so that no name such as "a conditional expression" is meant) wherever it is, since many texts are
made in one place and reported in another. A reporter is a function that takes a printf
format and is not in BUILDERS, or a macro that calls one. To be reached is more than to be on a line that was executed, since
`ok ? value : error(…)` is one line: every call on it must have begun, and for a string that is no argument
of a reporter, or that `?` chooses, every branch of the line.

A text that begins with "internal error: " says that the compiler itself is wrong, which no input provokes; what
is added to such a report is not provoked either.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

FOLDERS = ["grammar", "lib", "runtime", "src", "include"]

# Functions with a printf format that report nothing to a user.
BUILDERS = {"intern_printf", "arena_printf", "buf_printf", "text_put", "bytes_put"}
# What says that the compiler itself is wrong, which no input provokes.
BUGS = {"unwind_raise", "check", "tkc_report_bug"}

# And what passes on that LLVM gave up.
BUG = r'[^;"]*"internal error: (?!%s")|unwind_raise_as\(UNWIND_LLVM,'

# Tests that do not count: see above.
OTHER_TESTS = (r"run/(ops|models|language|kernels|examples|example_commands)\.py|run/dot-targets\.test|"
               r"ir/round-trip\.py|run/cache_faults\.py|bench/|tree/|fuzz/|spec/(std-values|control-random)\.py")

FORMAT = re.compile(
    r"^(static )?.*?\b(\w+)\([^()]*\.\.\.\)\s*__attribute__\(\(format\(printf, \d+, [1-9]\d*\)\)\)", re.M)
MACRO = re.compile(r"^#define (\w+)\([^()]*\.\.\.\)((?:.*\\\n)*.*)", re.M)
FUNCTION = re.compile(r"^(?!typedef|struct|enum|union)[A-Za-z_][^;{}()=#]*?\b(\w+)\(([^;{}]*)\)\s*\n\{", re.M)
STRING = r'"(?:\\.|[^"\\\n])*"'
CHARACTER = r"'(?:\\.|[^'\\\n])*'"
COMMENT = r"/\*.*?\*/|//[^\n]*"
WORD = re.compile(r"(?<![%\\\w.])[A-Za-z]{2,}(?![.\w]\w)")


def blank(text, start, end):
    """Keeps lengths and line ends."""
    return text[:start] + re.sub(r"[^\n]", "_", text[start:end]) + text[end:]


class SourceFile:
    """A C file: its text without comments, the same without what strings hold (so that parentheses and
    commas are C's own), and where its functions are. Of a scanner, the rules count as one function."""

    def __init__(self, root, path):
        self.path = path
        with open(os.path.join(root, path)) as file:
            self.text = self.code = file.read()
        self.strings = []
        for match in re.finditer("|".join((STRING, CHARACTER, COMMENT)), self.text, re.S):
            if match.group()[0] == "/":
                self.code = blank(self.code, match.start(), match.end())
            elif match.group()[0] == '"':
                self.strings.append((match.start(), match.end()))
        self.bare = re.sub("%s|%s" % (STRING, CHARACTER), lambda m: "_" * len(m.group()), self.code)
        self.functions = []
        for match in FUNCTION.finditer(self.bare):
            self.functions.append((match.group(1), match.end(), self.bare.find("\n}", match.end())))
        if path.endswith(".l"):
            begin, end = [m.start() for m in re.finditer(r"^%%$", self.text, re.M)]
            self.bare = self.code = self.text
            self.strings = [m.span() for m in re.finditer(r'(?<=[ (,])"[^"\n\\]*"(?=\))', self.text)]
            self.functions = [(None, begin, end)]

    def line(self, offset):
        return self.code.count("\n", 0, offset) + 1

    def function(self, offset):
        for name, begin, end in self.functions:
            if begin <= offset < end:
                return name, begin
        return None

    def calls_around(self, offset, begin):
        """(name, where it is) of the calls that the offset is an argument of, the innermost first."""
        depth = 0
        for at in range(offset - 1, begin, -1):
            c = self.bare[at]
            if c in ";{}" and depth == 0:
                return
            depth += (c == ")") - (c == "(")
            if depth < 0:
                depth = 0
                word = re.search(r"\w+\s*$", self.bare[:at])
                yield (word.group().strip(), word.start()) if word else (None, at)


def read_tree(root):
    found = []
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(root, folder, "**", "*.[chly]"), recursive=True)):
            found.append(SourceFile(root, os.path.relpath(path, root)))
    return found


def find_reporters(files):
    """{path: names}: each file's own, and those that all may call."""
    everywhere, own = set(), {file.path: set() for file in files}
    for file in files:
        for static, name in FORMAT.findall(file.code):
            (own[file.path] if static else everywhere).add(name)
    macros = dict(pair for file in files for pair in MACRO.findall(file.code))
    for _ in macros:  # what stands for a call of a reporter is one, too
        everywhere |= {name for name, body in macros.items() if everywhere & set(re.findall(r"\w+(?=\()", body))}
    strange = (BUILDERS | {"unwind_raise_as"}) - everywhere
    if strange:
        sys.exit("diagnostics.py: these take no printf format (any more): %s" % ", ".join(strange))
    return {path: (everywhere | names) - BUILDERS - BUGS for path, names in own.items()}


class Site:
    """A text, or the call that reports it. strict: every branch of its line must be taken; lines: that of
    the site, then those that it is a continuation of; bug: it says that the compiler is wrong."""

    def __init__(self, file, offset, strict, around):
        self.path, self.strict = file.path, strict
        self.bug = re.match(BUG, file.code[offset:]) is not None
        self.lines = [file.line(offset)] + [file.line(at) for _, at in around]
        self.text = file.text.splitlines()[self.lines[0] - 1].strip()


def adds_to_bug(file, offset, begin):
    """Whether a call's argument is a report of a bug that was made before in the function."""
    call = file.code[offset:file.code.index(";", offset)]
    made = {m.group(1): m.group() for m in re.finditer(r"\b(\w+) =\s[^;]*", file.code[begin:offset])}
    return any('"internal error: ' in text and re.search(r"\b%s\b" % name, call) for name, text in made.items())


def string_site(file, begin, end, reporters):
    inside = file.function(begin)
    words = WORD.findall(file.text, begin, end)
    if not inside or inside[0] in reporters or " " not in file.text[begin:end] or len(words) - (words[:1] in (["the"], ["an"])) < 3:
        return None
    around = list(file.calls_around(begin, inside[1]))
    names = {name for name, _ in around}
    if names & BUGS or file.bare[:begin].rstrip().endswith("_"):  # or it continues a string
        return None
    chosen = file.bare[:begin].rstrip()[-1:] in "?:"
    if names & reporters and not chosen:
        return None  # the call is a site
    return Site(file, begin, True, around)


def find_sites(files):
    found, all_reporters = [], find_reporters(files)
    for file in files:
        reporters = all_reporters[file.path]
        for begin, end in file.strings:
            found.append(string_site(file, begin, end, reporters))
        for match in re.finditer(r"\b(%s)\(" % "|".join(sorted(reporters)), file.bare):
            inside = file.function(match.start())
            if inside and inside[0] not in reporters and not adds_to_bug(file, match.start(), inside[1]):
                found.append(Site(file, match.start(), False, []))
    return [site for site in found if site]


def forget_counts(build):
    for data in glob.glob(os.path.join(build, "**", "*.gcda"), recursive=True):
        os.remove(data)


def run_tests(root, build, lit_package, summary, jobs):
    """Its exit status. Counts add to those that are there."""
    environment = {k: v for k, v in os.environ.items() if k != "TKC_TEST_LONG"}
    command = [sys.executable, os.path.join(root, "test", "run_lit.py"), lit_package, summary, "-sv",
               "-j%d" % jobs, "--filter-out", OTHER_TESTS, os.path.join(build, "test")]
    return subprocess.run(command, env=environment).returncode


def read_program(data, root, build, gcov):
    """{(path, line): (all calls begun, all branches taken)}; a line without code has no entry."""
    with tempfile.TemporaryDirectory() as folder:
        text = subprocess.run([gcov, "-b", "-c", "-t", *data], cwd=folder, capture_output=True,
                              text=True, check=True).stdout
    counted, path, key = {}, None, None
    for row in text.splitlines():
        count, _, rest = row.partition(":")
        number, _, rest = rest.partition(":")
        if number.strip() == "0" and rest.startswith("Source:"):
            path = os.path.relpath(os.path.join(build, rest[len("Source:"):]), root)
        elif number.strip().isdigit():
            key, count = (path, int(number)), count.strip()
            if count != "-":
                ran = count.rstrip("*").isdigit()
                counted[key] = (ran, ran and not count.endswith("*"))
        elif row.startswith("call") and "never executed" in row and key in counted:
            counted[key] = (False, False)
    return counted


def read_counts(root, build, gcov):
    """The same of all programs: what one of them reaches is reached. Of a test's only the files that are not tests."""
    programs, counted = {}, {}
    for path in glob.glob(os.path.join(build, "**", "*.gcda"), recursive=True):
        if not os.path.relpath(path, build).startswith("test") or "/__/" in path:
            programs.setdefault(path.partition(".dir/")[0], []).append(path)
    for data in programs.values():
        for key, reached in read_program(data, root, build, gcov).items():
            counted[key] = tuple(a or b for a, b in zip(counted.get(key, (False, False)), reached))
    return counted


def is_reached(site, counted):
    """The text of a table is no code: None."""
    for line in site.lines:
        if (site.path, line) in counted:
            return counted[site.path, line][1 if site.strict else 0]
    return None


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", dest="jobs", type=int, default=1)
    parser.add_argument("--counted", action="store_true")
    for name in ("root", "build", "gcov", "lit_package", "summary"):
        parser.add_argument(name)
    return parser.parse_args()


def judge(o, sites):
    """The places with a text, and {(path, line): text} of those that were not reached."""
    counted = read_counts(o.root, o.build, o.gcov)
    for path in sorted({site.path for site in sites} - {path for path, _ in counted}):
        sys.exit("diagnostics.py: nothing was counted in %s" % path)
    reached = [(site, is_reached(site, counted)) for site in sites]
    places = {(site.path, site.lines[0]) for site, done in reached if done is not None}
    return places, {(site.path, site.lines[0]): site.text for site, done in reached
                    if done is False and not site.bug}


def main():
    o = read_arguments()
    status = 0
    if not o.counted:
        forget_counts(o.build)
        status = run_tests(o.root, o.build, o.lit_package, o.summary, o.jobs)
    sites = find_sites(read_tree(o.root))
    places, missed = judge(o, sites)
    if missed and not status and not o.counted:
        # programs that end at the same moment can lose counts: what is missed twice is missed
        print("%d places were not counted; once more" % len(missed), flush=True)
        status = run_tests(o.root, o.build, o.lit_package, o.summary, o.jobs)
        places, missed = judge(o, sites)
    for (path, line), text in sorted(missed.items()):
        print("%s:%d: no test provokes: %s" % (path, line, text))
    said = "%d places with a text for users, %d of them not reached by a test" % (len(places), len(missed))
    print(said)
    with open(o.summary, "a") as summary:
        summary.write(said + "\n")
    sys.exit(1 if status or missed else 0)


if __name__ == "__main__":
    main()
