-- One test per part of the guest library; lua_test.go says what each must give.

local symchef = require "symchef"

function test_kinds()
  symchef.expect("bad luck", symchef)
  local x = symchef.integer("x", 0, 7)
  if x == 0 then
    error("bad luck")
  elseif x == 1 then
    assert(false, "said")
  elseif x == 2 then
    error({})
  elseif x == 3 then
    os.exit(7)
  elseif x == 4 then
    error(setmetatable({}, { __name = "Boom", __tostring = function() return "boom" end }))
  elseif x == 5 then
    local t
    t.x = 1
  elseif x == 6 then
    error(symchef)
  end
end

function test_hang()
  local b = symchef.boolean("b")
  while b do end
end

-- Ten of the twelve combinations satisfy the assumption.
function test_inputs()
  local b = symchef.boolean("b")
  local c = symchef.choice("c", { "p", "q" })
  local n = symchef.concretize(symchef.integer("n", -1, 1))
  symchef.assume(b or c == "p" or n < 1 and n ~= 0)
  symchef.log("values", b, c, n)
  print(b, c, n)
end

-- Nine combinations of three classes each.
function test_number()
  local x = symchef.number("x", -1000, 1000)
  local y = symchef.number("y")
  print(x * 2 > 300.5 and "big" or x == 0 and "zero" or "other", y == math.huge and "most" or y < -1e300 and "low" or "middle")
end

-- Two paths: strings that are made meanwhile, in whatever bucket, make no more.
function test_strings()
  local s = symchef.string("s", 5)
  local n = 0
  for i = 10000, 20000 do
    n = n + #("" .. i)
  end
  print(s == "12345", n)
end

test_table = {
  setup = function(self)
    self.limit = 1000
  end,
  run = function(self)
    local a = symchef.integer("a", -5, 4000, 7)
    if a > self.limit then
      error("over " .. tostring(symchef.concretize(a) > 0), 0)
    end
  end,
}
