"""Elementary functions, to twelve digits: libraries choose their kernels by the processor, and may differ in the last."""
import cmath
import math

def show(*v):
    print(*("%.12g" % x if isinstance(x, float) else "%.12g%+.12gi" % (x.real, x.imag) for x in v))

for i in range(-8, 9):
    x = i * 0.7 + 0.05
    show(math.sin(x), math.cos(x), math.tan(x), math.exp(x), math.atan(x), math.tanh(x), math.erf(x), math.gamma(x), math.expm1(x), math.cbrt(x))
    show(math.log(abs(x)), math.log2(abs(x)), math.log10(abs(x)), math.log1p(abs(x)), abs(x) ** 1.7, math.atan2(x, 2), math.asinh(x), math.lgamma(x))
    show(cmath.exp(complex(x, 1)), cmath.sqrt(complex(x, -1)), cmath.log(complex(x, 2)))
for bad in (lambda: math.log(-1), lambda: math.sqrt(-1), lambda: math.exp(1000), lambda: math.acos(2)):
    try:
        bad()
    except (ValueError, OverflowError) as e:
        print(type(e).__name__, e)
