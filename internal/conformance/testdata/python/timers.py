"""POSIX timers by way of ctypes: one-shot, periodic, absolute, deleted, and what their signal carries."""
import ctypes
import errno
import os
import signal
import struct
import time

libc = ctypes.CDLL(None, use_errno=True)
CREATE, SETTIME, GETTIME, OVERRUN, DELETE = 222, 223, 224, 225, 226
ABSTIME, REALTIME, MONOTONIC = 1, 0, 1

def call(nr, *args):
    r = libc.syscall(ctypes.c_long(nr), *[a if isinstance(a, ctypes.Array) else ctypes.c_long(a) for a in args])
    return r if r >= 0 else errno.errorcode[ctypes.get_errno()]

def spec(value, every=0.0):
    return ctypes.create_string_buffer(struct.pack("<4q", int(every), int(every % 1 * 1e9), int(value), int(value % 1 * 1e9)), 32)

def create(clock, sig, value=0, notify=0, tid=0):
    out = ctypes.create_string_buffer(4)
    r = call(CREATE, clock, ctypes.create_string_buffer(struct.pack("<Qiii", value, sig, notify, tid), 64), out)
    return r if r else struct.unpack("<i", out.raw)[0]

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN, signal.SIGALRM})

def wait(*sigs, limit=2):
    i = signal.sigtimedwait(sigs, limit)
    return i and (i.si_signo, i.si_code, i.si_pid)

a = create(MONOTONIC, signal.SIGUSR1, 77)
print(a, call(SETTIME, a, 0, spec(0.02), 0), wait(signal.SIGUSR1), wait(signal.SIGUSR1, limit=0.05))
old = ctypes.create_string_buffer(32)
print(call(SETTIME, a, 0, spec(500, 3), 0), call(GETTIME, a, old), [round(x / 10) for x in struct.unpack("<qxxxxxxxxqxxxxxxxx", old.raw)])
print(call(SETTIME, a, 0, spec(0.01, 0.01), old), struct.unpack("<q", old.raw[:8]), [wait(signal.SIGUSR1) for _ in range(3)], call(OVERRUN, a) >= 0)
print(call(SETTIME, a, 0, spec(0), 0), wait(signal.SIGUSR1, limit=0) in (None, (10, -2, a)), call(GETTIME, a, old), struct.unpack("<4q", old.raw)[2:])
b = create(REALTIME, signal.SIGRTMIN, 5)
print(b, call(SETTIME, b, ABSTIME, spec(time.time() + 0.03), 0), wait(signal.SIGRTMIN), call(SETTIME, b, ABSTIME, spec(1), 0), wait(signal.SIGRTMIN))
c = create(MONOTONIC, signal.SIGUSR2, notify=4, tid=libc.syscall(186))
d = create(MONOTONIC, 0, notify=1)
e = create(MONOTONIC, signal.SIGALRM)
print(c, d, e, call(SETTIME, c, 0, spec(0.01), 0), wait(signal.SIGUSR2), call(SETTIME, d, 0, spec(0.01), 0))
print(call(DELETE, c), call(DELETE, c), call(SETTIME, c, 0, spec(1), 0), call(GETTIME, 99, old), call(SETTIME, d, 0, spec(-1), 0), create(MONOTONIC, signal.SIGUSR2))
print(create(55, 10), create(MONOTONIC, 99), create(MONOTONIC, 10, notify=9), create(MONOTONIC, 10, notify=4, tid=1))
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
hits = []
signal.signal(signal.SIGALRM, lambda n, f: hits.append(n))
call(SETTIME, e, 0, spec(0.01, 0.01), 0)
while len(hits) < 5:
    time.sleep(1)
call(SETTIME, e, 0, spec(0), 0)
print(hits[:5])
if os.fork() == 0:
    print("child", call(DELETE, a), flush=True)
    os._exit(0)
print(os.wait()[1], call(DELETE, a))
call(SETTIME, b, 0, spec(0.02), 0)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGRTMIN})
time.sleep(5)
