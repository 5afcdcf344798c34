#!/usr/bin/lua5.1
package.path = "/usr/share/lua/5.1/?.lua;" .. package.path
local symchef = require "symchef"
require "markdown"

return function()
  markdown(symchef.string("s", 10))
end
