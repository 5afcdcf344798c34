-- Branches: comparisons in chains, and, or, not, loops that a branch ends.
local symchef = require "symchef"

return function()
  local n, b = symchef.integer("n", 0, 20), symchef.boolean("b")
  if b and n > 15 or not b and n == 3 then
    return "both"
  end
  if 5 < n and n <= 7 then
    return "chain"
  end
  local steps = 0
  while n > 1 and steps < 3 do
    if n % 2 == 0 then
      n = n / 2
    else
      n = n - 1
    end
    steps = steps + 1
  end
  return steps
end
