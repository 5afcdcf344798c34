-- Errors: raised, caught, told apart, raised again, and not caught.
local symchef = require "symchef"

local function inner(n)
  if n < 4 then
    error("small", 0)
  elseif n == 5 then
    error({ code = 5 })
  elseif n > 17 then
    local none
    return none.field
  end
  return n > 9
end

return function()
  local n = symchef.integer("n", 0, 20)
  local ok, result = pcall(inner, n)
  if ok then
    return result
  end
  if result == "small" then
    if n == 2 then
      error(result, 0)
    end
    return "small"
  end
  if type(result) == "table" then
    return result.code
  end
  error(result, 0)
end
