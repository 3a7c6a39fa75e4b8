"""terminal.py COMMAND...: runs the command on a terminal and passes on what it shows."""
import os
import pty
import sys

pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    try:
        part = os.read(master, 4096)
    except OSError:
        part = b""
    if not part:
        break
    sys.stdout.buffer.write(part.replace(b"\r\n", b"\n"))
os.waitpid(pid, 0)
