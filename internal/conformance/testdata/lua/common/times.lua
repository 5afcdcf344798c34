-- What is certain about time.
local a, c = os.time(), os.clock() print(a > 1e9, c >= 0, os.date("!%Y-%m-%d %H:%M:%S", 0), os.date("!%c %x %X %p %A %B %j", 1e9), os.date("*t", 86400).year, os.date("!*t", 1e9).yday)
print(os.time{year = 2000, month = 1, day = 1, hour = 0}, os.time{year = 2024, month = 14, day = -3, hour = 12}, os.difftime(a + 5, a), pcall(os.time, {year = 2000}))
local s = 0 for i = 1, 200000 do s = s + i end print(s, os.clock() > c, os.time() - a < 60, type(os.date()), os.date("!%d.%m.%y", 951782400))
