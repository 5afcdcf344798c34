-- Loading code: compile, environments, debug, dump and undump.
local load = loadstring or load
print(load("return 1 + 1")(), load("local a, b = ... return b, a")(1, 2), load("syntax error here"), pcall(load("error('in chunk')")))
local f = load(string.dump(function(x) return x * 3 end)) print(f(14), type(string.dump(f)))
local src = {} for i = 1, 300 do src[i] = "local v" .. i % 150 .. " = " .. i .. " s = (s or 0) + v" .. i % 150 end local body = "do " .. table.concat(src, " end do ") .. " end return s" print(load(body)())
print(debug.getinfo(1, "l").currentline, debug.getinfo(print).what, debug.getinfo(1, "S").short_src, (debug.getlocal(1, 1)))
local lines = {} debug.sethook(function(_, l) lines[#lines + 1] = l end, "l") local x = 1
x = x + 1
debug.sethook() print(table.concat(lines, ","))
local ex = "1" for i = 1, 100 do ex = "(" .. ex .. "+" .. i .. ")" end print(load("return " .. ex)()) print((pcall(load, nil)), load(function() return nil end) ~= nil)
local n = 0 local code = load("local t = {} for i = 1, 1000 do t[i] = function() return i end end return t")() for i, g in ipairs(code) do n = n + g() end print(n)
