--[[ A table looked up by a string of 4 characters, and a set that strings are put into.

Exactly 9 classes of (outcome, output). The first word is one of the three 4-character names of the table or none: 4 prices. If the
second word is the first, the set has one element, else two; of the 8 combinations all occur. One class more: the
first word is known and the second is "stop", which ends in an error: it counts once, since the error says nothing of the first. ]]

local symchef = require "symchef"

local prices = { pear = 3, plum = 2, lime = 1, fig = 9, cherry = 8 }

return function()
  local first, second = symchef.string("first", 4), symchef.string("second", 4)
  local price = prices[first]
  if price and second == "stop" then
    error("stopped", 0)
  end
  local set, n = {}, 0
  set[first] = true
  set[second] = true
  for _ in pairs(set) do
    n = n + 1
  end
  print(price, n)
end
