-- Doubles: operators, formatting, parsing, rounding.
local v = {0.1, 1/3, -2.5, 1e15, 1e16, 123456.789, 5e-324, 1.7976931348623157e308, 2^53, 2^0.5, -1e-7}
for i, a in ipairs(v) do
  print(a, string.format("%g %.3f %e %.17g %5.1f|%-8.2f|%+g", a, a % 1e6, a, a, a % 100, a % 10, a), math.floor(a % 1000), a == tonumber(string.format("%.17g", a)))
  for j = 1, 5 do local b = v[j] print(a + b, a - b, a * b, a / b, a % b, a < b, a == b) end
end
print(7 % 3, -7 % 3, 7 % -3, -7 % -3, 2^10, 2^-1, -2^2, 10 / 4, 1e308 * 10, -1e308 * 10)
print(tonumber("0x1F"), tonumber("  12.5  "), tonumber("1e2"), tonumber("z", 36), tonumber("1e"), tonumber(""), tonumber("1010", 2), tonumber("8", 8))
print(math.max(3, 7, 5), math.min(2, -1), math.abs(-3.5), math.sqrt(144), math.fmod(-7, 3), math.modf(-3.7), math.huge, -math.huge, math.pi)
print(string.format("%d %5d %-5d| %05d %x %X %o %c%c", 42, 42, 42, 42, 255, 255, 8, 72, 105), string.format("%.12g %.12g %.12g", math.sin(1), math.exp(2), math.log(10)))
local nan = 0/0 print(nan ~= nan, nan == nan, 0 == -0)
local s = 0 for i = 1, 100000 do s = s + i % 7 * 0.5 end print(s)
for i = 10, 1, -3 do io.write(i, " ") end for x = 0, 1, 0.25 do io.write(x, " ") end print()
