"""Completion of the command's words in bash, zsh and fish, of the option table."""
import os
import re

import read

JOINT = {"EQUALS": "=", "NEXT": " ", "JOINED": "", "FLAG": ""}


def choices(root, spelling, argument):
    """The values there are to choose from."""
    names = lambda kind: [name for _, name, _ in read.rows(root + "/lib/base/diag_ids.def", kind)]
    if spelling == "-W":
        return [no + name for name in names("WARNING") for no in ("", "no-")]
    if spelling == "-R":
        return names("REMARK")
    if spelling == "-arch":
        return [row[0] for row in read.rows(root + "/lib/ir/machines.def", "MACHINE")]
    return argument.split("|") if re.fullmatch(r"\w+(\|\w+)+", argument) else []


def options(root):
    return [(spelling, form, argument, words, choices(root, spelling, argument))
            for _, spelling, form, argument, words, *_ in read.rows(root + "/src/options.def", "OPT") if form != "GROUP"]


def bash(rows):
    cases = "".join("    %s) words=%r;;\n" % (s, " ".join(c)) for s, form, _, _, c in rows if c and form != "JOINED")
    joined = "".join("    %s*) COMPREPLY=($(compgen -P %s -W %r -- \"${word#%s}\")); return;;\n" % (s, s, " ".join(c), s)
                     for s, form, _, _, c in rows if c and form == "JOINED")
    valued = "|".join(s for s, form, _, _, _ in rows if form in ("EQUALS", "NEXT"))
    spelled = " ".join(s + JOINT[form].strip() for s, form, _, _, _ in rows)
    return """_tkc() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=
    # bash takes -emit=ptx for three words
    if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
    case $before in
%s    %s) COMPREPLY=(); return;;
    esac
    [[ -n $words ]] && { COMPREPLY=($(compgen -W "$words" -- "$word")); return; }
    case $word in
%s    -*) COMPREPLY=($(compgen -W %r -- "$word"))
        [[ $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null;;
    *) COMPREPLY=();;
    esac
}
complete -o default -F _tkc tkc
""" % (cases, valued, joined, spelled)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(rows):
    out = "#compdef tkc\n_arguments \\\n"
    for spelling, form, argument, words, values in rows:
        mark = {"EQUALS": "=-", "JOINED": "-"}.get(form, "")
        what = "(%s)" % " ".join(values) if values else "_files -/" if argument == "DIR" else "_files" if argument in ("FILE",) else ""
        tail = "" if form == "FLAG" else ":%s:%s" % (re.sub(r"([:\\\[\]])", r"\\\1", argument), what)
        out += "  %s \\\n" % quoted("*%s%s[%s]%s" % (spelling, mark, re.sub(r"([:\\\[\]])", r"\\\1", words), tail))
    return out + "  '*:file:_files'\n"


def fish(rows):
    out = ""
    for spelling, form, argument, words, values in rows:
        flag = "-l %s" % spelling[2:] if spelling.startswith("--") else "-%s %s" % ("s" if len(spelling) == 2 else "o", spelling[1:])
        wants = "" if form == "FLAG" else " -r" if argument in ("FILE", "DIR") else " -x"
        out += "complete -c tkc %s%s -d %s\n" % (flag, wants + (" -a %s" % quoted(" ".join(values)) if values else ""), quoted(words))
    return out


def write(root, folder):
    rows = options(root)
    for path, text in (("bash-completion/completions/tkc", bash(rows)), ("fish/vendor_completions.d/tkc.fish", fish(rows)),
                       ("zsh/site-functions/_tkc", zsh(rows)),
                       ("zsh/vendor-completions/_tkc", zsh(rows))):  # where Debian's zsh looks for those of packages
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)
