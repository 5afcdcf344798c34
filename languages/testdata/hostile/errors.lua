-- Error objects that answer every question with code of their own.
local symchef = require "symchef"
local raise = function() error("raised by a metamethod") end

local odd = setmetatable({}, {
  __index = raise, __newindex = raise, __tostring = raise, __eq = raise, __len = raise, __concat = raise, __call = raise,
  __metatable = "locked", __pairs = raise, __name = "odd",
})
local meta_of_meta = { __index = raise, __eq = raise }
local liar = setmetatable({}, setmetatable({ __tostring = function() return 7 end }, meta_of_meta))
local told = setmetatable({}, { __tostring = function(e) return "told " .. e.s end, __name = "told" })
local nested = setmetatable({}, { __tostring = function() error(odd) end, __name = { "no string" } })
local class = setmetatable({}, { __eq = function() return true end })

local kinds = {
  function() error(odd) end,
  function() error(liar) end,
  function(s) told.s = s error(told) end,
  function() error(nested) end,
  function() error() end,
  function() error(io.stdout) end,
  function() return odd, nested, print, io.stdout end,
  function() local t = {} t[1], t[2], t.self = 1, t, t return t end,
  function() local function f() return 1 + f() end return f() end,
  function() error(setmetatable({}, class)) end,
  function() assert(false, odd) end,
  function() assert(nil, "said") end,
  function() error(12) end,
  function() return ("x"):rep(5000), "y" end,
}

return function()
  local kind = symchef.integer("kind", 1, #kinds)
  local s = symchef.string("s", 2)
  symchef.expect({}, class, "nothing")
  return kinds[kind](s)
end
