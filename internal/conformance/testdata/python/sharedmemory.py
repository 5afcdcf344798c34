# Shared mappings of files and of nothing: seen by read and write, by other mappings and by other processes.
import ctypes
import mmap
import os
import signal
import struct
from multiprocessing import get_context, shared_memory

PAGE = mmap.PAGESIZE


def show(title, value):
    print(title, value, flush=True)


def child(work):
    """Runs work in a child; how it ended."""
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(7)
    status = os.waitpid(pid, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else -os.WEXITSTATUS(status)


with open("data", "wb") as f:
    f.write(b"0123456789" * 900)
fd = os.open("data", os.O_RDWR)
m = mmap.mmap(fd, 0)
show("length", len(m))
m[5:10] = b"abcde"
show("read after store", os.pread(fd, 12, 0))
os.pwrite(fd, b"WRITE", 4998)
show("load after write", m[4995:5006])
twice = mmap.mmap(fd, 2 * PAGE)
twice[PAGE] = 33
show("second mapping", (m[PAGE], twice[0:6], os.pread(fd, 1, PAGE)))
private = mmap.mmap(fd, 0, mmap.MAP_PRIVATE)
private[0] = 90
show("private", (private[0], m[0], os.pread(fd, 1, 0)))
readonly = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
m[100:104] = b"<>{}"
show("readonly", readonly[98:106])


def grow():
    m[0:4] = b"kid!"
    os.pwrite(fd, b"kid", 9 * PAGE)


show("child", child(grow))
show("parent sees", (m[0:6], os.fstat(fd).st_size, os.pread(fd, 4, 9 * PAGE - 1)))
m.resize(9 * PAGE + 3)
show("resized", (len(m), m[9 * PAGE :], m[8 * PAGE : 8 * PAGE + 4]))
os.ftruncate(fd, PAGE + 10)
show("truncated", (os.fstat(fd).st_size, m[PAGE + 8 : PAGE + 13]))
show("behind the end", child(lambda: m[2 * PAGE]) == signal.SIGBUS)
show("stored behind the end", child(lambda: m.__setitem__(4 * PAGE, 1)) == signal.SIGBUS)
os.ftruncate(fd, 3 * PAGE)
show("grown again", (m[PAGE + 8 : PAGE + 12], m[2 * PAGE], child(lambda: m[2 * PAGE])))
m.flush()
for args in (0, PAGE), (PAGE, PAGE), (1, 6):
    try:
        show("flush", m.flush(*args))
    except OSError as e:
        show("flush", e.strerror)
second = os.open("data", os.O_RDONLY)
show("another description", os.read(second, 12))
try:
    mmap.mmap(second, 0)
except PermissionError as e:
    show("opened for reading", e.strerror)
with open("fresh", "w+b") as f:
    f.truncate(10)
    with mmap.mmap(f.fileno(), 10) as n:
        n[:] = b"over again"
        n.move(0, 5, 5)
    show("closed", f.read())
os.unlink("data")
m[0] = 88
show("unlinked", os.pread(fd, 2, 0))

shared = mmap.mmap(-1, 2 * PAGE)
alone = mmap.mmap(-1, PAGE, mmap.MAP_PRIVATE)


def count():
    for i in range(100):
        shared[i] = i
        alone[i] = 255
    struct.pack_into("<Q", shared, PAGE, 1 << 40)


show("anonymous", child(count))
show("from the child", (shared[0:8], shared[99], struct.unpack_from("<Q", shared, PAGE), alone[0:4]))

# A futex in shared memory: a child waits, the parent wakes it.
libc = ctypes.CDLL(None, use_errno=True)
address = ctypes.addressof(ctypes.c_char.from_buffer(shared))
FUTEX, WAIT, WAKE = 202, 0, 1
struct.pack_into("<I", shared, 0, 1)
pid = os.fork()
if pid == 0:
    while struct.unpack_from("<I", shared, 0)[0] == 1:
        libc.syscall(FUTEX, ctypes.c_void_p(address), WAIT, 1, None, None, 0)
    os._exit(shared[4] + 1)
shared[4] = 41
struct.pack_into("<I", shared, 0, 2)
libc.syscall(FUTEX, ctypes.c_void_p(address), WAKE, 1, None, None, 0)
show("woken", os.WEXITSTATUS(os.waitpid(pid, 0)[1]))


def work(lock, total, array, queue):
    for i in range(20):
        with lock:
            total.value += i
            array[i % 4] += 1
    queue.put(os.getpid() > 0)


ctx = get_context("fork")
lock, total, array, queue = ctx.Lock(), ctx.Value("i", 0), ctx.Array("i", 4), ctx.SimpleQueue()
l = [ctx.Process(target=work, args=(lock, total, array, queue)) for _ in range(3)]
for p in l:
    p.start()
for p in l:
    p.join()
show("multiprocessing", ([p.exitcode for p in l], total.value, list(array), [queue.get() for _ in l]))
block = shared_memory.SharedMemory(create=True, size=100)
other = shared_memory.SharedMemory(name=block.name)
other.buf[3] = 9
show("shared_memory", (block.buf[3], block.size >= 100))
other.close()
block.close()
block.unlink()
