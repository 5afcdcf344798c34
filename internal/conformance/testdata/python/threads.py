"""Threads: locks, queues, conditions, pools, locals."""
import concurrent.futures, queue, threading, time
total, lock = 0, threading.Lock()
def add():
    global total
    for _ in range(500):
        with lock: total += 1
ts = [threading.Thread(target=add) for _ in range(8)]
for t in ts: t.start()
for t in ts: t.join()
print(total)
q, out = queue.Queue(5), []
def produce():
    for i in range(30): q.put(i)
    q.put(None)
def consume():
    while (i := q.get()) is not None: out.append(i * i)
a, b = threading.Thread(target=produce), threading.Thread(target=consume)
b.start(); a.start(); a.join(); b.join(); print(out)
c, ready = threading.Condition(), []
def waiter(n):
    with c:
        c.wait_for(lambda: n in ready); print("woken", n)
ws = [threading.Thread(target=waiter, args=(n,)) for n in range(3)]
for t in ws: t.start()
for n, t in enumerate(ws):
    with c: ready.append(n); c.notify_all()
    t.join()
with concurrent.futures.ThreadPoolExecutor(4) as ex:
    print(list(ex.map(lambda x: x ** 3, range(10))))
    f = ex.submit(lambda: 1 / 0); print(repr(f.exception()))
    fs = [ex.submit(lambda d=d: (time.sleep(d / 100), d)[1]) for d in (3, 1, 2)]
    print(sorted(f.result() for f in concurrent.futures.as_completed(fs)))
local, e, bar = threading.local(), threading.Event(), threading.Barrier(3)
def loc(n): local.x = n; bar.wait(); assert local.x == n; e.set()
for n in range(3): threading.Thread(target=loc, args=(n,)).start()
print(e.wait(5), hasattr(local, "x"), threading.Event().wait(0.01), threading.Semaphore(2).acquire(), threading.current_thread().name)
def boom(): raise ValueError("in a thread")
threading.excepthook = lambda a: print("hook", a.exc_type.__name__, a.exc_value)
t = threading.Thread(target=boom); t.start(); t.join()
tm = threading.Timer(0.01, lambda: print("timer")); tm.start(); tm.join(); print(lock.acquire(timeout=0.01), lock.acquire(timeout=0.01))
d = threading.Thread(target=lambda: time.sleep(1000), daemon=True); d.start(); print(d.is_alive())
