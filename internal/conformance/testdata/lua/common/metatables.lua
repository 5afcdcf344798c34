-- Metatables: operators, inheritance, proxies, tostring, call.
local V = {} V.__index = V
local function vec(x, y) return setmetatable({x = x, y = y}, V) end
V.__add = function(a, b) return vec(a.x + b.x, a.y + b.y) end V.__mul = function(a, b) return type(b) == "number" and vec(a.x * b, a.y * b) or a.x * b.x + a.y * b.y end
V.__eq = function(a, b) return a.x == b.x and a.y == b.y end V.__lt = function(a, b) return a.x < b.x end V.__le = function(a, b) return a.x <= b.x end
V.__tostring = function(v) return "(" .. v.x .. ", " .. v.y .. ")" end V.__concat = function(a, b) return tostring(a) .. tostring(b) end V.__unm = function(v) return vec(-v.x, -v.y) end V.__call = function(v, k) return v[k] end V.__len = function() return 2 end
local a, b = vec(1, 2), vec(3, 4) print(tostring(a + b), a * b, tostring(a * 3), a == vec(1, 2), a < b, a <= b, a > b, a .. b, tostring(-a), a("y"), a ~= b)
local Animal = {} Animal.__index = Animal function Animal.new(n) return setmetatable({name = n}, Animal) end function Animal:speak() return self.name .. " makes a sound" end
local Dog = setmetatable({}, {__index = Animal}) Dog.__index = Dog function Dog.new(n) return setmetatable(Animal.new(n), Dog) end function Dog:bark() return self:speak() .. ": woof" end print(Dog.new("Rex"):bark())
local log = {} local p = setmetatable({}, {__index = function(_, k) log[#log + 1] = "get " .. k return k .. "!" end, __newindex = function(t, k, v) log[#log + 1] = "set " .. k rawset(t, k, v) end}) p.a = 1 print(p.a, p.b, rawget(p, "b"), table.concat(log, ";"))
local ro = setmetatable({}, {__newindex = function() error("read only", 2) end, __metatable = "locked"}) print(pcall(function() ro.x = 1 end), getmetatable(ro), pcall(setmetatable, ro, {}))
local d = setmetatable({}, {__index = function(t, k) local v = k * 2 t[k] = v return v end}) print(d[21], rawget(d, 21))
local w = setmetatable({}, {__mode = "v"}) w[1] = {} w[2] = "kept" collectgarbage() print(w[1], w[2])
print(getmetatable("").__index == string, pcall(function() return {} + 1 end), pcall(function() return #5 end), pcall(function() return {} < {} end))
