-- Replaces every function there is, in every table that a test can reach, and the metatables of all basic types.
local symchef = require "symchef"

local next, type, error, setmetatable, debug_set, getmeta = next, type, error, setmetatable, debug.setmetatable, getmetatable
local function broken() error("not the library's business", 0) end

local function replace(t, seen)
  if seen[t] then
    return
  end
  seen[t] = true
  for name, v in next, t do
    if type(v) == "function" then
      t[name] = broken
    elseif type(v) == "table" and v ~= symchef then
      replace(v, seen)
    end
  end
end

local function replace_all()
  local files = getmeta(io.stdout).__index
  local seen = { [symchef] = true }
  replace(package.loaded, seen)
  replace(_G, seen)
  if type(files) == "table" then
    replace(files, seen)
  end
  local strings = getmeta("")
  for name in next, strings do
    strings[name] = nil
  end
  local meta = {}
  for _, event in next, { "__index", "__newindex", "__call", "__concat", "__len", "__eq", "__lt", "__le", "__add", "__sub", "__mod", "__unm",
    "__tostring", "__pairs", "__ipairs", "__name" } do
    meta[event] = broken
  end
  meta.__metatable = "locked"
  debug_set(nil, meta)
  debug_set(true, meta)
  debug_set(0, { __index = broken, __len = broken, __concat = broken, __call = broken })
  debug_set(broken, { __index = broken, __eq = broken })
  setmetatable(_G, meta)
end

return function()
  local s, n, c = symchef.string("s", 3), symchef.integer("n", 0, 9), symchef.choice("c", { "p", "q" })
  symchef.log("one", s)
  replace_all()
  symchef.log("two", s)
  if s == "abc" then
    error("three", 0)
  end
  if n > 5 then
    return s, { 1.5, c, { [true] = n, x = s } }, nil
  end
  return symchef.concretize(n)
end
