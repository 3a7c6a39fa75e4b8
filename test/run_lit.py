"""Runs LLVM's lit, which Debian installs as a package without a script: run_lit.py PACKAGE-DIR ARGUMENTS"""
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))

from lit.main import main

if __name__ == "__main__":
    main()
