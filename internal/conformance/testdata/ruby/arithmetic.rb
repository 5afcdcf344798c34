# Numbers: small, big, rational, complex, floating.
[-17, 0, 7, 2**31, 2**62, 2**64, 0.1, 1e20].each { |a| [-5, 3, 16, 2.5].each { |b| p [a + b, a - b, a * b, a / b, a % b, a.divmod(b), a <=> b, a ** 2] } }
puts (1..120).inject(:*), 3**500 % (10**9 + 7), 3.pow(10**6, 998244353), (2**200).to_s(36), "zz".to_i(36), (10**50) / 7**20, -(10**30) >> 7, (2**100).bit_length, Integer.sqrt(10**40), 12345678901234567890.digits.sum
p 1r / 3 + 2r / 7, Complex(1, 2) * Complex(3, -1), 0.1 + 0.2, 1e23, 1e-7, 100.0, 1e16, 5e-324, 1.7976931348623157e308, -0.0, 0.0 / 0, 1 / 0.0, 2.5.round, 3.5.round, -2.5.round, 2.675.round(2), 1234567.891.round(-2), 10.fdiv(4), 7.lcm(12), 255.to_s(2), 3.14.to_r, 0.5.rationalize, 1e3.to_i
printf("%d %5.2f %e %g %x %o %b %s %05d|%-6s|%+d %.10g %%\n", 42, 3.14159, 12345.678, 1e-5, 255, 8, 10, :s, 42, "ab", 5, 0.1)
begin; 1 / 0; rescue ZeroDivisionError => e; puts e.message; end
p Integer("0x1f", 16), Float("1e3"), (Integer("abc") rescue $!.message), "12abc".to_i, "3.7xyz".to_f, 6 & 3, 6 | 3, 6 ^ 3, ~5, 1 << 100, 5[0], 10.clamp(1, 5), 10.pred, 3.zero?, 1_000.digits, (0.1).next_float, Math.sqrt(2), "%.10f" % Math.sin(1), Math.hypot(3, 4), rand(1), Random.new(42).rand(1000), Random.new(42).bytes(4), [1, 2, 3, 4].shuffle(random: Random.new(1))
