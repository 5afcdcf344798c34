"""Megabytes of output on both streams, written in many ways."""
import os, sys
for i in range(20000): print(i, "line", i * i)
sys.stdout.write("x" * 1_000_000 + "\n")
sys.stdout.buffer.write(bytes(range(256)) * 4000); sys.stdout.flush()
for i in range(100): os.write(1, b"raw %d\n" % i)
os.writev(1, [b"a", b"b" * 70000, b"\n"]); sys.stderr.write("e" * 200000 + "\n")
print(*range(50000), sep="\n", end="", flush=True); os.write(2, b"last words\n")
