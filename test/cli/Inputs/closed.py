"""closed.py FD COMMAND...: runs the command with that standard stream closed; passes its output through and prints its exit code."""
import os
import subprocess
import sys

fd = int(sys.argv[1])
streams = {0: {}, 1: {"stderr": subprocess.PIPE}, 2: {"stdout": subprocess.PIPE}}[fd]
run = subprocess.run(sys.argv[2:], preexec_fn=lambda: os.close(fd), **streams)
sys.stdout.write(((run.stderr or run.stdout) or b"").decode())
print("exit code", run.returncode)
