package.path = "/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua;" .. package.path
local symchef = require "symchef"
local cli = require "cliargs"

return function()
  cli:set_name("program")
  cli:argument("INPUT", "the input")
  cli:option("-o, --output=FILE", "the output", "out")
  cli:flag("-q, --quiet", "quiet")
  cli:option(symchef.string("option", 8), "an option", "default")
  cli:flag(symchef.string("flag", 8), "a flag")
  cli:parse({ symchef.string("a1", 3), symchef.string("a2", 3), symchef.string("a3", 3), symchef.string("a4", 3) })
end
