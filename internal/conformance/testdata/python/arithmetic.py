"""Integer arithmetic, bits, division and rounding."""
import fractions
import decimal
import math

for a in (-17, -1, 0, 1, 7, 255, 2**31, -2**63):
    for b in (-5, -1, 1, 3, 16):
        print(a, b, a + b, a - b, a * b, a // b, a % b, divmod(a, b), a & b, a | b, a ^ b, a << (b & 7), a >> (b & 7))
print([round(x / 2) for x in range(-7, 8)], [round(12345, -k) for k in range(5)])
print(pow(3, 200, 10**9 + 7), pow(3, -1, 7), math.gcd(2**40, 6**20), math.isqrt(10**40 + 1), math.comb(60, 30))
print(fractions.Fraction(22, 7) - fractions.Fraction(355, 113), fractions.Fraction("0.125") ** 3)
decimal.getcontext().prec = 40
print(decimal.Decimal(1) / decimal.Decimal(7), decimal.Decimal(2).sqrt(), decimal.Decimal("1e-30") + 1)
print(int("zz", 36), int("-0b1011", 0), int("1_000_000"), bin(-37), oct(511), hex(2**70))
print((255).to_bytes(4, "little"), int.from_bytes(b"\xff\xfe", "big", signed=True), (1023).bit_length(), (1023).bit_count())
