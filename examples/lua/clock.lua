--[[ A native extension module: LPeg (Debian: lua-lpeg) matches times such as "9:05" and "21:05".

Exactly 3 classes of (outcome, output) for a text of 4 or 5 characters: no time; a time before noon, of either length; a time
after, of 5. ]]

local symchef = require "symchef"
local lpeg = require "lpeg"

local digit = lpeg.R("09")
local hours = lpeg.C(lpeg.P("1") * lpeg.R("09") + lpeg.P("2") * lpeg.R("03") + digit)
local minutes = lpeg.R("05") * digit
local time = hours * lpeg.P(":") * minutes * -1

return function()
  local hour = time:match(symchef.string("text", 5, 4))
  if not hour then
    print("no time")
  elseif tonumber(hour) < 12 then
    print("before noon")
  else
    print("after noon")
  end
end
