package.path = "/usr/share/lua/5.4/?.lua;" .. package.path
local symchef = require "symchef"
local inifile = require "inifile"

return function()
  local name = os.tmpname()
  local f = assert(io.open(name, "w"))
  f:write(symchef.string("s", 10))
  f:close()
  inifile.parse(name)
end
