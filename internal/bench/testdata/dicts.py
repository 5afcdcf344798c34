n = 0
for r in range(1):
    d = {}
    for i in range(50000):
        k = i * 7919 % 4001
        d[k] = d.get(k, 0) + i
        s = f"k{k % 512}"
        d[s] = d.get(s, 0) + 1
    n += sum(v for k, v in d.items() if type(k) is int)
print(n)
