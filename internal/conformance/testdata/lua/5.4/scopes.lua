-- goto, const, close, integer loops, coroutine.close, warn.
for i = 1, 3 do for j = 1, 3 do if j == 2 then goto continue end io.write(i, j, " ") ::continue:: end end print()
local function res(n) return setmetatable({}, {__close = function(_, e) print("close", n, e) end}) end
do local a <close> = res("a") local b <close> = res("b") local k <const> = 5 print("body", k) end print(pcall(function() local c <close> = res("c") error("thrown") end)) print(load("local x <const> = 1 x = 2"))
local co = coroutine.create(function() local d <close> = res("d") coroutine.yield(1) end) coroutine.resume(co) print(coroutine.close(co), coroutine.status(co)) for k, v in (function() return next, {one = 1}, nil, res("iter") end)() do print(k, v) end
warn("@on") warn("a ", "warning") print(table.move({1, 2, 3}, 1, 3, 2)[3], table.unpack({1, 2, 3}, 2), table.pack(1, nil, 3).n, math.random(5, 5), select("#", table.unpack({}, 1, 4)), string.format("%-5s|%q", "x", 255), #table.pack(xpcall(function(...) return ... end, print, 1, 2)))
print(collectgarbage("generational"), collectgarbage("incremental"), load("return _ENV.x", "c", "t", {x = 9})(), pcall(load, "x", "n", "b"), rawlen({1, 2}), rawlen("abc"), os.execute("exit 3"))
