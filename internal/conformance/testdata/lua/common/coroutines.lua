-- Coroutines: values both ways, errors, status, generators, deep nesting.
local co = coroutine.create(function(a, b) print("start", a, b) local c = coroutine.yield(a + b) print("got", c) local d, e = coroutine.yield(c * 2) return d + e end)
print(coroutine.resume(co, 1, 2)) print(coroutine.status(co), coroutine.resume(co, 10)) print(coroutine.resume(co, 3, 4)) print(coroutine.status(co), coroutine.resume(co))
local function perms(a, n) n = n or #a if n <= 1 then coroutine.yield(a) else for i = 1, n do a[n], a[i] = a[i], a[n] perms(a, n - 1) a[n], a[i] = a[i], a[n] end end end
for p in coroutine.wrap(function() perms{1, 2, 3} end) do io.write(table.concat(p), " ") end print()
print(coroutine.resume(coroutine.create(function() error("inside") end))) print(select(2, coroutine.resume(coroutine.create(function() error({code = 5}) end))).code)
local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local function filter(p, g) return coroutine.wrap(function() for x in g do if p(x) then coroutine.yield(x) end end end) end
local s = 0 for x in filter(function(x) return x % 3 == 0 end, gen(3000)) do s = s + x end print(s)
local n = 0 local function nest(d) if d == 0 then coroutine.yield("bottom") return end local c = coroutine.wrap(nest) coroutine.yield(c(d - 1)) end print(coroutine.wrap(nest)(50))
local ring = {} for i = 1, 20 do ring[i] = coroutine.create(function(v) while true do v = coroutine.yield(v + i) end end) end
local v = 0 for r = 1, 200 do for i = 1, 20 do local _, x = coroutine.resume(ring[i], v) v = x % 1000003 end end print(v)
print(pcall(coroutine.wrap(function() error("wrapped", 0) end)), coroutine.status(ring[1]), type(coroutine.running()))
for i = 1, 3000 do coroutine.wrap(function() coroutine.yield(i) end)() end print(coroutine.isyieldable and true or true)
