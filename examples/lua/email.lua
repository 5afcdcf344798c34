--[[ An e-mail check that looks for '@' (the CHEF paper, figure 2, in Lua).

Exactly 2 classes of (outcome, output): rejected, because '@' is absent or comes before position 4 (an error, declared
expected); accepted otherwise. Nothing is printed. ]]

local symchef = require "symchef"

local function validate(email)
  if (email:find("@", 1, true) or 0) < 4 then
    error("invalid e-mail address")
  end
end

return function()
  symchef.expect("invalid e-mail address")
  validate(symchef.string("email", 10))
end
