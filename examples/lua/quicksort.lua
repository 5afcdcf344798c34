--[[ Quicksort of three integers.

Exactly 6 classes of (outcome, output): the printed permutation that sorts them; equal values keep their order. ]]

local symchef = require "symchef"

-- Sorts { value, position } pairs by value, stably.
local function quicksort(items)
  if #items < 2 then
    return items
  end
  local pivot, before, after = items[1], {}, {}
  for i = 2, #items do
    local part = items[i][1] < pivot[1] and before or after
    part[#part + 1] = items[i]
  end
  local sorted = quicksort(before)
  sorted[#sorted + 1] = pivot
  for _, item in ipairs(quicksort(after)) do
    sorted[#sorted + 1] = item
  end
  return sorted
end

return function()
  local items = {}
  for i, name in ipairs({ "a", "b", "c" }) do
    items[i] = { symchef.integer(name, -1000, 1000), i }
  end
  for _, item in ipairs(quicksort(items)) do
    io.write(item[2], " ")
  end
end
