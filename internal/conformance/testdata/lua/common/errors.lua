-- Errors caught: pcall, xpcall, levels, objects, tracebacks, stack overflow.
print(pcall(error, "msg"), pcall(error, {code = 1}), pcall(error), pcall(error, nil), pcall(error, "m", 0))
local function f() error("at level one") end local function g() error("at level two", 2) end
print(pcall(f)) print(pcall(function() g() end)) print(select(2, pcall(function() local x = nil; return x.field end))) print(select(2, pcall(function() undefinedglobal() end)))
print(select(2, pcall(function() local t = {} t.a.b = 1 end)), select(2, pcall(function() return 1 + {} end)), select(2, pcall(function() return "a" + 1 end)), select(2, pcall(function() return "a" < 1 end)), select(2, pcall(function() return 1 .. {} end)))
print(xpcall(function() error("x") end, function(m) return "handled " .. m end), (xpcall(f, debug.traceback)))
print((select(2, xpcall(f, debug.traceback)):gsub("\n.*", "")))
local function over(n) return 1 + over(n + 1) end local ok, m = pcall(over, 1) print(ok, m:match("stack overflow"))
print(pcall(assert, false), pcall(assert, nil, "assertion text"), assert(1, 2), select("#", assert(1, 2, 3)), pcall(string.rep, "x", -1), pcall(setmetatable, 1, 2), pcall(ipairs))
print(pcall(tonumber, "10", 99), pcall(select, 0), pcall(string.sub), pcall(math.floor, {}), pcall(table.concat, {1, {}, 3}), (loadstring or load)("x ="), (loadstring or load)("for i = 1 do end"), (loadstring or load)("return 'unclosed"))
local e = setmetatable({}, {__tostring = function() return "object error" end}) print(select(2, pcall(error, e)) == e, tostring(select(2, pcall(error, e))))
