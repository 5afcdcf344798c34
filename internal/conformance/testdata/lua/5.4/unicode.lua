-- The utf8 library.
local s = "aé漢🦎" print(utf8.len(s), #s, utf8.char(97, 233, 0x6f22, 0x1f98e), utf8.codepoint(s, 1, -1)) for p, c in utf8.codes(s) do io.write(p, ":", c, " ") end print()
print(utf8.offset(s, 3), utf8.offset(s, -1), utf8.len("\xff"), utf8.len("abc", 4), pcall(utf8.codepoint, "\xff"), pcall(utf8.codes("\xc3")), "\u{1F98E}\u{7FFFFFFF}" == utf8.char(0x1f98e, 0x7fffffff), utf8.len("\u{D800}", 1, -1, true)) for c in s:gmatch(utf8.charpattern) do io.write("<", c, ">") end print(("漢"):byte(1, -1))
