--[[ Bisection for x in 0..100.

Exactly 101 classes of (outcome, output): every value is found and printed; what is printed are the
concrete bounds of the search, so each class is one path of it. ]]

local symchef = require "symchef"

local function bisect(x, low, high)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if x <= middle then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

return function()
  print(bisect(symchef.integer("x", 0, 100), 0, 100))
end
