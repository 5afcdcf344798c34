--[[ tonumber on 3 characters.

Exactly 2 classes of (outcome, output): it is a number or it is not. ]]

local symchef = require "symchef"

return function()
  print(tonumber(symchef.string("text", 3)) ~= nil)
end
