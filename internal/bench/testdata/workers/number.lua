-- tonumber on four characters.

local symchef = require "symchef"

return function()
  print(tonumber(symchef.string("text", 4)) ~= nil)
end
