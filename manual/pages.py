"""The manual: tkc(1) of the option table, tkc(3) and a page a function of the headers, and docs/*.md as pages of section 7."""
import os
import re

import read
import roff

DOCS = ["language", "running", "embedding", "python", "diagnostics", "debugging", "simt", "examples"]
THREADS = {True: "Any number of threads may call this at once.",
           False: "One thread at a time: that of the context which it is given, or from which what it is given was made. "
                  "Different contexts are independent."}


def page(version, name, number, about, body, names=None):
    body = re.sub(r"(\.S[HS] [^\n]*\n)\.PP\n", r"\1", body)
    return (".\\\" made of the headers, the option table and docs/ by manual/write.py\n.TH %s %s \"\" \"tkc %s\"\n.SH NAME\n%s \\- %s\n"
            % (name, number, version, names or name, roff.escape(about)) + body)


def references(names):
    return ".SH SEE ALSO\n" + ",\n".join(".BR %s (%s)" % tuple(n) for n in names).replace(",\n", " ,\n") + "\n"


def definition(term, about):
    return ".TP\n.B %s\n%s\n" % (roff.escape(term).replace('"', "\\(dq").join('""') if " " in term else roff.escape(term).replace('"', "\\(dq"),
                                 roff.inline(about))


def option_pages(root, version):
    rows = read.rows(root + "/src/options.def", "OPT")
    help_of = {row[0]: row[4] for row in rows}
    usage, about = help_of["USAGE"].split("\n", 1)
    out = ".SH SYNOPSIS\n%s\n.SH DESCRIPTION\n%s\n" % (roff.inline(usage.partition("usage: ")[2]), roff.inline(about))
    for _, spelling, form, argument, words, *_ in rows:
        if form == "GROUP" and not argument:
            out += ".SH %s\n" % roff.escape(re.split(r"[:\n]", words)[0].upper())
            out += roff.inline(words.replace("\n", " ")) + "\n" if ":" in words else ""
        elif form != "GROUP":
            out += definition(spelling + {"EQUALS": "=", "NEXT": " "}.get(form, "") + argument, words)
    for title, kind, prefix in ("WARNINGS", "WARNING", "-W"), ("REMARKS", "REMARK", "-R"):
        out += ".SH %s\n" % title
        out += "".join(definition(prefix + name, what) for _, name, what in read.rows(root + "/lib/base/diag_ids.def", kind))
    title, words = help_of["EXIT"].split(": ", 1)
    out += ".SH %s\n%s\n" % (title.upper(), roff.inline(words))
    with open(root + "/README.md", encoding="utf-8") as file:
        out += ".SH EXAMPLES\n" + roff.text(re.search(r"## As a command\n(.*?)\n## ", file.read(), re.S).group(1))
    return {"man1/tkc.1": page(version, "tkc", 1, "compiles Triton's kernel language to PTX, or runs it",
                               out + references([("tkc", 3)] + [("tkc-" + d, 7) for d in DOCS]))}


def first_sentence(text):
    words = " ".join(text.replace("`", "").split())
    return re.split(r"(?<=[^.])\.(?: |$)|[;:](?: |$)", words)[0][:120]


def function_page(version, group, statuses):
    body = ".SH SYNOPSIS\n.nf\n.B #include <tkc/%s.h>\n.PP\n%s.fi\n.SH DESCRIPTION\n%s" % (
        group.section.header, "".join(roff.line(roff.escape(c)) + "\n" for c in group.code.replace("TKC_API ", "").split("\n")), roff.text(group.comment, "SS"))
    if "TkcStatus tkc_" in group.code:
        body += ".SH RETURN VALUE\n.nf\n%s.fi\n" % "".join(roff.line(roff.escape(c.strip())) + "\n" for c in statuses)
    if group.functions:
        body += ".SH THREADS\n%s\n" % THREADS[group.any_thread]
    others = [g.names[-1] for g in group.section.groups if g is not group]
    used = [n for n in dict.fromkeys(re.findall(r"\bTkc\w+", group.code)) if n not in group.names]
    pages = {"man3/%s.3" % group.names[0]: page(version, group.names[0], 3, first_sentence(group.comment), body + references(
        [("tkc", 3)] + [(n, 3) for n in dict.fromkeys(used + others)]), ", ".join(group.names))}
    pages.update(("man3/%s.3" % n, ".so man3/%s.3\n" % group.names[0]) for n in group.names[1:])
    return pages


def library_pages(root, version):
    out, pages, parts = "", {}, []
    for name in "tkc", "runtime":
        head, sections = read.header("%s/include/tkc/%s.h" % (root, name), name)
        parts += [(name, head, sections)]
    statuses = next(g for _, _, sections in parts for s in sections for g in s.groups if "TkcStatus" in g.names).code.split("\n")[1:-2]
    for name, head, sections in parts:
        out += ".SH %s\n" % ("DESCRIPTION" if name == "tkc" else "RUNTIME") + roff.text(head, "SS")
        for s in sections:
            out += ".SS %s\n" % roff.escape(s.title[0].upper() + s.title[1:]) + roff.text(s.about, "SS")
            for g in s.groups:
                out += definition(", ".join(g.names), first_sentence(g.comment))
                pages.update(function_page(version, g, statuses))
    pages["man3/tkc.3"] = page(version, "tkc", 3, "a compiler for Triton's kernel language, as a library", ".SH SYNOPSIS\n.nf\n"
                               ".B #include <tkc/tkc.h>\n.B #include <tkc/runtime.h>\n.PP\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs tkc)\n"
                               ".fi\n" + out + references([("tkc", 1), ("tkc-embedding", 7), ("tkc-diagnostics", 7)]))
    return pages


def document_pages(root, version):
    pages = {}
    for name in DOCS:
        with open("%s/docs/%s.md" % (root, name), encoding="utf-8") as file:
            title, _, text = file.read().partition("\n")
        pages["man7/tkc-%s.7" % name] = page(version, "tkc-" + name, 7, title.strip("# "), ".SH DESCRIPTION\n" + roff.text(text) +
                                            references([("tkc", 1), ("tkc", 3)]))
    return pages


def write(root, version, folder):
    pages = {**option_pages(root, version), **library_pages(root, version), **document_pages(root, version)}
    for path, text in pages.items():
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)
