-- Garbage: cycles, weak tables, finalisers, counts.
collectgarbage() local before = collectgarbage("count") local t = {} for i = 1, 20000 do t[i] = {i, tostring(i)} end local mid = collectgarbage("count") t = nil collectgarbage() print(mid > before + 500, collectgarbage("count") < before + 200)
local w = setmetatable({}, {__mode = "k"}) for i = 1, 100 do w[{}] = i end local keep = {} w[keep] = "kept" collectgarbage() local n = 0 for _ in pairs(w) do n = n + 1 end print(n)
if newproxy then local p = newproxy(true) getmetatable(p).__gc = function() print("finalised") end p = nil else local p = setmetatable({}, {__gc = function() print("finalised") end}) p = nil end collectgarbage() collectgarbage()
local a = {} a.self = a a = nil print(collectgarbage("step", 1000) ~= nil, type(collectgarbage("setpause", 150)), collectgarbage("stop"), collectgarbage("restart"))
local s = {} for i = 1, 30000 do s[i % 100 + 1] = ("s"):rep(i % 50) .. i end print(s[1], s[50], #s)
local list = nil for i = 1, 50000 do list = {next = list, v = i} end local c = 0 while list do c = c + list.v list = list.next end print(c)
