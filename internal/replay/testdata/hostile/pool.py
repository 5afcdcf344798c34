# takes memory and processors with a pool of processes
import os
for i in range(12):
    if os.fork() == 0:
        x = [bytearray(b"x" * (1 << 20)) for i in range(64)]
        while True: pass
while True: pass
