package.path = "/usr/share/lua/5.4/?.lua;" .. package.path
local symchef = require "symchef"
local json = require "dkjson"

return function()
  json.decode(symchef.string("s", 10), 1, nil)
end
