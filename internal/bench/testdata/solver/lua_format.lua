-- string.format with six characters as its format, and as an argument.

local symchef = require "symchef"

return function()
  local text = symchef.string("text", 6)
  pcall(string.format, text, 12, "word")
  string.format("%q|%-8s|%.3s", text, text, text)
end
