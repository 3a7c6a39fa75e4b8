"""What the manual and the completions are made of: rows of .def files, and what the public headers declare and say of it."""
import ast
import re
import textwrap

ANY_THREAD = "Any thread."


def arguments(text):
    """The arguments of a row, up to its closing parenthesis: strings as what they are, anything else as written."""
    found, literals, word = [], [], ""
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|[,)]|[^",)]+', text):
        if token.group() in ",)":
            found.append("".join(literals) if literals else word.strip())
            if token.group() == ")":
                return found
            literals, word = [], ""
        elif token.group().startswith('"'):
            literals.append(ast.literal_eval(token.group()))
        else:
            word += token.group()
    raise SystemExit("a row without an end: " + text[:60])


def rows(path, name):
    """Arguments of each row NAME(…) of a .def file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return [arguments(text[m.end():]) for m in re.finditer(r"^%s\(" % name, text, re.M)]


class Group:
    """Declarations that one comment is about: a page of the manual."""

    def __init__(self, section, comment=""):
        self.section, self.comment, self.code, self.names = section, comment, "", []

    def add(self, code):
        self.code += code + "\n"
        bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
        name = re.search(r"\b(tkc_\w+)\(", bare) or re.search(r"#define (\w+)", bare) or re.search(r"\(\*(Tkc\w+)\)", bare) or \
            re.search(r"(Tkc\w+);\s*$", bare) or re.search(r"struct (Tkc\w+)", bare) or re.search(r"\b(TKC_\w+)", bare)
        if name.group(1) not in self.names:
            self.names.append(name.group(1))

    @property
    def any_thread(self):
        return ANY_THREAD in " ".join((self.comment + self.section.about).split())

    @property
    def functions(self):
        return [n for n in self.names if n.startswith("tkc_")]


class Section:
    def __init__(self, header, title):
        self.header, self.title, self.about, self.groups = header, title, "", []


BODY = r"\{[^{}\n]*\}[^;\n]*;|\{.*?\n\}[^;\n]*;"
PIECE = re.compile(r"(?P<comment>/\*.*?\*/)\n"
                   r"|(?P<inline>static inline [^{]*)\n\{.*?\n\}\n"
                   r"|(?P<code>#define TKC_VERSION[^\n]*|(?:TKC_API|typedef|struct|enum) [^;{]*(?:%s|;)[^\n]*)\n"
                   r"|(?P<blank>)\n|[^\n]*\n" % BODY, re.S)


def comment_text(comment):
    """Without its marks and its indentation."""
    first, _, rest = comment[2:-2].partition("\n")
    return (first.strip() + "\n" + textwrap.dedent(rest)).strip()


def section(name, text):
    """---- title: more ---- about"""
    line, _, about = text[len("---- "):].replace(" ----", "", 1).partition("\n")
    title, _, more = line.partition(":" if ":" in line else ".")
    found = Section(name, title)
    found.about = (more.strip() + "\n\n" + about).strip()
    return found


def is_opaque(group):
    return group and not group.comment and not group.functions and "{" not in group.code


def header(path, name):
    """The comment at its head, and its sections. A comment, or an empty line, begins a group."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    pieces = [m for m in PIECE.finditer(text[text.index("*/") + 2:]) if m.lastgroup]
    sections, group = [Section(name, "version of the header")], None
    for piece in pieces:
        what, words = piece.lastgroup, piece.group(piece.lastgroup)
        if what == "comment" and words.startswith("/* ----"):
            sections.append(section(name, comment_text(words)))
            group = None
        elif what == "comment" and is_opaque(group):
            group.comment = comment_text(words)
        elif what == "blank":
            group = None
        else:
            if group is None or what == "comment":
                group = Group(sections[-1])
                sections[-1].groups.append(group)
            if what == "comment":
                group.comment = comment_text(words)
            else:
                group.add(words if what == "code" else " ".join(words.split()) + ";")
    for s in sections:
        for g in s.groups:
            if not (g.comment and g.names):
                raise SystemExit("%s: %s" % (path, "nothing is declared below: " + g.comment if g.comment else
                                             "no comment above: " + g.code))
    return comment_text(text[:text.index("*/") + 2]), [s for s in sections if s.groups or s.about]
