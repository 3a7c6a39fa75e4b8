"""exits.py CODE COMMAND...: runs the command and fails unless it exits with CODE. Its output, errors too, passes through."""
import subprocess
import sys

run = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
sys.stdout.buffer.write(run.stdout)
if run.returncode != int(sys.argv[1]):
    print("exit code %d instead of %s: %s" % (run.returncode, sys.argv[1], " ".join(sys.argv[2:])))
    sys.exit(1)
