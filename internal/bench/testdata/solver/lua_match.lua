-- string.match on six characters.

local symchef = require "symchef"

return function()
  print(symchef.string("text", 6):match("^(%a+)%s*=%s*(%d+)$"))
end
