-- The string library.
local s = "The quick brown fox"
print(#s, s:upper(), s:lower(), s:reverse(), s:rep(2), s:sub(5, 9), s:sub(-3), s:sub(2, -2), s:sub(50), s:byte(1, 3))
print(string.char(76, 117, 97), ("x"):rep(0), ("%s=%d"):format("k", 3), ("%q"):format('a "quote"\n\\ \0 end'), ("%-10s|%10s|%.2s"):format("l", "r", "cut"))
print(s:find("quick"), s:find("o", 14), s:find("zzz"), s:find(".", 1, true), s:find("", 30), s < "Tiger", "a" < "B", "" < "a", "a\0b" < "a\0c", #"a\0b")
print("10" + 5, "3" * "4", 10 .. 20, "abc" == "abc", ("é"):byte(1, -1))
local parts = {} for w in s:gmatch("%a+") do parts[#parts + 1] = w end print(table.concat(parts, ","), table.concat({1, 2, 3}, "-", 2, 3), table.concat({}))
local t = {} for i = 1, 3000 do t[i] = string.char(97 + i * 7 % 26) end
local big = table.concat(t) print(#big, big:sub(1, 40), big:find("hov", 1, true), (big:gsub("a", "")):len(), big:rep(50):len())
print(pcall(string.rep), pcall(string.char, 256), pcall(string.format, "%d", "x"), tostring(nil), tostring(true), tostring(12))
local c = "" for i = 1, 500 do c = c .. i .. "," end print(#c, c:sub(-20))
print(("x"):rep(3, ""), [[long
string]], "esc \65\066\x41 \
next", '\'"')
