-- Strings: length, characters, search, comparison, keys of a table, joined.
local symchef = require "symchef"

return function()
  local s = symchef.string("s", 3, 0)
  for i = 1, #s do
    local c = s:sub(i, i)
    symchef.assume(c == "a" or c == "b" or c == "-")
  end
  if s == "" then
    return "none"
  end
  if ({ a = 1, ab = 2, ["b-a"] = 3 })[s] then
    return "key"
  end
  local at = s:find("-", 1, true)
  if at then
    return at
  end
  return tostring(s < "b") .. tostring(s:sub(1, 2) == "aa") .. #s
end
