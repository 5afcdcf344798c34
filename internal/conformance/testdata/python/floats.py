"""Formatting, parsing and arithmetic of doubles."""
import math
import struct

values = [0.0, -0.0, 0.1, 1 / 3, 2.5, 1e16, 1e17, 123456789.125, 5e-324, 2.2250738585072014e-308,
          1.7976931348623157e308, math.pi, -1e-7, 1e22, 9007199254740993.0, float("inf"), float("-inf"), float("nan")]
for v in values:
    print(repr(v), f"{v:.0f}" if abs(v) < 1e20 else "-", f"{v:e} {v:g} {v:.3f} {v:20.10g}|{v:<12.4e}|{v:+.1%}", struct.pack("<d", v).hex())
    if v == v and abs(v) != math.inf:
        print(v.hex(), float.fromhex(v.hex()) == v, v.as_integer_ratio(), math.frexp(v), math.floor(v) % 1000)
for s in ("1e23", "0.30000000000000004", "179769313486231580793e289", "1e-400", "4.9e-324", "2.4703282292062328e-324",
          " 12.5 ", "1_0.5", "nan", "-Infinity", "1e", "0x10"):
    try:
        print(s, repr(float(s)))
    except ValueError as e:
        print(e)
seed = 12345
for _ in range(40):
    seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
    v = struct.unpack("<d", struct.pack("<Q", seed))[0]
    print(repr(v), float(repr(v)) == v or v != v, v * 1e-3 + 1, v.is_integer() if v == v else None)
print(math.fsum([0.1] * 10), sum([0.1] * 10), math.sqrt(2), math.fmod(-7, 3), math.remainder(7, 4), math.hypot(3, 4), math.ldexp(0.75, 9))
print([round(x * 0.25, 1) for x in range(-6, 7)], round(2.675, 2), 7.0 // -2, -7.5 % 2, divmod(7.25, -0.5))
try:
    1.0 / 0
except ZeroDivisionError as e:
    print(e)
try:
    2.0 ** 5000
except OverflowError as e:
    print(e)
