"""Generators, coroutines, asynchronous code on one event loop."""
import asyncio, contextlib, itertools
def walk(t):
    if t:
        yield from walk(t[0]); yield t[1]; yield from walk(t[2])
tree = None
def insert(t, v): return (None, v, None) if t is None else (insert(t[0], v), t[1], t[2]) if v < t[1] else (t[0], t[1], insert(t[2], v))
for v in [5, 2, 8, 1, 9, 3]: tree = insert(tree, v)
print(list(walk(tree)))
def averager():
    total = n = 0; avg = None
    try:
        while True:
            x = yield avg
            total += x; n += 1; avg = total / n
    except GeneratorExit: print("closed at", avg); raise
    finally: print("cleanup")
g = averager(); next(g); print(g.send(10), g.send(20), g.send(7)); g.close()
def sub():
    try: got = yield 1
    except ValueError as e: got = f"caught {e}"
    return got
def outer():
    r = yield from sub()
    yield ("returned", r)
o = outer(); print(next(o), o.throw(ValueError("thrown")))
def primes():
    sieve = {}
    for n in itertools.count(2):
        if n not in sieve: yield n; sieve[n * n] = [n]
        else:
            for p in sieve.pop(n): sieve.setdefault(p + n, []).append(p)
print(list(itertools.islice(primes(), 60)), sum(itertools.takewhile(lambda p: p < 3000, primes())))
async def worker(name, q, out):
    while True:
        i = await q.get()
        await asyncio.sleep(0.001 * i)
        out.append((name, i)); q.task_done()
@contextlib.asynccontextmanager
async def scope():
    print("enter"); yield "scope"; print("leave")
async def agen(n):
    for i in range(n):
        await asyncio.sleep(0); yield i
async def main():
    q, out = asyncio.Queue(), []
    ws = [asyncio.create_task(worker(n, q, out)) for n in "ab"]
    for i in range(1, 9): q.put_nowait(i * 5)
    await q.join()
    for w in ws: w.cancel()
    r = await asyncio.gather(*ws, return_exceptions=True)
    print(sorted(i for _, i in out), r)
    async with scope() as s: print(s, [i async for i in agen(5)])
    try: await asyncio.wait_for(asyncio.sleep(50), 0.01)
    except TimeoutError: print("timeout")
    async with asyncio.TaskGroup() as tg:
        ts = [tg.create_task(asyncio.sleep(0.001 * (5 - i), result=i)) for i in range(5)]
    print([t.result() for t in ts])
asyncio.run(main())
