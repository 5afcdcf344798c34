-- Counts its own steps, and leaves a hook behind that fails.
local symchef = require "symchef"

return function()
  local lines = 0
  debug.sethook(function() lines = lines + 1 end, "l")
  local s = symchef.string("s", 2)
  symchef.log(s)
  local n = symchef.integer("n", 0, 1)
  debug.sethook()
  print(lines)
  debug.sethook(function() if debug.getinfo(2, "S").source:find("symchef.lua", 1, true) then error("hooked") end end, "cl")
  if s == "ab" then
    error({ s })
  end
  return n
end
