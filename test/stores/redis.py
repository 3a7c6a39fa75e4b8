# Kernels shared through a Redis server, and whatever may become of one: each launch gives what is right, in time.
# REQUIRES: redis
# RUN: %python %s %build/test/stores/redis_test | FileCheck %s
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

program = sys.argv[1]
folder = tempfile.mkdtemp(prefix="tkc-redis-")  # short: the path of a socket has at most 107 bytes
path = folder + "/s"
TIMEOUT, RETRY, MOST = 400, 300, 1 << 20
SLACK = 2000  # of a machine that does other things, too: far less than what is waited for without a deadline


class Server:
    def __init__(self, *words, where=("--port", "0", "--unixsocket", path)):
        self.process = subprocess.Popen(["redis-server", *where, "--save", "", "--appendonly", "no", "--dir", folder, *words],
                                        stdout=subprocess.DEVNULL)
        self.port = int(where[1])
        for _ in range(200):
            try:
                self.connect().close()
                return
            except OSError:
                assert self.process.poll() is None, "redis-server ends"
                time.sleep(0.05)
        sys.exit("redis-server does not answer")

    def connect(self):
        if self.port:
            return socket.create_connection(("127.0.0.1", self.port), 5)
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(5)
        s.connect(path)
        return s

    def __call__(self, *words):
        """What it answers to a command: bytes, as they come in one piece or two."""
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        with self.connect() as s:
            s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
            got = s.recv(1 << 16)
            while got.startswith(b"$") and len(got) < int(got[1:].split(b"\r\n")[0]) + 3:
                got += s.recv(1 << 16)
            return got

    def kill(self):
        self.process.kill()
        self.process.wait()
        if os.path.exists(path):
            os.remove(path)


