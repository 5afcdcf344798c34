-- Calls: recursion, closures, iterators, calls by a table.
local symchef = require "symchef"

local function depth(n)
  if n < 1 then
    return 0
  end
  return 1 + depth(n - 7)
end

local function adder(k)
  return function(x) return x + k end
end

local function upto(n)
  local i = -1
  return function()
    i = i + 1
    if i * i < n then
      return i
    end
  end
end

return function()
  local n = symchef.integer("n", 0, 20)
  local by = { depth, adder(2), function(x)
    local count = 0
    for _ in upto(x) do
      count = count + 1
    end
    return count
  end }
  if n < 10 then
    return by[1](n)
  elseif n < 12 then
    return by[2](5)
  end
  return by[3](n)
end
