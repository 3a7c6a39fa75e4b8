"""Text as the headers' comments and docs/*.md have it, in the language of man pages."""
import re
import unicodedata

SPECIAL = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}


def escape(text):
    """In ASCII, so that it is the same to every roff."""
    return "".join(SPECIAL.get(c) or (c if c < "\x7f" else "\\[u%s]" % "_".join("%04X" % ord(d) for d in unicodedata.normalize("NFD", c)))
                   for c in text)


def line(text):
    """One that does not begin as a request does."""
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def inline(text):
    """`code` and **words** are bold; a link is its text."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"`([^`]+)`|\*\*([^*]+)\*\*", text)
    return line("".join(escape(p) if i % 3 == 0 else "\\fB%s\\fR" % escape(p) if p else "" for i, p in enumerate(parts)))


def code(lines):
    return "\n".join([".PP", ".RS 4", ".nf"] + [line(escape(text)) for text in lines] + [".fi", ".RE", ""])


def table(lines):
    """The first column is what the rest says something of."""
    found = ""
    for row in lines:
        cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", row.strip().strip("|"))]
        if any(re.search(r"[^-: ]", c) for c in cells) and any(cells):
            found += ".TP\n%s\n%s\n" % (inline(cells[0]), inline("; ".join(c for c in cells[1:] if c)) or "\\&")
    return found


def block(text, section):
    """A paragraph, heading, list item, table or piece of code."""
    lines = text.split("\n")
    if text.startswith("#"):
        mark, _, title = lines[0].partition(" ")
        return ".%s %s\n" % (section if len(mark) < 3 else "SS", escape(title))
    if text.startswith("|"):
        return table(lines)
    if text.startswith("    "):
        return code(text_line[4:] for text_line in lines)
    if text.startswith("- "):
        return ".IP \\(bu 3\n" + inline(" ".join(part.strip() for part in lines)[2:]) + "\n"
    return ".PP\n" + inline(" ".join(part.strip() for part in lines)) + "\n"


def text(words, section="SH"):
    """Fences are made indentation, then pieces part at empty lines, at items and around headings, tables and code."""
    out, pieces, fenced = "", [[]], False
    for raw in words.split("\n"):
        if raw.strip().startswith("```"):
            fenced = not fenced
            pieces.append([])
            continue
        kind = "code" if fenced or raw.startswith("    ") and (not pieces[-1] or pieces[-1][-1].startswith("    ")) else raw[:1] if raw[:1] in "#|" else ""
        last = pieces[-1][-1] if pieces[-1] else ""
        in_code = last.startswith("    ")
        if kind == "code" or in_code and not raw.strip():
            if pieces[-1] and not in_code:
                pieces.append([])
            pieces[-1].append("    " + raw if fenced else raw or "    ")
        elif not raw.strip():
            pieces.append([])
        elif raw.startswith(("- ", "#")) or in_code or last.startswith("#") or (last.startswith("|") != (kind == "|")):
            pieces.append([raw])
        else:
            pieces[-1].append(raw)
    for piece in pieces:
        while piece and not piece[-1].strip():
            piece.pop()
        if piece:
            out += block("\n".join(piece), section)
    return out
