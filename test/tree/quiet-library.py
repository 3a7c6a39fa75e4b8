# The library never prints, exits or aborts: it does not even refer to what could (unwind_raise without a
# frame apart, which no public entry can reach; and stdout, which flex's scanner names without writing to it).
# RUN: nm --undefined-only %build/libtkc_internal.a | %python %s | FileCheck %s
# UNSUPPORTED: asan
# CHECK: refers to: abort{{$}}
# CHECK-NOT: refers to
import sys

FORBIDDEN = {"printf", "puts", "putchar", "fprintf", "vfprintf", "vprintf", "fputs", "fputc", "putc", "stderr",
             "exit", "_exit", "abort", "quick_exit", "perror", "err", "errx", "warn", "warnx",
             "__printf_chk", "__fprintf_chk"}
for name in sorted({line.split()[-1] for line in sys.stdin if line.strip()} & FORBIDDEN):
    print("refers to:", name)
