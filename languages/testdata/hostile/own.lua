-- Takes everything from the functions that have called the test, from those that it may call, and from the registry.
local symchef = require "symchef"
local getinfo, getlocal, setlocal, registry = debug.getinfo, debug.getlocal, debug.setlocal, debug.getregistry()

local function take_locals(from)
  local level = from
  while getinfo(level) do
    local i = 1
    while getlocal(level, i) do
      setlocal(level, i, nil)
      i = i + 1
    end
    i = -1
    while getlocal(level, i) do
      setlocal(level, i, nil)
      i = i - 1
    end
    level = level + 1
  end
end

local function take_upvalues(f, value)
  local i = 1
  while debug.getupvalue(f, i) do
    debug.setupvalue(f, i, value)
    i = i + 1
  end
end

local kinds = {
  function() -- of all that may be called
    for _, f in next, symchef do
      take_upvalues(f, nil)
    end
    return "a"
  end,
  function() -- of all that have called
    local level = 3
    while getinfo(level, "f") do
      local f = getinfo(level, "f").func
      if f then -- in 5.1 a call in the place of a return has none
        take_upvalues(f, function() return "taken" end)
      end
      level = level + 1
    end
    return "b", nil
  end,
  function()
    for k in next, registry do
      if type(k) == "string" then
        registry[k] = nil
      end
    end
    return "c"
  end,
  function()
    for k in next, symchef do
      symchef[k] = nil
    end
    package.loaded.symchef = nil
    return "d"
  end,
  function() take_locals(3) return "e" end,
  function() take_locals(3) error("after that", 0) end,
}

return function()
  local kind = symchef.integer("kind", 1, #kinds)
  symchef.log(kind)
  return kinds[kind]()
end
