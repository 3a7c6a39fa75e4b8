# The shells complete the command's words: bash, and zsh and fish where they are.
# RUN: %python %src/manual/write.py %src 1.2.3 %t && %python %s %t | FileCheck %s
# CHECK: bash: 10 words completed
import os
import shutil
import subprocess
import sys
import time

CASES = {  # what is typed: what it may become
    "tkc -em": "-emit=",
    "tkc -emit=p": "ptx",
    "tkc -x ": "ir tk",
    "tkc -device s": "simt",
    "tkc -ffp-contract=": "off on",
    "tkc -arch=sm_9": "sm_90 sm_90a",
    "tkc -Rv": "-Rvec",
    "tkc -Wno-unu": "-Wno-unused-parameter -Wno-unused-value",
    "tkc --v": "--version",
    "tkc -k ": "",
}
share = sys.argv[1]


def sh(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def same(shell, typed, got):
    assert " ".join(sorted(got)) == CASES[typed], (shell, typed, got)


for typed in CASES:
    words = typed.replace("=", " = ").split(" ")[:-1 if typed.endswith("=") else None]  # as bash parts them
    same("bash", typed, sh("bash", "--norc", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tkc; echo "${COMPREPLY[*]}"',
                           share + "/bash-completion/completions/tkc", *words).split())
print("bash: %d words completed" % len(CASES))

if shutil.which("fish"):
    os.makedirs(share + "/home", exist_ok=True)
    for typed in CASES:
        lines = sh("fish", "--no-config", "-c", "source %s/fish/vendor_completions.d/tkc.fish; complete -C '%s'" % (share, typed),
                   env={**os.environ, "HOME": share + "/home"}).splitlines()
        got = [line.split("\t")[0] for line in lines]
        stem = typed.split(" ")[1].split("=")[0] + "="  # fish tells whole words
        got = [g[len(stem):] if "=" in typed and g.startswith(stem) else g + "=" if g == "-emit" else g for g in got]
        same("fish", typed, got)
    print("fish: %d words completed" % len(CASES))

if shutil.which("zsh"):
    script = """zmodload zsh/zpty; zpty z zsh -f -i
zpty -w z "PROMPT=; fpath=(%s/zsh/site-functions \\$fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word; echo REA''DY"
zpty -r -m z line '*READY*'
zpty -w -n z $'%s\\t'; zpty -r -m z line '*%s*' && echo completed; zpty -d z
"""
    for typed, whole in ("tkc -emit=pt", "-emit=ptx"), ("tkc -Rv", "-Rvec"), ("tkc -ti", "-time"), ("tkc -device si", "simt"):
        assert "completed" in sh("zsh", "-f", "-c", script % (share, typed, whole), timeout=60), typed
    print("zsh: 4 words completed")
