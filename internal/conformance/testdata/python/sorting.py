"""Sorting: stability, keys, heaps, bisection, merging."""
import bisect, functools, heapq, itertools, operator
seed = 1
def rnd(n):
    global seed
    seed = (1103515245 * seed + 12345) % 2**31
    return seed % n
data = [(rnd(50), i) for i in range(400)]
s = sorted(data, key=operator.itemgetter(0))
print(s == sorted(data), sorted(data, key=lambda p: -p[0])[:8], sorted(data, reverse=True)[:5])
words = "pear fig apple Kiwi banana cherry date elderberry".split()
print(sorted(words), sorted(words, key=str.lower), sorted(words, key=len), sorted(words, key=lambda w: (len(w), w[::-1]), reverse=True))
print(sorted(words, key=functools.cmp_to_key(lambda a, b: (a[-1] > b[-1]) - (a[-1] < b[-1]))))
h = [rnd(1000) for _ in range(100)]
print(heapq.nsmallest(5, h), heapq.nlargest(5, h)); heapq.heapify(h)
print([heapq.heappop(h) for _ in range(20)], heapq.heappushpop(h, 3), list(heapq.merge([1, 4, 7], [2, 5], [0, 9])))
a = sorted(rnd(100) for _ in range(30))
for x in (0, 10, 50, 99): print(bisect.bisect_left(a, x), bisect.bisect(a, x), end=" ")
print([(k, list(g)) for k, g in itertools.groupby("aaabbc")], list(itertools.permutations("abc", 2)), list(itertools.accumulate(range(8), operator.mul, initial=1)))
mixed = [3.5, 2, True, 1.0, -0.0]
print(sorted(mixed), min(mixed), max(mixed, key=abs))
try:
    sorted([1, "a"])
except TypeError as e:
    print(e)
class Odd:
    def __init__(self, v): self.v = v
    def __lt__(self, o): return (self.v % 3, self.v) < (o.v % 3, o.v)
print([o.v for o in sorted(map(Odd, range(20)))])
big = [rnd(10**6) for _ in range(5000)]
big.sort(); print(big[:5], big[2500], all(x <= y for x, y in zip(big, big[1:])))