class Host:
    """A process that launches. Each answer is what one launch did: what the cache counted, what the store counted meanwhile."""

    def __init__(self, address, *words, timeout=TIMEOUT, most=MOST):
        self.before = {}
        self.process = subprocess.Popen([program, address, str(timeout), str(RETRY), str(most), *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __call__(self, value):
        self.process.stdin.write("%d\n" % value)
        self.process.stdin.flush()
        got, said = self.process.stdout.readline().split(": ", 1)
        assert float(got) == value, (got, said)
        disk, redis, times, self.error = said.rstrip("\n").split("; ", 3)
        now = {k: int(v) for k, v in (pair.split() for pair in redis.split(", "))}
        done = {k: n for k, n in ((k, now[k] - self.before.get(k, 0)) for k in now) if n}
        self.before = now
        self.get_ms, self.put_ms = (int(t.split()[0]) for t in times.split(", "))
        assert self.get_ms < TIMEOUT + SLACK and self.put_ms < TIMEOUT + SLACK, said
        (outcome, _), = [pair for pair in (p.split() for p in disk.split(", ")) if pair[1] != "0"]
        return outcome, done

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def expect(host, value, outcome, error=None, **done):
    got = host(value)
    assert got == (outcome, done), (value, got, host.error)
    assert error is None or error in host.error, (value, host.error)


FOUND = {"found": 1}
NEW = {"absent": 1, "stored": 1}
FAILED = {"failures": 1, "left_alone": 1}


def keys(server):
    return [w for w in server("KEYS", "*").split(b"\r\n") if w.startswith(b"tkc:")]


def shared(server):
    a, b = Host(path), Host(path)
    expect(a, 7, "absent", **NEW)
    expect(b, 7, "from_store", **FOUND)
    expect(b, 8, "absent", **NEW)
    expect(a, 8, "from_store", **FOUND)
    assert a.error == b.error == "" and len(keys(server)) == 2
    a.end(), b.end()
    print("shared")


def gone(server):
    """Killed, away, back: the same process."""
    a = Host(path)
    expect(a, 7, "from_store", **FOUND)
    server.kill()
    expect(a, 7, "absent", "No such file", **FAILED)
    expect(a, 9, "absent", "No such file", left_alone=2)
    server = Server()
    time.sleep(RETRY / 1000)
    expect(a, 7, "absent", **NEW)
    expect(a, 7, "from_store", **FOUND)
    server("CLIENT", "KILL", "TYPE", "normal")  # as after a time without use
    expect(a, 7, "from_store", **FOUND)
    a.end()
    print("gone")
    return server


def slow(server):
    """It takes what is sent, and says nothing."""
    a = Host(path)
    os.kill(server.process.pid, signal.SIGSTOP)
    expect(a, 7, "absent", "no answer within %d ms" % TIMEOUT, **FAILED)
    assert a.get_ms >= TIMEOUT - 1 and a.put_ms < TIMEOUT, (a.get_ms, a.put_ms)
    time.sleep(RETRY / 1000)
    expect(a, 7, "absent", "no answer", **FAILED)
    os.kill(server.process.pid, signal.SIGCONT)
    time.sleep(RETRY / 1000)
    expect(a, 7, "from_store", **FOUND)
    a.end()
    print("slow")


def wrong(server):
    """What is in the server is not what was put there: it is seen, and put again."""
    a = Host(path)
    for name in keys(server):
        server("DEL", name)
    expect(a, 7, "absent", **NEW)
    seven, = keys(server)
    whole = server("GET", seven).split(b"\r\n", 1)[1][:-2]
    expect(a, 8, "absent", **NEW)
    eight, = set(keys(server)) - {seven}
    other = server("GET", eight).split(b"\r\n", 1)[1][:-2]
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:]
    for bytes_ in (flipped, whole[:middle], whole + b"x", b"x", other):
        server("SET", seven, bytes_)
        expect(a, 7, "store_wrong", found=1, stored=1)
        assert server("GET", seven).split(b"\r\n", 1)[1][:-2] == whole
        expect(a, 7, "from_store", **FOUND)
    server("DEL", seven)
    server("LPUSH", seven, "x")
    expect(a, 7, "absent", "the server says: WRONGTYPE", **FAILED)
    server("DEL", seven)
    server("SETRANGE", seven, MOST, "x")  # a byte more than there may be
    time.sleep(RETRY / 1000)
    expect(a, 7, "absent", too_large=1, stored=1)
    a.end()
    a = Host(path, most=len(whole) - 1)
    expect(a, 7, "absent", too_large=2)
    a.end()
    a = Host(path, most=len(whole))
    expect(a, 7, "from_store", **FOUND)
    a.end()
    print("wrong")


def full(server):
    server("CONFIG", "SET", "maxmemory", "1")
    a = Host(path)
    expect(a, 10, "absent", "the server says: OOM", absent=1, failures=1)
    a.end()
    server("CONFIG", "SET", "maxmemory", "0")
    print("full")


def guarded():
    """By TCP, with passwords."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    address = "127.0.0.1:%d" % port
    server = Server("--requirepass", "secret", "--user", "fleet", "on", ">other", "~tkc:*", "+getrange", "+set", where=("--port", str(port)))
    try:
        for words, told in (((), "NOAUTH"), (("wrong",), "WRONGPASS"), (("secret", "fleet"), "WRONGPASS")):
            a = Host(address, *words)
            expect(a, 7, "absent", "the server says: " + told, **FAILED)
            a.end()
        a = Host(address, "secret")
        expect(a, 7, "absent", **NEW)
        a.end()
        a = Host("[::ffff:127.0.0.1]:%d" % port, "other", "fleet")
        expect(a, 7, "from_store", **FOUND)
        a.end()
    finally:
        server.kill()
    a = Host(address, "secret")
    expect(a, 7, "absent", "Connection refused", **FAILED)
    a.end()
    print("guarded")


def lie(answers, error, outcome="absent", **done):
    """A server that answers each command with the next of these pieces, which come slowly one after the other."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve():
        turn = iter(answers)
        listener.settimeout(0.1)
        while not stop.is_set():
            try:
                s, _ = listener.accept()
            except TimeoutError:
                continue
            try:
                while s.recv(1 << 20):
                    for piece in next(turn, [b"-ERR over\r\n"]):
                        s.sendall(piece)
                        time.sleep(0.05)
                        if stop.is_set():
                            break
                    if answers and answers[-1] == []:
                        break
            except OSError:
                pass
            s.close()

    thread = threading.Thread(target=serve)
    thread.start()
    a = Host("127.0.0.1:%d" % listener.getsockname()[1], most=100000)
    try:
        expect(a, 7, outcome, error, **done)
    finally:
        stop.set()
        a.end()
        thread.join()
        listener.close()


def lies():
    lie([[b"$", b"1", b"0", b"0", b"\r", b"\n"] + [b"x"] * 94], "no answer within", **FAILED)  # a piece each 50 ms, for 5 s
    lie([[b"$99999999\r\n" + b"x" * 200000]], "the reply has more bytes than were asked for", **FAILED)
    lie([[b"?what\r\n"]], "Protocol error", **FAILED)
    lie([[b"+OK\r\n"]], "another kind of reply", **FAILED)
    lie([[b"$-1\r\n"]], "another kind of reply", **FAILED)
    lie([[]], "the server has closed the connection", **FAILED)
    # What nobody asked for is no answer to what is asked next.
    lie([[b"$0\r\n\r\n+OK\r\n"], [b"-ERR second\r\n"]], "the server says: ERR second", absent=1, failures=1)
    print("lies")


def addresses():
    for address in ("", "host", ":1", "host:", "host:0", "host:65536", "host:1x", "/" + "x" * 300):
        done = subprocess.run([program, address, "0", "0", "0"], input="", capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (1, "no store\n"), address
    for words in (("-1", "0"), ("0", "-1")):
        assert subprocess.run([program, path, *words, "0"], input="", capture_output=True).returncode == 1
    print("addresses")


os.environ["TKC_CACHE_DIR"] = ""
server = Server()
try:
    shared(server)
    server = gone(server)
    slow(server)
    wrong(server)
    full(server)
    guarded()
    lies()
    addresses()
finally:
    server.kill()
    shutil.rmtree(folder)
# CHECK: shared
# CHECK-NEXT: gone
# CHECK-NEXT: slow
# CHECK-NEXT: wrong
# CHECK-NEXT: full
# CHECK-NEXT: guarded
# CHECK-NEXT: lies
# CHECK-NEXT: addresses
