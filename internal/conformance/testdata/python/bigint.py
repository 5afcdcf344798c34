"""Big integers: multiplication, division, powers, conversion."""
f = 1
for i in range(1, 301):
    f *= i
print(f)
a, b = 3**1000, 7**400 + 1
print(a // b, a % b, (a * b - 1) % (b - 2), a & b, a ^ b, a >> 777, b << 333)
print(-a // b, -a % b, (-a) >> 100, ~a & 0xffffffffffffffffffffffff)
x, y = 0, 1
for _ in range(2000):
    x, y = y, x + y
print(x, x.bit_length(), hex(x), str(x) == repr(x), int(str(x)) == x)
print(pow(x, y % 10**6, 2**521 - 1))
try:
    print(len(str(10**5000)))
except ValueError as e:
    print(e)
print(float(a >> 700), a / b, 10**400 / 10**399)
try:
    float(10**400)
except OverflowError as e:
    print(e)
