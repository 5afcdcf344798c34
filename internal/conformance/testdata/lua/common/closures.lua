-- Closures, varargs, tail calls, recursion.
local function counter() local n = 0 return function(by) n = n + (by or 1) return n end end
local a, b = counter(), counter() print(a(), a(5), b(), a())
local fs = {} for i = 1, 5 do local j = i * i fs[i] = function() j = j + 1 return i, j end end print(fs[3](), fs[3](), fs[5]())
local function va(...) local t = {...} return select("#", ...), #t, (...) end print(va(), va(1, 2, 3), (va(nil, nil)))
local function loop(n, acc) if n == 0 then return acc end return loop(n - 1, acc + n) end print(loop(200000, 0))
local function fact(n) return n <= 1 and 1 or n * fact(n - 1) end print(fact(20.0), fact(5))
local Y = function(f) return (function(x) return x(x) end)(function(x) return f(function(...) return x(x)(...) end) end) end
print(Y(function(self) return function(n) return n < 2 and n or self(n - 1) + self(n - 2) end end)(15))
local memo = setmetatable({}, {__mode = "k"}) local function ack(m, n) if m == 0 then return n + 1 elseif n == 0 then return ack(m - 1, 1) end return ack(m - 1, ack(m, n - 1)) end print(ack(2, 6))
local x = 1 do local x = 2 print(x) end print(x) repeat local done = true until done
local function compose(...) local f = {...} return function(v) for i = #f, 1, -1 do v = f[i](v) end return v end end
print(compose(tostring, math.sqrt, function(v) return v * v end)(7))
print((function(...) return ... end)(1, 2, 3), (function(...) return ... end)(1, 2, 3))
local upv = {} for i = 1, 3 do upv[i] = function() return i end i = i * 10 end print(upv[1] ~= nil, type(upv[2]()))
