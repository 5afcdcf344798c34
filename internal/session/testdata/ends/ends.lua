-- What is left to be done at the end of the process; which, says the input.
local symchef = require "symchef"

local function finally(f)
  if newproxy then
    local p = newproxy(true)
    getmetatable(p).__gc = f
    return p
  end
  return setmetatable({}, { __gc = f })
end

local n
early = finally(function() if n == 7 then print("early") end end)

return function()
  n = symchef.integer("n", 0, 8)
  if n == 0 then
    one, two = finally(function() print("first") end), finally(function() print("last") error("in a finalizer") end)
  elseif n == 1 then
    kept = finally(function() os.exit(3) end)
  elseif n == 2 then
    kept = finally(function() while true do end end)
  elseif n == 3 then
    kept = finally(function() print("freed") end)
  elseif n == 4 then
    kept = io.open(os.getenv("HOME") .. "/left", "w")
    kept:write("left")
  elseif n == 5 then
    kept = finally(function() os.exit(4) end)
    error("in the test")
  elseif n == 6 then
    local kept = finally(function() print("local") end)
    error("in the test")
  end
  return "same"
end
