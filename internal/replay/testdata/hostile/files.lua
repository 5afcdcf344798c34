-- removes and overwrites files with what the library offers
local d, mark = os.getenv("DIR"), os.getenv("MARK")
for _, p in ipairs{d .. "/file", d .. "/second", "/tmp/" .. mark, "/etc/" .. mark, "/" .. mark, "/dev/shm/" .. mark, os.getenv("HOME") .. "/" .. mark} do
  for _, mode in ipairs{"a", "r+", "w"} do local f = io.open(p, mode); if f then f:write("owned"); f:close() end end
end
os.remove(d .. "/second"); os.rename(d .. "/file", d .. "/renamed"); os.remove(d .. "/empty")
