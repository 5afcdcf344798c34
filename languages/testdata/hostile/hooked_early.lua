-- Counts calls and lines from its loading on.
local symchef = require "symchef"
local count = 0
debug.sethook(function() count = count + 1 end, "cl")

return function()
  local n = symchef.integer("n", 0, 9)
  if n > symchef.integer("m", 0, 9) then
    print("more")
  end
  print(count)
end
