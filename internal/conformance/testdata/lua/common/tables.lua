-- Tables: array and hash part, holes at the end, removal while walking, insert and remove.
local t = {} for i = 1, 1000 do t[i] = i end for i = 1000, 501, -1 do t[i] = nil end print(#t, next({}), t[500])
table.insert(t, "end") table.insert(t, 1, "start") print(t[1], t[2], t[#t], table.remove(t), table.remove(t, 1), #t, table.remove({}))
local h = {} for i = 1, 2000 do h["k" .. i] = i end for i = 1, 2000, 2 do h["k" .. i] = nil end
local n, sum = 0, 0 for k, v in pairs(h) do n = n + 1 sum = sum + v end print(n, sum)
for k in pairs(h) do h[k] = nil end print(next(h))
local m = {[1.5] = "f", [-1] = "neg", [true] = "b", [2^53] = "big", s = "s"} print(m[1.5], m[-1], m[true], m[2^53], m.s, m[2], rawget(m, "s"), rawequal(m, m))
print(pcall(function() m[nil] = 1 end), pcall(function() m[0/0] = 1 end), m[nil], m[0/0], pcall(next, {}, "nokey"))
local a = {10, 20, 30, nil, 50} print(a[5], select("#", (unpack or table.unpack)({1, nil, 3}, 1, 3)), select(2, "a", "b", "c"), select(-1, "a", "b"))
local keys = {} for k in pairs({x = 1, y = 2, z = 3}) do keys[#keys + 1] = k end table.sort(keys) print(table.concat(keys))
local g = {} for y = 1, 30 do g[y] = {} for x = 1, 30 do g[y][x] = x * y % 7 end end local s = 0 for y, r in ipairs(g) do for x, v in ipairs(r) do s = s + v * x - y end end print(s)
local q = {first = 1, last = 0} for i = 1, 5000 do q.last = q.last + 1 q[q.last] = i if i % 3 == 0 then q[q.first] = nil q.first = q.first + 1 end end print(q.last - q.first, q[q.first])
