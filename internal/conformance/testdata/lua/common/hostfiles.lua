-- Reading host files and code; writing outside the directory stays inside the machine.
for _, p in ipairs{"/etc/debian_version", "/bin/sh", "/etc/passwd"} do local s = io.open(p, "rb"):read("*a") local h = 5381 for i = 1, #s do h = (h * 33 + s:byte(i)) % 4294967296 end print(p, #s, string.format("%.0f", h)) end
print(io.open("/proc/self/no-such"), io.open("/"):read(1), io.open("/dev/null"):read("*a"), #io.open("/dev/zero", "rb"):read(100), io.open("/dev/full") ~= nil)
local f = io.open("mod.lua", "w") f:write("local M = {} function M.f(x) return x * 2 end return M") f:close() package.path = "./?.lua" print(require("mod").f(21), package.loaded.mod ~= nil, pcall(require, "nosuch")) print(pcall(dofile, "/no/such.lua"), loadfile("mod.lua") ~= nil)
