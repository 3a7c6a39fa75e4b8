"""Writes the manual and the completions into FOLDER as they are installed below share/: write.py ROOT VERSION FOLDER"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
import completion
import pages

root, version, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
pages.write(root, version, os.path.join(folder, "man"))
completion.write(root, folder)
