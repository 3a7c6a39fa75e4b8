# A file that is written is the old one or the new one, whole: when the disk is full, when the command is killed at any
# moment; its permissions stay, and links to it are followed.
# RUN: %python %s tkc %t %S/Inputs/add.tk
import os
import resource
import signal
import stat
import subprocess
import sys

tkc, folder, kernel = sys.argv[1:]
subprocess.run(["rm", "-rf", folder], check=True)
os.makedirs(folder)
target = os.path.join(folder, "out")
OLD = b"old\n" * 1000
run = [tkc, "-run", "-device", "cpu", kernel, "-DBLOCK=1024", "-grid", "cdiv(n,BLOCK)", "n=1000000",
       "x=ones:f32[1000000]", "y=ones:f32[1000000]", "z=zeros:f32[1000000]", "-save", "z=" + target]
to_ptx = [tkc, kernel, "-DBLOCK=1024", "-emit=ptx", "-o", target]


def write_old():
    with open(target, "wb") as f:
        f.write(OLD)
    os.chmod(target, 0o640)


def read():
    with open(target, "rb") as f:
        return f.read()


def is_clean():
    return not [n for n in os.listdir(folder) if n.startswith(".tkc-")]


def limit():
    """As a full disk: a file ends after 512 bytes, and writing on is an error."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))


for command in (run, to_ptx):
    write_old()
    full = subprocess.run(command, preexec_fn=limit, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert full.returncode == 1 and b"cannot write" in full.stderr, full
    assert read() == OLD and is_clean(), command
    done = subprocess.run(command, stdout=subprocess.DEVNULL)
    assert done.returncode == 0 and read() != OLD and is_clean(), command
    assert stat.S_IMODE(os.stat(target).st_mode) == 0o640
    new = read()
    write_old()
    os.symlink("out", os.path.join(folder, "link"))
    through = [w.replace(target, os.path.join(folder, "link")) for w in command]
    assert subprocess.run(through, stdout=subprocess.DEVNULL).returncode == 0
    assert read() == new and os.path.islink(os.path.join(folder, "link"))
    os.unlink(os.path.join(folder, "link"))

# Kills spread over the time that a whole run takes.
write_old()
subprocess.run(run, stdout=subprocess.DEVNULL, check=True)
new = read()
olds = 0
for i in range(40):
    write_old()
    child = subprocess.Popen(run, stdout=subprocess.DEVNULL)
    try:
        child.wait(timeout=0.004 * i)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    got = read()
    assert got in (OLD, new), "%d bytes after a kill" % len(got)
    olds += got == OLD
assert olds, "no run was killed before its end"
