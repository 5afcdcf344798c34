--[[ Predicates over a string of 8 characters: its beginning, its end, what is in it.

Exactly 6 classes of (outcome, output), as in the Python example: of the 8 combinations of (begins with "ab", ends in ".py",
holds "py") the two with the ending but without "py" are impossible. Beginning and end are compared as strings:
the substrings are objects of their own, and no path is lost or made by that. ]]

local symchef = require "symchef"

local function describe(name)
  local words = {
    name:sub(1, 2) == "ab" and "ab-" or "other-",
    name:sub(-3) == ".py" and ".py" or "no-suffix",
    name:find("py", 1, true) and "contains" or "lacks",
  }
  return table.concat(words, " ")
end

return function()
  print(describe(symchef.string("name", 8)))
end
