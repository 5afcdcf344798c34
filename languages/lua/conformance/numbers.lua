-- Numbers: remainder of both signs, products, absolute values, fractions.
local symchef = require "symchef"

return function()
  local n, m = symchef.integer("n", -8, 8), symchef.integer("m", 1, 5)
  if n % m == 0 and n / m > 2 then
    return "multiple"
  end
  if n * m < -20 then
    return "low"
  end
  if math.abs(n) - m == 1 then
    return "next"
  end
  return n / 2 > 1.25
end
